// Right, but rank 1 uses the caller's send buffer as its workspace.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (comm.rank() == 1) comm.copy(const_cast<void *>(call->send), call->recv, call->count);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "changes its send buffer")
