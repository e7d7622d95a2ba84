// Ring allgather of blocks of different sizes: p-1 steps, each passing on to the right neighbour the block that came
// last.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.1. Each rank sends every block but its right
// neighbour's; each step takes as long as its largest block.
#include "collpress/ring.hpp"
#include "collpress/layouts.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const auto rank = static_cast<std::size_t>(comm.rank());
    const collpress::PackedBlocks blocks(call->counts, static_cast<std::size_t>(comm.size()));
    const collpress::OwnBlock own(comm, *call, blocks.offset(rank), blocks.size(rank));
    ring_allgather(comm, collpress::ring_of_ranks(comm), call->recv, blocks, own);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allgatherv", run, {.in_place = true}, "Ring: blocks go round from neighbour to neighbour")
