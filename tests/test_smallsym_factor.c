/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_factor.c - factors that are kept: L D Lt = A, in every storage and in place; solving
 * from them, again and again; what is said of each system; bad systems, bad factors, bad arguments.
 *
 *     test_smallsym_factor [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "smallsym_kept.h"

static const int64_t lengths[] = { 1, 2, 3, 4, 5, 8, 9, 13, 16, 17, 24, 32, 33, 49, 64 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };
/* ---- L D Lt = A ------------------------------------------------------------------------------- */

/* |A - L D Lt| <= (n + 1) eps |L| |D| |Lt|, entry by entry: n products and sums, a division that may
 * be a product with 1 / D, and eps is two units of roundoff. */
static void check_product(const batch *p, int64_t k, const double *all, const char *who) {
    const int64_t n = p->n;
    const double *l = all + k * n * n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            long double sum = 0, size = 0;
            for (int64_t q = 0; q <= j; q++) {
                const long double v = (long double)(i == q ? 1 : l[i * n + q]) *
                                      (j == q ? 1 : l[j * n + q]) * l[q * n + q];
                sum += v, size += fabsl(v);
            }
            const double off = (double)(fabsl(sum - entry(p, k, i, j)) / size);
            CHECK_MSG(off <= (double)(n + 1) * eps_of(p->type), "%s n=%lld k=%lld: %g eps", who,
                      (long long)n, (long long)k, off / eps_of(p->type));
        }
}

static void product_case(const target *t, const char *kind, const batch *p) {
    kept q = open_kept(t->ctx, p, (how){ 0 });
    answer f = factor(&q), fused = solve_with(t->ctx, p, &ldlt, (how){ 0 });
    for (int64_t k = 0; k < p->count; k++) {
        CHECK_MSG(f.status[k] == SHOAL_SYSTEM_OK, "%s %s: status %d", t->backend, kind,
                  f.status[k]);
        if (k % 6 == 0) check_product(p, k, f.x, kind);
        CHECK(memcmp(f.inertia + 3 * k, fused.inertia + 3 * k, 3 * sizeof(int32_t)) == 0);
    }
    for (int again = 0; again < 3; again++) { /* the third time for other numbers */
        answer r = resolve(&q, again == 2 ? 4 : 1);
        if (again < 2) check_accuracy(p, &r, ALL_OK, kind);
        for (int64_t e = 0; e < p->n * p->count && on_cpu(t); e++)
            CHECK_MSG(same(r.x[e], fused.x[e] * (again == 2 ? 4 : 1)), "%s n=%lld: x %g, not %g",
                      kind, (long long)p->n, r.x[e], fused.x[e]);
        CHECK(memcmp(r.rcond, f.rcond, (size_t)p->count * sizeof(float)) == 0);
        CHECK(memcmp(r.inertia, f.inertia, (size_t)p->count * 3 * sizeof(int32_t)) == 0);
        free_answer(&r);
    }
    free_answer(&f), free_answer(&fused);
    close_kept(&q);
}

TEST(l_d_lt_is_a_and_solves) {
    const char *const kinds[] = { "spd", "wishart", "centred" };
    for (int i = 0; i < 3; i++)
        for (int64_t n = 1; n <= 64; n++) {
            if (small && n > 9 && n % 16 > 1 && n != 31 && n != 63) continue;
            for (int type = 0; type < 2; type++) {
                batch p = generate(kinds[i], n, small ? 5 : 37, 1, type);
                for (int64_t e = 0; e < n * n * p.count && n % 3 == 2; e++) p.a[e] = -p.a[e];
                for (int t = 0; t < target_count; t++) product_case(&targets[t], kinds[i], &p);
                free_batch(&p);
            }
        }
}

/* ---- storages --------------------------------------------------------------------------------- */

static const how storages[] = {
    { .in_place = 1 },
    { .triangle = SHOAL_UPPER },
    { .wider = 3, .in_place = 1 },
    { .wider = 4, .apart = 8, .offset = 1 },
    { .triangle = SHOAL_UPPER, .wider = 1, .apart = 2, .in_place = 1 },
    { .storage = SHOAL_PACKED },
    { .storage = SHOAL_PACKED, .triangle = SHOAL_UPPER, .in_place = 1 },
    { .layout = SHOAL_INTERLEAVED, .in_place = 1 },
    { .layout = SHOAL_INTERLEAVED, .triangle = SHOAL_UPPER, .wider = 2 },
    { .layout = SHOAL_INTERLEAVED, .storage = SHOAL_PACKED, .offset = 1 },
    { .layout = SHOAL_INTERLEAVED,
      .storage = SHOAL_PACKED,
      .triangle = SHOAL_UPPER,
      .in_place = 1 },
};

TEST(every_storage_gives_the_same_bits) {
    for (int j = 0; j < LENGTHS; j++)
        for (int type = 0; type < 2; type++) {
            batch p = generate("spd", lengths[j], small ? 5 : 21, 2, type);
            for (int t = 0; t < target_count; t++) {
                kept q = open_kept(targets[t].ctx, &p, (how){ 0 });
                answer l = factor(&q), x = resolve(&q, 1);
                for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
                    if (small && (i + (size_t)j) % 3) continue;
                    kept s = open_kept(targets[t].ctx, &p, storages[i]);
                    answer m = factor(&s), y = resolve(&s, 1);
                    CHECK_MSG(same_all(l.x, m.x, p.n * p.n * p.count), "%s n=%lld way %d: L",
                              targets[t].backend, (long long)p.n, (int)i);
                    CHECK_MSG(same_all(x.x, y.x, p.n * p.count * 2), "%s n=%lld way %d: x",
                              targets[t].backend, (long long)p.n, (int)i);
                    free_answer(&m), free_answer(&y);
                    close_kept(&s);
                }
                check_accuracy(&p, &x, ALL_OK, targets[t].backend);
                free_answer(&l), free_answer(&x);
                close_kept(&q);
            }
            free_batch(&p);
        }
}

/* ---- failures --------------------------------------------------------------------------------- */

/* Neighbours of failed systems have the bits that they have alone; a failed L is NaN, and resolve
 * says so. */
static void failing_case(const target *t, const char *kind, const batch *p, how h) {
    kept q = open_kept(t->ctx, p, h);
    answer f = factor(&q), r = resolve(&q, 1);
    const int64_t n = p->n;
    for (int64_t k = 0; k < p->count; k++) {
        int bad_a = 0, bad_b = 0; /* of the kind's systems some have a bad b alone */
        for (int64_t i = 0; i < n; i++) {
            bad_b |= !isfinite(p->b[k * n + i]);
            for (int64_t j = 0; j <= i; j++) bad_a |= !isfinite(entry(p, k, i, j));
        }
        const int singular = strcmp(kind, "singular") == 0 && k % 7 == 6;
        const int expected = singular ? SHOAL_SYSTEM_PIVOT : bad_a ? SHOAL_SYSTEM_NONFINITE : 0;
        CHECK((bad_a || bad_b) == (strcmp(kind, "nonfinite") == 0 && k % 11 == 10));
        CHECK_MSG(f.status[k] == expected, "%s n=%lld k=%lld: status %d", kind, (long long)n,
                  (long long)k, f.status[k]);
        CHECK_MSG(r.status[k] == (expected || bad_b ? SHOAL_SYSTEM_NONFINITE : 0),
                  "%s n=%lld: status %d", kind, (long long)n, r.status[k]);
        batch one = new_batch(n, 1, 1, p->type);
        copy_system(&one, 0, p, k);
        kept alone = open_kept(t->ctx, &one, (how){ 0 });
        answer g = factor(&alone), s = resolve(&alone, 1);
        CHECK_MSG(same_all(f.x + k * n * n, g.x, n * n), "%s n=%lld k=%lld: L", kind, (long long)n,
                  (long long)k);
        for (int64_t i = 0; i < n; i++) {
            CHECK(!expected || isnan(f.x[(k * n + i) * n + i]));
            CHECK(r.status[k] < 0 && h.in_place ? same(r.x[k * n + i], p->b[k * n + i])
                                                : same(r.x[k * n + i], s.x[i]));
        }
        free_answer(&g), free_answer(&s);
        close_kept(&alone);
        free_batch(&one);
    }
    free_answer(&f), free_answer(&r);
    close_kept(&q);
}

TEST(failures_are_reported_and_disturb_nobody) {
    const char *const kinds[] = { "singular", "nonfinite" };
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < LENGTHS; j++)
            for (int t = 0; t < target_count; t++) {
                batch p = generate(kinds[i], lengths[j], small ? 12 : 45, 1, (i + j) % 2);
                failing_case(&targets[t], kinds[i], &p, (how){ .in_place = j % 3 == 0 });
                free_batch(&p);
            }
}

/* One bad right-hand side of three fails the system; the others are answered. */
TEST(right_hand_sides_stand_for_themselves) {
    for (int j = 0; j < LENGTHS; j++)
        for (int t = 0; t < target_count; t++) {
            const int64_t n = lengths[j];
            batch p = generate("spd", n, 5, 3, j % 2);
            kept q = open_kept(targets[t].ctx, &p, (how){ .in_place = j % 2 });
            answer f = factor(&q), good = resolve(&q, 1);
            p.b[(2 * n + n / 2) * 3 + 1] = j % 2 ? NAN : -INFINITY;
            answer bad = resolve(&q, 1);
            for (int64_t e = 0; e < 5 * n * 3; e++)
                CHECK_MSG(e / 3 / n != 2 || e % 3 != 1 ? same(good.x[e], bad.x[e])
                          : j % 2                      ? same(bad.x[e], p.b[e])
                                                       : isnan(bad.x[e]),
                          "n=%lld: x %g", (long long)n, bad.x[e]);
            for (int k = 0; k < 5; k++)
                CHECK(bad.status[k] == (k == 2 ? SHOAL_SYSTEM_NONFINITE : 0));
            free_answer(&f), free_answer(&good), free_answer(&bad);
            close_kept(&q);
            free_batch(&p);
        }
}

/* ---- far from 1 ------------------------------------------------------------------------------- */

TEST(extreme_scales) {
    for (int j = 0; j < LENGTHS; j++)
        for (int i = 0; i < 4; i++) {
            const int type = i % 2;
            const double by = type ? i < 2 ? 0x1p100 : 0x1p-100 : i < 2 ? 0x1p900 : 0x1p-900;
            batch near = generate("wishart", lengths[j], 5, 1, type);
            batch p = generate("wishart", lengths[j], 5, 1, type);
            for (int64_t e = 0; e < p.n * p.n * p.count; e++) p.a[e] *= by;
            for (int64_t e = 0; e < p.n * p.count && j % 2; e++) p.b[e] *= by;
            for (int t = 0; t < target_count; t++) {
                kept q = open_kept(targets[t].ctx, &p, (how){ 0 });
                kept s = open_kept(targets[t].ctx, &near, (how){ 0 });
                answer f = factor(&q), r = resolve(&q, 1), g = factor(&s), x = resolve(&s, 1);
                for (int64_t e = 0; e < p.n * p.n * p.count; e++) { /* L the same, D by `by` */
                    const int pivot = e / p.n % p.n == e % p.n;
                    CHECK(same(f.x[e], g.x[e] * (pivot ? by : 1)));
                }
                for (int64_t e = 0; e < p.n * p.count; e++)
                    CHECK_MSG(same(r.x[e], x.x[e] / (j % 2 ? 1 : by)), "%s n=%lld: x %g, %g",
                              targets[t].backend, (long long)p.n, r.x[e], x.x[e]);
                free_answer(&f), free_answer(&r), free_answer(&g), free_answer(&x);
                close_kept(&q), close_kept(&s);
            }
            free_batch(&p), free_batch(&near);
        }
}

/* [5 3; 3 2] in units of the smallest number has D(1) = 1/5, which is none. */
TEST(a_pivot_that_cannot_be_stored_fails) {
    for (int type = 0; type < 2; type++)
        for (int t = 0; t < target_count; t++) {
            const double unit = type ? FLT_TRUE_MIN : DBL_TRUE_MIN;
            batch p = new_batch(2, 1, 1, type);
            p.a[0] = 5 * unit, p.a[2] = 3 * unit, p.a[3] = 2 * unit;
            p.b[0] = 8 * unit, p.b[1] = 5 * unit;
            answer fused = solve_with(targets[t].ctx, &p, &ldlt, (how){ 0 });
            CHECK(fused.status[0] == SHOAL_SYSTEM_OK);
            kept q = open_kept(targets[t].ctx, &p, (how){ 0 });
            answer f = factor(&q);
            CHECK_MSG(f.status[0] == SHOAL_SYSTEM_PIVOT && isnan(f.x[0]), "status %d", f.status[0]);
            free_answer(&f), free_answer(&fused);
            close_kept(&q);
            free_batch(&p);
        }
}

/* ---- what is said ----------------------------------------------------------------------------- */

TEST(the_estimate_is_that_of_solve) {
    for (int j = 0; j < LENGTHS; j++)
        for (int type = 0; type < 2; type++) {
            batch p = generate("regression", lengths[j], 9, 1, type);
            for (int t = 0; t < target_count; t++) {
                const how h = { .estimate = 1 };
                kept q = open_kept(targets[t].ctx, &p, h);
                answer f = factor(&q), r = solve_with(targets[t].ctx, &p, &ldlt, h);
                for (int k = 0; k < 9; k++)
                    CHECK_MSG(f.status[k] < 0 || same(f.rcond[k], r.rcond[k]),
                              "%s n=%lld: %g and %g", targets[t].backend, (long long)p.n,
                              (double)f.rcond[k], (double)r.rcond[k]);
                free_answer(&f), free_answer(&r);
                close_kept(&q);
            }
            free_batch(&p);
        }
}

/* Numbers that no factorisation leaves behind. */
TEST(bad_factors_are_found) {
    const struct {
        double d0, l, d1;
        int status;
    } cases[] = { { 2, 1, 3, 0 },
                  { -2, 1, -3, 0 },
                  { 2, 1, -3, SHOAL_SYSTEM_PIVOT },
                  { 2, 1, 0, SHOAL_SYSTEM_PIVOT },
                  { NAN, 1, 3, SHOAL_SYSTEM_NONFINITE },
                  { 2, NAN, 3, SHOAL_SYSTEM_NONFINITE },
                  { 2, INFINITY, 3, SHOAL_SYSTEM_NONFINITE },
                  { 2, 1, INFINITY, SHOAL_SYSTEM_NONFINITE } };
    enum { CASES = sizeof cases / sizeof *cases };
    for (int type = 0; type < 2; type++)
        for (int t = 0; t < target_count; t++) {
            batch p = new_batch(2, CASES, 1, type);
            for (int k = 0; k < CASES; k++) {
                p.a[4 * k] = cases[k].d0, p.a[4 * k + 2] = cases[k].l, p.a[4 * k + 3] = cases[k].d1;
                p.b[2 * k] = 2, p.b[2 * k + 1] = 5;
            }
            kept q = open_kept(targets[t].ctx, &p, (how){ .in_place = 1 }); /* L is what A was */
            answer r = resolve(&q, 1);
            for (int k = 0; k < CASES; k++)
                CHECK_MSG(r.status[k] == cases[k].status, "case %d: status %d", k, r.status[k]);
            CHECK(r.x[0] == 0 && r.x[1] == 1); /* z = (2, 3), w = (1, 1) */
            CHECK(r.inertia[0] == 2 && r.inertia[4] == 2);
            free_answer(&r);
            close_kept(&q);
            free_batch(&p);
        }
}

/* ---- calls ------------------------------------------------------------------------------------ */

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static shoal_smallsym *plan_of(shoal_context *ctx, const char *method, int64_t n, int64_t count) {
    const shoal_smallsym_opts o = { .n = n, .count = count, .nrhs = 1, .method = method };
    shoal_smallsym *plan = NULL;
    const shoal_status status = shoal_smallsym_create(ctx, &o, &plan);
    CHECK_MSG(status == SHOAL_OK || status == SHOAL_E_METHOD, "%s", shoal_message(ctx));
    return plan;
}

TEST(what_cannot_be_is_refused) {
    CHECK(shoal_smallsym_factor(NULL, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_smallsym_resolvef(NULL, NULL, NULL, NULL) == SHOAL_E_ARG);
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        double *v = outcome_array(ctx, 16 * sizeof *v);
        for (const call *c = calls; c->method; c++) {
            shoal_smallsym *plan = plan_of(ctx, c->method, 2, 1);
            char named[32];
            snprintf(named, sizeof named, "'%s'", c->method);
            if (!plan || shoal_method_flags("smallsym", c->method, NULL) & SHOAL_CAN_FACTOR) {
                shoal_smallsym_free(plan);
                continue;
            }
            CHECK_SAYS(ctx, shoal_smallsym_factor(plan, v, v), SHOAL_E_METHOD, named);
            CHECK_SAYS(ctx, shoal_smallsym_resolve(plan, v, v, v), SHOAL_E_METHOD, named);
            shoal_smallsym_free(plan);
        }
        shoal_smallsym *plan = plan_of(ctx, "ldlt", 2, 1);
        float *w = (float *)(void *)v;
        CHECK_SAYS(ctx, shoal_smallsym_factorf(plan, w, w), SHOAL_E_TYPE, "smallsym_factor");
        CHECK_SAYS(ctx, shoal_smallsym_resolvef(plan, w, w, w), SHOAL_E_TYPE, "smallsym_resolve");
        CHECK_SAYS(ctx, shoal_smallsym_factor(plan, NULL, v), SHOAL_E_ARG, "A is");
        CHECK_SAYS(ctx, shoal_smallsym_factor(plan, v, NULL), SHOAL_E_ARG, "L is");
        CHECK_SAYS(ctx, shoal_smallsym_resolve(plan, NULL, v, v), SHOAL_E_ARG, "L is");
        CHECK_SAYS(ctx, shoal_smallsym_resolve(plan, v, NULL, v), SHOAL_E_ARG, "b is");
        CHECK_SAYS(ctx, shoal_smallsym_resolve(plan, v, v, NULL), SHOAL_E_ARG, "x is");
        shoal_smallsym_free(plan);
        for (int i = 0; i < 2; i++) { /* no unknowns, no systems */
            shoal_smallsym_info info;
            int32_t *status = outcome_array(ctx, sizeof *status);
            plan = plan_of(ctx, "ldlt", i ? 3 : 0, i ? 0 : 1);
            CHECK(shoal_smallsym_outcome(plan, &(shoal_outcome){ .status = status }) == SHOAL_OK);
            CHECK(shoal_smallsym_factor(plan, NULL, NULL) == SHOAL_OK);
            CHECK(shoal_smallsym_resolve(plan, NULL, NULL, NULL) == SHOAL_OK);
            CHECK(shoal_smallsym_last(plan, &info) == SHOAL_OK && info.failed == 0);
            shoal_free(ctx, status);
            shoal_smallsym_free(plan);
        }
        shoal_free(ctx, v);
    }
}

/* Systems of two sizes in one plan; b is A 1. */
TEST(groups_are_factored_together) {
    const shoal_group groups[] = { { 3, 2 }, { 33, 2 } };
    enum { A = 2 * 9 + 2 * 33 * 33, B = 2 * 3 + 2 * 33 };
    double a[A], b[B], x[B];
    for (int s = 0, at = 0, row = 0; s < 4; s++) {
        const int n = s < 2 ? 3 : 33;
        for (int i = 0; i < n * n; i++) a[at++] = i / n == i % n ? n + s : 1;
        for (int i = 0; i < n; i++) b[row++] = 2 * n + s - 1;
    }
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        const shoal_smallsym_opts o = {
            .groups = groups, .group_count = 2, .nrhs = 1, .method = "ldlt"
        };
        shoal_smallsym *plan = NULL;
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        double *l = upload(ctx, a, sizeof a, 0), *y = upload(ctx, b, sizeof b, 0);
        CHECK(shoal_smallsym_factor(plan, l, l) == SHOAL_OK);
        CHECK(shoal_smallsym_resolve(plan, l, y, y) == SHOAL_OK);
        CHECK(shoal_copy(ctx, x, y, sizeof x) == SHOAL_OK);
        for (int i = 0; i < B; i++) /* conditions below 3 */
            CHECK_MSG(fabs(x[i] - 1) <= 100 * DBL_EPSILON, "%s: x %.17g", targets[t].backend, x[i]);
        shoal_free(ctx, l), shoal_free(ctx, y);
        shoal_smallsym_free(plan);
    }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(l_d_lt_is_a_and_solves);
    RUN(every_storage_gives_the_same_bits);
    RUN(failures_are_reported_and_disturb_nobody);
    RUN(right_hand_sides_stand_for_themselves);
    RUN(extreme_scales);
    RUN(a_pivot_that_cannot_be_stored_fails);
    RUN(the_estimate_is_that_of_solve);
    RUN(bad_factors_are_found);
    RUN(what_cannot_be_is_refused);
    RUN(groups_are_factored_together);
    close_targets();
    return TEST_END();
}
