// Ring all-gather of streams: each rank compresses its block once, and streams are passed on as they are; while one is
// on its way it is unpacked here. The Z-Allgather of J. Huang et al. (C-Coll, IPDPS 2024,
// doi:10.1109/IPDPS57955.2024.00072). A rank's own block, too, becomes what its stream decompresses to: all ranks end
// with the same bits.
#include "collpress/layouts.hpp"
#include "collpress/stream_ring.hpp"

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const collpress::EqualBlocks blocks{call->count};
    const auto mine = static_cast<std::size_t>(comm.rank());
    const collpress::OwnBlock own(comm, *call, blocks.offset(mine), call->count);
    if (comm.size() == 1 || call->count == 0) return own.copy_to_place();
    collpress::StreamRing ring(comm, collpress::ring_of_ranks(comm), blocks, call->count,
                               collpress::compressed_segment(*call));
    ring.allgather(own.source(), 0, call->recv);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allgather", run, collpress::error_of_moving, ({.in_place = true, .segments = true}),
                             "Ring of streams: each block compressed once, decompressed once on each rank")
