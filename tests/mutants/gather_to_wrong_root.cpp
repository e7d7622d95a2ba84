// The rank behind root gets the blocks, root nothing.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    collpress_call wrong = *call;
    wrong.root = (call->root + 1) % comm.size();
    if (comm.rank() == wrong.root)
        wrong.recv = comm.scratch(comm.bytes(call->count) * static_cast<std::size_t>(comm.size()));
    right::move(comm, call->send, wrong.recv, right::of_gather(wrong));
}

COLLPRESS_ALGORITHM_PLUGIN("gather", run, ({}), "a wrong root")
