// The file of traces of one launch: what every rank did in each instrumented iteration; see docs/contracts.md,
// "Traces".
#pragma once

#include "measure/phases.hpp"
#include "measure/samples.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

class TraceFile {
  public:
    // Beyond this the file takes nothing more, and records carry no trace.
    static constexpr std::uint64_t largest_file = std::uint64_t{1} << 28;

    // No file for an empty path. Only rank 0 opens it; throws std::runtime_error when it cannot. `one_clock`: all ranks
    // look at the same clock.
    TraceFile(const std::string &path, MPI_Comm comm, bool one_clock);
    ~TraceFile();
    TraceFile(const TraceFile &) = delete;
    TraceFile &operator=(const TraceFile &) = delete;

    // Collective: gathers the runs to rank 0, which appends them. Nothing on other ranks.
    std::optional<SamplesEntry> append(const std::string &key, const std::vector<TaggedRun> &own);

  private:
    std::string lines(const std::string &key, const std::vector<TaggedRun> &runs) const;

    std::string path_;
    MPI_Comm comm_;
    bool one_clock_;
    int rank_ = 0;
    int size_ = 0;
    int file_ = -1;
    std::uint64_t offset_ = 0;
};

} // namespace collpress
