/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_tridiag.c - tridiagonal systems on the page of saved results: a group is what differs
 * in n and solver alone.
 */
#include <stdio.h>
#include <string.h>

#include "bench/performance.h"

static bool comparable(const io_json_value *p, const io_json_value *q) {
    return strcmp(result_text(p, "layout"), result_text(q, "layout")) == 0 &&
           strcmp(result_text(p, "kind"), result_text(q, "kind")) == 0 &&
           result_number(p, "nrhs") == result_number(q, "nrhs");
}

static void write_row(FILE *file, const io_json_value *row) {
    char name[RESULT_NAME];
    const io_json_value *verified = io_json_get(row, "verified");
    const bool ours = strcmp(result_text(row, "who"), "Shoal") == 0;
    fprintf(file, "| %.0f", result_number(row, "n"));
    result_cell(file, "%.0f", result_number(row, "count"));
    fprintf(file, " | %s%s%s", ours ? "`" : "", result_solver(row, name), ours ? "`" : "");
    result_cell(file, "%.4g", 1e3 * result_number(row, "median_s"));
    result_cell(file, "%.2g", 1e3 * result_number(row, "spread_s"));
    result_cell(file, "%.4g", 1e-9 * result_number(row, "rows_per_second"));
    result_cell(file, "%.4g", 1e-9 * result_number(row, "bytes_per_second"));
    result_cell(file, "%.0f %%", 100 * result_number(row, "share_of_copy"));
    result_cell(file, "%.2f", result_number(row, "speedup"));
    result_cell(file, "%.1e", result_number(row, "max_residual"));
    fprintf(file, "%s |\n", verified && !verified->boolean ? " (fails the check)" : "");
}

static int write_group(const result_page *p, const result_group *group, io_error *err) {
    const io_json_value *first = group->rows[0];
    const double nrhs = result_number(first, "nrhs");
    char name[RESULT_FILE], image[RESULT_PATH], extra[96], title[96];
    const char *kind = result_text(first, "kind"), *layout = result_text(first, "layout");
    const bool usual = strcmp(kind, "dominant") == 0 && nrhs == 1;
    if (usual)
        snprintf(extra, sizeof extra, "-%.16s", layout);
    else
        snprintf(extra, sizeof extra, "-%.16s-%.40s-%.0f", layout, kind, nrhs);
    const char *order =
        strcmp(layout, "interleaved") == 0 ? "interleaved" : "one system after another";
    snprintf(title, sizeof title, "Tridiagonal systems, %.4s, %s", result_text(first, "type"),
             order);
    const result_axes axes = { title, "rows_per_second", 1, "rows a second" };
    int status = result_image(p, group, extra, name, image, err);
    if (status == IO_OK) status = result_chart(group, &axes, image, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "\n### %s, %s, %s, %s", result_text(first, "module"),
            result_text(first, "backend"), result_text(first, "type"), order);
    if (!usual) fprintf(p->file, ", %s matrices, %.0f right-hand sides", kind, nrhs);
    fprintf(p->file, "\n\n![rows a second against n](img/%s)\n\n", name);
    fputs("| n | systems | solver | ms | +- | Grows/s | GB/s | of copy | x best peer | residual |\n"
          "|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|\n",
          p->file);
    for (int i = 0; i < group->count; i++) write_row(p->file, group->rows[i]);
    return status;
}

const result_module result_tridiag = { "tridiag", NULL, comparable, write_group };
