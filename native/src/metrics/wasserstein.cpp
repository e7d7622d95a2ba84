// The 1-Wasserstein distance between the distributions of the expected values and of those that came out: how far, in
// the mean, values must move for the one histogram to become the other, wherever they stand. For as many values on both
// sides it is the mean of |x(i) - y(i)| over both in sorted order (Peyre and Cuturi, Computational Optimal Transport,
// 2019, remark 2.28). At most the mean absolute error, and 0 where values were only exchanged.
//
// Sorting keeps what it sorts: 16 bytes a pair. Of more than 2^22 pairs (64 MiB), evenly spaced ones are kept: the
// first of `every` pairs. `every` is 1 where the distance is exact.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace {

using namespace collpress::metrics;

class Wasserstein {
  public:
    static constexpr collpress_metric_value values[] = {{"w1", "data"}, {"w1_over_range", "1"}, {"every", "1"}};

    explicit Wasserstein(const collpress_metric_config &config)
        : range_(value_range(config)), every_(std::max<std::uint64_t>(1, (config.count + most - 1) / most)) {
        const auto kept = static_cast<std::size_t>((config.count + every_ - 1) / every_);
        expected_.reserve(kept);
        got_.reserve(kept);
    }

    void add(const double *expected, const double *got, std::size_t count) {
        const std::uint64_t first = (every_ - seen_ % every_) % every_;
        for (std::uint64_t i = first; i < count; i += every_) {
            expected_.push_back(expected[i]);
            got_.push_back(got[i]);
        }
        seen_ += count;
    }

    const char *finish(double *result) {
        std::fill_n(result, 2, std::numeric_limits<double>::quiet_NaN());
        result[2] = static_cast<double>(every_);
        if (expected_.empty()) return no_values;
        std::sort(expected_.begin(), expected_.end());
        std::sort(got_.begin(), got_.end());
        const auto n = static_cast<double>(expected_.size());
        result[0] = pairwise_sum(0, expected_.size(), [&](std::size_t i) {
            return std::fabs(got_[i] - expected_[i]) / n; // the sum may leave the range of numbers, the mean does not
        });
        if (!(range_ > 0)) return no_range;
        result[1] = result[0] / range_;
        return nullptr;
    }

  private:
    static constexpr std::uint64_t most = std::uint64_t{1} << 22;

    double range_;
    std::uint64_t every_;
    std::uint64_t seen_ = 0;
    std::vector<double> expected_;
    std::vector<double> got_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Wasserstein, "distance between the distributions of the values")
