/* SPDX-License-Identifier: Apache-2.0
 *
 * upper.h - the end of CPU methods that reduce a pack to upper triangular form, lupp.c and qr.c: rows (u, v, w | z)
 * on columns i, i+1, i+2. 1 / u, v, the slot of w (condition.h) and z are in scratch arrays 0 to 3.
 *
 * A row that lupp exchanges n times in a row, as that of a value given by a penalty in a convection equation, is
 * rounded n times, and its residual grows like n. A rotation shrinks what it carries: of rows so changed the squares
 * add up to 1, and the residual grows like sqrt(n) at worst.
 */
#ifndef SHOAL_TRIDIAG_UPPER_H
#define SHOAL_TRIDIAG_UPPER_H

#include "tridiag/condition.h"
#include "tridiag/pack.h"

/* x, and each lane's condition. */
PACK_INLINE void back_substitute(const pack *s, const int lanes) {
    const real *inverse = s->scratch[0], *v = s->scratch[1], *slot = s->scratch[2];
    const real *z = s->scratch[3];
    real *x = s->x;
    real next[LANES], after[LANES];                  /* x_{i+1}, x_{i+2} */
    real t_next[LANES], t_after[LANES], most[LANES]; /* of the probe */
    EACH_LANE(l, lanes) next[l] = after[l] = t_next[l] = t_after[l] = most[l] = 0;
    for (int64_t i = s->n - 1; i >= 0; i--) EACH_LANE(l, lanes) {
            const int64_t at = i * lanes + l;
            const real w = slot_entry(slot[at]), growth = slot_growth(slot[at]);
            const real xi = (z[at] - v[at] * next[l] - w * after[l]) * inverse[at];
            const real t = probe_row(inverse[at], v[at], w, growth, t_next[l], t_after[l]);
            after[l] = next[l], next[l] = x[at] = xi;
            t_after[l] = t_next[l], t_next[l] = t;
            most[l] = real_max(real_abs(t), most[l]);
        }
    EACH_LANE(l, lanes) s->condition[l] = condition_of(most[l]);
}

/* Singular if a pivot is zero, or next to it: 1 / u is infinite. Otherwise the numbers grew too large. */
static int32_t upper_failure(const void *packed, int lane) {
    const pack *p = packed;
    const real *inverse = p->scratch[0];
    for (int64_t i = 0; i < p->n; i++)
        if (real_abs(inverse[i * p->lanes + lane]) > REAL_MAX) return SHOAL_SYSTEM_SINGULAR;
    return SHOAL_SYSTEM_OVERFLOW;
}

#endif
