// Mean absolute error.
#include "sums.hpp"

#include "collpress/metric.hpp"

namespace {

using namespace collpress::metrics;

class Mae {
  public:
    static constexpr collpress_metric_value values[] = {{"mae", "data"}};

    explicit Mae(const collpress_metric_config &config) : count_(static_cast<double>(config.count)) {}

    void add(const double *expected, const double *got, std::size_t count) {
        total_.add(pairwise_sum(0, count, [=](std::size_t i) { return std::fabs(got[i] - expected[i]); }));
    }

    const char *finish(double *result) {
        *result = total_.value() / count_;
        return count_ == 0 ? no_values : nullptr;
    }

  private:
    double count_;
    Total total_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Mae, "mean absolute error")
