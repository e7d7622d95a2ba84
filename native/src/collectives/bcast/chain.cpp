// Chains: the root sends each segment to the heads of several chains, into which the other ranks are divided evenly;
// s + ceil((p-1) / chains) - 1 steps for s segments.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0. The fan-out is the number of chains;
// 4 where none is named, as in Open MPI. Segments of 128 KiB where the campaign names no size.
#include "collpress/segmented_broadcast.hpp"
#include "collpress/team.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    if (comm.size() == 1) return;
    const std::int32_t followers = comm.size() - 1;
    const std::int32_t chains = std::min(call->fanout == 0 ? 4 : call->fanout, followers);
    const collpress::Blocks members{static_cast<std::size_t>(followers), static_cast<std::size_t>(chains)};
    const collpress::Team team(comm, call->root);
    const std::int32_t mine = team.mine();

    collpress::TreePlace place{0, static_cast<std::int32_t>(members.largest()), call->root, {}};
    for (std::size_t chain = 0; chain < members.parts; ++chain) {
        const std::int32_t head = static_cast<std::int32_t>(members.offset(chain)) + 1;
        const std::int32_t end = head + static_cast<std::int32_t>(members.size(chain));
        if (mine == 0) place.children.push_back(team.rank_at(head));
        if (mine < head || mine >= end) continue;
        place.depth = mine - head + 1;
        if (mine != head) place.parent = team.rank_at(mine - 1);
        if (mine + 1 != end) place.children.push_back(team.rank_at(mine + 1));
    }
    segmented_broadcast(comm, *call, place);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, ({.segments = true, .least_fanout = 1}),
                           "Chains: segments along several chains; the fan-out is their number")
