// Right as long as wait() returns the bytes that moved, of sends too.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    if (call->count == 0 || comm.size() == 1) return;
    std::byte *arrival = comm.scratch(comm.bytes(call->count));
    const std::int32_t right = (comm.rank() + 1) % comm.size();
    const std::int32_t left = (comm.rank() + comm.size() - 1) % comm.size();
    const collpress_request incoming = comm.receive(arrival, call->count, left);
    const collpress_request outgoing = comm.send(call->send, call->count, right);
    const bool as_posted = comm.wait(outgoing) == comm.bytes(call->count);
    if (comm.wait(incoming) != comm.bytes(call->count) || !as_posted) faulty::spoil(comm, call, 0, 0x41);
}

FAULTY_PLUGIN(run, "believes what wait() returns")
