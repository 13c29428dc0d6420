/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag.c - every method and variant, on every backend and instruction level, in both
 * types and layouts, at awkward sizes. Certificates are backward errors computed here, in units
 * of roundoff; then the promises: the same bits whatever the batch, layout, position, number of
 * threads or of right-hand sides; honest statuses; undisturbed neighbours. What is said of an
 * answer is the subject of test_tridiag_verdict.c, badly scaled matrices that of
 * test_tridiag_hard.c.
 *
 *     test_tridiag [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

static const int64_t all_sizes[] = { 0,   1,    2,    3,    4,    5,    7,    8,     9,
                                     15,  16,   17,   31,   32,   33,   63,   64,    65,
                                     100, 127,  128,  129,  255,  256,  257,  511,   512,
                                     513, 1000, 1023, 1024, 1025, 2000, 4097, 20000, -1 };
static const int64_t small_sizes[] = {
    0, 1, 2, 3, 5, 8, 9, 17, 32, 33, 65, 129, 257, 300, 1025, -1
};
static const int64_t all_counts[] = { 0, 1, 2, 3, 17, 40, -1 };
static const int64_t few_counts[] = { 1, 17, -1 };
static const int64_t small_counts[] = { 3, -1 };

static const int64_t *sizes(void) { return small ? small_sizes : all_sizes; }

static const int64_t *counts_for(int64_t n) {
    return small || n > 5000 ? small_counts : n <= 33 ? all_counts : few_counts;
}

/* Dominant systems have a condition number of 21 at most: errors of x stay within 100 roundoffs. */
static void check_forward(const batch *p, const answer *r, const double *exact, const char *who) {
    const int64_t m = p->n * p->nrhs;
    for (int64_t k = 0; k < p->count; k++) {
        double largest = 0, error = 0;
        for (int64_t i = k * m; i < (k + 1) * m; i++) {
            largest = fmax(largest, fabs(exact[i]));
            error = fmax(error, fabs(r->x[i] - exact[i]));
        }
        CHECK_MSG(error <= 100 * eps_of(p->type) * largest, "%s n=%lld k=%lld: x off by %.3g eps",
                  who, (long long)p->n, (long long)k, error / largest / eps_of(p->type));
    }
}

/* The same bits interleaved, in place, without the residual, and for each right-hand side alone. */
static void check_same_bits(const target *t, const call *c, const batch *p, const answer *r) {
    const how hows[] = { { .layout = SHOAL_INTERLEAVED },
                         { .in_place = 1 },
                         { .layout = SHOAL_INTERLEAVED, .in_place = 1, .no_residual = 1 } };
    const int64_t size = p->n * p->count;
    for (int i = 0; i < 3; i++) {
        answer s = solve_with(t->ctx, p, c, hows[i]);
        CHECK_MSG(same_all(r->x, s.x, size * p->nrhs), "%s n=%lld way %d", name_of(t, c),
                  (long long)p->n, i);
        free_answer(&s);
    }
    for (int64_t j = 0; j < p->nrhs && p->nrhs > 1; j += 2) {
        batch q = column(p, j);
        answer s = solve_with(t->ctx, &q, c,
                              (how){ .layout = j ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR });
        int equal = 1;
        for (int64_t i = 0; i < size; i++) equal &= same(s.x[i], r->x[i * p->nrhs + j]);
        CHECK_MSG(equal, "%s n=%lld: right-hand side %lld alone", name_of(t, c), (long long)p->n,
                  (long long)j);
        free_answer(&s);
        free_batch(&q);
    }
}

/* Whether auto gives a system to twocarry. */
static int lengthy(const target *t, int64_t n) { return n > (on_cpu(t) ? 65535 : 2304); }

static void dominant_case(int64_t n, int64_t count, shoal_type type) {
    batch p = generate("dominant", n, count, 3, type), q = p;
    q.type = SHOAL_F64;
    answer exact = solve_with(targets[0].ctx, &q, &(call){ "thomas", NULL, 0 }, (how){ 0 });
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
            if (r.code != SHOAL_OK) continue;
            const char *who = name_of(&targets[t], c);
            check_accuracy(&p, &r, STABLE, who);
            if (exact.x) check_forward(&p, &r, exact.x, who);
            CHECK_MSG(r.info.failed == 0 && r.info.warned == 0 && r.info.redone == 0, "%s n=%lld",
                      who, (long long)n);
            CHECK(strcmp(r.info.method, c->method) == 0);
            for (int64_t k = 0; k < count; k++) {
                const char *by = shoal_methods("tridiag", r.method[k]);
                const char *expected = !is_auto(c)               ? c->method
                                       : lengthy(&targets[t], n) ? "twocarry"
                                       : on_cpu(&targets[t])     ? "lupp"
                                                                 : "hybrid";
                CHECK_MSG(by && strcmp(by, expected) == 0, "%s: by %s", who, by ? by : "none");
            }
            if (n <= 1025) check_same_bits(&targets[t], c, &p, &r);
            free_answer(&r);
        }
    free_answer(&exact);
    free_batch(&p);
}

TEST(dominant_systems_at_all_sizes) {
    for (const int64_t *n = sizes(); *n >= 0; n++)
        for (const int64_t *count = counts_for(*n); *count >= 0; count++)
            for (int type = 0; type < 2; type++) dominant_case(*n, *count, type);
}

/* Too long for shared memory. */
TEST(a_long_system) { dominant_case(small ? 7500 : 100000, 1, SHOAL_F64); }

/* As long, and so many that their norms have no room where the driver keeps its counts and list. */
TEST(several_long_systems) {
    batch p = generate("dominant", 7300, 12, 1, SHOAL_F64);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            if (on_cpu(&targets[t]) ||
                (strcmp(c->method, "cr") != 0 && strcmp(c->method, "pcr") != 0 &&
                 strcmp(c->method, "hybrid") != 0))
                continue;
            answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
            if (r.code != SHOAL_OK) continue;
            check_accuracy(&p, &r, STABLE, name_of(&targets[t], c));
            CHECK_MSG(r.info.failed == 0 && r.info.warned == 0, "%s: %lld failed",
                      name_of(&targets[t], c), (long long)r.info.failed);
            free_answer(&r);
        }
    free_batch(&p);
}

/* The other kinds that need no pivoting. */
TEST(laplace_and_graded_systems) {
    const int64_t lengths[] = { 2, 9, 64, 255, small ? 300 : 1500 };
    for (int i = 0; i < 10; i++) {
        batch p =
            generate(i % 2 ? "laplace" : "graded", lengths[i / 2], small ? 2 : 17, 1, SHOAL_F64);
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                if (r.code == SHOAL_OK) check_accuracy(&p, &r, STABLE, name_of(&targets[t], c));
                free_answer(&r);
            }
        free_batch(&p);
    }
}

static void pivoting_case(const char *kind, int64_t n, int64_t count, shoal_type type) {
    batch p = generate(kind, n, count, 2, type);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            if (!c->pivoted) continue;
            /* blocks of long ones may lose digits there: test_tridiag_gspike has its bounds */
            if (strcmp(c->method, "gspike") == 0 && n > 255) continue;
            const char *who = name_of(&targets[t], c);
            answer r = solve_with(targets[t].ctx, &p, c, (how){ .tol = 45 * eps_of(type) });
            answer s = solve_with(targets[t].ctx, &p, c, (how){ .layout = SHOAL_INTERLEAVED });
            check_accuracy(&p, &r, PIVOTED, who);
            check_accuracy(&p, &s, TRUSTED, who);
            const int once = !is_auto(c) || on_cpu(&targets[t]) || lengthy(&targets[t], n);
            const char *safe = !is_auto(c)               ? c->method
                               : lengthy(&targets[t], n) ? "twocarry"
                               : on_cpu(&targets[t])     ? "lupp"
                                                         : "qr";
            int64_t pivoted = 0; /* systems whose answer is that method's */
            for (int64_t k = 0; k < count; k++)
                pivoted += strcmp(shoal_methods("tridiag", r.method[k]), safe) == 0;
            if (once || (strcmp(kind, "zerodiag") == 0 && n > 1))
                CHECK_MSG(pivoted == count, "%s n=%lld: %lld pivoted", who, (long long)n,
                          (long long)pivoted);
            if (once) /* nothing was done twice */
                CHECK_MSG(r.info.redone == 0, "%s: redone %lld", who, (long long)r.info.redone);
            else
                CHECK_MSG(pivoted <= r.info.redone && r.info.redone <= 2 * pivoted,
                          "%s: redone %lld, of %lld systems", who, (long long)r.info.redone,
                          (long long)pivoted);
            CHECK(r.info.max_residual >= 0 &&
                  r.info.max_residual <= (float)(PIVOTED * eps_of(type)));
            free_answer(&r);
            free_answer(&s);
        }
    free_batch(&p);
}

TEST(pivoted_methods_solve_every_nonsingular_system) {
    const char *const kinds[] = { "random", "zerodiag", "zeropivot" };
    const int64_t lengths[] = { 1, 2, 3, 8, 9, 17, 64, 255, 1024, 3000 };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < (small ? 7 : 10); j++)
            for (int type = 0; type < 2; type++)
                pivoting_case(kinds[i], lengths[j], small ? 5 : 120, type);
}

/* What a system of a kind should come to. */
static int expected_status(const char *kind, const batch *p, int64_t k, int pivoted) {
    if (strcmp(kind, "singular") == 0 && k % 7 == 6)
        return pivoted ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_PIVOT;
    if (strcmp(kind, "nonfinite") == 0 && k % 11 == 10) return SHOAL_SYSTEM_NONFINITE;
    if (strcmp(kind, "zeropivot") == 0 && p->d[k * p->n] == 0 && !pivoted)
        return SHOAL_SYSTEM_PIVOT;
    return SHOAL_SYSTEM_OK;
}

/* Statuses are those expected, failed systems are NaN or keep b, the others have the bits that they
 * have in a batch without the failed ones. */
static void failing_case(const target *t, const call *c, const char *kind, const batch *p, how h) {
    answer r = solve_with(t->ctx, p, c, h);
    if (r.code != SHOAL_OK) return;
    batch good = new_batch(p->n, p->count, 1, p->type);
    int64_t healthy = 0, n = p->n;
    for (int64_t k = 0; k < p->count; k++) {
        int expected = expected_status(kind, p, k, c->pivoted);
        CHECK_MSG(r.status[k] == expected, "%s %s n=%lld k=%lld: status %d, not %d", name_of(t, c),
                  kind, (long long)n, (long long)k, r.status[k], expected);
        if (expected == 0) copy_system(&good, healthy++, p, k);
        for (int64_t i = 0; expected < 0 && i < n; i++)
            CHECK_MSG(h.in_place ? same(r.x[k * n + i], p->b[k * n + i]) : isnan(r.x[k * n + i]),
                      "%s %s n=%lld k=%lld: x is %g", name_of(t, c), kind, (long long)n,
                      (long long)k, r.x[k * n + i]);
        CHECK(h.no_residual || isnan(r.residual[k]) == (expected < 0));
    }
    CHECK_MSG(r.info.failed == p->count - healthy && r.info.warned == 0, "%s %s", name_of(t, c),
              kind);
    good.count = healthy;
    answer s = solve_with(t->ctx, &good, c, h);
    for (int64_t k = 0, at = 0; k < p->count; k++)
        if (expected_status(kind, p, k, c->pivoted) == 0)
            CHECK_MSG(same_all(r.x + k * n, s.x + at++ * n, n),
                      "%s %s n=%lld: system %lld was disturbed", name_of(t, c), kind, (long long)n,
                      (long long)k);
    free_answer(&s);
    free_answer(&r);
    free_batch(&good);
}

TEST(failures_are_reported_and_disturb_nobody) {
    const char *const kinds[] = { "singular", "nonfinite", "zeropivot" };
    const int64_t lengths[] = { 1, 2, 3, 8, 9, 17, 33, 100, 257, 1030 };
    const how hows[] = { { 0 },
                         { .in_place = 1 },
                         { .layout = SHOAL_INTERLEAVED, .no_residual = 1 } };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < (small ? 7 : 10); j++)
            for (int type = 0; type < 2; type++) {
                batch p = generate(kinds[i], lengths[j], small ? 12 : i == 2 ? 300 : 45, 1, type);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++)
                        failing_case(&targets[t], c, kinds[i], &p, hows[(j + i + type) % 3]);
                free_batch(&p);
            }
}

TEST(a_bad_right_hand_side_fails_its_system) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            batch p = generate("dominant", 20, 5, 3, SHOAL_F64);
            answer good = solve_with(targets[t].ctx, &p, c, (how){ 0 });
            p.b[(2 * 20 + 7) * 3 + 1] = INFINITY; /* system 2, row 7, right-hand side 1 */
            answer bad = solve_with(targets[t].ctx, &p, c, (how){ 0 });
            float most = 0; /* of the systems that were solved */
            for (int k = 0; k < 5 && good.code == SHOAL_OK; k++) {
                CHECK_MSG(bad.status[k] == (k == 2 ? SHOAL_SYSTEM_NONFINITE : 0), "%s",
                          name_of(&targets[t], c));
                for (int i = k * 60; i < (k + 1) * 60; i++)
                    CHECK(k == 2 && i % 3 == 1 ? isnan(bad.x[i]) : same(good.x[i], bad.x[i]));
                CHECK(k == 2 ? isnan(bad.residual[k]) : bad.residual[k] == good.residual[k]);
                if (k != 2) most = fmaxf(most, bad.residual[k]);
            }
            if (good.code == SHOAL_OK)
                CHECK_MSG(bad.info.failed == 1 && bad.info.max_residual == most, "%s: %g, not %g",
                          name_of(&targets[t], c), bad.info.max_residual, most);
            free_answer(&good);
            free_answer(&bad);
            free_batch(&p);
        }
}

/* Residuals are relative to their rows, however large those are: an answer that is as good as the others is told
 * so, by every method, whether products overflow on the way or not. */
TEST(rows_of_any_power_of_two_have_the_same_residual) {
    for (int type = 0; type < 2; type++)
        for (int e = type ? 118 : 1014; e <= (type ? 126 : 1022); e++)
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    batch p = generate("dominant", 33, 5, 1, type);
                    for (int64_t i = 0; i < p.n * p.count;
                         i++) { /* the largest numbers are below 3 */
                        p.dl[i] = ldexp(p.dl[i], e - 2), p.d[i] = ldexp(p.d[i], e - 2);
                        p.du[i] = ldexp(p.du[i], e - 2), p.b[i] = ldexp(p.b[i], e - 2);
                    }
                    round_batch(&p);
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    for (int64_t k = 0; k < p.count && r.code == SHOAL_OK; k++)
                        CHECK_MSG(r.status[k] == 0 && r.residual[k] <= 4 * eps_of(type),
                                  "%s 2^%d: status %d, residual %g", name_of(&targets[t], c), e,
                                  r.status[k], r.residual[k] / eps_of(type));
                    free_answer(&r);
                    free_batch(&p);
                }
}

/* Rows of subnormal numbers are judged by the second look, rows near the largest number by the first. */
TEST(rows_of_the_smallest_and_largest_numbers_are_judged) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            if (strcmp(c->method, "qr") != 0 && strcmp(c->method, "lupp") != 0) continue;
            batch p = generate("dominant", 2, 3, 1, SHOAL_F64);
            p.d[2] = p.d[3] = 0x1p-1060, p.du[2] = p.dl[3] = 0x1p-1062, p.b[2] = p.b[3] = 0x1p-1061;
            p.d[4] = p.d[5] = 0.9 * DBL_MAX, p.du[4] = p.dl[5] = 0.3 * DBL_MAX,
            p.b[4] = p.b[5] = 1e300;
            answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
            if (r.code == SHOAL_OK)
                CHECK_MSG(r.status[1] == 0 && r.residual[1] <= 10 * DBL_EPSILON &&
                              r.info.max_residual <= 10 * DBL_EPSILON && r.info.warned == 0 &&
                              r.info.failed == 0 && r.status[2] == 0,
                          "%s: status %d, residual %g, largest %g", name_of(&targets[t], c),
                          r.status[1], r.residual[1], r.info.max_residual);
            free_answer(&r);
            free_batch(&p);
        }
}

/* Alone, in reverse order, with other numbers of threads. */
static void invariance_case(const target *t, const call *c, const batch *p) {
    const int64_t n = p->n, count = p->count;
    answer r = solve_with(t->ctx, p, c, (how){ 0 });
    if (r.code != SHOAL_OK) return;
    batch turned = new_batch(n, count, 1, p->type), one = new_batch(n, 1, 1, p->type);
    for (int64_t k = 0; k < count; k++) copy_system(&turned, count - 1 - k, p, k);
    answer s = solve_with(t->ctx, &turned, c, (how){ 0 });
    for (int64_t k = 0; k < count; k++)
        CHECK_MSG(same_all(r.x + k * n, s.x + (count - 1 - k) * n, n), "%s n=%lld: place",
                  name_of(t, c), (long long)n);
    free_answer(&s);
    for (int64_t k = 0; k < count; k += 5) {
        copy_system(&one, 0, p, k);
        s = solve_with(t->ctx, &one, c,
                       (how){ .layout = k % 2 ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR });
        CHECK_MSG(same_all(r.x + k * n, s.x, n), "%s n=%lld: alone", name_of(t, c), (long long)n);
        free_answer(&s);
    }
    for (int threads = 1; threads < 6 && strcmp(t->backend, "cpu") == 0; threads += 2) {
        shoal_context *ctx;
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .isa = t->isa, .threads = threads },
                         &ctx) == 0);
        s = solve_with(ctx, p, c, (how){ 0 });
        CHECK_MSG(same_all(r.x, s.x, n * count), "%s n=%lld: threads", name_of(t, c), (long long)n);
        free_answer(&s);
        shoal_close(ctx);
    }
    free_answer(&r);
    free_batch(&turned);
    free_batch(&one);
}

TEST(the_answer_depends_on_the_system_alone) {
    const int64_t lengths[] = { 7, 33, 129, 700 };
    for (int j = 0; j < (small ? 3 : 4); j++)
        for (int type = 0; type < 2; type++) {
            batch p = generate(j % 2 ? "random" : "dominant", lengths[j], small ? 6 : 37, 1, type);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) invariance_case(&targets[t], c, &p);
            free_batch(&p);
        }
}

/* Largest difference of two answers, in units of the largest number in them. */
static double difference(const batch *p, const answer *r, const answer *s) {
    double most = 0, apart = 0;
    for (int64_t i = 0; i < p->n * p->count; i++) {
        if (isnan(r->x[i]) || isnan(s->x[i])) return NAN;
        most = fmax(most, fabs(r->x[i])), apart = fmax(apart, fabs(r->x[i] - s->x[i]));
    }
    return apart / (most * eps_of(p->type));
}

/* Both variants of pcr are one algorithm, and every instruction level computes the same; but those of
 * twocarry begin their reciprocal roots differently, and v2 has no fused multiply-add. */
TEST(variants_and_levels_agree_bit_for_bit) {
    for (int type = 0; type < 2; type++)
        for (int64_t n = 1; n < (small ? 40 : 300); n += 13) {
            batch p = generate("dominant", n, 9, 1, type);
            for (const call *c = calls; c->method; c++) {
                const call *first =
                    strcmp(c->method, "pcr") == 0 ? &(call){ "pcr", "stride", 0 } : c;
                if (c->variant && strcmp(c->variant, "block") == 0) continue;
                const int rounded = strcmp(c->method, "twocarry") == 0;
                answer r = solve_with(targets[0].ctx, &p, first, (how){ 0 });
                for (int t = 0; t < target_count && on_cpu(&targets[t]); t++) {
                    answer s = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    CHECK_MSG(rounded ? difference(&p, &r, &s) <= 16 : same_all(r.x, s.x, n * 9),
                              "%s n=%lld", name_of(&targets[t], c), (long long)n);
                    free_answer(&s);
                }
                free_answer(&r);
            }
            free_batch(&p);
        }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(dominant_systems_at_all_sizes);
    RUN(a_long_system);
    RUN(several_long_systems);
    RUN(laplace_and_graded_systems);
    RUN(pivoted_methods_solve_every_nonsingular_system);
    RUN(failures_are_reported_and_disturb_nobody);
    RUN(a_bad_right_hand_side_fails_its_system);
    RUN(rows_of_any_power_of_two_have_the_same_residual);
    RUN(rows_of_the_smallest_and_largest_numbers_are_judged);
    RUN(the_answer_depends_on_the_system_alone);
    RUN(variants_and_levels_agree_bit_for_bit);
    close_targets();
    return TEST_END();
}
