// What every alltoall needs: blocks to send that stay while others arrive.
#ifndef COLLPRESS_ALL_TO_ALL_HPP
#define COLLPRESS_ALL_TO_ALL_HPP

#include "collpress/p2p.hpp"

namespace collpress {

// `send`, or, in place, a copy of what lies in `recv`. The block for the rank itself is put into its place at once.
inline const void *blocks_to_send(const P2p &comm, const collpress_call &call) {
    const std::size_t own = static_cast<std::size_t>(comm.rank()) * call.count;
    if (call.send != nullptr || call.count == 0 || comm.size() == 1) {
        if (call.send != nullptr) comm.copy(comm.at(call.recv, own), comm.at(call.send, own), call.count);
        return call.send;
    }
    const std::size_t all = static_cast<std::size_t>(comm.size()) * call.count;
    std::byte *copy = comm.scratch(comm.bytes(all));
    comm.copy(copy, call.recv, all);
    return copy;
}

} // namespace collpress

#endif
