// The allreduce around a ring: p - 1 steps of reduce-scatter, then p - 1 of all-gather, each of one block of n / p.
#ifndef COLLPRESS_RING_ALLREDUCE_HPP
#define COLLPRESS_RING_ALLREDUCE_HPP

#include "collpress/partial_sum.hpp"
#include "collpress/ring.hpp"

#include <vector>

namespace collpress {

// A block travels in messages of `segment` elements; while one is reduced the next ones arrive. A partial sum arrives
// in its place in `recv`, where the rank's own contribution is added; only in place it needs scratch.
inline void ring_allreduce(const P2p &comm, const collpress_call &call, std::size_t segment) {
    const void *own = contribution_of(call);
    const bool in_place = own == call.recv;
    const RingPlace ring = ring_of_ranks(comm);
    if (ring.ranks == 1 || call.count == 0) {
        if (!in_place) comm.copy(call.recv, own, call.count);
        return;
    }
    const Blocks blocks{call.count, static_cast<std::size_t>(ring.ranks)};
    std::byte *arrivals = in_place ? comm.scratch(comm.bytes(blocks.largest())) : nullptr;
    const auto each_segment = [&](std::size_t block, const auto &visit) {
        for (std::size_t first = 0; first < blocks.size(block); first += segment)
            visit(first, std::min(segment, blocks.size(block) - first));
    };
    Messages sends(comm, static_cast<std::int32_t>(blocks.largest() / segment + 1));
    std::vector<collpress_request> receives;

    for (std::int32_t step = 0; step < ring.ranks - 1; ++step) {
        comm.step();
        const std::size_t out = ring.behind(step);
        const std::size_t in = ring.behind(step + 1);
        std::byte *sum = comm.at(call.recv, blocks.offset(in));
        std::byte *arrival = in_place ? arrivals : sum;
        const std::byte *addend = in_place ? arrivals : comm.at(own, blocks.offset(in));
        const std::byte *source = comm.at(step == 0 ? own : call.recv, blocks.offset(out));
        receives.clear();
        each_segment(in, [&](std::size_t first, std::size_t elements) {
            receives.push_back(comm.receive(comm.at(arrival, first), elements, ring.left));
        });
        each_segment(out, [&](std::size_t first, std::size_t elements) {
            sends.send(comm.at(source, first), elements, ring.right);
        });
        each_segment(in, [&](std::size_t first, std::size_t elements) {
            comm.wait(receives[first / segment]);
            comm.reduce(comm.at(sum, first), comm.at(addend, first), elements);
        });
        sends.complete();
    }
    for (std::int32_t step = 0; step < ring.ranks - 1; ++step) {
        comm.step();
        const std::size_t out = ring.behind(step == 0 ? ring.ranks - 1 : step - 1);
        const std::size_t in = ring.behind(step);
        Messages messages(comm, static_cast<std::int32_t>(2 * (blocks.largest() / segment + 1)));
        each_segment(in, [&](std::size_t first, std::size_t elements) {
            messages.receive(comm.at(call.recv, blocks.offset(in) + first), elements, ring.left);
        });
        each_segment(out, [&](std::size_t first, std::size_t elements) {
            messages.send(comm.at(call.recv, blocks.offset(out) + first), elements, ring.right);
        });
        messages.complete();
    }
}

} // namespace collpress

#endif
