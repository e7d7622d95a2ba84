// Right, but its third call sends one message more than is received, and waits until it is on its way.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    static int calls = 0; // plugins must not do this
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    if (++calls == 3 && comm.rank() == 1) comm.wait(comm.send(call->send, call->count, 0));
}

FAULTY_PLUGIN(run, "sends what nobody receives, once")
