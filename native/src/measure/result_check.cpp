#include "measure/result_check.hpp"

#include "measure/checksum.hpp"
#include "measure/oracle.hpp"

#include <algorithm>
#include <array>

namespace collpress {

ResultCheck::ResultCheck(const DataSource &data, collpress_op op, double codec_bound, MPI_Comm world)
    : data_(data), op_(op), codec_bound_(codec_bound), world_(world) {
    MPI_Comm_rank(world, &rank_);
    MPI_Comm_size(world, &size_);
    const std::vector<ResultPart> own = data.exchange().result(static_cast<std::size_t>(rank_));
    elements_ = own.empty() ? 0 : own.back().first + own.back().length;
    const bool alike = data.exchange().collective() == Collective::allreduce && elements_ > oracle_chunk;
    seen_.resize(alike ? static_cast<std::size_t>(size_) : 1);
}

std::size_t ResultCheck::first(std::size_t share) const {
    return elements_ / seen_.size() * share + std::min(share, elements_ % seen_.size());
}

// Those of this rank's result within the share.
std::vector<ResultPart> ResultCheck::parts(std::size_t share) const {
    std::vector<ResultPart> within;
    for (ResultPart part : data_.exchange().result(static_cast<std::size_t>(rank_))) {
        const std::size_t begin = std::max(part.first, first(share));
        const std::size_t end = std::min(part.first + part.length, first(share + 1));
        if (begin >= end) continue;
        part.source += begin - part.first;
        part.first = begin;
        part.length = end - begin;
        within.push_back(part);
    }
    return within;
}

void ResultCheck::look(std::size_t share, std::uint64_t bits, const std::byte *recv) {
    Seen &seen = seen_[share];
    if (seen.looked != 0 && seen.bits == bits) return;
    seen = {bits, 1, check_result(data_, op_, parts(share), recv, codec_bound_)};
}

// Two checksums are the same where the smallest is the largest.
void ResultCheck::compare_ranks(const std::vector<std::uint64_t> &bits) {
    const Alike alike = alike_ranks(data_.exchange().collective());
    const bool has_root = alike == Alike::all_but_root;
    if (alike == Alike::none || size_ - (has_root ? 1 : 0) < 2) return;
    const bool counts = !has_root || static_cast<std::size_t>(rank_) != data_.exchange().root();
    const std::uint64_t sum = checksum(reinterpret_cast<const std::byte *>(bits.data()), bits.size() * sizeof bits[0]);
    std::array<std::uint64_t, 2> ends = {counts ? sum : UINT64_MAX, counts ? ~sum : UINT64_MAX};
    MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_UINT64_T, MPI_MIN, world_);
    identical_ = identical_.value_or(true) && ends[0] == ~ends[1];
}

CheckResult ResultCheck::operator()(const std::byte *recv) {
    std::vector<std::uint64_t> bits;
    for (std::size_t share = 0; share < seen_.size(); ++share) {
        const std::size_t begin = first(share) * data_.dtype().bytes;
        bits.push_back(checksum(recv + begin, first(share + 1) * data_.dtype().bytes - begin));
    }
    compare_ranks(bits);
    if (seen_.size() == 1) {
        look(0, bits[0], recv);
    } else {
        const auto own = static_cast<std::size_t>(rank_);
        look(own, bits[own], recv);
        std::vector<Seen> owners(seen_.size());
        MPI_Allgather(&seen_[own], sizeof(Seen), MPI_BYTE, owners.data(), sizeof(Seen), MPI_BYTE, world_);
        for (std::size_t share = 0; share < seen_.size(); ++share) {
            if (owners[share].bits == bits[share])
                seen_[share] = owners[share];
            else
                look(share, bits[share], recv);
        }
    }
    CheckResult result = seen_[0].result;
    for (std::size_t share = 1; share < seen_.size(); ++share) result.merge(seen_[share].result);
    result.worst_rank = rank_;

    std::vector<CheckResult> all(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
    MPI_Gather(&result, sizeof result, MPI_BYTE, all.data(), sizeof result, MPI_BYTE, 0, world_);
    for (std::size_t rank = 1; rank < all.size(); ++rank) all[0].merge(all[rank]);
    return all.empty() ? result : all[0];
}

} // namespace collpress
