// The last rank gets one element with its lowest bit flipped.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::bcast(comm, *call);
    if (comm.rank() == comm.size() - 1) right::flip(comm, call->recv, call->count / 2, 0);
}

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, ({}), "a flipped bit")
