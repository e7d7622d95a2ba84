/* An algorithm of a collective operation, written once on the point-to-point interface below.
 *
 * Whoever calls it decides what is behind the interface: MPI, or a recorder that notes the schedule. An algorithm looks
 * at counts and ranks, never at data, so what the recorder saw is the schedule for all data. C++ authors use p2p.hpp.
 */
#ifndef COLLPRESS_ALGORITHM_H
#define COLLPRESS_ALGORITHM_H

#include "collpress/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t collpress_request;

/* Errors (a codec that refuses, a transport that fails) are kept by the implementation behind `self` and reported after
 * the call; no function here fails, and an algorithm needs no error paths. */
typedef struct collpress_p2p {
    void *self;
    int32_t rank;
    int32_t size;
    uint32_t element_bytes;
    /* Start sending / receiving. At most one message is in flight per (peer, direction, order of posting): messages
     * between two ranks match in the order posted. */
    collpress_request (*send)(void *self, const void *buffer, size_t bytes, int32_t to);
    collpress_request (*receive)(void *self, void *buffer, size_t capacity, int32_t from);
    /* Complete a request; returns the bytes that moved. */
    size_t (*wait)(void *self, collpress_request request);
    /* inout[i] = inout[i] OP in[i], with the operation and dtype of the call. */
    void (*reduce)(void *self, void *inout, const void *in, size_t count);
    void (*copy)(void *self, void *to, const void *from, size_t bytes);
    /* Page-aligned memory that lives until the algorithm returns; allocated on the first call, reused afterwards. */
    void *(*scratch)(void *self, size_t bytes);
    /* Only for algorithms that compress. capacity(count) bounds the stream; compress returns the stream's length. */
    size_t (*capacity)(void *self, size_t count);
    size_t (*compress)(void *self, const void *in, size_t count, void *out, size_t capacity);
    void (*decompress)(void *self, const void *in, size_t bytes, void *out, size_t count);
    /* Marks the beginning of the algorithm's next communication step (for schedules; free when nobody records). */
    void (*step)(void *self);
} collpress_p2p;

/* One call of the collective. allreduce: send and recv hold `count` elements each; never the same memory. */
typedef struct collpress_call {
    const void *send;
    void *recv;
    size_t count;
    uint32_t dtype;
    uint32_t op;
} collpress_call;

typedef double (*collpress_worst_error)(const void *codec_context, double max_abs);

typedef struct collpress_algorithm {
    const char *collective; /* "allreduce" */
    uint32_t compresses;    /* 1: uses capacity / compress / decompress */
    uint32_t min_ranks;
    uint32_t power_of_two_ranks;   /* 1: only for power-of-two sizes */
    uint32_t count_at_least_ranks; /* 1: only for count >= ranks */
    void (*run)(const collpress_p2p *p2p, const collpress_call *call);
    /* Largest |result - exact| caused by the codec when every rank's values are finite with |x| <= max_abs.
     * NULL for algorithms that do not compress. The rounding of the plain sum is not part of it. */
    double (*error_bound)(int32_t ranks, uint32_t op, double max_abs, collpress_worst_error worst_error,
                          const void *codec_context);
} collpress_algorithm;

#ifdef __cplusplus
}
#endif
#endif
