// Binomial scatter of streams: root compresses each block once, and every rank passes on the streams of its subtree as
// they are. The Z-Scatter of J. Huang et al. (C-Coll, IPDPS 2024, doi:10.1109/IPDPS57955.2024.00072). While root
// compresses the blocks of one subtree, those of the one before are on their way. Root's own block is copied as it is.
#include "collpress/block_trees.hpp"
#include "collpress/packed_streams.hpp"

namespace {

using collpress::Edge;
using collpress::P2p;

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const std::size_t count = call->count;
    if (count == 0) return;
    const bool is_root = comm.rank() == call->root;
    const collpress::Team team(comm, call->root);
    const collpress::BinomialTree tree(team.size(), team.mine());
    const auto block = [&](std::int32_t rank) { return comm.at(call->send, static_cast<std::size_t>(rank) * count); };
    const std::size_t most = is_root ? static_cast<std::size_t>(team.size()) : collpress::subtree_of(tree).blocks();
    collpress::PackedStreams streams(comm, most, comm.size() == 1 ? 0 : count);
    for (std::int32_t step = tree.steps(); step-- > 0;) {
        comm.step();
        const Edge edge = tree.edge(step);
        const std::int32_t peer = team.rank_at(edge.peer);
        if (edge.kind == Edge::Kind::parent) { // of its subtree, its own first
            streams.receive(edge.blocks(), peer);
            streams.expect();
            streams.arrive();
        } else if (edge.kind == Edge::Kind::child) {
            std::size_t first = static_cast<std::size_t>(edge.first - team.mine());
            if (is_root) {
                first = streams.count();
                for (std::int32_t member = edge.first; member < edge.last; ++member)
                    streams.compress(block(team.rank_at(member)), count);
            }
            streams.send(first, edge.blocks(), peer);
        }
    }
    if (is_root)
        comm.copy(call->recv, block(call->root), count);
    else
        streams.decompress(0, call->recv, count);
    streams.complete();
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("scatter", run, collpress::error_of_moving, {},
                             "Binomial tree: each block compressed once by root")
