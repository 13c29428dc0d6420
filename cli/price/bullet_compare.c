/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_compare.c - `shoal price bullet --compare`: the values at many points by both strategies
 * of a project sheet (src/models/bullet.h names it; questions 2 and 3): points of a lattice (grid), and points that
 * outer trajectories reach (nested). Both have about as many points, and paths from 64 on by factors of
 * four; what is compared is the root mean square error against quadrature, and time.
 */
#include "bullet.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 16 };

typedef struct row {
    int64_t nested, points, paths;
    double seconds, rms_stderr, rms_error;
} row;

/* clang-format off */
#define ROW(member) CLI_RESULT(#member, row, member)
static const cli_option row_results[] = {
    ROW(nested), ROW(points), ROW(paths), ROW(seconds), ROW(rms_stderr), ROW(rms_error), { 0 }
};
/* clang-format on */

typedef struct side {
    shoal_price *plan;
    int64_t points;
    double *exact;
} side;

/* A plan of either strategy, and the exact values at its points. */
static int prepare(cli *c, const bullet_arguments *a, bool nested, side *s) {
    shoal_price_opts o = price_opts_of(c, &a->o);
    shoal_price *quad = NULL;
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
    s->exact = calloc((size_t)s->points + 1, sizeof *s->exact);
    o.method = "quad";
    if (!v || !s->exact) status = SHOAL_E_NOMEM;
    if (status == SHOAL_OK)
        status =
            shoal_price_bullet(c->ctx, &a->m, &o, shoal_price_points(s->plan), s->points, &quad);
    code = cli_status(c, status);
    if (code == CLI_OK) code = price_by_formula(c, quad, v);
    for (int64_t i = 0; code == CLI_OK && i < s->points; i++) s->exact[i] = v[i].price;
    shoal_price_free(quad);
    free(v);
    return code;
}

static int measure(cli *c, const side *s, bool nested, int64_t paths, row *to) {
    shoal_price_value *v = calloc((size_t)s->points + 1, sizeof *v);
    double error = 0, off = 0, seconds = 0;
    if (!v) return cli_no_memory();
    const int code = price_measure(c, s->plan, paths, v, &seconds);
    for (int64_t i = 0; code == CLI_OK && i < s->points; i++) {
        error += v[i].error * v[i].error;
        off += (v[i].price - s->exact[i]) * (v[i].price - s->exact[i]);
    }
    const double n = (double)s->points;
    *to = (row){ nested, s->points, paths, seconds, sqrt(error / n), sqrt(off / n) };
    free(v);
    return code;
}

static int draw(const char *path, const row *rows, int count) {
    double x[2][MOST], y[2][MOST];
    int n[2] = { 0, 0 };
    for (int i = 0; i < count; i++) {
        const int64_t k = rows[i].nested;
        x[k][n[k]] = rows[i].seconds, y[k][n[k]++] = rows[i].rms_error;
    }
    const io_series series[] = { { .name = "grid", .count = n[0], .x = x[0], .y = y[0] },
                                 { .name = "nested", .count = n[1], .x = x[1], .y = y[1] } };
    return price_plot_pair(path, "Bullet option: error against time",
                           "root mean square over all points, against quadrature", "seconds",
                           "error", series);
}

static int print(cli *c, const row *rows, int count) {
    if (c->json) {
        io_json *j = cli_json_begin(c, "price bullet");
        io_json_uint(j, "seed", c->seed);
        cli_json_result_list(j, "compare", row_results, rows, sizeof *rows, count);
        return cli_json_end(c, CLI_OK);
    }
    printf("%-8s %10s %10s %10s %11s %11s\n", "strategy", "points", "paths", "seconds", "stderr",
           "error");
    for (int i = 0; i < count; i++)
        printf("%-8s %10lld %10lld %10.4g %11.3e %11.3e\n", rows[i].nested ? "nested" : "grid",
               (long long)rows[i].points, (long long)rows[i].paths, rows[i].seconds,
               rows[i].rms_stderr, rows[i].rms_error);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int bullet_compare(cli *c, const bullet_arguments *a) {
    row rows[2 * MOST];
    side sides[2] = { { 0 }, { 0 } };
    int code = CLI_OK, count = 0;
    for (int nested = 0; nested < 2 && code == CLI_OK; nested++)
        code = prepare(c, a, nested, &sides[nested]);
    for (int nested = 0; nested < 2 && code == CLI_OK; nested++)
        for (int64_t paths = 64; paths <= a->o.paths && code == CLI_OK && !cli_interrupted();
             paths *= 4) {
            if (count >= (nested + 1) * MOST) break;
            code = measure(c, &sides[nested], nested, paths, &rows[count]);
            if (code == CLI_OK) count++;
        }
    for (int i = 0; i < 2; i++) {
        shoal_price_free(sides[i].plan);
        free(sides[i].exact);
    }
    if (code == CLI_OK && a->o.output)
        code = cli_csv_result_list(a->o.output, row_results, rows, sizeof *rows, count);
    if (code == CLI_OK && a->o.plot) code = draw(a->o.plot, rows, count);
    return code == CLI_OK ? print(c, rows, count) : code;
}
