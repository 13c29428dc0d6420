/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_periodic.c - systems whose ends meet: against Gaussian elimination of the whole matrix, by
 * their residuals, and where the matrix is singular.
 */
#include "tridiag_batch.h"

static const call twocarry = { "twocarry", NULL, 1 }, automatic = { "auto", NULL, 1 };

/* A batch of a kind, with entries where its lines have none. */
static batch ring(const char *kind, int64_t n, int64_t count, int64_t nrhs, shoal_type type) {
    batch p = generate(kind, n, count, nrhs, type);
    for (int64_t k = 0; k < count; k++)
        p.dl[k * n] = 0.25 + (double)(k % 8) / 8, p.du[k * n + n - 1] = -0.375;
    return p;
}

/* Row i of system k of a periodic batch, applied to x. */
static long double row_times(const batch *p, int64_t k, int64_t i, const double *x) {
    const int64_t n = p->n, at = k * n + i;
    return (long double)p->dl[at] * x[i > 0 ? i - 1 : n - 1] + (long double)p->d[at] * x[i] +
           (long double)p->du[at] * x[i + 1 < n ? i + 1 : 0];
}

/* max |b - A x| / (|A| |x| + |b|), right-hand side j of system k. */
static double error_behind(const batch *p, int64_t k, int64_t j, const double *x) {
    long double r = 0, norm = 0, most = 0, b = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t at = k * p->n + i;
        const long double rest = p->b[at * p->nrhs + j] - row_times(p, k, i, x);
        const double sum = fabs(p->dl[at]) + fabs(p->d[at]) + fabs(p->du[at]);
        r = fmaxl(r, fabsl(rest)), norm = fmaxl(norm, sum), most = fmaxl(most, fabs(x[i]));
        b = fmaxl(b, fabs(p->b[at * p->nrhs + j]));
        if (isnan(x[i])) return NAN;
    }
    return (double)(r / (norm * most + b));
}

static void column_of(const answer *r, const batch *p, int64_t k, int64_t j, double *x) {
    for (int64_t i = 0; i < p->n; i++) x[i] = r->x[(k * p->n + i) * p->nrhs + j];
}

/* The batch of the transposed matrices, corners included. */
static batch turned(const batch *p) {
    batch q = new_batch(p->n, p->count, p->nrhs, p->type);
    const int64_t n = p->n;
    memcpy(q.b, p->b, (size_t)(n * p->count * p->nrhs) * sizeof *q.b);
    memcpy(q.d, p->d, (size_t)(n * p->count) * sizeof *q.d);
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < n; i++) {
            q.dl[k * n + i] = p->du[k * n + (i + n - 1) % n];
            q.du[k * n + i] = p->dl[k * n + (i + 1) % n];
        }
    return q;
}

/* Of a transposed plan the answer is held against the transposed matrix, written out here. */
static void check_batch(const batch *given, const call *c, how h) {
    batch other = { 0 };
    if (h.transposed) other = turned(given);
    const batch *p = h.transposed ? &other : given;
    const double unit = p->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    double *x = new_array((size_t)p->n, sizeof *x);
    h.periodic = 1;
    for (int t = 0; t < target_count; t++) {
        answer r = solve_with(targets[t].ctx, given, c, h);
        for (int64_t k = 0; k < p->count && r.code == SHOAL_OK; k++)
            for (int64_t j = 0; j < p->nrhs; j++) {
                column_of(&r, p, k, j, x);
                const double e = error_behind(p, k, j, x);
                CHECK_MSG(r.status[k] >= 0 && e <= 4 * unit,
                          "%s n=%lld k=%lld: status %d, error %.3g", targets[t].backend,
                          (long long)p->n, (long long)k, r.status[k], e);
                if (!h.no_residual)
                    CHECK_MSG(r.residual[k] <= 16 * unit, "residual %.3g", r.residual[k]);
            }
        free_answer(&r);
    }
    free(x);
    if (h.transposed) free_batch(&other);
}

TEST(residuals_are_small_at_every_size) {
    const int64_t sizes[] = {
        1, 2, 3, 4, 5, 31, 32, 33, 64, 127, 128, 129, 1000, 1024, 1025, 4097
    };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int type = 0; type < 2; type++) {
            const int64_t count = sizes[s] < 1000 ? sizes[s] < 6 ? 40 : 5 : 1;
            batch p = ring("random", sizes[s], count, 1, (shoal_type)type);
            for (int64_t i = 0; i < p.n * p.count; i++) p.d[i] *= 2; /* seldom ill-conditioned */
            check_batch(&p, &twocarry, (how){ 0 });
            check_batch(&p, &twocarry, (how){ .transposed = 1 });
            check_batch(&p, &automatic, (how){ .no_residual = 1 });
            free_batch(&p);
        }
}

TEST(layouts_sides_and_places_do_not_matter) {
    for (int type = 0; type < 2; type++) {
        batch p = ring("dominant", 77, 3, 4, (shoal_type)type);
        check_batch(&p, &twocarry, (how){ .layout = SHOAL_INTERLEAVED });
        check_batch(&p, &twocarry, (how){ .in_place = 1 });
        check_batch(&p, &twocarry, (how){ .offset = 1 });
        check_batch(&p, &twocarry, (how){ .transposed = 1, .layout = SHOAL_INTERLEAVED });
        check_batch(&p, &automatic, (how){ .transposed = 1, .in_place = 1 });
        free_batch(&p);
    }
}

/* Gaussian elimination of the dense matrix with partial pivoting, in twice the precision. */
static void solve_dense(const batch *p, int64_t k, long double *x) {
    const int64_t n = p->n;
    long double *m = new_array((size_t)(n * (n + 1)), sizeof *m);
    for (int64_t i = 0; i < n * (n + 1); i++) m[i] = 0;
    for (int64_t i = 0; i < n; i++) {
        long double *row = m + i * (n + 1);
        row[(i + n - 1) % n] += p->dl[k * n + i];
        row[i] += p->d[k * n + i];
        row[(i + 1) % n] += p->du[k * n + i];
        row[n] = p->b[k * n + i];
    }
    for (int64_t c = 0; c < n; c++) {
        int64_t best = c;
        for (int64_t i = c + 1; i < n; i++)
            if (fabsl(m[i * (n + 1) + c]) > fabsl(m[best * (n + 1) + c])) best = i;
        for (int64_t q = 0; q <= n; q++) {
            const long double swap = m[c * (n + 1) + q];
            m[c * (n + 1) + q] = m[best * (n + 1) + q], m[best * (n + 1) + q] = swap;
        }
        for (int64_t i = c + 1; i < n; i++) {
            const long double f = m[i * (n + 1) + c] / m[c * (n + 1) + c];
            for (int64_t q = c; q <= n; q++) m[i * (n + 1) + q] -= f * m[c * (n + 1) + q];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        x[i] = m[i * (n + 1) + n];
        for (int64_t q = i + 1; q < n; q++) x[i] -= m[i * (n + 1) + q] * x[q];
        x[i] /= m[i * (n + 1) + i];
    }
    free(m);
}

TEST(answers_are_those_of_elimination) {
    const int64_t sizes[] = { 1, 2, 3, 8, 33, 64 };
    long double exact[64];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        batch p = ring("dominant", sizes[s], 4, 1, SHOAL_F64);
        for (int t = 0; t < target_count; t++) {
            answer r = solve_with(targets[t].ctx, &p, &twocarry, (how){ .periodic = 1 });
            for (int64_t k = 0; k < p.count; k++) {
                solve_dense(&p, k, exact);
                for (int64_t i = 0; i < p.n; i++)
                    CHECK_MSG(fabsl(r.x[k * p.n + i] - exact[i]) <= 1e-13L * (1 + fabsl(exact[i])),
                              "%s n=%lld k=%lld i=%lld: %.17g", targets[t].backend, (long long)p.n,
                              (long long)k, (long long)i, r.x[k * p.n + i]);
            }
            free_answer(&r);
        }
        free_batch(&p);
    }
}

/* The Laplacian of a ring has the constants for a kernel. A ring of a and -a shifts only. */
TEST(singular_rings_are_reported) {
    const int64_t sizes[] = { 1, 2, 3, 64, 1000, 1025 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int type = 0; type < 2; type++) {
            batch p = ring("dominant", sizes[s], 1, 1, (shoal_type)type);
            for (int64_t i = 0; i < p.n; i++) p.dl[i] = p.du[i] = -1, p.d[i] = 2;
            for (int t = 0; t < target_count; t++) {
                answer r = solve_with(targets[t].ctx, &p, &twocarry, (how){ .periodic = 1 });
                CHECK_MSG(r.status[0] != SHOAL_SYSTEM_OK, "%s n=%lld: status %d",
                          targets[t].backend, (long long)p.n, r.status[0]);
                free_answer(&r);
            }
            free_batch(&p);
        }
}

/* Without the corners the matrix is singular, with them it is not: rows of zeros inside, shifts. */
TEST(rings_of_singular_lines_are_solved) {
    const int64_t sizes[] = { 3, 5, 33, 127, 1025 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        batch p = ring("dominant", sizes[s], 1, 1, SHOAL_F64);
        for (int64_t i = 0; i < p.n; i++) p.dl[i] = 1, p.d[i] = 0, p.du[i] = 0; /* x[i-1] = b[i] */
        check_batch(&p, &twocarry, (how){ 0 });
        for (int64_t i = 0; i < p.n; i++) p.du[i] = 1; /* x[i-1] + x[i+1] = b[i], odd n */
        check_batch(&p, &twocarry, (how){ 0 });
        free_batch(&p);
    }
}

TEST(others_refuse) {
    const char *const methods[] = { "thomas", "cr", "pcr", "hybrid", "lupp" };
    for (int t = 0; t < target_count; t++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            shoal_tridiag *plan = NULL;
            shoal_tridiag_opts o = {
                .n = 4, .count = 1, .nrhs = 1, .periodic = 1, .method = methods[m]
            };
            CHECK(shoal_tridiag_create(targets[t].ctx, &o, &plan) == SHOAL_E_METHOD && !plan);
            CHECK(strstr(shoal_message(targets[t].ctx), "periodic"));
            o.method = NULL, o.periodic = 2;
            CHECK(shoal_tridiag_create(targets[t].ctx, &o, &plan) == SHOAL_E_ARG);
            CHECK(strstr(shoal_message(targets[t].ctx), "periodic is 2"));
        }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(residuals_are_small_at_every_size);
    RUN(layouts_sides_and_places_do_not_matter);
    RUN(answers_are_those_of_elimination);
    RUN(singular_rings_are_reported);
    RUN(rings_of_singular_lines_are_solved);
    RUN(others_refuse);
    close_targets();
    return TEST_END();
}
