/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_gspike_blocks.c - the g-Spike method and its blocks of 32 rows: sizes around them, matrices
 * that are reducible inside of them, blocks singular in every way, singular and non-finite systems,
 * threads, options.
 *
 *     test_tridiag_gspike_blocks [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

static const call gspike = { "gspike", NULL, 0 };

TEST(sizes_and_types) {
    const int64_t sizes[] = { 0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 1024, 1025, 2049, 33001 };
    const char *const kinds[] = { "spike18", "spike1", "spike16", "spike17", "fig1" };
    for (int i = 0; i < (small ? 14 : 15); i++)
        for (int k = 0; k < 5; k++)
            for (int type = 0; type < 2; type++)
                for (int t = 0; t < target_count; t++) {
                    const int64_t n = sizes[i] / (k == 2 ? 2 : 1) * (k == 2 ? 2 : 1);
                    batch p = generate(kinds[k], n, 1, 1, type);
                    answer r = solve_with(targets[t].ctx, &p, &gspike, (how){ .tol = 1 });
                    /* blocks of #1 may each lose a few digits, in a thousand one of them */
                    const double most = (k == 1 ? 1e4 : k == 4 ? 1e3 : 20) * eps_of(type);
                    const double error = backward_error(&p, 0, 0, r.x);
                    CHECK_MSG(r.status[0] >= 0 && error <= most, "%s %s n=%lld: status %d, %.3g",
                              name_of(&targets[t], &gspike), kinds[k], (long long)n, r.status[0],
                              error);
                    const double own = row_scaled_error(&p, 0, 0, r.x);
                    CHECK_MSG(fabs(r.residual[0] - own) <= 8 * eps_of(type) + 1e-6 * own,
                              "%s n=%lld: residual %g of %g", kinds[k], (long long)n,
                              (double)r.residual[0], own);
                    free_answer(&r), free_batch(&p);
                }
}

/* Matrix and right-hand side times a power of 2, not too far from 1, have an x that is as good. */
static void check_scaled(const target *t, const batch *p) {
    const size_t bytes = (size_t)p->n * sizeof *p->dl;
    for (int up = 0; up < 2; up++) {
        const double scale = up ? 0x1p10 : 0x1p-10;
        batch q = new_batch(p->n, 1, 1, SHOAL_F64);
        memcpy(q.dl, p->dl, bytes), memcpy(q.d, p->d, bytes);
        memcpy(q.du, p->du, bytes), memcpy(q.b, p->b, bytes);
        for (int64_t i = 0; i < p->n; i++)
            q.dl[i] *= scale, q.d[i] *= scale, q.du[i] *= scale, q.b[i] *= scale;
        answer s = solve_with(t->ctx, &q, &gspike, (how){ 0 });
        const double error = backward_error(&q, 0, 0, s.x);
        CHECK_MSG(s.status[0] >= 0 && error <= 1e-13, "%s n=%lld times %g: status %d, %.3g",
                  name_of(t, &gspike), (long long)p->n, scale, s.status[0], error);
        free_answer(&s), free_batch(&q);
    }
}

/* Parts of 48 rows, each -1 2cos(pi/17) -1: their last 16 rows, which a block of 32 begins with, are singular,
 * and so are their first 16, which one ends with. Where the coupling to the right is zero nothing can be
 * filled in. What is cut off on the left, or on both sides, is as good. */
TEST(reducible_inside_of_blocks) {
    const double diagonal = 2 * cos(3.14159265358979323846 / 17);
    for (int64_t n = 96; n <= (small ? 9600 : 480000); n *= 10)
        for (int zero = 0; zero < 6; zero++)
            for (int t = 0; t < target_count; t++) {
                batch p = new_batch(n, 1, 1, SHOAL_F64);
                const double tiny = zero < 3 ? 0 : 1e-50; /* as good as zero */
                for (int64_t i = 0; i < n; i++) {
                    p.dl[i] = i % 48 == 0 && zero % 3 != 0 ? tiny : -1;
                    p.du[i] = i % 48 == 47 && zero % 3 != 1 ? tiny : -1;
                    p.d[i] = diagonal, p.b[i] = (double)(i * 7919 % 101) / 101 - 0.5;
                }
                answer r = solve_with(targets[t].ctx, &p, &gspike, (how){ 0 });
                const double error = backward_error(&p, 0, 0, r.x);
                CHECK_MSG(r.status[0] == 0 && error <= 1e-14, "n=%lld zero %d: status %d, %.3g",
                          (long long)n, zero, r.status[0], error);
                if (n < 1000) check_scaled(&targets[t], &p);
                free_answer(&r);
                r = solve_with(targets[t].ctx, &p, &gspike, (how){ .no_split = 1 });
                CHECK_MSG(zero % 3 == 1 || r.status[0] != 0, "n=%lld zero %d without the split",
                          (long long)n, zero);
                free_answer(&r), free_batch(&p);
            }
}

/* -1, 0 or 1 from a sequence of numbers that does not repeat here. */
static int sign_of(uint64_t *state, int modulus) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (unsigned)modulus) - 1;
}

/* Whether m rows of such numbers are singular: their determinant modulo a prime. */
static int is_singular(const double *dl, const double *d, const double *du, int64_t m) {
    const int64_t prime = 1000000007;
    int64_t before = 1, now = ((int64_t)d[0] + prime) % prime;
    for (int64_t i = 1; i < m; i++) {
        const int64_t next = ((int64_t)d[i] * now - (int64_t)(dl[i] * du[i - 1]) * before) % prime;
        before = now, now = (next + prime) % prime;
    }
    return now == 0;
}

/* Irreducible parts of -1, 0 and 1, none of them singular, but many pieces of them exactly: every way in which
 * a block can be. Parts are coupled on one side, or not at all. */
TEST(integers_with_singular_pieces) {
    uint64_t state = 1;
    for (int longest = 1; longest <= 243; longest *= 3)
        for (int try = 0; try < (small ? 2 : 20); try++) {
            const int64_t n = try % 2 ? 700 : small ? 3000 : 20000;
            batch p = new_batch(n, 1, 1, SHOAL_F64);
            for (int64_t i = 0, m; i < n; i += m) {
                m = 1 + (sign_of(&state, longest) + 1);
                if (m > n - i) m = n - i;
                do
                    for (int64_t k = i; k < i + m; k++) {
                        p.dl[k] = sign_of(&state, 2) < 0 ? -1 : 1;
                        p.du[k] = sign_of(&state, 2) < 0 ? -1 : 1;
                        p.d[k] = try % 4 < 2 || sign_of(&state, 2) < 0 ? sign_of(&state, 3) : 0;
                    }
                while (is_singular(p.dl + i, p.d + i, p.du + i, m));
                const int side = sign_of(&state, 3);
                if (side >= 0) p.dl[i] = 0;
                if (side <= 0 && i > 0) p.du[i - 1] = 0;
            }
            for (int64_t i = 0; i < n; i++) p.b[i] = sign_of(&state, 1000) / 1000.0;
            for (int t = 0; t < target_count; t++) {
                answer r = solve_with(targets[t].ctx, &p, &gspike, (how){ 0 });
                const double error = backward_error(&p, 0, 0, r.x);
                CHECK_MSG(r.status[0] >= 0 && error <= 1e-13, "%s parts of %d, try %d: %d, %.3g",
                          name_of(&targets[t], &gspike), longest, try, r.status[0], error);
                if (n < 1000) check_scaled(&targets[t], &p);
                free_answer(&r);
            }
            free_batch(&p);
        }
}

TEST(singular_and_nonfinite_systems) {
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++)
            for (int64_t n = 1; n < (small ? 3000 : 300000); n = n * 3 + 1) {
                batch p = new_batch(n, 1, 1, type); /* Neumann's second difference */
                for (int64_t i = 0; i < n; i++) {
                    p.dl[i] = p.du[i] = -1, p.d[i] = n == 1 ? 0 : i == 0 || i == n - 1 ? 1 : 2;
                    p.b[i] = i % 3 + 1;
                }
                p.dl[0] = p.du[n - 1] = NAN; /* not there */
                answer r = solve_with(targets[t].ctx, &p, &gspike, (how){ .no_residual = 1 });
                CHECK_MSG(r.status[0] != 0, "n=%lld: status %d", (long long)n, r.status[0]);
                free_answer(&r);
                for (int64_t i = 0; i < n; i++) p.dl[i] = p.d[i] = p.du[i] = 0;
                r = solve_with(targets[t].ctx, &p, &gspike, (how){ .in_place = 1 });
                CHECK_MSG(r.status[0] < 0 && same_all(r.x, p.b, n), "zero n=%lld: status %d",
                          (long long)n, r.status[0]);
                free_answer(&r);
                for (int64_t i = 0; i < n; i++) p.d[i] = 1;
                p.d[n / 2] = n % 2 ? NAN : INFINITY;
                r = solve_with(targets[t].ctx, &p, &gspike, (how){ 0 });
                CHECK_MSG(r.status[0] == SHOAL_SYSTEM_NONFINITE && isnan(r.x[0]), "status %d",
                          r.status[0]);
                free_answer(&r), free_batch(&p);
            }
}

TEST(threads_do_not_change_bits) {
    batch p = generate("block1:9", 9000, 1, 1, SHOAL_F64);
    answer before = { 0 };
    for (int threads = 1; threads < 4; threads++) {
        shoal_context *ctx = NULL;
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = threads }, &ctx) == 0);
        answer r = solve_with(ctx, &p, &gspike, (how){ .cond = 1e12 });
        if (threads > 1) CHECK(same_all(before.x, r.x, p.n) && before.status[0] == r.status[0]);
        free_answer(&before);
        before = r;
        shoal_close(ctx);
    }
    free_answer(&before), free_batch(&p);
}

/* What does not belong to the method or is out of range is refused with the name of the field. */
TEST(options) {
    const struct {
        shoal_tridiag_opts o;
        const char *word;
    } wrong[] = { { { .method = "lupp", .delta = 1e-9 }, "delta" },
                  { { .method = "thomas", .cond = 10 }, "cond" },
                  { { .no_split = 1 }, "no_split" },
                  { { .method = "gspike", .delta = -1 }, "delta" },
                  { { .method = "gspike", .delta = 1 }, "delta" },
                  { { .method = "gspike", .delta = NAN }, "delta" },
                  { { .method = "gspike", .cond = INFINITY }, "cond" },
                  { { .method = "gspike", .cond = -3 }, "cond" },
                  { { .method = "gspike", .no_split = 2 }, "no_split" } };
    for (int t = 0; t < target_count; t++)
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            shoal_tridiag_opts o = wrong[i].o;
            shoal_tridiag *plan = NULL;
            o.n = 9, o.count = o.nrhs = 1;
            const shoal_status status = shoal_tridiag_create(targets[t].ctx, &o, &plan);
            CHECK_MSG(status == SHOAL_E_ARG && !plan &&
                          strstr(shoal_message(targets[t].ctx), wrong[i].word),
                      "%s: %s", wrong[i].word, shoal_message(targets[t].ctx));
        }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(sizes_and_types);
    RUN(reducible_inside_of_blocks);
    RUN(integers_with_singular_pieces);
    RUN(singular_and_nonfinite_systems);
    RUN(threads_do_not_change_bits);
    RUN(options);
    close_targets();
    return TEST_END();
}
