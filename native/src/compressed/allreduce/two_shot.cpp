// Every rank gets its block of all vectors and reduces them; then every rank gets every reduced block. Straight from
// rank to rank both times, so a value is compressed twice, however many ranks there are.
//
// The two-shot allreduce of COCCL (github.com/hpdps-group/COCCL: all-to-all, local reduction, all-gather), here in p -
// 1 steps and one more. The owner of a block, too, takes what its stream decompresses to: all ranks end with the same
// bits.
#include "collpress/stream_exchange.hpp"

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
    const auto mine = static_cast<std::size_t>(comm.rank());
    std::byte *sum = comm.at(call->recv, blocks.offset(mine));
    {
        CP_TAG(comm, "reduce-scatter");
        if (own != call->recv) comm.copy(sum, comm.at(own, blocks.offset(mine)), blocks.size(mine));
        collpress::reduce_scatter_pairwise(comm, own, blocks, blocks.largest(), sum);
    }
    CP_TAG(comm, "allgather");
    collpress::share_streams(
        comm, sum, [&](std::int32_t rank) { return blocks.size(static_cast<std::size_t>(rank)); },
        [&](std::int32_t rank, const collpress::Stream &stream) {
            const auto block = static_cast<std::size_t>(rank);
            stream.decompress(comm, comm.at(call->recv, blocks.offset(block)), blocks.size(block));
        });
}

// p - 1 contributions to a block are compressed once, and the sum once more: p·eb for a sum, 2·eb for a maximum.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    if (ranks < 2) return 0;
    const collpress::AddedError added(op, max_abs, worst_error, codec_context);
    const double error = collpress::error_of_direct_reduction(ranks, added);
    return error + added(ranks, error);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allreduce", run, error_bound, {.in_place = true},
                             "Two shots: blocks straight to who reduces them, and back")
