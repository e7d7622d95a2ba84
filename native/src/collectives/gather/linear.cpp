// Every rank sends its block to the root: one step.
//
// E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn: Collective Communication: Theory, Practice, and Experience.
// Concurr. Comput. Pract. Exp. 19 (2007), doi:10.1002/cpe.1206. The root has a receive open for every rank.
#include "collpress/messages.hpp"
#include "collpress/own_block.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::size_t count = call->count;
    comm.step();
    if (comm.rank() != call->root) {
        comm.exchange(call->send, count, call->root, nullptr, 0, call->root);
        return;
    }
    collpress::Messages messages(comm, comm.size() - 1);
    for (std::int32_t rank = 0; rank < comm.size(); ++rank)
        if (rank != call->root)
            messages.receive(comm.at(call->recv, static_cast<std::size_t>(rank) * count), count, rank);
    collpress::OwnBlock(comm, *call, static_cast<std::size_t>(call->root) * count, count).copy_to_place();
    messages.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("gather", run, {.in_place = true}, "Linear: every rank sends to the root")
