/* SPDX-License-Identifier: Apache-2.0
 *
 * residual.h - how good an answer is.
 *
 * What is reported is the normwise backward error in the maximum norm,
 *     |b - A x| / (|A| |x| + |b|),
 * the size of the smallest relative change of A and b for which x would be exact. One large row
 * hides errors in small ones there; so `auto` accepts an answer only if also, in every single
 * row,
 *     |b_i - (A x)_i|  <=  tol (|dl_i x_{i-1}| + |d_i x_i| + |du_i x_{i+1}| + |b_i| + w),
 * where w = (|dl_i| + |d_i| + |du_i|) times the smallest normal number leaves room for underflow in
 * x.
 *
 * Where |x| is large everything is divided by it first. If a sum within a row overflows all the
 * same, which takes entries within a factor 4 of the largest number, the residual is NaN: not
 * trusted. Where products underflow, their rounding errors count: a few times the smallest number
 * of all.
 */
#ifndef SHOAL_TRIDIAG_RESIDUAL_H
#define SHOAL_TRIDIAG_RESIDUAL_H

#include "core/real.h"

/* Running maxima of one system and right-hand side; all zero to begin with. */
typedef struct norms {
    real r, a, x, b; /* residual, row sums of |A|, |x|, |b|                  */
    real over;       /* by how much a row exceeds what it may; 0: none does  */
    real poison;     /* 0, or NaN once a row was not finite                  */
} norms;

/* Takes one row in: dl left + d x + du right = b. */
SHOAL_HD static inline void norms_row(norms *m, real tol, real dl, real d, real du, real b,
                                      real left, real x, real right) {
    const real r = real_mad(-du, right, real_mad(-d, x, real_mad(-dl, left, b)));
    const real sum = real_abs(dl) + real_abs(d) + real_abs(du);
    real allowed = real_mad(sum, REAL_MIN, real_abs(b));
    allowed = real_mad(real_abs(dl), real_abs(left), allowed);
    allowed = real_mad(real_abs(d), real_abs(x), allowed);
    allowed = real_mad(real_abs(du), real_abs(right), allowed);
    m->r = real_max(real_abs(r), m->r);
    m->a = real_max(sum, m->a);
    m->x = real_max(real_abs(x), m->x);
    m->b = real_max(real_abs(b), m->b);
    m->over = real_max(real_mad(-tol, allowed, real_abs(r)), m->over);
    m->poison = poisoned(poisoned(m->poison, r), sum);
}

SHOAL_HD static inline float norms_residual(const norms *m) {
    if (!(m->poison == 0)) return NAN;
    if (m->x == 0 && m->b == 0) return 0;
    const real r = m->r + 4 * REAL_TINY;
    const real above = m->x > 1 ? r / m->x : r;
    const real below = m->x > 1 ? m->a + m->b / m->x : m->a * m->x + m->b;
    return (float)(above / below);
}

#endif
