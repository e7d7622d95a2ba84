// The check of one point's results, by all ranks together.
//
// Where every rank gets the same, each looks at a share of it only, and learns whether the other shares are, bit by
// bit, what their owners looked at: p ranks need no more work than one. A share that differs is looked at by the rank
// that has it, and nobody looks again at what has not changed since.
#pragma once

#include "measure/check.hpp"
#include "measure/data.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <mpi.h>

namespace collpress {

class ResultCheck {
  public:
    ResultCheck(const DataSource &data, collpress_op op, double codec_bound, MPI_Comm world);

    // Collective. Over all ranks on rank 0, elsewhere of the rank's own.
    CheckResult operator()(const std::byte *recv);

    // Whether, whenever results were looked at, all ranks that should get the same had the same bits; nothing where
    // fewer than two should.
    std::optional<bool> identical() const { return identical_; }

  private:
    // Plain data: gathered as bytes.
    struct Seen {
        std::uint64_t bits = 0; // a checksum of the share
        std::uint64_t looked = 0;
        CheckResult result;
    };

    std::size_t first(std::size_t share) const;
    std::vector<ResultPart> parts(std::size_t share) const;
    void compare_ranks(const std::vector<std::uint64_t> &bits);
    void look(std::size_t share, std::uint64_t bits, const std::byte *recv);

    const DataSource &data_;
    collpress_op op_;
    double codec_bound_;
    MPI_Comm world_;
    int rank_ = 0;
    int size_ = 0;
    std::size_t elements_; // from the beginning of the buffer to the end of its last part
    std::optional<bool> identical_;
    std::vector<Seen> seen_; // by share; one alone where ranks get different results
};

} // namespace collpress
