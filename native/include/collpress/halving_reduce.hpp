// The reduce of large vectors: reduce-scatter by halving, then a gather of the parts to root along the butterfly's
// tree.
#ifndef COLLPRESS_HALVING_REDUCE_HPP
#define COLLPRESS_HALVING_REDUCE_HPP

#include "collpress/butterfly.hpp"

namespace collpress {

template <class Butterfly>
void halving_reduce(const P2p &comm, const collpress_call &call) {
    const bool is_root = comm.rank() == call.root;
    const void *own = contribution_of(call);
    if (comm.size() == 1 || call.count == 0) {
        if (is_root && own != call.recv) comm.copy(call.recv, own, call.count);
        return;
    }
    const Team team(comm, call.root); // root is at position 0, and never surplus
    const Positions positions(team);
    PartialSum sum(comm, own, is_root ? call.recv : nullptr, call.count);
    positions.fold(comm, sum, call.count);
    const Halving<Butterfly, Blocks> halving(comm, positions,
                                             Blocks{call.count, static_cast<std::size_t>(positions.count())});
    halving.reduce(sum);
    CP_TAG(comm, "gather");
    for (std::int32_t level = halving.levels(); level-- > 0;) {
        comm.step();
        if (positions.idle() || (halving.path() >> (level + 1)) != 0) continue; // has given its part away
        const std::int32_t partner = halving.partner(level);
        const Parts held = halving.kept(level);
        const Parts missing = halving.given(level);
        if ((halving.path() >> level & 1U) != 0) {
            if (halving.size(held) != 0)
                comm.exchange(sum.work(halving.offset(held)), halving.size(held), partner, nullptr, 0, partner);
        } else if (halving.size(missing) != 0) {
            comm.exchange(nullptr, 0, partner, sum.work(halving.offset(missing)), halving.size(missing), partner);
        }
    }
}

} // namespace collpress

#endif
