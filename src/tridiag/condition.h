/* SPDX-License-Identifier: Apache-2.0
 *
 * condition.h - how far a matrix is from a singular one: kappa = |A| |A^-1| in the maximum norm, of the matrix with
 * scaled rows (residual.h), estimated from a factorisation while a solve substitutes back.
 *
 * A = L U by elimination with exchanges, or Q U by rotations. An entry of L^-1 is one product of multipliers, so the
 * sum G_i of row i of |L^-1| follows from the row before. Then |A^-1| <= | |U^-1| G |, and
 *     U t = (+-G_0, ..., +-G_n-1)
 * is solved from the last row up, each sign that which makes |t_i| larger: |t| is the estimate. A small pivot cannot
 * hide, as |t_i| >= G_i / |u_i|, nor can growth along U. Rotations keep lengths: their G is 1. |A| counts as 2; it is
 * between 1 and 6.
 *
 * G needs no memory of its own: row i of U has an entry w_i in column i+2 only where two rows were exchanged, and
 * then G_i is 1. Both share a slot, which is told apart by size: scaled rows are below 4, and G is counted in
 * PROBE.
 */
#ifndef SHOAL_TRIDIAG_CONDITION_H
#define SHOAL_TRIDIAG_CONDITION_H

#include "tridiag/residual.h"

#define PROBE ((real)8)

SHOAL_HD static inline int is_entry(real slot) {
#ifdef __CUDA_ARCH__ /* by integers, which the unit for doubles does not see */
    return (high_of(slot) & 0x7fffffff) < high_of(PROBE);
#else
    return real_abs(slot) < PROBE;
#endif
}
SHOAL_HD static inline real slot_entry(real slot) { return is_entry(slot) ? slot : 0; }
SHOAL_HD static inline real slot_growth(real slot) { return is_entry(slot) ? PROBE : slot; }

/* t_i from t_{i+1} and t_{i+2}; row i of U is (1 / inverse, v, w). */
SHOAL_HD static inline real probe_row(real inverse, real v, real w, real growth, real next,
                                      real after) {
    const real sum = real_mad(v, next, w * after), size = (real_abs(sum) + growth) * inverse;
    return sum < 0 ? size : -size;
}

/* The condition number by the largest |t|. */
SHOAL_HD static inline real condition_of(real largest) { return largest * (2 * ROW_UNIT / PROBE); }

/* Whether an estimate tells of an ill-conditioned matrix. Estimates are at most twice too high, and have been 40 times
 * too low: from a quarter of the limit on they warn, and are right wherever kappa is not within a factor of 30 of it. */
SHOAL_HD static inline int is_ill(real estimate, double limit) {
    return !(4 * estimate < (real)limit);
}

#endif
