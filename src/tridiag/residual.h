/* SPDX-License-Identifier: Apache-2.0
 *
 * residual.h - how good an answer is: the normwise backward error in the maximum norm,
 *
 *     |d - A x| / (|A| |x| + |d|),
 *
 * the size of the smallest relative change of A and d for which x would be exact. Where |x| is large
 * everything is divided by it first. If a sum within a row overflows all the same, which takes entries
 * within a factor 4 of the largest number, the residual is NaN: the answer is then not trusted.
 */
#ifndef SHOAL_TRIDIAG_RESIDUAL_H
#define SHOAL_TRIDIAG_RESIDUAL_H

#include "core/real.h"

/* Running maxima of one system and right-hand side; all zero to begin with. */
typedef struct norms {
    real r, a, x, d; /* residual, row sums of |A|, |x|, |d| */
    real poison;     /* 0, or NaN once a row was not finite */
} norms;

/* 0 for a finite number, NaN otherwise, added to what was seen before. */
SHOAL_HD static inline real poisoned(real poison, real v) { return real_mad(v, 0, poison); }

/* Takes one row in: a left + b x + c right = d. */
SHOAL_HD static inline void norms_row(norms *m, real a, real b, real c, real d, real left, real x,
                                      real right) {
    const real r = real_mad(-c, right, real_mad(-b, x, real_mad(-a, left, d)));
    const real sum = real_abs(a) + real_abs(b) + real_abs(c);
    m->r = real_max(real_abs(r), m->r);
    m->a = real_max(sum, m->a);
    m->x = real_max(real_abs(x), m->x);
    m->d = real_max(real_abs(d), m->d);
    m->poison = poisoned(poisoned(m->poison, r), sum);
}

SHOAL_HD static inline float norms_residual(const norms *m) {
    if (!(m->poison == 0)) return NAN;
    const real above = m->x > 1 ? m->r / m->x : m->r;
    const real below = m->x > 1 ? m->a + m->d / m->x : m->a * m->x + m->d;
    return above == 0 ? 0.0f : (float)(above / below);
}

#endif
