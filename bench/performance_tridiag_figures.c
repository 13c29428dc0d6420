/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_tridiag_figures.c - figures 7 and 8 of I. E. Venetis, A. Kouris, A. Sobczyk,
 * E. Gallopoulos and A. H. Sameh, "A direct tridiagonal solver based on Givens rotations for GPU
 * architectures", from rows of results; bench/results/README.md says how they are measured.
 *
 * For each machine and matrix, #1 and #18 (Figure 7), #4, #17 and #21 (with #1: Figure 8): the time of
 * one solve against n, a line for each solver, and a table with the backward errors beside the times;
 * then, for each n, how far apart the times over these matrices are, which the paper reads off its
 * figures. The errors on all 21 matrices are written by performance_tridiag_errors.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/performance_tridiag_figures.h"
#include "io/svg.h"

enum { MOST_N = 32, DRAWN = 5 };

static const int drawn[DRAWN] = { 1, 18, 4, 17, 21 };
static const char *const about[DRAWN] = { "random: needs pivoting", "-1 4 -1: needs no pivoting",
                                          "random, one entry tiny", "1 1e8 1", "ill-conditioned" };

int spike_number(const io_json_value *row) {
    const char *kind = result_text(row, "kind");
    if (strcmp(result_text(row, "module"), "tridiag") != 0 || strncmp(kind, "spike", 5) != 0 ||
        strcmp(result_text(row, "type"), "f64") != 0 || result_number(row, "count") != 1 ||
        result_number(row, "nrhs") != 1)
        return 0;
    char *end = NULL;
    const long number = strtol(kind + 5, &end, 10);
    return *end == 0 && number >= 1 && number <= SPIKE_KINDS ? (int)number : 0;
}

int spike_solver(spike_solvers *all, const io_json_value *row, const char *device) {
    char name[RESULT_NAME];
    result_solver(row, name);
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->name[i], name) == 0 && strcmp(all->device[i], device) == 0) return i;
    if (all->count == SPIKE_SOLVERS) return -1;
    memcpy(all->name[all->count], name, sizeof name);
    all->device[all->count] = device;
    all->ours[all->count] = result_ours(row);
    return all->count++;
}

bool spike_passed(const io_json_value *row) {
    const io_json_value *verified = io_json_get(row, "verified");
    return verified && verified->boolean;
}

/* The rows of one machine by matrix, solver and n; NULL where not measured. */
typedef struct lengths {
    spike_solvers solvers;
    double n[MOST_N]; /* ascending */
    int count;
    const io_json_value *row[DRAWN][SPIKE_SOLVERS][MOST_N];
} lengths;

static bool is_drawn(const io_json_value *row) {
    const int number = spike_number(row);
    for (int k = 0; k < DRAWN; k++)
        if (number == drawn[k]) return result_number(row, "median_s") > 0;
    return false;
}

static void add_length(lengths *l, double n) {
    int at = 0;
    while (at < l->count && l->n[at] < n) at++;
    if ((at < l->count && l->n[at] == n) || l->count == MOST_N) return;
    memmove(l->n + at + 1, l->n + at, (size_t)(l->count - at) * sizeof *l->n);
    l->n[at] = n, l->count++;
}

/* Of several rows the one with most samples. */
static void lengths_of(const result_group *group, lengths *l) {
    *l = (lengths){ .count = 0 };
    for (int i = 0; i < group->count; i++)
        if (is_drawn(group->rows[i])) add_length(l, result_number(group->rows[i], "n"));
    for (int i = 0; i < group->count; i++) {
        const io_json_value *row = group->rows[i];
        const int s = is_drawn(row) ? spike_solver(&l->solvers, row, group->device) : -1;
        for (int k = 0; k < DRAWN && s >= 0; k++)
            for (int at = 0; at < l->count; at++) {
                if (spike_number(row) != drawn[k] || result_number(row, "n") != l->n[at]) continue;
                const io_json_value **place = &l->row[k][s][at];
                if (!*place || result_number(row, "samples") > result_number(*place, "samples"))
                    *place = row;
            }
    }
}

static double milliseconds(const io_json_value *row) {
    return row ? 1e3 * result_number(row, "median_s") : NAN;
}

static int draw(const result_page *p, const result_group *group, const lengths *l, int k,
                char name[RESULT_FILE], io_error *err) {
    double y[SPIKE_SOLVERS][MOST_N];
    char path[RESULT_PATH], extra[64], title[96], subtitle[192];
    io_series series[SPIKE_SOLVERS] = { { 0 } };
    for (int s = 0; s < l->solvers.count; s++) {
        for (int i = 0; i < l->count; i++) y[s][i] = milliseconds(l->row[k][s][i]);
        series[s] = (io_series){ .name = l->solvers.name[s],
                                 .count = l->count,
                                 .x = l->n,
                                 .y = y[s],
                                 .color = s + 1,
                                 .dashed = !l->solvers.ours[s] };
    }
    snprintf(title, sizeof title, "One system, matrix #%d (%s)", drawn[k], about[k]);
    snprintf(subtitle, sizeof subtitle, "%s, double; peers dashed; lower is better", group->device);
    const io_chart chart = { .title = title,
                             .subtitle = subtitle,
                             .x_label = "n",
                             .y_label = "milliseconds",
                             .x_scale = IO_LOG2,
                             .y_scale = IO_LOG10,
                             .series_count = l->solvers.count,
                             .series = series };
    snprintf(extra, sizeof extra, "-lengths-spike%d", drawn[k]);
    int status = result_image(p, group, extra, name, path, err);
    return status == IO_OK ? io_svg_write_lines(path, &chart, err) : status;
}

static void write_matrix(FILE *file, const lengths *l, int k) {
    fputs("| n", file);
    for (int s = 0; s < l->solvers.count; s++) fprintf(file, " | `%s`, ms", l->solvers.name[s]);
    for (int s = 0; s < l->solvers.count; s++) fprintf(file, " | `%s`, error", l->solvers.name[s]);
    fputs(" |\n|---:", file);
    for (int s = 0; s < 2 * l->solvers.count; s++) fputs("|---:", file);
    fputs("|\n", file);
    for (int i = 0; i < l->count; i++) {
        fprintf(file, "| %.0f", l->n[i]);
        for (int s = 0; s < l->solvers.count; s++)
            result_cell(file, "%.4g", milliseconds(l->row[k][s][i]));
        for (int s = 0; s < l->solvers.count; s++) write_spike_error(file, l->row[k][s][i]);
        fputs(" |\n", file);
    }
}

/* The slowest matrix over the fastest, less 1; of n where all were measured. */
static double spread(const lengths *l, int s, int i) {
    double least = INFINITY, most = 0;
    for (int k = 0; k < DRAWN; k++) {
        const double ms = milliseconds(l->row[k][s][i]);
        if (!(ms > 0)) return NAN;
        least = fmin(least, ms), most = fmax(most, ms);
    }
    return most / least - 1;
}

static void write_spread(FILE *file, const lengths *l) {
    fputs("\n### Over the matrices\n\nThe slowest of the five matrices takes so much longer than "
          "the fastest:\n\n| n",
          file);
    for (int s = 0; s < l->solvers.count; s++) fprintf(file, " | `%s`", l->solvers.name[s]);
    fputs(" |\n|---:", file);
    for (int s = 0; s < l->solvers.count; s++) fputs("|---:", file);
    fputs("|\n", file);
    for (int i = 0; i < l->count; i++) {
        fprintf(file, "| %.0f", l->n[i]);
        for (int s = 0; s < l->solvers.count; s++)
            result_cell(file, "%.1f %%", 100 * spread(l, s, i));
        fputs(" |\n", file);
    }
}

/* *some: whether the machine has times at two lengths or more. */
static int write_machine(const result_page *p, const result_group *group, bool *some,
                         io_error *err) {
    lengths *l = malloc(sizeof *l);
    if (!l) return io_fail(err, IO_E_MEMORY, "%s: no memory", p->path);
    lengths_of(group, l);
    int status = IO_OK;
    *some = l->count > 1;
    if (*some) fprintf(p->file, "\n## Figures 7 and 8: %s\n", group->device);
    for (int k = 0; k < DRAWN && *some && status == IO_OK; k++) {
        char name[RESULT_FILE];
        bool measured = false;
        for (int s = 0; s < l->solvers.count; s++)
            for (int i = 0; i < l->count; i++) measured |= l->row[k][s][i] != NULL;
        if (!measured) continue;
        status = draw(p, group, l, k, name, err);
        if (status != IO_OK) break;
        fprintf(p->file, "\n### Matrix #%d\n\n![milliseconds against n](img/%s)\n\n", drawn[k],
                name);
        write_matrix(p->file, l, k);
    }
    if (*some && status == IO_OK) write_spread(p->file, l);
    free(l);
    return status;
}

static int write_page(const result_page *p, const result_files *files, io_error *err) {
    bool any = false;
    int status = IO_OK;
    fputs(
        "# One tridiagonal system: the paper's figures\n\n"
        "Figures 7 and 8 of the g-Spike paper, and errors beside its Table 2 "
        "([tridiag.md](tridiag.md) has the rest of its tables), made by `shoal report "
        "--tridiag-figures` from files of `shoal bench --peers --save`: no number of ours is typed "
        "by hand. The matrices are those of the paper's Table A.1.\n",
        p->file);
    write_spike_errors(p, files);
    for (int f = 0; f < files->count && status == IO_OK; f++) {
        const char *device = result_device(files, f);
        bool seen = false, some = false;
        for (int e = 0; e < f; e++) seen |= strcmp(result_device(files, e), device) == 0;
        if (seen) continue;
        result_group group = { .device = device };
        group.rows = result_rows(files, device, &group.count);
        if (!group.rows) return io_fail(err, IO_E_MEMORY, "%s: no memory", p->path);
        int kept = 0;
        for (int i = 0; i < group.count; i++)
            if (is_drawn(group.rows[i])) group.rows[kept++] = group.rows[i];
        group.count = kept;
        if (kept > 0) status = write_machine(p, &group, &some, err);
        any |= some;
        free(group.rows);
    }
    if (!any)
        fputs(
            "\nThe figures are left out: no file has one system of `spike1`, `spike4`, `spike17`, "
            "`spike18` or `spike21` at two lengths.\n",
            p->file);
    return status;
}

int bench_tridiag_figures(const char *directory, const char *path, io_error *err) {
    return result_write_page(directory, path, write_page, err);
}
