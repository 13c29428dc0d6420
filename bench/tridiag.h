/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.h - tridiagonal problems on the bench: their data, the check of an answer, one solver.
 */
#ifndef BENCH_TRIDIAG_H
#define BENCH_TRIDIAG_H

#include "bench/session.h"

/* The data of a problem: a, b, c, d, x. a[0] and c[n-1] of every system, which do not exist, hold what the generator
 * left there: NaN. */
typedef bench_arrays bench_data;

/* BENCH_OK, BENCH_STOPPED or BENCH_ERROR; keeps what is there if it fits the problem. A
 * bench_data, zeroed to begin. */
int bench_data_make(bench_session *s, const bench_problem *p, bench_place *place, void *data);
/* Puts 0 there instead, everywhere: our solvers ignore those entries, peers do not. */
int bench_data_clear_outside(bench_session *s, bench_data *data);
/* True if two problems are solved on the same data. */
bool bench_data_same(const bench_problem *p, const bench_problem *q);

/* Where the numbers of an answer lie, in elements: row i, system k, right-hand side j. */
typedef struct bench_view {
    shoal_type type;
    int64_t n, count, nrhs;
    int64_t row, system;            /* of a, b, c  */
    int64_t d_row, d_system, d_rhs; /* of d and x  */
    const void *a, *b, *c, *d, *x;  /* on the host */
    bool (*stop)(void);             /* NULL, or the user wants to end: the check means nothing */
} bench_view;

bench_view bench_view_of(const bench_data *data, const void *x);

/* Checks an answer without the library's help. `status` and `residual` are the solver's own, on the
 * host, NULL if it has none. Of several right-hand sides each stands for itself: where the status
 * says that there is no answer, a column is NaN throughout or right. */
void bench_tridiag_check(const bench_view *view, const int32_t *status, const float *residual,
                         int threads, bench_check *check);

/* One problem by one of our methods: verified, and timed if `timed`; adds one row, or none if the
 * backend lacks a method that "all" asked for. */
int bench_tridiag_run(bench_session *s, void *data, const bench_problem *p, bool timed);

#endif
