/* SPDX-License-Identifier: Apache-2.0
 *
 * residual.h - how good the answers of a pack are: the normwise backward error in the maximum norm,
 *     |b - A x| / (|A| |x| + |b|),
 * the size of the smallest relative change of A and b for which x would be exact. |A| is the largest
 * sum of a row's sizes. A and b are those of the pack, scaled: nothing overflows but what x makes.
 */
#ifndef SHOAL_SMALLSYM_RESIDUAL_H
#define SHOAL_SMALLSYM_RESIDUAL_H

#include "smallsym/pack.h"

/* Row i's sums run along the row to the diagonal and down the column from there. `norm`: |A|. */
static inline void residual_of(const pack *p, float *residual, real *norm) {
    vec r_most = vec_all(0), a_most = r_most, x_most = r_most, b_most = r_most;
    for (int64_t i = 0; i < p->n; i++) {
        const vec b = *(const vec *)(p->b + at_row(i)), x = *(const vec *)(p->x + at_row(i));
        vec r = b, size = vec_all(0);
        const real *entry = p->a + at_entry(i, 0);
        for (int64_t j = 0; j < p->n; j++) {
            const vec v = *(const vec *)entry;
            r = vec_fma(-v, *(const vec *)(p->x + at_row(j)), r);
            size += vec_abs(v);
            entry += at_row(j < i ? 1 : j + 1); /* to A(i,j+1), or from A(j,i) to A(j+1,i) */
        }
        r_most = vec_max(vec_abs(r), r_most), a_most = vec_max(size, a_most);
        x_most = vec_max(vec_abs(x), x_most), b_most = vec_max(vec_abs(b), b_most);
    }
    for (int l = 0; l < LANES; l++) {
        const real below = real_mad(a_most[l], x_most[l], b_most[l]);
        residual[l] = r_most[l] == 0 ? 0 : (float)(r_most[l] / below);
        norm[l] = a_most[l];
    }
}

/* b - A x, every product and sum in double, rounded once. */
static inline void residual_in_double(const pack *p, real *result) {
    for (int64_t i = 0; i < p->n; i++) {
        double r[LANES];
        for (int l = 0; l < LANES; l++) r[l] = (double)p->b[at_row(i) + l];
        for (int64_t j = 0; j < p->n; j++) {
            const real *entry = p->a + (j <= i ? at_entry(i, j) : at_entry(j, i));
            const real *x = p->x + at_row(j);
            EACH_LANE(l) r[l] -= (double)entry[l] * (double)x[l];
        }
        for (int l = 0; l < LANES; l++) result[at_row(i) + l] = (real)r[l];
    }
}

#endif
