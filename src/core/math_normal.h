/* SPDX-License-Identifier: Apache-2.0
 *
 * math_normal.h - Phi, the distribution function of the standard normal law, and its inverse, in
 * double. Part of core/math.h, which holds the ground rules, the errors and the costs.
 *
 * normcdf. For a = |x|
 *
 *     Phi(-a) = e^(-a^2/2) G(a),   G(a) = e^(a^2/2) erfc(a / sqrt 2) / 2,
 *
 * and G is smooth: with v = 1/(a + 4), G(a)/v is a polynomial of degree 23 in t = 7/8 - 8 v on
 * the whole range 0 <= a <= 39, where Phi(-a) has long underflowed. (The idea of expanding the
 * scaled complementary error function in a Moebius image of x: Shepherd and Laframboise 1981.)
 * The error of a sum is that of its largest terms, so those carry a low part: a^2 (by fma), the
 * reduced argument of exp, v, t, the first two coefficients, and the products. Then the relative
 * error is little more than the final rounding, down to the subnormal results, and
 * Phi(x) = 1 - Phi(-x) serves the right half.
 *
 * normcdfinv. With q = p - 1/2 and w = -log(4 p (1 - p)), x/q is a smooth even function of q and
 * therefore of w (Giles 2010). For w < 25/4, all but a thousandth of (0,1), x = q P(w), P of
 * degree 24 in w - 2. Beyond, r = sqrt(2 w) and x = r (1 - T(1/r)) to 23 bits, and one step of
 * Halley's rule on log Phi(-a) = log y, y = min(p, 1 - p), which is nearly a parabola, reaches
 * full precision; the error of Phi enters it divided by a^2. The step compares significands with
 * the exponent set aside, so y may be subnormal.
 */
#ifndef SHOAL_CORE_MATH_NORMAL_H
#define SHOAL_CORE_MATH_NORMAL_H

#include "core/math_f64.h"

/* Phi(-a) = 2^(biased - 2046) (hi + lo), and ratio = G(a) to working precision. */
typedef struct {
    double hi, lo, ratio;
    uint64_t biased;
} shoal_normal_tail;

/* 0 <= a <= 39 */
SHOAL_HD static inline shoal_normal_tail shoal_normcdf_tail(double a) {
    double square = a * a;
    double square_lo = fma(a, a, -square);
    shoal_exp_parts e = shoal_exp_pair(-0.5 * square, -0.5 * square_lo);

    shoal_pair d = shoal_two_sum(a, 4.0);
    double v = 1.0 / d.hi;
    double v_lo = v * fma(-v, d.lo, fma(-v, d.hi, 1.0));
    shoal_pair shifted = shoal_two_sum(0.875, -8.0 * v);
    double t = shifted.hi;
    double t_lo = fma(-8.0, v_lo, shifted.lo);
    double bend = fma(-0x1.8f4178ebec56p-31, t, -0x1.3cccc5a287a0dp-28);
    bend = shoal_horner4(bend, t, -0x1.0f0b4ac8e5e7fp-27, 0x1.c00b84f4bdf9ap-27,
                         0x1.fed3ce0dbc605p-25, 0x1.1a97b6e307f5dp-28);
    bend = shoal_horner4(bend, t, -0x1.1f3130d0d8c03p-22, -0x1.c94b9512c7382p-23,
                         0x1.2d1f0b2db441bp-20, 0x1.9b9e68934d701p-20);
    bend = shoal_horner4(bend, t, -0x1.5a3933602a9f7p-18, -0x1.27742ca06639fp-17,
                         0x1.e547aa81bef8p-16, 0x1.6f5f3f602859fp-15);
    bend = shoal_horner4(bend, t, -0x1.abdcf3585fb1p-13, -0x1.e9e86647c074p-14,
                         0x1.ad01f0eb8b3bcp-10, -0x1.0a537a992f29cp-9);
    bend = shoal_horner4(bend, t, -0x1.3ad0117c3a8cp-7, 0x1.c26819d8d205dp-5, -0x1.42d02444c936ap-3,
                         0x1.4a7089e7043fcp-2);
    /* dh/dt, good to a thousandth: it multiplies t_lo alone */
    double steep = -0x1.1e1c55fecdfe3p-6;
    steep = shoal_horner4(steep, t, 0x1.b380825f44e0ep-3, -0x1.f22b58b03a14p-2,
                          0x1.4b26d03ebd2d1p-1, -0x1.09835042c72f8p-1);
    const double c0 = 0x1.5eb7f6752c13p-1, c0_lo = -0x1.4dbbceba5f5dbp-51;
    const double c1 = -0x1.09edf04e64665p-1, c1_lo = 0x1.e546695a7e71ap-57;
    double slope = fma(t, bend, c1);
    double slope_lo = fma(t, bend, c1 - slope) + c1_lo;
    double h = fma(t, slope, c0);
    double h_lo = fma(steep, t_lo, fma(t, slope_lo, c0_lo));
    h_lo += fma(t, slope, c0 - h);

    double g = h * v; /* G(a) = h v */
    double g_lo = fma(h, v, -g) + fma(h_lo, v, h * v_lo);
    shoal_normal_tail tail;
    tail.hi = fma(g, e.hi, g); /* G (1 + e) */
    tail.lo = fma(g, e.hi, g - tail.hi) + fma(g_lo, e.hi, fma(g, e.lo, g_lo));
    tail.ratio = g;
    tail.biased = e.biased;
    return tail;
}

SHOAL_HD static inline double shoal_normcdf(double x) {
    double a = shoal_abs(x);
    shoal_normal_tail tail = shoal_normcdf_tail(shoal_pick(a < 39.0, a, 39.0));
    double left = shoal_scale(tail.hi + tail.lo, tail.biased);
    double value = shoal_pick(x > 0.0, 1.0 - left, left);
    return shoal_pick(x == x, value, shoal_nan());
}

/* a > 0 with Phi(-a) = y, for w = -log(4 y (1 - y)) >= 25/4 */
SHOAL_HD static inline double shoal_normcdfinv_tail(double y, double w) {
    double r = sqrt(2.0 * w);
    double t = 1.0 / r - 0.15625;
    double shrink =
        fma(fma(0x1.c1b748ab7ecd1p+14, t, -0x1.bb6657608686dp+12), t, 0x1.2a45300792509p+4);
    shrink = shoal_horner4(shrink, t, 0x1.989ab5c4acdcep+5, 0x1.09c94be93353fp+5,
                           -0x1.1faa632d0d326p+3, 0x1.0968f4125832p+2);
    shrink = shoal_horner4(shrink, t, -0x1.e0390d11c3389p+0, -0x1.bfbd8e6969996p-5,
                           0x1.239b13b87c15bp-2, 0x1.188d9d367a876p-5);
    double a = fma(-r, shrink, r);

    shoal_normal_tail tail = shoal_normcdf_tail(a);
    double scaled = shoal_scale(y, 4092 - tail.biased); /* exact: y grows */
    double excess = ((tail.hi - scaled) + tail.lo) / scaled;
    /* log(1 + excess) = h da + h (h - a) da^2 / 2, with the hazard h = density / Phi(-a) */
    double log_excess = excess * fma(excess, fma(excess, 0x1.5555555555555p-2, -0.5), 1.0);
    double h = 0x1.9884533d43651p-2 / tail.ratio; /* 1/sqrt(2 pi) / G */
    double da = log_excess / h;
    return a + fma(-0.5 * (h - a) * da, da, da);
}

/* x with Phi(x) = p, for ln = log(4 p (1 - p)) > -25/4 */
SHOAL_HD static inline double shoal_normcdfinv_middle(double p, shoal_pair ln) {
    double q = p - 0.5;
    double w = -ln.hi;
    double t = w - 2.0;
    double t_lo = (w - (t + 2.0)) - ln.lo;
    double q_lo = p - (q + 0.5);
    double bend =
        fma(fma(-0x1.33294645ba9c7p-70, t, 0x1.587dcb572dd01p-65), t, -0x1.3a2a9237196f8p-61);
    bend = shoal_horner4(bend, t, 0x1.fb96ec4ed72c1p-59, 0x1.97f351ea8c22ap-60,
                         -0x1.9106365197463p-53, 0x1.dd3b14d48587p-51);
    bend = shoal_horner4(bend, t, 0x1.2a4db47026f87p-48, -0x1.f79aa5abc680ap-45,
                         0x1.a333cc96da158p-45, 0x1.50b571805f787p-39);
    bend = shoal_horner4(bend, t, -0x1.aedab6c734175p-37, -0x1.0829f02a948b7p-34,
                         0x1.c906945ac63f6p-31, -0x1.8e93203748492p-31);
    bend = shoal_horner4(bend, t, -0x1.395287e28075ep-25, 0x1.a37bca465a54ap-23,
                         0x1.e14721555cfcep-21, -0x1.ce9e28dabec39p-17);
    bend = shoal_horner4(bend, t, 0x1.67c4b069a3218p-16, 0x1.4037659171362p-11,
                         -0x1.39a9bdc7b54c6p-8, -0x1.6cd293ae8126cp-8);
    /* its derivative, for t_lo */
    double steep =
        fma(fma(fma(0x1.e4dd9cbbe08f8p-10, t, -0x1.c4fc99eceaa82p-7), t, -0x1.3e9c7065b56d5p-7), t,
            0x1.69c0a3f58204ap-1);
    const double c0 = 0x1.f29aec2be3e7p+1, c0_lo = 0x1.8f337b6ce0051p-49;
    const double c1 = 0x1.69b3eab04ee4fp-1, c1_lo = -0x1.39a1c42af357bp-55;
    double slope = fma(t, bend, c1);
    double slope_lo = fma(t, bend, c1 - slope) + c1_lo;
    double ratio = fma(t, slope, c0);
    double ratio_lo = fma(steep, t_lo, fma(t, slope_lo, c0_lo));
    ratio_lo += fma(t, slope, c0 - ratio);
    return fma(q, ratio, fma(q, ratio_lo, q_lo * ratio));
}

/* x with Phi(x) = p; -inf at 0, +inf at 1, NaN outside [0, 1]. */
SHOAL_HD static inline double shoal_normcdfinv(double p) {
    if (!(p > 0.0 && p < 1.0)) {
        return p == 0.0 ? -shoal_inf() : (p == 1.0 ? shoal_inf() : shoal_nan());
    }
    shoal_pair ln = shoal_log_pair(4.0 * p * (1.0 - p));
    double w = -ln.hi;
    if (w < 6.25) return shoal_normcdfinv_middle(p, ln);
    double a = shoal_normcdfinv_tail(p < 0.5 ? p : 1.0 - p, w);
    return p < 0.5 ? -a : a;
}

#endif
