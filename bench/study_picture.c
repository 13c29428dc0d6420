/* SPDX-License-Identifier: Apache-2.0
 *
 * study_picture.c - the distributions of a study as one picture: a panel for each family, in it a
 * curve for each method, the share of the systems whose error is no larger than what the logarithmic
 * axis says. A curve that lies left of another one is of a better method.
 *
 * Errors of 0, and others below a thousandth of a unit of roundoff, are drawn there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/performance.h"
#include "bench/study.h"
#include "io/file.h"
#include "io/svg_page.h"

enum { COLUMNS = 3, PANEL_WIDTH = 400, PANEL_HEIGHT = 280, TOP = 70, MARGIN = 8, CURVES = 8 };

typedef struct curve {
    double x[STUDY_QUANTILES], y[STUDY_QUANTILES];
} curve;

static bool is_of(const io_json_value *row, const char *type, double n) {
    return strcmp(result_text(row, "type"), type) == 0 && result_number(row, "n") == n;
}

/* Whether an earlier row of the same type and n is of the same family. */
static bool seen(const io_json_value *rows, const io_json_value *row) {
    const char *type = result_text(row, "type"), *kind = result_text(row, "kind");
    for (const io_json_value *e = rows->first; e != row; e = e->next)
        if (is_of(e, type, result_number(row, "n")) && strcmp(result_text(e, "kind"), kind) == 0)
            return true;
    return false;
}

/* False if the row has no such errors. */
static bool curve_of(const io_json_value *row, const char *error, curve *c) {
    const io_json_value *q = io_json_get(io_json_get(row, error), "quantiles");
    const double least = result_number(row, "unit") / 1000;
    if (!q || q->count != STUDY_QUANTILES) return false;
    int i = 0;
    for (const io_json_value *v = q->first; v; v = v->next, i++) {
        c->x[i] = v->kind == IO_JSON_INT ? fmax(pow(10, v->number / 100), least) : least;
        c->y[i] = (double)i / (STUDY_QUANTILES - 1);
    }
    return true;
}

/* The family of a row, which is its first. */
static int write_panel(FILE *file, const io_json_value *first, const char *error, io_error *err) {
    io_series series[CURVES] = { 0 };
    curve *curves = calloc(CURVES, sizeof *curves);
    if (!curves) return io_fail(err, IO_E_MEMORY, "no memory for a picture");
    const char *type = result_text(first, "type"), *kind = result_text(first, "kind");
    const double n = result_number(first, "n");
    char label[64];
    snprintf(label, sizeof label, "%s error", error);
    io_chart chart = { .title = kind,
                       .x_label = label,
                       .x_scale = IO_LOG10,
                       .y_scale = IO_LINEAR,
                       .y_min = 0,
                       .y_max = 1,
                       .width = PANEL_WIDTH - MARGIN,
                       .height = PANEL_HEIGHT - MARGIN,
                       .series = series };
    int color = 0; /* a method has the same one in every panel */
    for (const io_json_value *row = first; row && chart.series_count < CURVES; row = row->next) {
        if (!is_of(row, type, n) || strcmp(result_text(row, "kind"), kind) != 0) continue;
        curve *c = &curves[chart.series_count];
        color++;
        if (!curve_of(row, error, c)) continue;
        series[chart.series_count++] = (io_series){ .name = result_text(row, "method"),
                                                    .count = STUDY_QUANTILES,
                                                    .x = c->x,
                                                    .y = c->y,
                                                    .color = color,
                                                    .no_markers = true };
    }
    if (chart.series_count == 0) chart.subtitle = "no method has errors to show";
    int status = io_svg_lines(file, &chart, err);
    free(curves);
    return status;
}

int bench_study_picture(const io_json_value *rows, const char *type, const char *error, double n,
                        const char *path, io_error *err) {
    int panels = 0, at = 0;
    for (const io_json_value *row = rows->first; row; row = row->next)
        panels += is_of(row, type, n) && !seen(rows, row);
    io_out *out;
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    char title[128];
    snprintf(title, sizeof title, "Distributions of the %s error, %s, n = %.0f", error, type, n);
    svg_page_begin(file, COLUMNS * PANEL_WIDTH + MARGIN,
                   TOP + (panels + COLUMNS - 1) / COLUMNS * PANEL_HEIGHT, title,
                   "share of the systems with an error no larger, by family and method");
    for (const io_json_value *row = rows->first; row && status == IO_OK; row = row->next) {
        if (!is_of(row, type, n) || seen(rows, row)) continue;
        fprintf(file, "<g transform=\"translate(%d %d)\">\n", MARGIN + at % COLUMNS * PANEL_WIDTH,
                TOP + at / COLUMNS * PANEL_HEIGHT);
        status = write_panel(file, row, error, err);
        fputs("</g>\n", file);
        at++;
    }
    svg_page_end(file);
    if (status == IO_OK) return io_out_commit(out, err);
    io_out_abandon(out);
    return status;
}
