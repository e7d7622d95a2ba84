// Where the time goes: the separate pass that attributes time to phases.
#pragma once

#include "collpress/tag.hpp"
#include "core/report.hpp"
#include "measure/barrier.hpp"

#include <cstddef>
#include <functional>
#include <optional>

#include <mpi.h>

namespace collpress {

// Collective; `prepare` is called before each iteration, outside of its time. On rank 0 the medians over iterations of
// the rank whose median total is largest, nothing elsewhere.
std::optional<PhaseReport> measure_phases(MPI_Comm comm, const Barrier &barrier, std::size_t iterations,
                                          const std::function<void()> &prepare, const std::function<PhaseTimes()> &run);

} // namespace collpress
