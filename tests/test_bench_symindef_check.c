/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_symindef_check.c - the checks that judge factors of dense symmetric matrices on the bench, by
 * vectors and by whole products, and the forms that peers' factors have. On the host alone.
 */
#include "test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "bench/symindef.h"
#include "bench/symindef_errors.h"

/* M = [1; . 1; 2 -1 1; 0 1 1/2 1] with D = diag([1 3; 3 1], -2, 4), rows 2 0 1 3 of A. */
typedef struct example {
    double m[16], a[16], whole[16];
    int32_t interchanges[4], permutation[4];
    shoal_symindef_info info;
    bench_factors factors;
} example;

static void example_make(example *x, bench_triangle t) {
    static const double M[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 2, -1, 1, 0, 0, 1, 0.5, 1 };
    static const double D[16] = { 1, 3, 0, 0, 3, 1, 0, 0, 0, 0, -2, 0, 0, 0, 0, 4 };
    static const int32_t interchanges[4] = { 3, -3, 3, 4 }, permutation[4] = { 2, 0, 1, 3 };
    *x = (example){ .info = { .eliminated = 4, .inertia = { 2, 2, 0 }, .max_multiplier = 2 } };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < 4; l++) sum += M[i * 4 + k] * D[k * 4 + l] * M[j * 4 + l];
            x->whole[permutation[i] * 4 + permutation[j]] = sum;
        }
    for (int at = 0; at < 16; at++) x->a[at] = NAN;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            x->a[bench_triangle_at(&t, i, j)] =
                D[i * 4 + j] != 0 || i == j ? D[i * 4 + j] : M[i * 4 + j];
    memcpy(x->interchanges, interchanges, sizeof interchanges);
    memcpy(x->permutation, permutation, sizeof permutation);
    x->factors = (bench_factors){ .type = SHOAL_F64,
                                  .n = 4,
                                  .whole = x->whole,
                                  .triangle = t,
                                  .numbers = x->a,
                                  .interchanges = x->interchanges,
                                  .permutation = x->permutation,
                                  .bound = 2.5,
                                  .info = &x->info,
                                  .threads = 2 };
}

TEST(check_sees_wrong_factors) {
    example x;
    bench_check check;
    for (int form = 0; form < 4; form++) {
        const bench_triangle t = { .n = 4, .packed = form & 1, .upper = form & 2 };
        example_make(&x, t);
        CHECK(bench_symindef_check(&x.factors, &check) == SHOAL_OK);
        CHECK_MSG(check.passed && check.max_residual == 0, "%s", check.why);
        CHECK(check.tolerance == 40 * DBL_EPSILON && check.systems == 3);
        for (int i = 0; i < 4; i++) /* each number counts: M, D and D's block */
            for (int j = 0; j <= i; j++) {
                example_make(&x, t);
                x.a[bench_triangle_at(&t, i, j)] += 1e-12;
                bench_symindef_check(&x.factors, &check);
                CHECK_MSG(!check.passed && check.wrong == 1 && strstr(check.why, "too large"),
                          "form %d, entry %d, %d: %s", form, i, j, check.why);
            }
        example_make(&x, t);
        x.a[bench_triangle_at(&t, 3, 2)] = NAN;
        bench_symindef_check(&x.factors, &check);
        CHECK(!check.passed && isinf(check.max_residual));
    }
}

TEST(check_compares_words) {
    const bench_triangle t = { .n = 4 };
    example x;
    bench_check check;
    example_make(&x, t);
    x.factors.bound = 1.9;
    bench_symindef_check(&x.factors, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "not bounded"), "%s", check.why);
    example_make(&x, t);
    x.info.inertia[0] = 3;
    bench_symindef_check(&x.factors, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "inertia"), "%s", check.why);
    example_make(&x, t);
    x.info.max_multiplier = 1;
    bench_symindef_check(&x.factors, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "multiplier"), "%s", check.why);
    example_make(&x, t);
    x.a[1] = 0; /* the other triangle of a full matrix */
    bench_symindef_check(&x.factors, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "other triangle"), "%s", check.why);
    example_make(&x, t);
    x.permutation[1] = 2;
    bench_symindef_check(&x.factors, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "no permutation"), "%s", check.why);
    example_make(&x, t);
    x.info.status = SHOAL_SYSTEM_NONFINITE;
    bench_symindef_check(&x.factors, &check);
    CHECK(!check.passed && check.wrong == 0 && check.failed == 1);
}

static double entry_of_4(const void *whole, int64_t i, int64_t j) {
    return ((const double *)whole)[i * 4 + j];
}

/* The same factors by their whole product: each number counts in full. */
TEST(product_sees_wrong_factors) {
    static const double d[4] = { 1, 1, -2, 4 }, e[4] = { 3 };
    example x;
    for (int form = 0; form < 16; form++) {
        const bench_triangle t = { .n = 4, .packed = form & 1, .upper = form & 2 };
        bench_product p = { .n = 4,
                            .type = SHOAL_F64,
                            .permutation = x.permutation,
                            .given = entry_of_4,
                            .matrix = x.whole,
                            .twice = form & 4,
                            .sampled = form & 8,
                            .threads = 2,
                            .triangle = t,
                            .factors = x.a,
                            .d = d,
                            .e = e };
        example_make(&x, t);
        CHECK(bench_product_error(&p) == 0);
        for (int i = 2; i < 4; i++) /* M(i,j) is off by 1: E(i,j) by D(j,j) at least, |A| is 19 */
            for (int j = 0; j < i; j++) {
                example_make(&x, t);
                x.a[bench_triangle_at(&t, i, j)] += 1;
                CHECK_MSG(bench_product_error(&p) >= fabs(d[j]) / 19, "form %d, entry %d, %d", form,
                          i, j);
            }
        example_make(&x, t); /* what lies in the places of D does not count */
        x.a[bench_triangle_at(&t, 1, 0)] = x.a[bench_triangle_at(&t, 2, 2)] = NAN;
        CHECK(bench_product_error(&p) == 0);
        x.a[bench_triangle_at(&t, 3, 0)] = NAN;
        CHECK(isnan(bench_product_error(&p)));
    }
}

static double entry_of_2(const void *whole, int64_t i, int64_t j) {
    return ((const double *)whole)[i * 2 + j];
}

/* h = 1 + 2^-30: h^2 has a bit that double loses. h^2 + 1, rounded, is off by 2^-60; h^2 - 1 is not. */
TEST(product_in_twice_the_precision) {
    const double h = 1 + 0x1p-30, rounded[4] = { 1, h, h, 2 + 0x1p-29 };
    const double exact[4] = { 1, h, h, 0x1p-29 + 0x1p-60 };
    const double factors[4] = { 1, NAN, h, 1 }, ones[2] = { 1, 1 }, none[2] = { 0, 0 };
    const double G[4] = { 1, 0, h, 1 };
    const int32_t permutation[2] = { 0, 1 }, plus[2] = { 1, 1 }, minus[2] = { 1, -1 };
    bench_product p = { .n = 2,
                        .type = SHOAL_F64,
                        .permutation = permutation,
                        .given = entry_of_2,
                        .matrix = rounded,
                        .threads = 1,
                        .triangle = { .n = 2 },
                        .factors = factors,
                        .d = ones,
                        .e = none };
    const double norm = h + (2 + 0x1p-29);
    CHECK(bench_product_error(&p) == 0);
    p.twice = true;
    CHECK(bench_product_error(&p) == 0x1p-60 / norm);
    p.G = G, p.columns = 2, p.signs = plus;
    CHECK(bench_product_error(&p) == 0x1p-60 / norm);
    p.signs = minus, p.matrix = exact;
    CHECK(bench_product_error(&p) == 0);
    p.partitioned = true;
    CHECK(bench_product_error(&p) == 0);
    p.twice = false;
    CHECK(bench_product_error(&p) == 0x1p-60 / (h + 1));
    bench_given a = { SHOAL_F64, 2, rounded, permutation, 1 };
    CHECK(bench_vectors_gjgt(&a, G, plus, 2) == 0x1p-60 / norm);
    a.whole = exact;
    CHECK(bench_vectors_gjgt(&a, G, minus, 2) == 0);
    const float narrow[4] = { 1, 0, 1, 0.5f }, given[4] = { 1, 1, 1, 0.75f };
    a = (bench_given){ SHOAL_F32, 2, given, permutation, 1 };
    CHECK(bench_vectors_gjgt(&a, narrow, minus, 2) == 0);
    CHECK(bench_vectors_gjgt(&a, narrow, plus, 2) == 0.25); /* 1/2 is wrong, |A| is 2 */
}

enum { WIDE = 150 };
static double wide_entry(const void *matrix, int64_t i, int64_t j) {
    const double *a = matrix;
    return a[i * WIDE + j];
}

/* One entry of A that is off: a sample has the last row, and finds the first one by its error. */
TEST(product_of_some_rows) {
    static double a[WIDE * WIDE], G[WIDE * 2];
    static int32_t permutation[WIDE];
    const int32_t signs[2] = { 1, -1 };
    double norm = 0;
    for (int i = 0; i < WIDE; i++)
        permutation[i] = WIDE - 1 - i, G[2 * i] = 1, G[2 * i + 1] = i % 3;
    for (int i = 0; i < WIDE; i++)
        for (int j = 0; j < WIDE; j++)
            a[permutation[i] * WIDE + permutation[j]] = 1 - i % 3 * (j % 3);
    for (int j = 0; j < WIDE; j++) norm += fabs(a[permutation[2] * WIDE + j]);
    bench_product p = { .n = WIDE,
                        .type = SHOAL_F64,
                        .permutation = permutation,
                        .given = wide_entry,
                        .matrix = a,
                        .threads = 2,
                        .G = G,
                        .signs = signs,
                        .columns = 2 };
    for (int form = 0; form < 4; form++) {
        p.twice = form & 1, p.sampled = form & 2;
        CHECK(bench_product_error(&p) == 0);
        for (int row = 0; row < WIDE; row += WIDE - 1) {
            a[permutation[row] * (WIDE + 1)] += 0x1p-12;
            const double found = bench_product_error(&p);
            CHECK_MSG(found == 0x1p-12 / norm, "form %d, row %d: %g", form, row, found);
            a[permutation[row] * (WIDE + 1)] -= 0x1p-12;
        }
    }
}

/* LAPACK's factors of the same kind: exchanges that come later have not been done in column 0. */
TEST(forms_of_factors) {
    const bench_triangle t = { .n = 3, .upper = true };
    double a[9] = { 5, 10, 20, NAN, 6, 30, NAN, NAN, 7 };
    int32_t pivots[3] = { 1, 3, 3 }, order[3];
    CHECK(bench_factors_normalise(BENCH_FORM_SYTRF, &t, SHOAL_F64, pivots, order, a));
    CHECK(a[1] == 20 && a[2] == 10 && a[5] == 30);
    CHECK(order[0] == 0 && order[1] == 2 && order[2] == 1);
    int32_t block[3] = { -3, -3, 3 }; /* the first row of the block stays */
    CHECK(bench_factors_normalise(BENCH_FORM_SYTRF, &t, SHOAL_F64, block, order, a));
    CHECK(block[0] == 1 && block[1] == -3 && order[0] == 0 && order[1] == 2 && order[2] == 1);
    int32_t rook[3] = { -2, -3, 3 }; /* both move */
    CHECK(bench_factors_normalise(BENCH_FORM_ROOK, &t, SHOAL_F64, rook, order, a));
    CHECK(rook[0] == 2 && rook[1] == -3 && order[0] == 1 && order[1] == 2 && order[2] == 0);
    int32_t beyond[3] = { 1, 4, 3 }, alone[3] = { 1, 2, -3 };
    CHECK(!bench_factors_normalise(BENCH_FORM_SYTRF, &t, SHOAL_F64, beyond, order, a));
    CHECK(!bench_factors_normalise(BENCH_FORM_SYTRF, &t, SHOAL_F64, alone, order, a));
}

/* Factors in 128 bits: far below the roundoff of double, with pivots of both orders; exact where the numbers are. */
TEST(factors_in_128_bits) {
    enum { N = 60 };
    static double a[N * N];
    const double whole[][4] = { { 0, 1, 1, 0 }, { -2, 4, 4, -7 }, { 0, 0, 0, 0 }, { 5, 0, 0, -3 } };
    uint64_t bits = 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const double u = (double)(bits >> 11) * 0x1p-53 - 0.5;
            a[i * N + j] = a[j * N + i] =
                i == j ? u / 100 : u; /* small diagonals: pivots of order 2 */
        }
    const double error = bench_quad_error(a, N);
    CHECK_MSG(error > 0 && error < 1e-31, "%g", error);
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        CHECK_MSG(bench_quad_error(whole[k], 2) < 1e-33, "matrix %zu", k);
    CHECK(bench_quad_error(a, 0) == 0);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(check_sees_wrong_factors);
    RUN(check_compares_words);
    RUN(product_sees_wrong_factors);
    RUN(product_in_twice_the_precision);
    RUN(product_of_some_rows);
    RUN(forms_of_factors);
    RUN(factors_in_128_bits);
    return TEST_END();
}
