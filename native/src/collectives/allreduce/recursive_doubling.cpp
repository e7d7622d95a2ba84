// Recursive doubling: in step k, ranks at distance 2^k exchange their whole vectors and reduce; log2 p steps for powers
// of two.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.5. When p is no power of two,
// p - 2^floor(log2 p) surplus ranks fold their vector into a neighbour's first and get the result from it at the end:
// two more steps.
#include "collpress/butterfly.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::size_t count = call->count;
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, count);
        return;
    }
    const collpress::Team team(comm);
    const collpress::Positions positions(team);
    collpress::PartialSum sum(comm, own, call->recv, count);
    positions.fold(comm, sum, count);
    {
        CP_TAG(comm, "exchange");
        for (std::int32_t level = 0; level < positions.levels(); ++level) {
            comm.step();
            if (positions.idle()) continue;
            const std::int32_t partner = positions.rank_at(positions.mine() ^ (1 << level));
            sum.exchange_and_add(0, count, partner, 0, count, partner);
        }
    }
    positions.unfold(comm, call->recv, count);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true},
                           "Recursive doubling: whole vectors between ranks at distances 1, 2, 4, ...")
