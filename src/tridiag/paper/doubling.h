/* SPDX-License-Identifier: Apache-2.0
 *
 * doubling.h - recursive doubling (H. S. Stone, "An efficient parallel algorithm for the solution of a tridiagonal linear
 * system of equations", Journal of the ACM 20, 1973): elimination without pivoting as three recurrences, those of
 * pscheme.h, each by a scan of the maps of its rows. What doubling.c and doubling.cu share.
 *
 * Step h = 1, 2, 4, ... of a scan joins the map that ends at row i, of h rows, with the one that ends at row i - h. After
 * ceil(log2 n) steps it begins at row 0, and takes the value before it to that of row i. x runs upwards. So n log n maps are
 * joined, of p by a product of 2 x 2 matrices, scaled by powers of two.
 */
#ifndef SHOAL_TRIDIAG_PAPER_DOUBLING_H
#define SHOAL_TRIDIAG_PAPER_DOUBLING_H

#include "tridiag/paper/pscheme.h"

enum {
    DOUBLING_NUMBERS = 4
}; /* of a map of p; maps of q and x have 2, and p takes the third place */

/* To about 1. Of a matrix of zeros, or of subnormal numbers, nothing finite is left. */
MAP_INLINE void matrix_scale(real m[4]) {
    const real by = 1 / power_of_two_in(largest_of_four(m));
    MAP_UNROLL for (int e = 0; e < 4; e++) m[e] *= by;
}

/* The map of p of one row, and of it after `before`. */
MAP_INLINE void matrix_of(real m[4], real dl, real d, real du) {
    m[0] = 0, m[1] = -du, m[2] = dl, m[3] = d;
    matrix_scale(m);
}
MAP_INLINE void matrix_after(real m[4], const real before[4]) {
    const real joined[4] = { real_mad(m[0], before[0], m[1] * before[2]),
                             real_mad(m[0], before[1], m[1] * before[3]),
                             real_mad(m[2], before[0], m[3] * before[2]),
                             real_mad(m[2], before[1], m[3] * before[3]) };
    MAP_UNROLL for (int e = 0; e < 4; e++) m[e] = joined[e];
    matrix_scale(m);
}

#endif
