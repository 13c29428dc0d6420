/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pricing_wide.c - short and long maturities: derivatives whose differences are as narrow as the law
 * of S_T, calls of a large variance, which are simulated as puts, and steps too long for Euler.
 */
#include "pricing_runs.h"

static const char *const methods[] = { "euler", "exact", "conditional" };

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
            strstr(shoal_message(ctx), "steps is 19; euler needs kappa dt at most 2, here 20"),
            "%s", shoal_message(ctx));
        CHECK(shoal_price_expou(ctx, &e, &o, &plan) == SHOAL_E_ARG && !plan);
        CHECK_MSG(strstr(shoal_message(ctx), "steps is 19; euler needs alpha dt"), "%s",
                  shoal_message(ctx));
        o.steps = 20;
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        shoal_price_free(plan);
        CHECK(shoal_price_expou(ctx, &e, &o, &plan) == SHOAL_OK);
        shoal_price_free(plan);
        o.method = "exact", o.steps = 2; /* steps of any size */
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        shoal_price_free(plan);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(gamma_at_any_maturity);
    RUN(bump_is_an_option);
    RUN(large_variance);
    RUN(steps_too_long);
    close_targets();
    return TEST_END();
}
