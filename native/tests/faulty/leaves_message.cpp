// Right, but one message too many is sent.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    comm.send(call->send, call->count, (comm.rank() + 1) % comm.size());
}

FAULTY_PLUGIN(run, "sends what nobody receives")
