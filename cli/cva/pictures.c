/* SPDX-License-Identifier: Apache-2.0
 *
 * pictures.c - the picture of `shoal cva --plot`, and those of the page.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "io/svg.h"
#include "page.h"

enum { NARROW = 430, LOW = 320, POINTS = 40, MIN_PATHS = 8 };

enum { WIDE = 960, HIGH = 400 };
enum { PFE99, PFE95, EPE, ENE, EXPOSURES };

typedef struct profile_chart {
    char years[40];
    double *numbers; /* time, the series, and 0, each of `dates` numbers */
    io_series series[EXPOSURES];
    char subtitle[160];
    io_chart chart;
} profile_chart;

static int begin_profile(const cva_options *o, const cva_result *r, profile_chart *p,
                         io_error *err) {
    static const char *const names[] = { "PFE 99 %", "PFE 95 %", "EPE", "-ENE" };
    const int64_t n = r->info.dates;
    p->numbers = malloc((size_t)((EXPOSURES + 2) * n) * sizeof *p->numbers);
    if (!p->numbers) return io_fail(err, IO_E_MEMORY, "not enough memory");
    for (int64_t k = 0; k < n; k++) {
        const shoal_cva_date *d = &r->profile[k];
        const double all[] = { d->time, d->pfe99, d->pfe95, d->epe, -d->ene, 0 };
        for (int i = 0; i < EXPOSURES + 2; i++) p->numbers[i * n + k] = all[i];
    }
    const double *zero = p->numbers + (EXPOSURES + 1) * n;
    for (int i = 0; i < EXPOSURES; i++) {
        const double *y = p->numbers + (i + 1) * n;
        p->series[i] = (io_series){
            names[i], n, p->numbers, .y = y, .base = i < EPE ? y + n : zero, .no_markers = n > 12
        };
    }
    char today[CVA_DAY] = "";
    if (o->today) cva_day_text(o->today, today);
    snprintf(p->years, sizeof p->years, "years%s%s", o->today ? " from " : "", today);
    snprintf(p->subtitle, sizeof p->subtitle, "%lld outer paths; CVA %s", (long long)r->outer,
             CLI_MEASURED(r->value.cva, r->value.error));
    p->chart = (io_chart){ "Exposure",         p->subtitle,         p->years,
                           "exposure",         .y_from_zero = true, .series_count = EXPOSURES,
                           .series = p->series };
    return IO_OK;
}

int cva_draw_profile(FILE *page, bool wide, const char *path, const cva_options *o,
                     const cva_result *r, io_error *err) {
    profile_chart p;
    int status = begin_profile(o, r, &p, err);
    if (status != IO_OK) return status;
    if (page) {
        p.chart.title = NULL;
        p.chart.subtitle = NULL;
        p.chart.width = wide ? WIDE : NARROW, p.chart.height = wide ? HIGH : LOW;
    }
    status = page ? io_svg_lines(page, &p.chart, err) : io_svg_write_lines(path, &p.chart, err);
    free(p.numbers);
    return status;
}

int cva_plot(const char *path, const cva_options *o, const cva_result *r, io_error *err) {
    return cva_draw_profile(NULL, false, path, o, r, err);
}

/* At M, M / sqrt 2, M / 2, .. paths. */
int cva_draw_convergence(FILE *file, const cva_result *r, io_error *err) {
    double x[POINTS], y[POINTS], error[POINTS];
    int count = 0;
    for (; count < POINTS; count++) {
        const int64_t paths = (int64_t)((double)r->outer * exp2(-0.5 * count));
        if (paths < MIN_PATHS && count > 0) break;
        x[count] = (double)paths;
        y[count] = cva_mean(r, NULL, paths, &error[count]);
        error[count] *= 2;
    }
    const io_series series = { "CVA", count, x, y, .error = error };
    const io_chart chart = { "Convergence",    "mean of the first paths +- 2 standard errors",
                             "outer paths",    "CVA",
                             IO_LOG2,          .width = NARROW,
                             .height = LOW,    .series_count = 1,
                             .series = &series };
    return io_svg_lines(file, &chart, err);
}

int cva_draw_bars(FILE *file, const char *title, const char *subtitle, const char *label, int count,
                  const char *const *names, const double *values, io_error *err) {
    const io_bars bars = { title, subtitle, label, NARROW, count, names, values };
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
    return cva_draw_bars(file, "Condition numbers", "of the regressions that were solved",
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
    return cva_draw_bars(file, "Solvers", "the method that answered", "% of regressions", count,
                         names, values, err);
}

int cva_draw_outcomes(FILE *file, const cva_result *r, io_error *err) {
    static const char *const names[] = { "as they were", "empty",   "warned",
                                         "truncated",    "refined", "failed" };
    const shoal_cva_counts *n = &r->counts;
    const int64_t counts[] = { n->systems - n->empty - n->warned - n->truncated - n->refined -
                                   n->failed,
                               n->empty,
                               n->warned,
                               n->truncated,
                               n->refined,
                               n->failed };
    double values[6];
    for (int i = 0; i < 6; i++) values[i] = percent(r, counts[i]);
    return cva_draw_bars(file, "Outcomes", "status of the regressions", "% of regressions", 6,
                         names, values, err);
}

int cva_draw_stages(FILE *file, const cva_result *r, io_error *err) {
    static const char *const names[] = { "rules of exercise", "outer, closed form",
                                         "European, nested", "American" };
    const double *stage = r->counts.seconds, all[] = { r->rules, stage[0], stage[1], stage[2] };
    return cva_draw_bars(file, "Time", NULL, "seconds", 4, names, all, err);
}
