/* SPDX-License-Identifier: Apache-2.0 - cash dividends of cva.h: closed forms, QuantLib's escrowed model, a tree */
#include "cva_runs.h"
#include <string.h>

enum { DATES = 6, AMOUNTS = 2 };

static const double spot = 100, strike = 102, sigma = 0.25, rate = 0.03, yield = 0.01;
static const double exercise[DATES] = { 60.0 / 365,  90.0 / 365,  182.0 / 365,
                                        273.0 / 365, 300.0 / 365, 1 };
static const double paid_at[AMOUNTS] = { 91.0 / 365, 274.0 / 365 }, amount[AMOUNTS] = { 2.5, 4 };
static const shoal_cva_curve cash = { AMOUNTS, paid_at, amount };
static const int64_t inner[] = { 32 };

static cva_case case_of(shoal_cva_payoff payoff, int64_t outer) {
    cva_case c = one_case(payoff, DATES, outer);
    c.market = (shoal_cva_market){
        .assets = 1, .rate = rate, .s0 = &spot, .sigma = &sigma, .dividend = &yield, .cash = &cash
    };
    c.contract[0].strike = strike, c.opts.time = exercise;
    c.opts.inner = inner, c.opts.inner_count = 1;
    return c;
}

/* What the dividends after t are worth then, in a flat market. */
static double escrow(const shoal_cva_curve *of, double t, double carry) {
    double sum = 0;
    for (int i = 0; i < AMOUNTS; i++)
        if (of->time[i] > t) sum += amount[i] * exp(-carry * (of->time[i] - t));
    return sum;
}

static double normal(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* The price today of what a sum of X and a number pays at t: a lognormal X beside another strike. */
static double formula(shoal_cva_payoff payoff, double x0, double k, double t, double vol, double r,
                      double q) {
    const double f = x0 * exp((r - q) * t), s = vol * sqrt(t), d = log(f / k) / s + 0.5 * s;
    const double call = f * normal(d) - k * normal(d - s), discount = exp(-r * t);
    if (payoff == SHOAL_CVA_CALL) return discount * call;
    if (payoff == SHOAL_CVA_PUT) return discount * (call - f + k);
    if (payoff == SHOAL_CVA_FORWARD) return discount * (f - k);
    return discount * normal(payoff == SHOAL_CVA_DIGITAL_CALL ? d - s : s - d);
}

TEST(european) {
    static const shoal_cva_payoff payoffs[] = { SHOAL_CVA_CALL, SHOAL_CVA_PUT, SHOAL_CVA_FORWARD,
                                                SHOAL_CVA_DIGITAL_CALL, SHOAL_CVA_DIGITAL_PUT };
    static const double maturities[] = { 1, 120.0 / 365, 60.0 / 365 };
    static const double quantlib[] = { 6.6896779686,
                                       13.0341388084 }; /* bench/quantlib_dividends.py */
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 5; i++)
            for (int m = 0; m < 3; m++) {
                shoal_cva_check check[DATES];
                cva_case c = case_of(payoffs[i], small ? 64 : 1024);
                const double end = maturities[m], carry = rate - yield;
                c.contract[0].maturity = end, c.opts.time = NULL, c.opts.dates = DATES;
                const shoal_cva_validation v = validated(targets[t].ctx, &c, check);
                const double price =
                    formula(payoffs[i], spot - escrow(&cash, 0, carry),
                            strike - escrow(&cash, end, carry), end, sigma, rate, yield);
                CHECK_MSG(v.passed && fabs(check[0].price - price) < 1e-11 * strike,
                          "%d, %g: z = %g, %.12g, not %.12g", i, end, v.z, check[0].price, price);
                if (i < 2 && m == 0)
                    CHECK_MSG(fabs(check[0].price - quantlib[i]) < 1e-9, "%.10f", check[0].price);
                c.opts.nested = 1, c.opts.outer = 64; /* on inner paths */
                CHECK(i == 2 || validated(targets[t].ctx, &c, check).passed);
            }
}

/* Dividends are discounted by the curves. */
TEST(curves) {
    static const double when[] = { 0.5, 2 }, rates[] = { 0.01, 0.04 }, vols[] = { 0.3, 0.25 };
    const shoal_cva_curve zero = { 2, when, rates }, shape = { 2, when, vols };
    /* linear between 0.5 and 2 years: of rates 0.005 to 0.08, of variances 0.045 to 0.125 */
    const double to[] = { 0.01 * paid_at[0], 0.005 + 0.05 * (paid_at[1] - 0.5), 0.03 };
    const double variance = 0.045 + 0.16 / 3 * 0.5;
    for (int t = 0; t < target_count; t++) {
        shoal_cva_check check[DATES];
        cva_case c = case_of(SHOAL_CVA_PUT, small ? 64 : 1024);
        c.market.rates = zero, c.market.sigmas = &shape;
        double x0 = spot;
        for (int i = 0; i < AMOUNTS; i++) x0 -= amount[i] * exp(yield * paid_at[i] - to[i]);
        const double price = formula(SHOAL_CVA_PUT, x0, strike, 1, sqrt(variance), to[2], yield);
        const shoal_cva_validation v = validated(targets[t].ctx, &c, check);
        CHECK_MSG(v.passed && fabs(check[0].price - price) < 1e-11 * strike, "%.12g, not %.12g",
                  check[0].price, price);
    }
}

/* Finite differences of QuantLib with escrowed dividends: bench/quantlib_dividends.py. */
TEST(bermudan) {
    static const double price[] = { 7.356801, 13.171594 };
    for (int t = 0; t < target_count; t++)
        for (int put = 0; put < 2; put++)
            for (int way = 0; way < 3; way++) {
                shoal_cva_check check[DATES];
                cva_case c = case_of(put ? SHOAL_CVA_PUT : SHOAL_CVA_CALL, small ? 128 : 1024);
                c.contract[0].american = 1, c.opts.type = way == 2 ? SHOAL_F32 : SHOAL_F64;
                c.opts.estimator = way == 1 ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
                const shoal_cva_validation v = validated(targets[t].ctx, &c, check);
                CHECK_MSG(v.passed, "%d, %d: z = %g", put, way, v.z);
                CHECK_MSG(fabs(check[0].price - price[put]) < 2e-6 * strike / 2, "%.6f",
                          check[0].price);
            }
}

/* A binomial tree of X. On the date of a dividend the price is without it, so that exercise is after it. */
static double tree(int put, const shoal_cva_curve *of) {
    enum { EACH = 500, STEPS = 4 * EACH };
    static double value[STEPS + 1], power[2 * STEPS + 1]; /* of a move up */
    const double dt = 1.0 / STEPS, up = exp(sigma * sqrt(dt)),
                 x0 = spot - escrow(of, 0, rate - yield);
    const double p = (exp((rate - yield) * dt) - 1 / up) / (up - 1 / up),
                 discount = exp(-rate * dt);
    for (int i = 0; i <= 2 * STEPS; i++) power[i] = x0 * pow(up, i - STEPS);
    for (int k = STEPS; k >= 0; k--) {
        const double later = escrow(of, (double)k / STEPS, rate - yield);
        for (int i = 0; i <= k; i++) {
            const double s = power[2 * i - k + STEPS] + later;
            const double gain = fmax(put ? strike - s : s - strike, 0);
            if (k < STEPS) value[i] = discount * (p * value[i + 1] + (1 - p) * value[i]);
            if (k == STEPS || (k % EACH == 0 && k > 0 && gain > value[i])) value[i] = gain;
        }
    }
    return value[0];
}

TEST(on_ex_dates) {
    static const double quarters[] = { 0.25, 0.5, 0.75, 1 }, at[] = { 0.25, 0.75 };
    const shoal_cva_curve on_dates = { AMOUNTS, at, amount };
    for (int put = 0; put < 2; put++) {
        const double price = tree(put, &on_dates);
        for (int t = 0; t < target_count; t++) {
            shoal_cva_check check[DATES];
            cva_case c = case_of(put ? SHOAL_CVA_PUT : SHOAL_CVA_CALL, small ? 128 : 1024);
            c.market.cash = &on_dates, c.contract[0].american = 1;
            c.opts.time = quarters, c.opts.dates = 4;
            CHECK(validated(targets[t].ctx, &c, check).passed);
            CHECK_MSG(fabs(check[0].price - price) < 1e-4 * strike, "%.6f, %.6f", check[0].price,
                      price);
        }
    }
}

/* Two assets, one of which pays: a basket with early exercise, by rule and by amc, whose path-wise values are martingales;
 * the same bits everywhere. */
static cva_case basket_case(int64_t outer) {
    static const double s0[] = { 100, 90 }, vols[] = { 0.25, 0.3 },
                        correlation[] = { 1, 0.4, 0.4, 1 };
    static const shoal_cva_curve curves[] = { { 0, NULL, NULL }, { AMOUNTS, paid_at, amount } };
    static const double weights[] = { 0.6, 0.4 };
    static const int64_t both[] = { 0, 1 };
    cva_case c = case_of(SHOAL_CVA_BASKET_PUT, outer);
    c.market = (shoal_cva_market){ .assets = 2,
                                   .rate = rate,
                                   .s0 = s0,
                                   .sigma = vols,
                                   .correlation = correlation,
                                   .cash = curves };
    c.contract[0].assets = 2, c.contract[0].asset = both, c.contract[0].weight = weights;
    c.contract[0].strike = 98;
    c.contract[1] = c.contract[0], c.contract[1].american = 1;
    c.contract[2] = c.contract[0], c.contract[2].payoff = SHOAL_CVA_BASKET_CALL;
    c.contract[2].american = 1, c.contract[2].quantity = -1, c.count = 3;
    return c;
}

TEST(baskets) {
    for (int t = 0; t < target_count; t++)
        for (int amc = 0; amc < 2; amc++) {
            shoal_cva_check check[3 * DATES];
            cva_case c = basket_case(small ? 24 : 1024);
            c.opts.estimator = amc ? SHOAL_CVA_BY_AMC : SHOAL_CVA_BY_RULE;
            const shoal_cva_validation v = validated(targets[t].ctx, &c, check);
            CHECK_MSG(v.passed, "%d: z = %g", amc, v.z);
            CHECK_MSG(check[DATES].price > check[0].price + 0.05, "%g, %g", check[DATES].price,
                      check[0].price);
            /* the dual bound is above the price, and not far */
            for (int i = 1; i < 3; i++) {
                const shoal_cva_check *one = &check[i * DATES];
                const double noise = 4 * hypot(one->upper_error, one->price_error);
                CHECK_MSG(one->upper > one->price - noise && one->upper < 1.03 * one->price + noise,
                          "%d: %g to %g +- %g", i, one->price, one->upper, noise);
            }
        }
}

/* E max(S_1, S_2, K) - K at t, discounted: given S_1, Black's formula of S_2; the trapezoidal rule over S_1. */
static double max_call(const shoal_cva_market *m, double k, double t) {
    const double rho = m->correlation[1], v = m->sigma[1] * sqrt(t), h = 1.0 / 64;
    double x0[2], later[2], sum = 0;
    for (int a = 0; a < 2; a++) {
        const shoal_cva_curve *of = m->cash[a].count ? &m->cash[a] : NULL;
        x0[a] = m->s0[a] - (of ? escrow(of, 0, rate) : 0);
        later[a] = of ? escrow(of, t, rate) : 0;
    }
    for (double z = -9; z <= 9; z += h) {
        const double s = m->sigma[0] * sqrt(t);
        const double first = x0[0] * exp(rate * t - 0.5 * s * s + s * z) + later[0];
        const double best = fmax(first, k), least = best - later[1];
        const double f = x0[1] * exp(rate * t + rho * v * z - 0.5 * rho * rho * v * v);
        const double other = v * sqrt(1 - rho * rho), d = log(f / least) / other + 0.5 * other;
        const double more = f * normal(d) - least * normal(d - other);
        sum += h * exp(-0.5 * z * z) / sqrt(2 * acos(-1.0)) * (best - k + more);
    }
    return exp(-rate * t) * sum;
}

/* The larger of two prices, before and after dividends. */
TEST(max_calls) {
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < 2; m++) {
            shoal_cva_check check[3 * DATES];
            cva_case c = basket_case(small ? 24 : 1024);
            for (int i = 0; i < 3; i++) {
                c.contract[i].payoff = SHOAL_CVA_MAX_CALL, c.contract[i].weight = NULL;
                c.contract[i].maturity = m ? 0.7 : 1; /* the second dividend is later */
                if (m) c.opts.time = NULL, c.opts.dates = 4;
            }
            const int64_t dates = c.opts.dates;
            const shoal_cva_validation v = validated(targets[t].ctx, &c, check);
            CHECK_MSG(v.passed, "%d: z = %g", m, v.z);
            const double price = max_call(&c.market, 98, c.contract[0].maturity);
            CHECK_MSG(fabs(check[0].price - price) < 4 * check[0].price_error, "%g +- %g, not %g",
                      check[0].price, check[0].price_error, price);
            const shoal_cva_check *one = &check[dates];
            const double noise = 4 * hypot(one->upper_error, one->price_error);
            CHECK_MSG(one->price > price - noise && one->upper > one->price - noise &&
                          one->upper < 1.03 * one->price + noise,
                      "%g to %g", one->price, one->upper);
        }
}

/* A max-call whose second asset is worth nothing is the call of `bermudan`, to what a rule of two assets loses. */
TEST(max_call_of_one) {
    static const double s0[] = { 100, 1e-3 }, vols[] = { 0.25, 0.1 }, yields[] = { 0.01, 0 };
    static const shoal_cva_curve curves[] = { { AMOUNTS, paid_at, amount }, { 0, NULL, NULL } };
    static const int64_t both[] = { 0, 1 };
    for (int t = 0; t < target_count; t++) {
        shoal_cva_check check[DATES];
        cva_case c = case_of(SHOAL_CVA_MAX_CALL, small ? 24 : 1024);
        c.market = (shoal_cva_market){
            .assets = 2, .rate = rate, .s0 = s0, .sigma = vols, .dividend = yields, .cash = curves
        };
        c.contract[0].assets = 2, c.contract[0].asset = both, c.contract[0].american = 1;
        CHECK(validated(targets[t].ctx, &c, check).passed);
        const double off = check[0].price / 7.356801 - 1, noise = check[0].price_error / 7.356801;
        CHECK_MSG(off < 4 * noise && off > -0.01 - 4 * noise, "%g +- %g", check[0].price,
                  check[0].price_error);
        CHECK_MSG(check[0].upper > 7.356801 - 4 * check[0].upper_error, "%g", check[0].upper);
    }
}

TEST(bits) {
    double first = 0;
    for (int t = 0; t < target_count; t++) {
        cva_case c = basket_case(24);
        c.contract[0] = c.contract[1], c.contract[0].payoff = SHOAL_CVA_PUT;
        c.contract[0].assets = 1, c.contract[0].asset++, c.contract[0].weight = NULL;
        c.contract[3] = c.contract[1], c.contract[3].payoff = SHOAL_CVA_MAX_CALL;
        c.contract[3].weight = NULL, c.count = 4;
        c.opts.rule_paths = 512;
        cva_outcome whole, pieces;
        CHECK(cva_in_pieces(targets[t].ctx, &c, 24, &whole) == SHOAL_OK);
        CHECK(cva_in_pieces(targets[t].ctx, &c, 17, &pieces) == SHOAL_OK);
        CHECK(whole.value.cva == pieces.value.cva && whole.value.error == pieces.value.error);
        if (!t) first = whole.value.cva;
        CHECK_MSG(fabs(whole.value.cva - first) < 1e-12, "%s: %.17g, %.17g", targets[t].backend,
                  whole.value.cva, first);
    }
}

/* No dividends, dividends of 0 and of other assets change no bit. Strikes below what is paid after maturity. */
TEST(limits) {
    static const double nothing[] = { 0, 0 }, late[] = { 2, 3 };
    const shoal_cva_curve zero = { AMOUNTS, paid_at, nothing }, later = { AMOUNTS, late, amount };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        cva_case c = case_of(SHOAL_CVA_PUT, 16);
        c.contract[0].american = 1, c.market.cash = NULL;
        const double plain = cva_of(ctx, &c).value.cva;
        c.market.cash = &zero;
        CHECK(cva_of(ctx, &c).value.cva == plain);
        c.market.cash = &(shoal_cva_curve){ 0, NULL, NULL };
        CHECK(cva_of(ctx, &c).value.cva == plain);
        cva_case two = basket_case(16);
        two.contract[0].assets = 1, two.contract[0].weight = NULL, two.count = 1;
        const double unpaid = cva_of(ctx, &two).value.cva;
        two.market.cash = NULL;
        CHECK(cva_of(ctx, &two).value.cva == unpaid);

        shoal_cva_check check[4 * DATES];
        c = case_of(SHOAL_CVA_CALL, 16), c.market.cash = &later, c.contract[0].strike = 2;
        for (int i = 1; i < 4; i++) c.contract[i] = c.contract[0];
        c.contract[1].payoff = SHOAL_CVA_PUT, c.contract[1].american = 1;
        c.contract[2].payoff = SHOAL_CVA_DIGITAL_CALL, c.contract[3].payoff = SHOAL_CVA_FORWARD;
        c.count = 4;
        CHECK(validated(ctx, &c, check).passed);
        const double forward = spot * exp(-yield) - 2 * exp(-rate), digital = exp(-rate);
        CHECK_MSG(fabs(check[0].price - forward) < 1e-12 * spot, "%.15g", check[0].price);
        CHECK(fabs(check[3 * DATES].price - forward) < 1e-12 * spot);
        CHECK(check[DATES].price == 0 && fabs(check[2 * DATES].price - digital) < 1e-15);
    }
}

#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        cva_case c = case_of(SHOAL_CVA_CALL, 8);                                                   \
        shoal_cva *plan = NULL;                                                                    \
        change;                                                                                    \
        const shoal_status s = shoal_cva_create(ctx, &c.market, c.contract, c.count,               \
                                                &c.counterparty, &c.opts, &plan);                  \
        CHECK_MSG(s == SHOAL_E_ARG && strstr(shoal_message(ctx), words), "%s",                     \
                  shoal_message(ctx));                                                             \
        shoal_cva_free(plan);                                                                      \
    } while (0)

TEST(what_is_refused) {
    static const double back[] = { 2, 1 }, below[] = { 1, -1 }, much[] = { 60, 50 }, fall = -0.2;
    shoal_context *ctx = targets[0].ctx;
    REFUSED(c.market.cash = (&(shoal_cva_curve){ 2, back, amount }),
            "cash[0]: time[1] is 1; it must be above 2");
    REFUSED(c.market.cash = (&(shoal_cva_curve){ 2, paid_at, below }), "cash[0]: value[1] is -1");
    REFUSED(c.market.cash = (&(shoal_cva_curve){ 2, paid_at, NULL }), "cash[0]: value is NULL");
    REFUSED(c.market.cash = (&(shoal_cva_curve){ -1, paid_at, amount }), "cash[0]: count is -1");
    REFUSED(c.market.cash = (&(shoal_cva_curve){ 2, paid_at, much }),
            "cash[0]: the dividends are worth 108.9");
    REFUSED(c.opts.estimator = SHOAL_CVA_BY_INNER,
            "cash is given; there are no cash dividends with estimator inner");
    REFUSED(c.opts.greeks = 1, "no cash dividends with sensitivities");
    REFUSED(c.counterparty.jump = &fall, "no cash dividends with a jump at default");
    REFUSED((c.contract[0].payoff = SHOAL_CVA_UP_OUT_CALL, c.contract[0].barrier = 120),
            "contracts[0]: up-out-call takes no asset with cash dividends");
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(european);
    RUN(curves);
    RUN(bermudan);
    RUN(on_ex_dates);
    RUN(baskets);
    RUN(max_calls);
    RUN(max_call_of_one);
    RUN(bits);
    RUN(limits);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
