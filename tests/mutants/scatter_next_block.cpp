// Every rank gets the block of the next one.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::move(comm, call->send, call->recv, [&](std::size_t from, std::size_t to) {
        right::Transfer one = right::of_scatter(*call)(from, to);
        one.from = (to + 1) % static_cast<std::size_t>(comm.size()) * call->count;
        return one;
    });
}

COLLPRESS_ALGORITHM_PLUGIN("scatter", run, ({}), "shifted blocks")
