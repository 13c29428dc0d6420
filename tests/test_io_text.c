/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_text.c - JSON written and read back, charts (well-formed, everything inside the picture), damaged JSON.
 */
#define _XOPEN_SOURCE 700

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/json.h"
#include "io/svg.h"
#include "test_io.h"

/* What was written to a stream in memory, as text; the caller frees it. */
typedef struct capture {
    FILE *file;
    char *text;
    size_t size;
} capture;

static FILE *start(capture *c) { return c->file = open_memstream(&c->text, &c->size); }

static char *stop(capture *c) {
    fclose(c->file);
    return c->text;
}

TEST(json_writes_readable_text) {
    capture c;
    io_json j;
    io_error e;
    io_json_begin(&j, start(&c), 2);
    io_json_object(&j, NULL);
    io_json_string(&j, "a\"b", "tab\t\x01 \xC3\xA9 \xFF \xED\xA0\x80");
    io_json_uint(&j, "big", UINT64_MAX);
    io_json_int(&j, "small", INT64_MIN);
    io_json_double(&j, "nan", NAN);
    io_json_array(&j, "rows");
    io_json_doubles(&j, NULL, (const double[]){ 0.1, -2, INFINITY }, 3);
    io_json_object_line(&j, NULL);
    io_json_bool(&j, "x", true);
    io_json_null(&j, "y");
    io_json_close(&j);
    io_json_close(&j);
    io_json_array(&j, "empty");
    io_json_close(&j);
    io_json_close(&j);
    CHECK(io_json_end(&j, &e) == IO_OK);
    const char *wanted = "{\n"
                         "  \"a\\\"b\": \"tab\\t\\u0001 \xC3\xA9 \\ufffd \\ufffd\\ufffd\\ufffd\",\n"
                         "  \"big\": 18446744073709551615,\n"
                         "  \"small\": -9223372036854775808,\n"
                         "  \"nan\": null,\n"
                         "  \"rows\": [\n"
                         "    [0.1, -2, null],\n"
                         "    {\"x\": true, \"y\": null}\n"
                         "  ],\n"
                         "  \"empty\": []\n"
                         "}\n";
    CHECK_MSG(strcmp(stop(&c), wanted) == 0, "%s", c.text);
    free(c.text);
}

TEST(json_numbers_survive) {
    static const double numbers[] = { 0.1, -0.0, DBL_MAX, DBL_MIN, 4.9e-324, 1e22, 1.0 / 3, 5 };
    static const float floats[] = { 0.1f, FLT_MAX, 1e-45f, 16777217.0f };
    static const int64_t integers[] = { 0, 1, -1, INT64_MAX, INT64_MIN, 9007199254740993 };
    capture c;
    io_json j;
    io_error e;
    io_json_begin(&j, start(&c), 0);
    io_json_object(&j, NULL);
    io_json_doubles(&j, "d", numbers, 8);
    io_json_array_line(&j, "f");
    for (int k = 0; k < 4; k++) io_json_float(&j, NULL, floats[k]);
    io_json_close(&j);
    io_json_ints(&j, "i", integers, 6);
    io_json_uint(&j, "u", UINT64_MAX);
    io_json_close(&j);
    CHECK(io_json_end(&j, &e) == IO_OK);
    io_json_value *root;
    CHECK(io_json_parse("x", stop(&c), c.size, &root, &e) == IO_OK);
    for (int k = 0; k < 8; k++) {
        const io_json_value *v = io_json_at(io_json_get(root, "d"), k);
        CHECK_MSG(v && memcmp(&v->number, &numbers[k], 8) == 0, "number %d", k);
    }
    for (int k = 0; k < 4; k++) {
        const io_json_value *v = io_json_at(io_json_get(root, "f"), k);
        CHECK(v && (float)v->number == floats[k]);
    }
    for (int k = 0; k < 6; k++) {
        const io_json_value *v = io_json_at(io_json_get(root, "i"), k);
        CHECK(v && v->kind == IO_JSON_INT && v->integer == integers[k]);
    }
    const io_json_value *u = io_json_get(root, "u");
    CHECK(u && u->kind == IO_JSON_UINT && u->natural == UINT64_MAX);
    CHECK(!io_json_get(root, "none") && !io_json_at(root, 0) &&
          !io_json_at(io_json_get(root, "d"), 8) && !io_json_get(NULL, "d"));
    io_json_free(root);
    free(c.text);
}

TEST(json_is_copied) {
    static const char text[] =
        "{\"a\": [1, -2.5e-300, 18446744073709551615, null, true, \"\\u00e9\\\"\"], "
        "\"b\": {\"c\": {}, \"d\": 0.1}}\n";
    capture c;
    io_json j;
    io_error e;
    io_json_value *root;
    CHECK(io_json_parse("x", text, strlen(text), &root, &e) == IO_OK);
    io_json_begin(&j, start(&c), 1);
    io_json_copy(&j, NULL, root);
    CHECK(io_json_end(&j, &e) == IO_OK);
    CHECK_MSG(strcmp(stop(&c), "{\"a\": [1, -2.5e-300, 18446744073709551615, null, true, "
                               "\"\xC3\xA9\\\"\"], \"b\": {\"c\": {}, \"d\": 0.1}}\n") == 0,
              "%s", c.text);
    io_json_free(root);
    free(c.text);
}

TEST(json_misuse_is_reported) {
    for (int mistake = 0; mistake < 8; mistake++) {
        capture c;
        io_json j;
        io_error e = { "" };
        io_json_begin(&j, start(&c), 2);
        if (mistake != 0) io_json_object(&j, mistake == 1 ? "key" : NULL);
        if (mistake == 2) io_json_int(&j, NULL, 1);
        if (mistake == 3) io_json_array(&j, "a"), io_json_int(&j, "b", 1), io_json_close(&j);
        if (mistake == 4)
            for (int k = 0; k < 100; k++) io_json_object(&j, "deep");
        if (mistake == 5) io_json_close(&j), io_json_close(&j);
        if (mistake == 6) io_json_close(&j), io_json_object(&j, NULL);
        if (mistake != 7 && mistake != 0) io_json_close(&j); /* 7: still open; 0: nothing */
        CHECK_MSG(io_json_end(&j, &e) == IO_E_FORMAT && e.text[0], "mistake %d", mistake);
        free(stop(&c));
    }
}

/* Reads text that must fail at this place for this reason. */
static void expect_json(const char *text, const char *message) {
    io_json_value *root;
    io_error e = { "" };
    CHECK_MSG(io_json_parse("r.json", text, strlen(text), &root, &e) == IO_E_FORMAT && !root, "%s",
              text);
    CHECK_MSG(strcmp(e.text, message) == 0, "said: %s\nnot:  %s", e.text, message);
    io_json_free(root);
}

TEST(json_errors_have_a_place) {
    expect_json("", "r.json: file is empty");
    expect_json(" \n", "r.json: file is empty");
    expect_json("\x93NUMPY\x01", "r.json: a NumPy array (.npy); expected JSON");
    expect_json("{\n  \"a\": 1\n  \"b\": 2\n}", "r.json:3:3: expected ',' or '}'");
    expect_json("[1, 2,]", "r.json:1:7: expected a value");
    expect_json("[01]", "r.json:1:2: bad number");
    expect_json("[1.]", "r.json:1:2: bad number");
    expect_json("[1e999]", "r.json:1:2: bad number");
    expect_json("[-]", "r.json:1:2: bad number");
    expect_json("[NaN]", "r.json:1:2: expected a value");
    expect_json("{\"a\" 1}", "r.json:1:6: expected ':'");
    expect_json("{a: 1}", "r.json:1:2: expected a string");
    expect_json("{\"a\":1,\"b\":2,\"a\":3}",
                "r.json:1:1: an object has two members of the same name");
    expect_json("\"abc", "r.json:1:1: a string has no end");
    expect_json("\"a\nb\"", "r.json:1:3: control character in a string");
    expect_json("\"\x1f\"", "r.json:1:2: control character in a string");
    expect_json("\"\\x\"", "r.json:1:2: unknown escape in a string");
    static const char *const escapes[] = { "\"\\ud800\"",        "\"\\udbff\"",
                                           "\"\\udc00\"",        "\"\\udfff\"",
                                           "\"\\ud800\\ue000\"", "\"\\ud800\\udbff\"",
                                           "\"\\ud800\\ud800\"", "\"\\ud800 dc00\"",
                                           "\"\\u0000\"",        "\"\\u12g4\"" };
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        expect_json(escapes[i], "r.json:1:2: bad \\u escape in a string");
    expect_json("\"\xC0\x80\"", "r.json:1:2: a string is not UTF-8");
    expect_json("1 2", "r.json:1:3: text after the value");
    char deep[200];
    memset(deep, '[', 100);
    deep[100] = '\0';
    expect_json(deep, "r.json:1:65: nesting too deep");
    static const char *const texts[][2] = {
        { "\"\\ud83d\\ude00 \\u00e9\\/\\b\"", "\xF0\x9F\x98\x80 \xC3\xA9/\b" },
        { "\"\\u0001\\u007f\\u0080\\u07fF\"", "\x01\x7F\xC2\x80\xDF\xBF" },
        { "\"\\u0800\\ud7ff\\ue000\\uffff\"", "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF" },
        { "\"\\ud800\\udc00\\udbff\\udfff\"", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF" }
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        io_json_value *root = NULL;
        io_json_parse("x", texts[i][0], strlen(texts[i][0]), &root, NULL);
        CHECK_MSG(root && strcmp(root->string, texts[i][1]) == 0, "%s", texts[i][0]);
        io_json_free(root);
    }
}

/* A text may end anywhere: nothing behind its last byte is read (AddressSanitizer) or makes a difference. */
TEST(json_ends_where_it_ends) {
    static const char json[] = "[-1.5e+2, 1E-3, true, \"\\ud83d\\ude00\\n\", {\"a\": null}]";
    for (size_t first = 0; first < sizeof json - 1; first++)
        for (size_t end = first + 1; end < sizeof json; end++) {
            const size_t size = end - first;
            char *bytes = malloc(size);
            CHECK(bytes != NULL);
            if (!bytes) return;
            memcpy(bytes, json + first, size);
            io_error e = { "" }, other = { "" };
            io_json_value *root = NULL, *within = NULL;
            const int status = io_json_parse("x", bytes, size, &root, &e);
            CHECK(io_json_parse("x", json + first, size, &within, &other) == status);
            CHECK((status == IO_OK) == (root != NULL) && !root == !within);
            CHECK_MSG(strcmp(e.text, other.text) == 0, "%s, not %s", e.text, other.text);
            io_json_free(root), io_json_free(within);
            free(bytes);
        }
}

TEST(files_that_are_no_text) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *is;
    } cases[] = { { "\x93NUMPY\x01", 7, "a NumPy array (.npy)" },
                  { "PK\x03\x04", 4, "a zip archive (.npz)" },
                  { "\x89HDF\r\n\x1a\n", 8, "an HDF5 file (.h5)" },
                  { "SHOALNET", 8, "a network (.net)" },
                  { "a,b\0\n", 5, "a binary file" },
                  { "a,b\n1,2\n", 8, NULL },
                  { "PK,b\n", 5, NULL },
                  { "\xEF\xBB\xBF\xC3\xA9\n", 6, NULL },
                  { "", 0, NULL } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *is = io_not_text(cases[i].bytes, cases[i].size);
        CHECK_MSG(cases[i].is ? is && strcmp(is, cases[i].is) == 0 : !is, "case %zu: %s", i,
                  is ? is : "text");
    }
}

/* Numbers after an attribute name, each checked to lie in [0, limit]. */
static int check_attribute(const char *svg, const char *name, double limit) {
    int found = 0;
    for (const char *p = strstr(svg, name); p; p = strstr(p + 1, name), found++) {
        double value = strtod(p + strlen(name), NULL);
        CHECK_MSG(value >= 0 && value <= limit, "%s%g", name, value);
    }
    return found;
}

TEST(charts) {
    double x[10], y[3][10], error[10];
    for (int i = 0; i < 10; i++) {
        x[i] = ldexp(1, i + 2);
        y[0][i] = 1e6 * (i + 1);
        y[1][i] = i == 4 ? NAN : 3e4 * (i + 1) * (i + 1);
        y[2][i] = i < 3 ? -1 : 2e5;
        error[i] = 1e4;
    }
    io_series series[3] = { { .name = "one & <two>", .count = 10, .x = x, .y = y[0] },
                            { .name = "peer", .count = 10, .x = x, .y = y[1], .dashed = true },
                            { .name = "late", .count = 10, .x = x, .y = y[2], .error = error } };
    io_chart chart = { .title = "A \"title\"",
                       .x_label = "n",
                       .y_label = "per second",
                       .series_count = 3,
                       .series = series };
    for (int scale = 0; scale < 9; scale++) {
        for (int points = 0; points <= 10; points += points == 2 ? 8 : 1) {
            capture c;
            io_error e;
            chart.x_scale = (io_scale)(scale % 3);
            chart.y_scale = (io_scale)(scale / 3);
            for (int k = 0; k < 3; k++) series[k].count = points;
            CHECK(io_svg_lines(start(&c), &chart, &e) == IO_OK);
            char *svg = stop(&c);
            CHECK(!strncmp(svg, "<svg ", 5) && !strcmp(svg + c.size - 7, "</svg>\n"));
            CHECK(strstr(svg, "one &amp; &lt;two&gt;") && strstr(svg, "A &quot;title&quot;"));
            CHECK(!strstr(svg, "nan") && !strstr(svg, "inf") && !strstr(svg, " id="));
            CHECK(check_attribute(svg, "<text x=\"", 760) > 6);
            check_attribute(svg, "cx=\"", 760);
            check_attribute(svg, "cy=\"", 440);
            CHECK(strstr(svg, "prefers-color-scheme:dark") != NULL);
            free(svg);
        }
    }
    const char *names[4] = { "tridiag", "merge", "shoal", "peer" };
    double values[4] = { 12, 3456.5, NAN, 0.02 };
    io_bars bars = {
        .title = "Bars", .value_label = "x", .count = 4, .names = names, .values = values
    };
    capture c;
    io_error e;
    CHECK(io_svg_bars(start(&c), &bars, &e) == IO_OK);
    char *svg = stop(&c);
    CHECK(strstr(svg, ">12.0<") && strstr(svg, ">–<") && !strstr(svg, "nan"));
    check_attribute(svg, "<text x=\"", 760);
    free(svg);
    chart.series_count = IO_SVG_MAX_SERIES + 1, bars.count = 1001;
    CHECK(io_svg_write_lines(in_dir("c.svg"), &chart, &e) == IO_E_SIZE);
    CHECK(io_svg_bars(start(&c), &bars, &e) == IO_E_SIZE);
    free(stop(&c));
    CHECK(files_in_dir("c.svg") == 0 && files_in_dir(".shoal-") == 0);
}

TEST(damaged_text) {
    static const char json[] =
        "{\"a\": [1, -2.5e3, true, null, \"x\\u00e9\\n\"], \"b\": {\"c\": {}}}";
    static const char csv[] = "a,\"b, c\",d\n1,2,3\n\"3\",4e5,-1\r\n7,8,9";
    uint64_t state = 31337;
    struct rlimit old = limit_memory((rlim_t)256 << 20);
    for (int k = 0; k < 20000; k++) {
        size_t size = k % 2 ? sizeof json - 1 : sizeof csv - 1;
        char *bytes = damage(k % 2 ? json : csv, &size, &state);
        io_error e = { "" };
        io_json_value *root;
        io_table table;
        int status = io_json_parse("x", bytes, size, &root, &e);
        CHECK((status == IO_OK) == (root != NULL) && status != IO_E_MEMORY);
        io_json_free(root);
        status = io_csv_parse("x", bytes, size, &table, &e);
        CHECK((status == IO_OK) == (table.data != NULL) && status != IO_E_MEMORY);
        io_table_free(&table);
        free(bytes);
    }
    restore_memory(old);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(json_writes_readable_text);
    RUN(json_numbers_survive);
    RUN(json_is_copied);
    RUN(json_misuse_is_reported);
    RUN(json_errors_have_a_place);
    RUN(json_ends_where_it_ends);
    RUN(files_that_are_no_text);
    RUN(charts);
    RUN(damaged_text);
    remove_dir();
    return TEST_END();
}
