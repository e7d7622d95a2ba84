// The reduce-scatter by halving, on any number of ranks: what a position holds in the end goes to whom it belongs.
#ifndef COLLPRESS_HALVING_REDUCE_SCATTER_HPP
#define COLLPRESS_HALVING_REDUCE_SCATTER_HPP

#include "collpress/butterfly.hpp"
#include "collpress/messages.hpp"

namespace collpress {

// The blocks of the ranks that share a position are one part.
struct PositionBlocks {
    Blocks blocks;
    const Positions *positions;

    std::size_t offset(std::size_t part) const {
        return blocks.offset(static_cast<std::size_t>(positions->first_at(static_cast<std::int32_t>(part))));
    }
};

// `ends_in_order`: position i ends with part i.
template <class Butterfly>
void halving_reduce_scatter(const P2p &comm, const collpress_call &call, bool ends_in_order) {
    const std::int32_t rank = comm.rank();
    const void *own = contribution_of(call);
    const bool in_place = own == call.recv;
    if (comm.size() == 1 || call.count == 0) {
        if (!in_place) comm.copy(call.recv, own, call.count);
        return;
    }
    const Blocks blocks{call.count, static_cast<std::size_t>(comm.size())};
    const auto offset = [&](std::int32_t block) { return blocks.offset(static_cast<std::size_t>(block)); };
    const auto size = [&](std::int32_t block) { return blocks.size(static_cast<std::size_t>(block)); };
    const Team team(comm);
    const Positions positions(team);
    PartialSum sum(comm, own, in_place ? call.recv : nullptr, call.count);
    positions.fold(comm, sum, call.count);

    const Halving<Butterfly, PositionBlocks> halving(comm, positions, PositionBlocks{blocks, &positions});
    const auto part = static_cast<std::int32_t>(halving.part());
    const std::int32_t first_owner = positions.first_at(part);
    const std::int32_t last_owner = positions.first_at(part + 1) - 1;
    // Then the last exchange can go straight to `recv`, which has room for no more.
    const bool ends_with_own = !in_place && !positions.idle() && first_owner == rank && last_owner == rank;
    {
        CP_TAG(comm, "reduce-scatter");
        for (std::int32_t level = 0; level < halving.levels(); ++level) {
            comm.step();
            if (positions.idle()) continue;
            if (level < halving.levels() - 1 || !ends_with_own) {
                halving.reduce(sum, level);
                continue;
            }
            const Parts given = halving.given(level);
            comm.exchange(sum.at(halving.offset(given)), halving.size(given), halving.partner(level), call.recv,
                          size(rank), halving.partner(level));
            comm.reduce(call.recv, sum.at(offset(rank)), size(rank));
        }
    }
    if (ends_in_order && !positions.any_surplus()) {
        if (in_place && rank != 0) comm.copy(call.recv, sum.at(offset(rank)), size(rank));
        return;
    }

    CP_TAG(comm, "to-owners");
    comm.step();
    const std::uint32_t path =
        reversed_bits(static_cast<std::uint32_t>(positions.mine()), halving.levels()); // of who has this rank's part
    const std::int32_t holder = positions.rank_at(Butterfly::position(path, halving.levels()));
    Messages messages(comm, 3);
    std::byte *arrival = static_cast<std::byte *>(call.recv);
    if (holder != rank && in_place) arrival = comm.scratch(comm.bytes(size(rank)));
    if (holder != rank) messages.receive(arrival, size(rank), holder);
    for (std::int32_t owner = first_owner; owner <= last_owner && !positions.idle(); ++owner) {
        if (owner != rank) messages.send(sum.at(offset(owner)), size(owner), team.rank_at(owner));
    }
    if (holder == rank && !in_place && !ends_with_own) comm.copy(call.recv, sum.at(offset(rank)), size(rank));
    messages.complete();
    if (!in_place) return;
    if (holder != rank)
        comm.copy(call.recv, arrival, size(rank));
    else if (rank != 0)
        comm.copy(call.recv, sum.at(offset(rank)), size(rank));
}

} // namespace collpress

#endif
