/* SPDX-License-Identifier: Apache-2.0
 *
 * sobol.h - Sobol's points by index, on every device. A coordinate is a word of 32 binary digits,
 * the first digit on top: the XOR of the direction words v_j over the bits j of the index's Gray
 * code, index ^ index >> 1. That is the order of scipy, cuRAND and torch; the first 2^k points are
 * the same set as in the plain binary order.
 *
 * The word of an index costs 32 masked XORs, that of the next index one XOR more. sobol.c makes the
 * direction words and the digital shifts that turn words into points.
 */
#ifndef SHOAL_RNG_SOBOL_H
#define SHOAL_RNG_SOBOL_H

#include <stdint.h>
#include "rng/philox.h"

enum { SHOAL_SOBOL_BITS = 32 };                    /* a sequence has 2^32 points */
enum { SOBOL_SCRAMBLE, SOBOL_SHIFT, SOBOL_PLAIN }; /* variants, in the order of the table */

#ifdef __cplusplus
extern "C" {
#endif

/* directions[d * 32 + j] = v_j of dimension d and shift[d], for d < dims <= 1111. The seed is not
 * used by SOBOL_PLAIN, whose shifts are the digit after the word's last. */
void shoal_sobol_directions(int64_t dims, int variant, uint64_t seed, uint32_t *directions,
                            uint64_t *shift);

#ifdef __cplusplus
}
#endif

/* The product of a 32x32 matrix of bits and a vector: the XOR of columns[j] over the bits j of
 * `bits`. Masks, not branches: the threads of a warp have different bits. */
SHOAL_HD static inline uint32_t shoal_sobol_product(const uint32_t *columns, uint32_t bits) {
    uint32_t sum = 0;
    for (int j = 0; j < SHOAL_SOBOL_BITS; j++) sum ^= columns[j] & (0u - (bits >> j & 1u));
    return sum;
}

/* The coordinate of point `index`; directions are the 32 of its dimension. */
SHOAL_HD static inline uint32_t shoal_sobol_word(const uint32_t *directions, uint32_t index) {
    return shoal_sobol_product(directions, index ^ index >> 1);
}

/* The coordinate of point index + 2^m, given that of `index`, whose sum must not pass 2^32. The word
 * is linear in the index's bits. Counting up at bit m flips that bit and the ones above it up to
 * the lowest that is 0, m + c: a run of ones, whose Gray code is the bits m + c and m - 1. */
SHOAL_HD static inline uint32_t shoal_sobol_skip(const uint32_t *directions, uint32_t word,
                                                 uint32_t index, int m) {
    const uint32_t unset = ~(index >> m) | 0x80000000u >> m;
#ifdef __CUDA_ARCH__
    const int c = __ffs((int)unset) - 1;
#else
    const int c = __builtin_ctz(unset);
#endif
    return word ^ directions[m + c] ^ (m > 0 ? directions[m - 1] : 0);
}

/* The coordinate of point index + 1. After the last point comes point 0. */
SHOAL_HD static inline uint32_t shoal_sobol_next(const uint32_t *directions, uint32_t word,
                                                 uint32_t index) {
    return shoal_sobol_skip(directions, word, index, 0);
}

/* Points of the open interval (0, 1), as of a word of Philox. The shift goes on below the word's 32
 * digits, so that a shifted double has 52 random ones. */
SHOAL_HD static inline double shoal_sobol_point(uint32_t word, uint64_t shift) {
    return shoal_uniform_of((uint64_t)word << 32 ^ shift);
}

SHOAL_HD static inline float shoal_sobol_pointf(uint32_t word, uint64_t shift) {
    return shoal_uniformf_of(word ^ (uint32_t)(shift >> 32));
}

#endif
