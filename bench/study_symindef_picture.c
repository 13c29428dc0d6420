/* SPDX-License-Identifier: Apache-2.0
 *
 * study_symindef_picture.c - the pictures of the study of symmetric indefinite factorizations, from its rows.
 */
#include "bench/study_symindef_page.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/svg.h"

enum { CURVE = 99 };

typedef struct drawing {
    const symindef_page *p;
    io_chart chart;
    io_series series[SYMINDEF_LINES];
    symindef_line line[SYMINDEF_LINES];
} drawing;

static drawing *begin(const symindef_page *p, const char *title, const char *x_label,
                      io_scale x_scale, const char *y_label) {
    drawing *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->p = p;
    d->chart = bench_chart_over_n(title, p->device, y_label);
    d->chart.x_label = x_label;
    d->chart.x_scale = x_scale;
    d->chart.width = 860;
    return d;
}

/* A line that is still to be filled with points; NULL if there is no room. */
static symindef_line *add(drawing *d, const io_series *like) {
    if (d->chart.series_count == SYMINDEF_LINES) return NULL;
    const int at = d->chart.series_count++;
    d->series[at] = *like;
    return &d->line[at];
}

/* Draws it as img/NAME and names it on the page. */
static int finish(drawing *d, const char *name, const char *about, io_error *err) {
    if (!d) return io_fail(err, IO_E_MEMORY, "%s: no memory for a picture", name);
    char path[RESULT_PATH];
    for (int i = 0; i < d->chart.series_count; i++) {
        d->series[i].count = d->line[i].count;
        d->series[i].x = d->line[i].x;
        d->series[i].y = d->line[i].y;
    }
    d->chart.series = d->series;
    fprintf(d->p->file, "\n![%s](img/%s)\n", about, name);
    int status = result_image_path(d->p->path, name, path, err);
    if (status == IO_OK) status = io_svg_write_lines(path, &d->chart, err);
    free(d);
    return status;
}

/* A point, unless it is not finite. */
static void add_point(symindef_line *l, double x, double y) {
    if (!l || l->count == SYMINDEF_POINTS || !isfinite(x) || !isfinite(y)) return;
    l->x[l->count] = x;
    l->y[l->count++] = y;
}

/* ---- alpha ------------------------------------------------------------------------------------ */

int symindef_draw_alpha_errors(const symindef_page *p, const symindef_matrices *m, io_error *err) {
    drawing *d = begin(p, "Table 3.1: relative errors for different parameters alpha", "alpha",
                       IO_LINEAR, "relative error");
    for (int i = 0; i < m->count && d; i++) {
        const symindef_matrix *a = &m->matrix[i];
        symindef_line *ours = add(d, &(io_series){ .name = a->label, .color = i + 1 });
        symindef_line *thesis =
            a->thesis ? add(d, &(io_series){ .name = a->beside, .color = i + 1, .dashed = true })
                      : NULL;
        for (int k = 0; k < a->count; k++) {
            const double alpha = result_number(a->rows[k], "alpha");
            add_point(ours, alpha, result_number(a->rows[k], "relative_error"));
            if (a->thesis && k < SYMINDEF_ALPHAS) add_point(thesis, alpha, a->thesis[k]);
        }
    }
    if (d) d->chart.x_max = 1;
    return finish(d, "symindef-study-alpha.svg", "relative errors against alpha", err);
}

int symindef_draw_multipliers(const symindef_page *p, const symindef_matrices *m, io_error *err) {
    drawing *d =
        begin(p, "The largest multiplier, and what bounds it", "alpha", IO_LINEAR, "max |M|");
    for (int i = 0; i < m->count && d; i++) {
        const symindef_matrix *a = &m->matrix[i];
        symindef_line *l = add(d, &(io_series){ .name = a->label, .color = i + 1 });
        for (int k = 0; k < a->count; k++)
            add_point(l, result_number(a->rows[k], "alpha"),
                      result_number(a->rows[k], "max_multiplier"));
    }
    symindef_line *bound = d ? add(d, &(io_series){ .name = "max(1/alpha, 1/(1 - alpha))",
                                                    .color = m->count + 1,
                                                    .dashed = true,
                                                    .no_markers = true })
                             : NULL;
    for (int k = 1; k <= CURVE; k++) {
        const double alpha = (double)k / (CURVE + 1);
        add_point(bound, alpha, fmax(1 / alpha, 1 / (1 - alpha)));
    }
    if (d) d->chart.x_max = 1;
    return finish(d, "symindef-study-multipliers.svg", "largest multipliers against alpha", err);
}

/* ---- sizes ------------------------------------------------------------------------------------ */

int symindef_draw_times(const symindef_page *p, const symindef_orders *o, io_error *err) {
    drawing *d = begin(p, "Figure 3.7: time of a factorization", "rows, n", IO_LOG10, "seconds");
    symindef_line *time = d ? add(d, &(io_series){ .name = "complete" }) : NULL;
    symindef_line *gjgt = d ? add(d, &(io_series){ .name = "G and J of its factors" }) : NULL;
    symindef_line *law =
        d ? add(d,
                &(io_series){ .name = "n^3 through the last", .dashed = true, .no_markers = true })
          : NULL;
    const int last = o->count - 1;
    for (int i = 0; i <= last; i++) {
        add_point(time, o->n[i], symindef_middle(o, i, "median_s"));
        add_point(gjgt, o->n[i], symindef_middle(o, i, "gjgt_s"));
        add_point(law, o->n[i],
                  symindef_middle(o, last, "median_s") * pow(o->n[i] / o->n[last], 3));
    }
    return finish(d, "symindef-study-times.svg", "seconds a factorization against n", err);
}

/* A point for each matrix. */
static void add_points(drawing *d, const symindef_orders *o, const char *name, const char *key,
                       int color) {
    symindef_line *l =
        d ? add(d, &(io_series){ .name = name, .color = color, .no_line = true }) : NULL;
    for (int i = 0; i < o->count; i++)
        for (int k = 0; k < o->matrices[i]; k++)
            add_point(l, o->n[i], result_number(o->rows[i][k], key));
}

/* The unit of roundoff as a line. */
static void add_unit(drawing *d, const symindef_orders *o) {
    symindef_line *unit =
        d ? add(d, &(io_series){ .name = "2^-52", .color = 5, .dashed = true, .no_markers = true })
          : NULL;
    add_point(unit, o->n[0], DBL_EPSILON);
    add_point(unit, o->n[o->count - 1], DBL_EPSILON);
}

int symindef_draw_errors(const symindef_page *p, const symindef_orders *o, io_error *err) {
    drawing *d = begin(p, "Figure 3.8: errors of M D Mt, three matrices of each n", "rows, n",
                       IO_LINEAR, "relative error");
    add_points(d, o, "relative error", "relative_error", 1);
    add_points(d, o, "by vectors", "vector_error", 2);
    add_unit(d, o);
    return finish(d, "symindef-study-errors.svg", "errors of M D Mt against n", err);
}

int symindef_draw_gjgt(const symindef_page *p, const symindef_orders *o, io_error *err) {
    drawing *d = begin(p, "Figure 3.22: errors of G J Gt, three matrices of each n", "rows, n",
                       IO_LINEAR, "relative error");
    add_points(d, o, "G J Gt", "gjgt_error", 1);
    add_points(d, o, "M D Mt", "relative_error", 3);
    add_points(d, o, "G J Gt, by vectors", "gjgt_vector_error", 2);
    add_unit(d, o);
    return finish(d, "symindef-study-gjgt.svg", "errors of G J Gt against n", err);
}

/* ---- read ------------------------------------------------------------------------------------- */

int symindef_draw_read(const symindef_page *p, io_error *err) {
    drawing *d =
        begin(p, "Reading an HDF5 file of n x n doubles", "rows, n", IO_LOG10, "milliseconds");
    if (d) d->chart.subtitle = p->cpu;
    for (int way = 0; way < BENCH_READ_WAYS && d; way++) {
        symindef_line *l = add(d, &(io_series){ .name = bench_read_ways[way] });
        for (const io_json_value *row = p->rows->first; row; row = row->next)
            if (symindef_is_part(row, "read") &&
                strcmp(result_text(row, "way"), bench_read_ways[way]) == 0)
                add_point(l, result_number(row, "n"), 1e3 * result_number(row, "median_s"));
    }
    return finish(d, "symindef-study-read.svg", "milliseconds of reading against n", err);
}
