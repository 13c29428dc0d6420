/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_ldltp.c - pivoted LDLt: the backward error of every family at every size, the
 * inertia against the eigenvalues, storages, failures, scales, and that a system stands alone.
 */
#include "smallsym_ldltp.h"

static const char *name_of(const target *t) { return t->isa ? t->isa : t->backend; }

static int same_bits(const double *v, const double *w, int64_t n) {
    return memcmp(v, w, (size_t)n * sizeof(double)) == 0;
}

/* ---- accuracy --------------------------------------------------------------------------------- */

static int64_t compared, doubtful; /* systems whose inertia was, and could not be */

/* A computed D belongs to a matrix within roundoff of A: where no eigenvalue is that small, the
 * signs must be those of A. */
static void check_inertia(const batch *p, const answer *r, int64_t k, const char *who) {
    double values[64], least = INFINITY, most = 0, positive = 0;
    eigenvalues(system_of(p, k), p->n, values);
    for (int64_t i = 0; i < p->n; i++) {
        positive += values[i] > 0;
        least = fmin(least, fabs(values[i])), most = fmax(most, fabs(values[i]));
    }
    const int32_t *inertia = r->inertia + 3 * k;
    if (least <= 10 * (double)p->n * eps_of(p->type) * most) {
        doubtful++;
        return;
    }
    compared++;
    CHECK_MSG(inertia[0] == positive, "%s n=%lld k=%lld: %d positive, not %g", who, (long long)p->n,
              (long long)k, inertia[0], positive);
}

static void check_answers(const batch *p, const answer *r, const char *who) {
    const double limit = 10 * (double)p->n * eps_of(p->type);
    for (int64_t k = 0; k < p->count; k++) {
        /* some are ill-conditioned to f32; their answers are as good */
        CHECK_MSG(r->status[k] == SHOAL_SYSTEM_OK || r->status[k] == SHOAL_SYSTEM_ILL,
                  "%s n=%lld k=%lld: status %d, residual %g", who, (long long)p->n, (long long)k,
                  r->status[k], r->residual ? (double)r->residual[k] / limit : 0);
        CHECK_MSG(r->rank[k] == p->n && r->rcond[k] > 0 && r->rcond[k] <= 1, "%s: rcond %g", who,
                  (double)r->rcond[k]);
        CHECK(r->inertia[3 * k] + r->inertia[3 * k + 1] == p->n && r->inertia[3 * k + 2] == 0);
        double worst = 0;
        for (int64_t c = 0; c < p->nrhs; c++) worst = fmax(worst, backward_error(p, k, c, r->x));
        CHECK_MSG(worst <= limit, "%s n=%lld k=%lld: backward error %.3g of what is allowed", who,
                  (long long)p->n, (long long)k, worst / limit);
        if (r->residual)
            CHECK_MSG(fabs((double)r->residual[k] - worst) <= limit / 2, "%s n=%lld: %g is %g", who,
                      (long long)p->n, worst, (double)r->residual[k]);
    }
}

static void accuracy_case(int family, int64_t n, int64_t count, shoal_type type) {
    batch p = family_batch(family, n, count, 1, type);
    for (int t = 0; t < target_count; t++) {
        if (n > 64 && !on_cpu(&targets[t])) continue;
        char who[96];
        snprintf(who, sizeof who, "%s %s %s", name_of(&targets[t]), family_names[family],
                 type == SHOAL_F32 ? "f32" : "f64");
        answer r = solve_with(targets[t].ctx, &p, (how){ .no_residual = family == KKT });
        check_answers(&p, &r, who);
        for (int64_t k = 0; k < count && n <= 64 && family != GRADED; k += small ? count : 5)
            check_inertia(&p, &r, k, who);
        free_answer(&r);
    }
    free_batch(&p);
}

TEST(families_at_all_sizes) {
    for (int64_t n = 1; n <= 64; n++) {
        /* emulated: both sides of every padded size */
        if (small && n > 9 && n % 8 > 1 && n != 12 && n != 31 && n != 63) continue;
        for (int family = 0; family < FAMILIES; family++)
            for (int type = 0; type < 2; type++)
                accuracy_case(family, n, small ? n > 32 ? 3 : 9 : 37, type);
    }
    CHECK_MSG(doubtful * 10 < compared, "%lld of %lld", (long long)doubtful, (long long)compared);
}

TEST(large_systems_on_the_cpu) {
    for (int family = 0; family < FAMILIES; family++)
        for (int type = 0; type < 2; type++) accuracy_case(family, 65 + 31 * type, 3, type);
}

/* ---- storages --------------------------------------------------------------------------------- */

TEST(every_storage_gives_the_same_bits) {
    const how hows[] = {
        { .triangle = SHOAL_UPPER },
        { .ld = 3 },
        { .ld = 4, .in_place = 1 },
        { .ld = 5, .triangle = SHOAL_UPPER, .in_place = 1 },
        { .storage = SHOAL_PACKED },
        { .storage = SHOAL_PACKED, .triangle = SHOAL_UPPER, .no_residual = 1 },
        { .layout = SHOAL_INTERLEAVED, .in_place = 1 },
        { .layout = SHOAL_INTERLEAVED, .triangle = SHOAL_UPPER, .no_residual = 1 },
        { .layout = SHOAL_INTERLEAVED, .storage = SHOAL_PACKED },
    };
    const int64_t sizes[] = { 1, 4, 7, 8, 12, 16, 20, 24, 31, 32, 40, 64 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = sizes[s];
            batch p = family_batch(-1, n, small ? 5 : 21, 2, type);
            for (int t = 0; t < target_count; t++) {
                answer r = solve_with(targets[t].ctx, &p, (how){ 0 });
                check_answers(&p, &r, name_of(&targets[t]));
                for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
                    if (small && (s + i) % 3) continue;
                    answer q = solve_with(targets[t].ctx, &p, hows[i]);
                    CHECK_MSG(same_bits(r.x, q.x, n * p.count * 2), "%s n=%lld way %d",
                              name_of(&targets[t]), (long long)n, (int)i);
                    free_answer(&q);
                }
                free_answer(&r);
            }
            free_batch(&p);
        }
}

/* ---- failures --------------------------------------------------------------------------------- */

enum { NANS, ONE_NAN, ONE_INF, OFF_INF, NAN_IN_B, INF_IN_B, ZEROS, ZERO_ROW, ONES, FAULTS };

static void spoil(batch *p, int64_t k, int fault) {
    const int64_t n = p->n;
    double *a = system_of(p, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            if (fault == NANS || fault == ZEROS || fault == ONES)
                set(a, n, i, j, fault == NANS ? (double)NAN : fault == ONES);
            else if (fault == ZERO_ROW && (i == n / 2 || j == n / 2))
                set(a, n, i, j, 0);
    if (fault == ONE_NAN) set(a, n, n - 1, n / 2, (double)NAN);
    if (fault == ONE_INF) set(a, n, n / 2, n / 2, -(double)INFINITY);
    if (fault == OFF_INF) set(a, n, n - 1, 0, (double)INFINITY);
    if (fault == NAN_IN_B) p->b[(k * n + n / 2) * p->nrhs] = (double)NAN;
    if (fault == INF_IN_B) p->b[(k * n + n - 1) * p->nrhs] = (double)INFINITY;
}

static int32_t status_after(int fault, int64_t n) {
    if (fault == ONES && n == 1) return SHOAL_SYSTEM_OK;
    return fault < ZEROS ? SHOAL_SYSTEM_NONFINITE : SHOAL_SYSTEM_SINGULAR;
}

/* Every other system is spoilt; the rest must not notice. */
static void failure_case(const target *t, int64_t n, shoal_type type, how h) {
    const int64_t count = 2 * FAULTS + 1, m = 2;
    batch good = family_batch(INDEFINITE, n, count, m, type), bad = new_batch(n, count, m, type);
    memcpy(bad.a, good.a, (size_t)(n * n * count) * sizeof(double));
    memcpy(bad.b, good.b, (size_t)(n * m * count) * sizeof(double));
    for (int fault = 0; fault < FAULTS; fault++) spoil(&bad, 2 * fault + 1, fault);
    answer r = solve_with(t->ctx, &good, h), s = solve_with(t->ctx, &bad, h);
    int64_t failed = 0;
    for (int64_t k = 0; k < count; k++) {
        const double *x = s.x + k * n * m, *b = bad.b + k * n * m;
        if (k % 2 == 0) {
            CHECK_MSG(same_bits(x, r.x + k * n * m, n * m) && s.status[k] == r.status[k],
                      "%s n=%lld k=%lld", name_of(t), (long long)n, (long long)k);
            continue;
        }
        const int fault = (int)(k / 2);
        const int32_t expected = status_after(fault, n);
        CHECK_MSG(s.status[k] == expected, "%s n=%lld fault %d: status %d", name_of(t),
                  (long long)n, fault, s.status[k]);
        failed += expected < 0;
        if (expected >= 0) continue;
        CHECK(s.inertia[3 * k] == -1 && s.rank[k] == -1 && isnan(s.rcond[k]));
        const int only_first = fault == NAN_IN_B || fault == INF_IN_B; /* right-hand side */
        for (int64_t e = 0; e < n * m; e++)
            if (only_first && e % m == 1)
                CHECK(x[e] == r.x[k * n * m + e]);
            else if (h.in_place)
                CHECK(x[e] == b[e] || (isnan(x[e]) && isnan(b[e])));
            else
                CHECK(isnan(x[e]));
    }
    CHECK_MSG(s.info.failed == failed, "%s n=%lld: %lld failed", name_of(t), (long long)n,
              (long long)s.info.failed);
    free_answer(&r), free_answer(&s);
    free_batch(&good), free_batch(&bad);
}

TEST(failures_are_reported_and_disturb_nobody) {
    const int64_t sizes[] = { 1, 2, 3, 8, 13, 16, 24, 32, 33, 48, 64 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int type = 0; type < 2; type++)
            for (int t = 0; t < target_count; t++) {
                failure_case(&targets[t], sizes[s], type, (how){ 0 });
                if (!small || s % 3 == 2)
                    failure_case(&targets[t], sizes[s], type,
                                 (how){ .in_place = 1, .no_residual = 1 });
            }
}

/* Ranks below n that arithmetic in whole numbers shows exactly: a stage is zero, not small. */
TEST(whole_numbers_of_low_rank_are_singular) {
    for (int64_t n = 2; n <= 64; n += small ? 15 : 3) {
        batch p = new_batch(n, 2, 1, SHOAL_F64);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                set(system_of(&p, 0), n, i, j, (i % 2 ? -1 : 1) * (j % 2 ? -1 : 1));
                set(system_of(&p, 1), n, i, j,
                    n == 2 ? 0 : i / 2 == j / 2 && i != j && i < n - n % 2 - 2);
            }
        for (int64_t i = 0; i < 2 * n; i++) p.b[i] = 1;
        for (int t = 0; t < target_count; t++) {
            answer r = solve_with(targets[t].ctx, &p, (how){ 0 });
            CHECK_MSG(r.status[0] == SHOAL_SYSTEM_SINGULAR && r.status[1] == SHOAL_SYSTEM_SINGULAR,
                      "%s n=%lld: %d %d", name_of(&targets[t]), (long long)n, r.status[0],
                      r.status[1]);
            free_answer(&r);
        }
        free_batch(&p);
    }
}

/* ---- known answers ---------------------------------------------------------------------------- */

static void tiny_case(const target *t, const double *a, const double *b, int64_t n, shoal_type type,
                      const double *x, int32_t positive, double rcond) {
    batch p = { n, 1, 1, type, (double *)a, (double *)b };
    answer r = solve_with(t->ctx, &p, (how){ 0 });
    CHECK_MSG(r.status[0] == 0 && r.inertia[0] == positive && r.inertia[1] == n - positive,
              "%s: status %d, inertia %d %d", name_of(t), r.status[0], r.inertia[0], r.inertia[1]);
    CHECK_MSG(fabs(r.rcond[0] - rcond) <= 2 * FLT_EPSILON, "%s: rcond %g", name_of(t),
              (double)r.rcond[0]);
    for (int64_t i = 0; i < n; i++)
        CHECK_MSG(fabs(r.x[i] - x[i]) <= 4 * eps_of(type) * fabs(x[i]), "%s: x(%lld) = %.17g",
                  name_of(t), (long long)i, r.x[i]);
    free_answer(&r);
}

TEST(small_systems_have_known_answers) {
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            tiny_case(&targets[t], (double[]){ 4 }, (double[]){ 6 }, 1, type, (double[]){ 1.5 }, 1,
                      1);
            tiny_case(&targets[t], (double[]){ -2 }, (double[]){ 6 }, 1, type, (double[]){ -3 }, 0,
                      1);
            tiny_case(&targets[t], (double[]){ 0, 2, 2, 0 }, (double[]){ 6, 8 }, 2, type,
                      (double[]){ 4, 3 }, 1, 1);
            tiny_case(&targets[t], (double[]){ 0, 0, 4, 0, -2, 0, 4, 0, 0 }, (double[]){ 4, 6, 8 },
                      3, type, (double[]){ 2, -3, 1 }, 1, 0.5);
            /* [1 2; 2 1]: eigenvalues of the block 3 and -1 */
            tiny_case(&targets[t], (double[]){ 1, 2, 2, 1 }, (double[]){ 4, 5 }, 2, type,
                      (double[]){ 2, 1 }, 1, 1.0 / 3);
            /* alpha is 0.6404: [0.65 1; 1 0] has the pivots 0.65 and -1 / 0.65, [0.63 1; 1 0] is a block
             * with the eigenvalues 0.315 +- sqrt(0.315^2 + 1) */
            const double root = sqrt(0.315 * 0.315 + 1);
            tiny_case(&targets[t], (double[]){ 0.65, 1, 1, 0 }, (double[]){ 2.65, 1 }, 2, type,
                      (double[]){ 1, 2 }, 1, 0.65 * 0.65);
            tiny_case(&targets[t], (double[]){ 0.63, 1, 1, 0 }, (double[]){ 2.63, 1 }, 2, type,
                      (double[]){ 1, 2 }, 1, (root - 0.315) / (root + 0.315));
        }
}

/* A block beside 1 that is zero, or only small: rows are scaled before anything is called zero. */
TEST(blocks_that_are_nothing) {
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++)
            for (int zero = 0; zero < 2; zero++) {
                const double c = zero ? 0 : type ? 0x1p-120 : 0x1p-1000;
                double a[] = { 1, 0, 0, 0, 0, c, 0, c, 0 }, b[] = { 1, c, c };
                batch p = { 3, 1, 1, type, a, b };
                answer r = solve_with(targets[t].ctx, &p, (how){ 0 });
                CHECK_MSG(r.status[0] == (zero ? SHOAL_SYSTEM_SINGULAR : 0), "%s: %d",
                          name_of(&targets[t]), r.status[0]);
                for (int i = 0; i < 3; i++) CHECK(zero ? isnan(r.x[i]) : r.x[i] == 1);
                free_answer(&r);
            }
}

/* ---- scales ----------------------------------------------------------------------------------- */

/* A 2^ea and b 2^eb, also with subnormal entries, have the answer x 2^(eb - ea), to the bit: the
 * matrices have few digits, so that nothing is lost on the way. */
static void scale_case(const target *t, const batch *p, const answer *r, int ea, int eb) {
    batch q = new_batch(p->n, p->count, 1, p->type);
    for (int64_t e = 0; e < p->n * p->n * p->count; e++) q.a[e] = ldexp(p->a[e], ea);
    for (int64_t e = 0; e < p->n * p->count; e++) q.b[e] = ldexp(p->b[e], eb);
    answer s = solve_with(t->ctx, &q, (how){ 0 });
    for (int64_t k = 0; k < p->count; k++) {
        CHECK_MSG(s.status[k] == 0, "%s n=%lld 2^%d 2^%d: status %d", name_of(t), (long long)p->n,
                  ea, eb, s.status[k]);
        CHECK(s.inertia[3 * k] == r->inertia[3 * k] && s.rcond[k] == r->rcond[k]);
    }
    for (int64_t e = 0; e < p->n * p->count; e++)
        CHECK_MSG(s.x[e] == ldexp(r->x[e], eb - ea), "%s n=%lld 2^%d 2^%d", name_of(t),
                  (long long)p->n, ea, eb);
    free_answer(&s);
    free_batch(&q);
}

TEST(scales_do_not_matter) {
    const int64_t sizes[] = { 1, 2, 7, 16, 20, 32, 50, 64 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = sizes[i];
            const int far = type == SHOAL_F32 ? 100 : 900, low = type == SHOAL_F32 ? -145 : -1070;
            batch p = new_batch(n, 3, 1, type);
            for (int64_t k = 0; k < 3; k++) {
                make_system(system_of(&p, k), n, k == 1 ? ZERO_DIAGONAL : INDEFINITE, type);
                for (int64_t e = 0; e < n * n; e++) { /* in eighths, not 0 off the diagonal */
                    double *v = system_of(&p, k) + e;
                    *v = *v == 0 ? 0 : rint(*v * 8) == 0 ? 0.125 : rint(*v * 8) / 8;
                }
            }
            for (int64_t e = 0; e < 3 * n; e++) p.b[e] = rint(uniform() * 8) / 8;
            for (int t = 0; t < target_count; t++) {
                answer r = solve_with(targets[t].ctx, &p, (how){ 0 });
                check_answers(&p, &r, name_of(&targets[t]));
                scale_case(&targets[t], &p, &r, far, far);
                scale_case(&targets[t], &p, &r, -far, -far);
                scale_case(&targets[t], &p, &r, low, low); /* subnormals */
                scale_case(&targets[t], &p, &r, far / 2, -far / 4);
                free_answer(&r);
            }
            free_batch(&p);
        }
}

TEST(answers_out_of_range_are_overflows) {
    for (int type = 0; type < 2; type++) {
        const double tiny = type == SHOAL_F32 ? 0x1p-100 : 0x1p-800;
        batch p = new_batch(3, 1, 1, type);
        for (int64_t i = 0; i < 3; i++) set(p.a, 3, i, 2 - i, tiny), p.b[i] = 1 / tiny;
        for (int t = 0; t < target_count; t++) {
            answer r = solve_with(targets[t].ctx, &p, (how){ 0 });
            CHECK_MSG(r.status[0] == SHOAL_SYSTEM_OVERFLOW, "%s: %d", name_of(&targets[t]),
                      r.status[0]);
            free_answer(&r);
        }
        free_batch(&p);
    }
}

/* ---- alone ------------------------------------------------------------------------------------ */

TEST(the_answer_depends_on_the_system_alone) {
    for (int64_t n = 3; n <= 64; n += small ? 12 : 5)
        for (int type = 0; type < 2; type++) {
            batch p = family_batch(-1, n, small ? 7 : 23, 2, type);
            for (int t = 0; t < target_count; t++) {
                answer all = solve_with(targets[t].ctx, &p, (how){ 0 });
                for (int64_t k = 0; k < p.count; k += 3)
                    for (int64_t c = 0; c < 2; c++) {
                        batch one = new_batch(n, 1, 1, type);
                        memcpy(one.a, system_of(&p, k), (size_t)(n * n) * sizeof(double));
                        for (int64_t i = 0; i < n; i++) one.b[i] = p.b[(k * n + i) * 2 + c];
                        answer r = solve_with(targets[t].ctx, &one, (how){ 0 });
                        int equal = r.rcond[0] == all.rcond[k];
                        for (int64_t i = 0; i < n; i++)
                            equal &= same_bits(&r.x[i], &all.x[(k * n + i) * 2 + c], 1);
                        CHECK_MSG(equal, "%s n=%lld k=%lld", name_of(&targets[t]), (long long)n,
                                  (long long)k);
                        free_answer(&r);
                        free_batch(&one);
                    }
                free_answer(&all);
            }
            free_batch(&p);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(families_at_all_sizes);
    RUN(large_systems_on_the_cpu);
    RUN(every_storage_gives_the_same_bits);
    RUN(failures_are_reported_and_disturb_nobody);
    RUN(whole_numbers_of_low_rank_are_singular);
    RUN(small_systems_have_known_answers);
    RUN(blocks_that_are_nothing);
    RUN(scales_do_not_matter);
    RUN(answers_out_of_range_are_overflows);
    RUN(the_answer_depends_on_the_system_alone);
    close_targets();
    return TEST_END();
}
