// Binomial gather of streams: every rank compresses its block once and passes on those of its subtree behind it, as
// they are. Root unpacks those of one subtree while the next ones arrive; its own block is copied as it is.
//
// The scatter of J. Huang et al. (C-Coll, IPDPS 2024, doi:10.1109/IPDPS57955.2024.00072) backwards.
#include "collpress/block_trees.hpp"
#include "collpress/own_block.hpp"
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
    const auto place = [&](std::int32_t rank) { return static_cast<std::size_t>(rank) * count; };
    // Streams are in the order of the team, this rank's first; root's own block is none of them.
    const std::size_t most = is_root ? static_cast<std::size_t>(team.size()) : collpress::subtree_of(tree).blocks();
    collpress::PackedStreams streams(comm, most, comm.size() == 1 ? 0 : count);
    std::size_t unpacked = 0;
    const auto unpack = [&] {
        for (; unpacked < streams.count(); ++unpacked) {
            const std::int32_t rank = team.rank_at(static_cast<std::int32_t>(unpacked) + 1);
            streams.decompress(unpacked, comm.at(call->recv, place(rank)), count);
        }
    };
    if (!is_root) streams.compress(call->send, count);
    for (std::int32_t step = 0; step < tree.steps(); ++step) {
        comm.step();
        const Edge edge = tree.edge(step);
        const std::int32_t peer = team.rank_at(edge.peer);
        if (edge.kind == Edge::Kind::child) {
            streams.receive(edge.blocks(), peer);
            if (is_root) unpack();
            streams.expect();
            streams.arrive();
        } else if (edge.kind == Edge::Kind::parent) {
            streams.send(0, streams.count(), peer);
        }
    }
    if (is_root) {
        unpack();
        collpress::OwnBlock(comm, *call, place(call->root), count).copy_to_place();
    }
    streams.complete();
}

} // namespace

COLLPRESS_COMPRESSING_PLUGIN("gather", run, collpress::error_of_moving, {.in_place = true},
                             "Binomial tree: each block compressed once, by the rank that has it")
