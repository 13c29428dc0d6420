/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_market.c - CVA in markets with term structures: closed forms of integrals, prices of QuantLib, and flat markets
 * whose clock runs at another speed.
 */
#include "cva_runs.h"

/* Zero rates, dividend yields and volatilities to 91, 182, 365 and 730 days: act/365. */
static const double when_rates[] = { 91.0 / 365, 1, 2 }, when_yields[] = { 182.0 / 365, 2 };
static const double zero_rates[] = { 0.01, 0.03, 0.045 }, yields[] = { 0, 0.02 };
static const double volatilities[] = { 0.35, 0.25, 0.22 }, flat_numbers[] = { 0.9, 0.9 };
static const shoal_cva_curve dividends = { 2, when_yields, yields };
static const shoal_cva_curve sigmas = { 3, when_rates, volatilities };

static cva_case curved_case(shoal_cva_payoff payoff, int64_t dates, int64_t outer) {
    cva_case c = one_case(payoff, dates, outer);
    c.market.rate = 0.5,
    c.market.sigma = c.market.dividend = flat_numbers; /* curves replace them */
    c.market.rates = (shoal_cva_curve){ 3, when_rates, zero_rates };
    c.market.dividends = &dividends, c.market.sigmas = &sigmas;
    c.contract[0].strike = 105, c.contract[0].maturity = 2;
    return c;
}

/* What QuantLib 1.44 says (bench/quantlib_market.py): European options by its formula, maturing after 730 and 500 days,
 * between two points; Bermudan ones by finite differences on 8000 x 4000 points, 13.301605 and 11.928974, and the put by
 * a trapezoidal rule of the same script on 8001 points. */
static const double european_put[] = { 11.8123810007, 11.7665759360 };
static const double european_call[] = { 11.9285504624, 9.8117236954 };
static const double bermudan_days[] = { 91, 182, 273, 365, 547, 730 };
static const double bermudan_put = 13.301607, bermudan_call = 11.928974;

/* The discounted exposure of what is never worth less than 0 has the mean of its price, at any dates. */
TEST(european) {
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 8; i++) {
            const int put = i % 2, late = i / 2 % 2, nested = i / 4;
            const int64_t inner[] = { 64 };
            cva_case c = curved_case(put ? SHOAL_CVA_PUT : SHOAL_CVA_CALL, 5, small ? 256 : 8192);
            if (late) c.contract[0].maturity = 500.0 / 365;
            c.opts.nested = nested, c.opts.inner = inner, c.opts.inner_count = 1;
            shoal_cva_check check[5];
            const double price = (put ? european_put : european_call)[late];
            const double chance = -expm1(-hazard * c.contract[0].maturity);
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            CHECK_MSG(fabs(o.value.cva - 0.6 * chance * price) < 3 * o.value.error, "%g +- %g, %g",
                      o.value.cva, o.value.error, 0.6 * chance * price);
            CHECK(validated(targets[t].ctx, &c, check).passed);
            if (nested)
                CHECK(fabs(check[0].price - price) < 4 * check[0].price_error);
            else
                CHECK_MSG(fabs(check[0].price - price) < 2e-9 * price, "%.10f", check[0].price);
        }
}

/* Its discounted value is that of S less that of the strike; every mean is a formula. */
TEST(forward) {
    for (int t = 0; t < target_count; t++) {
        const cva_case c = curved_case(SHOAL_CVA_FORWARD, 4, small ? 256 : 8192);
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        const double carry = 100 * exp(-0.02 * 2) - 105 * exp(-0.045 * 2);
        for (int k = 0; k < 4; k++) {
            const shoal_cva_date *d = &o.profile[k];
            const double at = 0.5 * (k + 1);
            const double rate = at == 0.5  ? 0.01 * 91 / 365 + (0.03 - 0.01 * 91 / 365) / 274 * 91.5
                                : at < 1.5 ? 0.03
                                : at < 2   ? 0.03 + 0.06 / 2
                                           : 0.09;
            CHECK_MSG(fabs(d->discount - exp(-rate)) < 1e-12, "%g: %.12f", at, d->discount);
            const double variance =
                at == 0.5
                    ? 0.35 * 0.35 * 91 / 365 + (0.25 * 0.25 - 0.35 * 0.35 * 91 / 365) / 274 * 91.5
                : at < 1.5 ? 0.0625
                : at < 2   ? 0.5 * (0.0625 + 0.22 * 0.22 * 2)
                           : 0.22 * 0.22 * 2;
            const double deviation = 100 * exp(-0.04) * sqrt(expm1(variance));
            const double mean = d->discount * (d->epe - d->ene);
            CHECK_MSG(fabs(mean - carry) < 4 * deviation / sqrt((double)c.opts.outer), "%g: %g, %g",
                      at, mean, carry);
        }
    }
}

/* The grid of one asset, and outer paths that its rule exercises. */
TEST(bermudan) {
    double exercise[6];
    for (int i = 0; i < 6; i++) exercise[i] = bermudan_days[i] / 365;
    for (int t = 0; t < target_count; t++)
        for (int put = 0; put < 2; put++)
            for (int estimator = SHOAL_CVA_BY_RULE; estimator <= SHOAL_CVA_BY_AMC; estimator++) {
                const int64_t inner[] = { 32 };
                shoal_cva_check check[6];
                cva_case c =
                    curved_case(put ? SHOAL_CVA_PUT : SHOAL_CVA_CALL, 6, small ? 128 : 2048);
                c.opts.time = exercise, c.contract[0].american = 1;
                c.opts.inner = inner, c.opts.inner_count = 1;
                c.opts.estimator = (shoal_cva_estimator)estimator;
                CHECK(validated(targets[t].ctx, &c, check).passed);
                const double price = put ? bermudan_put : bermudan_call;
                CHECK_MSG(fabs(check[0].price - price) < 1e-6 * 105, "%.6f", check[0].price);
            }
}

/* With r and q proportional to sigma^2, time is a clock: the market is flat at other dates. So all is equal but for
 * rounding: paths, rules, inner paths. */
TEST(another_clock) {
    const double s0[] = { 36, 36 }, real_sigma[] = { 0.2, 0.3 }, real_yield[] = { 0.01, 0.02 };
    const double time[] = { 0.25, 0.5, 1 }, clock[] = { 0.4, 0.6, 1 };
    const int64_t both[] = { 0, 1 }, inner[] = { 32 };
    double rates[3], q[2][3], v[2][3];
    for (int i = 0; i < 3; i++) rates[i] = 0.06 * clock[i] / time[i];
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < 3; i++) {
            q[a][i] = real_yield[a] * clock[i] / time[i];
            v[a][i] = real_sigma[a] * sqrt(clock[i] / time[i]);
        }
    const shoal_cva_curve of_q[] = { { 3, time, q[0] }, { 3, time, q[1] } };
    const shoal_cva_curve of_v[] = { { 3, time, v[0] }, { 3, time, v[1] } };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 4; i++) {
            const int many = i == 3; /* other paths: with two assets each point is a stop */
            cva_case c = one_case(SHOAL_CVA_PUT, 3, small ? 32 : 512);
            c.market = (shoal_cva_market){ .assets = many ? 2 : 1,
                                           .rate = 0.06,
                                           .s0 = s0,
                                           .sigma = real_sigma,
                                           .dividend = real_yield };
            c.contract[0].strike = 40, c.contract[0].american = i > 0;
            c.contract[0].payoff = many ? SHOAL_CVA_BASKET_PUT : SHOAL_CVA_PUT;
            c.contract[0].assets = many ? 2 : 1, c.contract[0].asset = both;
            c.contract[1] = c.contract[0], c.contract[1].american = 0; /* a set of both signs */
            c.contract[1].quantity = -0.8, c.count = 2;
            c.opts.estimator = i == 2 ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
            c.opts.time = clock, c.opts.inner = inner, c.opts.inner_count = 1;
            const cva_outcome plain = cva_of(targets[t].ctx, &c);
            c.market.rates = (shoal_cva_curve){ 3, time, rates };
            c.market.dividends = of_q, c.market.sigmas = of_v;
            c.opts.time = time;
            const cva_outcome curved = cva_of(targets[t].ctx, &c);
            for (int k = 0; k < 3; k++) {
                const double a = plain.profile[k].epe, b = curved.profile[k].epe;
                const double x = plain.profile[k].ene, y = curved.profile[k].ene;
                if (!many) {
                    CHECK_MSG(fabs(a - b) < 1e-10 * 40 && fabs(x - y) < 1e-10 * 40,
                              "%d, date %d: %.12f, %.12f", i, k, a, b);
                    continue;
                }
                const double noise = hypot(plain.profile[k].epe_error, curved.profile[k].epe_error);
                CHECK_MSG(fabs(a - b) < 4 * noise, "date %d: %g, %g", k, a, b);
            }
        }
}

/* Margrabe's formula of E max(S_1, S_2) with sigma_i of different shapes: the variance of S_1 / S_2 is an integral. */
TEST(volatilities_of_different_shapes) {
    const double s0[] = { 100, 95 }, sigma[] = { 0.1, 0.1 }, correlation[] = { 1, 0.6, 0.6, 1 };
    const double when[] = { 0.5, 1, 2 }, up[] = { 0.1, 0.3, 0.4 }, down[] = { 0.5, 0.4, 0.3 };
    const double q[] = { 0.01, 0.03 };
    const shoal_cva_curve curves[] = { { 3, when, up }, { 3, when, down } };
    const int64_t both[] = { 0, 1 }, inner[] = { 128 };
    double variance = 0; /* to 1.6 years, within the last piece */
    for (int i = 0; i < 3; i++) {
        const double from = i ? when[i - 1] : 0, dt = (i < 2 ? when[i] : 1.6) - from;
        const double x =
            (up[i] * up[i] * when[i] - (i ? up[i - 1] * up[i - 1] * from : 0)) / (when[i] - from);
        const double y =
            (down[i] * down[i] * when[i] - (i ? down[i - 1] * down[i - 1] * from : 0)) /
            (when[i] - from);
        variance += (x + y - 2 * 0.6 * sqrt(x * y)) * dt;
    }
    const double a = s0[0] * exp(-q[0] * 1.6), b = s0[1] * exp(-q[1] * 1.6);
    const double price = b + shoal_black(a, b, sqrt(variance), 0);
    for (int t = 0; t < target_count; t++)
        for (int american = 0; american < 2; american++) {
            cva_case c = one_case(SHOAL_CVA_MAX_CALL, 4, small ? 64 : 4096);
            c.market = (shoal_cva_market){ .assets = 2,
                                           .rate = american ? 0 : 0.04,
                                           .s0 = s0,
                                           .sigma = sigma,
                                           .dividend = q,
                                           .correlation = correlation,
                                           .sigmas = curves };
            c.contract[0].assets = 2, c.contract[0].asset = both, c.contract[0].maturity = 1.6;
            c.contract[0].strike = 0, c.opts.inner = inner, c.opts.inner_count = 1;
            shoal_cva_check check[4];
            if (american) { /* never exercised early: without dividends, and a strike of nearly 0 */
                c.contract[0].american = 1, c.contract[0].strike = 1e-6;
                c.market.dividend = NULL;
            }
            const double whole =
                american ? s0[1] + shoal_black(s0[0], s0[1], sqrt(variance), 0) : price;
            CHECK(validated(targets[t].ctx, &c, check).passed);
            CHECK_MSG(fabs(check[0].price - whole) < 4 * check[0].price_error, "%g +- %g, %g",
                      check[0].price, check[0].price_error, whole);
            CHECK(check[0].price_error < 0.01 * whole);
        }
}

/* On all backends, at any threads, in any pieces; points that change nothing are a flat market but for rounding. */
TEST(bits) {
    const double s0[] = { 100, 95 }, sigma[] = { 0.2, 0.3 }, when[] = { 0.3, 0.7 };
    const double same[] = { 0.2, 0.2 }, falling[] = { 0.4, 0.3 }, rate[] = { 0.1, 0.1 };
    const shoal_cva_curve curves[] = { { 2, when, same }, { 2, when, falling } };
    const int64_t both[] = { 0, 1 }, inner[] = { 32 };
    double first = 0;
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_MAX_CALL, 3, 64);
        c.market = (shoal_cva_market){ .assets = 2, .s0 = s0, .sigma = sigma, .sigmas = curves };
        c.market.rates = (shoal_cva_curve){ 2, when, rate };
        c.contract[0].assets = 2, c.contract[0].asset = both;
        c.contract[1] = c.contract[0], c.contract[1].american = 1, c.contract[1].quantity = -1;
        c.contract[2] = c.contract[0], c.contract[2].payoff = SHOAL_CVA_PUT;
        c.contract[2].assets = 1, c.contract[2].american = 1, c.count = 3;
        c.opts.rule_paths = 512, c.opts.inner = inner, c.opts.inner_count = 1;
        cva_outcome whole, pieces;
        CHECK(cva_in_pieces(targets[t].ctx, &c, 64, &whole) == SHOAL_OK);
        CHECK(cva_in_pieces(targets[t].ctx, &c, 17, &pieces) == SHOAL_OK);
        CHECK(whole.value.cva == pieces.value.cva && whole.value.error == pieces.value.error);
        if (!t) first = whole.value.cva;
        CHECK_MSG(fabs(whole.value.cva - first) < 1e-12, "%s: %.17g, %.17g", targets[t].backend,
                  whole.value.cva, first);
    }
}

/* By bench/quantlib_cds.py; premiums are due on the 20th of March, June, September and December or the next Monday. */
static const double due[] = { -59,  32,   123,  214,  305,  396,  487,  579,  671,  762,  852,
                              944,  1036, 1127, 1217, 1309, 1401, 1492, 1582, 1674, 1768, 1859,
                              1950, 2041, 2132, 2223, 2314, 2405, 2497, 2588, 2678, 2770, 2862,
                              2953, 3043, 3135, 3227, 3318, 3409, 3501, 3595, 3686 };
static const double maturities[] = { 396, 1127, 1857, 2588, 3684 };
static const double spreads[] = { 0.008, 0.012, 0.016, 0.018, 0.020 };
static const double hazards[] = { 0.01345845033058, 0.02420141286507, 0.03962710328066,
                                  0.04191431415451, 0.04630890609102 };

TEST(hazard_of_swaps) {
    enum { DUE = sizeof due / sizeof *due };
    const double when[] = { 91.0 / 365, 1, 2, 10 }, zero[] = { 0.01, 0.03, 0.045, 0.05 };
    const shoal_cva_curve curve = { 4, when, zero };
    double payment[DUE], hazard_of[5];
    for (int i = 0; i < DUE; i++) payment[i] = due[i] / 365;
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_cds cds[5];
        for (int i = 0; i < 5; i++) {
            cds[i] = (shoal_cds){ .maturity = maturities[i] / 365, .spread = spreads[i] };
            cds[i].start = payment[0], cds[i].payment = payment + 1;
            cds[i].settlement = 5.0 / 365;
            while (payment[1 + cds[i].payments++] < cds[i].maturity) {}
        }
        CHECK(shoal_cds_bootstrap(ctx, 0, &curve, 0.4, cds, 5, hazard_of) == SHOAL_OK);
        for (int i = 0; i < 5; i++)
            CHECK_MSG(fabs(hazard_of[i] / hazards[i] - 1) < 1e-11, "%d: %.14f", i, hazard_of[i]);
        /* without dates: a rate of no interest has H = S 365 / 360 / (1 - R), but for days */
        for (int i = 0; i < 5; i++) cds[i] = (shoal_cds){ .maturity = i + 1, .spread = 0.01 };
        CHECK(shoal_cds_bootstrap(ctx, 0, NULL, 0.4, cds, 5, hazard_of) == SHOAL_OK);
        const double about = 0.01 * 365 / 360 / 0.6;
        for (int i = 0; i < 5; i++)
            CHECK_MSG(fabs(hazard_of[i] / about - 1) < (i ? 1e-3 : 3.0 / 365), "%d: %g, %g", i,
                      hazard_of[i], about);
        cds[1].spread = 0.001;
        CHECK(shoal_cds_bootstrap(ctx, 0, NULL, 0.4, cds, 5, hazard_of) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "cds[1]: spread is 0.001; after the spreads before it"));
        cds[1].spread = 0.01, cds[2].maturity = 2;
        CHECK(shoal_cds_bootstrap(ctx, 0, NULL, 0.4, cds, 5, hazard_of) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "cds[2]: maturity is 2; it must be above 2"));
        CHECK(shoal_cds_bootstrap(ctx, 0, NULL, 1, cds, 5, hazard_of) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "recovery is 1"));
        cds[0].payments = 2, cds[0].payment = maturities + 3;
        CHECK(shoal_cds_bootstrap(ctx, 0, NULL, 0.4, cds, 1, hazard_of) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "cds[0]: payment[0] is 2588"));
    }
}

#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        cva_case c = curved_case(SHOAL_CVA_CALL, 4, 8);                                            \
        shoal_cva *plan = NULL;                                                                    \
        change;                                                                                    \
        const shoal_status s = shoal_cva_create(ctx, &c.market, c.contract, c.count,               \
                                                &c.counterparty, &c.opts, &plan);                  \
        CHECK_MSG(s == SHOAL_E_ARG && strstr(shoal_message(ctx), words), "%s",                     \
                  shoal_message(ctx));                                                             \
        shoal_cva_free(plan);                                                                      \
    } while (0)

TEST(what_is_refused) {
    static const double back[] = { 2, 1, 3 }, low[] = { 0.35, 0.1, 0.2 }, endless[] = { INFINITY };
    static const shoal_cva_curve falls = { 3, when_rates, low }, negative = { 1, back, back };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        REFUSED(c.market.rates.time = back, "rates: time[1] is 1; it must be above 2");
        REFUSED(c.market.rates.value = NULL, "rates: value is NULL");
        REFUSED(c.market.rates.count = -1, "rates: count is -1");
        REFUSED(c.market.rates = ((shoal_cva_curve){ 1, back, endless }), "rates: value[0] is inf");
        REFUSED(c.market.sigmas = &falls, "sigmas[0]: value[1] is 0.1; with a variance that does "
                                          "not fall it is at least 0.174");
        REFUSED((c.market.dividends = &negative, c.contract[0].maturity = 100),
                "asset 0 are too large for");
        REFUSED(c.opts.estimator = SHOAL_CVA_BY_INNER, "estimator inner takes no curves");
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(european);
    RUN(forward);
    RUN(bermudan);
    RUN(another_clock);
    RUN(volatilities_of_different_shapes);
    RUN(bits);
    RUN(hazard_of_swaps);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
