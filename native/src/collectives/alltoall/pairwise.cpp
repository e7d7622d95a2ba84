// Pairwise exchange: in step k each rank sends one block to the rank k after it and receives one from the rank k before
// it; p-1 steps, each block moves once.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.3 (long messages; its way for any number of
// ranks, also for powers of two). Blocks are received into their places; in place, the blocks to send are copied first.
#include "collpress/all_to_all.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::int32_t ranks = comm.size();
    const std::size_t count = call->count;
    const auto offset = [&](std::int32_t block) { return static_cast<std::size_t>(block) * count; };
    const void *outgoing = blocks_to_send(comm, *call);

    for (std::int32_t distance = 1; distance < ranks; ++distance) {
        comm.step();
        const std::int32_t to = (comm.rank() + distance) % ranks;
        const std::int32_t from = (comm.rank() + ranks - distance) % ranks;
        comm.exchange(comm.at(outgoing, offset(to)), count, to, comm.at(call->recv, offset(from)), count, from);
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("alltoall", run, {.in_place = true}, "Pairwise: one block to and from one rank in each step")
