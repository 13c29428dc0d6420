/* SPDX-License-Identifier: Apache-2.0
 *
 * residual.h - how good an answer is: the normwise backward error in the maximum norm,
 *
 *     |d - A x| / (|A| |x| + |d|),
 *
 * the size of the smallest relative change of A and d for which x would be exact. Divided by |x|
 * first where |x| is large, and with every norm a quarter of itself, so that nothing overflows where
 * the entries do not.
 */
#ifndef SHOAL_TRIDIAG_RESIDUAL_H
#define SHOAL_TRIDIAG_RESIDUAL_H

#include "core/real.h"

/* Running maxima of one system and right-hand side, each scaled by 1/4; all zero to begin with. */
typedef struct norms {
    real r, a, x, d; /* residual, row sums of |A|, |x|, |d| */
    real poison;     /* 0, or NaN once any number seen was not finite */
} norms;

/* Takes one row in: b x = d with its neighbours. poison: v - v is 0 for finite v, NaN otherwise. */
SHOAL_HD static inline void norms_row(norms *m, real a, real b, real c, real d, real left, real x,
                                      real right) {
    const real quarter = (real)0.25;
    real r = quarter * d - ((quarter * a) * left + (quarter * b) * x + (quarter * c) * right);
    real sum = quarter * real_abs(a) + quarter * real_abs(b) + quarter * real_abs(c);
    m->r = real_max(real_abs(r), m->r);
    m->a = real_max(sum, m->a);
    m->x = real_max(quarter * real_abs(x), m->x);
    m->d = real_max(quarter * real_abs(d), m->d);
    m->poison += (r - r) + (sum - sum);
}

SHOAL_HD static inline float norms_residual(const norms *m) {
    if (!(m->poison == 0)) return NAN;
    real x = 4 * m->x; /* at most REAL_MAX again: it was an entry */
    real below = x > 1 ? m->a + m->d / x : m->a * x + m->d;
    real above = x > 1 ? m->r / x : m->r;
    return above == 0 ? 0.0f : (float)(above / below);
}

#endif
