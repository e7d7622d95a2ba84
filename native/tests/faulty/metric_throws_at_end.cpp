// Throws when half of its values are stated.
#include "collpress/metric.hpp"

#include <stdexcept>

namespace {

struct ThrowsAtEnd {
    static constexpr collpress_metric_value values[] = {{"one", "1"}, {"two", "1"}};

    explicit ThrowsAtEnd(const collpress_metric_config &) {}
    void add(const double *, const double *, std::size_t) {}
    const char *finish(double *result) {
        result[0] = 1;
        throw std::domain_error("two is too much");
    }
};

} // namespace

COLLPRESS_METRIC_PLUGIN(ThrowsAtEnd, "throws at its end")
