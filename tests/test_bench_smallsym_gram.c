/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_smallsym_gram.c - regressions and condition estimates on the bench: the keys "gram" and
 * "estimate", what is verified, what judges it, peers, JSON and pages. On the CPU, or with
 * --backend=cuda on a GPU or the emulator. Peers that are not installed are left out.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <float.h>
#include <math.h>

#include "bench/module.h"
#include "bench/peers.h"
#include "bench/smallsym.h"

/* ---- keys ------------------------------------------------------------------------------------ */

TEST(problem_keys) {
    static const struct {
        const char *text, *options;
        int problems;
        int64_t count, gram; /* of the first */
        int estimate;        /* of the last  */
    } cases[] = {
        { "smallsym", "-", 1, 100000, 0, 0 },
        { "smallsym:ldlt::f32:n=8,gram=100,count=5,estimate=1", "gram=100 estimate", 1, 5, 100, 1 },
        { "smallsym:all:::gram=10+20,estimate=0+1,count=7", "gram=10", 16, 7, 10, 1 },
        { "smallsym:ldlt::f32:n=8,gram=64,bytes=2^20", "gram=64", 1, 512, 64, 0 },
        { "smallsym:ldlt:::estimate=all,refine=1,outcome=1", "refine=1 outcome", 2, 100000, 0, 1 },
        { "smallsym:auto:::n=3,gram=1e3,nrhs=2", "nrhs=2 gram=1000", 1, 100000, 1000, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        io_error err;
        char text[BENCH_TEXT];
        bench_problems list = parse(cases[i].text, &err);
        CHECK_MSG(list.count == cases[i].problems, "%s: %d: %s", cases[i].text, list.count,
                  err.text);
        if (list.count > 0) {
            const bench_problem *p = list.items, *last = p + list.count - 1;
            CHECK_MSG(p->count == cases[i].count && p->gram == cases[i].gram, "%s", cases[i].text);
            CHECK_MSG(last->estimate == cases[i].estimate, "%s", cases[i].text);
            CHECK_MSG(strcmp(bench_smallsym_options(p, text), cases[i].options) == 0, "%s", text);
        }
        bench_problems_free(&list);
    }
}

/* A problem reads back as itself, the longest there is too. */
TEST(problem_texts_read_back) {
    static const char *const texts[] = {
        "smallsym:ldltp:cuda:f32:n=64,count=1000,gram=123456,estimate=1,outcome=1",
        "smallsym:hhpcr:cuda:f32:n=1000,count=100000,nrhs=1000,layout=interleaved,storage=packed,"
        "triangle=upper,kind=regression,parameter=0.12345678901234568,variant=hybrid,team=1024,"
        "refine=100,estimate=1,outcome=1,stage=reduce,seed=18446744073709551615"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        io_error err;
        char text[BENCH_TEXT], again[BENCH_TEXT];
        bench_problems list = parse(texts[i], &err);
        CHECK_MSG(list.count == 1, "%s", err.text);
        if (list.count != 1) continue;
        bench_problems same = parse(bench_problem_text(list.items, text), &err);
        CHECK_MSG(same.count == 1 && strcmp(bench_problem_text(same.items, again), text) == 0,
                  "%s: %s", text, err.text);
        CHECK(same.count == 1 && same.items->seed == list.items->seed);
        bench_problems_free(&same);
        bench_problems_free(&list);
    }
}

TEST(problem_errors_name_the_part) {
    static const bench_refusal cases[] = {
        { "smallsym::::estimate=2", "unknown estimate '2'; there are 0, 1" },
        { "smallsym::::gram=some", "key 'gram': 'some' is not a whole number" },
        { "smallsym::::gram=-1", "key 'gram'" },
        { "smallsym:eigdc:::gram=9,pairs=values", "keys 'gram' and 'pairs' exclude each other" },
        { "smallsym:hhpcr:::gram=9,stage=pcr", "keys 'gram' and 'stage' exclude each other" },
        { "smallsym::::gram=9,storage=packed", "keys 'gram' and 'storage' exclude each other" },
        { "smallsym::::gram=9,triangle=upper", "keys 'gram' and 'triangle' exclude each other" },
        { "smallsym::::gram=0+9,kind=hilbert", "keys 'gram' and 'kind' exclude each other" },
        { "smallsym::::gram=9,parameter=2", "keys 'gram' and 'parameter' exclude each other" },
        { "smallsym::::n=2,count=2^40,gram=2^20",
          "n^2 * count * nrhs * gram = 2^2 * 1099511627776 * 1 * 1048576 is more" },
    };
    check_refusals(cases, sizeof cases / sizeof *cases);
}

/* An estimate is the solver's business; other samples are other data. */
TEST(problems_share_their_data) {
    io_error err;
    bench_problems list = parse("smallsym:ldlt:::gram=10+20,estimate=0+1", &err);
    const bench_module *module = bench_module_of("smallsym");
    CHECK(list.count == 4 && module->same(&list.items[0], &list.items[1]));
    CHECK(list.count == 4 && !module->same(&list.items[0], &list.items[2]));
    bench_problems_free(&list);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void check_verified(const bench_session *s, int64_t systems) {
    for (int i = 0; i < s->row_count; i++) {
        char text[BENCH_TEXT];
        CHECK_MSG(s->rows[i].check.passed, "%s: %s", bench_problem_text(&s->rows[i].problem, text),
                  s->rows[i].check.why);
        CHECK(s->rows[i].check.systems == systems);
    }
}

TEST(verifies_regressions) {
    bench_session s;
    CHECK(run(&s, "smallsym:all::all:n=0+1+2+3+17+33,count=37,layout=all,nrhs=2,gram=90", 0) ==
          BENCH_OK);
    CHECK(bench_all_passed(&s) && s.row_count >= 2 * 6 * 2 * 4);
    check_verified(&s, 37);
    bench_session_end(&s);
    run(&s, "smallsym:auto::f32:n=5,count=40,gram=33,refine=1,outcome=1", 0);
    CHECK(bench_all_passed(&s) && s.row_count == 1);
    bench_session_end(&s);
    run(&s, "smallsym:eigdc::all:n=9,count=37,layout=all,gram=1+4", 0); /* fewer than unknowns */
    CHECK(bench_all_passed(&s) && s.row_count == 2 * 2 * 2);
    for (int i = 0; i < s.row_count; i++) CHECK(s.rows[i].check.warned == 37);
    bench_session_end(&s);
    run(&s, "smallsym:ldlt::f64:n=9,count=37,gram=4", 0); /* for which it has no answer */
    CHECK(s.row_count == 1 && !bench_all_passed(&s));
    CHECK(s.row_count == 1 && s.rows[0].check.failed > 0 && s.rows[0].check.wrong == 0);
    bench_session_end(&s);
}

TEST(verifies_estimates) {
    bench_session s;
    CHECK(run(&s, "smallsym:all::all:n=0+1+2+17,count=37,estimate=0+1,refine=0+1,gram=0+60", 0) ==
          BENCH_OK);
    CHECK(bench_all_passed(&s) && s.row_count >= 2 * 4 * 4 * 2 * 2);
    check_verified(&s, 37);
    bench_session_end(&s);
}

static double number(const bench_problem *p, const void *array, int64_t at) {
    return p->type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* The same samples in both layouts; beyond 4093 systems they repeat, and not before. */
TEST(data_of_samples) {
    static const char *const texts[] = {
        "smallsym:ldlt::f32:n=2,count=4100,gram=3,layout=system",
        "smallsym:ldlt::f32:n=2,count=4100,gram=3,layout=interleaved",
    };
    double sums[2] = { 0, 0 };
    for (int t = 0; t < 2; t++) {
        io_error err;
        bench_session s;
        bench_arrays d = { 0 };
        bench_problems list = parse(texts[t], &err);
        bench_session_begin(&s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
        bench_place *place = bench_session_place(&s, bench_backend);
        CHECK(place && bench_systems_make(&s, list.items, place, &d) == BENCH_OK);
        const bench_symmetric v = bench_symmetric_of(&d, NULL);
        int64_t other = 0, equal = 0, large = 0;
        for (int64_t k = 0; k < 4100; k++)
            for (int64_t m = 0; m < 3; m++) {
                const int64_t at = k * v.system + (2 * m + 1) * v.entry;
                const double psi = number(&d.problem, v.A, at);
                const double y = number(&d.problem, v.b, k * v.y_system + m * v.y_row);
                const int64_t from = k % 4093;
                other += number(&d.problem, v.A, at - v.entry) != 1;
                other += psi != number(&d.problem, v.A, at - (k - from) * v.system);
                other += y != number(&d.problem, v.b, from * v.y_system + m * v.y_row);
                equal += k > 0 && k < 4093 && psi == number(&d.problem, v.A, at - v.system);
                large += fabs(psi) > 1 || y < -1 || y > 2;
                sums[t] += (double)(k + 1) * psi + (double)(m + 1) * y;
            }
        CHECK_MSG(other == 0 && large == 0, "%lld, %lld", (long long)other, (long long)large);
        CHECK_MSG(equal <= 2, "%lld equal neighbours", (long long)equal); /* of 2^24 floats */
        bench_arrays_free(&d);
        bench_session_end(&s);
        bench_problems_free(&list);
    }
    CHECK(sums[0] == sums[1] && sums[0] != 0);
}

/* ---- the check ------------------------------------------------------------------------------- */

/* One system of 2 unknowns and 2 samples. */
static bench_symmetric view_of(const double *psi, const double *y, const double *x) {
    return (bench_symmetric){ .type = SHOAL_F64,
                              .n = 2,
                              .count = 1,
                              .nrhs = 1,
                              .entry = 1,
                              .system = 4,
                              .b_row = 1,
                              .b_system = 2,
                              .b_rhs = 1,
                              .samples = 2,
                              .y_row = 1,
                              .y_system = 2,
                              .A = psi,
                              .b = y,
                              .x = x };
}

TEST(check_sees_wrong_answers) {
    const double psi[4] = { 2, 0, 0, 1 }, y[2] = { 4, 2 };
    double x[2] = { 2, 2 };
    int32_t status = 0;
    float residual = 0, rcond = 0.25f;
    const bench_symmetric view = view_of(psi, y, x);
    const bench_reported all = { &status, &residual, &rcond }, plain = { .status = &status };
    bench_check check;
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK(check.passed && check.max_residual == 0 && check.tolerance == 90 * DBL_EPSILON);
    x[0] = 2 * (1 + 160 * DBL_EPSILON); /* 8 * 160 eps / (4 * 2 + 8): inside */
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK_MSG(check.passed && check.max_residual > 79 * DBL_EPSILON, "%g", check.max_residual);
    residual = 21 * (float)DBL_EPSILON; /* which no answer that is ok may have */
    bench_smallsym_check(&view, &all, 1, &check);
    CHECK(!check.passed && strstr(check.why, "another residual"));
    x[0] = 2 * (1 + 200 * DBL_EPSILON); /* outside */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "residual is too large"));
    status = SHOAL_SYSTEM_ILL; /* which the solver says */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && check.warned == 1);
    x[0] = NAN;
    bench_smallsym_check(&view, NULL, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "not finite"));
    status = SHOAL_SYSTEM_PIVOT; /* no answer, but some of x was written */
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "not all NaN"));
    x[1] = NAN;
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && check.failed == 1);
}

/* Eigenvalues 1 and 1e-14 of 2 A: without the second x is (1, 0). */
TEST(check_of_truncated_answers) {
    const double psi[4] = { 1, 0, 0, 1e-7 }, y[2] = { 1, 1 };
    double x[2] = { 1, 0 };
    int32_t status = SHOAL_SYSTEM_TRUNCATED;
    const bench_symmetric view = view_of(psi, y, x);
    const bench_reported plain = { .status = &status };
    bench_check check;
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK_MSG(check.passed && check.warned == 1, "%s", check.why);
    x[0] = 1 + 1e-9;
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "not the answer of least squares"));
    x[0] = 1, status = SHOAL_SYSTEM_OK;
    bench_smallsym_check(&view, &plain, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "residual is too large"));
}

/* ---- peers, JSON, pages ---------------------------------------------------------------------- */

TEST(peers_form_the_systems) {
    bench_session s;
    bench_library lib;
    const bool on_cpu = strcmp(bench_backend, "cpu") == 0;
    for (int i = 0; i < 4; i++) {
        char text[128];
        snprintf(text, sizeof text, "smallsym:%s::%s:n=%d,count=50,gram=70,layout=%s,outcome=1",
                 i % 2 ? "auto" : "ldlt", i % 2 ? "f64" : "f32", i ? 7 : 1,
                 i > 1 ? "interleaved" : "system");
        run(&s, text, BENCH_TIME | BENCH_PEERS);
        const bool lapack = on_cpu && bench_open_lapack(&s, &lib);
        CHECK_MSG(!lapack || s.row_count == 3, "%s: %d rows", text, s.row_count);
        check_verified(&s, 50);
        for (int r = 1; r < s.row_count; r++) {
            const bench_row *row = &s.rows[r];
            CHECK(row->timed && row->problem.outcome == 0 && row->problem.gram == 70);
            CHECK(strcmp(row->variant, r == 1 ? "lower" : "upper") == 0);
            CHECK_MSG(!on_cpu || strcmp(row->method, i % 2 ? "dsyrk+dgemv+dpotrf+dpotrs"
                                                           : "ssyrk+sgemv+spotrf+spotrs") == 0,
                      "%s", row->method);
        }
        CHECK(s.row_count < 2 || s.rows[0].speedup > 0);
        bench_session_end(&s);
    }
    run(&s, "smallsym:ldlt::f32:n=3,count=50,gram=70,nrhs=2", BENCH_TIME | BENCH_PEERS);
    CHECK(s.row_count == 1); /* peers have one right-hand side */
    bench_session_end(&s);
}

TEST(json_of_a_run) {
    bench_session s;
    run(&s, "smallsym:ldlt::f32:n=8,count=100,gram=30,nrhs=3,estimate=0+1", BENCH_TIME);
    io_json_value *root = json_of(&s);
    const io_json_value *rows = io_json_get(root, "rows"), *row = io_json_at(rows, 1);
    CHECK(rows && rows->count == 2);
    CHECK(row && io_json_get(row, "estimate")->number == 1);
    CHECK(row && io_json_get(row, "gram")->number == 30);
    CHECK(row && strcmp(io_json_get(row, "kind")->string, "samples") == 0);
    CHECK(row && io_json_get(row, "verified")->boolean);
    CHECK(row && io_json_get(row, "tolerance")->number == 150 * FLT_EPSILON);
    CHECK(row && io_json_get(row, "bytes")->number == (30 * 8 + 30 * 3 + 8 * 3) * 100 * 4.0);
    io_json_free(root);
    bench_session_end(&s);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problem_keys);
    RUN(problem_texts_read_back);
    RUN(problem_errors_name_the_part);
    RUN(problems_share_their_data);
    RUN(verifies_regressions);
    RUN(verifies_estimates);
    RUN(data_of_samples);
    RUN(check_sees_wrong_answers);
    RUN(check_of_truncated_answers);
    RUN(peers_form_the_systems);
    RUN(json_of_a_run);
    return TEST_END();
}
