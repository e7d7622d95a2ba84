// Ring reduce-scatter that sends compressed partial sums; stream_ring.hpp says how, and where it comes from.
#include "collpress/stream_ring.hpp"

namespace {

using collpress::Blocks;
using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || call->count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, call->count);
        return;
    }
    const Blocks blocks{call->count, static_cast<std::size_t>(comm.size())};
    const std::size_t segment = collpress::compressed_segment(*call);
    collpress::StreamRing ring(comm, collpress::ring_of_ranks(comm), blocks, blocks.largest(), segment);
    // A partial sum is sent on in the step after the one in which it came, so there are two of them at a time.
    std::array<std::byte *, 2> partial{};
    for (std::byte *&one : partial) one = comm.scratch(comm.bytes(blocks.largest()));
    const auto sum_of = [&](std::int32_t step) {
        const bool is_last = step == comm.size() - 2;
        return is_last ? static_cast<std::byte *>(call->recv) : partial[static_cast<std::size_t>(step % 2)];
    };
    ring.reduce_scatter(own, 1, sum_of);
}

// p - 1 hops: (p - 1)·eb for a codec bounded by eb.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    return collpress::error_of_ring(ranks - 1, collpress::AddedError(op, max_abs, worst_error, codec_context));
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("reduce_scatter", run, error_bound, ({.in_place = true, .segments = true}),
                             "Ring that compresses each hop of a growing partial sum")
