// One element of one rank is wrong.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    if (comm.rank() == 1) faulty::spoil(comm, call, call->count / 2, 0x41);
}

FAULTY_PLUGIN(run, "one wrong element on rank 1")
