/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_figures.c - figures 2, 4, 5, 6, 9, 10 and 12 of L. A. Abbas-Turki and S. Graillat,
 * "Resolution of a large number of small random symmetric linear systems in single precision
 * arithmetic on GPUs" (2017), from rows of results. bench/results/README.md says how they are measured.
 *
 * The paper's lines are solid; dashed is what stands beside them: our own variants, or a law. A figure
 * without rows is left out, and the page says so.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/performance_figures.h"

static const figure_source simd = { .method = "ldlt", .variant = "simd" };
static const figure_source coop = { .method = "ldlt", .variant = "coop" };
static const figure_source hybrid = { .method = "ldlt", .variant = "hybrid" };
static const figure_source team = { .method = "ldlt", .variant = "team" };

/* rate(of) / rate(over), or, what is the same, time(over) / time(of). */
static figure_line speedup(const figure_rows *rows, const figure_source *of,
                           const figure_source *over) {
    const figure_line above = figure_rates(rows, of), below = figure_rates(rows, over);
    return figure_ratio(&above, &below);
}

static void versions_of_ldlt(const figure_rows *rows, figure_drawing *d) {
    const figure_line line[] = { speedup(rows, &coop, &simd), speedup(rows, &hybrid, &simd),
                                 speedup(rows, &team, &simd) };
    figure_add(d, "coop", &line[0], false);
    figure_add(d, "hybrid", &line[1], false);
    if (d->count > 0) figure_add(d, "team, ours", &line[2], true);
}

static void best_team(const figure_rows *rows, figure_drawing *d) {
    figure_source sized = hybrid;
    sized.sized = true;
    const figure_line best = figure_teams(rows, &sized);
    figure_line all = best, half = best;
    for (int i = 0; i < best.count; i++) all.value[i] = best.n[i], half.value[i] = best.n[i] / 2;
    figure_add(d, "n*", &best, false);
    figure_add(d, "n", &all, true);
    figure_add(d, "n / 2", &half, true);
}

static void systems_of_ldlt(const figure_rows *rows, figure_drawing *d) {
    const figure_line paper = figure_rates(rows, &hybrid), ours = figure_rates(rows, &team);
    figure_line law = paper; /* through the last point */
    for (int i = 0; i < law.count; i++)
        law.value[i] = paper.value[law.count - 1] * pow(law.n[law.count - 1] / law.n[i], 3);
    figure_add(d, "hybrid", &paper, false);
    if (d->count > 0) figure_add(d, "team, ours", &ours, true);
    figure_add(d, "n^-3", &law, true);
}

static void systems_of_pcr(const figure_rows *rows, figure_drawing *d) {
    const figure_line pcr =
        figure_rates(rows, &(figure_source){ .method = "hhpcr", .stage = "pcr" });
    const figure_line ldlt = figure_rates(rows, &hybrid);
    figure_add(d, "PCR, two products", &pcr, false);
    if (d->count > 0) figure_add(d, "ldlt hybrid", &ldlt, true);
}

static void ratios_of_householder(const figure_rows *rows, figure_drawing *d) {
    const figure_source alone = { .method = "hhpcr", .variant = "simd", .stage = "reduce" };
    const figure_source together = { .method = "hhpcr", .variant = "coop", .stage = "reduce" };
    const figure_source solved = { .method = "hhpcr", .variant = "coop" };
    const figure_source reflect = { .method = "hhpcr", .variant = "reflect" };
    const figure_line line[] = { speedup(rows, &together, &alone), speedup(rows, &hybrid, &solved),
                                 speedup(rows, &team, &reflect) };
    figure_add(d, "simd / coop", &line[0], false);
    figure_add(d, "hhpcr coop / ldlt hybrid", &line[1], false);
    if (d->count > 0) figure_add(d, "reflect / team, ours", &line[2], true);
}

static void time_of_conquest(const figure_rows *rows, figure_drawing *d) {
    const figure_source conquest = { .method = "eigdc", .pairs = "tridiag" };
    const figure_source together = { .method = "hhpcr", .variant = "coop", .stage = "reduce" };
    const figure_source reduce = { .method = "hhpcr", .stage = "reduce" };
    const figure_line line[] = { speedup(rows, &together, &conquest),
                                 speedup(rows, &reduce, &conquest) };
    figure_add(d, "over coop", &line[0], false);
    figure_add(d, "over our fastest", &line[1], true);
}

typedef struct figure {
    int number;
    const char *title, *y_label;
    io_scale x_scale, y_scale;
    const char *format; /* of its numbers */
    const char *needs;  /* rows, for the note where they are missing */
    void (*draw)(const figure_rows *rows, figure_drawing *d);
} figure;

/* clang-format off */
static const figure figures[] = {
    { 4, "LDLt: speed-up over one thread a system", "time of simd / time", IO_LINEAR, IO_LINEAR, "%.2f",
      "`ldlt` in the variants `simd`, `coop` and `hybrid`", versions_of_ldlt },
    { 5, "LDLt: the fastest team of variant hybrid", "threads a system", IO_LINEAR, IO_LINEAR, "%.0f",
      "`ldlt` in the variant `hybrid` with several values of `team`", best_team },
    { 6, "LDLt: systems a second", "systems a second", IO_LOG2, IO_LOG10, "%.3g",
      "`ldlt` in the variant `hybrid`", systems_of_ldlt },
    { 9, "PCR and two products of a matrix and a vector", "systems a second", IO_LOG2, IO_LOG10, "%.3g",
      "`hhpcr` with `stage=pcr`", systems_of_pcr },
    { 10, "Householder: ratios of times", "ratio of times", IO_LINEAR, IO_LINEAR, "%.2f",
      "`hhpcr` with `stage=reduce` in the variants `simd` and `coop`", ratios_of_householder },
    { 12, "Divide and conquer: time over that of Householder's reduction", "ratio of times", IO_LINEAR,
      IO_LINEAR, "%.2f", "`eigdc` with `pairs=tridiag` and `hhpcr` with `stage=reduce`", time_of_conquest },
};
/* clang-format on */

static int image_path(const result_page *p, int number, const char *device, char name[RESULT_FILE],
                      char path[RESULT_PATH], io_error *err) {
    char slug[BENCH_SLUG];
    result_slug(device, slug);
    snprintf(name, RESULT_FILE, "smallsym-figure-%d%s%s.svg", number, *slug ? "-" : "", slug);
    return result_image_path(p->path, name, path, err);
}

static void write_table(FILE *file, const figure *f, const figure_drawing *d) {
    fputs("| n |", file);
    for (int k = 0; k < d->count; k++) fprintf(file, " %s |", d->name[k]);
    fputs("\n|---:|", file);
    for (int k = 0; k < d->count; k++) fputs("---:|", file);
    const figure_line *first = &d->line[0];
    for (int i = 0; i < first->count; i++) {
        fprintf(file, "\n| %.0f", first->n[i]);
        for (int k = 0; k < d->count; k++) {
            double value = NAN;
            for (int m = 0; m < d->line[k].count; m++)
                if (d->line[k].n[m] == first->n[i]) value = d->line[k].value[m];
            result_cell(file, f->format, value);
        }
        fputs(" |", file);
    }
    fputs("\n", file);
}

static int write_figure(const result_page *p, const figure_rows *rows, const figure *f,
                        io_error *err) {
    figure_drawing d = { .count = 0 };
    char name[RESULT_FILE], path[RESULT_PATH], title[160], subtitle[192];
    f->draw(rows, &d);
    fprintf(p->file, "\n### Figure %d\n\n", f->number);
    if (d.count == 0) {
        fprintf(p->file, "Left out: there are no rows of %s.\n", f->needs);
        return IO_OK;
    }
    io_series series[FIGURE_LINES] = { 0 };
    for (int k = 0; k < d.count; k++)
        series[k] = (io_series){ .name = d.name[k],
                                 .count = d.line[k].count,
                                 .x = d.line[k].n,
                                 .y = d.line[k].value,
                                 .dashed = d.dashed[k],
                                 .no_markers = d.dashed[k] };
    snprintf(title, sizeof title, "Figure %d. %s", f->number, f->title);
    snprintf(subtitle, sizeof subtitle, "%s, f32; dashed: beside what the paper has", rows->device);
    io_chart chart = bench_chart_over_n(title, subtitle, f->y_label);
    chart.x_scale = f->x_scale, chart.y_scale = f->y_scale;
    chart.y_from_zero = true;
    chart.width = 860;
    chart.series_count = d.count;
    chart.series = series;
    int status = image_path(p, f->number, rows->device, name, path, err);
    if (status == IO_OK) status = io_svg_write_lines(path, &chart, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "![%s](img/%s)\n\n", f->title, name);
    write_table(p->file, f, &d);
    return status;
}

/* Figure 2: condition numbers, system after system, of a study. They are found in double, and do not
 * depend on the machine. */
static int write_conditions(const result_page *p, const result_files *all, io_error *err) {
    const io_json_value *of = NULL;
    for (int f = 0; f < all->count; f++)
        if (!of) of = io_json_get(all->roots[f], "conditions");
    const io_json_value *values = io_json_get(of, "values");
    fputs("\n## Figure 2\n\n", p->file);
    if (!values || values->count == 0) {
        fputs("Left out: there is no study (`shoal report --study smallsym`) among the files.\n",
              p->file);
        return IO_OK;
    }
    double *x = malloc((size_t)values->count * sizeof *x), least = INFINITY, most = 0;
    double *y = malloc((size_t)values->count * sizeof *y);
    char name[RESULT_FILE], path[RESULT_PATH], subtitle[256];
    int status = image_path(p, 2, "", name, path, err);
    if (!x || !y) status = io_fail(err, IO_E_MEMORY, "%s: no memory", path);
    int64_t i = 0;
    for (const io_json_value *v = values->first; v && status == IO_OK; v = v->next, i++) {
        x[i] = (double)(i + 1), y[i] = v->number;
        least = fmin(least, y[i]), most = fmax(most, y[i]);
    }
    if (status == IO_OK) {
        snprintf(subtitle, sizeof subtitle, "%s, n = %.0f, raw basis: %.3g to %.3g",
                 result_text(of, "kind"), result_number(of, "n"), least, most);
        const io_series series = { .count = i, .x = x, .y = y, .no_markers = true };
        const io_chart chart = { .title = "Figure 2. Condition numbers of regression matrices",
                                 .subtitle = subtitle,
                                 .x_label = "system",
                                 .y_label = "condition number",
                                 .y_from_zero = true,
                                 .width = 860,
                                 .series_count = 1,
                                 .series = &series };
        status = io_svg_write_lines(path, &chart, err);
        fprintf(p->file,
                "![Condition numbers of regression matrices](img/%s)\n\n"
                "%lld systems: %.3g to %.3g.\n",
                name, (long long)i, least, most);
    }
    free(x);
    free(y);
    return status;
}

/* Whether a file has rows that figures could be made of; a study has not. */
static bool has_rows(const result_files *all, int file) {
    const io_json_value *row = io_json_get(all->roots[file], "rows")->first;
    for (; row; row = row->next)
        if (strcmp(result_text(row, "module"), "smallsym") == 0) return true;
    return false;
}

static int write_device(const result_page *p, const result_files *all, int file, io_error *err) {
    figure_rows rows = { .device = result_device(all, file) };
    rows.rows = result_rows(all, rows.device, &rows.count);
    int status = rows.rows ? IO_OK : io_fail(err, IO_E_MEMORY, "%s: no memory", p->path);
    fprintf(p->file, "\n## %s\n\n", rows.device);
    for (int f = file; f < all->count; f++) {
        if (strcmp(result_device(all, f), rows.device) != 0 || !has_rows(all, f)) continue;
        fprintf(p->file, "- `%s`, measured %s\n", all->names[f],
                result_text(io_json_get(all->roots[f], "machine"), "date"));
    }
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == IO_OK; i++)
        status = write_figure(p, &rows, &figures[i], err);
    free(rows.rows);
    return status;
}

static int write_page(const result_page *p, const result_files *all, io_error *err) {
    bool some = false;
    fputs(
        "# The paper's figures\n\n"
        "Figures 2, 4, 5, 6, 9, 10 and 12 of the paper of [smallsym.md](smallsym.md), which says what "
        "each of them showed there. This page is made by `shoal report --figures` from files of "
        "`shoal bench --save`: no number is typed by hand. All in single precision, with the data in "
        "the memory of the device; where there are several rows of one n, the fastest counts. Solid "
        "lines are of the paper's versions, as they run here; dashed ones are ours, or a law.\n",
        p->file);
    int status = write_conditions(p, all, err);
    for (int f = 0; f < all->count && status == IO_OK; f++) {
        bool seen = !has_rows(all, f);
        for (int e = 0; e < f; e++)
            seen |= has_rows(all, e) && strcmp(result_device(all, e), result_device(all, f)) == 0;
        if (seen) continue;
        some = true;
        status = write_device(p, all, f, err);
    }
    if (!some)
        fputs("\nThe other figures are left out: no file has rows of `shoal bench`.\n", p->file);
    return status;
}

int bench_figures(const char *directory, const char *path, io_error *err) {
    return result_write_page(directory, path, write_page, err);
}
