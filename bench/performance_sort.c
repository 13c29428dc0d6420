/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_sort.c - sorting and merging on the page of saved results: a group is what differs in
 * n, count and solver alone.
 */
#include <stdio.h>
#include <string.h>

#include "bench/performance.h"

/* 0: sorts rows, 1: merges one pair, 2: merges a batch of pairs. */
static int task_of(const io_json_value *row) {
    if (result_number(row, "na") == result_number(row, "n")) return 0;
    return result_number(row, "count") == 1 ? 1 : 2;
}

/* |B| / |A| of a merge, rounded. */
static double ratio_of(const io_json_value *row) {
    const double n = result_number(row, "n"), na = result_number(row, "na");
    return task_of(row) == 0 || na == 0 ? 0 : (double)(int64_t)((n - na) / na + 0.5);
}

static bool comparable(const io_json_value *p, const io_json_value *q) {
    static const char *const keys[] = { "kind", "direction" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(result_text(p, keys[i]), result_text(q, keys[i])) != 0) return false;
    const io_json_value *u = io_json_get(p, "index"), *v = io_json_get(q, "index");
    return task_of(p) == task_of(q) && ratio_of(p) == ratio_of(q) && u && v &&
           u->boolean == v->boolean &&
           result_number(p, "value_bytes") == result_number(q, "value_bytes");
}

static const result_columns columns = {
    "rows", "keys_per_second", 1e-9, "Gkeys/s", "%.0f %%", false
};

static int write_group(const result_page *p, const result_group *group, io_error *err) {
    static const char *const words[] = { "sort", "merge", "batch-merge" };
    static const char *const titles[] = { "Rows of n keys sorted", "Two arrays of n keys merged",
                                          "Pairs of n keys merged" };
    const io_json_value *first = group->rows[0], *index = io_json_get(first, "index");
    char name[RESULT_FILE], image[RESULT_PATH], extra[96], title[96];
    const int task = task_of(first);
    const double values = result_number(first, "value_bytes");
    const char *type = result_text(first, "type"), *kind = result_text(first, "kind");
    const char *direction = result_text(first, "direction");
    const bool places = index && index->boolean;
    snprintf(extra, sizeof extra, "-%s-%.0f-values-%.0f%s-%.10s-%.16s", words[task],
             ratio_of(first), values, places ? "-places" : "", direction, kind);
    snprintf(title, sizeof title, "%s, %.4s", titles[task], type);
    const result_axes axes = { title, "keys_per_second", 1, "keys a second", "keys, n" };
    int status = result_image(p, group, extra, name, image, err);
    if (status == IO_OK) status = result_chart(group, &axes, image, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "\n### %s, %s, %s: %s", result_text(first, "module"),
            result_text(first, "backend"), type, titles[task]);
    if (task > 0 && ratio_of(first) != 1) fprintf(p->file, ", 1 : %.0f", ratio_of(first));
    if (values > 0) fprintf(p->file, ", %s of %.0f bytes", places ? "places" : "values", values);
    if (strcmp(direction, "descending") == 0) fputs(", descending", p->file);
    fprintf(p->file, ", kind %s", kind);
    fprintf(p->file, "\n\n![keys a second against n](img/%s)\n\n", name);
    result_table(p, group, &columns);
    return status;
}

const result_module result_sort = { "sort", NULL, comparable, write_group };
