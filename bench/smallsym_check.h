/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_check.h - what the checks of small symmetric systems share: their tolerance and the
 * sample of systems that is checked.
 */
#ifndef BENCH_SMALLSYM_CHECK_H
#define BENCH_SMALLSYM_CHECK_H

#include "bench/smallsym.h"

#include "bench/numbers.h"

static const int64_t MAX_NUMBERS = (int64_t)1 << 26;

static inline double bench_get(const bench_symmetric *v, const void *array, int64_t at) {
    return bench_number(v->type, array, at);
}

static inline double unit_of(const bench_symmetric *v) { return bench_epsilon(v->type); }

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

/* The same as for A x = b, where A and b are those of samples (smallsym_gram.c). */
bench_finding bench_look_at_samples(const bench_symmetric *v, int64_t k, int64_t c);
double bench_truncated_samples(const bench_symmetric *v, int64_t k, int64_t c);

/* Checks a sample of systems; `products` is the number of products per system. */
void bench_check_systems(const bench_symmetric *v, const bench_reported *reported, double products,
                         int threads, const char *error_name,
                         bench_finding (*look)(const void *of, int64_t k), const void *of,
                         bench_check *check);

/* "status has a value ..." or NULL. */
const char *bench_status_fault(int32_t status);
/* The largest sum of |A(i,j)| over a row of system k. */
double bench_symmetric_norm(const bench_symmetric *v, int64_t k);

#endif
