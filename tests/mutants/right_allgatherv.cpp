// Right: what the mutants of allgatherv are made from.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::move(comm, call->send, call->recv, right::of_allgatherv(*call));
}

COLLPRESS_ALGORITHM_PLUGIN("allgatherv", run, ({}), "right")
