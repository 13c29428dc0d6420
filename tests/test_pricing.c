/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pricing.c - Heston's model: prices that are known by formula and by every scheme, derivatives
 * against the formula's, the same bits for any number of threads, pieces and backends, and models at
 * the edge of what is allowed.
 */
#include "pricing_moments.h"

/* Statistics on one context alone, that of the highest level: bits_are_the_same stands for the rest. */
#define STATISTICAL(t) for (int t = target_count - 1; t < target_count; t++)

static const char *const methods[] = { "euler", "exact", "conditional" };

TEST(analytic_prices) {
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < KNOWN; i++) {
            const known_price *k = &known[i];
            shoal_price_opts o = one_contract("analytic", NULL, 1, &k->strike, &k->maturity);
            shoal_price_value call, put;
            CHECK(price(targets[t].ctx, &k->m, &o, 0, &call) == SHOAL_OK);
            CHECK_MSG(fabs(call.price - k->price) < 1e-9, "%s: %.12f", k->name, call.price);
            CHECK(call.error == 0 && isnan(call.delta));
            o.put = 1;
            CHECK(price(targets[t].ctx, &k->m, &o, 0, &put) == SHOAL_OK);
            const double forward = k->m.s0 - k->strike * exp(-k->m.rate * k->maturity);
            CHECK_MSG(fabs(call.price - put.price - forward) < 1e-11 * k->m.s0, "%s", k->name);
            CHECK(fabs(call.implied_vol - put.implied_vol) < 1e-8);
        }
}

/* Derivatives of the formula against differences of its prices. */
TEST(analytic_greeks) {
    shoal_context *ctx = targets[0].ctx;
    for (int i = 0; i < KNOWN; i++) {
        shoal_heston m = known[i].m;
        shoal_price_opts o =
            one_contract("analytic", NULL, 1, &known[i].strike, &known[i].maturity);
        shoal_price_value at, up, down;
        o.greeks = 1;
        const double s0 = m.s0, h = 1e-3 * s0, v = sqrt(m.v0), w = 1e-3 * v;
        CHECK(price(ctx, &m, &o, 0, &at) == SHOAL_OK);
        m.s0 = s0 + h;
        CHECK(price(ctx, &m, &o, 0, &up) == SHOAL_OK);
        m.s0 = s0 - h;
        CHECK(price(ctx, &m, &o, 0, &down) == SHOAL_OK);
        m.s0 = s0;
        CHECK_MSG(fabs(at.delta - (up.price - down.price) / (2 * h)) < 2e-5, "%s: delta %g",
                  known[i].name, at.delta);
        const double gamma = (up.price - 2 * at.price + down.price) / (h * h);
        CHECK_MSG(fabs(at.gamma - gamma) * s0 < 2e-4, "%s: gamma %g, %g", known[i].name, at.gamma,
                  gamma);
        m.v0 = (v + w) * (v + w);
        CHECK(price(ctx, &m, &o, 0, &up) == SHOAL_OK);
        m.v0 = (v - w) * (v - w);
        CHECK(price(ctx, &m, &o, 0, &down) == SHOAL_OK);
        const double vega = (up.price - down.price) / (2 * w);
        CHECK_MSG(fabs(at.vega - vega) < 1e-5 * s0, "%s: vega %g, %g", known[i].name, at.vega,
                  vega);
    }
}

TEST(schemes_meet_the_formula) {
    const int64_t samples = small ? 600 : 16384;
    STATISTICAL(t)
    for (int i = 0; i < (small ? 2 : KNOWN); i++)
        for (int j = 0; j < 6; j++) {
            static const char *const words[6][2] = {
                { "exact", "poisson" },      { "exact", "normal" }, { "conditional", "poisson" },
                { "conditional", "normal" }, { "euler", "full" },   { "qe", NULL }
            };
            const known_price *k = &known[i];
            if (j >= 4 && i > 2) continue; /* Euler and QE are for the base set */
            shoal_price_opts o = one_contract(words[j][0], words[j][1], j >= 4 ? 100 : k->steps,
                                              &k->strike, &k->maturity);
            shoal_price_value v;
            o.seed = 100 + (uint64_t)i;
            CHECK(price(targets[t].ctx, &k->m, &o, samples, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.price - k->price) < 4 * v.error, "%s, %s %s: %.8f, off by %.1f",
                      k->name, words[j][0], words[j][1] ? words[j][1] : "", v.price,
                      (v.price - k->price) / v.error);
            CHECK(v.error > 0 && v.error < 0.2 * k->m.s0);
        }
}

TEST(variance_reduction_keeps_the_price) {
    const int64_t samples = small ? 600 : 16384;
    const known_price *k = &known[1];
    STATISTICAL(t)
    for (int j = 0; j < 3; j++) {
        double plain = 0, least = 0; /* of one way alone */
        for (int way = 0; way < 4; way++) {
            shoal_price_opts o =
                one_contract(methods[j], NULL, j ? 16 : 64, &k->strike, &k->maturity);
            shoal_price_value v;
            o.antithetic = way & 1, o.control = way & 2 ? 1 : -1;
            CHECK(price(targets[t].ctx, &k->m, &o, samples, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.price - k->price) < 4.5 * v.error, "%s %d: %g +- %g", methods[j], way,
                      v.price, v.error);
            if (way == 0) plain = v.error;
            if (way == 1 || v.error < least) least = v.error;
            CHECK_MSG(small || j == 2 || way < 3 || v.error == least, "%s: both make %g, one %g",
                      methods[j], v.error, least);
            const double gain = j == 2 && way == 1 ? 1.001 : 0.9;
            CHECK_MSG(way == 0 || v.error < gain * plain, "%s %d: %g, plain %g", methods[j], way,
                      v.error, plain);
        }
    }
}

/* Conditioning is worth a factor of 26 in variance at rho = -0.7. */
TEST(conditioning_cuts_the_variance) {
    if (small) SKIP("needs many paths");
    shoal_price_opts o = one_contract("exact", NULL, 16, &one, &one);
    shoal_price_value plain, given;
    CHECK(price(targets[target_count - 1].ctx, &known[1].m, &o, 32768, &plain) == SHOAL_OK);
    o.method = "conditional";
    CHECK(price(targets[target_count - 1].ctx, &known[1].m, &o, 32768, &given) == SHOAL_OK);
    const double gain = pow(plain.error / given.error, 2);
    CHECK_MSG(gain > 20 && gain < 35, "%g", gain);
}

TEST(greeks_meet_the_formula) {
    const int64_t samples = small ? 600 : 16384;
    STATISTICAL(t) {
        shoal_price_opts o = one_contract("analytic", NULL, 1, &one, &one);
        shoal_price_value truth, v;
        o.greeks = 1;
        CHECK(price(targets[t].ctx, &known[1].m, &o, 0, &truth) == SHOAL_OK);
        for (int j = 0; j < 3; j++) {
            o.method = methods[j], o.steps = j ? 16 : 64;
            o.antithetic = j == 0;
            CHECK(price(targets[t].ctx, &known[1].m, &o, samples, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.delta - truth.delta) < 4.5 * v.delta_error, "%s: delta %g +- %g",
                      methods[j], v.delta, v.delta_error);
            CHECK_MSG(fabs(v.gamma - truth.gamma) < 4.5 * v.gamma_error, "%s: gamma %g +- %g",
                      methods[j], v.gamma, v.gamma_error);
            CHECK_MSG(fabs(v.vega - truth.vega) < 4.5 * v.vega_error, "%s: vega %g +- %g",
                      methods[j], v.vega, v.vega_error);
        }
    }
}

/* Every strike at every maturity out of one simulation is what it would be alone, if its steps are. */
TEST(lists_of_strikes_and_maturities) {
    const double strikes[] = { 0.8, 1, 1.3 }, maturities[] = { 0, 0.5, 0.5, 1 };
    for (int t = 0; t < target_count; t++)
        for (int j = 0; j < 3; j++) {
            shoal_price_opts o = { .method = methods[j],
                                   .seed = 5,
                                   .steps = 8,
                                   .strikes = 3,
                                   .strike = strikes,
                                   .maturities = 4,
                                   .maturity = maturities };
            shoal_price_value all[12], alone;
            const int64_t samples = small ? 300 : 1000;
            CHECK(price(targets[t].ctx, &known[1].m, &o, samples, all) == SHOAL_OK);
            for (int k = 0; k < 3; k++) {
                CHECK(fabs(all[k].price - (strikes[k] < 1 ? 1 - strikes[k] : 0)) < 1e-15);
                CHECK(all[3 + k].price == all[6 + k].price || j == 1); /* exact: a normal each */
                o.strikes = 1, o.strike = &strikes[k];
                o.maturities = 1, o.maturity = &maturities[1], o.steps = 4;
                CHECK(price(targets[t].ctx, &known[1].m, &o, samples, &alone) == SHOAL_OK);
                CHECK(alone.price == all[3 + k].price || j == 1);
                CHECK(fabs(alone.price - all[3 + k].price) < 6 * alone.error);
            }
        }
}

/* Bits of all outputs, greeks and lists included, over threads, pieces, levels and backends. */
TEST(bits_are_the_same) {
    const double strikes[] = { 0.9, 1.1 }, maturities[] = { 0.3, 1 };
    for (int j = 0; j < 7; j++)
        for (int type = 0; type < 2; type++) {
            static const char *const words[7][2] = {
                { "euler", "full" },    { "euler", "plus" },          { "euler", "abs" },
                { "exact", "poisson" }, { "conditional", "poisson" }, { "exact", "normal" },
                { "qe", NULL }
            };
            const shoal_heston m =
                j == 3 ? known[4].m : known[1].m; /* small shapes and means among them */
            shoal_price_opts o = { .method = words[j][0],
                                   .variant = words[j][1],
                                   .type = type ? SHOAL_F32 : SHOAL_F64,
                                   .seed = 77,
                                   .steps = 9,
                                   .strikes = 2,
                                   .strike = strikes,
                                   .maturities = 2,
                                   .maturity = maturities,
                                   .greeks = j % 2 || j == 6,
                                   .antithetic = j != 2 };
            const int64_t samples = j == 0 && !small ? SHOAL_PRICE_UNIT + 300 : 600;
            shoal_context *single;
            shoal_price_value first[4], v[4];
            CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) ==
                  SHOAL_OK);
            CHECK(price(single, &m, &o, samples, first) == SHOAL_OK);
            CHECK(price_in_pieces(single, &m, &o, samples, SHOAL_PRICE_UNIT, v) == SHOAL_OK);
            CHECK_MSG(memcmp(first, v, sizeof v) == 0, "%s in pieces", words[j][0]);
            for (int t = 0; t < target_count; t++) {
                CHECK(price(targets[t].ctx, &m, &o, samples, v) == SHOAL_OK);
                CHECK_MSG(memcmp(first, v, sizeof v) == 0, "%s, %s, on %s: %.17g, not %.17g",
                          words[j][0], type ? "f32" : "f64", targets[t].backend, v[0].price,
                          first[0].price);
            }
            shoal_close(single);
        }
}

/* Where the variance is negative neither its reversion nor its noise sees it: v' = g(v + kappa theta dt). */
TEST(euler_below_zero) {
    const euler_numbers n = { 0.01, 0.3, 0.7, 0.2, -0.1, 0.2, 0.05 };
    static const double next[] = { [EULER_FULL] = -0.04, [EULER_PLUS] = 0, [EULER_ABS] = 0.04 };
    for (int variant = 0; variant < 3; variant++) {
        real v = -0.05, x = 0.7;
        heston_step(&n, variant, 0, 1.5, -0.5, &v, &x);
        CHECK_MSG(fabs(v - next[variant]) < 1e-16 && x == 0.7, "%d: v %g, x %g", variant, v, x);
        v = 0.04; /* v' = v + 0.01 - 0.3 v + 0.2 sqrt(v) 1.5 */
        heston_step(&n, variant, 0, 1.5, -0.5, &v, &x);
        CHECK_MSG(fabs(v - 0.098) < 1e-16, "%d: v %.17g", variant, v);
        CHECK_MSG(fabs(x - (0.7 - 0.002 - 0.03 - 0.02)) < 2e-16, "%d: x %.17g", variant, x);
        v = 0.04, x = 0.25; /* equation (4) of the sheet: S' = S (1 - 0.03 - 0.02), S = 1 + x */
        heston_step(&n, variant, 1, 1.5, -0.5, &v, &x);
        CHECK_MSG(fabs(v - 0.098) < 1e-16 && fabs(1 + x - 1.25 * 0.95) < 4e-16, "%d: S %.17g",
                  variant, 1 + x);
    }
}

/* Blocks of samples that come in several rounds are added as if they came in one. */
TEST(rounds_of_blocks) {
    const shoal_price_opts o = one_contract("euler", NULL, 2, &one, &one);
    for (int t = 0; t < target_count; t++) {
        double sums[2][8] = { { 0 } };
        for (int way = 0; way < 2; way++) {
            shoal_price *plan = NULL;
            void *to = NULL;
            CHECK(shoal_price_heston(targets[t].ctx, &known[1].m, &o, &plan) == SHOAL_OK);
            const size_t bytes = (size_t)shoal_price_sums(plan, 1100) * sizeof(double);
            CHECK(bytes <= sizeof *sums && plan->frame->room >= 5);
            if (way) plan->frame->room = 2; /* of 5 blocks */
            CHECK(shoal_alloc(targets[t].ctx, bytes, &to) == SHOAL_OK);
            CHECK(shoal_price_run(plan, 0, 1100, to) == SHOAL_OK);
            CHECK(shoal_copy(targets[t].ctx, sums[way], to, bytes) == SHOAL_OK);
            shoal_free(targets[t].ctx, to);
            shoal_price_free(plan);
        }
        CHECK_MSG(memcmp(sums[0], sums[1], sizeof *sums) == 0, "%s: %.17g, not %.17g",
                  targets[t].backend, sums[1][2], sums[0][2]);
    }
}

/* In float a variance of 1e10 units of sigma^2 dt would stand still: exact arithmetic takes over. */
TEST(fast_math_of_a_small_sigma) {
    shoal_heston m = known[1].m;
    m.sigma = 1e-5;
    STATISTICAL(t) {
        shoal_price_opts o = { .method = "euler",
                               .type = SHOAL_F32,
                               .math = SHOAL_FAST,
                               .steps = 33,
                               .strikes = 1,
                               .strike = &one,
                               .maturities = 1,
                               .maturity = &one };
        shoal_price_value v, w;
        CHECK(price(targets[t].ctx, &m, &o, 512, &v) == SHOAL_OK);
        o.math = SHOAL_EXACT;
        CHECK(price(targets[t].ctx, &m, &o, 512, &w) == SHOAL_OK);
        CHECK_MSG(v.price == w.price, "%g and %g", v.price, w.price);
    }
}

/* The kernel of special functions walks the paths of its own numbers: the law is the same. */
TEST(fast_math_keeps_the_price) {
    const int64_t samples = small ? 512 : 65536;
    STATISTICAL(t)
    for (int j = 0; j < 3; j++) {
        static const char *const variants[] = { "full", "plus", "abs" };
        const double maturities[] = { 0.4, 1 };
        shoal_price_opts o = { .method = "euler",
                               .variant = variants[j],
                               .type = SHOAL_F32,
                               .math = SHOAL_FAST,
                               .seed = 3,
                               .steps = 33,
                               .strikes = 1,
                               .strike = &one,
                               .maturities = 2,
                               .maturity = maturities };
        shoal_price_value v[2];
        CHECK(price(targets[t].ctx, &known[1].m, &o, samples, v) == SHOAL_OK);
        CHECK_MSG(fabs(v[1].price - known[1].price) < 4 * v[1].error, "%s: %g +- %g", variants[j],
                  v[1].price, v[1].error);
        o.math = SHOAL_EXACT; /* beside the same scheme, exactly: other numbers */
        shoal_price_value w[2];
        CHECK(price(targets[t].ctx, &known[1].m, &o, samples, w) == SHOAL_OK);
        for (int k = 0; k < 2; k++)
            CHECK_MSG(fabs(v[k].price - w[k].price) < 5 * v[k].error, "%s: %g and %g", variants[j],
                      v[k].price, w[k].price);
    }
}

TEST(moments_of_the_exact_steps) {
    const int64_t paths = small ? 1000 : 100000;
    check_moments(&known[1].m, 1, 1, VARIANCE_POISSON, paths);
    check_moments(&known[1].m, 1, 8, VARIANCE_POISSON, paths);
    check_moments(&known[1].m, 1, 8, VARIANCE_NORMAL, paths);
    check_moments(&known[3].m, 1, 4, VARIANCE_POISSON, paths);
    check_moments(&known[5].m, 10, 4, VARIANCE_POISSON, paths);
}

/* ---- the edges ------------------------------------------------------------------------------- */

static void check_edge(shoal_context *ctx, const char *what, const shoal_heston *m, double strike,
                       double maturity, int put, double truth) {
    static const char *const all[] = { "analytic", "euler", "exact", "conditional" };
    const int64_t samples = small ? 300 : 5000;
    for (int j = 0; j < 4; j++) {
        shoal_price_opts o = one_contract(all[j], NULL, 64, &strike, &maturity);
        shoal_price_value v;
        o.put = put, o.greeks = 1;
        CHECK_MSG(price(ctx, m, &o, samples, &v) == SHOAL_OK, "%s", shoal_message(ctx));
        const double bound = 4 * v.error + 1e-9 * m->s0;
        const double price_known = isnan(truth) ? v.price : truth;
        CHECK_MSG(fabs(v.price - price_known) <= bound, "%s, %s: %.10f +- %g, not %.10f", what,
                  all[j], v.price, v.error, truth);
        CHECK_MSG(!isnan(v.price) && !isnan(v.error) && !isnan(v.delta) && !isnan(v.gamma) &&
                      !isnan(v.vega),
                  "%s, %s", what, all[j]);
        if (j == 0 && isnan(truth)) truth = v.price;
    }
}

/* S less its growth is a martingale, step by step: with many paths, a constant of the step that is off by 1 % shows. */
TEST(euler_keeps_the_forward) {
    if (small) return;
    const double strike = 0.01, maturity = 1, forward = 1;
    shoal_heston m = shoal_heston_example();
    m.s0 = forward, m.v0 = m.theta = 0.25, m.sigma = m.kappa = m.rate = m.dividend = 0;
    shoal_price_opts o = one_contract("euler", "full", 3, &strike, &maturity);
    o.antithetic = 1, o.control = -1;
    STATISTICAL(t) {
        shoal_price_value v;
        CHECK(price(targets[t].ctx, &m, &o, 1 << 20, &v) == SHOAL_OK);
        CHECK_MSG(v.error < 2e-4 && fabs(v.price - (forward - strike)) < 4 * v.error,
                  "%.6f, error %.6f", v.price, v.error);
    }
}

TEST(edges_of_the_model) {
    STATISTICAL(t) {
        shoal_context *ctx = targets[t].ctx;
        const shoal_heston base = shoal_heston_example();
        shoal_heston m = base;
        m.sigma = 0; /* Black and Scholes with the mean variance, 0.1 */
        check_edge(ctx, "sigma = 0", &m, 1, 1, 0, shoal_black(1, 1, sqrt(0.1), 0));
        m.theta = 0.2; /* its integral: theta + (v0 - theta) (1 - e^-kappa) / kappa */
        const double integral = 0.2 - 0.1 * (1 - exp(-0.5)) / 0.5;
        check_edge(ctx, "sigma = 0, v moves", &m, 1, 1, 1, shoal_black(1, 1, sqrt(integral), 1));
        m.kappa = 0;
        check_edge(ctx, "sigma = kappa = 0", &m, 1, 1, 0, shoal_black(1, 1, sqrt(0.1), 0));
        m = base, m.kappa = 0;
        check_edge(ctx, "kappa = 0", &m, 1, 1, 0, NAN);
        m = base, m.rho = 1;
        check_edge(ctx, "rho = 1", &m, 1, 1, 0, NAN);
        m = base, m.rho = -1;
        check_edge(ctx, "rho = -1", &m, 1, 1, 1, NAN);
        m = base, m.v0 = 0;
        check_edge(ctx, "v0 = 0", &m, 1, 1, 0, NAN);
        m.theta = 0;
        check_edge(ctx, "no variance at all", &m, 0.9, 1, 0, 0.1);
        m = base, m.rate = 0.05, m.dividend = 0.02;
        check_edge(ctx, "T = 0", &m, 0.9, 0, 0, 0.1);
        check_edge(ctx, "K = 0, call", &m, 0, 2, 0, exp(-0.04));
        check_edge(ctx, "K = 0, put", &m, 0, 2, 1, 0);
        check_edge(ctx, "rates", &m, 1.1, 2, 1, NAN);
        m = base, m.theta = 0.02, m.sigma = sqrt(0.2); /* Feller's condition, and by far */
        check_edge(ctx, "Feller violated", &m, 1, 1, 0, NAN);
        m = base, m.sigma = 1e-9;
        check_edge(ctx, "sigma small", &m, 1, 1, 0, shoal_black(1, 1, sqrt(0.1), 0));
    }
}

TEST(samples_of_any_number) {
    for (int t = 0; t < target_count; t++) {
        shoal_price_opts o = one_contract("conditional", NULL, 4, &one, &one);
        shoal_price_value v;
        CHECK(price(targets[t].ctx, &known[1].m, &o, 1, &v) == SHOAL_OK);
        CHECK(v.price > 0 && isnan(v.error));
        CHECK(price(targets[t].ctx, &known[1].m, &o, 257, &v) == SHOAL_OK);
        CHECK(v.error > 0);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(analytic_prices);
    RUN(analytic_greeks);
    RUN(schemes_meet_the_formula);
    RUN(variance_reduction_keeps_the_price);
    RUN(conditioning_cuts_the_variance);
    RUN(greeks_meet_the_formula);
    RUN(lists_of_strikes_and_maturities);
    RUN(bits_are_the_same);
    RUN(euler_below_zero);
    RUN(rounds_of_blocks);
    RUN(fast_math_keeps_the_price);
    RUN(fast_math_of_a_small_sigma);
    RUN(moments_of_the_exact_steps);
    RUN(euler_keeps_the_forward);
    RUN(edges_of_the_model);
    RUN(samples_of_any_number);
    close_targets();
    return TEST_END();
}
