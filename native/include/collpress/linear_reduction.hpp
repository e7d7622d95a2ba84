// One rank gets all vectors and reduces them one after another, in one step.
#ifndef COLLPRESS_LINEAR_REDUCTION_HPP
#define COLLPRESS_LINEAR_REDUCTION_HPP

#include "collpress/team.hpp"

#include <array>

namespace collpress {

// `result` is that of root, and `own` there in place. While a vector is reduced the next one arrives.
inline void linear_reduction(const P2p &comm, const void *own, void *result, std::size_t count, std::int32_t root) {
    if (count == 0) return;
    const Team team(comm, root);
    if (comm.size() > 1) comm.step();
    if (comm.rank() != root) {
        comm.exchange(own, count, root, nullptr, 0, root);
        return;
    }
    if (comm.size() == 1) {
        if (own != result) comm.copy(result, own, count);
        return;
    }
    // The first vector arrives where the result will be, and root's own one is added to it.
    const bool first_in_result = own != result;
    std::array<std::byte *, 2> arrivals{};
    const auto arrival = [&](std::int32_t member) {
        if (member == 1 && first_in_result) return static_cast<std::byte *>(result);
        std::byte *&place = arrivals[static_cast<std::size_t>(member % 2)];
        if (place == nullptr) place = comm.scratch(comm.bytes(count));
        return place;
    };
    collpress_request next = comm.receive(arrival(1), count, team.rank_at(1));
    for (std::int32_t member = 1; member < team.size(); ++member) {
        comm.wait(next);
        if (member + 1 < team.size()) next = comm.receive(arrival(member + 1), count, team.rank_at(member + 1));
        comm.reduce(result, member == 1 && first_in_result ? own : arrival(member), count);
    }
}

} // namespace collpress

#endif
