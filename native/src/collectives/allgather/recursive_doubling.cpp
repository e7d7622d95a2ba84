// Recursive doubling: in step k, ranks at distance 2^k exchange all blocks that they have; log2 p steps and p-1 blocks
// sent per rank for powers of two.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.1. When p is no power of two,
// r = p - 2^floor(log2 p) surplus ranks give their blocks to a neighbour first and get the result from it at the end,
// as the paper's sect. 4.5 does in an allreduce: two more steps.
#include "collpress/paired_allgather.hpp"

namespace {

using collpress::P2p;
using collpress::PairedRanks;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    paired_allgather(comm, *call, [&](const PairedRanks &places, bool participates) {
        const auto first_block = [&](std::int32_t position) {
            return static_cast<std::size_t>(places.rank_at(position)) * call->count;
        };
        for (std::int32_t distance = 1; distance < places.positions(); distance *= 2) {
            comm.step();
            if (!participates) continue;
            const std::int32_t position = places.position(comm.rank());
            const std::int32_t partner = places.rank_at(position ^ distance);
            const std::int32_t mine = position & ~(distance - 1); // the first of the positions whose blocks are here
            const std::int32_t other = mine ^ distance;
            comm.exchange(comm.at(call->recv, first_block(mine)), first_block(mine + distance) - first_block(mine),
                          partner, comm.at(call->recv, first_block(other)),
                          first_block(other + distance) - first_block(other), partner);
        }
    });
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, {.in_place = true},
                           "Recursive doubling: all that is there, between ranks at distances 1, 2, 4, ...")
