/* SPDX-License-Identifier: Apache-2.0
 *
 * black.h - Black and Scholes, undiscounted, for both compilers: with F = E S, s the standard
 * deviation of log S and d = log(F/K)/s + s/2,
 *
 *     call = F Phi(d) - K Phi(d - s),   put = K Phi(s - d) - F Phi(-d),
 *
 * and at s = 0 the payoff of F. Written with the arithmetic of core/math.h: the same bits
 * everywhere. Cost: a logarithm, a division, two distribution functions.
 */
#ifndef SHOAL_PRICING_BLACK_H
#define SHOAL_PRICING_BLACK_H

#include "core/math.h"

/* The payoff of S. */
SHOAL_HD static inline double black_payoff(double s, double strike, int put) {
    const double gain = put ? strike - s : s - strike;
    return gain > 0.0 ? gain : 0.0;
}

/* F > 0 or F = 0, K > 0, s > 0; without a branch, for loops over F. */
SHOAL_HD static inline double black_curve(double forward, double strike, double s, int put) {
    const double d = shoal_log(forward / strike) / s + 0.5 * s, e = s - d;
    const double gain = shoal_pick(put, strike - forward, forward - strike);
    const double value =
        fma(shoal_pick(put, strike, forward), shoal_normcdf(shoal_pick(put, e, d)),
            -(shoal_pick(put, forward, strike) * shoal_normcdf(-shoal_pick(put, d, e))));
    const double best = shoal_pick(forward > 0.0, value, gain);
    return shoal_pick(best > 0.0, best, 0.0); /* far out of the money it may round below 0 */
}

/* The value at F > 0, K > 0, s > 0, and its derivatives by F and by s. */
typedef struct black_slopes {
    double value, by_forward, by_deviation;
} black_slopes;

SHOAL_HD static inline black_slopes black_slopes_of(double forward, double strike, double s,
                                                    int put) {
    const double d = shoal_log(forward / strike) / s + 0.5 * s;
    const double sign = shoal_pick(put, -1, 1), delta = sign * shoal_normcdf(sign * d);
    const double value =
        fma(forward, delta, -(sign * strike * shoal_normcdf(sign * (d - s)))); /* of either */
    black_slopes b;
    b.value = shoal_pick(value > 0.0, value, 0.0), b.by_forward = delta;
    b.by_deviation = forward * 0.3989422804014327 * shoal_exp(-0.5 * d * d);
    return b;
}

/* The same of what pays 1: Phi(e) of a call with e = d - s, Phi(-e) of a put. */
SHOAL_HD static inline black_slopes digital_slopes_of(double forward, double strike, double s,
                                                      int put) {
    const double e = shoal_log(forward / strike) / s - 0.5 * s, sign = shoal_pick(put, -1, 1);
    const double density = sign * 0.3989422804014327 * shoal_exp(-0.5 * e * e);
    black_slopes b;
    b.value = shoal_normcdf(sign * e), b.by_forward = density / (s * forward);
    b.by_deviation = -density * (e / s + 1);
    return b;
}

/* F > 0 or F = 0, K >= 0, s >= 0. */
SHOAL_HD static inline double black_value(double forward, double strike, double s, int put) {
    if (!(s > 0.0) || !(strike > 0.0)) return black_payoff(forward, strike, put);
    return black_curve(forward, strike, s, put);
}

#endif
