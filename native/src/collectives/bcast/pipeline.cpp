// Pipeline: segments go from the root along one chain of all ranks; s + p - 2 steps for s segments, each rank sends the
// vector once.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0. Segments of 128 KiB where the
// campaign names no size.
#include "collpress/segmented_broadcast.hpp"
#include "collpress/team.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const collpress::Team team(comm, call->root);
    const std::int32_t mine = team.mine();
    collpress::TreePlace place{mine, comm.size() - 1, team.rank_at(mine - 1), {}};
    if (mine + 1 < comm.size()) place.children.push_back(team.rank_at(mine + 1));
    segmented_broadcast(comm, *call, place);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, {.segments = true}, "Pipeline: segments along one chain of all ranks")
