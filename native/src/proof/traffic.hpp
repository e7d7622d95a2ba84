// What each rank sent to each other rank: of a call of the library's by Open MPI's counters, of a schedule by counting.
#pragma once

#include "core/collective.hpp"
#include "p2p/schedule.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

// Messages and bytes to each rank, of one rank.
struct SentRow {
    std::vector<unsigned long long> messages;
    std::vector<unsigned long long> bytes;
};

// The counters of Open MPI's component `monitoring` (pml_monitoring_enable=1): they count what this rank hands to the
// point-to-point layer, collectives included, and see nothing of components that go through shared memory instead.
class TrafficCounters {
  public:
    // Collective over `world`, MPI_COMM_WORLD.
    explicit TrafficCounters(MPI_Comm world);
    ~TrafficCounters();
    TrafficCounters(const TrafficCounters &) = delete;
    TrafficCounters &operator=(const TrafficCounters &) = delete;

    bool exist() const { return counts_.handle != MPI_T_PVAR_HANDLE_NULL && sizes_.handle != MPI_T_PVAR_HANDLE_NULL; }
    SentRow read() const; // since the start

  private:
    struct Counter {
        MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
        int length = 0;
    };
    Counter open(const char *name, MPI_Comm world) const;
    std::vector<unsigned long long> read(const Counter &counter) const;

    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    Counter counts_;
    Counter sizes_;
};

// The look of a call: both matrices, row by row. A barrier's messages count, their bytes do not: they mean nothing.
std::string traffic_text(Collective collective, const std::vector<SentRow> &by_rank);
bool is_silent(const std::vector<SentRow> &by_rank);

// Collective; all rows on rank 0, nothing elsewhere.
std::vector<SentRow> gathered_rows(const SentRow &before, const SentRow &after, MPI_Comm comm);

// Of a schedule whose elements, there of int32, have `element_bytes`.
std::vector<SentRow> scheduled_rows(const Schedule &schedule, std::size_t element_bytes);

} // namespace collpress
