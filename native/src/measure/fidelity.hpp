// Fidelity: what metrics make of a message that was compressed and decompressed, and of a result. Outside all timing.
#pragma once

#include "collpress/metric.h"
#include "measure/data.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace collpress {

// A metric that a point asks for; without an interface where it cannot be had, and `problem` says why.
struct AskedMetric {
    std::string name;
    const collpress_metric *interface = nullptr;
    std::string problem;
};

struct MetricReport {
    std::string name;
    std::vector<std::pair<std::string, double>> values; // not finite where undefined
    std::string problem;                                // why a value is missing; empty where none is
};

struct SubjectReport {
    double bound = std::numeric_limits<double>::quiet_NaN(); // what an error may be; NaN where that is unknown
    std::uint64_t left_out = 0;                              // pairs with a value that is not finite
    std::uint64_t beyond = 0; // pairs of a finite expected value whose error is not within the bound, if that is known
    std::vector<MetricReport> metrics;
};

struct FidelityReport {
    std::optional<SubjectReport> message; // only with a codec
    SubjectReport result;
};

// Writes `length` pairs from element `first` on, as float64. Asked for chunk by chunk, at most fidelity_chunk at a
// time.
using PairReader = std::function<void(std::size_t first, std::size_t length, double *expected, double *got)>;
inline constexpr std::size_t fidelity_chunk = 4096;

// Pairs of a float32 or float64 message and what a codec made of it; both stay where they are.
PairReader message_pairs(const void *message, const void *decompressed, collpress_dtype dtype);

// Pairs of the oracle's exact result and what `rank` got, without what lies between the parts of its result.
PairReader result_pairs(const DataSource &data, collpress_op op, std::size_t rank, const void *recv);

// What is known of the pairs without reading them.
struct Subject {
    std::size_t count = 0;
    double bound = std::numeric_limits<double>::quiet_NaN(); // what an error may be; NaN where that is unknown
    std::size_t row = 0;                                     // as in collpress_metric_config
    std::size_t plane = 0;
};

// The values of all metrics. Reads the pairs twice: what comes, and within which range, is known before metrics see any
// of it. Whatever a metric throws becomes its problem.
SubjectReport measure_fidelity(const std::vector<AskedMetric> &metrics, const Subject &subject, const PairReader &read);

} // namespace collpress
