/* SPDX-License-Identifier: Apache-2.0
 *
 * test_american_exact.c - exact American prices, beside QuantLib 1.44's QdFpAmericanEngine with its highPrecisionScheme,
 * Greeks beside bumps, symmetry, the European limit, bounds, volatilities there and back, and what is refused.
 */
#ifndef SHOAL_EMULATED /* there real.h names the level itself */
#define SHOAL_LEVEL base
#endif
#include "american/exact_lane.h"
#include <float.h>
#include <math.h>
#include <shoal/shoal.h>
#include "targets.h"

enum { MOST = 256 };
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static shoal_context *ctx;

typedef struct contract {
    int call;
    double s0, strike, rate, dividend, sigma, days, price;
} contract;

/* clang-format off */
static const contract quantlib[] = { /* the price of QuantLib 1.44; a year has 365 days */
    { 0, 100, 100, 0.05, 0, 0.2, 365, 6.09037060653534 },
    { 0, 36, 40, 0.06, 0, 0.2, 365, 4.48667441902713 },
    { 1, 40, 40, 0.06, 0, 0.4, 730, 10.8491815202299 },
    { 0, 100, 100, 0.05, 0.05, 0.2, 365, 7.66260927694477 },
    { 1, 100, 100, 0.05, 0.05, 0.2, 365, 7.66260927694477 },
    { 1, 95, 100, 0, 0.1, 0.4, 7300, 18.8132249657695 },
    { 1, 200, 100, 0.02, 0.05, 0.2, 365, 100.000000000012 },
    { 1, 125, 100, 0, 0.1, 0.2, 7300, 25 },
    { 1, 80, 100, -0.02, 0.08, 0.8, 30, 1.67661459602171 },
    { 1, 125, 100, -0.02, 0.08, 1.2, 7, 25.6290333054396 },
    { 1, 95, 100, 0.08, 0.02, 1.2, 1, 0.717603782529926 },
    { 0, 105, 100, 0, -0.03, 0.8, 3650, 75.8578634012616 },
    { 0, 125, 100, 0.08, -0.02, 1.2, 7300, 67.4179198537454 },
    { 0, 50, 100, 0.02, 0.08, 0.03, 30, 50.1634400843636 },
    { 1, 95, 100, 0.0301, 0.03, 0.8, 3650, 63.2991117854882 },
    { 0, 105, 100, 0, -0.03, 1.2, 3650, 93.1814466822902 },
    { 0, 105, 100, 0.01, 0.15, 0.05, 1095, 30.0936109215622 },
    { 0, 105, 100, 0.05, 0, 0.8, 30, 6.8982881126863 },
    { 1, 125, 100, 0.15, 0.01, 0.8, 90, 35.0313572431103 },
    { 0, 50, 100, 0, -0.03, 0.03, 7300, 50.0000000814419 },
    { 1, 95, 100, 0.0301, 0.03, 1.2, 7, 4.25871455251584 },
    { 1, 50, 100, -0.02, 0.08, 0.1, 3650, 8.61819564506137e-07 },
    { 1, 50, 100, -0.02, 0.08, 0.4, 1, 1.6758057188892e-246 },
    { 0, 105, 100, 0.08, -0.02, 0.1, 90, 0.177577267250539 },
    { 0, 50, 100, 0.05, 0, 0.03, 7, 50 },
    { 1, 100, 100, 0, 0.05, 0.1, 365, 2.43678591937502 },
    { 1, 200, 100, 0.08, 0.02, 0.1, 1095, 109.690210284395 },
    { 1, 200, 100, 0.15, 0.01, 0.2, 3650, 158.84768336714 },
    { 0, 125, 100, 0.03, 0.0301, 1.2, 7, 0.769574914482309 },
    { 0, 125, 100, 0, -0.03, 0.8, 90, 7.69295406522337 },
    { 0, 95, 100, 0, -0.03, 0.4, 365, 16.9486344203305 },
    { 1, 200, 100, 0.15, 0.01, 0.2, 1095, 130.332995470201 },
    { 0, 105, 100, 0.05, 0, 0.4, 30, 2.47325010043514 },
    { 0, 100, 100, 0.05, 0, 0.1, 1095, 3.09422855851368 },
    { 0, 50, 100, 0, -0.03, 0.4, 1, 50 },
    { 0, 95, 100, 0.05, 0, 0.8, 7300, 62.8934711387984 },
    { 0, 80, 100, 0, -0.03, 0.1, 30, 20 },
    { 0, 200, 100, 0.01, 0.15, 0.4, 365, 1.96036701008802 },
    { 0, 50, 100, 0, -0.03, 1.2, 1, 50 },
    { 0, 105, 100, 0.02, 0.08, 0.05, 365, 2.53908403335905 },
};
/* clang-format on */

typedef struct book {
    double s0[MOST], strike[MOST], rate[MOST], dividend[MOST], sigma[MOST], maturity[MOST];
    double price[MOST], delta[MOST], gamma[MOST], vega[MOST], theta[MOST], rho[MOST],
        boundary[MOST];
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

static void value(book *b, int count, int64_t nodes, int european) {
    const shoal_vanilla o = options_of(b);
    const shoal_vanilla_opts opts = { .nodes = nodes, .european = european };
    const shoal_vanilla_values v = { b->price, b->delta, b->gamma,   b->vega,
                                     b->theta, b->rho,   b->boundary };
    CHECK_MSG(shoal_vanilla_value(ctx, &o, count, &opts, &v, b->status) == SHOAL_OK, "%s",
              shoal_message(ctx));
}

static void make_book(book *b) {
    for (int i = 0; i < COUNT(quantlib); i++) {
        const contract *c = &quantlib[i];
        add(b, i, c->call, c->s0, c->strike, c->rate, c->dividend, c->sigma, c->days / 365);
    }
}

TEST(quantlib_prices) {
    static book b;
    make_book(&b);
    for (int64_t nodes = 0; nodes <= 24; nodes += 24) {
        double worst = 0;
        value(&b, COUNT(quantlib), nodes, 0);
        for (int i = 0; i < COUNT(quantlib); i++) {
            const double off = fabs(b.price[i] - quantlib[i].price) / quantlib[i].strike;
            CHECK_MSG(b.status[i] == SHOAL_VANILLA_OK && off <= 1e-6, "%d: %.12g, not %.12g", i,
                      b.price[i], quantlib[i].price);
            worst = fmax(worst, off);
        }
        printf("      %d nodes: off by up to %.2g of the strike\n", (int)(nodes ? nodes : 12),
               worst);
    }
}

/* A grid of harder options, by many nodes beside more, and by few. */
static int make_grid(book *b) {
    static const double carry[][2] = { { 0.05, 0 },    { 0.02, 0.08 },  { 0.1, 0 },    { 0, -0.03 },
                                       { 0.01, 0.15 }, { 0.08, -0.02 }, { 0.05, 0.05 } };
    static const double sigma[] = { 0.05, 0.2, 0.6 }, maturity[] = { 0.02, 1, 15 };
    static const double s0[] = { 80, 100, 130 };
    int n = 0;
    for (int c = 0; c < COUNT(carry); c++)
        for (int v = 0; v < 3; v++)
            for (int t = 0; t < 3; t++)
                for (int s = 0; s < 3; s++, n++)
                    add(b, n, 0, s0[s], 100, carry[c][0], carry[c][1], sigma[v], maturity[t]);
    return n;
}

TEST(nodes) {
    static const struct {
        int64_t nodes;
        double most;
    } rows[] = { { 8, 1e-4 }, { 12, 1e-6 }, { 16, 2e-7 }, { 24, 2e-8 } };
    static book best, b;
    const int n = make_grid(&best);
    make_grid(&b);
    value(&best, n, 32, 0);
    for (int row = 0; row < COUNT(rows); row++) {
        double worst = 0;
        value(&b, n, rows[row].nodes, 0);
        for (int i = 0; i < n; i++) {
            CHECK(b.status[i] == SHOAL_VANILLA_OK && best.status[i] == SHOAL_VANILLA_OK);
            worst = fmax(worst, fabs(b.price[i] - best.price[i]) / 100);
        }
        CHECK_MSG(worst <= rows[row].most, "%d nodes: %g", (int)rows[row].nodes, worst);
        printf("      %d nodes: off by up to %.2g of the strike\n", (int)rows[row].nodes, worst);
    }
}

/* A call is a put with s0 and strike, rate and dividend exchanged. */
TEST(symmetry) {
    static book puts, calls;
    const int n = make_grid(&puts);
    for (int i = 0; i < n; i++)
        add(&calls, i, 1, puts.strike[i], puts.s0[i], puts.dividend[i], puts.rate[i], puts.sigma[i],
            puts.maturity[i]);
    value(&puts, n, 0, 0);
    value(&calls, n, 0, 0);
    for (int i = 0; i < n; i++) {
        CHECK(calls.price[i] == puts.price[i] && calls.vega[i] == puts.vega[i]);
        const double gap = calls.boundary[i] * puts.boundary[i] / (puts.s0[i] * puts.strike[i]) - 1;
        CHECK_MSG(fabs(gap) < 1e-12, "%d: %g", i, gap);
    }
}

/* Central differences of second order, Richardson's extrapolation of two. */
TEST(greeks) {
    static const char *const names[] = { "delta", "gamma", "vega", "theta", "rho" };
    static const double tolerance[] = { 1e-7, 1e-5, 1e-5, 2e-4, 2e-5 };
    static book b, up, down;
    double worst[5] = { 0 };
    for (int call = 0; call <= 1; call++)
        for (int g = 0; g < 5; g++) {
            double bumped[2][MOST];
            const int n = make_grid(&b);
            for (int i = 0; i < n; i++) {
                b.call[i] = call;
                if (call) b.rate[i] = b.dividend[i], b.dividend[i] = 0.04;
                if (call && b.rate[i] < 0) b.rate[i] = 0;
            }
            value(&b, n, 24, 0);
            for (int half = 0; half <= 1; half++) {
                up = b, down = b;
                double *const of[] = { up.s0, up.s0, up.sigma, up.maturity, up.rate };
                double *const from[] = { down.s0, down.s0, down.sigma, down.maturity, down.rate };
                double h[MOST];
                for (int i = 0; i < n; i++) {
                    const double width = b.sigma[i] * sqrt(b.maturity[i]);
                    h[i] = g < 2    ? b.s0[i] * fmin(0.05 * width, 0.01)
                           : g == 4 ? 1e-4
                                    : of[g][i] * 1e-3;
                    if (half) h[i] *= 0.5;
                    of[g][i] += h[i], from[g][i] -= h[i];
                }
                value(&up, n, 24, 0);
                value(&down, n, 24, 0);
                for (int i = 0; i < n; i++)
                    bumped[half][i] =
                        g == 1 ? (up.price[i] - 2 * b.price[i] + down.price[i]) / (h[i] * h[i])
                               : (up.price[i] - down.price[i]) / (2 * h[i]) * (g == 3 ? -1 : 1);
            }
            const double *got[] = { b.delta, b.gamma, b.vega, b.theta, b.rho };
            for (int i = 0; i < n; i++) {
                const double now = call ? b.s0[i] - b.strike[i] : b.strike[i] - b.s0[i];
                const double edge =
                    fabs(log(b.boundary[i] / b.s0[i])); /* bumps across it do not count */
                if (edge < 0.03 || b.rate[i] == 0 || b.rate[i] == b.dividend[i] ||
                    isnan(bumped[0][i]))
                    continue;
                const double bump = (4 * bumped[1][i] - bumped[0][i]) / 3;
                const double off = fabs(got[g][i] - bump) / (g == 0 ? 1 : g == 1 ? 1 : 100);
                CHECK_MSG(off <= tolerance[g],
                          "%s of %d, call %d: %.10g, bumps %.10g, %g in the money", names[g], i,
                          call, got[g][i], bump, now);
                worst[g] = fmax(worst[g], off);
            }
        }
    for (int g = 0; g < 5; g++) printf("      %s off by up to %.2g\n", names[g], worst[g]);
}

/* Without a reason for early exercise the price is Black's; otherwise it is above. */
TEST(european_limit) {
    static book b, e;
    add(&b, 0, 1, 100, 110, 0.05, 0, 0.3, 2);
    add(&b, 1, 0, 100, 110, 0, 0.02, 0.3, 2);
    add(&b, 2, 0, 100, 110, -0.02, -0.01, 0.3, 2);
    add(&b, 3, 0, 100, 110, 1e-9, 0.02, 0.3, 2);
    add(&b, 4, 0, 100, 110, 0.05, 0.02, 0.3, 2);
    e = b;
    value(&b, 5, 0, 0);
    value(&e, 5, 0, 1);
    for (int i = 0; i < 5; i++) {
        const double t = 2, forward = e.s0[i] * exp((e.rate[i] - e.dividend[i]) * t);
        const double black = exp(-e.rate[i] * t) *
                             shoal_black(forward, e.strike[i], e.sigma[i] * sqrt(t), !e.call[i]);
        CHECK_MSG(fabs(e.price[i] - black) < 1e-12 * black, "%d: %.17g, not %.17g", i, e.price[i],
                  black);
        if (i < 3) CHECK(b.price[i] == e.price[i] && b.delta[i] == e.delta[i]);
    }
    CHECK(isinf(b.boundary[0]) && b.boundary[1] == 0 && b.boundary[2] == 0);
    CHECK(fabs(b.price[3] - e.price[3]) < 1e-6 && b.price[4] > e.price[4] + 0.5);
}

/* The functions that prices are made of, over their whole ranges beside those of long double: every term of their
 * polynomials counts. */
TEST(functions_are_accurate) {
    enum { POINTS = 4096 };
    double worst = 0, worst_tail = 0;
    for (int i = 0; i < POINTS; i++) {
        const double x = -700 + i * (1400.0 / (POINTS - 1)), near = (x / 1400) * 0.69,
                     z = i * (37.0 / POINTS);
        const double at[3] = { x, near, -z };
        for (int e = 0; e < 3; e++) {
            const vec y = vec_exp(vec_all(at[e]));
            double found;
            memcpy(&found, &y, sizeof found);
            worst = fmax(worst, (double)fabsl(found / expl(at[e]) - 1));
        }
        const vec y = vec_tail(vec_all(i % 2 ? z : -z));
        double found;
        memcpy(&found, &y, sizeof found);
        const long double half = 0.5L * z * z, want = 0.5L * erfcl(z * sqrtl(0.5L)) * expl(half);
        worst_tail = fmax(worst_tail, (double)fabsl(found / want - 1));
    }
    printf("      off by up to %.2g and %.2g epsilon\n", worst / DBL_EPSILON,
           worst_tail / DBL_EPSILON);
    CHECK_MSG(worst <= 1.5 * DBL_EPSILON, "e^x: %g", worst);
    CHECK_MSG(worst_tail <= 8 * DBL_EPSILON, "tail: %g", worst_tail);
}

/* Options with many dates of exercise, by regression, are a lower bound that is nearly as high. */
TEST(lsm) {
    static book b;
    double s0 = 36, sigma = 0.2;
    const shoal_american put = {
        .payoff = SHOAL_PUT, .strike = 40, .rate = 0.06, .maturity = 1, .s0 = &s0, .sigma = &sigma
    };
    const shoal_american_opts opts = { .assets = 1, .dates = 100, .seed = 1, .fit_paths = 32768 };
    const shoal_price_goal goal = { .paths = 65536 };
    shoal_price_value v;
    CHECK(shoal_american_value(ctx, &put, 1, &opts, &goal, &v) == SHOAL_OK);
    add(&b, 0, 0, 36, 40, 0.06, 0, 0.2, 1);
    value(&b, 1, 0, 0);
    CHECK_MSG(v.price < b.price[0] + 3 * v.error && v.price > b.price[0] - 0.02,
              "%g +- %g, exact %g", v.price, v.error, b.price[0]);
}

TEST(limits_and_refusals) {
    static book b;
    add(&b, 0, 0, 90, 100, 0.05, 0, 0.2, 0);       /* expired */
    add(&b, 1, 0, 90, 100, 0.05, 0, 0, 1);         /* without volatility: exercised now */
    add(&b, 2, 0, 100, 100, 0.05, 0.1, 0, 1);      /* ... at maturity */
    add(&b, 3, 0, 50, 100, 0.05, 0, 0.2, 1);       /* below the boundary */
    add(&b, 4, 0, 100, 100, -0.02, -0.04, 0.2, 1); /* two boundaries */
    add(&b, 5, 1, 100, 100, -0.04, -0.02, 0.2, 1);
    add(&b, 6, 0, (double)NAN, 100, 0.05, 0, 0.2, 1);
    add(&b, 7, 0, 100, -1, 0.05, 0, 0.2, 1);
    add(&b, 8, 0, 100, 100, 0.05, 0, -0.2, 1);
    add(&b, 9, 0, 100, 100, 0.05, 0, 10, 1); /* out of range */
    add(&b, 10, 0, 100, 100, (double)INFINITY, 0, 0.2, 0);
    add(&b, 11, 0, 100, 100, 0.05, 0, 1e-13, 1); /* as good as none */
    add(&b, 12, 0, 100, 100, 0.05, 0, 1e-4, 1);
    value(&b, 13, 0, 0);
    CHECK(b.price[0] == 10 && b.delta[0] == -1 && b.theta[0] == 0);
    CHECK(b.price[1] == 10 && b.delta[1] == -1 && b.vega[1] == 0);
    CHECK(fabs(b.price[2] - 100 * (exp(-0.05) - exp(-0.1))) < 1e-12);
    CHECK(b.price[3] == 50 && b.delta[3] == -1 && b.gamma[3] == 0 && b.boundary[3] > 50);
    CHECK(b.status[4] == SHOAL_VANILLA_TWO_BOUNDARIES &&
          b.status[5] == SHOAL_VANILLA_TWO_BOUNDARIES);
    for (int i = 4; i <= 10; i++) {
        if (i > 5) CHECK_MSG(b.status[i] == SHOAL_VANILLA_INVALID, "%d: %d", i, (int)b.status[i]);
        CHECK(isnan(b.price[i]) && isnan(b.delta[i]) && isnan(b.boundary[i]));
    }
    CHECK(b.price[11] == 0 && b.status[11] == SHOAL_VANILLA_OK);
    /* very little volatility: as without maturity, sigma^2 / 2 r of the strike and less */
    const double beta = -2 * 0.05 / 1e-8, edge = beta / (beta - 1);
    const double perpetual = (1 - edge) * exp(beta * log(1 / edge));
    CHECK_MSG(b.status[12] == SHOAL_VANILLA_OK && fabs(b.price[12] / 100 - perpetual) < 1e-10,
              "%d %g", (int)b.status[12], b.price[12]);
}

TEST(implied_volatilities) {
    static book b;
    double found[MOST], worst = 0;
    int answered = 0;
    for (int european = 0; european <= 1; european++) {
        const int n = make_grid(&b);
        const shoal_vanilla_opts opts = { .european = european };
        for (int i = 0; i < n; i++) b.call[i] = european && i % 2;
        value(&b, n, 0, european);
        const shoal_vanilla o = options_of(&b);
        CHECK(shoal_vanilla_implied(ctx, &o, n, &opts, b.price, found, b.status) == SHOAL_OK);
        for (int i = 0; i < n; i++) {
            /* rounding of the price allows no more */
            const double slack = 1e-12 + 1e-15 * (b.price[i] + b.strike[i]) / b.vega[i];
            const double off = fabs(found[i] - b.sigma[i]);
            if (b.vega[i] < 0.01) { /* at its lower bound, or far out of the money */
                CHECK(b.status[i] == SHOAL_VANILLA_OK ||
                      (b.status[i] == SHOAL_VANILLA_TOO_LOW && isnan(found[i])));
                continue;
            }
            CHECK_MSG(b.status[i] == SHOAL_VANILLA_OK && off <= slack,
                      "%d, european %d: %.17g, not %g, status %d, vega %g", i, european, found[i],
                      b.sigma[i], (int)b.status[i], b.vega[i]);
            worst = fmax(worst, off);
            answered++;
        }
    }
    CHECK_MSG(answered > 200, "%d", answered);
    printf("      %d, off by up to %.2g\n", answered, worst);
}

TEST(implied_bounds) {
    static book b;
    const double price[] = { 10, 9.9, 100, 101, (double)NAN, 12, 0, -1, 50 };
    static const int32_t wanted[] = { SHOAL_VANILLA_TOO_LOW,  SHOAL_VANILLA_TOO_LOW,
                                      SHOAL_VANILLA_TOO_HIGH, SHOAL_VANILLA_TOO_HIGH,
                                      SHOAL_VANILLA_INVALID,  SHOAL_VANILLA_INVALID,
                                      SHOAL_VANILLA_TOO_LOW,  SHOAL_VANILLA_TOO_LOW,
                                      SHOAL_VANILLA_OK };
    double sigma[COUNT(price)];
    for (int i = 0; i < COUNT(price); i++)
        add(&b, i, 0, i < 6 ? 90 : 110, 100, 0.05, 0, 0, i == 5 ? 0 : 1);
    const shoal_vanilla o = options_of(&b);
    CHECK(shoal_vanilla_implied(ctx, &o, COUNT(price), NULL, price, sigma, b.status) == SHOAL_OK);
    for (int i = 0; i < COUNT(price); i++) {
        CHECK_MSG(b.status[i] == wanted[i], "%d: status %d", i, (int)b.status[i]);
        CHECK(isnan(sigma[i]) == (wanted[i] != SHOAL_VANILLA_OK));
    }
}

TEST(arguments) {
    static book b;
    add(&b, 0, 0, 90, 100, 0.05, 0, 0.2, 1);
    const shoal_vanilla o = options_of(&b), none = { 0 };
    const shoal_vanilla_values v = { .price = b.price };
    CHECK(shoal_vanilla_value(NULL, &o, 1, NULL, &v, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_value(ctx, NULL, 1, NULL, &v, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_value(ctx, &none, 1, NULL, &v, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_value(ctx, &none, 0, NULL, &v, NULL) == SHOAL_OK);
    CHECK(shoal_vanilla_value(ctx, &o, 1, NULL, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_value(ctx, &o, -1, NULL, &v, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_value(ctx, &o, 1, &(shoal_vanilla_opts){ .nodes = 3 }, &v, NULL) ==
          SHOAL_E_ARG);
    CHECK(shoal_vanilla_value(ctx, &o, 1, &(shoal_vanilla_opts){ .european = 2 }, &v, NULL) ==
          SHOAL_E_ARG);
    CHECK(shoal_vanilla_value(ctx, &o, 1, NULL, &v, NULL) == SHOAL_OK && b.price[0] > 10);
    CHECK(shoal_vanilla_implied(ctx, &o, 1, NULL, NULL, b.sigma, NULL) == SHOAL_E_ARG);
    CHECK(shoal_vanilla_implied(ctx, &o, 1, NULL, b.price, NULL, NULL) == SHOAL_E_ARG);
}

/* Every option alone, and on both backends. With fewer than 8 nodes Newton's method ends early: the backends begin it
 * at different guesses, and differ by less than the error of the price. */
TEST(backends_agree) {
    static book b, first;
    static const int64_t nodes[] = { 4, 8, 12, 17, 32 };
    for (int row = 0; row < COUNT(nodes); row++) {
        const int n = nodes[row] > 12 ? COUNT(quantlib) : make_grid(&b);
        if (nodes[row] > 12) make_book(&b);
        first = b;
        ctx = targets[0].ctx;
        value(&first, n, nodes[row], 0);
        for (int t = 0; t < target_count; t++) {
            static book one;
            double worst = 0;
            ctx = targets[t].ctx;
            value(&b, n, nodes[row], 0);
            for (int i = 0; i < n; i++) {
                const double off = fabs(b.price[i] - first.price[i]) / b.strike[i];
                CHECK(b.status[i] == first.status[i]);
                const double slack = nodes[row] < 8 ? 1e-5 : 1e-13;
                CHECK_MSG(off < slack, "%d nodes, %s, %d: %.17g, not %.17g", (int)nodes[row],
                          targets[t].backend, i, b.price[i], first.price[i]);
                if (nodes[row] >= 8)
                    CHECK(fabs(b.vega[i] - first.vega[i]) < 1e-10 * b.strike[i] &&
                          fabs(b.rho[i] - first.rho[i]) < 1e-10 * b.strike[i] &&
                          fabs(b.gamma[i] - first.gamma[i]) < 1e-10);
                worst = fmax(worst, off);
            }
            for (int i = 1; i < n; i += 17) {
                add(&one, 0, b.call[i], b.s0[i], b.strike[i], b.rate[i], b.dividend[i], b.sigma[i],
                    b.maturity[i]);
                value(&one, 1, nodes[row], 0);
                CHECK(one.price[0] == b.price[i] && one.rho[0] == b.rho[i]);
            }
            printf("      %d nodes on %s: off by up to %.2g\n", (int)nodes[row], targets[t].backend,
                   worst);
        }
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(backends_agree);
    for (int t = 0; t < target_count; t++) {
        ctx = targets[t].ctx;
        RUN(quantlib_prices);
        RUN(nodes);
        RUN(symmetry);
        RUN(greeks);
        RUN(european_limit);
        RUN(functions_are_accurate);
        RUN(lsm);
        RUN(limits_and_refusals);
        RUN(implied_volatilities);
        RUN(implied_bounds);
        RUN(arguments);
    }
    close_targets();
    return TEST_END();
}
