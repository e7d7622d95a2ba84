// Throws what is no exception before it sees anything, and would again at its end.
#include "collpress/metric.hpp"

static constexpr collpress_metric_value values[] = {{"one", "1"}};
static void *create(const collpress_metric_config *) { throw 42; }
static void destroy(void *) { throw 43; }
static void add(void *, const double *, const double *, std::size_t) {}
static const char *finish(void *, double *) { return nullptr; }

static constexpr collpress_metric interface_ = {1, values, create, destroy, add, finish};
static constexpr collpress_plugin_t plugin_ = {COLLPRESS_ABI_VERSION, COLLPRESS_METRIC, "throws a number", &interface_};
extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin_; }
