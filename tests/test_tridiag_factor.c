/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_factor.c - factors that are kept: x has the bits that "lupp" gives, as often as it is
 * asked for; systems that fail do so again; what is refused, and in which words.
 *
 *     test_tridiag_factor [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static const call lupp = { "lupp", NULL, 1 };

static shoal_status factor_typed(shoal_tridiag *plan, shoal_type type, void *dl, void *d, void *du,
                                 void *f) {
    return type == SHOAL_F32 ? shoal_tridiag_factorf(plan, dl, d, du, f)
                             : shoal_tridiag_factor(plan, dl, d, du, f);
}

static shoal_status resolve_typed(shoal_tridiag *plan, shoal_type type, void *f, void *b, void *x) {
    return type == SHOAL_F32 ? shoal_tridiag_resolvef(plan, f, b, x)
                             : shoal_tridiag_resolve(plan, f, b, x);
}

/* The outcome of a call against that of a solve by lupp; that x will overflow, factors may not know. */
static void check_outcome(const target *t, const char *method, const batch *p, shoal_tridiag *plan,
                          const shoal_outcome *o, const answer *r, const char *what) {
    shoal_tridiag_info info;
    CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
    int64_t failed = 0, warned = 0;
    for (int64_t k = 0; k < p->count; k++) {
        int32_t status, row;
        float residual, rcond;
        CHECK(shoal_copy(t->ctx, &status, o->status + k, sizeof status) == SHOAL_OK);
        CHECK(shoal_copy(t->ctx, &row, o->method + k, sizeof row) == SHOAL_OK);
        CHECK(shoal_copy(t->ctx, &residual, o->residual + k, sizeof residual) == SHOAL_OK);
        CHECK(shoal_copy(t->ctx, &rcond, o->rcond + k, sizeof rcond) == SHOAL_OK);
        const int in_x = r->status[k] == SHOAL_SYSTEM_OVERFLOW && strcmp(what, "factor") == 0;
        CHECK_MSG(status == r->status[k] || (in_x && status == SHOAL_SYSTEM_OK),
                  "%s %s %s n=%lld k=%lld: status %d, not %d", t->backend, method, what,
                  (long long)p->n, (long long)k, status, r->status[k]);
        CHECK(strcmp(shoal_methods("tridiag", row), "lupp") == 0);
        CHECK(isnan(residual) && isnan(rcond));
        failed += status<0, warned += status> 0;
    }
    CHECK(info.failed == failed && info.warned == warned && info.redone == 0);
    CHECK(info.max_residual == -1 && strcmp(info.method, method) == 0);
}

/* Factored and solved twice, the second time in place. */
static void factor_case(const target *t, const char *method, batch *p, shoal_layout layout,
                        int transposed) {
    shoal_context *ctx = t->ctx;
    const how h = { .layout = layout, .no_residual = 1, .transposed = transposed };
    answer r = solve_with(ctx, p, &lupp, h);
    const int64_t size = p->n * p->count * p->nrhs;
    const size_t bytes = (size_t)size * size_of(p->type), systems = (size_t)p->count;
    shoal_tridiag_opts o = { .n = p->n,
                             .count = p->count,
                             .nrhs = p->nrhs,
                             .type = p->type,
                             .layout = layout,
                             .method = method,
                             .transposed = transposed };
    shoal_tridiag *plan = NULL;
    CHECK(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK);
    void *dl = upload(ctx, p, layout, 1, p->dl), *d = upload(ctx, p, layout, 1, p->d);
    void *du = upload(ctx, p, layout, 1, p->du), *b = upload(ctx, p, layout, p->nrhs, p->b);
    void *factors = NULL, *x = NULL, *host = new_array(bytes, 1);
    shoal_outcome where = { 0 };
    CHECK(shoal_alloc(ctx, shoal_tridiag_factor_bytes(plan), &factors) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, bytes, &x) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, systems * sizeof(int32_t), (void **)&where.status) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, systems * sizeof(int32_t), (void **)&where.method) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, systems * sizeof(float), (void **)&where.residual) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, systems * sizeof(float), (void **)&where.rcond) == SHOAL_OK);
    CHECK(shoal_tridiag_outcome(plan, &where) == SHOAL_OK);
    CHECK_MSG(factor_typed(plan, p->type, dl, d, du, factors) == SHOAL_OK, "%s",
              shoal_message(ctx));
    check_outcome(t, method, p, plan, &where, &r, "factor");
    shoal_free(ctx, dl), shoal_free(ctx, d), shoal_free(ctx, du); /* not needed again */
    double *found = new_array((size_t)size, sizeof *found);
    for (int in_place = 0; in_place < 2; in_place++) {
        void *to = in_place ? b : x;
        CHECK_MSG(resolve_typed(plan, p->type, factors, b, to) == SHOAL_OK, "%s",
                  shoal_message(ctx));
        check_outcome(t, method, p, plan, &where, &r, "resolve");
        CHECK(shoal_copy(ctx, host, to, bytes) == SHOAL_OK);
        convert(p, layout, p->nrhs, found, host, 0);
        for (int64_t i = 0; i < size && p->n > 0; i++) {
            const int failed = r.status[i / (p->n * p->nrhs)] < 0;
            const double wanted = failed && in_place ? p->b[i] : r.x[i];
            CHECK_MSG(same(found[i], wanted),
                      "%s %s %s n=%lld count=%lld layout %d at %lld: %g, not %g", t->backend,
                      method, p->type ? "f32" : "f64", (long long)p->n, (long long)p->count, layout,
                      (long long)i, found[i], wanted);
        }
    }
    shoal_tridiag_free(plan);
    shoal_free(ctx, b), shoal_free(ctx, x), shoal_free(ctx, factors);
    shoal_free(ctx, where.status), shoal_free(ctx, where.method);
    shoal_free(ctx, where.residual), shoal_free(ctx, where.rcond);
    free(host), free(found);
    free_answer(&r);
}

/* auto gives long systems to twocarry, which has no factors to keep. */
TEST(long_systems_of_auto_are_refused) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_tridiag_opts o = { .n = 70000, .count = 1, .nrhs = 1 };
        shoal_tridiag *plan = NULL;
        void *factors = NULL;
        CHECK(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, shoal_tridiag_factor_bytes(plan), &factors) == SHOAL_OK);
        CHECK(shoal_tridiag_factor(plan, factors, factors, factors, factors) == SHOAL_E_METHOD);
        CHECK_MSG(strstr(shoal_message(ctx), "use 'lupp'"), "%s", shoal_message(ctx));
        shoal_free(ctx, factors);
        shoal_tridiag_free(plan);
    }
}

TEST(kept_factors_give_the_bits_of_lupp) {
    const int64_t lengths[] = { 0, 1, 2, 3, 4, 5, 17, 33, 300, 5000 };
    for (int i = 0; i < (small ? 9 : 10); i++)
        for (int type = 0; type < 2; type++)
            for (int64_t nrhs = 1; nrhs < 4; nrhs += 2)
                for (int64_t count = 1; count < 40; count += small ? 4 : 18) {
                    if (small && count > 5) break;
                    batch p = generate("zerodiag", lengths[i], count, nrhs, type);
                    for (int t = 0; t < target_count; t++)
                        for (int way = 0; way < 4; way++) {
                            if (way % 2 && p.n > 2304 && strcmp(targets[t].backend, "cpu") != 0)
                                continue; /* auto is twocarry there */
                            factor_case(&targets[t], way % 2 ? "auto" : "lupp", &p, way / 2,
                                        (way + (int)i) / 2 % 2);
                        }
                    free_batch(&p);
                }
}

TEST(systems_that_fail_do_so_again) {
    const char *const kinds[] = { "singular", "nonfinite" };
    for (int kind = 0; kind < 2; kind++)
        for (int64_t n = 1; n < 60; n += 11)
            for (int type = 0; type < 2; type++) {
                batch p = generate(kinds[kind], n, 23, 1, type);
                for (int64_t k = 0; k < p.count && kind; k++) /* b of "nonfinite" may be at fault */
                    if (isfinite(p.b[k * n]) == 0) p.dl[k * n] = NAN, p.d[k * n] = NAN;
                for (int t = 0; t < target_count; t++)
                    for (int way = 0; way < 4; way++)
                        factor_case(&targets[t], "lupp", &p, way % 2, way / 2);
                free_batch(&p);
            }
}

/* An overflow shows in the factors, or in x. */
TEST(overflow_is_told) {
    const double huge = DBL_MAX / 2;
    for (int t = 0; t < target_count; t++)
        for (int in_u = 0; in_u < 2; in_u++) {
            batch p = new_batch(2, 3, 1, SHOAL_F64);
            for (int k = 0; k < 3; k++) {
                p.d[2 * k] = p.d[2 * k + 1] = 1, p.b[2 * k] = p.b[2 * k + 1] = 1;
                if (k != 1) continue;
                p.d[2] = in_u ? huge : DBL_MIN, p.b[2] = in_u ? 1 : huge;
                if (in_u) p.du[2] = -1.9 * huge, p.dl[3] = huge, p.d[3] = 1.9 * huge;
            }
            factor_case(&targets[t], "lupp", &p, SHOAL_SYSTEM_MAJOR, 0);
            free_batch(&p);
        }
}

/* One right-hand side that is not finite fails alone; the factors serve the others, and later ones. */
TEST(a_bad_right_hand_side_fails_alone) {
    enum { N = 12, COUNT = 5, RHS = 3 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        batch p = generate("random", N, COUNT, RHS, SHOAL_F64);
        answer good = solve_with(ctx, &p, &lupp, (how){ 0 });
        p.b[(2 * N + 7) * RHS + 1] = INFINITY;
        shoal_tridiag *plan;
        shoal_tridiag_opts o = { .n = N, .count = COUNT, .nrhs = RHS, .method = "lupp" };
        CHECK(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK);
        double *dl = upload(ctx, &p, 0, 1, p.dl), *d = upload(ctx, &p, 0, 1, p.d);
        double *du = upload(ctx, &p, 0, 1, p.du), *b = upload(ctx, &p, 0, RHS, p.b),
               x[COUNT * N * RHS];
        void *factors = NULL;
        shoal_tridiag_info info;
        CHECK(shoal_alloc(ctx, shoal_tridiag_factor_bytes(plan), &factors) == SHOAL_OK);
        CHECK(shoal_tridiag_factor(plan, dl, d, du, factors) == SHOAL_OK);
        CHECK(shoal_tridiag_resolve(plan, factors, b, b) == SHOAL_OK);
        CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK && info.failed == 1);
        CHECK(shoal_copy(ctx, x, b, sizeof x) == SHOAL_OK);
        for (int i = 0; i < COUNT * N * RHS; i++) {
            const int bad = i / (N * RHS) == 2 && i % RHS == 1;
            CHECK(same(x[i], bad ? p.b[i] : good.x[i]));
        }
        shoal_tridiag_free(plan);
        shoal_free(ctx, dl), shoal_free(ctx, d), shoal_free(ctx, du), shoal_free(ctx, b);
        shoal_free(ctx, factors);
        free_answer(&good);
        free_batch(&p);
    }
}

TEST(what_is_refused) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_tridiag_opts o = { .n = 4, .count = 3, .nrhs = 1 };
        shoal_tridiag *plan, *thomas;
        double *m;
        CHECK(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK);
        o.method = "thomas";
        CHECK(shoal_tridiag_create(ctx, &o, &thomas) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, shoal_tridiag_factor_bytes(plan), (void **)&m) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_tridiag_factor(thomas, m, m, m, m), SHOAL_E_METHOD, "'thomas'");
        CHECK_SAYS(ctx, shoal_tridiag_resolve(thomas, m, m, m), SHOAL_E_METHOD, "auto, lupp");
        CHECK_SAYS(ctx, shoal_tridiag_factorf(plan, NULL, NULL, NULL, NULL), SHOAL_E_TYPE,
                   "call shoal_tridiag_factor");
        CHECK_SAYS(ctx, shoal_tridiag_resolvef(plan, NULL, NULL, NULL), SHOAL_E_TYPE,
                   "call shoal_tridiag_resolve");
        CHECK_SAYS(ctx, shoal_tridiag_factor(plan, m, m, m, NULL), SHOAL_E_ARG, "factors is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_factor(plan, NULL, m, m, m), SHOAL_E_ARG, "dl is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_factor(plan, m, m, NULL, m), SHOAL_E_ARG, "du is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_resolve(plan, NULL, m, m), SHOAL_E_ARG, "factors is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_resolve(plan, m, NULL, m), SHOAL_E_ARG, "b is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_resolve(plan, m, m, NULL), SHOAL_E_ARG, "x is NULL");
        shoal_tridiag_free(plan);
        shoal_tridiag_free(thomas);
        shoal_free(ctx, m);
    }
    double v[1] = { 1 };
    CHECK(shoal_tridiag_factor(NULL, v, v, v, v) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_resolve(NULL, v, v, v) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_factor_bytes(NULL) == 0);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(long_systems_of_auto_are_refused);
    RUN(kept_factors_give_the_bits_of_lupp);
    RUN(systems_that_fail_do_so_again);
    RUN(overflow_is_told);
    RUN(a_bad_right_hand_side_fails_alone);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
