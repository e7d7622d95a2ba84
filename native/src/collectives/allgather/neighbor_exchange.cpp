// Neighbour exchange: one block with one neighbour, then two blocks in turn with the other one and with the first; p/2
// steps.
//
// J. Chen, L. Zhang, Y. Zhang, W. Yuan: Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with
// Fast Ethernet. HPC Asia 2005, doi:10.1109/HPCASIA.2005.75. Each rank sends p-1 blocks. The paper's algorithm is for
// even numbers of ranks; with an odd number this is the ring, as in Open MPI.
#include "collpress/layouts.hpp"
#include "collpress/ring.hpp"

namespace {

using collpress::OwnBlock;
using collpress::P2p;

// Ranks 2i and 2i+1 are a pair, and so are their blocks. A rank's first partner is in its pair, the second in the next
// pair, on the other side.
void exchange_with_neighbours(const P2p &comm, const collpress_call &call, const OwnBlock &own) {
    const std::int32_t rank = comm.rank();
    const std::int32_t ranks = comm.size();
    const std::size_t count = call.count;
    const std::int32_t inward = rank % 2 == 0 ? 1 : -1;
    const std::int32_t in_pair = rank + inward;
    const std::int32_t outside = (rank - inward + ranks) % ranks;
    const auto block = [&](std::int32_t of) { return comm.at(call.recv, static_cast<std::size_t>(of) * count); };

    collpress::Messages messages(comm);
    comm.step();
    messages.receive(block(in_pair), count, in_pair);
    messages.send(own.source(), count, in_pair);
    own.copy_to_place();
    messages.complete();

    std::int32_t newest = rank / 2 * 2; // first rank of the pair whose blocks came last
    for (std::int32_t step = 1; step < ranks / 2; ++step) {
        comm.step();
        const std::int32_t partner = step % 2 == 1 ? outside : in_pair;
        // What the partner got last: its pairs lie on the other side of ours, ever farther.
        const std::int32_t away = (step + 1) / 2 * 2;
        const bool from_the_right = (step % 2 == 1) != (inward == 1);
        const std::int32_t own_pair = rank / 2 * 2;
        const std::int32_t arriving = (own_pair + (from_the_right ? away : ranks - away)) % ranks;
        comm.exchange(block(newest), 2 * count, partner, block(arriving), 2 * count, partner);
        newest = arriving;
    }
}

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const collpress::EqualBlocks blocks{call->count};
    const OwnBlock own(comm, *call, blocks.offset(static_cast<std::size_t>(comm.rank())), call->count);
    if (comm.size() % 2 == 0)
        exchange_with_neighbours(comm, *call, own);
    else
        ring_allgather(comm, collpress::ring_of_ranks(comm), call->recv, blocks, own);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allgather", run, {.in_place = true},
                           "Neighbour exchange: pairs of blocks in p/2 steps; a ring for odd numbers of ranks")
