/* SPDX-License-Identifier: Apache-2.0
 *
 * test_heston_formula.c - Heston's formula on hostile parameters, beside the same integrals in long double, by
 * Gauss's rule on panels that are halved until nothing changes: neither the arithmetic nor the rule is the
 * library's. docs/pricing.md states the bound, 1e-11.
 */
#include <complex.h>
#include <math.h>
#include <shoal/shoal.h>
#include <stdlib.h>
#include "test.h"

enum { NODES = 24, PARTS = 4, SETS = 400 };
typedef long double complex number;
typedef struct contract {
    shoal_heston m;
    double strike, maturity;
} contract;

static long double node[NODES], weight[NODES];
static shoal_context *ctx;

/* Gauss and Legendre's rule by Newton's method. */
static void make_rule(void) {
    const long double pi = acosl(-1);
    for (int i = 0; i < NODES; i++) {
        long double x = cosl(pi * (i + 0.75L) / (NODES + 0.5L)), slope = 1;
        for (int pass = 0; pass < 100; pass++) {
            long double p = 1, before = 0;
            for (int k = 1; k <= NODES; k++) {
                const long double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p, p = next;
            }
            slope = NODES * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        node[i] = x, weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

static number log1p_of(number z) {
    const long double x = creall(z), y = cimagl(z);
    return 0.5L * log1pl(x * (2 + x) + y * y) + I * atan2l(y, 1 + x);
}

/* Value, delta, gamma, vega at u, with g as Albrecher and others have it; returns |phi|. */
static long double integrands(const contract *c, long double u, long double out[PARTS]) {
    const shoal_heston *m = &c->m;
    const long double q = u * u + 0.25L, square = (long double)m->sigma * m->sigma;
    const long double k = logl((long double)m->s0 / c->strike), t = c->maturity;
    const number b = m->kappa - (long double)m->rho * m->sigma * (0.5L + I * u);
    const number d = csqrtl(b * b + square * q), sum = b + d, g = -square * q / (sum * sum);
    const number e = cexpl(-d * t), start = -q / sum, slope = start * (1 - e) / (1 - g * e);
    const number bend = log1p_of(g * (1 - e) / (1 - g)) / square;
    const number f = cexpl((long double)m->kappa * m->theta * (start * t - 2 * bend) +
                           (long double)m->v0 * slope + I * u * k);
    out[0] = creall(f) / q, out[1] = creall(f * (0.5L + I * u)) / q;
    out[2] = creall(f), out[3] = creall(f * slope) / q;
    return cabsl(f);
}

/* The integrals over [a, b] in `pieces` pieces. */
static void gauss(const contract *c, long double a, long double b, long pieces,
                  long double total[PARTS]) {
    const long double half = (b - a) / (2 * (long double)pieces);
    for (int k = 0; k < PARTS; k++) total[k] = 0;
    for (long j = 0; j < pieces; j++)
        for (int i = 0; i < NODES; i++) {
            long double f[PARTS];
            integrands(c, a + half * (2 * (long double)j + 1 + node[i]), f);
            for (int k = 0; k < PARTS; k++) total[k] += half * weight[i] * f[k];
        }
}

static void panel(const contract *c, long double a, long double b, long double total[PARTS]) {
    long double coarse[PARTS], fine[PARTS], change = 1;
    gauss(c, a, b, 1, fine);
    for (long pieces = 2; change > 1e-14L && pieces <= 1 << 16; pieces *= 2) {
        for (int k = 0; k < PARTS; k++) coarse[k] = fine[k];
        gauss(c, a, b, pieces, fine);
        change = 0;
        for (int k = 0; k < PARTS; k++)
            change = fmaxl(change, fabsl(fine[k] - coarse[k]) / (1 + fabsl(fine[k])));
    }
    CHECK_MSG(change <= 1e-14L, "the oracle does not converge on %Lg to %Lg", a, b);
    for (int k = 0; k < PARTS; k++) total[k] += fine[k];
}

/* The integrals; returns that of gamma without regard to signs. */
static long double integrals(const contract *c, long double total[PARTS]) {
    long double f[PARTS], a = 0, b = 0.5L, size, all = 0;
    for (int k = 0; k < PARTS; k++) total[k] = 0;
    do {
        all += integrands(c, a, f) * (b - a);
        panel(c, a, b, total);
        size = integrands(c, b, f);
        a = b, b *= 2;
    } while (!(size * a < 1e-17L));
    return all;
}

/* Price, delta, gamma and vega of the call, without rates; returns what rounding of gamma is a share of: its
 * integral without regard to signs, which is thousands where phi reaches to u = 1e5. */
static double oracle(const contract *c, double value[PARTS]) {
    long double total[PARTS];
    const long double all = integrals(c, total);
    const long double s = c->m.s0, root = sqrtl(s * c->strike) / acosl(-1);
    value[0] = (double)(s - root * total[0]);
    value[1] = (double)(1 - root / s * total[1]);
    value[2] = (double)(root / (s * s) * total[2]);
    value[3] = (double)(-root * total[3] * 2 * sqrtl(c->m.v0));
    return (double)(root / (s * s) * all);
}

/* Numbers from 0 to 1; every test sets its own state, so that none depends on what ran before. */
static uint64_t state;
static double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double between(double low, double high) { return low * pow(high / low, uniform()); }

/* Parameters over many decades, some without reversion or variance today; strikes up to five deviations from the
 * forward. With |rho| = 1 neither integral ends in a reasonable time. */
static contract draw(int i) {
    contract c = { .maturity = between(3e-3, 30) };
    c.m = (shoal_heston){ .s0 = 1,
                          .v0 = between(1e-4, 1),
                          .kappa = between(1e-3, 20),
                          .theta = between(1e-4, 1),
                          .sigma = between(1e-3, 4),
                          .rho = 0.99 * (2 * uniform() - 1) };
    if (i % 32 == 15) c.m.kappa = 0;
    if (i % 32 == 23) c.m.v0 = 0;
    const double deviation = sqrt(0.5 * (c.m.v0 + c.m.theta) * c.maturity);
    c.strike = exp((2 * uniform() - 1) * fmin(3, 5 * deviation));
    return c;
}

TEST(hostile_parameters) {
    static const char *const names[PARTS] = { "price", "delta", "gamma", "vega" };
    const shoal_price_goal none = { 0 }; /* a formula takes no paths */
    double worst[PARTS] = { 0 };
    state = 1;
    for (int i = 0; i < SETS; i++) {
        const contract c = draw(i);
        shoal_price_opts o = { .method = "analytic",
                               .strikes = 1,
                               .strike = &c.strike,
                               .maturities = 1,
                               .maturity = &c.maturity,
                               .steps = 1,
                               .greeks = 1 };
        shoal_price_value v;
        double truth[PARTS];
        const double signless = oracle(&c, truth);
        CHECK_MSG(shoal_heston_value(ctx, &c.m, &o, &none, &v) == SHOAL_OK, "set %d: %s", i,
                  shoal_message(ctx));
        const double found[PARTS] = { v.price, v.delta, v.gamma, v.vega };
        for (int k = 0; k < PARTS; k++) {
            const double scale = k == 2 ? 1 + signless : 1 + fabs(truth[k]);
            const double off = fabs(found[k] - truth[k]) / scale;
            CHECK_MSG(off < 1e-11, "set %d: %s %.17g, not %.17g", i, names[k], found[k], truth[k]);
            worst[k] = fmax(worst[k], off);
        }
    }
    for (int k = 0; k < PARTS; k++) printf("      %s off by up to %.2g\n", names[k], worst[k]);
}

/* ---- gradients ---------------------------------------------------------------------------------- */

enum { PARAMETERS = 8 };
static const char *const parameters[PARAMETERS] = { "s0",    "rate",  "dividend", "v0",
                                                    "kappa", "theta", "sigma",    "rho" };
static double *parameter(shoal_heston *m, int k) {
    double *const at[PARAMETERS] = { &m->s0,    &m->rate,  &m->dividend, &m->v0,
                                     &m->kappa, &m->theta, &m->sigma,    &m->rho };
    return at[k];
}

/* The price in long double, also with rates. */
static long double price_of(const contract *c, int put) {
    contract without = *c;
    const long double t = c->maturity, discount = expl(-c->m.rate * t);
    const long double forward = c->m.s0 * expl((c->m.rate - c->m.dividend) * t);
    long double total[PARTS];
    without.m.s0 = (double)forward;
    integrals(&without, total);
    const long double call = forward - sqrtl(forward * c->strike) / acosl(-1) * total[0];
    return discount * (put ? call - forward + c->strike : call);
}

/* The derivative by a parameter, by differences of sixth order. */
static long double slope_of(const contract *c, int k, int put) {
    static const int parts[3] = { 45, -9, 1 };
    contract at = *c;
    double *x = parameter(&at.m, k);
    const double own = *x;
    const double deviation = sqrt((c->m.v0 + c->m.theta) * fmin(c->maturity, 1));
    const double h = k == 7             ? 0.01 * (1 - fabs(own))
                     : k == 0           ? 0.005 * deviation
                     : k == 1 || k == 2 ? 0.005 * deviation / c->maturity
                                        : 0.01 * own;
    long double sum = 0;
    for (int j = 1; j <= 3; j++)
        for (int side = -1; side <= 1; side += 2) {
            *x = own + side * j * h;
            sum += side * parts[j - 1] * price_of(&at, put);
        }
    return sum / (60 * (long double)h);
}

/* Moderate parameters, and those of hostile_parameters over fewer decades: differences must not cancel. */
TEST(gradients) {
    double worst[PARAMETERS] = { 0 };
    state = 2;
    for (int i = 0; i < 9; i++) {
        contract c = draw(i);
        c.m.rate = 0.1 * uniform() - 0.03, c.m.dividend = 0.1 * uniform();
        if (!(c.m.v0 > 0 && c.m.kappa > 0)) continue;
        const int32_t put = i % 2;
        const shoal_heston_options o = { .strike = &c.strike,
                                         .maturity = &c.maturity,
                                         .put = &put };
        shoal_heston gradient;
        double price, without;
        CHECK_MSG(shoal_heston_prices(ctx, &c.m, &o, 1, &price, &gradient) == SHOAL_OK,
                  "set %d: %s", i, shoal_message(ctx));
        CHECK(shoal_heston_prices(ctx, &c.m, &o, 1, &without, NULL) == SHOAL_OK);
        CHECK_MSG(fabs(price - without) < 1e-13, "set %d: %.17g, %.17g", i, price, without);
        CHECK_MSG(fabs(price - (double)price_of(&c, put)) < 1e-11, "set %d: price %.17g", i, price);
        for (int k = 0; k < PARAMETERS; k++) {
            const double truth = (double)slope_of(&c, k, put), found = *parameter(&gradient, k);
            const double off = fabs(found - truth) / (1 + fabs(truth));
            CHECK_MSG(off < 1e-9, "set %d: d price / d %s is %.17g, not %.17g", i, parameters[k],
                      found, truth);
            worst[k] = fmax(worst[k], off);
        }
    }
    for (int k = 0; k < PARAMETERS; k++)
        printf("      %s off by up to %.2g\n", parameters[k], worst[k]);
}

/* Options in any order, those without an integral included, have the prices and gradients that they have alone; sigma = 0
 * is the limit of small ones. */
TEST(gradients_of_many) {
    enum { COUNT = 9 };
    static const double strike[COUNT] = { 1, 0.9, 1.2, 1, 0, 1, 0.8, 1.1, 1 };
    static const double maturity[COUNT] = { 2, 0.5, 2, 0, 1, 0.5, 1, 2, 0.5 };
    static const int32_t put[COUNT] = { 0, 1, 0, 1, 0, 0, 1, 1, 1 };
    const shoal_heston_options all = { .strike = strike, .maturity = maturity, .put = put };
    shoal_heston m = shoal_heston_example(), gradient[COUNT], one, near;
    double price[COUNT], own;
    m.rate = 0.03, m.dividend = 0.01;
    CHECK(shoal_heston_prices(ctx, &m, &all, COUNT, price, gradient) == SHOAL_OK);
    for (int i = 0; i < COUNT; i++) {
        const shoal_heston_options o = { .strike = &strike[i],
                                         .maturity = &maturity[i],
                                         .put = &put[i] };
        CHECK(shoal_heston_prices(ctx, &m, &o, 1, &own, &one) == SHOAL_OK);
        CHECK_MSG(own == price[i] && memcmp(&one, &gradient[i], sizeof one) == 0, "option %d", i);
    }
    CHECK(price[3] == 0 && gradient[3].s0 == 0 && gradient[3].kappa == 0);
    CHECK(fabs(price[4] - exp(-0.01)) < 1e-14 && gradient[4].sigma == 0);
    CHECK(fabs(gradient[4].dividend + price[4]) < 1e-14);
    const shoal_heston_options first = { .strike = strike, .maturity = maturity, .put = put };
    m.sigma = 0;
    CHECK(shoal_heston_prices(ctx, &m, &first, 1, price, &one) == SHOAL_OK);
    m.sigma = 1e-6;
    CHECK(shoal_heston_prices(ctx, &m, &first, 1, &own, &near) == SHOAL_OK);
    CHECK_MSG(fabs((own - price[0]) / 1e-6 - one.sigma) < 1e-6 && fabs(one.sigma) > 1e-4,
              "%.12g, %.12g", (own - price[0]) / 1e-6, one.sigma);
    for (int k = 0; k < PARAMETERS; k++)
        CHECK_MSG(fabs(*parameter(&one, k) - *parameter(&near, k)) < 1e-5, "%s", parameters[k]);
    m.sigma = 0.3, m.v0 = m.theta = 0;
    CHECK(shoal_heston_prices(ctx, &m, &first, 1, price, &one) == SHOAL_OK);
    CHECK(price[0] > 0 && isnan(one.v0) && !isnan(one.s0));
}

TEST(wrong_options) {
    const shoal_heston m = shoal_heston_example();
    const double strike = 1, maturity = 1, negative = -1, large = 1e4;
    const shoal_heston_options o = { .strike = &strike, .maturity = &maturity };
    shoal_heston_options wrong = o;
    double price;
    CHECK(shoal_heston_prices(NULL, &m, &o, 1, &price, NULL) == SHOAL_E_ARG);
    CHECK(shoal_heston_prices(ctx, NULL, &o, 1, &price, NULL) == SHOAL_E_ARG);
    CHECK(shoal_heston_prices(ctx, &m, NULL, 1, &price, NULL) == SHOAL_E_ARG);
    CHECK(shoal_heston_prices(ctx, &m, &o, -1, &price, NULL) == SHOAL_E_ARG);
    CHECK(shoal_heston_prices(ctx, &m, &o, 1, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_heston_prices(ctx, &m, &o, 0, NULL, NULL) == SHOAL_OK);
    wrong.strike = &negative;
    CHECK(shoal_heston_prices(ctx, &m, &wrong, 1, &price, NULL) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(ctx), "strike[0]") != NULL);
    wrong.strike = &strike, wrong.maturity = &negative;
    CHECK(shoal_heston_prices(ctx, &m, &wrong, 1, &price, NULL) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(ctx), "maturity[0]") != NULL);
    wrong.maturity = &maturity, wrong.rate = &large;
    CHECK(shoal_heston_prices(ctx, &m, &wrong, 1, &price, NULL) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(ctx), "rate 10000") != NULL);
}

/* Strikes of a maturity share points: a price is the same alone, at every instruction level. */
TEST(surfaces_have_the_prices_of_their_contracts) {
    static const double strikes[] = { 0.7, 0.9, 1, 1.1, 1.5 }, maturities[] = { 0, 0.1, 0.5, 8 };
    static const char *const levels[] = { NULL, "v2", "v3",
                                          "v4" }; /* the best, and those that are built */
    enum { STRIKES = 5, MATURITIES = 4 };
    const shoal_price_goal none = { 0 };
    state = 3;
    for (int i = 0; i < 5; i++) {
        const contract c = draw(i);
        shoal_price_value all[MATURITIES * STRIKES], one;
        shoal_price_opts o = { .method = "analytic",
                               .strikes = STRIKES,
                               .strike = strikes,
                               .maturities = MATURITIES,
                               .maturity = maturities,
                               .greeks = 1 };
        CHECK(shoal_heston_value(ctx, &c.m, &o, &none, all) == SHOAL_OK);
        o.strikes = o.maturities = 1;
        for (size_t level = 0; level < sizeof levels / sizeof *levels; level++) {
            shoal_context *at;
            if (shoal_open(&(shoal_options){ .backend = "cpu", .isa = levels[level] }, &at) ==
                SHOAL_OK)
                for (int k = 0; k < MATURITIES * STRIKES; k++) {
                    o.strike = &strikes[k % STRIKES], o.maturity = &maturities[k / STRIKES];
                    CHECK(shoal_heston_value(at, &c.m, &o, &none, &one) == SHOAL_OK);
                    CHECK_MSG(memcmp(&one, &all[k], sizeof one) == 0,
                              "set %d, contract %d: %.17g, %.17g", i, k, one.price, all[k].price);
                }
            shoal_close(at);
        }
    }
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &ctx) != SHOAL_OK) return 1;
    make_rule();
    RUN(hostile_parameters);
    RUN(surfaces_have_the_prices_of_their_contracts);
    RUN(gradients);
    RUN(gradients_of_many);
    RUN(wrong_options);
    shoal_close(ctx);
    return TEST_END();
}
