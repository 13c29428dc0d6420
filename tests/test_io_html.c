/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_html.c - what a page is made of, letter by letter: texts, cards, facts and counts; JSON strings that are
 * not there; and in SVG charts the names of series, with the lines that lead to them.
 */
#define _XOPEN_SOURCE 700

#include "io/html.h"
#include "io/json.h"
#include "io/svg.h"
#include "test_io.h"
#include <math.h>

static char *written;
static size_t written_size;

static FILE *start(void) { return open_memstream(&written, &written_size); }

static void wrote(FILE *file, const char *wanted) {
    fclose(file);
    CHECK_MSG(strcmp(written, wanted) == 0, "'%s', expected '%s'", written, wanted);
    free(written);
}

TEST(pieces_of_a_page) {
    FILE *file = start();
    io_html_text(file, "a < b & \"c\" > \xFF");
    wrote(file, "a &lt; b &amp; &quot;c&quot; &gt; \xEF\xBF\xBD");
    file = start();
    io_html_card(file, "1 < 2", "a & b");
    wrote(file, "<div class=\"card\"><b>1 &lt; 2</b><span>a &amp; b</span></div>\n");
    file = start();
    io_html_fact(file, "rate", "3 %");
    io_html_fact(file, "no", "");
    io_html_fact(file, "nor", NULL);
    wrote(file, "<dt>rate</dt><dd>3 %</dd>\n");
}

TEST(counts_have_commas) {
    static const struct {
        int64_t value;
        const char *text;
    } cases[] = { { 0, "0" },
                  { 7, "7" },
                  { 999, "999" },
                  { 1000, "1,000" },
                  { 12345, "12,345" },
                  { 123456, "123,456" },
                  { 1234567, "1,234,567" },
                  { -1, "-1" },
                  { -999, "-999" },
                  { -123456, "-123,456" },
                  { INT64_MIN, "-9,223,372,036,854,775,808" } };
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_MSG(strcmp(io_html_count(cases[i].value, text), cases[i].text) == 0, "%s, not %s",
                  text, cases[i].text);
}

TEST(what_is_not_there_is_null) {
    io_json json;
    io_error e;
    FILE *file = start();
    io_json_begin(&json, file, 0);
    io_json_object_line(&json, NULL);
    io_json_string(&json, "none", NULL);
    io_json_string(&json, "empty", "");
    io_json_double(&json, "double", INFINITY);
    io_json_float(&json, "float", NAN);
    io_json_close(&json);
    CHECK(io_json_end(&json, &e) == IO_OK);
    wrote(file, "{\"none\":null,\"empty\":\"\",\"double\":null,\"float\":null}\n");
}

/* The number behind the next `mark`, with *at behind it; NaN if there is none. */
static double number_at(const char **at, const char *mark) {
    const char *found = *at ? strstr(*at, mark) : NULL;
    if (!found) return NAN;
    char *end;
    const double value = strtod(found + strlen(mark), &end);
    *at = end;
    return value;
}

/* From the last point of a series to the left of its name. Coordinates are printed to 0.1. */
TEST(lines_lead_to_names) {
    static const double x[] = { 1, 2, 3 }, y[2][3] = { { 1, 2, 3 }, { 9, 8, 7 } };
    const io_series series[] = { { .name = "low", .count = 3, .x = x, .y = y[0] },
                                 { .name = "high", .count = 3, .x = x, .y = y[1] } };
    const io_chart chart = { .series_count = 2, .series = series };
    io_error e;
    FILE *file = start();
    CHECK(io_svg_lines(file, &chart, &e) == IO_OK);
    fclose(file);
    for (int k = 0; k < 2; k++) {
        const char *line = strstr(written, k ? "<path class=\"l s2\"" : "<path class=\"l s1\"");
        const char *lead = strstr(written, k ? "<path class=\"r s2\"" : "<path class=\"r s1\"");
        double last_x = number_at(&line, "M"), last_y = number_at(&line, " ");
        for (int i = 1; i < 3; i++) last_x = number_at(&line, "L"), last_y = number_at(&line, " ");
        CHECK_MSG(fabs(number_at(&lead, "M") - last_x - 7) < 0.16, "series %d", k);
        CHECK(fabs(number_at(&lead, " ") - last_y) < 0.16);
        CHECK(number_at(&lead, "L") >= last_x + 7 && fabs(number_at(&lead, " ") - last_y) < 0.16);
        const double end_x = number_at(&lead, "L"), end_y = number_at(&lead, " ");
        const char *name = strstr(written, k ? ">high<" : ">low<");
        const char *text = name;
        while (text && text > written && strncmp(text, "<text", 5) != 0) text--;
        const double name_x = number_at(&text, " x=\""), name_y = number_at(&text, " y=\"");
        CHECK_MSG(name_x > end_x && fabs(name_y - 4 - end_y) < 0.16, "%g %g and %g %g", name_x,
                  name_y, end_x, end_y);
    }
    free(written);
}

/* The bars stand beside their axis, each behind its name, and the axis on the page. */
TEST(bars_stand_beside_their_names) {
    static const char *const names[] = { "first", "second", "third" };
    static const double values[] = { 1, 2, 3 };
    const io_bars bars = { .count = 3, .names = names, .values = values };
    io_error e;
    FILE *file = start();
    CHECK(io_svg_bars(file, &bars, &e) == IO_OK);
    fclose(file);
    const char *at = written, *axis = strstr(written, "<path class=\"a\"");
    const double height = number_at(&at, " height=\"");
    const double top = (number_at(&axis, "M"), number_at(&axis, " ")),
                 bottom = number_at(&axis, "V");
    for (int k = 0; k < 3; k++) {
        at = strstr(written, names[k]);
        CHECK(at && number_at(&at, "<rect class=\"f") == 1);
        const double y = number_at(&at, " y=\""), high = number_at(&at, " height=\"");
        CHECK_MSG(y >= top && y + high <= bottom, "%g to %g, %g to %g", y, y + high, top, bottom);
    }
    CHECK_MSG(bottom < height - 16, "%g of %g", bottom, height);
    free(written);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(pieces_of_a_page);
    RUN(counts_have_commas);
    RUN(what_is_not_there_is_null);
    RUN(lines_lead_to_names);
    RUN(bars_stand_beside_their_names);
    return TEST_END();
}
