// A plain allreduce that the faulty ones are made from: every rank gets every rank's vector and reduces them in rank
// order.
#pragma once

#include "collpress/p2p.hpp"

#include <cstring>
#include <vector>

namespace faulty {

using collpress::P2p;

// `missing`: the rank whose contribution is left out; -1 for a right result.
inline void linear(const P2p &comm, const collpress_call *call, std::int32_t missing = -1) {
    const std::size_t bytes = comm.bytes(call->count);
    std::byte *others = comm.scratch(bytes * static_cast<std::size_t>(comm.size()));
    std::vector<collpress_request> requests;
    comm.step();
    for (std::int32_t peer = 0; peer < comm.size(); ++peer) {
        if (peer == comm.rank()) continue;
        requests.push_back(comm.receive(others + bytes * static_cast<std::size_t>(peer), call->count, peer));
        requests.push_back(comm.send(call->send, call->count, peer));
    }
    for (const collpress_request request : requests) comm.wait(request);
    comm.copy(others + bytes * static_cast<std::size_t>(comm.rank()), call->send, call->count);
    bool started = false;
    for (std::int32_t peer = 0; peer < comm.size(); ++peer) {
        if (peer == missing) continue;
        const std::byte *theirs = others + bytes * static_cast<std::size_t>(peer);
        if (started)
            comm.reduce(call->recv, theirs, call->count);
        else
            comm.copy(call->recv, theirs, call->count);
        started = true;
    }
}

// One element becomes what no sum of small whole numbers is, in any dtype.
inline void spoil(const P2p &comm, const collpress_call *call, std::size_t element, int byte) {
    std::memset(comm.at(call->recv, element), byte, comm.bytes(1));
}

} // namespace faulty

// Makes a plugin of `run`.
#define FAULTY_PLUGIN(run, summary) COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {}, summary)
