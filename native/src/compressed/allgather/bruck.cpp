// Bruck's all-gather of streams: ceil(log2 p) steps, in each of which a rank sends all the streams that it has, or as
// many as are still missing. Each block is compressed once.
//
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in
// Multiport Message-Passing Systems. IEEE Trans. Parallel Distrib. Syst. 8 (1997), doi:10.1109/71.642949. Streams need
// no turning around at the end: each is decompressed where its block belongs, the rank's own, too, so that all ranks
// end with the same bits.
#include "collpress/own_block.hpp"
#include "collpress/packed_streams.hpp"

#include <utility>

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    const std::int32_t ranks = comm.size();
    const collpress::OwnBlock own(comm, *call, static_cast<std::size_t>(comm.rank()) * count, count);
    if (ranks == 1 || count == 0) return own.copy_to_place();
    // The j-th stream is of the rank j places on.
    collpress::PackedStreams streams(comm, static_cast<std::size_t>(ranks), count);
    const auto unpack = [&](std::size_t first, std::size_t last) {
        for (std::size_t index = first; index < last; ++index) {
            const std::size_t block = (static_cast<std::size_t>(comm.rank()) + index) % static_cast<std::size_t>(ranks);
            streams.decompress(index, comm.at(call->recv, block * count), count);
        }
    };
    std::size_t unpacked = 0;
    for (std::int32_t distance = 1; distance < ranks; distance *= 2) {
        comm.step();
        const auto blocks = static_cast<std::size_t>(std::min(distance, ranks - distance));
        if (distance == 1) streams.compress(own.source(), count);
        streams.receive(blocks, (comm.rank() + distance) % ranks);
        streams.send(0, blocks, (comm.rank() + ranks - distance) % ranks);
        streams.expect();
        unpack(std::exchange(unpacked, streams.count()), streams.count()); // what came before, meanwhile
        streams.arrive();
        streams.complete();
    }
    unpack(unpacked, streams.count());
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("allgather", run, collpress::error_of_moving, {.in_place = true},
                             "Bruck: what a rank has doubles in each step, as streams")
