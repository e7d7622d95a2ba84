// Ring allgather: p-1 steps, each passing on to the right neighbour the block that came last.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.1. Each rank sends p-1 blocks, the least that
// is possible, and only to its neighbour.
#include "collpress/ring.hpp"
#include "collpress/layouts.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const collpress::EqualBlocks blocks{call->count};
    const collpress::OwnBlock own(comm, *call, blocks.offset(static_cast<std::size_t>(comm.rank())), call->count);
    ring_allgather(comm, collpress::ring_of_ranks(comm), call->recv, blocks, own);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, {.in_place = true}, "Ring: blocks go round from neighbour to neighbour")
