/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_payoffs.c - payoffs beyond puts, calls and forwards against formulas of their own: on every path and date where
 * there is a closed form, and in the mean where there are inner paths.
 */
#include "cva_runs.h"

enum { DATES = 4 };

/* An asset, or an exchange rate with the foreign interest rate `dividend`. */
static const double spot = 1.1, volatility = 0.25, dividend = 0.05, rate = 0.02;

static double normal(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }

static cva_case fx_case(shoal_cva_payoff payoff, int64_t outer) {
    cva_case c = one_case(payoff, DATES, outer);
    c.market = (shoal_cva_market){
        .assets = 1, .rate = rate, .s0 = &spot, .sigma = &volatility, .dividend = &dividend
    };
    c.contract[0].strike = 1.05;
    return c;
}

/* What contracts are worth: [path][contract][date]. */
static double *values_of(shoal_context *ctx, const cva_case *c) {
    cva_case k = *c;
    shoal_cva *plan = NULL;
    k.opts.by_trade = 1;
    shoal_status s =
        shoal_cva_create(ctx, &k.market, k.contract, k.count, &k.counterparty, &k.opts, &plan);
    const int64_t outer = k.opts.outer;
    double *samples = new_array((size_t)(outer * shoal_cva_width(plan)), sizeof *samples);
    int64_t *totals = new_array((size_t)shoal_cva_totals(plan), sizeof *totals);
    double *values = new_array((size_t)(outer * k.count * DATES), sizeof *values);
    if (s == SHOAL_OK) s = shoal_cva_run_trades(plan, 0, outer, samples, NULL, totals, values);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    free(samples), free(totals);
    shoal_cva_free(plan);
    return values;
}

/* A formula of Garman and Kohlhagen, with `left` years to go. */
static double formula(shoal_cva_payoff payoff, double s, double strike, double left) {
    const double domestic = exp(-rate * left), foreign = exp(-dividend * left);
    const double d = volatility * sqrt(left);
    const double d1 = left > 0 ? (log(s / strike) + (rate - dividend) * left) / d + d / 2
                               : copysign(INFINITY, s - strike);
    const double d2 = d1 - d;
    switch ((int)payoff) {
    case SHOAL_CVA_DIGITAL_PUT: return domestic * normal(-d2);
    case SHOAL_CVA_DIGITAL_CALL: return domestic * normal(d2);
    case SHOAL_CVA_FX_PUT: return domestic * strike * normal(-d2) - foreign * s * normal(-d1);
    case SHOAL_CVA_FX_CALL: return foreign * s * normal(d1) - domestic * strike * normal(d2);
    default: return foreign * s - domestic * strike;
    }
}

static const shoal_cva_payoff known[] = { SHOAL_CVA_DIGITAL_PUT, SHOAL_CVA_DIGITAL_CALL,
                                          SHOAL_CVA_FX_FORWARD, SHOAL_CVA_FX_PUT,
                                          SHOAL_CVA_FX_CALL };
enum { KNOWN = sizeof known / sizeof *known };

/* A forward with strike 0 tells the price of its asset. */
TEST(closed_forms) {
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < KNOWN; i++) {
            cva_case c = fx_case(SHOAL_CVA_FORWARD, small ? 40 : 1000);
            c.contract[1] = c.contract[0], c.count = 2;
            c.contract[0].strike = 0;
            c.contract[1].payoff = known[i], c.contract[1].quantity = -3;
            double *values = values_of(targets[t].ctx, &c);
            for (int64_t at = 0; at < c.opts.outer * DATES; at++) {
                const double *path = values + at / DATES * 2 * DATES;
                const int k = (int)(at % DATES);
                const double left = 1 - (k + 1.0) / DATES;
                const double s = path[k] * exp(dividend * left);
                const double want = -3 * formula(known[i], s, 1.05, left);
                CHECK_MSG(fabs(path[DATES + k] - want) < 1e-13,
                          "%s, date %d, S = %g: %.17g, not %.17g", shoal_cva_payoffs((int)known[i]),
                          k, s, path[DATES + k], want);
            }
            free(values);
        }
}

/* On inner paths CVA and price are the same, to their noise: the price today, times losses by default. The noise is that
 * of the differences between the two in GROUPS runs, each on its own paths. */
TEST(on_inner_paths) {
    enum { GROUPS = 8 };
    const int64_t inner[] = { 16 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < KNOWN; i++)
            for (int type = 0; type < 2; type++) {
                cva_case c = fx_case(known[i], small ? 256 : 8192);
                const int64_t outer = c.opts.outer;
                c.opts.inner = inner, c.opts.inner_count = 1;
                c.opts.type = type ? SHOAL_F32 : SHOAL_F64;
                const cva_outcome exact = cva_of(targets[t].ctx, &c);
                double mean = 0, squares = 0;
                c.opts.outer = outer / GROUPS;
                for (int group = 0; group < GROUPS; group++) {
                    c.opts.seed += 1, c.opts.nested = 0;
                    const cva_outcome formulas = cva_of(targets[t].ctx, &c);
                    c.opts.nested = 1;
                    const cva_outcome paths = cva_of(targets[t].ctx, &c);
                    CHECK(paths.info.nested == 1 && formulas.info.closed == 1);
                    const double difference = paths.value.cva - formulas.value.cva;
                    mean += difference / GROUPS, squares += difference * difference;
                }
                const double noise =
                    sqrt((squares - GROUPS * mean * mean) / (GROUPS * (GROUPS - 1)));
                c.opts.outer = outer;
                const double price = formula(known[i], spot, 1.05, 1);
                CHECK_MSG(fabs(mean) < 6 * noise + 1e-9,
                          "%s: %.8f +- %.8f, not 0", /* one of 2,000 by chance */
                          shoal_cva_payoffs((int)known[i]), mean, noise);
                if (known[i] != SHOAL_CVA_FX_FORWARD) { /* never worth less than 0 */
                    const double cva = 0.6 * -expm1(-0.05) * price;
                    CHECK_MSG(fabs(exact.value.cva - cva) < 4 * exact.value.error,
                              "%s: %.8f +- %.8f, not %.8f", shoal_cva_payoffs((int)known[i]),
                              exact.value.cva, exact.value.error, cva);
                }
                if (small || type) continue;
                shoal_cva_check checks[DATES];
                const shoal_cva_validation v = validated(targets[t].ctx, &c, checks);
                CHECK_MSG(v.passed, "z = %g", v.z);
                CHECK_MSG(fabs(checks[0].price - price) < 4 * checks[0].price_error,
                          "%s: %.8f +- %.8f, not %.8f", shoal_cva_payoffs((int)known[i]),
                          checks[0].price, checks[0].price_error, price);
            }
}

/* The probability that w S + w' S' is above a strike in a year, by Simpson's rule over the first normal. */
static double chance_above(const double *s0, const double *sigma, double rho, const double *w,
                           double strike) {
    enum { STEPS = 20000 };
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double x = -9 + 18.0 * i / STEPS, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        const double first = s0[0] * exp(0.1 - 0.5 * sigma[0] * sigma[0] + sigma[0] * x);
        const double other = (strike - w[0] * first) / w[1]; /* S' must be above */
        const double mean = log(s0[1]) + 0.1 - 0.5 * sigma[1] * sigma[1] + sigma[1] * rho * x;
        const double above =
            other > 0 ? normal((mean - log(other)) / (sigma[1] * sqrt(1 - rho * rho))) : 1;
        sum += weight * exp(-0.5 * x * x) * above;
    }
    return sum * 18.0 / STEPS / 3 * 0.3989422804014327;
}

/* Put and call pay 1 together. */
TEST(digital_on_a_basket) {
    const double s0[] = { 100, 90 }, sigma[] = { 0.2, 0.4 }, correlation[] = { 1, 0.3, 0.3, 1 };
    const double weight[] = { 0.25, 0.75 };
    const int64_t asset[] = { 0, 1 };
    const double chance = chance_above(s0, sigma, 0.3, weight, 95), discount = exp(-0.1);
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            cva_case c = one_case(SHOAL_CVA_DIGITAL_CALL, DATES, small ? 128 : 2048);
            c.market = (shoal_cva_market){
                .assets = 2, .rate = 0.1, .s0 = s0, .sigma = sigma, .correlation = correlation
            };
            c.contract[0].assets = 2, c.contract[0].asset = asset, c.contract[0].weight = weight;
            c.contract[0].strike = 95;
            c.contract[1] = c.contract[0], c.count = 2;
            c.contract[1].payoff = SHOAL_CVA_DIGITAL_PUT;
            c.opts.type = type ? SHOAL_F32 : SHOAL_F64;
            shoal_cva_check checks[2 * DATES];
            const shoal_cva_validation v = validated(targets[t].ctx, &c, checks);
            CHECK_MSG(v.passed, "z = %g", v.z);
            for (int i = 0; i < 2; i++) {
                const shoal_cva_check *price = &checks[i * DATES];
                const double want = discount * (i ? 1 - chance : chance);
                CHECK_MSG(fabs(price->price - want) < 4 * price->price_error &&
                              price->price_error < 0.002,
                          "%.6f +- %.6f, not %.6f", price->price, price->price_error, want);
            }
            c.opts.validate = 0;
            double *values = values_of(targets[t].ctx, &c);
            for (int64_t at = 0; at < c.opts.outer * DATES; at++) {
                const double *both = values + at / DATES * 2 * DATES + at % DATES;
                const double want = exp(-0.1 * (1 - (double)(at % DATES + 1) / DATES));
                CHECK_MSG(fabs(both[0] + both[DATES] - want) < 1e-12, "%.15g, not %.15g",
                          both[0] + both[DATES], want);
            }
            free(values);
        }
}

/* ---- barriers ---------------------------------------------------------------------------------- */

/* An option that is knocked out at `level`, alive at s: a quadrature of the density of log S without paths that have been
 * there. All moves by a normal variable of mean m and deviation d. */
static double knock_out_by_quadrature(int above, int put, double s, double strike, double level,
                                      double m, double d, double discount) {
    enum { STEPS = 4000 };
    const double start = log(s), h = log(level), middle = log(strike), far = 9 * d + fabs(m);
    double low = above ? start - far : h, high = above ? h : start + far, sum = 0;
    if (put && middle < high) high = middle;
    if (!put && middle > low) low = middle;
    if (low >= high || (above ? s >= level : s <= level)) return 0;
    for (int i = 0; i <= STEPS; i++) {
        const double x = low + (high - low) * i / STEPS, weight = i % STEPS == 0 ? 1
                                                                  : i % 2        ? 4
                                                                                 : 2;
        const double direct = (x - start - m) / d, mirrored = (x + start - 2 * h - m) / d;
        const double alive = exp(-0.5 * direct * direct) -
                             exp(2 * m * (h - start) / (d * d) - 0.5 * mirrored * mirrored);
        sum += weight * alive * fabs(exp(x) - strike);
    }
    return discount * sum * (high - low) / STEPS / 3 / d * 0.3989422804014327;
}

/* The same with `left` years to go in the market of fx_case(). */
static double knock_out(int above, int put, double s, double strike, double level, double left) {
    const double m = (rate - dividend - 0.5 * volatility * volatility) * left;
    if (left > 0)
        return knock_out_by_quadrature(above, put, s, strike, level, m, volatility * sqrt(left),
                                       exp(-rate * left));
    const double pays = put ? strike - s : s - strike;
    return pays > 0 && (above ? s < level : s > level) ? pays : 0;
}

/* Strikes beyond the barrier and before it. */
static const double barrier_strikes[] = { 0.9, 1.05, 1.3 };

static cva_case barrier_case(int above, int put, double strike, int64_t outer) {
    cva_case c = fx_case(SHOAL_CVA_FORWARD, outer);
    c.count = 4;
    for (int i = 1; i < 4; i++) c.contract[i] = c.contract[0], c.contract[i].strike = strike;
    c.contract[0].strike = 0;
    c.contract[1].payoff = put ? SHOAL_CVA_PUT : SHOAL_CVA_CALL;
    c.contract[2].payoff =
        (shoal_cva_payoff)(SHOAL_CVA_DOWN_OUT_PUT + 4 * above + !put); /* then knock-in */
    c.contract[3].payoff = (shoal_cva_payoff)((int)c.contract[2].payoff + 2);
    c.contract[2].barrier = c.contract[3].barrier = above ? 1.25 : 1;
    return c;
}

/* One path: alive it is worth the quadrature, later nothing, and never alive beyond the barrier. */
static int check_barrier_path(const double *path, int above, int put, double strike, double level) {
    int alive = 1, deaths = 0;
    for (int k = 0; k < DATES; k++) {
        const double left = 1 - (k + 1.0) / DATES, out = path[2 * DATES + k];
        const double s = path[k] * exp(dividend * left);
        const double want = knock_out(above, put, s, strike, level, left);
        if (want > 1e-9) deaths += alive && out == 0, alive = alive && out != 0;
        CHECK_MSG(fabs(out - alive * want) < 1e-9, "date %d, S = %g: %.12g, not %.12g", k, s, out,
                  alive * want);
        CHECK(fabs(out + path[3 * DATES + k] - path[DATES + k]) < 1e-15);
    }
    return deaths;
}

TEST(barriers_on_paths) {
    for (int i = 0; i < 12; i++) {
        const int above = i / 6, put = i / 3 % 2;
        const double strike = barrier_strikes[i % 3];
        cva_case c = barrier_case(above, put, strike, small ? 40 : 500);
        double *first = NULL;
        for (int t = 0; t < target_count; t++) {
            double *values = values_of(targets[t].ctx, &c);
            int deaths = 0;
            for (int64_t path = 0; path < c.opts.outer; path++)
                deaths += check_barrier_path(values + path * 4 * DATES, above, put, strike,
                                             c.contract[2].barrier);
            CHECK_MSG(deaths > 0 || (above ? !put && strike > 1.2 : put && strike < 1.1),
                      "no path of %s is knocked out at %g",
                      shoal_cva_payoffs((int)c.contract[2].payoff), strike);
            if (first)
                CHECK(memcmp(first, values, (size_t)(c.opts.outer * 4 * DATES) * sizeof *first) ==
                      0);
            else
                first = values;
            if (first != values) free(values);
        }
        free(first);
    }
}

/* The price is a quadrature, and the mean of e^(-r t) V of all dates. */
TEST(barriers_in_the_mean) {
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 12; i++) {
            const int above = i / 6, put = i / 3 % 2;
            const double strike = barrier_strikes[i % 3];
            cva_case c = barrier_case(above, put, strike, small ? 256 : 16384);
            const double level = c.contract[2].barrier;
            const double price = knock_out(above, put, spot, strike, level, 1);
            const double vanilla =
                formula(put ? SHOAL_CVA_FX_PUT : SHOAL_CVA_FX_CALL, spot, strike, 1);
            shoal_cva_check checks[4 * DATES];
            const shoal_cva_validation v = validated(targets[t].ctx, &c, checks);
            CHECK_MSG(v.passed, "%s, strike %g: z = %g",
                      shoal_cva_payoffs((int)c.contract[2].payoff), strike, v.z);
            CHECK_MSG(fabs(checks[2 * DATES].price - price) < 1e-9, "%.12g, not %.12g",
                      checks[2 * DATES].price, price);
            CHECK_MSG(fabs(checks[3 * DATES].price - (vanilla - price)) < 1e-9, "%.12g, not %.12g",
                      checks[3 * DATES].price, vanilla - price);
            c.contract[0] = c.contract[2], c.count = 1, c.opts.validate = 0, c.opts.nested = 1;
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            CHECK(o.info.closed == 1);
            CHECK_MSG(fabs(o.value.cva - 0.6 * -expm1(-0.05) * price) <= 4 * o.value.error + 1e-9,
                      "%.8f +- %.8f, not %.8f", o.value.cva, o.value.error,
                      0.6 * -expm1(-0.05) * price);
        }
}

/* A path that has been at the farther barrier has been at the nearer one. */
TEST(nested_barriers) {
    for (int t = 0; t < target_count; t++)
        for (int above = 0; above < 2; above++) {
            cva_case c = barrier_case(above, !above, 1.1, small ? 64 : 2000);
            c.contract[1] = c.contract[2], c.contract[2] = c.contract[3];
            c.count = 3;
            c.contract[1].payoff = c.contract[2].payoff; /* knock-in */
            c.contract[1].barrier = above ? 1.2 : 1.02, c.contract[2].barrier = above ? 1.3 : 0.95;
            double *values = values_of(targets[t].ctx, &c);
            int nearer = 0, farther = 0;
            for (int64_t path = 0; path < c.opts.outer; path++) {
                const double *last = values + path * 3 * DATES + DATES - 1;
                CHECK(last[2 * DATES] == 0 || last[DATES] == last[2 * DATES]);
                nearer += last[DATES] > 0, farther += last[2 * DATES] > 0;
            }
            CHECK_MSG(nearer > farther && farther > 0, "%d, %d", nearer, farther);
            free(values);
        }
}

/* Where drift and variance are proportional, a clock runs; other curves are refused. */
TEST(barriers_and_curves) {
    static const double when[] = { 0.3, 1 }, rates[] = { 0.01, 0.03 },
                        volatilities[] = { 0.35, 0.25 };
    static const double other[] = { 0.01, 0.02 };
    const shoal_cva_curve curve = { 2, when, rates }, sigma = { 2, when, volatilities };
    const shoal_cva_curve slower = { 2, when, other };
    for (int t = 0; t < target_count; t++) {
        cva_case c = barrier_case(0, 0, 1.05, small ? 256 : 8192);
        c.market.rates = curve, c.market.dividends = &curve, c.market.sigmas = &sigma;
        shoal_cva_check checks[4 * DATES];
        const shoal_cva_validation v = validated(targets[t].ctx, &c, checks);
        CHECK_MSG(v.passed, "z = %g", v.z);
        const double price =
            knock_out_by_quadrature(0, 0, spot, 1.05, 1, -0.03125, 0.25, exp(-0.03));
        CHECK_MSG(fabs(checks[2 * DATES].price - price) < 1e-9, "%.12g, not %.12g",
                  checks[2 * DATES].price, price);
        c.market.dividends = &slower;
        shoal_cva *plan = NULL;
        const shoal_status s = shoal_cva_create(targets[t].ctx, &c.market, c.contract, c.count,
                                                &c.counterparty, &c.opts, &plan);
        CHECK(s == SHOAL_E_ARG && !plan);
        CHECK_MSG(strstr(shoal_message(targets[t].ctx),
                         "contracts[2]: the curves of asset 0: with a barrier"),
                  "%s", shoal_message(targets[t].ctx));
    }
}

/* Volatility 0 and almost 0, and a spot beyond the barrier. */
TEST(barriers_at_limits) {
    static const double still = 0, tiny = 1e-3;
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 8; i++) {
            const int above = i % 2, late = i / 2 % 2, beyond = i / 4;
            cva_case c = barrier_case(above, 0, 1.01, 40);
            const double growth = above ? 0.1 : -0.1, yield = rate - growth;
            c.market.sigma = late ? &tiny : &still, c.market.dividend = &yield;
            /* S goes from 1.1 to 1.1 e^(+-0.1): 1.216 or 0.995; the strike is 1.01 */
            const double edge = above ? 1.15 : 1.05, out = above ? 1.09 : 1.11;
            c.contract[2].barrier = c.contract[3].barrier = beyond ? out : edge;
            double *values = values_of(targets[t].ctx, &c);
            for (int64_t at = 0; at < c.opts.outer * DATES; at++) {
                const double *path = values + at / DATES * 4 * DATES + at % DATES;
                CHECK_MSG(path[2 * DATES] == 0 && path[3 * DATES] == path[DATES], "%g, %g, %g",
                          path[DATES], path[2 * DATES], path[3 * DATES]);
            }
            free(values);
        }
}

/* Each of two assets has its own extremes. */
TEST(barriers_on_two_assets) {
    static const double s0[] = { 1.1, 2.2 }, sigma[] = { 0.25, 0.4 }, yield[] = { 0.05, 0.01 };
    static const double correlation[] = { 1, 0.6, 0.6, 1 };
    static const int64_t second = 1;
    const double m = 0.02 - 0.01 - 0.5 * 0.4 * 0.4;
    const double prices[] = { knock_out(0, 0, 1.1, 1.05, 1, 1),
                              knock_out_by_quadrature(1, 1, 2.2, 2.3, 2.8, m, 0.4, exp(-0.02)) };
    for (int t = 0; t < target_count; t++) {
        cva_case c = barrier_case(0, 0, 1.05, small ? 256 : 8192);
        c.market = (shoal_cva_market){ .assets = 2,
                                       .rate = rate,
                                       .s0 = s0,
                                       .sigma = sigma,
                                       .dividend = yield,
                                       .correlation = correlation };
        c.contract[0] = c.contract[2], c.contract[1] = c.contract[2], c.count = 2;
        c.contract[1].payoff = SHOAL_CVA_UP_OUT_PUT, c.contract[1].asset = &second;
        c.contract[1].strike = 2.3, c.contract[1].barrier = 2.8;
        shoal_cva_check checks[2 * DATES];
        const shoal_cva_validation v = validated(targets[t].ctx, &c, checks);
        CHECK_MSG(v.passed, "z = %g", v.z);
        for (int i = 0; i < 2; i++)
            CHECK_MSG(fabs(checks[i * DATES].price - prices[i]) < 1e-9, "%.12g, not %.12g",
                      checks[i * DATES].price, prices[i]);
    }
}

/* With margin calls, what is bought as knock-out and knock-in and sold as an option nets to 0. */
TEST(barriers_and_margin_calls) {
    const shoal_cva_csa csa = { .collateral = 1, .threshold = 0.01, .period = 0.1 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = barrier_case(1, 0, 1.05, small ? 64 : 512);
        c.opts.csas = 1, c.opts.csa = &csa, c.counterparty.volatility = 0.5;
        c.contract[0] = c.contract[1], c.contract[0].quantity = -1;
        c.contract[1] = c.contract[2], c.contract[2] = c.contract[3], c.count = 3;
        CHECK(fabs(cva_of(targets[t].ctx, &c).value.cva) < 1e-15);
        c.count = 2;
        CHECK(cva_of(targets[t].ctx, &c).value.cva >= 0);
        c.contract[0].quantity = 1;
        CHECK(cva_of(targets[t].ctx, &c).value.cva > 1e-4);
    }
}

/* Early exercise of an exchange rate is that of an asset. */
TEST(american_fx) {
    for (int t = 0; t < target_count; t++) {
        cva_case c = fx_case(SHOAL_CVA_PUT, small ? 64 : 512);
        c.contract[0].american = 1;
        const cva_outcome put = cva_of(targets[t].ctx, &c);
        c.contract[0].payoff = SHOAL_CVA_FX_PUT;
        const cva_outcome fx = cva_of(targets[t].ctx, &c);
        CHECK(put.value.cva > 0 && put.value.cva == fx.value.cva && fx.info.american == 1);
    }
}

TEST(names_and_flags) {
    int count = 0;
    while (shoal_cva_payoffs(count)) count++;
    CHECK(count > SHOAL_CVA_FX_CALL && !shoal_cva_payoffs(-1));
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) CHECK(strcmp(shoal_cva_payoffs(i), shoal_cva_payoffs(j)) != 0);
    CHECK(strcmp(shoal_cva_payoffs(SHOAL_CVA_PUT), "put") == 0);
    CHECK(strcmp(shoal_cva_payoffs(SHOAL_CVA_FORWARD), "forward") == 0);
    CHECK(strcmp(shoal_cva_payoffs(SHOAL_CVA_FX_CALL), "fx-call") == 0);
    CHECK(shoal_cva_payoff_flags(SHOAL_CVA_PUT) == (SHOAL_CVA_ONE_ASSET | SHOAL_CVA_EARLY));
    CHECK(shoal_cva_payoff_flags(SHOAL_CVA_DIGITAL_CALL) == SHOAL_CVA_WEIGHTS);
    CHECK(shoal_cva_payoff_flags(SHOAL_CVA_UP_IN_CALL) ==
          (SHOAL_CVA_ONE_ASSET | SHOAL_CVA_BARRIER));
    CHECK(strcmp(shoal_cva_payoffs(SHOAL_CVA_UP_IN_CALL), "up-in-call") == 0);
    CHECK(shoal_cva_payoff_flags((shoal_cva_payoff)99) == 0);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(closed_forms);
    RUN(on_inner_paths);
    RUN(digital_on_a_basket);
    RUN(barriers_on_paths);
    RUN(barriers_in_the_mean);
    RUN(nested_barriers);
    RUN(barriers_and_curves);
    RUN(barriers_at_limits);
    RUN(barriers_on_two_assets);
    RUN(barriers_and_margin_calls);
    RUN(american_fx);
    RUN(names_and_flags);
    close_targets();
    return TEST_END();
}
