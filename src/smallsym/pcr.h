/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.h - U z = v with U tridiagonal and symmetric, by parallel cyclic reduction, for a pack: equation
 * (10) and Figure 8 of the paper on small symmetric systems, any n.
 *
 * A step removes from each equation its two neighbours, equation (10) with v'_i mended:
 *     left = c_(i-1) / d_(i-1),  right = c_i / d_(i+1),
 *     d'_i = d_i - left c_(i-1) - right c_i,  c'_i = -right c_(i+1),
 *     v'_i = v_i - left v_(i-1) - right v_(i+1),
 * which leaves two systems, of the even equations and of the odd ones. As in Figure 8 they are put
 * one behind the other, so that neighbours are adjacent at every step and any size will do; the two
 * are then independent, and each is followed to its end. U stays symmetric: d and c
 * are all there is of it. left and right of every step are kept, so that a further right-hand side
 * costs 2 n log2 n multiply-adds.
 *
 * Each z_i comes from an elimination of its own, so that z has a small error for definite U, but a
 * residual that grows with the condition number: U z = v is solved again for the residual, and z
 * corrected, as long as that helps, three times at most. Each costs n log2 n; what is left is
 * roundoff for condition numbers to about 1e9 in f64 and, the residual being in double, 1e5 in f32.
 *
 * At the end equation i reads d_i z_i = v_i with 1 / d_i = (U^-1)(i,i), which is at most |U^-1|:
 * min|d_i| / max|U(i,j)| is at least the reciprocal condition number, in the 2-norm and for any
 * matrix, and for definite ones at most 3 n times that. This is rcond. There is no pivoting: for
 * matrices that are not definite a pivot may be zero or overflow, which fails the system, or be small
 * and spoil it. A singular matrix seldom has a pivot of exactly zero, as every number of U is rounded:
 * one that could be zero is a warning, ill-conditioned.
 */
#ifndef SHOAL_SMALLSYM_PCR_H
#define SHOAL_SMALLSYM_PCR_H

#include "smallsym/householder.h"

typedef struct reduction { /* arrays of a pack; those of two take turns from step to step */
    real *d[2], *c[2], *v[2];
    real *left, *right; /* n numbers per step                      */
    real *pivot;        /* d of each equation at the end           */
    real *rhs, *rest;   /* Qt b, and what z leaves of it           */
    real *z, *change;   /* the answer, and what is to be added     */
    real *q;            /* variant formed                          */
    int64_t n;
} reduction;

enum { VECTORS = 11, CORRECTIONS = 3 };

/* Steps until every system has one equation. */
static inline int64_t steps_of(int64_t n) {
    int64_t steps = 0;
    while ((int64_t)1 << steps < n) steps++;
    return steps;
}

static inline size_t pcr_scratch(int64_t n) {
    return householder_numbers(n) + (size_t)(n * (VECTORS + 2 * steps_of(n)) + n * n);
}

static inline reduction reduction_of(const pack *p) {
    const int64_t row = at_row(p->n);
    real *m = p->scratch + householder_numbers(p->n) * LANES, *left = m + VECTORS * row;
    real *right = left + steps_of(p->n) * row;
    return (reduction){ .d = { m, m + row },
                        .c = { m + 2 * row, m + 3 * row },
                        .v = { m + 4 * row, m + 5 * row },
                        .pivot = m + 6 * row,
                        .rhs = m + 7 * row,
                        .rest = m + 8 * row,
                        .z = m + 9 * row,
                        .change = m + 10 * row,
                        .left = left,
                        .right = right,
                        .q = right + steps_of(p->n) * row,
                        .n = p->n };
}

typedef struct part { /* one of the systems after `step` steps */
    int64_t start, size, step;
    int64_t first; /* the original row of its first equation; the others follow 2^step apart */
} part;

/* Where equation j of a part goes: even ones first. */
static inline int64_t place_of(part s, int64_t j) {
    return s.start + j / 2 + (j % 2 ? (s.size + 1) / 2 : 0);
}

static const real no_equation[LANES];

/* Systems that wait while one is followed to its end: at most one of each step, and that one. */
typedef struct parts {
    part wait[65];
    int count;
} parts;

static inline void begin_parts(parts *p, const reduction *f) {
    p->wait[0] = (part){ 0, f->n, 0, 0 };
    p->count = 1;
}

static inline void add_halves(parts *p, part s) {
    const int64_t evens = (s.size + 1) / 2, next = s.step + 1,
                  odd = s.first + ((int64_t)1 << s.step);
    p->wait[p->count++] = (part){ s.start + evens, s.size - evens, next, odd };
    p->wait[p->count++] = (part){ s.start, evens, next, s.first };
}

static inline void reduce_matrix(const reduction *f) {
    parts p;
    for (begin_parts(&p, f); p.count > 0;) {
        const part s = p.wait[--p.count];
        const real *d = f->d[s.step % 2] + at_row(s.start), *c = f->c[s.step % 2] + at_row(s.start);
        if (s.size == 1) {
            memcpy(f->pivot + at_row(s.first), d, LANES * sizeof(real));
            continue;
        }
        real *next_d = f->d[(s.step + 1) % 2], *next_c = f->c[(s.step + 1) % 2];
        for (int64_t j = 0; j < s.size; j++) {
            const int64_t at = at_row(place_of(s, j)), i = at_row(s.step * f->n + s.start + j);
            const int more = j + 1 < s.size;
            const real *c_left = j ? c + at_row(j - 1) : no_equation;
            const real *c_right = more ? c + at_row(j) : no_equation;
            const real *d_here = d + at_row(j), *d_left = j ? d_here - LANES : d_here + LANES;
            const real *d_right = more ? d_here + LANES : d_here - LANES; /* c = 0: any pivot */
            const real *c_beyond = j + 2 < s.size ? c + at_row(j + 1) : no_equation;
            real *left = f->left + i, *right = f->right + i;
            real *to_d = next_d + at, *to_c = next_c + at;
            EACH_LANE(l) {
                left[l] = c_left[l] / d_left[l];
                right[l] = c_right[l] / d_right[l];
                to_d[l] = d_here[l] - left[l] * c_left[l] - right[l] * c_right[l]; /* d'_i */
                to_c[l] = -right[l] * c_beyond[l];                                 /* c'_i */
            }
        }
        add_halves(&p, s);
    }
}

static inline void reduce_vector(const reduction *f, real *z) {
    parts p;
    for (begin_parts(&p, f); p.count > 0;) {
        const part s = p.wait[--p.count];
        const real *v = f->v[s.step % 2] + at_row(s.start);
        if (s.size == 1) {
            const real *pivot = f->pivot + at_row(s.first);
            EACH_LANE(l) z[at_row(s.first) + l] = real_over_pivot(v[l], pivot[l]);
            continue;
        }
        real *next = f->v[(s.step + 1) % 2];
        for (int64_t j = 0; j < s.size; j++) {
            const int64_t i = at_row(s.step * f->n + s.start + j);
            const real *left = f->left + i, *right = f->right + i, *v_here = v + at_row(j);
            const real *v_left = j ? v_here - LANES : no_equation;
            const real *v_right = j + 1 < s.size ? v_here + LANES : no_equation;
            real *to = next + at_row(place_of(s, j));
            EACH_LANE(l) to[l] = v_here[l] - left[l] * v_left[l] - right[l] * v_right[l]; /* v'_i */
        }
        add_halves(&p, s);
    }
}

/* Inertia of U, by Sturm's sequence q_i = d_i - c_(i-1)^2 / q_(i-1): as many are negative as there
 * are negative eigenvalues. */
static inline void count_signs(pack *p, const householder *h) {
    real q[LANES], negative[LANES] = { 0 };
    EACH_LANE(l) q[l] = 1;
    for (int64_t i = 0; i < p->n; i++) {
        const real *d = h->d + at_row(i), *c = i ? h->c + at_row(i - 1) : no_equation;
        EACH_LANE(l) {
            q[l] = d[l] - c[l] / q[l] * c[l];
            q[l] = real_abs(q[l]) < REAL_MIN ? REAL_MIN : q[l];
            negative[l] += q[l] < 0 ? (real)1 : (real)0;
        }
    }
    for (int l = 0; l < LANES; l++) {
        p->outcome.negative[l] = (int32_t)negative[l];
        p->outcome.positive[l] = (int32_t)p->n - p->outcome.negative[l];
    }
}

static inline void judge_pivots(pack *p, const householder *h, const reduction *f) {
    real least[LANES], most[LANES] = { 0 }, bad[LANES] = { 0 };
    EACH_LANE(l) least[l] = (real)INFINITY;
    for (int64_t i = 0; i < p->n; i++) {
        const real *pivot = f->pivot + at_row(i), *d = h->d + at_row(i);
        const real *c = i + 1 < p->n ? h->c + at_row(i) : no_equation;
        EACH_LANE(l) {
            bad[l] += pivot[l] * 0;
            least[l] = real_min(real_abs(pivot[l]), least[l]);
            most[l] = real_max(real_abs(d[l]), real_max(real_abs(c[l]), most[l]));
        }
    }
    for (int l = 0; l < LANES && p->n > 0; l++) {
        if (bad[l] != 0 || least[l] == 0)
            p->outcome.status[l] = SHOAL_SYSTEM_PIVOT;
        else if (least[l] <= 10 * REAL_EPSILON * most[l]) /* a singular matrix leaves that */
            p->outcome.status[l] = SHOAL_SYSTEM_ILL;
        p->outcome.rcond[l] = (float)(least[l] < most[l] ? least[l] / most[l] : 1);
    }
}

/* The reduction of U, which h holds, and what its pivots tell of each lane. */
static inline void factor_tridiagonal(pack *p, const householder *h, const reduction *f) {
    memcpy(f->d[0], h->d, (size_t)at_row(p->n) * sizeof(real));
    memcpy(f->c[0], h->c, (size_t)at_row(p->n - 1) * sizeof(real));
    reduce_matrix(f);
    count_signs(p, h);
    judge_pivots(p, h, f);
}

/* to = Q from, or Qt from. */
static inline void multiply_by_q(const reduction *f, int transposed, const real *from, real *to) {
    for (int64_t i = 0; i < f->n; i++) {
        real sum[LANES] = { 0 };
        for (int64_t j = 0; j < f->n; j++) {
            const real *q = f->q + at_row(transposed ? j * f->n + i : i * f->n + j);
            const real *v = from + at_row(j);
            EACH_LANE(l) sum[l] = real_mad(q[l], v[l], sum[l]);
        }
        memcpy(to + at_row(i), sum, sizeof sum);
    }
}

/* rest = rhs - U z, every product and sum in double, and its largest number. */
static inline void tridiagonal_rest(const reduction *f, const householder *h, const real *z,
                                    real *largest) {
    real most[LANES] = { 0 };
    for (int64_t i = 0; i < f->n; i++) {
        const int more = i + 1 < f->n;
        const real *d = h->d + at_row(i), *z_here = z + at_row(i), *rhs = f->rhs + at_row(i);
        const real *c_left = i ? h->c + at_row(i - 1) : no_equation;
        const real *c_right = more ? h->c + at_row(i) : no_equation;
        const real *z_left = i ? z_here - LANES : no_equation;
        const real *z_right = more ? z_here + LANES : no_equation;
        real *rest = f->rest + at_row(i);
        EACH_LANE(l) {
            const double sum = (double)rhs[l] - (double)c_left[l] * (double)z_left[l] -
                               (double)d[l] * (double)z_here[l] -
                               (double)c_right[l] * (double)z_right[l];
            const real size = real_abs(rest[l] = (real)sum);
            most[l] = most[l] != most[l] || size <= most[l] ? most[l] : size; /* NaN stays */
        }
    }
    memcpy(largest, most, sizeof most);
}

/* U z = rhs, and corrections until a lane's residual is no longer halved; a lane that is done stays
 * as it is, whatever the others need. */
static inline void solve_tridiagonal(const reduction *f, const householder *h) {
    const size_t bytes = (size_t)at_row(f->n) * sizeof(real);
    real before[LANES], after[LANES];
    int again[LANES], any = 1;
    memcpy(f->v[0], f->rhs, bytes);
    reduce_vector(f, f->z);
    tridiagonal_rest(f, h, f->z, before);
    for (int l = 0; l < LANES; l++) again[l] = before[l] > 0; /* false for NaN */
    for (int step = 0; step < CORRECTIONS && any; step++) {
        memcpy(f->v[0], f->rest, bytes);
        reduce_vector(f, f->change);
        for (int64_t e = 0; e < at_row(f->n); e++) f->change[e] += f->z[e];
        tridiagonal_rest(f, h, f->change, after);
        for (int l = 0; l < LANES; l++) again[l] = again[l] && after[l] < before[l];
        for (int64_t i = 0; i < f->n; i++) {
            real *z = f->z + at_row(i);
            const real *change = f->change + at_row(i);
            EACH_LANE(l) z[l] = again[l] ? change[l] : z[l];
        }
        any = 0;
        for (int l = 0; l < LANES; l++) {
            again[l] = again[l] && after[l] < before[l] / 2;
            before[l] = after[l];
            any |= again[l];
        }
    }
}

#endif
