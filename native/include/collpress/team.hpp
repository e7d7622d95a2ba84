// Some ranks of a communicator, numbered 0, 1, ...; and a power of two of them.
#ifndef COLLPRESS_TEAM_HPP
#define COLLPRESS_TEAM_HPP

#include "collpress/paired_ranks.hpp"
#include "collpress/partial_sum.hpp"

#include <utility>
#include <vector>

namespace collpress {

class Team {
  public:
    // All ranks, counted from `first`.
    explicit Team(const P2p &comm, std::int32_t first = 0)
        : size_(comm.size()), mine_((comm.rank() - first + size_) % size_), first_(first) {}
    // The named ones; this rank is one of them.
    Team(const P2p &comm, std::vector<std::int32_t> ranks)
        : size_(static_cast<std::int32_t>(ranks.size())),
          mine_(static_cast<std::int32_t>(std::find(ranks.begin(), ranks.end(), comm.rank()) - ranks.begin())),
          ranks_(std::move(ranks)) {}

    std::int32_t size() const { return size_; }
    std::int32_t mine() const { return mine_; }
    // Members go on below 0: member -1 is the last one.
    std::int32_t rank_at(std::int32_t member) const {
        if (member < 0) member += size_;
        if (!ranks_.empty()) return ranks_[static_cast<std::size_t>(member)];
        return static_cast<std::int32_t>((std::int64_t{member} + first_) % size_);
    }

  private:
    std::int32_t size_;
    std::int32_t mine_;
    std::int32_t first_ = 0;
    std::vector<std::int32_t> ranks_;
};

// A reduction that needs a power of two of ranks, on any team.
//
// The surplus member of each pair folds its vector into its neighbour's before the algorithm, is idle during it, and
// may get a result afterwards: one more step each, none for powers of two. An idle rank marks every step all the same.
class Positions {
  public:
    explicit Positions(const Team &team) : team_(team), pairs_(team.size()) {}

    std::int32_t count() const { return pairs_.positions(); }
    std::int32_t mine() const { return pairs_.position(team_.mine()); }
    bool idle() const { return pairs_.is_surplus(team_.mine()); }
    bool any_surplus() const { return pairs_.any_surplus(); }
    std::int32_t rank_at(std::int32_t position) const { return team_.rank_at(pairs_.rank_at(position)); }
    // The members that share a position are [first_at(position), first_at(position + 1)).
    std::int32_t first_at(std::int32_t position) const {
        return position == count() ? team_.size() : pairs_.rank_at(position);
    }
    std::int32_t levels() const { return ceil_log2(count()); }

    void fold(const P2p &comm, PartialSum &sum, std::size_t elements) const {
        if (!any_surplus()) return;
        CP_TAG(comm, "fold");
        comm.step();
        if (!pairs_.in_pair(team_.mine())) return;
        if (idle())
            comm.exchange(sum.at(0), elements, neighbour(), nullptr, 0, neighbour());
        else
            sum.receive_and_add(0, elements, neighbour());
    }
    void unfold(const P2p &comm, void *result, std::size_t elements) const {
        if (!any_surplus()) return;
        CP_TAG(comm, "unfold");
        comm.step();
        if (!pairs_.in_pair(team_.mine())) return;
        if (idle())
            comm.exchange(nullptr, 0, neighbour(), result, elements, neighbour());
        else
            comm.exchange(result, elements, neighbour(), nullptr, 0, neighbour());
    }

  private:
    std::int32_t neighbour() const { return team_.rank_at(team_.mine() ^ 1); }

    const Team &team_;
    PairedRanks pairs_;
};

} // namespace collpress

#endif
