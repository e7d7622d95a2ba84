// Where the time goes: the separate pass that attributes time to an algorithm's phases and to what is done in them.
#pragma once

#include "measure/barrier.hpp"
#include "p2p/tag_log.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace collpress {

// The primitives by what they are for: `send` is the posting of sends and receives, `wait` their completion.
inline constexpr std::array<const char *, 6> part_names = {"compress", "send", "decompress", "reduce", "wait", "copy"};

// Medians over iterations of the rank whose median total is largest.
struct PhaseReport {
    struct Phase {
        std::string name; // of the outermost tags of an algorithm; empty: outside of all
        double total_s;   // its scopes; outside of all: its parts
        std::array<double, part_names.size()> part_s;
    };

    std::size_t iterations;
    int rank;
    double total_s;
    std::array<double, part_names.size()> part_s; // over all phases
    double other_s;
    std::vector<Phase> phases; // in the order of their first beginning
};

// One iteration of one rank.
struct TaggedRun {
    std::int64_t begin_ns; // of now_ns()
    std::int64_t end_ns;
    std::vector<TagEvent> events;
};

struct TaggedRuns {
    std::vector<TaggedRun> own;        // of this rank
    std::optional<PhaseReport> report; // on rank 0
};

// Collective; `prepare` is called before each iteration, outside of its time; `run` gives what it did.
TaggedRuns measure_phases(MPI_Comm comm, const Barrier &barrier, std::size_t iterations,
                          const std::function<void()> &prepare, const std::function<std::vector<TagEvent>()> &run);

} // namespace collpress
