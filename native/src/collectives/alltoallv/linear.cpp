// Every rank has a message to and from every other one under way at once: one step; empty blocks are no messages.
//
// The "simple" all-to-all of A. Faraj, X. Yuan: Automatic Generation and Tuning of MPI Collective Communication
// Routines. ICS 2005, doi:10.1145/1088149.1088202, with blocks of different sizes. Each block is received into its
// place.
#include "collpress/layouts.hpp"
#include "collpress/messages.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto mine = static_cast<std::size_t>(comm.rank());
    const collpress::PackedBlocks out(call->counts + mine * ranks, ranks);
    const collpress::PackedBlocks in(call->counts + mine, ranks, ranks);

    comm.step();
    collpress::Messages messages(comm, 2 * (comm.size() - 1));
    for (std::size_t from = 0; from < ranks; ++from)
        if (from != mine)
            messages.receive(comm.at(call->recv, in.offset(from)), in.size(from), static_cast<std::int32_t>(from));
    for (std::size_t to = 0; to < ranks; ++to)
        if (to != mine) messages.send(comm.at(call->send, out.offset(to)), out.size(to), static_cast<std::int32_t>(to));
    comm.copy(comm.at(call->recv, in.offset(mine)), comm.at(call->send, out.offset(mine)), out.size(mine));
    messages.complete();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("alltoallv", run, {}, "Linear: all messages at once, in the order of ranks")
