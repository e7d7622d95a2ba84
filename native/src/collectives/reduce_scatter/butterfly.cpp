// Butterfly: halves of the vector go to the nearest rank first, so that most of the data goes the shortest way; in one
// more step each block goes to whom it belongs, for it ends at the rank with the bits of the owner's in reverse.
//
// J. L. Träff: An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application. EuroPVM/MPI 2005,
// doi:10.1007/11557265_20 (butterfly and bit-reversal permutation). log2 p + 1 steps, at most n elements sent per rank
// for powers of two; otherwise the surplus ranks fold into a neighbour first: one more step.
#include "collpress/halving_reduce_scatter.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::halving_reduce_scatter<collpress::NearestFirst>(collpress::P2p(p2p), *call, false);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce_scatter", run, {.in_place = true},
                           "Butterfly: halving, the nearest rank first, then blocks to their owners")
