/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_kinds.c - the generator of small symmetric systems: numbers depend on the system
 * alone, and every kind has the properties it promises, judged by eigenvalues computed here
 * (Jacobi's method).
 */
#include "smallsym_batch.h"

enum { N = 30 };

static double matrix_entry(const double *a, int64_t n, int64_t i, int64_t j) {
    return i >= j ? a[i * n + j] : a[j * n + i];
}

static int ascending(const void *u, const void *v) {
    const double a = *(const double *)u, b = *(const double *)v;
    return (a > b) - (a < b);
}

/* Eigenvalues, ascending, of the matrix whose lower triangle is in a. Rotations until what is off
 * the diagonal is below a roundoff of it all. */
static void eigenvalues(const double *a, int64_t n, double *w) {
    double *s = new_array((size_t)(n * n), sizeof *s), total = 0, off = 1;
    for (int64_t i = 0; i < n * n; i++) {
        s[i] = matrix_entry(a, n, i / n, i % n);
        total += s[i] * s[i];
    }
    for (int sweep = 0; sweep < 30 && off > total * 1e-34; sweep++) {
        off = 0;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                if (s[p * n + q] == 0) continue;
                off += s[p * n + q] * s[p * n + q];
                const double theta = (s[q * n + q] - s[p * n + p]) / (2 * s[p * n + q]);
                const double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
                const double c = 1 / hypot(t, 1), d = t * c;
                for (int64_t k = 0; k < n; k++) {
                    const double u = s[k * n + p], v = s[k * n + q];
                    s[k * n + p] = c * u - d * v, s[k * n + q] = d * u + c * v;
                }
                for (int64_t k = 0; k < n; k++) {
                    const double u = s[p * n + k], v = s[q * n + k];
                    s[p * n + k] = c * u - d * v, s[q * n + k] = d * u + c * v;
                }
            }
    }
    for (int64_t i = 0; i < n; i++) w[i] = s[i * n + i];
    qsort(w, (size_t)n, sizeof *w, ascending);
    free(s);
}

/* Ratio of the largest to the smallest eigenvalue of system k. */
static double condition_of(const batch *p, int64_t k, double *w) {
    eigenvalues(p->a + k * p->n * p->n, p->n, w);
    return w[p->n - 1] / w[0];
}

static batch generate_by(const char *kind, double parameter, int64_t n, int64_t count) {
    batch p = new_batch(n, count, 1, SHOAL_F64);
    const shoal_smallsym_opts shape = { .n = n, .count = count, .nrhs = 1 };
    CHECK_MSG(shoal_smallsym_generate(targets[0].ctx, kind, parameter, 7, 0, &shape, p.a, p.b) == 0,
              "%s", shoal_message(targets[0].ctx));
    return p;
}

/* ---- the same numbers however they are asked for ---------------------------------------------- */

/* System 5 of thirty is the first of those from 5 on, in any storage and type, alone or not. */
static void storage_case(const char *kind, int64_t n, how h) {
    enum { COUNT = 25, RHS = 3 };
    batch p = new_batch(n, COUNT, RHS, SHOAL_F64), q = new_batch(n, COUNT, RHS, SHOAL_F32);
    const shoal_smallsym_opts plain = { .n = n, .count = COUNT, .nrhs = RHS };
    CHECK(shoal_smallsym_generate(targets[0].ctx, kind, NAN, 3, 0, &plain, p.a, p.b) == 0);
    memcpy(q.a, p.a, (size_t)(n * n * COUNT) * sizeof(double));
    memcpy(q.b, p.b, (size_t)(n * COUNT * RHS) * sizeof(double));
    const size_t a_numbers = (size_t)(numbers_of(&q, h) * COUNT),
                 b_numbers = (size_t)(n * COUNT * RHS);
    float *a = new_array(a_numbers, sizeof *a), *b = new_array(b_numbers, sizeof *b);
    float *made_a = new_array(a_numbers, sizeof *a), *made_b = new_array(b_numbers, sizeof *b);
    store_batch(&q, h, a, b);
    for (size_t i = 0; i < a_numbers; i++) made_a[i] = (float)NAN; /* holes are left alone */
    const shoal_smallsym_opts shape = opts_of(&q, NULL, h);
    CHECK_MSG(shoal_smallsym_generatef(targets[0].ctx, kind, NAN, 3, 0, &shape, made_a, made_b) ==
                  0,
              "%s", shoal_message(targets[0].ctx));
    int equal = 1;
    for (size_t i = 0; i < a_numbers; i++) equal &= same((double)a[i], (double)made_a[i]);
    for (size_t i = 0; i < b_numbers; i++) equal &= same((double)b[i], (double)made_b[i]);
    CHECK_MSG(equal, "%s n=%lld", kind, (long long)n);
    double *one = new_array((size_t)(n * n), sizeof *one), *rhs = new_array((size_t)n, sizeof *rhs);
    const shoal_smallsym_opts single = { .n = n, .count = 1, .nrhs = 1 };
    for (int64_t k = 0; k < COUNT; k += 4) {
        CHECK(shoal_smallsym_generate(targets[0].ctx, kind, NAN, 3, k, &single, one, rhs) == 0);
        CHECK_MSG(same_all(one, p.a + k * n * n, n * n), "%s k=%lld", kind, (long long)k);
        for (int64_t i = 0; i < n; i++) CHECK(same(rhs[i], p.b[(k * n + i) * RHS]));
    }
    free(a), free(b), free(made_a), free(made_b), free(one), free(rhs);
    free_batch(&p);
    free_batch(&q);
}

TEST(numbers_depend_on_the_system_alone) {
    const how hows[] = { { .triangle = SHOAL_UPPER, .wider = 2, .apart = 3 },
                         { .storage = SHOAL_PACKED },
                         { .storage = SHOAL_PACKED, .triangle = SHOAL_UPPER },
                         { .layout = SHOAL_INTERLEAVED, .wider = 1 },
                         { .layout = SHOAL_INTERLEAVED, .storage = SHOAL_PACKED },
                         { .layout = SHOAL_INTERLEAVED, .triangle = SHOAL_UPPER } };
    for (int i = 0; shoal_smallsym_kind(i); i++) {
        CHECK(shoal_smallsym_kind_text(i) && *shoal_smallsym_kind_text(i));
        for (int64_t n = 0; n < 8; n++) storage_case(shoal_smallsym_kind(i), n, hows[(n + i) % 6]);
    }
    CHECK(shoal_smallsym_kind(-1) == NULL && shoal_smallsym_kind_text(-1) == NULL);
    CHECK(shoal_smallsym_kind(100) == NULL && shoal_smallsym_kind_text(100) == NULL);
}

/* Threads and groups change nothing, and another seed or system does. */
/* Each right-hand side has numbers of its own, from -1 to 1. */
TEST(right_hand_sides_differ) {
    enum { ORDER = 9, SIDES = 7, ALL = ORDER * SIDES };
    static double a[ORDER * ORDER], b[ALL];
    const shoal_smallsym_opts o = { .n = ORDER, .count = 1, .nrhs = SIDES };
    CHECK(shoal_smallsym_generate(targets[0].ctx, "spd", 0.5, 3, 0, &o, a, b) == SHOAL_OK);
    for (int i = 0; i < ALL; i++) {
        CHECK_MSG(b[i] >= -1 && b[i] <= 1 && b[i] != 0, "%d: %g", i, b[i]);
        for (int j = 0; j < i; j++) CHECK_MSG(b[i] != b[j], "%d and %d are %g", i, j, b[i]);
    }
}

TEST(numbers_depend_on_nothing_else) {
    const shoal_group groups[] = { { 4, 3 }, { 0, 2 }, { 6, 5 } };
    for (int i = 0; shoal_smallsym_kind(i); i++) {
        const char *kind = shoal_smallsym_kind(i);
        double a[2][5 * 36 + 3 * 16], b[2][5 * 6 + 3 * 4], other[36], rhs[6];
        const shoal_smallsym_opts all = { .nrhs = 1, .groups = groups, .group_count = 3 };
        const shoal_smallsym_opts one = { .n = 6, .count = 1, .nrhs = 1 };
        for (int threads = 1; threads < 4; threads += 2) {
            shoal_context *ctx;
            CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = threads }, &ctx) == 0);
            CHECK(shoal_smallsym_generate(ctx, kind, NAN, 9, 20, &all, a[threads / 2],
                                          b[threads / 2]) == SHOAL_OK);
            shoal_close(ctx);
        }
        CHECK_MSG(same_all(a[0], a[1], 5 * 36 + 3 * 16) && same_all(b[0], b[1], 42), "%s", kind);
        /* the first of n = 6 is system 20 + 3 + 2 */
        CHECK(shoal_smallsym_generate(targets[0].ctx, kind, NAN, 9, 25, &one, other, rhs) == 0);
        CHECK_MSG(same_all(other, a[0] + 48, 36) && same_all(rhs, b[0] + 12, 6), "%s", kind);
        CHECK_MSG(!same_all(other, a[0] + 84, 36), "%s: two systems are one", kind);
        CHECK(shoal_smallsym_generate(targets[0].ctx, kind, NAN, 10, 25, &one, other, rhs) == 0);
        CHECK_MSG(!same_all(other, a[0] + 48, 36), "%s: two seeds are one", kind);
    }
}

/* ---- properties ------------------------------------------------------------------------------- */

/* Figure 2 of the paper. An independent 1000 draws had conditions from 7.7e5 to 1.32e6, with median
 * 1.02e6. That is the range of a sample: of others 2.7 in 1000 lie outside (ten samples), and 10 are
 * four standard deviations more. */
TEST(regression_matrices_have_the_conditions_of_the_paper) {
    enum { COUNT = 1000 };
    double w[N], *condition = new_array(COUNT, sizeof *condition);
    batch p = generate_by("regression", NAN, N, COUNT);
    int outside = 0;
    for (int64_t k = 0; k < COUNT; k++) {
        condition[k] = condition_of(&p, k, w);
        CHECK(p.a[k * N * N] == 1 || fabs(p.a[k * N * N] - 1) < 1e-13); /* psi_0 psi_0 */
        CHECK_MSG(w[0] < 1e-5 * w[N - 1] && w[1] >= 1e-5 * w[N - 1], "rank of system %lld",
                  (long long)k); /* truncation at 1e5 leaves 29 */
        outside += condition[k] < 7.7e5 || condition[k] > 1.32e6;
    }
    qsort(condition, COUNT, sizeof *condition, ascending);
    printf("note  conditions %.4g to %.4g, median %.4g\n", condition[0], condition[COUNT - 1],
           condition[COUNT / 2]);
    CHECK_MSG(outside <= 10, "%d outside", outside);
    CHECK_MSG(condition[0] >= 7e5 && condition[COUNT - 1] <= 1.5e6, "%g to %g", condition[0],
              condition[COUNT - 1]);
    CHECK_MSG(fabs(condition[COUNT / 2] - 1.02e6) <= 0.02e6, "median %g", condition[COUNT / 2]);
    free_batch(&p);
    p = generate_by("centred", NAN, N, COUNT);
    for (int64_t k = 0; k < COUNT; k++) condition[k] = condition_of(&p, k, w);
    qsort(condition, COUNT, sizeof *condition, ascending);
    printf("note  centred: %.4g to %.4g, median %.4g\n", condition[0], condition[COUNT - 1],
           condition[COUNT / 2]);
    CHECK_MSG(fabs(condition[COUNT / 2] - 3.4) <= 0.2, "median %g", condition[COUNT / 2]);
    free_batch(&p);
    free(condition);
}

/* b is the projection of the payoff: with all paths in the money, x fits K - mean exactly. */
TEST(regression_right_hand_sides_are_those_of_a_put) {
    enum { ASSETS = 3, M = ASSETS + 1, RHS = 41 }; /* the last strike is 3: always in the money */
    double a[M * M], b[M * RHS];
    const shoal_smallsym_opts shape = { .n = M, .count = 1, .nrhs = RHS };
    CHECK(shoal_smallsym_generate(targets[0].ctx, "regression", NAN, 1, 0, &shape, a, b) == 0);
    for (int i = 0; i < M; i++) { /* A (3, -1/3, ..) = b */
        double sum = 0;
        for (int j = 0; j < M; j++) sum += matrix_entry(a, M, i, j) * (j ? -1.0 / ASSETS : 3.0);
        CHECK_MSG(fabs(sum - b[i * RHS + RHS - 1]) < 1e-13, "row %d: %g", i, sum);
        CHECK(b[i * RHS] > 0 && b[i * RHS] < 0.1); /* at the money, a few percent */
    }
}

TEST(definite_kinds_are_well_conditioned) {
    for (int64_t n = 1; n <= 64; n += 7) {
        double w[64];
        batch p = generate_by("spd", NAN, n, 20), q = generate_by("wishart", NAN, n, 20);
        batch r = generate_by("wishart", 2, n, 20), s = generate_by("spd", 0.9, n, 20);
        for (int64_t k = 0; k < 20; k++) {
            const double condition = condition_of(&p, k, w);
            CHECK_MSG(w[0] > 0.25 && w[n - 1] < 5.25 && condition < 21, "n=%lld", (long long)n);
            condition_of(&q, k, w);
            CHECK_MSG(w[0] >= 0.1 - 1e-14, "n=%lld: %g", (long long)n, w[0]);
            condition_of(&r, k, w);
            CHECK_MSG(w[0] >= 2 - 1e-14, "n=%lld: %g", (long long)n, w[0]);
        }
        CHECK(same_all(p.a, s.a, 20 * n * n)); /* Q is the same for every rho */
        free_batch(&p), free_batch(&q), free_batch(&r), free_batch(&s);
    }
}

/* Tridiagonalised by the Q of Xi_rho, computed here by Householder's method on Xi_rho itself, A is
 * the tridiagonal R again. */
TEST(the_family_of_the_paper_is_made_by_xi) {
    enum { M = 7 };
    double xi[M], v[M] = { 0 }, q[M][M], t[M][M], size = 0;
    batch p = generate_by("indefinite", 0.3, M, 5);
    for (int i = 0; i < M - 1; i++) xi[i] = 0.3; /* the last row of Xi, left of the diagonal */
    double norm = 0;
    for (int i = 0; i < M - 1; i++) norm += xi[i] * xi[i];
    for (int i = 0; i < M - 1; i++) v[i] = xi[i] + (i == M - 2 ? sqrt(norm) : 0);
    for (int i = 0; i < M; i++) size += v[i] * v[i];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) q[i][j] = (i == j) - 2 * v[i] * v[j] / size;
    for (int64_t k = 0; k < 5; k++) {
        for (int pass = 0; pass < 2; pass++) { /* t = A Q, then Q A Q */
            double u[M][M];
            for (int i = 0; i < M; i++)
                for (int j = 0; j < M; j++) {
                    u[i][j] = 0;
                    for (int l = 0; l < M; l++)
                        u[i][j] += pass ? q[i][l] * t[l][j] : entry(&p, k, i, l) * q[l][j];
                }
            memcpy(t, u, sizeof t);
        }
        int dominant = 0;
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < M; j++)
                CHECK_MSG(abs(i - j) < 2 ? fabs(t[i][j]) < 1 : fabs(t[i][j]) < 1e-14, "%d %d: %g",
                          i, j, t[i][j]);
            dominant +=
                fabs(t[i][i]) > (i ? fabs(t[i][i - 1]) : 0) + (i < 6 ? fabs(t[i][i + 1]) : 0);
        }
        CHECK_MSG(dominant < M, "system %lld is dominant", (long long)k);
    }
    free_batch(&p);
}

TEST(spectra_are_what_they_say) {
    for (int64_t n = 1; n <= 64; n += 9) {
        double w[64];
        batch c = generate_by("clustered", NAN, n, 5), s = generate_by("spectrum", 1e6, n, 5),
              d = generate_by("deficient", NAN, n, 5), k = generate_by("kkt", NAN, n, 5);
        const int64_t missing = n / 4 > 1 ? n / 4 : 1, clusters = n < 4 ? n : 4;
        for (int64_t m = 0; m < 5; m++) {
            eigenvalues(c.a + m * n * n, n, w);
            int64_t jumps = 0;
            for (int64_t i = 1; i < n; i++) {
                jumps += w[i] > 2 * w[i - 1];
                CHECK(w[i] > 2 * w[i - 1] || w[i] < w[i - 1] * (1 + 1e-8));
            }
            CHECK_MSG(jumps == clusters - 1, "n=%lld: %lld jumps", (long long)n, (long long)jumps);
            CHECK(n == 1 || fabs(w[n - 1] / w[0] / 1e3 - 1) < 1e-8);
            eigenvalues(s.a + m * n * n, n, w);
            for (int64_t i = 0; i < n && n > 1; i++)
                CHECK_MSG(fabs(w[i] - pow(1e6, (double)i / (double)(n - 1) - 1)) < 1e-13, "%g",
                          w[i]);
            eigenvalues(d.a + m * n * n, n, w);
            for (int64_t i = 0; i < n; i++)
                CHECK_MSG(i < missing ? fabs(w[i]) < 1e-14 : w[i] > 0.49 && w[i] < 1.51,
                          "n=%lld: %g", (long long)n, w[i]);
            eigenvalues(k.a + m * n * n, n, w);
            for (int64_t i = 0; i < n; i++)
                CHECK_MSG(i < n / 3 ? w[i] < -1e-3 : w[i] > 1e-3, "kkt n=%lld: %g", (long long)n,
                          w[i]);
            for (int64_t i = n - n / 3; i < n; i++)
                for (int64_t j = n - n / 3; j <= i; j++) CHECK(entry(&k, m, i, j) == 0);
        }
        free_batch(&c), free_batch(&s), free_batch(&d), free_batch(&k);
    }
}

TEST(hilbert_matrices_are_scaled_by_powers_of_two) {
    batch p = generate_by("hilbert", NAN, 9, 10);
    for (int64_t k = 0; k < 10; k++)
        for (int64_t i = 0; i < 9; i++)
            for (int64_t j = 0; j <= i; j++) {
                int power;
                const double times = entry(&p, k, i, j) * (double)(i + j + 1);
                CHECK(fabs(frexp(times * (1 + 1e-15), &power) - 0.5) < 1e-14);
                CHECK_MSG(power >= -1 && power <= 3, "2^%d", power - 1);
            }
    free_batch(&p);
}

TEST(faults_are_where_they_should_be) {
    batch p = generate("singular", 6, 70, 1, SHOAL_F64),
          q = generate("nonfinite", 5, 110, 1, SHOAL_F64);
    int in_b = 0;
    for (int64_t k = 0; k < 70; k++) {
        int zeros = 0;
        for (int64_t i = 0; i < 6; i++) {
            int zero = 1;
            for (int64_t j = 0; j < 6; j++) zero &= entry(&p, k, i, j) == 0;
            zeros += zero;
        }
        CHECK_MSG(zeros == (k % 7 == 6), "system %lld has %d", (long long)k, zeros);
    }
    for (int64_t k = 0; k < 110; k++) {
        int bad = 0;
        for (int64_t i = 0; i < 5; i++) {
            for (int64_t j = 0; j <= i; j++) bad += !isfinite(entry(&q, k, i, j));
            in_b += !isfinite(q.b[k * 5 + i]);
            bad += !isfinite(q.b[k * 5 + i]);
        }
        CHECK_MSG(bad == (k % 11 == 10), "system %lld has %d", (long long)k, bad);
    }
    CHECK_MSG(in_b > 0 && in_b < 10, "%d of 10 in b", in_b);
    free_batch(&p);
    free_batch(&q);
    for (int type = 0; type < 2; type++) {
        p = generate("huge", 4, 50, 1, type), q = generate("tiny", 4, 50, 1, type);
        for (int64_t k = 0; k < 50; k++) {
            const int up = ilogb(entry(&p, k, 0, 0)), down = ilogb(entry(&q, k, 0, 0));
            CHECK_MSG(abs(up - 100) <= 7 && abs(down + 130) <= 7, "2^%d, 2^%d", up, down);
        }
        free_batch(&p);
        free_batch(&q);
    }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(numbers_depend_on_the_system_alone);
    RUN(right_hand_sides_differ);
    RUN(numbers_depend_on_nothing_else);
    RUN(regression_matrices_have_the_conditions_of_the_paper);
    RUN(regression_right_hand_sides_are_those_of_a_put);
    RUN(definite_kinds_are_well_conditioned);
    RUN(the_family_of_the_paper_is_made_by_xi);
    RUN(spectra_are_what_they_say);
    RUN(hilbert_matrices_are_scaled_by_powers_of_two);
    RUN(faults_are_where_they_should_be);
    close_targets();
    return TEST_END();
}
