/* SPDX-License-Identifier: Apache-2.0
 *
 * test_expou.c - the exponential Ornstein-Uhlenbeck model: known prices by conditioning and, by put and
 * parity, by Euler; the same bits for any number of threads, pieces and backends; the edges.
 */
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

/* Steps of any size: exact in Y, of second order in what is integrated. */
TEST(conditional_converges) {
    if (small) SKIP("needs many paths");
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_expou m = model_of(1);
    double off[2];
    for (int fine = 0; fine < 2; fine++) {
        const shoal_price_opts o = opts_of("conditional", fine ? 64 : 8);
        shoal_price_value v;
        CHECK(price(ctx, &m, &o, 32768, &v) == SHOAL_OK);
        off[fine] = fabs(v.price - known[1].price);
        CHECK_MSG(off[fine] < 4 * v.error + (fine ? 2e-6 : 3e-4), "%d: %g", fine, v.price);
    }
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

/* Derivatives against differences of prices along the same paths. */
TEST(greeks) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const int64_t samples = small ? 600 : 16384;
    for (int j = 0; j < 2; j++) {
        shoal_expou m = model_of(1);
        shoal_price_opts o = opts_of(j ? "conditional" : "euler", 32);
        shoal_price_value v, up, down;
        o.put = 1, o.greeks = 1, o.control = -1;
        CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK);
        CHECK_MSG(v.delta > -0.6 && v.delta < -0.3 && v.gamma > 0.5 && v.gamma < 3, "%g, %g",
                  v.delta, v.gamma);
        m.y0 += 0.01;
        CHECK(price(ctx, &m, &o, samples, &up) == SHOAL_OK);
        m.y0 -= 0.02;
        CHECK(price(ctx, &m, &o, samples, &down) == SHOAL_OK);
        const double vega = (up.price - down.price) / (0.02 * 0.1);
        CHECK_MSG(fabs(v.vega - vega) < 1e-9, "%g, not %g", v.vega, vega);
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
            m = shoal_expou_example(), m.alpha = 0;
            CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK && isfinite(v.price));
            for (double rho = -1; rho <= 1; rho += 2) {
                m = shoal_expou_example(), m.rho = rho;
                CHECK(price(ctx, &m, &o, samples, &v) == SHOAL_OK);
                CHECK(isfinite(v.price) && isfinite(v.vega) && v.price > 0);
            }
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
    m.rho = -0.8;
    CHECK(shoal_expou_has_variance(&m, 0));
    m.rho = 0.8;
    CHECK(!shoal_expou_has_variance(&m, 0));
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
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(known_prices);
    RUN(conditional_converges);
    RUN(conditioning_cuts_the_variance);
    RUN(greeks);
    RUN(bits_are_the_same);
    RUN(edges);
    RUN(parameters);
    close_targets();
    return TEST_END();
}
