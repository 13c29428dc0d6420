/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_long.c - one long system, by the methods that are safe for every nonsingular matrix: the
 * 21 matrices of the g-Spike paper, its singular blocks and interiors at many alignments, sizes around
 * those of blocks and tiles, several levels of the tree, and the same bits for every number of threads.
 * A backward error of 1e-15 in double, in the maximum norm, or a system that is said to be singular or
 * ill-conditioned.
 *
 *     test_tridiag_long [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

/* Largest backward error of an answer. f32 in the same number of its own units. */
static double allowed(shoal_type type) { return 1e-15 / DBL_EPSILON * eps_of(type); }

static double certificate(const batch *p, const double *x) {
    long double worst = 0, rows = 0, most = 0, rhs = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const long double dl = i ? p->dl[i] : 0, du = i + 1 < p->n ? p->du[i] : 0, d = p->d[i];
        long double r = p->b[i] - d * x[i];
        if (!isfinite(x[i])) return INFINITY;
        if (i) r -= dl * x[i - 1];
        if (i + 1 < p->n) r -= du * x[i + 1];
        worst = fmaxl(worst, fabsl(r)), rows = fmaxl(rows, fabsl(dl) + fabsl(d) + fabsl(du));
        most = fmaxl(most, fabsl((long double)x[i])), rhs = fmaxl(rhs, fabsl((long double)p->b[i]));
    }
    return worst == 0 ? 0 : (double)(worst / (rows * most + rhs));
}

/* One system by twocarry on all targets; `sure`: it must be answered, without a warning. */
static void check_kind(const char *kind, int64_t n, shoal_type type, int sure) {
    batch p = generate(kind, n, 1, 1, type);
    const call twocarry = { "twocarry", NULL, 1 };
    for (int t = 0; t < target_count; t++) {
        answer r = solve_with(targets[t].ctx, &p, &twocarry, (how){ .tol = 1 });
        if (r.code != SHOAL_OK) continue;
        const char *who = name_of(&targets[t], &twocarry);
        const double error = r.status[0] < 0 ? 0 : certificate(&p, r.x);
        CHECK_MSG(error <= allowed(type), "%s %s %s n=%lld: backward error %.3g", who, kind,
                  type ? "f32" : "f64", (long long)n, error);
        CHECK_MSG(!sure || r.status[0] == 0, "%s %s n=%lld: status %d", who, kind, (long long)n,
                  r.status[0]);
        const double own = r.status[0] < 0 ? 0 : row_scaled_error(&p, 0, 0, r.x);
        CHECK_MSG(r.status[0] < 0 || fabs(r.residual[0] - own) <= 8 * eps_of(type),
                  "%s %s n=%lld: residual %g of %g", who, kind, (long long)n, (double)r.residual[0],
                  own);
        free_answer(&r);
    }
    free_batch(&p);
}

/* #12, #14 and #15 are numerically singular when they are large, #8 to #11 and #13 have condition 1e15. */
static int well_conditioned(int number) { return number < 8 || number > 15; }

TEST(matrices_of_the_paper) {
    const int64_t sizes[] = { 512, 4096 };
    for (int i = 0; i < (small ? 1 : 2); i++)
        for (int number = 1; number <= 21; number++) {
            char kind[32];
            snprintf(kind, sizeof kind, "spike%d", number);
            check_kind(kind, sizes[i], SHOAL_F64, well_conditioned(number));
            check_kind(kind, sizes[i], SHOAL_F32, 0);
        }
}

TEST(sizes_around_blocks_and_tiles) {
    const int64_t sizes[] = { 1,    2,    3,    31,   32,   33,    63,      64,
                              65,   127,  128,  129,  512,  513,   1000,    1023,
                              2047, 2048, 2049, 4097, 8191, 65537, 1000003, 2200001 };
    for (int i = 0; i < (small ? 21 : 24); i++)
        for (int type = 0; type < 2; type++) {
            check_kind("spike1", sizes[i], type, type == SHOAL_F64);
            check_kind("spike18", sizes[i], type, 1);
        }
}

/* On a GPU tiles are the lowest level; in the emulator one block merges 16 of them, not 1024. */
TEST(several_levels_of_the_tree) {
    for (int type = 0; type < 2; type++) check_kind("spike18", 40001, type, 1);
}

/* Blocks of ours have 32 rows on the GPU and 128 on the CPU; theirs begin at any row. */
TEST(singular_blocks_and_interiors) {
    const char *const kinds[] = { "block18", "block1", "hidden18",   "hidden1",
                                  "inner18", "inner1", "hidinner18", "hidinner1" };
    const int lengths[] = { 32, 128 }, counts[] = { 1, 4, 15 };
    for (int k = 0; k < 8; k++)
        for (int l = 0; l < 2; l++)
            for (int c = small ? 2 : 0; c < 3; c++)
                for (int first = 0; first < lengths[l]; first += small ? 13 : 3) {
                    char kind[64];
                    snprintf(kind, sizeof kind, "%s:%d:%d:%d", kinds[k], counts[c], lengths[l],
                             first);
                    check_kind(kind, 2200, SHOAL_F64, 1);
                }
}

/* The tree is one for every number of threads. */
TEST(threads_do_not_change_bits) {
    batch p = generate("spike1", small ? 9000 : 70000, 1, 1, SHOAL_F64);
    const call twocarry = { "twocarry", NULL, 1 };
    answer before = { 0 };
    for (int threads = 1; threads < 4; threads++) {
        shoal_options opts = { .backend = "cpu", .threads = threads };
        shoal_context *ctx = NULL;
        CHECK(shoal_open(&opts, &ctx) == SHOAL_OK);
        answer r = solve_with(ctx, &p, &twocarry, (how){ 0 });
        if (threads > 1) CHECK(same_all(before.x, r.x, p.n));
        free_answer(&before);
        before = r;
        shoal_close(ctx);
    }
    free_answer(&before);
    free_batch(&p);
}

/* A matrix of small entries is no better or worse than its multiple by a power of two. */
TEST(scales_do_not_matter) {
    batch p = generate("spike1", 1000, 1, 1, SHOAL_F64);
    const call twocarry = { "twocarry", NULL, 1 };
    for (int e = -900; e <= 900; e += 100) {
        batch q = new_batch(p.n, 1, 1, SHOAL_F64);
        for (int64_t i = 0; i < p.n; i++) {
            q.dl[i] = ldexp(p.dl[i], e), q.d[i] = ldexp(p.d[i], e), q.du[i] = ldexp(p.du[i], e);
            q.b[i] = ldexp(p.b[i], e);
        }
        for (int t = 0; t < target_count; t++) {
            answer r = solve_with(targets[t].ctx, &p, &twocarry, (how){ 0 });
            answer s = solve_with(targets[t].ctx, &q, &twocarry, (how){ 0 });
            CHECK_MSG(same_all(r.x, s.x, p.n) && r.residual[0] == s.residual[0] &&
                          r.status[0] == s.status[0],
                      "%s 2^%d: status %d, residual %g, not %g", name_of(&targets[t], &twocarry), e,
                      s.status[0], (double)s.residual[0], (double)r.residual[0]);
            free_answer(&r);
            free_answer(&s);
        }
        free_batch(&q);
    }
    free_batch(&p);
}

/* A column that is tiny beside the others is no reason to give up. */
TEST(tiny_columns_are_solved) {
    for (int type = 0; type < 2; type++) {
        batch p = generate("spike18", 200, 1, 1, type);
        const double tiny = type == SHOAL_F32 ? 1e-12 : 1e-120;
        p.du[99] *= tiny, p.d[100] *= tiny, p.dl[101] *= tiny;
        round_batch(&p);
        const call twocarry = { "twocarry", NULL, 1 };
        for (int t = 0; t < target_count; t++) {
            answer r = solve_with(targets[t].ctx, &p, &twocarry, (how){ 0 });
            CHECK_MSG(r.status[0] == SHOAL_SYSTEM_ILL && certificate(&p, r.x) <= allowed(type),
                      "%s: status %d", name_of(&targets[t], &twocarry), r.status[0]);
            free_answer(&r);
        }
        free_batch(&p);
    }
}

/* An exactly singular matrix is never answered with success. */
TEST(singular_systems_are_reported) {
    for (int64_t n = 2; n < (small ? 3000 : 2000000); n = n * 3 + 1)
        for (int type = 0; type < 2; type++) {
            batch p = new_batch(n, 1, 1, type); /* Neumann's second difference: A times ones is 0 */
            for (int64_t i = 0; i < n; i++) {
                p.dl[i] = p.du[i] = -1, p.d[i] = i == 0 || i == n - 1 ? 1 : 2;
                p.b[i] = i % 3;
            }
            const call twocarry = { "twocarry", NULL, 1 };
            for (int t = 0; t < target_count; t++) {
                answer r = solve_with(targets[t].ctx, &p, &twocarry, (how){ 0 });
                CHECK_MSG(r.status[0] != 0, "%s n=%lld: status %d", name_of(&targets[t], &twocarry),
                          (long long)n, r.status[0]);
                free_answer(&r);
            }
            free_batch(&p);
        }
}

/* Exactly singular, and no pivot shows it: the null vector 2^-|i-m| fades towards the rows that are
 * eliminated last. x does. */
TEST(null_vectors_inside_are_reported) {
    const int64_t lengths[] = { 300, 2500, 4096, 70001 };
    for (int i = 0; i < (small ? 2 : 4); i++)
        for (int at = 1; at < 8; at++)
            for (int type = 0; type < 2; type++) {
                const int64_t n = lengths[i], m = n * at / 8 + at % 3;
                batch p = generate("random", n, 1, 1, (shoal_type)type);
                for (int64_t k = 0; k < n; k++) p.dl[k] = p.du[k] = -1, p.d[k] = 2.5;
                p.d[0] = p.d[n - 1] = 2, p.d[m] = 1;
                const call twocarry = { "twocarry", NULL, 1 };
                for (int t = 0; t < target_count; t++) {
                    answer r = solve_with(targets[t].ctx, &p, &twocarry, (how){ 0 });
                    CHECK_MSG(r.status[0] != 0, "%s n=%lld m=%lld type %d: status %d",
                              name_of(&targets[t], &twocarry), (long long)n, (long long)m, type,
                              r.status[0]);
                    free_answer(&r);
                }
                free_batch(&p);
            }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(matrices_of_the_paper);
    RUN(sizes_around_blocks_and_tiles);
    RUN(several_levels_of_the_tree);
    RUN(singular_blocks_and_interiors);
    RUN(threads_do_not_change_bits);
    RUN(scales_do_not_matter);
    RUN(tiny_columns_are_solved);
    RUN(singular_systems_are_reported);
    RUN(null_vectors_inside_are_reported);
    close_targets();
    return TEST_END();
}
