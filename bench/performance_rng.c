/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_rng.c - random numbers on the page of saved results: one table and one chart of bars
 * for each machine, backend and type.
 *
 * In the chart a group is a law with its parameters and variant, and a peer's bar stands in each
 * group of its law. Where several rows fall on one bar (other counts, other ways to call a peer) it
 * shows the fastest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/performance.h"

enum { MAX_GROUPS = 96, MAX_SERIES = 12, LABEL = 160 };

typedef struct bars {
    char groups[MAX_GROUPS][LABEL], series[MAX_SERIES][LABEL];
    double value[MAX_GROUPS][MAX_SERIES];
    int group_count, series_count;
} bars;

static bool fast(const io_json_value *row) { return strcmp(result_text(row, "math"), "fast") == 0; }

/* "lambda = 64, df = 4": what the row has of them. */
static char *parameters(const io_json_value *row, char text[LABEL]) {
    static const char *const keys[] = { "lambda", "alpha", "df", "n" };
    text[0] = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const double value = result_number(row, keys[i]);
        const size_t used = strlen(text);
        if (isfinite(value))
            snprintf(text + used, LABEL - used, "%s%s = %g", used ? ", " : "", keys[i], value);
    }
    if (strcmp(result_text(row, "layout"), "interleaved") == 0)
        strncat(text, ", interleaved", LABEL - strlen(text) - 1);
    return text;
}

/* A row belongs to a group of the chart if law and parameters agree and, of ours, the variant. */
static char *group_of(const io_json_value *row, const char *variant, char text[LABEL]) {
    char list[LABEL];
    parameters(row, list);
    snprintf(text, LABEL, "%.31s%s%.31s%s%.80s", result_text(row, "law"), *variant ? "/" : "",
             variant, *list ? ", " : "", list);
    return text;
}

static int place_of(char (*list)[LABEL], int *count, int most, const char *text) {
    int i = 0;
    while (i < *count && strcmp(list[i], text) != 0) i++;
    if (i == *count && *count == most) return -1;
    if (i == *count) snprintf(list[(*count)++], LABEL, "%s", text);
    return i;
}

static void put(bars *b, int group, const char *series, double rate) {
    const int s = place_of(b->series, &b->series_count, MAX_SERIES, series);
    if (group < 0 || s < 0 || !isfinite(rate)) return;
    double *value = &b->value[group][s];
    if (!(*value >= rate)) *value = rate;
}

static void collect(const result_group *group, bars *b) {
    char text[LABEL];
    for (int g = 0; g < MAX_GROUPS; g++)
        for (int s = 0; s < MAX_SERIES; s++) b->value[g][s] = NAN;
    for (int pass = 0; pass < 2; pass++) /* ours make the groups, peers come into them */
        for (int i = 0; i < group->count; i++) {
            const io_json_value *row = group->rows[i];
            const double rate = result_number(row, "numbers_per_second");
            if (result_ours(row) != (pass == 0) || !isfinite(rate)) continue;
            if (result_ours(row)) {
                group_of(row, result_text(row, "variant"), text);
                put(b, place_of(b->groups, &b->group_count, MAX_GROUPS, text),
                    fast(row) ? "Shoal, fast arithmetic" : "Shoal", rate);
                continue;
            }
            for (int k = 0; k < group->count; k++) {
                const io_json_value *mine = group->rows[k];
                char theirs[LABEL];
                if (!result_ours(mine) ||
                    strcmp(group_of(mine, "", text), group_of(row, "", theirs)) != 0)
                    continue;
                group_of(mine, result_text(mine, "variant"), text);
                put(b, place_of(b->groups, &b->group_count, MAX_GROUPS, text),
                    result_text(row, "version"), rate);
            }
        }
}

static int chart(const result_group *group, const char *path, io_error *err) {
    const io_json_value *first = group->rows[0];
    bars *b = calloc(1, sizeof *b);
    double *values = calloc((size_t)MAX_GROUPS * MAX_SERIES, sizeof *values);
    if (!b || !values) {
        free(b);
        free(values);
        return io_fail(err, IO_E_MEMORY, "%s: no memory", path);
    }
    const char *groups[MAX_GROUPS], *series[MAX_SERIES];
    char title[96], subtitle[160];
    collect(group, b);
    for (int s = 0; s < b->series_count; s++) series[s] = b->series[s];
    for (int g = 0; g < b->group_count; g++) {
        groups[g] = b->groups[g];
        for (int s = 0; s < b->series_count; s++)
            values[g * b->series_count + s] = 1e-9 * b->value[g][s];
    }
    snprintf(title, sizeof title, "Random numbers, %s", result_text(first, "type"));
    snprintf(subtitle, sizeof subtitle, "%.100s; higher is better", group->device);
    const io_bars picture = { .title = title,
                              .subtitle = subtitle,
                              .value_label = "1e9 numbers a second",
                              .width = 860,
                              .group_count = b->group_count,
                              .series_count = b->series_count,
                              .groups = groups,
                              .series = series,
                              .values = values };
    int status = io_svg_write_bars(path, &picture, err);
    free(values);
    free(b);
    return status;
}

static void write_row(FILE *file, const io_json_value *row) {
    char name[RESULT_NAME], list[LABEL];
    const io_json_value *verified = io_json_get(row, "verified");
    const char *mark = result_ours(row) ? "`" : "";
    fprintf(file, "| %s | %s", result_text(row, "law"), *parameters(row, list) ? list : "-");
    result_cell(file, "%.0f", result_number(row, "count"));
    fprintf(file, " | %s%s%s%s", mark, result_solver(row, name), mark, fast(row) ? ", fast" : "");
    result_cell(file, "%.4g", 1e3 * result_number(row, "median_s"));
    result_cell(file, "%.2g", 1e3 * result_number(row, "spread_s"));
    result_cell(file, "%.4g", 1e-9 * result_number(row, "numbers_per_second"));
    result_cell(file, "%.4g", 1e-9 * result_number(row, "bytes_per_second"));
    result_cell(file, "%.0f %%", 100 * result_number(row, "share_of_copy"));
    result_cell(file, "%.2f", result_number(row, "speedup"));
    const bool wrong = verified && !verified->boolean;
    fprintf(file, " | %s%s |\n", wrong ? "fails: " : "passed",
            wrong ? result_text(row, "why") : "");
}

static int write_group(const result_page *p, const result_group *group, io_error *err) {
    const io_json_value *first = group->rows[0];
    char name[RESULT_FILE], image[RESULT_PATH];
    int status = result_image(p, group, "", name, image, err);
    if (status == IO_OK) status = chart(group, image, err);
    if (status != IO_OK) return status;
    fprintf(p->file, "\n### rng, %s, %s\n\n![numbers a second](img/%s)\n\n",
            result_text(first, "backend"), result_text(first, "type"), name);
    fputs("| law | parameters | count | generator | ms | +- | Gnumbers/s | GB/s | of copy "
          "| x best peer | check |\n|---|---|---:|---|---:|---:|---:|---:|---:|---:|---|\n",
          p->file);
    for (int i = 0; i < group->count; i++) write_row(p->file, group->rows[i]);
    return status;
}

static const char introduction[] =
    "Of random numbers (`rng`) GB/s counts the bytes written, and there is nothing to read. Ours are "
    "checked bit by bit against the CPU's and by mean and variance; peers, whose numbers are others, "
    "by mean and variance alone. The best peer is the fastest one that passes; of `poisson` it is "
    "the fastest one, whether it passes or not.";

const result_module result_rng = { "rng", introduction, NULL, write_group };
