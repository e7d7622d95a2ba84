// The root sends to every rank: one step, p-1 whole vectors from the root.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0 (flat tree).
#include "collpress/messages.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    comm.step();
    collpress::Messages messages(comm, comm.size() - 1);
    if (comm.rank() != call->root) messages.receive(call->recv, call->count, call->root);
    for (std::int32_t rank = 0; comm.rank() == call->root && rank < comm.size(); ++rank)
        if (rank != call->root) messages.send(call->recv, call->count, rank);
    messages.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, {}, "Linear: the root sends to every rank")
