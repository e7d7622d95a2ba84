/* The one symbol that every plugin exports, and the words that all plugins share.
 *
 * A plugin is a shared object; its file's stem is its name. It exports `collpress_plugin`, which says what kind of
 * plugin it is and points to that kind's interface (codec.h, algorithm.h, metric.h). Plugins keep no mutable globals:
 * all state lives in contexts that the caller owns, so that threads, and the many simulated ranks of one process, can
 * share one plugin.
 */
#ifndef COLLPRESS_PLUGIN_H
#define COLLPRESS_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLPRESS_ABI_VERSION 3u

#if defined(_WIN32)
#define COLLPRESS_EXPORT
#else
#define COLLPRESS_EXPORT __attribute__((visibility("default")))
#endif

typedef enum collpress_kind {
    COLLPRESS_CODEC = 1,
    COLLPRESS_ALGORITHM = 2,
    COLLPRESS_METRIC = 3,
} collpress_kind;

typedef enum collpress_dtype {
    COLLPRESS_FLOAT32 = 0,
    COLLPRESS_FLOAT64 = 1,
    COLLPRESS_INT32 = 2,
    COLLPRESS_INT8 = 3,
    COLLPRESS_INT16 = 4,
    COLLPRESS_INT64 = 5,
    COLLPRESS_FLOAT16 = 6,  /* IEEE 754 binary16 */
    COLLPRESS_BFLOAT16 = 7, /* the upper half of a float32 */
} collpress_dtype;

/* Bit of a dtype in a `dtypes` mask. */
#define COLLPRESS_DTYPE_BIT(dtype) (1u << (unsigned)(dtype))

typedef enum collpress_op {
    COLLPRESS_SUM = 0,
    COLLPRESS_MAX = 1,
    COLLPRESS_MIN = 2,
    COLLPRESS_PROD = 3,
} collpress_op;

typedef struct collpress_plugin_t {
    uint32_t abi_version;  /* COLLPRESS_ABI_VERSION of the header it was compiled with */
    uint32_t kind;         /* a collpress_kind */
    const char *summary;   /* one line for people */
    const void *interface; /* const collpress_codec*, collpress_algorithm* or collpress_metric*, by kind */
} collpress_plugin_t;

/* Never null; points to static storage. */
COLLPRESS_EXPORT const collpress_plugin_t *collpress_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
