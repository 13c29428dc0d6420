/* SPDX-License-Identifier: Apache-2.0
 *
 * math_f32.h - log, exp, sincospi, normcdf and normcdfinv in float. Part of core/math.h, which
 * holds the ground rules, the errors and the costs.
 *
 * The methods are those of the double versions with shorter polynomials, in float arithmetic
 * throughout: the low parts that keep the tail of Phi accurate cost less on a GPU than one
 * double operation. Two differences: log m = f - f^2 (1/2 - f L(f)) needs no division, and the
 * tail of normcdfinv (here w >= 5) is x = r (1 - T(1/r)), T of degree 10, without a Halley step.
 */
#ifndef SHOAL_CORE_MATH_F32_H
#define SHOAL_CORE_MATH_F32_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/hd.h"

typedef struct {
    float hi, lo;
} shoal_pairf;

/* value = 2^(biased - 254) (1 + hi + lo) */
typedef struct {
    float hi, lo;
    uint32_t biased;
} shoal_exp_partsf;

SHOAL_HD static inline uint32_t shoal_bitsf(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SHOAL_HD static inline float shoal_from_bitsf(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

SHOAL_HD static inline float shoal_nanf(void) { return shoal_from_bitsf(0x7fc00000u); }

SHOAL_HD static inline float shoal_inff(void) { return shoal_from_bitsf(0x7f800000u); }

SHOAL_HD static inline float shoal_absf(float x) {
    return shoal_from_bitsf(shoal_bitsf(x) & 0x7fffffffu);
}

SHOAL_HD static inline float shoal_pickf(int condition, float a, float b) {
#ifdef __CUDA_ARCH__
    return condition ? a : b;
#else
    uint32_t mask = -(uint32_t)condition;
    return shoal_from_bitsf((shoal_bitsf(a) & mask) | (shoal_bitsf(b) & ~mask));
#endif
}

SHOAL_HD static inline float shoal_horner4f(float sum, float x, float a, float b, float c,
                                            float d) {
    return fmaf(fmaf(fmaf(fmaf(sum, x, a), x, b), x, c), x, d);
}

SHOAL_HD static inline shoal_pairf shoal_two_sumf(float a, float b) {
    shoal_pairf sum;
    sum.hi = a + b;
    float b_taken = sum.hi - a;
    sum.lo = (a - (sum.hi - b_taken)) + (b - b_taken);
    return sum;
}

/* x 2^(biased - 254): two factors; only the last can round. */
SHOAL_HD static inline float shoal_scalef(float x, uint32_t biased) {
    uint32_t half = biased >> 1;
    return x * shoal_from_bitsf(half << 23) * shoal_from_bitsf((biased - half) << 23);
}

/* log(2^(127 - bias) x) as hi + lo for a normal x > 0. */
SHOAL_HD static inline shoal_pairf shoal_log_normal_pairf(float normal, uint32_t bias) {
    uint32_t shifted = shoal_bitsf(normal) + (0x3f800000u - 0x3f3504f3u);
    float m = shoal_from_bitsf((shifted & 0x007fffffu) + 0x3f3504f3u);
    float k = shoal_from_bitsf(0x4b400000u + (shifted >> 23) - bias) - 0x1.8p23f;

    float f = m - 1.0f;
    float series = 0x1.1d8ea6p-4f;
    series =
        shoal_horner4f(series, f, -0x1.d635bcp-4f, 0x1.dea282p-4f, -0x1.fcf4c6p-4f, 0x1.23d21ap-3f);
    series =
        shoal_horner4f(series, f, -0x1.555b4ap-3f, 0x1.999d5ap-3f, -0x1.fffffcp-3f, 0x1.555554p-2f);
    float bend = f * f * fmaf(-f, series, 0.5f); /* f - log(1 + f) */

    float whole = k * 0x1.62e4p-1f; /* exact: 15 bits times 8 */
    float sum = whole + f;
    float rest = ((whole - sum) + f) + fmaf(k, 0x1.7f7d1cp-20f, -bend);
    shoal_pairf ln;
    ln.hi = sum + rest;
    ln.lo = (sum - ln.hi) + rest;
    return ln;
}

/* log x as hi + lo for 0 < x < infinity. */
SHOAL_HD static inline shoal_pairf shoal_log_pairf(float x) {
    int subnormal = x < 0x1p-126f;
    float normal = x * shoal_pickf(subnormal, 0x1p25f, 1.0f);
    return shoal_log_normal_pairf(normal, 127 + 25 * (uint32_t)subnormal);
}

SHOAL_HD static inline float shoal_logf(float x) {
    float value = shoal_log_pairf(x).hi;
    float special = shoal_pickf(x > 0.0f, x, shoal_nanf()); /* +inf or NaN */
    special = shoal_pickf(x == 0.0f, -shoal_inff(), special);
    return shoal_pickf((x > 0.0f) & (x < shoal_inff()), value, special);
}

/* e^(x + x_lo), x in [-160 log 2, 128.5 log 2] */
SHOAL_HD static inline shoal_exp_partsf shoal_exp_pairf(float x, float x_lo) {
    float shifted = fmaf(x, 0x1.715476p+0f, 0x1.8p23f);
    float k = shifted - 0x1.8p23f;
    float r_hi = fmaf(-k, 0x1.62e4p-1f, x);       /* exact */
    float r_lo = fmaf(-k, 0x1.7f7d1cp-20f, x_lo); /* its last bit moves e^x by 2^-35 */
    float r = r_hi + r_lo;
    r_lo = (r_hi - r) + r_lo;
    float series = fmaf(0x1.a124f2p-13f, r, 0x1.6d4324p-10f);
    series = shoal_horner4f(series, r, 0x1.1110ep-7f, 0x1.5554eap-5f, 0x1.555556p-3f, 0x1p-1f);
    float rest = fmaf(r * r, series, r_lo);
    shoal_exp_partsf parts;
    parts.hi = r + rest;
    parts.lo = (r - parts.hi) + rest;
    parts.biased = shoal_bitsf(shifted) - 0x4b400000u + 254;
    return parts;
}

SHOAL_HD static inline float shoal_expf(float x) {
    float clamped = shoal_pickf(x > 89.0f, 89.0f, x);
    clamped = shoal_pickf(x < -104.0f, -104.0f, clamped);
    shoal_exp_partsf parts = shoal_exp_pairf(clamped, 0.0f);
    float value = shoal_scalef(1.0f + parts.hi, parts.biased);
    return shoal_pickf(x == x, value, shoal_nanf());
}

/* sin and cos of pi (quarter/2 + r), |r| <= 1/4; of quarter the last two bits count. */
SHOAL_HD static inline void shoal_sincospi_turnf(float r, uint32_t quarter, float *sine,
                                                 float *cosine) {
    float z = r * r;
    float sin_series = fmaf(fmaf(-0x1.2ee7bcp-1f, z, 0x1.4665e8p+1f), z, -0x1.4abbccp+2f);
    float s = fmaf(r, 0x1.921fb6p+1f, r * fmaf(z, sin_series, -0x1.777a5cp-24f));
    float cos_series =
        fmaf(fmaf(fmaf(0x1.d6204p-3f, z, -0x1.55b68cp+0f), z, 0x1.03c1b6p+2f), z, -0x1.3bd3ccp+2f);
    float c = fmaf(z, cos_series, 1.0f);

    float s_turned = shoal_pickf(quarter & 1, c, s);
    float c_turned = shoal_pickf(quarter & 1, s, c);
    *sine = shoal_from_bitsf(shoal_bitsf(s_turned) ^ (quarter & 2) << 30);
    *cosine = shoal_from_bitsf(shoal_bitsf(c_turned) ^ ((quarter + 1) & 2) << 30);
}

/* sin(pi x) and cos(pi x), specials as in shoal_sincospi. */
SHOAL_HD static inline void shoal_sincospif(float x, float *sine, float *cosine) {
    float size = shoal_absf(x);
    float a = shoal_pickf(size < 0x1p24f, size, 0.0f);
    a -= 2.0f * ((0.5f * a + 0x1p23f) - 0x1p23f); /* a mod 2, in [-1, 1] */
    float shifted = 2.0f * a + 0x1.8p23f;
    uint32_t quarter = shoal_bitsf(shifted); /* its last two bits: n mod 4 */
    float r = a - 0.5f * (shifted - 0x1.8p23f);
    float s_turned, c_turned;
    shoal_sincospi_turnf(r, quarter, &s_turned, &c_turned);
    uint32_t sign = shoal_bitsf(x) & 0x80000000u;
    s_turned = shoal_from_bitsf(shoal_bitsf(s_turned + 0.0f) ^ sign);
    int finite = size < shoal_inff();
    *sine = shoal_pickf(finite, s_turned, shoal_nanf());
    *cosine = shoal_pickf(finite, c_turned + 0.0f, shoal_nanf());
}

SHOAL_HD static inline float shoal_normcdff(float x) {
    float size = shoal_absf(x);
    float a = shoal_pickf(size < 14.5f, size, 14.5f);
    float square = a * a;
    float square_lo = fmaf(a, a, -square);
    shoal_exp_partsf e = shoal_exp_pairf(-0.5f * square, -0.5f * square_lo);

    shoal_pairf d = shoal_two_sumf(a, 4.0f);
    float v = 1.0f / d.hi;
    float v_lo = v * fmaf(-v, d.lo, fmaf(-v, d.hi, 1.0f));
    shoal_pairf shifted = shoal_two_sumf(1.0f, -8.0f * v);
    float t = shifted.hi;
    float t_lo = fmaf(-8.0f, v_lo, shifted.lo);
    float bend = -0x1.b99facp-15f;
    bend = shoal_horner4f(bend, t, -0x1.ec099ap-13f, 0x1.632a04p-13f, 0x1.af9108p-10f,
                          -0x1.c93064p-9f);
    bend =
        shoal_horner4f(bend, t, -0x1.ee7c98p-8f, 0x1.eec64ep-5f, -0x1.7dfee2p-3f, 0x1.8c6dbep-2f);
    /* dh/dt, good to a thousandth: it multiplies t_lo alone */
    float steep = -0x1.7015fp-9f;
    steep =
        shoal_horner4f(steep, t, 0x1.e323b2p-3f, -0x1.24836p-1f, 0x1.8cabd4p-1f, -0x1.36f8e4p-1f);
    const float c0 = 0x1.82b4cp-1f, c0_lo = -0x1.1cb2a8p-23f;
    const float c1 = -0x1.373e3cp-1f, c1_lo = 0x1.de3acap-26f;
    float slope = fmaf(t, bend, c1);
    float slope_lo = fmaf(t, bend, c1 - slope) + c1_lo;
    float h = fmaf(t, slope, c0);
    float h_lo = fmaf(steep, t_lo, fmaf(t, slope_lo, c0_lo));
    h_lo += fmaf(t, slope, c0 - h);

    float g = h * v;
    float g_lo = fmaf(h, v, -g) + fmaf(h_lo, v, h * v_lo);
    float tail = fmaf(g, e.hi, g);
    float tail_lo = fmaf(g, e.hi, g - tail) + fmaf(g_lo, e.hi, fmaf(g, e.lo, g_lo));
    float left = shoal_scalef(tail + tail_lo, e.biased);
    float value = shoal_pickf(x > 0.0f, 1.0f - left, left);
    return shoal_pickf(x == x, value, shoal_nanf());
}

/* x with Phi(x) = p, for ln = log(4 p (1 - p)) > -5 */
SHOAL_HD static inline float shoal_normcdfinv_middlef(float p, shoal_pairf ln) {
    float q = p - 0.5f;
    float w = -ln.hi;
    float t = w - 2.0f;
    float t_lo = (w - (t + 2.0f)) - ln.lo;
    float q_lo = p - (q + 0.5f);
    float bend = 0x1.6b3adp-30f;
    bend = shoal_horner4f(bend, t, -0x1.0d13e4p-25f, 0x1.6fe068p-23f, 0x1.df9316p-21f,
                          -0x1.cb97acp-17f);
    bend =
        shoal_horner4f(bend, t, 0x1.67338ep-16f, 0x1.4024cep-11f, -0x1.39a8b4p-8f, -0x1.6cd14ap-8f);
    /* its derivative, for t_lo */
    float steep =
        fmaf(fmaf(fmaf(0x1.160038p-9f, t, -0x1.c9f35ep-7f), t, -0x1.67a306p-7f), t, 0x1.69afbcp-1f);
    const float c0 = 0x1.f29aep+1f, c0_lo = 0x1.8393dep-20f;
    const float c1 = 0x1.69b3eap-1f, c1_lo = -0x1.3a81bap-29f;
    float slope = fmaf(t, bend, c1);
    float slope_lo = fmaf(t, bend, c1 - slope) + c1_lo;
    float ratio = fmaf(t, slope, c0);
    float ratio_lo = fmaf(steep, t_lo, fmaf(t, slope_lo, c0_lo));
    ratio_lo += fmaf(t, slope, c0 - ratio);
    return fmaf(q, ratio, fmaf(q, ratio_lo, q_lo * ratio));
}

SHOAL_HD static inline float shoal_normcdfinvf(float p) {
    if (!(p > 0.0f && p < 1.0f)) {
        return p == 0.0f ? -shoal_inff() : (p == 1.0f ? shoal_inff() : shoal_nanf());
    }
    float q = p - 0.5f;
    shoal_pairf ln = shoal_log_pairf(4.0f * p * (1.0f - p));
    float w = -ln.hi;
    if (w < 5.0f) return shoal_normcdfinv_middlef(p, ln);
    float r = sqrtf(2.0f * w);
    float u = 1.0f / r;
    float r_lo = u * (0.5f * fmaf(-r, r, 2.0f * w) - ln.lo);
    float t = u - 0.1875f;
    float shrink = fmaf(fmaf(0x1.57e93cp+13f, t, -0x1.061904p+11f), t, -0x1.a6e89cp+8f);
    shrink =
        shoal_horner4f(shrink, t, 0x1.d09748p+1f, 0x1.f1bd5ep+4f, -0x1.84cd42p+1f, 0x1.a22272p+1f);
    shrink =
        shoal_horner4f(shrink, t, -0x1.6bee62p+0f, -0x1.aaf164p-3f, 0x1.1af598p-2f, 0x1.609434p-5f);
    float a = r + fmaf(-r, shrink, r_lo);
    return q < 0.0f ? -a : a;
}

#endif
