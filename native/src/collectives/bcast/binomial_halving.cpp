// Binomial tree that halves the distance: the root sends to the rank half-way round first, and each rank that has the
// vector sends it half as far in each step; ceil(log2 p) steps.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.2. Each subtree is a run of neighbouring
// ranks.
#include "collpress/vector_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::broadcast_from_root<collpress::BinomialTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, {}, "Binomial tree, from the farthest rank to the nearest")
