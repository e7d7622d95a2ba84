// Rabenseifner's algorithm: reduce-scatter by recursive halving of the vector, then a binomial gather to the root.
//
// R. Rabenseifner: Optimization of Collective Reduction Operations. ICCS 2004, doi:10.1007/978-3-540-24685-5_1; and
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J.
// High Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.5. 2 log2 p steps for powers of two, and
// no rank sends more than 3/2 of the vector; otherwise the surplus ranks fold into a neighbour first: one step more.
#include "collpress/halving_reduce.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::halving_reduce<collpress::NearestFirst>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce", run, {.in_place = true}, "Rabenseifner: recursive halving, then a binomial gather")
