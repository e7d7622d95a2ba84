// Ring allreduce: p-1 steps of reduce-scatter, then p-1 steps of all-gather, each sending one block of n/p to the right
// neighbour.
//
// P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations. J. Parallel Distrib.
// Comput. 69 (2009), doi:10.1016/j.jpdc.2008.09.002. Each rank sends 2(p-1) messages, 2(p-1)/p·n elements in all: the
// least that is possible.
#include "collpress/ring_allreduce.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    collpress::ring_allreduce(collpress::P2p(p2p), *call, call->count); // a block is one message
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true},
                           "Ring: reduce-scatter, then all-gather, between neighbours")
