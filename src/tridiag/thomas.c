/* SPDX-License-Identifier: Apache-2.0
 *
 * thomas.c - Thomas's algorithm on the CPU: Gaussian elimination without pivoting.
 *
 * Forward, equation (10) of the GPU course's section 6:
 *     du'_i = du_i / (d_i - dl_i du'_{i-1}),   y'_i = (y_i - dl_i y'_{i-1}) / (d_i - dl_i du'_{i-1})
 * backward, equation (11):
 *     z_i = y'_i - du'_i z_{i+1}
 *
 * One lane per system. 1 division and 7 other operations per row, n dependent steps each way.
 * Stable for diagonally dominant and for positive definite matrices; a zero pivot fails.
 *
 * The GPU course is the project sheet of a course of L. Abbas-Turki, "Projects: Merge Sort, Monte
 * Carlo and PDE simulations", December 2024, unpublished course notes.
 */
#include "tridiag/pack.h"

PACK_INLINE void eliminate(const pack *p, const int lanes) {
    real *upper = p->scratch[0], *y = p->x;
    real last_upper[LANES], last_y[LANES];
    EACH_LANE(l, lanes) last_upper[l] = last_y[l] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const real *dl = p->dl + i * lanes, *d = p->d + i * lanes;
        const real *du = p->du + i * lanes, *b = p->b + i * lanes;
        EACH_LANE(l, lanes) {
            real inverse = real_over_pivot(1, d[l] - dl[l] * last_upper[l]);
            last_upper[l] = du[l] * inverse;                  /* du'_i */
            last_y[l] = (b[l] - dl[l] * last_y[l]) * inverse; /* y'_i */
            upper[i * lanes + l] = last_upper[l];
            y[i * lanes + l] = last_y[l];
        }
    }
    for (int64_t i = p->n - 2; i >= 0; i--) {
        const real *next = y + (i + 1) * lanes;
        EACH_LANE(l, lanes) y[i * lanes + l] -= upper[i * lanes + l] * next[l]; /* z_i */
    }
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    (void)variant; /* "thread" is the only one here: a lane is the CPU's thread */
    PACK_CALL(p, eliminate, p);
}

const tridiag_cpu_method R(tridiag_thomas) = { .scratch = 1, .solve = solve };
