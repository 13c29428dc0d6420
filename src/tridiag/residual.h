/* SPDX-License-Identifier: Apache-2.0
 *
 * residual.h - how good an answer is.
 *
 * What is reported is the normwise backward error in the maximum norm,
 *     |d - A x| / (|A| |x| + |d|),
 * the size of the smallest relative change of A and d for which x would be exact. One large row
 * hides errors in small ones there; so `auto` accepts an answer only if also, in every single
 * row,
 *     |d_i - (A x)_i|  <=  tol (|a_i x_{i-1}| + |b_i x_i| + |c_i x_{i+1}| + |d_i| + w),
 * where w = (|a_i| + |b_i| + |c_i|) times the smallest normal number leaves room for underflow in
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
    real r, a, x, d; /* residual, row sums of |A|, |x|, |d|                  */
    real over;       /* by how much a row exceeds what it may; 0: none does  */
    real poison;     /* 0, or NaN once a row was not finite                  */
} norms;

/* Takes one row in: a left + b x + c right = d. */
SHOAL_HD static inline void norms_row(norms *m, real tol, real a, real b, real c, real d, real left,
                                      real x, real right) {
    const real r = real_mad(-c, right, real_mad(-b, x, real_mad(-a, left, d)));
    const real sum = real_abs(a) + real_abs(b) + real_abs(c);
    real allowed = real_mad(sum, REAL_MIN, real_abs(d));
    allowed = real_mad(real_abs(a), real_abs(left), allowed);
    allowed = real_mad(real_abs(b), real_abs(x), allowed);
    allowed = real_mad(real_abs(c), real_abs(right), allowed);
    m->r = real_max(real_abs(r), m->r);
    m->a = real_max(sum, m->a);
    m->x = real_max(real_abs(x), m->x);
    m->d = real_max(real_abs(d), m->d);
    m->over = real_max(real_mad(-tol, allowed, real_abs(r)), m->over);
    m->poison = poisoned(poisoned(m->poison, r), sum);
}

SHOAL_HD static inline float norms_residual(const norms *m) {
    if (!(m->poison == 0)) return NAN;
    if (m->x == 0 && m->d == 0) return 0;
    const real r = m->r + 4 * REAL_TINY;
    const real above = m->x > 1 ? r / m->x : r;
    const real below = m->x > 1 ? m->a + m->d / m->x : m->a * m->x + m->d;
    return (float)(above / below);
}

#endif
