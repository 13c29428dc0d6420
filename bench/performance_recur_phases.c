/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_recur_phases.c - figures 1, 3 and 5 of the P-scheme paper (performance_recur_figures.c
 * names it) from rows of results.
 *
 * Figure 1: seconds against N of substitution and of the P-scheme, both on one core. Figures 3 and 5:
 * the times of pre-computation, propagation and determination against T, for the smallest and the
 * largest G. A row with `phase` is the time up to the end of that phase; a phase takes what the next
 * row has more, and a difference that is not positive is left out as below the noise.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/performance_recur_figures.h"
#include "io/svg.h"

enum { PHASES = 3, MOST_SIZES = 32 };

static const char *const names[PHASES] = { "precomputation", "propagation", "determination" };

/* ---- figure 1 --------------------------------------------------------------------------------- */

typedef struct sizes { /* seconds by N of one method on one core */
    double n[MOST_SIZES], seconds[MOST_SIZES];
    int count;
} sizes;

static sizes sizes_of(const result_group *group, const char *method) {
    sizes s = { .count = 0 };
    for (int i = 0; i < group->count; i++) {
        const io_json_value *row = group->rows[i];
        const double n = result_number(row, "n"), seconds = result_number(row, "median_s");
        if (!figure_row(row, method, "none") || result_number(row, "threads") != 1) continue;
        int at = 0;
        while (at < s.count && s.n[at] < n) at++;
        if (at < s.count && s.n[at] == n) {
            s.seconds[at] = fmin(s.seconds[at], seconds);
            continue;
        }
        if (s.count == MOST_SIZES) continue;
        memmove(s.n + at + 1, s.n + at, (size_t)(s.count - at) * sizeof *s.n);
        memmove(s.seconds + at + 1, s.seconds + at, (size_t)(s.count - at) * sizeof *s.seconds);
        s.n[at] = n, s.seconds[at] = seconds, s.count++;
    }
    return s;
}

static double seconds_at(const sizes *s, double n) {
    for (int i = 0; i < s->count; i++)
        if (s->n[i] == n) return s->seconds[i];
    return NAN;
}

int write_one_core(const result_page *p, const result_group *group, io_error *err) {
    const sizes serial = sizes_of(group, "serial"), scheme_s = sizes_of(group, "pscheme");
    char name[RESULT_FILE], path[RESULT_PATH];
    if (serial.count == 0 || scheme_s.count == 0) return IO_OK;
    const io_series series[2] = {
        { .name = "substitution", .count = serial.count, .x = serial.n, .y = serial.seconds },
        { .name = "P-scheme", .count = scheme_s.count, .x = scheme_s.n, .y = scheme_s.seconds }
    };
    const io_chart chart = { .title = "Substitution and the P-scheme, one core",
                             .x_label = "N",
                             .y_label = "seconds",
                             .x_scale = IO_LOG2,
                             .y_scale = IO_LOG10,
                             .series_count = 2,
                             .series = series };
    int status = result_image(p, group, "-pscheme-one-core", name, path, err);
    if (status == IO_OK) status = io_svg_write_lines(path, &chart, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "\n### Figure 1\n\n![seconds against N](img/%s)\n\n", name);
    fputs("| N | `serial`, ms | `pscheme`, ms | ratio |\n|---:|---:|---:|---:|\n", p->file);
    for (int i = 0; i < scheme_s.count; i++) {
        const double plain = seconds_at(&serial, scheme_s.n[i]);
        fprintf(p->file, "| %.0f", scheme_s.n[i]);
        result_cell(p->file, "%.4g", 1e3 * plain);
        result_cell(p->file, "%.4g", 1e3 * scheme_s.seconds[i]);
        result_cell(p->file, "%.2f", scheme_s.seconds[i] / plain);
        fputs(" |\n", p->file);
    }
    return IO_OK;
}

/* ---- figures 3 and 5 -------------------------------------------------------------------------- */

/* Seconds of each phase alone. */
typedef struct phases {
    scheme of[PHASES];
} phases;

static double seconds_of(const scheme *s, double threads, double groups) {
    for (int t = 0; t < s->t_count; t++)
        for (int g = 0; g < s->g_count; g++)
            if (s->threads[t] == threads && s->groups[g] == groups) return s->seconds[t][g];
    return NAN;
}

static phases phases_of(const result_group *group, double n, const char *variant) {
    phases all;
    for (int i = 0; i < PHASES; i++)
        all.of[i] = scheme_of(group->rows, group->count, n, variant, names[i]);
    for (int i = PHASES - 1; i > 0; i--) {
        scheme *s = &all.of[i];
        for (int t = 0; t < s->t_count; t++)
            for (int g = 0; g < s->g_count; g++) {
                const double more =
                    s->seconds[t][g] - seconds_of(&all.of[i - 1], s->threads[t], s->groups[g]);
                s->seconds[t][g] = more > 0 ? more : NAN;
            }
    }
    return all;
}

/* The places of the smallest and the largest G; one if they are the same. Returns how many. */
static int ends_of(const scheme *s, int ends[2]) {
    ends[0] = ends[1] = 0;
    for (int g = 1; g < s->g_count; g++) {
        if (s->groups[g] < s->groups[ends[0]]) ends[0] = g;
        if (s->groups[g] > s->groups[ends[1]]) ends[1] = g;
    }
    return ends[0] == ends[1] ? 1 : 2;
}

static int draw_phases(const result_page *p, const result_group *group, const phases *all,
                       const char *variant, char name[RESULT_FILE], io_error *err) {
    double y[PHASES][2][MOST_T];
    char labels[PHASES][2][48], path[RESULT_PATH], extra[64], title[96];
    io_series series[2 * PHASES] = { { 0 } };
    int count = 0;
    for (int i = 0; i < PHASES; i++) {
        const scheme *s = &all->of[i];
        int ends[2];
        const int shown = s->g_count > 0 ? ends_of(s, ends) : 0;
        for (int e = 0; e < shown; e++) {
            for (int t = 0; t < s->t_count; t++) y[i][e][t] = 1e3 * s->seconds[t][ends[e]];
            snprintf(labels[i][e], sizeof labels[i][e], "%s, G = %.0f", names[i],
                     s->groups[ends[e]]);
            series[count++] = (io_series){ .name = labels[i][e],
                                           .count = s->t_count,
                                           .x = s->threads,
                                           .y = y[i][e],
                                           .color = i + 1,
                                           .dashed = e == 0 && shown == 2 };
        }
    }
    snprintf(title, sizeof title, "Phases of the P-scheme, N = %.0f, %s", all->of[0].n, variant);
    const io_chart chart = { .title = title,
                             .x_label = "T, threads of a group",
                             .y_label = "milliseconds",
                             .x_scale = IO_LOG2,
                             .y_scale = IO_LOG10,
                             .series_count = count,
                             .series = series };
    snprintf(extra, sizeof extra, "-phases-%.0f-%.16s", all->of[0].n, variant);
    int status = result_image(p, group, extra, name, path, err);
    return status == IO_OK ? io_svg_write_lines(path, &chart, err) : status;
}

static void write_phase_table(FILE *file, const phases *all, const char *variant) {
    const scheme *s = &all->of[0];
    int ends[2];
    const int shown = ends_of(s, ends);
    fprintf(file, "\n| `%s`, ms: G | T | pre-computation | propagation | determination |\n",
            variant);
    fputs("|---:|---:|---:|---:|---:|\n", file);
    for (int e = 0; e < shown; e++)
        for (int t = 0; t < s->t_count; t++) {
            fprintf(file, "| %.0f | %.0f", s->groups[ends[e]], s->threads[t]);
            for (int i = 0; i < PHASES; i++)
                result_cell(file, "%.4g",
                            1e3 * seconds_of(&all->of[i], s->threads[t], s->groups[ends[e]]));
            fputs(" |\n", file);
        }
}

int write_phases(const result_page *p, const result_group *group, double n, io_error *err) {
    static const char *const variants[2] = { "blocked", "rearranged" };
    int status = IO_OK;
    for (int v = 0; v < 2 && status == IO_OK; v++) {
        const phases all = phases_of(group, n, variants[v]);
        char name[RESULT_FILE];
        if (all.of[0].t_count == 0 || all.of[1].t_count == 0) continue;
        status = draw_phases(p, group, &all, variants[v], name, err);
        if (status != IO_OK) break;
        fprintf(p->file, "\n![milliseconds of each phase against T](img/%s)\n", name);
        write_phase_table(p->file, &all, variants[v]);
    }
    return status;
}
