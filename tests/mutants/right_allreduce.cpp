// Right: what the mutants of allreduce are made from.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({.in_place = true}), "right")
