// An allgather that needs a power of two of ranks, on any number of them.
//
// Each surplus rank (paired_ranks.hpp) gives its block to the rank before it, is idle, and gets the whole result
// afterwards: two more steps, none for powers of two.
#ifndef COLLPRESS_PAIRED_ALLGATHER_HPP
#define COLLPRESS_PAIRED_ALLGATHER_HPP

#include "collpress/own_block.hpp"
#include "collpress/paired_ranks.hpp"

namespace collpress {

// `gather(places, participates)` makes the blocks of all positions known to all of them, within `recv`, and marks its
// steps on every rank. The blocks of positions [first, last) are those of ranks [rank_at(first), rank_at(last)).
template <class Gather>
void paired_allgather(const P2p &comm, const collpress_call &call, const Gather &gather) {
    const PairedRanks places(comm.size());
    const std::int32_t rank = comm.rank();
    const std::size_t count = call.count;
    const std::size_t all = static_cast<std::size_t>(comm.size()) * count;
    const bool paired = places.in_pair(rank);
    const bool surplus = places.is_surplus(rank);
    const OwnBlock own(comm, call, static_cast<std::size_t>(rank) * count, count);

    if (places.any_surplus()) {
        CP_TAG(comm, "fold");
        comm.step();
        if (surplus) {
            comm.exchange(own.source(), count, rank - 1, nullptr, 0, rank - 1);
        } else {
            own.copy_to_place();
            if (paired)
                comm.exchange(nullptr, 0, rank + 1, comm.at(call.recv, static_cast<std::size_t>(rank + 1) * count),
                              count, rank + 1);
        }
    } else {
        own.copy_to_place();
    }
    {
        CP_TAG(comm, "allgather");
        gather(places, !surplus);
    }
    if (!places.any_surplus()) return;
    CP_TAG(comm, "unfold");
    comm.step();
    if (surplus)
        comm.exchange(nullptr, 0, rank - 1, call.recv, all, rank - 1);
    else if (paired)
        comm.exchange(call.recv, all, rank + 1, nullptr, 0, rank + 1);
}

} // namespace collpress

#endif
