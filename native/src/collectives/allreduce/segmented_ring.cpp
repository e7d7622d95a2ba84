// Segmented ring: as the ring, but each block of n/p travels in segments, and while one is reduced the next ones
// arrive.
//
// P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations. J. Parallel Distrib.
// Comput. 69 (2009), doi:10.1016/j.jpdc.2008.09.002, for the ring; J. Pješivac-Grbović, T. Angskun, G. Bosilca, G. E.
// Fagg, E. Gabriel, J. J. Dongarra: Performance Analysis of MPI Collective Operations. Cluster Comput. 10 (2007),
// doi:10.1007/s10586-007-0012-0, for segments. 2(p-1) steps, 2(p-1)/p·n elements sent per rank.
#include "collpress/ring_allreduce.hpp"
#include "collpress/segments.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const collpress::RingAllreduce ring(comm, *call, collpress::segment_elements(comm, *call));
    {
        CP_TAG(comm, "reduce-scatter");
        ring.reduce_scatter();
    }
    CP_TAG(comm, "allgather");
    ring.allgather();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, ({.in_place = true, .segments = true}),
                           "Ring in segments: one is reduced while the next ones arrive")
