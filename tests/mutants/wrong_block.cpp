// The second of p blocks is not reduced: each rank has its own values there.
#include "right.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    const right::P2p comm(p2p);
    right::allreduce(comm, *call);
    const collpress::Blocks blocks{call->count, static_cast<std::size_t>(comm.size())};
    comm.copy(comm.at(call->recv, blocks.offset(1)), comm.at(call->send, blocks.offset(1)), blocks.size(1));
}

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({}), "a block")
