// Root sends every rank its block as a stream, one after another, in one step: while one is compressed the one before
// is on its way. Root's own block is copied as it is.
#include "collpress/compressed.hpp"
#include "collpress/team.hpp"

namespace {

using collpress::P2p;
using collpress::Stream;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    if (count == 0) return;
    const collpress::Team team(comm, call->root);
    const auto block = [&](std::int32_t rank) { return comm.at(call->send, static_cast<std::size_t>(rank) * count); };
    if (comm.size() > 1) comm.step();
    if (comm.rank() != call->root) {
        Stream stream(comm, count);
        stream.receive(comm, count, call->root);
        stream.arrive(comm);
        stream.decompress(comm, call->recv, count);
        return;
    }
    std::array<Stream, 2> streams;
    if (comm.size() > 1) streams = {Stream(comm, count), Stream(comm, count)};
    for (std::int32_t member = 1; member < team.size(); ++member) {
        Stream &stream = streams[static_cast<std::size_t>(member % 2)];
        stream.compress(comm, block(team.rank_at(member)), count);
        stream.send(comm, count, team.rank_at(member));
    }
    comm.copy(call->recv, block(call->root), count);
    for (Stream &stream : streams) stream.complete(comm);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("scatter", run, collpress::error_of_moving, {}, "Straight from root, a stream each")
