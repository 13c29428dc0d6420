/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_pricing.c - prices on the page of saved results: a group is what differs in steps, paths
 * and solver alone.
 */
#include <stdio.h>
#include <string.h>

#include "bench/performance.h"

static bool is_pde(const io_json_value *row) { return io_json_get(row, "nx") != NULL; }

static bool comparable(const io_json_value *p, const io_json_value *q) {
    return is_pde(p) == is_pde(q);
}

static bool has_error(const io_json_value *row) {
    return io_json_get(row, "seconds_to_stderr_1e-5") != NULL;
}

static void write_row(FILE *file, const io_json_value *row, bool errors) {
    char name[RESULT_NAME];
    const bool ours = result_ours(row), pde = is_pde(row);
    const bool fast = strcmp(result_text(row, "math"), "fast") == 0;
    fprintf(file, "| %.0f", result_number(row, "n"));
    result_cell(file, "%.0f", result_number(row, "count"));
    if (pde) result_cell(file, "%.0f", result_number(row, "nx"));
    fprintf(file, " | %s%s%s%s", ours ? "`" : "", result_solver(row, name), ours ? "`" : "",
            ours && fast ? ", fast" : "");
    result_cell(file, "%.4g", 1e3 * result_number(row, "median_s"));
    result_cell(file, "%.2g", 1e3 * result_number(row, "spread_s"));
    result_cell(file, "%.4g",
                1e-9 * result_number(row, pde ? "node_steps_per_second" : "path_steps_per_second"));
    if (pde) result_cell(file, "%.4g", result_number(row, "options_per_second"));
    if (errors) result_cell(file, "%.4g", result_number(row, "seconds_to_stderr_1e-5"));
    result_cell(file, "%.2f", result_number(row, "speedup"));
    fprintf(file, "%s |\n", result_remark(row));
}

static int write_group(const result_page *p, const result_group *group, io_error *err) {
    const io_json_value *first = group->rows[0];
    bool errors = false; /* results that are older do not tell theirs */
    for (int i = 0; i < group->count; i++) errors = errors || has_error(group->rows[i]);
    (void)err;
    fprintf(p->file, "\n### %s, %s, %s%s\n\n", result_text(first, "module"),
            result_text(first, "backend"), result_text(first, "type"),
            is_pde(first) ? ": PDE" : "");
    fputs(
        is_pde(first)
            ? "| dates | options | nx | solver | ms | +- | G node-steps/s | options/s | x best peer |\n"
              "|---:|---:|---:|---|---:|---:|---:|---:|---:|\n"
        : errors
            ? "| steps | paths | solver | ms | +- | G path-steps/s | s to 1e-5 | x best peer |\n"
              "|---:|---:|---|---:|---:|---:|---:|---:|\n"
            : "| steps | paths | solver | ms | +- | G path-steps/s | x best peer |\n"
              "|---:|---:|---|---:|---:|---:|---:|\n",
        p->file);
    for (int i = 0; i < group->count; i++) write_row(p->file, group->rows[i], errors);
    return IO_OK;
}

const result_module result_heston = { "heston", NULL, comparable, write_group };
const result_module result_expou = { "expou", NULL, comparable, write_group };
const result_module result_bullet = { "bullet", NULL, comparable, write_group };
