/* SPDX-License-Identifier: Apache-2.0
 *
 * draw_table.c - draws from a kept table what the program draws with --plot: `draw_table KIND FILE.csv F.svg`,
 * KIND heston or bullet (`shoal price KIND --compare`), or training (`shoal train`). For docs/figures.sh.
 */
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "io/svg.h"

enum { MOST = 512 };

static int column(const io_table *t, const char *name, io_error *err) {
    const int at = io_table_column(t, name);
    return at < 0 ? io_fail(err, IO_E_FORMAT, "the table has no column %s", name) : at;
}

/* Seconds to Euler's error against the Feller ratio, a point a set. */
static int heston(const io_table *t, const char *path, io_error *err) {
    static const char *const names[] = { "kappa", "theta", "sigma", "euler_seconds",
                                         "exact_seconds_to_equal" };
    double x[MOST], y[2][MOST];
    int at[5];
    for (int i = 0; i < 5; i++)
        if ((at[i] = column(t, names[i], err)) < 0) return IO_E_FORMAT;
    for (int i = 0; i < t->rows; i++) {
        const double *row = t->data + (int64_t)i * t->cols;
        x[i] = 2 * row[at[0]] * row[at[1]] / (row[at[2]] * row[at[2]]);
        y[0][i] = row[at[3]], y[1][i] = row[at[4]];
    }
    const int count = (int)t->rows;
    const io_series series[] = {
        { .name = "euler", .count = count, .x = x, .y = y[0], .no_line = true },
        { .name = "exact", .count = count, .x = x, .y = y[1], .no_line = true }
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

/* Errors against seconds of both strategies. */
static int bullet(const io_table *t, const char *path, io_error *err) {
    const int nested = column(t, "nested", err), seconds = column(t, "seconds", err),
              error = column(t, "rms_error", err);
    double x[2][MOST], y[2][MOST];
    int n[2] = { 0, 0 };
    if (nested < 0 || seconds < 0 || error < 0) return IO_E_FORMAT;
    for (int i = 0; i < t->rows; i++) {
        const double *row = t->data + (int64_t)i * t->cols;
        const int side = row[nested] > 0;
        x[side][n[side]] = row[seconds], y[side][n[side]++] = row[error];
    }
    const io_series series[2] = { { .name = "grid", .count = n[0], .x = x[0], .y = y[0] },
                                  { .name = "nested", .count = n[1], .x = x[1], .y = y[1] } };
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

/* Errors of the passes of a training. */
static int training(const io_table *t, const char *path, io_error *err) {
    static const char *const names[] = { "epoch", "training", "validation" };
    double v[3][MOST];
    for (int k = 0; k < 3; k++) {
        const int at = column(t, names[k], err);
        if (at < 0) return IO_E_FORMAT;
        for (int i = 0; i < t->rows; i++) v[k][i] = t->data[(int64_t)i * t->cols + at];
    }
    const int count = (int)t->rows;
    const io_series series[] = {
        { .name = "training", .count = count, .x = v[0], .y = v[1], .no_markers = true },
        { .name = "validation", .count = count, .x = v[0], .y = v[2], .no_markers = true }
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

int main(int argc, char **argv) {
    static const struct kind {
        const char *name;
        int (*draw)(const io_table *t, const char *path, io_error *err);
    } kinds[] = { { "heston", heston }, { "bullet", bullet }, { "training", training } };
    int kind = 0;
    while (argc == 4 && kind < 3 && strcmp(argv[1], kinds[kind].name) != 0) kind++;
    io_table table = { 0 };
    io_error err;
    if (argc != 4 || kind == 3) {
        fprintf(stderr, "usage: draw_table heston|bullet|training FILE.csv F.svg\n");
        return 64;
    }
    int status = io_csv_read(argv[2], &table, &err);
    if (status == IO_OK && table.rows > MOST)
        status = io_fail(&err, IO_E_SIZE, "%s has more than %d rows", argv[2], MOST);
    if (status == IO_OK) status = kinds[kind].draw(&table, argv[3], &err);
    if (status != IO_OK) fprintf(stderr, "draw_table: %s\n", err.text);
    io_table_free(&table);
    return status == IO_OK ? 0 : 1;
}
