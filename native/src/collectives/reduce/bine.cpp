// Bine: reduce-scatter over the butterfly that doubles the distance, then a gather along the tree that halves it.
//
// D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine Trees: Enhancing
// Collective Operations by Optimizing Communication Locality. SC 2025, doi:10.1145/3712285.3759835 (reduce of large
// vectors). Parts of the vector are numbered by v(r, p), so that what is sent in a step is one run of elements. 2
// log2 p steps for powers of two, and no rank sends more than 3/2 of the vector; otherwise the surplus ranks fold into
// a neighbour first: one step more. The tree alone is bine_tree.
#include "collpress/halving_reduce.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::halving_reduce<collpress::Bine>(collpress::P2p(p2p), *call);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("reduce", run, {.in_place = true}, "Bine butterfly, then a gather along the Bine tree")
