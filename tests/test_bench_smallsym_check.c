/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_smallsym_check.c - what judges the answers, eigenpairs and reductions of small symmetric
 * systems on the bench: bent numbers must be noticed. And the tridiagonal matrices that it makes.
 */
#include "test.h"

#include <float.h>
#include <math.h>

#include "bench/smallsym.h"

/* Two systems of 2 rows, full, lower, in double; the other triangle is not to be looked at. */
static const double two[8] = { 4, NAN, 1, 3, 4, NAN, 1, 3 };
static bench_symmetric view_of(const double *b, const double *x, int64_t count, int64_t nrhs) {
    return (bench_symmetric){ .type = SHOAL_F64,
                              .n = 2,
                              .count = count,
                              .nrhs = nrhs,
                              .entry = 1,
                              .system = 4,
                              .b_row = nrhs,
                              .b_system = 2 * nrhs,
                              .b_rhs = 1,
                              .A = two,
                              .b = b,
                              .x = x };
}

TEST(check_sees_wrong_answers) {
    const double b[4] = { 6, 7, 6, 7 };
    double x[4] = { 1, 2, 1, 2 };
    int32_t status[2] = { 0, 0 };
    float residual[2] = { 0, 0 }, rcond[2] = { 0.5f, 0.5f };
    const bench_symmetric view = view_of(b, x, 2, 1);
    const bench_reported all = { status, residual, rcond }, plain = { .status = status };
    bench_check check;
    bench_smallsym_check(&view, &all, 2, &check);
    CHECK(check.passed && check.max_residual == 0 && check.systems == 2);
    CHECK(check.tolerance == 20 * DBL_EPSILON);

    x[3] = 2 * (1 + 40 * DBL_EPSILON); /* 6 * 40 eps / (5 * 2 + 7): inside */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK_MSG(check.passed && check.max_residual > 10 * DBL_EPSILON, "%g", check.max_residual);
    bench_smallsym_check(&view, &all, 1, &check); /* but the solver says 0 */
    CHECK(!check.passed && strstr(check.why, "another residual"));
    x[3] = 2 * (1 + 80 * DBL_EPSILON); /* outside */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(!check.passed && check.wrong == 1 && strstr(check.why, "system 1"));
    status[1] = SHOAL_SYSTEM_ILL; /* which the solver says: not right, not wrong */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && check.warned == 1);
    status[1] = SHOAL_SYSTEM_REFINED;
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(check.wrong == 1);

    x[3] = NAN;
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK(!check.passed && strstr(check.why, "not finite"));
    status[1] = SHOAL_SYSTEM_PIVOT; /* no answer, but some of x was written */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(check.wrong == 1 && check.failed == 1);
    x[2] = NAN; /* an honest failure: not wrong, but no pass either */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && strcmp(check.why, "1 failed") == 0);
    status[1] = 99;
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "does not exist"));
    x[2] = 1, x[3] = 2, status[1] = 0, rcond[0] = NAN;
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "system 0: rcond"));
}

/* Of two columns each stands for itself: one NaN under a status below 0 leaves the other judged. */
TEST(check_judges_columns) {
    const double b[4] = { 6, INFINITY, 7, 1 };
    double x[4] = { 1, NAN, 2, NAN };
    int32_t status = SHOAL_SYSTEM_NONFINITE;
    const bench_symmetric view = view_of(b, x, 1, 2);
    const bench_reported word = { .status = &status };
    bench_check check;
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK_MSG(check.wrong == 0 && check.failed == 1 && !check.passed, "%s", check.why);
    status = SHOAL_SYSTEM_OK; /* the column of NaN is not owned up to */
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK(check.wrong == 1);
    status = SHOAL_SYSTEM_NONFINITE;
    x[2] = 3; /* the answered column is wrong */
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "residual is too large"), "%s", check.why);
}

/* A truncated answer is one of least squares, or it is wrong. */
TEST(check_judges_truncated_answers) {
    const double singular[4] = { 3, 0, 0, 0 }, b[2] = { 6, 7 };
    double x[2] = { 2, 0 };
    int32_t status = SHOAL_SYSTEM_TRUNCATED;
    bench_symmetric view = view_of(b, x, 1, 1);
    view.A = singular;
    const bench_reported word = { .status = &status };
    bench_check check;
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK_MSG(check.passed && check.warned == 1 && check.max_residual == 0, "%s", check.why);
    x[0] = 2.001;
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "least squares"), "%s", check.why);
    x[0] = 2, status = SHOAL_SYSTEM_OK; /* which is not said */
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK(check.wrong == 1);
}

/* Each class of methods has its own peers. */
TEST(check_finds_peers) {
    static const struct {
        bench_problem problem;
        bench_peer_class peers;
    } cases[] = { { { .method = "ldlt" }, BENCH_PEERS_DEFINITE },
                  { { .method = "auto" }, BENCH_PEERS_DEFINITE },
                  { { .method = "ldltp" }, BENCH_PEERS_PIVOTED },
                  { { .method = "eigdc" }, BENCH_PEERS_EIGEN },
                  { { .method = "auto", .pairs = BENCH_PAIRS_VALUES }, BENCH_PEERS_EIGEN } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(bench_peers_for(&cases[i].problem) == cases[i].peers);
}

/* [4 1; 1 4] has the pairs (3, [1 -1]), (5, [1 1]). */
TEST(check_of_eigenpairs) {
    const double A[4] = { 4, NAN, 1, 4 }, h = sqrt(0.5);
    double w[2] = { 3, 5 }, V[4] = { h, -h, h, h }; /* vector after vector */
    const bench_pairs pairs = {
        .w = w, .V = V, .w_row = 1, .w_system = 2, .v_component = 1, .v_vector = 2, .v_system = 4
    };
    bench_symmetric view = view_of(NULL, NULL, 1, 1);
    view.A = A, view.pairs = &pairs;
    bench_check check;
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK_MSG(check.passed && check.max_residual < 2 * DBL_EPSILON, "%s", check.why);
    w[0] = 3.001; /* no eigenvalue */
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK(!check.passed && check.wrong == 1);
    w[0] = 5, w[1] = 3, V[1] = h, V[3] = -h; /* pairs, but they do not ascend */
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK(!check.passed && strstr(check.why, "ascend"));
    w[0] = w[1] = 3, V[1] = -h; /* the same vector twice */
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK(!check.passed);
    w[1] = 5, V[2] = V[3] = 1; /* a vector that is not of length 1 */
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK(!check.passed);
    V[2] = NAN;
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK(!check.passed && check.wrong == 1);
}

/* The same matrix as diagonals, its vectors as columns, and the solver's word about it. */
TEST(check_of_tridiagonal_eigenpairs) {
    const double d[2] = { 4, 4 }, e[1] = { 1 }, h = sqrt(0.5);
    double w[2] = { 3, 5 }, V[4] = { h, h, -h, h }, alone[2] = { 3, 5 };
    int32_t status = SHOAL_SYSTEM_OK;
    float residual = 0, rcond = 0.6f;
    const bench_reported all = { &status, &residual, &rcond };
    const bench_pairs pairs = { .w = w,
                                .V = V,
                                .alone = alone,
                                .w_row = 1,
                                .w_system = 2,
                                .v_component = 2,
                                .v_vector = 1,
                                .v_system = 4 };
    bench_symmetric view = view_of(NULL, NULL, 1, 1);
    view.A = d, view.below = e, view.system = 2, view.below_system = 1;
    view.pairs = &pairs;
    bench_check check;
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK_MSG(check.passed && check.systems == 1, "%s", check.why);
    alone[1] = 5 + 100 * 5 * DBL_EPSILON; /* |A| = 5; 20 units pass */
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK(!check.passed && check.wrong == 1);
    alone[1] = NAN;
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK(!check.passed && check.wrong == 1);
    alone[1] = 5, residual = 1e-3f;
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK(!check.passed && strstr(check.why, "another residual"));
    residual = 0, rcond = 2;
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK(!check.passed && strstr(check.why, "rcond"));
    rcond = 0.6f, w[1] = 5.001, alone[1] = 5.001; /* inaccurate, unless the solver says so */
    bench_smallsym_check(&view, &(bench_reported){ .status = &status }, 1, &check);
    CHECK(!check.passed && check.wrong == 1);
    status = SHOAL_SYSTEM_ILL;
    bench_smallsym_check(&view, &(bench_reported){ .status = &status }, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && check.warned == 1);
    status = SHOAL_SYSTEM_NONFINITE; /* no answer, but there is one */
    bench_smallsym_check(&view, &(bench_reported){ .status = &status }, 1, &check);
    CHECK(check.wrong == 1 && check.failed == 1);
    for (int i = 0; i < 4; i++) V[i] = w[i / 2] = alone[i / 2] = NAN; /* an honest failure */
    bench_smallsym_check(&view, &(bench_reported){ .status = &status }, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && strcmp(check.why, "1 failed") == 0);
}

/* The tridiagonal form has the spectrum of the family: here 1, 1/10, 1/100. */
TEST(data_of_diagonals) {
    const bench_problem p = { .module = "smallsym",
                              .method = "eigdc",
                              .kind = "spectrum",
                              .backend = "cpu",
                              .layout = SHOAL_INTERLEAVED,
                              .pairs = BENCH_PAIRS_TRIDIAG,
                              .n = 3,
                              .count = 5000,
                              .nrhs = 1,
                              .parameter = 100 };
    bench_session s;
    bench_arrays d = { 0 };
    bench_session_begin(&s, &(shoal_options){ .backend = "cpu", .threads = 2 });
    bench_place *place = bench_session_place(&s, "cpu");
    CHECK(place && bench_systems_make(&s, &p, place, &d) == BENCH_OK);
    const bench_symmetric v = bench_symmetric_of(&d, NULL);
    int64_t wrong = 0;
    for (int64_t k = 0; k < 5000; k++) {
        double trace = 0, squares = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const double a = bench_symmetric_entry(&v, k, i, j);
                trace += i == j ? a : 0;
                squares += a * a;
                wrong += !(a == bench_symmetric_entry(&v, k % 4093, i, j));
            }
        wrong += !(fabs(trace - 1.11) < 1e-14) + !(fabs(squares - 1.0101) < 1e-14);
    }
    CHECK_MSG(wrong == 0, "%lld", (long long)wrong);
    bench_arrays_free(&d);
    bench_session_end(&s);
}

/* A = Q U Qt from reflections in double, and what is bent of it. */
TEST(check_of_reductions) {
    enum { N = 5 };
    double a[N * N], copy[N * N], d[N], e[N], q[N * N], v[N], w[N], none[3 * N * N];
    int32_t status = 0;
    for (int i = 0; i < N * N; i++)
        a[i] = copy[i] = i / N < i % N ? NAN : 1.0 / (1 + i / 2) - i % 3;
    for (int i = 0; i < 3 * N * N; i++) none[i] = NAN;
    bench_reduce(copy, N, d, e, q, v, w);
    const bench_parts parts = { d, e, q, 1, N, N - 1, N * N },
                      nan = { none, none, none, 1, 0, 0, 0 };
    bench_symmetric view = { .n = N, .count = 1, .nrhs = 1, .entry = 1, .A = a, .parts = &parts };
    const bench_reported word = { .status = &status };
    bench_check check;
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK_MSG(check.passed && check.systems == 1 && check.max_residual < 10 * N * DBL_EPSILON, "%s",
              check.why);
    struct {
        double *number, by;
    } bent[] = { { &d[2], 1e-12 }, { &e[3], 1e-12 }, { &q[7], 1e-12 }, { &q[N * N - 1], NAN } };
    for (int i = 0; i < 4; i++) {
        const double before = *bent[i].number;
        *bent[i].number += bent[i].by;
        bench_smallsym_check(&view, &word, 1, &check);
        CHECK_MSG(!check.passed && check.wrong == 1, "%d: %g", i, check.max_residual);
        *bent[i].number = before;
    }
    status = SHOAL_SYSTEM_NONFINITE;
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK(!check.passed && check.wrong == 1 && strstr(check.why, "not all NaN"));
    view.parts = &nan;
    bench_smallsym_check(&view, &word, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && check.failed == 1);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(check_sees_wrong_answers);
    RUN(check_judges_columns);
    RUN(check_of_eigenpairs);
    RUN(check_of_tridiagonal_eigenpairs);
    RUN(check_of_reductions);
    RUN(check_judges_truncated_answers);
    RUN(check_finds_peers);
    RUN(data_of_diagonals);
    return TEST_END();
}
