// States a value whose name could not be part of a variable's.
#include "collpress/metric.hpp"

namespace {

struct Misnamed {
    static constexpr collpress_metric_value values[] = {{"good", "1"}, {"Largest error", "1"}};

    explicit Misnamed(const collpress_metric_config &) {}
    void add(const double *, const double *, std::size_t) {}
    const char *finish(double *) { return nullptr; }
};

} // namespace

COLLPRESS_METRIC_PLUGIN(Misnamed, "has a bad name")
