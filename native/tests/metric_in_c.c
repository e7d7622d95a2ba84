/* A metric written in C, for the smallest case: what it was told, and what it saw. Cannot be had for a single pair, and
 * leaves its last value undefined. */
#include "collpress/metric.h"

#include <math.h>
#include <stdlib.h>

static const collpress_metric_value values[] = {{"count", "1"},    {"minimum", "data"}, {"maximum", "data"},
                                                {"bound", "data"}, {"pairs", "1"},      {"mean_error", "data"},
                                                {"row", "1"},      {"plane", "1"},      {"never", "1"}};

typedef struct seen {
    collpress_metric_config told;
    double pairs;
    double errors;
} seen;

static void *create(const collpress_metric_config *config) {
    seen *context = config->count == 1 ? NULL : calloc(1, sizeof *context);
    if (context != NULL) context->told = *config;
    return context;
}

static void destroy(void *context) { free(context); }

static void add(void *context, const double *expected, const double *got, size_t count) {
    seen *me = context;
    for (size_t i = 0; i < count; ++i) me->errors += got[i] - expected[i];
    me->pairs += (double)count;
}

static const char *finish(void *context, double *result) {
    const seen *me = context;
    result[0] = (double)me->told.count;
    result[1] = me->told.minimum;
    result[2] = me->told.maximum;
    result[3] = me->told.abs_bound;
    result[4] = me->pairs;
    result[5] = me->errors / me->pairs;
    result[6] = (double)me->told.row;
    result[7] = (double)me->told.plane;
    result[8] = NAN;
    return NULL;
}

static const collpress_metric interface = {9, values, create, destroy, add, finish};
static const collpress_plugin_t plugin = {COLLPRESS_ABI_VERSION, COLLPRESS_METRIC, "what it saw", &interface};

const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
