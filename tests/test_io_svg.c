/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_svg.c - charts: bars, points, error bars, ticks and names stand where their values belong.
 */
#define _XOPEN_SOURCE 700

#include "io/svg_parts.h"
#include "test_io.h"
#include <math.h>

/* The number behind the next `mark`, with *at behind it; NaN if there is none. */
static double number_at(const char **at, const char *mark) {
    const char *found = *at ? strstr(*at, mark) : NULL;
    if (!found) return NAN;
    char *end;
    const double value = strtod(found + strlen(mark), &end);
    *at = end;
    return value;
}

/* Coordinates are printed to 0.1, so each is off by 0.05 at most; a and b together hold up to three. */
static void near(double a, double b, const char *what) {
    CHECK_MSG(fabs(a - b) < 0.16, "%s: %g, expected %g", what, a, b);
}

static char *bars_of(const io_bars *bars) {
    char *svg = NULL;
    size_t size;
    io_error e;
    FILE *file = open_memstream(&svg, &size);
    CHECK(file && io_svg_bars(file, bars, &e) == IO_OK);
    fclose(file);
    return svg;
}

/* The four bars of a chart: where they begin and how long they are; values that are NaN have none. */
static void read_bars(const char *svg, const io_bars *bars, double *from, double *length) {
    const char *at = svg;
    double below = 0;
    for (int k = 0; k < 4; k++) {
        if (isnan(bars->values[k])) continue;
        CHECK(number_at(&at, "<rect class=\"f") == 1);
        from[k] = number_at(&at, " x=\"");
        const double y = number_at(&at, " y=\"");
        length[k] = number_at(&at, " width=\"");
        const double height = number_at(&at, " height=\"");
        CHECK(height > 12 && y >= below);
        below = y + height;
    }
}

TEST(bars_are_as_long_as_their_values) {
    static const double cases[4][4] = {
        { 40, 10, 20, 30 }, { 40, 10, -20, -5 }, { -40, -10, -20, -30 }, { 4, NAN, 2, 0 }
    };
    static const char *const names[4] = { "one", "two", "three", "four" };
    double from[4], length[4];
    io_bars bars = { .count = 4, .names = names };
    for (int c = 0; c < 4; c++) {
        bars.values = cases[c];
        char *svg = bars_of(&bars);
        read_bars(svg, &bars, from, length);
        const char *at = svg;
        const double zero = number_at(&at, "<path class=\"a\" d=\"M"),
                     scale = length[0] / fabs(cases[c][0]);
        CHECK(zero > 60 && zero < 700); /* room for the names on its left */
        CHECK(length[0] > (c == 1 ? 250 : 200));
        for (int k = 0; k < 4; k++) {
            const double value = cases[c][k];
            if (isnan(value)) continue;
            near(length[k], value == 0 ? 1 : scale * fabs(value),
                 "length"); /* nothing is still to be seen */
            near(value < 0 ? from[k] + length[k] : from[k], zero, "zero");
        }
        int zeros = 0; /* ticks: the one at 0 stands at the zero line */
        for (at = svg; (at = strstr(at, "<path class=\"g\" d=\"M")) != NULL;) {
            const double x = number_at(&at, "M");
            const char *label = strchr(strstr(at, "<text"), '>') + 1;
            if (strncmp(label, "0<", 2) == 0) zeros++, near(x, zero, "tick 0");
            const double value = strtod(label, NULL); /* 0 for a minus of typography */
            if (value > 0) near(x - zero, length[0] * value / fabs(cases[c][0]), "tick");
        }
        CHECK(zeros == 1);
        free(svg);
    }
}

/* A chart over x from 1 to 16 and y from 0 to 100; error bars are 9 up and down. The sixth point is not of it. */
TEST(points_stand_at_their_values) {
    static const double x[] = { 1, 2, 8, 12, 16, 9 }, y[] = { 10, 90, 50, 35, 20, 60 };
    static const double error[] = { 9, 9, 9, NAN, 9, 9 };
    const io_series series = { .name = "s", .count = 5, .x = x, .y = y, .error = error };
    for (int c = 0; c < 2; c++) {
        const io_chart chart = { .x_scale = c == 1 ? IO_LOG2 : IO_LINEAR,
                                 .series_count = 1,
                                 .series = &series };
        const double x0 = 1, x1 = 16, y0 = 0;
        char *svg = NULL;
        size_t size;
        io_error e;
        FILE *file = open_memstream(&svg, &size);
        CHECK(file && io_svg_lines(file, &chart, &e) == IO_OK);
        fclose(file);
        const char *at = svg, *line = strstr(svg, "<path class=\"l s1\""),
                   *bar = strstr(svg, "<path class=\"e s1\"");
        const double left = number_at(&at, "<path class=\"a\" d=\"M"), bottom = number_at(&at, " ");
        const double right = number_at(&at, "H");
        at = svg;
        double top = bottom; /* the highest line of the grid */
        for (double height; number_at(&at, "<path class=\"g\" d=\"M") == left;)
            if ((height = number_at(&at, " ")) < top && *at == 'H') top = height;
        CHECK(left < right - 300 && top < bottom - 200);
        for (int i = 0; i < 5; i++) {
            const double at_x = number_at(&line, i ? "L" : "M"), at_y = number_at(&line, " ");
            const double share = c == 1 ? log2(x[i] / x0) / log2(x1 / x0) : (x[i] - x0) / (x1 - x0);
            near(at_x, left + share * (right - left), "x");
            near(at_y, bottom - (y[i] - y0) / (100 - y0) * (bottom - top),
                 "y"); /* the highest tick is 100 */
            near(number_at(&at, "cx=\""), at_x, "cx"), near(number_at(&at, "cy=\""), at_y, "cy");
            if (isnan(error[i])) continue;
            const double length = 9.0 / (100 - y0) * (bottom - top);
            near(number_at(&bar, "M"), at_x, "error"),
                near(number_at(&bar, " "), at_y + length, "low");
            near(number_at(&bar, "V"), at_y - length, "high");
            number_at(&bar, "h6"), number_at(&bar, "h6"); /* two caps */
        }
        int lines = 0, labels = 0; /* a line of the grid per tick, a label per tick */
        for (const char *p = svg; (p = strstr(p, "<path class=\"g\"")); p++) lines++;
        for (const char *p = svg; (p = strstr(p, " class=\"k\"")); p++) labels++;
        CHECK_MSG(lines == labels && lines >= 6, "%d lines, %d labels", lines, labels);
        const char *more = strstr(at, "cx=\"");
        CHECK(*line == '"' && *bar == '"' && (!more || more > strstr(at, "</svg>")));
        free(svg);
    }
}

/* Names of series stand at the heights of their last points. Where these are the same, the names are 17 pixels apart
 * and as many above as below; at an end of the axis they move inwards. */
TEST(names_stand_beside_their_lines) {
    static const double x[] = { 1, 2 }, low[] = { 0, 0 }, middle[] = { 0, 50 }, high[] = { 0, 90 };
    const io_series series[] = {
        { .name = "a", .count = 2, .x = x, .y = middle },
        { .name = "b", .count = 2, .x = x, .y = low },
        { .name = "c", .count = 2, .x = x, .y = middle },
        { .name = "d", .count = 2, .x = x, .y = high },
        { .name = "e", .count = 2, .x = x, .y = low },
        { .name = "f", .count = 2, .x = x, .y = middle },
    };
    const io_chart chart = { .series_count = 6, .series = series };
    char *svg = NULL;
    size_t size;
    io_error e;
    FILE *file = open_memstream(&svg, &size);
    CHECK(file && io_svg_lines(file, &chart, &e) == IO_OK);
    fclose(file);
    double point[6], name[6];
    const char *at = svg;
    for (int i = 0; i < 6; i++) { /* the lines that lead to them, from above */
        CHECK(!isnan(number_at(&at, "<path class=\"r s")));
        number_at(&at, "M"), point[i] = number_at(&at, " ");
        number_at(&at, "L"), number_at(&at, "L"), name[i] = number_at(&at, " ");
    }
    CHECK(isnan(number_at(&at, "<path class=\"r s")));
    near(name[0], point[0], "d");
    for (int i = 1; i < 4; i++) near(name[i], point[i] + (i - 2) * 17, "a, c and f");
    for (int i = 4; i < 6; i++) near(name[i], point[i] + (i - 5) * 17, "b and e");
    free(svg);
}

/* The area between a line and its base: the line forth, the base back. Points with an end that a scale does not have are
 * not of it. */
TEST(areas_lie_between_a_line_and_its_base) {
    static const double x[] = { 1, 2, 4, 8 }, y[] = { 10, 40, 80, 100 }, base[] = { 0, 5, 20, 60 };
    static const double gone[] = { 1, NAN, 20, 60 };
    for (int c = 0; c < 2; c++) {
        const io_series series = {
            .name = "s", .count = 4, .x = x, .y = y, .base = c ? gone : base, .no_markers = true
        };
        const io_chart chart = { .series_count = 1, .series = &series };
        char *svg = NULL;
        size_t size;
        io_error e;
        FILE *file = open_memstream(&svg, &size);
        CHECK(file && io_svg_lines(file, &chart, &e) == IO_OK);
        fclose(file);
        const char *line = strstr(svg, "<path class=\"l s1\""),
                   *at = strstr(svg, "<path class=\"f1\"");
        double at_x[4], at_y[4];
        for (int i = 0; i < 4; i++)
            at_x[i] = number_at(&line, i ? "L" : "M"), at_y[i] = number_at(&line, " ");
        at = strstr(at, " d=");
        for (int i = 0; i < 4; i++) {
            near(number_at(&at, i ? "L" : "M"), at_x[i], "forth, x");
            near(number_at(&at, " "), at_y[i], "forth, y");
        }
        const double scale = (at_y[0] - at_y[3]) / 90; /* pixels per unit of y */
        for (int i = 3; i >= 0; i--) {
            if (isnan(series.base[i])) continue;
            near(number_at(&at, "L"), at_x[i], "back, x");
            near(number_at(&at, " "), at_y[i] + (y[i] - series.base[i]) * scale, "back, y");
        }
        CHECK_MSG(strncmp(at, "Z\"/>", 4) == 0, "%.20s", at);
        free(svg);
    }
}

/* Axes begin and end near the values: a line over x from 50 to 60 and y from 1000 to 1100 is as
 * wide as the axis, and as high as the grid. */
TEST(axes_follow_the_values) {
    static const double x[] = { 50, 60 }, y[] = { 1000, 1100 };
    const io_series series = { .name = "s", .count = 2, .x = x, .y = y };
    const io_chart chart = { .series_count = 1, .series = &series };
    char *svg = NULL;
    size_t size;
    io_error e;
    FILE *file = open_memstream(&svg, &size);
    CHECK(file && io_svg_lines(file, &chart, &e) == IO_OK);
    fclose(file);
    const char *at = svg, *line = strstr(svg, "<path class=\"l s1\"");
    const double left = number_at(&at, "<path class=\"a\" d=\"M"), bottom = number_at(&at, " ");
    near(number_at(&line, "M"), left, "left"), near(number_at(&line, " "), bottom, "bottom");
    near(number_at(&line, "L"), number_at(&at, "H"), "right");
    CHECK(strstr(svg, ">1000<") && strstr(svg, ">50<") && strstr(svg, ">60<") &&
          !strstr(svg, ">0<"));
    free(svg);
}

/* Ends, ticks and labels of axes 1000 pixels long: the places of min and max, of the first and of the last tick. */
TEST(axes_have_round_ticks) {
    /* clang-format off */
    static const struct { io_scale scale; double min, max; int most; svg_ends ends; const char *labels; double at[4]; }
    rows[] = {
        { IO_LINEAR, 0, 100, 6, SVG_EXACT, "0 20 40 60 80 100", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LINEAR, 0, 100, 6, SVG_ROUND, "0 20 40 60 80 100", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LINEAR, -3, 97, 8, SVG_ROUND, "-20 0 20 40 60 80 100", { 141.7, 975.0, 0.0, 1000.0 } },
        { IO_LINEAR, 0.12, 0.37, 8, SVG_ROUND, "0.10 0.15 0.20 0.25 0.30 0.35 0.40", { 66.7, 900.0, 0.0, 1000.0 } },
        { IO_LINEAR, 1e-05, 9e-05, 6, SVG_ROUND, "0 0.2×10⁻⁴ 0.4×10⁻⁴ 0.6×10⁻⁴ 0.8×10⁻⁴ 1.0×10⁻⁴", { 100.0, 900.0, 0.0, 1000.0 } },
        { IO_LINEAR, 0.0002, 0.0009, 6, SVG_ROUND, "0.0002 0.0004 0.0006 0.0008 0.0010", { 0.0, 875.0, 0.0, 1000.0 } },
        { IO_LINEAR, 2000000, 9000000, 6, SVG_ROUND, "0.2×10⁷ 0.4×10⁷ 0.6×10⁷ 0.8×10⁷ 1.0×10⁷", { 0.0, 875.0, 0.0, 1000.0 } },
        { IO_LINEAR, 10000000, 90000000, 6, SVG_ROUND, "0 0.2×10⁸ 0.4×10⁸ 0.6×10⁸ 0.8×10⁸ 1.0×10⁸", { 100.0, 900.0, 0.0, 1000.0 } },
        { IO_LINEAR, 5, 5, 8, SVG_ROUND, "4.7 4.8 4.9 5.0 5.1 5.2 5.3", { 500.0, 500.0, 0.0, 1000.0 } },
        { IO_LINEAR, 0, 0, 8, SVG_ROUND, "-0.6 -0.4 -0.2 0 0.2 0.4 0.6", { 500.0, 500.0, 0.0, 1000.0 } },
        { IO_LINEAR, 0, 1, 1, SVG_ROUND, "0 1", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LINEAR, -1500, 2500, 6, SVG_NEAR, "-1000 0 1000 2000", { 0.0, 1000.0, 125.0, 875.0 } },
        { IO_LINEAR, 0.001, 0.004, 5, SVG_ROUND, "0.001 0.002 0.003 0.004", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG2, 1, 16, 8, SVG_NEAR, "1 2 4 8 16", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG2, 1, 65536, 8, SVG_NEAR, "1 8 64 512 4096 32,768", { 0.0, 1000.0, 0.0, 937.5 } },
        { IO_LOG2, 1, 131072, 8, SVG_NEAR, "2⁰ 2³ 2⁶ 2⁹ 2¹² 2¹⁵", { 0.0, 1000.0, 0.0, 882.4 } },
        { IO_LOG2, 0.5, 16, 8, SVG_NEAR, "2⁻¹ 2⁰ 2¹ 2² 2³ 2⁴", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG2, 3, 1000, 5, SVG_NEAR, "2 8 32 128 512", { 65.0, 996.2, 0.0, 888.9 } },
        { IO_LOG2, 3, 700, 5, SVG_ROUND, "2 8 32 128 512", { 65.0, 939.0, 0.0, 888.9 } },
        { IO_LOG2, 3, 100000, 20, SVG_ROUND, "2¹ 2³ 2⁵ 2⁷ 2⁹ 2¹¹ 2¹³ 2¹⁵ 2¹⁷", { 36.6, 975.6, 0.0, 1000.0 } },
        { IO_LOG10, 200000, 700000, 6, SVG_NEAR, "2×10⁵ 5×10⁵", { 0.0, 1000.0, 0.0, 731.4 } },
        { IO_LOG10, 3e-05, 8e-05, 6, SVG_NEAR, "2×10⁻⁵ 5×10⁻⁵ 1×10⁻⁴", { 251.9, 861.4, 0.0, 1000.0 } },
        { IO_LOG2, 8, 8, 5, SVG_ROUND, "8 16", { 0.0, 0.0, 0.0, 1000.0 } },
        { IO_LOG2, 256, 1048576, 6, SVG_ROUND, "2⁸ 2¹¹ 2¹⁴ 2¹⁷ 2²⁰", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 1, 1000, 6, SVG_NEAR, "1 10 100 1000", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 0.001, 10000, 8, SVG_NEAR, "0.001 0.01 0.1 1 10 100 1000 10,000", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 0.0001, 100000, 12, SVG_NEAR, "10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰ 10¹ 10² 10³ 10⁴ 10⁵", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 1e-05, 10000, 12, SVG_ROUND, "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰ 10¹ 10² 10³ 10⁴", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 3, 700, 6, SVG_ROUND, "10 100 1000", { 27.4, 940.3, 229.0, 1000.0 } },
        { IO_LOG10, 3, 700, 6, SVG_NEAR, "10 100 1000", { 0.0, 938.6, 207.3, 1000.0 } },
        { IO_LOG10, 20, 90, 6, SVG_ROUND, "20 50 100", { 0.0, 934.5, 0.0, 1000.0 } },
        { IO_LOG10, 5, 5, 6, SVG_ROUND, "5 10", { 0.0, 0.0, 0.0, 1000.0 } },
        { IO_LOG10, 1e-09, 1e+12, 5, SVG_ROUND, "10⁻⁹ 10⁻⁴ 10¹ 10⁶ 10¹¹", { 0.0, 1000.0, 0.0, 952.4 } },
        { IO_LOG10, 12, 15, 6, SVG_ROUND, "10 20", { 263.0, 585.0, 0.0, 1000.0 } },
        { IO_LINEAR, 0.5, 15.5, 16, SVG_ROUND, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", { 31.25, 968.75, 0.0, 937.5 } },
        { IO_LOG10, 4.5, 208000, 16, SVG_NEAR, "2×10⁰ 5×10⁰ 1×10¹ 2×10¹ 5×10¹ 1×10² 2×10² 5×10² 1×10³ 2×10³ 5×10³ "
          "1×10⁴ 2×10⁴ 5×10⁴ 1×10⁵ 2×10⁵", { 65.24, 929.41, 0.0, 926.28 } },
        { IO_LOG10, 10, 100, 6, SVG_EXACT, "10 20 50 100", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 60, 90, 6, SVG_ROUND, "50 100", { 263.0, 848.0, 0.0, 1000.0 } },
        { IO_LOG10, 1000, 1000, 6, SVG_EXACT, "1000 2000", { 0.0, 0.0, 0.0, 1000.0 } },
        { IO_LOG10, 0.001, 0.005, 6, SVG_EXACT, "0.001 0.002 0.005", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 0.0002, 0.001, 6, SVG_EXACT, "2×10⁻⁴ 5×10⁻⁴ 1×10⁻³", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 20000, 100000, 6, SVG_EXACT, "20,000 50,000 100,000", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 10, 100000, 6, SVG_EXACT, "10¹ 10² 10³ 10⁴ 10⁵", { 0.0, 1000.0, 0.0, 1000.0 } },
        { IO_LOG10, 1000, 1000000, 6, SVG_EXACT, "10³ 10⁴ 10⁵ 10⁶", { 0.0, 1000.0, 0.0, 1000.0 } },
    };
    static const struct { double value; int digits; const char *text; } numbers[] = {
        { 0, 3, "0.00" }, { 12, 3, "12.0" }, { 123.456, 4, "123.5" }, { 1234.2, 3, "1234" }, { -1234.2, 4, "-1234" },
        { 0.00012344, 4, "0.0001234" }, { 0.0000987, 3, "9.87×10⁻⁵" }, { 12344, 3, "12,344" }, { -12344.4, 3, "-12,344" },
        { 100000, 3, "100,000" }, { 9876543, 3, "9,876,543" }, { 12345678, 3, "1.23×10⁷" }, { -2e12, 2, "-2.0×10¹²" },
    };
    /* clang-format on */
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        svg_axis axis;
        svg_axis_fit(&axis, rows[r].scale, rows[r].min, rows[r].max, rows[r].most, rows[r].ends);
        axis.first = 0, axis.last = 1000;
        char labels[SVG_TICKS * SVG_LABEL] = "";
        for (int k = 0; k < axis.ticks; k++) {
            if (k) strcat(labels, " ");
            strcat(labels, axis.label[k]);
        }
        CHECK_MSG(strcmp(labels, rows[r].labels) == 0, "%s, expected %s", labels, rows[r].labels);
        near(svg_place(&axis, rows[r].min), rows[r].at[0], labels);
        near(svg_place(&axis, rows[r].max), rows[r].at[1], labels);
        near(svg_place_tick(&axis, 0), rows[r].at[2], labels);
        near(svg_place_tick(&axis, axis.ticks - 1), rows[r].at[3], labels);
    }
    for (size_t r = 0; r < sizeof numbers / sizeof *numbers; r++) {
        char text[SVG_LABEL];
        svg_number(numbers[r].value, numbers[r].digits, text, sizeof text);
        CHECK_MSG(strcmp(text, numbers[r].text) == 0, "%s, expected %s", text, numbers[r].text);
    }
}

/* A picture's text, as one number (FNV-1a). */
static uint64_t print_of(const char *svg) {
    uint64_t print = 0xcbf29ce484222325;
    for (; *svg; svg++) print = (print ^ (unsigned char)*svg) * 0x100000001b3;
    return print;
}

/* No line of a picture changes unless it is meant to: whoever changes one looks at it, and writes its print here. */
TEST(pictures_stay_as_they_are) {
    static const double x[] = { 1, 2, 4, 8, 16, 100 }, y[] = { 1e-3, 0.02, 0.5, NAN, 30, 4e3 };
    static const double z[] = { 5, 4, 3, 2, 1, 0.1 }, error[] = { 1e-4, 0.01, 0.1, 1, 20, 5e3 };
    const io_series series[] = {
        { .name = "measured, with errors", .count = 6, .x = x, .y = y, .error = error },
        { .name = "A PEER with a name that is far too long for the margin of a chart",
          .count = 6,
          .x = x,
          .y = z,
          .dashed = true },
        { .name = "smooth", .count = 6, .x = y, .y = x, .no_markers = true },
        { .name = "<points> & \"more\"", .count = 6, .x = z, .y = z, .no_line = true, .color = 7 },
    };
    static const char *const names[3] = { "n = 8", "a group, W and mil", "last" };
    static const double values[3][3] = { { -5, NAN, 7e6 }, { 1e-3, -1e4, 12.5 }, { 1, 20, 300 } };
    static const uint64_t known[6] = { 0x0e5ec1c73c911066, 0xe04db3ee7f1d6c10, 0x6cd0a29d901c4f38,
                                       0x760aebe703d24682, 0xf09145f5499d2852, 0xef0f31c2378e0c63 };
    for (int i = 0; i < 6; i++) {
        const io_chart chart = { .title = i == 0 ? "A title" : NULL,
                                 .subtitle = i == 0 ? "and what is below it" : NULL,
                                 .x_label = "x",
                                 .y_label = "seconds",
                                 .x_scale = (io_scale)(i % 3),
                                 .y_scale = (io_scale)(2 * i % 3),
                                 .y_from_zero = i == 0,
                                 .width = i == 2 ? 500 : 0,
                                 .height = i == 2 ? 300 : 0,
                                 .series_count = 4,
                                 .series = series };
        const io_bars bars = { .title = "Bars",
                               .value_label = "GB/s",
                               .width = i == 5 ? 420 : 0,
                               .count = 3,
                               .names = names,
                               .values = values[i % 3] };
        char *svg = NULL;
        size_t size;
        io_error e;
        FILE *file = open_memstream(&svg, &size);
        CHECK(file &&
              (i < 3 ? io_svg_lines(file, &chart, &e) : io_svg_bars(file, &bars, &e)) == IO_OK);
        fclose(file);
        CHECK_MSG(print_of(svg) == known[i], "picture %d: its print is 0x%016llx", i,
                  (unsigned long long)print_of(svg));
        free(svg);
    }
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(bars_are_as_long_as_their_values);
    RUN(points_stand_at_their_values);
    RUN(names_stand_beside_their_lines);
    RUN(areas_lie_between_a_line_and_its_base);
    RUN(axes_follow_the_values);
    RUN(axes_have_round_ticks);
    RUN(pictures_stay_as_they_are);
    return TEST_END();
}
