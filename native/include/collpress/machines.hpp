// Which ranks share a machine.
#ifndef COLLPRESS_MACHINES_HPP
#define COLLPRESS_MACHINES_HPP

#include "collpress/p2p.hpp"

#include <vector>

namespace collpress {

struct Machines {
    std::vector<std::int32_t> mine;    // ranks of this rank's machine
    std::vector<std::int32_t> leaders; // first rank of each
    std::int32_t largest = 0;          // ranks of the largest
};

inline Machines machines_of(const P2p &comm) {
    Machines found;
    std::vector<std::int32_t> sizes;
    for (std::int32_t rank = 0; rank < comm.size(); ++rank) {
        const std::int32_t node = comm.node(rank);
        if (node == static_cast<std::int32_t>(sizes.size())) {
            sizes.push_back(0);
            found.leaders.push_back(rank);
        }
        ++sizes[static_cast<std::size_t>(node)];
        if (node == comm.node(comm.rank())) found.mine.push_back(rank);
    }
    found.largest = *std::max_element(sizes.begin(), sizes.end());
    return found;
}

} // namespace collpress

#endif
