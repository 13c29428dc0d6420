/* SPDX-License-Identifier: Apache-2.0 - assets of Heston's model of cva.h: the semi-closed form, QuantLib, martingales */
#include "cva/values.h"
#include "cva_runs.h"
#include <shoal/pricing.h>
#include <string.h>

enum { DATES = 5 };

static const double spot = 100, rate = 0.05, yield = 0.02, none = 0;
static const double fifths[DATES] = { 73.0 / 365, 146.0 / 365, 219.0 / 365, 292.0 / 365, 1 };
static const shoal_cva_heston models[] = { { 0.04, 1.5, 0.06, 0.5, -0.7 },
                                           { 0.09, 3.0, 0.04, 0.4, 0.3 },
                                           { 0.04, 0.5, 0.04, 1.0, -0.9 } };
enum { MODELS = 3, WITH_QUANTLIB = 2 };

static cva_case case_of(const shoal_cva_heston *model, shoal_cva_payoff payoff, double strike,
                        int64_t outer) {
    cva_case c = one_case(payoff, DATES, outer);
    c.market = (shoal_cva_market){
        .assets = 1, .rate = rate, .s0 = &spot, .sigma = &none, .dividend = &yield, .heston = model
    };
    c.contract[0].strike = strike, c.opts.time = fifths;
    return c;
}

/* By the library's semi-closed form. */
static double exact(shoal_context *ctx, const shoal_cva_heston *h, int put, double strike) {
    const shoal_heston model = { spot, rate, yield, h->v0, h->kappa, h->theta, h->sigma, h->rho };
    const double maturity = 1;
    const shoal_price_opts opts = { .method = "analytic",
                                    .put = put,
                                    .strikes = 1,
                                    .strike = &strike,
                                    .maturities = 1,
                                    .maturity = &maturity };
    shoal_price_value value = { 0 };
    const shoal_price_goal goal = { .paths = 1 };
    const shoal_status s = shoal_heston_value(ctx, &model, &opts, &goal, &value);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    return value.price;
}

/* Tables beside the semi-closed form: docs/cva.md has these errors. E[V_t] = e^(rt) V_0 on the outer paths, so that the
 * exact exposure of a European contract, and its CVA, are known. */
TEST(european) {
    static const double strikes[] = { 60, 90, 100, 130 };
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < (small ? 1 : MODELS); m++) {
            shoal_cva_check check[4 * DATES];
            cva_case c =
                case_of(&models[m], m & 1 ? SHOAL_CVA_CALL : SHOAL_CVA_PUT, 0, small ? 64 : 2048);
            const double error = m < 2 ? 2e-6 : 5e-5;
            double all = 0;
            for (int i = 0; i < 4; i++) {
                c.contract[i] = c.contract[0], c.contract[i].strike = strikes[i];
                all += exact(targets[t].ctx, &models[m], !(m & 1), strikes[i]);
            }
            c.count = 4;
            const shoal_cva_validation z = validated(targets[t].ctx, &c, check);
            CHECK_MSG(z.passed, "model %d: z = %g", m, z.z);
            for (int i = 0; i < 4; i++) {
                const double right = exact(targets[t].ctx, &models[m], !(m & 1), strikes[i]);
                CHECK_MSG(fabs(check[i * DATES].price - right) < error * spot,
                          "model %d, %g: %.8f, not %.8f", m, strikes[i], check[i * DATES].price,
                          right);
            }
            const cva_outcome out = cva_of(targets[t].ctx, &c);
            double chances = 0;
            for (int k = 0; k < DATES; k++) {
                const double mean = exp(rate * fifths[k]) * all;
                CHECK_MSG(fabs(out.profile[k].epe - mean) < 4 * out.profile[k].epe_error,
                          "model %d, %d: %g +- %g, not %g", m, k, out.profile[k].epe,
                          out.profile[k].epe_error, mean);
                chances += exp(-hazard * (k ? fifths[k - 1] : 0)) - exp(-hazard * fifths[k]);
            }
            CHECK(fabs(out.value.cva - 0.6 * chances * all) < 4 * out.value.error);
        }
}

/* Tables at later dates, for variances and prices between their points, beside the semi-closed form. */
TEST(tables) {
    enum { WIDE = 13, DEEP = 6 };
    shoal_context *ctx = targets[0].ctx;
    for (int m = 0; m < (small ? 1 : MODELS); m++) {
        cva_case c = case_of(&models[m], SHOAL_CVA_PUT, 100, 4);
        shoal_cva *plan = NULL;
        CHECK(shoal_cva_create(ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts, &plan) ==
              SHOAL_OK);
        const cva_job *j = &plan->job;
        const int64_t dates[] = { j->dates / 4, j->dates / 2, j->dates - 1 };
        for (int d = 0; d < (small ? 1 : 3); d++)
            for (int i = 0; i < DEEP; i++) {
                const double *all = j->surface[0].at, *at = all + (int64_t)all[dates[d]];
                const double v = 1e-4 * pow(3.1, i), maturity = 1 - cva_time(j, dates[d]);
                const double s = sqrt(at[SURFACE_A] + at[SURFACE_B] * v);
                shoal_heston model = {
                    spot, 0, 0, v, models[m].kappa, models[m].theta, models[m].sigma, models[m].rho
                };
                double strike[WIDE];
                shoal_price_value value[WIDE];
                for (int n = 0; n < WIDE; n++) strike[n] = spot * exp((n - WIDE / 2) * 0.67 * s);
                const shoal_price_opts opts = { .method = "analytic",
                                                .put = 1,
                                                .strikes = WIDE,
                                                .strike = strike,
                                                .maturities = 1,
                                                .maturity = &maturity };
                const shoal_price_goal goal = { .paths = 1 };
                CHECK(shoal_heston_value(ctx, &model, &opts, &goal, value) == SHOAL_OK);
                for (int n = 0; n < WIDE; n++) {
                    cva_contract option = j->contract[0];
                    option.strike = strike[n];
                    const double worth = cva_surface_value(j, &option, dates[d], spot, v);
                    CHECK_MSG(fabs(worth - value[n].price) < (m < 2 ? 1e-6 : 3e-5) * spot,
                              "model %d, date %d, v %g, strike %g: %.8f, not %.8f", m, d, v,
                              strike[n], worth, value[n].price);
                }
            }
        shoal_cva_free(plan);
    }
}

/* What a table says of later dates: at tiny steps nothing else moves. A path's own variance and price are not known here,
 * but a put, a call and a forward on it agree by parity, and no value leaves its bounds. */
TEST(parity) {
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < (small ? 1 : MODELS); m++) {
            cva_case c = case_of(&models[m], SHOAL_CVA_CALL, 110, small ? 40 : 200);
            for (int i = 1; i < 3; i++) c.contract[i] = c.contract[0];
            c.contract[1].payoff = SHOAL_CVA_PUT, c.contract[2].payoff = SHOAL_CVA_FORWARD;
            c.count = 3, c.opts.by_trade = 1;
            shoal_cva *plan = NULL;
            CHECK(shoal_cva_create(targets[t].ctx, &c.market, c.contract, c.count, &c.counterparty,
                                   &c.opts, &plan) == SHOAL_OK);
            const int64_t outer = c.opts.outer, width = shoal_cva_width(plan);
            double *rows = new_array((size_t)(outer * width), sizeof *rows);
            double *values = new_array((size_t)(outer * 3 * DATES), sizeof *values);
            int64_t *totals = new_array((size_t)shoal_cva_totals(plan), sizeof *totals);
            memset(totals, 0, (size_t)shoal_cva_totals(plan) * sizeof *totals);
            CHECK(shoal_cva_run_trades(plan, 0, outer, rows, NULL, totals, values) == SHOAL_OK);
            for (int64_t path = 0; path < outer; path++)
                for (int k = 0; k < DATES; k++) {
                    const double *at = values + path * 3 * DATES + k;
                    const double call = at[0], put = at[DATES], forward = at[2 * DATES];
                    CHECK_MSG(fabs(call - put - forward) < 1e-10 * spot, "%g, %g, %g", call, put,
                              forward);
                    CHECK(call >= 0 && put >= 0 && put <= 110 && (call > 1e-3 || k > 0));
                }
            free(rows), free(values), free(totals);
            shoal_cva_free(plan);
        }
}

/* Bermudan prices of QuantLib's finite differences, to 2e-3: bench/quantlib_heston_american.py. The price of a rule is
 * below them by what the rule loses, at most 0.5 %; the dual bound is above them. */
TEST(quantlib) {
    static const struct {
        int put;
        double strike, price[WITH_QUANTLIB];
    } kept[] = { { 1, 90, { 3.75553, 3.59866 } },
                 { 1, 100, { 6.88083, 7.82416 } },
                 { 0, 100, { 9.52814, 10.39226 } } };
    enum { KEPT_COUNT = sizeof kept / sizeof *kept };
    for (int t = 0; t < target_count; t++)
        for (int e = 0; e < (small ? 1 : (int)KEPT_COUNT); e++) {
            const int m = e % WITH_QUANTLIB;
            shoal_cva_check check[DATES];
            cva_case c = case_of(&models[m], kept[e].put ? SHOAL_CVA_PUT : SHOAL_CVA_CALL,
                                 kept[e].strike, small ? 64 : 4096);
            c.contract[0].american = 1, c.opts.rule_paths = small ? 4096 : 16384;
            c.opts.estimator = e ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
            const shoal_cva_validation z = validated(targets[t].ctx, &c, check);
            CHECK_MSG(z.passed, "model %d: z = %g", m, z.z);
            if (small) continue;
            const double right = kept[e].price[m], lost = right - check[0].price;
            const double noise = 4 * check[0].price_error + 2e-3;
            CHECK_MSG(lost > -noise && lost < noise + 5e-3 * right,
                      "model %d, %g: %.5f +- %.5f, not %.5f", m, kept[e].strike, check[0].price,
                      check[0].price_error, right);
            CHECK_MSG(check[0].upper > right - noise - 4 * check[0].upper_error, "%g, not %g",
                      check[0].upper, right); /* it has the error of the price, too */
        }
}

/* Two assets, one of Heston's model, the other with a volatility: their correlation reaches the prices. */
TEST(baskets) {
    static const double s0[] = { 100, 100 }, sigma[] = { 0, 0.2 };
    static const shoal_cva_heston list[] = { { 0.04, 1.5, 0.06, 0.5, -0.7 }, { 0, 0, 0, 0, 0 } };
    static const int64_t both[] = { 0, 1 };
    for (int t = 0; t < target_count; t++) {
        double price[2];
        for (int i = 0; i < 2; i++) {
            const double r = i ? 0.8 : -0.8, correlation[] = { 1, r, r, 1 };
            cva_case c = case_of(list, SHOAL_CVA_BASKET_PUT, 100, small ? 64 : 2048);
            c.market.assets = 2, c.market.s0 = s0, c.market.sigma = sigma;
            c.market.dividend = NULL, c.market.correlation = correlation;
            c.contract[0].american = 1, c.contract[0].assets = 2, c.contract[0].asset = both;
            c.opts.estimator = SHOAL_CVA_BY_AMC, c.contract[0].maturity = fifths[0];
            c.opts.dates = 1;
            price[i] = cva_of(targets[t].ctx, &c).value.cva;
        }
        CHECK_MSG(price[1] > 1.5 * price[0], "%g, %g", price[0], price[1]);
    }
}

/* Everything at once: a European and an American contract, another asset, a margin period, a hazard rate that moves with
 * the assets, a jump at default. Pieces and backends have the same bits. */
TEST(bits) {
    static const double s0[] = { 100, 90 }, sigma[] = { 0, 0.3 },
                        correlation[] = { 1, 0.4, 0.4, 1 };
    static const double with[] = { -0.3, 0.1 }, jump[] = { -0.2, 0.1 };
    static const shoal_cva_heston list[] = { { 0.04, 1.5, 0.06, 0.5, -0.7 }, { 0, 0, 0, 0, 0 } };
    static const int64_t both[] = { 0, 1 }, inner[] = { 34 };
    static const double at[] = { 0.06, 0.1 };
    const shoal_cva_csa csa = { .collateral = 1, .threshold = 0.5, .period = 0.05 };
    for (int jumps = 0; jumps < 2; jumps++) {
        double first = 0;
        for (int t = 0; t < target_count; t++)
            for (int e = 0; e < 2; e++) {
                if (small && e != jumps) continue;
                cva_case c = case_of(list, SHOAL_CVA_PUT, 105, small ? 20 : 36);
                cva_outcome whole, pieces;
                c.market.assets = 2, c.market.s0 = s0, c.market.sigma = sigma;
                c.market.dividend = NULL, c.market.correlation = correlation;
                c.opts.time = at, c.opts.dates = 2, c.opts.rule_paths = 1024;
                c.opts.inner = inner, c.opts.inner_count = 1;
                c.opts.estimator = e ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
                c.contract[0].maturity = 0.1;
                for (int i = 1; i < 4; i++) c.contract[i] = c.contract[0];
                c.contract[1].american = 1, c.contract[1].quantity = -1.1;
                c.contract[2].payoff = SHOAL_CVA_CALL, c.contract[2].asset = both + 1;
                c.contract[2].strike = 90;
                c.contract[3].payoff = SHOAL_CVA_BASKET_PUT, c.contract[3].american = 1;
                c.contract[3].assets = 2, c.contract[3].asset = both, c.count = 4;
                if (jumps)
                    c.counterparty.jump = jump;
                else
                    c.opts.csas = 1, c.opts.csa = &csa;
                c.counterparty.volatility = 0.6, c.counterparty.correlation = with;
                CHECK(cva_in_pieces(targets[t].ctx, &c, c.opts.outer, &whole) == SHOAL_OK);
                CHECK(cva_in_pieces(targets[t].ctx, &c, 13, &pieces) == SHOAL_OK);
                CHECK(whole.value.cva > 0 && whole.value.cva == pieces.value.cva);
                const double both_ways = whole.value.cva;
                if (!t && !e) first = both_ways;
                if (!e)
                    CHECK_MSG(both_ways == first, "%s: %.17g, %.17g", targets[t].backend, both_ways,
                              first);
                c.opts.type = SHOAL_F32;
                const double single = cva_of(targets[t].ctx, &c).value.cva;
                CHECK_MSG(fabs(single - both_ways) < 0.2 * both_ways, "%g, %g", single, both_ways);
                c.opts.type = SHOAL_F64, c.count = 2, c.contract[0] = c.contract[1];
                c.contract[0].quantity = 1.1;
                CHECK(cva_of(targets[t].ctx, &c).value.cva == 0);
            }
    }
}

/* A variance that is and stays 0, one that cannot move, far strikes, a maturity beyond the horizon. */
TEST(limits) {
    static const shoal_cva_heston list[] = { { 0, 0, 0, 0.5, -0.7 },
                                             { 0, 1, 0.04, 0.5, 1 },
                                             { 0.04, 0, 0, 1e-6, 0 },
                                             { 0.04, 1.5, 0.04, 1e-4, -1 } };
    static const double strikes[] = { 100, 0, 1e-3, 1e6 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 4; i++) {
            shoal_cva_check check[DATES];
            const int m = i;
            cva_case c = case_of(&list[m], SHOAL_CVA_CALL, strikes[i], 16);
            c.opts.horizon = 0.5, c.opts.dates = 2;
            CHECK_MSG(validated(targets[t].ctx, &c, check).passed, "%d", i);
            const double right = c.contract[0].strike > 0
                                     ? exact(targets[t].ctx, &list[m], 0, c.contract[0].strike)
                                     : spot * exp(-yield);
            CHECK_MSG(fabs(check[0].price - right) < 2e-6 * (spot + c.contract[0].strike),
                      "%d: %.10g, not %.10g", i, check[0].price, right);
        }
}

#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        cva_case c = case_of(&h, SHOAL_CVA_CALL, 100, 8);                                          \
        shoal_cva *plan = NULL;                                                                    \
        change;                                                                                    \
        const shoal_status s = shoal_cva_create(ctx, &c.market, c.contract, c.count,               \
                                                &c.counterparty, &c.opts, &plan);                  \
        CHECK_MSG(s == SHOAL_E_ARG && strstr(shoal_message(ctx), words), "%s",                     \
                  shoal_message(ctx));                                                             \
        shoal_cva_free(plan);                                                                      \
    } while (0)

TEST(what_is_refused) {
    static const double at = 0.5;
    const shoal_cva_curve curve = { 1, &at, &at };
    shoal_cva_heston h = models[0];
    shoal_context *ctx = targets[0].ctx;
    REFUSED(h.rho = 1.5, "heston.rho[0] is 1.5");
    h = models[0];
    REFUSED(h.v0 = -1, "heston.v0[0] is -1");
    h = models[0];
    REFUSED(c.market.sigmas = &curve, "no curve of volatilities");
    REFUSED(c.market.cash = &curve, "no cash dividends");
    REFUSED(c.opts.estimator = SHOAL_CVA_BY_INNER, "with estimator inner");
    REFUSED(c.opts.greeks = 1, "with sensitivities");
    REFUSED(c.opts.nested = 1, "with inner paths of European contracts");
    REFUSED(c.contract[0].payoff = SHOAL_CVA_DIGITAL_PUT, "european digital-put is not supported");
    REFUSED((c.contract[0].payoff = SHOAL_CVA_UP_IN_PUT, c.contract[0].barrier = 120),
            "european up-in-put is not supported");
    REFUSED(c.contract[0].payoff = SHOAL_CVA_ASIAN_PUT, "european asian-put is not supported");
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(european);
    RUN(tables);
    RUN(parity);
    RUN(quantlib);
    RUN(baskets);
    RUN(bits);
    RUN(limits);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
