// One time for all ranks: each rank's clock, corrected by what is known of its offset and drift against rank 0's.
//
// Algorithm HCA3 on two levels: S. Hunold, A. Carpen-Amarie: Hierarchical Clock Synchronization in MPI. CLUSTER 2018,
// doi:10.1109/CLUSTER.2018.00050. The first ranks of the machines learn a line (offset and slope) from each other in
// ceil(log2 machines) rounds, against clocks that are already global; the other ranks of a machine share its clock and
// take the line over. An offset is known within half of the fastest exchange's round trip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <mpi.h>

namespace collpress {

// Nanoseconds.
using LocalClock = std::function<std::int64_t()>;

struct ClockModel {
    std::int64_t base = 0; // local time from which the line counts
    double slope = 0;      // local seconds too many in a second
    double intercept = 0;  // ns that the local clock is ahead at `base`

    std::int64_t global(std::int64_t local) const;
};

struct SyncEffort {
    std::size_t fit_points = 100;
    std::size_t exchanges = 10; // of which the tightest bounds are taken for a point
    std::int64_t pause_ns = 1'000'000;
};

class GlobalClock {
  public:
    // `shares_clock` joins ranks whose clock is the same one, first rank first. Nothing is learnt before synchronise().
    GlobalClock(MPI_Comm comm, MPI_Comm shares_clock, LocalClock local, SyncEffort effort = {});
    ~GlobalClock();
    GlobalClock(const GlobalClock &) = delete;
    GlobalClock &operator=(const GlobalClock &) = delete;

    // Collective.
    void synchronise();
    // Collective: the largest difference to rank 0's global time that is measured now, in ns; on every rank.
    double residual() const;

    std::int64_t now() const { return model_.global(local_()); }
    std::int64_t global(std::int64_t local) const { return model_.global(local); }
    bool one_clock() const { return leaders_size_ == 1; }

  private:
    double offset_to(int parent) const;
    void answer(int child, std::size_t questions) const;
    ClockModel learn(int parent) const;
    void pair(int parent, int child);

    MPI_Comm leaders_ = MPI_COMM_NULL; // null but on the first rank of each clock
    MPI_Comm shares_clock_;
    MPI_Comm comm_;
    int leaders_rank_ = 0;
    int leaders_size_ = 1;
    LocalClock local_;
    SyncEffort effort_;
    ClockModel model_;
};

} // namespace collpress
