// Ring allreduce: p-1 steps of reduce-scatter, then p-1 steps of all-gather, each sending one block of n/p to the right
// neighbour.
//
// P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations. J. Parallel Distrib.
// Comput. 69 (2009), doi:10.1016/j.jpdc.2008.09.002. Each rank sends 2(p-1) messages, 2(p-1)/p·n elements in all: the
// least that is possible.
#include "collpress/ring_allreduce.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::size_t whole_blocks = std::max<std::size_t>(1, call->count);
    const collpress::RingAllreduce ring(comm, *call, whole_blocks);
    {
        CP_TAG(comm, "reduce-scatter");
        ring.reduce_scatter();
    }
    CP_TAG(comm, "allgather");
    ring.allgather();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true},
                           "Ring: reduce-scatter, then all-gather, between neighbours")
