/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_figures_rows.c - chooses rows of results for the figures of the paper about small
 * symmetric systems, and makes lines over n of them.
 */
#include <math.h>
#include <string.h>

#include "bench/performance_figures.h"

static bool says(const io_json_value *row, const char *key, const char *word) {
    return strcmp(result_text(row, key), word) == 0;
}

/* A part of a method, or what is found instead of x: results older than the key have none. */
static bool part_is(const io_json_value *row, const char *key, const char *word) {
    const char *text = result_text(row, key);
    return strcmp(*text ? text : "none", word ? word : "none") == 0;
}

static bool fits(const io_json_value *row, const figure_source *s) {
    const io_json_value *verified = io_json_get(row, "verified");
    return says(row, "who", "Shoal") && says(row, "module", "smallsym") &&
           says(row, "type", "f32") && says(row, "kind", "spd") && says(row, "storage", "full") &&
           says(row, "layout", "system") && result_number(row, "nrhs") == 1 &&
           result_number(row, "refine") == 0 && result_number(row, "outcome") == 0 &&
           !(result_number(row, "estimate") > 0) && !(result_number(row, "gram") > 0) && verified &&
           verified->boolean && says(row, "method", s->method) &&
           (!s->variant || says(row, "variant", s->variant)) && part_is(row, "stage", s->stage) &&
           part_is(row, "pairs", s->pairs) && (!s->sized || result_number(row, "team") > 0) &&
           result_number(row, "systems_per_second") > 0;
}

/* The place of n, with room made for it; -1 if there is none left. */
static int place_of(figure_line *line, double n) {
    int at = 0;
    while (at < line->count && line->n[at] < n) at++;
    if (at < line->count && line->n[at] == n) return at;
    if (line->count == FIGURE_POINTS) return -1;
    for (int i = line->count++; i > at; i--) {
        line->n[i] = line->n[i - 1];
        line->value[i] = line->value[i - 1];
    }
    line->n[at] = n;
    line->value[at] = 0;
    return at;
}

figure_line figure_rates(const figure_rows *rows, const figure_source *source) {
    figure_line line = { .count = 0 };
    for (int i = 0; i < rows->count; i++) {
        if (!fits(rows->rows[i], source)) continue;
        const int at = place_of(&line, result_number(rows->rows[i], "n"));
        if (at < 0) continue;
        line.value[at] = fmax(line.value[at], result_number(rows->rows[i], "systems_per_second"));
    }
    return line;
}

/* A team larger than n has n threads. */
figure_line figure_teams(const figure_rows *rows, const figure_source *source) {
    figure_line line = figure_rates(rows, source);
    for (int at = 0; at < line.count; at++) {
        const double n = line.n[at], best = line.value[at];
        for (int i = 0; i < rows->count; i++) {
            const io_json_value *row = rows->rows[i];
            if (fits(row, source) && result_number(row, "n") == n &&
                result_number(row, "systems_per_second") == best)
                line.value[at] = fmin(result_number(row, "team"), n);
        }
    }
    return line;
}

figure_line figure_ratio(const figure_line *above, const figure_line *below) {
    figure_line line = { .count = 0 };
    for (int i = 0, k = 0; i < above->count; i++) {
        while (k < below->count && below->n[k] < above->n[i]) k++;
        if (k == below->count || below->n[k] != above->n[i]) continue;
        line.n[line.count] = above->n[i];
        line.value[line.count++] = above->value[i] / below->value[k];
    }
    return line;
}

void figure_add(figure_drawing *d, const char *name, const figure_line *line, bool dashed) {
    if (line->count == 0 || d->count == FIGURE_LINES) return;
    d->line[d->count] = *line;
    d->name[d->count] = name;
    d->dashed[d->count++] = dashed;
}
