// A rank's own block does not come into its place.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::move(comm, call->send, call->recv, [&](std::size_t from, std::size_t to) {
        return from == to ? right::Transfer{} : right::of_allgather(*call)(from, to);
    });
}

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, ({}), "no own block")
