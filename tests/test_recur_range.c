/* SPDX-License-Identifier: Apache-2.0
 *
 * test_recur_range.c - recurrences that go through the whole range of their type: products of s that
 * underflow or overflow where the answer does not, zeros, subnormal numbers, states near the largest
 * number. Every method on every backend, against substitution in long double (recur_batch.h).
 */
#ifndef SHOAL_EMULATED /* there real.h names the level itself */
#define SHOAL_LEVEL base
#endif
#include "recur/map.h"
#include "recur_batch.h"

static uint64_t drawn = 1;

static uint64_t draw(uint64_t below) { /* splitmix64 */
    uint64_t v = drawn += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return (v ^ v >> 31) % below;
}
static double uniform(void) { return (double)(draw(1u << 30) + 1) * 0x1p-30; }
static double sign(void) { return draw(2) ? -1 : 1; }

static double most(shoal_type type) { return type == SHOAL_F32 ? FLT_MAX : DBL_MAX; }
static int range(shoal_type type) { return type == SHOAL_F32 ? 126 : 1022; }

/* A number of any size: 2^-range .. 2^range, seldom 0 or subnormal. */
static double any_size(shoal_type type) {
    const int bits = range(type), digits = type == SHOAL_F32 ? 23 : 52;
    const uint64_t which = draw(16);
    if (which == 0) return 0;
    if (which == 1) return sign() * ldexp(uniform(), -bits - (int)draw((uint64_t)digits));
    return sign() * ldexp(1 + uniform(), (int)draw(2 * (uint64_t)bits) - bits);
}

/* w and c of all rows of a batch; of each segment the rows before c leaves the range of the type, and that of long
 * double, which happens where w underflows and its error grows. */
typedef struct exact {
    long double *w, *c;
    int64_t *within, *known;
} exact;

static exact solve_exactly(const batch *p) {
    const int64_t n = p->shape.n, count = p->shape.count;
    exact e = { new_array((size_t)(n * count), sizeof *e.w),
                new_array((size_t)(n * count), sizeof *e.c),
                new_array((size_t)count, sizeof *e.within),
                new_array((size_t)count, sizeof *e.known) };
    for (int64_t k = 0; k < count; k++) {
        oracle o = oracle_start(p, k);
        int inside = 1;
        for (int64_t i = 0; i < n && isfinite(o.c[0]); i++) {
            oracle_step(p, k, i, &o);
            e.w[k * n + i] = o.w[0], e.c[k * n + i] = o.c[0];
            inside = inside && o.c[0] < most(p->shape.type) / 4;
            e.within[k] += inside, e.known[k] += isfinite(o.c[0]);
        }
    }
    return e;
}

static void free_exact(exact *e) { free(e->w), free(e->c), free(e->within), free(e->known); }

/* How many segments were ok, and how many would have been a false ok or a false failure. */
static struct { int64_t ok, overflow, false_ok, false_failure; } counts;

static void check_segment(const batch *p, const exact *e, const answer *r, int64_t k,
                          const char *who) {
    const double eps = eps_of(p->shape.type);
    const int64_t n = p->shape.n;
    const int failed = r->status[k] != 0, inside = e->within[k] == n;
    int wrong = 0;
    CHECK_MSG(!failed || (!inside && r->status[k] == SHOAL_SYSTEM_OVERFLOW), "%s k=%lld: status %d",
              who, (long long)k, r->status[k]);
    for (int64_t i = 0; i < (failed ? e->within[k] : e->known[k]) && !wrong; i++) {
        const long double roundings = (p->shape.form ? 4 : order_of(p) + 1) * (i + 1) * eps;
        const long double error = fabsl(r->w[k * n + i] - e->w[k * n + i]);
        wrong = !(error <= roundings * e->c[k * n + i]);
        CHECK_MSG(!wrong, "%s k=%lld i=%lld: %.17g not %.17Lg, error %.3Lg above %.3Lg", who,
                  (long long)k, (long long)i, r->w[k * n + i], e->w[k * n + i], error,
                  roundings * e->c[k * n + i]);
    }
    counts.ok += !failed, counts.overflow += failed;
    counts.false_ok += wrong, counts.false_failure += failed && inside;
}

static void check_all(const batch *p, how h) {
    exact e = solve_exactly(p);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            if (!serves(c, p)) continue;
            answer r = solve_with(targets[t].ctx, p, c, h);
            for (int64_t k = 0; k < p->shape.count; k++)
                check_segment(p, &e, &r, k, name_of(&targets[t], c, p));
            free_answer(&r);
        }
    free_exact(&e);
}

/* A Moebius map answers only what it has not lost: a sum of products that is too small to be accurate, above or below, or
 * 0 where a product underflowed, makes the state NaN; 0 for another reason does not. So does a lost number of a product
 * of maps, in whichever place. */
TEST(maps_that_lose_a_product_are_not_finite) {
    static const struct {
        double m[4], x, want;
    } rows[] = { { { 2, 1, 1, 3 }, 1, 0.75 },
                 { { 1, 0, 0, 1 }, 0, 0 },
                 { { 1, -2, 0, 1 }, 2, 0 },
                 { { 0x1p-1022, 0, 0, 1 }, 1, NAN }, /* above */
                 { { 0, 1, 0x1p-1021, 0 }, 1, NAN }, /* below */
                 { { 0x1p-1022, 0, 0x1p-1022, 0 }, 1, NAN },
                 { { 0x1p-1020, 0, 0, 1 }, 1, 0x1p-1020 },
                 { { 0x1p-600, 0, 0, 1 }, 0x1p-600, NAN },
                 { { 0, 1, 0x1p-600, 0 }, 0x1p-600, NAN } };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        recur_map a = map_identity(SHAPE_MOEBIUS);
        for (int e = 0; e < 4; e++) a.m[e] = rows[i].m[e];
        const recur_state x = { { rows[i].x } };
        const double y = map_apply(&a, &x, SHAPE_MOEBIUS).x[0];
        CHECK_MSG(y == rows[i].want || (isnan(y) && isnan(rows[i].want)), "%d: %g, not %g", i, y,
                  rows[i].want);
    }
    for (int place = -1; place < 4;
         place++) { /* place 0 to 3 of the product is 2^-1030, or 0 for 2^-1200 */
        for (int underflows = 0; underflows < 2; underflows++) {
            const double small_number = ldexp(1, underflows ? -600 : -515);
            recur_map one = map_identity(SHAPE_MOEBIUS), other = one;
            for (int e = 0; e < 4; e++) one.m[e] = other.m[e] = 0;
            const int row = place / 2, column = place % 2;
            if (place < 0)
                one.m[0] = one.m[3] = other.m[0] = other.m[3] = 1;
            else { /* later is `other`: its row times the column of the earlier */
                other.m[2 * row] = small_number, one.m[column] = small_number;
                other.m[2 * (1 - row) + 1] = 1, one.m[2 + 1 - column] = 1;
            }
            const recur_map both = moebius_join(&one, &other);
            CHECK_MSG((map_poison(&both, SHAPE_MOEBIUS) != 0) == (place >= 0), "place %d, %d",
                      place, underflows);
        }
    }
}

/* All exact w are normal numbers; the last is 3e286, but the product of 450 rows is 1e-585. */
TEST(a_product_of_rows_that_underflows) {
    enum { N = 20000 };
    batch p = new_batch((shoal_recur_opts){ .n = N, .count = 1 });
    for (int i = 0; i < N; i++) {
        p.s[i] = i >= 5000 && i < 5450 ? 0.05 : i >= 6000 && i < 7900 ? 2 : 1;
        p.t[i] = 0;
    }
    p.w0[0] = 1e300;
    check_all(&p, (how){ 0 });
    exact e = solve_exactly(&p);
    CHECK(e.w[N - 1] > 3e286L && e.w[N - 1] < 4e286L);
    free_exact(&e);
    free_batch(&p);
}

/* Rows far below and far above 1 in turn: states are normal numbers, small enough for maps, products of two rows are below
 * the range. A product lifts a row by its own size, whatever its neighbours. */
TEST(small_rows_between_large_ones) {
    enum { SIZES = 4, COUNT = SIZES };
    static const int exponents[2][SIZES] = { { -400, -1000, 1000, 400 },
                                             { -400, -1073, 1023, 450 } };
    static const int64_t lengths[] = { 9, 61, 120, 500, 9000 };
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int k = 0; k < 2; k++) {
            const int64_t n = lengths[l];
            batch p = new_batch((shoal_recur_opts){ .n = n, .count = COUNT });
            for (int64_t i = 0; i < COUNT * n; i++)
                p.s[i] = ldexp(1, exponents[k][(i % n + i / n) % SIZES]), p.t[i] = 0;
            for (int e = 0, bits = 700; e < COUNT; bits += exponents[k][e++])
                p.w0[e] = ldexp(1, bits);
            check_all(&p, (how){ 0 });
            free_batch(&p);
        }
}

/* 0.83^528 is a subnormal float; 1e10 times that is not. */
TEST(a_product_of_rows_that_is_subnormal) {
    for (int64_t n = 400; n <= 9200; n = n * 2 + 256) {
        batch p = new_batch((shoal_recur_opts){ .n = n, .count = 2, .type = SHOAL_F32 });
        for (int64_t i = 0; i < 2 * n; i++) p.s[i] = i % n < 528 ? 0.83f : 1, p.t[i] = 0;
        p.w0[0] = p.w0[1] = 1e10f;
        check_all(&p, (how){ 0 });
        free_batch(&p);
    }
}

/* Order 2: w0, w0, .. by s = (2, -1) is constant, and maps of i rows have the numbers i + 1 and -i. */
TEST(a_map_that_overflows_where_no_row_does) {
    for (int type = 0; type < 2; type++)
        for (int64_t n = 60; n <= 6000; n *= 10) {
            batch p = new_batch((shoal_recur_opts){ .n = n, .count = 2, .order = 2, .type = type });
            for (int64_t i = 0; i < 2 * n; i++) p.s[2 * i] = 2, p.s[2 * i + 1] = -1, p.t[i] = 0;
            for (int e = 0; e < 4; e++) p.w0[e] = most(type) / 32;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    if (!serves(c, &p)) continue;
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = type });
                    for (int64_t i = 0; i < 2 * n; i++)
                        CHECK_MSG(r.w[i] == p.w0[0], "%s: row %lld: %g",
                                  name_of(&targets[t], c, &p), (long long)i, r.w[i]);
                    CHECK(r.status[0] == 0 && r.status[1] == 0);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* Lengths around lanes, strips, tiles and blocks of both backends, and several groups of tiles. */
static int64_t any_length(int order) {
    const int64_t around[] = { 1,    2,    5,    32,   64,   128,  256,  500,  512,   1024,
                               1100, 2048, 2112, 3072, 4500, 6144, 8448, 9000, 13000, 17000 };
    const int64_t longest = small ? (order == 1 ? 16 : 10) : 20;
    return around[draw((uint64_t)longest)] + (int64_t)draw(5);
}

static shoal_recur_opts any_shape(int64_t m) {
    const int order = 1 + (int)(m % 5); /* 5: Moebius */
    return (shoal_recur_opts){ .n = any_length(order),
                               .count = 1 + (int64_t)draw(small ? 2 : 5),
                               .order = order % 5,
                               .form = order == 5,
                               .type = (int)(m / 5 % 2),
                               .reverse = (int)draw(2),
                               .layout = draw(4) ? SHOAL_SYSTEM_MAJOR : SHOAL_INTERLEAVED };
}

TEST(generated_members_that_fill_the_range) {
    for (int64_t m = 0; m < (small ? 40 : 500); m++) {
        shoal_recur_opts shape = any_shape(m), plain = shape;
        plain.layout = SHOAL_SYSTEM_MAJOR, plain.reverse = 0;
        batch p = new_batch(shape);
        const char *kind = draw(2) ? "dips" : "jumps";
        const int64_t first = (int64_t)draw(1000);
        int status;
        if (shape.type == SHOAL_F32) { /* drawn as float, kept as double */
            const size_t rows = (size_t)(shape.n * shape.count);
            const size_t firsts = (size_t)(shape.count * order_of(&p));
            float *s = new_array(rows * (size_t)p.width, sizeof *s),
                  *t = new_array(rows, sizeof *t), *w0 = new_array(firsts, sizeof *w0);
            status = shoal_recur_generatef(targets[0].ctx, kind, 3, first, &plain, s, t, w0);
            for (size_t i = 0; i < rows * (size_t)p.width; i++) p.s[i] = s[i];
            for (size_t i = 0; i < rows; i++) p.t[i] = t[i];
            for (size_t i = 0; i < firsts; i++) p.w0[i] = w0[i];
            free(s), free(t), free(w0);
        } else {
            status = shoal_recur_generate(targets[0].ctx, kind, 3, first, &plain, p.s, p.t, p.w0);
        }
        CHECK(status == SHOAL_OK);
        check_all(&p, (how){ .in_place = (int)draw(2), .offset = (int)draw(2) });
        free_batch(&p);
    }
}

/* Segments of stretches: in each the coefficients are of one size, near 1, far below, far above, of any
 * size, or 0; t is 0, of the size of w, or of any size. Some overflow. */
static void draw_segment(const batch *p, int64_t k) {
    const shoal_type type = p->shape.type;
    const int64_t n = p->shape.n;
    const int order = order_of(p), bits = range(type);
    long double level = any_size(type);
    for (int e = 0; e < order; e++)
        p->w0[k * order + e] = draw(4) ? level * uniform() : any_size(type);
    for (int64_t i = 0, end = 0, kind = 0, of_t = 0; i < n; i++) {
        static double rate, limit;
        if (i == end) {
            end = i + 1 + (int64_t)draw(draw(2) ? 40 : 1500);
            kind = (int64_t)draw(8), of_t = (int64_t)draw(4);
            rate = exp2((uniform() - 0.5) * (draw(3) ? 4 : bits / 4));
            limit = ldexp(1, (int)draw(2 * (uint64_t)bits) - bits); /* no further than that */
        }
        double s = kind == 0   ? 1
                   : kind == 1 ? 0.5 + uniform() / 2
                   : kind == 2 ? any_size(type)
                               : rate * (1 + uniform() / 64);
        const long double next = fabsl(level) * s;
        if (kind > 1 && ((s > 1 && next > limit) || (s < 1 && next < limit))) s = 1;
        if (draw(500) == 0) s = 0;
        double *row = p->s + (k * n + i) * p->width, t = 0;
        if (of_t == 1) t = (double)level * (uniform() - 0.5);
        if (of_t == 2 && draw(50) == 0) t = any_size(type);
        for (int e = 0; e < order; e++)
            row[e] = sign() * s * (order == 1 ? 1 : draw(8) ? uniform() / order : 0);
        if (p->shape.form) row[1] = t, row[2] = 0, row[3] = 1;
        p->t[k * n + i] = t;
        level = fabsl(level * s) + fabs(t);
    }
}

TEST(random_members_that_fill_the_range) {
    for (int64_t m = 0; m < (small ? 60 : 1000); m++) {
        const shoal_recur_opts shape = any_shape(m);
        batch p = new_batch(shape);
        for (int64_t k = 0; k < shape.count; k++) draw_segment(&p, k);
        round_all(p.s, s_rows(&p) * p.width, shape.type);
        round_all(p.t, t_rows(&p), shape.type);
        round_all(p.w0, shape.count * order_of(&p), shape.type);
        for (int64_t i = 0; i < s_rows(&p) * p.width; i++)
            if (!isfinite(p.s[i])) p.s[i] = 1;
        for (int64_t i = 0; i < t_rows(&p); i++)
            if (!isfinite(p.t[i])) p.t[i] = 1;
        for (int64_t i = 0; i < shape.count * order_of(&p); i++)
            if (!isfinite(p.w0[i])) p.w0[i] = 1;
        if (shape.form) /* t is in s */
            for (int64_t i = 0; i < t_rows(&p); i++) p.s[4 * i + 1] = p.t[i];
        check_all(&p, (how){ .in_place = (int)draw(2), .offset = (int)draw(2) });
        free_batch(&p);
    }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(maps_that_lose_a_product_are_not_finite);
    RUN(a_product_of_rows_that_underflows);
    RUN(small_rows_between_large_ones);
    RUN(a_product_of_rows_that_is_subnormal);
    RUN(a_map_that_overflows_where_no_row_does);
    RUN(generated_members_that_fill_the_range);
    RUN(random_members_that_fill_the_range);
    printf("note  %lld answers ok, %lld overflow, %lld false ok, %lld false failures\n",
           (long long)counts.ok, (long long)counts.overflow, (long long)counts.false_ok,
           (long long)counts.false_failure);
    close_targets();
    return TEST_END();
}
