// Recursive halving: in each step a rank exchanges half of what is left of the vector, with the farthest rank first;
// log2 p steps and (p - 1) / p n elements sent per rank for powers of two.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.4. When p is no power of two,
// p - 2^floor(log2 p) surplus ranks fold their vector into a neighbour's first and get their block from it at the end:
// two more steps.
#include "collpress/halving_reduce_scatter.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::halving_reduce_scatter<collpress::FarthestFirst>(collpress::P2p(p2p), *call, true);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce_scatter", run, {.in_place = true}, "Recursive halving, the farthest rank first")
