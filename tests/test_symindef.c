/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef.c - factorizations of symmetric indefinite matrices, certified: the product of the
 * factors against A, the bounds on multipliers and blocks that the strategies promise, inertia
 * against eigenvalues, the counters of Kruchinina's thesis, the same factors in every storage, bad input.
 */
#include "symindef_check.h"

static const char *const kinds[] = { "random",  "hollow",  "integers", "kkt",  "clement",
                                     "hilbert", "lowrank", "ones",     "zeros" };
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *method_at(int row) { return shoal_methods("symindef", row); }

/* The factors are those of A, in every storage, and the same bits in each. */
TEST(factors_at_all_sizes) {
    static const int sizes[] = { 1, 2, 3, 5, 31, 33, 64, 65, 130, 200 };
    const int count = small ? 8 : 10;
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int type = 0; type < 2; type++)
                for (int kind = 0; kind < KINDS; kind++)
                    for (int s = 0; s < count; s++) {
                        if (small && (s + kind + type) % 4) continue;
                        const int64_t n = sizes[s];
                        double *a = matrix_of(kinds[kind], n);
                        without_growth = row > 0 && kind % 2 == 0;
                        factored first = { 0 };
                        for (int shape = 0; shape < 4; shape++) {
                            const shoal_symindef_opts o = { .n = n,
                                                            .type = (shoal_type)type,
                                                            .storage = (shoal_storage)(shape / 2),
                                                            .triangle = (shoal_triangle)(shape % 2),
                                                            .ld = shape < 2 ? n + shape : 0,
                                                            .method = method };
                            factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                            const char *what = name_of(&targets[t], kinds[kind], &o);
                            if (shape == 0) {
                                check_factors(&f, what);
                                first = f;
                                continue;
                            }
                            const size_t bytes = (size_t)(n * n) * sizeof(double);
                            CHECK_MSG(memcmp(f.m, first.m, bytes) == 0, "%s: M", what);
                            CHECK_MSG(memcmp(f.interchanges, first.interchanges, (size_t)n * 4) ==
                                          0,
                                      "%s: interchanges", what);
                            CHECK_MSG(memcmp(f.d, first.d, (size_t)n * 8) == 0, "%s: D", what);
                            CHECK_MSG(f.stray == 0, "%s: %d strays", what, f.stray);
                            forget(&f);
                        }
                        forget(&first);
                        free(a);
                    }
}

/* Orders at which the emulator's few multiprocessors take the tiles that a GPU takes for thousands. */
TEST(kernels_for_large_orders) {
    static const int sizes[] = { 420, 530 };
    for (int t = 0; t < target_count; t++)
        for (int s = 0; s < 2; s++) {
            if (small && on_cpu(&targets[t])) continue;
            double *a = matrix_of("hollow", sizes[s]);
            const shoal_symindef_opts o = { .n = sizes[s],
                                            .method = "complete",
                                            .storage = SHOAL_PACKED,
                                            .triangle = s ? SHOAL_UPPER : SHOAL_LOWER };
            factored f = factor_on(&targets[t], &o, a, NULL, NULL);
            check_factors(&f, name_of(&targets[t], "hollow", &o));
            forget(&f);
            free(a);
        }
}

/* Eigenvalues above and below zero, by Jacobi's rotations. */
static int positive_eigenvalues(const double *given, int n, double tol, int *negative) {
    double *a = new_array((size_t)(n * n), sizeof *a);
    int positive = 0;
    memcpy(a, given, (size_t)(n * n) * sizeof *a);
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0) continue;
                const double theta = 0.5 * atan2(2 * a[p * n + q], a[p * n + p] - a[q * n + q]);
                const double c = cos(theta), s = sin(theta);
                for (int i = 0; i < n; i++) {
                    const double x = a[i * n + p], y = a[i * n + q];
                    a[i * n + p] = c * x + s * y, a[i * n + q] = c * y - s * x;
                }
                for (int i = 0; i < n; i++) {
                    const double x = a[p * n + i], y = a[q * n + i];
                    a[p * n + i] = c * x + s * y, a[q * n + i] = c * y - s * x;
                }
            }
    *negative = 0;
    for (int i = 0; i < n; i++) positive += a[i * n + i] > tol, *negative += a[i * n + i] < -tol;
    free(a);
    return positive;
}

TEST(inertia_and_determinant_are_those_of_the_eigenvalues) {
    static const char *const some[] = {
        "random", "hollow", "kkt", "lowrank", "integers", "clement"
    };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int kind = 0; kind < 6; kind++) {
                const int n = 48;
                without_growth = row > 0;
                double *a = matrix_of(some[kind], n);
                const shoal_symindef_opts o = { .n = n, .method = method, .tol = 1e-9 };
                factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                int negative, positive = positive_eigenvalues(a, n, 1e-8, &negative);
                CHECK_MSG(f.info.inertia[0] == positive && f.info.inertia[1] == negative,
                          "%s: %lld %lld, not %d %d", name_of(&targets[t], some[kind], &o),
                          (long long)f.info.inertia[0], (long long)f.info.inertia[1], positive,
                          negative);
                const int sign = f.info.rank < n ? 0 : negative % 2 ? -1 : 1;
                CHECK_MSG(f.info.sign_det == sign, "%s", some[kind]);
                CHECK((f.info.rank < n) == !isfinite(f.info.log_abs_det));
                forget(&f);
                free(a);
            }
}

static void check_counters(const target *t, const char *kind, int64_t n, int64_t one, int64_t two,
                           int64_t swaps, int64_t rank, double growth, double error) {
    double *a = matrix_of(kind, n);
    const shoal_symindef_opts o = { .n = n, .method = "complete", .storage = SHOAL_PACKED };
    factored f = factor_on(t, &o, a, NULL, NULL);
    const char *what = name_of(t, kind, &o);
    CHECK_MSG(f.info.pivots_1x1 == one, "%s: %lld", what, (long long)f.info.pivots_1x1);
    CHECK_MSG(f.info.pivots_2x2 == two, "%s: %lld", what, (long long)f.info.pivots_2x2);
    CHECK_MSG(f.info.rank == rank, "%s: %lld", what, (long long)f.info.rank);
    CHECK_MSG(f.info.swaps_1x1 == (two ? 0 : swaps), "%s: %lld", what, (long long)f.info.swaps_1x1);
    CHECK_MSG(f.info.swaps_2x2 == (two ? swaps : 0), "%s: %lld", what, (long long)f.info.swaps_2x2);
    CHECK_MSG(fabs(f.info.growth - growth) < 1e-9, "%s: growth %g", what, f.info.growth);
    if (error >= 0) /* Hadamard's is all in integers: 0 */
        CHECK_MSG(relative_error(&f) <= error, "%s: error %g", what, relative_error(&f));
    forget(&f);
    free(a);
}

/* Thesis, section 3.3; smaller orders where a kernel is emulated, counted by an independent program. */
TEST(counters_of_the_thesis) {
    for (int t = 0; t < target_count; t++) {
        const target *on = &targets[t];
        if (small) {
            check_counters(on, "hadamard", 128, 128, 0, 0, 128, 128, 0);
            check_counters(on, "clement", 64, 0, 32, 54, 64, 1, 1e-15);
            continue;
        }
        check_counters(on, "hadamard", 1024, 1024, 0, 0, 1024, 1024, 0);
        check_counters(on, "clement", 1024, 0, 512, 930, 1024, 1, 1e-15);
        check_counters(on, "hilbert", 2000, 30, 0, 29, 30, 1, -1);
    }
}

/* Every alpha of Table 3.1: the bounds move with it. */
TEST(bounds_hold_for_every_alpha) {
    static const double alphas[] = { 0.01, 0.15, 0.29, 0.43, 0.57, 0.71, 0.85, 0.99 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 8; i += small ? 2 : 1)
            for (int kind = 0; kind < 6; kind++) {
                const int64_t n = small ? 40 : 60;
                double *a = matrix_of(kinds[kind % 2], n);
                const shoal_symindef_opts o = { .n = n,
                                                .method = method_at(kind / 2),
                                                .alpha = alphas[i] };
                without_growth = 0;
                factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                const char *what = name_of(&targets[t], kinds[kind % 2], &o);
                check_bounds(&f, alphas[i], what);
                CHECK_MSG(relative_error(&f) < 1e-11, "%s alpha %g: %g", what, alphas[i],
                          relative_error(&f));
                forget(&f);
                free(a);
            }
}

/* Stopped after some rows, the place of the rest holds B - C P^-1 Ct. */
TEST(what_is_left_of_a_stopped_factorization) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int rows = 1; rows <= 33; rows += small ? 20 : 4) {
                const int64_t n = 40;
                without_growth = row > 0 && rows % 3 > 0;
                double *a = matrix_of(rows % 8 == 1 ? "random" : "hollow", n);
                const shoal_symindef_opts o = { .n = n, .method = method, .eliminate = rows };
                factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                const int64_t k0 = f.info.eliminated;
                CHECK_MSG(k0 == rows || k0 == rows + 1, "%lld of %d", (long long)k0, rows);
                double *left = new_array((size_t)(n * n), sizeof *left), worst = 0;
                for (int64_t i = k0; i < n;
                     i++) /* D and M of the rest mean nothing: take them away */
                    for (int64_t j = k0; j <= i; j++) {
                        left[i * n + j] = i == j ? f.d[i] : f.m[i * n + j];
                        f.m[i * n + j] = 0;
                    }
                for (int64_t i = k0; i < n; i++) f.d[i] = 0;
                for (int64_t i = k0; i < n; i++)
                    for (int64_t j = k0; j <= i; j++) {
                        const double given = f.a[(int64_t)f.permutation[i] * n + f.permutation[j]];
                        raise_to(&worst,
                                 fabs(given - (double)product_at(&f, i, j) - left[i * n + j]));
                    }
                CHECK_MSG(worst < 1e-12, "%s rows %d: %g", name_of(&targets[t], "stopped", &o),
                          rows, worst);
                free(left);
                forget(&f);
                free(a);
            }
}

/* A x = b for several right-hand sides, x in the place of b too. */
TEST(solves) {
    static const int sizes[] = { 1, 2, 33, 97 };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int s = 0; s < 4; s++)
                for (int shape = 0; shape < 4; shape++)
                    for (int nrhs = 1; nrhs <= 40; nrhs += 13) {
                        const int64_t n = sizes[s];
                        if (small && (row + shape + nrhs) % 2) continue;
                        without_growth = row > 0;
                        const size_t bytes = (size_t)(n * nrhs) * sizeof(double);
                        double *a = matrix_of("random", n), *b = new_array(bytes, 1),
                               *x = new_array(bytes, 1);
                        const shoal_symindef_opts o = { .n = n,
                                                        .method = method,
                                                        .storage = (shoal_storage)(shape / 2),
                                                        .triangle = (shoal_triangle)(shape % 2) };
                        shoal_symindef *plan;
                        void *factors, *where;
                        factored f = factor_on(&targets[t], &o, a, &plan, &factors);
                        for (int64_t i = 0; i < n * nrhs; i++) b[i] = uniform_at(9, i, 3);
                        CHECK(shoal_alloc(targets[t].ctx, bytes, &where) == SHOAL_OK);
                        CHECK(shoal_copy(targets[t].ctx, where, b, bytes) == SHOAL_OK);
                        CHECK(shoal_symindef_solve(plan, factors, nrhs, where, where) == SHOAL_OK);
                        CHECK(shoal_wait(targets[t].ctx) == SHOAL_OK);
                        CHECK(shoal_copy(targets[t].ctx, x, where, bytes) == SHOAL_OK);
                        double residual = 0, most = 0;
                        for (int64_t i = 0; i < n; i++)
                            for (int c = 0; c < nrhs; c++) {
                                long double r = b[i * nrhs + c];
                                for (int64_t j = 0; j < n; j++)
                                    r -= (long double)f.a[i * n + j] * x[j * nrhs + c];
                                raise_to(&residual, (double)fabsl(r));
                                raise_to(&most, fabs(x[i * nrhs + c]));
                            }
                        CHECK_MSG(residual <=
                                      30 * (double)n * unit_of(SHOAL_F64) * ((double)n * most + 1),
                                  "%s nrhs %d: %g", name_of(&targets[t], "random", &o), nrhs,
                                  residual);
                        shoal_symindef_free(plan);
                        shoal_free(targets[t].ctx, factors);
                        shoal_free(targets[t].ctx, where);
                        forget(&f);
                        free(a), free(b), free(x);
                    }
}

/* NaN, infinity, zeros, the ends of the range: a status, never success with garbage. */
TEST(bad_input_has_a_status) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int n = 1; n <= 40; n += n < 3 ? 1 : 37)
                for (int bad = 0; bad < 3; bad++) {
                    double *a = matrix_of("random", n);
                    const int64_t at = (n - 1) * n + (n > 2 ? 1 : 0);
                    a[at] = bad == 0   ? (double)NAN
                            : bad == 1 ? (double)INFINITY
                                       : -(double)INFINITY;
                    const shoal_symindef_opts o = { .n = n, .method = method };
                    factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                    CHECK_MSG(f.info.status == SHOAL_SYSTEM_NONFINITE, "%d", f.info.status);
                    CHECK(f.info.rank == 0 && f.info.pivots_1x1 == 0 && f.info.sign_det == 0);
                    forget(&f);
                    free(a);
                }
}

TEST(extremes_of_the_range) {
    static const char *const some[] = { "huge", "tiny" };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int kind = 0; kind < 2; kind++) {
                double *a = matrix_of(some[kind], 30);
                const shoal_symindef_opts o = { .n = 30, .method = method };
                factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                check_factors(&f, name_of(&targets[t], some[kind], &o));
                CHECK(f.info.rank == 30 && isfinite(f.info.log_abs_det));
                forget(&f);
                free(a);
            }
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++) {
            /* a subnormal off the diagonal, and what no double can hold after one stage */
            double small_one[] = { 0, 5e-324, 5e-324, 0 };
            double large[] = { 1e308, -1e308, -1e308, -1e308 };
            const shoal_symindef_opts o = { .n = 2, .method = method };
            factored f = factor_on(&targets[t], &o, small_one, NULL, NULL);
            CHECK_MSG(f.info.status == 0 && f.info.rank == 2 && f.info.pivots_2x2 == 1, "%s",
                      method);
            CHECK(f.e[0] == 5e-324);
            forget(&f);
            f = factor_on(&targets[t], &o, large, NULL, NULL);
            CHECK_MSG(f.info.status == SHOAL_SYSTEM_OVERFLOW, "%s: %d", method, f.info.status);
            forget(&f);
        }
}

/* Near the end of the range an update of a 2x2 pivot can overflow and the next take the infinity
 * away: then some entry is not a number, and the status says so. */
TEST(nothing_is_lost_without_a_word) {
    enum { n = 12 };
    const char *method;
    int overflows = 0;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int seed = 0; seed < 20; seed++) {
                double *a = matrix_of("random", n);
                double most = 0;
                for (int i = 0; i < n * n; i++) most = fmax(most, fabs(a[i]));
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++)
                        a[i * n + j] *= 1.7e308 / most * ((1 + (i * j * (seed + 1)) % 7) / 7.0) *
                                        (i == j && seed % 2 ? 0.01 : 1);
                const shoal_symindef_opts o = { .n = n, .method = method };
                factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                int finite = 1;
                for (int i = 0; i < n; i++)
                    for (int j = 0; j <= i; j++)
                        finite &= isfinite(i == j ? f.d[i] : f.m[i * n + j]) && isfinite(f.e[j]);
                CHECK_MSG(f.info.status == SHOAL_SYSTEM_OVERFLOW || (f.info.status == 0 && finite),
                          "%s, seed %d: status %d", method, seed, f.info.status);
                overflows += f.info.status != 0;
                forget(&f);
                free(a);
            }
    CHECK(overflows > 0);
}

/* A matrix of rank 5: x cannot be had. */
TEST(singular_systems_are_not_answered) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++) {
            const int64_t n = 20;
            double *a = matrix_of("lowrank", n), x[20];
            const shoal_symindef_opts o = { .n = n, .method = method, .tol = 1e-9 };
            shoal_symindef *plan;
            void *factors, *where;
            factored f = factor_on(&targets[t], &o, a, &plan, &factors);
            CHECK_MSG(f.info.rank == 5, "rank %lld", (long long)f.info.rank);
            for (int i = 0; i < n; i++) x[i] = 1;
            CHECK(shoal_alloc(targets[t].ctx, sizeof x, &where) == SHOAL_OK);
            CHECK(shoal_copy(targets[t].ctx, where, x, sizeof x) == SHOAL_OK);
            CHECK(shoal_symindef_solve(plan, factors, 1, where, where) == SHOAL_OK);
            CHECK(shoal_copy(targets[t].ctx, x, where, sizeof x) == SHOAL_OK);
            for (int i = 0; i < n; i++) CHECK(isnan(x[i]));
            shoal_symindef_free(plan);
            shoal_free(targets[t].ctx, factors);
            shoal_free(targets[t].ctx, where);
            forget(&f);
            free(a);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(factors_at_all_sizes);
    RUN(kernels_for_large_orders);
    RUN(inertia_and_determinant_are_those_of_the_eigenvalues);
    RUN(counters_of_the_thesis);
    RUN(bounds_hold_for_every_alpha);
    RUN(what_is_left_of_a_stopped_factorization);
    RUN(solves);
    RUN(bad_input_has_a_status);
    RUN(extremes_of_the_range);
    RUN(nothing_is_lost_without_a_word);
    RUN(singular_systems_are_not_answered);
    close_targets();
    return TEST_END();
}
