/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pde.c - bullet options by PDE: against quadrature at the defaults, orders in nx and time, float beside
 * double, both solvers, the paper's own boundary and jump, one interval alone, many options at once, the same bits on every backend.
 */
#include "pde_runs.h"

static const shoal_bullet_point points[] = {
    { 0, 0, 100 }, { 0, 0, 130 }, { 50, 20, 100 }, { 50, 45, 120 }
};
static const double known[] = { 4.824199943, 5.9274461903, 1.9193125522, 11.4200129681 };

TEST(known_prices) {
    if (small) SKIP("takes a large grid");
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_bullet m = shoal_bullet_example();
    const shoal_price_opts o = pde_opts("thomas", 0, 0, 0);
    shoal_price_value v[4];
    CHECK(price(ctx, &m, &o, points, 4, v) == SHOAL_OK);
    for (int i = 0; i < 4; i++)
        CHECK_MSG(fabs(v[i].price - known[i]) < 1e-3, "point %d: %.6f", i, v[i].price);
    CHECK_MSG(fabs(v[0].delta - 0.5829151825) < 2e-4, "delta %g", v[0].delta);
    CHECK_MSG(fabs(v[0].gamma - 0.0417830379) < 2e-5, "gamma %g", v[0].gamma);
}

/* A tenth to a half of the dates below, as in the paper; of one date, that one. */
static shoal_bullet with_dates(int64_t dates) {
    shoal_bullet m = shoal_bullet_example();
    m.dates = dates, m.p1 = (dates + 9) / 10, m.p2 = dates < 4 ? 1 : dates / 2;
    return m;
}

/* Few dates are long intervals, many dates many jumps: 1e-3 at the defaults for both, next to the
 * barrier too, and derivatives without waves. */
TEST(defaults_against_quadrature) {
    if (small) SKIP("takes a large grid");
    static const int64_t dates[] = { 1, 2, 3, 10, 20, 50, 100 };
    shoal_context *ctx = targets[target_count - 1].ctx;
    enum { MANY = 50 };
    for (size_t d = 0; d < sizeof dates / sizeof *dates; d++) {
        const shoal_bullet m = with_dates(dates[d]);
        const shoal_price_opts o = { .method = "pde", .greeks = 1 };
        shoal_bullet_point at[MANY];
        shoal_price_value truth[MANY], v[MANY];
        for (int i = 0; i < MANY; i++) at[i] = (shoal_bullet_point){ 0, 0, i ? 70 + 2 * i : 119 };
        CHECK(price(ctx, &m, &quad, at, MANY, truth) == SHOAL_OK);
        CHECK(price(ctx, &m, &o, at, MANY, v) == SHOAL_OK);
        CHECK_MSG(dates[d] > 1 || fabs(truth[0].price - 2.542) < 1e-3, "%g", truth[0].price);
        for (int i = 0; i < MANY; i++) {
            CHECK_MSG(fabs(v[i].price - truth[i].price) < 1e-3, "%d dates, x %g: %g, not %g",
                      (int)dates[d], at[i].x, v[i].price, truth[i].price);
            CHECK_MSG(fabs(v[i].delta - truth[i].delta) < 1e-3, "%d dates, x %g: delta %g, not %g",
                      (int)dates[d], at[i].x, v[i].delta, truth[i].delta);
            CHECK_MSG(fabs(v[i].gamma - truth[i].gamma) < 2e-3, "%d dates, x %g: gamma %g, not %g",
                      (int)dates[d], at[i].x, v[i].gamma, truth[i].gamma);
        }
    }
}

/* Wherever the barrier lies among the nodes: with steps so short that their error is nothing. */
TEST(second_order_in_nx) {
    if (small) SKIP("takes a large grid");
    shoal_context *ctx = targets[target_count - 1].ctx;
    static const double barriers[] = { 120, 121, 117.4 };
    for (int b = 0; b < 3; b++) {
        shoal_bullet m = figure_2('A');
        shoal_price_value truth, v;
        double last = 0;
        m.barrier = barriers[b];
        CHECK(price(ctx, &m, &quad, NULL, 1, &truth) == SHOAL_OK);
        for (int64_t nx = 129; nx <= 1025; nx = 2 * nx - 1) {
            const shoal_price_opts o = pde_opts("thomas", nx, 200, 0);
            CHECK(price(ctx, &m, &o, NULL, 1, &v) == SHOAL_OK);
            const double error = fabs(v.price - truth.price), order = log2(last / error);
            if (last > 0)
                CHECK_MSG(order > 1.8 && order < 2.2, "B %g, nx %d: %g after %g, order %g",
                          m.barrier, (int)nx, error, last, order);
            last = error;
        }
    }
}

/* In time, on one grid: against very short steps. */
TEST(second_order_in_time) {
    if (small) SKIP("takes a large grid");
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_bullet m = figure_2('A');
    const shoal_price_opts fine = pde_opts("thomas", 513, 1600, 0);
    shoal_price_value limit, v;
    double last = 0;
    CHECK(price(ctx, &m, &fine, NULL, 1, &limit) == SHOAL_OK);
    for (int64_t steps = 20; steps <= 160; steps *= 2) {
        const shoal_price_opts o = pde_opts("thomas", 513, steps, 0);
        CHECK(price(ctx, &m, &o, NULL, 1, &v) == SHOAL_OK);
        const double error = fabs(v.price - limit.price), order = log2(last / error);
        if (last > 0)
            CHECK_MSG(order > 1.8 && order < 2.2, "%d steps: %g after %g, order %g", (int)steps,
                      error, last, order);
        last = error;
    }
}

/* Increments in float stay near those in double, on fine grids too. */
TEST(float_keeps_up) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_bullet m = figure_2('A');
    for (int64_t nx = 129; nx <= (small ? 129 : 4097); nx = 2 * nx - 1)
        for (int solver = 0; solver < 2; solver++) {
            shoal_price_opts o = pde_opts(solver ? "thomas" : "pcr", nx, small ? 4 : 0, 0);
            shoal_price_value v, w;
            CHECK(price(ctx, &m, &o, NULL, 1, &v) == SHOAL_OK);
            o.type = SHOAL_F32;
            CHECK(price(ctx, &m, &o, NULL, 1, &w) == SHOAL_OK);
            CHECK_MSG(fabs(v.price - w.price) < 2e-4, "nx %d, %s: %.7f, in double %.7f", (int)nx,
                      o.variant, w.price, v.price);
        }
}

/* The sharp jump is of first order, and the boundary 2 K wrong where it can be felt. */
TEST(as_printed) {
    if (small) SKIP("takes a large grid");
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_bullet m = shoal_bullet_example();
    static const double off[3] = { -0.095, -0.003, 0.043 };
    for (int i = 0; i < 3; i++) {
        const shoal_price_opts o = pde_opts("thomas", i == 0 ? 257 : i == 1 ? 513 : 1025, 10, 1);
        shoal_price_value v;
        CHECK(price(ctx, &m, &o, NULL, 1, &v) == SHOAL_OK);
        CHECK_MSG(fabs(v.price - known[0] - off[i]) < 5e-4, "%d: off by %g", i, v.price - known[0]);
    }
    const shoal_bullet_point far = { 0, 0, 200 };
    const shoal_price_opts printed = pde_opts("thomas", 513, 10, 1),
                           ours = pde_opts("thomas", 513, 10, 0);
    shoal_price_value v;
    CHECK(price(ctx, &m, &printed, &far, 1, &v) == SHOAL_OK);
    CHECK_MSG(fabs(v.price - 16.3) < 0.3, "%g", v.price);
    CHECK(price(ctx, &m, &ours, &far, 1, &v) == SHOAL_OK);
    CHECK_MSG(fabs(v.price - 0.017) < 2e-3, "%g", v.price);
}

/* Every convention, at many points, by the defaults. In small runs cells are 8 times as wide, which makes up to
 * 64 times the error. */
TEST(figure_2_against_quadrature) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    enum { MANY = 45 };
    for (char count = 'A'; count <= 'F'; count++) {
        const shoal_bullet m = figure_2(count);
        const shoal_price_opts o = pde_opts("pcr", small ? 129 : 0, small ? 8 : 0, 0);
        shoal_bullet_point at[MANY];
        shoal_price_value truth[MANY], v[MANY];
        for (int i = 0; i < MANY; i++) at[i] = (shoal_bullet_point){ i % 10, i % 9, 75 + 1.2 * i };
        CHECK(price(ctx, &m, &quad, at, MANY, truth) == SHOAL_OK);
        CHECK(price(ctx, &m, &o, at, MANY, v) == SHOAL_OK);
        for (int i = 0; i < MANY; i++)
            CHECK_MSG(fabs(v[i].price - truth[i].price) < (small ? 6e-2 : 1e-3),
                      "%c, k %d, x %g, j %d: %g, not %g", count, (int)at[i].k, at[i].x,
                      (int)at[i].j, v[i].price, truth[i].price);
    }
}

/* Question 2: on [T_M, T) alone, where nothing is counted, it is Black and Scholes or nothing. */
TEST(the_last_interval) {
    for (int t = 0; t < target_count; t++)
        for (char count = 'E'; count <= 'F'; count++) {
            const shoal_bullet m = figure_2(count);
            const shoal_price_opts o = pde_opts("thomas", small ? 129 : 1025, 20, 0);
            const shoal_bullet_point at[] = {
                { 10, 3, 95 }, { 10, 6, 104 }, { 10, 2, 125 }, { 10, 9, 110 }
            };
            shoal_price_value v[4];
            const double tau = 1.0 / 11;
            CHECK(price(targets[t].ctx, &m, &o, at, 4, v) == SHOAL_OK);
            for (int i = 0; i < 2; i++) {
                const double truth = exp(-0.1 * tau) *
                                     shoal_black(at[i].x * exp(0.1 * tau), 100, 0.2 * sqrt(tau), 0);
                CHECK_MSG(fabs(v[i].price - truth) < (small ? 3e-2 : 5e-4), "%c: %g, not %g", count,
                          v[i].price, truth);
            }
            /* F counts T_10 for j on top: 125 is not below the barrier, 110 is */
            CHECK(v[2].price == 0 && v[3].price == 0);
        }
}

/* But for rounding: prices up to 200, about 40 systems, half an ulp each, make 1e-12. Levels of pcr that are left
 * out too early make more. */
TEST(solvers_agree) {
    enum { MANY = 40 };
    for (int t = 0; t < target_count; t++)
        for (int far = 0; far < 2; far++)
            for (int64_t nx = 65; nx <= (small ? 65 : 257); nx = 4 * nx - 3) {
                shoal_bullet m = figure_2('A');
                const shoal_price_opts one = pde_opts("pcr", nx, 3, 0),
                                       two = pde_opts("thomas", nx, 3, 0);
                shoal_bullet_point at[MANY];
                shoal_price_value v[MANY], w[MANY];
                m.barrier = far ? 290 : 120; /* inside, next to 3 K */
                for (int i = 0; i < MANY; i++)
                    at[i] = (shoal_bullet_point){ 0, 5, 40 * pow(1.05, i) };
                CHECK(price(targets[t].ctx, &m, &one, at, MANY, v) == SHOAL_OK);
                CHECK(price(targets[t].ctx, &m, &two, at, MANY, w) == SHOAL_OK);
                for (int i = 0; i < MANY; i++)
                    CHECK_MSG(fabs(v[i].price - w[i].price) < 1e-12, "nx %d: %.15g and %.15g",
                              (int)nx, v[i].price, w[i].price);
            }
}

TEST(upper_ends) {
    if (small) SKIP("takes a large grid");
    check_upper_ends();
}

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static void value_refuses(shoal_context *ctx, const shoal_pde *plan, const double *values) {
    const shoal_bullet_point at = { 0, 0, 100 }, past = { 99, 0, 100 }, below = { 0, 0, -1 };
    shoal_price_value v;
    CHECK(shoal_pde_value(NULL, 0, &at, values, &v) == SHOAL_E_ARG);
    CHECK_SAYS(ctx, shoal_pde_value(plan, -1, &at, values, &v), SHOAL_E_ARG, "option is -1");
    CHECK_SAYS(ctx, shoal_pde_value(plan, 0, NULL, values, &v), SHOAL_E_ARG, "at is NULL");
    CHECK_SAYS(ctx, shoal_pde_value(plan, 0, &at, NULL, &v), SHOAL_E_ARG, "values is NULL");
    CHECK_SAYS(ctx, shoal_pde_value(plan, 0, &at, values, NULL), SHOAL_E_ARG, "value is NULL");
    CHECK_SAYS(ctx, shoal_pde_value(plan, 0, &past, values, &v), SHOAL_E_ARG, "at is k 99");
    CHECK_SAYS(ctx, shoal_pde_value(plan, 0, &below, values, &v), SHOAL_E_ARG, "x -1");
}

/* Many options in one plan: each what it is alone, and the same bits everywhere. */
TEST(many_options) {
    enum { OPTIONS = 5, NX = 33, STEPS = 2 };
    shoal_bullet all[OPTIONS];
    for (int i = 0; i < OPTIONS; i++) {
        all[i] = figure_2('A');
        all[i].barrier = 90 + 10 * i, all[i].p2 = 4 + i,
        all[i].sigma = i < 2 ? 0.2 : 0.15 + 0.02 * i;
        all[i].strike = 100 - 3 * i;
        all[i].maturity = i == 1 || i == 4 ? 2 : 1, all[i].rate = i == 3 ? 0.05 : 0.1;
    }
    for (int type = 0; type < 2; type++)
        for (int solver = 0; solver < 2; solver++) {
            const shoal_pde_opts o = { .variant = solver ? "thomas" : "pcr",
                                       .nx = NX,
                                       .type = type ? SHOAL_F32 : SHOAL_F64,
                                       .steps_per_date = STEPS };
            const size_t size = type ? sizeof(float) : sizeof(double);
            void *first = NULL;
            for (int t = -1; t < target_count; t++) { /* -1: one thread */
                shoal_context *ctx = t < 0 ? NULL : targets[t].ctx;
                shoal_pde *plan = NULL;
                shoal_pde_shape shape;
                void *today = NULL, *surface = NULL;
                if (t < 0)
                    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &ctx) ==
                          SHOAL_OK);
                CHECK(shoal_pde_create(ctx, all, OPTIONS, &o, &plan) == SHOAL_OK);
                CHECK(shoal_pde_describe(plan, &shape) == SHOAL_OK);
                CHECK(shape.options == OPTIONS && shape.dates == 10 && shape.counts == 9 &&
                      shape.nx == NX);
                const size_t layer = (size_t)(shape.counts * NX) * size, bytes = layer * OPTIONS;
                CHECK(shoal_alloc(ctx, bytes, &today) == SHOAL_OK);
                CHECK(shoal_alloc(ctx, bytes * 11, &surface) == SHOAL_OK);
                CHECK((type ? shoal_pde_runf(plan, today, surface)
                            : shoal_pde_run(plan, today, surface)) == SHOAL_OK);
                char *host = new_array(bytes * 12, 1);
                CHECK(shoal_copy(ctx, host, today, bytes) == SHOAL_OK);
                CHECK(shoal_copy(ctx, host + bytes, surface, bytes * 11) == SHOAL_OK);
                for (int i = 0; i < OPTIONS; i++) /* T_0 of the surface is today */
                    CHECK(memcmp(host + (size_t)i * layer, host + bytes + (size_t)i * 11 * layer,
                                 layer) == 0);
                if (first)
                    CHECK_MSG(memcmp(first, host, bytes * 12) == 0, "%s, type %d, on %s", o.variant,
                              type, targets[t].backend);
                for (int i = 0; t == target_count - 1 && !type && i < OPTIONS; i++) { /* alone */
                    const shoal_price_opts alone = pde_opts(o.variant, NX, STEPS, 0);
                    const shoal_bullet_point at = { 0, 0, 100 };
                    shoal_price_value v, w;
                    CHECK(price(ctx, &all[i], &alone, &at, 1, &v) == SHOAL_OK);
                    CHECK(shoal_pde_value(plan, i, &at, (double *)host + i * shape.counts * NX,
                                          &w) == SHOAL_OK);
                    CHECK_MSG(v.price == w.price && v.delta == w.delta, "%d: %.17g, alone %.17g", i,
                              w.price, v.price);
                }
                if (t == target_count - 1 && !type) value_refuses(ctx, plan, (double *)host);
                if (!first)
                    first = host;
                else
                    free(host);
                shoal_free(ctx, today);
                shoal_free(ctx, surface);
                shoal_pde_free(plan);
                if (t < 0) shoal_close(ctx);
            }
            free(first);
        }
}

TEST(arguments_are_checked) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_bullet m = figure_2('A'), two[2] = { figure_2('A'), figure_2('B') };
        shoal_pde_opts o = { .nx = 4 };
        shoal_pde *plan = NULL;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "nx is 4");
        o = (shoal_pde_opts){ .steps_per_date = -1 };
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG,
                   "steps_per_date is -1");
        o = (shoal_pde_opts){ .variant = "magic" };
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_METHOD, "pcr, thomas");
        o = (shoal_pde_opts){ .nx = 9 };
        CHECK_SAYS(ctx, shoal_pde_create(ctx, two, 2, &o, &plan), SHOAL_E_ARG,
                   "those of the first");
        m.strike = 0;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "strike is 0");
        m = figure_2('A'), m.sigma = 0;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "sigma is 0");
        m = figure_2('A'), m.maturity = 0;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "maturity is 0");
        const struct {
            double strike, maturity, sigma;
            const char *words;
        } limits[] = { { 1e100, 1, 0.2, NULL },   { 1.001e100, 1, 0.2, "strike is 1.001e+100" },
                       { 100, 1e6, 0.008, NULL }, { 100, 1.001e6, 0.007, "maturity is 1.001e+06" },
                       { 100, 6e-5, 1e3, NULL },  { 100, 6e-5, 1.001e3, "sigma is 1001" } };
        for (int i = 0; i < 6; i++) {
            m = figure_2('A'), m.rate = 0;
            m.strike = limits[i].strike, m.maturity = limits[i].maturity, m.sigma = limits[i].sigma;
            const shoal_status s = shoal_pde_create(ctx, &m, 1, &o, &plan);
            if (limits[i].words)
                CHECK_SAYS(ctx, s, SHOAL_E_ARG, limits[i].words);
            else
                CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
            shoal_pde_free(plan);
        }
        m = figure_2('A'), m.p2 = 5000;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "p2 is 5000");
        m = figure_2('A'), m.maturity = 1600; /* 0.2 sqrt(T) = 8, which is allowed; r T is not */
        m.rate = 0.376;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "rate 0.376");
        m.rate = 0.01, m.maturity = 1610;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "sigma 0.2 is too");
        m = figure_2('A'), m.barrier = NAN;
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "barrier is nan");
        m = figure_2('A'), m.count = 'G';
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, 1, &o, &plan), SHOAL_E_ARG, "count is 71");
        m = figure_2('A');
        CHECK_SAYS(ctx, shoal_pde_create(ctx, NULL, 1, &o, &plan), SHOAL_E_ARG, "options");
        CHECK_SAYS(ctx, shoal_pde_create(ctx, &m, -1, &o, &plan), SHOAL_E_ARG, "count is -1");
        CHECK(plan == NULL);
        const shoal_price_opts p = pde_opts("pcr", 9, 1, 0);
        const shoal_bullet_point far = { 0, 0, 1000 };
        shoal_price_value v;
        CHECK_SAYS(ctx, price(ctx, &m, &p, &far, 1, &v), SHOAL_E_ARG, "x is 1000");
        CHECK(shoal_pde_create(ctx, &m, 1, &o, &plan) == SHOAL_OK);
        float x;
        CHECK_SAYS(ctx, shoal_pde_runf(plan, &x, NULL), SHOAL_E_TYPE, "double");
        CHECK(shoal_pde_run(plan, NULL, NULL) == SHOAL_OK && shoal_wait(ctx) == SHOAL_OK);
        shoal_pde_free(plan);
        CHECK(shoal_pde_create(ctx, NULL, 0, &o, &plan) == SHOAL_OK);
        CHECK(shoal_pde_run(plan, NULL, NULL) == SHOAL_OK && isnan(shoal_pde_log(plan, 0, 0)));
        shoal_pde_free(plan);
        /* P1 > P2 and B = 0 */
        m.p1 = 5, m.p2 = 4;
        CHECK(price(ctx, &m, &p, NULL, 1, &v) == SHOAL_OK && v.price == 0);
        m.p1 = 1, m.p2 = 8, m.barrier = 0;
        CHECK(price(ctx, &m, &p, NULL, 1, &v) == SHOAL_OK && v.price == 0);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(known_prices);
    RUN(defaults_against_quadrature);
    RUN(second_order_in_nx);
    RUN(second_order_in_time);
    RUN(float_keeps_up);
    RUN(as_printed);
    RUN(figure_2_against_quadrature);
    RUN(the_last_interval);
    RUN(solvers_agree);
    RUN(upper_ends);
    RUN(many_options);
    RUN(arguments_are_checked);
    close_targets();
    return TEST_END();
}
