// Bine tree that doubles the distance: as the binomial tree, but no message goes much farther than a third of the
// ranks, and the run of blocks that a rank has grows to both sides in turn; log2 p steps for powers of two.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835. Surplus ranks
// beyond a power of two are leaves below a neighbour: one more step than floor(log2 p), as in a binomial tree. The root
// receives every run of blocks into its place, but for the one that goes over the end of its vector; leaves send their
// block without a copy.
#include "collpress/block_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::gather_along<collpress::BineTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("gather", run, {.in_place = true}, "Bine tree: subtrees give their blocks to their parents")
