/* A compressor of one-dimensional arrays of floating-point values (or whatever dtypes it states). */
#ifndef COLLPRESS_CODEC_H
#define COLLPRESS_CODEC_H

#include "collpress/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum collpress_codec_result {
    COLLPRESS_CODEC_OK = 0,
    COLLPRESS_CODEC_UNSUPPORTED = 1,  /* dtype or configuration that the codec does not do */
    COLLPRESS_CODEC_SMALL_BUFFER = 2, /* capacity below what max_bytes() asked for and needed */
    COLLPRESS_CODEC_BAD_STREAM = 3,   /* truncated, damaged or foreign input */
    COLLPRESS_CODEC_BAD_INPUT = 4,    /* values that the codec cannot represent (say so in its docs) */
    COLLPRESS_CODEC_FAILED = 5,       /* the library underneath said no */
} collpress_codec_result;

typedef struct collpress_codec_config {
    uint32_t dtype;   /* collpress_dtype of the values */
    double abs_bound; /* absolute error bound, > 0; 0 for codecs that take none */
} collpress_codec_config;

typedef struct collpress_codec {
    uint32_t dtypes;      /* mask of COLLPRESS_DTYPE_BIT */
    uint32_t takes_bound; /* 1: honours config.abs_bound for every finite value; 0: ignores it */
    uint32_t lossless;    /* 1: every bit comes back */
    /* Context for one configuration, or NULL (with *result set) when it cannot be had. One thread uses a context at a
     * time. */
    void *(*create)(const collpress_codec_config *config, collpress_codec_result *result);
    void (*destroy)(void *context);
    /* Bytes that the stream of any `count` values never exceeds. */
    size_t (*max_bytes)(const void *context, size_t count);
    /* in: count values; out: capacity bytes, any alignment; *out_bytes: the stream's length. */
    collpress_codec_result (*compress)(void *context, const void *in, size_t count, void *out, size_t capacity,
                                       size_t *out_bytes);
    /* in: one whole stream made by a context of equal configuration; out: exactly count values. Never reads past
     * `bytes`. */
    collpress_codec_result (*decompress)(void *context, const void *in, size_t bytes, void *out, size_t count);
    /* Largest possible |x - x'| for finite values with |x| <= max_abs. abs_bound for error-bounded codecs, 0 for
     * lossless ones. */
    double (*worst_error)(const void *context, double max_abs);
} collpress_codec;

#ifdef __cplusplus
}
#endif
#endif
