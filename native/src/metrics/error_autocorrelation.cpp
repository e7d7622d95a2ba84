// Autocorrelation of the signed error (got - expected) along the order in memory: 0 where errors are independent of
// each other, as quantisation noise is thought to be; near 1 where they come in runs, which averaging does not remove.
// As Tao et al. judge compressors (Z-checker: A Framework for Assessing Lossy Compression of Scientific Data, IJHPCA
// 33(2), 2019).
//
// r(k) = sum over i of (e(i) - m) (e(i + k) - m) / sum over i of (e(i) - m)^2, m the mean error (Box, Jenkins, Reinsel,
// Time Series Analysis, section 2.1.5), at lags of 1, 2, 4 and 8 elements; `largest` is the largest |r(k)| of the lags
// 1 to 64. Of n independent errors, 19 of 20 r(k) are within 2 / sqrt(n).
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace {

using namespace collpress::metrics;

constexpr std::size_t lags = 64;

class ErrorAutocorrelation {
  public:
    static constexpr collpress_metric_value values[] = {
        {"lag_1", "1"}, {"lag_2", "1"}, {"lag_4", "1"}, {"lag_8", "1"}, {"largest", "1"}};

    explicit ErrorAutocorrelation(const collpress_metric_config &config)
        : scale_(value_range(config) > 0 ? value_range(config) : 1) {}

    // Errors are kept less the first one, which is within sqrt(n) standard deviations of the mean: so no sum is much
    // larger than what is left when the mean is taken from it, and errors that are all the same are exactly 0.
    void add(const double *expected, const double *got, std::size_t count) {
        if (count != 0 && seen_ == 0) first_ = (got[0] - expected[0]) / scale_;
        errors_.resize(kept_ + count);
        for (std::size_t i = 0; i < count; ++i) errors_[kept_ + i] = (got[i] - expected[i]) / scale_ - first_;
        const double *now = errors_.data() + kept_;
        sum_.add(pairwise_sum(0, count, [=](std::size_t i) { return now[i]; }));
        squares_.add(pairwise_sum(0, count, [=](std::size_t i) { return now[i] * now[i]; }));
        for (std::size_t lag = 1; lag <= lags; ++lag) {
            const std::size_t without = lag - std::min<std::size_t>(lag, kept_); // of the first, which have none before
            if (without >= count) continue;
            const double *later = now + without;
            products_[lag].add(pairwise_sum(0, count - without, [=](std::size_t i) {
                return later[i] * *(later + i - static_cast<std::ptrdiff_t>(lag));
            }));
        }
        for (std::size_t i = 0; i < count && head_.size() < lags; ++i) head_.push_back(now[i]);
        seen_ += count;
        const std::size_t keep = std::min(lags, errors_.size());
        std::copy(errors_.end() - static_cast<std::ptrdiff_t>(keep), errors_.end(), errors_.begin());
        kept_ = keep;
    }

    const char *finish(double *result) {
        std::fill_n(result, std::size(values), std::numeric_limits<double>::quiet_NaN());
        if (seen_ == 0) return no_values;
        if (seen_ <= lags) return "there are no more than 64 values, the largest lag";
        const auto n = static_cast<double>(seen_);
        const double mean = sum_.value() / n;
        const double power = squares_.value() - n * mean * mean;
        if (!std::isfinite(power)) return "the errors are too large beside the expected values";
        if (!(power > 0)) return first_ == 0 ? "every value is exact" : "all errors are the same";
        double head = 0; // sums of the first and the last errors
        double tail = 0;
        double largest = 0;
        std::array<double, lags + 1> r{};
        for (std::size_t lag = 1; lag <= lags; ++lag) {
            head += head_[lag - 1];
            tail += errors_[kept_ - lag];
            const double left = 2 * sum_.value() - head - tail; // of both factors of the products
            r[lag] = (products_[lag].value() - mean * left + (n - static_cast<double>(lag)) * mean * mean) / power;
            largest = std::max(largest, std::fabs(r[lag]));
        }
        const std::array<double, 5> found = {r[1], r[2], r[4], r[8], largest};
        std::copy(found.begin(), found.end(), result);
        return nullptr;
    }

  private:
    double scale_;
    double first_ = 0;
    std::uint64_t seen_ = 0;
    std::size_t kept_ = 0;       // errors before the chunk that comes, at most as many as there are lags
    std::vector<double> errors_; // those, and the chunk's
    std::vector<double> head_;
    std::array<Total, lags + 1> products_;
    Total sum_;
    Total squares_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(ErrorAutocorrelation, "autocorrelation of the errors")
