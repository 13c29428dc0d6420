/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_csv.c - CSV tables and cells, written and read back, damaged ones, and UTF-8.
 */
#define _XOPEN_SOURCE 700

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "io/csv.h"
#include "io/file.h"
#include "test_io.h"

static void expect_csv(const char *text, const char *message) {
    io_table t;
    io_error e = { "" };
    CHECK_MSG(io_csv_parse("p.csv", text, strlen(text), &t, &e) < 0 && !t.names && !t.data, "%s",
              text);
    CHECK_MSG(strcmp(e.text, message) == 0, "said: %s\nnot:  %s", e.text, message);
}

TEST(csv_tables) {
    io_table t, back;
    io_error e = { "" };
    const char *text =
        "\xEF\xBB\xBF\r\nspot, \"a, \"\"b\"\"\" ,T\r\n1,2.5, -3e-2 \r\n\r\n\"4\",5,6";
    CHECK_MSG(io_csv_parse("p.csv", text, strlen(text), &t, &e) == IO_OK, "%s", e.text);
    CHECK(t.rows == 2 && t.cols == 3 && io_table_column(&t, "T") == 2);
    CHECK(io_table_column(&t, "a, \"b\"") == 1 && io_table_column(&t, "no") == -1);
    const double wanted[6] = { 1, 2.5, -3e-2, 4, 5, 6 };
    CHECK(memcmp(t.data, wanted, sizeof wanted) == 0);
    t.data[0] = 1.0 / 3;
    io_out *out;
    CHECK_MSG(io_out_open(in_dir("t.csv"), &out, &e) == IO_OK, "%s", e.text);
    io_csv_header(io_out_file(out), (const char *const *)t.names, t.cols);
    for (int i = 0; i < 2; i++) io_csv_row(io_out_file(out), t.data + 3 * i, 3);
    CHECK_MSG(io_out_commit(out, &e) == IO_OK, "%s", e.text);
    CHECK_MSG(io_csv_read(in_dir("t.csv"), &back, &e) == IO_OK, "%s", e.text);
    CHECK(back.rows == 2 && back.cols == 3 && memcmp(t.data, back.data, sizeof wanted) == 0);
    CHECK(back.names && strcmp(back.names[1], "a, \"b\"") == 0);
    io_table_free(&t);
    io_table_free(&back);
    CHECK(io_csv_parse("p.csv", "a,b\n", 4, &t, &e) == IO_OK && t.rows == 0 && t.cols == 2);
    io_table_free(&t);
}

/* The first and the last code of each length, and what lies beside them: Unicode's table 3-7. */
TEST(utf8) {
    static const struct {
        const char *text;
        int length;
    } rows[] = {
        { "\x7F", 1 },
        { "\x80", 0 },
        { "\xC1\xBF", 0 },
        { "\xC2\x80", 2 },
        { "\xC2\x7F", 0 },
        { "\xC2\xC0", 0 },
        { "\xDF\xBF", 2 },
        { "\xDF", 0 },
        { "\xE0\x9F\xBF", 0 },
        { "\xE0\xA0\x80", 3 },
        { "\xE1\x80\x80", 3 },
        { "\xED\x9F\xBF", 3 },
        { "\xED\xA0\x80", 0 },
        { "\xEF\xBF\xBF", 3 },
        { "\xEF\xBF", 0 },
        { "\xF0\x8F\xBF\xBF", 0 },
        { "\xF0\x90\x80\x80", 4 },
        { "\xF4\x8F\xBF\xBF", 4 },
        { "\xF4\x90\x80\x80", 0 },
        { "\xF5\x80\x80\x80", 0 },
        { "\xF4\x8F\xBF\x40", 0 },
        { "\xF4\x8F\xBF", 0 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        CHECK_MSG(io_utf8_length(rows[k].text, strlen(rows[k].text)) == rows[k].length, "row %zu",
                  k);
    CHECK(io_utf8_length("", 0) == 0);
}

/* Cells as text: a row has as many as there are columns, no fewer and no more. */
TEST(csv_cells) {
    static const char *const bad[][2] = {
        { "a,b\n1,2\n3\n", "p.csv:3: column b: missing" },
        { "a,b\n1,2,3\n", "p.csv:2: more fields than columns, 2" },
        { "a,b\n1,\"2\n", "p.csv:2: column b: wrong quotes" },
    };
    static const char text[] = "name,\"the, value\"\nx,\"a \"\"b\"\"\"\n\n,2\n";
    io_cells c;
    io_error e;
    CHECK_MSG(io_csv_parse_cells("p.csv", text, sizeof text - 1, &c, &e) == IO_OK, "%s", e.text);
    CHECK(c.head.rows == 2 && c.head.cols == 2 && strcmp(c.head.names[1], "the, value") == 0);
    CHECK(strcmp(c.text[0], "x") == 0 && strcmp(c.text[1], "a \"b\"") == 0);
    CHECK(strcmp(c.text[2], "") == 0 && strcmp(c.text[3], "2") == 0);
    CHECK(c.line[0] == 2 && c.line[1] == 4);
    io_cells_free(&c);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK(io_csv_parse_cells("p.csv", bad[k][0], strlen(bad[k][0]), &c, &e) == IO_E_FORMAT);
        CHECK_MSG(strcmp(e.text, bad[k][1]) == 0 && !c.text, "%s", e.text);
    }
}

/* A text stays on its line; it is quoted if it would not come back without quotes. */
TEST(csv_texts_stay_on_their_line) {
    static const char *const texts[][2] = { { "plain", "plain" },     { "", "" },
                                            { "a\nb", "\"a b\"" },    { "a\rb", "\"a b\"" },
                                            { "a\r\nb", "\"a  b\"" }, { "a,b", "\"a,b\"" },
                                            { "a\"b", "\"a\"\"b\"" }, { " a", "\" a\"" },
                                            { "a ", "\"a \"" },       { "a b", "a b" } };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        char *written = NULL;
        size_t size;
        FILE *file = open_memstream(&written, &size);
        CHECK(file != NULL);
        if (!file) return;
        io_csv_text(file, texts[k][0]);
        fclose(file);
        CHECK_MSG(strcmp(written, texts[k][1]) == 0, "'%s', expected '%s'", written, texts[k][1]);
        free(written);
    }
}

TEST(csv_rows_have_lines) {
    static const char text[] = "\xEF\xBB\xBF\na,b\n1,2\n\n \r\n3,4\n";
    FILE *file = fopen(in_dir("lines.csv"), "wb");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(io_csv_line(in_dir("lines.csv"), -1) == 2); /* the header */
    CHECK(io_csv_line(in_dir("lines.csv"), 0) == 3);
    CHECK(io_csv_line(in_dir("lines.csv"), 1) == 6);
    CHECK(io_csv_line(in_dir("lines.csv"), 2) == 0); /* there is none */
    CHECK(io_csv_line(in_dir("nowhere.csv"), 0) == 0);
}

TEST(csv_errors_name_the_column) {
    expect_csv("", "p.csv: file is empty");
    expect_csv("\n \r\n", "p.csv: file is empty");
    expect_csv("\x93NUMPY\x01", "p.csv: a NumPy array (.npy); expected a table of text (CSV)");
    expect_csv("a,,b\n", "p.csv:1: column 2 has no name");
    expect_csv("a,b,a\n", "p.csv:1: column a appears twice");
    expect_csv("a,\"b\n", "p.csv:1: column 2: wrong quotes");
    expect_csv("a,b\n1,2\n\n1,x\n", "p.csv:4: column b: 'x' is not a number");
    expect_csv("a,b\n1,\n", "p.csv:2: column b: empty");
    expect_csv("a,b\n1\n", "p.csv:2: column b: missing");
    expect_csv("a,b\n1,2,3\n", "p.csv:2: more fields than columns, 2");
    expect_csv("a,b\nnan,2\n", "p.csv:2: column a: 'nan' is not finite");
    expect_csv("a,b\n1,-1e999\n", "p.csv:2: column b: '-1e999' is not finite");
    expect_csv("a,b\n1,\"2\"x\n", "p.csv:2: column b: wrong quotes");
    expect_csv("a\n# comment\n", "p.csv:2: column a: '# comment' is not a number");
    static char wide[3 * (IO_CSV_MAX_COLS + 2) * 3];
    int used = 0;
    for (int k = 0; k <= IO_CSV_MAX_COLS; k++) used += sprintf(wide + used, "c%d,", k);
    expect_csv(wide, "p.csv:1: more than 4096 columns");
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(csv_tables);
    RUN(utf8);
    RUN(csv_cells);
    RUN(csv_texts_stay_on_their_line);
    RUN(csv_rows_have_lines);
    RUN(csv_errors_name_the_column);
    remove_dir();
    return TEST_END();
}
