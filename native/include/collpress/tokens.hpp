// Messages without data: they say that their sender has come.
#ifndef COLLPRESS_TOKENS_HPP
#define COLLPRESS_TOKENS_HPP

#include "collpress/p2p.hpp"

namespace collpress {

inline void send_token(const P2p &comm, std::int32_t to) { comm.wait(comm.send(nullptr, 0, to)); }
inline void await_token(const P2p &comm, std::int32_t from) { comm.wait(comm.receive(nullptr, 0, from)); }
inline void swap_tokens(const P2p &comm, std::int32_t peer) {
    const collpress_request received = comm.receive(nullptr, 0, peer);
    const collpress_request sent = comm.send(nullptr, 0, peer);
    comm.wait(received);
    comm.wait(sent);
}

} // namespace collpress

#endif
