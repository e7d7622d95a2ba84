// Pairwise exchange of streams in p - 1 steps: in step i to the rank i places on, from the one i places back. Each
// block is compressed once; the one for the rank itself is copied as it is.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.3 (the plain exchange).
#include "collpress/all_to_all.hpp"
#include "collpress/stream_exchange.hpp"

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    const void *blocks = collpress::blocks_to_send(comm, *call);
    if (comm.size() == 1 || count == 0) return;
    const auto place = [&](std::int32_t rank) { return static_cast<std::size_t>(rank) * count; };
    collpress::pairwise_streams(
        comm, count, [&](std::int32_t peer) { return comm.at(blocks, place(peer)); },
        [&](std::int32_t) { return count; }, count,
        [&](std::int32_t peer, const collpress::Stream &stream) {
            stream.decompress(comm, comm.at(call->recv, place(peer)), count);
        });
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("alltoall", run, collpress::error_of_moving, {.in_place = true},
                             "Pairwise exchange of streams")
