// Right, but rank 1 writes one element behind what it sends.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (comm.rank() == 1) right::spoil(comm, const_cast<void *>(call->send), call->count);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "writes behind send")
