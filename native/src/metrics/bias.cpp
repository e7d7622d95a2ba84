// Mean signed error (got - expected), also over the value range of the expected values: near 0 where errors cancel.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <limits>

namespace {

using namespace collpress::metrics;

class Bias {
  public:
    static constexpr collpress_metric_value values[] = {{"bias", "data"}, {"bias_over_range", "1"}};

    explicit Bias(const collpress_metric_config &config)
        : range_(value_range(config)), count_(static_cast<double>(config.count)) {}

    void add(const double *expected, const double *got, std::size_t count) {
        total_.add(pairwise_sum(0, count, [=](std::size_t i) { return got[i] - expected[i]; }));
    }

    const char *finish(double *result) {
        result[0] = total_.value() / count_;
        result[1] = range_ > 0 ? result[0] / range_ : std::numeric_limits<double>::quiet_NaN();
        if (count_ == 0) return no_values;
        return range_ > 0 ? nullptr : no_range;
    }

  private:
    double range_;
    double count_;
    Total total_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Bias, "mean signed error, also over the value range")
