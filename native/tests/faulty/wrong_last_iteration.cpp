// Right at first, wrong from the sixth call on: only a check of what was timed can tell.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    if (++calls >= 6 && comm.rank() == 0) faulty::spoil(comm, call, 0, 0x41);
}

FAULTY_PLUGIN(run, "wrong from the sixth call on")
