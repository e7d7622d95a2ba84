// The MPI library's own collectives, and the control over which algorithm they use.
//
// Open MPI: the MPI_T control variables of its component `tuned`, read by each communicator when it is made. So every
// algorithm gets a communicator of its own, made while the variables say so, with `tuned` preferred over the other
// components (with several hosts `han` would answer otherwise and ignore the request). Another library offers its
// default only.
#pragma once

#include "collpress/plugin.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

struct LibraryAlgorithm {
    std::string name;
    int id; // the library's number; 0 for `default`
};

// A communicator on which the library uses one algorithm, and how that is known.
struct LibraryChoice {
    static constexpr int bytes_of_a_segment = 65536; // for algorithms that cut their blocks into segments

    MPI_Comm comm = MPI_COMM_NULL;
    std::string effective;
    bool read_back = false;                   // the settings, after the communicator was made
    std::optional<std::size_t> segment_bytes; // null when not segmented
};

// An MPI_T control variable that may be written at any time, for integers; found by name.
class ControlVariable {
  public:
    ControlVariable() = default;
    ~ControlVariable();
    ControlVariable(const ControlVariable &) = delete;
    ControlVariable &operator=(const ControlVariable &) = delete;

    bool open(const char *name);
    bool is_open() const { return handle_ != MPI_T_CVAR_HANDLE_NULL; }
    int read() const;
    bool write(int value) const;
    std::vector<LibraryAlgorithm> values() const; // of its enumeration

  private:
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_enum enumeration_ = MPI_T_ENUM_NULL;
};

class Library {
  public:
    explicit Library(MPI_Comm world);
    ~Library();
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    const char *controls() const { return controlled() ? "openmpi" : "none"; }
    // `default` first.
    const std::vector<LibraryAlgorithm> &allreduce_algorithms() const { return algorithms_; }

    // Collective on first use of a name. Throws PointError(unsupported) when the library lacks or refuses the
    // algorithm.
    const LibraryChoice &allreduce(const std::string &name);

    static MPI_Datatype datatype(collpress_dtype dtype);
    static MPI_Op operation(collpress_op op);
    static std::string version(); // the first line of what the library says

  private:
    bool controlled() const { return rules_.is_open() && algorithm_.is_open(); }
    const LibraryAlgorithm &find(const std::string &name) const;
    LibraryChoice make(const LibraryAlgorithm &algorithm);

    MPI_Comm world_;
    ControlVariable rules_;
    ControlVariable algorithm_;
    ControlVariable segment_;
    std::vector<LibraryAlgorithm> algorithms_;
    std::map<std::string, LibraryChoice> choices_;
};

} // namespace collpress
