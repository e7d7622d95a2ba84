// Ring: in each of p - 1 steps a rank passes a block's partial sum on to its right, and adds its own share to the one
// that arrives; (p - 1) / p n elements sent per rank.
//
// P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations. J. Parallel Distrib.
// Comput. 69 (2009), doi:10.1016/j.jpdc.2008.09.002 (the first phase).
#include "collpress/ring.hpp"
#include "collpress/partial_sum.hpp"

#include <array>

namespace {

using collpress::Blocks;
using collpress::P2p;

// The last partial sum to arrive is that of the rank's own block: it comes straight to `recv`, if the vector is not
// there.
void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    const bool in_place = own == call->recv;
    const collpress::RingPlace ring = collpress::ring_of_ranks(comm);
    if (ring.ranks == 1 || call->count == 0) {
        if (!in_place) comm.copy(call->recv, own, call->count);
        return;
    }
    const Blocks blocks{call->count, static_cast<std::size_t>(ring.ranks)};
    std::array<std::byte *, 2> sums{};
    for (std::byte *&sum : sums)
        if (in_place || ring.ranks > 2) sum = comm.scratch(comm.bytes(blocks.largest()));

    const void *outgoing = nullptr;
    for (std::int32_t step = 0; step < ring.ranks - 1; ++step) {
        comm.step();
        const std::size_t out = ring.behind(step + 1);
        const std::size_t in = ring.behind((step + 2) % ring.ranks);
        if (step == 0) outgoing = comm.at(own, blocks.offset(out));
        const bool is_result = step == ring.ranks - 2 && !in_place;
        std::byte *sum = is_result ? static_cast<std::byte *>(call->recv) : sums[static_cast<std::size_t>(step % 2)];
        comm.exchange(outgoing, blocks.size(out), ring.right, sum, blocks.size(in), ring.left);
        if (step == ring.ranks - 2 && in_place) {
            std::byte *share = comm.at(call->recv, blocks.offset(in));
            comm.reduce(share, sum, blocks.size(in));
            if (share != call->recv) comm.copy(call->recv, share, blocks.size(in));
        } else {
            comm.reduce(sum, comm.at(own, blocks.offset(in)), blocks.size(in));
        }
        outgoing = sum;
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce_scatter", run, {.in_place = true}, "Ring: partial sums to the right neighbour")
