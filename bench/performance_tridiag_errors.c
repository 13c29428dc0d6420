/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_tridiag_errors.c - backward errors on the matrices of Table A.1 of the g-Spike paper
 * (performance_tridiag_figures.c names it) from rows of results, beside its Table 2.
 *
 * A column is a solver on a machine, a row one of the 21 matrices at n = 4096, one draw each: seed and
 * system are those of the file, the same for all. The error is |d - A x| / (|A| |x| + |d|) in the
 * maximum norm, and an answer above 100 units of roundoff fails the check. Solvers that fail are named
 * below the table with the matrices, and so are those that warned of what they answered.
 */
#include <math.h>
#include <stdio.h>

#include "bench/performance_tridiag_figures.h"

enum { ROWS = 4096 };

/* Table 2: normwise backward errors of g-Spike and of cuSPARSE's gtsv of 2014, at n = 4096. */
static const double paper[SPIKE_KINDS][2] = {
    { 1.07e-15, 1.70e-15 }, { 7.77e-17, 7.77e-17 }, { 9.25e-17, 9.25e-17 }, { 4.65e-15, 7.85e-15 },
    { 2.01e-15, 2.66e-15 }, { 1.38e-16, 9.22e-17 }, { 8.50e-17, 8.50e-17 }, { 9.84e-17, 9.84e-17 },
    { 1.03e-16, 1.20e-16 }, { 7.82e-17, 1.22e-18 }, { 7.51e-17, 8.35e-17 }, { 1.41e-07, 1.09e-10 },
    { 9.03e-17, 8.65e-17 }, { 8.59e-11, 1.00e-03 }, { 1.14e-13, 1.36e-14 }, { 8.11e-17, 9.73e-17 },
    { 1.57e-16, 1.57e-16 }, { 9.93e-17, 9.93e-17 }, { 1.45e-16, 9.64e-17 }, { 1.41e-16, 9.37e-17 },
    { 1.08e-15, 3.51e-16 }
};

typedef struct errors {
    spike_solvers solvers;
    const io_json_value *row[SPIKE_SOLVERS][SPIKE_KINDS];
} errors;

static errors errors_of(const result_files *files) {
    errors e = { .solvers = { .count = 0 } };
    for (int f = 0; f < files->count; f++) {
        const io_json_value *row = io_json_get(files->roots[f], "rows")->first;
        for (; row; row = row->next) {
            const int number = spike_number(row);
            if (number == 0 || result_number(row, "n") != ROWS) continue;
            const int at = spike_solver(&e.solvers, row, result_device(files, f));
            if (at >= 0 && !e.row[at][number - 1]) e.row[at][number - 1] = row;
        }
    }
    return e;
}

void write_spike_error(FILE *file, const io_json_value *row) {
    const double error = row ? result_number(row, "max_residual") : NAN;
    if (row && !spike_passed(row) && !(error > result_number(row, "tolerance")))
        fputs(" | **not finite**", file);
    else
        result_cell(file, row && !spike_passed(row) ? "**%.1e**" : "%.1e", error);
}

/* "- `name` on MACHINE fails on #9, #11": those of one solver for which `is` holds, if any. */
static void name_them(FILE *file, const errors *e, int s, const char *verb,
                      bool (*is)(const io_json_value *row)) {
    bool any = false;
    for (int k = 0; k < SPIKE_KINDS; k++) {
        if (!e->row[s][k] || !is(e->row[s][k])) continue;
        if (!any)
            fprintf(file, "- `%s` on %s %s #%d", e->solvers.name[s], e->solvers.device[s], verb,
                    k + 1);
        else
            fprintf(file, ", #%d", k + 1);
        any = true;
    }
    if (any) fputc('\n', file);
}

static bool failed(const io_json_value *row) { return !spike_passed(row); }

static bool warned(const io_json_value *row) { return result_number(row, "warned") > 0; }

void write_spike_errors(const result_page *p, const result_files *files) {
    const errors e = errors_of(files);
    FILE *file = p->file;
    if (e.solvers.count == 0) {
        fprintf(file,
                "\nThe errors are left out: no file has one system of `spike1` to `spike21` of %d "
                "rows.\n",
                ROWS);
        return;
    }
    fprintf(
        file,
        "\n## Backward errors, n = %d\n\n"
        "Double, one draw of each matrix, the same for all solvers; in the maximum norm. The first "
        "two columns are the paper's Table 2, of other draws. **Bold**: above 100 units of "
        "roundoff, or not finite.\n\n| # | paper: g-Spike | paper: cuSPARSE `gtsv`",
        ROWS);
    for (int s = 0; s < e.solvers.count; s++)
        fprintf(file, " | `%s`, %s", e.solvers.name[s], e.solvers.device[s]);
    fputs(" |\n|---:|---:|---:", file);
    for (int s = 0; s < e.solvers.count; s++) fputs("|---:", file);
    fputs("|\n", file);
    for (int k = 0; k < SPIKE_KINDS; k++) {
        fprintf(file, "| %d | %.1e | %.1e", k + 1, paper[k][0], paper[k][1]);
        for (int s = 0; s < e.solvers.count; s++) write_spike_error(file, e.row[s][k]);
        fputs(" |\n", file);
    }
    fputc('\n', file);
    for (int s = 0; s < e.solvers.count; s++) {
        name_them(file, &e, s, "fails on", failed);
        name_them(file, &e, s, "answers with a warning", warned);
    }
}
