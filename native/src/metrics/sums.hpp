// Sums of many terms whose rounding errors stay small: pairwise inside a chunk, compensated from chunk to chunk.
//
// Pairwise summation loses at most about log2(n) roundings, and vectorises where compensation does not (Higham,
// Accuracy and Stability of Numerical Algorithms, 4.2); compensation is Neumaier's (ibid. 4.3).
#pragma once

#include "collpress/metric.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace collpress::metrics {

constexpr const char *no_values = "there are no finite values";
constexpr const char *no_range = "the expected values have no finite range above 0";

// maximum - minimum, or 0 where there is none that can be divided by.
inline double value_range(const collpress_metric_config &config) {
    const double range = config.maximum - config.minimum;
    return std::isfinite(range) ? range : 0;
}

// term(first) + ... + term(first + count - 1)
template <typename Term>
double pairwise_sum(std::size_t first, std::size_t count, const Term &term) {
    constexpr std::size_t lanes = 8;
    constexpr std::size_t block = 256;
    if (count > block) {
        const std::size_t half = count / 2 / lanes * lanes;
        return pairwise_sum(first, half, term) + pairwise_sum(first + half, count - half, term);
    }
    std::array<double, lanes> part{};
    const std::size_t even = count / lanes * lanes;
    for (std::size_t i = 0; i < even; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) part[lane] += term(first + i + lane);
    }
    for (std::size_t i = even; i < count; ++i) part[i - even] += term(first + i);
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// A compensated running total.
class Total {
  public:
    void add(double term) {
        const double sum = sum_ + term;
        correction_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
        sum_ = sum;
    }

    double value() const { return std::isfinite(sum_) ? sum_ + correction_ : sum_; }

  private:
    double sum_ = 0;
    double correction_ = 0;
};

// Mean of (got - expected)^2 in units of the squared value range: neither over- nor underflows where the errors are of
// the size of the data.
class ScaledSquares {
  public:
    explicit ScaledSquares(const collpress_metric_config &config)
        : range_(value_range(config)), count_(static_cast<double>(config.count)) {}

    void add(const double *expected, const double *got, std::size_t count) {
        const double range = range_;
        total_.add(pairwise_sum(0, count, [=](std::size_t i) {
            const double error = (got[i] - expected[i]) / range;
            return error * error;
        }));
    }

    double mean() const { return total_.value() / count_; }

    // Why the mean is undefined, or null.
    const char *problem() const { return count_ == 0 ? no_values : range_ > 0 ? nullptr : no_range; }

  private:
    double range_;
    double count_;
    Total total_;
};

} // namespace collpress::metrics
