/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.h - the numbers of 1 / (1 + e^-z) for both compilers: with t = -z log2(e) = k + f, |f| <=
 * 1/2, the interpolant of 2^f at Chebyshev points (within 1e-7, in double 4e-18, relative),
 * scaled by 2^k in its exponent. Half the operations of core/math.h, which also serves numbers
 * out of range; here t is cut off where 2^k would be. k is t + GATE_MAGIC - GATE_MAGIC, and the
 * last bits of the first sum.
 */
#ifndef SHOAL_SURROGATE_GATE_H
#define SHOAL_SURROGATE_GATE_H

#ifdef SHOAL_SINGLE
enum { GATE_DEGREE = 5, GATE_SHIFT = 23 };
#define GATE_MAGIC 0x1.8p23f
#define GATE_MAX   126
#define GATE_SERIES                                                                                \
    { 0x1.5f089p-10f, 0x1.3d107p-7f, 0x1.c6af6cp-5f, 0x1.ebf906p-3f, 0x1.62e43p-1f, 0x1.000002p+0f }
#else
enum { GATE_DEGREE = 11, GATE_SHIFT = 52 };
#define GATE_MAGIC 0x1.8p52
#define GATE_MAX   1022
#define GATE_SERIES                                                                                \
    {                                                                                              \
        0x1.e9ec1fcb69a7fp-32, 0x1.e6228acd1c6e5p-28, 0x1.b524ebd13a55fp-24, 0x1.62bfc2c86d7p-20,  \
            0x1.ffcbfc6da6ed1p-17, 0x1.430913112c61bp-13, 0x1.5d87fe78a3f9cp-10,                   \
            0x1.3b2ab6fb9f1a5p-7, 0x1.c6b08d704a0c6p-5, 0x1.ebfbdff82c5aep-3,                      \
            0x1.62e42fefa39efp-1, 1                                                                \
    }
#endif

#endif
