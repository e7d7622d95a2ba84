// The last rank's contribution is missing.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call, comm.size() - 1);
}

FAULTY_PLUGIN(run, "leaves out the last rank")
