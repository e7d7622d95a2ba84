// A count one too large: writes behind the result.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    collpress_call longer = *call;
    longer.count += 1;
    right::allreduce(comm, longer);
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "one element too many")
