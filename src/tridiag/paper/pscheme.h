/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme.h - elimination without pivoting as three recurrences, and the maps of several rows of each
 * (Wakatani, section II.B, for general rows): what pscheme.c and pscheme.cu share.
 *
 *     p_i = -du_i / (d_i + dl_i p_{i-1})                        equation (5), a Moebius recurrence
 *     q_i = (b_i - dl_i q_{i-1}) / (d_i + dl_i p_{i-1})         equation (5), linear once p is known
 *     x_i = p_i x_{i+1} + q_i                                 equation (6), linear, upwards
 *
 * A row takes p to (0 p - du) / (dl p + d); several rows do the same by the product of their matrices,
 * scaled by powers of two (recur/map.h). The printed recursion, equations (9) to (12), carries the
 * same product for rows with dl_i = du_i from the last row to the first, divided by one of its numbers,
 * gamma, and breaks down where that is zero. Maps of q and x are w -> m[0] w + m[1].
 */
#ifndef SHOAL_TRIDIAG_PAPER_PSCHEME_H
#define SHOAL_TRIDIAG_PAPER_PSCHEME_H

#include "recur/map.h"

typedef struct tri_row {
    real dl, d, du, b;
} tri_row;

/* 0, or NaN where a number is not finite. */
MAP_INLINE real tri_poison(tri_row r) {
    return poisoned(poisoned(poisoned(poisoned(0, r.dl), r.d), r.du), r.b);
}

/* 1 / (d_i + dl_i p_{i-1}); not finite where the pivot is zero or has overflowed. */
MAP_INLINE real inverse_pivot(tri_row r, real p) {
    return real_over_pivot(1, real_mad(r.dl, p, r.d));
}

MAP_INLINE real p_of_row(tri_row r, real inverse) { return -r.du * inverse; } /* p_i */
MAP_INLINE real q_of_row(tri_row r, real inverse, real q) {                   /* q_i */
    return real_mad(-r.dl, q, r.b) * inverse;
}

MAP_INLINE void append_p(recur_map *m, tri_row r) {
    const real row[4] = { 0, -r.du, r.dl, r.d };
    map_append(m, row, 0, SHAPE_MOEBIUS);
}

MAP_INLINE void append_q(recur_map *m, tri_row r, real inverse) {
    m->m[0] = -r.dl * inverse * m->m[0];
    m->m[1] = q_of_row(r, inverse, m->m[1]);
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

/* The ratio a_i / b_i of the paper, whose rows are -b, a, -b: here it is -d / du. NaN where
 * the row is not of that kind. */
MAP_INLINE real printed_ratio(tri_row r) { return r.dl == r.du ? -r.d / r.du : real_nan(); }

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

/* ---- the phases of one part ------------------------------------------------------------------- */

/* Rows begin .. begin + rows - 1 of a system of n: row i of the part is dl[i * row], .., b[i * rhs_row],
 * and p[i * own_row], q[i * own_row] in the workspace. x takes the place of q. */
typedef struct part {
    const real *dl, *d, *du, *b;
    real *p, *q;
    int64_t row, rhs_row, own_row;
    int64_t begin, rows, n;
} part;

/* dl[0] and du[n-1] of a system do not exist. */
MAP_INLINE tri_row row_at(const part *s, int64_t i) {
    tri_row r;
    r.dl = s->begin + i > 0 ? s->dl[i * s->row] : 0;
    r.d = s->d[i * s->row];
    r.du = s->begin + i + 1 < s->n ? s->du[i * s->row] : 0;
    r.b = s->b[i * s->rhs_row];
    return r;
}

/* Pre-computation of p. */
MAP_INLINE recur_map map_of_p(const part *s) {
    recur_map m = map_identity(SHAPE_MOEBIUS);
    for (int64_t i = 0; i < s->rows; i++) append_p(&m, row_at(s, i));
    return m;
}

/* The same by equations (9) to (13), from the last row to the first. Row 0 may have any a. */
MAP_INLINE recur_map printed_map_of_p(const part *s) {
    printed v = { 0, 0, 0, 0 };
    if (s->rows == 0) return map_identity(SHAPE_MOEBIUS);
    for (int64_t i = s->rows - 1; i >= 0; i--) {
        tri_row r = row_at(s, i);
        if (s->begin + i == 0) r.dl = r.du;
        if (i == s->rows - 1)
            v = printed_first(r);
        else
            printed_append(&v, r);
    }
    return printed_map(&v);
}

enum { OF_P, OF_Q, OF_X, RECURRENCES };

/* Propagation: the value after a part from the value v before it (of x: after the part, for the one
 * before it) by its map. Where that is not finite the part is walked; p is the p before the part. */
MAP_INLINE real propagate_part(const part *s, const recur_map *m, const int recurrence, real p,
                               real v) {
    const int shape = recurrence == OF_P ? SHAPE_MOEBIUS : 1;
    recur_state before = { { 0 } };
    before.x[0] = v;
    const real after = map_apply(m, &before, shape).x[0];
    if (map_poison(m, shape) == 0 && poisoned(0, after) == 0) return after;
    for (int64_t i = 0; i < s->rows && recurrence != OF_X; i++) {
        const tri_row r = row_at(s, i);
        const real inverse = inverse_pivot(r, p);
        p = p_of_row(r, inverse);
        v = recurrence == OF_P ? p : q_of_row(r, inverse, v);
    }
    for (int64_t i = s->rows - 1; i >= 0 && recurrence == OF_X; i--)
        v = real_mad(s->p[i * s->own_row], v, s->q[i * s->own_row]);
    return v;
}

/* Determination of p and pre-computation of q, whose map it returns. *poison becomes NaN where the
 * input is not finite. */
MAP_INLINE recur_map determine_p(const part *s, real p, real *poison) {
    recur_map m = map_identity(1);
    for (int64_t i = 0; i < s->rows; i++) {
        const tri_row r = row_at(s, i);
        const real inverse = inverse_pivot(r, p);
        s->p[i * s->own_row] = p = p_of_row(r, inverse);
        append_q(&m, r, inverse);
        *poison += tri_poison(r);
    }
    return m;
}

/* Determination of q and pre-computation of x. */
MAP_INLINE recur_map determine_q(const part *s, real p, real q) {
    recur_map m = map_identity(1);
    for (int64_t i = 0; i < s->rows; i++) {
        const tri_row r = row_at(s, i);
        s->q[i * s->own_row] = q = q_of_row(r, inverse_pivot(r, p), q);
        p = s->p[i * s->own_row];
        append_x(&m, p, q);
    }
    return m;
}

/* Determination of x from the x after the part. Returns 0, or NaN where it is not finite. */
MAP_INLINE real determine_x(const part *s, real x) {
    real poison = 0;
    for (int64_t i = s->rows - 1; i >= 0; i--) {
        s->q[i * s->own_row] = x = real_mad(s->p[i * s->own_row], x, s->q[i * s->own_row]);
        poison = poisoned(poison, x);
    }
    return poison;
}

#endif
