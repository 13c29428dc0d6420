/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench.c - problem strings, the check that judges answers, the measuring loop, and the JSON
 * of a small run. All on the CPU; peers that are not installed are left out.
 */
#define _GNU_SOURCE
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/report.h"
#include "bench/tridiag.h"
#include "io/json_read.h"

static const bench_defaults defaults = { .backend = "cpu", .seed = 7 };

/* The problems of a string; on error none, and the message in *err. */
static bench_problems parse(const char *text, io_error *err) {
    bench_problems list = { 0 };
    err->text[0] = 0;
    int status = bench_problem_parse(text, &defaults, &list, err);
    CHECK_MSG((status == IO_OK) == (err->text[0] == 0), "%s: %s", text, err->text);
    return list;
}

TEST(problem_defaults) {
    io_error err;
    bench_problems list = parse("tridiag", &err);
    CHECK(list.count == 1);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        CHECK(strcmp(p->method, "auto") == 0 && strcmp(p->backend, "cpu") == 0);
        CHECK(p->type == SHOAL_F64 && p->layout == SHOAL_SYSTEM_MAJOR && p->nrhs == 1);
        CHECK(p->seed == 7 && strcmp(p->kind, "dominant") == 0 && !*p->variant);
    }
    bench_problems_free(&list);
}

TEST(problem_reads_every_part) {
    io_error err;
    bench_problems list = parse("tridiag:pcr:cuda:f32:n=255,count=1e5,nrhs=3,layout=interleaved,"
                                "kind=laplace,variant=permute,seed=18446744073709551615",
                                &err);
    CHECK_MSG(list.count == 1, "%s", err.text);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        CHECK(p->n == 255 && p->count == 100000 && p->nrhs == 3 && p->seed == UINT64_MAX);
        CHECK(p->type == SHOAL_F32 && p->layout == SHOAL_INTERLEAVED);
        CHECK(strcmp(p->backend, "cuda") == 0 && strcmp(p->variant, "permute") == 0);
        CHECK(strcmp(p->method, "pcr") == 0 && strcmp(p->kind, "laplace") == 0);
    }
    bench_problems_free(&list);
}

TEST(problem_numbers) {
    static const struct {
        const char *text;
        int64_t count;
    } cases[] = {
        { "tridiag::::n=256,rows=2^25", 131072 },
        { "tridiag::::n=3,rows=100", 33 },
        { "tridiag::::count=2.5e4", 25000 },
        { "tridiag::::count=0", 0 },
        { "tridiag::::n=0,rows=1e6", 0 },
        { "tridiag::::count=1^99999999", 1 },
        { "tridiag::::count=7^0", 1 },
        { "tridiag::::count=0^3", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        io_error err;
        bench_problems list = parse(cases[i].text, &err);
        CHECK_MSG(list.count == 1 && list.items[0].count == cases[i].count, "%s: %s", cases[i].text,
                  err.text);
        bench_problems_free(&list);
    }
}

TEST(problem_lists_multiply) {
    io_error err;
    int methods = 0;
    while (shoal_methods("tridiag", methods)) methods++;
    bench_problems list = parse("tridiag:all::f32+f64:n=64+256+1024,rows=2^20,layout=all", &err);
    CHECK_MSG(list.count == methods * 2 * 3 * 2, "%d problems", list.count);
    for (int i = 0; i < list.count; i++) CHECK(list.items[i].n * list.items[i].count == 1 << 20);
    if (methods > 1 && list.count > 1) /* methods vary fastest: neighbours share their data */
        CHECK(bench_data_same(&list.items[0], &list.items[1]));
    bench_problems_free(&list);
    list = parse("tridiag:pcr:::variant=all", &err);
    CHECK(list.count == 2);
    bench_problems_free(&list);
}

TEST(problem_text_reads_back) {
    io_error err;
    bench_problems list =
        parse("tridiag:pcr+lupp::f32:n=5,count=9,nrhs=2,layout=interleaved", &err);
    for (int i = 0; i < list.count; i++) {
        char text[BENCH_TEXT];
        bench_problems again = parse(bench_problem_text(&list.items[i], text), &err);
        CHECK_MSG(again.count == 1, "%s", text);
        if (again.count == 1) {
            CHECK(bench_data_same(&again.items[0], &list.items[i]));
            CHECK(strcmp(again.items[0].method, list.items[i].method) == 0);
        }
        bench_problems_free(&again);
    }
    bench_problems_free(&list);
}

TEST(problem_errors_name_the_part) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "module ''" },
        { "tridiagonal", "module 'tridiagonal'" },
        { "tridiag:pcrr", "method 'pcrr' is not one of auto, thomas" },
        { "tridiag::gpu", "backend 'gpu' is not one of auto, cpu, cuda" },
        { "tridiag:::f16", "type 'f16'" },
        { "tridiag::::m=3", "key 'm' is not one of n, count" },
        { "tridiag::::n", "'n' is not of the form key=value" },
        { "tridiag::::n=", "key 'n': ''" },
        { "tridiag::::n=-1", "key 'n': '-1'" },
        { "tridiag::::n=1.5", "key 'n': '1.5'" },
        { "tridiag::::n=nan", "key 'n': 'nan'" },
        { "tridiag::::n=inf", "is larger than" },
        { "tridiag::::n=2^-1", "key 'n'" },
        { "tridiag::::n=2^999999999999", "is larger than" },
        { "tridiag::::n=99999999999999999999", "key 'n'" },
        { "tridiag::::count=1,rows=2", "exclude each other" },
        { "tridiag::::kind=foo", "kind 'foo'" },
        { "tridiag::::layout=rows", "layout 'rows'" },
        { "tridiag:lupp:::variant=foo", "method 'lupp' has no variant 'foo'" },
        { "tridiag::::seed=0x1", "key 'seed'" },
        { "tridiag::::n=2^40,count=2^40", "more than 2^48" },
        { "tridiag::::nrhs=0", "key 'nrhs': 0 is less than 1" },
        { "tridiag::::n=3,n=4", "key 'n' is given twice" },
        { "tridiag::::seed=3,count=1,seed=3", "key 'seed' is given twice" },
        { "tridiag:pcr+thomas+pcr", "method 'pcr' is given twice" },
        { "tridiag:::f32+f32", "type 'f32' is given twice" },
        { "tridiag::::layout=system+system", "layout 'system' is given twice" },
        { "tridiag:pcr:::variant=stride+stride", "variant 'stride' is given twice" },
        { "tridiag::::n=3+4+3", "'3' is given twice" },
        { "tridiag:all:cpu:f32:n=3,variant=zz", "no method has a variant 'zz'" },
        { "tridiag:all:::variant=stride+zz", "no method has a variant 'zz'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        io_error err;
        bench_problems list = parse(cases[i].text, &err);
        CHECK_MSG(list.count == 0 && strstr(err.text, cases[i].says), "'%s' gave '%s'",
                  cases[i].text, err.text);
        bench_problems_free(&list);
    }
}

TEST(problem_lists_are_bounded) {
    char text[8192] = "tridiag:::f64:n=1";
    io_error err;
    for (int i = 2; i < 1000; i++) snprintf(text + strlen(text), 8, "+%d", i);
    bench_problems list = parse(text, &err);
    CHECK(list.count == 0 && strstr(err.text, "more than"));
    bench_problems_free(&list);
}

/* One system after another, in double; x is still to be set. */
static bench_view view_of(int64_t n, int64_t count, int64_t nrhs, const double *a, const double *b,
                          const double *c, const double *d) {
    bench_view view = { .type = SHOAL_F64, .n = n, .count = count, .nrhs = nrhs };
    view.row = view.d_rhs = 1;
    view.system = n;
    view.d_row = nrhs;
    view.d_system = n * nrhs;
    view.a = a, view.b = b, view.c = c, view.d = d;
    return view;
}

/* A system of 3 rows with the answer 1, 2, 3, twice; bent entries must be noticed. */
TEST(check_sees_wrong_answers) {
    const double a[6] = { NAN, 1, 1, NAN, 1, 1 }, b[6] = { 4, 4, 4, 4, 4, 4 };
    const double c[6] = { 1, 1, NAN, 1, 1, NAN }, d[6] = { 6, 12, 14, 6, 12, 14 };
    double x[6] = { 1, 2, 3, 1, 2, 3 };
    int32_t status[2] = { 0, 0 };
    float residual[2] = { 0, 0 };
    bench_view view = view_of(3, 2, 1, a, b, c, d);
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
    const double a[2] = { NAN, 1 }, b[2] = { 4, 4 }, c[2] = { 1, NAN };
    const double d[4] = { 6, INFINITY, 9, 1 };
    double x[4] = { 1, NAN, 2, NAN };
    int32_t status = SHOAL_SYSTEM_NONFINITE;
    bench_view view = view_of(2, 1, 2, a, b, c, d);
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
    const double b[1] = { 2 }, d[1] = { 4 }, x[1] = { 2.1 }, none[1] = { NAN };
    int32_t status = SHOAL_SYSTEM_ILL;
    bench_view view = view_of(1, 1, 1, none, b, none, d);
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
    const double b[1] = { 1e200 }, d[1] = { 1e300 }, x[1] = { 2e100 }, none[1] = { NAN };
    bench_view view = view_of(1, 1, 1, none, b, none, d);
    view.x = x;
    bench_check check;
    bench_tridiag_check(&view, NULL, NULL, 1, &check);
    CHECK(!check.passed && fabs(check.max_residual - 1.0 / 3) < 1e-15);
}

TEST(statistics_of_samples) {
    double seconds[] = { 5, 1, 4, 2, 3 };
    bench_stats stats;
    bench_summarise(seconds, 5, 8, &stats);
    CHECK(stats.median == 3 && stats.first_quartile == 2 && stats.third_quartile == 4);
    CHECK(stats.spread == 1 && stats.fastest == 1 && stats.samples == 5 && stats.calls == 8);
    bench_summarise(seconds, 0, 1, &stats);
    CHECK(stats.samples == 0 && stats.median == 0);
}

typedef struct tally {
    int prepared, called, fail_at;
} tally;

static int count_prepare(void *self) { return ((tally *)self)->prepared++, 0; }
static int count_call(void *self, int i) {
    (void)i;
    tally *t = self;
    return ++t->called == t->fail_at ? -1 : 0;
}
static bool stop_at_once(void) { return true; }

TEST(measuring_loop) {
    tally t = { 0 };
    bench_stats stats;
    bench_task task = { .prepare = count_prepare, .call = count_call, .self = &t, .calls = 3 };
    bench_rules rules = { .samples = 5, .exact = true };
    CHECK(bench_measure(&bench_cpu, &rules, &task, &stats) == BENCH_OK);
    CHECK(stats.samples == 5 && t.prepared == 6 && t.called == 18); /* one warm-up */
    t = (tally){ .fail_at = 7 };
    CHECK(bench_measure(&bench_cpu, &rules, &task, &stats) == BENCH_ERROR);
    CHECK(stats.samples == 1);
    rules.stop = stop_at_once;
    t = (tally){ 0 };
    CHECK(bench_measure(&bench_cpu, &rules, &task, &stats) == BENCH_STOPPED && stats.samples == 0);
}

/* A session on two threads over one string; flags as bench_run's. */
static int run(bench_session *s, const char *text, int flags) {
    io_error err;
    bench_problems list = parse(text, &err);
    bench_session_begin(s, &(shoal_options){ .backend = "cpu", .threads = 2 });
    s->rules = (bench_rules){ .samples = 2, .exact = true };
    CHECK_MSG(list.count > 0, "%s", err.text);
    int result = bench_run(s, &list, flags);
    CHECK_MSG(result != BENCH_ERROR, "%s", s->message);
    bench_problems_free(&list);
    return result;
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
static int stops_after; /* questions that are answered with no */
static bool stop_later(void) { return stops_after-- <= 0; }

TEST(stops_between_slices) {
    io_error err;
    bench_problems list = parse("tridiag:thomas::f64:n=1024,count=16384", &err);
    for (int questions = 0; questions < 8; questions++) {
        bench_session s;
        bench_session_begin(&s, &(shoal_options){ .backend = "cpu", .threads = 1 });
        s.rules.stop = stop_later;
        stops_after = questions;
        CHECK(bench_run(&s, &list, 0) == BENCH_STOPPED && s.row_count == 0);
        bench_session_end(&s);
    }
    bench_problems_free(&list);
}

static io_json_value *json_of(const bench_session *s) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    io_json json;
    io_error err;
    io_json_value *root = NULL;
    io_json_begin(&json, file, 1);
    io_json_object(&json, NULL);
    bench_json(s, &json);
    io_json_close(&json);
    CHECK(io_json_end(&json, &err) == IO_OK);
    fclose(file);
    CHECK_MSG(io_json_parse("bench", text, size, &root, &err) == IO_OK, "%s", err.text);
    free(text);
    return root;
}

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

/* Results written, read and made into a page: what is on it comes from the run. */
TEST(pages_of_a_run) {
    const char *where = getenv("TMPDIR");
    char directory[1024], path[1100], page[1100], command[1100];
    snprintf(directory, sizeof directory, "%s/shoal-bench-XXXXXX", where ? where : P_tmpdir);
    CHECK(mkdtemp(directory) != NULL);
    bench_session s;
    io_error err;
    run(&s, "tridiag:auto+lupp::f64:n=8+16,count=50", BENCH_TIME);
    snprintf(path, sizeof path, "%s/one.json", directory);
    FILE *file = fopen(path, "w");
    io_json json;
    io_json_begin(&json, file, 1);
    io_json_object(&json, NULL);
    bench_json(&s, &json);
    io_json_close(&json);
    CHECK(io_json_end(&json, &err) == IO_OK && fclose(file) == 0);
    snprintf(page, sizeof page, "%s/docs/performance.md", directory);
    CHECK_MSG(bench_performance(directory, page, &err) == IO_OK, "%s", err.text);
    CHECK(access(page, R_OK) == 0);
    snprintf(page, sizeof page, "%s/out/report.html", directory);
    bench_story story = { .sizes = "a & b < c" };
    CHECK_MSG(bench_report_html(&s, &story, page, &err) == IO_OK, "%s", err.text);
    char text[1 << 15] = "";
    file = fopen(page, "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = 0;
    CHECK(strstr(text, "a &amp; b &lt; c") && strstr(text, "<svg") && strstr(text, "lupp"));
    if (file) fclose(file);
    CHECK(bench_performance("/nonexistent", page, &err) == IO_E_OPEN);
    bench_session_end(&s);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    CHECK(system(command) == 0);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(problem_defaults);
    RUN(problem_reads_every_part);
    RUN(problem_numbers);
    RUN(problem_lists_multiply);
    RUN(problem_text_reads_back);
    RUN(problem_errors_name_the_part);
    RUN(problem_lists_are_bounded);
    RUN(check_sees_wrong_answers);
    RUN(check_judges_columns);
    RUN(check_takes_warnings_for_honest);
    RUN(check_does_not_overflow);
    RUN(statistics_of_samples);
    RUN(measuring_loop);
    RUN(verifies_every_method);
    RUN(singular_systems_do_not_pass);
    RUN(columns_fail_by_themselves);
    RUN(stops_between_slices);
    RUN(json_of_a_run);
    RUN(pages_of_a_run);
    return TEST_END();
}
