// Bine tree that halves the distance: as the binomial tree, but no message goes much farther than a third of the ranks;
// log2 p steps for powers of two.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835. Surplus ranks
// beyond a power of two are leaves below a neighbour: one more step than floor(log2 p), as in a binomial tree. The root
// sends every run of blocks from its place, but for the one that goes over the end of its vector; leaves receive their
// block into its place.
#include "collpress/block_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::scatter_along<collpress::BineTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("scatter", run, {}, "Bine tree: parents give subtrees their blocks")
