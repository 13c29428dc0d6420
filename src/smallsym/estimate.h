/* SPDX-License-Identifier: Apache-2.0
 *
 * estimate.h - the reciprocal condition number of each lane of a pack in the 1-norm, estimated as
 * condition.h says. All lanes climb together; those that have arrived go along, and nothing is taken
 * from them any more. Overwrites the pack's b and x.
 */
#ifndef SHOAL_SMALLSYM_ESTIMATE_H
#define SHOAL_SMALLSYM_ESTIMATE_H

#include "smallsym/condition.h"
#include "smallsym/pack.h"

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

/* Where a lane's x is largest in size. */
static inline int64_t largest_row(const pack *p, int l, real *largest) {
    int64_t at = 0;
    *largest = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const real size = real_abs(p->x[at_row(i) + l]);
        if (size > *largest) *largest = size, at = i;
    }
    return at;
}

static inline void estimate_rcond(pack *p, const smallsym_cpu_method *method, int variant) {
    const int64_t n = p->n;
    real norm[LANES], most[LANES] = { 0 }, now[LANES];
    int open[LANES], any = n > 0;
    if (n == 0) return;
    norm_of(p, norm);
    for (int l = 0; l < LANES; l++) open[l] = 1;
    for (int64_t e = 0; e < at_row(n); e++) p->b[e] = 1 / (real)n;
    for (int climb = 0; any && climb < SMALLSYM_CLIMBS; climb++) {
        method->solve(p, variant); /* v = A^-1 y */
        sum_of_sizes(p, now);
        for (int l = 0; l < LANES; l++)
            if (open[l]) open[l] = smallsym_rises(now[l], &most[l]);
        for (int64_t e = 0; e < at_row(n); e++) p->b[e] = p->x[e] < 0 ? -1 : 1;
        method->solve(p, variant); /* z = A^-1 sign(v) */
        any = 0;
        for (int l = 0; l < LANES; l++) {
            real largest;
            const int64_t at = largest_row(p, l, &largest);
            any |= open[l] = open[l] && largest > most[l];
            for (int64_t i = 0; i < n; i++) p->b[at_row(i) + l] = i == at;
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++) p->b[at_row(i) + l] = smallsym_last_y((int)i, (int)n);
    method->solve(p, variant);
    sum_of_sizes(p, now);
    for (int l = 0; l < LANES; l++) {
        (void)smallsym_rises(now[l] / smallsym_last_size((int)n), &most[l]);
        p->fate.rcond[l] = smallsym_rcond(norm[l], most[l]);
    }
}

#endif
