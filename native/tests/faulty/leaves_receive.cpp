// Right, but waits for what nobody sends, and does not look whether it came.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    comm.receive(comm.scratch(comm.bytes(call->count)), call->count, (comm.rank() + 1) % comm.size());
}

FAULTY_PLUGIN(run, "receives what nobody sends")
