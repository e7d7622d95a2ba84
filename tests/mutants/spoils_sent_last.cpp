// Right, but the fifth call, the last timed one, leaves an element of rank 1's
// send buffer changed.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (++calls == 5 && comm.rank() == 1) right::spoil(comm, const_cast<void *>(call->send), 3);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "changes send late")
