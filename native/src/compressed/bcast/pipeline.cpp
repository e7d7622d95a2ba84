// Broadcast along a chain of all ranks, segment by segment: while root compresses one, those before are on their way,
// and are unpacked behind it. Each segment is compressed once.
//
// The chain as in J. Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations. Cluster Comput. 10
// (2007), doi:10.1007/s10586-007-0012-0 (pipeline). Root keeps its values as they are: its buffer is its input. All
// other ranks end with the same bits.
#include "collpress/compressed.hpp"
#include "collpress/team.hpp"

namespace {

using collpress::P2p;
using collpress::Segments;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    if (comm.size() == 1 || call->count == 0) return;
    const collpress::Team chain(comm, call->root);
    const std::int32_t place = chain.mine();
    const bool is_last = place == chain.size() - 1;
    const Segments segments{call->count, collpress::compressed_segment(*call)};
    const auto number = static_cast<std::int64_t>(segments.count());
    const auto size = [&](std::int64_t index) { return segments.size(static_cast<std::size_t>(index)); };
    const auto exists = [&](std::int64_t index) { return index >= 0 && index < number; };
    std::array<collpress::Stream, 3> streams; // that comes, that goes, that has gone in the step before
    for (collpress::Stream &stream : streams)
        stream = collpress::Stream(comm, collpress::longest_segment(call->count, segments.segment));
    const auto stream_of = [&](std::int64_t index) -> collpress::Stream & {
        return streams[static_cast<std::size_t>(index % 3)];
    };
    // In step t the rank at place d gets segment t - d and passes segment t - d - 1 on.
    for (std::int64_t step = 1; step <= number - 1 + chain.size() - 1; ++step) {
        comm.step();
        const std::int64_t in = step - place;
        const std::int64_t out = in - 1;
        if (place != 0 && exists(in)) stream_of(in).receive(comm, size(in), chain.rank_at(place - 1));
        if (!exists(out)) continue;
        std::byte *values = comm.at(call->recv, segments.first(static_cast<std::size_t>(out)));
        collpress::Stream &stream = stream_of(out);
        if (place == 0)
            stream.compress(comm, values, size(out));
        else
            stream.arrive(comm);
        if (!is_last) stream.send(comm, size(out), chain.rank_at(place + 1));
        if (place != 0) stream.decompress(comm, values, size(out));
    }
    if (is_last) { // its last segment comes in the last step of all
        stream_of(number - 1).arrive(comm);
        stream_of(number - 1)
            .decompress(comm, comm.at(call->recv, segments.first(static_cast<std::size_t>(number - 1))),
                        size(number - 1));
    }
    for (collpress::Stream &stream : streams) stream.complete(comm);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("bcast", run, collpress::error_of_moving, {.segments = true},
                             "Chain of segments, each a stream; root keeps its values")
