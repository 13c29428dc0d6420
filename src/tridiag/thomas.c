/* SPDX-License-Identifier: Apache-2.0
 *
 * thomas.c - Thomas's algorithm on the CPU: Gaussian elimination without pivoting.
 *
 * Forward, equation (10) of the GPU course's section 6:
 *     c'_i = c_i / (b_i - a_i c'_{i-1}),   y'_i = (y_i - a_i y'_{i-1}) / (b_i - a_i c'_{i-1})
 * backward, equation (11):
 *     z_i = y'_i - c'_i z_{i+1}
 *
 * One lane a system. 1 division and 7 other operations a row, n dependent steps each way.
 * Stable for diagonally dominant and for positive definite matrices; a zero pivot fails.
 *
 * The GPU course is the project sheet of a course of L. Abbas-Turki, "Projects: Merge Sort, Monte
 * Carlo and PDE simulations", December 2024, unpublished course notes.
 */
#include "tridiag/pack.h"

PACK_INLINE void eliminate(const pack *p, const int lanes) {
    real *cp = p->scratch[0], *y = p->x;
    real last_c[LANES], last_y[LANES];
    EACH_LANE(l, lanes) last_c[l] = last_y[l] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const real *a = p->a + i * lanes, *b = p->b + i * lanes;
        const real *c = p->c + i * lanes, *d = p->d + i * lanes;
        EACH_LANE(l, lanes) {
            real inverse = real_over_pivot(1, b[l] - a[l] * last_c[l]);
            last_c[l] = c[l] * inverse;                      /* c'_i */
            last_y[l] = (d[l] - a[l] * last_y[l]) * inverse; /* y'_i */
            cp[i * lanes + l] = last_c[l];
            y[i * lanes + l] = last_y[l];
        }
    }
    for (int64_t i = p->n - 2; i >= 0; i--) {
        const real *next = y + (i + 1) * lanes;
        EACH_LANE(l, lanes) y[i * lanes + l] -= cp[i * lanes + l] * next[l]; /* z_i */
    }
}

static void solve(void *packed, int variant) {
    const pack *p = packed;
    (void)variant; /* "thread" is the only one here: a lane is the CPU's thread */
    if (p->lanes == 1)
        eliminate(p, 1);
    else
        eliminate(p, LANES);
}

const tridiag_cpu_method R(tridiag_thomas) = { .scratch = 1, .solve = solve };
