// Uses what it receives before it has waited for it.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    comm.copy(call->recv, call->send, call->count);
    std::byte *theirs = comm.scratch(comm.bytes(call->count));
    const std::int32_t peer = 1 - comm.rank();
    if (comm.rank() > 1) return;
    const collpress_request received = comm.receive(theirs, call->count, peer);
    const collpress_request sent = comm.send(call->send, call->count, peer);
    comm.wait(sent); // the message has arrived, but nobody may know that yet
    comm.reduce(call->recv, theirs, call->count);
    comm.wait(received);
}

FAULTY_PLUGIN(run, "reads before it may")
