// Binary tree: each rank passes each segment on to two others; s - 1 + floor(log2 p) steps for s segments.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0. The tree is complete: rank r,
// counted from the root, has the children 2r+1 and 2r+2. Segments of 128 KiB where the campaign names no size.
#include "collpress/segmented_broadcast.hpp"
#include "collpress/team.hpp"

namespace {

std::int32_t depth_of(std::int32_t rank) {
    std::int32_t depth = 0;
    while (rank != 0) {
        rank = (rank - 1) / 2;
        ++depth;
    }
    return depth;
}

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const collpress::Team team(comm, call->root);
    const std::int32_t mine = team.mine();
    collpress::TreePlace place{depth_of(mine), depth_of(comm.size() - 1), team.rank_at((mine - 1) / 2), {}};
    for (std::int64_t child = 2 * std::int64_t{mine} + 1; child <= 2 * std::int64_t{mine} + 2; ++child)
        if (child < comm.size()) place.children.push_back(team.rank_at(static_cast<std::int32_t>(child)));
    segmented_broadcast(comm, *call, place);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, {.segments = true}, "Binary tree: segments down a complete binary tree")
