// All streams at once, in one step: each is sent as soon as it is made, and unpacked when all are made. Each block is
// compressed once; the one for the rank itself is copied as it is.
#include "collpress/compressed.hpp"

namespace {

using collpress::P2p;
using collpress::Stream;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    const std::int32_t ranks = comm.size();
    const std::int32_t rank = comm.rank();
    if (count == 0) return;
    const bool in_place = call->send == nullptr; // streams stand for what lay there before
    const void *own = in_place ? call->recv : call->send;
    const auto place = [&](std::int32_t of) { return static_cast<std::size_t>(of) * count; };
    if (ranks > 1) comm.step();
    std::vector<Stream> incoming;
    std::vector<Stream> outgoing;
    for (std::int32_t distance = 1; distance < ranks; ++distance) {
        incoming.emplace_back(comm, count).receive(comm, count, (rank + ranks - distance) % ranks);
    }
    for (std::int32_t distance = 1; distance < ranks; ++distance) {
        const std::int32_t to = (rank + distance) % ranks;
        Stream &stream = outgoing.emplace_back(comm, count);
        stream.compress(comm, comm.at(own, place(to)), count);
        stream.send(comm, count, to);
    }
    if (!in_place) comm.copy(comm.at(call->recv, place(rank)), comm.at(own, place(rank)), count);
    for (std::int32_t distance = 1; distance < ranks; ++distance) {
        Stream &stream = incoming[static_cast<std::size_t>(distance - 1)];
        stream.arrive(comm);
        stream.decompress(comm, comm.at(call->recv, place((rank + ranks - distance) % ranks)), count);
    }
    for (Stream &stream : outgoing) stream.complete(comm);
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("alltoall", run, collpress::error_of_moving, {.in_place = true},
                             "All streams straight and at once")
