/* SPDX-License-Identifier: Apache-2.0 - options on a mean of prices of cva.h: quadrature, QuantLib, the last fixing */
#include "cva_runs.h"
#include <string.h>

enum { DATES = 4, MONTHS = 12 };

static const double spot = 100, strike = 102, rate = 0.03, yield = 0.01;
static const double quarters[DATES] = { 0.25, 0.5, 0.75, 1 };
static const double months[MONTHS] = { 30.0 / 365,  61.0 / 365,  91.0 / 365,  122.0 / 365,
                                       152.0 / 365, 183.0 / 365, 213.0 / 365, 243.0 / 365,
                                       274.0 / 365, 304.0 / 365, 335.0 / 365, 1 };

static cva_case case_of(int put, const double *sigma, int64_t outer) {
    cva_case c = one_case(put ? SHOAL_CVA_ASIAN_PUT : SHOAL_CVA_ASIAN_CALL, DATES, outer);
    c.market = (shoal_cva_market){
        .assets = 1, .rate = rate, .s0 = &spot, .sigma = sigma, .dividend = &yield
    };
    c.contract[0].strike = strike, c.opts.time = quarters;
    return c;
}

static double normal(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Black's formula, undiscounted. */
static double black(int put, double f, double k, double s) {
    if (k <= 0) return put ? 0 : f - k;
    const double d = log(f / k) / s + 0.5 * s;
    return put ? k * normal(s - d) - f * normal(-d) : f * normal(d) - k * normal(d - s);
}

/* By how much the lower bound may be below the value: E sqrt(var(A | z)) / 2 (L. Rogers, Z. Shi, The value of an Asian
 * option, 1995), z the normal variable of the geometric mean. */
static double loss_of(const double *at, int n, double sigma, double x0) {
    const double h = 1.0 / 16, pi = acos(-1.0);
    double c[MONTHS], all = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        c[i] = 0;
        for (int j = 0; j < n; j++) c[i] += sigma * sigma * fmin(at[i], at[j]);
        all += c[i];
    }
    for (double z = -8; z <= 8; z += h) {
        double variance = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const double a = c[i] / sqrt(all), b = c[j] / sqrt(all);
                const double si = exp((rate - yield) * at[i] + a * z - 0.5 * a * a);
                const double sj = exp((rate - yield) * at[j] + b * z - 0.5 * b * b);
                variance += si * sj * expm1(sigma * sigma * fmin(at[i], at[j]) - a * b);
            }
        sum += h * exp(-0.5 * z * z) / sqrt(2 * pi) * sqrt(fmax(variance, 0));
    }
    return 0.5 * exp(-rate) * x0 / n * sum;
}

/* QuantLib's ChoiAsianEngine, to 5e-5: bench/quantlib_asian.py. */
TEST(quantlib) {
    static const double strikes[] = { 85, 100, 120 }, sigmas[] = { 0.1, 0.25, 0.5 };
    static const double price[3][3] = { { 15.618954, 2.956740, 0.005913 },
                                        { 16.469817, 6.511870, 1.134696 },
                                        { 20.380086, 12.417487, 6.014469 } };
    for (int t = 0; t < target_count; t++)
        for (int v = 0; v < 3; v++) {
            const double loss = loss_of(months, MONTHS, sigmas[v], spot);
            shoal_cva_check check[4 * MONTHS];
            cva_case c = case_of(0, &sigmas[v], small ? 64 : 512);
            c.opts.time = months, c.opts.dates = MONTHS;
            for (int i = 1; i < 4; i++) c.contract[i] = c.contract[0];
            for (int i = 0; i < 3; i++) c.contract[i].strike = strikes[i];
            c.contract[3].strike = 100, c.contract[3].payoff = SHOAL_CVA_ASIAN_PUT, c.count = 4;
            const shoal_cva_validation z = validated(targets[t].ctx, &c, check);
            CHECK_MSG(z.passed, "%g: z = %g", sigmas[v], z.z);
            for (int i = 0; i < 3; i++) {
                const double lost = price[v][i] - check[i * MONTHS].price;
                CHECK_MSG(lost > -5e-5 && lost < loss, "%g, %g: %.6f, not %.6f", sigmas[v],
                          strikes[i], check[i * MONTHS].price, price[v][i]);
            }
            /* what docs/cva.md says of it at the money */
            CHECK(1 - check[MONTHS].price / price[v][1] < (v == 0   ? 2.5e-5
                                                           : v == 1 ? 1.4e-4
                                                                    : 5.6e-4));
            double forward = 0; /* put-call parity */
            for (int j = 0; j < MONTHS; j++)
                forward += spot * exp((rate - yield) * months[j]) / MONTHS;
            const double apart = check[MONTHS].price - check[3 * MONTHS].price;
            CHECK(fabs(apart - exp(-rate) * (forward - 100)) < 1e-11 * spot);
        }
}

/* The mean of two prices, given the first: Black's formula. Dividends of both dates are known. */
static double two_fixings(int put, double sigma, double x0, double paid, double first) {
    const double h = 1.0 / 64, s = sigma * sqrt(first), left = sigma * sqrt(1 - first);
    double sum = 0;
    for (double z = -9; z <= 9; z += h) {
        const double x = x0 * exp((rate - yield) * first - 0.5 * s * s + s * z);
        sum += h * exp(-0.5 * z * z) / sqrt(2 * acos(-1.0)) *
               black(put, x * exp((rate - yield) * (1 - first)), 2 * strike - paid - x, left);
    }
    return exp(-rate) * sum / 2;
}

TEST(two_prices) {
    static const double at[] = { 0.4, 1 }, paid_at[] = { 0.2, 0.7, 1.5 }, amount[] = { 2, 3, 4 };
    const shoal_cva_curve cash = { 3, paid_at, amount };
    const double sigmas[] = { 0.2, 0.6 };
    double x0 = spot, paid = 0;
    for (int i = 0; i < 3; i++) {
        x0 -= amount[i] * exp(-(rate - yield) * paid_at[i]);
        for (int k = 0; k < 2; k++)
            if (paid_at[i] > at[k]) paid += amount[i] * exp(-(rate - yield) * (paid_at[i] - at[k]));
    }
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 8; i++) {
            const int put = i & 1, divided = i & 2;
            const double sigma = sigmas[i >> 2];
            shoal_cva_check check[DATES + 1];
            cva_case c = case_of(put, &sigma, small ? 64 : 1024);
            c.contract[0].fixings = 2, c.contract[0].fixing = at;
            if (divided) c.market.cash = &cash;
            const shoal_cva_validation z = validated(targets[t].ctx, &c, check);
            const double price =
                two_fixings(put, sigma, divided ? x0 : spot, divided ? paid : 0, at[0]);
            const double lost = price - check[0].price;
            const double loss = loss_of(at, 2, sigma, divided ? x0 : spot);
            CHECK_MSG(z.passed && lost > -1e-9 && lost < loss, "%d: z = %g, %.8f, %.8f, %g", i, z.z,
                      check[0].price, price, loss);
        }
}

/* One price alone is an option on it, paid later. */
TEST(one_price) {
    static const double sigma = 0.3, at[] = { 0.5, 1 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 4; i++) {
            shoal_cva_check check[DATES];
            const int put = i & 1;
            const double when = at[i >> 1], f = spot * exp((rate - yield) * when);
            cva_case c = case_of(put, &sigma, small ? 64 : 512);
            c.contract[0].fixings = 1, c.contract[0].fixing = &at[i >> 1];
            CHECK(validated(targets[t].ctx, &c, check).passed);
            const double price = exp(-rate) * black(put, f, strike, sigma * sqrt(when));
            CHECK_MSG(fabs(check[0].price - price) < 1e-10 * spot, "%d: %.12f, %.12f", i,
                      check[0].price, price);
        }
}

/* On every path: before the last fixing Black's formula of what is left, then the mean. A forward with strike 0 tells the
 * price. Contracts of two lengths have sums of their own. */
TEST(on_paths) {
    static const double sigma = 0.4;
    for (int t = 0; t < target_count; t++)
        for (int put = 0; put < 2; put++) {
            cva_case c = case_of(put, &sigma, small ? 40 : 500);
            c.contract[1] = c.contract[0], c.contract[1].payoff = SHOAL_CVA_FORWARD;
            c.contract[1].strike = 0;
            c.contract[2] = c.contract[0], c.contract[2].maturity = 0.5, c.count = 3;
            c.contract[2].quantity = -2, c.opts.by_trade = 1;
            shoal_cva *plan = NULL;
            shoal_status s = shoal_cva_create(targets[t].ctx, &c.market, c.contract, c.count,
                                              &c.counterparty, &c.opts, &plan);
            const int64_t outer = c.opts.outer;
            double *rows = new_array((size_t)(outer * shoal_cva_width(plan)), sizeof *rows);
            int64_t *totals = new_array((size_t)shoal_cva_totals(plan), sizeof *totals);
            double *values = new_array((size_t)(outer * 3 * DATES), sizeof *values);
            if (s == SHOAL_OK) s = shoal_cva_run_trades(plan, 0, outer, rows, NULL, totals, values);
            CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(targets[t].ctx));
            for (int64_t path = 0; path < outer; path++) {
                const double *of = values + path * 3 * DATES;
                double x[DATES], sum = 0;
                for (int k = 0; k < DATES; k++) {
                    x[k] = of[DATES + k] * exp(yield * (1 - quarters[k]));
                    sum += x[k];
                    const int n = k < 2 ? 2 : 4; /* of the contract that is checked here */
                    const double *mine = k < 2 ? of + 2 * DATES : of,
                                 by = k < 2 ? -2.0 / n : 1.0 / n;
                    const double k1 = n * strike - sum, f = x[k] * exp((rate - yield) * 0.25);
                    const double last = fmax(put ? k1 : -k1, 0);
                    const double value =
                        k % 2 ? by * last : by * exp(-rate * 0.25) * black(put, f, k1, 0.2);
                    CHECK_MSG(fabs(mine[k] - value) < 1e-9 * spot, "%d, %d: %.12g, %.12g", put, k,
                              mine[k], value);
                }
                CHECK(of[2 * DATES + 2] == 0 && of[2 * DATES + 3] == 0);
            }
            free(rows), free(totals), free(values);
            shoal_cva_free(plan);
        }
}

/* The same bits in pieces and everywhere; margin calls; what is bought and sold is 0. */
TEST(bits) {
    static const double sigma = 0.3;
    const shoal_cva_csa csa = { .collateral = 1, .threshold = 0.5, .period = 0.1 };
    double first = 0;
    for (int t = 0; t < target_count; t++) {
        cva_case c = case_of(0, &sigma, 64);
        cva_outcome whole, pieces;
        c.opts.csas = 1, c.opts.csa = &csa;
        CHECK(cva_in_pieces(targets[t].ctx, &c, 64, &whole) == SHOAL_OK);
        CHECK(cva_in_pieces(targets[t].ctx, &c, 17, &pieces) == SHOAL_OK);
        CHECK(whole.value.cva > 0 && whole.value.cva == pieces.value.cva);
        if (!t) first = whole.value.cva;
        CHECK_MSG(fabs(whole.value.cva - first) < 1e-12, "%s: %.17g, %.17g", targets[t].backend,
                  whole.value.cva, first);
        c.contract[1] = c.contract[0], c.contract[1].quantity = -1, c.count = 2;
        CHECK(cva_of(targets[t].ctx, &c).value.cva == 0);
    }
}

/* Without volatility, far strikes, and a maturity beyond the horizon. */
TEST(limits) {
    static const double none = 0, sigma = 0.3, strikes[] = { 1e-3, 1e6 };
    double mean = 0;
    for (int k = 0; k < DATES; k++) mean += spot * exp((rate - yield) * quarters[k]) / DATES;
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 4; i++) {
            shoal_cva_check check[DATES];
            const int put = i & 1;
            cva_case c = case_of(put, i < 2 ? &none : &sigma, 16);
            if (i >= 2) c.contract[0].strike = strikes[put];
            if (i >= 2) c.opts.horizon = 0.5, c.opts.dates = 2;
            if (i >= 2) c.contract[0].fixings = DATES, c.contract[0].fixing = quarters;
            CHECK(validated(targets[t].ctx, &c, check).passed);
            const double k = c.contract[0].strike, gain = put ? k - mean : mean - k;
            CHECK_MSG(fabs(check[0].price - exp(-rate) * fmax(gain, 0)) < 1e-11 * (spot + k),
                      "%d: %.12g", i, check[0].price);
        }
}

#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        cva_case c = case_of(0, &sigma, 8);                                                        \
        shoal_cva *plan = NULL;                                                                    \
        change;                                                                                    \
        const shoal_status s = shoal_cva_create(ctx, &c.market, c.contract, c.count,               \
                                                &c.counterparty, &c.opts, &plan);                  \
        CHECK_MSG(s == SHOAL_E_ARG && strstr(shoal_message(ctx), words), "%s",                     \
                  shoal_message(ctx));                                                             \
        shoal_cva_free(plan);                                                                      \
    } while (0)

TEST(what_is_refused) {
    static const double sigma = 0.3, back[] = { 0.5, 0.4 }, late[] = { 0.5, 1.2 }, fall = -0.2;
    shoal_context *ctx = targets[0].ctx;
    REFUSED((c.contract[0].fixings = 2, c.contract[0].fixing = back), "fixing[1] is 0.4");
    REFUSED((c.contract[0].fixings = 2, c.contract[0].fixing = late), "fixing[1] is 1.2");
    REFUSED(c.contract[0].fixings = 2, "fixing is NULL");
    REFUSED((c.contract[0].payoff = SHOAL_CVA_CALL, c.contract[0].fixings = 1,
             c.contract[0].fixing = late),
            "fixings is 1");
    REFUSED(c.contract[0].american = 1, "asian-call has no early exercise");
    REFUSED(c.opts.greeks = 1, "there are no sensitivities of a contract on a mean");
    REFUSED(c.counterparty.jump = &fall, "contracts on a mean have no jump at default");
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(quantlib);
    RUN(two_prices);
    RUN(one_price);
    RUN(on_paths);
    RUN(bits);
    RUN(limits);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
