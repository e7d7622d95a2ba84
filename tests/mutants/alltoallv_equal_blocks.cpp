// Takes all blocks for equally long, as far as the buffers reach.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::move(comm, call->send, call->recv, [&](std::size_t from, std::size_t to) {
        right::Transfer one = right::of_alltoallv(comm, *call)(from, to);
        const auto ranks = static_cast<std::size_t>(comm.size());
        const std::size_t sent = right::total(call->counts + from * ranks, ranks);
        const std::size_t got = right::total(call->counts + to, ranks, ranks);
        one.from = std::min(to * call->count, sent - one.count);
        one.to = std::min(from * call->count, got - one.count);
        return one;
    });
}

COLLPRESS_ALGORITHM_PLUGIN("alltoallv", run, ({}), "equal blocks")
