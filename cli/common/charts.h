/* SPDX-License-Identifier: Apache-2.0
 *
 * charts.h - charts of --compare and of training.
 */
#ifndef SHOAL_CLI_CHARTS_H
#define SHOAL_CLI_CHARTS_H

#include "io/svg.h"

/* `shoal price heston --compare`: seconds to Euler's error against the Feller ratio, a point a set. */
int chart_heston_compare(const char *path, int count, const double *feller, const double *euler,
                         const double *exact, io_error *err);

typedef struct chart_points {
    int count;
    const double *x, *y;
} chart_points;

/* `shoal price bullet --compare`: errors against seconds of both strategies. */
int chart_bullet_compare(const char *path, const chart_points *grid, const chart_points *nested,
                         io_error *err);

/* `shoal train`: errors of the passes. */
int chart_training(const char *path, int count, const double *epoch, const double *training,
                   const double *validation, io_error *err);

#endif
