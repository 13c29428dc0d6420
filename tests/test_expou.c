/* SPDX-License-Identifier: Apache-2.0
 *
 * test_expou.c - the exponential Ornstein-Uhlenbeck model: known prices by conditioning and, by put and
 * parity, by Euler; the same bits for any number of threads, pieces and backends; the edges.
 */
#include "pricing/plan.h"
#include "pricing_pieces.h"
#include <math.h>

static const double one = 1;

static shoal_status price_in_pieces(shoal_context *ctx, const shoal_expou *m,
                                    const shoal_price_opts *o, int64_t samples, int64_t units,
                                    shoal_price_value *values) {
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_expou(ctx, m, o, &plan);
    return s == SHOAL_OK ? run_in_pieces(ctx, plan, samples, units, values) : s;
}

static shoal_status price(shoal_context *ctx, const shoal_expou *m, const shoal_price_opts *o,
                          int64_t samples, shoal_price_value *values) {
    return price_in_pieces(ctx, m, o, samples, units_of(samples), values);
}

static shoal_price_opts opts_of(const char *method, int64_t steps) {
    return (shoal_price_opts){ .method = method,
                               .seed = 31,
                               .steps = steps,
                               .strikes = 1,
                               .strike = &one,
                               .maturities = 1,
                               .maturity = &one };
}

/* Prices of the call, and the standard errors with which they are known. */
static const struct {
    double m, rho, price, error;
} known[] = { { 0.1, 0, 0.1134067, 2e-7 },
              { 0.1, -0.5, 0.1130596, 1.3e-6 },
              { -2.302585092994046, 0, 0.0399572, 2e-8 } };
enum { KNOWN = sizeof known / sizeof *known };

static shoal_expou model_of(int i) {
    shoal_expou m = shoal_expou_example();
    m.m = known[i].m, m.rho = known[i].rho;
    return m;
}

TEST(known_prices) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    for (int i = 0; i < KNOWN; i++) {
        const shoal_expou m = model_of(i);
        shoal_price_opts o = opts_of("conditional", small ? 16 : 64);
        shoal_price_value v;
        CHECK(price(ctx, &m, &o, small ? 600 : 16384, &v) == SHOAL_OK);
        CHECK_MSG(fabs(v.price - known[i].price) < 4 * hypot(v.error, known[i].error) + 2e-6,
                  "conditional, %d: %.8f +- %.1e", i, v.price, v.error);
        o = opts_of("euler", small ? 16 : 200);
        o.put = 1; /* with rate 0 and strike s0 parity says: the same as the call */
        CHECK(price(ctx, &m, &o, small ? 600 : 8192, &v) == SHOAL_OK);
        CHECK_MSG(fabs(v.price - known[i].price) < 4 * v.error + (small ? 4e-3 : 3e-4),
                  "euler, %d: %.8f +- %.1e", i, v.price, v.error);
    }
}

/* Exact in Y, of second order in what is integrated: half the step, a quarter of the error, and nothing
 * left of it at 64 steps. */
TEST(conditional_converges) {
    if (small) SKIP("needs many paths");
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_expou m = model_of(1);
    static const int64_t steps[3] = { 4, 8, 64 };
    double off[3], error[3];
    for (int i = 0; i < 3; i++) {
        const shoal_price_opts o = opts_of("conditional", steps[i]);
        shoal_price_value v;
        CHECK(price(ctx, &m, &o, i < 2 ? 524288 : 65536, &v) == SHOAL_OK);
        off[i] = v.price - known[1].price, error[i] = hypot(v.error, known[1].error);
    }
    CHECK_MSG(off[0] > 2.8 * off[1] && off[0] < 6 * off[1] && off[1] > 4 * error[1],
              "%g, then %g +- %g", off[0], off[1], error[1]);
    CHECK_MSG(fabs(off[2]) < 4 * error[2] + 4e-6, "%g +- %g", off[2], error[2]);
}

/* About 1170 times at rho = 0. */
TEST(conditioning_cuts_the_variance) {
    if (small) SKIP("needs many paths");
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_expou m = model_of(0);
    shoal_price_opts o = opts_of("euler", 64);
    shoal_price_value plain, given;
    CHECK(price(ctx, &m, &o, 32768, &plain) == SHOAL_OK);
    o.method = "conditional";
    CHECK(price(ctx, &m, &o, 32768, &given) == SHOAL_OK);
    const double gain = pow(plain.error / given.error, 2);
    CHECK_MSG(gain > 500 && gain < 5000, "%g", gain);
}

/* Without noise in Y: Black and Scholes of variance A(y0), the integral of e^(2 (m + (y0 - m) e^(-alpha t))). */
static double still_variance(const shoal_expou *m) {
    double sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += exp(2 * (m->m + (m->y0 - m->m) * exp(-m->alpha * (i + 0.5) / 4096)));
    return sum / 4096;
}

static double still_vega(shoal_expou m) {
    const double vol = exp(m.y0), h = 1e-4;
    double value[2];
    for (int i = 0; i < 2; i++) {
        m.y0 = log(vol * (i ? 1 - h : 1 + h));
        value[i] = shoal_black(1, 1, sqrt(still_variance(&m)), 0);
    }
    return (value[0] - value[1]) / (2 * h * vol);
}

/* Differences are as wide as a share of the deviation of log S_T, had Y no noise. */
TEST(bumps_by_the_variance) {
    for (int way = 0; way < 4; way++) {
        shoal_expou m = shoal_expou_example();
        const shoal_price_opts o = opts_of(way & 1 ? "conditional" : "euler", 8);
        shoal_price *plan = NULL;
        if (way & 2) m.rho = -1; /* a path of Y leaves nothing to smooth */
        CHECK(shoal_price_expou(targets[0].ctx, &m, &o, &plan) == SHOAL_OK);
        const double bump = sqrt(still_variance(&m)) / (way == 1 ? 320 : 32);
        CHECK_MSG(fabs(plan->legs[0].bump / bump - 1) < 1e-6, "%d: %g, not %g", way,
                  plan->legs[0].bump, bump);
        shoal_price_free(plan);
    }
}

/* delta, gamma and vega where there is a formula, and vega against prices of other paths. */
TEST(greeks) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const int64_t samples = small ? 600 : 65536;
    for (int way = 0; way < 4; way++) {
        shoal_expou m = shoal_expou_example();
        shoal_price_opts o = opts_of(way & 1 ? "conditional" : "euler", small ? 16 : 64);
        shoal_price_value v;
        m.beta = 0, m.alpha = way & 2 ? 1 : 0;
        o.greeks = 1;
        CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK);
        /* Euler's Y is off by alpha^2 dt/2 of its way, conditional's trapezoids by dt^2 */
        const double bias = way & 2 ? small ? 0.1 : 0.03 : 1e-4, s = sqrt(still_variance(&m));
        const double delta = 0.5 * erfc(-0.5 * s / sqrt(2)),
                     gamma = exp(-0.125 * s * s) / (s * sqrt(2 * acos(-1)));
        CHECK_MSG(fabs(v.delta - delta) < 4 * v.delta_error + bias, "%d: delta %g +- %g, not %g",
                  way, v.delta, v.delta_error, delta);
        CHECK_MSG(fabs(v.gamma / gamma - 1) < 4 * v.gamma_error / gamma + bias,
                  "%d: gamma %g +- %g, not %g", way, v.gamma, v.gamma_error, gamma);
        const double vega = still_vega(m);
        CHECK_MSG(fabs(v.vega / vega - 1) < 4 * v.vega_error / vega + bias,
                  "%d: vega %g +- %g, not %g", way, v.vega, v.vega_error, vega);
    }
    if (small) SKIP("too long for an emulated run");
    for (int j = 0; j < 2; j++) {
        shoal_expou m = model_of(1);
        shoal_price_opts o = opts_of(j ? "conditional" : "euler", 64);
        shoal_price_value v, up, down;
        o.put = 1, o.greeks = 1;
        CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK);
        o.seed += 1, o.greeks = 0;
        m.y0 = log(0.11);
        CHECK(price(ctx, &m, &o, samples, &up) == SHOAL_OK);
        m.y0 = log(0.09), o.seed += 1;
        CHECK(price(ctx, &m, &o, samples, &down) == SHOAL_OK);
        const double vega = (up.price - down.price) / 0.02;
        const double error = hypot(v.vega_error, hypot(up.error, down.error) / 0.02);
        CHECK_MSG(fabs(v.vega - vega) < 4 * error && error < 0.2 * vega, "%g, not %g +- %g", v.vega,
                  vega, error);
    }
}

/* alpha = 0 is the lognormal SABR model with a drift of beta^2/2 in the volatility: to second order in beta
 * its implied volatility at the money is e^y0 (1 + (rho beta e^y0 / 4 + (2 - 3 rho^2) beta^2 / 24 +
 * beta^2 / 4) T). */
TEST(no_reversion) {
    for (int t = 0; t < target_count; t++)
        for (int j = 0; j < 2; j++)
            for (double rho = -1; rho <= 1; rho += 0.5) {
                shoal_expou m = shoal_expou_example();
                shoal_price_opts o = opts_of(j ? "conditional" : "euler", small ? 16 : 32);
                shoal_price_value v;
                m.alpha = 0, m.rho = rho, o.put = 1;
                CHECK(price(targets[t].ctx, &m, &o, small ? 512 : 32768, &v) == SHOAL_OK);
                const double b = m.beta,
                             part = rho * b * 0.1 / 4 + (8 - 3 * rho * rho) * b * b / 24;
                const double truth = shoal_black(1, 1, 0.1 * (1 + part), 1);
                CHECK_MSG(fabs(v.price - truth) < 4 * v.error + 1e-5,
                          "%s, rho %g: %g +- %g, not %g", o.method, rho, v.price, v.error, truth);
            }
}

TEST(bits_are_the_same) {
    const double strikes[] = { 0.9, 1.1 }, maturities[] = { 0.3, 1 };
    for (int way = 0; way < 8; way++) {
        const int64_t samples = way == 0 && !small ? SHOAL_PRICE_UNIT + 300 : 600;
        const shoal_expou m = model_of(1);
        const shoal_price_opts o = { .method = way & 1 ? "conditional" : "euler",
                                     .seed = 8,
                                     .steps = 9,
                                     .strikes = 2,
                                     .strike = strikes,
                                     .maturities = 2,
                                     .maturity = maturities,
                                     .greeks = way >> 1 & 1,
                                     .antithetic = way >> 1 & 1,
                                     .type = way >> 2 ? SHOAL_F32 : SHOAL_F64 };
        shoal_context *single;
        shoal_price_value first[4], v[4];
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
        CHECK(price(single, &m, &o, samples, first) == SHOAL_OK);
        CHECK(price_in_pieces(single, &m, &o, samples, 1, v) == SHOAL_OK);
        CHECK_MSG(memcmp(first, v, sizeof v) == 0, "in pieces, way %d", way);
        for (int t = 0; t < target_count; t++) {
            CHECK(price(targets[t].ctx, &m, &o, samples, v) == SHOAL_OK);
            CHECK_MSG(memcmp(first, v, sizeof v) == 0, "way %d on %s: %.17g, not %.17g", way,
                      targets[t].backend, v[0].price, first[0].price);
        }
        shoal_close(single);
    }
}

TEST(edges) {
    for (int t = 0; t < target_count; t++)
        for (int j = 0; j < 2; j++) {
            shoal_context *ctx = targets[t].ctx;
            shoal_expou m = shoal_expou_example();
            shoal_price_opts o = opts_of(j ? "conditional" : "euler", 64);
            const int64_t samples = small ? 300 : 1000;
            const double nothing = 0;
            shoal_price_value v, w;
            o.greeks = 1;
            m.beta = 0, m.m = m.y0; /* Black and Scholes */
            CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.price - shoal_black(1, 1, 0.1, 0)) <= 4 * v.error + 1e-12, "%g",
                      v.price);
            CHECK(!isnan(v.delta) && !isnan(v.gamma) && !isnan(v.vega));
            if (j) CHECK_MSG(v.error < 1e-12, "%g", v.error); /* nothing is left to chance, */
            m.rho = -0.5;                                     /* whatever rho is            */
            CHECK(price(ctx, &m, &o, samples, &w) == SHOAL_OK);
            if (j) CHECK(memcmp(&v, &w, sizeof v) == 0);
            m = shoal_expou_example(), m.rho = -0.5;
            CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK);
            m.beta = -m.beta, m.rho = 0.5; /* the same law, and the same paths */
            CHECK(price(ctx, &m, &o, samples, &w) == SHOAL_OK);
            CHECK(memcmp(&v, &w, sizeof v) == 0);
            m = shoal_expou_example(), o.maturity = &nothing;
            CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK && v.price == 0);
            o.maturity = &one, o.strike = &nothing;
            CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK);
            CHECK(fabs(v.price - 1) <= 5 * v.error + 1e-12);
        }
}

TEST(parameters) {
    CHECK(fabs(shoal_expou_beta(2, 0.1, 0.25, 0) - 1) < 1e-15);
    CHECK(shoal_expou_beta(2, 0.1, 0.25, 1) < 0 && shoal_expou_beta(2, -0.1, 0.25, 1) > 0);
    shoal_expou m = shoal_expou_example();
    CHECK(!shoal_expou_has_variance(&m, 0) && shoal_expou_has_variance(&m, 1));
    static const struct {
        double rho, beta;
        int has;
    } laws[] = { { -0.8, .1, 1 }, { 0.8, .1, 0 },   { 0.8, -.1, 1 }, { -0.8, -.1, 0 },
                 { -0.7, .1, 0 }, { -0.71, .1, 1 }, { -1, .1, 1 },   { 1, .1, 0 } };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        m.rho = laws[i].rho, m.beta = laws[i].beta;
        CHECK_MSG(shoal_expou_has_variance(&m, 0) == laws[i].has, "rho %g, beta %g", m.rho, m.beta);
    }
    m.beta = 0;
    CHECK(shoal_expou_has_variance(&m, 0));
    for (int t = 0; t < target_count; t++) {
        static const struct {
            shoal_expou m;
            const char *word;
        } bad[] = { { { 0, 0, 1, .1, .1, -2, 0 }, "s0 is 0" },
                    { { 1, NAN, 1, .1, .1, -2, 0 }, "rate is nan" },
                    { { 1, 0, -1, .1, .1, -2, 0 }, "alpha is -1" },
                    { { 1, 0, 1, 100, .1, -2, 0 }, "m is 100" },
                    { { 1, 0, 1, .1, INFINITY, -2, 0 }, "beta is inf" },
                    { { 1, 0, 1, .1, .1, 9, 0 }, "y0 is 9" },
                    { { 1, 0, 1, .1, .1, -2, 2 }, "rho is 2" } };
        const shoal_price_opts o = opts_of("euler", 1);
        shoal_price *plan = NULL;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            CHECK(shoal_price_expou(targets[t].ctx, &bad[i].m, &o, &plan) == SHOAL_E_ARG);
            CHECK_MSG(strstr(shoal_message(targets[t].ctx), bad[i].word), "%s",
                      shoal_message(targets[t].ctx));
        }
        CHECK(shoal_price_expou(targets[t].ctx, NULL, &o, &plan) == SHOAL_E_ARG && !plan);
        /* S has the forward for its mean where rho, of beta > 0, is not above 0 */
        static const double mean[][3] = {
            { 0.5, .1, 0 }, { -0.5, -.1, 0 }, { 0.5, -.1, 1 }, { -0.5, .1, 1 }, { 0.5, 0, 1 }
        };
        for (size_t i = 0; i < sizeof mean / sizeof *mean; i++) {
            shoal_price_opts c = opts_of(i % 2 ? "euler" : "conditional", 1);
            m = shoal_expou_example(), m.rho = mean[i][0], m.beta = mean[i][1];
            c.control = 1;
            const shoal_status s = shoal_price_expou(targets[t].ctx, &m, &c, &plan);
            CHECK_MSG(s == (mean[i][2] > 0 ? SHOAL_OK : SHOAL_E_ARG), "rho %g, beta %g: %d", m.rho,
                      m.beta, s);
            CHECK(s == SHOAL_OK || strstr(shoal_message(targets[t].ctx), "control is 1; at rho"));
            shoal_price_free(plan);
        }
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(known_prices);
    RUN(conditional_converges);
    RUN(conditioning_cuts_the_variance);
    RUN(bumps_by_the_variance);
    RUN(greeks);
    RUN(no_reversion);
    RUN(bits_are_the_same);
    RUN(edges);
    RUN(parameters);
    close_targets();
    return TEST_END();
}
