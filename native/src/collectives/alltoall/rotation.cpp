// Rotation (spread-out): as pairwise exchange, each rank goes round the ranks k after and k before it, but without
// waiting for each; a window of distances is under way at once, and they are completed together.
//
// Spread-out as in K. Fan, T. Gilray, V. Pascucci, X. Huang, K. Micinski, S. Kumar: Optimizing the Bruck Algorithm for
// Non-Uniform All-to-All Communication. HPDC 2022, doi:10.1145/3502181.3531468; the window is that of MPICH's
// "scattered". The fan-out is the number of distances in a window; 32 where none is named, as in MPICH: a step each.
// Blocks are received into their places; in place, the blocks to send are copied first.
#include "collpress/all_to_all.hpp"
#include "collpress/messages.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::int32_t rank = comm.rank();
    const std::int32_t ranks = comm.size();
    const std::size_t count = call->count;
    const auto offset = [&](std::int32_t block) { return static_cast<std::size_t>(block) * count; };
    const void *outgoing = blocks_to_send(comm, *call);

    const std::int32_t window = std::min(call->fanout == 0 ? 32 : call->fanout, ranks);
    collpress::Messages messages(comm, 2 * window);
    for (std::int32_t first = 1; first < ranks;) {
        comm.step();
        const std::int32_t last = first + std::min(window, ranks - first);
        for (std::int32_t distance = first; distance < last; ++distance) {
            const std::int32_t from = (rank + ranks - distance) % ranks;
            messages.receive(comm.at(call->recv, offset(from)), count, from);
        }
        for (std::int32_t distance = first; distance < last; ++distance) {
            const std::int32_t to = (rank + distance) % ranks;
            messages.send(comm.at(outgoing, offset(to)), count, to);
        }
        messages.complete();
        first = last;
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("alltoall", run, ({.in_place = true, .least_fanout = 1}),
                           "Rotation: windows of messages to the next ranks; the fan-out is the window")
