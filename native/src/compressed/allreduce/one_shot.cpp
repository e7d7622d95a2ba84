// Every rank compresses its vector once and sends it to all others, which reduce all of them: one step.
//
// The one-shot allreduce of COCCL (github.com/hpdps-group/COCCL: all-gather of compressed vectors and a local
// reduction). All ranks reduce the same streams in the same order, their own one as others see it: the same bits.
#include "collpress/stream_exchange.hpp"

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || call->count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, call->count);
        return;
    }
    collpress::share_streams(
        comm, own, [&](std::int32_t) { return call->count; },
        [&](std::int32_t rank, const collpress::Stream &stream) {
            if (rank == 0)
                stream.decompress(comm, call->recv, call->count);
            else
                stream.accumulate(comm, call->recv, call->count);
        });
}

// Every rank's vector is compressed once: p·eb for a sum, eb for a maximum.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    const collpress::AddedError added(op, max_abs, worst_error, codec_context);
    return ranks < 2 ? 0 : added.together(ranks, added(1, 0));
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allreduce", run, error_bound, {.in_place = true},
                             "One shot: all streams to all ranks, which reduce them")
