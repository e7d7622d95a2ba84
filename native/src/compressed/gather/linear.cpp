// Every rank sends its block as a stream straight to root, which unpacks one while the next arrives: one step. Root's
// own block is copied as it is.
#include "collpress/compressed.hpp"
#include "collpress/own_block.hpp"
#include "collpress/team.hpp"

namespace {

using collpress::P2p;
using collpress::Stream;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    if (count == 0) return;
    const collpress::Team team(comm, call->root);
    if (comm.size() > 1) comm.step();
    if (comm.rank() != call->root) {
        Stream stream(comm, count);
        stream.compress(comm, call->send, count);
        stream.send(comm, count, call->root);
        stream.complete(comm);
        return;
    }
    const auto place = [&](std::int32_t rank) { return static_cast<std::size_t>(rank) * count; };
    std::array<Stream, 2> streams;
    if (comm.size() > 1) streams = {Stream(comm, count), Stream(comm, count)};
    const auto receive = [&](std::int32_t member) {
        if (member < team.size())
            streams[static_cast<std::size_t>(member % 2)].receive(comm, count, team.rank_at(member));
    };
    receive(1);
    receive(2);
    collpress::OwnBlock(comm, *call, place(call->root), count).copy_to_place();
    for (std::int32_t member = 1; member < team.size(); ++member) {
        Stream &stream = streams[static_cast<std::size_t>(member % 2)];
        stream.arrive(comm);
        stream.decompress(comm, comm.at(call->recv, place(team.rank_at(member))), count);
        receive(member + 2);
    }
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("gather", run, collpress::error_of_moving, {.in_place = true},
                             "Straight to root, a stream each")
