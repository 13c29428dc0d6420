/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_study_symindef.c - the studies of Kruchinina's thesis about symmetric indefinite factorizations: their
 * numbers, and parts that take the place of others. Small matrices.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <float.h>
#include <math.h>
#include <unistd.h>

#include "bench/study.h"
#include "io/hdf5.h"

static const double alpha_0 = 0.64038820320220756872767623199676;

/* A study as `shoal study` writes it. */
static int write_study(const char *path, bench_symindef_study *what, bool (*stop)(void)) {
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
    io_json_string(&json, "study", "symindef");
    io_json_int(&json, "seed", 3);
    bench_json_machine(&s, &json);
    io_json_array(&json, "rows");
    const int code = place ? bench_study_symindef(&s, place, what, &json) : BENCH_ERROR;
    CHECK_MSG(code != BENCH_ERROR, "%s", s.message);
    io_json_close(&json);
    io_json_close(&json);
    CHECK(io_json_end(&json, &err) == IO_OK && fclose(file) == 0);
    bench_session_end(&s);
    return code;
}

static double number(const io_json_value *row, const char *key) { return row_number(row, key); }

static bool is_part(const io_json_value *row, const char *part) {
    return strcmp(row_text(row, "part"), part) == 0;
}

/* What holds of every factorization: the promise on its error, and that no smaller measure is more. */
static void check_factorization(const io_json_value *row) {
    const double n = number(row, "n"), alpha = number(row, "alpha");
    const io_json_value *verified = io_json_get(row, "verified");
    CHECK(verified && verified->boolean && number(row, "rank") == n);
    CHECK(number(row, "pivots_1x1") + 2 * number(row, "pivots_2x2") == n);
    CHECK_MSG(number(row, "relative_error") <= 10 * n * DBL_EPSILON &&
                  number(row, "vector_error") <= number(row, "relative_error") &&
                  (number(row, "relative_error") > 0 || n < 20),
              "n = %g: %g, %g", n, number(row, "relative_error"), number(row, "vector_error"));
    CHECK(number(row, "growth") >= 1 && number(row, "rows_checked") == n);
    CHECK(number(row, "max_multiplier") <= fmax(1 / alpha, 1 / (1 - alpha)) * (1 + 1e-13));
    CHECK(number(row, "samples") >= 1 && number(row, "median_s") > 0);
}

TEST(study_of_all_parts) {
    char directory[1024], path[1100], scratch[1100];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/study.json", directory);
    snprintf(scratch, sizeof scratch, "%s/a.h5", directory);
    bench_symindef_study what = { .parts = STUDY_ALL, .max_n = 40, .seed = 3, .scratch = scratch };
    io_json_value *root = NULL;
    io_error err;
    CHECK(write_study(path, &what, NULL) == BENCH_OK && what.wrong == 0);
    CHECK(access(scratch, F_OK) != 0);
    CHECK_MSG(io_json_read(path, &root, &err) == IO_OK, "%s", err.text);
    const io_json_value *rows = io_json_get(root, "rows"), *row = rows ? rows->first : NULL;
    int count[3] = { 0 };
    bool usual = false;
    for (; row; row = row->next) {
        if (!is_part(row, "read")) check_factorization(row);
        if (is_part(row, "alpha")) {
            count[0]++;
            CHECK(number(row, "n") == 40 && number(row, "seed") == 3);
            usual |= number(row, "alpha") == alpha_0;
        } else if (is_part(row, "sizes")) {
            CHECK(number(row, "n") == 4 * (count[1] / 3 + 1) && number(row, "alpha") == alpha_0);
            CHECK(number(row, "seed") == 3 + count[1] % 3);
            CHECK_MSG(number(row, "gjgt_error") <= 10 * number(row, "n") * DBL_EPSILON &&
                          number(row, "gjgt_vector_error") <= number(row, "gjgt_error") &&
                          (number(row, "gjgt_error") > 0 || number(row, "n") < 20),
                      "G J Gt of n = %g: %g", number(row, "n"), number(row, "gjgt_error"));
            count[1]++;
        } else {
            CHECK(number(row, "n") == 5 << (count[2] / 3) && number(row, "median_s") > 0);
            count[2]++;
        }
    }
    CHECK(count[0] == 9 && count[1] == 30 && usual);
    CHECK(count[2] == (io_h5_available() ? 12 : 0));
    CHECK(bench_study_symindef_cases(&what) == 9 + 30 + 4);
    io_json_free(root);
    remove_directory(directory);
}

/* A matrix that is given: [1 2; 2 1] has its 2x2 pivot from alpha = 1/2 on. */
TEST(study_of_a_given_matrix) {
    char directory[1024], path[1100];
    double numbers[3] = { 1, 2, 1 };
    const io_array lower = { .type = IO_F8, .ndim = 1, .shape = { 3 }, .data = numbers };
    make_directory(directory);
    snprintf(path, sizeof path, "%s/study.json", directory);
    bench_symindef_study what = {
        .parts = STUDY_ALPHA, .seed = 3, .name = "two.mtx", .lower = &lower, .n = 2
    };
    io_json_value *root = NULL;
    io_error err;
    CHECK(write_study(path, &what, NULL) == BENCH_OK && what.wrong == 0);
    CHECK_MSG(io_json_read(path, &root, &err) == IO_OK, "%s", err.text);
    const io_json_value *rows = io_json_get(root, "rows");
    CHECK(rows && rows->count == 9);
    for (const io_json_value *row = rows ? rows->first : NULL; row; row = row->next) {
        CHECK(strcmp(row_text(row, "matrix"), "two.mtx") == 0 && number(row, "n") == 2);
        CHECK(number(row, "pivots_2x2") == (number(row, "alpha") > 0.5));
        CHECK(number(row, "relative_error") == 0);
        CHECK(bench_study_symindef_replaces(&what, row)); /* by itself, and by nothing else */
        CHECK(!bench_study_symindef_replaces(
            &(bench_symindef_study){ .parts = STUDY_ALPHA, .name = "three.mtx" }, row));
        CHECK(!bench_study_symindef_replaces(&(bench_symindef_study){ .parts = STUDY_ALPHA }, row));
        CHECK(!bench_study_symindef_replaces(
            &(bench_symindef_study){ .parts = STUDY_SIZES | STUDY_READ }, row));
    }
    io_json_free(root);
    remove_directory(directory);
}

TEST(study_stops) {
    char directory[1024], path[1100];
    io_json_value *root = NULL;
    io_error err;
    make_directory(directory);
    snprintf(path, sizeof path, "%s/study.json", directory);
    for (int questions = 0; questions < 12; questions += 3) {
        bench_symindef_study what = { .parts = STUDY_ALPHA | STUDY_SIZES, .max_n = 20, .seed = 3 };
        stops_after = questions;
        CHECK(write_study(path, &what, stop_later) == BENCH_STOPPED);
        CHECK_MSG(io_json_read(path, &root, &err) == IO_OK, "%s", err.text); /* of what is there */
        io_json_free(root);
    }
    remove_directory(directory);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(study_of_all_parts);
    RUN(study_of_a_given_matrix);
    RUN(study_stops);
    return TEST_END();
}
