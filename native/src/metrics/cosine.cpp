// Cosine of the angle between the expected and the other values as vectors. Undefined where one of them is zero.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <algorithm>
#include <limits>

namespace {

using namespace collpress::metrics;

class Cosine {
  public:
    static constexpr collpress_metric_value values[] = {{"cosine", "1"}};

    // The scale is a power of two near the largest value: it keeps squares in range and changes no digit.
    explicit Cosine(const collpress_metric_config &config)
        : scale_(power_of_two(std::max(std::fabs(config.minimum), std::fabs(config.maximum)))),
          count_(static_cast<double>(config.count)) {}

    void add(const double *expected, const double *got, std::size_t count) {
        const double scale = scale_;
        product_.add(pairwise_sum(0, count, [=](std::size_t i) { return (expected[i] / scale) * (got[i] / scale); }));
        expected_.add(pairwise_sum(0, count, [=](std::size_t i) { return square(expected[i] / scale); }));
        got_.add(pairwise_sum(0, count, [=](std::size_t i) { return square(got[i] / scale); }));
    }

    const char *finish(double *result) {
        const double lengths = std::sqrt(expected_.value()) * std::sqrt(got_.value());
        const bool defined = lengths > 0 && std::isfinite(lengths);
        *result = std::numeric_limits<double>::quiet_NaN();
        if (defined) *result = std::clamp(product_.value() / lengths, -1.0, 1.0);
        if (count_ == 0) return no_values;
        if (defined) return nullptr;
        return lengths > 0 ? "the values that came out are too large beside the expected ones"
                           : "all expected values, or all values that came out, are 0";
    }

  private:
    static double square(double x) { return x * x; }
    static double power_of_two(double x) { return x > 0 ? std::ldexp(1.0, std::ilogb(x)) : 1; }

    double scale_;
    double count_;
    Total product_;
    Total expected_;
    Total got_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Cosine, "cosine similarity")
