// Overlap of a non-blocking collective with computation: three times, from which the benchmarks of the field make their
// percentages (formulas: overlap.cpp).
#pragma once

#include "measure/barrier.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include <mpi.h>

namespace collpress {

// Medians over iterations of the largest time of a rank.
struct OverlapReport {
    std::size_t iterations;
    double pure_s;       // started and completed at once
    double compute_s;    // the computation alone, made to last as long
    double overlapped_s; // started, computed, completed

    // OSU Micro-Benchmarks, osu_i*: 100 · (1 - (overlapped - compute) / pure), at least 0.
    double omb_percent() const;
    // Intel MPI Benchmarks, IMB-NBC: 100 · (pure + compute - overlapped) / max(pure, compute), from 0 to 100.
    double imb_percent() const;
};

// Collective; nothing but on rank 0. `prepare` is called before each iteration, outside of its time; `run` gets what it
// shall do between starting and completing the operation. `pure_estimate_s` sizes the computation.
std::optional<OverlapReport> measure_overlap(MPI_Comm comm, const Barrier &barrier, std::size_t iterations,
                                             double pure_estimate_s, const std::function<void()> &prepare,
                                             const std::function<void(const std::function<void()> &)> &run);

} // namespace collpress
