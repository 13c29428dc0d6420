/* SPDX-License-Identifier: Apache-2.0
 *
 * accuracy.h - how good the answers of a pack are: the normwise backward error in the maximum norm,
 *     |b - A x| / (|A| |x| + |b|),
 * the size of the smallest relative change of A and b for which x would be exact, |A| being the largest
 * sum of a row's sizes; and the reciprocal condition number of each lane in the 1-norm, estimated as
 * condition.h describes. A and b are those of the pack, scaled: only x can make something overflow.
 */
#ifndef SHOAL_SMALLSYM_ACCURACY_H
#define SHOAL_SMALLSYM_ACCURACY_H

#include "smallsym/condition.h"
#include "smallsym/pack.h"
#include "core/twice.h"

enum { RESIDUAL_ROWS = 4 }; /* that share what they load */

/* A x - b and the sums of sizes of rows i0 .. i0 + rows-1, as far as the columns up to there have been read; those of
 * the rows before take these rows' entries as their columns. Every sum has its terms in the order of j. */
ALWAYS_INLINE void residual_rows(const pack *p, real *r, real *size, int64_t i0, const int rows) {
    const real *row[RESIDUAL_ROWS];
    vec x[RESIDUAL_ROWS], rest[RESIDUAL_ROWS], sum[RESIDUAL_ROWS];
    for (int q = 0; q < rows; q++) {
        row[q] = p->a + at_entry(i0 + q, 0);
        x[q] = vec_at(p->x + at_row(i0 + q)), rest[q] = -vec_at(p->b + at_row(i0 + q));
        sum[q] = vec_all(0);
    }
    for (int64_t j = 0; j < i0; j++) {
        const vec left = vec_at(p->x + at_row(j));
        vec above = vec_at(r + at_row(j)), above_sum = vec_at(size + at_row(j));
        for (int q = 0; q < rows; q++) {
            const vec v = vec_at(row[q] + at_row(j));
            rest[q] = vec_fma(v, left, rest[q]), sum[q] += vec_abs(v);
            above = vec_fma(v, x[q], above), above_sum += vec_abs(v);
        }
        vec_to(r + at_row(j), above), vec_to(size + at_row(j), above_sum);
    }
    UNROLLED for (int q = 0; q < rows; q++) {
        UNROLLED for (int k = 0; k < q; k++) {
            const vec v = vec_at(row[q] + at_row(i0 + k));
            rest[q] = vec_fma(v, x[k], rest[q]), sum[q] += vec_abs(v);
            rest[k] = vec_fma(v, x[q], rest[k]), sum[k] += vec_abs(v);
        }
        const vec v = vec_at(row[q] + at_row(i0 + q));
        rest[q] = vec_fma(v, x[q], rest[q]), sum[q] += vec_abs(v);
    }
    for (int q = 0; q < rows; q++)
        vec_to(r + at_row(i0 + q), rest[q]), vec_to(size + at_row(i0 + q), sum[q]);
}

/* `norm`: |A|. r and size are room for n numbers per lane. */
static inline void residual_of(const pack *p, real *r, real *size, float *residual, real *norm) {
    vec r_most = vec_all(0), a_most = r_most, x_most = r_most, b_most = r_most;
    int64_t i = 0;
    for (; i + RESIDUAL_ROWS <= p->n; i += RESIDUAL_ROWS)
        residual_rows(p, r, size, i, RESIDUAL_ROWS);
    for (; i < p->n; i++) residual_rows(p, r, size, i, 1);
    for (i = 0; i < p->n; i++) {
        r_most = vec_max(vec_abs(vec_at(r + at_row(i))), r_most);
        a_most = vec_max(vec_at(size + at_row(i)), a_most);
        x_most = vec_max(vec_abs(vec_at(p->x + at_row(i))), x_most);
        b_most = vec_max(vec_abs(vec_at(p->b + at_row(i))), b_most);
    }
    for (int l = 0; l < LANES; l++) {
        const real below = real_mad(a_most[l], x_most[l], b_most[l]);
        residual[l] = r_most[l] == 0      ? 0
                      : below <= REAL_MAX ? (float)(r_most[l] / below)
                                          : (float)NAN; /* cannot be judged */
        norm[l] = a_most[l];
    }
}

/* b - A x in twice the precision, rounded once. */
static inline void residual_in_double(const pack *p, real *result) {
    for (int64_t i = 0; i < p->n; i++) {
        twice r[LANES];
        for (int l = 0; l < LANES; l++) r[l] = twice_of(p->b[at_row(i) + l]);
        for (int64_t j = 0; j < p->n; j++) {
            const real *entry = p->a + (j <= i ? at_entry(i, j) : at_entry(j, i));
            const real *x = p->x + at_row(j);
            EACH_LANE(l) r[l] = twice_less(r[l], entry[l], x[l]);
        }
        for (int l = 0; l < LANES; l++) result[at_row(i) + l] = real_of_twice(r[l]);
    }
}

/* Largest sum of a row's sizes of S A S. */
static inline void scaled_norm_of(const pack *p, real *norm) {
    vec most = vec_all(0);
    for (int64_t i = 0; i < p->n; i++) {
        vec size = vec_all(0);
        const real *entry = p->a + at_entry(i, 0);
        for (int64_t j = 0; j < p->n; j++) {
            size = vec_fma(vec_abs(*(const vec *)entry), vec_at(p->s + at_row(j)), size);
            entry += at_row(j < i ? 1 : j + 1); /* to A(i,j+1), or from A(j,i) to A(j+1,i) */
        }
        most = vec_max(size * vec_at(p->s + at_row(i)), most);
    }
    memcpy(norm, &most, sizeof most);
}

/* Largest sum of a column's sizes, by symmetry of a row's. */
static inline void norm_of(const pack *p, real *norm) {
    vec most = vec_all(0);
    for (int64_t i = 0; i < p->n; i++) {
        vec size = vec_all(0);
        const real *entry = p->a + at_entry(i, 0);
        for (int64_t j = 0; j < p->n; j++) {
            size += vec_abs(*(const vec *)entry);
            entry += at_row(j < i ? 1 : j + 1); /* to A(i,j+1), or from A(j,i) to A(j+1,i) */
        }
        most = vec_max(size, most);
    }
    memcpy(norm, &most, sizeof most);
}

/* |x|, the sum of a lane's sizes. */
static inline void sum_of_sizes(const pack *p, real *sum) {
    vec all = vec_all(0);
    for (int64_t i = 0; i < p->n; i++) all += vec_abs(*(const vec *)(p->x + at_row(i)));
    memcpy(sum, &all, sizeof all);
}

/* What follows step `step` of lane l, whose |x| is now: its next y, and whether it climbs on. */
static inline int climb(pack *p, int l, int step, int open, real now, real *most) {
    const int unit = smallsym_from_unit(step);
    int64_t at = 0; /* where x is largest in size */
    real largest = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const real size = real_abs(p->x[at_row(i) + l]);
        if (size > largest) largest = size, at = i;
    }
    for (int64_t i = 0; i < p->n; i++) {
        const real x = p->x[at_row(i) + l];
        p->b[at_row(i) + l] = unit                         ? (x < 0 ? -1 : 1)
                              : step < SMALLSYM_POWERS - 1 ? x / now
                                                           : i == at;
    }
    if (!open) return 0;
    if (step >= SMALLSYM_POWERS && !unit) return largest > *most;
    const int rises = smallsym_rises(now, most);
    return unit ? rises : *most - *most == 0;
}

/* All lanes climb together; those that have arrived go along. Overwrites the pack's b and x. */
static inline void estimate_rcond(pack *p, const smallsym_cpu_method *method, int variant) {
    const int64_t n = p->n;
    real norm[LANES], most[LANES] = { 0 }, now[LANES];
    int open[LANES], any = 1;
    if (n == 0) return;
    norm_of(p, norm);
    for (int l = 0; l < LANES; l++) open[l] = 1;
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++) p->b[at_row(i) + l] = smallsym_first_y(i, n);
    for (int step = 0; any && step < SMALLSYM_STEPS; step++) {
        method->solve(p, variant);
        sum_of_sizes(p, now);
        any = 0;
        for (int l = 0; l < LANES; l++)
            any |= open[l] = climb(p, l, step, open[l], now[l], &most[l]);
    }
    for (int l = 0; l < LANES; l++) p->outcome.rcond[l] = smallsym_rcond(norm[l], most[l]);
}

#endif
