/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_accuracy.c - the condition estimate, refined answers with bounds on their errors, and
 * the inverse, judged by inverses in long double.
 */
#include "symindef_kept.h"

TEST(rcond_is_that_of_the_inverse) {
    static const char *const some[] = { "random", "hollow", "kkt", "clement" };
    static const int sizes[] = { 1, 2, 8, 40 };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int kind = 0; kind < 4; kind++)
                for (int s = 0; s < 4; s++) {
                    const int64_t n = sizes[s];
                    const int type = (kind + s) % 2;
                    if (n == 1 && (kind == 1 || kind == 3)) continue; /* zero */
                    kept k = keep(&targets[t], some[kind], shape_of(n, method, s, type));
                    double rcond = -1;
                    if (type)
                        CHECK(shoal_symindef_rcondf(k.plan, k.factors, &rcond) == SHOAL_OK);
                    else
                        CHECK(shoal_symindef_rcond(k.plan, k.factors, &rcond) == SHOAL_OK);
                    long double *m = exact_inverse(k.f.a, n);
                    const double exact = 1 / (norm_of(k.f.a, n) * inverse_norm(m, n));
                    CHECK_MSG(rcond >= exact * (type ? 0.99 : 0.999999) && rcond <= 3 * exact,
                              "%s %s n=%lld: %g, exact %g", method, some[kind], (long long)n, rcond,
                              exact);
                    free(m);
                    let_go(&k);
                }
}

static int hager_climbs; /* estimates that looked at more than one column */

/* y = A^-1 x; returns the sum of its sizes. */
static long double inverse_times(const long double *m, int n, const long double *x,
                                 long double *y) {
    long double sum = 0;
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += m[i * 2 * n + n + j] * x[j];
        sum += fabsl(y[i]);
    }
    return sum;
}

/* Hager's estimate of the 1-norm of an inverse that is known, as Higham has it (LAPACK's dlacn2). */
static double hager_estimate(const long double *m, int n) {
    long double x[16], y[16], sign[16] = { 0 }, estimate = 0;
    for (int i = 0; i < n; i++) x[i] = 1.0L / n;
    for (int step = 0, column = -1; step <= 5; step++) {
        const long double sum = inverse_times(m, n, x, y);
        int same = 1, next = 0;
        if (step > 0 && !(sum > estimate)) break;
        estimate = sum;
        for (int i = 0; i < n; i++) {
            same &= sign[i] == (y[i] < 0 ? -1 : 1);
            sign[i] = y[i] < 0 ? -1 : 1;
        }
        if (same) break;
        inverse_times(m, n, sign, y);
        for (int i = 1; i < n; i++)
            if (fabsl(y[i]) > fabsl(y[next])) next = i;
        if (next == column) break;
        column = next, hager_climbs += step == 1;
        for (int i = 0; i < n; i++) x[i] = i == column;
    }
    for (int i = 0; i < n; i++) x[i] = (i % 2 ? -1 : 1) * (1 + i / (n - 1.0L));
    return (double)fmaxl(estimate, 2 * inverse_times(m, n, x, y) / (3 * n));
}

/* Of a hundred matrices, four need more than one column. No two sizes are equal, so that rounding, of some units times
 * the condition, leaves the way of the climb as it is. */
TEST(rcond_is_the_estimate_of_hager) {
    for (int seed = 0; seed < 100; seed++) {
        const int n = 3 + seed % 10;
        double a[12 * 12], rcond;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) a[i * n + j] = uniform_at(100 + (uint64_t)seed, i, j);
        long double *m = exact_inverse(a, n);
        const double expected = 1 / norm_of(a, n) / hager_estimate(m, n);
        for (int t = 0; t < target_count; t++) {
            if (small && !on_cpu(&targets[t]) && seed % 10) continue;
            kept k = keep_matrix(&targets[t], a, shape_of(n, method_at(seed % 3), seed % 4, 0));
            CHECK(shoal_symindef_rcond(k.plan, k.factors, &rcond) == SHOAL_OK);
            CHECK_MSG(fabs(rcond / expected - 1) <= 100 * n * 0x1p-52 / expected,
                      "seed %d: %.10g, expected %.10g", seed, rcond, expected);
            let_go(&k);
        }
        free(m);
    }
    CHECK_MSG(hager_climbs >= 3, "%d", hager_climbs);
}

/* A = diag(1/2) + (I - c v vt), v of alternating signs. The estimate climbs to column 0 of A^-1 and stays
 * there, as the columns of v add up to zero; what counts is the last vector, of alternating signs and
 * growing size: 2 |A^-1 y| / (3 n), exactly. */
TEST(rcond_where_only_the_last_vector_sees_it) {
    enum { N = 9 };
    const double theta = 1000, c = theta / (1 + theta * (N - 1));
    double a[N * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = i == 0 || j == 0 ? (i == j) * 0.5 : (i == j) - ((i + j) % 2 ? -c : c);
    long double *m = exact_inverse(a, N), sum = 0;
    for (int i = 0; i < N; i++) {
        long double y = 0;
        for (int j = 0; j < N; j++)
            y += m[i * 2 * N + N + j] * (j % 2 ? -1 : 1) * (1 + j / (N - 1.0L));
        sum += fabsl(y);
    }
    const double expected = 1 / norm_of(a, N) / (double)(2 * sum / (3 * N));
    for (int t = 0; t < target_count; t++)
        for (int row = 0; method_at(row) != NULL; row++) {
            double rcond = -1;
            kept k = keep_matrix(&targets[t], a, shape_of(N, method_at(row), row % 4, 0));
            CHECK(shoal_symindef_rcond(k.plan, k.factors, &rcond) == SHOAL_OK);
            /* the condition number is 3e4, so that the solves are right to 1e-10 */
            CHECK_MSG(fabs(rcond - expected) <= 1e-10 * expected, "%s: %g, expected %g",
                      method_at(row), rcond, expected);
            let_go(&k);
        }
    free(m);
}

TEST(rcond_of_a_singular_matrix_is_zero) {
    for (int t = 0; t < target_count; t++) {
        kept k = keep(&targets[t], "zeros", shape_of(5, "complete", 0, 0));
        double rcond = -1;
        CHECK(shoal_symindef_rcond(k.plan, k.factors, &rcond) == SHOAL_OK && rcond == 0);
        let_go(&k);
    }
}

/* Answers spoilt on purpose come back to the unit of roundoff, and the bound holds. */
TEST(refinement_mends_and_bounds) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int shape = 0; shape < 8; shape++) {
                enum { N = 40, NRHS = 3 };
                static const double spoil[NRHS] = { 1000, 12, 30 }; /* by so many units */
                const int type = shape / 4;
                if (small && (shape + type + row) % 2) continue;
                const double unit = unit_of((shoal_type)type);
                kept k = keep(&targets[t], "kkt", shape_of(N, method, shape % 4, type));
                double x[N * NRHS], backward[NRHS], forward[NRHS];
                char b[N * NRHS * 8], spoilt[N * NRHS * 8];
                long double *m = exact_inverse(k.f.a, N);
                for (int i = 0; i < N * NRHS; i++)
                    store_number(b, (shoal_type)type, (size_t)i, uniform_at(11, i, 0));
                for (int i = 0; i < N; i++)
                    for (int c = 0; c < NRHS; c++) {
                        long double sum = 0;
                        for (int j = 0; j < N; j++)
                            sum += m[i * 2 * N + N + j] *
                                   stored_number(b, (shoal_type)type, (size_t)(j * NRHS + c));
                        x[i * NRHS + c] = (double)sum;
                        store_number(spoilt, (shoal_type)type, (size_t)(i * NRHS + c),
                                     (double)sum * (1 + spoil[c] * unit * uniform_at(12, i, c)));
                    }
                const size_t bytes = N * NRHS * k.item;
                void *device_b = to_context(&targets[t], b, bytes);
                void *device_x = to_context(&targets[t], spoilt, bytes);
                if (type)
                    CHECK(shoal_symindef_refinef(k.plan, k.given, k.factors, NRHS, device_b,
                                                 device_x, backward, forward) == SHOAL_OK);
                else
                    CHECK(shoal_symindef_refine(k.plan, k.given, k.factors, NRHS, device_b,
                                                device_x, backward, forward) == SHOAL_OK);
                CHECK(shoal_copy(targets[t].ctx, spoilt, device_x, bytes) == SHOAL_OK);
                for (int c = 0; c < NRHS; c++) {
                    double error = 0, most = 0;
                    for (int i = 0; i < N; i++) {
                        const double now =
                            stored_number(spoilt, (shoal_type)type, (size_t)(i * NRHS + c));
                        raise_to(&error, fabs(now - x[i * NRHS + c]));
                        raise_to(&most, fabs(now));
                    }
                    CHECK_MSG(backward[c] <= 2 * unit, "%s: backward %g", method, backward[c]);
                    CHECK_MSG(error / most <= forward[c], "%s: %g above its bound %g", method,
                              error / most, forward[c]);
                    CHECK_MSG(forward[c] < 1e5 * unit, "%s: bound %g", method, forward[c]);
                }
                shoal_free(targets[t].ctx, device_b);
                shoal_free(targets[t].ctx, device_x);
                free(m);
                let_go(&k);
            }
}

/* NaN and infinity in b or x are in the errors of that column, too, and in no other's. */
TEST(refinement_says_what_is_not_finite) {
    enum { N = 6, NRHS = 3 };
    static const double bad[] = { (double)NAN, (double)INFINITY, -(double)INFINITY };
    for (int t = 0; t < target_count; t++)
        for (int which = 0; which < 12; which++) {
            const int type = which / 6;
            kept k = keep(&targets[t], "kkt", shape_of(N, "rook", which % 4, type));
            char b[N * NRHS * 8], x[N * NRHS * 8];
            double backward[NRHS], forward[NRHS];
            for (int i = 0; i < N * NRHS; i++) {
                store_number(b, (shoal_type)type, (size_t)i, uniform_at(14, i, 0));
                store_number(x, (shoal_type)type, (size_t)i, 0);
            }
            store_number(which % 2 ? x : b, (shoal_type)type, (which % 3) * NRHS + 1,
                         bad[which / 2 % 3]);
            void *device_b = to_context(&targets[t], b, N * NRHS * k.item);
            void *device_x = to_context(&targets[t], x, N * NRHS * k.item);
            CHECK((type ? shoal_symindef_refinef(k.plan, k.given, k.factors, NRHS, device_b,
                                                 device_x, backward, forward)
                        : shoal_symindef_refine(k.plan, k.given, k.factors, NRHS, device_b,
                                                device_x, backward, forward)) == SHOAL_OK);
            for (int c = 0; c < NRHS; c++) {
                CHECK_MSG(isnan(backward[c]) == (c == 1), "%d: backward %g", which, backward[c]);
                CHECK_MSG(isnan(forward[c]) == (c == 1), "%d: forward %g", which, forward[c]);
            }
            shoal_free(targets[t].ctx, device_b), shoal_free(targets[t].ctx, device_x);
            let_go(&k);
        }
}

/* Sums of |A| that no double holds: 1 / infinity on either backend. */
TEST(rcond_where_the_norm_overflows) {
    double a[16];
    for (int i = 0; i < 16; i++) a[i] = i % 5 ? 5e307 : 1e308;
    for (int t = 0; t < target_count; t++) {
        double rcond = -1;
        kept k = keep_matrix(&targets[t], a, shape_of(4, "complete", t % 4, 0));
        CHECK(k.f.info.rank == 4);
        CHECK(shoal_symindef_rcond(k.plan, k.factors, &rcond) == SHOAL_OK);
        CHECK_MSG(rcond == 0, "%g", rcond);
        let_go(&k);
    }
}

/* The norm of A + E is not known; that of what is factored next is. */
TEST(rcond_after_a_change_is_refused) {
    const double a[] = { 10, 0, 0, 10 };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            double rcond = -1;
            const shoal_symindef_opts o = shape_of(2, "complete", 0, type);
            kept k = keep_matrix(&targets[t], a, o);
            const shoal_status modified = type
                                              ? shoal_symindef_modifyf(k.plan, k.factors, 100, NULL)
                                              : shoal_symindef_modify(k.plan, k.factors, 100, NULL);
            CHECK(modified == SHOAL_OK);
            for (int again = 0; again < 2; again++) {
                const shoal_status status = type ? shoal_symindef_rcondf(k.plan, k.factors, &rcond)
                                                 : shoal_symindef_rcond(k.plan, k.factors, &rcond);
                CHECK_MSG(status == (again ? SHOAL_OK : SHOAL_E_ARG), "%d", status);
                if (again) CHECK_MSG(fabs(rcond - 1) < 1e-6, "%g", rcond);
                if (again) continue;
                CHECK(strstr(shoal_message(targets[t].ctx), "A + E") != NULL);
                CHECK((type ? shoal_symindef_factorf(k.plan, k.given)
                            : shoal_symindef_factor(k.plan, k.given)) == SHOAL_OK);
                CHECK(shoal_copy(targets[t].ctx, k.factors, k.given, 4 * k.item) == SHOAL_OK);
            }
            let_go(&k);
        }
}

TEST(inverses) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int shape = 0; shape < 4; shape++) {
                const int64_t n = row + shape == 0 ? 70 : 37; /* 70: two blocks of rows */
                if (small && (shape + row) % 2) continue;
                kept k = keep(&targets[t], "random", shape_of(n, method, shape, 0));
                double *x = new_array((size_t)(n * n), sizeof *x);
                void *device = to_context(&targets[t], x, (size_t)(n * n) * 8);
                CHECK(shoal_symindef_inverse(k.plan, k.factors, device) == SHOAL_OK);
                CHECK(shoal_wait(targets[t].ctx) == SHOAL_OK);
                CHECK(shoal_copy(targets[t].ctx, x, device, (size_t)(n * n) * 8) == SHOAL_OK);
                long double *m = exact_inverse(k.f.a, n);
                double worst = 0;
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < n; j++)
                        raise_to(&worst, fabs((double)(m[i * 2 * n + n + j] - x[i * n + j])));
                const double scale = inverse_norm(m, n);
                CHECK_MSG(worst <= 1e-14 * scale * scale * norm_of(k.f.a, n), "%s: %g", method,
                          worst);
                shoal_free(targets[t].ctx, device);
                free(m), free(x);
                let_go(&k);
            }
}

/* One bit as the other, in any storage, alone or beside others: sums have one order. Sizes at which
 * blocks of rows end, and pivots of order 2 lie across their ends. */
TEST(answers_depend_on_nothing_but_the_system) {
    static const int sizes[] = { 31, 33, 64, 100 };
    static const char *const some[] = { "random", "hollow", "random", "hollow" };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++)
            for (int s = 0; s < 4; s++) {
                enum { NRHS = 35, MOST = 100 };
                const int64_t n = sizes[s];
                const size_t item = type ? 4 : 8;
                char b[MOST * NRHS * 8], x[MOST * NRHS * 8], first[MOST * NRHS * 8], one[MOST * 8];
                for (int64_t i = 0; i < n * NRHS; i++)
                    store_number(b, (shoal_type)type, (size_t)i, uniform_at(13, i, 0));
                for (int shape = 0; shape < 4; shape++) {
                    without_growth = 1;
                    kept k = keep(&targets[t], some[s], shape_of(n, "rook", shape, type));
                    void *where = to_context(&targets[t], b, (size_t)(n * NRHS) * item);
                    if (type)
                        CHECK(shoal_symindef_solvef(k.plan, k.factors, NRHS, where, where) ==
                              SHOAL_OK);
                    else
                        CHECK(shoal_symindef_solve(k.plan, k.factors, NRHS, where, where) ==
                              SHOAL_OK);
                    CHECK(shoal_copy(targets[t].ctx, x, where, (size_t)(n * NRHS) * item) ==
                          SHOAL_OK);
                    if (shape == 0) memcpy(first, x, (size_t)(n * NRHS) * item);
                    CHECK_MSG(memcmp(x, first, (size_t)(n * NRHS) * item) == 0, "n=%lld shape %d",
                              (long long)n, shape);
                    for (int64_t i = 0; i < n; i++)
                        memcpy(one + (size_t)i * item, b + (size_t)(i * NRHS + 7) * item, item);
                    CHECK(shoal_copy(targets[t].ctx, where, one, (size_t)n * item) == SHOAL_OK);
                    if (type)
                        CHECK(shoal_symindef_solvef(k.plan, k.factors, 1, where, where) ==
                              SHOAL_OK);
                    else
                        CHECK(shoal_symindef_solve(k.plan, k.factors, 1, where, where) == SHOAL_OK);
                    CHECK(shoal_copy(targets[t].ctx, one, where, (size_t)n * item) == SHOAL_OK);
                    for (int64_t i = 0; i < n; i++)
                        CHECK_MSG(memcmp(one + (size_t)i * item, x + (size_t)(i * NRHS + 7) * item,
                                         item) == 0,
                                  "n=%lld shape %d row %lld", (long long)n, shape, (long long)i);
                    shoal_free(targets[t].ctx, where);
                    let_go(&k);
                }
            }
}

/* What is refused, and what it says. */
TEST(misuse_is_named) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_symindef *plan;
        double number;
        const shoal_symindef_opts o = { .n = 3 };
        CHECK(shoal_symindef_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_symindef_rcond(plan, &number, &number) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "factored") != NULL);
        CHECK(shoal_symindef_rcondf(plan, (float *)&number, &number) == SHOAL_E_TYPE);
        CHECK(strstr(shoal_message(ctx), "shoal_symindef_rcond") != NULL);
        shoal_symindef_free(plan);
        kept k = keep(&targets[t], "random", shape_of(4, NULL, 0, 0));
        CHECK(shoal_symindef_rcond(k.plan, k.factors, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "rcond") != NULL);
        CHECK(shoal_symindef_refine(k.plan, k.given, k.factors, -1, k.given, k.given, NULL, NULL) ==
              SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "nrhs is -1") != NULL);
        CHECK(shoal_symindef_refine(k.plan, NULL, k.factors, 1, k.given, k.given, NULL, NULL) ==
              SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "given") != NULL);
        CHECK(shoal_symindef_gjgt(k.plan, k.factors, 0, k.given, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "signs") != NULL);
        CHECK(shoal_symindef_modify(k.plan, k.factors, (double)NAN, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "delta") != NULL);
        let_go(&k);
        /* two of four rows eliminated: there are no factors of A yet */
        shoal_symindef_opts half = shape_of(4, NULL, t % 4, 0);
        half.eliminate = 2;
        k = keep(&targets[t], "random", half);
        int32_t signs[4];
        const shoal_status refused[] = {
            shoal_symindef_solve(k.plan, k.factors, 1, k.given, k.given),
            shoal_symindef_rcond(k.plan, k.factors, &number),
            shoal_symindef_refine(k.plan, k.given, k.factors, 1, k.given, k.given, NULL, NULL),
            shoal_symindef_inverse(k.plan, k.factors, k.given),
            shoal_symindef_gjgt(k.plan, k.factors, 0, k.given, signs),
            shoal_symindef_modify(k.plan, k.factors, 1, NULL),
        };
        for (int i = 0; i < 6; i++) CHECK_MSG(refused[i] == SHOAL_E_ARG, "%d: %d", i, refused[i]);
        CHECK(strstr(shoal_message(ctx), "eliminate is 2") != NULL);
        let_go(&k);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(rcond_is_that_of_the_inverse);
    RUN(rcond_is_the_estimate_of_hager);
    RUN(rcond_where_only_the_last_vector_sees_it);
    RUN(rcond_of_a_singular_matrix_is_zero);
    RUN(refinement_mends_and_bounds);
    RUN(refinement_says_what_is_not_finite);
    RUN(rcond_where_the_norm_overflows);
    RUN(rcond_after_a_change_is_refused);
    RUN(inverses);
    RUN(answers_depend_on_nothing_but_the_system);
    RUN(misuse_is_named);
    close_targets();
    return TEST_END();
}
