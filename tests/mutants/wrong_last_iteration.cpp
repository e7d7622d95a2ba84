// Right but for its fifth call: the checked one, one of warm-up and two timed
// ones before the last of three.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (++calls == 5 && comm.rank() == 0) right::spoil(comm, call->recv, 0);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "wrong at last")
