// Bine tree that halves the distance: as the binomial tree, but no message goes much farther than a third of the ranks;
// log2 p steps for powers of two.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835 (distance-halving
// tree). Surplus ranks beyond a power of two get the vector from a neighbour at the end: one more step than
// floor(log2 p), as in a binomial tree.
#include "collpress/vector_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::broadcast_from_root<collpress::BineTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, {}, "Bine tree, from the farthest rank to the nearest")
