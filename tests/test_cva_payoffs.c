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
    CHECK(shoal_cva_payoff_flags((shoal_cva_payoff)99) == 0);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(closed_forms);
    RUN(on_inner_paths);
    RUN(digital_on_a_basket);
    RUN(american_fx);
    RUN(names_and_flags);
    close_targets();
    return TEST_END();
}
