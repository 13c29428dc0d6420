/* SPDX-License-Identifier: Apache-2.0
 *
 * upper.h - the end of CPU methods that reduce a pack to upper triangular form, lupp.c and qr.c: rows (u, v, w | z)
 * on columns i, i+1, i+2 in scratch arrays 0 to 3.
 */
#ifndef SHOAL_TRIDIAG_UPPER_H
#define SHOAL_TRIDIAG_UPPER_H

#include "tridiag/pack.h"

/* The last row is (p | y). */
PACK_INLINE void back_substitute(const pack *s, const real *p, const real *y, const int lanes) {
    const real *v = s->scratch[1], *w = s->scratch[2], *z = s->scratch[3];
    real *u = s->scratch[0], *x = s->x;
    const int64_t n = s->n;
    real next[LANES], after[LANES]; /* x_{i+1}, x_{i+2} */
    EACH_LANE(l, lanes) {
        u[(n - 1) * lanes + l] = p[l];
        next[l] = x[(n - 1) * lanes + l] = real_over_pivot(y[l], p[l]);
        after[l] = 0;
    }
    for (int64_t i = n - 2; i >= 0; i--) EACH_LANE(l, lanes) {
            int64_t at = i * lanes + l;
            real xi = real_over_pivot(z[at] - v[at] * next[l] - w[at] * after[l], u[at]);
            after[l] = next[l];
            next[l] = x[at] = xi;
        }
}

/* Singular if a pivot is exactly zero; otherwise the numbers grew too large. */
static int32_t upper_failure(const void *packed, int lane) {
    const pack *p = packed;
    const real *u = p->scratch[0];
    for (int64_t i = 0; i < p->n; i++)
        if (u[i * p->lanes + lane] == 0) return SHOAL_SYSTEM_SINGULAR;
    return SHOAL_SYSTEM_OVERFLOW;
}

#endif
