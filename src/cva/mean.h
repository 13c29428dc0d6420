/* SPDX-License-Identifier: Apache-2.0
 *
 * mean.h - what an option on the mean A of n prices at fixings is worth, for both compilers: M. Curran, Valuing Asian and
 * portfolio options by conditioning on the geometric mean price, 1994. With P the sum of the prices that are fixed, the
 * option pays by the sum of the m others, X, beside K' = n K - P:
 *
 *     E (sum X - K')+  >=  E (E[sum X | z] - K')+,   E[X_j | z] = S a_j e^(c_j z - c_j^2 / 2),
 *
 * z the normal variable of their geometric mean. The right-hand side increases with z, is K' at one z*, and
 *
 *     = sum_j S a_j Phi(c_j - z*) - K' Phi(-z*).
 *
 * It is a lower bound of the value, exact with one fixing left or without volatility. Puts and calls of it have
 * put-call parity. K' without the dividends of later fixings serves S = X + D (escrow.c).
 *
 * Cost: 8 m exponentials at most, and m distribution functions.
 */
#ifndef SHOAL_CVA_MEAN_H
#define SHOAL_CVA_MEAN_H

#include "cva/plan.h"

enum { CVA_MEAN_STEPS = 24 };
#define CVA_MEAN_FAR 40.0 /* Phi is 0 or 1 there */

/* z*: Newton's method for the logarithm of the sum, a convex function. */
SHOAL_HD static inline double cva_mean_root(const double *at, int64_t m, double level) {
    double z = 0;
    for (int step = 0; step < CVA_MEAN_STEPS; step++) {
        double sum = 0, slope = 0;
        for (int64_t j = 0; j < m; j++) {
            const double c = at[2 * j + 1];
            const double x = at[2 * j] * shoal_exp(c * (z - 0.5 * c));
            sum += x, slope = fma(c, x, slope);
        }
        const double move = slope > 0 ? shoal_log(sum / level) * sum / slope : 0;
        z -= move;
        z = z < -CVA_MEAN_FAR ? -CVA_MEAN_FAR : z > CVA_MEAN_FAR ? CVA_MEAN_FAR : z;
        if (move < 1e-12 && move > -1e-12) break;
    }
    return z;
}

/* The value at date k, undiscounted, at price s, with the sum of the fixed prices. */
SHOAL_HD static inline double cva_mean_value(const cva_contract *c, int64_t k, double s,
                                             double fixed) {
    const double *row = c->mean + k * cva_mean_numbers(c->fixings), *at = row + CVA_MEAN_HEAD;
    const double n = (double)c->fixings, strike = n * c->strike - fixed - row[CVA_MEAN_LATER];
    const int down = (c->form & CVA_DOWN) != 0;
    int64_t m = 0;
    double mean = 0, value = 0;
    while (m < c->fixings && at[2 * m] > 0) mean += at[2 * m++];
    const double gain = down ? strike - s * mean : s * mean - strike;
    if (m == 0 || !(strike > 0) || !(at[2 * m - 1] > 0)) return gain > 0 ? gain / n : 0;
    const double z = cva_mean_root(at, m, strike / s), sign = down ? -1 : 1;
    for (int64_t j = 0; j < m; j++)
        value = fma(s * at[2 * j], shoal_normcdf(sign * (at[2 * j + 1] - z)), value);
    value = sign * (value - strike * shoal_normcdf(-sign * z));
    return value > 0 ? value / n : 0;
}

#endif
