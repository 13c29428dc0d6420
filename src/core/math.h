/* SPDX-License-Identifier: Apache-2.0
 *
 * math.h - one arithmetic: elementary functions with the same bits from every compiler, on CPU,
 * GPU and the emulator. math_f64.h: log, exp, sincospi in double. math_normal.h: the normal
 * distribution function and its inverse in double. math_f32.h: all five in float.
 *
 * The bits agree because only IEEE + - * / and sqrt are used, fma where it is written, and integer
 * work on the representation; contraction must be off (-ffp-contract=off, -fmad=false)
 * and subnormals on (no -ftz, no -ffast-math). NaN has no agreed bits among machines, so every
 * NaN result is the one quiet NaN 0x7ff8000000000000 (float: 0x7fc00000), whatever came in.
 *
 * All polynomials are interpolants at Chebyshev points of the function named, computed with 300
 * bits and rounded (cos: least squares, with the first coefficient fixed to its rounded value). No
 * tables, and no branches in log, exp, sincospi and normcdf: warps stay together and loops over
 * them vectorise (gcc 12 at -O3 for NEON, AVX2, AVX-512; clang 14 at -O2). normcdfinv has one rare
 * branch. Without a hardware fma (x86-64-v2) fma is a library call: the same bits, slowly.
 *
 * Largest error seen in units of the last place (subnormal results in units of the smallest
 * subnormal), over 2e7 arguments each (tests/math_hash.h; float: half of them an even sweep of all
 * bit patterns), against the C library with 113 bits (float: with 53 bits); and floating-point
 * operations, roughly, an fma being one, besides some dozens of integer ones:
 *
 *                 double: ulp   operations            float: ulp   operations
 *     log                 0.95   25, 1 division              0.87   25
 *     exp                 0.84   25                          0.82   20
 *     sincospi            0.88   30                          0.97   25
 *     normcdf             1.05   100, 1 division             0.91   80, 1 division
 *     normcdfinv          0.85   70, 1 division              0.97   55
 *       in its tail              145, 6 divisions, 1 root           45, 1 division, 1 root
 */
#ifndef SHOAL_CORE_MATH_H
#define SHOAL_CORE_MATH_H

#include "core/math_f32.h"
#include "core/math_f64.h"
#include "core/math_normal.h"

#endif
