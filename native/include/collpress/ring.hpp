// The all-gather around a ring: in each of p - 1 steps every rank passes on to its right the block that it got last.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.1.
#ifndef COLLPRESS_RING_HPP
#define COLLPRESS_RING_HPP

#include "collpress/messages.hpp"
#include "collpress/own_block.hpp"

namespace collpress {

// Where a rank stands in a ring of all ranks, which may begin anywhere.
struct RingPlace {
    std::int32_t ranks;
    std::int32_t position;
    std::int32_t left; // ranks of the communicator
    std::int32_t right;

    // The block that came from `steps` places to the left.
    std::size_t behind(std::int32_t steps) const {
        return static_cast<std::size_t>(position >= steps ? position - steps : position - steps + ranks);
    }
};

inline RingPlace ring_of_ranks(const P2p &comm) {
    const std::int32_t rank = comm.rank();
    const std::int32_t ranks = comm.size();
    return {ranks, rank, rank == 0 ? ranks - 1 : rank - 1, rank == ranks - 1 ? 0 : rank + 1};
}

// Blocks are received into their places; the own one is put there while the first messages are on their way.
template <class Layout>
void ring_allgather(const P2p &comm, const RingPlace &place, void *recv, const Layout &layout, const OwnBlock &own) {
    Messages messages(comm);
    for (std::int32_t step = 0; step < place.ranks - 1; ++step) {
        comm.step();
        const std::size_t out = place.behind(step);
        const std::size_t in = place.behind(step + 1);
        messages.receive(comm.at(recv, layout.offset(in)), layout.size(in), place.left);
        messages.send(step == 0 ? own.source() : comm.at(recv, layout.offset(out)), layout.size(out), place.right);
        if (step == 0) own.copy_to_place();
        messages.complete();
    }
    if (place.ranks == 1) own.copy_to_place();
}

} // namespace collpress

#endif
