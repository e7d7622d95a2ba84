// Trees rooted at rank 0 whose subtrees are runs of neighbouring ranks, and blocks along them, gathered and scattered
// in whole runs; whole vectors are in vector_trees.hpp.
//
// Ranks of a tree are members of a team that counts from the root, and go on below 0: rank -1 is the last one.
#ifndef COLLPRESS_BLOCK_TREES_HPP
#define COLLPRESS_BLOCK_TREES_HPP

#include "collpress/bine.hpp"
#include "collpress/team.hpp"

namespace collpress {

// What a rank does in a step of a gather: take the blocks of a child's subtree, or give its own subtree's to its
// parent.
struct Edge {
    enum class Kind { none, child, parent };

    Kind kind = Kind::none;
    std::int32_t peer = 0;
    std::int32_t first = 0; // the subtree of the lower end: ranks [first, last)
    std::int32_t last = 0;

    std::size_t blocks() const { return static_cast<std::size_t>(last - first); }
};

// Steps of a gather; a scatter or broadcast takes them in the opposite order, halving the distance from step to step.
class BinomialTree {
  public:
    BinomialTree(std::int32_t ranks, std::int32_t rank) : ranks_(ranks), rank_(rank) {}

    std::int32_t steps() const { return ceil_log2(ranks_); }
    Edge edge(std::int32_t step) const {
        const std::int32_t distance = std::int32_t{1} << step;
        if ((rank_ & (distance - 1)) != 0) return {};
        if ((rank_ & distance) != 0)
            return {Edge::Kind::parent, rank_ - distance, rank_, std::min(rank_ + distance, ranks_)};
        if (distance >= ranks_ - rank_) return {};
        const std::int32_t child = rank_ + distance;
        return {Edge::Kind::child, child, child, distance < ranks_ - child ? child + distance : ranks_};
    }

  private:
    std::int32_t ranks_;
    std::int32_t rank_;
};

// The Bine tree that doubles the distance from step to step in a gather and halves it in a scatter. After k steps those
// positions hold blocks whose last k digits all equal the next one, and a subtree is the run of positions that differ
// in these k digits only. Surplus ranks beyond a power of two are leaves: one step more, the first of a gather.
class BineTree {
  public:
    BineTree(std::int32_t ranks, std::int32_t rank) : places_(ranks), rank_(rank) {}

    std::int32_t steps() const { return surplus_steps() + ceil_log2(places_.positions()); }
    Edge edge(std::int32_t step) const {
        if (step < surplus_steps()) {
            if (!places_.in_pair(rank_)) return {};
            if (places_.is_surplus(rank_)) return {Edge::Kind::parent, rank_ - 1, rank_, rank_ + 1};
            return {Edge::Kind::child, rank_ + 1, rank_ + 1, rank_ + 2};
        }
        if (places_.is_surplus(rank_)) return {};
        const std::int32_t level = step - surplus_steps();
        const std::uint32_t all = static_cast<std::uint32_t>(places_.positions()) - 1;
        const std::uint32_t digits = to_negabinary(places_.position(rank_)) & all;
        const std::uint32_t flipped = low_bits(level + 1);
        const std::uint32_t low = digits & flipped;
        if (low != 0 && low != flipped) return {}; // has given its blocks away
        const bool receives = ((digits >> level) & 1U) == ((digits >> (level + 1)) & 1U);
        const std::uint32_t partner = digits ^ flipped;
        const std::uint32_t sender = (receives ? partner : digits) & ~low_bits(level);
        const std::int32_t lowest = from_negabinary(sender | (odd_bits & low_bits(level)));
        const std::int32_t highest = from_negabinary(sender | (~odd_bits & low_bits(level)));
        const std::int32_t at = from_negabinary(partner);
        return {receives ? Edge::Kind::child : Edge::Kind::parent, places_.rank_at(at), places_.rank_at(lowest),
                places_.rank_at(highest + 1)};
    }

  private:
    std::int32_t surplus_steps() const { return places_.any_surplus() ? 1 : 0; }

    PairedRanks places_;
    std::int32_t rank_;
};

// A run of blocks in the order of the team, in a vector of p blocks in the order of ranks: two parts where it
// goes over the end of the vector.
struct Run {
    Run(const P2p &comm, const Team &team, const Edge &edge, std::size_t count)
        : offset(static_cast<std::size_t>(team.rank_at(edge.first)) * count), elements(edge.blocks() * count),
          before_end(std::min(elements, static_cast<std::size_t>(comm.size()) * count - offset)) {}

    bool wraps() const { return before_end < elements; }

    std::size_t offset;
    std::size_t elements;
    std::size_t before_end;
};

// A rank's whole subtree, as it is gathered or scattered.
template <class Tree>
Edge subtree_of(const Tree &tree) {
    for (std::int32_t step = tree.steps(); step-- > 0;)
        if (const Edge edge = tree.edge(step); edge.kind == Edge::Kind::parent) return edge;
    return {};
}
template <class Tree>
bool is_leaf(const Tree &tree) {
    for (std::int32_t step = 0; step < tree.steps(); ++step)
        if (tree.edge(step).kind == Edge::Kind::child) return false;
    return true;
}
// Blocks of the subtree before that of a rank in it.
inline std::size_t blocks_before(const Edge &subtree, std::int32_t rank, std::int32_t ranks) {
    return static_cast<std::size_t>((rank - subtree.first + ranks) % ranks);
}

// Root receives in place, but for the run that goes over the end of its vector; leaves send without a copy.
template <class Tree>
void gather_along(const P2p &comm, const collpress_call &call) {
    const Team team(comm, call.root);
    const Tree tree(team.size(), team.mine());
    const std::size_t count = call.count;
    const bool is_root = comm.rank() == call.root;
    const Edge subtree = subtree_of(tree);
    std::byte *own = nullptr;
    std::byte *gathered = nullptr;
    if (is_root) {
        own = comm.at(call.recv, static_cast<std::size_t>(call.root) * count);
    } else if (count != 0 && !is_leaf(tree)) {
        gathered = comm.scratch(comm.bytes(subtree.blocks() * count));
        own = comm.at(gathered, blocks_before(subtree, team.mine(), comm.size()) * count);
    }
    if (own != nullptr && call.send != nullptr) comm.copy(own, call.send, count);

    for (std::int32_t step = 0; step < tree.steps(); ++step) {
        comm.step();
        const Edge edge = tree.edge(step);
        if (count == 0 || edge.kind == Edge::Kind::none) continue;
        const std::int32_t peer = team.rank_at(edge.peer);
        const std::size_t elements = edge.blocks() * count;
        if (edge.kind == Edge::Kind::parent) {
            comm.exchange(gathered == nullptr ? call.send : gathered, elements, peer, nullptr, 0, peer);
        } else if (gathered != nullptr) { // not root's
            const std::size_t before = blocks_before(subtree, edge.first, comm.size());
            comm.exchange(nullptr, 0, peer, comm.at(gathered, before * count), elements, peer);
        } else if (const Run run(comm, team, edge, count); run.wraps()) {
            std::byte *arrival = comm.scratch(comm.bytes(elements));
            comm.exchange(nullptr, 0, peer, arrival, elements, peer);
            comm.copy(comm.at(call.recv, run.offset), arrival, run.before_end);
            comm.copy(call.recv, comm.at(arrival, run.before_end), elements - run.before_end);
        } else {
            comm.exchange(nullptr, 0, peer, comm.at(call.recv, run.offset), elements, peer);
        }
    }
}

// The gather backwards.
template <class Tree>
void scatter_along(const P2p &comm, const collpress_call &call) {
    const Team team(comm, call.root);
    const Tree tree(team.size(), team.mine());
    const std::size_t count = call.count;
    const bool is_root = comm.rank() == call.root;
    const Edge subtree = subtree_of(tree);
    std::byte *arrived = static_cast<std::byte *>(call.recv);
    const void *own = nullptr;
    if (is_root) {
        own = comm.at(call.send, static_cast<std::size_t>(call.root) * count);
    } else if (count != 0 && !is_leaf(tree)) {
        arrived = comm.scratch(comm.bytes(subtree.blocks() * count));
        own = comm.at(arrived, blocks_before(subtree, team.mine(), comm.size()) * count);
    }

    for (std::int32_t step = tree.steps(); step-- > 0;) {
        comm.step();
        const Edge edge = tree.edge(step);
        if (count == 0 || edge.kind == Edge::Kind::none) continue;
        const std::int32_t peer = team.rank_at(edge.peer);
        const std::size_t elements = edge.blocks() * count;
        if (edge.kind == Edge::Kind::parent) {
            comm.exchange(nullptr, 0, peer, arrived, elements, peer);
        } else if (!is_root) {
            const std::size_t before = blocks_before(subtree, edge.first, comm.size());
            comm.exchange(comm.at(arrived, before * count), elements, peer, nullptr, 0, peer);
        } else if (const Run run(comm, team, edge, count); run.wraps()) {
            std::byte *departure = comm.scratch(comm.bytes(elements));
            comm.copy(departure, comm.at(call.send, run.offset), run.before_end);
            comm.copy(comm.at(departure, run.before_end), call.send, elements - run.before_end);
            comm.exchange(departure, elements, peer, nullptr, 0, peer);
        } else {
            comm.exchange(comm.at(call.send, run.offset), elements, peer, nullptr, 0, peer);
        }
    }
    if (own != nullptr) comm.copy(call.recv, own, count);
}

} // namespace collpress

#endif
