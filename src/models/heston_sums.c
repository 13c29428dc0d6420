/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_sums.c - Heston's characteristic function at points that all strikes of a maturity share, and sums of the
 * integrands over them.
 *
 * A lane has every HESTON_LANES-th point, and the lanes are added in one order. All functions are those of core/math.h or
 * below, so that all instruction levels have the same bits. phi takes about 350 operations per point, 750 with its slopes;
 * a sum about 50, 70 with gradients.
 */
#include "models/heston_sums.h"
#include "core/loops.h"
#include "core/math.h"
#include "core/real.h"
#include <math.h>

#define PER_PI 0.31830988618379067

/* ---- complex numbers ---------------------------------------------------------------------------- */

/* Products and quotients of C's own look for infinities, and are not vectorised. */
typedef struct number {
    double re, im;
} number;

ALWAYS_INLINE number scaled(double s, number a) { return (number){ s * a.re, s * a.im }; }
ALWAYS_INLINE number plus(number a, number b) { return (number){ a.re + b.re, a.im + b.im }; }
ALWAYS_INLINE number less(number a, number b) { return (number){ a.re - b.re, a.im - b.im }; }
ALWAYS_INLINE number times(number a, number b) {
    return (number){ fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re) };
}
ALWAYS_INLINE number inverse(number a) {
    const double s = 1 / fma(a.re, a.re, a.im * a.im);
    return (number){ s * a.re, -(s * a.im) };
}

/* e^x - 1 for x <= 0, without loss for a small x. */
ALWAYS_INLINE double less_one(double x) {
    const shoal_exp_parts e = shoal_exp_pair(shoal_pick(x < -746.0, -746.0, x), 0.0);
    const double power = shoal_scale(1.0, e.biased);
    return fma(power, e.hi, power - 1);
}

/* log(1 + x) without loss for a small x. */
ALWAYS_INLINE double log_plus(double x) {
    const double one = 1 + x;
    return shoal_log(one) + (x - (one - 1)) / one;
}

/* The angle of x + iy, by a polynomial for |atan| <= pi/8. */
ALWAYS_INLINE double angle_of(double y, double x) {
    const double across = shoal_abs(x), up = shoal_abs(y);
    const int steep = up > across;
    const double most = shoal_pick(steep, up, across), least = shoal_pick(steep, across, up);
    const int wide = least > 0.41421356237309503 * most;
    const double r = shoal_pick(wide, least - most, least) / shoal_pick(wide, least + most, most);
    const double s = r * r;
    double series = 0x1.3a2b7a07caea8p-6;
    series = fma(series, s, -0x1.41603647c7a7cp-5);
    series = fma(series, s, 0x1.a098bb6ba4941p-5);
    series = shoal_horner4(series, s, -0x1.dfe61e80903d2p-5, 0x1.10fa75382537fp-4,
                           -0x1.3b1262d95579ep-4, 0x1.745d0b26b83e7p-4);
    series = shoal_horner4(series, s, -0x1.c71c7185314cbp-4, 0x1.24924924360cbp-3,
                           -0x1.999999999934ap-3, 0x1.5555555555555p-2);
    double angle = fma(-(r * s), series, r) + shoal_pick(wide, 0x1.921fb54442d18p-1, 0.0);
    angle = shoal_pick(steep, 0x1.921fb54442d18p+0 - angle, angle);
    angle = shoal_pick(x < 0.0, 0x1.921fb54442d18p+1 - angle, angle);
    return shoal_pick(y < 0.0, -angle, angle);
}

/* log(1 + b) - b / (1 + b), of which b and its logarithm are known: their series if b is small. */
ALWAYS_INLINE number bend_less(number b, number log_base, number quotient) {
    const number direct = less(log_base, quotient);
    number sum = { 7.0 / 8, 0 };
    for (int n = 7; n >= 2; n--) /* 1/2 - 2 b/3 + 3 b^2/4 - ... */
        sum = less((number){ (n - 1.0) / n, 0 }, times(b, sum));
    const number series = times(times(b, b), sum);
    const int small = fma(b.re, b.re, b.im * b.im) < 2.5e-5;
    return (number){ shoal_pick(small, series.re, direct.re),
                     shoal_pick(small, series.im, direct.im) };
}

/* ---- the characteristic function ---------------------------------------------------------------- */

typedef struct point { /* log phi, and its derivatives by v0, kappa, theta, sigma, rho */
    number level, slope[HESTON_SLOPES];
} point;

ALWAYS_INLINE point point_of(const shoal_heston *m, double maturity, double u, const int slopes) {
    const double q = fma(u, u, 0.25), sigma = m->sigma, square = sigma * sigma;
    const double pull = m->kappa * m->theta;
    const number beta = { m->kappa - 0.5 * m->rho * sigma, -m->rho * sigma * u };
    /* d^2 has a real part above 0: its q - rho^2 u^2 is written without cancellation */
    const double own = 0.25 + (1 - m->rho) * (1 + m->rho) * (u * u);
    const double x = fma(beta.re, beta.re, square * own), y = 2 * beta.re * beta.im;
    const double a = sqrt(0.5 * (sqrt(fma(x, x, y * y)) + x));
    const number d = { a, 0.5 * y / a }, sum = plus(beta, d);
    const number over_d = inverse(d), over_sum = inverse(sum);
    /* 1 - e^(-dT) without loss for a small dT */
    double s, c;
    const double fall = less_one(-maturity * d.re);
    shoal_sincospi(0.5 * maturity * d.im * PER_PI, &s, &c);
    const number gone = { 2 * (1 + fall) * s * s - fall, 2 * (1 + fall) * s * c };
    const number h = times(scaled(0.5 * q, gone), over_d);
    const number bend = scaled(-square, times(h, over_sum)); /* B */
    const number over_base = inverse((number){ 1 + bend.re, bend.im });
    const number log_base = {
        0.5 * log_plus(fma(bend.im, bend.im, bend.re * (2 + bend.re))),
        angle_of(bend.im, 1 + bend.re),
    };
    const number by_v0 = scaled(-1, times(h, over_base)); /* D */
    const number by_pull = less(scaled(-q * maturity, over_sum),
                                scaled(2 / square, log_base)); /* d log phi by kappa theta */
    point p;
    p.level = plus(scaled(pull, by_pull), scaled(m->v0, by_v0));
    p.slope[0] = by_v0;
    if (!slopes) return p;
    const number rest = { fma(0.5 * q * maturity, 1 - gone.re, -h.re),
                          -fma(0.5 * q * maturity, gone.im, h.im) };
    const number w = { 0.5, u };
    const number of_beta[3] = { { 1, 0 }, scaled(-m->rho, w), scaled(-sigma, w) };
    p.slope[2] = scaled(m->kappa, by_pull);
    UNROLLED
    for (int i = 0; i < 3; i++) { /* kappa, sigma, rho */
        const double own_q = i == 1 ? sigma * q : 0;
        number by_d = times(beta, of_beta[i]), part = of_beta[i];
        if (i == 1) by_d.re += own_q, part = plus(part, scaled(own_q, over_sum));
        by_d = times(by_d, over_d); /* dd            */
        part = times(part, over_d); /* d(sum) / sum  */
        const number by_h = times(times(by_d, over_d), rest);
        number by_b = times(over_sum, less(times(h, part), by_h)); /* dB / sigma^2 */
        number pulled =
            less(scaled(q * maturity, times(over_sum, part)), scaled(2, times(over_base, by_b)));
        if (i == 1) {
            const number off = bend_less(bend, log_base, times(bend, over_base));
            pulled = plus(pulled, scaled(4 / (square * sigma), off));
            by_b = plus(by_b, scaled(-2 / sigma, times(h, over_sum)));
        }
        const number moved =
            times(over_base, less(scaled(square, times(times(h, over_base), by_b)), by_h));
        number slope = plus(scaled(pull, pulled), scaled(m->v0, moved));
        if (i == 0) slope = plus(slope, scaled(m->theta, by_pull));
        p.slope[i == 0 ? 1 : i + 2] = slope;
    }
    return p;
}

ALWAYS_INLINE void phi_by(const shoal_heston *given, double maturity, const heston_nodes *n,
                          int64_t from, int64_t to, const int slopes) {
    const shoal_heston m = *given;
    for (int64_t i = from; i < to; i += HESTON_LANES) {
        const double *u = n->u + i, *weight = n->weight + i;
        number f[HESTON_LANES], slope[HESTON_SLOPES][HESTON_LANES];
        EACH(l, HESTON_LANES) {
            const point p = point_of(&m, maturity, u[l], slopes > 1);
            const double size = shoal_exp(p.level.re) * (weight[l] / fma(u[l], u[l], 0.25));
            double s, c;
            shoal_sincospi(p.level.im * PER_PI, &s, &c);
            f[l].re = size * c, f[l].im = size * s;
            for (int k = 0; k < slopes; k++) slope[k][l] = p.slope[k];
        }
        for (int l = 0; l < HESTON_LANES; l++) {
            n->re[i + l] = f[l].re, n->im[i + l] = f[l].im;
            for (int k = 0; k < slopes; k++)
                n->slope_re[k][i + l] = slope[k][l].re, n->slope_im[k][i + l] = slope[k][l].im;
        }
    }
}

static void phi(const shoal_heston *model, double maturity, const heston_nodes *nodes, int64_t from,
                int64_t to, int parts) {
    if (parts == HESTON_ALL)
        phi_by(model, maturity, nodes, from, to, HESTON_SLOPES);
    else
        phi_by(model, maturity, nodes, from, to, 1);
}

static void place(const heston_nodes *n, int64_t from, int64_t to, double first, double step) {
    for (int64_t i = from; i < to; i += HESTON_LANES) EACH(l, HESTON_LANES) {
            const double e = shoal_exp((first + (double)(int)(i - from + l)) * step), over = 1 / e;
            n->u[i + l] = 0.25 * (e - over), n->weight[i + l] = 0.25 * (e + over);
        }
}

/* ---- sums --------------------------------------------------------------------------------------- */

ALWAYS_INLINE void add_by(const heston_nodes *nodes, int64_t from, int64_t to, double k,
                          const int slopes, double *sums) {
    double part[HESTON_ALL][HESTON_LANES] = { { 0 } };
    const double turns = k * PER_PI;
    for (int64_t i = from; i < to; i += HESTON_LANES) EACH(l, HESTON_LANES) {
            const double u = nodes->u[i + l], re = nodes->re[i + l], im = nodes->im[i + l];
            double s, c;
            shoal_sincospi(u * turns, &s, &c);
            const double x = fma(c, re, -(s * im)), y = fma(s, re, c * im); /* e^(iuk) f */
            part[HESTON_VALUE][l] += x;
            part[HESTON_DELTA][l] += fma(-u, y, 0.5 * x);
            part[HESTON_GAMMA][l] = fma(fma(u, u, 0.25), x, part[HESTON_GAMMA][l]);
            UNROLLED
            for (int j = 0; j < slopes; j++)
                part[HESTON_V0 + j][l] +=
                    fma(x, nodes->slope_re[j][i + l], -(y * nodes->slope_im[j][i + l]));
        }
    for (int p = 0; p < HESTON_V0 + slopes; p++)
        for (int l = 0; l < HESTON_LANES; l++) sums[p] += part[p][l];
}

static void add(const heston_nodes *nodes, int64_t from, int64_t to, double k, int parts,
                double *sums) {
    if (parts == HESTON_ALL)
        add_by(nodes, from, to, k, HESTON_SLOPES, sums);
    else
        add_by(nodes, from, to, k, 1, sums);
}

const heston_sums R(heston_sums) = { place, phi, add };
