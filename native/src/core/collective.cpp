#include "core/collective.hpp"

#include "collpress/p2p.hpp"

#include <algorithm>
#include <numeric>

namespace collpress {

namespace {

__extension__ using Wide = unsigned __int128;

// Evenly from [0, 2^53): the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t drawn(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t x = seed * 0xD1342543DE82EF95U + (index + 1) * 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return (x ^ (x >> 31)) >> 11;
}

std::uint64_t weight(std::size_t block, std::size_t ranks, Imbalance imbalance, std::uint64_t seed,
                     std::uint64_t sender) {
    switch (imbalance) {
    case Imbalance::none:
        return 1;
    case Imbalance::linear:
        return block + 1;
    case Imbalance::one_large:
        return ranks == 1 ? 1 : block == 0 ? ranks - 1 : 1;
    case Imbalance::random:
        return drawn(seed, sender * ranks + block) + 1; // never all zero
    }
    return 1;
}

// `total` elements in proportion to the weights; cumulated before rounding, so that they add up.
void share(std::size_t total, const std::vector<std::uint64_t> &weights, std::vector<std::size_t> &counts) {
    const Wide all = std::max(std::accumulate(weights.begin(), weights.end(), Wide{0}), Wide{1});
    Wide sum = 0;
    std::size_t given = 0;
    for (const std::uint64_t one : weights) {
        sum += one;
        const auto end = static_cast<std::size_t>(Wide{total} * sum / all);
        counts.push_back(end - given);
        given = end;
    }
}

} // namespace

std::optional<Collective> collective_of(std::string_view name) {
    const auto *found = std::ranges::find(collective_names, name);
    if (found == collective_names.end()) return std::nullopt;
    return static_cast<Collective>(found - collective_names.begin());
}

bool reduces(Collective collective) {
    return collective == Collective::allreduce || collective == Collective::reduce ||
           collective == Collective::reduce_scatter;
}

bool is_rooted(Collective collective) {
    return collective == Collective::reduce || collective == Collective::gather || collective == Collective::scatter ||
           collective == Collective::bcast;
}

Alike alike_ranks(Collective collective) {
    switch (collective) {
    case Collective::allreduce:
    case Collective::allgather:
    case Collective::allgatherv:
        return Alike::all;
    case Collective::bcast:
        return Alike::all_but_root;
    default:
        return Alike::none;
    }
}

bool has_counts(Collective collective) {
    return collective == Collective::allgatherv || collective == Collective::alltoallv;
}

bool knows_in_place(Collective collective) {
    return reduces(collective) || collective == Collective::allgather || collective == Collective::allgatherv ||
           collective == Collective::gather || collective == Collective::alltoall;
}

std::vector<std::size_t> block_counts(Collective collective, std::size_t ranks, std::size_t count, Imbalance imbalance,
                                      std::uint64_t seed) {
    std::vector<std::size_t> counts;
    if (!has_counts(collective)) return counts;
    const std::size_t senders = collective == Collective::alltoallv ? ranks : 1;
    std::vector<std::uint64_t> weights(ranks);
    for (std::size_t sender = 0; sender < senders; ++sender) {
        for (std::size_t block = 0; block < ranks; ++block)
            weights[block] = weight(block, ranks, imbalance, seed, sender);
        share(ranks * count, weights, counts);
    }
    return counts;
}

Exchange::Exchange(Collective collective, std::size_t ranks, std::size_t count, std::size_t root,
                   std::vector<std::size_t> counts)
    : collective_(collective), ranks_(ranks), count_(count), root_(root), counts_(std::move(counts)) {}

std::size_t Exchange::sent_by(std::size_t rank) const {
    const auto row = counts_.begin() + static_cast<std::ptrdiff_t>(rank * ranks_);
    return std::accumulate(row, row + static_cast<std::ptrdiff_t>(ranks_), std::size_t{0});
}

std::size_t Exchange::got_by(std::size_t rank) const {
    std::size_t sum = 0;
    for (std::size_t sender = 0; sender < ranks_; ++sender) sum += counts_[sender * ranks_ + rank];
    return sum;
}

std::size_t Exchange::contribution(std::size_t rank) const {
    switch (collective_) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::allgather:
    case Collective::gather:
        return count_;
    case Collective::allgatherv:
        return counts_[rank];
    case Collective::scatter:
        return rank == root_ ? ranks_ * count_ : 0;
    case Collective::alltoall:
        return ranks_ * count_;
    case Collective::alltoallv:
        return sent_by(rank);
    case Collective::bcast:
        return rank == root_ ? count_ : 0;
    case Collective::pingpong:
        return rank == 0 || rank + 1 == ranks_ ? count_ : 0;
    case Collective::barrier:
        return 0;
    }
    return 0;
}

std::size_t Exchange::largest_contribution() const {
    std::size_t largest = 0;
    for (std::size_t rank = 0; rank < ranks_; ++rank) largest = std::max(largest, contribution(rank));
    return largest;
}

std::size_t Exchange::contributors() const {
    if (collective_ == Collective::bcast || collective_ == Collective::scatter) return 1;
    if (collective_ == Collective::pingpong) return std::min<std::size_t>(ranks_, 2);
    return ranks_;
}

std::size_t Exchange::contributor(std::size_t rank) const {
    if (collective_ == Collective::bcast || collective_ == Collective::scatter) return 0;
    if (collective_ == Collective::pingpong) return rank == 0 ? 0 : 1;
    return rank;
}

std::size_t Exchange::total_contribution() const {
    std::size_t sum = 0;
    for (std::size_t rank = 0; rank < ranks_; ++rank) sum += contribution(rank);
    return sum;
}

bool Exchange::contributes_in_recv(std::size_t rank, bool in_place) const {
    if (collective_ == Collective::bcast) return rank == root_;
    if (!in_place || !knows_in_place(collective_)) return false;
    return !is_rooted(collective_) || rank == root_;
}

bool Exchange::sends(std::size_t rank, bool in_place) const {
    if (collective_ == Collective::bcast || collective_ == Collective::barrier) return false;
    if (collective_ == Collective::scatter) return rank == root_;
    if (collective_ == Collective::pingpong) return rank == 0 || rank + 1 == ranks_;
    return !contributes_in_recv(rank, in_place);
}

bool Exchange::receives(std::size_t rank) const {
    if (collective_ == Collective::reduce || collective_ == Collective::gather) return rank == root_;
    if (collective_ == Collective::pingpong) return rank == 0 || rank + 1 == ranks_;
    return collective_ != Collective::barrier;
}

std::size_t Exchange::recv_elements(std::size_t rank, bool in_place) const {
    switch (collective_) {
    case Collective::allreduce:
    case Collective::bcast:
    case Collective::scatter:
        return count_;
    case Collective::reduce:
        return rank == root_ ? count_ : 0;
    case Collective::reduce_scatter:
        return in_place ? count_ : Blocks{count_, ranks_}.size(rank);
    case Collective::allgather:
    case Collective::alltoall:
        return ranks_ * count_;
    case Collective::allgatherv:
        return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
    case Collective::gather:
        return rank == root_ ? ranks_ * count_ : 0;
    case Collective::alltoallv:
        return got_by(rank);
    case Collective::pingpong:
        return contribution(rank);
    case Collective::barrier:
        return 0;
    }
    return 0;
}

std::size_t Exchange::place(std::size_t rank) const {
    if (collective_ == Collective::allgather || collective_ == Collective::gather) return rank * count_;
    if (collective_ != Collective::allgatherv) return 0;
    return std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(rank), std::size_t{0});
}

std::vector<ResultPart> Exchange::result(std::size_t rank) const {
    std::vector<ResultPart> parts;
    const auto copy = [&](std::size_t first, std::size_t length, std::size_t from, std::size_t source) {
        if (length != 0) parts.push_back({first, length, from, from + 1, source});
    };
    switch (collective_) {
    case Collective::allreduce:
        parts.push_back({0, count_, 0, ranks_, 0});
        break;
    case Collective::reduce:
        if (rank == root_) parts.push_back({0, count_, 0, ranks_, 0});
        break;
    case Collective::reduce_scatter: {
        const Blocks blocks{count_, ranks_};
        if (blocks.size(rank) != 0) parts.push_back({0, blocks.size(rank), 0, ranks_, blocks.offset(rank)});
        break;
    }
    case Collective::gather:
        if (rank != root_) break;
        [[fallthrough]];
    case Collective::allgather:
        for (std::size_t from = 0; from < ranks_; ++from) copy(from * count_, count_, from, 0);
        break;
    case Collective::allgatherv:
        for (std::size_t from = 0; from < ranks_; ++from) copy(place(from), counts_[from], from, 0);
        break;
    case Collective::scatter:
        copy(0, count_, root_, rank * count_);
        break;
    case Collective::alltoall:
        for (std::size_t from = 0; from < ranks_; ++from) copy(from * count_, count_, from, rank * count_);
        break;
    case Collective::alltoallv: {
        std::size_t first = 0;
        for (std::size_t from = 0; from < ranks_; ++from) {
            const auto row = counts_.begin() + static_cast<std::ptrdiff_t>(from * ranks_);
            const std::size_t length = counts_[from * ranks_ + rank];
            copy(first, length, from, std::accumulate(row, row + static_cast<std::ptrdiff_t>(rank), std::size_t{0}));
            first += length;
        }
        break;
    }
    case Collective::bcast:
        copy(0, count_, root_, 0);
        break;
    case Collective::pingpong:
        if (rank == 0)
            copy(0, count_, ranks_ - 1, 0);
        else if (rank + 1 == ranks_)
            copy(0, count_, 0, 0);
        break;
    case Collective::barrier:
        break;
    }
    return parts;
}

std::size_t Exchange::result_elements(std::size_t rank) const {
    std::size_t sum = 0;
    for (const ResultPart &part : result(rank)) sum += part.length;
    return sum;
}

} // namespace collpress
