// Sparbit (stripe parallel binomial trees): the distance is halved from step to step, so that most data go the shortest
// way; ceil(log2 p) steps for any number of ranks.
//
// W. J. Loch, G. P. Koslovski: Sparbit: Towards to a Logarithmic-Cost and Data Locality-Aware MPI Allgather Algorithm.
// J. Grid Comput. 21 (2023), doi:10.1007/s10723-023-09650-5; arXiv:2109.08751 (2021). Each rank sends p-1 blocks, each
// block as a message of its own straight into its place: nothing is copied.
#include "collpress/messages.hpp"
#include "collpress/own_block.hpp"

namespace {

using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::int64_t ranks = comm.size();
    const std::int64_t rank = comm.rank();
    const std::size_t count = call->count;
    const auto block_before = [&](std::int64_t distance) {
        return comm.at(call->recv, static_cast<std::size_t>((rank + ranks - distance) % ranks) * count);
    };
    const collpress::OwnBlock own(comm, *call, static_cast<std::size_t>(rank) * count, count);
    own.copy_to_place();

    collpress::Messages messages(comm, comm.size());
    std::int64_t distance = 1;
    while (2 * distance < ranks) distance *= 2;
    for (; ranks > 1 && distance > 0; distance /= 2) {
        comm.step();
        // A rank has the blocks of all ranks at even multiples of the distance before it, and gets those at odd ones
        // from the rank at the distance, for which they are even.
        const auto from = static_cast<std::int32_t>((rank + ranks - distance) % ranks);
        const auto to = static_cast<std::int32_t>((rank + distance) % ranks);
        for (std::int64_t odd = distance; odd < ranks; odd += 2 * distance)
            messages.receive(block_before(odd), count, from);
        for (std::int64_t even = 0; even + distance < ranks; even += 2 * distance)
            messages.send(block_before(even), count, to);
        messages.complete();
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, {.in_place = true},
                           "Sparbit: block by block at distances that halve, ceil(log2 p) steps")
