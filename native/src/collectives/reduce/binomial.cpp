// Binomial tree: in step k, every second rank of those that are left, 2^k apart, sends its sum to its neighbour;
// ceil(log2 p) steps.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.5. Every rank but the root
// sends the vector once.
#include "collpress/vector_trees.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::reduce_to_root<collpress::BinomialTree>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce", run, {.in_place = true}, "Binomial tree of whole vectors")
