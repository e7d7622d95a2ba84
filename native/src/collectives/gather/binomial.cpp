// Binomial tree: in step k ranks at distance 2^k from a parent give it the blocks of their whole subtree; ceil(log2 p)
// steps, and p-1 blocks arrive at the root.
//
// E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn: Collective Communication: Theory, Practice, and Experience.
// Concurr. Comput. Pract. Exp. 19 (2007), doi:10.1002/cpe.1206 (minimum spanning tree; here with subtrees of powers of
// two ranks).
// The root receives every run of blocks into its place, but for the one that goes over the end of its vector; leaves
// send their block without a copy.
#include "collpress/block_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::gather_along<collpress::BinomialTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("gather", run, {.in_place = true},
                           "Binomial tree: subtrees give their blocks to their parents")
