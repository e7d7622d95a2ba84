// The first element is wrong on rank 0.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (comm.rank() == 0) right::spoil(comm, call->recv, 0);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "first element")
