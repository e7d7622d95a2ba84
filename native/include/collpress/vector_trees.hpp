// Whole vectors up a tree, where every rank adds its own, and down again.
#ifndef COLLPRESS_VECTOR_TREES_HPP
#define COLLPRESS_VECTOR_TREES_HPP

#include "collpress/block_trees.hpp"
#include "collpress/messages.hpp"
#include "collpress/team.hpp"

namespace collpress {

// `steps` is at least the tree's: teams of several sizes go through the same steps.
template <class Tree>
void reduce_up(const Tree &tree, const P2p &comm, const Team &team, PartialSum &sum, std::size_t count,
               std::int32_t steps) {
    for (std::int32_t step = 0; step < steps; ++step) {
        comm.step();
        if (step >= tree.steps()) continue;
        const Edge edge = tree.edge(step);
        const std::int32_t peer = team.rank_at(edge.peer);
        if (edge.kind == Edge::Kind::child) sum.receive_and_add(0, count, peer);
        if (edge.kind == Edge::Kind::parent) comm.exchange(sum.at(0), count, peer, nullptr, 0, peer);
    }
}

template <class Tree>
void broadcast_down(const Tree &tree, const P2p &comm, const Team &team, void *buffer, std::size_t count,
                    std::int32_t steps) {
    Messages sends(comm, tree.steps());
    for (std::int32_t step = steps; step-- > 0;) {
        comm.step();
        if (step >= tree.steps()) continue;
        const Edge edge = tree.edge(step);
        const std::int32_t peer = team.rank_at(edge.peer);
        if (edge.kind == Edge::Kind::parent) comm.exchange(nullptr, 0, peer, buffer, count, peer);
        if (edge.kind == Edge::Kind::child) sends.send(buffer, count, peer);
    }
    sends.complete();
}

// A whole reduce.
template <class Tree>
void reduce_to_root(const P2p &comm, const collpress_call &call) {
    const Team team(comm, call.root);
    const Tree tree(team.size(), team.mine());
    const bool is_root = comm.rank() == call.root;
    const void *own = contribution_of(call);
    PartialSum sum(comm, own, is_root ? call.recv : nullptr, call.count);
    if (call.count != 0) reduce_up(tree, comm, team, sum, call.count, tree.steps());
    if (is_root && sum.is_own() && own != call.recv) comm.copy(call.recv, own, call.count);
}

// A whole broadcast.
template <class Tree>
void broadcast_from_root(const P2p &comm, const collpress_call &call) {
    const Team team(comm, call.root);
    const Tree tree(team.size(), team.mine());
    broadcast_down(tree, comm, team, call.recv, call.count, tree.steps());
}

} // namespace collpress

#endif
