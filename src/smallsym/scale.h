/* SPDX-License-Identifier: Apache-2.0
 *
 * scale.h - S of powers of two, so that the rows of S A S are of one size, for a pack: a condition
 * number that is large because rows differ in size says nothing about the answer.
 *
 * by diagonal  s(i) = |A(i,i)|^-1/2: for a definite A nothing in S A S exceeds its diagonal, 1.
 * by rows      s(i) is divided by the root of the largest size in row i of S A S until all of these are
 *              near 1 (D. Ruiz, RAL-TR-2001-034), for any A; their exponents are halved each time. As
 *              1 / (s(i) s(j)) never exceeds max|A|, an answer that is good for S A S is good for A.
 *
 * All to a factor of 2. A lane whose rows, or diagonal entries, differ little (condition.h) is left as it
 * is, s = 1. For a definite matrix both are the same.
 */
#ifndef SHOAL_SMALLSYM_SCALE_H
#define SHOAL_SMALLSYM_SCALE_H

#include "smallsym/condition.h"
#include "smallsym/pack.h"
#include "smallsym/wide.h"

/* Largest size of each row of S A S, both triangles. */
static inline void row_sizes(const pack *p, real *size) {
    for (int64_t i = 0; i < p->n; i++) {
        const real *row = p->a + at_entry(i, 0);
        const vec s = vec_at(p->s + at_row(i));
        vec most = vec_abs(vec_at(row + at_row(i))) * s;
        for (int64_t j = 0; j < i; j++) {
            const vec v = vec_abs(vec_at(row + at_row(j)));
            most = vec_max(v * vec_at(p->s + at_row(j)), most);
            vec_to(size + at_row(j), vec_max(v * s, vec_at(size + at_row(j))));
        }
        vec_to(size + at_row(i), most);
    }
    for (int64_t i = 0; i < p->n; i++)
        vec_to(size + at_row(i), vec_at(size + at_row(i)) * vec_at(p->s + at_row(i)));
}

/* Which lanes are worth it: their sizes differ by `spread`. Numbers that are not finite are not. */
static inline vec_mask uneven(const real *size, int64_t n, int spread) {
    vec least = vec_all((real)INFINITY), most = vec_all(0);
    for (int64_t i = 0; i < n; i++) {
        const vec v = vec_at(size + at_row(i));
        least = vec_min(vec_select(v > 0, v, least), least), most = vec_max(v, most);
    }
    return (most >= (real)spread * least) & (most <= REAL_MAX);
}

static inline int any_lane(vec_mask lanes) {
    int any = 0;
    for (int l = 0; l < LANES; l++) any |= lanes[l] != 0;
    return any;
}

/* Takes those lanes out whose sizes say that they are wide (wide.h). */
static inline void leave_wide_ones(pack *p, const real *size, const real *largest,
                                   vec_mask *lanes) {
    for (int l = 0; l < LANES; l++) {
        for (int64_t i = 0; i < p->n && (*lanes)[l]; i++)
            p->wide[l] |= smallsym_is_wide(size[at_row(i) + l], largest[l], WIDE_ROWS);
        if (p->wide[l]) (*lanes)[l] = 0;
    }
}

/* s(i) := s(i) / sqrt(size(i)) in the lanes that are worth it. */
static inline void divide_by_roots(pack *p, const real *size, vec_mask lanes) {
    for (int64_t i = 0; i < p->n; i++)
        for (int l = 0; l < LANES; l++)
            if (lanes[l])
                p->s[at_row(i) + l] *= power_of_two(-smallsym_half_exponent(size[at_row(i) + l]));
}

static inline void unscaled(pack *p) {
    for (int64_t i = 0; i < p->n; i++) vec_to(p->s + at_row(i), vec_all(1));
}

static inline void scale_by_diagonal(pack *p) {
    real *size = p->x; /* free as yet */
    unscaled(p);
    for (int64_t i = 0; i < p->n; i++)
        vec_to(size + at_row(i), vec_abs(vec_at(p->a + at_entry(i, i))));
    const vec_mask lanes = uneven(size, p->n, SMALLSYM_DIAGONAL_SPREAD);
    p->scaled = any_lane(lanes);
    if (p->scaled) divide_by_roots(p, size, lanes);
}

/* The same of A itself, ROWS rows at a time: each column's size is loaded and stored once for all of them. */
static inline void first_row_sizes(const pack *p, real *size) {
    enum { ROWS = 4 };
    for (int64_t i0 = 0; i0 < p->n; i0 += ROWS) {
        const int rows = p->n - i0 < ROWS ? (int)(p->n - i0) : ROWS;
        const real *row[ROWS];
        vec most[ROWS];
        for (int r = 0; r < ROWS; r++) {
            row[r] = p->a + at_entry(i0 + (r < rows ? r : 0), 0);
            most[r] = vec_all(0);
        }
        for (int64_t j = 0; j < i0; j++) {
            vec column = vec_at(size + at_row(j));
            for (int r = 0; r < ROWS; r++) {
                const vec v = vec_abs(vec_at(row[r] + at_row(j)));
                most[r] = vec_max(v, most[r]), column = vec_max(v, column);
            }
            vec_to(size + at_row(j), column);
        }
        for (int r = 0; r < rows; r++)
            for (int q = 0; q <= r; q++) {
                const vec v = vec_abs(vec_at(row[r] + at_row(i0 + q)));
                most[r] = vec_max(v, most[r]), most[q] = vec_max(v, most[q]);
            }
        for (int r = 0; r < rows; r++) vec_to(size + at_row(i0 + r), most[r]);
    }
}

/* Whether the diagonal shows that the rows of all lanes are even: no row is smaller than its diagonal entry. */
static inline int clearly_even(const pack *p, vec largest) {
    vec least = vec_all((real)INFINITY);
    for (int64_t i = 0; i < p->n; i++)
        least = vec_min(vec_abs(vec_at(p->a + at_entry(i, i))), least);
    return !any_lane(~(largest < SMALLSYM_ROW_SPREAD * least));
}

/* Leaves the sizes of the rows of S A S in p->x, which is free as yet, or the largest for all. */
static inline void scale_by_rows(pack *p) {
    real *size = p->x;
    vec largest;
    unscaled(p);
    memcpy(&largest, p->largest, sizeof largest);
    if (clearly_even(p, largest)) {
        for (int64_t i = 0; i < p->n; i++) vec_to(size + at_row(i), largest);
        return;
    }
    first_row_sizes(p, size);
    vec_mask lanes = uneven(size, p->n, SMALLSYM_ROW_SPREAD);
    if (any_lane(lanes)) leave_wide_ones(p, size, p->largest, &lanes);
    p->scaled = any_lane(lanes);
    for (int step = 0; step < SMALLSYM_HALVINGS && any_lane(lanes); step++) {
        divide_by_roots(p, size, lanes);
        row_sizes(p, size);
        lanes &= uneven(size, p->n, SMALLSYM_ROWS_EVEN);
    }
}

/* The triangles of p->a, scaled, to `to`. */
static inline void copy_scaled(const pack *p, real *to) {
    if (!p->scaled) {
        memcpy(to, p->a, (size_t)at_entry(p->n, 0) * sizeof(real));
        return;
    }
    for (int64_t i = 0; i < p->n; i++) {
        const vec s = vec_at(p->s + at_row(i));
        for (int64_t j = 0; j <= i; j++) {
            const int64_t e = at_entry(i, j);
            vec_to(to + e, vec_at(p->a + e) * s * vec_at(p->s + at_row(j)));
        }
    }
}

/* v := S v. */
static inline void scale_vector(const pack *p, real *v) {
    for (int64_t i = 0; i < p->n && p->scaled; i++)
        vec_to(v + at_row(i), vec_at(v + at_row(i)) * vec_at(p->s + at_row(i)));
}

#endif
