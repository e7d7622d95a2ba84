// The largest absolute error, and the largest error relative to an expected value that is not 0.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <limits>

namespace {

class MaxError {
  public:
    static constexpr collpress_metric_value values[] = {{"absolute", "data"}, {"relative", "1"}};

    explicit MaxError(const collpress_metric_config &config) : count_(config.count) {}

    void add(const double *expected, const double *got, std::size_t count) {
        double absolute = absolute_;
        double relative = relative_;
        for (std::size_t i = 0; i < count; ++i) {
            const double error = std::fabs(got[i] - expected[i]);
            const double ratio = error / std::fabs(expected[i]); // infinite or NaN where the value is 0
            absolute = absolute < error ? error : absolute;
            relative = expected[i] != 0 && relative < ratio ? ratio : relative;
        }
        absolute_ = absolute;
        relative_ = relative;
    }

    const char *finish(double *result) {
        constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
        result[0] = count_ != 0 ? absolute_ : undefined;
        result[1] = relative_ >= 0 ? relative_ : undefined;
        if (count_ == 0) return collpress::metrics::no_values;
        return relative_ >= 0 ? nullptr : "every expected value is 0";
    }

  private:
    std::uint64_t count_;
    double absolute_ = 0;
    double relative_ = -1; // none yet
};

} // namespace

COLLPRESS_METRIC_PLUGIN(MaxError, "largest absolute and largest relative error")
