/* SPDX-License-Identifier: Apache-2.0
 *
 * payoff.h - what contracts pay, for both compilers. A payoff is a form: how B is made from the prices of its assets, and
 * what B pays at maturity. payoff.c has the table of payoffs.
 *
 *     B          the largest price, or the weighted sum (CVA_OF_SUM)
 *     gain       B - K, or K - B (CVA_DOWN)
 *     pays       max(gain, 0);  the gain itself (CVA_ANY_SIGN);  1 if the gain is above 0 (CVA_DIGITAL)
 */
#ifndef SHOAL_CVA_PAYOFF_H
#define SHOAL_CVA_PAYOFF_H

#include "pricing/black.h"

enum { CVA_OF_SUM = 1, CVA_DOWN = 2, CVA_ANY_SIGN = 4, CVA_DIGITAL = 8 };

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

#endif
