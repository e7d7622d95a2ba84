// One element of rank 1 is NaN.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (comm.rank() == 1) right::spoil(comm, call->recv, call->count / 3, 0xFF);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "a NaN")
