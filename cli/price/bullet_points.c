/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_points.c - points (k, x, j) of bullet options: from the command line, from files, from a
 * lattice.
 */
#include "bullet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/arrays.h"
#include "io/csv.h"
#include "io/text.h"

static int allocate(int64_t count, bullet_points *to) {
    to->list = calloc((size_t)count + 1, sizeof *to->list);
    to->count = count;
    return to->list ? CLI_OK : cli_no_memory();
}

static bool is_whole(double v) { return v >= 0 && v < 1e15 && v == floor(v); }

static int set(const char *where, int64_t i, const double v[3], shoal_bullet_point *to) {
    if (!is_whole(v[0]) || !is_whole(v[2]) || !(v[1] > 0) || !isfinite(v[1]))
        return cli_fail(
            CLI_INPUT,
            "%s: point %lld is %g, %g, %g; it must be k, x, j: whole numbers k and j of "
            "0 or more, and x above 0",
            where, (long long)i, v[0], v[1], v[2]);
    *to = (shoal_bullet_point){ .k = (int64_t)v[0], .j = (int64_t)v[2], .x = v[1] };
    return CLI_OK;
}

static int from_npy(const char *path, bullet_points *to) {
    cli_array file = { 0 };
    int code = cli_array_read(&file, path);
    if (code == CLI_OK && (file.a.ndim != 2 || file.a.shape[1] != 3)) {
        char shape[64];
        code = cli_fail(CLI_INPUT, "%s has shape %s; points are (n, 3): k, x, j", path,
                        io_shape_text(file.a.ndim, file.a.shape, shape, sizeof shape));
    }
    if (code == CLI_OK) code = allocate(file.a.shape[0], to);
    for (int64_t i = 0; code == CLI_OK && i < to->count; i++) {
        const double v[3] = { io_array_get(&file.a, 3 * i), io_array_get(&file.a, 3 * i + 1),
                              io_array_get(&file.a, 3 * i + 2) };
        code = set(path, i, v, &to->list[i]);
    }
    io_array_free(&file.a);
    return code;
}

static int from_csv(const char *path, bullet_points *to) {
    static const char *const names[3] = { "k", "x", "j" };
    io_table table;
    io_error err;
    int at[3], code = cli_io(io_csv_read(path, &table, &err), &err);
    if (code != CLI_OK) return code;
    for (int c = 0; c < 3 && code == CLI_OK; c++) {
        at[c] = io_table_column(&table, names[c]);
        if (at[c] < 0) code = cli_fail(CLI_INPUT, "%s has no column %s", path, names[c]);
    }
    if (code == CLI_OK) code = allocate(table.rows, to);
    for (int64_t i = 0; code == CLI_OK && i < to->count; i++) {
        const double *row = table.data + i * table.cols;
        const double v[3] = { row[at[0]], row[at[1]], row[at[2]] };
        code = set(path, i, v, &to->list[i]);
    }
    io_table_free(&table);
    return code;
}

int bullet_points_read(const char *text, bullet_points *to) {
    if (cli_ends_in(text, ".npy")) return from_npy(text, to);
    if (cli_ends_in(text, ".csv")) return from_csv(text, to);
    int64_t count = 1;
    for (const char *c = text; *c; c++) count += *c == ';';
    int code = allocate(count, to);
    const char *at = text;
    for (int64_t i = 0; i < count && code == CLI_OK; i++) {
        double v[3];
        for (int c = 0; c < 3 && code == CLI_OK; c++) {
            const size_t length = strcspn(at, ",;");
            if (!io_text_double(at, length, &v[c]) || (at[length] == ',') != (c < 2))
                code = cli_fail(CLI_USAGE,
                                "--at: '%s' is neither k,x,j (several with ';' between them) nor a "
                                ".npy or .csv file",
                                text);
            else if (at[length])
                at += length + 1;
        }
        if (code == CLI_OK) code = set("--at", i, v, &to->list[i]) == CLI_OK ? CLI_OK : CLI_USAGE;
    }
    return code;
}

/* Value i of n from a to b, the middle if there is one. */
static double spaced(double a, double b, int64_t i, int64_t n) {
    return n > 1 ? a + (b - a) * (double)i / (double)(n - 1) : 0.5 * (a + b);
}

int bullet_points_lattice(const shoal_bullet *m, int64_t last, const int64_t n[3],
                          bullet_points *to) {
    if (n[0] * n[1] > (1 << 22) / n[2])
        return cli_fail(CLI_USAGE, "--lattice: more than %d points", 1 << 22);
    const int code = allocate(n[0] * n[1] * n[2], to);
    for (int64_t i = 0; i < to->count && code == CLI_OK; i++) {
        const int64_t k = (int64_t)round(spaced(0, (double)last, i / (n[1] * n[2]), n[0]));
        const int64_t most = m->p2 < 0 ? 0 : k < m->p2 ? k : m->p2;
        to->list[i] =
            (shoal_bullet_point){ .k = k,
                                  .j = (int64_t)round(spaced(0, (double)most, i % n[2], n[2])),
                                  .x = m->s0 * spaced(0.7, 1.3, i / n[2] % n[1], n[1]) };
    }
    return code;
}

char *bullet_points_text(const bullet_points *points) {
    char *text = malloc((size_t)points->count * 80 + 1);
    size_t used = 0;
    for (int64_t i = 0; text && i < points->count; i++) {
        const shoal_bullet_point *p = &points->list[i];
        used += (size_t)snprintf(text + used, 80, "%s%lld,%.17g,%lld", i ? ";" : "",
                                 (long long)p->k, p->x, (long long)p->j);
    }
    return text;
}
