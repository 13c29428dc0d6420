/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_blocked.c - partial and rook pivoting, which go by panels of up to 64 columns: panels
 * that end in the middle of a block, the same pivots stage by stage and by panels, LAPACK's pivots,
 * any number of threads, rows of zeros, and columns of very different size.
 */
#include "lapack.h"
#include "symindef_check.h"

static const char *const blocked[] = { "partial", "rook" };

/* Beside those of symindef_matrix.h: ones whose blocks of order 2 begin at odd rows, ones with rows
 * of zeros, and ones where the first third has small entries and none within itself. */
static double *special_matrix(const char *kind, int64_t n) {
    const char *base = strcmp(kind, "odd") == 0 ? "hollow" : "random";
    double *a = matrix_of(strcmp(kind, "odd clement") == 0 ? "clement" : base, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double *at = &a[i * n + j];
            if (strncmp(kind, "odd", 3) == 0 && (i == 0 || j == 0)) *at = i == j ? 3 : 0;
            if (strcmp(kind, "gaps") == 0 && (i % 7 == 3 || j % 7 == 3)) *at = 0;
            if (strcmp(kind, "scaled") == 0) {
                const int small_i = i < n / 3, small_j = j < n / 3;
                *at *= small_i && small_j ? 0 : small_i || small_j ? 1e-9 : 1;
            }
        }
    return a;
}

static double *any_matrix(const char *kind, int64_t n) {
    static const char *const special[] = { "odd", "odd clement", "gaps", "scaled" };
    for (int i = 0; i < 4; i++)
        if (strcmp(kind, special[i]) == 0) return special_matrix(kind, n);
    return matrix_of(kind, n);
}

static factored factor_any(const target *t, const char *kind, int64_t n, const char *method,
                           int shape, shoal_type type) {
    const shoal_symindef_opts o = { .n = n,
                                    .type = type,
                                    .storage = (shoal_storage)(shape / 2),
                                    .triangle = (shoal_triangle)(shape % 2),
                                    .method = method };
    double *a = any_matrix(kind, n);
    factored f = factor_on(t, &o, a, NULL, NULL);
    free(a);
    return f;
}

/* A panel has 63 columns or 64, whichever a block of order 2 leaves it. */
TEST(panels_end_anywhere) {
    static const char *const kinds[] = { "random",      "hollow", "odd",     "clement",
                                         "odd clement", "gaps",   "integers" };
    static const int sizes[] = { 65, 130, 62, 63, 64, 66, 126, 127, 128, 129, 191, 200 };
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < 2; m++)
            for (int kind = 0; kind < 7; kind++)
                for (int s = 0; s < (small ? 2 : 12); s++) {
                    const int64_t n = sizes[s];
                    const int shape = (kind + s + m) % 4;
                    if (small && (kind + s + m) % 2) continue;
                    without_growth = 1;
                    factored f = factor_any(&targets[t], kinds[kind], n, blocked[m], shape,
                                            (shoal_type)((kind + s) % 3 == 2));
                    const char *what = name_of(&targets[t], kinds[kind], &f.opts);
                    check_factors(&f, what);
                    CHECK_MSG(f.info.growth == 0, "%s", what);
                    if (strcmp(kinds[kind], "gaps") == 0)
                        CHECK_MSG(f.info.inertia[2] >= (n + 3) / 7, "%s: %lld zeros", what,
                                  (long long)f.info.inertia[2]);
                    if (strcmp(kinds[kind], "clement") == 0)
                        CHECK_MSG(f.info.pivots_2x2 == n / 2, "%s: %lld", what,
                                  (long long)f.info.pivots_2x2);
                    forget(&f);
                }
}

/* One stage at a time, to know the growth, or a panel: the same pivots, the same factors but for
 * rounding. */
TEST(growth_changes_nothing_else) {
    static const char *const kinds[] = { "random", "hollow", "kkt", "gaps" };
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < 2; m++)
            for (int kind = 0; kind < 4; kind++) {
                const int64_t n = small ? 70 : 150;
                if (small && (kind + m) % 2) continue;
                without_growth = 0;
                factored f = factor_any(&targets[t], kinds[kind], n, blocked[m], kind, SHOAL_F64);
                const char *what = name_of(&targets[t], kinds[kind], &f.opts);
                check_factors(&f, what);
                double most = 0, off = 0;
                for (int64_t k = 0; k < n; k++) most = fmax(most, f.growth[k]); /* NaN aside */
                CHECK_MSG(f.growth[0] == 1 && most == f.info.growth && most >= 1, "%s: growth %g",
                          what, f.info.growth);
                without_growth = 1;
                factored g = factor_any(&targets[t], kinds[kind], n, blocked[m], kind, SHOAL_F64);
                CHECK_MSG(memcmp(f.interchanges, g.interchanges, (size_t)n * 4) == 0, "%s", what);
                CHECK_MSG(memcmp(f.permutation, g.permutation, (size_t)n * 4) == 0, "%s", what);
                for (int64_t at = 0; at < n * n; at++) raise_to(&off, fabs(f.m[at] - g.m[at]));
                CHECK_MSG(off <= 1e-9 * fmax(1, f.info.max_multiplier), "%s: %g", what, off);
                forget(&f), forget(&g);
            }
}

/* The growth of a stage is that of the matrix a stopped factorization leaves. */
TEST(growth_is_that_of_what_is_left) {
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < 2; m++) {
            const int64_t n = 30;
            double *a = matrix_of("random", n);
            shoal_symindef_opts o = { .n = n, .method = blocked[m] };
            without_growth = 0;
            factored whole = factor_on(&targets[t], &o, a, NULL, NULL);
            o.eliminate = 11, without_growth = 1;
            factored part = factor_on(&targets[t], &o, a, NULL, NULL);
            const int64_t k = part.info.eliminated;
            double most = 0;
            for (int64_t i = k; i < n; i++)
                for (int64_t j = k; j <= i; j++)
                    raise_to(&most, fabs(i == j ? part.d[i] : part.m[i * n + j]));
            CHECK_MSG(fabs(most / whole.info.largest - whole.growth[k]) < 1e-12 * whole.growth[k],
                      "%s: %g, not %g", blocked[m], whole.growth[k], most / whole.info.largest);
            forget(&whole), forget(&part);
            free(a);
        }
}

/* Entries of 1e-9 beside those of 1 in the columns of a block: each must keep its own accuracy. */
TEST(columns_of_different_size) {
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < 2; m++) {
            const int64_t n = 75;
            double *a = special_matrix("scaled", n), x[75], b[75];
            const shoal_symindef_opts o = { .n = n, .method = blocked[m], .tol = 1e-30 };
            shoal_symindef *plan;
            void *factors, *where;
            without_growth = 1;
            factored f = factor_on(&targets[t], &o, a, &plan, &factors);
            check_factors(&f, name_of(&targets[t], "scaled", &o));
            CHECK(f.info.pivots_2x2 > 0);
            for (int i = 0; i < n; i++) b[i] = uniform_at(8, i, 1);
            CHECK(shoal_alloc(targets[t].ctx, sizeof x, &where) == SHOAL_OK);
            CHECK(shoal_copy(targets[t].ctx, where, b, sizeof b) == SHOAL_OK);
            CHECK(shoal_symindef_solve(plan, factors, 1, where, where) == SHOAL_OK);
            CHECK(shoal_copy(targets[t].ctx, x, where, sizeof x) == SHOAL_OK);
            double residual = 0, most = 0, norm = 0;
            for (int i = 0; i < n; i++) {
                long double r = b[i];
                double sum = 0;
                for (int j = 0; j < n; j++) {
                    r -= (long double)f.a[i * n + j] * x[j];
                    sum += fabs(f.a[i * n + j]);
                }
                raise_to(&residual, (double)fabsl(r));
                raise_to(&most, fabs(x[i])), raise_to(&norm, sum);
            }
            CHECK_MSG(residual <= 10 * (double)n * unit_of(SHOAL_F64) * norm * most, "%s: %g of %g",
                      blocked[m], residual, norm * most);
            shoal_symindef_free(plan);
            shoal_free(targets[t].ctx, factors);
            shoal_free(targets[t].ctx, where);
            forget(&f);
            free(a);
        }
}

/* ---- LAPACK as a judge from outside ---- */

typedef void sytrf(const char *triangle, const int *n, double *a, const int *lda, int *pivots,
                   double *work, const int *size, int *info);

/* Pivots before `end` that are not LAPACK's. Of a block of order 2 dsytrf gives the second exchange
 * twice, dsytrf_rook both. */
static int different_pivots(const factored *f, const int *pivots, int rook, int64_t end) {
    int differ = 0;
    for (int64_t k = 0; k < end; k++) {
        const int second = f->interchanges[k] < 0;
        const int first = k + 1 < f->n && f->interchanges[k + 1] < 0;
        int expected = first || second ? -abs(f->interchanges[k]) : f->interchanges[k];
        if (first && !rook) expected = f->interchanges[k + 1];
        differ += pivots[k] != expected;
    }
    return differ;
}

/* Where the first zero pivot stands; n if there is none. */
static int64_t first_zero(const factored *f) {
    for (int64_t k = 0; k < f->n; k++)
        if (f->d[k] == 0 && f->e[k] == 0 && f->interchanges[k] > 0) return k;
    return f->n;
}

/* LAPACK's lower triangle by columns is ours, the upper one, by rows. It knows no tolerance: with the
 * least one all pivots are its own, with the default those before the first zero pivot. That is so
 * whatever the order of the sums: no two candidates are nearer than 3e-5 of their size here. */
TEST(pivots_are_those_of_lapack) {
    const char *const routines[] = { "dsytrf_", "dsytrf_rook_" };
    static const char *const kinds[] = { "random", "hollow", "scaled" };
    sytrf *routine[2];
    for (int m = 0; m < 2; m++) *(void **)&routine[m] = lapack(routines[m]);
    if (!routine[0] || !routine[1]) MISSING("LAPACK");
    for (int t = 0; t < target_count; t++)
        for (int m = 0; m < 2; m++)
            for (int kind = 0; kind < 3; kind++) {
                const int n = small ? 80 : 300, size = 64 * n, scaled = kind == 2;
                double *a = any_matrix(kinds[kind], n), *theirs = any_matrix(kinds[kind], n);
                double *work = new_array((size_t)size, sizeof *work);
                int *pivots = new_array((size_t)n, sizeof *pivots), info = 0;
                routine[m]("L", &n, theirs, &n, pivots, work, &size, &info);
                CHECK_MSG(info == 0, "%s: %d", routines[m], info);
                for (int least = 0; least < 2; least++) {
                    const shoal_symindef_opts o = { .n = n,
                                                    .triangle = SHOAL_UPPER,
                                                    .method = blocked[m],
                                                    .tol = least ? 0x1p-1022 : 0 };
                    const char *what = name_of(&targets[t], kinds[kind], &o);
                    without_growth = 1;
                    factored f = factor_on(&targets[t], &o, a, NULL, NULL);
                    const int64_t end = first_zero(&f);
                    const int differ = different_pivots(&f, pivots, m, end);
                    CHECK_MSG((end < n) == (scaled && !least), "%s: zero pivot %lld", what,
                              (long long)end);
                    CHECK_MSG(differ == 0, "%s: %d pivots differ", what, differ);
                    check_factors(&f, what);
                    forget(&f);
                }
                free(a), free(theirs), free(work), free(pivots);
            }
}

/* Rows are shared among threads where there are enough of them: no bit changes. */
TEST(threads_change_nothing) {
    if (small || strcmp(targets[0].backend, "cpu") != 0) SKIP("for the CPU, and long");
    const int64_t n = 1100;
    for (int m = 0; m < 2; m++) {
        factored f[2];
        for (int c = 0; c < 2; c++) {
            target alone = { .backend = "cpu" };
            CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = c ? 3 : 1 },
                             &alone.ctx) == SHOAL_OK);
            without_growth = 1;
            f[c] = factor_any(&alone, "random", n, blocked[m], m, SHOAL_F64);
            shoal_close(alone.ctx);
        }
        CHECK(memcmp(f[0].m, f[1].m, (size_t)(n * n) * sizeof(double)) == 0);
        CHECK(memcmp(f[0].d, f[1].d, (size_t)n * sizeof(double)) == 0);
        CHECK(memcmp(f[0].interchanges, f[1].interchanges, (size_t)n * 4) == 0);
        forget(&f[0]), forget(&f[1]);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(panels_end_anywhere);
    RUN(growth_changes_nothing_else);
    RUN(growth_is_that_of_what_is_left);
    RUN(columns_of_different_size);
    RUN(pivots_are_those_of_lapack);
    RUN(threads_change_nothing);
    close_targets();
    return TEST_END();
}
