/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_rcond.c - outcome.rcond: against LAPACK's dgtcon_ on the matrices of the paper and on random
 * ones, against the inverse itself where n is small, and the promises: 0 of a singular matrix, NaN of one
 * that is not finite, the same number whatever the layout, the right-hand sides and the neighbours.
 *
 *     test_tridiag_rcond [--small] [--backend=cpu|cuda] [test name ...]
 */
#define _POSIX_C_SOURCE 200809L
#include "lapack.h"
#include "tridiag_batch.h"

typedef void gttrf(const int *n, double *dl, double *d, double *du, double *du2, int *pivots,
                   int *info);
typedef void gtcon(const char *norm, const int *n, const double *dl, const double *d,
                   const double *du, const double *du2, const int *pivots, const double *size,
                   double *rcond, double *work, int *iwork, int *info);

static gttrf *dgttrf;
static gtcon *dgtcon;

/* Largest column sum of system k; of A^T where transposed. */
static double norm_of(const batch *p, int64_t k, int transposed) {
    const double *dl = p->dl + k * p->n, *d = p->d + k * p->n, *du = p->du + k * p->n;
    double most = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double before = i == 0 ? 0 : transposed ? dl[i] : du[i - 1];
        const double after = i + 1 == p->n ? 0 : transposed ? du[i] : dl[i + 1];
        most = fmax(most, fabs(before) + fabs(d[i]) + fabs(after));
    }
    return most;
}

/* dgtcon's rcond of system k; 0 where dgttrf meets a zero pivot. */
static double lapack_rcond(const batch *p, int64_t k, int transposed) {
    const int n = (int)p->n;
    const double size = norm_of(p, k, transposed);
    double *m = new_array((size_t)n * 6, sizeof *m), rcond = 0;
    double *dl = m, *d = m + n, *du = m + 2 * n, *du2 = m + 3 * n, *work = m + 4 * n;
    int *pivots = new_array((size_t)n * 2, sizeof *pivots), info = 0;
    for (int i = 0; i < n; i++) d[i] = p->d[k * n + i];
    for (int i = 0; i + 1 < n; i++) dl[i] = p->dl[k * n + i + 1], du[i] = p->du[k * n + i];
    dgttrf(&n, dl, d, du, du2, pivots, &info);
    if (info == 0)
        dgtcon(transposed ? "I" : "1", &n, dl, d, du, du2, pivots, &size, &rcond, work, pivots + n,
               &info);
    free(m), free(pivots);
    return rcond;
}

/* 1 / (|A| |A^-1|), column by column in long double with partial pivoting. */
static double exact_rcond(const batch *p, int64_t k) {
    const int64_t n = p->n;
    const double *dl = p->dl + k * n, *d = p->d + k * n, *du = p->du + k * n;
    long double *u = new_array((size_t)n * 4, sizeof *u), most = 0;
    for (int64_t column = 0; column < n; column++) {
        long double pivot = d[0], next = n > 1 ? du[0] : 0, rhs = column == 0, sum = 0;
        for (int64_t i = 0; i + 1 < n; i++) {
            const long double e[2][4] = { { pivot, next, 0, rhs },
                                          { dl[i + 1], d[i + 1], i + 2 < n ? du[i + 1] : 0,
                                            column == i + 1 } };
            const int s = fabsl(e[1][0]) > fabsl(e[0][0]);
            const long double m = e[!s][0] / e[s][0];
            memcpy(u + 4 * i, e[s], 4 * sizeof *u);
            pivot = e[!s][1] - m * e[s][1], next = e[!s][2] - m * e[s][2];
            rhs = e[!s][3] - m * e[s][3];
        }
        long double x = rhs / pivot, before = 0;
        sum = fabsl(x);
        for (int64_t i = n - 2; i >= 0; i--) {
            const long double now =
                (u[4 * i + 3] - u[4 * i + 1] * x - u[4 * i + 2] * before) / u[4 * i];
            before = x, x = now, sum += fabsl(x);
        }
        most = fmaxl(most, sum);
    }
    free(u);
    return (double)(1 / (most * norm_of(p, k, 0)));
}

/* Below this a condition cannot be told from that of a singular matrix. */
static double noise(const batch *p) { return eps_of(p->type) / 4; }

static void check_within(const call *c, const target *t, const char *kind, const batch *p,
                         int64_t k, double rcond, double reference, double below, double above) {
    const char *who = name_of(t, c);
    if (reference < noise(p))
        CHECK_MSG(rcond <= above * noise(p), "%s %s n=%lld k=%lld: %g of %g", who, kind,
                  (long long)p->n, (long long)k, rcond, reference);
    else
        CHECK_MSG(rcond >= reference / below && rcond <= above * reference,
                  "%s %s n=%lld k=%lld: %g of %g", who, kind, (long long)p->n, (long long)k, rcond,
                  reference);
}

/* Within a factor 10 of LAPACK, by the methods that answer every nonsingular matrix. */
TEST(like_lapack) {
    *(void **)&dgttrf = lapack("dgttrf_");
    *(void **)&dgtcon = lapack("dgtcon_");
    if (!dgttrf || !dgtcon) MISSING("LAPACK");
    const char *const own[] = {
        "dominant", "laplace", "random", "zerodiag", "zeropivot", "graded"
    };
    const int64_t lengths[] = { 1, 2, 3, 33, 100, 512, 4096 };
    for (int i = 0; i < (small ? 5 : 7); i++)
        for (int number = -5; number <= 21; number++) {
            char kind[32];
            snprintf(kind, sizeof kind, "spike%d", number);
            if (number <= 0) snprintf(kind, sizeof kind, "%s", own[-number]);
            batch p = generate(kind, lengths[i], number > 0 || small ? 2 : 9, 1, SHOAL_F64);
            for (int transposed = 0; transposed < 2; transposed++)
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++) {
                        if (!c->pivoted) continue;
                        const how h = { .rcond = 1, .transposed = transposed };
                        answer r = solve_with(targets[t].ctx, &p, c, h);
                        for (int64_t k = 0; k < p.count; k++)
                            check_within(c, &targets[t], kind, &p, k, (double)r.rcond[k],
                                         lapack_rcond(&p, k, transposed), 10, 10);
                        free_answer(&r);
                    }
            free_batch(&p);
        }
}

/* |A^-1| is found or missed by a little, and never exceeded, by every method that has an answer. */
TEST(like_the_inverse) {
    const char *const kinds[] = { "dominant", "laplace", "random" };
    const int64_t lengths[] = { 1, 2, 3, 8, 17, 64 };
    for (int i = 0; i < 6; i++)
        for (int kind = 0; kind < 3; kind++)
            for (int type = 0; type < 2; type++) {
                batch p = generate(kinds[kind], lengths[i], small ? 3 : 21, 1, type);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++) {
                        if (kind == 2 && !c->pivoted) continue;
                        answer r = solve_with(targets[t].ctx, &p, c, (how){ .rcond = 1 });
                        for (int64_t k = 0; k < p.count && r.code == SHOAL_OK; k++)
                            check_within(c, &targets[t], kinds[kind], &p, k, (double)r.rcond[k],
                                         exact_rcond(&p, k), 1.1, 4);
                        free_answer(&r);
                    }
                free_batch(&p);
            }
}

TEST(singular_and_nonfinite_matrices_are_told) {
    for (int kind = 0; kind < 2; kind++)
        for (int64_t n = 1; n < 70; n += small ? 34 : 17)
            for (int type = 0; type < 2; type++) {
                batch p = generate(kind ? "nonfinite" : "singular", n, small ? 7 : 23, 1, type);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++) {
                        answer r = solve_with(targets[t].ctx, &p, c, (how){ .rcond = 1 });
                        for (int64_t k = 0; k < p.count && r.code == SHOAL_OK; k++) {
                            const double v = (double)r.rcond[k];
                            const int nan = r.status[k] == SHOAL_SYSTEM_NONFINITE ||
                                            r.status[k] == SHOAL_SYSTEM_PIVOT;
                            const int none = r.status[k] == SHOAL_SYSTEM_SINGULAR;
                            if (kind && p.b[k * n] != p.b[k * n]) continue; /* A is finite */
                            CHECK_MSG(nan    ? isnan(v)
                                      : none ? v == 0
                                             : v > 0 && v <= 1.001,
                                      "%s n=%lld k=%lld: status %d, rcond %g",
                                      name_of(&targets[t], c), (long long)n, (long long)k,
                                      r.status[k], v);
                        }
                        free_answer(&r);
                    }
                free_batch(&p);
            }
}

/* A diagonal matrix of any scale: |A| |A^-1| is the ratio of its largest and smallest entries. */
TEST(any_scale) {
    for (int type = 0; type < 2; type++)
        for (int at = -1; at < 2; at++) {
            batch p = new_batch(9, 2, 1, type);
            const double scale = ldexp(1, at * (type ? 120 : 1015));
            for (int i = 0; i < 18; i++) p.d[i] = scale * (i % 9 == 4 ? 0.125 : 1), p.b[i] = 0;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .rcond = 1 });
                    for (int k = 0; k < 2 && c->pivoted; k++)
                        CHECK_MSG(fabs((double)r.rcond[k] - 0.125) <= 1e-5, "%s at 2^%d: %g",
                                  name_of(&targets[t], c), at * (type ? 120 : 1015),
                                  (double)r.rcond[k]);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* Other layouts, right-hand sides, neighbours and a solve in place: the same bits of x and rcond. */
TEST(rcond_depends_on_the_matrix_alone) {
    const int64_t lengths[] = { 1, 5, 40, 300, 1500 };
    for (int i = 0; i < (small ? 4 : 5); i++)
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                const int64_t n = lengths[i], count = small ? 4 : 18;
                batch p = generate("dominant", n, count, 3, SHOAL_F64), one = new_batch(n, 1, 3, 0);
                const how h = { .layout = SHOAL_INTERLEAVED, .in_place = 1, .rcond = 1 };
                batch q = column(&p, 1);
                answer plain = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                answer r = solve_with(targets[t].ctx, &p, c, (how){ .rcond = 1 });
                answer s = solve_with(targets[t].ctx, &q, c, h);
                for (int64_t k = 0; k < count && r.code == SHOAL_OK; k++) {
                    CHECK_MSG(r.rcond[k] == s.rcond[k] && r.rcond[k] > 0, "%s n=%lld: %g, %g",
                              name_of(&targets[t], c), (long long)n, (double)r.rcond[k],
                              (double)s.rcond[k]);
                    if (k % 4) continue;
                    copy_system(&one, 0, &p, k);
                    answer alone = solve_with(targets[t].ctx, &one, c, (how){ .rcond = 1 });
                    CHECK(alone.rcond[0] == r.rcond[k]);
                    free_answer(&alone);
                }
                if (r.code == SHOAL_OK) {
                    CHECK(same_all(plain.x, r.x, n * count * 3));
                    CHECK(plain.info.redone == r.info.redone && r.info.failed == 0);
                    CHECK(r.info.max_residual == plain.info.max_residual);
                }
                free_answer(&plain), free_answer(&r), free_answer(&s);
                free_batch(&p), free_batch(&q), free_batch(&one);
            }
}

TEST(no_unknowns_have_condition_1) {
    batch p = new_batch(0, 3, 1, SHOAL_F64);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            answer r = solve_with(targets[t].ctx, &p, c, (how){ .rcond = 1 });
            for (int k = 0; k < 3 && r.code == SHOAL_OK; k++) CHECK(r.rcond[k] == 1);
            free_answer(&r);
        }
    free_batch(&p);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(like_lapack);
    RUN(like_the_inverse);
    RUN(singular_and_nonfinite_matrices_are_told);
    RUN(any_scale);
    RUN(rcond_depends_on_the_matrix_alone);
    RUN(no_unknowns_have_condition_1);
    close_targets();
    return TEST_END();
}
