/* SPDX-License-Identifier: Apache-2.0
 *
 * performance_figures.h - lines over n taken from rows of results, for the figures of the paper about
 * small symmetric systems.
 */
#ifndef BENCH_PERFORMANCE_FIGURES_H
#define BENCH_PERFORMANCE_FIGURES_H

#include "bench/performance.h"

enum { FIGURE_POINTS = 64, FIGURE_LINES = 4 };

typedef struct figure_line { /* points in the order of n */
    double n[FIGURE_POINTS], value[FIGURE_POINTS];
    int count;
} figure_line;

typedef struct figure_rows { /* those of one machine */
    const io_json_value **rows;
    int count;
    const char *device;
} figure_rows;

/* Which rows: ours in f32 of the kind spd, stored in full, one right-hand side, verified. */
typedef struct figure_source {
    const char *method, *variant; /* variant NULL: any                                */
    const char *stage, *pairs;    /* NULL: whole solves, that is neither part nor pairs */
    bool sized;                   /* only those whose team was given                   */
} figure_source;

/* Systems a second for each n, of the fastest row where there are several; and its team's size. */
figure_line figure_rates(const figure_rows *rows, const figure_source *source);
figure_line figure_teams(const figure_rows *rows, const figure_source *source);

/* above / below, where both have a point. */
figure_line figure_ratio(const figure_line *above, const figure_line *below);

/* What one figure shows. */
typedef struct figure_drawing {
    figure_line line[FIGURE_LINES];
    const char *name[FIGURE_LINES];
    bool dashed[FIGURE_LINES]; /* beside what the paper has: ours, or a law */
    int count;                 /* 0: the rows are missing                   */
} figure_drawing;

/* Adds a line that has points. */
void figure_add(figure_drawing *d, const char *name, const figure_line *line, bool dashed);

#endif
