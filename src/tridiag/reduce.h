/* SPDX-License-Identifier: Apache-2.0
 *
 * reduce.h - one step of cyclic reduction on a pack, shared by cr.c, pcr.c and hybrid.c.
 *
 * Equation (10) of the small-systems paper (L. A. Abbas-Turki and S. Graillat, "Resolution of a large
 * number of small random symmetric linear systems in single precision arithmetic on GPUs", 2017),
 * section 4.1, for rows dl x_left + d x + du x_right = b that need not be symmetric: from row i the
 * multiples of its two neighbours are subtracted that remove their unknowns,
 *     k1 = dl_i / d_left,   k2 = du_i / d_right,
 *     d'_i = d_i - k1 du_left - k2 dl_right,   b'_i = b_i - k1 b_left - k2 b_right,
 *     dl'_i = -k1 dl_left,   du'_i = -k2 du_right,
 * so that row i is coupled with the neighbours of its neighbours. A neighbour that does not exist
 * counts as the row x = 0; then dl_i (or du_i) is 0 already.
 */
#ifndef SHOAL_TRIDIAG_REDUCE_H
#define SHOAL_TRIDIAG_REDUCE_H

#include "tridiag/pack.h"

typedef struct rows { /* the equations of a pack, row i of lane l at [i * lanes + l] */
    real *dl, *d, *du, *b;
} rows;

enum { NO_ROW = -1 };

/* Row `at` of `to` becomes row i of `from`, reduced by the rows left and right. `to` may be `from`
 * where at is i. */
PACK_INLINE void reduce_row(const rows *to, int64_t at, const rows *from, int64_t i, int64_t left,
                            int64_t right, const int lanes) {
    static const real zero_row[LANES];
    real ones[LANES];
    EACH_LANE(l, lanes) ones[l] = 1;
    const real *dl = from->dl + i * lanes, *d = from->d + i * lanes;
    const real *du = from->du + i * lanes, *b = from->b + i * lanes;
    const real *left_dl = left == NO_ROW ? zero_row : from->dl + left * lanes;
    const real *left_d = left == NO_ROW ? ones : from->d + left * lanes;
    const real *left_du = left == NO_ROW ? zero_row : from->du + left * lanes;
    const real *left_b = left == NO_ROW ? zero_row : from->b + left * lanes;
    const real *right_dl = right == NO_ROW ? zero_row : from->dl + right * lanes;
    const real *right_d = right == NO_ROW ? ones : from->d + right * lanes;
    const real *right_du = right == NO_ROW ? zero_row : from->du + right * lanes;
    const real *right_b = right == NO_ROW ? zero_row : from->b + right * lanes;
    real *new_dl = to->dl + at * lanes, *new_d = to->d + at * lanes;
    real *new_du = to->du + at * lanes, *new_b = to->b + at * lanes;
    EACH_LANE(l, lanes) {
        real k1 = dl[l] / left_d[l], k2 = du[l] / right_d[l];
        new_d[l] = d[l] - k1 * left_du[l] - k2 * right_dl[l]; /* d'_i */
        new_b[l] = b[l] - k1 * left_b[l] - k2 * right_b[l];   /* b'_i */
        new_dl[l] = -k1 * left_dl[l];                         /* dl'_i */
        new_du[l] = -k2 * right_du[l];                        /* du'_i */
    }
}

/* Parallel cyclic reduction of n rows by strides: row i is coupled with rows i - h and i + h, for
 * h = 1, 2, 4, ... until nothing is left to couple with. The two sets of rows take turns; returns
 * the one that holds the result, in which row i reads d x_i = b. */
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
