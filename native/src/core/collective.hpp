// The collectives: who contributes how much, what each rank gets, and from whom. One description for the core's
// buffers, for the oracle and for the recorder; the table in algorithm.h says the same in words.
#pragma once

#include "collpress/algorithm.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace collpress {

enum class Collective {
    allreduce,
    reduce,
    reduce_scatter,
    allgather,
    allgatherv,
    gather,
    scatter,
    alltoall,
    alltoallv,
    bcast,
    barrier,
    pingpong
};

inline constexpr std::array<std::string_view, 12> collective_names = {
    "allreduce", "reduce",   "reduce_scatter", "allgather", "allgatherv", "gather",
    "scatter",   "alltoall", "alltoallv",      "bcast",     "barrier",    "pingpong"};

std::optional<Collective> collective_of(std::string_view name);
inline std::string_view name_of(Collective collective) {
    return collective_names[static_cast<std::size_t>(collective)];
}

bool reduces(Collective collective);
bool is_rooted(Collective collective);
// Ranks whose results are the same, as far as the collective can promise: all, those that are not root (whose buffer of
// a bcast is its input), or none.
enum class Alike { none, all, all_but_root };
Alike alike_ranks(Collective collective);
bool has_counts(Collective collective);     // allgatherv, alltoallv
bool knows_in_place(Collective collective); // bcast and barrier know no other way, and are not asked

// How the blocks of allgatherv and alltoallv differ: their mean is the call's count.
enum class Imbalance {
    none,      // all alike
    linear,    // block r in proportion to r + 1
    one_large, // block 0 is half of everything, the others share the rest
    random     // in proportion to numbers that are drawn evenly from [0, 1) with a seed
};
inline constexpr std::array<std::string_view, 4> imbalance_names = {"none", "linear", "one-large", "random"};

// counts[r] of allgatherv; counts[s * p + d] of alltoallv, where the blocks of each sender s differ so (by random: each
// sender has its own draw). The blocks of one sender, or of all ranks of an allgatherv, have p * count elements in all.
std::vector<std::size_t> block_counts(Collective collective, std::size_t ranks, std::size_t count, Imbalance imbalance,
                                      std::uint64_t seed);

// Consecutive elements of a rank's result, and where they come from: the reduction of ranks [from, from_end), or, when
// that is one rank, a copy of what it sent.
struct ResultPart {
    std::size_t first; // element of the result
    std::size_t length;
    std::size_t from;
    std::size_t from_end;
    std::size_t source; // element of those ranks' contributions
};

// The sizes of one call's buffers and the parts of its results, in elements.
class Exchange {
  public:
    // `counts` is empty except for allgatherv and alltoallv.
    Exchange(Collective collective, std::size_t ranks, std::size_t count, std::size_t root,
             std::vector<std::size_t> counts = {});

    Collective collective() const { return collective_; }
    std::size_t ranks() const { return ranks_; }
    std::size_t count() const { return count_; }
    std::size_t root() const { return root_; }
    const std::vector<std::size_t> &counts() const { return counts_; }

    // What a rank contributes. Not the size of `send` in a bcast: root's contribution lies in `recv` there.
    std::size_t contribution(std::size_t rank) const;
    std::size_t largest_contribution() const;
    // Ranks that contribute anything at all, and the number of such a rank among them.
    std::size_t contributors() const;
    std::size_t contributor(std::size_t rank) const;
    std::size_t total_contribution() const;

    // Whether the rank has such a buffer in a call; one that it has may be empty.
    bool sends(std::size_t rank, bool in_place) const;
    bool receives(std::size_t rank) const;
    std::size_t recv_elements(std::size_t rank, bool in_place) const;
    // Where a contribution lies in `recv` before a call in place; of a bcast, always.
    std::size_t place(std::size_t rank) const;
    // Whether the rank's contribution lies in `recv`.
    bool contributes_in_recv(std::size_t rank, bool in_place) const;

    // In ascending order; what they leave out of `recv` is not looked at.
    std::vector<ResultPart> result(std::size_t rank) const;
    std::size_t result_elements(std::size_t rank) const; // of all parts together

  private:
    std::size_t sent_by(std::size_t rank) const; // of alltoallv
    std::size_t got_by(std::size_t rank) const;

    Collective collective_;
    std::size_t ranks_;
    std::size_t count_;
    std::size_t root_;
    std::vector<std::size_t> counts_;
};

} // namespace collpress
