/* SPDX-License-Identifier: Apache-2.0
 *
 * largest.h - the largest of many numbers on the CPU, and whether all are finite, in one pass.
 *
 * Without its sign a number is ordered as the integer that has its bits, and what is not finite comes
 * last: one comparison an entry finds both. Four vectors in turn, as each comparison waits for the
 * one before.
 */
#ifndef SHOAL_SYMINDEF_LARGEST_H
#define SHOAL_SYMINDEF_LARGEST_H

#include "core/vec.h"

ALWAYS_INLINE vec_mask larger_bits(vec_mask bits, vec_mask other) {
    const vec_mask keep = bits > other;
    return (bits & keep) | (other & ~keep);
}

/* max |of[x]|, x0 <= x < x1, 0 of none; not finite if one is not. */
static inline real largest_between(const real *of, int64_t x0, int64_t x1) {
    vec_mask bits[4] = { { 0 } };
    vec rest = { 0 };
    real best;
    int64_t x = x0;
    for (; x + 4 * VEC <= x1; x += 4 * VEC)
        for (int r = 0; r < 4; r++)
            bits[r] = larger_bits(bits[r], (vec_mask)vec_abs(vec_load(of + x + r * VEC)));
    for (; x + VEC <= x1; x += VEC)
        bits[0] = larger_bits(bits[0], (vec_mask)vec_abs(vec_load(of + x)));
    for (int l = 0; x + l < x1; l++) rest[l] = of[x + l];
    bits[0] = larger_bits(bits[0], (vec_mask)vec_abs(rest));
    for (int r = 1; r < 4; r++) bits[0] = larger_bits(bits[0], bits[r]);
    for (int l = 1; l < VEC; l++)
        if (bits[0][l] > bits[0][0]) bits[0][0] = bits[0][l];
    memcpy(&best, bits, sizeof best);
    return best;
}

#endif
