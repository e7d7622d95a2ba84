// One launch: all points of a plan, in the order that seed and launch number decide.
#pragma once

#include "core/command_line.hpp"
#include "core/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

namespace collpress {

// A permutation of 0 ... n-1, the same on every rank and every machine.
std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t launch);

// Collective. Throws std::runtime_error when journal or samples cannot be written; then the launch is over.
void run_launch(const Options &options, const std::vector<PlanPoint> &plan, MPI_Comm world);

} // namespace collpress
