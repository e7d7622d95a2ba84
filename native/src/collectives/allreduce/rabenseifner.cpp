// Rabenseifner's algorithm: reduce-scatter by recursive halving of the vector, then all-gather by recursive doubling.
//
// R. Rabenseifner: Optimization of Collective Reduction Operations. ICCS 2004, doi:10.1007/978-3-540-24685-5_1; and R.
// Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.5. 2 log2 p steps and 2 (p - 1) / p n
// elements sent per rank for powers of two; otherwise the surplus ranks fold into a neighbour first and get the result
// from it at the end, as in recursive doubling.
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
    // The first exchange is with the nearest rank and moves half of the vector, the last one with the farthest and
    // moves a p-th.
    collpress::halving_allreduce<collpress::NearestFirst>(comm, collpress::Team(comm), sum, call->recv, call->count);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true},
                           "Rabenseifner: recursive halving, then recursive doubling")
