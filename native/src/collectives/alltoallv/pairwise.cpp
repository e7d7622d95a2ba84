// Pairwise exchange: in step k each rank sends one block to the rank k after it and receives one from the rank k before
// it; p-1 steps, each block moves once.
//
// R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
// Perform. Comput. Appl. 19 (2005), doi:10.1177/1094342005051521, sect. 4.3, with blocks of different sizes. Each block
// is received into its place; empty blocks are no messages.
#include "collpress/layouts.hpp"
#include "collpress/p2p.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto mine = static_cast<std::size_t>(comm.rank());
    const collpress::PackedBlocks out(call->counts + mine * ranks, ranks);
    const collpress::PackedBlocks in(call->counts + mine, ranks, ranks);

    comm.copy(comm.at(call->recv, in.offset(mine)), comm.at(call->send, out.offset(mine)), out.size(mine));
    for (std::size_t distance = 1; distance < ranks; ++distance) {
        comm.step();
        const std::size_t to = (mine + distance) % ranks;
        const std::size_t from = (mine + ranks - distance) % ranks;
        comm.exchange(comm.at(call->send, out.offset(to)), out.size(to), static_cast<std::int32_t>(to),
                      comm.at(call->recv, in.offset(from)), in.size(from), static_cast<std::int32_t>(from));
    }
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("alltoallv", run, {}, "Pairwise: one block to and from one rank in each step")
