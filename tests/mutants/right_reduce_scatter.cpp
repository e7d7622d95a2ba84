// Right: what the mutants of reduce_scatter are made from.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::reduce_scatter(comm, *call, comm.rank());
}

COLLPRESS_ALGORITHM_PLUGIN("reduce_scatter", run, ({}), "right")
