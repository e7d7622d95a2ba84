// Swing: reduce-scatter, then all-gather, between ranks 1, 1, 3, 5, 11, ... apart, to the right and to the left in
// turn: shorter ways around a ring or torus than recursive doubling's.
//
// D. De Sensi, T. Bonato, D. Saam, T. Hoefler: Swing: Short-cutting Rings for Higher Bandwidth Allreduce. NSDI 2024,
// https://www.usenix.org/conference/nsdi24/presentation/de-sensi (the bandwidth-optimal variant, any number of ranks).
// For even p, 2 ceil(log2 p) steps and 2 (p - 1) / p n elements sent per rank. For odd p, p - 1 ranks do so, and in the
// first step of each half the last rank gives each other one its share of that one's block, or gets the finished block.
#include "collpress/messages.hpp"
#include "collpress/partial_sum.hpp"

#include <vector>

namespace {

using collpress::Blocks;
using collpress::Messages;
using collpress::P2p;

// Who sends which block when, among an even number of ranks.
//
// The partial sums of a block run along a tree to the rank of the same number. Seen backwards from there, in each step
// every rank of the tree brings its partner into it, unless that is in it already. All trees are turns (for even
// blocks) or mirror images (odd blocks) of block 0's.
class Pattern {
  public:
    explicit Pattern(std::int32_t ranks) : ranks_(ranks), nodes_(static_cast<std::size_t>(ranks)) {
        while ((1 << levels_) < ranks) ++levels_;
        std::vector<std::int32_t> reached = {0};
        for (std::int32_t level = levels_; level-- > 0;) {
            for (std::size_t i = reached.size(); i-- > 0;) {
                Node &node = nodes_[static_cast<std::size_t>(reached[i])];
                const std::int32_t peer = partner(reached[i], level);
                if (peer == 0 || nodes_[static_cast<std::size_t>(peer)].sends != never) continue;
                nodes_[static_cast<std::size_t>(peer)].sends = level;
                node.first_receives = level;
                reached.push_back(peer);
            }
        }
    }

    std::int32_t levels() const { return levels_; }
    std::int32_t partner(std::int32_t rank, std::int32_t level) const {
        std::int64_t distance = 0; // 1 - 2 + 4 - 8 + ...
        for (std::int32_t i = 0; i <= level; ++i)
            distance += i % 2 == 0 ? std::int64_t{1} << i : -(std::int64_t{1} << i);
        return modulo(rank % 2 == 0 ? rank + distance : rank - distance);
    }
    bool sends(std::int32_t rank, std::int32_t block, std::int32_t level) const {
        return node(rank, block).sends == level;
    }
    // Whether others' contributions to the block have come to the rank before the level.
    bool has_received(std::int32_t rank, std::int32_t block, std::int32_t level) const {
        return node(rank, block).first_receives < level;
    }

  private:
    static constexpr std::int32_t never = 64;
    struct Node {
        std::int32_t sends = never;
        std::int32_t first_receives = never;
    };

    std::int32_t modulo(std::int64_t value) const {
        return static_cast<std::int32_t>((value % ranks_ + ranks_) % ranks_);
    }
    const Node &node(std::int32_t rank, std::int32_t block) const {
        return nodes_[static_cast<std::size_t>(modulo(block % 2 == 0 ? rank - block : block - rank))];
    }

    std::int32_t ranks_;
    std::int32_t levels_ = 0;
    std::vector<Node> nodes_;
};

struct Run { // of blocks, one message
    std::int32_t first;
    std::int32_t last;
};

// Neighbouring blocks that `from` sends in the reduce-scatter's level, each run alike in what both ends have of it.
std::vector<Run> runs(const Pattern &pattern, std::int32_t blocks, std::int32_t from, std::int32_t level) {
    const std::int32_t to = pattern.partner(from, level);
    const auto kind = [&](std::int32_t block) {
        return 2 * pattern.has_received(from, block, level) + pattern.has_received(to, block, level);
    };
    std::vector<Run> found;
    for (std::int32_t block = 0; block < blocks; ++block) {
        if (!pattern.sends(from, block, level)) continue;
        if (!found.empty() && found.back().last == block && kind(block) == kind(block - 1))
            ++found.back().last;
        else
            found.push_back({block, block + 1});
    }
    return found;
}

class Swing {
  public:
    Swing(const P2p &comm, const collpress_call &call)
        : comm_(comm), own_(collpress::contribution_of(call)), recv_(call.recv), even_(comm.size() & ~1),
          pattern_(even_), blocks_{call.count, static_cast<std::size_t>(even_)} {}

    void run() {
        {
            CP_TAG(comm_, "reduce-scatter");
            reduce_scatter();
        }
        CP_TAG(comm_, "allgather");
        allgather();
    }

  private:
    void reduce_scatter() const {
        std::byte *from_last = nullptr;
        for (std::int32_t level = 0; level < pattern_.levels(); ++level) {
            comm_.step();
            Messages with_last(comm_, has_last() ? even_ : 0);
            if (level == 0 && has_last()) from_last = shares_of_last(with_last);
            if (!is_last()) reduce_scatter(level);
            with_last.complete();
        }
        if (from_last != nullptr) comm_.reduce(at(recv_, comm_.rank()), from_last, size(comm_.rank()));
    }
    void allgather() const {
        for (std::int32_t level = pattern_.levels(); level-- > 0;) {
            comm_.step();
            Messages messages(comm_, 2 * even_);
            if (!is_last()) allgather(messages, level);
            if (level == pattern_.levels() - 1 && has_last()) blocks_for_last(messages);
            messages.complete();
        }
    }

    bool has_last() const { return comm_.size() != even_; }
    bool is_last() const { return comm_.rank() == even_; }
    std::size_t size(std::int32_t block) const { return blocks_.size(static_cast<std::size_t>(block)); }
    std::size_t size(Run run) const {
        return blocks_.size(static_cast<std::size_t>(run.first), static_cast<std::size_t>(run.last));
    }
    std::byte *at(void *buffer, std::int32_t block) const {
        return comm_.at(buffer, blocks_.offset(static_cast<std::size_t>(block)));
    }
    const std::byte *at(const void *buffer, std::int32_t block) const {
        return comm_.at(buffer, blocks_.offset(static_cast<std::size_t>(block)));
    }

    void reduce_scatter(std::int32_t level) const {
        const std::int32_t partner = pattern_.partner(comm_.rank(), level);
        const std::vector<Run> arriving = runs(pattern_, even_, partner, level);
        const std::vector<Run> leaving = runs(pattern_, even_, comm_.rank(), level);
        // What comes first comes to its place in `recv`, where the rank's own contribution is added.
        const auto comes_first = [&](Run run) {
            return own_ != recv_ && !pattern_.has_received(comm_.rank(), run.first, level);
        };
        std::size_t aside = 0;
        for (const Run run : arriving)
            if (!comes_first(run)) aside += size(run);
        std::byte *arrivals = aside == 0 ? nullptr : comm_.scratch(comm_.bytes(aside));

        std::vector<std::byte *> places;
        std::vector<collpress_request> received;
        Messages sends(comm_, static_cast<std::int32_t>(leaving.size()));
        for (const Run run : arriving) {
            places.push_back(comes_first(run) ? at(recv_, run.first) : arrivals);
            if (!comes_first(run)) arrivals = comm_.at(arrivals, size(run));
            received.push_back(size(run) == 0 ? 0 : comm_.receive(places.back(), size(run), partner));
        }
        for (const Run run : leaving) {
            const bool is_own = !pattern_.has_received(comm_.rank(), run.first, level);
            sends.send(is_own ? at(own_, run.first) : at(recv_, run.first), size(run), partner);
        }
        for (std::size_t i = 0; i < arriving.size(); ++i) {
            const Run run = arriving[i];
            if (size(run) == 0) continue;
            comm_.wait(received[i]);
            comm_.reduce(at(recv_, run.first), comes_first(run) ? at(own_, run.first) : places[i], size(run));
        }
        sends.complete();
    }

    void allgather(Messages &messages, std::int32_t level) const {
        const std::int32_t partner = pattern_.partner(comm_.rank(), level);
        for (const Run run : runs(pattern_, even_, comm_.rank(), level))
            messages.receive(at(recv_, run.first), size(run), partner);
        for (const Run run : runs(pattern_, even_, partner, level))
            messages.send(at(recv_, run.first), size(run), partner);
    }

    // Where the last rank's share of this rank's block arrives; null at the last rank.
    std::byte *shares_of_last(Messages &messages) const {
        if (is_last()) {
            for (std::int32_t block = 0; block < even_; ++block) messages.send(at(own_, block), size(block), block);
            return nullptr;
        }
        std::byte *share = comm_.scratch(comm_.bytes(size(comm_.rank())));
        messages.receive(share, size(comm_.rank()), even_);
        return share;
    }
    void blocks_for_last(Messages &messages) const {
        if (!is_last()) {
            messages.send(at(recv_, comm_.rank()), size(comm_.rank()), even_);
            return;
        }
        for (std::int32_t block = 0; block < even_; ++block) messages.receive(at(recv_, block), size(block), block);
    }

    P2p comm_;
    const void *own_;
    void *recv_;
    std::int32_t even_; // ranks that swing
    Pattern pattern_;
    Blocks blocks_;
};

void run(const collpress_p2p *p2p, const collpress_call *call) {
    const P2p comm(p2p);
    const void *own = collpress::contribution_of(*call);
    if (comm.size() == 1 || call->count == 0) {
        if (own != call->recv) comm.copy(call->recv, own, call->count);
        return;
    }
    Swing(comm, *call).run();
}

} // namespace

COLLPRESS_ALGORITHM_PLUGIN("allreduce", run, {.in_place = true}, "Swing: near ranks to the right and left in turn")
