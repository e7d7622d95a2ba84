// A count one too large: root's element behind its buffer comes behind
// everybody's.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    collpress_call longer = *call;
    longer.count += 1;
    right::bcast(comm, longer);
}

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, ({}), "one element too many")
