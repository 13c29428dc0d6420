/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_forms.c - other forms of the factors: G J Gt and LAPACK's. Judged by products in long
 * double.
 */
#include "lapack.h"
#include "symindef_kept.h"
#include <float.h>

/* G, as doubles, (n, rank). */
static double *columns_of(const kept *k, int partitioned, int32_t *signs) {
    const size_t numbers = (size_t)(k->f.n * k->f.n), taken = (size_t)(k->f.n * k->f.info.rank);
    double *g = new_array(numbers, sizeof *g);
    void *stored = new_array(numbers, sizeof *g), *device = to_context(k->t, g, numbers * 8);
    CHECK((k->item == 4
               ? shoal_symindef_gjgtf(k->plan, k->factors, partitioned, device, signs)
               : shoal_symindef_gjgt(k->plan, k->factors, partitioned, device, signs)) == SHOAL_OK);
    CHECK(shoal_copy(k->t->ctx, stored, device, taken * k->item) == SHOAL_OK);
    for (size_t i = 0; i < taken; i++) g[i] = stored_number(stored, k->f.opts.type, i);
    shoal_free(k->t->ctx, device);
    free(stored);
    return g;
}

/* |P A Pt - G J Gt| / |A|, infinity norms in long double; not a number where G has one. */
static double gjgt_error(const kept *k, const double *g, const int32_t *signs) {
    const int64_t n = k->f.n, rank = k->f.info.rank;
    long double worst = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        long double error = 0, size = 0;
        for (int64_t j = 0; j < n; j++) {
            long double sum = k->f.a[(int64_t)k->f.permutation[i] * n + k->f.permutation[j]];
            size += fabsl(sum);
            for (int64_t c = 0; c < rank; c++)
                sum -= (long double)g[i * rank + c] * signs[c] * g[j * rank + c];
            error += fabsl(sum);
        }
        if (error > worst || isnan(error)) worst = error;
        if (size > norm) norm = size;
    }
    return (double)(worst / norm);
}

/* Signs in order, zero columns left out. */
TEST(g_j_gt) {
    static const char *const some[] = { "random", "hollow", "clement", "lowrank", "ones" };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int kind = 0; kind < 5; kind++)
                for (int type = 0; type < 2; type++) {
                    const int64_t n = 50;
                    if (small && (kind + type + row) % 2) continue;
                    shoal_symindef_opts o = shape_of(n, method, kind % 4, type);
                    if (kind == 3) o.tol = type ? 1e-3 : 1e-9;
                    kept k = keep(&targets[t], some[kind], o);
                    int32_t signs[50] = { 0 };
                    double *g = columns_of(&k, kind % 2, signs);
                    int64_t positive = 0;
                    for (int64_t c = 0; c < k.f.info.rank; c++) {
                        positive += signs[c] == 1;
                        CHECK(signs[c] == 1 || signs[c] == -1);
                        if (kind % 2 && c > 0) CHECK(signs[c] <= signs[c - 1]);
                    }
                    CHECK_MSG(positive == k.f.info.inertia[0], "%s %s", method, some[kind]);
                    const double error = gjgt_error(&k, g, signs);
                    CHECK_MSG(error <= 10 * (double)n * unit_of((shoal_type)type), "%s %s: %g",
                              method, some[kind], error);
                    free(g);
                    let_go(&k);
                }
}

/* Blocks of order 2 whose entries fit into the range, while sums of them, and in the second matrix an
 * eigenvalue, do not: factored by all strategies, and G J Gt is theirs. The same of size 1. */
TEST(g_j_gt_at_the_end_of_the_range) {
    static const double matrices[][9] = { { 0, 1, 0, 1, 0, 0.25, 0, 0.25, 0.5 },
                                          { 0.6, 1, 0, 1, 0.6, 0.25, 0, 0.25, 0.1 } };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int which = 0; which < 16; which++) {
                const int type = which / 4 % 2, n = 2 + which % 2;
                const double high = which < 8 ? (type ? (double)FLT_MAX : DBL_MAX) * 0.8 : 1;
                double a[9];
                int32_t signs[3] = { 0 };
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++)
                        a[i * n + j] = matrices[which / 2 % 2][i * 3 + j] * high;
                kept k = keep_matrix(&targets[t], a, shape_of(n, method, which % 4, type));
                CHECK_MSG(k.f.info.status == 0 && k.f.info.rank == n && k.f.info.pivots_2x2 == 1,
                          "%s %d: status %d", method, which, k.f.info.status);
                for (int i = 0; i < n; i++)
                    for (int j = 0; j <= i; j++) {
                        const double given = k.f.a[k.f.permutation[i] * n + k.f.permutation[j]];
                        const long double error = given - product_at(&k.f, i, j);
                        CHECK_MSG(fabsl(error) <= 10 * n * unit_of((shoal_type)type) * high,
                                  "%s %d: (%d,%d)", method, which, i, j);
                    }
                double *g = columns_of(&k, 0, signs);
                const double error = gjgt_error(&k, g, signs);
                CHECK_MSG(error <= 10 * n * unit_of((shoal_type)type), "%s %d: %g", method, which,
                          error);
                free(g);
                let_go(&k);
            }
}

typedef void sytrs_3(const char *, const int *, const int *, const double *, const int *,
                     const double *, const int *, double *, const int *, int *, size_t);

/* LAPACK solves with our factors, once they have its form. */
TEST(lapack_takes_the_factors) {
    enum { N = 45 };
    sytrs_3 *solve;
    *(void **)&solve = lapack("dsytrs_3_");
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++) {
            int32_t ipiv[N], back[N];
            const int n = N, one = 1;
            int info = -1;
            double b[N], sum = 0;
            kept k = keep(&targets[t], row % 2 ? "random" : "hollow", shape_of(N, method, 1, 0));
            shoal_symindef_to_rk(N, k.f.interchanges, ipiv);
            shoal_symindef_from_rk(N, ipiv, back);
            CHECK(memcmp(back, k.f.interchanges, sizeof back) == 0);
            double *a = new_array(N * N, 8); /* by columns: its lower triangle */
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= i; j++) a[j * N + i] = i == j ? k.f.d[i] : k.f.m[i * N + j];
            for (int i = 0; i < N; i++) { /* b = A (1, 2, ...) */
                sum = 0;
                for (int j = 0; j < N; j++) sum += k.f.a[i * N + j] * (j + 1);
                b[i] = sum;
            }
            if (solve) {
                solve("L", &n, &one, a, &n, k.f.e, ipiv, b, &n, &info, 1);
                CHECK(info == 0);
                for (int i = 0; i < N; i++)
                    CHECK_MSG(fabs(b[i] - (i + 1)) < 1e-9, "%s: x[%d] is %g", method, i, b[i]);
            }
            free(a);
            let_go(&k);
        }
    if (!solve) MISSING("LAPACK with dsytrs_3");
}

/* Of a matrix that is not finite there are no factors and no other form. */
TEST(failed_factors_have_no_other_form) {
    const double a[9] = { 1, NAN, 0, NAN, 2, 1, 0, 1, 3 };
    int32_t signs[3];
    for (int t = 0; t < target_count; t++)
        for (int row = 0; method_at(row); row++) {
            kept k = keep_matrix(&targets[t], a, shape_of(3, method_at(row), 0, 0));
            const shoal_status refused[] = {
                shoal_symindef_gjgt(k.plan, k.factors, 0, k.given, signs),
                shoal_symindef_modify(k.plan, k.factors, 1, NULL),
            };
            for (int i = 0; i < 2; i++)
                CHECK_MSG(refused[i] == SHOAL_E_ARG, "%s, %d: %d", method_at(row), i, refused[i]);
            CHECK_MSG(strstr(shoal_message(targets[t].ctx), "has failed"), "%s",
                      shoal_message(targets[t].ctx));
            let_go(&k);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(g_j_gt);
    RUN(g_j_gt_at_the_end_of_the_range);
    RUN(lapack_takes_the_factors);
    RUN(failed_factors_have_no_other_form);
    close_targets();
    return TEST_END();
}
