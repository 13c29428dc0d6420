/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_tridiag.c - tridiagonal systems on the bench: the check that judges answers, small runs,
 * their JSON and pages. All on the CPU; peers that are not installed are left out.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <float.h>
#include <math.h>

#include "bench/session.h"
#include "bench/tridiag.h"

/* One system after another, in double; x is still to be set. */
static bench_view view_of(int64_t n, int64_t count, int64_t nrhs, const double *dl, const double *d,
                          const double *du, const double *b) {
    bench_view view = { .type = SHOAL_F64, .n = n, .count = count, .nrhs = nrhs };
    view.row = view.b_rhs = 1;
    view.system = n;
    view.b_row = nrhs;
    view.b_system = n * nrhs;
    view.dl = dl, view.d = d, view.du = du, view.b = b;
    return view;
}

/* A system of 3 rows with the answer 1, 2, 3, twice; bent entries must be noticed. */
TEST(check_sees_wrong_answers) {
    const double dl[6] = { NAN, 1, 1, NAN, 1, 1 }, d[6] = { 4, 4, 4, 4, 4, 4 };
    const double du[6] = { 1, 1, NAN, 1, 1, NAN }, b[6] = { 6, 12, 14, 6, 12, 14 };
    double x[6] = { 1, 2, 3, 1, 2, 3 };
    int32_t status[2] = { 0, 0 };
    float residual[2] = { 0, 0 };
    bench_view view = view_of(3, 2, 1, dl, d, du, b);
    view.x = x;
    bench_check check;
    bench_tridiag_check(&view, status, residual, 2, &check);
    CHECK(check.passed && check.max_residual == 0 && check.systems == 2);

    x[4] = 2 * (1 + 150 * DBL_EPSILON); /* 8 * 150 eps / (6 * 3 + 14): still inside */
    bench_tridiag_check(&view, status, NULL, 1, &check);
    CHECK_MSG(check.passed && check.max_residual > 30 * DBL_EPSILON, "%g", check.max_residual);
    bench_tridiag_check(&view, status, residual, 1, &check); /* but the solver says 0 */
    CHECK(!check.passed && strstr(check.why, "another residual"));
    x[4] = 2 * (1 + 1500 * DBL_EPSILON);
    bench_tridiag_check(&view, status, NULL, 1, &check);
    CHECK(!check.passed && check.wrong == 1 && strstr(check.why, "system 1"));

    x[4] = NAN;
    bench_tridiag_check(&view, status, NULL, 1, &check);
    CHECK(!check.passed && strstr(check.why, "not finite"));
    status[1] = SHOAL_SYSTEM_SINGULAR; /* no answer, but some of x was written */
    bench_tridiag_check(&view, status, NULL, 1, &check);
    CHECK(!check.passed && check.wrong == 1 && check.failed == 1);
    x[3] = x[5] = NAN; /* an honest failure: not wrong, but no pass either */
    bench_tridiag_check(&view, status, NULL, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && check.failed == 1);
    status[1] = 99;
    bench_tridiag_check(&view, status, NULL, 1, &check);
    CHECK(check.wrong == 1 && strstr(check.why, "does not exist"));
}

/* Of two columns each stands for itself: one NaN under a status below 0 leaves the other judged. */
TEST(check_judges_columns) {
    const double dl[2] = { NAN, 1 }, d[2] = { 4, 4 }, du[2] = { 1, NAN };
    const double b[4] = { 6, INFINITY, 9, 1 };
    double x[4] = { 1, NAN, 2, NAN };
    int32_t status = SHOAL_SYSTEM_NONFINITE;
    bench_view view = view_of(2, 1, 2, dl, d, du, b);
    view.x = x;
    bench_check check;
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK_MSG(check.wrong == 0 && check.failed == 1 && !check.passed, "%s", check.why);
    CHECK(strcmp(bench_verdict(&check), "failed") == 0 && strcmp(check.why, "1 failed") == 0);
    status = SHOAL_SYSTEM_OVERFLOW;
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK_MSG(check.wrong == 0 && check.failed == 1, "%s", check.why);
    status = SHOAL_SYSTEM_OK; /* the column of NaN is not owned up to */
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK(check.wrong == 1 && strcmp(bench_verdict(&check), "WRONG") == 0);
    status = SHOAL_SYSTEM_NONFINITE;
    x[2] = 3; /* the answered column is wrong */
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "residual is too large"), "%s", check.why);
    x[2] = NAN; /* half an answer */
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK_MSG(check.wrong == 1 && strstr(check.why, "not all NaN"), "%s", check.why);
    x[0] = 1, x[1] = 1, x[2] = 2, x[3] = 1; /* no column is NaN, but the status is below 0 */
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK(check.wrong == 1);
}

/* A large residual that the status admits to does not pass, but is no false answer. */
TEST(check_takes_warnings_for_honest) {
    const double d[1] = { 2 }, b[1] = { 4 }, x[1] = { 2.1 }, none[1] = { NAN };
    int32_t status = SHOAL_SYSTEM_ILL;
    bench_view view = view_of(1, 1, 1, none, d, none, b);
    view.x = x;
    bench_check check;
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK(!check.passed && check.wrong == 0 && check.warned == 1);
    CHECK(strcmp(bench_verdict(&check), "failed") == 0);
    status = SHOAL_SYSTEM_REFINED;
    bench_tridiag_check(&view, &status, NULL, 1, &check);
    CHECK(!check.passed && check.wrong == 1);
}

TEST(check_does_not_overflow) {
    const double d[1] = { 1e200 }, b[1] = { 1e300 }, x[1] = { 2e100 }, none[1] = { NAN };
    bench_view view = view_of(1, 1, 1, none, d, none, b);
    view.x = x;
    bench_check check;
    bench_tridiag_check(&view, NULL, NULL, 1, &check);
    const double expected = 0.5 * (1e200 / ldexp(1, ilogb(1e200)));
    CHECK(!check.passed && fabs(check.max_residual - expected) < 1e-15);
}

TEST(verifies_every_method) {
    bench_session s;
    CHECK(run(&s, "tridiag:all::all:n=0+1+2+3+17+64,count=37,layout=all,nrhs=2", 0) == BENCH_OK);
    CHECK(bench_all_passed(&s) && s.row_count > 0);
    for (int i = 0; i < s.row_count; i++) {
        CHECK_MSG(s.rows[i].check.passed, "%s: %s", s.rows[i].method, s.rows[i].check.why);
        CHECK(!s.rows[i].timed && s.rows[i].check.systems == 37);
    }
    bench_session_end(&s);
}

/* Lists of T and G; lookback, which takes neither, is left out. */
TEST(parts_of_pscheme) {
    bench_session s;
    CHECK(run(&s, "tridiag:pscheme::all:n=100,count=3,threads=4+8,groups=3,variant=all", 0) ==
          BENCH_OK);
    CHECK_MSG(bench_all_passed(&s) && s.row_count == 12, "%d rows", s.row_count);
    for (int i = 0; i < s.row_count; i++)
        CHECK_MSG(strstr(s.rows[i].note, "3 groups of"), "%s", s.rows[i].note);
    bench_session_end(&s);
}

TEST(singular_systems_do_not_pass) {
    bench_session s;
    run(&s, "tridiag:auto::f64:n=16,count=21,kind=singular", 0);
    CHECK(s.row_count == 1 && !bench_all_passed(&s));
    CHECK_MSG(s.rows[0].check.failed == 3 && s.rows[0].check.wrong == 0, "%s", s.rows[0].check.why);
    bench_session_end(&s);
}

TEST(columns_fail_by_themselves) {
    bench_session s;
    run(&s, "tridiag:all::all:n=10,count=1000,kind=nonfinite,nrhs=3,layout=all", 0);
    for (int i = 0; i < s.row_count; i++) {
        const bench_check *check = &s.rows[i].check;
        CHECK_MSG(check->wrong == 0 && check->failed > 0 && check->failed < 1000, "%s: %s",
                  s.rows[i].method, check->why);
    }
    bench_session_end(&s);
}

/* Ctrl-C before the data are complete, and before the answer is judged: no row, no verdict. */
TEST(stops_between_slices) { check_stops("tridiag:thomas::f64:n=1024,count=16384", 8); }

TEST(json_of_a_run) {
    bench_session s;
    run(&s, "tridiag:auto+lupp::f32:n=16,count=100", BENCH_TIME | BENCH_PEERS);
    io_json_value *root = json_of(&s);
    const io_json_value *rows = io_json_get(root, "rows"), *row = io_json_at(rows, 0);
    CHECK(rows && rows->count >= 2); /* and LAPACK's, where it is installed */
    CHECK(row && strcmp(io_json_get(row, "method")->string, "auto") == 0);
    CHECK(row && io_json_get(row, "verified")->boolean);
    CHECK(row && io_json_get(row, "median_s")->number > 0);
    CHECK(row && io_json_get(row, "bytes")->number == 5.0 * 16 * 100 * 4);
    CHECK(io_json_get(io_json_get(root, "machine"), "device") != NULL);
    CHECK(io_json_get(io_json_get(root, "machine"), "copy_bytes_per_second")->count == 1);
    for (row = rows ? rows->first : NULL; row; row = row->next)
        CHECK_MSG(io_json_get(row, "max_residual")->number < 100 * FLT_EPSILON, "%s",
                  io_json_get(row, "who")->string);
    io_json_free(root);
    bench_session_end(&s);
}

/* An inaccurate answer with a warning is timed, and its row says that it does not pass: g-Spike on its paper's #14. */
TEST(honest_answers_are_timed) {
    bench_session s;
    run(&s, "tridiag:gspike:cpu:f64:n=512,count=1,kind=spike14", BENCH_TIME);
    CHECK(s.row_count == 1 && s.rows[0].timed && !s.rows[0].check.passed);
    CHECK(s.rows[0].check.wrong == 0 && s.rows[0].check.warned == 1);
    bench_session_end(&s);
    run(&s, "tridiag:gspike:cpu:f64:n=100,count=1,block=3+32", BENCH_TIME);
    CHECK(s.row_count == 2 && s.rows[0].timed && s.rows[0].problem.block == 3);
    bench_session_end(&s);
}

/* The page of `shoal report`. */
TEST(report_of_a_run) {
    char directory[1024], page[1100], text[FILE_TEXT];
    make_directory(directory);
    bench_session s;
    io_error err;
    run(&s, "tridiag:auto+lupp::f64:n=8+16,count=50", BENCH_TIME);
    snprintf(page, sizeof page, "%s/out/report.html", directory);
    bench_story story = { .sizes = "a & b < c" };
    CHECK_MSG(bench_report_html(&s, &story, page, &err) == IO_OK, "%s", err.text);
    read_text(page, text);
    CHECK(strstr(text, "a &amp; b &lt; c") && strstr(text, "<svg") && strstr(text, "lupp"));
    CHECK(bench_report_html(&s, &story, "/dev/null/x.html", &err) == IO_E_WRITE);
    bench_session_end(&s);
    remove_directory(directory);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(check_sees_wrong_answers);
    RUN(check_judges_columns);
    RUN(check_takes_warnings_for_honest);
    RUN(check_does_not_overflow);
    RUN(verifies_every_method);
    RUN(parts_of_pscheme);
    RUN(singular_systems_do_not_pass);
    RUN(columns_fail_by_themselves);
    RUN(stops_between_slices);
    RUN(json_of_a_run);
    RUN(honest_answers_are_timed);
    RUN(report_of_a_run);
    return TEST_END();
}
