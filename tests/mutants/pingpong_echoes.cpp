// The last rank answers with what it got, not with its own vector.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    if (comm.rank() != 0 && comm.rank() != comm.size() - 1) return;
    const bool first = comm.rank() == 0;
    const std::int32_t peer = first ? comm.size() - 1 : 0;
    if (first) comm.exchange(call->send, call->count, peer, nullptr, 0, peer);
    comm.exchange(nullptr, 0, peer, call->recv, call->count, peer);
    if (!first) comm.exchange(call->recv, call->count, peer, nullptr, 0, peer);
}

COLLPRESS_ALGORITHM_PLUGIN("pingpong", run, ({}), "echoes")
