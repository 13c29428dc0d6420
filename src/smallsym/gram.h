/* SPDX-License-Identifier: Apache-2.0
 *
 * gram.h - what gram.c and gram.cu agree on when they form  A = (1/M) sum psi(m) psi(m)t  and
 * b = (1/M) sum psi(m) y(m): how sums are taken, and what is done about the range of numbers.
 *
 * GRAM_BLOCK products are summed by multiply-adds, one after the other. Blocks are added by
 *     s = t + v,   e = (t - (s - (s - t))) + (v - (s - t)),   e exact,
 * with the sum of the e kept beside. So a sum's error is that of a block, GRAM_BLOCK / 2 units of
 * roundoff of the sum of the sizes of its terms, and a few units: it does not grow with M until M is a
 * million in f32 and 1e14 in f64, and slowly then.
 *
 * Products leave the range of numbers long before psi does. Where A or b look like it, the samples of
 * that system are looked at, and summed again with psi and y both divided by one power of two: A and b
 * then have a common factor, and x is the same.
 */
#ifndef SHOAL_SMALLSYM_GRAM_H
#define SHOAL_SMALLSYM_GRAM_H

#include "core/real.h"

enum { GRAM_BLOCK = 64 };

/* Whether entries of that largest size may have lost terms to overflow or underflow. */
SHOAL_HD static inline int gram_out_of_range(real largest) {
    const real high = (real)(sizeof(real) == 4 ? 0x1p90 : 0x1p900);
    const real low = (real)(sizeof(real) == 4 ? 0x1p-60 : 0x1p-600);
    return !(largest >= low && largest <= high);
}

/* The power of two by which psi and y are divided, from their largest finite sizes: psi comes near 1,
 * and b with it near x, which may need some room to one side. */
SHOAL_HD static inline int gram_exponent(real psi, real y) {
    const int far = sizeof(real) == 4 ? 90 : 750, more = sizeof(real) == 4 ? 20 : 100;
    if (psi == 0) return 0;
    const int p = ilogb((double)psi), q = y > 0 ? ilogb((double)y) : p;
    return p + (q - p > far ? more : q - p < -far ? -more : 0);
}

#endif
