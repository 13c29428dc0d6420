/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_study.c - the study of errors of small symmetric systems: its reference and its
 * numbers.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <math.h>
#include <unistd.h>

#include "bench/smallsym.h"
#include "bench/study.h"

/* Pascal's matrix is of whole numbers, and its condition at n = 12 is above 1e11: what double finds is
 * off by 1e-7 or so, the reference is not off at all. */
TEST(reference_of_pascal) {
    enum { N = 12 };
    double a[N * N], b[N], high[N], low[N];
    bench_reference r;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = i == 0 || j == 0 ? 1 : a[(i - 1) * N + j] + a[i * N + j - 1];
    for (int i = 0; i < N; i++) {
        b[i] = 0;
        for (int j = 0; j < N; j++) b[i] += a[i * N + j] * (j % 2 ? -1 - j : 1 + j);
    }
    CHECK(bench_reference_begin(&r, N));
    CHECK(bench_reference_solve(&r, a, b, 0x1p-62, high, low));
    for (int i = 0; i < N; i++)
        CHECK_MSG(high[i] == (i % 2 ? -1 - i : 1 + i) && fabs(low[i]) < 0x1p-60, "x*[%d] = %.17g",
                  i, high[i]);
    b[0] += 0x1p-40; /* a right-hand side whose solution is no whole numbers */
    CHECK(bench_reference_solve(&r, a, b, 0x1p-62, high, low));
    CHECK(low[3] != 0 && high[0] != 1);
    bench_reference_end(&r);
}

TEST(reference_where_there_is_none) {
    const double ones[4] = { 1, 1, 1, 1 }, zero[1] = { 0 }, b[2] = { 1, 2 };
    const double bad[4] = { NAN, 1, 1, 2 }, good[4] = { 0, 2, 2, 0 };
    double high[2], low[2];
    bench_reference r;
    CHECK(bench_reference_begin(&r, 2));
    CHECK(!bench_reference_solve(&r, ones, b, 1e-10, high, low));
    CHECK(!bench_reference_solve(&r, bad, b, 1e-10, high, low));
    CHECK(bench_reference_solve(&r, good, b, 1e-10, high, low)); /* rows must change places */
    CHECK(high[0] == 1 && high[1] == 0.5);
    CHECK(!bench_reference_solve(&r, good, (const double[]){ INFINITY, 1 }, 1e-10, high, low));
    bench_reference_end(&r);
    CHECK(bench_reference_begin(&r, 1));
    CHECK(!bench_reference_solve(&r, zero, b, 1e-10, high, low));
    CHECK(bench_reference_solve(&r, (const double[]){ -4 }, b, 1e-10, high, low));
    CHECK(high[0] == -0.25);
    bench_reference_end(&r);
}

TEST(quantiles) {
    const double values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    CHECK(bench_quantile(values, 10, 0) == 1 && bench_quantile(values, 10, 1) == 10);
    CHECK(bench_quantile(values, 10, 0.5) == 5 && bench_quantile(values, 10, 0.99) == 10);
    CHECK(bench_quantile(values, 9, 0.5) == 5 && bench_quantile(values, 1, 0.5) == 1);
    CHECK(isnan(bench_quantile(values, 0, 0.5)));
}

/* A small study, written to a file. */
static int write_study(const char *path, bench_study *what, bool (*stop)(void)) {
    bench_session s;
    io_json json;
    io_error err;
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    bench_session_begin(&s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
    s.rules.stop = stop;
    bench_place *place = bench_session_place(&s, bench_backend);
    CHECK_MSG(place != NULL, "%s", s.message);
    io_json_begin(&json, file, 1);
    io_json_object(&json, NULL);
    bench_json_machine(&s, &json);
    int code = place ? bench_study_smallsym(&s, place, what, &json) : BENCH_ERROR;
    CHECK_MSG(code != BENCH_ERROR, "%s", s.message);
    io_json_close(&json);
    CHECK(io_json_end(&json, &err) == IO_OK && fclose(file) == 0);
    bench_session_end(&s);
    return code;
}

static double number(const io_json_value *row, const char *key) { return row_number(row, key); }

static void check_row(const io_json_value *row, int64_t count) {
    const char *method = row_text(row, "method"), *kind = row_text(row, "kind");
    const io_json_value *backward = io_json_get(row, "backward"),
                        *forward = io_json_get(row, "forward");
    const double n = number(row, "n"), unit = number(row, "unit");
    const double answered = number(row, "count") - number(row, "failed");
    CHECK(number(row, "count") == (double)count && number(row, "wrong") == 0);
    CHECK_MSG(number(row, "ok") + number(row, "ill") + number(row, "truncated") +
                      number(row, "refined") ==
                  answered,
              "%s, %s", kind, method);
    CHECK(number(backward, "count") == answered);
    CHECK(number(forward, "count") <= number(row, "referenced"));
    if (strcmp(kind, "spd") != 0) return;
    CHECK_MSG(number(row, "ok") == (double)count && number(forward, "count") == (double)count, "%s",
              method);
    CHECK_MSG(number(backward, "median") > 0 && number(backward, "worst") <= 10 * n * unit, "%s",
              method);
    /* its condition number is below 21 */
    CHECK_MSG(number(forward, "worst") > unit / 100 && number(forward, "worst") < 420 * n * unit,
              "%s: %g", method, number(forward, "worst"));
    CHECK(number(forward, "median") <= number(forward, "p99") &&
          number(forward, "p99") <= number(forward, "worst"));
    const io_json_value *curve = io_json_get(forward, "quantiles");
    CHECK(curve && curve->count == STUDY_QUANTILES);
    for (const io_json_value *q = curve->first; q && q->next; q = q->next)
        CHECK(q->number <= q->next->number);
}

TEST(study_of_every_family) {
    char directory[1024], path[1100];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/study.json", directory);
    bench_study what = { .count = 4, .seed = 3 };
    io_json_value *root = NULL;
    io_error err;
    CHECK(write_study(path, &what, NULL) == BENCH_OK && what.wrong == 0);
    CHECK_MSG(io_json_read(path, &root, &err) == IO_OK, "%s", err.text);
    const io_json_value *rows = io_json_get(root, "rows");
    int methods = 1;
    while (shoal_methods("smallsym", methods - 1)) methods++;
    CHECK(rows && rows->count > 0 && rows->count <= bench_study_cases() * methods);
    if (strcmp(bench_backend, "cpu") == 0 && rows)
        CHECK(rows->count == bench_study_cases() * methods);
    for (const io_json_value *row = rows ? rows->first : NULL; row; row = row->next)
        check_row(row, what.count);
    const io_json_value *conditions = io_json_get(io_json_get(root, "conditions"), "values");
    CHECK(conditions && conditions->count == 1000);
    for (const io_json_value *v = conditions ? conditions->first : NULL; v; v = v->next)
        CHECK_MSG(v->number > 6e5 && v->number < 1.6e6, "%g", v->number); /* Figure 2 */
    io_json_free(root);
    remove_directory(directory);
}

TEST(study_stops) {
    char directory[1024], path[1100];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/study.json", directory);
    bench_study what = { .count = 2, .seed = 3 };
    io_json_value *root = NULL;
    io_error err;
    stops_after = 2;
    CHECK(write_study(path, &what, stop_later) == BENCH_STOPPED);
    CHECK_MSG(io_json_read(path, &root, &err) == IO_OK, "%s", err.text); /* of what is there */
    io_json_free(root);
    remove_directory(directory);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(reference_of_pascal);
    RUN(reference_where_there_is_none);
    RUN(quantiles);
    RUN(study_of_every_family);
    RUN(study_stops);
    return TEST_END();
}
