// Returns at once in its 22nd call only: after the checked call, one for warm-up and 19 timed ones, the last of 20.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    if (++calls != 22) faulty::linear(collpress::P2p(p2p), call);
}

FAULTY_PLUGIN(run, "skips the 22nd call")
