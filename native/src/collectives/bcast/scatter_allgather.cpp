// A binomial scatter of p blocks of the vector, then their all-gather around a ring; ceil(log2 p) + p - 1 steps, and no
// rank sends more than twice the vector.
//
// M. Barnett, S. Gupta, D. G. Payne, L. Shuler, R. van de Geijn, J. Watts: Interprocessor Collective Communication
// Library (InterCom). SHPCC 1994, doi:10.1109/SHPCC.1994.296665; R. Thakur, R. Rabenseifner, W. Gropp: Optimization of
// Collective Communication Operations in MPICH. Int. J. High Perform. Comput. Appl. 19 (2005),
// doi:10.1177/1094342005051521, sect. 4.2 (long messages). Block i goes to the rank i places after the root: all that
// moves is received into its place.
#include "collpress/block_trees.hpp"
#include "collpress/ring.hpp"

namespace {

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const collpress::P2p comm(p2p);
    const std::int32_t ranks = comm.size();
    const collpress::Blocks blocks{call->count, static_cast<std::size_t>(ranks)};
    const collpress::Team team(comm, call->root);
    const std::int32_t mine = team.mine();
    const collpress::BinomialTree tree(ranks, mine);

    {
        CP_TAG(comm, "scatter");
        for (std::int32_t step = tree.steps(); step-- > 0;) {
            comm.step();
            const collpress::Edge edge = tree.edge(step);
            if (edge.kind == collpress::Edge::Kind::none) continue;
            const std::int32_t peer = team.rank_at(edge.peer);
            const auto first = static_cast<std::size_t>(edge.first);
            const std::size_t elements = blocks.size(first, static_cast<std::size_t>(edge.last));
            std::byte *run = comm.at(call->recv, blocks.offset(first));
            if (edge.kind == collpress::Edge::Kind::parent)
                comm.exchange(nullptr, 0, peer, run, elements, peer);
            else
                comm.exchange(run, elements, peer, nullptr, 0, peer);
        }
    }

    CP_TAG(comm, "allgather");
    const auto block = static_cast<std::size_t>(mine);
    const collpress::OwnBlock own(comm, *call, blocks.offset(block), blocks.size(block));
    const collpress::RingPlace place{ranks, mine, team.rank_at(mine - 1), team.rank_at((mine + 1) % ranks)};
    ring_allgather(comm, place, call->recv, blocks, own);
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("bcast", run, {}, "Binomial scatter, then all-gather around a ring")
