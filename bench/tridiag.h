/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.h - tridiagonal problems on the bench: their data and the check of an answer.
 */
#ifndef BENCH_TRIDIAG_H
#define BENCH_TRIDIAG_H

#include "bench/session.h"

/* The arrays of a problem, LAPACK's names. dl[0] and du[n-1] of every system, which do not exist, contain what
 * the generator writes there: NaN. */
enum { BENCH_DL, BENCH_D, BENCH_DU, BENCH_B, BENCH_X };

/* Where the numbers of an answer lie, in elements: row i, system k, right-hand side j. */
typedef struct bench_view {
    shoal_type type;
    int64_t n, count, nrhs;
    int64_t row, system;             /* of dl, d, du */
    int64_t b_row, b_system, b_rhs;  /* of b and x   */
    const void *dl, *d, *du, *b, *x; /* on the host  */
    bool (*stop)(void); /* NULL, or whether the user ends the run: the check means nothing */
} bench_view;

bench_view bench_view_of(const bench_arrays *data, const void *x);

/* Checks an answer without the library's help. `status` and `residual` are the solver's own, on the
 * host, NULL if it has none. Each right-hand side is judged alone: if the status reports a failure, a
 * column is NaN throughout or right. */
void bench_tridiag_check(const bench_view *view, const int32_t *status, const float *residual,
                         int threads, bench_check *check);

#endif
