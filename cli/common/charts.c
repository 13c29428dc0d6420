/* SPDX-License-Identifier: Apache-2.0
 *
 * charts.c - their titles, axes and series.
 */
#include "charts.h"

int chart_heston_compare(const char *path, int count, const double *feller, const double *euler,
                         const double *exact, io_error *err) {
    const io_series series[] = {
        { .name = "euler", .count = count, .x = feller, .y = euler, .no_line = true },
        { .name = "exact", .count = count, .x = feller, .y = exact, .no_line = true }
    };
    const io_chart chart = { .title = "Heston: seconds to an equal error",
                             .subtitle = "a point a set of kappa, theta, sigma",
                             .x_label = "2 kappa theta / sigma^2",
                             .y_label = "seconds",
                             .x_scale = IO_LOG10,
                             .y_scale = IO_LOG10,
                             .series_count = 2,
                             .series = series };
    return io_svg_write_lines(path, &chart, err);
}

int chart_bullet_compare(const char *path, const chart_points *grid, const chart_points *nested,
                         io_error *err) {
    const io_series series[] = {
        { .name = "grid", .count = grid->count, .x = grid->x, .y = grid->y },
        { .name = "nested", .count = nested->count, .x = nested->x, .y = nested->y }
    };
    const io_chart chart = { .title = "Bullet option: error against time",
                             .subtitle = "root mean square over all points, against quadrature",
                             .x_label = "seconds",
                             .y_label = "error",
                             .x_scale = IO_LOG10,
                             .y_scale = IO_LOG10,
                             .series_count = 2,
                             .series = series };
    return io_svg_write_lines(path, &chart, err);
}

int chart_training(const char *path, int count, const double *epoch, const double *training,
                   const double *validation, io_error *err) {
    const io_series series[] = {
        { .name = "training", .count = count, .x = epoch, .y = training, .no_markers = true },
        { .name = "validation", .count = count, .x = epoch, .y = validation, .no_markers = true }
    };
    const io_chart chart = { .title = "Training",
                             .subtitle = "weighted root mean square of price errors",
                             .x_label = "epoch",
                             .y_label = "error",
                             .y_scale = IO_LOG10,
                             .series_count = 2,
                             .series = series };
    return io_svg_write_lines(path, &chart, err);
}
