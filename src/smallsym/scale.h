/* SPDX-License-Identifier: Apache-2.0
 *
 * scale.h - S of powers of two, so that the rows of S A S are of one size, for a pack: a condition
 * number that is large because rows differ in size says nothing about the answer.
 *
 * by diagonal  s(i) = |A(i,i)|^-1/2: for a definite A nothing in S A S exceeds its diagonal, 1.
 * by rows      s(i) = 1 / max(|A(i,i)|^1/2, max_{j<i} s(j) |A(i,j)|), one row after another (J. R. Bunch,
 *              Numer. Math. 17, 1971): each row's largest number is 1, for any A. A row with zeros up to its
 *              diagonal gets its s from the rows below it, once these are known.
 *
 * All to a factor of 2. A lane whose s differ by less than SPREAD is left as it is, s = 1.
 */
#ifndef SHOAL_SMALLSYM_SCALE_H
#define SHOAL_SMALLSYM_SCALE_H

#include "smallsym/pack.h"

enum { SPREAD = 4 };

/* 1 / m to a factor of 2; 0 where m is next to zero or not finite. */
static inline real scale_for(real m) {
    return m >= REAL_MIN && m <= REAL_MAX ? 1 / power_of_two_in(m) : 0;
}

/* s(i) of lane l from all its neighbours whose s is known; 1 if it has none. */
static inline real scale_late(const pack *p, int64_t i, int l) {
    real most = 0;
    for (int64_t j = 0; j < p->n; j++) {
        const real *entry = p->a + (j < i ? at_entry(i, j) : at_entry(j, i));
        if (j != i) most = real_max(real_abs(entry[l]) * p->s[at_row(j) + l], most);
    }
    const real s = scale_for(most);
    return s > 0 ? s : 1;
}

/* Lanes that are not worth it, or hold numbers that are not finite, are left as they are. */
static inline void settle_scales(pack *p) {
    vec least = vec_all((real)INFINITY), most = vec_all(0);
    for (int64_t i = 0; i < p->n; i++) {
        const vec s = vec_at(p->s + at_row(i));
        least = vec_min(s, least), most = vec_max(s, most);
    }
    const vec_mask kept = (least > 0) & (most >= SPREAD * least);
    p->scaled = 0;
    for (int l = 0; l < LANES; l++) p->scaled |= kept[l] != 0;
    for (int64_t i = 0; i < p->n; i++) {
        real *s = p->s + at_row(i);
        vec_to(s, vec_select(kept, vec_at(s), vec_all(1)));
    }
}

static inline void scale_by_diagonal(pack *p) {
    for (int64_t i = 0; i < p->n; i++) {
        const real *d = p->a + at_entry(i, i);
        real *s = p->s + at_row(i);
        EACH_LANE(l) s[l] = scale_for(real_sqrt(real_abs(d[l])));
    }
    settle_scales(p);
}

static inline void scale_by_rows(pack *p) {
    vec_mask late = { 0 };
    for (int64_t i = 0; i < p->n; i++) {
        const real *row = p->a + at_entry(i, 0);
        real *s = p->s + at_row(i), below[LANES] __attribute__((aligned(64)));
        vec most = vec_all(0);
        for (int64_t j = 0; j < i; j++)
            most = vec_max(vec_abs(vec_at(row + at_row(j))) * vec_at(p->s + at_row(j)), most);
        vec_to(below, most);
        EACH_LANE(l) s[l] = scale_for(real_max(real_sqrt(real_abs(row[at_row(i) + l])), below[l]));
        late |= vec_at(s) == 0;
    }
    for (int l = 0; l < LANES; l++)
        for (int64_t i = 0; i < p->n && late[l]; i++)
            if (p->s[at_row(i) + l] == 0) p->s[at_row(i) + l] = scale_late(p, i, l);
    settle_scales(p);
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
