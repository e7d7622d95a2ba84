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
     * between two ranks match in the order posted. A rank never sends to itself. */
    collpress_request (*send)(void *self, const void *buffer, size_t bytes, int32_t to);
    collpress_request (*receive)(void *self, void *buffer, size_t capacity, int32_t from);
    /* Complete a request; returns the bytes that moved. */
    size_t (*wait)(void *self, collpress_request request);
    /* inout[i] = inout[i] OP in[i], with the operation and dtype of the call; every operation is commutative. */
    void (*reduce)(void *self, void *inout, const void *in, size_t count);
    void (*copy)(void *self, void *to, const void *from, size_t bytes);
    /* Page-aligned memory that lives until the algorithm returns; allocated on the first call, reused afterwards. */
    void *(*scratch)(void *self, size_t bytes);
    /* Only for algorithms that compress. capacity(count) bounds the stream; compress returns the stream's length. */
    size_t (*capacity)(void *self, size_t count);
    size_t (*compress)(void *self, const void *in, size_t count, void *out, size_t capacity);
    void (*decompress)(void *self, const void *in, size_t bytes, void *out, size_t count);
    /* inout[i] = inout[i] OP what decompress() would give: in one pass where the codec has one for this operation. */
    void (*accumulate)(void *self, const void *in, size_t bytes, void *inout, size_t count);
    /* Only for algorithms that need it. The stream of the sum of two streams of `count` values; returns its length. */
    size_t (*add)(void *self, const void *a, size_t a_bytes, const void *b, size_t b_bytes, size_t count, void *out,
                  size_t capacity);
    /* Marks the beginning of the algorithm's next communication step (for schedules; free when nobody records). */
    void (*step)(void *self);
    /* The machine that a rank runs on: 0, 1, ... in the order of their first ranks. */
    int32_t (*node)(void *self, int32_t rank);
    /* Scopes that nest; see tag.h. */
    void (*tag_begin)(void *self, const char *name);
    void (*tag_end)(void *self);
} collpress_p2p;

/* One call of a collective on p ranks. Each buffer is contiguous; a block of `count` elements at position i starts at
 * element i * count. The buffers that are not named are null.
 *
 *   allreduce       send, recv: count                      every rank gets the reduction
 *   reduce          send: count; recv: count at root       root gets the reduction
 *   reduce_scatter  send: count; recv: its block           rank r gets block r of the reduction; blocks as Blocks of
 *                                                          p2p.hpp: the first count % p have one element more
 *   allgather       send: count; recv: p * count           block r is what rank r sent
 *   allgatherv      send: counts[r]; recv: sum of counts   the same with blocks of counts[r] elements, packed
 *   gather          send: count; recv: p * count at root   root gets block r from rank r
 *   scatter         send: p * count at root; recv: count   rank r gets block r of root
 *   alltoall        send, recv: p * count                  block r of rank s becomes block s of rank r
 *   alltoallv       send: sum of row r; recv: of column r  from rank s to rank d go counts[s * p + d] elements, packed
 *   bcast           recv: count                            at root it holds what every rank gets
 *   barrier         none; count is 0                       no rank returns before all have called
 *   pingpong        send, recv: count                      rank 0 and rank p - 1 swap vectors: 0 sends first; idle else
 *
 * In place: send is null, and the rank's own contribution lies in recv: allreduce, reduce (at root) and reduce_scatter:
 * from its beginning on, the whole vector, which the result replaces (reduce_scatter: its first elements); allgather(v)
 * and gather (at root): in the rank's own block; alltoall: all blocks. In a reduction, ranks that are not root send as
 * usual; nor do scatter, bcast, barrier, alltoallv and pingpong know any other way. */
typedef struct collpress_call {
    const void *send;
    void *recv;
    size_t count;
    uint32_t dtype;
    uint32_t op;
    int32_t root;         /* 0 where the collective has none */
    const size_t *counts; /* of allgatherv and alltoallv, else null */
    size_t
        segment_elements; /* 0: the algorithm's own choice; else at most so many in one message, before compression */
    int32_t fanout;       /* 0: the algorithm's own choice; else children, groups or the radix, as it says */
} collpress_call;

typedef double (*collpress_worst_error)(const void *codec_context, double max_abs);

typedef struct collpress_algorithm {
    const char *collective; /* "allreduce", ...: a name of the table above */
    uint32_t compresses;    /* 1: uses capacity / compress / decompress / accumulate */
    uint32_t min_ranks;
    uint32_t power_of_two_ranks;   /* 1: only for power-of-two sizes */
    uint32_t count_at_least_ranks; /* 1: only for count >= ranks */
    void (*run)(const collpress_p2p *p2p, const collpress_call *call);
    /* Largest |result - exact| caused by the codec when every rank's values are finite with |x| <= max_abs; grows with
     * what worst_error gives. NULL for algorithms that do not compress. The rounding of the plain sum is not part of
     * it. */
    double (*error_bound)(int32_t ranks, uint32_t op, double max_abs, collpress_worst_error worst_error,
                          const void *codec_context);
    uint32_t in_place;     /* 1: takes calls in place */
    uint32_t segments;     /* 1: heeds segment_elements */
    uint32_t least_fanout; /* 0: knows no fan-out; else the smallest that it takes */
    uint32_t needs_add;    /* 1: uses add, so it takes sums only, and codecs that add streams */
} collpress_algorithm;

#ifdef __cplusplus
}
#endif
#endif
