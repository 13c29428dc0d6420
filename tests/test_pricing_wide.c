/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pricing_wide.c - short and long maturities: derivatives whose differences are as narrow as the law
 * of S_T, calls of a large variance, which are simulated as puts, and steps too long for Euler; the formula and
 * its derivatives at the edges of the model.
 */
#include "pricing/plan.h"
#include "pricing_runs.h"
#include <complex.h>

static const char *const methods[] = { "euler", "exact", "conditional" };

/* Delta, gamma and vega of the formula against differences of its prices, of second order in h. */
static void check_greeks(shoal_context *ctx, const char *what, shoal_heston m, double strike,
                         double maturity, int put) {
    shoal_price_opts o = one_contract("analytic", NULL, 1, &strike, &maturity);
    shoal_price_value at, up, down;
    const double s0 = m.s0, h = 1e-4 * s0, v = sqrt(m.v0), w = 1e-4 * v;
    o.greeks = 1, o.put = put;
    CHECK_MSG(price(ctx, &m, &o, 0, &at) == SHOAL_OK, "%s: %s", what, shoal_message(ctx));
    m.s0 = s0 + h;
    CHECK(price(ctx, &m, &o, 0, &up) == SHOAL_OK);
    m.s0 = s0 - h;
    CHECK(price(ctx, &m, &o, 0, &down) == SHOAL_OK);
    m.s0 = s0;
    CHECK_MSG(fabs(at.delta - (up.price - down.price) / (2 * h)) < 1e-6, "%s: delta %g, not %g",
              what, at.delta, (up.price - down.price) / (2 * h));
    const double gamma = (up.price - 2 * at.price + down.price) / (h * h);
    CHECK_MSG(fabs(at.gamma - gamma) * s0 < 1e-5, "%s: gamma %g, not %g", what, at.gamma, gamma);
    if (v == 0) return;
    m.v0 = (v + w) * (v + w);
    CHECK(price(ctx, &m, &o, 0, &up) == SHOAL_OK);
    m.v0 = (v - w) * (v - w);
    CHECK(price(ctx, &m, &o, 0, &down) == SHOAL_OK);
    const double vega = (up.price - down.price) / (2 * w);
    CHECK_MSG(fabs(at.vega - vega) < 1e-6 * s0, "%s: vega %g, not %g", what, at.vega, vega);
}

/* Every branch of the formula: with and without noise in the variance, reversion, variance, strike. */
TEST(analytic_greeks_at_the_edges) {
    static const struct {
        const char *what;
        shoal_heston m;
        double strike, maturity;
    } edges[] = {
        { "rates", { 1.1, .05, .02, .1, .5, .2, .3, -.7 }, 1, 2 },
        { "sigma = 0", { 1.1, .05, .02, .1, .5, .2, 0, -.7 }, 1, 2 },
        { "sigma = kappa = 0", { 1.1, .05, .02, .1, 0, .2, 0, -.7 }, 1, 2 },
        { "kappa = 0", { 1.1, .05, .02, .1, 0, .2, .3, -.7 }, 1, 2 },
        { "rho = 1", { 1.1, .05, .02, .1, .5, .2, .3, 1 }, 1, 2 },
        { "v0 = 0", { 1.1, .05, .02, 0, .5, .2, .3, -.7 }, 1, 2 },
        { "no variance", { 1.1, .05, .02, 0, .5, 0, .3, -.7 }, 1, 2 },
        { "no variance, K high", { 1.1, .05, .02, 0, .5, 0, .3, -.7 }, 1.3, 2 },
        { "K = 0", { 1.1, .05, .02, .1, .5, .2, .3, -.7 }, 0, 2 },
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (int put = 0; put < 2; put++)
            check_greeks(targets[0].ctx, edges[i].what, edges[i].m, edges[i].strike,
                         edges[i].maturity, put);
}

/* The characteristic function of log(S_T / F) as Albrecher and others print it, and the same integral by
 * trapezoids: an even, analytic integrand, for which they converge exponentially. */
static double by_trapezoids(const shoal_heston *m, double strike, double maturity) {
    const double step = 1. / 128, k = log(m->s0 / strike) + (m->rate - m->dividend) * maturity;
    double sum = 0;
    for (int i = 0; i < 128 * 2000; i++) {
        const double u = i * step, q = u * u + 0.25, s2 = m->sigma * m->sigma;
        const double complex b = m->kappa - m->rho * m->sigma * I * (u - 0.5 * I);
        const double complex d = csqrt(b * b + s2 * q), g = (b - d) / (b + d);
        const double complex e = cexp(-d * maturity);
        const double complex C =
            m->kappa * m->theta / s2 * ((b - d) * maturity - 2 * clog((1 - g * e) / (1 - g)));
        const double complex D = (b - d) / s2 * (1 - e) / (1 - g * e);
        const double part = creal(cexp(C + m->v0 * D + I * u * k)) / q;
        sum += (i ? 1 : 0.5) * part;
        if (cabs(cexp(C + m->v0 * D)) / q < 1e-18) break;
    }
    const double forward = m->s0 * exp((m->rate - m->dividend) * maturity);
    return exp(-m->rate * maturity) * (forward - sqrt(forward * strike) / acos(-1) * sum * step);
}

/* 1e-11 of the value's scale is what heston_analytic.c promises. */
TEST(formula_meets_trapezoids) {
    for (int i = 0; i < 60; i++) {
        const shoal_heston m = { 1,
                                 0.02 * (i % 3),
                                 0.01 * (i % 2),
                                 0.02 + 0.07 * (i % 5),
                                 0.3 + 0.9 * (i % 4),
                                 0.02 + 0.05 * (i % 3),
                                 0.2 + 0.15 * (i % 7),
                                 -0.9 + 0.2 * (i % 10) };
        const double strike = 0.5 + 0.1 * (i % 11), maturity = 0.1 * (1 + i % 13 * (i % 4));
        const shoal_price_opts o = one_contract("analytic", NULL, 1, &strike, &maturity);
        shoal_price_value v;
        CHECK(price(targets[0].ctx, &m, &o, 0, &v) == SHOAL_OK);
        const double off = fabs(v.price - by_trapezoids(&m, strike, maturity));
        CHECK_MSG(off < 1e-12, "%d: %.17g is off by %g", i, v.price, off);
    }
}

/* A small volatility of the variance is not none: the skew is of first order in it. */
TEST(small_sigma_has_a_skew) {
    const double strike = 1.3, sigmas[] = { 0, 5e-5, 1e-3 };
    double v[3];
    for (int i = 0; i < 3; i++) {
        shoal_heston m = shoal_heston_example();
        const shoal_price_opts o = one_contract("analytic", NULL, 1, &strike, &one);
        shoal_price_value value;
        m.sigma = sigmas[i];
        CHECK(price(targets[0].ctx, &m, &o, 0, &value) == SHOAL_OK);
        v[i] = value.price;
    }
    const double ratio = (v[1] - v[0]) / (v[2] - v[0]);
    CHECK_MSG(fabs(ratio - 0.05) < 1e-4, "%g", ratio); /* but for the second order, 1e-3 of it */
    for (int i = 0; i < 2; i++) { /* and in simulations: what is left to V makes noise */
        shoal_heston m = shoal_heston_example();
        const shoal_price_opts o = one_contract("conditional", NULL, 4, &one, &one);
        shoal_price_value value;
        m.sigma = i ? 1e-9 : 1e-13;
        CHECK(price(targets[0].ctx, &m, &o, 256, &value) == SHOAL_OK);
        CHECK_MSG(i ? value.error > 1e-4 : value.error < 1e-8, "sigma %g: +- %g", m.sigma,
                  value.error);
    }
}

/* Far out of the money sums of rounding errors are no prices. */
TEST(no_price_is_negative) {
    for (int i = 0; i < 200; i++) {
        const shoal_heston m = shoal_heston_example();
        const double strike = 2 + 0.05 * i, maturity = 0.02 + 0.001 * (i % 7);
        const shoal_price_opts o = one_contract("analytic", NULL, 1, &strike, &maturity);
        shoal_price_value v;
        CHECK(price(targets[0].ctx, &m, &o, 0, &v) == SHOAL_OK);
        CHECK_MSG(v.price >= 0 && v.price < 1e-14, "K %g: %g", strike, v.price);
        for (int k = 0; k < 200;
             k++) { /* two nearly equal terms, a few deviations from the strike */
            const double near = 1 + (k % 2 ? k : -k) * 0x1p-52, s = 1e-15 * (1 + i);
            const double black = shoal_black(1, near, s, near < 1);
            CHECK_MSG(black >= 0, "K 1 + %g, s %g: %g", near - 1, s, black);
        }
    }
}

/* The base set; differences over b deviations of log S_T make gamma wrong by b^2/12 of itself: 1e-4 at the
 * default of 1/32. Euler at 64 steps and exact at 16 have less than that of their own. */
TEST(gamma_at_any_maturity) {
    const int64_t samples =
        small ? 4096 : 65536; /* of fewer, too few end near the kink for an error */
    shoal_context *ctx = targets[target_count - 1].ctx;
    static const double maturities[] = { 0.001, 0.05, 1 };
    for (int t = 0; t < 3; t++)
        for (int j = 0; j < 3; j++) {
            shoal_price_opts o = one_contract("analytic", NULL, 1, &one, &maturities[t]);
            shoal_price_value truth, v;
            o.greeks = 1;
            CHECK(price(ctx, &known[1].m, &o, 0, &truth) == SHOAL_OK);
            o.method = methods[j], o.steps = j || small ? 16 : 64;
            CHECK(price(ctx, &known[1].m, &o, samples, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.gamma - truth.gamma) < 4 * v.gamma_error + 1e-3 * truth.gamma,
                      "T %g, %s: gamma %g +- %g, not %g", maturities[t], methods[j], v.gamma,
                      v.gamma_error, truth.gamma);
            CHECK_MSG(fabs(v.delta - truth.delta) < 4 * v.delta_error + 1e-3,
                      "T %g, %s: delta %g +- %g, not %g", maturities[t], methods[j], v.delta,
                      v.delta_error, truth.delta);
            CHECK_MSG(fabs(v.vega - truth.vega) < 4 * v.vega_error + 1e-3 * truth.vega,
                      "T %g, %s: vega %g +- %g, not %g", maturities[t], methods[j], v.vega,
                      v.vega_error, truth.vega);
            CHECK_MSG(small || v.gamma_error < 0.04 * truth.gamma, "T %g, %s: gamma +- %g",
                      maturities[t], methods[j], v.gamma_error);
        }
}

/* One deviation wide the difference is off by 8 %, and that is seen. */
TEST(bump_is_an_option) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const double maturity = 0.001;
    shoal_price_opts o = one_contract("conditional", NULL, 4, &one, &maturity);
    shoal_price_value narrow, wide;
    o.greeks = 1;
    CHECK(price(ctx, &known[1].m, &o, 512, &narrow) == SHOAL_OK);
    o.bump = 0.01;
    CHECK(price(ctx, &known[1].m, &o, 512, &wide) == SHOAL_OK);
    CHECK_MSG(wide.gamma < 0.94 * narrow.gamma && wide.gamma > 0.9 * narrow.gamma, "%g and %g",
              wide.gamma, narrow.gamma);
    CHECK(wide.price == narrow.price);
    static const double bad[] = { -0.1, 1, NAN };
    for (int i = 0; i < 3; i++) {
        shoal_price *plan = NULL;
        o.bump = bad[i];
        CHECK(shoal_price_heston(ctx, &known[1].m, &o, &plan) == SHOAL_E_ARG && !plan);
        CHECK_MSG(strstr(shoal_message(ctx), "bump is"), "%s", shoal_message(ctx));
    }
}

/* log S_T of variance 40: a sample of any size misses the few paths that make up a call. */
TEST(large_variance) {
    const int64_t samples = small ? 600 : 16384;
    const double maturity = 10;
    for (int t = 0; t < target_count; t++)
        for (int j = 0; j < 3; j++) {
            const shoal_heston m = { 1, 0.02, 0.01, 4, 0.5, 4, 0.3, -0.7 };
            shoal_price_opts o = one_contract("analytic", NULL, 1, &one, &maturity);
            shoal_price_value truth, v;
            o.greeks = 1;
            CHECK(price(targets[t].ctx, &m, &o, 0, &truth) == SHOAL_OK);
            o.method = methods[j], o.steps = small ? 40 : 160;
            CHECK(price(targets[t].ctx, &m, &o, samples, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.price - truth.price) < 4 * v.error + 1e-3, "%s: %g +- %g, not %g",
                      methods[j], v.price, v.error, truth.price);
            CHECK_MSG(fabs(v.delta - truth.delta) < 4 * v.delta_error + 1e-3,
                      "%s: delta %g +- %g, not %g", methods[j], v.delta, v.delta_error,
                      truth.delta);
            CHECK_MSG(v.error < (small ? 1e-2 : 2e-3), "%s: +- %g", methods[j], v.error);
            shoal_price *plan = NULL;
            shoal_price_info info;
            for (int put = 0; put < 2; put++) {
                o.put = put;
                CHECK(shoal_price_heston(targets[t].ctx, &m, &o, &plan) == SHOAL_OK);
                CHECK(shoal_price_describe(plan, &info) == SHOAL_OK && info.parity == !put);
                shoal_price_free(plan);
            }
            CHECK(shoal_price_heston(targets[t].ctx, &known[1].m, &o, &plan) == SHOAL_OK);
            CHECK(shoal_price_describe(plan, &info) == SHOAL_OK && !info.parity);
            shoal_price_free(plan);
        }
}

static shoal_price *plan_of(const shoal_heston *m, const char *method, double maturity) {
    const shoal_price_opts o = one_contract(method, NULL, 8, &one, &maturity);
    shoal_price *plan = NULL;
    CHECK(shoal_price_heston(targets[0].ctx, m, &o, &plan) == SHOAL_OK);
    return plan;
}

/* A 32nd of the deviation of log S_T, or a 320th where values are smooth along a path, within limits; puts for
 * calls where its variance is above 1. */
TEST(bumps_and_parity_by_the_variance) {
    const struct {
        const char *method;
        double rho, v, maturity, bump;
        int parity;
    } cases[] = {
        { "euler", -.7, 0.25, 1, 0.5 / 32, 0 },
        { "exact", -.7, 0.25, 1, 0.5 / 32, 0 },
        { "conditional", -.7, 0.25, 1, 0.5 / 320, 0 },
        { "conditional", -1, 0.25, 1, 0.5 / 32, 0 }, /* the path decides */
        { "conditional", 1, 0.25, 1, 0.5 / 32, 0 },
        { "euler", -.7, 0.99, 1, sqrt(0.99) / 32, 0 },
        { "euler", -.7, 1.01, 1, sqrt(1.01) / 32, 1 },
        { "euler", -.7, 63, 1, sqrt(63) / 32, 1 },
        { "euler", -.7, 65, 1, 0.25, 1 }, /* the most */
        { "euler", -.7, 0.25, 1e-6, 0.5e-3 / 32, 0 },
        { "euler", -.7, 0.25, 1e-8, 1e-5, 0 }, /* the least */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const shoal_heston m = { 1, 0, 0, cases[i].v, 0.5, cases[i].v, 0.3, cases[i].rho };
        shoal_price *plan = plan_of(&m, cases[i].method, cases[i].maturity);
        shoal_price_info info;
        CHECK(shoal_price_describe(plan, &info) == SHOAL_OK);
        CHECK_MSG(fabs(plan->legs[0].bump / cases[i].bump - 1) < 1e-12, "%d: bump %g", (int)i,
                  plan->legs[0].bump);
        CHECK_MSG(info.parity == cases[i].parity, "%d: parity %d", (int)i, info.parity);
        shoal_price_free(plan);
    }
}

/* From each maturity to the next there is a step, however short; and each step has its own normals, in float
 * too, where a Philox block serves two. Of steps that shared theirs the variance would be twice as large. */
TEST(steps_of_close_maturities) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const double maturities[] = { 0.5, 0.5 + 1e-6, 1 };
    shoal_price_opts o = one_contract("euler", NULL, 4, &one, maturities);
    shoal_price *plan = NULL;
    shoal_price_info info;
    shoal_price_value v[3];
    o.maturities = 3;
    CHECK(shoal_price_heston(ctx, &known[1].m, &o, &plan) == SHOAL_OK);
    CHECK(shoal_price_describe(plan, &info) == SHOAL_OK && info.steps == 5);
    shoal_price_free(plan);
    CHECK(price(ctx, &known[1].m, &o, 2048, v) == SHOAL_OK);
    CHECK_MSG(v[1].price != v[0].price && fabs(v[1].price / v[0].price - 1) < 1e-3, "%g, then %g",
              v[0].price, v[1].price);
    shoal_heston m = shoal_heston_example();
    const double halves[] = { 0.5, 1 };
    m.sigma = 0; /* Black and Scholes */
    for (int type = 0; type < 2; type++) {
        o.steps = o.maturities = 2, o.maturity = halves, o.type = type ? SHOAL_F32 : SHOAL_F64;
        CHECK(price(ctx, &m, &o, small ? 2048 : 16384, v) == SHOAL_OK);
        CHECK_MSG(fabs(v[1].price - shoal_black(1, 1, sqrt(0.1), 0)) < 4 * v[1].error, "%g +- %g",
                  v[1].price, v[1].error);
    }
}

TEST(steps_too_long) {
    const double maturities[] = { 0.5, 4 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_heston m = shoal_heston_example();
        shoal_expou e = shoal_expou_example();
        shoal_price_opts o = one_contract("euler", NULL, 19, &one, &maturities[1]);
        shoal_price *plan = NULL;
        m.kappa = e.alpha = 10;
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_E_ARG && !plan);
        CHECK_MSG(
            strstr(shoal_message(ctx), "steps is 19; euler needs at least 20, so that kappa dt"),
            "%s", shoal_message(ctx));
        CHECK(shoal_price_expou(ctx, &e, &o, &plan) == SHOAL_E_ARG && !plan);
        CHECK_MSG(
            strstr(shoal_message(ctx), "steps is 19; euler needs at least 20, so that alpha dt"),
            "%s", shoal_message(ctx));
        o.steps = 20;
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        shoal_price_free(plan);
        CHECK(shoal_price_expou(ctx, &e, &o, &plan) == SHOAL_OK);
        shoal_price_free(plan);
        m.kappa = 10.02; /* kappa dt = 2.004 */
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_E_ARG && !plan);
        o.method = "exact", o.steps = 2; /* steps of any size */
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        shoal_price_free(plan);
    }
}

/* Samples of a unit and a part of the next in one run: those of the units apart. */
TEST(several_units) {
    const int64_t samples = SHOAL_PRICE_UNIT + 300;
    const shoal_price_opts o = { .method = "euler",
                                 .steps = 1,
                                 .control = -1,
                                 .strikes = 1,
                                 .strike = &one,
                                 .maturities = 1,
                                 .maturity = &one };
    for (int t = 0; t < target_count; t++) {
        shoal_price_value all, apart;
        CHECK(price(targets[t].ctx, &known[1].m, &o, samples, &all) == SHOAL_OK);
        CHECK(price_in_pieces(targets[t].ctx, &known[1].m, &o, samples, SHOAL_PRICE_UNIT, &apart) ==
              SHOAL_OK);
        CHECK_MSG(memcmp(&all, &apart, sizeof all) == 0, "%s: %.17g, not %.17g", targets[t].backend,
                  all.price, apart.price);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(analytic_greeks_at_the_edges);
    RUN(formula_meets_trapezoids);
    RUN(small_sigma_has_a_skew);
    RUN(no_price_is_negative);
    RUN(gamma_at_any_maturity);
    RUN(bump_is_an_option);
    RUN(large_variance);
    RUN(bumps_and_parity_by_the_variance);
    RUN(steps_of_close_maturities);
    RUN(steps_too_long);
    RUN(several_units);
    close_targets();
    return TEST_END();
}
