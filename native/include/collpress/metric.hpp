// A metric as a C++ class:
//
//     class Mae {
//       public:
//         static constexpr collpress_metric_value values[] = {{"mae", "data"}};
//         explicit Mae(const collpress_metric_config &config);
//         void add(const double *expected, const double *got, std::size_t count);
//         const char *finish(double *values); // NaN: undefined; returns why, or nullptr
//     };
//     COLLPRESS_METRIC_PLUGIN(Mae, "mean absolute error")
//
// Whatever its functions throw, the core catches: the values are then missing, and the exception's words are told.
#pragma once

#include "collpress/metric.h"

#include <cstddef>
#include <iterator>

namespace collpress {

template <typename Metric>
inline constexpr collpress_metric metric_of = {
    static_cast<std::uint32_t>(std::size(Metric::values)),
    Metric::values,
    [](const collpress_metric_config *config) -> void * { return new Metric(*config); },
    [](void *context) { delete static_cast<Metric *>(context); },
    [](void *context, const double *expected, const double *got, std::size_t count) {
        static_cast<Metric *>(context)->add(expected, got, count);
    },
    [](void *context, double *values) { return static_cast<Metric *>(context)->finish(values); },
};

} // namespace collpress

#define COLLPRESS_METRIC_PLUGIN(Metric, summary)                                                                       \
    static constexpr collpress_plugin_t collpress_plugin_ = {COLLPRESS_ABI_VERSION, COLLPRESS_METRIC, summary,         \
                                                             &collpress::metric_of<Metric>};                           \
    extern "C" const collpress_plugin_t *collpress_plugin(void) { return &collpress_plugin_; }
