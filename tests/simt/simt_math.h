/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_math.h - device arithmetic that a host compiler does not know by name.
 *
 * The _rn forms are the plain IEEE operations (the project compiles with contraction off). The
 * fast intrinsics (__expf, __fdividef...) give the accurate host result: a test must not depend on
 * their bits. Directed rounding (_rz, _ru, _rd) is not offered.
 */
#ifndef SHOAL_SIMT_MATH_H
#define SHOAL_SIMT_MATH_H

#include <time.h>

#include "simt_types.h"

/* clang-format off */
/* Plain rounding to nearest */
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __frsqrt_rn(float a) { return (float)(1.0 / sqrt((double)a)); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline double __drcp_rn(double a) { return 1.0 / a; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }

/* Fast forms. glibc declares some of these names itself, hence macros. */
#define __expf(x)       expf(x)
#define __exp10f(x)     powf(10.0f, (x))
#define __logf(x)       logf(x)
#define __log2f(x)      log2f(x)
#define __log10f(x)     log10f(x)
#define __sinf(x)       sinf(x)
#define __cosf(x)       cosf(x)
#define __tanf(x)       tanf(x)
#define __powf(x, y)    powf((x), (y))
#define __sincosf(x, s, c) simt::sine_cosine((x), (s), (c))
#define __fdividef(x, y) ((float)(x) / (float)(y))
#define __saturatef(x)  fminf(fmaxf((x), 0.0f), 1.0f)

namespace simt {
static inline void sine_cosine(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }

/* sin and cos of pi x: x is first reduced to [-1/4, 1/4], which is exact. */
static inline void sincos_of_pi(double x, double *s, double *c) {
    double half_turns = rint(2.0 * x), rest = x - 0.5 * half_turns;
    double sine = sin(M_PI * rest), cosine = cos(M_PI * rest);
    switch ((int)fmod(half_turns, 4.0) & 3) {
    case 0: *s = sine; *c = cosine; break;
    case 1: *s = cosine; *c = -sine; break;
    case 2: *s = -sine; *c = -cosine; break;
    default: *s = -cosine; *c = sine;
    }
}
} // namespace simt

static inline void sincospi(double x, double *s, double *c) { simt::sincos_of_pi(x, s, c); }
static inline void sincospif(float x, float *s, float *c) {
    double sine, cosine;
    simt::sincos_of_pi(x, &sine, &cosine);
    *s = (float)sine;
    *c = (float)cosine;
}
#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 41) /* newer C libraries have these */
static inline double sinpi(double x) { double s, c; sincospi(x, &s, &c); return s; }
static inline double cospi(double x) { double s, c; sincospi(x, &s, &c); return c; }
static inline float sinpif(float x) { return (float)sinpi(x); }
static inline float cospif(float x) { return (float)cospi(x); }
#endif
#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 42)
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
#endif
static inline double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
static inline float normcdff(float x) { return (float)normcdf(x); }

/* Bits */
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long y = 0;
    for (int i = 0; i < 64; i++) y |= (x >> i & 1) << (63 - i);
    return y;
}
static inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned y = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = selector >> 4 * i, byte = (unsigned)(bytes >> 8 * (pick & 7)) & 0xffu;
        if (pick & 8) byte = byte & 0x80u ? 0xffu : 0;
        y |= byte << 8 * i;
    }
    return y;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    __extension__ typedef unsigned __int128 wide;
    return (unsigned long long)((wide)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) {
    __extension__ typedef __int128 wide;
    return (long long)((wide)a * b >> 64);
}

/* The same bits as another type */
namespace simt {
template <class To, class From> inline To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace simt
static inline int __float_as_int(float x) { return simt::same_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return simt::same_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return simt::same_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return simt::same_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return simt::same_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return simt::same_bits<double>(x); }
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)(unsigned)__double_as_longlong(x); }
static inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((uint64_t)(unsigned)high << 32 | (unsigned)low));
}
static inline int __float2int_rn(float x) { return (int)rintf(x); }
static inline int __double2int_rn(double x) { return (int)rint(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline int __double2int_rz(double x) { return (int)x; }
static inline int __double2int_rd(double x) { return (int)floor(x); }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline float __double2float_rn(double x) { return (float)x; }

/* min and max: integers by comparison, floating point as fmin and fmax (a NaN loses) */
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
static inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
static inline long min(long a, long b) { return a < b ? a : b; }
static inline long max(long a, long b) { return a > b ? a : b; }
static inline unsigned long min(unsigned long a, unsigned long b) { return a < b ? a : b; }
static inline unsigned long max(unsigned long a, unsigned long b) { return a > b ? a : b; }
static inline long long min(long long a, long long b) { return a < b ? a : b; }
static inline long long max(long long a, long long b) { return a > b ? a : b; }
static inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
static inline unsigned long long max(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }
/* clang-format on */

/* Time in nanoseconds, the same clock for every thread */
static inline long long clock64() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

[[noreturn]] static inline void __trap() {
    fprintf(stderr, "simt: __trap\n");
    abort();
}

#endif
