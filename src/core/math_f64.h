/* SPDX-License-Identifier: Apache-2.0
 *
 * math_f64.h - log, exp and sincospi in double. Part of core/math.h, which holds the ground rules,
 * the errors and the costs.
 *
 *     log       x = 2^k m, sqrt(1/2) <= m < sqrt(2); f = m - 1, s = f / (2 + f);
 *               log m = 2 atanh(s) = f - s (f - z R(z)), z = s^2; k log 2 added in two pieces
 *     exp       x = k log 2 + r, |r| <= log(2)/2; 1 + (r + r^2 E(r)), scaled by 2^k in two steps
 *               so that a subnormal result is rounded once
 *     sincospi  x - 2 round(x/2), then r = that - n/2, |r| <= 1/4, both exact; sin(pi r) is
 *               r pi + r z S(z) with pi in two pieces, cos(pi r) is 1 + z C(z), z = r^2
 */
#ifndef SHOAL_CORE_MATH_F64_H
#define SHOAL_CORE_MATH_F64_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/hd.h"

/* An unevaluated sum hi + lo, |lo| <= ulp(hi)/2 or so. */
typedef struct {
    double hi, lo;
} shoal_pair;

/* value = 2^(biased - 2046) (1 + hi + lo); the exponent is kept biased so that it is unsigned. */
typedef struct {
    double hi, lo;
    uint64_t biased;
} shoal_exp_parts;

SHOAL_HD static inline uint64_t shoal_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SHOAL_HD static inline double shoal_from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

SHOAL_HD static inline double shoal_nan(void) { return shoal_from_bits(0x7ff8000000000000u); }

SHOAL_HD static inline double shoal_inf(void) { return shoal_from_bits(0x7ff0000000000000u); }

SHOAL_HD static inline double shoal_abs(double x) {
    return shoal_from_bits(shoal_bits(x) & 0x7fffffffffffffffu);
}

/* condition ? a : b, on the CPU in integer operations. A plain choice of doubles is a branch to gcc
 * (it keeps floating-point traps in order) and would stop it from vectorising the loop around. */
SHOAL_HD static inline double shoal_pick(int condition, double a, double b) {
#ifdef __CUDA_ARCH__
    return condition ? a : b;
#else
    uint64_t mask = -(uint64_t)condition;
    return shoal_from_bits((shoal_bits(a) & mask) | (shoal_bits(b) & ~mask));
#endif
}

/* sum x^4 + a x^3 + b x^2 + c x + d: a polynomial is written four coefficients to the line. */
SHOAL_HD static inline double shoal_horner4(double sum, double x, double a, double b, double c,
                                            double d) {
    return fma(fma(fma(fma(sum, x, a), x, b), x, c), x, d);
}

/* a + b without loss, in any order of magnitude. */
SHOAL_HD static inline shoal_pair shoal_two_sum(double a, double b) {
    shoal_pair sum;
    sum.hi = a + b;
    double b_taken = sum.hi - a;
    sum.lo = (a - (sum.hi - b_taken)) + (b - b_taken);
    return sum;
}

/* x 2^(biased - 2046), 473 <= biased/2 < 2047: two factors; only the last can round. */
SHOAL_HD static inline double shoal_scale(double x, uint64_t biased) {
    uint64_t half = biased >> 1;
    return x * shoal_from_bits(half << 52) * shoal_from_bits((biased - half) << 52);
}

/* f - log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2), without cancellation. */
SHOAL_HD static inline double shoal_log_bend(double f) {
    double s = f / (2.0 + f);
    double z = s * s;
    double series =
        fma(fma(0x1.2b584aae78a57p-3, z, 0x1.39fe606542ddep-3), z, 0x1.7462b4ab2ef6bp-3);
    series = shoal_horner4(series, z, 0x1.c71c62e5800a1p-3, 0x1.2492492df148dp-2,
                           0x1.99999999952e2p-2, 0x1.5555555555558p-1);
    return s * fma(-z, series, f);
}

/* log(2^(1023 - bias) x) as hi + lo for a normal x > 0; anything else gives nonsense. */
SHOAL_HD static inline shoal_pair shoal_log_normal_pair(double normal, uint64_t bias) {
    /* Counted from sqrt(1/2), the exponent field is k and the rest is the offset of m. */
    uint64_t shifted = shoal_bits(normal) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    double m = shoal_from_bits((shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    /* k as a double through the last bits of 1.5 2^52: no 64-bit conversion to vectorise. */
    double k = shoal_from_bits(0x4338000000000000u + (shifted >> 52) - bias) - 0x1.8p52;

    double f = m - 1.0;
    double bend = shoal_log_bend(f);
    double whole = k * 0x1.62e42fefa38p-1; /* exact: 42 bits times 11 */
    double sum = whole + f;
    double rest = ((whole - sum) + f) + fma(k, 0x1.ef35793c7673p-45, -bend);
    shoal_pair ln;
    ln.hi = sum + rest;
    ln.lo = (sum - ln.hi) + rest;
    return ln;
}

/* log x as hi + lo for 0 < x < infinity, subnormals included; anything else gives nonsense. */
SHOAL_HD static inline shoal_pair shoal_log_pair(double x) {
    int subnormal = x < 0x1p-1022;
    double normal = x * shoal_pick(subnormal, 0x1p54, 1.0);
    return shoal_log_normal_pair(normal, 1023 + 54 * (uint64_t)subnormal);
}

/* log(+-0) = -inf, log(x < 0) = NaN. */
SHOAL_HD static inline double shoal_log(double x) {
    double value = shoal_log_pair(x).hi;
    double special = shoal_pick(x > 0.0, x, shoal_nan()); /* +inf or NaN */
    special = shoal_pick(x == 0.0, -shoal_inf(), special);
    return shoal_pick((x > 0.0) & (x < shoal_inf()), value, special);
}

/* e^(x + x_lo), x in [-1100 log 2, 1024.5 log 2], |x_lo| <= ulp(x); x NaN gives nonsense. */
SHOAL_HD static inline shoal_exp_parts shoal_exp_pair(double x, double x_lo) {
    double shifted = fma(x, 0x1.71547652b82fep+0, 0x1.8p52);
    double k = shifted - 0x1.8p52;
    double r_hi = fma(-k, 0x1.62e42fefa38p-1, x); /* exact */
    double r_lo = fma(-k, 0x1.ef35793c7673p-45, x_lo);
    double r = r_hi + r_lo;
    r_lo = (r_hi - r) + r_lo;
    double series =
        fma(fma(0x1.1f730349868cep-29, r, 0x1.af4de97ca4194p-26), r, 0x1.27e4db646b17ep-22);
    series = shoal_horner4(series, r, 0x1.71de0231960ebp-19, 0x1.a01a01a6d889cp-16,
                           0x1.a01a01abe7fe1p-13, 0x1.6c16c16c162d4p-10);
    series = shoal_horner4(series, r, 0x1.11111111100dcp-7, 0x1.5555555555556p-5,
                           0x1.5555555555557p-3, 0x1p-1);
    double rest = fma(r * r, series, r_lo);
    shoal_exp_parts parts;
    parts.hi = r + rest;
    parts.lo = (r - parts.hi) + rest;
    parts.biased = shoal_bits(shifted) - 0x4338000000000000u + 2046;
    return parts;
}

SHOAL_HD static inline double shoal_exp(double x) {
    double clamped = shoal_pick(x > 710.0, 710.0, x);
    clamped = shoal_pick(x < -746.0, -746.0, clamped);
    shoal_exp_parts parts = shoal_exp_pair(clamped, 0.0);
    double value = shoal_scale(1.0 + parts.hi, parts.biased);
    return shoal_pick(x == x, value, shoal_nan());
}

/* sin and cos of pi (quarter/2 + r), |r| <= 1/4; of quarter the last two bits count. */
SHOAL_HD static inline void shoal_sincospi_turn(double r, uint64_t quarter, double *sine,
                                                double *cosine) {
    double z = r * r;
    double sin_series =
        fma(fma(-0x1.6cc577dadd922p-16, z, 0x1.e8f036bcd3237p-12), z, -0x1.e3074d2614b2dp-8);
    sin_series = shoal_horner4(sin_series, z, 0x1.50783486facaap-4, -0x1.32d2cce62b872p-1,
                               0x1.466bc6775aae1p+1, -0x1.4abbce625be53p+2);
    double s = fma(r, 0x1.921fb54442d18p+1, r * fma(z, sin_series, 0x1.1a62633145c07p-53));
    double cos_series =
        fma(fma(-0x1.b14a1c0fa985dp-14, z, 0x1.f9c83c8fb4354p-10), z, -0x1.a6d1e6afa50cp-6);
    cos_series = shoal_horner4(cos_series, z, 0x1.e1f5067afe90fp-3, -0x1.55d3c7e3c2d39p+0,
                               0x1.03c1f081b5a65p+2, -0x1.3bd3cc9be45dep+2);
    double c = fma(z, cos_series, 1.0);

    double s_turned = shoal_pick(quarter & 1, c, s);
    double c_turned = shoal_pick(quarter & 1, s, c);
    *sine = shoal_from_bits(shoal_bits(s_turned) ^ (quarter & 2) << 62);
    *cosine = shoal_from_bits(shoal_bits(c_turned) ^ ((quarter + 1) & 2) << 62);
}

/* sin(pi x) and cos(pi x). A zero sine has the sign of x, a zero cosine is +0, and infinity gives
 * NaN; every x of 2^53 or more is an even integer. */
SHOAL_HD static inline void shoal_sincospi(double x, double *sine, double *cosine) {
    double size = shoal_abs(x);
    double a = shoal_pick(size < 0x1p53, size, 0.0);
    a -= 2.0 * ((0.5 * a + 0x1p52) - 0x1p52); /* a mod 2, in [-1, 1] */
    double shifted = 2.0 * a + 0x1.8p52;
    uint64_t quarter = shoal_bits(shifted); /* its last two bits: n mod 4 */
    double r = a - 0.5 * (shifted - 0x1.8p52);
    double s_turned, c_turned;
    shoal_sincospi_turn(r, quarter, &s_turned, &c_turned);
    /* Adding +0 makes -0 into +0 and changes nothing else. */
    uint64_t sign = shoal_bits(x) & 0x8000000000000000u;
    s_turned = shoal_from_bits(shoal_bits(s_turned + 0.0) ^ sign);
    int finite = size < shoal_inf();
    *sine = shoal_pick(finite, s_turned, shoal_nan());
    *cosine = shoal_pick(finite, c_turned + 0.0, shoal_nan());
}

#endif
