/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_recur_figures.c - the figures of A. Wakatani, "Implementation and Evaluation
 * of Recurrence Equation Solvers on GPGPU systems using Rearrangement of Array Configurations", from
 * rows of results; bench/results/README.md says how they are measured.
 *
 * For each machine and N: the speedup of the P-scheme over substitution on one core, against T, one
 * line for each G, with the rearrangement (solid, Figure 8) and without (dashed; both: 4 and 6);
 * the fit of equations (14) to (16), t = a N / P + b P with a = alpha + gamma and b = beta, by least
 * squares of relative errors, and P_opt = sqrt(a N / b), equation (18), beside the best P measured;
 * the best of all beside cyclic reduction and the look-back (Figure 7). Figures 1, 3 and 5 are drawn
 * by performance_recur_phases.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/performance_recur_figures.h"
#include "io/svg.h"

bool figure_row(const io_json_value *row, const char *method, const char *phase) {
    const char *told = result_text(row, "phase"); /* "" in older results, and of other methods */
    return strcmp(result_text(row, "module"), "recur") == 0 && result_ours(row) &&
           strcmp(result_text(row, "method"), method) == 0 &&
           strcmp(result_text(row, "constant"), "both") == 0 &&
           strcmp(*told ? told : "none", phase) == 0 && result_number(row, "median_s") > 0;
}

/* The place of a value in an ascending list, which takes it in; -1: the list is full. */
static int place_of(double value, double *list, int *count, int most) {
    for (int i = 0; i < *count; i++)
        if (list[i] == value) return i;
    if (*count == most) return -1;
    list[*count] = value;
    return (*count)++;
}

scheme scheme_of(const io_json_value *const *rows, int count, double n, const char *variant,
                 const char *phase) {
    scheme s = { .n = n };
    for (int t = 0; t < MOST_T; t++)
        for (int g = 0; g < MOST_G; g++) s.seconds[t][g] = NAN;
    for (int i = 0; i < count; i++) {
        const double threads = result_number(rows[i], "threads_asked");
        const double groups = result_number(rows[i], "groups_asked");
        if (!figure_row(rows[i], "pscheme", phase) || result_number(rows[i], "n") != n ||
            !(threads > 0) || !(groups > 0) ||
            strcmp(result_text(rows[i], "variant"), variant) != 0)
            continue;
        const int t = place_of(threads, s.threads, &s.t_count, MOST_T);
        const int g = place_of(groups, s.groups, &s.g_count, MOST_G);
        if (t >= 0 && g >= 0) s.seconds[t][g] = result_number(rows[i], "median_s");
    }
    return s;
}

/* The fastest row of a method: seconds, NaN if there is none. Of rows with one thread, if asked. */
static double fastest(const io_json_value *const *rows, int count, const char *method, double n,
                      bool one_core) {
    double best = NAN;
    for (int i = 0; i < count; i++) {
        if (!figure_row(rows[i], method, "none") || result_number(rows[i], "n") != n) continue;
        if (one_core && result_number(rows[i], "threads") != 1) continue;
        best = fmin(best, result_number(rows[i], "median_s")); /* the other one, if one is NaN */
    }
    return best;
}

typedef struct fit {
    double a, b;   /* t = a N / P + b P  */
    double best_p; /* the fastest measured */
    double best_s;
} fit;

static fit fit_of(const scheme *s) {
    double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
    fit f = { NAN, NAN, NAN, NAN };
    for (int t = 0; t < s->t_count; t++)
        for (int g = 0; g < s->g_count; g++) {
            const double time = s->seconds[t][g], p = s->threads[t] * s->groups[g];
            if (!(time > 0)) continue;
            const double x = s->n / p / time, y = p / time; /* a x + b y = 1, nearly */
            xx += x * x, xy += x * y, yy += y * y, x1 += x, y1 += y;
            if (!(f.best_s <= time)) f.best_s = time, f.best_p = p;
        }
    const double determinant = xx * yy - xy * xy;
    if (determinant > 0) {
        f.a = (x1 * yy - y1 * xy) / determinant;
        f.b = (y1 * xx - x1 * xy) / determinant;
    }
    return f;
}

static int draw(const result_page *p, const result_group *group, const scheme schemes[2],
                double serial, char name[RESULT_FILE], io_error *err) {
    double y[2][MOST_G][MOST_T];
    char names[2][MOST_G][32], path[RESULT_PATH], extra[64], title[96];
    io_series series[2 * MOST_G] = { { 0 } };
    int count = 0;
    for (int v = 0; v < 2; v++)
        for (int g = 0; g < schemes[v].g_count; g++) {
            const scheme *s = &schemes[v];
            for (int t = 0; t < s->t_count; t++)
                y[v][g][t] = (serial > 0 ? serial : 1e-3) / s->seconds[t][g];
            snprintf(names[v][g], sizeof names[v][g], "G = %.0f%s", s->groups[g],
                     v ? "" : ", blocked");
            series[count++] = (io_series){ .name = names[v][g],
                                           .count = s->t_count,
                                           .x = s->threads,
                                           .y = y[v][g],
                                           .color = g + 1,
                                           .dashed = v == 0 };
        }
    snprintf(title, sizeof title, "P-scheme, N = %.0f", schemes[0].n);
    const io_chart chart = { .title = title,
                             .subtitle = "solid: with the rearrangement; dashed: without",
                             .x_label = "T, threads of a group",
                             .y_label =
                                 serial > 0 ? "speedup over one core" : "solves a millisecond",
                             .x_scale = IO_LOG2,
                             .y_from_zero = true,
                             .series_count = count,
                             .series = series };
    snprintf(extra, sizeof extra, "-pscheme-%.0f", schemes[0].n);
    int status = result_image(p, group, extra, name, path, err);
    return status == IO_OK ? io_svg_write_lines(path, &chart, err) : status;
}

static void write_table(FILE *file, const scheme *s, const char *variant) {
    fprintf(file, "\n| `%s`, ms: T |", variant);
    for (int g = 0; g < s->g_count; g++) fprintf(file, " G = %.0f |", s->groups[g]);
    fputs("\n|---:|", file);
    for (int g = 0; g < s->g_count; g++) fputs("---:|", file);
    fputc('\n', file);
    for (int t = 0; t < s->t_count; t++) {
        fprintf(file, "| %.0f", s->threads[t]);
        for (int g = 0; g < s->g_count; g++) result_cell(file, "%.4g", 1e3 * s->seconds[t][g]);
        fputs(" |\n", file);
    }
    const fit f = fit_of(s);
    fprintf(
        file,
        "\nFit: alpha + gamma = %.3g ns, beta = %.3g ns a step; P_opt = %.0f, sqrt(N / 2) = %.0f; "
        "the fastest was P = %.0f, %.4g ms.\n",
        1e9 * f.a, 1e9 * f.b, sqrt(f.a / f.b * s->n), sqrt(s->n / 2), f.best_p, 1e3 * f.best_s);
}

static int write_size(const result_page *p, const result_group *group,
                      const io_json_value *const *all, int all_count, double n, io_error *err) {
    static const char *const variants[2] = { "blocked", "rearranged" };
    scheme schemes[2];
    char name[RESULT_FILE];
    for (int v = 0; v < 2; v++)
        schemes[v] = scheme_of(group->rows, group->count, n, variants[v], "none");
    if (schemes[0].t_count == 0 && schemes[1].t_count == 0) return IO_OK;
    const double serial = fastest(all, all_count, "serial", n, true);
    int status = draw(p, group, schemes, serial, name, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "\n### N = %.0f\n\n![speedup against T](img/%s)\n", n, name);
    for (int v = 0; v < 2; v++)
        if (schemes[v].t_count > 0) write_table(p->file, &schemes[v], variants[v]);
    fputs("\n| | ms |\n|---|---:|\n| `serial`, one core", p->file);
    result_cell(p->file, "%.4g", 1e3 * serial);
    fputs(" |\n| `pscheme`, the fastest", p->file);
    result_cell(p->file, "%.4g",
                1e3 * fmin(fit_of(&schemes[0]).best_s, fit_of(&schemes[1]).best_s));
    static const char *const others[] = { "pcr", "lookback" };
    for (int i = 0; i < 2; i++) {
        fprintf(p->file, " |\n| `%s`", others[i]);
        result_cell(p->file, "%.4g", 1e3 * fastest(group->rows, group->count, others[i], n, false));
    }
    fputs(" |\n", p->file);
    return write_phases(p, group, n, err);
}

static int write_page(const result_page *p, const result_files *files, io_error *err) {
    static const double sizes[] = { 1 << 18, 1 << 20 };
    const io_json_value **all = NULL;
    int all_count = 0, status = IO_OK;
    bool any = false;
    fputs(
        "# Recurrences: the paper's figures\n\n"
        "Figures 1 and 3 to 8 of the paper of [recur.md](recur.md), made by `shoal report "
        "--recur-figures` from files of `shoal bench --save`: no number is typed by hand. Scale and "
        "offset are constant, in single precision, as there. Speedups are over `serial` on one core "
        "of the machine where that was measured.\n",
        p->file);
    for (int f = 0; f < files->count && status == IO_OK; f++) { /* serial may be of any machine */
        const io_json_value *row = io_json_get(files->roots[f], "rows")->first;
        for (; row; row = row->next) {
            const io_json_value **more = realloc(all, (size_t)(all_count + 1) * sizeof *all);
            if (!more) {
                status = io_fail(err, IO_E_MEMORY, "%s: no memory", p->path);
                break;
            }
            all = more;
            all[all_count++] = row;
        }
    }
    for (int f = 0; f < files->count && status == IO_OK; f++) {
        const char *device = result_device(files, f);
        bool seen = false;
        for (int e = 0; e < f; e++) seen |= strcmp(result_device(files, e), device) == 0;
        if (seen) continue;
        result_group group = { .device = device };
        group.rows = result_rows(files, device, &group.count);
        if (!group.rows) status = io_fail(err, IO_E_MEMORY, "%s: no memory", p->path);
        int kept = 0;
        for (int i = 0; i < group.count && group.rows; i++)
            if (strcmp(result_text(group.rows[i], "module"), "recur") == 0)
                group.rows[kept++] = group.rows[i];
        group.count = kept;
        bool some = false;
        for (size_t i = 0; i < 2; i++)
            some |= fastest(group.rows, group.count, "pscheme", sizes[i], false) > 0;
        if (some) fprintf(p->file, "\n## %s\n", device);
        any |= some;
        if (some) status = write_one_core(p, &group, err);
        for (size_t i = 0; i < 2 && some && status == IO_OK; i++)
            status = write_size(p, &group, all, all_count, sizes[i], err);
        free(group.rows);
    }
    free(all);
    if (!any)
        fputs("\nThey are left out: no file has rows of `pscheme` with `constant=both`.\n",
              p->file);
    return status;
}

int bench_recur_figures(const char *directory, const char *path, io_error *err) {
    return result_write_page(directory, path, write_page, err);
}
