// Every rank sends its block to every other one, all at once: one step.
//
// The "simple" (spreading) all-gather of A. Faraj, X. Yuan: Automatic Generation and Tuning of MPI Collective
// Communication Routines. ICS 2005, doi:10.1145/1088149.1088202. Each rank sends p-1 messages, to the ranks after it in
// turn, so that no receiver is everybody's first.
#include "collpress/layouts.hpp"
#include "collpress/messages.hpp"
#include "collpress/own_block.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::int32_t rank = comm.rank();
    const std::int32_t ranks = comm.size();
    const collpress::PackedBlocks blocks(call->counts, static_cast<std::size_t>(ranks));
    const auto mine = static_cast<std::size_t>(rank);
    const collpress::OwnBlock own(comm, *call, blocks.offset(mine), blocks.size(mine));

    comm.step();
    collpress::Messages messages(comm, 2 * (ranks - 1));
    for (std::int32_t distance = 1; distance < ranks; ++distance) {
        const std::int32_t from = (rank + ranks - distance) % ranks;
        const auto block = static_cast<std::size_t>(from);
        messages.receive(comm.at(call->recv, blocks.offset(block)), blocks.size(block), from);
    }
    for (std::int32_t distance = 1; distance < ranks; ++distance)
        messages.send(own.source(), blocks.size(mine), (rank + distance) % ranks);
    own.copy_to_place();
    messages.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allgatherv", run, {.in_place = true}, "Linear: every block to every rank, all at once")
