// Ring allreduce that adds streams to streams: nothing is decompressed before the end, so that every value is rounded
// once only, by the rank that has it.
//
// J. Huang et al.: hZCCL: Accelerating Collective Communication with Co-Designed Homomorphic Compression. SC 2024,
// doi:10.1109/SC41406.2024.00110.
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
    collpress::StreamRing ring(comm, collpress::ring_of_ranks(comm), blocks, blocks.largest(),
                               collpress::compressed_segment(*call));
    {
        CP_TAG(comm, "reduce-scatter");
        ring.add_and_scatter(own, 0);
    }
    CP_TAG(comm, "allgather");
    ring.allgather_sums(comm.size() - 1, call->recv);
}

// Each of the p ranks' values is compressed once, and the stream of a sum stands for the sum of what its parts stand
// for: p·eb. The rounding of that sum to the dtype, when it is decompressed, is what a plain sum has, too.
double error_bound(std::int32_t ranks, std::uint32_t, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    return ranks < 2 ? 0 : ranks * worst_error(codec_context, max_abs);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allreduce", run, error_bound, ({.in_place = true, .segments = true, .needs_add = true}),
                             "Ring that adds streams: each value is compressed once, at its source")
