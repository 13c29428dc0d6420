/* SPDX-License-Identifier: Apache-2.0
 *
 * reduce.h - one step of cyclic reduction on a pack, shared by cr.c, pcr.c and hybrid.c.
 *
 * Equation (10) of the small-systems paper (L. A. Abbas-Turki and S. Graillat, 2017; cr.c has its
 * title), section 4.1, for rows a x_left + b x + c x_right = d that need not be symmetric: from row i
 * the multiples of its two neighbours are subtracted that remove their unknowns,
 *     k1 = a_i / b_left,   k2 = c_i / b_right,
 *     b'_i = b_i - k1 c_left - k2 a_right,   d'_i = d_i - k1 d_left - k2 d_right,
 *     a'_i = -k1 a_left,   c'_i = -k2 c_right,
 * so that row i is coupled with the neighbours of its neighbours. A neighbour that does not exist
 * counts as the row x = 0; then a_i (or c_i) is 0 already.
 */
#ifndef SHOAL_TRIDIAG_REDUCE_H
#define SHOAL_TRIDIAG_REDUCE_H

#include "tridiag/pack.h"

typedef struct rows { /* the equations of a pack, row i of lane l at [i * lanes + l] */
    real *a, *b, *c, *d;
} rows;

enum { NO_ROW = -1 };

/* Row `at` of `to` becomes row i of `from`, reduced by the rows left and right. `to` may be `from`
 * where at is i. */
PACK_INLINE void reduce_row(const rows *to, int64_t at, const rows *from, int64_t i, int64_t left,
                            int64_t right, const int lanes) {
    static const real zeros[LANES];
    real ones[LANES];
    EACH_LANE(l, lanes) ones[l] = 1;
    const real *a = from->a + i * lanes, *b = from->b + i * lanes;
    const real *c = from->c + i * lanes, *d = from->d + i * lanes;
    const real *left_a = left == NO_ROW ? zeros : from->a + left * lanes;
    const real *left_b = left == NO_ROW ? ones : from->b + left * lanes;
    const real *left_c = left == NO_ROW ? zeros : from->c + left * lanes;
    const real *left_d = left == NO_ROW ? zeros : from->d + left * lanes;
    const real *right_a = right == NO_ROW ? zeros : from->a + right * lanes;
    const real *right_b = right == NO_ROW ? ones : from->b + right * lanes;
    const real *right_c = right == NO_ROW ? zeros : from->c + right * lanes;
    const real *right_d = right == NO_ROW ? zeros : from->d + right * lanes;
    real *new_a = to->a + at * lanes, *new_b = to->b + at * lanes;
    real *new_c = to->c + at * lanes, *new_d = to->d + at * lanes;
    EACH_LANE(l, lanes) {
        real k1 = a[l] / left_b[l], k2 = c[l] / right_b[l];
        new_b[l] = b[l] - k1 * left_c[l] - k2 * right_a[l]; /* b'_i */
        new_d[l] = d[l] - k1 * left_d[l] - k2 * right_d[l]; /* d'_i */
        new_a[l] = -k1 * left_a[l];                         /* a'_i */
        new_c[l] = -k2 * right_c[l];                        /* c'_i */
    }
}

/* Parallel cyclic reduction of n rows by strides: row i is coupled with rows i - h and i + h, for
 * h = 1, 2, 4, ... until nothing is left to couple with. The two sets of rows take turns; returns
 * the one that holds the result, in which row i reads b x_i = d. */
PACK_INLINE const rows *reduce_by_strides(const rows *from, const rows *to, int64_t n,
                                          const int lanes) {
    for (int64_t h = 1; h < n; h *= 2) {
        for (int64_t i = 0; i < n; i++)
            reduce_row(to, i, from, i, i >= h ? i - h : NO_ROW, i + h < n ? i + h : NO_ROW, lanes);
        const rows *done = to;
        to = from;
        from = done;
    }
    return from;
}

#endif
