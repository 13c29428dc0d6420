/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_estimate.c - the estimate of the condition number against an inverse in long double,
 * and refinement: what both say of a system, and that they say it of that system alone.
 *
 *     test_smallsym_estimate [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "smallsym_batch.h"

static const int64_t lengths[] = { 1, 2, 3, 4, 5, 8, 9, 13, 16, 17, 30, 33, 49, 64 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- the judge -------------------------------------------------------------------------------- */

/* Largest sum of a column's sizes. */
static long double norm_1(const long double *a, int64_t n) {
    long double most = 0;
    for (int64_t j = 0; j < n; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += fabsl(a[i * n + j]);
        most = fmaxl(most, sum);
    }
    return most;
}

static void swap_rows(long double *a, int64_t n, int64_t i, int64_t j) {
    for (int64_t c = 0; c < n; c++) {
        const long double kept = a[i * n + c];
        a[i * n + c] = a[j * n + c], a[j * n + c] = kept;
    }
}

/* 1 / (|A| |A^-1|) in the 1-norm, by Gauss and Jordan with partial pivoting; 0 if a pivot is. */
static double true_rcond(const batch *p, int64_t k) {
    const int64_t n = p->n;
    long double *a = new_array((size_t)(n * n), sizeof *a);
    long double *v = new_array((size_t)(n * n), sizeof *v);
    for (int64_t e = 0; e < n * n; e++) a[e] = entry(p, k, e / n, e % n), v[e] = e / n == e % n;
    const long double norm = norm_1(a, n);
    int singular = 0;
    for (int64_t c = 0; c < n && !singular; c++) {
        int64_t at = c;
        for (int64_t i = c + 1; i < n; i++)
            if (fabsl(a[i * n + c]) > fabsl(a[at * n + c])) at = i;
        swap_rows(a, n, c, at), swap_rows(v, n, c, at);
        const long double pivot = a[c * n + c];
        singular = pivot == 0;
        for (int64_t j = 0; j < n && !singular; j++) a[c * n + j] /= pivot, v[c * n + j] /= pivot;
        for (int64_t i = 0; i < n && !singular; i++) {
            const long double l = a[i * n + c];
            for (int64_t j = 0; j < n && i != c; j++)
                a[i * n + j] -= l * a[c * n + j], v[i * n + j] -= l * v[c * n + j];
        }
    }
    const double result = singular ? 0 : (double)(1 / norm / norm_1(v, n));
    free(a), free(v);
    return result;
}

/* ---- estimates -------------------------------------------------------------------------------- */

static int64_t estimates, close_ones; /* within a factor of 3 */

/* The estimate of |A^-1| is |(A + E)^-1 y| / |y| for some y and an E of at most 10 n units of A's
 * size, the backward error of a solve; 1 / (|A| |A^-1|) is no further from that of A + E than E is
 * from 0. So rcond is never smaller than the truth less that; it should be at most 10 times larger,
 * and mostly 3. */
static void estimate_case(const target *t, const call *c, const char *kind, const batch *p,
                          const double *truth) {
    answer r = solve_with(t->ctx, p, c, (how){ .estimate = 1 });
    const double off = 10 * (double)p->n * eps_of(p->type);
    for (int64_t k = 0; k < p->count && r.code == SHOAL_OK; k++) {
        if (r.status[k] != SHOAL_SYSTEM_OK) continue;
        CHECK_MSG(r.rcond[k] >= truth[k] - off - FLT_EPSILON * truth[k] &&
                      r.rcond[k] <= 10 * (truth[k] + off),
                  "%s %s %s n=%lld k=%lld: rcond %g, not %g", name_of(t, c), kind,
                  p->type ? "f32" : "f64", (long long)p->n, (long long)k, (double)r.rcond[k],
                  truth[k]);
        if (truth[k] <= 10 * off) continue;
        estimates++;
        close_ones += r.rcond[k] <= 3 * truth[k];
    }
    free_answer(&r);
}

TEST(estimates_are_near_the_truth) {
    const int64_t count = small ? 3 : 10;
    double truth[10];
    for (int i = 0; shoal_smallsym_kind(i); i++)
        for (int j = 0; j < LENGTHS; j++)
            for (int type = 0; type < 2; type++) {
                const char *kind = shoal_smallsym_kind(i);
                batch p = generate(kind, lengths[j], count, 1, type);
                for (int64_t k = 0; k < count; k++) truth[k] = true_rcond(&p, k);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls + AUTOS; c->method; c++)
                        if (careful_here(&targets[t], c))
                            estimate_case(&targets[t], c, kind, &p, truth);
                free_batch(&p);
            }
    CHECK_MSG(estimates > 100 && close_ones >= estimates * 95 / 100, "%lld of %lld within 3",
              (long long)close_ones, (long long)estimates);
}

/* A diagonal matrix's condition is found exactly, wherever its largest entry of the inverse is. */
TEST(of_diagonal_matrices_they_are_exact) {
    for (int j = 0; j < LENGTHS; j++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = lengths[j];
            batch p = new_batch(n, n, 1, type);
            for (int64_t k = 0; k < n; k++)
                for (int64_t i = 0; i < n; i++) {
                    p.a[(k * n + i) * n + i] = i == k ? 0x1p-9 : 2;
                    p.b[k * n + i] = 1;
                }
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls + AUTOS; c->method; c++) {
                    if (!careful_here(&targets[t], c)) continue;
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .estimate = 1 });
                    for (int64_t k = 0; k < n && r.code == SHOAL_OK; k++)
                        CHECK_MSG(fabs((double)r.rcond[k] / (n > 1 ? 0x1p-10 : 1) - 1) <=
                                      4 * (double)n * eps_of(type),
                                  "%s n=%lld k=%lld: rcond %g", name_of(&targets[t], c),
                                  (long long)n, (long long)k, (double)r.rcond[k]);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* Methods that scale rows; the paper's own variants do not. */
static int scales_rows(const call *c) {
    const char *word = c->variant ? c->variant : "";
    if (strcmp(c->method, "auto") == 0) return strcmp(word, "hhpcr") == 0;
    if (strcmp(c->method, "hhpcr") == 0)
        return !*word || strcmp(word, "reflect") == 0 || strcmp(word, "formed") == 0;
    return strcmp(c->method, "ldltp") == 0;
}

/* What pivots and eigenvalues say of a diagonal matrix is exact, too, wherever its largest entry is; a
 * matrix whose rows were scaled is a multiple of the unit matrix. */
TEST(pivots_of_diagonals) {
    const int64_t orders[] = { 2, 3, 8, 17 };
    for (int j = 0; j < 4; j++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = orders[j];
            batch p = new_batch(n, n, 1, type);
            for (int64_t k = 0; k < n; k++)
                for (int64_t i = 0; i < n; i++)
                    p.a[(k * n + i) * n + i] = i == k ? 0x1p9 : 0.5, p.b[k * n + i] = 1;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    for (int64_t k = 0; k < n && r.code == SHOAL_OK; k++)
                        CHECK_MSG(fabs((double)r.rcond[k] * (scales_rows(c) ? 1 : 0x1p10) - 1) <=
                                      4 * (double)n * eps_of(type),
                                  "%s n=%lld k=%lld: rcond %g", name_of(&targets[t], c),
                                  (long long)n, (long long)k, (double)r.rcond[k]);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* A^-1 = I + g v vt, v = 2 e_0 -+ e_(n-1) and so orthogonal to the first y of the climb, whose |A^-1 y| is 1
 * (condition.h): who stops there is wrong by a factor of more than g. */
TEST(a_first_vector_that_sees_nothing) {
    const int64_t orders[] = { 2, 3, 8, 17, 33 };
    const double g = 1024, c = g / (1 + 5 * g);
    for (int j = 0; j < 5; j++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = orders[j], last = n - 1;
            batch p = new_batch(n, 1, 1, type);
            for (int64_t i = 0; i < n; i++) p.a[i * n + i] = 1, p.b[i] = 1;
            p.a[0] = 1 - 4 * c, p.a[last * n + last] = 1 - c,
            p.a[last * n] = last % 2 ? -2 * c : 2 * c;
            round_batch(&p);
            const double truth = true_rcond(&p, 0);
            for (int t = 0; t < target_count; t++)
                for (const call *m = calls + AUTOS; m->method; m++)
                    if (careful_here(&targets[t], m))
                        estimate_case(&targets[t], m, "rank one", &p, &truth);
            free_batch(&p);
        }
}

/* A^-1 has 1 on its diagonal and +-c in its first column and row. Multiplying by it grows a vector 1 + c sqrt(n - 1)
 * times. Its norm is that of the first column, 1 + c (n - 1), which only the climb from there finds. */
TEST(a_column_that_powers_do_not_find) {
    const int64_t orders[] = { 5, 17, 33, 64 };
    for (int j = 0; j < 4; j++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = orders[j];
            const double c = 0.9 / sqrt((double)(n - 1)), schur = 1 - 0.81;
            batch p = new_batch(n, 1, 1, type);
            for (int64_t i = 0; i < n; i++)
                for (int64_t k = 0; k <= i; k++) {
                    const double sign = (i + k) % 2 ? -1 : 1;
                    p.a[i * n + k] = (i == k && i > 0) + (i == 0   ? 1
                                                          : k == 0 ? -sign * c
                                                                   : sign * c * c) /
                                                             schur;
                }
            for (int64_t i = 0; i < n; i++) p.b[i] = 1;
            round_batch(&p);
            const double truth = true_rcond(&p, 0);
            for (int t = 0; t < target_count; t++)
                for (const call *m = calls + AUTOS; m->method; m++) {
                    if (!careful_here(&targets[t], m)) continue;
                    answer r = solve_with(targets[t].ctx, &p, m, (how){ .estimate = 1 });
                    CHECK_MSG(r.code != SHOAL_OK || fabs(r.rcond[0] / truth - 1) < 1e-4,
                              "%s n=%lld: rcond %g, not %g", name_of(&targets[t], m), (long long)n,
                              (double)r.rcond[0], truth);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* Systems without unknowns have the best condition there is. */
TEST(of_no_unknowns_they_are_1) {
    batch p = new_batch(0, 3, 1, SHOAL_F64);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls + AUTOS; c->method; c++) {
            if (!careful_here(&targets[t], c)) continue;
            answer r = solve_with(targets[t].ctx, &p, c, (how){ .estimate = 1 });
            for (int k = 0; k < 3 && r.code == SHOAL_OK; k++)
                CHECK_MSG(r.rcond[k] == 1 && r.status[k] == SHOAL_SYSTEM_OK, "%s: rcond %g",
                          name_of(&targets[t], c), (double)r.rcond[k]);
            free_answer(&r);
        }
    free_batch(&p);
}

/* A system's estimate is the same alone, among others, failed ones too, and in every storage. */
static void alone_case(const target *t, const call *c, const batch *p, how h) {
    how asked = { .estimate = 1, .refine = h.refine };
    h.estimate = 1;
    answer all = solve_with(t->ctx, p, c, h);
    batch one = new_batch(p->n, 1, 1, p->type);
    for (int64_t k = 0; k < p->count && all.code == SHOAL_OK; k++) {
        copy_system(&one, 0, p, k);
        answer r = solve_with(t->ctx, &one, c, asked);
        CHECK_MSG(r.status[0] == all.status[k] && same(r.rcond[0], all.rcond[k]) &&
                      (r.status[0] < 0 || same_all(r.x, all.x + k * p->n, p->n)),
                  "%s n=%lld k=%lld: status %d and %d, rcond %g and %g", name_of(t, c),
                  (long long)p->n, (long long)k, r.status[0], all.status[k], (double)r.rcond[0],
                  (double)all.rcond[k]);
        free_answer(&r);
    }
    free_answer(&all);
    free_batch(&one);
}

TEST(a_system_stands_alone) {
    const how hows[] = { { .in_place = 1 },
                         { .triangle = SHOAL_UPPER, .wider = 3, .refine = 2 },
                         { .layout = SHOAL_INTERLEAVED, .storage = SHOAL_PACKED, .in_place = 1 },
                         { .storage = SHOAL_PACKED, .triangle = SHOAL_UPPER, .refine = 1 } };
    const char *const kinds[] = { "nonfinite", "singular", "regression" };
    for (int j = 0; j < LENGTHS; j += small ? 2 : 1)
        for (int i = 0; i < 3; i++) {
            batch p = generate(kinds[i], lengths[j], small ? 12 : 24, 1, (i + j) % 2);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls + AUTOS; c->method; c++)
                    if (careful_here(&targets[t], c))
                        alone_case(&targets[t], c, &p, hows[(i + j) % 4]);
            free_batch(&p);
        }
}

/* On the CPU the estimate changes nothing else; far from 1 it is that of the matrix near 1. */
TEST(scales_do_not_matter) {
    for (int j = 0; j < LENGTHS; j += small ? 3 : 1)
        for (int type = 0; type < 2; type++) {
            batch p = generate("wishart", lengths[j], 5, 1, type),
                  q = generate("wishart", lengths[j], 5, 1, type);
            const double up = type ? 0x1p90 : 0x1p900;
            for (int64_t e = 0; e < 5 * p.n * p.n; e++) q.a[e] *= j % 2 ? up : 1 / up;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls + AUTOS; c->method; c++) {
                    if (!careful_here(&targets[t], c)) continue;
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .estimate = 1 });
                    answer s = solve_with(targets[t].ctx, &q, c, (how){ .estimate = 1 });
                    answer plain = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    for (int64_t k = 0; k < 5 && r.code == SHOAL_OK; k++)
                        CHECK_MSG(r.status[k] >= 0 && fabs((double)(s.rcond[k] / r.rcond[k]) - 1) <=
                                                          4 * FLT_EPSILON,
                                  "%s n=%lld: rcond %g and %g", name_of(&targets[t], c),
                                  (long long)p.n, (double)r.rcond[k], (double)s.rcond[k]);
                    if (r.code == SHOAL_OK && on_cpu(&targets[t]))
                        CHECK(same_all(r.x, plain.x, 5 * p.n));
                    free_answer(&r), free_answer(&s), free_answer(&plain);
                }
            free_batch(&p), free_batch(&q);
        }
}

/* ---- refinement ------------------------------------------------------------------------------- */

/* A tol between the residuals before and after it: without refinement a warning, with it none, and
 * the status says why. */
static void refined_case(const target *t, const call *c, const batch *p) {
    answer before = solve_with(t->ctx, p, c, (how){ .estimate = 1 });
    answer after = solve_with(t->ctx, p, c, (how){ .estimate = 1, .refine = 3 });
    batch one = new_batch(p->n, 1, p->nrhs, p->type);
    for (int64_t k = 0; k < p->count && before.code == SHOAL_OK; k++) {
        const double low = after.residual[k], high = before.residual[k];
        if (before.status[k] != SHOAL_SYSTEM_OK || !(low < high)) continue;
        estimates++;
        copy_system(&one, 0, p, k);
        const how h = { .estimate = 1, .tol = (low + high) / 2 };
        how more = h;
        more.refine = 3;
        answer r = solve_with(t->ctx, &one, c, h), s = solve_with(t->ctx, &one, c, more);
        CHECK_MSG(r.status[0] == SHOAL_SYSTEM_ILL && s.status[0] == SHOAL_SYSTEM_REFINED &&
                      s.info.warned == 1 && s.residual[0] <= low && s.info.max_residual <= low,
                  "%s n=%lld k=%lld: status %d and %d", name_of(t, c), (long long)p->n,
                  (long long)k, r.status[0], s.status[0]);
        CHECK(same_all(s.x, after.x + k * p->n * p->nrhs, p->n * p->nrhs));
        free_answer(&r), free_answer(&s);
    }
    if (after.code == SHOAL_OK) check_accuracy(p, &after, SOME_OK, name_of(t, c));
    free_answer(&before), free_answer(&after);
    free_batch(&one);
}

TEST(refined_systems_say_so) {
    estimates = 0;
    for (int j = 0; j < LENGTHS; j++)
        for (int type = 0; type < 2; type++) {
            batch p = generate("wishart", lengths[j], small ? 3 : 10, 2, type);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls + AUTOS; c->method; c++)
                    if (careful_here(&targets[t], c)) refined_case(&targets[t], c, &p);
            free_batch(&p);
        }
    CHECK_MSG(estimates > 30, "%lld refined", (long long)estimates);
}

/* Bad systems and bad right-hand sides are what they are without it. */
TEST(failures_are_the_same_with_refinement) {
    const char *const kinds[] = { "singular", "nonfinite" };
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < LENGTHS; j++) {
            batch p = generate(kinds[i], lengths[j], 22, 2, j % 2);
            p.b[2] = NAN;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls + AUTOS; c->method; c++) {
                    if (!careful_here(&targets[t], c)) continue;
                    const how h = { .refine = 2, .in_place = i };
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = i });
                    answer s = solve_with(targets[t].ctx, &p, c, h);
                    for (int64_t k = 0; k < 22 && r.code == SHOAL_OK; k++) {
                        CHECK_MSG((r.status[k] < 0 || s.status[k] < 0) ? r.status[k] == s.status[k]
                                                                       : 1,
                                  "%s %s n=%lld k=%lld: status %d and %d", name_of(&targets[t], c),
                                  kinds[i], (long long)p.n, (long long)k, r.status[k], s.status[k]);
                        for (int64_t e = k * p.n * 2; e < (k + 1) * p.n * 2 && s.status[k] < 0; e++)
                            CHECK(isnan(r.x[e]) == isnan(s.x[e]));
                    }
                    free_answer(&r), free_answer(&s);
                }
            free_batch(&p);
        }
}

/* A = D B D and b = D B y have x = D^-1 y, D of powers of two so far apart that wide.h solves every other system. */
static batch in_units(int64_t n, shoal_type type, double *x) {
    const int most = type == SHOAL_F32 ? 50 : 480;
    batch p = new_batch(n, 5, 3, type);
    for (int64_t k = 0; k < p.count; k++)
        for (int64_t i = 0; i < n; i++) {
            const int u = k % 2 ? 0 : (int)((i + k) % 3 - 1) * most;
            for (int64_t j = 0; j <= i; j++) {
                const int v = k % 2 ? 0 : (int)((j + k) % 3 - 1) * most;
                p.a[(k * n + i) * n + j] = ldexp(i == j ? 2. * (double)n : 1, u + v);
            }
            for (int64_t c = 0; c < p.nrhs; c++) { /* y(j) = 1 + (j + c) mod 5 */
                double sum = 0;
                for (int64_t j = 0; j < n; j++)
                    sum += (double)(1 + (j + c) % 5) * (i == j ? 2. * (double)n : 1);
                p.b[(k * n + i) * p.nrhs + c] = ldexp(sum, u);
                x[(k * n + i) * p.nrhs + c] = ldexp((double)(1 + (i + c) % 5), -u);
            }
        }
    return p;
}

TEST(rows_far_apart) {
    const how hows[] = { { .refine = 1 }, { .estimate = 1, .in_place = 1 }, { .in_place = 1 } };
    const int64_t orders[] = { 9, 2, 33 };
    double x[33 * 5 * 3];
    for (int j = 0; j < (small ? 1 : 3); j++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = orders[j];
            batch p = in_units(n, type, x);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++)
                    for (int h = 0; h < 3; h++) {
                        const int plain = h == 2 && c >= calls + AUTOS; /* flagged on a GPU */
                        if (!careful_here(&targets[t], c) || (plain && !on_cpu(&targets[t])) ||
                            strcmp(c->method, "eigdc") == 0)
                            continue;
                        answer r = solve_with(targets[t].ctx, &p, c, hows[h]);
                        for (int64_t e = 0; e < n * 15 && r.code == SHOAL_OK; e++)
                            CHECK_MSG(r.status[e / (3 * n)] % SHOAL_SYSTEM_REFINED == 0 &&
                                          fabs(r.x[e] / x[e] - 1) <= 32 * eps_of(type) * (double)n,
                                      "%s n=%lld, %d: x of system %lld is %g, not %g, status %d",
                                      name_of(&targets[t], c), (long long)n, h,
                                      (long long)(e / (3 * n)), r.x[e], x[e],
                                      (int)r.status[e / (3 * n)]);
                        free_answer(&r);
                    }
            free_batch(&p);
        }
}

/* ... and factors have their estimate, too. */
TEST(an_estimate_for_factors_far_apart) {
    const float A[] = { 1, 0, 0x1p-100f }; /* packed */
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        const shoal_smallsym_opts o = { .n = 2,
                                        .count = 1,
                                        .nrhs = 1,
                                        .type = SHOAL_F32,
                                        .storage = SHOAL_PACKED,
                                        .method = "ldlt",
                                        .estimate = 1 };
        shoal_smallsym *plan = NULL;
        float rcond = 0, *there = upload(ctx, A, sizeof A, 0), *L = upload(ctx, A, sizeof A, 0);
        float *to = upload(ctx, &rcond, sizeof rcond, 0);
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_outcome(plan, &(shoal_outcome){ .rcond = to }) == SHOAL_OK);
        for (int again = 0; again < 2; again++) {
            CHECK(shoal_smallsym_factorf(plan, there, L) == SHOAL_OK);
            CHECK(shoal_copy(ctx, &rcond, to, sizeof rcond) == SHOAL_OK);
            CHECK_MSG(rcond == 0x1p-100f, "%s: %g", targets[t].backend, (double)rcond);
        }
        shoal_free(ctx, there), shoal_free(ctx, L), shoal_free(ctx, to);
        shoal_smallsym_free(plan);
    }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(estimates_are_near_the_truth);
    RUN(of_diagonal_matrices_they_are_exact);
    RUN(pivots_of_diagonals);
    RUN(a_first_vector_that_sees_nothing);
    RUN(a_column_that_powers_do_not_find);
    RUN(of_no_unknowns_they_are_1);
    RUN(a_system_stands_alone);
    RUN(scales_do_not_matter);
    RUN(refined_systems_say_so);
    RUN(failures_are_the_same_with_refinement);
    RUN(rows_far_apart);
    RUN(an_estimate_for_factors_far_apart);
    close_targets();
    return TEST_END();
}
