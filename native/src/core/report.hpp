// Everything that a point's record says beyond its plan line. Whole on rank 0 only.
#pragma once

#include "collpress/tag.hpp"
#include "core/verdict.hpp"
#include "measure/check.hpp"
#include "measure/fidelity.hpp"
#include "measure/noise.hpp"
#include "measure/overlap.hpp"
#include "measure/resources.hpp"
#include "measure/samples.hpp"
#include "measure/statistics.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace collpress {

struct PhaseReport {
    std::size_t iterations;
    double total_s;
    std::array<double, phase_count> phase_s;
    double other_s;
};

struct CodecReport {
    std::size_t raw_bytes;
    std::size_t compressed_bytes;
    std::size_t wire_bytes;
};

struct CheckReport {
    CheckResult result;
    double codec_bound;
};

struct TimeReport {
    Summary summary;
    std::size_t iterations;
    const char *stop_reason;
    NoiseReport noise;
    std::size_t late;                       // iterations that do not count, for a rank started late
    std::optional<double> clock_residual_s; // of a global clock, measured after the iterations
    double mean_over_ranks_s;
    std::optional<double> start_skew_s; // only where all ranks share a clock
    Usage usage; // largest resident set of all ranks; switches of all ranks during the timed iterations
};

struct PointReport {
    Verdict verdict;
    std::string effective_algorithm;
    const char *known_by = "unverified";
    std::optional<double> abs_bound;
    std::optional<std::size_t> segment_bytes; // that the library was told to cut blocks into
    std::optional<std::size_t> fanout;
    const char *operation = nullptr;         // of a reduction by the library: its own, or one that the core gave it
    std::size_t total_bytes = 0;             // that all ranks contribute
    std::optional<std::size_t> unique_bytes; // of these, from different elements of a file
    std::optional<OverlapReport> overlap;
    std::size_t warmup = 0;
    std::optional<TimeReport> time;
    std::optional<PhaseReport> phases;
    std::optional<CodecReport> codec;
    std::optional<CheckReport> check;
    std::optional<FidelityReport> fidelity;
    std::optional<SamplesEntry> samples;
};

} // namespace collpress
