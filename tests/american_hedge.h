/* SPDX-License-Identifier: Apache-2.0
 *
 * american_hedge.h - a part of test_american.c: the hedge of regressions leaves the variance that it should.
 */
#ifndef SHOAL_AMERICAN_HEDGE_H
#define SHOAL_AMERICAN_HEDGE_H

#include "american_runs.h"

/* Variance of what is left of a put's gain g = m + s Z, of which max(g, 0) is paid, if `part` of g's line is hedged. */
static double hedged_variance(double m, double s, double part) {
    const double h = m / s, inside = 0.5 * erfc(-h * sqrt(0.5));
    const double density = 0.3989422804014327 * exp(-0.5 * h * h);
    const double mean = m * inside + s * density;
    const double squares = (m * m + s * s) * inside + m * s * density;
    return squares - mean * mean - 2 * part * s * s * inside + part * part * s * s;
}

/* Over one date and with little volatility, prices are normal, nearly. Hedged is 1/2 + m / (s sqrt(2 pi)) of the line,
 * between 0 and 1: other parts leave more noise. An error is off by its own noise, here 2 / sqrt(paths) at most, and by
 * a few hundredths for prices that are lognormal. */
TEST(the_hedge_is_bacheliers) {
    const double weight[2] = { 0.1, 0.4 }, sigma[2] = { 0.01, 0.02 };
    const double correlation[4] = { 1, 0.3, 0.3, 1 }, at[] = { 0.5, -0.5, 1.5, -1.5 };
    const double u = weight[0] * sigma[0], v = weight[1] * sigma[1];
    const double sd[2] = { 100 * sigma[0], 100 * sqrt(u * u + v * v + 2 * 0.3 * u * v) };
    const int64_t paths = small ? 4096 : 16384;
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 8; i++) {
            const int d = i / 4 + 1;
            const double s = sd[d - 1], m = at[i % 4] * s, strike = d == 1 ? 100 : 50;
            const double spot = (strike - m) / (d == 1 ? 1 : 0.5), s0[2] = { spot, spot };
            const double plain = 0.5 + m / s * 0.3989422804014327;
            const shoal_american put = { .payoff = d == 1 ? SHOAL_PUT : SHOAL_BASKET_PUT,
                                         .strike = strike,
                                         .maturity = 1,
                                         .s0 = s0,
                                         .sigma = sigma,
                                         .weight = d == 1 ? NULL : weight,
                                         .correlation = d == 1 ? NULL : correlation };
            const shoal_american_opts o = {
                .assets = d, .dates = 1, .seed = 4, .fit_paths = paths
            };
            shoal_price_value value;
            shoal_american_fit fit;
            CHECK(price_one(targets[t].ctx, &put, &o, 256, &value, &fit) == SHOAL_OK);
            const double part = fmin(fmax(plain, 0), 1), n = (double)paths;
            const double want = sqrt(hedged_variance(m, s, part) / n);
            CHECK_MSG(fabs(fit.error / want - 1) < 8 / sqrt(n) + 0.03, "%d, m / s = %g: %g, not %g",
                      d, at[i % 4], fit.error, want);
        }
}

/* Numbers behind those of the assets are not part of the option: a weight below 0 there leaves it hedged. */
TEST(weights_end_with_the_assets) {
    const double two[3] = { 0.1, 0.4, 0 }, spread_behind[3] = { 0.1, 0.4, -1 };
    const double s0[2] = { 100, 100 }, sigma[2] = { 0.2, 0.3 }, correlation[4] = { 1, 0.3, 0.3, 1 };
    shoal_american put = { .payoff = SHOAL_BASKET_PUT,
                           .strike = 50,
                           .maturity = 1,
                           .s0 = s0,
                           .sigma = sigma,
                           .correlation = correlation };
    const shoal_american_opts o = { .assets = 2, .dates = 1, .seed = 4, .fit_paths = 512 };
    for (int t = 0; t < target_count; t++) {
        shoal_price_value one, other;
        shoal_american_fit fit;
        put.weight = two;
        CHECK(price_one(targets[t].ctx, &put, &o, 256, &one, &fit) == SHOAL_OK);
        const double error = fit.error;
        put.weight = spread_behind;
        CHECK(price_one(targets[t].ctx, &put, &o, 256, &other, &fit) == SHOAL_OK);
        CHECK_MSG(one.price == other.price && one.error == other.error && error == fit.error,
                  "%.17g +- %g, not %.17g +- %g", other.price, fit.error, one.price, error);
    }
}

#endif
