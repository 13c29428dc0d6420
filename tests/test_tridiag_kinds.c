/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_kinds.c - the test systems of the g-Spike paper: numbers depend on the system alone,
 * b is A x, and the matrices of Table A.1 have the entries, singular values and condition they
 * promise. Its singular blocks: test_tridiag_implants.c.
 */
#include "tridiag_singular.h"

/* ---- the same numbers however they are asked for ---------------------------------------------- */

/* Three systems at once, or one by one, with one right-hand side, by one thread, as floats across
 * each other. */
static void storage_case(const char *kind, int64_t n, shoal_context *alone) {
    enum { COUNT = 3, RHS = 3 };
    shoal_tridiag_opts all = { .n = n, .count = COUNT, .nrhs = RHS },
                       one = { .n = n, .count = 1, .nrhs = 1 };
    batch p = new_batch(n, COUNT, RHS, SHOAL_F64), q = new_batch(n, 1, 1, SHOAL_F64);
    const size_t rows = (size_t)(n * COUNT);
    double *x = new_array(rows * RHS, sizeof *x), *y = new_array((size_t)n, sizeof *y);
    float *f = new_array(rows * (3 + 2 * RHS), sizeof *f), *b = f + 3 * rows, *z = b + rows * RHS;
    shoal_context *ctx = targets[0].ctx;
    CHECK_MSG(shoal_tridiag_generate(ctx, kind, 3, 4, &all, p.dl, p.d, p.du, p.b) == SHOAL_OK, "%s",
              shoal_message(ctx));
    CHECK(shoal_tridiag_exact(ctx, kind, 3, 4, &all, x) == SHOAL_OK);
    all.layout = SHOAL_INTERLEAVED;
    CHECK(shoal_tridiag_generatef(ctx, kind, 3, 4, &all, f, f + rows, f + 2 * rows, b) == SHOAL_OK);
    CHECK(shoal_tridiag_exactf(ctx, kind, 3, 4, &all, z) == SHOAL_OK);
    int equal = 1;
    CHECK_MSG(x[0] != x[n * RHS], "%s n=%lld: x of two systems", kind, (long long)n);
    for (int64_t k = 0; k < COUNT; k++) {
        CHECK(shoal_tridiag_generate(alone, kind, 3, 4 + k, &one, q.dl, q.d, q.du, q.b) ==
              SHOAL_OK);
        CHECK(shoal_tridiag_exact(alone, kind, 3, 4 + k, &one, y) == SHOAL_OK);
        CHECK_MSG(isnan(q.dl[0]) && isnan(q.du[n - 1]), "%s", kind);
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = k * n + i, across = i * COUNT + k;
            equal &= same(q.dl[i], p.dl[at]) && same(q.d[i], p.d[at]) && same(q.du[i], p.du[at]) &&
                     same(q.b[i], p.b[at * RHS]) && same(y[i], x[at * RHS]);
            equal &=
                same((float)p.dl[at], f[across]) && same((float)p.d[at], f[(int64_t)rows + across]);
            equal &= same((float)p.du[at], f[2 * (int64_t)rows + across]);
            for (int64_t j = 0; j < RHS; j++)
                equal &= same((float)p.b[at * RHS + j], b[across * RHS + j]) &&
                         same((float)x[at * RHS + j], z[across * RHS + j]);
        }
    }
    CHECK_MSG(equal, "%s n=%lld", kind, (long long)n);
    free(x), free(y), free(f);
    free_batch(&p);
    free_batch(&q);
}

TEST(numbers_depend_on_the_system_alone) {
    shoal_context *alone;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &alone) == SHOAL_OK);
    for (int i = first_kind(); shoal_tridiag_kind(i); i++) {
        storage_case(shoal_tridiag_kind(i), 1, alone);
        storage_case(shoal_tridiag_kind(i), 2, alone);
        storage_case(shoal_tridiag_kind(i), 337, alone);
        storage_case(shoal_tridiag_kind(i), 4097, alone); /* two pieces */
    }
    storage_case("block1:400:31:17", 9000, alone); /* blocks across the border of two pieces */
    shoal_close(alone);
}

/* A rule that knows nothing of n gives the same rows for any n. */
TEST(rows_do_not_depend_on_n) {
    const char *const kinds[] = { "spike1", "spike2", "spike3", "spike5", "spike12", "spike20" };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        batch p = one_system(kinds[k], 9000), q = one_system(kinds[k], 50);
        CHECK(same_all(p.dl, q.dl, 50) && same_all(p.d, q.d, 50) && same_all(p.du, q.du, 49));
        CHECK(same_all(p.b, q.b, 49));
        free_batch(&p);
        free_batch(&q);
    }
}

/* ---- the right-hand side ---------------------------------------------------------------------- */

TEST(d_is_a_x_rounded_once) {
    const int64_t n = 4100;
    const shoal_tridiag_opts shape = { .n = n, .count = 1, .nrhs = 1 };
    double *x = new_array((size_t)n, sizeof *x);
    for (int k = first_kind(); shoal_tridiag_kind(k); k++) {
        const char *kind = shoal_tridiag_kind(k);
        batch p = one_system(kind, n);
        CHECK(shoal_tridiag_exact(targets[0].ctx, kind, SEED, 0, &shape, x) == SHOAL_OK);
        double worst = 0;
        for (int64_t i = 0; i < n; i++) {
            const wide left = i > 0 ? dl_of(&p, i) * (wide)x[i - 1] : 0;
            const wide middle = d_of(&p, i) * (wide)x[i];
            const wide right = i + 1 < n ? du_of(&p, i) * (wide)x[i + 1] : 0;
            const wide error = fabsl(left + middle + right - (wide)p.b[i]);
            const wide terms = fabsl(left) + fabsl(middle) + fabsl(right);
            const wide allowed = DBL_EPSILON / 2 * fabsl((wide)p.b[i]) + 8 * LDBL_EPSILON * terms;
            worst = fmax(worst, (double)(error / allowed));
        }
        CHECK_MSG(worst <= 1, "%s: %.3g", kind, worst);
        free_batch(&p);
    }
    free(x);
}

TEST(x_is_standard_normal) {
    enum { N = 100000 };
    const shoal_tridiag_opts shape = { .n = N, .count = 1, .nrhs = 2 };
    double *x = new_array(2 * N, sizeof *x), sum[2] = { 0 }, squares[2] = { 0 }, mixed = 0;
    CHECK(shoal_tridiag_exact(targets[0].ctx, "spike18", 1, 0, &shape, x) == SHOAL_OK);
    for (int i = 0; i < 2 * N; i++) sum[i % 2] += x[i], squares[i % 2] += x[i] * x[i];
    for (int i = 0; i < N; i++) mixed += x[2 * i] * x[2 * i + 1];
    for (int j = 0; j < 2; j++) { /* five standard errors */
        CHECK_MSG(fabs(sum[j]) < 5 * sqrt(N), "mean %g", sum[j] / N);
        CHECK_MSG(fabs(squares[j] / N - 1) < 5 * sqrt(2.0 / N), "variance %g", squares[j] / N);
    }
    CHECK_MSG(fabs(mixed) < 5 * sqrt(N), "correlation %g", mixed / N);
    free(x);
}

/* ---- the collection, Table A.1 ---------------------------------------------------------------- */

static void check_entries(const char *kind, int64_t n, const double *dl, const double *d,
                          const double *du) {
    batch p = one_system(kind, n);
    int equal = 1;
    for (int64_t i = 0; i < n; i++) {
        equal &= p.d[i] == d[i];
        equal &= i == 0 || p.dl[i] == dl[i];
        equal &= i == n - 1 || p.du[i] == du[i];
    }
    CHECK_MSG(equal, "%s", kind);
    free_batch(&p);
}

static void check_constant(const char *kind, double dl, double d, double du) {
    double v[3][5];
    for (int i = 0; i < 5; i++) v[0][i] = dl, v[1][i] = d, v[2][i] = du;
    check_entries(kind, 5, v[0], v[1], v[2]);
}

TEST(fixed_entries) {
    check_entries("spike3", 3, (double[]){ 0, 1.0 / 2, 1.0 / 3 }, (double[]){ -5, -7, -9 },
                  (double[]){ 2, 3, 0 });
    check_entries("spike7", 1, (double[]){ 0 }, (double[]){ 1 }, (double[]){ 0 });
    check_entries("spike7", 3, (double[]){ 0, -0.5 / 0.75, -0.5 / 0.75 },
                  (double[]){ 1 / 0.75, 1.25 / 0.75, 1 / 0.75 },
                  (double[]){ -0.5 / 0.75, -0.5 / 0.75, 0 });
    check_constant("spike16", 1, 1e-8, 1);
    check_constant("spike17", 1, 1e8, 1);
    check_constant("spike18", -1, 4, -1);
    check_constant("spike19", -1, 4, 1);
    check_entries("fig1", 5, (double[]){ 0, 1, 1, 1, 1 }, (double[]){ -1, -2, -1, -1, -1 },
                  (double[]){ 1, 1, 1, 1, 0 });
    /* dorr(4, 1e-4): h = 1/5, theta / h^2 = 0.0025, (0.5 - i h) / h = 1.5, 0.5, -0.5, -1.5 */
    const double dl[] = { 0, -0.0025, -0.5025, -1.5025 }, du[] = { -1.5025, -0.5025, -0.0025, 0 };
    const double d[] = { 1.505, 0.505, 0.505, 1.505 };
    batch p = one_system("spike13", 4);
    for (int i = 0; i < 4; i++) {
        CHECK(fabs(p.d[i] - d[i]) < 1e-14);
        CHECK((i == 0 || fabs(p.dl[i] - dl[i]) < 1e-14) &&
              (i == 3 || fabs(p.du[i] - du[i]) < 1e-14));
    }
    free_batch(&p);
}

/* #4, #5, #12, #14, #15, #20 are #1 but for what they change. */
TEST(random_entries) {
    enum { N = 4096 };
    batch p = one_system("spike1", N);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        const double v[] = { i ? p.dl[i] : 0, p.d[i], i + 1 < N ? p.du[i] : 0 };
        for (int j = 0; j < 3; j++) {
            CHECK(fabs(v[j]) < 1);
            sum += v[j], squares += v[j] * v[j];
        }
    }
    CHECK(fabs(sum) < 5 * sqrt(N) && fabs(squares / (3 * N) - 1.0 / 3) < 5 * 0.3 / sqrt(3 * N));
    const char *const kinds[] = { "spike4", "spike5", "spike12", "spike14", "spike15", "spike20" };
    for (int k = 0; k < 6; k++) {
        batch q = one_system(kinds[k], N);
        int zeros = 0, good = 1;
        for (int i = 0; i < N; i++) {
            const double dl = i ? p.dl[i] : 0, du = i + 1 < N ? p.du[i] : 0;
            const double q_dl = i ? q.dl[i] : 0, q_du = i + 1 < N ? q.du[i] : 0;
            good &= k == 0   ? q_dl == (i == N / 2 ? dl * 1e-50 : dl)
                    : k == 1 ? q_dl == 0 || q_dl == dl
                    : k == 2 ? q_dl == dl * 1e-50
                    : k == 5 ? i == 0 || q_dl == -1
                             : q_dl == dl;
            good &= q_du == du || (k == 1 && q_du == 0);
            good &= q.d[i] == (k == 3 ? 1e-8 : k == 4 ? 0 : k == 5 ? 4 : p.d[i]);
            zeros += (i > 0 && q_dl == 0) + (i + 1 < N && q_du == 0);
        }
        CHECK_MSG(good, "%s", kinds[k]);
        CHECK_MSG(k == 1 ? abs(zeros - N) < 5 * 45 : zeros == 0, "%s: %d", kinds[k], zeros);
        free_batch(&q);
    }
    free_batch(&p);
}

/* #21: P_nu(cos t) = sum_k g_k g_(nu-k) cos((nu - 2k) t), g_k = binomial(2k, k) / 4^k. */
TEST(legendre_coefficients_solve_their_system) {
    enum { N = 20, NU = 2 * N + 1 };
    wide g[NU + 1] = { 1 }, x[N + 1];
    for (int k = 1; k <= NU; k++) g[k] = g[k - 1] * (2 * k - 1) / (2 * k);
    for (int i = 0; i <= N; i++) x[i] = g[N - i] * g[N + 1 + i]; /* j = 2i + 1 = nu - 2 (N - i) */
    batch p = one_system("spike21", N);
    for (int i = 0; i < N; i++) {
        const wide last = (2 * N) * (2 * N + 1) - NU * (NU + 1);
        const wide left = i ? dl_of(&p, i) * x[i - 1] : 0, middle = d_of(&p, i) * x[i];
        const wide right = (i + 1 < N ? du_of(&p, i) : last) * x[i + 1];
        CHECK(fabsl(left + middle + right) < 1e-16L * (fabsl(left) + fabsl(middle) + fabsl(right)));
    }
    free_batch(&p);
}

/* Condition numbers: at n = 4096 those of the paper's Table 2, but for #21, where ours is another
 * normalisation. */
TEST(condition_numbers) {
    if (!wide_enough) SKIP("long double is no wider than double");
    static const struct {
        const char *kind;
        double at512, at4096, relative; /* tolerance */
    } known[] = {
        { "spike2", 1, 1, 1e-7 },          { "spike3", 352.05, 2844.1, 1e-4 },
        { "spike7", 9, 9, 2e-4 },          { "spike16", 326.58, 2608.2, 1e-4 },
        { "spike17", 1, 1, 1e-7 },         { "spike18", 3, 3, 1e-4 },
        { "spike19", 1.118, 1.118, 1e-4 }, { "spike21", 1.02926e6, 6.805e7, 1e-4 },
        { "spike8", 1e15, 1e15, 0.01 },    { "spike9", 1e15, 1e15, 0.01 },
        { "spike10", 1e15, 1e15, 0.01 },   { "spike11", 1e15, 1e15, 0.01 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double small_one = condition_of(known[i].kind, 512);
        const double large_one = condition_of(known[i].kind, 4096);
        CHECK_MSG(fabs(small_one / known[i].at512 - 1) < known[i].relative, "%s at 512: %.6g",
                  known[i].kind, small_one);
        CHECK_MSG(fabs(large_one / known[i].at4096 - 1) < known[i].relative, "%s at 4096: %.6g",
                  known[i].kind, large_one);
    }
}

/* Those of random matrices, the paper's draw being one: 9.21e3, 1.03e4, 5.51e5, 2.47. Where the
 * paper has 1e16 and more, double has no smaller singular values to offer. */
TEST(condition_numbers_at_random) {
    if (!wide_enough) SKIP("long double is no wider than double");
    static const struct {
        const char *kind;
        double least, most;
    } range[] = { { "spike1", 9.21e2, 9.21e4 },  { "spike4", 1.03e3, 1.03e5 },
                  { "spike5", 5.51e3, 5.51e7 },  { "spike12", 1e15, INFINITY },
                  { "spike13", 1e15, INFINITY }, { "spike14", 1e15, INFINITY },
                  { "spike15", 1e15, INFINITY }, { "spike20", 2.2, 2.7 } };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        const double kappa = condition_of(range[i].kind, 4096);
        CHECK_MSG(kappa > range[i].least && kappa < range[i].most, "%s: %.3g", range[i].kind,
                  kappa);
    }
    for (int k = 0; k < 5; k++) { /* #6: |64 + l z + u / z| on the unit circle */
        batch p = new_batch(512, 1, 1, SHOAL_F64);
        const shoal_tridiag_opts shape = { .n = 512, .count = 1, .nrhs = 1 };
        CHECK(shoal_tridiag_generate(targets[0].ctx, "spike6", 3, k, &shape, p.dl, p.d, p.du,
                                     p.b) == SHOAL_OK);
        const double l = p.dl[1], u = p.du[0];
        double least = INFINITY, most = 0;
        for (int i = 0; i <= 1000; i++) {
            const double t = i * 3.14159265358979 / 1000,
                         value = hypot(64 + (l + u) * cos(t), (u - l) * sin(t));
            least = fmin(least, value), most = fmax(most, value);
        }
        for (int i = 1; i < 512; i++) CHECK(p.dl[i] == l && p.d[i] == 64 && p.du[i - 1] == u);
        CHECK_MSG(fabs(condition(&p) / (most / least) - 1) < 1e-5, "%g %g: %.8g", l, u,
                  condition(&p));
        free_batch(&p);
    }
}

/* As many singular values on each side of a limit as the law of the kind has, also where the
 * matrix is a direct sum. */
static void spectrum_case(const char *kind, int64_t n, wide (*law)(wide), wide limit) {
    batch p = one_system(kind, n);
    int64_t below = 0;
    wide squares = 0, frobenius = 0;
    for (int64_t k = 0; k < n; k++) {
        const wide sigma = law((wide)k / (wide)(n - 1));
        below += sigma < limit;
        squares += sigma * sigma;
        frobenius +=
            dl_of(&p, k) * dl_of(&p, k) + d_of(&p, k) * d_of(&p, k) + du_of(&p, k) * du_of(&p, k);
    }
    CHECK_MSG(count_below(&p, limit) == below, "%s n=%lld: %lld below %Lg, not %lld", kind,
              (long long)n, (long long)count_below(&p, limit), limit, (long long)below);
    CHECK_MSG(fabsl(frobenius / squares - 1) < 1e-12L, "%s n=%lld", kind, (long long)n);
    free_batch(&p);
}

static wide law_of_8(wide share) { return share == 1 ? 1e-15L : 1; }
static wide law_of_9(wide share) { return powl(1e-15L, share); }
static wide law_of_10(wide share) { return share == 0 ? 1 : 1e-15L; }
static wide law_of_11(wide share) { return 1 - share * (1 - 1e-15L); }

TEST(singular_values_are_those_of_randsvd) {
    if (!wide_enough) SKIP("long double is no wider than double");
    const int64_t sizes[] = { 2, 3, 100, 4096, 5003 };
    for (int i = 0; i < 5; i++) {
        spectrum_case("spike8", sizes[i], law_of_8, 0.5L);
        spectrum_case("spike10", sizes[i], law_of_10, 0.5L);
        spectrum_case("spike9", sizes[i], law_of_9, 0.7123L);
        spectrum_case("spike9", sizes[i], law_of_9, 0.00123L);
        spectrum_case("spike11", sizes[i], law_of_11, 0.7123L);
        spectrum_case("spike11", sizes[i], law_of_11, 0.0123456L);
    }
    const char *const kinds[] = { "spike8", "spike9", "spike10", "spike11" };
    for (int i = 0; i < 4; i++) {
        const double kappa = condition_of(kinds[i], 5003);
        CHECK_MSG(fabs(kappa / 1e15 - 1) < 0.01, "%s: %.6g", kinds[i], kappa);
    }
}

/* ---- words ------------------------------------------------------------------------------------ */

TEST(bad_values_are_named) {
    shoal_context *ctx = targets[0].ctx;
    const shoal_tridiag_opts shape = { .n = 2, .count = 1, .nrhs = 1 };
    double v[2];
    static const struct {
        const char *kind, *says;
    } bad[] = { { "block18:", "'block18:': value 1, singular blocks" },
                { "block18:-1", "value 1" },
                { "block18:1.5", "value 1" },
                { "block18:99999999999999999999", "value 1" },
                { "block18:1:", "value 2, rows of a block" },
                { "hidden1:1:3", "from 4 to 256" },
                { "hidden1:1:257", "from 4 to 256" },
                { "inner1:1:32:x", "value 3, rows before the first block" },
                { "inner1:1:32:0:0", "more than three values" },
                { "spike1:3", "spike1 takes no value" },
                { "dominant:3", "dominant takes no value" },
                { "spike22", "no kind 'spike22'" },
                { "block:3", "no kind 'block:3'" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(shoal_tridiag_generate(ctx, bad[i].kind, 0, 0, &shape, v, v, v, v) == SHOAL_E_ARG);
        CHECK_MSG(strstr(shoal_message(ctx), bad[i].says), "%s", shoal_message(ctx));
        CHECK(shoal_tridiag_exact(ctx, bad[i].kind, 0, 0, &shape, v) == SHOAL_E_ARG);
    }
}

TEST(exact_refuses_bad_arguments) {
    shoal_context *ctx = targets[0].ctx;
    const shoal_tridiag_opts shape = { .n = 2, .count = 1, .nrhs = 1 }, empty = { .nrhs = 1 };
    double v[2];
    CHECK(shoal_tridiag_exact(ctx, "dominant", 0, 0, &shape, v) == SHOAL_E_ARG);
    CHECK_MSG(strstr(shoal_message(ctx), "x is not known"), "%s", shoal_message(ctx));
    CHECK(shoal_tridiag_exact(ctx, NULL, 0, 0, &shape, v) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_exact(ctx, "spike1", 0, -1, &shape, v) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_exact(ctx, "spike1", 0, 0, NULL, v) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_exact(ctx, "spike1", 0, 0, &shape, NULL) == SHOAL_E_ARG);
    CHECK_MSG(strstr(shoal_message(ctx), "x is NULL"), "%s", shoal_message(ctx));
    CHECK(shoal_tridiag_exactf(ctx, "spike1", 0, 0, &shape, NULL) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_exact(NULL, "spike1", 0, 0, &shape, v) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_exact(ctx, "spike1", 0, 0, &empty, NULL) == SHOAL_OK);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(numbers_depend_on_the_system_alone);
    RUN(rows_do_not_depend_on_n);
    RUN(d_is_a_x_rounded_once);
    RUN(x_is_standard_normal);
    RUN(fixed_entries);
    RUN(random_entries);
    RUN(legendre_coefficients_solve_their_system);
    RUN(condition_numbers);
    RUN(condition_numbers_at_random);
    RUN(singular_values_are_those_of_randsvd);
    RUN(bad_values_are_named);
    RUN(exact_refuses_bad_arguments);
    close_targets();
    return TEST_END();
}
