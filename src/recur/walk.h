/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.h - a stretch of one segment by substitution on the CPU, and what was wrong with it: the
 * part that all CPU methods share. The looks at the numbers are off the chain from row to row,
 * whose latency decides, and cost next to nothing.
 */
#ifndef SHOAL_RECUR_WALK_H
#define SHOAL_RECUR_WALK_H

#include "recur/map.h"

#define WALK_INLINE static inline __attribute__((always_inline))

/* A call with the shape as its last argument, a constant. What runs inside a parallel loop calls by
 * shape there: to the compiler a loop's body is a function of its own, which constants do not reach. */
#define CALL_BY_SHAPE(shape, function, ...)                                                        \
    switch (shape) {                                                                               \
    case 1: function(__VA_ARGS__, 1); break;                                                       \
    case 2: function(__VA_ARGS__, 2); break;                                                       \
    case 3: function(__VA_ARGS__, 3); break;                                                       \
    case 4: function(__VA_ARGS__, 4); break;                                                       \
    default: function(__VA_ARGS__, SHAPE_MOEBIUS);                                                 \
    }

enum { WALK_INPUT = 1, WALK_ANSWER = 2 }; /* not finite: a number of the input, of the answer */

/* Rows begin .. end-1 from state x, which moves on; each row's input is looked at before w, which
 * may lie on top of it, is written. */
WALK_INLINE int walk_rows(const recur_view *v, int64_t begin, int64_t end, recur_state *x,
                          const int shape) {
    real input = 0, answer = 0;
    for (int64_t i = begin; i < end; i++) {
        const real *s = v->s + i * v->s_row, t = v->t[i * v->t_row];
        input += row_poison(s, t, shape);
        const real w = row_step(x, s, t, shape);
        answer = poisoned(answer, w);
        v->w[i * v->w_row] = w;
    }
    return (input != 0 ? WALK_INPUT : 0) | (answer != 0 ? WALK_ANSWER : 0);
}

/* Whether the states before the first row are finite. */
WALK_INLINE int walk_first(const recur_state *x, const int shape) {
    return state_poison(x, shape) != 0 ? WALK_INPUT : 0;
}

/* Notes what went wrong in a part of segment k: a bad input replaces its consequence. Parts
 * of one segment may be noted by several threads, in any order. */
WALK_INLINE void walk_note(const recur_job *job, int64_t k, int bad) {
    int32_t *status = &job->status[k], nothing = 0;
    if (bad & WALK_INPUT)
        __atomic_store_n(status, SHOAL_SYSTEM_NONFINITE, __ATOMIC_RELAXED);
    else if (bad)
        __atomic_compare_exchange_n(status, &nothing, SHOAL_SYSTEM_OVERFLOW, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

/* The whole of segment k. */
WALK_INLINE void walk_shape(const recur_job *job, int64_t k, const int shape) {
    const recur_view v = view_of(job, k);
    recur_state x = first_state(job, k, shape);
    const int bad = walk_first(&x, shape);
    walk_note(job, k, bad | walk_rows(&v, 0, job->n, &x, shape));
}

static inline void walk_segment(const recur_job *job, int64_t k) {
    CALL_BY_SHAPE(job->shape, walk_shape, job, k)
}

#endif
