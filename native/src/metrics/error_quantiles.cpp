// Quantiles of the absolute error, without keeping the errors: they are counted in buckets whose edges are spaced
// logarithmically, 128 between two powers of two. A quantile is the middle of the bucket that holds the error of rank
// ceil(q n), so it is within 2^-8 (0.4 %) of it; errors below 2^-1022 are subnormal, and there the buckets are 2^-1029
// wide.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

namespace {

constexpr unsigned mantissa_bits = 7; // of the 52 that a float64 has
constexpr unsigned dropped_bits = 52 - mantissa_bits;
constexpr std::size_t buckets = std::size_t{2048} << mantissa_bits;
constexpr std::array<double, 4> levels = {0.5, 0.9, 0.99, 0.999};

class ErrorQuantiles {
  public:
    static constexpr collpress_metric_value values[] = {
        {"p50", "data"}, {"p90", "data"}, {"p99", "data"}, {"p999", "data"}};

    explicit ErrorQuantiles(const collpress_metric_config &config) : count_(config.count), tally_(buckets) {}

    void add(const double *expected, const double *got, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const double error = std::fabs(got[i] - expected[i]);
            smallest_ = std::min(smallest_, error);
            largest_ = std::max(largest_, error);
            ++tally_[std::bit_cast<std::uint64_t>(error) >> dropped_bits];
        }
    }

    const char *finish(double *result) {
        std::fill_n(result, levels.size(), std::numeric_limits<double>::quiet_NaN());
        if (count_ == 0) return collpress::metrics::no_values;
        std::size_t bucket = 0;
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < levels.size(); ++i) {
            const double rank = std::ceil(levels[i] * static_cast<double>(count_));
            while (static_cast<double>(below + tally_[bucket]) < rank) below += tally_[bucket++];
            result[i] = std::clamp(middle(bucket), smallest_, largest_);
        }
        return nullptr;
    }

  private:
    static double middle(std::size_t bucket) {
        if (bucket == 0) return 0; // no error at all, far more often than one below 2^-1029
        const auto lower = static_cast<std::uint64_t>(bucket) << dropped_bits;
        return std::bit_cast<double>(lower + (std::uint64_t{1} << (dropped_bits - 1)));
    }

    std::uint64_t count_;
    std::vector<std::uint64_t> tally_;
    double smallest_ = std::numeric_limits<double>::infinity();
    double largest_ = 0;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(ErrorQuantiles, "quantiles of the absolute error, within 0.4 %")
