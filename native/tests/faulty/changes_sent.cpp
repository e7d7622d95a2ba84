// Right, but afterwards it sends a message and changes it before it has gone.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    faulty::linear(comm, call);
    if (comm.size() == 1) return;
    const std::size_t bytes = comm.bytes(call->count);
    std::byte *passing = comm.scratch(bytes);
    std::byte *arriving = comm.scratch(bytes);
    std::memset(passing, 0, bytes);
    const std::int32_t ranks = comm.size();
    const collpress_request received = comm.receive(arriving, call->count, (comm.rank() + ranks - 1) % ranks);
    const collpress_request sent = comm.send(passing, call->count, (comm.rank() + 1) % ranks);
    std::memset(passing, 1, bytes);
    comm.wait(received);
    comm.wait(sent);
}

FAULTY_PLUGIN(run, "changes what it is still sending")
