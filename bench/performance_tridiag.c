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

static const result_columns columns = { "systems", "rows_per_second", 1e-9,
                                        "Grows/s", "%.0f %%",         true };

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
    const result_axes axes = { title, "rows_per_second", 1, "rows a second", NULL };
    int status = result_image(p, group, extra, name, image, err);
    if (status == IO_OK) status = result_chart(group, &axes, image, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "\n### %s, %s, %s, %s", result_text(first, "module"),
            result_text(first, "backend"), result_text(first, "type"), order);
    if (!usual) fprintf(p->file, ", %s matrices, %.0f right-hand sides", kind, nrhs);
    fprintf(p->file, "\n\n![rows a second against n](img/%s)\n\n", name);
    result_table(p, group, &columns);
    return status;
}

const result_module result_tridiag = { "tridiag", NULL, comparable, write_group };
