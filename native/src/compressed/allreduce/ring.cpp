// Ring allreduce that sends compressed blocks; stream_ring.hpp says how, and where it comes from.
#include "collpress/stream_ring.hpp"

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || call->count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, call->count);
        return;
    }
    collpress::stream_ring_allreduce(comm, collpress::ring_of_ranks(comm), own, call->recv, call->count,
                                     collpress::compressed_segment(*call));
}

// A block is compressed once for each of the p - 1 hops of its growing partial result, and once for the all-gather:
// p·eb for a codec bounded by eb.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    if (ranks < 2) return 0;
    return collpress::error_of_ring(ranks, collpress::AddedError(op, max_abs, worst_error, codec_context));
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allreduce", run, error_bound, ({.in_place = true, .segments = true}),
                             "Ring that compresses each hop, and once for the all-gather")
