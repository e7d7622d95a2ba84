// Bine butterfly: reduce-scatter that doubles the distance, from step to step, then all-gather that halves it; what
// Rabenseifner's algorithm sends, but to partners at two thirds of its distances.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835. Parts of
// the vector are numbered by v(r, p), so that what is sent in a step is one run of elements; for an allreduce nothing
// has to be moved afterwards. 2 log2 p steps and 2 (p - 1) / p n elements sent per rank for powers of two; otherwise
// the surplus ranks fold into a neighbour first and get the result from it at the end.
#include "collpress/butterfly.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || call->count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, call->count);
        return;
    }
    collpress::PartialSum sum(comm, own, call->recv, call->count);
    collpress::halving_allreduce<collpress::Bine>(comm, collpress::Team(comm), sum, call->recv, call->count);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true}, "Bine butterfly: halving, then doubling, near ranks")
