// Right, but rank 2 writes one element behind its result.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (comm.rank() == 2) right::spoil(comm, call->recv, call->count, 0);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "writes behind")
