// Every rank waits for a message that nobody sends.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    comm.exchange(nullptr, 0, 0, call->recv, call->count, (comm.rank() + 1) % comm.size());
}

FAULTY_PLUGIN(run, "waits for ever")
