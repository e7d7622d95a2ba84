// What each rank reduces in a call: how many elements at a time, and which ranks' values are in the two operands. It
// needs nothing of the library but that it takes an operation of a user's, which may change its choice.
#pragma once

#include "collpress/algorithm.h"
#include "core/collective.hpp"
#include "p2p/mpi_p2p.hpp"
#include "p2p/schedule.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

// One rank's part in calls of a collective that reduces, with elements of 64 bits in which each rank sets its own bit:
// at most 64 ranks.
class Fingerprint {
  public:
    static constexpr std::size_t most_ranks = 64;

    Fingerprint(const Exchange &exchange, int rank);
    ~Fingerprint();
    Fingerprint(const Fingerprint &) = delete;
    Fingerprint &operator=(const Fingerprint &) = delete;

    // An error code of MPI.
    int of_library(MPI_Comm comm);
    // With the segments and the fan-out of `how`.
    void of_algorithm(MpiP2p &p2p, const collpress_algorithm &algorithm, const ScheduledCall &how);

    // Of the last call, in no order: which operand is which, and which block comes first, are matters of style.
    static std::string text();

  private:
    Exchange exchange_;
    std::vector<std::uint64_t> send_;
    std::vector<std::uint64_t> recv_;
    std::vector<int> block_counts_; // of a reduce_scatter
    MPI_Op op_ = MPI_OP_NULL;
};

} // namespace collpress
