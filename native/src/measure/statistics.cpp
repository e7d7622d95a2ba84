#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace collpress {

std::optional<Interval> median_interval(const std::vector<double> &sorted) {
    const std::size_t n = sorted.size();
    if (n < 6) return std::nullopt;
    if (n < 50) {
        // The largest k with P(fewer than k of n fair coins show heads) <= 2.5 %: then [x_k, x_(n+1-k)] covers at least
        // 95 %.
        double probability = std::pow(0.5, static_cast<double>(n));
        double cumulative = probability;
        std::size_t k = 0;
        while (cumulative <= 0.025) {
            ++k;
            probability *= static_cast<double>(n - k + 1) / static_cast<double>(k);
            cumulative += probability;
        }
        return Interval{sorted[k - 1], sorted[n - k]};
    }
    const double size = static_cast<double>(n);
    const double spread = 1.96 * std::sqrt(size);
    const auto low = static_cast<std::size_t>(std::floor((size - spread) / 2));
    const auto high = static_cast<std::size_t>(std::ceil(1 + (size + spread) / 2));
    return Interval{sorted[std::max<std::size_t>(low, 1) - 1], sorted[std::min(high, n) - 1]};
}

double quantile(const std::vector<double> &sorted, double fraction) {
    const double position = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

bool Summary::reaches(double precision) const {
    return interval.has_value() && (interval->high - interval->low) / 2 <= precision * median;
}

Summary summarise(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto n = static_cast<double>(values.size());
    Summary summary{};
    summary.median = quantile(values, 0.5);
    summary.minimum = values.front();
    summary.p05 = quantile(values, 0.05);
    summary.p25 = quantile(values, 0.25);
    summary.p75 = quantile(values, 0.75);
    summary.p95 = quantile(values, 0.95);
    summary.p99 = quantile(values, 0.99);
    summary.maximum = values.back();
    summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    summary.interval = median_interval(values);
    if (values.size() > 1) {
        double squares = 0;
        for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
        summary.deviation = std::sqrt(squares / (n - 1));
    }
    for (double &value : values) value = std::fabs(value - summary.median);
    std::sort(values.begin(), values.end());
    summary.absolute_deviation = quantile(values, 0.5);
    return summary;
}

} // namespace collpress
