// Binomial tree: the root sends half of its blocks half-way round, and each rank that has blocks sends the farther half
// of them on; ceil(log2 p) steps, and p-1 blocks leave the root.
//
// E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn: Collective Communication: Theory, Practice, and Experience.
// Concurr. Comput. Pract. Exp. 19 (2007), doi:10.1002/cpe.1206 (minimum spanning tree; here with subtrees of powers of
// two ranks).
// The root sends every run of blocks from its place, but for the one that goes over the end of its vector; leaves
// receive their block into its place.
#include "collpress/block_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::scatter_along<collpress::BinomialTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("scatter", run, {}, "Binomial tree: parents give subtrees their blocks")
