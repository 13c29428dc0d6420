/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_symindef.c - dense symmetric matrices on the page of saved results: a group is what
 * differs in n and solver alone, storage, triangle, alpha and growth being part of the solver. The
 * chart shows times against n, both axes logarithmic.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/performance.h"

enum { MAX_LINES = 24, MAX_POINTS = 64 };

typedef struct line {
    char name[RESULT_NAME];
    double n[MAX_POINTS], seconds[MAX_POINTS];
    int count;
    bool peer;
} line;

typedef struct lines {
    line line[MAX_LINES];
    int count;
} lines;

static bool comparable(const io_json_value *p, const io_json_value *q) {
    return strcmp(result_text(p, "kind"), result_text(q, "kind")) == 0;
}

/* "complete, packed", "cuSOLVER Dsytrf, full" */
static char *name_of(const io_json_value *row, char name[RESULT_NAME]) {
    char solver[RESULT_NAME], alpha[24] = "";
    if (result_number(row, "alpha") > 0)
        snprintf(alpha, sizeof alpha, ", alpha %.4g", result_number(row, "alpha"));
    snprintf(name, RESULT_NAME, "%.60s, %.8s%s%s%s", result_solver(row, solver),
             result_text(row, "storage"),
             strcmp(result_text(row, "triangle"), "upper") == 0 ? ", upper" : "", alpha,
             result_number(row, "growth") > 0 ? ", growth kept" : "");
    return name;
}

static line *line_of(lines *all, const io_json_value *row) {
    char name[RESULT_NAME];
    name_of(row, name);
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->line[i].name, name) == 0) return &all->line[i];
    if (all->count == MAX_LINES) return NULL;
    line *new_line = &all->line[all->count++];
    memcpy(new_line->name, name, sizeof name);
    new_line->peer = !result_ours(row);
    return new_line;
}

/* Points stay in the order of n; of two measurements the later one counts. */
static void add_point(line *to, double n, double seconds) {
    int at = 0;
    while (at < to->count && to->n[at] < n) at++;
    if (at == to->count || to->n[at] != n) {
        if (to->count == MAX_POINTS) return;
        for (int i = to->count++; i > at; i--)
            to->n[i] = to->n[i - 1], to->seconds[i] = to->seconds[i - 1];
    }
    to->n[at] = n;
    to->seconds[at] = seconds;
}

static int draw(const result_group *group, const char *title, const char *path, io_error *err) {
    lines *all = calloc(1, sizeof *all);
    if (!all) return io_fail(err, IO_E_MEMORY, "%s: no memory", path);
    for (int i = 0; i < group->count; i++) {
        const double n = result_number(group->rows[i], "n"),
                     seconds = result_number(group->rows[i], "median_s");
        line *to = n > 0 && isfinite(seconds) ? line_of(all, group->rows[i]) : NULL;
        if (to) add_point(to, n, seconds);
    }
    io_series series[MAX_LINES] = { 0 };
    for (int i = 0; i < all->count; i++) {
        const line *l = &all->line[i];
        series[i] = (io_series){
            .name = l->name, .count = l->count, .x = l->n, .y = l->seconds, .dashed = l->peer
        };
    }
    char subtitle[192];
    snprintf(subtitle, sizeof subtitle, "%.120s; peers dashed; lower is better", group->device);
    io_chart chart = bench_chart_over_n(title, subtitle, "seconds a factorization");
    chart.x_label = "rows, n";
    chart.width = 860;
    chart.series_count = all->count;
    chart.series = series;
    const int status = io_svg_write_lines(path, &chart, err);
    free(all);
    return status;
}

static void write_row(FILE *file, const io_json_value *row) {
    char name[RESULT_NAME];
    const char *mark = result_ours(row) ? "`" : "";
    fprintf(file, "| %.0f | %s%s%s", result_number(row, "n"), mark, name_of(row, name), mark);
    result_cell(file, "%.4g", 1e3 * result_number(row, "median_s"));
    result_cell(file, "%.2g", 1e3 * result_number(row, "spread_s"));
    result_cell(file, "%.0f", result_number(row, "samples"));
    result_cell(file, "%.4g", 1e-9 * result_number(row, "flops_per_second"));
    result_cell(file, "%.4g", 1e-9 * result_number(row, "bytes_per_second"));
    result_cell(file, "%.1f %%", 100 * result_number(row, "share_of_copy"));
    result_cell(file, "%.2f", result_number(row, "speedup"));
    result_cell(file, "%.1e", result_number(row, "max_residual"));
    fprintf(file, "%s |\n", result_remark(row));
}

static int write_group(const result_page *p, const result_group *group, io_error *err) {
    const io_json_value *first = group->rows[0];
    const char *kind = result_text(first, "kind"), *type = result_text(first, "type");
    char name[RESULT_FILE], image[RESULT_PATH], slug[BENCH_SLUG], extra[96], title[96];
    snprintf(extra, sizeof extra, "-%.31s", result_slug(kind, slug));
    snprintf(title, sizeof title, "Symmetric indefinite matrices, %.4s, kind %.31s", type, kind);
    int status = result_image(p, group, extra, name, image, err);
    if (status == IO_OK) status = draw(group, title, image, err);
    if (status != IO_OK) return status;
    fprintf(p->file,
            "\n### symindef, %s, %s, kind %s\n\n![seconds a factorization against n](img/%s)\n\n",
            result_text(first, "backend"), type, kind, name);
    fputs("| n | solver | ms | +- | samples | Gflop/s | GB/s | of copy | x best peer | error |\n"
          "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
          p->file);
    for (int i = 0; i < group->count; i++) write_row(p->file, group->rows[i]);
    return status;
}

static const char introduction[] =
    "Of dense symmetric matrices (`symindef`) a call is one factorization in place of a fresh copy of A, "
    "which is made outside the timed region. Gflop/s counts n^3 / 3 operations. GB/s counts, of "
    "`complete`, the reduced matrix read and written once in each stage, n (n + 1) (n + 2) / 3 numbers, "
    "which a method that keeps updates pending need not move: its share of the copy can be above 100 %. "
    "Of `partial` and `rook` it counts the triangle read and written once. The error is |P A Pt v - M D "
    "Mt v| / |A| for three random vectors v of 1 and -1, at most 10 n units of roundoff. Calls longer than "
    "2.5 s are measured once. Peers of `complete` are the loop of cuBLAS calls of Kruchinina's thesis, or a plain loop "
    "in C.";

const result_module result_symindef = { "symindef", introduction, comparable, write_group };
