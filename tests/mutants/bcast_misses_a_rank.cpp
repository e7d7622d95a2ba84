// Rank 2 gets nothing.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::move(comm, call->recv, call->recv, [&](std::size_t from, std::size_t to) {
        const bool sends = from == static_cast<std::size_t>(call->root) && to != from && to != 2;
        return sends ? right::Transfer{0, 0, call->count} : right::Transfer{};
    });
}

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, ({}), "misses a rank")
