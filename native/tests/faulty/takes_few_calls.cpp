// Right, on at least 3 ranks, a power of two of them, with an element for each.
#include "linear.hpp"

static void run(const collpress_p2p *p2p, const collpress_call *call) { faulty::linear(collpress::P2p(p2p), call); }

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run,
                           ({.min_ranks = 3, .power_of_two_ranks = true, .count_at_least_ranks = true}),
                           "takes few calls")
