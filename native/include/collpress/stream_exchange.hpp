// Streams that go from every rank to every other, straight.
#ifndef COLLPRESS_STREAM_EXCHANGE_HPP
#define COLLPRESS_STREAM_EXCHANGE_HPP

#include "collpress/compressed.hpp"

namespace collpress {

// A stream for each other rank, in p - 1 steps: in step i to the rank i places on, from the one i places back. While
// one is made the one before is on its way, and one that arrived is taken while the next arrives.
// `out(peer)`: what is sent, and `out_elements(peer)` of it; `take(peer, stream)`: one of `in_elements` has come.
template <class Out, class OutElements, class Take>
void pairwise_streams(const P2p &comm, std::size_t largest, const Out &out, const OutElements &out_elements,
                      std::size_t in_elements, const Take &take) {
    std::array<Stream, 2> outgoing{Stream(comm, largest), Stream(comm, largest)};
    std::array<Stream, 2> incoming{Stream(comm, in_elements), Stream(comm, in_elements)};
    const std::int32_t ranks = comm.size();
    const auto finish = [&](std::int32_t step) {
        Stream &arrival = incoming[static_cast<std::size_t>(step % 2)];
        arrival.arrive(comm);
        if (in_elements != 0) take((comm.rank() + ranks - step) % ranks, arrival);
    };
    for (std::int32_t step = 1; step < ranks; ++step) {
        comm.step();
        const auto turn = static_cast<std::size_t>(step % 2);
        const std::int32_t to = (comm.rank() + step) % ranks;
        incoming[turn].receive(comm, in_elements, (comm.rank() + ranks - step) % ranks);
        outgoing[turn].compress(comm, out(to), out_elements(to));
        outgoing[turn].send(comm, out_elements(to), to);
        if (step > 1) finish(step - 1);
    }
    if (ranks > 1) finish(ranks - 1);
    for (Stream &stream : outgoing) stream.complete(comm);
}

// Every rank compresses `own` once and sends the stream to all others, in one step. `take(rank, stream)` is called in
// the order of ranks, this one included, so that whoever reduces them gets the same bits as everybody else.
template <class Elements, class Take>
void share_streams(const P2p &comm, const void *own, const Elements &elements, const Take &take) {
    const std::int32_t ranks = comm.size();
    const std::int32_t rank = comm.rank();
    std::vector<Stream> streams;
    for (std::int32_t of = 0; of < ranks; ++of) streams.emplace_back(comm, elements(of));
    const auto stream_of = [&](std::int32_t of) -> Stream & { return streams[static_cast<std::size_t>(of)]; };
    comm.step();
    for (std::int32_t distance = 1; distance < ranks; ++distance) {
        const std::int32_t from = (rank + ranks - distance) % ranks;
        stream_of(from).receive(comm, elements(from), from);
    }
    Stream &mine = stream_of(rank);
    mine.compress(comm, own, elements(rank));
    std::vector<collpress_request> sends;
    for (std::int32_t distance = 1; distance < ranks && elements(rank) != 0; ++distance)
        sends.push_back(comm.send_bytes(mine.data, mine.bytes, (rank + distance) % ranks));
    for (std::int32_t of = 0; of < ranks; ++of) {
        stream_of(of).arrive(comm);
        if (elements(of) != 0) take(of, static_cast<const Stream &>(stream_of(of)));
    }
    for (const collpress_request request : sends) comm.wait(request);
}

// Reduces what all ranks have for this one's block, which is added to where it lies already, in `sum`.
template <class Layout>
void reduce_scatter_pairwise(const P2p &comm, const void *own, const Layout &layout, std::size_t largest,
                             std::byte *sum) {
    const std::size_t mine = layout.size(static_cast<std::size_t>(comm.rank()));
    pairwise_streams(
        comm, largest, [&](std::int32_t peer) { return comm.at(own, layout.offset(static_cast<std::size_t>(peer))); },
        [&](std::int32_t peer) { return layout.size(static_cast<std::size_t>(peer)); }, mine,
        [&](std::int32_t, const Stream &stream) { stream.accumulate(comm, sum, mine); });
}

// Of that: p - 1 streams, each compressed once, are added to what was not.
inline double error_of_direct_reduction(std::int32_t ranks, const AddedError &added) {
    return ranks < 2 ? 0 : added.together(ranks - 1, added(1, 0));
}

} // namespace collpress

#endif
