/* SPDX-License-Identifier: Apache-2.0
 *
 * normal.h - the standard normal law from random bits.
 *
 * Box-Muller: (r cos(2 pi t), r sin(2 pi t)) with r = sqrt(-2 log u) is a pair of independent
 * normals. Two in, two out, no rejection and no branch. The angle is taken from the bits as a
 * quarter of the circle (two of them) and a position within it, so that it needs no reduction. In
 * double u has 52 bits and t 54, and |z| < 8.6; in float u has 31 bits and t 32, and |z| < 6.7; both
 * floats of a pair are 0 once in 2^25 pairs, when u rounds to 1. One block of Philox makes two
 * doubles, or four floats.
 *
 * Inverse cdf: z = Phi^-1(u), monotone in u, for points that must not be mixed (Sobol) and for one
 * number per path; |z| < 8.3. In float the side is one bit and the distance from the nearer end of
 * (0, 1) has the other 31, so that both tails are as fine: |z| < 6.4.
 */
#ifndef SHOAL_RNG_NORMAL_H
#define SHOAL_RNG_NORMAL_H

#include "rng/philox.h"

typedef struct shoal_normals {
    double z[2];
} shoal_normals;

typedef struct shoal_normalsf {
    float z[2];
} shoal_normalsf;

SHOAL_HD static inline shoal_normals shoal_boxmuller(uint64_t radius_bits, uint64_t angle_bits) {
    const double u = shoal_uniform_of(radius_bits);
    const double r = sqrt(-2.0 * shoal_log_normal_pair(u, 1023).hi);
    const double turn = shoal_from_bits(0x3fe0000000000000u | angle_bits << 2 >> 12) - 0.75;
    double s, c;
    shoal_sincospi_turn(turn, angle_bits >> 62, &s, &c);
    const shoal_normals pair = { { r * c, r * s } };
    return pair;
}

/* u = (w/2 + 1/2) 2^-31 may round to 1; then r is 0. */
SHOAL_HD static inline float shoal_radius_uniformf(uint32_t word) {
    return fmaf((float)(int32_t)(word >> 1), 0x1p-31f, 0x1p-32f);
}

SHOAL_HD static inline shoal_normalsf shoal_boxmullerf(uint32_t radius_word, uint32_t angle_word) {
    const float u = shoal_radius_uniformf(radius_word);
    const float r = sqrtf(-2.0f * shoal_log_normal_pairf(u, 127).hi);
    const float turn = (float)(int32_t)(angle_word << 2) * 0x1p-33f;
    float s, c;
    shoal_sincospi_turnf(turn, angle_word >> 30, &s, &c);
    const shoal_normalsf pair = { { r * c, r * s } };
    return pair;
}

SHOAL_HD static inline double shoal_icdf_of(uint64_t bits) {
    return shoal_normcdfinv(shoal_uniform_of(bits));
}

SHOAL_HD static inline float shoal_icdff_of(uint32_t word) {
    const uint32_t upper = 0u - (word >> 31); /* all ones in the upper half */
    const float p = fmaf((float)(int32_t)(word ^ upper), 0x1p-32f, 0x1p-33f);
    return shoal_from_bitsf(shoal_bitsf(shoal_normcdfinvf(p)) ^ (upper << 31));
}

/* The same away from the tails, without a branch; true if it is good. */
SHOAL_HD static inline int shoal_icdf_middle(uint64_t bits, double *z) {
    const double p = shoal_uniform_of(bits);
    const shoal_pair ln = shoal_log_normal_pair(4.0 * p * (1.0 - p), 1023);
    *z = shoal_normcdfinv_middle(p, ln);
    return -ln.hi < 6.25;
}

SHOAL_HD static inline int shoal_icdff_middle(uint32_t word, float *z) {
    const uint32_t upper = 0u - (word >> 31);
    const float p = fmaf((float)(int32_t)(word ^ upper), 0x1p-32f, 0x1p-33f);
    const shoal_pairf ln = shoal_log_normal_pairf(4.0f * p * (1.0f - p), 127);
    *z = shoal_from_bitsf(shoal_bitsf(shoal_normcdfinv_middlef(p, ln)) ^ (upper << 31));
    return -ln.hi < 5.0f;
}

/* Both normals of a block, in double. */
SHOAL_HD static inline shoal_normals shoal_normal_pair(const shoal_words *w) {
    return shoal_boxmuller(shoal_half(w, 0), shoal_half(w, 1));
}

/* Two of a block's four normals, in float: half = 0 or 1. */
SHOAL_HD static inline shoal_normalsf shoal_normal_pairf(const shoal_words *w, int half) {
    return shoal_boxmullerf(w->word[2 * half], w->word[2 * half + 1]);
}

#endif
