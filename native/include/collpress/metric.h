/* A measure of fidelity: what it makes of pairs of an exact value and the value that came out instead.
 *
 * A metric sees all pairs of one message or one result, in order, in chunks of any length, finite values only. It keeps
 * what it needs in its context, and at the end states one or more values, each with a name and a unit. C++ authors use
 * metric.hpp.
 */
#ifndef COLLPRESS_METRIC_H
#define COLLPRESS_METRIC_H

#include "collpress/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known before the first pair comes. */
typedef struct collpress_metric_config {
    uint64_t count;   /* pairs that will come */
    double minimum;   /* of the finite expected values; NaN where there are none */
    double maximum;   /* so that maximum - minimum is the value range of the reference */
    double abs_bound; /* what |got - expected| may be; 0: exact; NaN where nothing is known */
    /* Elements of a row and of a plane of the array that the pairs are a contiguous piece of, in C order, axes of
     * length 1 not counted; it may begin anywhere in the array. 0 where there is no such axis, where nothing is known,
     * and where pairs were left out, so that those that come no longer lie as in the array. */
    uint64_t row;
    uint64_t plane;
} collpress_metric_config;

typedef struct collpress_metric_value {
    const char *name; /* [a-z][a-z0-9_]*, unique in its metric */
    const char *unit; /* one word: "dB", "1" for a pure number, "data" for the unit of the data, ... */
} collpress_metric_value;

typedef struct collpress_metric {
    uint32_t value_count; /* at least 1 */
    const collpress_metric_value *values;
    /* Context for one message or result, or NULL when it cannot be had. One thread uses a context at a time. */
    void *(*create)(const collpress_metric_config *config);
    void (*destroy)(void *context);
    /* The next `count` pairs. */
    void (*add)(void *context, const double *expected, const double *got, size_t count);
    /* After the last pair: fills value_count values, NaN where one is undefined for these data. Returns why one is, as
     * a text that lives as long as the context, or NULL. */
    const char *(*finish)(void *context, double *values);
} collpress_metric;

#ifdef __cplusplus
}
#endif
#endif
