// A barrier of neighbours only: a rank may leave before the others have come.
#include "collpress/p2p.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *) {
    const collpress::P2p comm(p2p);
    const std::int32_t ranks = comm.size();
    if (ranks == 1) return;
    comm.step();
    const collpress_request received = comm.receive(nullptr, 0, (comm.rank() + ranks - 1) % ranks);
    const collpress_request sent = comm.send(nullptr, 0, (comm.rank() + 1) % ranks);
    comm.wait(received);
    comm.wait(sent);
}

COLLPRESS_ALGORITHM_PLUGIN("barrier", run, {}, "lets ranks leave early")
