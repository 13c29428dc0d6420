/* SPDX-License-Identifier: Apache-2.0
 *
 * pictures.c - the pictures of `shoal cva`. Those of the page are narrow, so that their letters can
 * still be read where a phone makes them smaller.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>

#include "io/svg.h"

enum { NARROW = 430, LOW = 320, POINTS = 40, FEWEST = 8 };

typedef struct profile_chart {
    double *numbers; /* time and four series, each of `dates` numbers */
    io_series series[4];
    char subtitle[160];
    io_chart chart;
} profile_chart;

static int begin_profile(const cva_result *r, profile_chart *p, io_error *err) {
    static const char *const names[] = { "PFE 99 %", "PFE 95 %", "EPE", "-ENE" };
    const int64_t n = r->info.dates;
    p->numbers = malloc((size_t)(5 * n) * sizeof *p->numbers);
    if (!p->numbers) return io_fail(err, IO_E_MEMORY, "not enough memory");
    for (int64_t k = 0; k < n; k++) {
        const shoal_cva_date *d = &r->profile[k];
        const double all[] = { d->time, d->pfe99, d->pfe95, d->epe, -d->ene };
        for (int i = 0; i < 5; i++) p->numbers[i * n + k] = all[i];
    }
    for (int i = 0; i < 4; i++)
        p->series[i] = (io_series){
            .name = names[i], .count = n, .x = p->numbers, .y = p->numbers + (i + 1) * n
        };
    snprintf(p->subtitle, sizeof p->subtitle, "%lld outer paths; CVA %.6g +- %.2g",
             (long long)r->outer, r->value.cva, r->value.error);
    p->chart = (io_chart){ .title = "Exposure",
                           .subtitle = p->subtitle,
                           .x_label = "years",
                           .y_label = "exposure",
                           .series_count = 4,
                           .series = p->series };
    return IO_OK;
}

int cva_plot(const char *path, const cva_result *r, io_error *err) {
    profile_chart p;
    int status = begin_profile(r, &p, err);
    if (status != IO_OK) return status;
    status = io_svg_write_lines(path, &p.chart, err);
    free(p.numbers);
    return status;
}

int cva_draw_profile(FILE *file, const cva_result *r, io_error *err) {
    profile_chart p;
    int status = begin_profile(r, &p, err);
    if (status != IO_OK) return status;
    p.chart.subtitle = "means, and quantiles over outer paths";
    p.chart.width = NARROW, p.chart.height = LOW;
    status = io_svg_lines(file, &p.chart, err);
    free(p.numbers);
    return status;
}

/* At M, M / sqrt 2, M / 2, .. paths. */
int cva_draw_convergence(FILE *file, const cva_result *r, io_error *err) {
    double x[POINTS], y[POINTS], error[POINTS];
    int count = 0;
    for (; count < POINTS; count++) {
        const int64_t paths = (int64_t)((double)r->outer * exp2(-0.5 * count));
        if (paths < FEWEST && count > 0) break;
        x[count] = (double)paths;
        y[count] = cva_mean(r, NULL, paths, &error[count]);
        error[count] *= 2;
    }
    const io_series series = { .name = "CVA", .count = count, .x = x, .y = y, .error = error };
    const io_chart chart = { .title = "Convergence",
                             .subtitle = "mean of the first paths +- 2 standard errors",
                             .x_label = "outer paths",
                             .y_label = "CVA",
                             .x_scale = IO_LOG2,
                             .width = NARROW,
                             .height = LOW,
                             .series_count = 1,
                             .series = &series };
    return io_svg_lines(file, &chart, err);
}

static int draw_bars(FILE *file, const char *title, const char *subtitle, const char *label,
                     int count, const char *const *names, const double *values, io_error *err) {
    static const char *const one[] = { "" };
    const io_bars bars = { .title = title,
                           .subtitle = subtitle,
                           .value_label = label,
                           .width = NARROW,
                           .group_count = count,
                           .series_count = 1,
                           .groups = names,
                           .series = one,
                           .values = values };
    return io_svg_bars(file, &bars, err);
}

static double percent(const cva_result *r, int64_t count) {
    return r->counts.systems > 0 ? 100 * (double)count / (double)r->counts.systems : 0;
}

int cva_draw_conditions(FILE *file, const cva_result *r, io_error *err) {
    char text[SHOAL_CVA_DECADES][24];
    const char *names[SHOAL_CVA_DECADES];
    double values[SHOAL_CVA_DECADES];
    int first = 0, last = SHOAL_CVA_DECADES - 1, count = 0;
    while (first < last && !r->counts.decade[first]) first++;
    while (last > first && !r->counts.decade[last]) last--;
    for (int i = first; i <= last; i++, count++) {
        snprintf(text[count], sizeof text[count],
                 i < SHOAL_CVA_DECADES - 1 ? "1e%d to 1e%d" : "1e%d or more", i, i + 1);
        names[count] = text[count];
        values[count] = percent(r, r->counts.decade[i]);
    }
    return draw_bars(file, "Condition numbers", "of the regressions that were solved",
                     "% of regressions", count, names, values, err);
}

int cva_draw_solvers(FILE *file, const cva_result *r, io_error *err) {
    const char *names[SHOAL_CVA_METHODS];
    double values[SHOAL_CVA_METHODS];
    int count = 0;
    for (; count < SHOAL_CVA_METHODS && shoal_methods("smallsym", count); count++) {
        names[count] = shoal_methods("smallsym", count);
        values[count] = percent(r, r->counts.method[count]);
    }
    return draw_bars(file, "Solvers", "the method that answered", "% of regressions", count, names,
                     values, err);
}

int cva_draw_outcomes(FILE *file, const cva_result *r, io_error *err) {
    static const char *const names[] = { "as they were", "empty",   "warned",
                                         "truncated",    "refined", "failed" };
    const shoal_cva_counts *n = &r->counts;
    const double values[] = { percent(r, n->systems - n->empty - n->warned - n->truncated -
                                             n->refined - n->failed),
                              percent(r, n->empty),
                              percent(r, n->warned),
                              percent(r, n->truncated),
                              percent(r, n->refined),
                              percent(r, n->failed) };
    return draw_bars(file, "Outcomes", "what became of the regressions", "% of regressions", 6,
                     names, values, err);
}

int cva_draw_stages(FILE *file, const cva_result *r, io_error *err) {
    static const char *const names[] = { "rules of exercise", "outer, closed form",
                                         "European, nested", "American" };
    const double *stage = r->counts.seconds, all[] = { r->rules, stage[0], stage[1], stage[2] };
    return draw_bars(file, "Time", NULL, "seconds", 4, names, all, err);
}
