// Bruck's all-to-all: a block for the rank d places ahead moves in step k by 2^k where bit k of d is set; ceil(log2 p)
// steps of about p/2 blocks.
//
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in
// Multiport Message-Passing Systems. IEEE Trans. Parallel Distrib. Syst. 8 (1997), doi:10.1109/71.642949 (index
// operation, radix 2). No rotation of all blocks before and after: a block that has d places to go in all waits between
// two steps where the result wants the block that comes from d places behind, which is the one that ends there.
#include "collpress/all_to_all.hpp"

#include <algorithm>

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::int64_t rank = comm.rank();
    const std::int64_t ranks = comm.size();
    const std::size_t count = call->count;
    const auto offset = [&](std::int64_t block) { return static_cast<std::size_t>(block) * count; };
    const void *outgoing = blocks_to_send(comm, *call);
    const auto wanted = [&](std::int64_t places) {
        return comm.at(call->recv, offset((rank - places + ranks) % ranks));
    };
    // Blocks of a step: one of every two runs of 2^k distances.
    const auto each_moving = [&](std::int64_t bit, const auto &visit) {
        for (std::int64_t run = bit; run < ranks; run += 2 * bit)
            for (std::int64_t places = run; places < std::min(run + bit, ranks); ++places) visit(places);
    };

    std::byte *packed = nullptr;
    std::byte *arrived = nullptr;
    const std::size_t most = static_cast<std::size_t>(ranks + 1) / 2;
    for (std::int64_t bit = 1; bit < ranks; bit *= 2) {
        comm.step();
        const auto to = static_cast<std::int32_t>((rank + bit) % ranks);
        const auto from = static_cast<std::int32_t>((rank - bit + ranks) % ranks);
        const auto source = [&](std::int64_t places) -> const std::byte * { // a block's first move is its lowest bit
            return places % bit == 0 ? comm.at(outgoing, offset((rank + places) % ranks)) : wanted(places);
        };
        std::size_t moving = 0;
        each_moving(bit, [&](std::int64_t) { ++moving; });
        if (moving == 1) { // nothing to pack
            comm.exchange(source(bit), count, to, wanted(bit), count, from);
            continue;
        }
        if (packed == nullptr && count != 0) {
            packed = comm.scratch(comm.bytes(most * count));
            arrived = comm.scratch(comm.bytes(most * count));
        }
        std::size_t next = 0;
        each_moving(bit, [&](std::int64_t places) {
            comm.copy(comm.at(packed, next * count), source(places), count);
            ++next;
        });
        comm.exchange(packed, moving * count, to, arrived, moving * count, from);
        next = 0;
        each_moving(bit, [&](std::int64_t places) {
            comm.copy(wanted(places), comm.at(arrived, next * count), count);
            ++next;
        });
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("alltoall", run, {.in_place = true},
                           "Bruck: blocks in packages over distances 1, 2, 4, ... in ceil(log2 p) steps")
