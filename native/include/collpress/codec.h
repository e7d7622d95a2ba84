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

/* A setting that a campaign may write behind the codec's name: int4(group=64, rounding=stochastic). */
typedef struct collpress_codec_parameter {
    const char *name;    /* [a-z][a-z0-9_]*, unique in its codec */
    const char *summary; /* one line: what it does, in which unit */
    const char *choices; /* "nearest|stochastic": the value is a word's place among these, from 0; NULL: a number */
    double usual;        /* where the campaign says nothing */
    double least, most;  /* of a number, both allowed */
    uint32_t whole;      /* 1: whole numbers only */
} collpress_codec_parameter;

typedef struct collpress_codec_config {
    uint32_t dtype;   /* collpress_dtype of the values */
    double abs_bound; /* absolute error bound, > 0; 0 for codecs that take none */
    /* A value for each declared parameter, in their order and within their limits; NULL for codecs without any. */
    const double *parameters;
    /* Elements in a row, and in a plane, of the array that messages are contiguous pieces of; a piece begins anywhere.
     * 0: not known. */
    uint64_t row, plane;
    uint32_t rank; /* for codecs that draw random numbers: different ranks draw different ones */
} collpress_codec_config;

/* What only some codecs have; each function may be NULL. */
typedef struct collpress_codec_extras {
    const collpress_codec_parameter *parameters;
    uint32_t parameter_count;
    /* For codecs with a memory (error feedback): a call of the collective begins. The n-th compression of a call goes
     * with the n-th of the calls before. */
    void (*begin)(void *context);
    /* The stream of the sum of two streams' values, without decompressing: what each of them stands for is added as it
     * is, and nothing is rounded again. Both are of `count` values; the result may be added to again. `out` overlaps
     * neither. BAD_INPUT: the sum cannot be had this way. */
    collpress_codec_result (*add)(void *context, const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                                  size_t count, void *out, size_t capacity, size_t *out_bytes);
    /* inout[i] += what decompress() would give: one pass instead of two. */
    collpress_codec_result (*accumulate)(void *context, const void *in, size_t bytes, void *inout, size_t count);
} collpress_codec_extras;

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
    const collpress_codec_extras *extras; /* NULL: none */
} collpress_codec;

#ifdef __cplusplus
}
#endif
#endif
