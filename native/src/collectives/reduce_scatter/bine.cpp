// Bine butterfly: halving that doubles the distance from step to step, to partners at two thirds of a binary
// butterfly's distances; in one more step each block goes to whom it belongs.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835 (the
// variant that sends blocks at the end). Parts of the vector are numbered by v(r, p), so that what is sent in a step is
// one run of elements. log2 p + 1 steps, at most n elements sent per rank for powers of two; otherwise the surplus
// ranks fold into a neighbour first: one more step.
#include "collpress/halving_reduce_scatter.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::halving_reduce_scatter<collpress::Bine>(collpress::P2p(p2p), *call, false);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce_scatter", run, {.in_place = true},
                           "Bine butterfly: halving, then blocks to their owners")
