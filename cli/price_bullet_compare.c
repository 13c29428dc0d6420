/* SPDX-License-Identifier: Apache-2.0
 *
 * price_bullet_compare.c - `shoal price bullet --compare`: the values at many points by both strategies
 * of the course (Projects, section 3, questions 2 and 3): points of a lattice (grid), and points that
 * outer trajectories reach (nested). Both have about as many points, and paths from 64 on by factors of
 * four; what is compared is the root mean square error against quadrature, and time.
 */
#include "price_bullet.h"

#include <math.h>
#include <stdlib.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/svg.h"

enum { COLUMNS = 6, MOST = 16 };
static const char *const columns[COLUMNS] = { "nested",  "points",     "paths",
                                              "seconds", "rms_stderr", "rms_error" };

typedef struct side {
    shoal_price *plan;
    int64_t points;
    double *truth;
} side;

/* A plan of either strategy, and the truth at its points. */
static int prepare(cli *c, const bullet_arguments *a, bool nested, side *s) {
    shoal_price_opts o = bullet_opts(c, a);
    shoal_price *exact = NULL;
    bullet_points lattice = { 0 };
    int code = CLI_OK;
    o.greeks = 0, o.method = nested ? "nested" : "grid";
    const int64_t last = bullet_last(&a->m);
    const int64_t n[3] = { last + 1, a->outer > 1 ? a->outer / 2 : 1, a->outer > 1 ? 2 : 1 };
    if (!nested) code = bullet_points_lattice(&a->m, last, n, &lattice);
    if (code == CLI_OK)
        code = cli_status(c, shoal_price_bullet(c->ctx, &a->m, &o, lattice.list,
                                                nested ? a->outer : lattice.count, &s->plan));
    free(lattice.list);
    if (code != CLI_OK) return code;
    shoal_price_info info;
    shoal_status status = shoal_price_describe(s->plan, &info);
    s->points = status == SHOAL_OK ? info.contracts : 0;
    shoal_price_value *v = calloc((size_t)s->points + 1, sizeof *v);
    s->truth = calloc((size_t)s->points + 1, sizeof *s->truth);
    o.method = "quad";
    if (!v || !s->truth) status = SHOAL_E_NOMEM;
    if (status == SHOAL_OK)
        status =
            shoal_price_bullet(c->ctx, &a->m, &o, shoal_price_points(s->plan), s->points, &exact);
    if (status == SHOAL_OK) status = shoal_price_result(exact, NULL, 0, v);
    for (int64_t i = 0; status == SHOAL_OK && i < s->points; i++) s->truth[i] = v[i].price;
    shoal_price_free(exact);
    free(v);
    return cli_status(c, status);
}

static int measure(cli *c, const side *s, bool nested, int64_t paths, double *row) {
    const int64_t numbers = shoal_price_sums(s->plan, paths);
    double *host = calloc((size_t)numbers + 1, sizeof *host);
    double *total = calloc((size_t)(2 * shoal_price_width(s->plan)) + 1, sizeof *total);
    shoal_price_value *v = calloc((size_t)s->points + 1, sizeof *v);
    void *sums = NULL;
    shoal_status status = host && total && v ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_alloc(c->ctx, (size_t)numbers * sizeof(double), &sums);
    const double start = cli_now();
    if (status == SHOAL_OK) status = shoal_price_run(s->plan, 0, paths, sums);
    if (status == SHOAL_OK)
        status = shoal_copy(c->ctx, host, sums, (size_t)numbers * sizeof(double));
    const double seconds = cli_now() - start;
    if (status == SHOAL_OK) status = shoal_price_add(s->plan, host, paths, total);
    if (status == SHOAL_OK) status = shoal_price_result(s->plan, total, paths, v);
    double error = 0, off = 0;
    for (int64_t i = 0; status == SHOAL_OK && i < s->points; i++) {
        error += v[i].error * v[i].error;
        off += (v[i].price - s->truth[i]) * (v[i].price - s->truth[i]);
    }
    const double n = (double)s->points;
    const double all[COLUMNS] = {
        nested, n, (double)paths, seconds, sqrt(error / n), sqrt(off / n)
    };
    for (int i = 0; i < COLUMNS; i++) row[i] = all[i];
    shoal_free(c->ctx, sums);
    free(host);
    free(total);
    free(v);
    return cli_status(c, status);
}

static int write_csv(const char *path, const double *rows, int count) {
    io_out *file;
    io_error err;
    const int status = io_out_open(path, &file, &err);
    if (status != IO_OK) return cli_io(status, &err);
    io_csv_header(io_out_file(file), columns, COLUMNS);
    for (int i = 0; i < count; i++) io_csv_row(io_out_file(file), rows + i * COLUMNS, COLUMNS, 17);
    return cli_io(io_out_commit(file, &err), &err);
}

static int draw(const char *path, const double *rows, int count) {
    double x[2][MOST], y[2][MOST];
    int n[2] = { 0, 0 };
    for (int i = 0; i < count; i++) {
        const double *r = rows + i * COLUMNS;
        const int side_of = r[0] > 0;
        x[side_of][n[side_of]] = r[3], y[side_of][n[side_of]++] = r[5];
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
    io_error err;
    return cli_io(io_svg_write_lines(path, &chart, &err), &err);
}

static int print(cli *c, const double *rows, int count) {
    if (c->json) {
        io_json *j = cli_json_begin(c, "price bullet");
        io_json_uint(j, "seed", c->seed);
        io_json_array(j, "compare");
        for (int i = 0; i < count; i++) {
            io_json_object_line(j, NULL);
            for (int k = 0; k < COLUMNS; k++) io_json_double(j, columns[k], rows[i * COLUMNS + k]);
            io_json_close(j);
        }
        io_json_close(j);
        return cli_json_end(c, CLI_OK);
    }
    printf("%-8s %10s %10s %10s %11s %11s\n", "strategy", "points", "paths", "seconds", "stderr",
           "error");
    for (int i = 0; i < count; i++) {
        const double *r = rows + i * COLUMNS;
        printf("%-8s %10.0f %10.0f %10.4g %11.3e %11.3e\n", r[0] > 0 ? "nested" : "grid", r[1],
               r[2], r[3], r[4], r[5]);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int bullet_compare(cli *c, const bullet_arguments *a) {
    double rows[2 * MOST * COLUMNS];
    int count = 0, code = CLI_OK;
    for (int nested = 0; nested < 2 && code == CLI_OK; nested++) {
        side s = { 0 };
        code = prepare(c, a, nested, &s);
        if (code == CLI_OK) code = measure(c, &s, nested, 64, rows + count * COLUMNS); /* warm up */
        for (int64_t paths = 64; paths <= a->o.paths && code == CLI_OK && !cli_interrupted();
             paths *= 4) {
            if (count >= (nested + 1) * MOST) break;
            code = measure(c, &s, nested, paths, rows + count * COLUMNS);
            if (code == CLI_OK) count++;
        }
        shoal_price_free(s.plan);
        free(s.truth);
    }
    if (code == CLI_OK && a->o.output) code = write_csv(a->o.output, rows, count);
    if (code == CLI_OK && a->o.plot) code = draw(a->o.plot, rows, count);
    return code == CLI_OK ? print(c, rows, count) : code;
}
