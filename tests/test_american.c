/* SPDX-License-Identifier: Apache-2.0
 *
 * test_american.c - American options: known Bermudan prices from below, European ones, the same bits for
 * any number of threads, pieces and options, what degenerate input comes to, and the checks.
 */
#include "american_hedge.h"
#include "american_runs.h"

/* A rule that is not the best loses; of an estimate 3 standard errors are allowed above. */
static void check_below(const char *name, const shoal_price_value *v, double truth, double loss) {
    CHECK_MSG(v->price > (1 - loss) * truth && v->price < truth + 3 * v->error,
              "%s: %.5f +- %.1e, not %.5f", name, v->price, v->error, truth);
}

TEST(known_puts) {
    if (small) SKIP("needs many paths");
    const struct {
        const double *s0, *sigma;
        double price;
    } known[] = { { &spot_36, &sigma_2, 4.4778111 },
                  { &spot_36, &sigma_4, 7.1012654 },
                  { &spot_40, &sigma_2, 2.3140685 } };
    for (int type = 0; type < 2; type++)
        for (int i = 0; i < 3; i++) {
            const shoal_american m = put_of(known[i].s0, known[i].sigma);
            const shoal_american_opts o = {
                .assets = 1, .dates = 50, .seed = 5, .type = type ? SHOAL_F32 : SHOAL_F64
            };
            shoal_price_value v;
            shoal_american_fit fit;
            CHECK(price_one(targets[target_count - 1].ctx, &m, &o, 131072, &v, &fit) == SHOAL_OK);
            check_below(type ? "f32" : "f64", &v, known[i].price, 0.005);
            CHECK(fit.systems == 49 && fit.failed == 0 && fit.truncated == 0 && fit.empty == 0);
            CHECK_MSG(fabs(fit.price - known[i].price) < 4 * fit.error + 0.005 * known[i].price,
                      "fitted: %g +- %g", fit.price, fit.error);
        }
}

TEST(known_max_calls) {
    if (small) SKIP("needs many paths");
    for (int i = 0; i < 2; i++) {
        const shoal_american m = max_of(i ? high : even);
        const shoal_american_opts o = { .assets = 2, .dates = 9, .seed = 5 };
        shoal_price_value v;
        CHECK(price_one(targets[target_count - 1].ctx, &m, &o, 262144, &v, NULL) == SHOAL_OK);
        check_below("max-call", &v, i ? 21.3438 : 13.9017, 0.01);
    }
}

/* The dual of the same rule, from above; what the noise of 512 inner paths adds is within 2 %. */
TEST(upper_bounds) {
    if (small) SKIP("needs many paths");
    for (int type = 0; type < 2; type++)
        for (int i = 0; i < 2; i++) {
            const shoal_american m = i ? max_of(even) : put_of(&spot_36, &sigma_2);
            const double truth = i ? 13.9017 : 4.4778111;
            const shoal_american_opts o = { .assets = i ? 2 : 1,
                                            .dates = i ? 9 : 50,
                                            .seed = 5,
                                            .inner = 512,
                                            .type = type ? SHOAL_F32 : SHOAL_F64 };
            shoal_price_value v;
            CHECK(price_one(targets[target_count - 1].ctx, &m, &o, i ? 256 : 64, &v, NULL) ==
                  SHOAL_OK);
            CHECK_MSG(v.price > truth - 3 * v.error && v.price < 1.02 * truth + 3 * v.error,
                      "%.5f +- %.1e, not %.5f", v.price, v.error, truth);
        }
}

/* With one date an option is European. */
TEST(one_date) {
    const int64_t samples = small ? 600 : 16384;
    for (int t = 0; t < target_count; t++)
        for (int put = 0; put < 2; put++) {
            shoal_american m = put_of(&spot_40, &sigma_2);
            const shoal_american_opts o = { .assets = 1, .dates = 1, .seed = 2, .fit_paths = 300 };
            shoal_price_value v;
            shoal_american_fit fit;
            m.payoff = put ? SHOAL_PUT : SHOAL_CALL;
            CHECK(price_one(targets[t].ctx, &m, &o, samples, &v, &fit) == SHOAL_OK);
            const double truth = exp(-0.06) * shoal_black(40 * exp(0.06), 40, 0.2, put);
            CHECK_MSG(fabs(v.price - truth) < 4 * v.error, "%g +- %g, not %g", v.price, v.error,
                      truth);
            CHECK(fit.systems == 0 && fabs(fit.price - truth) < 4 * fit.error);
        }
    /* Without controls rule and price are plain means: as many paths make the same error, but for that of an error
     * itself, 1 % of 16384 paths. */
    for (int t = 0; t < target_count; t++) {
        const shoal_american m = put_of(&spot_40, &sigma_2);
        const shoal_american_opts o = {
            .assets = 1, .dates = 1, .seed = 2, .fit_paths = samples, .control = -1
        };
        shoal_price_value v;
        shoal_american_fit fit;
        CHECK(price_one(targets[t].ctx, &m, &o, samples, &v, &fit) == SHOAL_OK);
        CHECK_MSG(fabs(fit.error / v.error - 1) < (small ? 0.25 : 0.05), "%g, not %g", fit.error,
                  v.error);
    }
}

/* Rule and price have paths of their own: over seeds their means are not correlated, 4 / sqrt(seeds) at most. */
TEST(fresh_paths) {
    enum { SEEDS = 256 };
    shoal_context *single;
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
    for (int i = 0; i < SEEDS; i++) {
        const shoal_american m = put_of(&spot_40, &sigma_2);
        const shoal_american_opts o = {
            .assets = 1, .dates = 1, .seed = (uint64_t)i, .fit_paths = 256, .control = -1
        };
        shoal_price_value v;
        shoal_american_fit fit;
        CHECK(price_one(single, &m, &o, 256, &v, &fit) == SHOAL_OK);
        const double p = v.price - 2, q = fit.price - 2;
        x += p, y += q, xx += p * p, yy += q * q, xy += p * q;
    }
    const double correlation =
        (xy - x * y / SEEDS) / sqrt((xx - x * x / SEEDS) * (yy - y * y / SEEDS));
    CHECK_MSG(fabs(correlation) < 4 / sqrt(SEEDS), "%g", correlation);
    shoal_close(single);
}

/* Other backends and instruction levels solve the regressions with other roundings: a price differs by
 * that, unless a path lies so near to the boundary that it is decided otherwise, which at roundings of
 * 1e-12 not one in 1e8 does. In f32 some do: one of n paths moves a price by what a path is worth, sqrt(n) errors,
 * over n. Here they are two of 300, or fewer. */
TEST(bits_are_the_same) {
    for (int way = 0; way < 4 * KINDS; way++) { /* the last half: upper bounds */
        const int dual = way >= 2 * KINDS;
        const int64_t samples = dual ? 3 : way == 0 && !small ? SHOAL_PRICE_UNIT + 300 : 300;
        const shoal_american m = kind_of(way % KINDS);
        shoal_american_opts o = short_opts(way / KINDS % 2);
        o.inner = dual ? 300 : 0;
        shoal_context *single;
        shoal_price_value first, v;
        shoal_american_fit fit, other;
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
        CHECK(price_one(single, &m, &o, samples, &first, &fit) == SHOAL_OK);
        CHECK(price(single, &m, 1, &o, samples, 1, &v, NULL) == SHOAL_OK);
        CHECK_MSG(memcmp(&first, &v, sizeof v) == 0, "in pieces, way %d", way);
        shoal_close(single);
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 3 }, &single) == SHOAL_OK);
        CHECK(price_one(single, &m, &o, samples, &v, &other) == SHOAL_OK);
        CHECK_MSG(memcmp(&first, &v, sizeof v) == 0, "three threads, way %d", way);
        CHECK(memcmp(&fit, &other, sizeof fit) == 0);
        shoal_close(single);
        const double off = o.type == SHOAL_F64 ? 1e-10 : 2 / sqrt(300.0); /* of the error */
        for (int t = 0; t < target_count; t++) {
            CHECK(price_one(targets[t].ctx, &m, &o, samples, &v, &other) == SHOAL_OK);
            CHECK_MSG(fabs(v.price - first.price) < off * first.error &&
                          fabs(v.error / first.error - 1) < fmin(off, 0.02),
                      "way %d on %s: %.17g +- %g, not %.17g +- %g", way, targets[t].backend,
                      v.price, v.error, first.price, first.error);
            CHECK_MSG(fabs(fit.price - other.price) < off * fit.error, "way %d on %s: fitted %.17g",
                      way, targets[t].backend, other.price);
        }
    }
}

/* One asset with 2 to 10 functions, on few and on many paths: a GPU has kernels for these. */
TEST(many_functions_of_one_asset) {
    shoal_context *single;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
    for (int way = 0; way < 18 * target_count; way++) {
        shoal_american_fit fit[2];
        const shoal_american m = put_of(&spot_36, way % 2 ? &sigma_4 : &sigma_2);
        shoal_american_opts o = { .assets = 1, .dates = 3, .degree = 1 + way % 18 / 2 };
        shoal_price_value v[2];
        o.fit_paths = way % 2 ? 2301 : 317, o.type = way % 4 < 2 ? SHOAL_F64 : SHOAL_F32;
        CHECK(price_one(single, &m, &o, 300, &v[0], &fit[0]) == SHOAL_OK);
        CHECK(price_one(targets[way / 18].ctx, &m, &o, 300, &v[1], &fit[1]) == SHOAL_OK);
        const double off = o.type == SHOAL_F64 ? 1e-10 : 2 / sqrt(300.0); /* of the error */
        CHECK_MSG(fabs(v[1].price - v[0].price) < off * v[0].error &&
                      fabs(fit[1].price - fit[0].price) < off * fit[0].error,
                  "way %d: %.17g, not %.17g", way, v[1].price, v[0].price);
    }
    shoal_close(single);
}

/* Two and three assets with linear, quadratic and cubic functions of them, and less and more than a block of paths. */
TEST(any_degree_of_several_assets) {
    shoal_context *single;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
    for (int way = 0; way < 18 * target_count; way++) {
        shoal_american_fit fit[2];
        shoal_american m = kind_of(way % KINDS);
        const int64_t assets = way / 3 % 2 + 2;
        const shoal_american_opts o = { .assets = assets,
                                        .dates = 4,
                                        .degree = way / 6 % 3 + 1,
                                        .seed = 8,
                                        .fit_paths = way % 2 ? 255 : 257 };
        shoal_price_value v[2];
        if (assets == 2) m.correlation = NULL;
        CHECK(price_one(single, &m, &o, 300, &v[0], &fit[0]) == SHOAL_OK);
        CHECK(price_one(targets[way / 18].ctx, &m, &o, 300, &v[1], &fit[1]) == SHOAL_OK);
        CHECK_MSG(fabs(v[1].price - v[0].price) < 1e-10 * v[0].error &&
                      fabs(fit[1].price - fit[0].price) < 1e-10 * fit[0].error,
                  "way %d: %.17g, not %.17g", way, v[1].price, v[0].price);
    }
    shoal_close(single);
}

/* An option's values do not depend on what else is in the plan. */
TEST(many_options) {
    enum { MANY = 5 };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            shoal_american m[MANY];
            shoal_price_value v[MANY], alone;
            shoal_american_fit fits[MANY], fit;
            const shoal_american_opts o = short_opts(type);
            for (int i = 0; i < MANY; i++) {
                m[i] = kind_of(1 + i % 2);
                m[i].strike += i, m[i].rate += 0.01 * i;
            }
            CHECK(price(targets[t].ctx, m, MANY, &o, 300, 1, v, fits) == SHOAL_OK);
            for (int i = 0; i < MANY; i++) {
                CHECK(price_one(targets[t].ctx, &m[i], &o, 300, &alone, &fit) == SHOAL_OK);
                CHECK_MSG(memcmp(&alone, &v[i], sizeof alone) == 0, "%s, option %d: %.17g, %.17g",
                          targets[t].backend, i, v[i].price, alone.price);
                CHECK(memcmp(&fit, &fits[i], sizeof fit) == 0);
            }
            CHECK(price(targets[t].ctx, NULL, 0, &o, 300, 1, v, fits) == SHOAL_OK);
        }
}

/* Without noise the best date is known; x is 0 for every path, so that A has rank 1. */
/* Nothing is left of the control variate but rounding errors. */
TEST(no_volatility) {
    const double nothing = 0;
    const int64_t dates[] = { 1, 4, 10, 50 };
    for (int t = 0; t < target_count; t++)
        for (int e = 0; e < 8; e++) {
            const int single = e / 4;
            const shoal_american m = put_of(&spot_36, &nothing);
            const shoal_american_opts o = { .assets = 1,
                                            .dates = dates[e % 4],
                                            .fit_paths = 300,
                                            .type = single ? SHOAL_F32 : SHOAL_F64 };
            shoal_price_value v;
            shoal_american_fit fit;
            CHECK(price_one(targets[t].ctx, &m, &o, 300, &v, &fit) == SHOAL_OK);
            const double truth = 40 * exp(-0.06 / (double)o.dates) - 36; /* at the first date */
            CHECK_MSG(fabs(v.price - truth) < (single ? 2e-5 : 1e-12) && !(v.error > 1e-5),
                      "%d dates: %.17g, not %.17g", (int)o.dates, v.price, truth);
            CHECK_MSG(fit.truncated == o.dates - 1 && fit.failed == 0, "%d truncated, %d failed",
                      (int)fit.truncated, (int)fit.failed);
        }
}

TEST(too_few_paths) {
    for (int t = 0; t < target_count; t++) {
        shoal_american m = put_of(&spot_36, &sigma_2);
        shoal_american_opts o = { .assets = 1, .dates = 4, .fit_paths = 3, .seed = 1 };
        shoal_price_value v;
        shoal_american_fit fit;
        CHECK(price_one(targets[t].ctx, &m, &o, 600, &v, &fit) == SHOAL_OK);
        CHECK_MSG(v.price > 2 && v.price < 4.4778111 + 4 * v.error, "%g", v.price);
        CHECK_MSG(fit.truncated + fit.empty == 3 && fit.truncated > 0, "%d truncated",
                  (int)fit.truncated);
        o.solver =
            "ldlt"; /* which has no answer to a singular system: that is counted, and none exercises */
        CHECK(price_one(targets[t].ctx, &m, &o, 600, &v, &fit) == SHOAL_OK);
        CHECK_MSG(v.price > 2 && v.price < 4.4778111 + 4 * v.error, "%g", v.price);
        CHECK_MSG(fit.systems == 3 && fit.failed > 0 && fit.failed <= 3, "%d failed",
                  (int)fit.failed);
        o.solver = NULL;
        o.fit_paths = 300, m.strike = 1; /* nobody is ever in the money */
        CHECK(price_one(targets[t].ctx, &m, &o, 600, &v, &fit) == SHOAL_OK);
        CHECK(v.price == 0 && fit.empty == 3 && fit.price == 0);
    }
}

/* An asset that is another one adds nothing but a singular matrix. */
TEST(the_same_asset_twice) {
    const double one[4] = { 1, 1, 1, 1 }, two_36[2] = { 36, 36 }, two_sigma[2] = { 0.2, 0.2 };
    for (int t = 0; t < target_count; t++) {
        shoal_american m = put_of(two_36, two_sigma);
        const shoal_american_opts o = { .assets = 2, .dates = 5, .degree = 1, .fit_paths = 600 };
        const shoal_american_opts p = { .assets = 1, .dates = 5, .degree = 1, .fit_paths = 600 };
        shoal_price_value v, w;
        shoal_american_fit fit;
        CHECK(price_one(targets[t].ctx, &m, &p, 2000, &w, NULL) == SHOAL_OK);
        m.payoff = SHOAL_BASKET_PUT, m.correlation = one;
        CHECK(price_one(targets[t].ctx, &m, &o, 2000, &v, &fit) == SHOAL_OK);
        CHECK_MSG(fit.truncated == 4, "%d truncated", (int)fit.truncated);
        CHECK_MSG(fabs(v.price - w.price) < 4 * hypot(v.error, w.error), "%g, not %g", v.price,
                  w.price);
    }
}

/* A basket of many assets is lognormal, nearly: its European put by two moments. */
static double basket_put(const shoal_american *m, int64_t d) {
    double mean = 0, variance = 0;
    for (int64_t a = 0; a < d; a++) {
        const double forward = m->s0[a] * exp(m->rate * m->maturity) / (double)d;
        mean += forward;
        variance += forward * forward * expm1(m->sigma[a] * m->sigma[a] * m->maturity);
    }
    return exp(-m->rate * m->maturity) *
           shoal_black(mean, m->strike, sqrt(log1p(variance / (mean * mean))), 1);
}

/* A date more is worth the interest on the strike at most: e^(-r T/2) (K - S) now is K e^(-r T/2) - K e^(-r T)
 * more than to be short of S and to have K at T. */
TEST(most_assets) {
    enum { D = SHOAL_AMERICAN_ASSETS };
    double s0[D], sigma[D];
    for (int a = 0; a < D; a++) s0[a] = 90 + a % 20, sigma[a] = 0.1 + 0.005 * a;
    CHECK(shoal_american_functions(D, 0, SHOAL_BASKET_PUT) == SHOAL_AMERICAN_BASIS);
    CHECK(shoal_american_functions(2, 0, SHOAL_MAX_CALL) == 11);
    CHECK(shoal_american_functions(1, 3, SHOAL_PUT) == 4);
    CHECK(strcmp(shoal_american_method(SHOAL_PUT, 1, 0, 0), "exact") == 0);
    CHECK(strcmp(shoal_american_method(SHOAL_CALL, 1, 0, 1), "pde") == 0);
    CHECK(strcmp(shoal_american_method(SHOAL_CALL, 1, 1, 1), "lsm") == 0);
    CHECK(strcmp(shoal_american_method(SHOAL_PUT, 2, 0, 1), "lsm") == 0);
    CHECK(strcmp(shoal_american_method(SHOAL_MAX_CALL, 1, 0, 0), "lsm") == 0);
    const shoal_american m = { .payoff = SHOAL_BASKET_PUT,
                               .strike = 100,
                               .rate = 0.02,
                               .maturity = 1,
                               .s0 = s0,
                               .sigma = sigma };
    const double european = basket_put(&m, D), interest = 100 * (exp(-0.01) - exp(-0.02));
    for (int t = 0; t < target_count; t++)
        for (int64_t dates = 1; dates <= 2; dates++) {
            shoal_american_opts o = { .assets = D,
                                      .dates = dates,
                                      .fit_paths = small ? 256 : 2048 };
            shoal_price_value v, above;
            shoal_american_fit fit;
            const shoal_status s = price_one(targets[t].ctx, &m, &o, small ? 256 : 4096, &v, &fit);
            if (s == SHOAL_E_NOMEM && getenv("SIMT_SHARED")) { /* a GPU with less of it says so */
                CHECK(strstr(shoal_message(targets[t].ctx), "bytes of shared memory per block"));
                continue;
            }
            CHECK(s == SHOAL_OK);
            CHECK_MSG(v.price > european - 4 * v.error - 0.01 &&
                          v.price < european + (dates > 1 ? interest : 0) + 4 * v.error + 0.01 &&
                          fit.failed == 0,
                      "%d dates: %g +- %g, European %g", (int)dates, v.price, v.error, european);
            o.inner = 256;
            CHECK(price_one(targets[t].ctx, &m, &o, 4, &above, NULL) == SHOAL_OK);
            CHECK_MSG(above.price > v.price - 4 * (v.error + above.error) &&
                          above.price < v.price + 4 * (v.error + above.error) + 0.5,
                      "%d dates: %g, %g +- %g", (int)dates, v.price, above.price, above.error);
        }
}

TEST(raw_polynomials) {
    if (small) SKIP("needs many paths");
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_american m = put_of(&spot_36, &sigma_2);
    shoal_american_opts o = { .assets = 1, .dates = 10, .seed = 3, .raw = 1, .fit_paths = 8192 };
    shoal_price_value v, w;
    shoal_american_fit fit;
    CHECK(price_one(ctx, &m, &o, 16384, &v, &fit) == SHOAL_OK);
    o.raw = 0;
    CHECK(price_one(ctx, &m, &o, 16384, &w, NULL) == SHOAL_OK);
    CHECK_MSG(fabs(v.price / w.price - 1) < 0.01, "%g, not %g", v.price, w.price);
    o.raw = 1, o.type = SHOAL_F32;
    CHECK(price_one(ctx, &m, &o, 16384, &v, &fit) == SHOAL_OK);
    CHECK_MSG(fit.truncated == 9, "%d truncated", (int)fit.truncated);
    o.raw = 0;
    CHECK(price_one(ctx, &m, &o, 16384, &v, &fit) == SHOAL_OK && fit.truncated == 0);
    for (int i = 0; shoal_methods("smallsym", i); i++) { /* every solver */
        o.solver = shoal_methods("smallsym", i), o.type = SHOAL_F64;
        CHECK(price_one(ctx, &m, &o, 16384, &v, &fit) == SHOAL_OK);
        CHECK_MSG(fabs(v.price / w.price - 1) < 1e-9, "%s: %.12g, not %.12g", o.solver, v.price,
                  w.price);
    }
}

TEST(arguments) { check_arguments(); }

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(known_puts);
    RUN(known_max_calls);
    RUN(upper_bounds);
    RUN(one_date);
    RUN(the_hedge_is_bacheliers);
    RUN(weights_end_with_the_assets);
    RUN(fresh_paths);
    RUN(bits_are_the_same);
    RUN(many_functions_of_one_asset);
    RUN(any_degree_of_several_assets);
    RUN(many_options);
    RUN(no_volatility);
    RUN(too_few_paths);
    RUN(the_same_asset_twice);
    RUN(most_assets);
    RUN(raw_polynomials);
    RUN(arguments);
    close_targets();
    return TEST_END();
}
