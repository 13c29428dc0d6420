/* SPDX-License-Identifier: Apache-2.0
 *
 * rootfree.h - a Givens rotation without a square root (Gentleman), for the CPU and for kernels.
 *
 * The row in hand stands for sqrt(weight) (p, q, 0 | y), the next one for (dl, d, du | b) itself. With p and dl
 * times the power of two that makes the larger one 1 to 2, and h^2 = weight p^2 + dl^2,
 *
 *     row i of U      (weight p (p, q, 0 | y) + dl (dl, d, du | b)) / h
 *     row in hand     sqrt(weight) / h (p (dl, d, du | b) - dl (p, q, 0 | y))
 *
 * are those of a rotation. Powers of two take the place of both factors of h: row i of U is within a factor of 2
 * of its length, and the weight takes the rest, which keeps it between 1/2 and 2. One division. Where dl is 0 there is
 * no rotation: row i of U is the row in hand, with the bits of the last row of a system.
 */
#ifndef SHOAL_TRIDIAG_ROOTFREE_H
#define SHOAL_TRIDIAG_ROOTFREE_H

#include "core/real.h"

typedef struct rootfree {
    real first, second; /* of the two rows, in row i of U                */
    real next, minus;   /* of the next row, and of that in hand: the new */
    real weight;        /* of the new row in hand                        */
    real inverse;       /* 1 / the pivot                                 */
} rootfree;

SHOAL_HD static inline rootfree rootfree_of(real p, real dl, real weight) {
    rootfree r;
    const real large = real_max(real_max(real_abs(p), real_abs(dl)), REAL_MIN);
    const real power = power_of_two(-exponent_of(large)); /* inputs are scaled: below 4 */
    const real a = p * power, b = dl * power;
    const int none = dl == 0;
    const real square = weight * a * a + b * b, one = 1 / (none ? a : square), rest = weight * one;
    const real g = square > 2 ? (real)0.5 : 1;
    const real f = rest > 2             ? (real)2
                   : rest < (real)0.125 ? (real)0.25
                   : rest < (real)0.5   ? (real)0.5
                                        : 1;
    const real back = rest > 2             ? (real)0.25
                      : rest < (real)0.125 ? (real)16
                      : rest < (real)0.5   ? (real)4
                                           : 1;
    r.first = none ? 1 : g * weight * a, r.second = none ? 0 : g * b;
    r.next = none ? 1 : f * a, r.minus = none ? 0 : f * b;
    r.weight = none ? 1 : rest * back;
    r.inverse = one * (!none && square > 2 ? (real)2 : 1) * power;
    return r;
}

#endif
