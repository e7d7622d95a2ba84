// Right: what the mutants of reduce are made from.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::reduce(comm, *call);
}

COLLPRESS_ALGORITHM_PLUGIN("reduce", run, ({}), "right")
