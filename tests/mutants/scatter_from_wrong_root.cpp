// The rank behind root, which has nothing to send, scatters zeros.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    collpress_call wrong = *call;
    wrong.root = (call->root + 1) % comm.size();
    const std::size_t bytes = comm.bytes(call->count) * static_cast<std::size_t>(comm.size());
    if (comm.rank() == wrong.root) wrong.send = std::memset(comm.scratch(bytes), 0, bytes);
    right::move(comm, wrong.send, call->recv, right::of_scatter(wrong));
}

COLLPRESS_ALGORITHM_PLUGIN("scatter", run, ({}), "a wrong root")
