/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_verdict.c - what is said of each system, and that it is true: statuses of systems
 * that are singular, not finite, zero, subnormal or far from 1; that a bad system disturbs nobody;
 * residuals, inertia, rank and the pivot bound against values computed here.
 *
 *     test_smallsym_verdict [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "smallsym_batch.h"

static const int64_t lengths[] = { 1, 2, 3, 5, 8, 9, 13, 17, 25, 33, 49, 64 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* What an exactly singular system comes to. */
static int singular_status(const call *c) {
    return c->trait & DEFICIENT    ? SHOAL_SYSTEM_TRUNCATED
           : c->trait & INDEFINITE ? SHOAL_SYSTEM_SINGULAR
                                   : SHOAL_SYSTEM_PIVOT;
}

static int expected_status(const char *kind, const call *c, int64_t k) {
    if (strcmp(kind, "singular") == 0 && k % 7 == 6) return singular_status(c);
    if (strcmp(kind, "nonfinite") == 0 && k % 11 == 10) return SHOAL_SYSTEM_NONFINITE;
    return SHOAL_SYSTEM_OK;
}

/* A failed system: x is NaN, or b where x is b, and nothing else is known of it. */
static void check_failed(const batch *p, const answer *r, int64_t k, how h, const char *who) {
    const int64_t m = p->n * p->nrhs;
    for (int64_t i = k * m; i < (k + 1) * m; i++)
        CHECK_MSG(h.in_place ? same(r->x[i], p->b[i]) : isnan(r->x[i]), "%s n=%lld k=%lld: x is %g",
                  who, (long long)p->n, (long long)k, r->x[i]);
    CHECK(h.no_residual || isnan(r->residual[k]));
    CHECK(isnan(r->rcond[k]) && r->rank[k] == -1);
    CHECK(r->inertia[3 * k] == -1 && r->inertia[3 * k + 1] == -1 && r->inertia[3 * k + 2] == -1);
}

/* Statuses are those expected, and the others have the bits that they have without the failed. */
static void failing_case(const target *t, const call *c, const char *kind, const batch *p, how h) {
    answer r = solve_with(t->ctx, p, c, h);
    if (r.code != SHOAL_OK) return;
    const char *who = name_of(t, c);
    batch good = new_batch(p->n, p->count, 1, p->type);
    int64_t healthy = 0, failed = 0, warned = 0;
    for (int64_t k = 0; k < p->count; k++) {
        int expected = expected_status(kind, c, k);
        if (expected == SHOAL_SYSTEM_PIVOT && may_warn(c) && r.status[k] == SHOAL_SYSTEM_ILL)
            expected = SHOAL_SYSTEM_ILL; /* hhpcr's pivot is only nearly zero, after Householder */
        CHECK_MSG(r.status[k] == expected, "%s %s n=%lld k=%lld: status %d, not %d", who, kind,
                  (long long)p->n, (long long)k, r.status[k], expected);
        if (expected == 0) copy_system(&good, healthy++, p, k);
        if (expected < 0) check_failed(p, &r, k, h, who);
        failed += expected<0, warned += expected> 0;
    }
    CHECK_MSG(r.info.failed == failed && r.info.warned == warned, "%s %s: %lld failed", who, kind,
              (long long)r.info.failed);
    good.count = healthy;
    answer s = solve_with(t->ctx, &good, c, h);
    for (int64_t k = 0, at = 0; k < p->count; k++)
        if (expected_status(kind, c, k) == 0)
            CHECK_MSG(same_all(r.x + k * p->n, s.x + at++ * p->n, p->n),
                      "%s %s n=%lld: system %lld was disturbed", who, kind, (long long)p->n,
                      (long long)k);
    free_answer(&s);
    free_answer(&r);
    free_batch(&good);
}

TEST(failures_are_reported_and_disturb_nobody) {
    const char *const kinds[] = { "singular", "nonfinite" };
    const how hows[] = { { 0 },
                         { .in_place = 1 },
                         { .layout = SHOAL_INTERLEAVED, .no_residual = 1 },
                         { .storage = SHOAL_PACKED, .in_place = 1 } };
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < LENGTHS; j++)
            for (int type = 0; type < 2; type++) {
                batch p = generate(kinds[i], lengths[j], small ? 12 : 45, 1, type);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++)
                        failing_case(&targets[t], c, kinds[i], &p, hows[(j + i + type) % 4]);
                free_batch(&p);
            }
}

/* Each right-hand side stands for itself, the status is the worst of them. */
TEST(a_bad_right_hand_side_fails_its_system) {
    const int64_t sizes[] = { 5, 20, 40 };
    for (int j = 0; j < 6; j++)
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                const int64_t n = sizes[j / 2];
                const how h = { .in_place = j % 2 };
                batch p = generate("spd", n, 5, 3, j % 2);
                answer good = solve_with(targets[t].ctx, &p, c, h);
                p.b[(2 * n + 3) * 3 + 1] = j % 2 ? NAN : INFINITY; /* system 2, right-hand side 1 */
                answer bad = solve_with(targets[t].ctx, &p, c, h);
                for (int64_t k = 0; k < 5 && good.code == SHOAL_OK; k++) {
                    CHECK_MSG(bad.status[k] == (k == 2 ? SHOAL_SYSTEM_NONFINITE : 0), "%s",
                              name_of(&targets[t], c));
                    for (int64_t i = k * n * 3; i < (k + 1) * n * 3; i++)
                        CHECK_MSG(k != 2 || i % 3 != 1 ? same(good.x[i], bad.x[i])
                                  : h.in_place         ? same(bad.x[i], p.b[i])
                                                       : isnan(bad.x[i]),
                                  "%s n=%lld: x %g", name_of(&targets[t], c), (long long)n,
                                  bad.x[i]);
                }
                free_answer(&good);
                free_answer(&bad);
                free_batch(&p);
            }
}

/* ---- systems without an answer ---------------------------------------------------------------- */

/* All entries of A the same, b as generated. */
static void constant_case(int64_t n, shoal_type type, double value, int in_place) {
    batch p = generate("spd", n, 3, 1, type);
    for (int64_t i = 0; i < n * n; i++) p.a[n * n + i] = value; /* system 1 */
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            const how h = { .in_place = in_place };
            answer r = solve_with(targets[t].ctx, &p, c, h);
            if (r.code != SHOAL_OK) continue;
            const int expected = value == 0 ? singular_status(c) : SHOAL_SYSTEM_NONFINITE;
            CHECK_MSG(r.status[1] == expected && r.status[0] == 0 && r.status[2] == 0,
                      "%s n=%lld all %g: status %d", name_of(&targets[t], c), (long long)n, value,
                      r.status[1]);
            if (expected < 0) check_failed(&p, &r, 1, h, name_of(&targets[t], c));
            free_answer(&r);
        }
    free_batch(&p);
}

TEST(matrices_of_zeros_and_of_nan) {
    for (int j = 0; j < LENGTHS; j++)
        for (int type = 0; type < 2; type++) {
            constant_case(lengths[j], type, 0, j % 2);
            constant_case(lengths[j], type, NAN, j % 2);
            constant_case(lengths[j], type, -INFINITY, !(j % 2));
        }
}

TEST(systems_of_one_unknown) {
    for (int type = 0; type < 2; type++) {
        const double most = type ? FLT_MAX : DBL_MAX, least = type ? FLT_TRUE_MIN : DBL_TRUE_MIN;
        const struct {
            double a, b, x;
            int status;
        } cases[] = {
            { 2, 3, 1.5, 0 },
            { -2, 3, -1.5, 0 },
            { 2, 0, 0, 0 },
            { most, most, 1, 0 },
            { -most, most, -1, 0 },
            { least, least, 1, 0 },
            { 5 * least, -20 * least, -4, 0 },
            { least, 1, NAN, SHOAL_SYSTEM_OVERFLOW },
            { 0.25, most, NAN, SHOAL_SYSTEM_OVERFLOW },
            { NAN, 1, NAN, SHOAL_SYSTEM_NONFINITE },
            { INFINITY, 1, NAN, SHOAL_SYSTEM_NONFINITE },
            { 1, -INFINITY, NAN, SHOAL_SYSTEM_NONFINITE },
        };
        enum { CASES = sizeof cases / sizeof *cases };
        batch p = new_batch(1, CASES, 1, type);
        for (int k = 0; k < CASES; k++) p.a[k] = cases[k].a, p.b[k] = cases[k].b;
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                for (int k = 0; k < CASES && r.code == SHOAL_OK; k++) {
                    CHECK_MSG(r.status[k] == cases[k].status && same(r.x[k], cases[k].x),
                              "%s %s case %d: status %d, x %g", name_of(&targets[t], c),
                              type ? "f32" : "f64", k, r.status[k], r.x[k]);
                    if (cases[k].status == 0)
                        CHECK(r.inertia[3 * k] == (cases[k].a > 0) &&
                              r.inertia[3 * k + 1] == (cases[k].a < 0));
                }
                free_answer(&r);
            }
        free_batch(&p);
    }
}

/* ---- far from 1 ------------------------------------------------------------------------------- */

/* 2 n on the diagonal and 1 beside it, in units of the smallest number; x is 1. */
TEST(subnormal_matrices) {
    for (int j = 0; j < LENGTHS; j++)
        for (int type = 0; type < 2; type++) {
            const double unit = type ? FLT_TRUE_MIN : DBL_TRUE_MIN;
            const int64_t n = lengths[j];
            batch p = new_batch(n, 3, 1, type);
            for (int64_t i = 0; i < 3 * n; i++) {
                for (int64_t q = 0; q < n; q++)
                    p.a[i * n + q] = (q == i % n ? 2 * (double)n : 1) * unit;
                p.b[i] = (3 * (double)n - 1) * unit;
            }
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    if (r.code != SHOAL_OK) continue;
                    check_accuracy(&p, &r, ALL_OK, name_of(&targets[t], c));
                    for (int64_t i = 0; i < 3 * n; i++) /* condition 3 at most */
                        CHECK_MSG(fabs(r.x[i] - 1) <= 30 * (double)n * eps_of(type),
                                  "%s n=%lld: x %g", name_of(&targets[t], c), (long long)n, r.x[i]);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* A and b by powers of ten: solved where x is in range, else told. */
TEST(extreme_scales) {
    const struct {
        int type;
        double matrix, rhs;
        int status;
    } scales[] = { { 1, 1e30, 1e30, 0 },
                   { 1, 1e30, 1, 0 },
                   { 1, 1e-30, 1, 0 },
                   { 1, 1e-30, 1e-30, 0 },
                   { 1, 1e-20, 1e15, 0 },
                   { 1, 5e37, 3e38, 0 },
                   { 0, 1e300, 1e300, 0 },
                   { 0, 1e-300, 1e-300, 0 },
                   { 0, 1e-300, 1, 0 },
                   { 0, 1e300, 1e10, 0 },
                   { 1, 1e-30, 1e30, SHOAL_SYSTEM_OVERFLOW },
                   { 0, 1e-300, 1e300, SHOAL_SYSTEM_OVERFLOW } };
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        for (int j = 0; j < LENGTHS; j += small ? 3 : 1) {
            const int64_t n = lengths[j];
            batch p = generate("spd", n, 5, 1, scales[i].type);
            for (int64_t e = 0; e < 5 * n * n; e++) p.a[e] *= scales[i].matrix;
            for (int64_t e = 0; e < 5 * n; e++) p.b[e] *= scales[i].rhs;
            round_batch(&p);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = j % 2 });
                    if (r.code != SHOAL_OK) continue;
                    for (int64_t k = 0; k < 5; k++)
                        CHECK_MSG(r.status[k] == scales[i].status,
                                  "%s %s n=%lld scale %zu: status %d", name_of(&targets[t], c),
                                  p.type ? "f32" : "f64", (long long)n, i, r.status[k]);
                    check_accuracy(&p, &r, SOME_OK, name_of(&targets[t], c));
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* ---- what is said of answers ------------------------------------------------------------------ */

/* min|d| / max|d| of A = L D Lt, in long double. */
static double pivot_bound(const batch *p, int64_t k) {
    const int64_t n = p->n;
    long double *l = new_array((size_t)(n * n), sizeof *l), least = INFINITY, most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) { /* l(i,j) = L(i,j) D(j), below the diagonal */
            long double sum = entry(p, k, i, j);
            for (int64_t q = 0; q < j; q++) sum -= l[i * n + q] * l[j * n + q] / l[q * n + q];
            l[i * n + j] = sum;
        }
    for (int64_t i = 0; i < n; i++) {
        least = fminl(least, fabsl(l[i * n + i]));
        most = fmaxl(most, fabsl(l[i * n + i]));
    }
    free(l);
    return (double)(least / most);
}

/* Conditions are below 21, and an error of n units of A's size in D is magnified by no more. */
static void outcome_case(const target *t, const call *c, const batch *p, int sign) {
    answer r = solve_with(t->ctx, p, c, (how){ 0 });
    if (r.code != SHOAL_OK) return;
    const double eps = eps_of(p->type), n = (double)p->n;
    float most = 0;
    for (int64_t k = 0; k < p->count; k++) {
        const double error = backward_error(p, k, 0, r.x);
        CHECK_MSG(fabs(r.residual[k] - error) <= (n + 4) * eps, "%s n=%g: residual %g, not %g",
                  name_of(t, c), n, (double)r.residual[k], error);
        most = r.residual[k] > most ? r.residual[k] : most;
        CHECK(r.rank[k] == p->n);
        CHECK_MSG(r.inertia[3 * k] == (sign > 0 ? p->n : 0) &&
                      r.inertia[3 * k + 1] == (sign < 0 ? p->n : 0) && r.inertia[3 * k + 2] == 0,
                  "%s n=%g: inertia %d %d %d", name_of(t, c), n, r.inertia[3 * k],
                  r.inertia[3 * k + 1], r.inertia[3 * k + 2]);
        if (strcmp(c->method, "ldlt") != 0) continue;
        const double bound = pivot_bound(p, k), of = r.rcond[k] / bound - 1;
        CHECK_MSG(fabs(of) <= 42 * n * eps + 2 * FLT_EPSILON, "%s n=%g: rcond %g, not %g",
                  name_of(t, c), n, (double)r.rcond[k], bound);
    }
    CHECK_MSG(r.info.max_residual == most, "%s n=%g: %g", name_of(t, c), n,
              (double)r.info.max_residual);
    free_answer(&r);
}

/* Of both signs, and so small that a 1 beside them would be seen. */
TEST(outcomes_are_true) {
    for (int j = 0; j < LENGTHS; j++)
        for (int i = 0; i < 4; i++) {
            batch p = generate("spd", lengths[j], small ? 3 : 20, 1, i % 2);
            const int sign = i < 2 ? 1 : -1;
            for (int64_t e = 0; e < p.n * p.n * p.count; e++) p.a[e] *= sign * 0x1p-20;
            for (int64_t e = 0; e < p.n * p.count; e++) p.b[e] *= 0x1p-20;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) outcome_case(&targets[t], c, &p, sign);
            free_batch(&p);
        }
}

TEST(inertia_of_indefinite_systems) {
    for (int j = 0; j < LENGTHS; j++)
        for (int type = 0; type < 2; type++) {
            batch p = generate("kkt", lengths[j], 5, 1, type);
            const int32_t negative = (int32_t)(p.n / 3);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    for (int64_t k = 0; k < 5 && r.code == SHOAL_OK; k++)
                        CHECK_MSG(r.status[k] == SHOAL_SYSTEM_OK
                                      ? r.inertia[3 * k + 1] == negative ||
                                            r.inertia[3 * k + 1] == -1
                                      : !(c->trait & INDEFINITE),
                                  "%s n=%lld: status %d, %d negative", name_of(&targets[t], c),
                                  (long long)p.n, r.status[k], r.inertia[3 * k + 1]);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* No answer but an exact one has a residual below the smallest float. */
TEST(a_residual_above_tol_is_a_warning) {
    batch p = generate("spd", 30, 7, 1, SHOAL_F64);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls + 1; c->method; c++) { /* auto would look for another answer */
            answer r = solve_with(targets[t].ctx, &p, c, (how){ .tol = 1e-44 });
            if (r.code != SHOAL_OK) continue;
            for (int k = 0; k < 7; k++)
                CHECK_MSG(r.status[k] == SHOAL_SYSTEM_ILL && isfinite(r.x[30 * k]), "%s: status %d",
                          name_of(&targets[t], c), r.status[k]);
            CHECK(r.info.warned == 7 && r.info.failed == 0);
            free_answer(&r);
        }
    free_batch(&p);
}

/* With residuals in double, conditions of 1e6 leave x in float with errors of a few
 * roundoffs: those of rounding x itself, and no more. The answers in double are the judges. */
TEST(refined_answers_are_right_to_the_last_bits) {
    batch p = generate("regression", 30, 20, 1, SHOAL_F32), q = p;
    q.type = SHOAL_F64;
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls + 1; c->method; c++) {
            if (c->trait & DEFICIENT) continue; /* truncated, not refined */
            if (!careful_here(&targets[t], c)) continue;
            answer exact = solve_with(targets[t].ctx, &q, c, (how){ .refine = 2 });
            answer r = solve_with(targets[t].ctx, &p, c, (how){ .refine = 5 });
            for (int64_t k = 0; k < 20 && r.code == SHOAL_OK; k++) {
                double error = 0, largest = 0;
                for (int64_t i = 30 * k; i < 30 * k + 30; i++) {
                    error = fmax(error, fabs(r.x[i] - exact.x[i]));
                    largest = fmax(largest, fabs(exact.x[i]));
                }
                CHECK_MSG(r.status[k] >= 0 && error <= 2 * FLT_EPSILON * largest,
                          "%s k=%lld: status %d, x off by %.3g eps", name_of(&targets[t], c),
                          (long long)k, r.status[k], error / largest / FLT_EPSILON);
            }
            free_answer(&exact);
            free_answer(&r);
        }
    free_batch(&p);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(failures_are_reported_and_disturb_nobody);
    RUN(a_bad_right_hand_side_fails_its_system);
    RUN(matrices_of_zeros_and_of_nan);
    RUN(systems_of_one_unknown);
    RUN(subnormal_matrices);
    RUN(extreme_scales);
    RUN(outcomes_are_true);
    RUN(inertia_of_indefinite_systems);
    RUN(a_residual_above_tol_is_a_warning);
    RUN(refined_answers_are_right_to_the_last_bits);
    close_targets();
    return TEST_END();
}
