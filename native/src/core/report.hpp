// Everything that a point's record says beyond its plan line. Whole on rank 0 only.
#pragma once

#include "core/verdict.hpp"
#include "measure/check.hpp"
#include "measure/feedback.hpp"
#include "measure/fidelity.hpp"
#include "measure/noise.hpp"
#include "measure/overlap.hpp"
#include "measure/phases.hpp"
#include "measure/resources.hpp"
#include "measure/samples.hpp"
#include "measure/statistics.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace collpress {

struct CodecReport {
    std::size_t raw_bytes;
    std::size_t compressed_bytes;
    std::size_t wire_bytes;
    // In each step of the pass with tags the most that any rank sends: the first of them, and how many there are.
    std::vector<std::uint64_t> wire_bytes_by_step;
    std::optional<std::size_t> steps;
};

struct CheckReport {
    CheckResult result;
    double codec_bound;
    std::optional<bool> identical; // bits of all results that should be alike
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
    std::vector<std::string> consistent_with; // algorithms that do what the library was seen to do
    std::optional<double> abs_bound;          // that the codec was given
    std::optional<double> asked_bound;        // of a message or of the result, as the point says
    std::optional<std::size_t> segment_bytes; // that the library was told to cut blocks into
    std::optional<std::size_t> fanout;
    const char *operation = nullptr;         // of a reduction by the library: its own, or one that the core gave it
    std::size_t total_bytes = 0;             // that all ranks contribute
    std::optional<std::size_t> unique_bytes; // of these, from different elements of a file
    std::optional<OverlapReport> overlap;
    std::size_t warmup = 0;
    double measuring_s = 0; // warm-up, start synchronisation and timed iterations
    std::optional<TimeReport> time;
    std::optional<PhaseReport> phases;
    std::optional<SamplesEntry> trace; // what every rank did in the instrumented iterations
    std::optional<CodecReport> codec;
    std::optional<CheckReport> check;
    std::optional<FidelityReport> fidelity;
    std::optional<FeedbackReport> feedback;
    std::optional<SamplesEntry> samples;
};

} // namespace collpress
