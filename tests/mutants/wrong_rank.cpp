// The last rank keeps its own values as its result; all others are right.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    if (comm.rank() == comm.size() - 1) comm.copy(call->recv, call->send, call->count);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "one wrong rank")
