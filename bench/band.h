/* SPDX-License-Identifier: Apache-2.0
 *
 * band.h - pentadiagonal and complex systems on the bench: their data, the check of an answer, the peers.
 */
#ifndef BENCH_BAND_H
#define BENCH_BAND_H

#include <shoal/band.h>

#include "bench/session.h"

enum {
    BENCH_BAND_D = 2,
    BENCH_BAND_B = 5,
    BENCH_BAND_X,
    BENCH_BAND_ARRAYS
}; /* five diagonals first */

/* Of bench_problem.form: pentadiagonal; complex tridiagonal; complex pentadiagonal. */
enum { BENCH_PENTA, BENCH_CTRIDIAG, BENCH_CPENTA };

static inline int bench_band_parts(const bench_problem *p) {
    return p->form == BENCH_PENTA ? 1 : 2;
}
static inline int bench_band_width(const bench_problem *p) {
    return p->form == BENCH_CTRIDIAG ? 1 : 2;
}

/* Checks x on the host, as `data` lays it out, without the library's help. `status` and `residual` are the solver's
 * own, NULL if it has none. */
void bench_band_check(const bench_session *s, const bench_arrays *data, const void *x,
                      const int32_t *status, const float *residual, bench_check *check);

/* A row for each function of the peer that fits the data. BENCH_OK, BENCH_STOPPED or BENCH_ERROR. */
int bench_band_lapack(bench_session *s, bench_arrays *data);
int bench_band_cusparse(bench_session *s, bench_arrays *data);

#endif
