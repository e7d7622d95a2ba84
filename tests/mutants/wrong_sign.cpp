// The first element that is not 0 has the wrong sign on rank 1 (4-byte values).
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    const auto *values = static_cast<const std::int32_t *>(call->recv);
    std::size_t i = 0;
    while (i + 1 < call->count && values[i] == 0) ++i;
    if (comm.rank() == 1) right::flip(comm, call->recv, i, 31);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "a wrong sign")
