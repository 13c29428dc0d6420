/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pricing_api.c - what the functions of pricing.h refuse and what they say then, what auto is,
 * what an empty problem is, and Black's formula with its inverse.
 */
#include "pricing_runs.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static int something;

TEST(models_are_checked) {
    static const struct {
        shoal_heston m;
        const char *word;
    } cases[] = {
        { { 0, 0, 0, .1, .5, .1, .3, 0 }, "s0 is 0" },
        { { NAN, 0, 0, .1, .5, .1, .3, 0 }, "s0 is nan" },
        { { 1, INFINITY, 0, .1, .5, .1, .3, 0 }, "rate is inf" },
        { { 1, 0, -INFINITY, .1, .5, .1, .3, 0 }, "dividend is -inf" },
        { { 1, 0, 0, -.1, .5, .1, .3, 0 }, "v0 is -0.1" },
        { { 1, 0, 0, .1, -.5, .1, .3, 0 }, "kappa is -0.5" },
        { { 1, 0, 0, .1, .5, -.1, .3, 0 }, "theta is -0.1" },
        { { 1, 0, 0, .1, .5, .1, -.3, 0 }, "sigma is -0.3" },
        { { 1, 0, 0, .1, .5, .1, .3, 1.01 }, "rho is 1.01" },
        { { 1, 0, 0, .1, .5, .1, .3, NAN }, "rho is nan" },
        { { 1, 1000, 0, .1, .5, .1, .3, 0 }, "rate 1000" },
        { { 1e299, 10, 0, .1, .5, .1, .3, 0 }, "rate 10" },
        { { 1, 0, 800, .1, .5, .1, .3, 0 }, "dividend 800" },
    };
    const shoal_price_opts o = one_contract("euler", NULL, 1, &one, &one);
    for (int t = 0; t < target_count; t++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            shoal_price *plan = (shoal_price *)&something;
            CHECK_SAYS(targets[t].ctx, shoal_price_heston(targets[t].ctx, &cases[i].m, &o, &plan),
                       SHOAL_E_ARG, cases[i].word);
            CHECK(plan == NULL);
        }
}

typedef struct limit { /* of a number of a model */
    const char *name;
    size_t at;
    double least, most;
} limit;

#define LIMIT(model, name, least, most)                                                            \
    { #name, offsetof(shoal_##model, name), least, most }

/* A plan for the example of model 0 heston, 1 expou, 2 bullet, with one number changed. */
static shoal_status changed(shoal_context *ctx, int model, size_t at, double value) {
    const shoal_price_opts o = one_contract(NULL, NULL, 1, &one, &one), mc = { .method = "mc" };
    shoal_heston heston = shoal_heston_example();
    shoal_expou expou = shoal_expou_example();
    shoal_bullet bullet = shoal_bullet_example();
    char *const all[] = { (char *)&heston, (char *)&expou, (char *)&bullet };
    shoal_price *plan = NULL;
    memcpy(all[model] + at, &value, sizeof value);
    const shoal_status s = model == 0   ? shoal_price_heston(ctx, &heston, &o, &plan)
                           : model == 1 ? shoal_price_expou(ctx, &expou, &o, &plan)
                                        : shoal_price_bullet(ctx, &bullet, &mc, NULL, 1, &plan);
    shoal_price_free(plan);
    return s;
}

/* The limits are those of the messages, and are allowed themselves; what then is wrong, if anything, is not
 * that number alone. 0 stands for the least number above it. */
TEST(numbers_of_models_have_limits) {
    static const limit limits[3][9] = {
        { LIMIT(heston, s0, 0, 1e300), LIMIT(heston, rate, -1e3, 1e3),
          LIMIT(heston, dividend, -1e3, 1e3), LIMIT(heston, v0, 0, 1e6),
          LIMIT(heston, kappa, 0, 1e6), LIMIT(heston, theta, 0, 1e6), LIMIT(heston, sigma, 0, 1e6),
          LIMIT(heston, rho, -1, 1) },
        { LIMIT(expou, s0, 0, 1e300), LIMIT(expou, rate, -1e3, 1e3), LIMIT(expou, alpha, 0, 1e6),
          LIMIT(expou, m, -50, 5), LIMIT(expou, beta, -1e3, 1e3), LIMIT(expou, y0, -50, 5),
          LIMIT(expou, rho, -1, 1) },
        { LIMIT(bullet, s0, 0, 1e300), LIMIT(bullet, strike, 0, 1e300),
          LIMIT(bullet, rate, -1e3, 1e3), LIMIT(bullet, maturity, 0, 1e6),
          LIMIT(bullet, sigma, 0, 1e3), LIMIT(bullet, barrier, 0, 1e300) }
    };
    shoal_context *ctx = targets[0].ctx;
    for (int model = 0; model < 3; model++)
        for (const limit *l = limits[model]; l->name; l++) {
            const int above = strcmp(l->name, "s0") == 0;
            const double least = above ? 0x1p-1022 : l->least;
            char words[128];
            snprintf(words, sizeof words, "it must be %s %g and at most %g",
                     above ? "above" : "at least", l->least, l->most);
            CHECK_SAYS(ctx, changed(ctx, model, l->at, nextafter(l->most, INFINITY)), SHOAL_E_ARG,
                       words);
            CHECK_SAYS(ctx, changed(ctx, model, l->at, nextafter(least, -INFINITY)), SHOAL_E_ARG,
                       words);
            for (int end = 0; end < 2; end++)
                CHECK_MSG(changed(ctx, model, l->at, end ? l->most : least) == SHOAL_OK ||
                              !strstr(shoal_message(ctx), "it must be"),
                          "%s", shoal_message(ctx));
        }
}

TEST(options_are_checked) {
    const double falling[] = { 1, 0.5 }, negative = -1, endless = INFINITY;
    static const double zeros[1025];
    const shoal_heston m = shoal_heston_example();
#define GOOD .strikes = 1, .strike = &one, .maturities = 1, .maturity = &one
    const struct {
        shoal_price_opts o;
        shoal_status status;
        const char *word;
    } cases[] = {
        { { GOOD, .steps = -4 }, SHOAL_E_ARG, "steps is -4" },
        { { GOOD, .steps = 1, .type = (shoal_type)7 }, SHOAL_E_ARG, "type is 7" },
        { { GOOD, .steps = 1, .math = (shoal_math)9 }, SHOAL_E_ARG, "math is 9" },
        { { GOOD, .steps = 1, .control = 2 }, SHOAL_E_ARG, "control is 2" },
        { { GOOD, .steps = 1, .method = "magic" }, SHOAL_E_METHOD, "conditional, analytic" },
        { { GOOD, .steps = 1, .method = "euler", .variant = "half" },
          SHOAL_E_METHOD,
          "full, plus" },
        { { .steps = 1, .strikes = 1, .maturities = 1, .maturity = &one },
          SHOAL_E_ARG,
          "strike is" },
        { { .steps = 1, .strikes = -1 }, SHOAL_E_ARG, "strikes is -1" },
        { { .steps = 1, .maturities = -2 }, SHOAL_E_ARG, "maturities is -2" },
        { { .steps = 1, .strikes = 1, .strike = &negative, .maturities = 1, .maturity = &one },
          SHOAL_E_ARG,
          "strike[0] is -1" },
        { { .steps = 1, .strikes = 1, .strike = &one, .maturities = 1, .maturity = &endless },
          SHOAL_E_ARG,
          "maturity[0] is inf" },
        { { .steps = 1, .strikes = 1, .strike = &one, .maturities = 2, .maturity = falling },
          SHOAL_E_ARG,
          "maturity[1] is 0.5; it must be at least 1" },
        { { .steps = 1, .strikes = 1024, .strike = zeros, .maturities = 1025, .maturity = zeros },
          SHOAL_E_ARG,
          "strikes * maturities is 1049600" },
    };
#undef GOOD
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_price *plan = (shoal_price *)&something;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK_SAYS(ctx, shoal_price_heston(ctx, &m, &cases[i].o, &plan), cases[i].status,
                       cases[i].word);
            CHECK(plan == NULL);
        }
        CHECK_SAYS(ctx, shoal_price_heston(ctx, NULL, &cases[0].o, &plan), SHOAL_E_ARG, "model");
        CHECK_SAYS(ctx, shoal_price_heston(ctx, &m, NULL, &plan), SHOAL_E_ARG, "opts");
        CHECK_SAYS(ctx, shoal_price_heston(ctx, &m, &cases[0].o, NULL), SHOAL_E_ARG, "plan");
    }
    shoal_context *cpu = targets[0].ctx; /* limits are allowed themselves */
    static const shoal_price_opts least = { .steps = 1, .method = "exact" };
    const shoal_price_opts most = { .method = "exact", .steps = 1 << 30 };
    const shoal_price_opts wide = { .method = "exact",
                                    .steps = 1,
                                    .strikes = 1024,
                                    .strike = zeros,
                                    .maturities = 1024,
                                    .maturity = zeros };
    const shoal_price_opts past = { .method = "exact", .steps = (1 << 30) + 1 };
    const shoal_price_opts *const allowed[] = { &least, &most, &wide };
    for (int i = 0; i < 3; i++) {
        shoal_price *fits = NULL;
        CHECK_MSG(shoal_price_heston(cpu, &m, allowed[i], &fits) == SHOAL_OK, "%d: %s", i,
                  shoal_message(cpu));
        shoal_price_free(fits);
    }
    shoal_price *none = NULL;
    CHECK_SAYS(cpu, shoal_price_heston(cpu, &m, &past, &none), SHOAL_E_ARG, "steps is 1073741825");
    const shoal_price_opts odd = { .math = (shoal_math)9 };
    const shoal_bullet bullet = { .s0 = 1 };
    shoal_price *plan = (shoal_price *)&something;
    CHECK_SAYS(targets[0].ctx, shoal_price_bullet(targets[0].ctx, &bullet, &odd, NULL, 1, &plan),
               SHOAL_E_ARG, "math is 9");
    plan = (shoal_price *)&something;
    CHECK(shoal_price_heston(NULL, &m, &cases[0].o, &plan) == SHOAL_E_ARG && plan == NULL);
    shoal_price_free(NULL);
}

TEST(runs_are_checked) {
    const shoal_heston m = shoal_heston_example();
    const shoal_price_opts o = one_contract("auto", NULL, 2, &one, &one);
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_price *plan = NULL;
        shoal_price_info info;
        shoal_price_value v;
        void *sums = NULL;
        CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, 4096, &sums) == SHOAL_OK);
        CHECK(shoal_price_describe(plan, &info) == SHOAL_OK);
        CHECK(strcmp(info.method, "conditional") == 0 && strcmp(info.variant, "poisson") == 0);
        CHECK(info.steps == 2 && info.paths_each == 1 && info.walks == 1 && info.control == 1);
        CHECK(info.bytes > 0 && !info.deterministic);
        CHECK(shoal_price_width(plan) == 5 && shoal_price_sums(plan, 65537) == 10);
        CHECK(shoal_price_sums(plan, 0) == 0);
        CHECK_SAYS(ctx, shoal_price_run(plan, 1, 5, sums), SHOAL_E_ARG, "first is 1");
        CHECK_SAYS(ctx, shoal_price_run(plan, -65536, 5, sums), SHOAL_E_ARG, "first is -65536");
        CHECK_SAYS(ctx, shoal_price_run(plan, 0, -1, sums), SHOAL_E_ARG, "first is 0, samples -1");
        CHECK_SAYS(ctx, shoal_price_run(plan, 0, 5, NULL), SHOAL_E_ARG, "sums");
        CHECK(shoal_price_run(plan, 0, 0, NULL) == SHOAL_OK);
        CHECK(shoal_price_add(plan, NULL, 0, NULL) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_price_add(plan, NULL, 5, &v.price), SHOAL_E_ARG, "sums");
        CHECK_SAYS(ctx, shoal_price_add(plan, &v.price, 5, NULL), SHOAL_E_ARG, "total");
        CHECK_SAYS(ctx, shoal_price_result(plan, NULL, 5, &v), SHOAL_E_ARG, "total");
        CHECK_SAYS(ctx, shoal_price_result(plan, &v.price, 0, &v), SHOAL_E_ARG, "samples is 0");
        CHECK_SAYS(ctx, shoal_price_result(plan, &v.price, 5, NULL), SHOAL_E_ARG, "values");
        CHECK_SAYS(ctx, shoal_price_describe(plan, NULL), SHOAL_E_ARG, "info");
        shoal_price_free(plan);
        shoal_free(ctx, sums);
        CHECK(shoal_price_run(NULL, 0, 5, NULL) == SHOAL_E_ARG && shoal_price_width(NULL) == 0);
    }
}

/* Totals of n samples x_i = 5 + a_i + b_i, c_i = shift + a_i with a_i = +-a, b_i = +-0.1 in all four pairs of
 * signs: the sums of c, c^2, x, x^2 and x c, whose control has the factor 1. */
static void totals_of(double n, double shift, double a, double total[10]) {
    memset(total, 0, 10 * sizeof *total);
    total[0] = n * shift, total[2] = n * (shift * shift + a * a);
    total[4] = 5 * n, total[6] = n * (25 + a * a + 0.01), total[8] = n * (5 * shift + a * a);
}

/* A control that varies by less than a tenth of its size is made of rounding errors, and is not used. */
TEST(values_of_totals) {
    shoal_context *ctx = targets[0].ctx;
    const shoal_heston m = shoal_heston_example();
    const shoal_price_opts o = one_contract("conditional", NULL, 2, &one, &one);
    shoal_price *plan = NULL;
    shoal_price_value v;
    double total[10];
    CHECK(shoal_price_heston(ctx, &m, &o, &plan) == SHOAL_OK && shoal_price_width(plan) == 5);
    /* a control is used, used, all but a constant, and with a mean that its samples do not show */
    static const double shift[] = { 0, 5e-4, 5e-4, 1 }, a[] = { 0.3, 5.5e-5, 4.5e-5, 0.11 };
    for (int i = 0; i < 4; i++)
        for (int n = 4; n <= 400; n *= 10) {
            totals_of(n, shift[i], a[i], total);
            CHECK(shoal_price_result(plan, total, n, &v) == SHOAL_OK);
            const double price = i < 2 ? 5 - shift[i] : 5;
            const double variance = 0.01 + (i < 2 ? 0 : a[i] * a[i]);
            CHECK_MSG(fabs(v.price - price) < 1e-12, "%d: %.17g", i, v.price);
            CHECK_MSG(fabs(v.error - sqrt(variance / (n - 1))) < 1e-12, "%d, n %d: +- %g", i, n,
                      v.error);
        }
    /* totals have twice the digits of a double */
    static const double sums[3][5] = { { 1e16, 1e16, -1e16, 1, 3 },
                                       { 1, 1, 1, 1e17, 1 },
                                       { -1e16, 1, 1e16, -1e17, 0x1p-60 } };
    static const double sum[5] = { 1, 1e16 + 2, 1, 1, 4 + 0x1p-60 };
    memset(total, 0, sizeof total);
    for (int i = 0; i < 3; i++) CHECK(shoal_price_add(plan, sums[i], 1, total) == SHOAL_OK);
    for (int i = 0; i < 5; i++)
        CHECK_MSG(total[2 * i] + total[2 * i + 1] == sum[i], "%d: %.17g and %g", i, total[2 * i],
                  total[2 * i + 1]);
    CHECK(total[8] == 4 && total[9] == 0x1p-60);
    shoal_price_free(plan);
}

TEST(nothing_to_price) {
    const shoal_heston m = shoal_heston_example();
    const shoal_price_opts o = { .method = "exact", .steps = 1 };
    for (int t = 0; t < target_count; t++) {
        shoal_price_value v = { .price = 7 };
        CHECK(price(targets[t].ctx, &m, &o, 100, &v) == SHOAL_OK);
        CHECK(v.price == 7);
    }
}

TEST(black_and_its_inverse) {
    CHECK(fabs(shoal_black(100, 100, 0.2, 0) - 7.965567455405804) < 1e-13);
    CHECK(shoal_black(2, 1, 0, 0) == 1 && shoal_black(2, 1, 0, 1) == 0);
    CHECK(shoal_black(2, 0, 1, 0) == 2 && shoal_black(0, 2, 1, 1) == 2);
    CHECK(isnan(shoal_black(-1, 1, 1, 0)) && isnan(shoal_black(1, 1, NAN, 0)));
    for (int i = 0; i < 400; i++) {
        const double s = 0.02 * pow(1.02, i), strike = exp(-0.7 + 0.0035 * i);
        for (int put = 0; put < 2; put++) {
            const double value = shoal_black(1, strike, s, put);
            const double time = value - (put ? fmax(strike - 1, 0) : fmax(1 - strike, 0));
            if (time < 1e-9 || value > (put ? strike : 1) - 1e-9) continue;
            const double back = shoal_black_deviation(1, strike, value, put);
            /* a rounding of the value is worth 1/slope of it, and slope is at least its distance from
             * the ends */
            const double d = -log(strike) / s + 0.5 * s;
            const double slope = exp(-0.5 * d * d) * 0.3989422804014327;
            CHECK_MSG(fabs(back - s) < 1e-14 * s + 8e-16 / slope, "s %g, strike %g: %g", s, strike,
                      back);
        }
    }
    CHECK(shoal_black_deviation(2, 1, 1, 0) == 0);
    CHECK(isnan(shoal_black_deviation(2, 1, 0.9, 0)) && isnan(shoal_black_deviation(2, 1, 2, 0)));
    CHECK(isnan(shoal_black_deviation(2, 1, NAN, 0)) && isnan(shoal_black_deviation(0, 1, 1, 1)));
}

/* The program asks these flags, not the names. */
TEST(methods_have_their_flags) {
    const struct {
        const char *module, *method;
        unsigned flags;
    } rows[] = { { "heston", "euler", SHOAL_CAN_WALK | SHOAL_CAN_EULER | SHOAL_CAN_MIRROR },
                 { "heston", "exact", SHOAL_CAN_WALK | SHOAL_CAN_MIRROR },
                 { "heston", "conditional", SHOAL_CAN_WALK },
                 { "heston", "analytic", 0 },
                 { "expou", "euler", SHOAL_CAN_WALK | SHOAL_CAN_EULER | SHOAL_CAN_MIRROR },
                 { "expou", "conditional", SHOAL_CAN_WALK | SHOAL_CAN_MIRROR },
                 { "bullet", "mc", SHOAL_CAN_WALK | SHOAL_CAN_MIRROR },
                 { "bullet", "grid", SHOAL_CAN_WALK | SHOAL_CAN_MIRROR | SHOAL_CAN_POINTS },
                 { "bullet", "nested",
                   SHOAL_CAN_WALK | SHOAL_CAN_MIRROR | SHOAL_CAN_POINTS | SHOAL_CAN_NEST },
                 { "bullet", "quad", 0 },
                 { "bullet", "pde", SHOAL_CAN_SURFACE },
                 { "american", "lsm", SHOAL_CAN_WALK },
                 { "american", "dual", SHOAL_CAN_WALK | SHOAL_CAN_NEST },
                 { "american", "exact", 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_MSG(shoal_method_flags(rows[i].module, rows[i].method, NULL) == rows[i].flags,
                  "%s of %s", rows[i].method, rows[i].module);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(models_are_checked);
    RUN(numbers_of_models_have_limits);
    RUN(options_are_checked);
    RUN(runs_are_checked);
    RUN(values_of_totals);
    RUN(nothing_to_price);
    RUN(black_and_its_inverse);
    RUN(methods_have_their_flags);
    close_targets();
    return TEST_END();
}
