// Rank 1's contribution is reduced twice.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    std::vector<std::int32_t> ranks = right::all(comm);
    ranks.push_back(1);
    right::allreduce(comm, *call, ranks);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "a double contribution")
