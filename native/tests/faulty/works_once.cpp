// Right on its first call; returns at once from the second call on.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    if (++calls == 1) faulty::linear(collpress::P2p(p2p), call);
}

FAULTY_PLUGIN(run, "works once")
