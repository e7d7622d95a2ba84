// Pairwise exchange: in step i a rank sends to the rank i places to its right that one's block, and gets its own block
// from the rank i places to its left; p - 1 steps, (p - 1) / p n elements sent per rank, none of them a partial sum.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.4.
#include "collpress/partial_sum.hpp"

namespace {

using collpress::Blocks;
using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::int32_t ranks = comm.size();
    const void *own = collpress::contribution_of(*call);
    const bool in_place = own == call->recv;
    if (ranks == 1 || call->count == 0) {
        if (!in_place) comm.copy(call->recv, own, call->count);
        return;
    }
    const Blocks blocks{call->count, static_cast<std::size_t>(ranks)};
    const std::size_t block = static_cast<std::size_t>(comm.rank());
    const std::size_t size = blocks.size(block);
    std::byte *share = in_place ? comm.at(call->recv, blocks.offset(block)) : nullptr;
    std::byte *result = in_place ? share : static_cast<std::byte *>(call->recv);
    std::byte *arrivals = in_place || ranks > 2 ? comm.scratch(comm.bytes(size)) : nullptr;
    for (std::int32_t step = 1; step < ranks; ++step) {
        comm.step();
        const std::int32_t to = (comm.rank() + step) % ranks;
        const std::int32_t from = (comm.rank() + ranks - step) % ranks;
        const auto theirs = static_cast<std::size_t>(to);
        const bool into_result = step == 1 && !in_place;
        std::byte *arrival = into_result ? result : arrivals;
        comm.exchange(comm.at(own, blocks.offset(theirs)), blocks.size(theirs), to, arrival, size, from);
        comm.reduce(result, into_result ? comm.at(own, blocks.offset(block)) : arrival, size);
    }
    if (in_place && block != 0) comm.copy(call->recv, result, size);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce_scatter", run, {.in_place = true}, "Pairwise exchange of blocks")
