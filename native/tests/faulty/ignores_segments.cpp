// Right, and says that it heeds segments and fan-outs of 2 and more, but sends whole vectors. Every
// second rank marks a step more than the others.
#include "collpress/p2p.hpp"

// A broadcast from the root to each other rank.
static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    comm.step();
    if (comm.rank() % 2 != 0) comm.step();
    for (std::int32_t peer = 0; peer < comm.size() && comm.rank() == call->root; ++peer) {
        if (peer != call->root) comm.wait(comm.send(call->recv, call->count, peer));
    }
    if (comm.rank() != call->root) comm.wait(comm.receive(call->recv, call->count, call->root));
}

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, ({.segments = true, .least_fanout = 2}), "broadcasts whole vectors")
