// Right, but each rank sends itself a message.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    comm.exchange(call->send, call->count, comm.rank(), comm.scratch(comm.bytes(call->count)), call->count,
                  comm.rank());
}

FAULTY_PLUGIN(run, "sends to itself")
