/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_study.c - the study of errors of small symmetric systems: its reference, its numbers, its
 * page; and the figures made of rows of results.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <math.h>
#include <unistd.h>

#include "bench/performance.h"
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

static double number(const io_json_value *row, const char *key) { return result_number(row, key); }

static void check_row(const io_json_value *row, int64_t count) {
    const char *method = result_text(row, "method"), *kind = result_text(row, "kind");
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
    char directory[1024], path[1100], page[1100], picture[1400], text[FILE_TEXT];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/study.json", directory);
    snprintf(page, sizeof page, "%s/docs/study.md", directory);
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

    CHECK_MSG(bench_study_page(path, page, &err) == IO_OK, "%s", err.text);
    read_text(page, text);
    CHECK(strstr(text, "### f32, n = 30\n") && strstr(text, "| spd | `ldlt` | 100 % |"));
    CHECK(!strstr(text, "of them WRONG"));
    const char *image = strstr(text, "(img/");
    CHECK(image != NULL);
    snprintf(picture, sizeof picture, "%s/docs/%.*s", directory,
             image ? (int)strcspn(image + 1, ")") : 0, image ? image + 1 : "");
    read_text(picture, text);
    CHECK_MSG(strstr(text, "Distributions of the backward error, f32, n = 30") &&
                  strstr(text, ">spd</text>") && strstr(text, ">ldltp</text>") &&
                  strstr(text, "backward error"),
              "%s", picture);
    io_json_free(root);
    remove_directory(directory);
}

TEST(study_stops) {
    char directory[1024], path[1100], page[1100];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/study.json", directory);
    snprintf(page, sizeof page, "%s/study.md", directory);
    bench_study what = { .count = 2, .seed = 3 };
    io_error err;
    stops_after = 2;
    CHECK(write_study(path, &what, stop_later) == BENCH_STOPPED);
    CHECK_MSG(bench_study_page(path, page, &err) == IO_OK, "%s", err.text); /* of what is there */
    remove_directory(directory);
}

TEST(study_pages_refuse) {
    char directory[1024], path[1100], page[1100];
    io_error err;
    make_directory(directory);
    snprintf(path, sizeof path, "%s/empty.json", directory);
    snprintf(page, sizeof page, "%s/study.md", directory);
    FILE *file = fopen(path, "w");
    fputs("{}\n", file);
    CHECK(fclose(file) == 0);
    CHECK(bench_study_page(path, page, &err) == IO_E_FORMAT && strstr(err.text, "rows"));
    CHECK(bench_study_page("/nonexistent/study.json", page, &err) == IO_E_OPEN);
    CHECK(bench_figures("/nonexistent", page, &err) == IO_E_OPEN);
    CHECK(access(page, F_OK) != 0);
    remove_directory(directory);
}

/* One row of results, as the figures look at it. */
static void put_row(FILE *file, const char *method, const char *variant, const char *extra, int n,
                    int team, double rate) {
    static bool more;
    if (!method) { /* the beginning of a list */
        more = false;
        return;
    }
    fprintf(file,
            "%s{\"who\":\"Shoal\",\"module\":\"smallsym\",\"backend\":\"cuda\",\"type\":\"f32\","
            "\"kind\":\"spd\",\"storage\":\"full\",\"layout\":\"system\",\"nrhs\":1,\"refine\":0,"
            "\"outcome\":0,\"verified\":true,\"method\":\"%s\",\"variant\":\"%s\"%s,\"n\":%d,"
            "\"team\":%d,\"systems_per_second\":%.17g}",
            more ? ",\n" : "", method, variant, extra, n, team, rate);
    more = true;
}

static void begin_rows(FILE *file) {
    put_row(file, NULL, "", "", 0, 0, 0);
    fputs("{\"machine\":{\"device\":\"Test 1\",\"date\":\"today\"},\n\"rows\":[", file);
}

/* Figures 4 to 6 have rows, and those after them do not; then they have, too. */
TEST(figures_of_rows) {
    static const char reduce[] = ",\"stage\":\"reduce\"", pcr[] = ",\"stage\":\"pcr\"",
                      tridiag[] = ",\"pairs\":\"tridiag\"", none[] = ",\"stage\":\"none\"";
    char directory[1024], path[1100], page[1100], picture[1400], text[FILE_TEXT];
    io_error err;
    make_directory(directory);
    snprintf(path, sizeof path, "%s/one.json", directory);
    snprintf(page, sizeof page, "%s/docs/figures.md", directory);
    FILE *file = fopen(path, "w");
    begin_rows(file);
    for (int n = 8; n <= 16; n += 8) {
        put_row(file, "ldlt", "simd", "", n, 0, 100);
        put_row(file, "ldlt", "coop", none, n, 0, 200.0 * n / 8);
        put_row(file, "ldlt", "hybrid", none, n, 2, 300);
        put_row(file, "ldlt", "hybrid", none, n, n == 8 ? 4 : 64, 700);
        put_row(file, "ldlt", "hybrid", none, n, 1, 250);
        put_row(file, "ldlt", "team", "", n, 0, 1200);
    }
    put_row(file, "ldlt", "simd", "", 24, 0, 100); /* with nothing to be compared with */
    fputs("]}\n", file);
    CHECK(fclose(file) == 0);
    CHECK_MSG(bench_figures(directory, page, &err) == IO_OK, "%s", err.text);
    read_text(page, text);
    CHECK_MSG(strstr(text, "| n | coop | hybrid | team, ours |\n|---:|---:|---:|---:|\n"
                           "| 8 | 2.00 | 7.00 | 12.00 |\n| 16 | 4.00 | 7.00 | 12.00 |\n"),
              "%s", text);
    CHECK_MSG(strstr(text, "| n | n* | n | n / 2 |\n|---:|---:|---:|---:|\n| 8 | 4 | 8 | 4 |\n"
                           "| 16 | 16 | 16 | 8 |\n"), /* a team of 64 has 16 threads */
              "%s", text);
    CHECK(strstr(text, "| n | hybrid | team, ours | n^-3 |\n|---:|---:|---:|---:|\n"
                       "| 8 | 700 | 1.2e+03 | 5.6e+03 |\n"));
    CHECK(strstr(text, "## Figure 2\n\nLeft out: there is no study"));
    CHECK(strstr(text, "### Figure 9\n\nLeft out: there are no rows of `hhpcr` with `stage=pcr`."));
    CHECK(strstr(text, "### Figure 10\n\nLeft out") && strstr(text, "### Figure 12\n\nLeft out"));
    snprintf(picture, sizeof picture, "%s/docs/img/smallsym-figure-4-test-1.svg", directory);
    CHECK(strstr(read_text(picture, text), "Figure 4. LDLt: speed-up") &&
          strstr(text, ">hybrid</text>") && strstr(text, "Test 1, f32"));

    snprintf(path, sizeof path, "%s/two.json", directory);
    file = fopen(path, "w");
    begin_rows(file);
    put_row(file, "hhpcr", "formed", pcr, 16, 0, 5000);
    put_row(file, "hhpcr", "simd", reduce, 16, 0, 10);
    put_row(file, "hhpcr", "coop", reduce, 16, 0, 60);
    put_row(file, "hhpcr", "reflect", reduce, 16, 0, 90);
    put_row(file, "hhpcr", "coop", none, 16, 0, 140);
    put_row(file, "hhpcr", "reflect", none, 16, 0, 400);
    put_row(file, "eigdc", "middle", tridiag, 16, 0, 15);
    put_row(file, "eigdc", "gragg", tridiag, 16, 0, 30);
    fputs(
        "],\n\"conditions\":{\"kind\":\"regression\",\"n\":30,\"count\":2,\"values\":[900000,1e6]}}",
        file);
    CHECK(fclose(file) == 0);
    CHECK_MSG(bench_figures(directory, page, &err) == IO_OK, "%s", err.text);
    read_text(page, text);
    CHECK_MSG(strstr(text, "2 systems: 9e+05 to 1e+06."), "%s", text);
    CHECK_MSG(strstr(text, "| n | PCR, two products | ldlt hybrid |\n|---:|---:|---:|\n"
                           "| 16 | 5e+03 | 700 |\n"),
              "%s", text);
    CHECK_MSG(strstr(text, "| n | simd / coop | hhpcr coop / ldlt hybrid | reflect / team, ours |\n"
                           "|---:|---:|---:|---:|\n| 16 | 6.00 | 5.00 | 3.00 |\n"),
              "%s", text);
    CHECK_MSG(strstr(text, "| n | over coop | over our fastest |\n|---:|---:|---:|\n"
                           "| 16 | 2.00 | 3.00 |\n"),
              "%s", text);
    CHECK(!strstr(text, "Left out"));
    snprintf(picture, sizeof picture, "%s/docs/img/smallsym-figure-2.svg", directory);
    CHECK(strstr(read_text(picture, text), "regression, n = 30, raw basis: 9e+05 to 1e+06"));

    file = fopen(path, "w"); /* a study alone */
    begin_rows(file);
    fputs("]}", file);
    CHECK(fclose(file) == 0);
    snprintf(path, sizeof path, "%s/one.json", directory);
    CHECK(remove(path) == 0 && bench_figures(directory, page, &err) == IO_OK);
    CHECK(strstr(read_text(page, text), "The other figures are left out") &&
          !strstr(text, "## Test 1"));
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
    RUN(study_pages_refuse);
    RUN(figures_of_rows);
    return TEST_END();
}
