#include "core/needs.hpp"

#include "core/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace collpress {

namespace {

double smallest_bound(const PlanPoint &point) {
    return point.dtype.id == COLLPRESS_FLOAT64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

// A collpress_worst_error: of a codec with that bound.
double constant_error(const void *bound, double) { return *static_cast<const double *>(bound); }

// The largest bound up to `asked` whose result's error, which grows with it, is at most `asked`; 0 where there is none.
// Errors are sums of multiples of the bound, so the quotient is right but for rounding, which a few steps down mend.
template <typename ResultError>
double largest_within(double asked, const ResultError &result_error) {
    double bound = asked;
    double error = result_error(bound);
    for (int i = 0; i < 100 && !(error <= asked); ++i) {
        const double next = std::isfinite(error) ? bound * (asked / error) : bound / 2;
        bound = next < bound ? next : std::nextafter(bound, 0.0);
        error = result_error(bound);
    }
    return error <= asked ? bound : 0;
}

} // namespace

std::string refusal_of(const collpress_algorithm &algorithm, const PlanPoint &point, std::size_t ranks) {
    if (ranks < algorithm.min_ranks) return "needs at least " + std::to_string(algorithm.min_ranks) + " ranks";
    if (algorithm.power_of_two_ranks != 0 && (ranks & (ranks - 1)) != 0) return "needs a power of two of ranks";
    if (algorithm.count_at_least_ranks != 0 && point.count() < ranks) return "needs at least as many elements as ranks";
    if (point.in_place && algorithm.in_place == 0) return "does not work in place";
    if (point.nonblocking) return "runs inside its call: only the library's can be started";
    if (point.segment_bytes.has_value() && algorithm.segments == 0) return "does not cut messages into segments";
    if (point.fanout.has_value() && algorithm.least_fanout == 0) return "has no fan-out";
    if (point.fanout.has_value() && static_cast<std::uint32_t>(*point.fanout) < algorithm.least_fanout)
        return "needs a fan-out of at least " + std::to_string(algorithm.least_fanout);
    if (algorithm.compresses != 0 && point.op == COLLPRESS_PROD) return "cannot state the error of a product";
    if (algorithm.needs_add != 0 && point.op != COLLPRESS_SUM) return "adds streams: its operation is sum";
    return "";
}

double absolute_bound(const PlanPoint &point, const ValueRange &range) {
    if (point.bound == Bound::absolute) return point.bound_value;
    double scale = range.width();
    if (scale == 0) scale = range.magnitude();
    if (scale == 0) scale = 1;
    return std::clamp(point.bound_value * scale, smallest_bound(point), std::numeric_limits<double>::max());
}

double bound_of_codec(const PlanPoint &point, const collpress_algorithm &algorithm, int ranks, double asked,
                      const ValueRange &range) {
    if (point.target == Target::message) return asked;
    const double bound = largest_within(asked, [&](double tried) {
        return algorithm.error_bound(ranks, static_cast<std::uint32_t>(point.op), range.magnitude(), constant_error,
                                     &tried);
    });
    if (bound >= smallest_bound(point)) return bound;
    std::array<char, 40> text;
    std::snprintf(text.data(), text.size(), "%.9g", asked);
    throw PointError(Status::unsupported, std::string("no bound of a codec keeps the result within ") + text.data());
}

} // namespace collpress
