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

/* sum(i) of lane l += A(i,j) x(j) and sum(j) += A(i,j) x(i), entry by entry of the lower triangle. */
static inline void residual_of(const pack *p, float *residual) {
    real r_most[LANES] = { 0 }, a_most[LANES] = { 0 }, x_most[LANES] = { 0 }, b_most[LANES] = { 0 };
    for (int64_t i = 0; i < p->n; i++) {
        real r[LANES], a[LANES] = { 0 };
        memcpy(r, p->b + at_row(i), sizeof r);
        for (int64_t j = 0; j < p->n; j++) {
            const real *entry = p->a + (j <= i ? at_entry(i, j) : at_entry(j, i));
            const real *x = p->x + at_row(j);
            EACH_LANE(l) {
                r[l] = real_mad(-entry[l], x[l], r[l]);
                a[l] += real_abs(entry[l]);
            }
        }
        const real *x = p->x + at_row(i), *b = p->b + at_row(i);
        EACH_LANE(l) {
            r_most[l] = real_max(real_abs(r[l]), r_most[l]);
            a_most[l] = real_max(a[l], a_most[l]);
            x_most[l] = real_max(real_abs(x[l]), x_most[l]);
            b_most[l] = real_max(real_abs(b[l]), b_most[l]);
        }
    }
    for (int l = 0; l < LANES; l++) {
        const real below = real_mad(a_most[l], x_most[l], b_most[l]);
        residual[l] = r_most[l] == 0 ? 0 : (float)(r_most[l] / below);
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
