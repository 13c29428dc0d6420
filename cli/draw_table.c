/* SPDX-License-Identifier: Apache-2.0
 *
 * draw_table.c - draws from a kept table what the program draws with --plot: `draw_table KIND FILE.csv F.svg`,
 * KIND heston or bullet (`shoal price KIND --compare`), or training (`shoal train`). For docs/figures.sh.
 */
#include <stdio.h>
#include <string.h>

#include "charts.h"
#include "io/csv.h"

enum { MOST = 512 };

static int column(const io_table *t, const char *name, io_error *err) {
    const int at = io_table_column(t, name);
    return at < 0 ? io_fail(err, IO_E_FORMAT, "the table has no column %s", name) : at;
}

static int heston(const io_table *t, const char *path, io_error *err) {
    static const char *const names[] = { "kappa", "theta", "sigma", "euler_seconds",
                                         "exact_seconds_to_equal" };
    double feller[MOST], euler[MOST], exact[MOST];
    int at[5];
    for (int i = 0; i < 5; i++)
        if ((at[i] = column(t, names[i], err)) < 0) return IO_E_FORMAT;
    for (int i = 0; i < t->rows; i++) {
        const double *row = t->data + (int64_t)i * t->cols;
        feller[i] = 2 * row[at[0]] * row[at[1]] / (row[at[2]] * row[at[2]]);
        euler[i] = row[at[3]], exact[i] = row[at[4]];
    }
    return chart_heston_compare(path, (int)t->rows, feller, euler, exact, err);
}

static int bullet(const io_table *t, const char *path, io_error *err) {
    const int nested = column(t, "nested", err), seconds = column(t, "seconds", err),
              error = column(t, "rms_error", err);
    double x[2][MOST], y[2][MOST];
    chart_points side[2] = { { 0, x[0], y[0] }, { 0, x[1], y[1] } };
    if (nested < 0 || seconds < 0 || error < 0) return IO_E_FORMAT;
    for (int i = 0; i < t->rows; i++) {
        const double *row = t->data + (int64_t)i * t->cols;
        const int s = row[nested] > 0, to = side[s].count++;
        x[s][to] = row[seconds], y[s][to] = row[error];
    }
    return chart_bullet_compare(path, &side[0], &side[1], err);
}

static int training(const io_table *t, const char *path, io_error *err) {
    static const char *const names[] = { "epoch", "training", "validation" };
    double v[3][MOST];
    for (int k = 0; k < 3; k++) {
        const int at = column(t, names[k], err);
        if (at < 0) return IO_E_FORMAT;
        for (int i = 0; i < t->rows; i++) v[k][i] = t->data[(int64_t)i * t->cols + at];
    }
    return chart_training(path, (int)t->rows, v[0], v[1], v[2], err);
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
