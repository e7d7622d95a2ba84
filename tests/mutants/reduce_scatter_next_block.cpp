// Every rank gets the block of the next one.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::reduce_scatter(comm, *call, (comm.rank() + 1) % comm.size());
}

COLLPRESS_ALGORITHM_PLUGIN("reduce_scatter", run, ({}), "shifted blocks")
