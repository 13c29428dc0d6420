/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_api.c - what symindef's functions refuse and what they say then, orders 0 and 1, the
 * number of threads, plans used again.
 */
#include "symindef_matrix.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

TEST(create_refuses_and_names) {
    static const struct {
        shoal_symindef_opts o;
        shoal_status status;
        const char *word;
    } cases[] = {
        { { .n = -1 }, SHOAL_E_ARG, "n is -1" },
        { { .n = 1LL << 31 }, SHOAL_E_ARG, "n is 2147483648" },
        { { .n = 4, .ld = 3 }, SHOAL_E_ARG, "ld is 3" },
        { { .n = 4, .ld = 4, .storage = SHOAL_PACKED }, SHOAL_E_ARG, "ld is 4" },
        { { .n = 4, .alpha = 1 }, SHOAL_E_ARG, "alpha is 1" },
        { { .n = 4, .alpha = (double)NAN }, SHOAL_E_ARG, "alpha is" },
        { { .n = 4, .alpha = 0.99999999, .type = SHOAL_F32 }, SHOAL_E_ARG, "alpha is 0.99999999" },
        { { .n = 4, .tol = (double)NAN }, SHOAL_E_ARG, "tol is" },
        { { .n = 4, .tol = (double)INFINITY }, SHOAL_E_ARG, "tol is inf" },
        { { .n = 4, .eliminate = 5 }, SHOAL_E_ARG, "eliminate is 5" },
        { { .n = 4, .eliminate = -1 }, SHOAL_E_ARG, "eliminate is -1" },
        { { .n = 4, .type = (shoal_type)2 }, SHOAL_E_ARG, "type is 2" },
        { { .n = 4, .storage = (shoal_storage)2 }, SHOAL_E_ARG, "storage is 2" },
        { { .n = 4, .triangle = (shoal_triangle)3 }, SHOAL_E_ARG, "triangle is 3" },
        { { .n = 4, .method = "magic" }, SHOAL_E_METHOD, "complete" },
        { { .n = 4, .method = "complete", .variant = "x" }, SHOAL_E_METHOD, "x" },
        { { .n = 4, .variant = "x" }, SHOAL_E_METHOD, "auto" },
    };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_symindef *plan = NULL;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK_SAYS(ctx, shoal_symindef_create(ctx, &cases[i].o, &plan), cases[i].status,
                       cases[i].word);
            CHECK(plan == NULL);
        }
        for (int type = 0; type < 2; type++) { /* the largest alpha of each type */
            const shoal_symindef_opts o = { .n = 4,
                                            .type = (shoal_type)type,
                                            .alpha = type ? 1 - 0x1p-24 : 1 - 0x1p-53 };
            CHECK(shoal_symindef_create(ctx, &o, &plan) == SHOAL_OK);
            shoal_symindef_free(plan);
        }
        CHECK_SAYS(ctx, shoal_symindef_create(ctx, NULL, &plan), SHOAL_E_ARG, "opts");
        CHECK_SAYS(ctx, shoal_symindef_create(ctx, &cases[0].o, NULL), SHOAL_E_ARG, "plan");
    }
    CHECK(shoal_symindef_create(NULL, &cases[0].o, NULL) == SHOAL_E_ARG);
    shoal_symindef_free(NULL);
}

TEST(calls_out_of_order_are_named) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_symindef *plan;
        shoal_symindef_info info;
        double x[4] = { 0 };
        const shoal_symindef_opts o = { .n = 2 };
        CHECK(shoal_symindef_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_symindef_last(plan, &info), SHOAL_E_ARG, "not been factored");
        CHECK_SAYS(ctx, shoal_symindef_order(plan, NULL, NULL, NULL), SHOAL_E_ARG,
                   "not been factored");
        CHECK_SAYS(ctx, shoal_symindef_solve(plan, x, 1, x, x), SHOAL_E_ARG, "not been factored");
        CHECK_SAYS(ctx, shoal_symindef_factor(plan, NULL), SHOAL_E_ARG, "A");
        CHECK_SAYS(ctx, shoal_symindef_factorf(plan, (float *)x), SHOAL_E_TYPE, "double");
        if (on_cpu(&targets[t])) {
            double a[4] = { 2, 0, 1, 2 };
            CHECK(shoal_symindef_factor(plan, a) == SHOAL_OK);
            CHECK_SAYS(ctx, shoal_symindef_solve(plan, a, INT64_MAX, x, x), SHOAL_E_ARG,
                       "n * nrhs = 2 * 9223372036854775807 is too large");
            CHECK_SAYS(ctx, shoal_symindef_solve(plan, a, 1LL << 46, x, x), SHOAL_E_ARG,
                       "too large");
            CHECK_SAYS(ctx, shoal_symindef_solve(plan, a, (1LL << 46) - 1, NULL, x), SHOAL_E_ARG,
                       "b is NULL");
            CHECK_SAYS(ctx, shoal_symindef_refine(plan, a, a, INT64_MAX, x, x, NULL, NULL),
                       SHOAL_E_ARG, "too large");
            CHECK_SAYS(ctx, shoal_symindef_solve(plan, a, -1, x, x), SHOAL_E_ARG, "nrhs is -1");
        }
        shoal_symindef_free(plan);
    }
    CHECK(shoal_symindef_factor(NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_symindef_last(NULL, NULL) == SHOAL_E_ARG);
}

TEST(orders_0_and_1) {
    for (int t = 0; t < target_count; t++) {
        shoal_symindef *plan;
        shoal_symindef_info info;
        double rcond = 0, number = -3;
        const shoal_symindef_opts none = { .n = 0 };
        CHECK(shoal_symindef_create(targets[t].ctx, &none, &plan) == SHOAL_OK);
        CHECK(shoal_symindef_factor(plan, NULL) == SHOAL_OK);
        CHECK(shoal_symindef_last(plan, &info) == SHOAL_OK);
        CHECK(info.rank == 0 && info.sign_det == 1 && info.log_abs_det == 0 && info.status == 0);
        CHECK(shoal_symindef_order(plan, NULL, NULL, NULL) == SHOAL_OK);
        CHECK(shoal_symindef_solve(plan, NULL, 3, NULL, NULL) == SHOAL_OK);
        CHECK(shoal_symindef_rcond(plan, NULL, &rcond) == SHOAL_OK && rcond == 1);
        shoal_symindef_free(plan);
        const shoal_symindef_opts one = { .n = 1, .storage = SHOAL_PACKED };
        factored f = factor_on(&targets[t], &one, &number, NULL, NULL);
        CHECK(f.info.rank == 1 && f.info.inertia[1] == 1 && f.info.sign_det == -1);
        CHECK(fabs(f.info.log_abs_det - log(3)) < 1e-15 && f.d[0] == -3 && f.info.growth == 1);
        CHECK(f.interchanges[0] == 1 && f.permutation[0] == 0 && f.growth[0] == 1);
        forget(&f);
    }
}

/* What the factorization used, as given or by default, and what its rounding errors may be. */
TEST(last_has_the_tolerances_in_force) {
    const double a[] = { 4, 1, -3 };
    for (int t = 0; t < target_count; t++)
        for (int given = 0; given < 2; given++) {
            const shoal_symindef_opts o = {
                .n = 2, .storage = SHOAL_PACKED, .alpha = given ? 0.5 : 0, .tol = given ? 0.125 : 0
            };
            factored f = factor_on(&targets[t], &o, a, NULL, NULL);
            CHECK(f.info.alpha == (given ? 0.5 : (1 + sqrt(17.0)) / 8));
            CHECK(f.info.tol == (given ? 0.125 : 4 * 0x1p-52));
            CHECK(f.info.epsilon == 0x1p-52 && f.info.rounding == 2 * 4 * 0x1p-52);
            forget(&f);
        }
    CHECK(shoal_method_flags("symindef", "complete", NULL) == (SHOAL_CAN_GROWTH | SHOAL_CAN_BOUND));
}

/* Products that leave the range at either end. */
TEST(ends_of_the_range_at_order_2) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = shoal_methods("symindef", row)) != NULL; row++)
            for (int upper = 0; upper < 2; upper++) {
                /* alpha times the least number of all is 0: not even then is 0 a pivot */
                const double least[] = { 0, 5e-324, 5e-324, 0 };
                const double left[] = { 1, 1e200, 1e200, 0 };
                shoal_symindef_opts o = { .n = 2, .method = method, .alpha = 0.3 };
                o.triangle = upper ? SHOAL_UPPER : SHOAL_LOWER;
                factored f = factor_on(&targets[t], &o, least, NULL, NULL);
                CHECK_MSG(f.info.rank == 2 && f.info.pivots_2x2 == 1, "%s", method);
                forget(&f);
                /* 1 is the pivot, and the end comes before any search sees the 1e400 that is left */
                o.alpha = 1e-250, o.eliminate = 1;
                f = factor_on(&targets[t], &o, left, NULL, NULL);
                CHECK_MSG(f.info.status == SHOAL_SYSTEM_OVERFLOW, "%s: %d", method, f.info.status);
                forget(&f);
            }
}

/* The CPU searches lines of more than 2048 doubles in strips: the largest entry is in the first of its line, and
 * a smaller one in the second. */
TEST(largest_entries_of_long_lines) {
    enum { N = 2100 };
    static const int64_t large[2][2] = { { 2090, 5 },
                                         { 100, 5 } }; /* of a lower, an upper triangle */
    static const int64_t smaller[2][2] = { { 2090, 2060 }, { 2090, 5 } };
    for (int t = 0; t < target_count; t++)
        for (int upper = 0; upper < 2 && on_cpu(&targets[t]); upper++) {
            double *a = new_array((size_t)N * N, sizeof *a);
            int32_t order[N];
            shoal_symindef *plan;
            const shoal_symindef_opts o = { .n = N,
                                            .method = "complete",
                                            .triangle = upper ? SHOAL_UPPER : SHOAL_LOWER,
                                            .eliminate = 1 };
            const int64_t *p = large[upper], *q = smaller[upper];
            for (int i = 0; i < N; i++) a[i * N + i] = 1;
            a[p[0] * N + p[1]] = a[p[1] * N + p[0]] = 10;
            a[q[0] * N + q[1]] = a[q[1] * N + q[0]] = 3;
            CHECK(shoal_symindef_create(targets[t].ctx, &o, &plan) == SHOAL_OK);
            CHECK(shoal_symindef_factor(plan, a) == SHOAL_OK);
            CHECK(shoal_symindef_order(plan, NULL, order, NULL) == SHOAL_OK);
            CHECK_MSG(order[0] + order[1] == p[0] + p[1] && (order[0] == p[0] || order[0] == p[1]),
                      "upper %d: rows %d and %d", upper, order[0], order[1]);
            shoal_symindef_free(plan);
            free(a);
        }
}

/* The factors do not depend on the number of threads, nor on what the plan did before. */
TEST(threads_and_earlier_calls_change_nothing) {
    enum { N = 300 };
    if (target_count == 0 || !on_cpu(&targets[0])) SKIP("on the CPU alone");
    double *a = matrix_of("hollow", N), *b = matrix_of("random", N);
    const shoal_symindef_opts o = { .n = N };
    factored first = factor_on(&targets[0], &o, a, NULL, NULL);
    for (int threads = 1; threads <= 5; threads++) {
        target t = { "cpu", targets[0].isa, NULL };
        const shoal_options with = { .backend = "cpu", .isa = t.isa, .threads = threads };
        CHECK(shoal_open(&with, &t.ctx) == SHOAL_OK);
        factored f = factor_on(&t, &o, a, NULL, NULL);
        CHECK(memcmp(f.m, first.m, N * N * sizeof(double)) == 0);
        CHECK(memcmp(f.interchanges, first.interchanges, N * sizeof(int32_t)) == 0);
        forget(&f);
        shoal_close(t.ctx);
    }
    shoal_symindef *plan;
    double *again = new_array(N * N, sizeof *again);
    CHECK(shoal_symindef_create(targets[0].ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_symindef_factor(plan, b) == SHOAL_OK);
    memcpy(again, a, N * N * sizeof *again);
    CHECK(shoal_symindef_factor(plan, again) == SHOAL_OK);
    for (int i = 0; i < N; i++) CHECK(again[i * N + i] == first.d[i]);
    shoal_symindef_free(plan);
    forget(&first);
    free(again), free(a), free(b);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(create_refuses_and_names);
    RUN(calls_out_of_order_are_named);
    RUN(orders_0_and_1);
    RUN(last_has_the_tolerances_in_force);
    RUN(ends_of_the_range_at_order_2);
    RUN(largest_entries_of_long_lines);
    RUN(threads_and_earlier_calls_change_nothing);
    close_targets();
    return TEST_END();
}
