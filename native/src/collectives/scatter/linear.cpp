// The root sends every rank its block: one step.
//
// E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn: Collective Communication: Theory, Practice, and Experience.
// Concurr. Comput. Pract. Exp. 19 (2007), doi:10.1002/cpe.1206. All messages of the root are under way at once.
#include "collpress/messages.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::size_t count = call->count;
    comm.step();
    if (comm.rank() != call->root) {
        comm.exchange(nullptr, 0, call->root, call->recv, count, call->root);
        return;
    }
    const auto block = [&](std::int32_t rank) { return comm.at(call->send, static_cast<std::size_t>(rank) * count); };
    collpress::Messages messages(comm, comm.size() - 1);
    for (std::int32_t rank = 0; rank < comm.size(); ++rank)
        if (rank != call->root) messages.send(block(rank), count, rank);
    comm.copy(call->recv, block(call->root), count);
    messages.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("scatter", run, {}, "Linear: the root sends to every rank")
