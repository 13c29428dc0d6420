/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_recur.c - recurrences on the page of saved results: a group is what differs in n,
 * count and solver alone.
 */
#include <stdio.h>
#include <string.h>

#include "bench/performance.h"

static bool comparable(const io_json_value *p, const io_json_value *q) {
    static const char *const keys[] = { "layout", "kind", "constant", "direction" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(result_text(p, keys[i]), result_text(q, keys[i])) != 0) return false;
    return result_number(p, "order") == result_number(q, "order");
}

static const result_columns columns = { "segments", "rows_per_second", 1e-9,
                                        "Grows/s",  "%.0f %%",         false };

static int write_group(const result_page *p, const result_group *group, io_error *err) {
    const io_json_value *first = group->rows[0];
    char name[RESULT_FILE], image[RESULT_PATH], extra[96], title[96];
    const char *layout = result_text(first, "layout"), *constant = result_text(first, "constant");
    const bool interleaved = strcmp(layout, "interleaved") == 0;
    const double order = result_number(first, "order");
    snprintf(extra, sizeof extra, "-%.16s-order-%.0f-constant-%.8s-%.8s-%.16s", layout, order,
             constant, result_text(first, "direction"), result_text(first, "kind"));
    snprintf(title, sizeof title, "Recurrences of order %.0f, %.4s", order,
             result_text(first, "type"));
    const result_axes axes = { title, "rows_per_second", 1, "rows a second", "rows a segment, n" };
    int status = result_image(p, group, extra, name, image, err);
    if (status == IO_OK) status = result_chart(group, &axes, image, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "\n### %s, %s, %s, order %.0f, %s", result_text(first, "module"),
            result_text(first, "backend"), result_text(first, "type"), order,
            interleaved ? "interleaved" : "one segment after another");
    if (strcmp(constant, "none") != 0) fprintf(p->file, ", constant: %s", constant);
    if (strcmp(result_text(first, "direction"), "reverse") == 0) fputs(", in reverse", p->file);
    fprintf(p->file, ", kind %s", result_text(first, "kind"));
    fprintf(p->file, "\n\n![rows a second against n](img/%s)\n\n", name);
    result_table(p, group, &columns);
    return status;
}

const result_module result_recur = { "recur", NULL, comparable, write_group };
