// Bruck's concatenation: in each of ceil(log_k p) steps, k - 1 messages to each side multiply by k what a rank has.
//
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in
// Multiport Message-Passing Systems. IEEE Trans. Parallel Distrib. Syst. 8 (1997), doi:10.1109/71.642949, with k - 1
// ports. Each rank sends (p - 1) blocks. In the last step a message has at most the blocks that are still missing.
#ifndef COLLPRESS_BRUCK_HPP
#define COLLPRESS_BRUCK_HPP

#include "collpress/messages.hpp"

namespace collpress {

// Each rank collects the blocks from its own on, so that every message is one piece; rank 0 has them in their places,
// the others turn them around at the end.
inline void bruck_allgather(const P2p &comm, const collpress_call &call, std::int32_t radix) {
    const std::int64_t ranks = comm.size();
    const std::int64_t rank = comm.rank();
    const std::size_t count = call.count;
    const auto place = [&](std::int64_t block) { return comm.at(call.recv, static_cast<std::size_t>(block) * count); };
    const void *own = call.send == nullptr ? place(rank) : call.send;
    std::byte *collected = rank == 0 || count == 0 ? place(0) : comm.scratch(comm.bytes(count) * comm.size());
    if (collected != own) comm.copy(collected, own, count);

    {
        CP_TAG(comm, "exchange");
        Messages messages(comm, 2 * std::min(radix - 1, comm.size() - 1));
        for (std::int64_t distance = 1; distance < ranks; distance *= radix) {
            comm.step();
            const auto each_message = [&](const auto &start) {
                for (std::int64_t far = distance; far < std::min(distance * radix, ranks); far += distance)
                    start(far, static_cast<std::size_t>(std::min(distance, ranks - far)) * count);
            };
            each_message([&](std::int64_t far, std::size_t elements) {
                messages.receive(comm.at(collected, static_cast<std::size_t>(far) * count), elements,
                                 static_cast<std::int32_t>((rank + far) % ranks));
            });
            each_message([&](std::int64_t far, std::size_t elements) {
                messages.send(collected, elements, static_cast<std::int32_t>((rank - far + ranks) % ranks));
            });
            messages.complete();
        }
    }

    if (collected == call.recv) return;
    CP_TAG(comm, "rotate");
    const auto to_the_end = static_cast<std::size_t>(ranks - rank) * count;
    comm.copy(place(rank), collected, to_the_end);
    comm.copy(place(0), comm.at(collected, to_the_end), static_cast<std::size_t>(rank) * count);
}

} // namespace collpress

#endif
