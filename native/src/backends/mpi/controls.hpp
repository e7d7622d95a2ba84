// How one MPI library is told which algorithm its collectives use. A library's controls are one file; which of them
// serve is seen at run time, by the control variables that the library has.
#pragma once

#include "backends/mpi/control_variable.hpp"
#include "core/collective.hpp"
#include "core/verdict.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

// What an algorithm of the library's needs. On another number of ranks than exactly_ranks it is an error; where
// anything else is missing the library refuses it, or silently takes another one, or aborts.
struct LibraryNeeds {
    std::size_t exactly_ranks = 0; // 0: any number
    bool power_of_two_ranks = false;
    bool even_ranks = false;
    bool count_at_least_ranks = false;
    bool count_multiple_of_ranks = false;
    std::optional<bool> in_place = std::nullopt; // null: serves both ways of calling
    bool commutative = false;                    // an operation that is, as all of ours are
    bool aborts = false;                         // where one of these is not met
};

// An algorithm of the library's: its name and the library's number; `default`, 0, leaves the choice to the library.
struct LibraryAlgorithm {
    std::string name;
    int id = 0;
    bool segments = false;        // heeds a segment size
    std::size_t least_fanout = 0; // 0: heeds no fan-out; else the smallest that it takes
    LibraryNeeds needs = {};

    bool forced() const { return id != 0; }
};

// What may be asked of an algorithm besides its name; what is left out is the library's own choice.
struct LibrarySettings {
    std::optional<std::size_t> segment_bytes;
    std::optional<std::size_t> fanout;

    auto operator<=>(const LibrarySettings &) const = default;
};

// What one call asks for.
struct CallShape {
    std::size_t count;
    std::size_t bytes; // of these elements
    std::size_t ranks;
    bool in_place = false;
};

// What is missing for a call, in words; empty where nothing is.
std::string unmet(const LibraryNeeds &needs, const CallShape &call);

// A communicator on which the library uses one algorithm, and how that is known.
struct LibraryChoice {
    Collective collective = Collective::allreduce;
    LibraryAlgorithm algorithm;
    MPI_Comm comm = MPI_COMM_NULL;
    bool read_back = false;                   // the settings, after they were made
    std::optional<std::size_t> segment_bytes; // null when not segmented
    std::optional<std::size_t> fanout;        // null when not asked for
};

class Controls {
  public:
    virtual ~Controls() = default;

    virtual const char *name() const = 0;
    // Without `default`.
    virtual std::vector<LibraryAlgorithm> algorithms(Collective collective) const = 0;
    // Why the library's algorithms of a collective cannot be chosen; empty where they can, or where it has none.
    virtual std::string obstacle(Collective /*collective*/) const { return ""; }
    // Collective over `world`. The algorithm heeds what is set. Throws PointError(unsupported), on all ranks, when the
    // library refuses the settings.
    virtual LibraryChoice choose(MPI_Comm world, Collective collective, const LibraryAlgorithm &algorithm,
                                 const LibrarySettings &settings) = 0;

    // Whether the settings hold for every communicator while they are made, not for a choice's alone.
    virtual bool holds_everywhere() const { return false; }

    // Around calls on a choice's communicator, outside of timed regions; between the two nothing else may call a
    // collective. engage() says whether the settings are made.
    virtual bool engage(const LibraryChoice &) { return true; }
    virtual void release() {}

    // Whether the library, asked for this algorithm, may silently use another one for such a call.
    virtual bool may_fall_back(const LibraryChoice &, const CallShape &) const { return false; }
    // Whether an error of a call says that the algorithm cannot be used for it.
    virtual bool refuses_algorithm(int /*error*/) const { return false; }
};

// Null where the library is another one.
std::unique_ptr<Controls> openmpi_controls();
std::unique_ptr<Controls> mpich_controls();

} // namespace collpress
