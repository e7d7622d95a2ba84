// Dissemination: in round i every rank tells the rank 2^i places to its right that it has come, and hears of the one as
// far to its left; ceil(log2 p) rounds. With a radix k it tells k - 1 ranks in each round, j k^i places to its right
// for j = 1 ... k - 1: ceil(log_k p) rounds.
//
// D. Hensgen, R. Finkel, U. Manber: Two Algorithms for Barrier Synchronization. Int. J. Parallel Program. 17 (1988),
// doi:10.1007/BF01379320; T. Hoefler, T. Mehlan, F. Mietke, W. Rehm: Fast Barrier Synchronization for InfiniBand. IPDPS
// 2006, doi:10.1109/IPDPS.2006.1639561 (n-way dissemination).
#include "collpress/p2p.hpp"

#include <vector>

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::int64_t ranks = comm.size();
    const std::int64_t radix = call->fanout == 0 ? 2 : call->fanout;
    std::vector<collpress_request> requests;
    for (std::int64_t stride = 1; stride < ranks; stride *= radix) {
        comm.step();
        requests.clear();
        // Who is p places or more away has been told, or will have been, by a shorter way.
        for (std::int64_t distance = stride; distance < std::min(ranks, radix * stride); distance += stride) {
            const auto left = static_cast<std::int32_t>((comm.rank() + ranks - distance) % ranks);
            requests.push_back(comm.receive(nullptr, 0, left));
        }
        for (std::int64_t distance = stride; distance < std::min(ranks, radix * stride); distance += stride) {
            const auto right = static_cast<std::int32_t>((comm.rank() + distance) % ranks);
            requests.push_back(comm.send(nullptr, 0, right));
        }
        for (const collpress_request request : requests) comm.wait(request);
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("barrier", run, {.least_fanout = 2}, "Dissemination; the fan-out is the radix, 2 by itself")
