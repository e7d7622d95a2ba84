// How the signed errors (got - expected) lie inside their bound: counts in 40 equally wide bins over [-bound, bound],
// and of what lies below and above. The last bin holds its upper edge. Undefined where no bound is known.
#include "sums.hpp"

#include "collpress/metric.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace {

constexpr std::size_t bins = 40;

class ErrorHistogram {
  public:
    static constexpr collpress_metric_value values[] = {
        {"below", "1"}, {"b00", "1"}, {"b01", "1"}, {"b02", "1"}, {"b03", "1"}, {"b04", "1"}, {"b05", "1"},
        {"b06", "1"},   {"b07", "1"}, {"b08", "1"}, {"b09", "1"}, {"b10", "1"}, {"b11", "1"}, {"b12", "1"},
        {"b13", "1"},   {"b14", "1"}, {"b15", "1"}, {"b16", "1"}, {"b17", "1"}, {"b18", "1"}, {"b19", "1"},
        {"b20", "1"},   {"b21", "1"}, {"b22", "1"}, {"b23", "1"}, {"b24", "1"}, {"b25", "1"}, {"b26", "1"},
        {"b27", "1"},   {"b28", "1"}, {"b29", "1"}, {"b30", "1"}, {"b31", "1"}, {"b32", "1"}, {"b33", "1"},
        {"b34", "1"},   {"b35", "1"}, {"b36", "1"}, {"b37", "1"}, {"b38", "1"}, {"b39", "1"}, {"above", "1"}};

    explicit ErrorHistogram(const collpress_metric_config &config) : bound_(config.abs_bound), count_(config.count) {}

    void add(const double *expected, const double *got, std::size_t count) {
        if (!(bound_ > 0)) return;
        for (std::size_t i = 0; i < count; ++i) ++tally_[place(got[i] - expected[i])];
    }

    const char *finish(double *result) {
        const bool defined = bound_ > 0 && count_ != 0;
        for (std::size_t i = 0; i < tally_.size(); ++i) {
            result[i] = defined ? static_cast<double>(tally_[i]) : std::numeric_limits<double>::quiet_NaN();
        }
        if (count_ == 0) return collpress::metrics::no_values;
        return bound_ > 0 ? nullptr : "no bound above 0 is known";
    }

  private:
    // Position among `values`. Errors are compared with the bound itself: a quotient may round to it.
    std::size_t place(double error) const {
        if (error < -bound_) return 0;
        if (error > bound_) return bins + 1;
        const double position = (error / bound_ + 1) * (bins / 2.0);
        return 1 + std::min(static_cast<std::size_t>(position), bins - 1);
    }

    double bound_;
    std::uint64_t count_;
    std::array<std::uint64_t, bins + 2> tally_{};
};

} // namespace

COLLPRESS_METRIC_PLUGIN(ErrorHistogram, "errors over their bound, in bins")
