// Reduce-scatter straight from rank to rank: each contribution is compressed once, for who reduces it. The first half
// of COCCL's two-shot allreduce (github.com/hpdps-group/COCCL), in p - 1 steps.
#include "collpress/stream_exchange.hpp"

namespace {

using collpress::Blocks;
using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    const bool in_place = own == call->recv;
    if (comm.size() == 1 || call->count == 0) {
        if (!in_place) comm.copy(call->recv, own, call->count);
        return;
    }
    const Blocks blocks{call->count, static_cast<std::size_t>(comm.size())};
    const auto mine = static_cast<std::size_t>(comm.rank());
    // In place, what others wait for lies where the result goes.
    std::byte *sum =
        in_place && mine != 0 ? comm.scratch(comm.bytes(blocks.size(mine))) : static_cast<std::byte *>(call->recv);
    if (sum != own) comm.copy(sum, comm.at(own, blocks.offset(mine)), blocks.size(mine));
    collpress::reduce_scatter_pairwise(comm, own, blocks, blocks.largest(), sum);
    if (sum != call->recv) comm.copy(call->recv, sum, blocks.size(mine));
}

// p - 1 streams, each compressed once, are added to what was not: (p - 1)·eb for a sum, eb for a maximum.
double error_bound(std::int32_t ranks, std::uint32_t op, double max_abs, collpress_worst_error worst_error,
                   const void *codec_context) {
    return collpress::error_of_direct_reduction(ranks, collpress::AddedError(op, max_abs, worst_error, codec_context));
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("reduce_scatter", run, error_bound, {.in_place = true},
                             "Pairwise: each contribution compressed once, for who reduces it")
