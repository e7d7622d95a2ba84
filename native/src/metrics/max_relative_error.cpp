// The point-wise relative error |got - expected| / |expected|, as it is bounded by Liang et al. (An Efficient
// Transformation Scheme for Lossy Data Compression with Point-wise Relative Error Bound, IEEE CLUSTER 2018): its
// largest value and its mean over all pairs whose expected value is not 0. Zeros have no relative error; they are
// counted, and so are those of them that did not come out as 0, which no finite relative bound allows.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <limits>

namespace {

using namespace collpress::metrics;

class MaxRelativeError {
  public:
    static constexpr collpress_metric_value values[] = {
        {"largest", "1"}, {"mean", "1"}, {"zeros", "1"}, {"zeros_missed", "1"}};

    explicit MaxRelativeError(const collpress_metric_config &config) : count_(config.count) {}

    void add(const double *expected, const double *got, std::size_t count) {
        std::uint64_t zeros = 0;
        std::uint64_t missed = 0;
        for (std::size_t i = 0; i < count; ++i) {
            zeros += expected[i] == 0 ? 1 : 0;
            missed += expected[i] == 0 && got[i] != 0 ? 1 : 0;
            const double ratio = relative(expected[i], got[i]);
            largest_ = largest_ < ratio ? ratio : largest_;
        }
        total_.add(pairwise_sum(0, count, [=](std::size_t i) { return relative(expected[i], got[i]); }));
        zeros_ += zeros;
        missed_ += missed;
    }

    const char *finish(double *result) {
        constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
        const std::uint64_t others = count_ - zeros_;
        result[0] = others != 0 ? largest_ : undefined;
        result[1] = others != 0 ? total_.value() / static_cast<double>(others) : undefined;
        result[2] = count_ != 0 ? static_cast<double>(zeros_) : undefined;
        result[3] = count_ != 0 ? static_cast<double>(missed_) : undefined;
        if (count_ == 0) return no_values;
        if (others == 0) return "every expected value is 0";
        return std::isfinite(result[0]) && std::isfinite(result[1])
                   ? nullptr
                   : "an error is too large beside its expected value to be divided by it";
    }

  private:
    static double relative(double expected, double got) {
        return expected != 0 ? std::fabs(got - expected) / std::fabs(expected) : 0;
    }

    std::uint64_t count_;
    std::uint64_t zeros_ = 0;
    std::uint64_t missed_ = 0;
    double largest_ = 0;
    Total total_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(MaxRelativeError, "largest and mean point-wise relative error; zeros apart")
