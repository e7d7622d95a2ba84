// Right: what the mutants of bcast are made from.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::bcast(comm, *call);
}

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, ({}), "right")
