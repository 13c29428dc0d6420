/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bullet.c - bullet options: quadrature against known prices, simulations against quadrature, the
 * same bits for any number of threads, pieces and backends, and options at the edge.
 */
#include "pricing_pieces.h"
#include <math.h>

/* Prices of `count` points, samples in pieces of units. */
static shoal_status price_in_pieces(shoal_context *ctx, const shoal_bullet *m,
                                    const shoal_price_opts *o, const shoal_bullet_point *points,
                                    int64_t count, int64_t samples, int64_t units,
                                    shoal_price_value *values) {
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_bullet(ctx, m, o, points, count, &plan);
    return s == SHOAL_OK ? run_in_pieces(ctx, plan, samples, units, values) : s;
}

static shoal_status price(shoal_context *ctx, const shoal_bullet *m, const shoal_price_opts *o,
                          const shoal_bullet_point *points, int64_t count, int64_t samples,
                          shoal_price_value *values) {
    return price_in_pieces(ctx, m, o, points, count, samples, units_of(samples), values);
}

static const shoal_price_opts quad = { .method = "quad", .greeks = 1 };
static const shoal_bullet_point known_points[] = { { 0, 0, 130 },
                                                   { 50, 20, 100 },
                                                   { 50, 45, 120 } };

TEST(quadrature_meets_known_prices) {
    static const struct {
        char count;
        double price;
    } known[] = {
        { 'A', 4.824199943 }, { 'B', 4.694951170 }, { 'D', 4.687406985 }, { 'F', 4.620518168 }
    };
    static const double at_points[2][3] = { { 5.9274461903, 1.9193125522, 11.4200129681 },
                                            { 5.9247643512, 1.7884079456, 11.4526037114 } };
    shoal_context *ctx = targets[0].ctx;
    shoal_bullet m = shoal_bullet_example();
    shoal_price_value v[3];
    for (int i = 0; i < (small ? 1 : 4); i++) {
        m.count = known[i].count;
        CHECK(price(ctx, &m, &quad, NULL, 1, 0, v) == SHOAL_OK);
        CHECK_MSG(fabs(v->price - known[i].price) < 1e-9, "%c: %.11f", m.count, v->price);
        if (m.count != 'A') continue;
        CHECK_MSG(fabs(v->delta - 0.5829151825) < 1e-9, "delta %.11f", v->delta);
        CHECK_MSG(fabs(v->gamma - 0.0417830379) < 1e-9, "gamma %.11f", v->gamma);
        CHECK(isnan(v->vega) && isnan(v->implied_vol) && v->error == 0);
    }
    for (int b = 0; b < (small ? 0 : 2); b++) {
        m.count = b ? 'B' : 'A';
        CHECK(price(ctx, &m, &quad, known_points, 3, 0, v) == SHOAL_OK);
        for (int i = 0; i < 3; i++)
            CHECK_MSG(fabs(v[i].price - at_points[b][i]) < 1e-9, "%c, point %d: %.11f", m.count, i,
                      v[i].price);
    }
    m = shoal_bullet_example();
    m.barrier = 0, m.p1 = m.p2 = 0; /* Black and Scholes */
    CHECK(price(ctx, &m, &quad, NULL, 1, 0, v) == SHOAL_OK);
    CHECK_MSG(fabs(v->price - 13.2696765847) < 1e-9, "%.11f", v->price);
    CHECK_MSG(fabs(v->delta - 0.72574688225) < 1e-10, "delta %.12f", v->delta);
    m.sigma = 0.05, m.rate = 1; /* a drift of 20 deviations */
    CHECK(price(ctx, &m, &quad, NULL, 1, 0, v) == SHOAL_OK);
    CHECK_MSG(fabs(v->price - (100 - 100 * exp(-1))) < 1e-9, "%.11f", v->price);
}

/* A few dates, so that quadrature takes no time. */
static shoal_bullet short_option(char count) {
    shoal_bullet m = shoal_bullet_example();
    m.dates = 10, m.p1 = 3, m.p2 = 8, m.count = count;
    return m;
}

static const shoal_bullet_point few[] = {
    { 0, 0, 100 }, { 3, 2, 118 }, { 7, 3, 95 }, { 10, 8, 104 }
}; /* at the last one a count more, if that date has one, is too many */
enum { FEW = sizeof few / sizeof *few };

TEST(simulations_meet_quadrature) {
    const int64_t samples = small ? 1024 : 65536;
    shoal_context *ctx = targets[target_count - 1].ctx;
    for (char count = 'A'; count <= 'F'; count++)
        for (int way = 0; way < 4; way++) {
            const shoal_bullet m = short_option(count);
            const shoal_price_opts o = { .method = "grid",
                                         .seed = 7,
                                         .greeks = 1,
                                         .type = way & 1 ? SHOAL_F32 : SHOAL_F64,
                                         .math = way & 1 ? SHOAL_FAST : SHOAL_EXACT,
                                         .antithetic = way / 2,
                                         .control = way / 2 };
            shoal_price_value truth[FEW], v[FEW];
            CHECK(price(ctx, &m, &quad, few, FEW, 0, truth) == SHOAL_OK);
            CHECK(price(ctx, &m, &o, few, FEW, samples, v) == SHOAL_OK);
            for (int i = 0; i < FEW; i++) {
                CHECK_MSG(fabs(v[i].price - truth[i].price) <= 4 * v[i].error + 1e-12,
                          "%c, point %d: %g +- %g, not %g", count, i, v[i].price, v[i].error,
                          truth[i].price);
                /* differences over a twentieth of the deviation are off by their own curvature */
                CHECK_MSG(fabs(v[i].delta - truth[i].delta) <= 4 * v[i].delta_error + 0.01,
                          "%c, point %d: delta %g +- %g, not %g", count, i, v[i].delta,
                          v[i].delta_error, truth[i].delta);
                CHECK_MSG(fabs(v[i].gamma - truth[i].gamma) <= 4.5 * v[i].gamma_error + 0.005,
                          "%c, point %d: gamma %g +- %g, not %g", count, i, v[i].gamma,
                          v[i].gamma_error, truth[i].gamma);
            }
        }
}

/* Every number of dates: the last ones are a part of a block of normal numbers. Without a condition, the price is Black
 * and Scholes's. */
TEST(any_number_of_dates) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    shoal_bullet m = shoal_bullet_example();
    m.barrier = 0, m.p1 = m.p2 = 0;
    for (int way = 0; way < 3; way++)
        for (m.dates = 1; m.dates <= 4; m.dates++) {
            const shoal_price_opts o = { .method = "grid",
                                         .seed = 7,
                                         .type = way ? SHOAL_F32 : SHOAL_F64,
                                         .math = way == 2 ? SHOAL_FAST : SHOAL_EXACT };
            shoal_price_value truth, v;
            CHECK(price(ctx, &m, &quad, NULL, 1, 0, &truth) == SHOAL_OK);
            CHECK(price(ctx, &m, &o, NULL, 1, 16384, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.price - truth.price) <= 4 * v.error && v.error < 0.015 * truth.price,
                      "%d dates: %g +- %g, not %g", (int)m.dates, v.price, v.error, truth.price);
        }
}

/* The option of the paper, all of its dates; at the last point one of two dates must be below, just there. */
TEST(a_hundred_dates) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_bullet m = shoal_bullet_example();
    const shoal_bullet_point at[] = {
        { 0, 0, 100 }, { 50, 20, 100 }, { 50, 45, 120 }, { 98, 9, 121 }
    };
    shoal_price_value truth[4], v[4];
    if (small) SKIP("takes many paths");
    CHECK(price(ctx, &m, &quad, at, 4, 0, truth) == SHOAL_OK);
    for (int way = 0; way < 3; way++) {
        const shoal_price_opts o = { .method = "grid",
                                     .seed = 12,
                                     .greeks = way < 2,
                                     .type = way ? SHOAL_F32 : SHOAL_F64,
                                     .antithetic = way == 2,
                                     .control = way == 2 };
        CHECK(price(ctx, &m, &o, at, 4, 65536, v) == SHOAL_OK);
        for (int i = 0; i < 4; i++) {
            CHECK_MSG(fabs(v[i].price - truth[i].price) <= 4 * v[i].error,
                      "way %d, point %d: %g +- %g, not %g", way, i, v[i].price, v[i].error,
                      truth[i].price);
            CHECK_MSG(way == 2 || fabs(v[i].delta - truth[i].delta) <= 4 * v[i].delta_error + 0.01,
                      "way %d, point %d: delta %g +- %g, not %g", way, i, v[i].delta,
                      v[i].delta_error, truth[i].delta);
        }
    }
}

static double uniform(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* The differences that delta and gamma are, by quadrature: the count of x (1 +- h) is that of x. */
static void differences(shoal_context *ctx, const shoal_bullet *m, const shoal_bullet_point *at,
                        double h, double *delta, double *gamma) {
    const int counts = m->count == 'B' || m->count == 'D' || m->count == 'F';
    shoal_price_value v[3];
    shoal_bullet_point points[3];
    for (int i = 0; i < 3; i++) {
        points[i] = *at;
        points[i].x = at->x * (1 + (i - 1) * h);
        points[i].j += counts * ((at->x < m->barrier) - (points[i].x < m->barrier));
    }
    CHECK(price(ctx, m, &(shoal_price_opts){ .method = "quad" }, points, 3, 0, v) == SHOAL_OK);
    *delta = (v[2].price - v[0].price) / (2 * h * at->x);
    *gamma = (v[2].price - 2 * v[1].price + v[0].price) / (h * at->x * h * at->x);
}

/* Random options, from spots on both sides of the barrier and on it: differences are those by
 * quadrature over the same bump, and the bump by default is narrow enough for the derivatives. */
TEST(greeks_next_to_the_barrier) {
    shoal_context *ctx = targets[target_count - 1].ctx;
    uint64_t state = 9;
    int crossed = 0;
    for (int i = 0; i < (small ? 6 : 120); i++) {
        shoal_bullet m = shoal_bullet_example();
        m.count = (char)('A' + i % 6), m.dates = 2 + (int64_t)(uniform(&state) * 9);
        m.sigma = 0.1 + 0.4 * uniform(&state), m.rate = 0.1 * uniform(&state);
        m.p1 = 1 + (int64_t)(uniform(&state) * (double)m.dates / 2);
        m.p2 = m.p1 + (int64_t)(uniform(&state) * (double)m.dates / 2);
        if (!small && i % 20 == 19) m.dates = 150, m.p2 = m.p1 + 2; /* steps narrower than usual */
        const int64_t intervals = m.dates + (m.count >= 'E');
        const double step = m.sigma * sqrt(m.maturity / (double)intervals);
        const double away = i % 8 ? (2 * uniform(&state) - 1) * 0.2 * step : 0;
        const shoal_bullet_point at = { 0, 1, i % 8 ? m.barrier * exp(away) : m.barrier };
        const double bump = 0.01 + 0.04 * uniform(&state);
        const double usual = fmin(0.05 * m.sigma, fmax(0.5 * step, 0.1 * fabs(away)));
        crossed += fabs(away) < usual;
        shoal_price_value truth, v;
        CHECK(price(ctx, &m, &quad, &at, 1, 0, &truth) == SHOAL_OK);
        for (int given = 0; given < 2; given++) {
            const shoal_price_opts o = {
                .method = "grid", .seed = (uint64_t)i, .greeks = 1, .bump = given ? bump : 0
            };
            double delta, gamma;
            differences(ctx, &m, &at, given ? bump : usual, &delta, &gamma);
            CHECK(price(ctx, &m, &o, &at, 1, small ? 1024 : 16384, &v) == SHOAL_OK);
            CHECK_MSG(fabs(v.delta - delta) <= 4.5 * v.delta_error + 1e-9,
                      "%d, %c, x %g: delta %g +- %g, not %g", i, m.count, at.x, v.delta,
                      v.delta_error, delta);
            CHECK_MSG(fabs(v.gamma - gamma) <= 4.5 * v.gamma_error + 1e-6,
                      "%d, %c, x %g: gamma %g +- %g, not %g", i, m.count, at.x, v.gamma,
                      v.gamma_error, gamma);
            /* (h / step)^2 / 6 of what a jump of the price makes at most, within a step */
            const double share = usual / step * usual / step / 6;
            CHECK_MSG(given || fabs(delta - truth.delta) <= share * 0.4 / step,
                      "%d, %c, x %g: differences %g, delta %g", i, m.count, at.x, delta,
                      truth.delta);
        }
    }
    CHECK(crossed > 0);
}

TEST(probability_of_the_condition) {
    static const struct {
        char count;
        double probability;
    } known[] = {
        { 'A', 0.1227642329 }, { 'B', 0.1190729792 }, { 'D', 0.1184623120 }, { 'F', 0.1168152842 }
    };
    shoal_context *ctx = targets[target_count - 1].ctx;
    shoal_bullet m = shoal_bullet_example();
    shoal_price_value v, truth;
    for (int i = 0; i < (small ? 1 : 4); i++) {
        const shoal_price_opts q = { .method = "quad", .probability = 1 };
        m.count = known[i].count;
        CHECK(price(ctx, &m, &q, NULL, 1, 0, &v) == SHOAL_OK);
        CHECK_MSG(fabs(v.price - known[i].probability) < 1e-9, "%c: %.12f", m.count, v.price);
    }
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            const shoal_bullet few_dates = short_option('B');
            shoal_price_opts o = { .method = "quad", .probability = 1 };
            CHECK(price(targets[t].ctx, &few_dates, &o, NULL, 1, 0, &truth) == SHOAL_OK);
            o.method = "mc", o.seed = 4, o.type = type ? SHOAL_F32 : SHOAL_F64;
            CHECK(price(targets[t].ctx, &few_dates, &o, NULL, 1, small ? 1024 : 16384, &v) ==
                  SHOAL_OK);
            CHECK_MSG(fabs(v.price - truth.price) < 4 * v.error && v.error > 0, "%g +- %g, not %g",
                      v.price, v.error, truth.price);
        }
    const shoal_bullet sure = { 100, 100, .1, 0, .2, 120, 4, 0, 4, 'A' }; /* T = 0 */
    const shoal_price_opts q = { .method = "quad", .probability = 1 };
    CHECK(price(ctx, &sure, &q, NULL, 1, 0, &v) == SHOAL_OK && v.price == 1);
}

/* The outer trajectories walk as they should: their points are where a price can be had, and the mean
 * of the discounted values along the dates is the price today. */
static void check_trajectories(char count) {
    const shoal_bullet m = short_option(count);
    const int first = count == 'A', last = 9 + first; /* dates that are counted */
    const int64_t outer = small ? 20 : 400, points = outer * 11;
    shoal_context *ctx = targets[target_count - 1].ctx;
    const shoal_price_opts o = { .method = "nested", .seed = 21 };
    shoal_price *plan = NULL;
    shoal_price_value *v = new_array((size_t)points, sizeof *v), today;
    CHECK(price(ctx, &m, &quad, NULL, 1, 0, &today) == SHOAL_OK);
    CHECK(shoal_price_bullet(ctx, &m, &o, NULL, outer, &plan) == SHOAL_OK);
    const shoal_bullet_point *at = shoal_price_points(plan);
    shoal_price_info info;
    CHECK(shoal_price_describe(plan, &info) == SHOAL_OK && info.contracts == points);
    for (int64_t t = 0; t < outer; t++)
        for (int k = 0; k < 11; k++) {
            const shoal_bullet_point *p = &at[t * 11 + k];
            int64_t counted = 0; /* B counts T_0, but at each date those before it alone */
            for (int i = first; i <= last && i < k + first; i++)
                counted += at[t * 11 + i].x < m.barrier;
            CHECK_MSG(p->k == k && p->j == counted, "%c, k %d: j %d", count, k, (int)p->j);
        }
    CHECK(price(ctx, &m, &quad, at, points, 0, v) == SHOAL_OK);
    int64_t steps = 0; /* of the points whose value is not known to be 0 */
    for (int64_t i = 0; i < points; i++) {
        const int now =
            first == 0 && at[i].k <= last && at[i].x < m.barrier; /* counts from here on */
        const int64_t least = at[i].j + now, dates_left = at[i].k < last ? last - at[i].k : 0;
        if (least <= m.p2 && least + dates_left >= m.p1) steps += 10 - at[i].k;
    }
    CHECK_MSG(info.steps == steps && steps < 10 * points / 2, "%lld steps, not %lld",
              (long long)info.steps, (long long)steps);
    for (int k = 1; k < 11; k += 3) {
        double sum = 0, squares = 0;
        for (int64_t t = 0; t < outer; t++) {
            const double x = exp(-m.rate * 0.1 * k) * v[t * 11 + k].price;
            sum += x, squares += x * x;
        }
        const double n = (double)outer, mean = sum / n;
        const double error = sqrt((squares / n - mean * mean) / n);
        CHECK_MSG(fabs(mean - today.price) < 4 * error, "date %d: %g +- %g, not %g", k, mean, error,
                  today.price);
    }
    shoal_price_free(plan);
    shoal_price_value *w = new_array((size_t)points, sizeof *w);
    const int64_t inner = small ? 64 : 512;
    CHECK(price(ctx, &m, &o, NULL, outer, inner, w) == SHOAL_OK);
    int64_t far = 0, seen = 0; /* where many of the inner paths pay, so that errors are known */
    for (int64_t i = 0; i < points; i++) {
        CHECK(v[i].price > 0 || (w[i].price == 0 && w[i].error == 0));
        if (v[i].price < 2) continue;
        seen++;
        far += fabs(w[i].price - v[i].price) > 4 * w[i].error + 1e-9;
    }
    CHECK_MSG(seen > 0 && far * 100 <= seen, "%lld of %lld are far from quadrature", (long long)far,
              (long long)seen);
    free(v);
    free(w);
}

TEST(nested_trajectories) {
    check_trajectories('A');
    check_trajectories('B');
}

TEST(bits_are_the_same) {
    for (int way = 0; way < 8; way++) {
        const int64_t samples = way == 0 && !small ? SHOAL_PRICE_UNIT + 300 : 600;
        const shoal_bullet m = short_option(way & 1 ? 'D' : 'A');
        const shoal_price_opts o = { .method = "grid",
                                     .seed = 5,
                                     .greeks = way >> 1 & 1,
                                     .antithetic = way & 1,
                                     .type = way >> 2 ? SHOAL_F32 : SHOAL_F64 };
        shoal_context *single;
        shoal_price_value first[FEW], v[FEW];
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &single) == SHOAL_OK);
        CHECK(price(single, &m, &o, few, FEW, samples, first) == SHOAL_OK);
        CHECK(price_in_pieces(single, &m, &o, few, FEW, samples, 1, v) == SHOAL_OK);
        CHECK_MSG(memcmp(first, v, sizeof v) == 0, "in pieces, way %d", way);
        for (int t = 0; t < target_count; t++) {
            CHECK(price(targets[t].ctx, &m, &o, few, FEW, samples, v) == SHOAL_OK);
            CHECK_MSG(memcmp(first, v, sizeof v) == 0, "way %d on %s: %.17g, not %.17g", way,
                      targets[t].backend, v[0].price, first[0].price);
        }
        shoal_close(single);
    }
}

static void check_edge(shoal_context *ctx, const char *what, const shoal_bullet *m, double truth) {
    const int64_t samples = small ? 300 : 2000;
    for (int j = 0; j < 2; j++) {
        const shoal_price_opts o = { .method = j ? "mc" : "quad", .seed = 3, .greeks = 1 };
        shoal_price_value v;
        CHECK_MSG(price(ctx, m, &o, NULL, 1, samples, &v) == SHOAL_OK, "%s", shoal_message(ctx));
        CHECK_MSG(fabs(v.price - truth) <= 4 * v.error + 1e-9, "%s, %s: %.10f +- %g, not %.10f",
                  what, o.method, v.price, v.error, truth);
        CHECK_MSG(!isnan(v.price) && !isnan(v.error) && !isnan(v.delta) && !isnan(v.gamma), "%s",
                  what);
    }
}

TEST(edges_of_the_option) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        const shoal_bullet base = short_option('A');
        const double black = exp(-0.1) * shoal_black(100 * exp(0.1), 100, 0.2, 0);
        shoal_bullet m = base;
        m.p1 = 5, m.p2 = 4;
        check_edge(ctx, "P1 > P2", &m, 0);
        m = base, m.barrier = 0, m.p1 = 0;
        check_edge(ctx, "B = 0", &m, black);
        m.p1 = 1;
        check_edge(ctx, "B = 0, but a date must be below", &m, 0);
        m = base, m.p1 = 0, m.p2 = 10;
        check_edge(ctx, "every count pays", &m, black);
        m = base, m.p1 = -3, m.p2 = -1;
        check_edge(ctx, "no count pays", &m, 0);
        m = base, m.barrier = 1e9, m.p1 = 10, m.p2 = 10;
        check_edge(ctx, "always below", &m, black);
        m = base, m.sigma = 0; /* below 120 at all ten dates */
        check_edge(ctx, "sigma = 0, ten dates", &m, 0);
        m.p2 = 10;
        check_edge(ctx, "sigma = 0", &m, 100 - 100 * exp(-0.1));
        for (int i = 0; i < 2; i++) { /* x e^(r T) is above K, or not */
            shoal_price_value v;
            m.s0 = i ? 95 : 90;
            CHECK(price(ctx, &m, &quad, NULL, 1, 0, &v) == SHOAL_OK);
            CHECK_MSG(v.delta == i && v.gamma == 0, "%g: delta %g", m.s0, v.delta);
        }
        m = base, m.maturity = 0, m.p2 = 10, m.s0 = 110;
        check_edge(ctx, "T = 0", &m, 10);
        m = base, m.strike = 0, m.p1 = 0, m.p2 = 10;
        check_edge(ctx, "K = 0", &m, 100);
        m = base, m.dates = 1, m.p1 = 1, m.p2 = 1,
        m.count = 'B'; /* date 0 alone, and it is below */
        check_edge(ctx, "one date", &m, black);
        m.count = 'C', m.p1 = m.p2 = 0; /* no date at all */
        check_edge(ctx, "no date", &m, black);
    }
}

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

TEST(arguments_are_checked) {
    const shoal_bullet base = shoal_bullet_example();
    const shoal_price_opts mc = { .method = "mc" }, grid = { .method = "grid" },
                           nested = { .method = "nested" }, magic = { .method = "magic" };
    const shoal_bullet_point late = { 101, 0, 100 }, negative = { 0, -1, 100 }, none = { 0, 0, 0 },
                             many_seen = { 0, (1 << 20) + 1, 100 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_price *plan;
        shoal_bullet m = base;
        m.s0 = 0;
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 1, &plan), SHOAL_E_ARG, "s0 is 0");
        m = base, m.sigma = NAN;
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 1, &plan), SHOAL_E_ARG, "sigma is");
        m = base, m.barrier = -1;
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 1, &plan), SHOAL_E_ARG, "barrier");
        m = base, m.dates = 0;
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 1, &plan), SHOAL_E_ARG, "dates is");
        m = base, m.count = 'G';
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 1, &plan), SHOAL_E_ARG, "count is");
        m = base, m.rate = 900;
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 1, &plan), SHOAL_E_ARG, "rate 900");
        m = base, m.sigma = 25;
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 1, &plan), SHOAL_E_ARG, "sigma 25");
        m = base;
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &grid, &many_seen, 1, &plan), SHOAL_E_ARG,
                   "j 1048577");
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &nested, NULL, 41528, &plan), SHOAL_E_ARG,
                   "takes up to 41527 trajectories"); /* of 101 points: just more than 2^22 */
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &mc, NULL, 2, &plan), SHOAL_E_ARG, "one point");
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &grid, NULL, 2, &plan), SHOAL_E_ARG, "points");
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &grid, &late, 1, &plan), SHOAL_E_ARG, "k 101");
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &grid, &negative, 1, &plan), SHOAL_E_ARG,
                   "j -1");
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &grid, &none, 1, &plan), SHOAL_E_ARG, "x 0");
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &nested, &none, 1, &plan), SHOAL_E_ARG, "own");
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &magic, NULL, 1, &plan), SHOAL_E_METHOD,
                   "quad");
        CHECK(plan == NULL);
        shoal_price_opts wrong = { .method = "pde", .probability = 1 };
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &wrong, NULL, 1, &plan), SHOAL_E_ARG,
                   "probability is 1");
        wrong = (shoal_price_opts){ .method = "mc", .bump = 2 };
        CHECK_SAYS(ctx, shoal_price_bullet(ctx, &m, &wrong, NULL, 1, &plan), SHOAL_E_ARG,
                   "bump is 2");
        CHECK(plan == NULL);
        const shoal_bullet many = { 100, 100, .1, 1, .2, 120, 1 << 20, 0, 1 << 20, 'A' };
        shoal_price_value v;
        CHECK_SAYS(ctx, price(ctx, &many, &quad, NULL, 1, 0, &v), SHOAL_E_ARG, "multiplications");
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(quadrature_meets_known_prices);
    RUN(simulations_meet_quadrature);
    RUN(any_number_of_dates);
    RUN(a_hundred_dates);
    RUN(greeks_next_to_the_barrier);
    RUN(probability_of_the_condition);
    RUN(nested_trajectories);
    RUN(bits_are_the_same);
    RUN(edges_of_the_option);
    RUN(arguments_are_checked);
    close_targets();
    return TEST_END();
}
