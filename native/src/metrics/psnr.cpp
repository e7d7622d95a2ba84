// Peak signal-to-noise ratio: 10 log10(range^2 / mean square error), the peak being the value range of the expected
// values. Undefined where every value is exact (it would be infinite) and where the expected values have no range.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <limits>

namespace {

class Psnr {
  public:
    static constexpr collpress_metric_value values[] = {{"psnr", "dB"}};

    explicit Psnr(const collpress_metric_config &config) : squares_(config) {}

    void add(const double *expected, const double *got, std::size_t count) { squares_.add(expected, got, count); }

    const char *finish(double *result) {
        const double mean = squares_.mean();
        *result = mean > 0 ? -10 * std::log10(mean) : std::numeric_limits<double>::quiet_NaN();
        if (squares_.problem() != nullptr) {
            *result = std::numeric_limits<double>::quiet_NaN();
            return squares_.problem();
        }
        return mean == 0 ? "every value is exact: the ratio is infinite" : nullptr;
    }

  private:
    collpress::metrics::ScaledSquares squares_;
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Psnr, "peak signal-to-noise ratio; the peak is the value range")
