// The last element is not written: a count one too small.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    collpress_call shorter = *call;
    shorter.count -= call->count == 0 ? 0 : 1;
    right::allreduce(comm, shorter);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "one element short")
