// The file of raw samples of one launch; see docs/contracts.md, "Samples".
#pragma once

#include "measure/timing.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <mpi.h>

namespace collpress {

enum class SamplesMode { none, summary, per_rank, all };

struct SamplesEntry {
    std::string file; // its name, without folders
    std::uint64_t offset;
    std::uint64_t bytes;
    std::string sha256;
};

class SamplesFile {
  public:
    // Beyond this the file takes nothing more, and records carry no samples.
    static constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;

    // Only rank 0 opens the file; throws std::runtime_error when it cannot.
    SamplesFile(const std::string &path, SamplesMode mode, MPI_Comm comm);
    ~SamplesFile();
    SamplesFile(const SamplesFile &) = delete;
    SamplesFile &operator=(const SamplesFile &) = delete;

    // Collective: gathers what the mode asks for to rank 0, which appends it. Nothing on other ranks, and for mode
    // none.
    std::optional<SamplesEntry> append(const Timings &timings);

  private:
    SamplesEntry write(const std::vector<std::int64_t> &values);

    std::string path_;
    SamplesMode mode_;
    MPI_Comm comm_;
    int rank_ = 0;
    int size_ = 0;
    int file_ = -1;
    std::uint64_t offset_ = 0;
};

} // namespace collpress
