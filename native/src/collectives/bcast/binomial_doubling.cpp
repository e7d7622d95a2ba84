// Binomial tree that doubles the distance: in step k the 2^k ranks that have the vector send it to the next 2^k;
// ceil(log2 p) steps.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0 (binomial tree).
#include "collpress/messages.hpp"
#include "collpress/team.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const collpress::Team team(comm, call->root);
    const std::int64_t mine = team.mine();
    collpress::Messages sends(comm, 32);
    for (std::int64_t have = 1; have < comm.size(); have *= 2) {
        comm.step();
        if (mine < have) {
            if (mine + have < comm.size())
                sends.send(call->recv, call->count, team.rank_at(static_cast<std::int32_t>(mine + have)));
        } else if (mine < 2 * have) {
            const std::int32_t parent = team.rank_at(static_cast<std::int32_t>(mine - have));
            comm.exchange(nullptr, 0, parent, call->recv, call->count, parent);
        }
    }
    sends.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, {}, "Binomial tree, from the nearest rank to the farthest")
