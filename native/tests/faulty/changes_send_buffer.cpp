// Right, but it uses the caller's send buffer as its workspace.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    if (comm.rank() == 1) comm.copy(const_cast<void *>(call->send), call->recv, call->count);
}

FAULTY_PLUGIN(run, "changes its send buffer")
