/* SPDX-License-Identifier: Apache-2.0
 *
 * svg.h - charts as stand-alone SVG: lines (log or linear axes) and horizontal bars.
 *
 * The colours are CSS rules inside the picture, with a second set for prefers-color-scheme: dark,
 * so the same file suits a light and a dark reader; each set brings its own background. Text uses
 * the reader's system font; its width is estimated when room is made for it, and names that are too
 * long are cut with an ellipsis. The element can be embedded in HTML as it is: no ids, no scripts,
 * every rule confined to class shoal-chart.
 */
#ifndef SHOAL_IO_SVG_H
#define SHOAL_IO_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

#define IO_SVG_COLORS     10 /* distinct colours; more series repeat them   */
#define IO_SVG_MAX_SERIES 32 /* series per chart                            */

typedef enum io_scale { IO_LINEAR, IO_LOG2, IO_LOG10 } io_scale;

/* One line. Points whose x or y is not finite (or not positive on a log axis) break the line. */
typedef struct io_series {
    const char *name;
    int64_t count;
    const double *x, *y;
    const double *error; /* half height of error bars, or NULL                          */
    const double *base;  /* colours the area between y and it, or NULL                  */
    int color;           /* 0: the next free colour; 1..IO_SVG_COLORS: that one         */
    bool dashed;         /* for peers                                                   */
    bool no_markers;     /* a smooth curve rather than measured points                  */
    bool no_line;        /* points only                                                 */
} io_series;

typedef struct io_chart {
    const char *title, *subtitle; /* may be NULL                                         */
    const char *x_label, *y_label;
    io_scale x_scale, y_scale;
    bool y_from_zero;  /* a linear y axis starts at 0                                  */
    int width, height; /* 0: 760 x 440; taller when many series need it                */
    int series_count;
    const io_series *series;
} io_chart;

/* Line chart. Names stand right of the plot, each as near as room allows to the end of its line and
 * joined to it by a thin leader, so that the legend never covers the data. Markers are left out of
 * lines of more than 48 points. */
int io_svg_lines(FILE *file, const io_chart *chart, io_error *err);
/* The same into a file, under a temporary name that is then renamed. */
int io_svg_write_lines(const char *path, const io_chart *chart, io_error *err);

/* Horizontal bars from 0, each with its name and its value. A value that is not finite is shown as
 * a dash ("not available"). */
typedef struct io_bars {
    const char *title, *subtitle; /* may be NULL                                         */
    const char *value_label;      /* under the value axis                                */
    int width;                    /* 0: 760; the height follows from the bars            */
    int count;
    const char *const *names;
    const double *values;
} io_bars;

int io_svg_bars(FILE *file, const io_bars *bars, io_error *err);

#endif
