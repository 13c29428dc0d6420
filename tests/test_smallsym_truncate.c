/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_truncate.c - eigdc and hhpcr as solvers. eigdc: rank, inertia and the answer of
 * least norm against those of a known spectrum. hhpcr: backward error, inertia, the bound of the
 * condition number, pivots that break down.
 *
 *     test_smallsym_truncate [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "smallsym_eig.h"

enum { N_MAX = 64 };
static double a[N_MAX * N_MAX], q[N_MAX * N_MAX], b[N_MAX], x[N_MAX], w[N_MAX];

static void random_rhs(int n, shoal_type type) {
    for (int i = 0; i < n; i++) b[i] = rounded(normal(), type);
}

/* Eigenvalues of size 1 to 2, kept, and of size `small_size`, discarded: every third, from the
 * second on. Compared with the sum over the kept ones of v (vt b) / w from the spectrum itself. */
static void check_truncation(const target *t, int n, shoal_type type, const char *variant) {
    const double eps = roundoff(type), small_size = eps / 10;
    int kept = 0, negative = 0;
    double direct[N_MAX] = { 0 }, least = 2, most = 0, error = 0, lost = 0;
    for (int i = 0; i < n; i++) {
        const int keep = i % 3 != 1;
        w[i] = keep ? (1 + uniform()) * (uniform() < 0.5 ? -1 : 1) : small_size * normal();
        kept += keep, negative += keep && w[i] < 0;
        if (keep) least = fmin(least, fabs(w[i])), most = fmax(most, fabs(w[i]));
    }
    with_spectrum(a, q, w, n, type);
    random_rhs(n, type);
    for (int k = 0; k < n; k++) {
        double dot = 0;
        for (int i = 0; i < n; i++) dot += q[i * n + k] * b[i];
        for (int i = 0; i < n && k % 3 != 1; i++) direct[i] += q[i * n + k] * dot / w[k];
    }
    const outcome o =
        solve_systems(t->ctx,
                      (shoal_smallsym_opts){
                          .n = n, .count = 1, .type = type, .method = "eigdc", .variant = variant },
                      a, b, x);
    CHECK(o.status[0] == (kept < n ? SHOAL_SYSTEM_TRUNCATED : SHOAL_SYSTEM_OK));
    CHECK_MSG(o.rank[0] == kept && o.inertia[0] == kept - negative && o.inertia[1] == negative &&
                  o.inertia[2] == n - kept,
              "n=%d: rank %d, not %d", n, o.rank[0], kept);
    CHECK(fabs(o.rcond[0] - least / most) <= 20 * n * eps + FLT_EPSILON);
    CHECK(o.info.failed == 0 && o.info.warned == (kept < n));
    for (int i = 0; i < n; i++) error += (x[i] - direct[i]) * (x[i] - direct[i]);
    for (int k = 1; k < n; k += 3) {
        double dot = 0;
        for (int i = 0; i < n; i++) dot += q[i * n + k] * x[i];
        lost = fmax(lost, fabs(dot));
    }
    /* the kept space moves by at most |E| / gap, E the backward error of 10 n eps and the rounding
     * of A; b has length about sqrt n */
    const double bound = 40 * n * eps * (1 + sqrt(n));
    CHECK_MSG(sqrt(error) <= bound, "%s n=%d: error %.3g of %.3g", type_name(type), n, sqrt(error),
              bound);
    CHECK_MSG(lost <= bound, "%s n=%d: %.3g in the null space", type_name(type), n, lost);
}

TEST(the_answer_of_least_norm) {
    for (int t = 0; t < target_count; t++)
        for (int n = 1; n <= N_MAX; n += small ? 9 : 1)
            for (int k = 0; k < 4; k++)
                check_truncation(&targets[t], n, k % 2 ? SHOAL_F32 : SHOAL_F64,
                                 k / 2 ? "gragg" : "middle");
}

/* cond decides what is discarded: just below the ratio of two eigenvalues, and at it. */
TEST(cond_is_the_border) {
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 2; k++) {
            const double diagonal[9] = { 8, 0, 0, 0, -0.5, 0, 0, 0, 0.25 }, rhs[3] = { 8, 1, 1 };
            const double conds[] = { 15.99, 16, 32 }, second[] = { 0, -2, -2 },
                         third[] = { 0, 0, 4 };
            for (int c = 0; c < 3; c++) {
                const shoal_smallsym_opts opts = { .n = 3,
                                                   .count = 1,
                                                   .type = k ? SHOAL_F32 : SHOAL_F64,
                                                   .method = "eigdc",
                                                   .cond = conds[c] };
                const outcome o = solve_systems(targets[t].ctx, opts, diagonal, rhs, x);
                CHECK(o.rank[0] == c + 1 && o.inertia[1] == (c > 0));
                CHECK(x[0] == 1 && x[1] == second[c] && x[2] == third[c]);
            }
        }
}

TEST(a_zero_matrix_has_the_answer_0) {
    const double zeros[4 * 4] = { 0 }, rhs[4] = { 1, 2, 3, 4 };
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 2; k++) {
            const shoal_smallsym_opts opts = {
                .n = 4, .count = 1, .type = k ? SHOAL_F32 : SHOAL_F64, .method = "eigdc"
            };
            const outcome o = solve_systems(targets[t].ctx, opts, zeros, rhs, x);
            CHECK(o.status[0] == SHOAL_SYSTEM_TRUNCATED && o.rank[0] == 0 && o.inertia[2] == 4);
            CHECK(o.rcond[0] == 0 && x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 0);
        }
}

/* ---- backward errors ------------------------------------------------------------------------- */

typedef struct family { /* eigenvalues from 1 / condition to 1, evenly in logarithm */
    const char *name;
    double condition[2]; /* f64, f32 */
    int signs;
} family;

static const family families[] = {
    { "well-conditioned", { 10, 10 }, 0 },
    { "definite", { 1e9, 1e4 }, 0 }, /* from 1e5 on in f32, hhpcr warns of it */
    { "negative definite", { 1e9, 1e4 }, 1 },
    { "indefinite", { 1e9, 1e4 }, 2 },
};

/* Largest entry of the largest row over that of the smallest: from 16 on A is scaled, and rcond is that of the scaled A. */
static double spread(const double *matrix, int n) {
    double least = INFINITY, most = 0;
    for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < n; j++) row = fmax(row, fabs(matrix[i * n + j]));
        least = fmin(least, row), most = fmax(most, row);
    }
    return most / least;
}

static void check_family(const target *t, const family *f, int n, shoal_type type,
                         const char *method, const char *variant) {
    int negative = 0;
    for (int i = 0; i < n; i++) {
        const double size = pow(f->condition[type == SHOAL_F32], -(i + 1.0) / n);
        const int minus = f->signs == 1 || (f->signs == 2 && uniform() < 0.5);
        w[i] = minus ? -size : size;
        negative += minus;
    }
    with_spectrum(a, NULL, w, n, type);
    random_rhs(n, type);
    const shoal_smallsym_opts opts = {
        .n = n, .count = 1, .type = type, .method = method, .variant = variant
    };
    const outcome o = solve_systems(t->ctx, opts, a, b, x);
    const double error = backward_error(a, x, b, n), unit = n * roundoff(type);
    const int hhpcr = strcmp(method, "hhpcr") == 0;
    /* without pivots an indefinite system may be spoilt, but not called ok */
    if (f->signs < 2 || !hhpcr || o.status[0] == SHOAL_SYSTEM_OK)
        CHECK_MSG(o.status[0] == SHOAL_SYSTEM_OK && error <= 10 * unit,
                  "%s %s %s %s n=%d: status %d, backward error %.3g n eps", method, variant,
                  type_name(type), f->name, n, o.status[0], error / unit);
    CHECK(o.status[0] < 0 || (o.inertia[0] == n - negative && o.inertia[1] == negative));
    CHECK(o.status[0] < 0 || o.rank[0] == n);
    const double rcond = fabs(w[n - 1] / w[0]);
    if (f->signs < 2 && hhpcr)
        CHECK_MSG(o.rcond[0] >= 0.9 * rcond &&
                      (o.rcond[0] <= 3.3 * n * rcond || spread(a, n) >= 16),
                  "%s n=%d: rcond %.3g, is %.3g", f->name, n, (double)o.rcond[0], rcond);
}

TEST(backward_errors_of_every_size) {
    for (int t = 0; t < target_count; t++)
        for (int n = 1; n <= N_MAX; n += small ? 9 : 1)
            for (size_t f = 0; f < sizeof families / sizeof *families; f++)
                for (int k = 0; k < 2; k++) {
                    const shoal_type type = k ? SHOAL_F32 : SHOAL_F64;
                    check_family(&targets[t], &families[f], n, type, "hhpcr", "reflect");
                    check_family(&targets[t], &families[f], n, type, "hhpcr", "formed");
                    check_family(&targets[t], &families[f], n, type, "eigdc", "middle");
                }
}

/* ---- hhpcr: what breaks down ----------------------------------------------------------------- */

TEST(zero_pivots_are_reported) {
    enum { COUNT = 6 };
    const double all[COUNT * 4] = { 0, 1, 1, 0,             /* zero pivots of a regular matrix */
                                    2, 1, 1, 2, 0, 0, 0, 0, /* all zeros           */
                                    1, 1, 1, 1,             /* singular            */
                                    3, 0, 0, 4, 0, 2, 2, 5 };
    const double rhs[COUNT * 2] = { 1, 2, 3, 3, 1, 2, 1, 2, 3, 4, 1, 2 };
    const int fails[COUNT] = { 1, 0, 1, 1, 0, 1 };
    double answer[COUNT * 2];
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 2; k++) {
            const shoal_smallsym_opts opts = {
                .n = 2, .count = COUNT, .type = k ? SHOAL_F32 : SHOAL_F64, .method = "hhpcr"
            };
            const outcome o = solve_systems(targets[t].ctx, opts, all, rhs, answer);
            for (int s = 0; s < COUNT; s++) {
                CHECK_MSG(o.status[s] == (fails[s] ? SHOAL_SYSTEM_PIVOT : SHOAL_SYSTEM_OK),
                          "system %d: %d", s, o.status[s]);
                CHECK(isnan(answer[2 * s]) == fails[s] && isnan(answer[2 * s + 1]) == fails[s]);
            }
            CHECK(fabs(answer[2] - 1) <= 4 * roundoff(opts.type) && answer[8] == 1 &&
                  answer[9] == 1);
        }
}

/* A singular matrix, whose zero pivot is lost in rounding, is not called ok. */
TEST(singular_matrices_are_never_ok) {
    for (int t = 0; t < target_count; t++)
        for (int n = 2; n <= N_MAX; n += small ? 9 : 1)
            for (int k = 0; k < 4; k++) {
                const shoal_type type = k % 2 ? SHOAL_F32 : SHOAL_F64;
                const shoal_smallsym_opts opts = {
                    .n = n, .count = 1, .type = type, .method = "hhpcr"
                };
                for (int i = 0; i < n; i++) w[i] = i ? 1 + uniform() : 0;
                with_spectrum(a, NULL, w, n, type);
                for (int i = 0; i < n && k > 1; i++) a[i * n] = a[i] = 0; /* and exactly so */
                random_rhs(n, type);
                const outcome o = solve_systems(targets[t].ctx, opts, a, b, x);
                CHECK_MSG(o.status[0] == SHOAL_SYSTEM_ILL || o.status[0] == SHOAL_SYSTEM_PIVOT,
                          "%s n=%d: status %d, rcond %.3g eps", type_name(type), n, o.status[0],
                          (double)o.rcond[0] / roundoff(type));
            }
}

/* Matrices and right-hand sides near both ends of the range, an answer in the middle. */
TEST(scales_are_taken_back) {
    const char *const methods[] = { "hhpcr", "eigdc" };
    for (int t = 0; t < target_count; t++)
        for (int k = 0; k < 8; k++) {
            enum { N = 17 };
            const shoal_type type = k % 2 ? SHOAL_F32 : SHOAL_F64;
            const int e = (k % 2 ? 110 : 1000) * (k / 2 % 2 ? -1 : 1);
            double once[N];
            const shoal_smallsym_opts opts = {
                .n = N, .count = 1, .type = type, .method = methods[k / 4]
            };
            for (int i = 0; i < N; i++) w[i] = 1 + uniform();
            with_spectrum(a, NULL, w, N, type);
            random_rhs(N, type);
            solve_systems(targets[t].ctx, opts, a, b, once);
            for (int i = 0; i < N * N; i++) a[i] = rounded(ldexp(a[i], e), type);
            for (int i = 0; i < N; i++) b[i] = rounded(ldexp(b[i], e), type);
            const outcome o = solve_systems(targets[t].ctx, opts, a, b, x);
            CHECK(o.status[0] == SHOAL_SYSTEM_OK);
            for (int i = 0; i < N; i++)
                CHECK_MSG(fabs(x[i] - once[i]) <= 40 * N * roundoff(type), "%s: %.17g, %.17g",
                          opts.method, x[i], once[i]);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(the_answer_of_least_norm);
    RUN(cond_is_the_border);
    RUN(a_zero_matrix_has_the_answer_0);
    RUN(backward_errors_of_every_size);
    RUN(zero_pivots_are_reported);
    RUN(singular_matrices_are_never_ok);
    RUN(scales_are_taken_back);
    close_targets();
    return TEST_END();
}
