// Linear: the root gets every rank's vector and reduces them one after another; one step.
//
// J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI
// Collective Operations. Cluster Comput. 10 (2007), doi:10.1007/s10586-007-0012-0 (linear algorithms). While one vector
// is reduced, the next one arrives.
#include "collpress/linear_reduction.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    collpress::linear_reduction(comm, collpress::contribution_of(*call), call->recv, call->count, call->root);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce", run, {.in_place = true}, "Linear: all vectors to the root")
