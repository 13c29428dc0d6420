/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_check.h - what the checks of small symmetric systems share: their tolerance, the sample of
 * systems that is looked at, and what is counted.
 */
#ifndef BENCH_SMALLSYM_CHECK_H
#define BENCH_SMALLSYM_CHECK_H

#include "bench/smallsym.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "bench/twice.h"

static const int64_t MAX_NUMBERS = (int64_t)1 << 26;

static inline double bench_get(const bench_symmetric *v, const void *array, int64_t at) {
    return v->type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static inline double unit_of(const bench_symmetric *v) {
    return v->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}

/* What a solver may leave of A x = b. */
static inline double solver_tolerance_of(const bench_symmetric *v) {
    return 10 * (double)(v->n > 0 ? v->n : 1) * unit_of(v);
}

/* Of regressions, A and b themselves may be off by so many units of roundoff of the sums of sizes. */
enum { BENCH_SUM_UNITS = 70 };

static inline double tolerance_of(const bench_symmetric *v) {
    return solver_tolerance_of(v) + (v->samples ? BENCH_SUM_UNITS * unit_of(v) : 0);
}

/* Number i of psi(m), and y(m) of right-hand side c, of system k. */
static inline double bench_psi(const bench_symmetric *v, int64_t k, int64_t m, int64_t i) {
    return bench_get(v, v->A, k * v->system + (m * v->n + i) * v->entry);
}

static inline double bench_y(const bench_symmetric *v, int64_t k, int64_t m, int64_t c) {
    return bench_get(v, v->b, k * v->y_system + m * v->y_row + c * v->b_rhs);
}

typedef struct bench_finding { /* about one column, or about the worst of a system */
    double residual;           /* NaN: x or the input is not finite               */
    bool all_nan;              /* x is NaN throughout, in one column at least     */
} bench_finding;

/* The same as for A x = b, where A and b are those of samples (smallsym_gram.c). */
bench_finding bench_look_at_samples(const bench_symmetric *v, int64_t k, int64_t c);
double bench_truncated_samples(const bench_symmetric *v, int64_t k, int64_t c);

/* Systems that are looked at where each costs so many products: every *stride-th. */
static inline int64_t looks_of(const bench_symmetric *v, double products, int64_t *stride) {
    const double affordable = fmax((double)MAX_NUMBERS / fmax(products, 1), 2);
    *stride = (int64_t)ceil((double)v->count / affordable);
    *stride = *stride > 1 ? *stride | 1 : 1;
    return v->count > 0 ? (v->count - 1 + *stride - 1) / *stride + 1 : 0;
}

static inline int64_t system_of(const bench_symmetric *v, int64_t look, int64_t stride) {
    return look * stride < v->count ? look * stride : v->count - 1;
}

/* The statuses of all systems, whether they are looked at or not. */
static inline void count_statuses(const bench_symmetric *v, const bench_word *word, int64_t *failed,
                                  int64_t *warned) {
    for (int64_t k = 0; word->status && k < v->count; k++) {
        *failed += word->status[k] < 0;
        *warned += word->status[k] > 0;
    }
}

/* What does not pass, but is not wrong. */
static inline void explain_owned(int64_t inaccurate, bench_check *check) {
    if (check->failed > 0)
        snprintf(check->why, sizeof check->why, "%lld failed", (long long)check->failed);
    else
        snprintf(check->why, sizeof check->why, "%lld inaccurate, as their status says",
                 (long long)inaccurate);
}

#endif
