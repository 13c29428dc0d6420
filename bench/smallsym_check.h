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

static inline double tolerance_of(const bench_symmetric *v) {
    return 10 * (double)(v->n > 0 ? v->n : 1) * unit_of(v);
}

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
