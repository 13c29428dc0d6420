/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme.h - elimination without pivoting as three recurrences, and the maps of several rows of each
 * (Wakatani, section II.B, for general rows): what pscheme.c and pscheme.cu share.
 *
 *     p_i = -c_i / (b_i + a_i p_{i-1})                        equation (5), a Moebius recurrence
 *     q_i = (d_i - a_i q_{i-1}) / (b_i + a_i p_{i-1})         equation (5), linear once p is known
 *     x_i = p_i x_{i+1} + q_i                                 equation (6), linear, upwards
 *
 * A row takes p to (0 p - c) / (a p + b); several rows do the same by the product of their matrices,
 * scaled by powers of two (recur/map.h). The printed recursion, equations (9) to (12), carries the
 * same product for rows with a_i = c_i from the last row to the first, divided by one of its numbers,
 * gamma, and breaks down where that is zero. Maps of q and x are w -> m[0] w + m[1].
 */
#ifndef SHOAL_TRIDIAG_PSCHEME_H
#define SHOAL_TRIDIAG_PSCHEME_H

#include "recur/map.h"

typedef struct tri_row {
    real a, b, c, d;
} tri_row;

/* 0, or NaN where a number is not finite. */
MAP_INLINE real tri_poison(tri_row r) {
    return poisoned(poisoned(poisoned(poisoned(0, r.a), r.b), r.c), r.d);
}

/* 1 / (b_i + a_i p_{i-1}); not finite where the pivot is zero or has overflowed. */
MAP_INLINE real inverse_pivot(tri_row r, real p) {
    return real_over_pivot(1, real_mad(r.a, p, r.b));
}

MAP_INLINE real next_p(tri_row r, real inverse) { return -r.c * inverse; } /* p_i */
MAP_INLINE real next_q(tri_row r, real inverse, real q) {                  /* q_i */
    return real_mad(-r.a, q, r.d) * inverse;
}

MAP_INLINE void append_p(recur_map *m, tri_row r) {
    const real row[4] = { 0, -r.c, r.a, r.b };
    map_append(m, row, 0, SHAPE_MOEBIUS);
}

MAP_INLINE void append_q(recur_map *m, tri_row r, real inverse) {
    m->m[0] = -r.a * inverse * m->m[0];
    m->m[1] = next_q(r, inverse, m->m[1]);
}

/* x runs upwards, the rows come downwards: a row more is applied first. */
MAP_INLINE void append_x(recur_map *m, real p, real q) {
    m->m[1] = real_mad(m->m[0], q, m->m[1]);
    m->m[0] *= p;
}

/* ---- the printed recursion -------------------------------------------------------------------- */

typedef struct printed {
    real beta, gamma, delta;
    real sign; /* (-1)^j after j rows */
} printed;

/* The ratio a_i / b_i of the paper, whose rows are -b, a, -b: ours has the sign of b turned. NaN where
 * the row is not of that kind. */
MAP_INLINE real printed_ratio(tri_row r) { return r.a == r.c ? -r.b / r.c : real_nan(); }

MAP_INLINE printed printed_first(tri_row r) { /* equation (9) */
    const printed v = { 1, -printed_ratio(r), 0, -1 };
    return v;
}

MAP_INLINE void printed_append(printed *v, tri_row r) {
    const real ratio = v->sign * -printed_ratio(r);                       /* (-1)^{j+1} a/b */
    const printed next = { real_mad(ratio, v->beta, v->delta) / v->gamma, /* equation (10) */
                           real_mad(ratio, v->gamma, 1) / v->gamma,       /* equation (11) */
                           v->beta / v->gamma, -v->sign };                /* equation (12) */
    *v = next;
}

/* Equation (13) as a map of p before the rows to p after them. */
MAP_INLINE recur_map printed_map(const printed *v) {
    recur_map m = { { 0 } };
    m.m[0] = v->sign * v->delta, m.m[1] = -v->beta;
    m.m[2] = -v->sign, m.m[3] = v->gamma;
    return m;
}

#endif
