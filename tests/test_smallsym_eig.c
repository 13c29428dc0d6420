/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_eig.c - eigenpairs of dense and tridiagonal matrices: every size, spectra with
 * repeated, clustered, tiny, huge and zero eigenvalues, scales at both ends of the range. Of each
 * system |A v - w v| <= 10 n eps |A|, |VtV - I| <= 10 n eps, w ascending; eigenvalues are those of
 * LAPACK, of Sturm's sequence and of formulas.
 *
 *     test_smallsym_eig [--small] [--backend=cpu|cuda] [test name ...]
 */
#define _POSIX_C_SOURCE 200809L
#include "lapack.h"
#include "smallsym_eig.h"
#include "smallsym_overflow.h"

static const char *const variants[] = { "middle", "gragg" };

/* Every claim of one system; a in full, at most as large as numbers that may be squared. */
static void check_pairs(const double *a, const double *w, const double *v, int n, shoal_type type,
                        const char *name) {
    const certificate c = certify(a, w, v, n);
    const double bound = 10 * n * roundoff(type);
    CHECK_MSG(c.residual <= bound * c.norm, "%s %s n=%d: residual %.3g |A| n eps", name,
              type_name(type), n, c.residual / c.norm / n / roundoff(type));
    CHECK_MSG(c.orthogonality <= bound, "%s %s n=%d: orthogonal to %.3g n eps", name,
              type_name(type), n, c.orthogonality / n / roundoff(type));
    for (int m = 1; m < n; m++)
        CHECK_MSG(w[m - 1] <= w[m], "%s %s n=%d: w[%d] > w[%d]", name, type_name(type), n, m - 1,
                  m);
}

/* ---- LAPACK as a judge from outside ---------------------------------------------------------- */

typedef void syevd(const char *job, const char *uplo, const int *n, double *a, const int *lda,
                   double *w, double *work, const int *lwork, int *iwork, const int *liwork,
                   int *info);

static void check_values(const double *a, const double *w, int n, shoal_type type, const char *name,
                         syevd *dsyevd) {
    double *copy = new_array((size_t)(n * n), sizeof *copy), theirs[256], work[1024];
    int info = 0, lwork = 1024, iwork[8], liwork = 8;
    memcpy(copy, a, (size_t)(n * n) * sizeof *copy);
    dsyevd("N", "L", &n, copy, &n, theirs, work, &lwork, iwork, &liwork, &info);
    CHECK(info == 0);
    const double most = fmax(fabs(theirs[0]), fabs(theirs[n - 1]));
    for (int m = 0; m < n; m++)
        CHECK_MSG(fabs(w[m] - theirs[m]) <= 10 * n * roundoff(type) * most,
                  "%s n=%d: w[%d] is %.17g, LAPACK's %.17g", name, n, m, w[m], theirs[m]);
    free(copy);
}

/* ---- dense matrices -------------------------------------------------------------------------- */

/* One batch: a matrix of each spectrum. */
static void check_size(shoal_context *ctx, int n, shoal_type type, const char *variant,
                       syevd *dsyevd) {
    const size_t one = (size_t)(n * n);
    double *a = new_array(SPECTRA * one, sizeof *a), *v = new_array(SPECTRA * one, sizeof *v);
    double *w = new_array((size_t)(SPECTRA * n), sizeof *w);
    for (int s = 0; s < SPECTRA; s++) make_matrix(a + (size_t)s * one, s, n, type);
    const shoal_smallsym_opts opts = { .n = n, .count = SPECTRA, .type = type, .variant = variant };
    const outcome o = pairs_of(ctx, opts, a, NULL, NULL, w, v);
    CHECK(o.info.failed == 0 && o.info.warned == 0);
    for (int s = 0; s < SPECTRA; s++) {
        const double *mine = w + s * n, most = fmax(fabs(mine[0]), fabs(mine[n - 1]));
        const double least = most / (type == SHOAL_F32 ? 1e5 : 1e12);
        check_pairs(a + (size_t)s * one, mine, v + (size_t)s * one, n, type, spectrum_names[s]);
        if (dsyevd) check_values(a + (size_t)s * one, mine, n, type, spectrum_names[s], dsyevd);
        int positive = 0, negative = 0;
        for (int m = 0; m < n; m++) {
            positive += mine[m] > 0 && mine[m] >= least;
            negative += mine[m] < 0 && -mine[m] >= least;
        }
        CHECK(o.status[s] == 0 && o.residual[s] <= 10 * (float)(n * roundoff(type)));
        CHECK(o.inertia[3 * s] == positive && o.inertia[3 * s + 1] == negative);
        CHECK(o.rank[s] == positive + negative && o.inertia[3 * s + 2] == n - o.rank[s]);
        CHECK(strcmp(shoal_methods("smallsym", o.method[s]), "eigdc") == 0);
    }
    free(a), free(v), free(w);
}

TEST(pairs_of_every_size_and_spectrum) {
    syevd *dsyevd;
    *(void **)&dsyevd = lapack("dsyevd_");
    for (int t = 0; t < target_count; t++)
        for (int n = 1; n <= 64; n += small ? 7 : 1)
            for (int k = 0; k < 4; k++)
                check_size(targets[t].ctx, n, k % 2 ? SHOAL_F32 : SHOAL_F64, variants[k / 2],
                           dsyevd);
    if (!dsyevd) MISSING("LAPACK, to compare with,");
}

TEST(pairs_of_large_matrices) {
    const int sizes[] = { 65, 97, 130, 200 };
    for (int t = 0; t < target_count && on_cpu(&targets[t]); t++)
        for (int i = 0; i < (small ? 1 : 4); i++)
            for (int k = 0; k < 2; k++)
                check_size(targets[t].ctx, sizes[i], k ? SHOAL_F32 : SHOAL_F64, variants[k], NULL);
}

/* Numbers that are multiplied by a power of two give the same bits, multiplied by it: at the upper
 * end of the range, and as far down as nothing is lost. */
TEST(scales_change_nothing) {
    enum { N = 33, COUNT = 3 };
    static double a[COUNT * N * N], b[COUNT * N * N], w[2][COUNT * N], v[2][COUNT * N * N];
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 4; k++) {
            const shoal_type type = k % 2 ? SHOAL_F32 : SHOAL_F64;
            const int e = (k % 2 ? 118 : 1012) * (k < 2 ? 1 : -1) / (k < 2 ? 1 : 2);
            const shoal_smallsym_opts opts = { .n = N, .count = COUNT, .type = type };
            for (int s = 0; s < COUNT; s++) make_matrix(a + s * N * N, s, N, type);
            for (int i = 0; i < COUNT * N * N; i++) b[i] = ldexp(a[i], e);
            pairs_of(targets[t].ctx, opts, a, NULL, NULL, w[0], v[0]);
            const outcome o = pairs_of(targets[t].ctx, opts, b, NULL, NULL, w[1], v[1]);
            CHECK(o.info.failed == 0);
            for (int i = 0; i < COUNT * N; i++) CHECK(w[1][i] == ldexp(w[0][i], e));
            CHECK(memcmp(v[0], v[1], sizeof v[0]) == 0);
        }
}

/* The smallest numbers of all: w is exact to its own last bit, or to 10 n eps. */
TEST(subnormal_matrices) {
    enum { N = 20 };
    static double a[N * N], up[N * N], w[N], v[N * N];
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 2; k++) {
            const shoal_type type = k ? SHOAL_F32 : SHOAL_F64;
            const int e = k ? 140 : 1060;
            const double last = k ? FLT_TRUE_MIN : DBL_TRUE_MIN;
            make_matrix(a, 0, N, type);
            for (int i = 0; i < N * N; i++) {
                a[i] = rounded(ldexp(a[i], -e), type);
                up[i] = ldexp(a[i], e);
            }
            const outcome o =
                pairs_of(targets[t].ctx, (shoal_smallsym_opts){ .n = N, .count = 1, .type = type },
                         a, NULL, NULL, w, v);
            CHECK(o.status[0] == 0);
            for (int m = 0; m < N; m++) w[m] = ldexp(w[m], e);
            const certificate c = certify(up, w, v, N);
            CHECK_MSG(c.residual <= ldexp(last, e) + 10 * N * roundoff(type) * c.norm, "%.3g",
                      c.residual);
            CHECK(c.orthogonality <= 10 * N * roundoff(type));
        }
}

/* ---- tridiagonal matrices -------------------------------------------------------------------- */

/* Eigenvalues below x, by Sturm's sequence. */
static int count_below(const double *d, const double *e, int n, long double x) {
    int below = 0;
    long double q = 1;
    for (int i = 0; i < n; i++) {
        q = d[i] - x - (i ? e[i - 1] / q * e[i - 1] : 0);
        if (fabsl(q) < 1e-300L) q = -1e-300L;
        below += q < 0;
    }
    return below;
}

TEST(pairs_of_tridiagonal_matrices) {
    static double d[T_MAX], e[T_MAX], w[T_MAX], v[T_MAX * T_MAX], a[T_MAX * T_MAX];
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 4 * KINDS; k++) {
            const shoal_type type = k & 1 ? SHOAL_F32 : SHOAL_F64;
            const int kind = k / 4, glued = on_cpu(&targets[t]) ? 5 : 3;
            const int n = make_tridiagonal(kind, glued, d, e, type);
            const shoal_smallsym_opts opts = {
                .n = n, .count = 1, .type = type, .variant = variants[k / 2 % 2]
            };
            memset(a, 0, sizeof a);
            for (int i = 0; i < n; i++) {
                a[i * n + i] = d[i];
                if (i + 1 < n) a[i * n + i + 1] = a[(i + 1) * n + i] = e[i];
            }
            const outcome o = pairs_of(targets[t].ctx, opts, NULL, d, e, w, v);
            CHECK(o.status[0] == 0 && o.residual[0] <= 10 * (float)(n * roundoff(type)));
            check_pairs(a, w, v, n, type, kinds[kind]);
            const double bound = 10 * n * roundoff(type) * fmax(fabs(w[0]), fabs(w[n - 1]));
            int tiny = 0;
            for (int m = 0; m < n; m++) {
                CHECK_MSG(count_below(d, e, n, (long double)w[m] - bound - 1e-290L) <= m &&
                              count_below(d, e, n, (long double)w[m] + bound + 1e-290L) > m,
                          "%s n=%d: w[%d] = %.17g", kinds[kind], n, m, w[m]);
                if (kind == 3) CHECK(fabs(w[m] - (2 * m - (n - 1))) <= bound);
                if (kind == 2)
                    CHECK(fabs(w[m] + 2 + 2 * cos(acos(-1) * (m + 1) / (n + 1))) <= bound);
                tiny += w[m] != 0 && fabs(w[m]) < 1e-18;
            }
            if (kind == 9) CHECK_MSG(tiny == n - 30, "%d", tiny); /* by its own measure */
        }
}

/* ---- odd input, layouts, arguments ----------------------------------------------------------- */

TEST(sizes_0_1_2) {
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 2; k++) {
            const shoal_type type = k ? SHOAL_F32 : SHOAL_F64;
            double w[6], v[12], none = 0;
            const double one[3] = { -7, 0, 3e-30 };
            const double two[12] = { 1, NAN, 2, 1, 0, NAN, 3, 0, 5, NAN, 0, -1 };
            outcome o =
                pairs_of(targets[t].ctx, (shoal_smallsym_opts){ .n = 0, .count = 3, .type = type },
                         &none, NULL, NULL, w, v);
            CHECK(o.info.failed == 0 && o.status[2] == 0 && o.rank[2] == 0 && o.rcond[2] == 1);
            o = pairs_of(targets[t].ctx, (shoal_smallsym_opts){ .n = 1, .count = 3, .type = type },
                         one, NULL, NULL, w, v);
            for (int s = 0; s < 3; s++) CHECK(w[s] == rounded(one[s], type) && v[s] == 1);
            CHECK(o.inertia[1] == 1 && o.rank[1] == 0 && o.inertia[6] == 1 && o.rcond[0] == 1);
            /* the upper triangle is NaN and is not looked at */
            pairs_of(targets[t].ctx, (shoal_smallsym_opts){ .n = 2, .count = 3, .type = type }, two,
                     NULL, NULL, w, v);
            CHECK(w[0] == -1 && w[1] == 3 && w[2] == -3 && w[3] == 3 && w[4] == -1 && w[5] == 5);
            CHECK(fabs(fabs(v[0]) - sqrt(0.5)) < roundoff(type) && v[0] == -v[2] && v[1] == v[3]);
            CHECK(v[8] == 0 && fabs(v[9]) == 1 && fabs(v[10]) == 1 && v[11] == 0);
        }
}

/* A NaN or an infinity anywhere: that system has no answer, the others have the same as before. */
TEST(nonfinite_input) {
    enum { N = 13, COUNT = 40 };
    static double a[COUNT * N * N], w[2][COUNT * N], v[2][COUNT * N * N];
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 2; k++) {
            const shoal_smallsym_opts opts = {
                .n = N, .count = COUNT, .type = k ? SHOAL_F32 : SHOAL_F64, .method = "auto"
            };
            for (int s = 0; s < COUNT; s++) make_matrix(a + s * N * N, s % SPECTRA, N, opts.type);
            pairs_of(targets[t].ctx, opts, a, NULL, NULL, w[0], v[0]);
            for (int s = 0; s < COUNT; s += 3) {
                const int i = s % N;
                a[s * N * N + i * N + (s % (i + 1))] = s % 2 ? (double)NAN : -(double)INFINITY;
            }
            const outcome o = pairs_of(targets[t].ctx, opts, a, NULL, NULL, w[1], v[1]);
            CHECK(o.info.failed == (COUNT + 2) / 3 && o.info.warned == 0);
            for (int s = 0; s < COUNT; s++) {
                const int bad = s % 3 == 0;
                CHECK(o.status[s] == (bad ? SHOAL_SYSTEM_NONFINITE : SHOAL_SYSTEM_OK));
                CHECK(bad ? o.rank[s] == -1 && isnan(o.rcond[s]) && isnan(o.residual[s])
                          : o.rank[s] >= 0);
                for (int i = 0; i < N; i++)
                    CHECK(bad ? isnan(w[1][s * N + i]) : w[1][s * N + i] == w[0][s * N + i]);
                for (int i = s * N * N; i < (s + 1) * N * N; i++)
                    CHECK(bad ? isnan(v[1][i]) : v[1][i] == v[0][i]);
            }
        }
}

/* Interleaved, packed and upper triangles, any place in a batch, no vectors: the same bits. */
TEST(layouts_and_places_change_nothing) {
    enum { N = 11, COUNT = 21, ONE = N * (N + 1) / 2 };
    static double a[COUNT * N * N], b[COUNT * N * N], w[2][COUNT * N], v[2][COUNT * N * N];
    static double d[2][COUNT * N], e[2][COUNT * N];
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 2; k++) {
            shoal_smallsym_opts opts = { .n = N,
                                         .count = COUNT,
                                         .type = k ? SHOAL_F32 : SHOAL_F64 };
            for (int s = 0; s < COUNT; s++) make_matrix(a + s * N * N, s % SPECTRA, N, opts.type);
            pairs_of(targets[t].ctx, opts, a, NULL, NULL, w[0], v[0]);
            opts.layout = SHOAL_INTERLEAVED, opts.storage = SHOAL_PACKED,
            opts.triangle = SHOAL_UPPER;
            for (int s = 0; s < COUNT; s++)
                for (int i = 0, at = 0; i < N; i++)
                    for (int j = i; j < N; j++, at++) b[at * COUNT + s] = a[s * N * N + i * N + j];
            pairs_of(targets[t].ctx, opts, b, NULL, NULL, w[1], v[1]);
            for (int s = 0; s < COUNT; s++) {
                for (int i = 0; i < N; i++) CHECK(w[1][i * COUNT + s] == w[0][s * N + i]);
                for (int i = 0; i < N * N; i++) CHECK(v[1][i * COUNT + s] == v[0][s * N * N + i]);
            }
            const int last = COUNT - 1;
            opts = (shoal_smallsym_opts){ .n = N, .count = 1, .type = opts.type, .method = "auto" };
            pairs_of(targets[t].ctx, opts, a + last * N * N, NULL, NULL, w[1], NULL);
            CHECK(memcmp(w[1], w[0] + last * N, N * sizeof(double)) == 0);
            for (int i = 0; i < COUNT * N; i++) {
                const int s = i / N, row = i % N;
                d[0][i] = d[1][row * COUNT + s] = rounded(normal(), opts.type);
                if (row < N - 1)
                    e[0][s * (N - 1) + row] = e[1][row * COUNT + s] = rounded(normal(), opts.type);
            }
            opts.count = COUNT;
            pairs_of(targets[t].ctx, opts, NULL, d[0], e[0], w[0], v[0]);
            opts.layout = SHOAL_INTERLEAVED;
            pairs_of(targets[t].ctx, opts, NULL, d[1], e[1], w[1], v[1]);
            for (int i = 0; i < COUNT * N; i++) CHECK(w[1][i % N * COUNT + i / N] == w[0][i]);
        }
}

/* Eigenpairs with a residual above opts.tol are a warning, and no others; they are answered all the
 * same. */
TEST(a_residual_above_tol_is_a_warning) {
    enum { N = 13, COUNT = 60 };
    static double a[COUNT * N * N], d[COUNT * N], e[COUNT * N], w[COUNT * N], v[COUNT * N * N];
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 8; k++) {
            const shoal_type type = k % 2 ? SHOAL_F32 : SHOAL_F64;
            const shoal_smallsym_opts opts = { .n = N,
                                               .count = COUNT,
                                               .type = type,
                                               .variant = variants[k / 2 % 2],
                                               .tol = 0.8 * roundoff(type) };
            for (int s = 0; s < COUNT; s++) make_matrix(a + s * N * N, 0, N, type);
            for (int i = 0; i < COUNT * N; i++)
                d[i] = rounded(normal(), type), e[i] = rounded(normal(), type);
            const outcome o = pairs_of(targets[t].ctx, opts, k < 4 ? a : NULL, d, e, w, v);
            int64_t above = 0;
            for (int s = 0; s < COUNT; s++) {
                const int poor = (double)o.residual[s] > opts.tol;
                CHECK_MSG(o.status[s] == (poor ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK), "%g: %d",
                          (double)o.residual[s], o.status[s]);
                CHECK(isfinite(w[s * N]) && isfinite(v[s * N * N]));
                above += poor;
            }
            CHECK_MSG(above > 0 && above < COUNT, "%d of %d", (int)above, COUNT);
            CHECK(o.info.warned == above && o.info.failed == 0);
        }
}

/* Groups of several sizes in one call are what each is alone. */
TEST(groups) {
    enum { FIRST = 4 * 3, SECOND = 9 * 5 }; /* numbers of w: 3 of size 4, 5 of size 9 */
    const shoal_group groups[] = { { 4, 3 }, { 0, 2 }, { 9, 5 } };
    double d[FIRST + SECOND], e[FIRST + SECOND], w[2][FIRST + SECOND], v[2][4 * FIRST + 9 * SECOND];
    for (int t = 0; t < target_count; t++) {
        for (int i = 0; i < FIRST + SECOND; i++) d[i] = normal(), e[i] = normal();
        const shoal_smallsym_opts all = { .groups = groups, .group_count = 3, .nrhs = 1 };
        shoal_smallsym *plan = NULL;
        shoal_context *ctx = targets[t].ctx;
        double *at_d = put(ctx, d, sizeof d), *at_e = put(ctx, e, sizeof e);
        double *at_w = put(ctx, d, sizeof w[0]), *at_v = put(ctx, v[0], sizeof v[0]);
        CHECK(shoal_smallsym_create(ctx, &all, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_eigtridiag(plan, at_d, at_e, at_w, at_v) == SHOAL_OK);
        take(ctx, w[0], at_w, sizeof w[0]), take(ctx, v[0], at_v, sizeof v[0]);
        shoal_free(ctx, at_d), shoal_free(ctx, at_e);
        shoal_smallsym_free(plan);
        pairs_of(targets[t].ctx, (shoal_smallsym_opts){ .n = 4, .count = 3 }, NULL, d, e, w[1],
                 v[1]);
        pairs_of(targets[t].ctx, (shoal_smallsym_opts){ .n = 9, .count = 5 }, NULL, d + FIRST,
                 e + 3 * 3, w[1] + FIRST, v[1] + 4 * FIRST);
        CHECK(memcmp(w[0], w[1], sizeof w[0]) == 0 && memcmp(v[0], v[1], sizeof v[0]) == 0);
    }
}

TEST(bad_arguments_are_named) {
    const double unit[4] = { 1, 0, 0, 1 };
    double values[2];
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_smallsym *plan = NULL;
        double *a = put(ctx, unit, sizeof unit), *w = put(ctx, unit, sizeof values);
        double *v = put(ctx, unit, sizeof unit);
        shoal_smallsym_opts opts = { .n = 2, .count = 1, .nrhs = 1, .method = "auto" };
        CHECK(shoal_smallsym_create(ctx, &opts, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_eigf(plan, NULL, NULL, NULL) == SHOAL_E_TYPE);
        CHECK(strstr(shoal_message(ctx), "shoal_smallsym_eig"));
        CHECK(shoal_smallsym_eig(plan, NULL, w, v) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "A is NULL"));
        CHECK(shoal_smallsym_eig(plan, a, NULL, v) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "w is NULL"));
        CHECK(shoal_smallsym_eigtridiag(plan, a, NULL, w, v) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "e is NULL"));
        CHECK(shoal_smallsym_eig(plan, a, w, NULL) == SHOAL_OK);
        CHECK(shoal_smallsym_eig(NULL, a, w, v) == SHOAL_E_ARG);
        shoal_smallsym_free(plan);
        opts.method = "ldlt";
        CHECK(shoal_smallsym_create(ctx, &opts, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_eig(plan, a, w, v) == SHOAL_E_METHOD);
        CHECK(strstr(shoal_message(ctx), "eigdc"));
        shoal_smallsym_free(plan);
        take(ctx, values, w, sizeof values);
        CHECK(values[0] == 1 && values[1] == 1);
        shoal_free(ctx, a), shoal_free(ctx, v);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(pairs_of_every_size_and_spectrum);
    RUN(pairs_of_large_matrices);
    RUN(scales_change_nothing);
    RUN(subnormal_matrices);
    RUN(pairs_of_tridiagonal_matrices);
    RUN(sizes_0_1_2);
    RUN(nonfinite_input);
    RUN(eigenvalues_that_overflow);
    RUN(layouts_and_places_change_nothing);
    RUN(a_residual_above_tol_is_a_warning);
    RUN(groups);
    RUN(bad_arguments_are_named);
    close_targets();
    return TEST_END();
}
