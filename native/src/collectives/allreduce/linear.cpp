// Linear: rank 0 gets every rank's vector, reduces them one after another, and sends the result to every rank; 2 steps.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0 (linear algorithms). Rank 0 sends
// (p - 1) n elements, the others n.
#include "collpress/linear_reduction.hpp"
#include "collpress/messages.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    {
        CP_TAG(comm, "reduce");
        collpress::linear_reduction(comm, collpress::contribution_of(*call), call->recv, call->count, 0);
    }
    if (comm.size() == 1) return;
    CP_TAG(comm, "bcast");
    comm.step();
    collpress::Messages messages(comm, comm.size());
    for (std::int32_t peer = 1; peer < comm.size() && comm.rank() == 0; ++peer)
        messages.send(call->recv, call->count, peer);
    if (comm.rank() != 0) messages.receive(call->recv, call->count, 0);
    messages.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true}, "Linear: all vectors to rank 0, and back")
