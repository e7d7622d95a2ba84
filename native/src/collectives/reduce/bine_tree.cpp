// Bine tree: as the binomial tree, but no message goes much farther than a third of the ranks; log2 p steps for powers
// of two.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835 (distance-halving
// tree, its steps backwards). Surplus ranks beyond a power of two send to a neighbour first: one step more than
// floor(log2 p). Every rank but the root sends the vector once.
#include "collpress/vector_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::reduce_to_root<collpress::BineTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce", run, {.in_place = true}, "Bine tree of whole vectors")
