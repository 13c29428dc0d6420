/* SPDX-License-Identifier: Apache-2.0
 *
 * test_american_pde.c - American and Bermudan options by finite differences, beside exact prices, QuantLib 1.44's finite
 * differences (bench/quantlib_pde.py), a binomial tree with cash dividends, closed forms, bumps, and itself: calls
 * beside puts, curves beside numbers, every option alone, both backends.
 */
#include <math.h>
#include <shoal/shoal.h>
#include "targets.h"

enum { MOST = 192, MAX_DATES = 80 };
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static shoal_context *ctx;

typedef struct book {
    double s0[MOST], strike[MOST], rate[MOST], dividend[MOST], sigma[MOST], maturity[MOST];
    double price[MOST], delta[MOST], gamma[MOST], vega[MOST], theta[MOST], rho[MOST], error[MOST];
    int32_t call[MOST], status[MOST];
} book;

static void add(book *b, int i, int call, double s0, double strike, double rate, double dividend,
                double sigma, double maturity) {
    b->call[i] = call, b->s0[i] = s0, b->strike[i] = strike, b->rate[i] = rate;
    b->dividend[i] = dividend, b->sigma[i] = sigma, b->maturity[i] = maturity;
}

static shoal_vanilla options_of(const book *b) {
    return (
        shoal_vanilla){ b->s0, b->strike, b->rate, b->sigma, b->maturity, b->dividend, b->call };
}

static shoal_vanilla_values values_of(book *b, int greeks) {
    if (!greeks) return (shoal_vanilla_values){ .price = b->price };
    return (shoal_vanilla_values){ b->price, b->delta, b->gamma, b->vega, b->theta, b->rho, NULL };
}

static void value(book *b, int count, int greeks, const shoal_vanilla_pde_opts *opts) {
    const shoal_vanilla o = options_of(b);
    const shoal_vanilla_values v = values_of(b, greeks);
    CHECK_MSG(shoal_vanilla_pde(ctx, &o, count, opts, &v, b->error, b->status) == SHOAL_OK, "%s",
              shoal_message(ctx));
}

static int make_grid(book *b, int call) {
    static const double carry[][2] = { { 0.05, 0 },    { 0.02, 0.08 },  { 0.1, 0 },    { 0, -0.03 },
                                       { 0.01, 0.15 }, { 0.08, -0.02 }, { 0.05, 0.05 } };
    static const double sigma[] = { 0.05, 0.2, 0.6 }, maturity[] = { 0.02, 1, 15 };
    static const double s0[] = { 80, 100, 130 };
    int n = 0;
    for (int c = 0; c < COUNT(carry); c++)
        for (int v = 0; v < 3; v++)
            for (int t = 0; t < 3; t++)
                for (int s = 0; s < 3; s++, n++)
                    add(b, n, call, s0[s], 100, carry[c][call], carry[c][!call], sigma[v],
                        maturity[t]);
    return n;
}

/* The stated errors, of which most are below 1e-6 of the strike, hold for every option. */
TEST(exact_prices) {
    static book b, exact;
    for (int call = 0; call < 2; call++) {
        double worst = 0, squares = 0, stated = 0;
        const int n = make_grid(&b, call);
        exact = b;
        const shoal_vanilla o = options_of(&exact);
        const shoal_vanilla_values v = values_of(&exact, 0);
        CHECK(shoal_vanilla_value(ctx, &o, n, &(shoal_vanilla_opts){ .nodes = 32 }, &v, NULL) ==
              SHOAL_OK);
        value(&b, n, 0, NULL);
        for (int i = 0; i < n; i++) {
            const double off = fabs(b.price[i] - exact.price[i]);
            CHECK_MSG(b.status[i] == SHOAL_VANILLA_OK && off <= b.error[i] + 1e-8,
                      "call %d, %d: %.10g, not %.10g, error %g", call, i, b.price[i],
                      exact.price[i], b.error[i]);
            worst = fmax(worst, off / 100), squares += off * off / 1e4;
            stated += b.error[i] / 100 / n;
        }
        printf("      off by up to %.2g of the strike, rms %.2g; stated %.2g in the mean\n", worst,
               sqrt(squares / n), stated);
        CHECK(worst < 2e-6 && sqrt(squares / n) < 5e-7 && stated < 2e-6);
    }
}

/* The same with dates, beside a finer grid. */
TEST(bermudan_errors) {
    static book b, fine;
    for (int call = 0; call < 2; call++) {
        double worst = 0, stated = 0;
        const int n = make_grid(&b, call) / 4;
        for (int i = 0; i < n; i++)
            add(&b, i, call, b.s0[4 * i], 100, b.rate[4 * i], b.dividend[4 * i], b.sigma[4 * i],
                b.maturity[4 * i]);
        fine = b;
        value(&b, n, 0, &(shoal_vanilla_pde_opts){ .dates = 4 });
        value(&fine, n, 0, &(shoal_vanilla_pde_opts){ .dates = 4, .nodes = 1601, .steps = 800 });
        for (int i = 0; i < n; i++) {
            const double off = fabs(b.price[i] - fine.price[i]);
            CHECK_MSG(b.status[i] == SHOAL_VANILLA_OK && off <= b.error[i] + 1e-8,
                      "call %d, %d: %.10g, not %.10g, error %g", call, i, b.price[i], fine.price[i],
                      b.error[i]);
            worst = fmax(worst, off / 100), stated += b.error[i] / 100 / n;
        }
        printf("      off by up to %.2g of the strike; stated %.2g in the mean\n", worst, stated);
        CHECK(worst < 1e-6 && stated < 2e-6);
    }
}

static void take_days(int count, const int *days, double *to) {
    for (int i = 0; i < count; i++) to[i] = days[i] / 365.0;
}

TEST(quantlib_prices) {
    static const struct {
        int call;
        double s0, strike, rate, dividend, sigma;
        int days, exercise[8], cash, curves;
        double price;
    } rows[] = {
        /* exercise: days, -5: every 5 days, 0: any time */
        { 0, 100, 100, 0.05, 0, 0.2, 365, { 90, 182, 273, 365 }, 0, 0, 5.956066908 },
        { 0, 90, 100, 0.05, 0, 0.2, 365, { 90, 182, 273, 365 }, 0, 0, 11.251567229 },
        { 1, 100, 100, 0.03, 0.07, 0.3, 365, { 90, 182, 273, 365 }, 0, 0, 9.901543804 },
        { 0, 80, 100, 0.08, 0.02, 0.4, 730, { 100, 200, 400, 730 }, 0, 0, 25.210777802 },
        { 1, 120, 100, 0.02, 0.06, 0.25, 730, { 365, 730 }, 0, 0, 21.680236065 },
        { 0, 100, 100, 0.1, 0, 0.1, 365, { -5 }, 0, 0, 1.620850593 },
        { 0, 100, 102, 0.03, 0.01, 0.25, 365, { 60, 90, 182, 273, 300, 365 }, 1, 0, 13.171593559 },
        { 1, 100, 102, 0.03, 0.01, 0.25, 365, { 60, 90, 182, 273, 300, 365 }, 1, 0, 7.356799830 },
        { 0, 95, 100, 0.06, 0, 0.2, 365, { 90, 182, 273, 365 }, 1, 0, 10.337267676 },
        { 1, 110, 100, 0.06, 0, 0.2, 365, { 90, 273, 365 }, 1, 0, 14.686101947 },
        { 0, 100, 100, 0, 0, 0, 730, { 182, 365, 547, 730 }, 0, 1, 11.469927994 },
        { 1, 100, 95, 0, 0.05, 0, 730, { 182, 365, 547, 730 }, 0, 1, 15.088191199 },
        { 0, 100, 105, 0, 0, 0, 365, { 90, 182, 273, 365 }, 1, 1, 15.595347427 },
        { 0, 100, 100, 0.05, 0, 0.25, 365, { 0 }, 1, 0, 10.546406721 },
        { 1, 100, 100, 0.02, 0, 0.25, 365, { 0 }, 1, 0, 8.232773155 },
    };
    static const double paid[] = { 2.5, 4 }, zero[] = { 0.01, 0.04, 0.05 },
                        vols[] = { 0.35, 0.3, 0.25 };
    double cash_at[2], when[3], dates[MAX_DATES], worst = 0;
    take_days(2, (const int[]){ 91, 274 }, cash_at);
    take_days(3, (const int[]){ 182, 365, 730 }, when);
    for (int i = 0; i < COUNT(rows); i++) {
        static book b;
        shoal_vanilla_pde_opts o = { .exercise = dates };
        while (o.exercises < 8 && rows[i].exercise[o.exercises] > 0) o.exercises++;
        take_days((int)o.exercises, rows[i].exercise, dates);
        if (rows[i].exercise[0] < 0) o.exercises = 73; /* each so many days */
        for (int k = 0; k < 73 && rows[i].exercise[0] < 0; k++)
            dates[k] = -rows[i].exercise[0] * (k + 1) / 365.0;
        if (rows[i].cash) o.cash = (shoal_curve){ 2, cash_at, paid };
        if (rows[i].curves)
            o.rates = (shoal_curve){ 3, when, zero }, o.sigmas = (shoal_curve){ 3, when, vols };
        add(&b, 0, rows[i].call, rows[i].s0, rows[i].strike, rows[i].rate, rows[i].dividend,
            rows[i].sigma, rows[i].days / 365.0);
        value(&b, 1, 0, &o);
        const double off = fabs(b.price[0] - rows[i].price) / rows[i].strike;
        CHECK_MSG(b.status[0] == SHOAL_VANILLA_OK && off <= 1e-6, "%d: %.9g, not %.9g", i,
                  b.price[0], rows[i].price);
        worst = fmax(worst, off);
    }
    printf("      off by up to %.2g of the strike\n", worst);
}

/* One date is maturity: Black's formula with all Greeks, also with dividends and curves. */
TEST(european) {
    static const double when[] = { 0.5, 2 }, zero[] = { 0.01, 0.04 }, vols[] = { 0.3, 0.25 };
    static const double paid_at[] = { 0.3, 0.8, 1.4 }, paid[] = { 2, 3, 1 };
    static book b, black;
    for (int way = 0; way < 2; way++)
        for (int call = 0; call < 2; call++) {
            const double strike[] = { 90, 100, 120 };
            for (int i = 0; i < 3; i++) {
                add(&b, i, call, 100, strike[i], 0.03, 0.01, 0.3, 1);
                add(&black, i, call, 100, strike[i], 0.03, 0.01, 0.3, 1);
            }
            shoal_vanilla_pde_opts o = { .dates = 1 };
            if (way) {
                o.rates = (shoal_curve){ 2, when, zero }, o.sigmas = (shoal_curve){ 2, when, vols };
                o.cash = (shoal_curve){ 3, paid_at, paid };
                /* zero rates times: 0.005 at 0.5, 0.08 at 2; variances 0.045 and 0.125 */
                const double rate[] = { 0.003, 0.02, 0.05, 0.03 }, at[] = { 0.3, 0.8, 1.4, 1 };
                double escrow = 0, last = 0;
                for (int k = 0; k < 3; k++) {
                    const double worth = paid[k] * exp(0.01 * at[k] - rate[k]);
                    escrow += worth;
                    if (at[k] > 1) last += worth * exp(rate[3] - 0.01);
                }
                for (int i = 0; i < 3; i++)
                    black.s0[i] -= escrow, black.strike[i] -= last,
                        black.sigma[i] = sqrt(0.045 + 0.08 / 3);
            }
            value(&b, 3, 1, &o);
            const shoal_vanilla a = options_of(&black);
            const shoal_vanilla_values v = values_of(&black, 1);
            CHECK(shoal_vanilla_value(ctx, &a, 3, &(shoal_vanilla_opts){ .european = 1 }, &v,
                                      NULL) == SHOAL_OK);
            for (int i = 0; i < 3; i++) {
                CHECK_MSG(fabs(b.price[i] - black.price[i]) < 2e-8 * 100 && b.error[i] < 1e-6 * 100,
                          "%d %d: %.12g, not %.12g +- %.2g", way, i, b.price[i], black.price[i],
                          b.error[i]);
                CHECK(fabs(b.delta[i] - black.delta[i]) < 1e-8);
                CHECK(fabs(b.gamma[i] - black.gamma[i]) < 1e-8);
                CHECK(fabs(b.vega[i] - black.vega[i]) < 1e-3 || way);
                CHECK(fabs(b.rho[i] - black.rho[i]) < 1e-3 || way);
                CHECK(fabs(b.theta[i] - black.theta[i]) < 1e-5 || way);
            }
        }
}

/* Where exact has them, away from the boundary; vega and rho are differences. */
TEST(greeks) {
    static const double tolerance[] = { 1e-4, 1e-3, 2e-3, 5e-3, 2e-3 };
    static const char *const names[] = { "delta", "gamma S", "vega", "theta", "rho" };
    static book b, exact;
    double worst[5] = { 0 };
    for (int call = 0; call < 2; call++) {
        int n = 0;
        for (int s = 0; s < 3; s++)
            for (int v = 0; v < 2; v++)
                for (int t = 0; t < 2; t++)
                    add(&b, n++, call, 85 + 15 * s, 100, 0.05, 0.03, v ? 0.4 : 0.15, t ? 2 : 0.25);
        exact = b;
        value(&b, n, 1, NULL);
        const shoal_vanilla o = options_of(&exact);
        double boundary[MOST];
        shoal_vanilla_values v = values_of(&exact, 1);
        v.boundary = boundary;
        CHECK(shoal_vanilla_value(ctx, &o, n, &(shoal_vanilla_opts){ .nodes = 32 }, &v, NULL) ==
              SHOAL_OK);
        for (int i = 0; i < n; i++) {
            if (fabs(log(boundary[i] / b.s0[i])) < 0.03) continue;
            const double off[] = { fabs(b.delta[i] - exact.delta[i]),
                                   100 * fabs(b.gamma[i] - exact.gamma[i]),
                                   fabs(b.vega[i] - exact.vega[i]) / 100,
                                   fabs(b.theta[i] - exact.theta[i]) / 100,
                                   fabs(b.rho[i] - exact.rho[i]) / 100 };
            for (int g = 0; g < 5; g++) {
                CHECK_MSG(off[g] <= tolerance[g], "call %d, %d: %s is off by %g", call, i, names[g],
                          off[g]);
                worst[g] = fmax(worst[g], off[g]);
            }
        }
    }
    for (int g = 0; g < 5; g++) printf("      %s off by up to %.2g\n", names[g], worst[g]);
}

/* A call is a put with s0 and strike, rate and dividend exchanged: on every date. */
TEST(symmetry) {
    static book puts, calls;
    const int n = make_grid(&puts, 0);
    for (int i = 0; i < n; i++)
        add(&calls, i, 1, puts.strike[i], puts.s0[i], puts.dividend[i], puts.rate[i], puts.sigma[i],
            puts.maturity[i]);
    const shoal_vanilla_pde_opts o = { .dates = 4, .nodes = 201, .steps = 64 };
    value(&puts, n, 0, &o);
    value(&calls, n, 0, &o);
    for (int i = 0; i < n; i++)
        CHECK_MSG(fabs(calls.price[i] - puts.price[i]) <= 1e-10 * 100, "%d: %.14g, not %.14g", i,
                  calls.price[i], puts.price[i]);
}

/* A binomial tree of X, the mean of an even and an odd number of steps; exercise before a dividend if early. */
static double tree(const book *b, int steps, const shoal_curve *cash) {
    static double v[4002];
    const double dt = b->maturity[0] / steps, up = exp(b->sigma[0] * sqrt(dt)), growth = b->rate[0];
    double total = 0;
    for (int64_t i = 0; i < cash->count; i++)
        total += cash->value[i] * exp(-growth * cash->time[i]);
    const double x0 = b->s0[0] - total, p = (exp(growth * dt) - 1 / up) / (up - 1 / up);
    for (int k = steps; k >= 0; k--) {
        double escrow = 0, before = 0; /* after and before the dividend of this step */
        for (int64_t i = 0; i < cash->count; i++) {
            const double worth = cash->value[i] * exp(-growth * (cash->time[i] - k * dt));
            if (cash->time[i] > (k + 1e-6) * dt) escrow += worth;
            if (cash->time[i] > (k - 1e-6) * dt) before += worth;
        }
        for (int j = 0; j <= k; j++) {
            const double x = x0 * pow(up, 2 * j - k), side = b->call[0] ? 1 : -1;
            double hold = k == steps ? 0 : exp(-growth * dt) * (p * v[j + 1] + (1 - p) * v[j]);
            hold = fmax(hold, side * (x + escrow - b->strike[0]));
            v[j] = fmax(hold, side * (x + before - b->strike[0]));
        }
    }
    return v[0];
}

TEST(dividends_at_any_time) {
    static const double at[] = { 0.25, 0.75 }, paid[] = { 3, 3 };
    const shoal_curve cash = { 2, at, paid };
    for (int call = 0; call < 2; call++)
        for (int s = 0; s < 3; s++) {
            static book b;
            add(&b, 0, call, 90 + 10 * s, 100, 0.05, 0, 0.2, 1);
            value(&b, 1, 0, &(shoal_vanilla_pde_opts){ .cash = cash });
            const double slow = tree(&b, 1000, &cash), fast = tree(&b, 2000, &cash);
            CHECK_MSG(fabs(b.price[0] - fast) < 2 * fabs(fast - slow) + 1e-3,
                      "%d %d: %.8g, tree %.8g %.8g", call, s, b.price[0], slow, fast);
            printf("      %s %g: %.6f, by a tree %.6f %.6f\n", call ? "call" : "put", b.s0[0],
                   b.price[0], slow, fast);
        }
}

/* Flat curves are numbers; more dates are worth more, up to exercise at any time; statuses and arguments. */
TEST(refusals_and_limits) {
    static const double when[] = { 1, 3 }, five[] = { 0.05, 0.05 }, two[] = { 0.02, 0.02 },
                        fifth[] = { 0.2, 0.2 }, low[] = { -0.05, -0.04 };
    static book b, c;
    shoal_vanilla_pde_opts o = { .nodes = 201, .steps = 96 };
    for (int i = 0; i < 2; i++) add(&b, i, i, 95, 100, 0.05, 0.02, 0.2, 2);
    c = b;
    value(&b, 2, 0, &o);
    for (int i = 0; i < 2; i++) c.rate[i] = c.dividend[i] = c.sigma[i] = (double)NAN;
    o.rates = (shoal_curve){ 2, when, five }, o.dividends = (shoal_curve){ 2, when, two };
    o.sigmas = (shoal_curve){ 2, when, fifth };
    for (int i = 0; i < 2; i++) c.rate[i] = c.dividend[i] = c.sigma[i] = 0;
    value(&c, 2, 0, &o);
    for (int i = 0; i < 2; i++) CHECK(fabs(b.price[i] - c.price[i]) < 1e-9);
    for (int i = 0; i < 2; i++) c.rate[i] = 0.05, c.dividend[i] = 0.02, c.sigma[i] = 0.2;
    double before = 0;
    for (int dates = 1; dates <= 64; dates *= 4) {
        value(&c, 2, 0, &(shoal_vanilla_pde_opts){ .dates = dates, .nodes = 401 });
        CHECK(c.price[0] > before && c.price[0] < b.price[0] + b.error[0] + c.error[0]);
        before = c.price[0];
    }
    CHECK(b.price[0] - before < 0.02);
    add(&b, 0, 0, 90, 100, 0.05, 0, 0.2, 0);       /* expired           */
    add(&b, 1, 0, 50, 100, 0.05, 0, 0.2, 1);       /* exercised         */
    add(&b, 2, 0, 100, 100, -0.02, -0.04, 0.2, 1); /* two boundaries    */
    add(&b, 3, 1, 100, 100, -0.04, -0.02, 0.2, 1);
    add(&b, 4, 0, 100, 100, 0.05, 0, 0, 1); /* invalid from here */
    add(&b, 5, 0, (double)NAN, 100, 0.05, 0, 0.2, 1);
    add(&b, 6, 0, 100, -1, 0.05, 0, 0.2, 1);
    add(&b, 7, 0, 100, 100, 0.05, 0, 10, 1);
    add(&b, 8, 0, 100, 100, 0.5, 0, 1e-3, 1);
    add(&b, 9, 0, 100, 100, (double)INFINITY, 0, 0.2, 1);
    value(&b, 10, 1, &(shoal_vanilla_pde_opts){ .nodes = 201, .steps = 64 });
    CHECK(b.price[0] == 10 && b.delta[0] == -1 && b.error[0] == 0);
    CHECK(b.price[1] == 50 && b.delta[1] == -1 && b.gamma[1] == 0 && b.vega[1] == 0);
    CHECK(b.status[2] == SHOAL_VANILLA_TWO_BOUNDARIES && isnan(b.price[2]));
    CHECK(b.status[3] == SHOAL_VANILLA_TWO_BOUNDARIES && isnan(b.delta[3]));
    for (int i = 4; i < 10; i++)
        CHECK_MSG(b.status[i] == SHOAL_VANILLA_INVALID && isnan(b.price[i]) && isnan(b.rho[i]),
                  "%d: %d", i, (int)b.status[i]);
    value(&b, 4, 0, &(shoal_vanilla_pde_opts){ .dates = 4, .nodes = 201, .steps = 64 });
    CHECK(b.status[2] == SHOAL_VANILLA_OK && b.status[3] == SHOAL_VANILLA_OK);
    add(&b, 0, 0, 100, 100, 0, 0.02, 0.2, 1);
    add(&b, 1, 0, 100, 0.5, 0, 0.02, 0.2, 1);
    const double at[] = { 0.5, 2 }, most[] = { 60, 41 }, some[] = { 0.2, 0.6 };
    value(&b, 1, 0, &(shoal_vanilla_pde_opts){ .cash = { 2, at, most } });
    CHECK(b.status[0] == SHOAL_VANILLA_INVALID);
    value(&b, 2, 0, &(shoal_vanilla_pde_opts){ .cash = { 2, at, some } });
    CHECK(b.status[0] == SHOAL_VANILLA_OK && b.status[1] == SHOAL_VANILLA_INVALID);
    value(&b, 1, 0,
          &(shoal_vanilla_pde_opts){ .dividends = { 2, when, low }, .cash = { 2, at, some } });
    CHECK(b.status[0] == SHOAL_VANILLA_TWO_BOUNDARIES);
}

TEST(arguments) {
    static book b;
    add(&b, 0, 0, 90, 100, 0.05, 0, 0.2, 1);
    const shoal_vanilla o = options_of(&b);
    const shoal_vanilla_values v = { .price = b.price };
    const double down[] = { 2, 1 }, numbers[] = { 0.1, -0.1 };
    const shoal_vanilla_pde_opts wrong[] = { { .nodes = 40 },
                                             { .nodes = 6402 },
                                             { .steps = 4 },
                                             { .dates = -1 },
                                             { .dates = 2, .exercises = 1, .exercise = numbers },
                                             { .exercises = 2 },
                                             { .exercises = 2, .exercise = down },
                                             { .rates = { 2, down, numbers } },
                                             { .sigmas = { 1, numbers, &numbers[1] } },
                                             { .dividends = { 1, NULL, numbers } },
                                             { .cash = { 1, numbers, &numbers[1] } },
                                             { .cash = { 2, down, numbers } } };
    for (int i = 0; i < COUNT(wrong); i++)
        CHECK_MSG(shoal_vanilla_pde(ctx, &o, 1, &wrong[i], &v, NULL, NULL) == SHOAL_E_ARG, "%d", i);
    CHECK(shoal_vanilla_pde(NULL, &o, 1, NULL, &v, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_pde(ctx, NULL, 1, NULL, &v, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_pde(ctx, &o, 1, NULL, NULL, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_pde(ctx, &o, -1, NULL, &v, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_pde(ctx, &(shoal_vanilla){ 0 }, 1, NULL, &v, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_pde(ctx, &(shoal_vanilla){ 0 }, 0, NULL, &v, NULL, NULL) == SHOAL_OK);
}

/* Every option alone, and on every backend. */
TEST(backends_agree) {
    static const double at[] = { 0.1, 0.7 }, paid[] = { 1, 2 };
    static book b, first;
    for (int way = 0; way < 3; way++) {
        shoal_vanilla_pde_opts o = { .nodes = 65, .steps = 16 };
        if (way) o.cash = (shoal_curve){ 2, at, paid };
        if (way == 2) o.dates = 5;
        int n = 0;
        for (int i = 0; i < (small ? 5 : 41); i++, n++)
            add(&first, n, i % 2, 70 + 2 * i, 100, 0.01 * (i % 6), 0.03, 0.1 + 0.02 * i,
                0.05 + 0.1 * (i % 13));
        b = first;
        ctx = targets[0].ctx;
        value(&first, n, 1, &o);
        for (int t = 0; t < target_count; t++) {
            static book one;
            double worst = 0;
            ctx = targets[t].ctx;
            value(&b, n, 1, &o);
            for (int i = 0; i < n; i++) {
                const double off = fabs(b.price[i] - first.price[i]) / 100;
                CHECK_MSG(b.status[i] == first.status[i] && off < 1e-12 &&
                              fabs(b.vega[i] - first.vega[i]) < 1e-8 * 100,
                          "%s, way %d, %d: %.17g, not %.17g", targets[t].backend, way, i,
                          b.price[i], first.price[i]);
                worst = fmax(worst, off);
            }
            for (int i = 1; i < n; i += 7) {
                add(&one, 0, b.call[i], b.s0[i], b.strike[i], b.rate[i], b.dividend[i], b.sigma[i],
                    b.maturity[i]);
                value(&one, 1, 1, &o);
                CHECK(one.price[0] == b.price[i] && one.rho[0] == b.rho[i]);
            }
            printf("      way %d on %s: off by up to %.2g\n", way, targets[t].backend, worst);
        }
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(backends_agree);
    for (int t = 0; t < target_count; t++) {
        ctx = targets[t].ctx;
        RUN(exact_prices);
        RUN(bermudan_errors);
        RUN(quantlib_prices);
        RUN(european);
        RUN(greeks);
        RUN(symmetry);
        RUN(dividends_at_any_time);
        RUN(refusals_and_limits);
        RUN(arguments);
    }
    close_targets();
    return TEST_END();
}
