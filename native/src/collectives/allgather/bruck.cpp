// Bruck's allgather: in step k each rank sends up to 2^k blocks to the rank 2^k before it; ceil(log2 p) steps for any
// number of ranks.
//
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in
// Multiport Message-Passing Systems. IEEE Trans. Parallel Distrib. Syst. 8 (1997), doi:10.1109/71.642949
// (concatenation, one port). p-1 blocks sent per rank, and a copy of all blocks at the end on every rank but 0.
#include "collpress/bruck.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    bruck_allgather(collpress::P2p(p2p), *call, 2);
}

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, {.in_place = true}, "Bruck: blocks doubled in ceil(log2 p) steps")
