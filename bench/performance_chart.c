/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_chart.c - one chart of saved results: ours as lines, peers dashed, the limit plain.
 *
 * Where a solver was measured with several batches of the same n, the largest batch is shown.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/performance.h"

enum { MAX_LINES = 24, MAX_POINTS = 64 };

typedef struct line {
    char name[RESULT_NAME];
    double x[MAX_POINTS], y[MAX_POINTS], rows[MAX_POINTS];
    int count;
    bool peer;
} line;

typedef struct lines {
    line line[MAX_LINES], limit;
    int count;
} lines;

static line *line_of(lines *all, const io_json_value *row) {
    char name[RESULT_NAME];
    result_solver(row, name);
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->line[i].name, name) == 0) return &all->line[i];
    if (all->count == MAX_LINES) return NULL;
    line *new_line = &all->line[all->count++];
    snprintf(new_line->name, sizeof new_line->name, "%s", name);
    new_line->peer = !result_ours(row);
    return new_line;
}

/* Points stay in the order of n. */
static void add_point(line *to, double n, double rows, double rate) {
    int at = 0;
    while (at < to->count && to->x[at] < n) at++;
    const bool same = at < to->count && to->x[at] == n;
    if (same && to->rows[at] > rows) return;
    if (!same) {
        if (to->count == MAX_POINTS) return;
        for (int i = to->count++; i > at; i--) {
            to->x[i] = to->x[i - 1];
            to->y[i] = to->y[i - 1];
            to->rows[i] = to->rows[i - 1];
        }
    }
    to->x[at] = n;
    to->y[at] = rate;
    to->rows[at] = rows;
}

/* What is counted has so many bytes in every row of one n: they give the limit there. */
static void collect(const result_group *group, const result_axes *axes, lines *all) {
    for (int i = 0; i < group->count; i++) {
        const io_json_value *row = group->rows[i];
        const double n = result_number(row, "n"),
                     rate = axes->scale * result_number(row, axes->rate);
        const double each = result_number(row, "bytes_per_second") / rate;
        line *to = isfinite(rate) && n > 0 ? line_of(all, row) : NULL;
        if (!to) continue;
        add_point(to, n, n * result_number(row, "count"), rate);
        if (group->copy_rate > 0 && each > 0) add_point(&all->limit, n, 0, group->copy_rate / each);
    }
}

io_chart bench_chart_over_n(const char *title, const char *subtitle, const char *y_label) {
    return (io_chart){ .title = title,
                       .subtitle = subtitle,
                       .x_label = "unknowns a system, n",
                       .y_label = y_label,
                       .x_scale = IO_LOG2,
                       .y_scale = IO_LOG10,
                       .width = 960,
                       .height = 460 };
}

int result_chart(const result_group *group, const result_axes *axes, const char *path,
                 io_error *err) {
    lines *all = calloc(1, sizeof *all);
    if (!all) return io_fail(err, IO_E_MEMORY, "%s: no memory", path);
    collect(group, axes, all);
    io_series series[MAX_LINES + 1] = { 0 };
    int used = 0;
    for (int i = 0; i < all->count; i++) {
        const line *l = &all->line[i];
        series[used++] = (io_series){
            .name = l->name, .count = l->count, .x = l->x, .y = l->y, .dashed = l->peer
        };
    }
    if (all->limit.count > 0)
        series[used++] = (io_series){ .name = "limit: plain copy",
                                      .count = all->limit.count,
                                      .x = all->limit.x,
                                      .y = all->limit.y,
                                      .no_markers = true };
    char subtitle[192];
    snprintf(subtitle, sizeof subtitle, "%s; peers dashed; higher is better", group->device);
    io_chart chart = bench_chart_over_n(axes->title, subtitle, axes->y_label);
    if (axes->x_label) chart.x_label = axes->x_label;
    chart.width = 860;
    chart.series_count = used;
    chart.series = series;
    int status = io_svg_write_lines(path, &chart, err);
    free(all);
    return status;
}
