// Root mean square error over the value range of the expected values.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <limits>

namespace {

class Nrmse {
  public:
    static constexpr collpress_metric_value values[] = {{"nrmse", "1"}};

    explicit Nrmse(const collpress_metric_config &config) : squares_(config) {}

    void add(const double *expected, const double *got, std::size_t count) { squares_.add(expected, got, count); }

    const char *finish(double *result) {
        const char *problem = squares_.problem();
        *result = problem == nullptr ? std::sqrt(squares_.mean()) : std::numeric_limits<double>::quiet_NaN();
        return problem;
    }

  private:
    collpress::metrics::ScaledSquares squares_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Nrmse, "root mean square error over the value range")
