/* SPDX-License-Identifier: Apache-2.0
 *
 * real.h - float and double from one source. An algorithm file is plain code in `real` and exports
 * R(name); the build compiles it once per type (SHOAL_SINGLE) and, for CPU files, once per
 * instruction level (SHOAL_LEVEL = v2, v3, v4 or base). So R(thomas) is shoal_thomas_f64_v3 in one
 * object and shoal_thomas_f32_cuda in another, and a debugger steps through all of them.
 */
#ifndef SHOAL_CORE_REAL_H
#define SHOAL_CORE_REAL_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "core/hd.h"

#if defined(__CUDACC__) || defined(SHOAL_EMULATED)
#define SHOAL_LEVEL cuda
#elif !defined(SHOAL_LEVEL)
#error "CPU algorithm files are built with -DSHOAL_LEVEL=..."
#endif

#define SHOAL_JOIN3_(name, type, level) shoal_##name##_##type##_##level
#define SHOAL_JOIN3(name, type, level)  SHOAL_JOIN3_(name, type, level)

#ifdef SHOAL_SINGLE
typedef float real;
#define REAL_MIN     FLT_MIN      /* the smallest normal number */
#define REAL_TINY    FLT_TRUE_MIN /* the smallest of all        */
#define REAL_EPSILON FLT_EPSILON  /* from 1 to the next number  */
#define REAL_MAX     FLT_MAX      /* the largest                */
#define R(name)      SHOAL_JOIN3(name, f32, SHOAL_LEVEL)
#else
typedef double real;
#define REAL_MIN     DBL_MIN
#define REAL_TINY    DBL_TRUE_MIN
#define REAL_EPSILON DBL_EPSILON
#define REAL_MAX     DBL_MAX
#define R(name)      SHOAL_JOIN3(name, f64, SHOAL_LEVEL)
#endif

#ifdef SHOAL_SINGLE
SHOAL_HD static inline real real_abs(real v) { return fabsf(v); }
SHOAL_HD static inline real real_fma(real u, real v, real w) { return fmaf(u, v, w); }
SHOAL_HD static inline real real_sqrt(real v) { return sqrtf(v); }
#else
SHOAL_HD static inline real real_abs(real v) { return fabs(v); }
SHOAL_HD static inline real real_fma(real u, real v, real w) { return fma(u, v, w); }
SHOAL_HD static inline real real_sqrt(real v) { return sqrt(v); }
#endif

/* The larger of two, w if v is NaN: one instruction on the GPU in f32. */
SHOAL_HD static inline real real_max(real v, real w) {
#if defined(__CUDA_ARCH__) && defined(SHOAL_SINGLE)
    return fmaxf(v, w);
#else
    return v > w ? v : w;
#endif
}

/* The smaller of two, in the same way. */
SHOAL_HD static inline real real_min(real v, real w) {
#if defined(__CUDA_ARCH__) && defined(SHOAL_SINGLE)
    return fminf(v, w);
#else
    return v < w ? v : w;
#endif
}

/* u v + w as each device does it fast: fused on the GPU, and where it is emulated; with two roundings on the
 * CPU (fma is a library call at the lowest instruction level). */
SHOAL_HD static inline real real_mad(real u, real v, real w) {
#if defined(__CUDA_ARCH__) || defined(SHOAL_EMULATED)
    return real_fma(u, v, w);
#else
    return u * v + w;
#endif
}

#ifdef SHOAL_EMULATED
/* What rcp.approx.ftz reads and writes: no subnormal numbers. */
SHOAL_HD static inline real real_flushed(real v) { return real_abs(v) < REAL_MIN ? v * 0 : v; }
#endif

/* 1 / v; on the GPU within an ulp or two, by Newton's steps, and not finite where v is 0 or next to
 * it. */
SHOAL_HD static inline real real_reciprocal(real v) {
#if defined(__CUDA_ARCH__) && defined(SHOAL_SINGLE)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return real_fma(r, real_fma(-v, r, 1), r);
#elif defined(__CUDA_ARCH__)
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    r = real_fma(r, real_fma(-v, r, 1), r);
    return real_fma(r, real_fma(-v, r, 1), r);
#elif defined(SHOAL_EMULATED)
    const real r = real_flushed(1 / real_flushed(v));
    return real_fma(r, real_fma(-v, r, 1), r);
#else
    return 1 / v;
#endif
}

/* The same with an ulp more: in f32 one instruction on the GPU. */
SHOAL_HD static inline real real_reciprocal_rough(real v) {
#if defined(__CUDA_ARCH__) && defined(SHOAL_SINGLE)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
#elif defined(SHOAL_EMULATED) && defined(SHOAL_SINGLE)
    return real_flushed(1 / real_flushed(v));
#else
    return real_reciprocal(v);
#endif
}

/* ---- exponents -------------------------------------------------------------------------------- */

#ifdef SHOAL_SINGLE
typedef int32_t real_bits;
enum { REAL_FRACTION = 23, REAL_BIAS = 127 };
#else
typedef int64_t real_bits;
enum { REAL_FRACTION = 52, REAL_BIAS = 1023 };
#endif

SHOAL_HD static inline real_bits real_to_bits(real v) {
    real_bits bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
SHOAL_HD static inline real real_of_bits(real_bits bits) {
    real v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* e with 2^e <= v < 2^(e+1), and 2^e itself, for a normal v > 0. */
SHOAL_HD static inline int exponent_of(real v) {
    return (int)(real_to_bits(v) >> REAL_FRACTION) - REAL_BIAS;
}
SHOAL_HD static inline real power_of_two_in(real v) {
    return real_of_bits(real_to_bits(v) & ~(((real_bits)1 << REAL_FRACTION) - 1));
}

/* 2^e for e from -REAL_BIAS to REAL_BIAS. */
SHOAL_HD static inline real power_of_two(int e) {
    return real_of_bits(e > -REAL_BIAS ? (real_bits)(e + REAL_BIAS) << REAL_FRACTION
                                       : (real_bits)1 << (REAL_FRACTION - 1));
}

/* v 2^e in two steps, for any e that the difference of two exponents can be. */
SHOAL_HD static inline real times_power_of_2(real v, int e) {
    const int half = e / 2, rest = e - half;
    return v * real_of_bits((real_bits)(half + REAL_BIAS) << REAL_FRACTION) *
           real_of_bits((real_bits)(rest + REAL_BIAS) << REAL_FRACTION);
}

/* ---- numbers that are not finite -------------------------------------------------------------- */

/* 0 for a finite number, NaN otherwise, added to what was seen before. */
SHOAL_HD static inline real poisoned(real poison, real v) { return real_mad(v, 0, poison); }

SHOAL_HD static inline real real_nan(void) { return (real)NAN; }

/* u / v for a pivot v: not finite where v is zero, nor where v has overflowed, which u / v alone
 * would turn into a silent 0. */
SHOAL_HD static inline real real_over_pivot(real u, real v) { return real_mad(v, 0, u / v); }

#endif
