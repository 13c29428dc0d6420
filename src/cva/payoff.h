/* SPDX-License-Identifier: Apache-2.0
 *
 * payoff.h - what contracts pay, for both compilers. A payoff is a form: how B is made from the prices of its assets,
 * and what B pays at maturity. payoff.c has the table of payoffs.
 *
 *     B          the largest price, or the weighted sum (CVA_OF_SUM)
 *     gain       B - K, or K - B (CVA_DOWN)
 *     pays       max(gain, 0);  the gain itself (CVA_ANY_SIGN);  1 if the gain is above 0 (CVA_DIGITAL)
 *
 * With CVA_MEAN, B is the mean of the prices at the contract's fixings (mean.h).
 *
 * Of a path that has been at the barrier, below it or above it (CVA_ABOVE), CVA_KNOCK_OUT pays 0; CVA_KNOCK_IN pays 0
 * of any other path.
 */
#ifndef SHOAL_CVA_PAYOFF_H
#define SHOAL_CVA_PAYOFF_H

#include "pricing/black.h"

enum {
    CVA_OF_SUM = 1,
    CVA_DOWN = 2,
    CVA_ANY_SIGN = 4,
    CVA_DIGITAL = 8,
    CVA_KNOCK_OUT = 16,
    CVA_KNOCK_IN = 32,
    CVA_ABOVE = 64,
    CVA_BARRIER = CVA_KNOCK_OUT | CVA_KNOCK_IN,
    CVA_MEAN = 128
};

/* The type of inner paths: that of core/real.h, which host files do not include. */
#ifdef SHOAL_SINGLE
typedef float cva_price;
SHOAL_HD static inline cva_price cva_choose(int condition, cva_price a, cva_price b) {
    return shoal_pickf(condition, a, b);
}
#else
typedef double cva_price;
SHOAL_HD static inline cva_price cva_choose(int condition, cva_price a, cva_price b) {
    return shoal_pick(condition, a, b);
}
#endif

SHOAL_HD static inline double cva_positive(double x) { return x > 0 ? x : 0; }

/* What B pays; without a branch, for loops over B. */
SHOAL_HD static inline cva_price cva_pays(int form, cva_price strike, cva_price b) {
    const cva_price gain = cva_choose((form & CVA_DOWN) != 0, strike - b, b - strike);
    const cva_price some = cva_choose((form & CVA_DIGITAL) != 0, 1, gain);
    return cva_choose((gain > 0) | ((form & CVA_ANY_SIGN) != 0), some, 0);
}

/* Undiscounted, where B has the mean F and its logarithm the standard deviation s: K > 0, s > 0. */
SHOAL_HD static inline double cva_formula(int form, double forward, double strike, double s) {
    const int down = (form & CVA_DOWN) != 0;
    if (form & CVA_ANY_SIGN) return down ? strike - forward : forward - strike;
    if (!(form & CVA_DIGITAL)) return black_curve(forward, strike, s, down);
    const double e = shoal_log(forward / strike) / s - 0.5 * s;
    return forward > 0.0 ? shoal_normcdf(down ? -e : e) : down;
}

/* e^p Phi(d), also where the first factor overflows and the second underflows. */
SHOAL_HD static inline double cva_tilted(double p, double d) {
    if (d > -30.0) return shoal_exp(p) * shoal_normcdf(d);
    const double x = 1.0 / (d * d); /* Mills' ratio to 2e-10 */
    return shoal_exp(fma(-0.5 * d, d, p)) * 0.3989422804014327 / -d *
           fma(-x, fma(-3.0 * x, fma(-5.0, x, 1.0), 1.0), 1.0);
}

/* log S moves by the normal variable of mean m and deviation s, from x beside the barrier and y above a level: the
 * chance that it never reaches the barrier and ends beyond the level on the far side from it (up: sign 1). By
 * reflection at the barrier. */
SHOAL_HD static inline double cva_survival(double sign, double m, double s, double x, double y) {
    return shoal_normcdf(sign * (y + m) / s) -
           cva_tilted(-2.0 * m * x / (s * s), sign * (y - 2.0 * x + m) / s);
}

/* What a path at price S, not beyond the barrier, is worth of a knock-out option, undiscounted (M. Rubinstein, E.
 * Reiner, Breaking down the barriers, 1991): its price has the mean F at maturity, its logarithm the deviation s > 0,
 * and drift and variance of that are proportional. */
SHOAL_HD static inline double cva_knock_out(int form, double price, double forward, double strike,
                                            double barrier, double s) {
    const double sign = form & CVA_ABOVE ? -1 : 1, gain = form & CVA_DOWN ? -1 : 1;
    const double x = shoal_log(price / barrier), y = shoal_log(price / strike);
    const double under = shoal_log(forward / price) - 0.5 * s * s, over = fma(s, s, under);
    const int beyond = sign * (strike - barrier) > 0; /* the strike is on the side that is alive */
    const double from = sign * gain > 0 && beyond ? y : x;
    double asset = cva_survival(sign, over, s, x, from);
    double cash = cva_survival(sign, under, s, x, from);
    if (sign * gain < 0) { /* pays between barrier and strike */
        if (!beyond) return 0;
        asset -= cva_survival(sign, over, s, x, y), cash -= cva_survival(sign, under, s, x, y);
    }
    return cva_positive(gain * fma(forward, asset, -(strike * cash)));
}

#endif
