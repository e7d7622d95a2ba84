// Order statistics of one launch's values.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace collpress {

struct Interval {
    double low;
    double high;
};

// 95 % confidence interval of the median by ranks: exact binomial below 50 values, from there the normal approximation
// of Hoefler and Belli (Scientific Benchmarking of Parallel Computing Systems, SC 2015). None below 6 values: no pair
// of ranks reaches 95 %.
std::optional<Interval> median_interval(const std::vector<double> &sorted);

// Linear interpolation between the nearest ranks; `fraction` from 0 to 1; not for an empty vector.
double quantile(const std::vector<double> &sorted, double fraction);

struct Summary {
    double median, minimum, p05, p25, p75, p95, p99, maximum, mean;
    std::optional<double> deviation; // of a sample; none for one value
    double absolute_deviation;       // median of |value - median|
    std::optional<Interval> interval;

    // Half width of the interval over the median is at most `precision`.
    bool reaches(double precision) const;
};

Summary summarise(std::vector<double> values);

} // namespace collpress
