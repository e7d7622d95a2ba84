// Every rank has a message to and from every other one under way at once: one step of p-1 messages.
//
// The "simple" all-to-all of A. Faraj, X. Yuan: Automatic Generation and Tuning of MPI Collective Communication
// Routines. ICS 2005, doi:10.1145/1088149.1088202. Blocks are received into their places; in place, the blocks to send
// are copied first.
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

    comm.step();
    collpress::Messages messages(comm, 2 * (ranks - 1));
    for (std::int32_t from = 0; from < ranks; ++from)
        if (from != rank) messages.receive(comm.at(call->recv, offset(from)), count, from);
    for (std::int32_t to = 0; to < ranks; ++to)
        if (to != rank) messages.send(comm.at(outgoing, offset(to)), count, to);
    messages.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("alltoall", run, {.in_place = true}, "Linear: all messages at once, in the order of ranks")
