// Takes 8-byte values for 4-byte ones: the second half is not reduced.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    comm.copy(call->recv, call->send, call->count);
    collpress_call half = *call;
    half.count = call->count / 2;
    right::allreduce(comm, half);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "a wrong width")
