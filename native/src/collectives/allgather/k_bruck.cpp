// Bruck's allgather with k - 1 messages to each side at once: ceil(log_k p) steps.
//
// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in
// Multiport Message-Passing Systems. IEEE Trans. Parallel Distrib. Syst. 8 (1997), doi:10.1109/71.642949
// (concatenation). The fan-out is the radix k; 4 where none is named.
#include "collpress/bruck.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) {
    bruck_allgather(collpress::P2p(p2p), *call, call->fanout == 0 ? 4 : call->fanout);
}

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, ({.in_place = true, .least_fanout = 2}),
                           "Bruck with several messages a step; the fan-out is the radix")
