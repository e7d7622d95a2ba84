// The plan: the points that one launch measures. See docs/contracts.md, "Plan file".
#pragma once

#include "collpress/plugin.h"
#include "core/collective.hpp"
#include "core/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace collpress {

enum class Origin { library, reference, compressed };
enum class Bound { none, absolute, relative };
enum class Target { message, result }; // what a bound is of
// How a part of a file goes on behind its end: not at all, backwards, again with small changes, or again.
enum class Wrap { none, mirror, perturb, repeat };

// How the ranks are brought to start an iteration together; see measure/start.hpp.
enum class Sync { dissemination, barrier, window, none };
inline constexpr std::array<std::string_view, 4> sync_names = {"dissemination", "barrier", "window", "none"};

// In the order of the plan's keys. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct PlanPoint {
    std::string key;
    std::string id;
    Collective collective = Collective::allreduce;
    std::size_t root = 0;
    bool in_place = false;
    bool nonblocking = false;
    Imbalance imbalance = Imbalance::none;
    std::uint64_t imbalance_seed = 0;
    std::optional<std::size_t> segment_bytes; // absent: whoever runs the algorithm chooses
    std::optional<std::int32_t> fanout;
    std::string proof; // of the library's algorithm, by an earlier launch; empty: none
    std::vector<std::string> consistent_with;
    Sync sync = Sync::dissemination;
    bool cold = false; // every iteration with buffers that are no longer in a cache
    std::size_t alignment = 65536;
    Origin origin = Origin::library;
    std::string algorithm; // without its origin
    std::string plugin;
    std::string tagged_plugin; // empty: the source has no tags
    std::string codec;
    std::string codec_plugin;
    std::vector<double> codec_parameters; // in the order in which the codec declares them
    Bound bound = Bound::none;
    double bound_value = 0;
    Target target = Target::message;
    Dtype dtype = dtypes[0];
    collpress_op op = COLLPRESS_SUM;
    std::size_t message_bytes = 0;
    bool from_file = false;
    std::string data_path;
    std::size_t data_elements = 0;
    std::optional<std::size_t> data_unique_bytes; // of the whole file, before its values begin to repeat themselves
    bool data_bfloat16 = false;                   // the file holds bfloat16, else the point's dtype
    std::optional<std::size_t> data_parts;        // one for each rank; absent: one field that is cut into slices
    std::size_t row = 0;   // elements of a row of the array that the file, or each of its parts, is; 0: it has one axis
    std::size_t plane = 0; // and of a plane; 0: it has two axes at most
    Wrap wrap = Wrap::none;
    std::uint64_t wrap_seed = 0; // of perturb, and the largest change over the value
    double wrap_amplitude = 0;
    std::size_t warmup = 0;
    std::size_t min_iterations = 1;
    std::size_t max_iterations = 1;
    double precision = 0;
    double at_most_s = 0;
    double at_least_s = 0; // of measuring: half of it warming up
    std::size_t instrumented = 0;
    std::size_t feedback = 0;                                 // rounds in which results become contributions
    std::vector<std::string> metrics;                         // paths of their plugins
    std::vector<std::pair<std::string, std::string>> entries; // as written, less key and id, for the record

    std::size_t count() const { return message_bytes / dtype.bytes; }
    Exchange exchange(std::size_t ranks) const {
        return {collective, ranks, count(), root, block_counts(collective, ranks, count(), imbalance, imbalance_seed)};
    }
    std::size_t stored_bytes() const { return data_bfloat16 ? 2 : dtype.bytes; } // of an element in the file
};

// A fault in the plan file; the message begins with FILE:LINE.
class PlanError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::vector<PlanPoint> read_plan(const std::string &path);

} // namespace collpress
