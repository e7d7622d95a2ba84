// Right, but rank 2 writes one element behind its result.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    if (comm.rank() == 2) faulty::spoil(comm, call, call->count, 0);
}

FAULTY_PLUGIN(run, "writes behind its result")
