/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench.h - what the tests of the bench share: problems from a string, a small run, its JSON.
 */
#ifndef SHOAL_TEST_BENCH_H
#define SHOAL_TEST_BENCH_H

#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/session.h"
#include "io/json.h"

static const char *bench_backend = "cpu"; /* where what is tested runs */

/* Takes --backend=... out of the arguments. */
static inline void take_backend(int *argc, char **argv) {
    if (test_take_backend(argc, argv, "cpu")) bench_backend = "cpu";
    if (test_take_backend(argc, argv, "cuda")) bench_backend = "cuda";
}

/* Whether that backend answers; a test without one says so and skips. */
static inline bool backend_is_here(void) {
    shoal_context *ctx = NULL;
    const bool here = shoal_open(&(shoal_options){ .backend = bench_backend }, &ctx) == SHOAL_OK;
    if (!here) printf("skip  no tests on %s: %s\n", bench_backend, shoal_message(ctx));
    shoal_close(ctx);
    return here;
}

/* The problems of a string; on error none, and the message in *err. */
static inline bench_problems parse(const char *text, io_error *err) {
    const bench_defaults defaults = { .backend = bench_backend, .seed = 7 };
    bench_problems list = { 0 };
    err->text[0] = 0;
    int status = bench_problem_parse(text, &defaults, &list, err);
    CHECK_MSG((status == IO_OK) == (err->text[0] == 0), "%s: %s", text, err->text);
    return list;
}

/* A session on two threads over one string; flags as bench_run's. */
static inline int run(bench_session *s, const char *text, int flags) {
    io_error err;
    bench_problems list = parse(text, &err);
    bench_session_begin(s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
    s->rules = (bench_rules){ .samples = 2, .exact = true };
    CHECK_MSG(list.count > 0, "%s", err.text);
    int result = bench_run(s, &list, flags);
    CHECK_MSG(result != BENCH_ERROR, "%s", s->message);
    bench_problems_free(&list);
    return result;
}

static inline void write_json(const bench_session *s, FILE *file) {
    io_json json;
    io_error err;
    io_json_begin(&json, file, 1);
    io_json_object(&json, NULL);
    bench_json(s, &json);
    io_json_close(&json);
    CHECK(io_json_end(&json, &err) == IO_OK);
}

static inline io_json_value *json_of(const bench_session *s) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    io_error err;
    io_json_value *root = NULL;
    write_json(s, file);
    fclose(file);
    CHECK_MSG(io_json_parse("bench", text, size, &root, &err) == IO_OK, "%s", err.text);
    free(text);
    return root;
}

/* Ctrl-C at a later question: the number of those that are answered with no. */
static int stops_after;
static inline bool stop_later(void) { return stops_after-- <= 0; }

/* Ctrl-C at each of the first questions of a problem, before its answer is judged: no row, no verdict. */
static inline void check_stops(const char *text, int most) {
    io_error err;
    bench_problems list = parse(text, &err);
    for (int questions = 0; questions < most; questions++) {
        bench_session s;
        bench_session_begin(&s, &(shoal_options){ .backend = bench_backend, .threads = 1 });
        s.rules.stop = stop_later;
        stops_after = questions;
        CHECK(bench_run(&s, &list, 0) == BENCH_STOPPED && s.row_count == 0);
        bench_session_end(&s);
    }
    bench_problems_free(&list);
}

/* Strings that are no problems, and what of the message names the part at fault. */
typedef struct bench_refusal {
    const char *text, *says;
} bench_refusal;

static inline void check_refusals(const bench_refusal *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        io_error err;
        bench_problems list = parse(cases[i].text, &err);
        CHECK_MSG(list.count == 0 && strstr(err.text, cases[i].says), "'%s' gave '%s'",
                  cases[i].text, err.text);
        bench_problems_free(&list);
    }
}

/* A directory of our own, and its end. */
static inline char *make_directory(char path[1024]) {
    const char *where = getenv("TMPDIR");
    snprintf(path, 1024, "%s/shoal-bench-XXXXXX", where ? where : P_tmpdir);
    CHECK(mkdtemp(path) != NULL);
    return path;
}

static inline void remove_directory(const char *path) {
    char command[1100];
    snprintf(command, sizeof command, "rm -r '%s'", path);
    CHECK(system(command) == 0);
}

/* The first bytes of a file as text; "" if there is none. */
enum { FILE_TEXT = 1 << 15 };
static inline char *read_text(const char *path, char text[FILE_TEXT]) {
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, FILE_TEXT - 1, file) : 0;
    text[size] = 0;
    if (file) fclose(file);
    return text;
}

/* A member of a row as text ("" if it is none) or number (NaN). */
static inline const char *row_text(const io_json_value *row, const char *key) {
    const io_json_value *value = io_json_get(row, key);
    return value && value->kind == IO_JSON_STRING ? value->string : "";
}

static inline double row_number(const io_json_value *row, const char *key) {
    const io_json_value *value = io_json_get(row, key);
    const bool number = value && (value->kind == IO_JSON_INT || value->kind == IO_JSON_UINT ||
                                  value->kind == IO_JSON_DOUBLE);
    return number ? value->number : NAN;
}

#endif
