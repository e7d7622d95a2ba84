// The rank behind root broadcasts what lies in its buffer.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    collpress_call wrong = *call;
    wrong.root = (call->root + 1) % comm.size();
    right::bcast(comm, wrong);
}

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, ({}), "a wrong root")
