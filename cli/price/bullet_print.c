/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_print.c - results of `shoal price bullet`: table, JSON, .npy, pictures.
 */
#include "bullet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/arrays.h"

#define POINT(name, member) CLI_RESULT(name, shoal_bullet_point, member)
static const cli_option point_results[] = { POINT("k", k), POINT("x", x), POINT("j", j), { 0 } };

static void json_points(io_json *j, const bullet_arguments *a, const shoal_bullet_point *at,
                        const price_outcome *out) {
    if (out->info.contracts == 1) {
        cli_json_results(j, point_results, at);
        price_json_value(j, &a->o, out->values);
        return;
    }
    io_json_array(j, "surface");
    for (int64_t i = 0; i < out->info.contracts; i++) {
        io_json_object_line(j, NULL);
        cli_json_results(j, point_results, &at[i]);
        price_json_value(j, &a->o, &out->values[i]);
        io_json_close(j);
    }
    io_json_close(j);
}

static void json_files(io_json *j, const char *npy) {
    char name[BULLET_NAME];
    io_json_object_line(j, "files");
    io_json_string(j, "surface", npy);
    io_json_string(j, "t", bullet_axis_name(npy, "t", name));
    io_json_string(j, "x", bullet_axis_name(npy, "x", name));
    io_json_close(j);
}

static int print_json(const price_job *job, const price_outcome *out) {
    cli *c = job->c;
    const bullet_arguments *a = job->arguments;
    io_json *j = cli_json_begin(c, job->command->name);
    cli_json_options(j, c, job->command, a);
    io_json_int(j, "points", out->info.contracts);
    price_json_run(j, c, &a->o, out);
    if (price_has_values(out)) json_points(j, a, bullet_points_of(job), out);
    if (a->o.output && bullet_can(a, SHOAL_CAN_SURFACE)) json_files(j, a->o.output);
    return cli_json_end(c, CLI_OK);
}

enum { SHOWN = 60 }; /* rows of the table */

static void table(const bullet_arguments *a, const shoal_bullet_point *at,
                  const shoal_price_value *values, int64_t all) {
    printf("\n%6s %10s %6s %14s %9s%s\n", "k", "x", "j",
           a->o.opts.probability ? "probability" : "price",
           bullet_can(a, SHOAL_CAN_SURFACE) ? "error" : "stderr",
           a->o.opts.greeks ? "      delta      gamma" : "");
    for (int64_t i = 0; i < all && i < SHOWN; i++) {
        printf("%6lld %10.6g %6lld", (long long)at[i].k, at[i].x, (long long)at[i].j);
        price_table_columns(&a->o, &values[i]);
        putchar('\n');
    }
    if (all > SHOWN)
        printf("... and %lld more: --json or -o FILE.npy contains all\n", (long long)(all - SHOWN));
}

/* Errors of pde: the change from half the grid points. */
static int add_errors(cli *c, const bullet_arguments *a, const shoal_bullet_point *at,
                      shoal_price_value *values, int64_t count) {
    const int64_t nx = a->o.opts.nx ? a->o.opts.nx : 1025;
    bullet_arguments coarse = *a;
    coarse.o.opts.nx = nx / 2 + 1;
    if (coarse.o.opts.nx < 5) return CLI_OK; /* too few to be halved */
    shoal_price_value *v = calloc((size_t)count + 1, sizeof *v);
    shoal_price *plan = NULL;
    int code = v ? bullet_plan(c, &coarse, at, count, &plan) : cli_no_memory();
    if (code == CLI_OK) code = price_by_formula(c, plan, v);
    for (int64_t i = 0; code == CLI_OK && i < count; i++) {
        values[i].error = fabs(v[i].price - values[i].price);
        values[i].delta_error = fabs(v[i].delta - values[i].delta);
        values[i].gamma_error = fabs(v[i].gamma - values[i].gamma);
    }
    if (code == CLI_OK)
        printf("grid          %lld points; the error is the change from %lld points\n",
               (long long)nx, (long long)coarse.o.opts.nx);
    shoal_price_free(plan);
    free(v);
    return code;
}

int bullet_print(const price_job *job, const price_outcome *out) {
    const bullet_arguments *a = job->arguments;
    const shoal_bullet *m = &a->m;
    const shoal_bullet_point *at = bullet_points_of(job);
    char t[BULLET_NAME], x[BULLET_NAME];
    if (job->c->json) return print_json(job, out);
    printf(
        "option        bullet: strike %g, maturity %s, barrier %g, %s (%c), pays for counts from %lld "
        "to %lld\n",
        m->strike, CLI_YEARS(m->maturity), m->barrier, CLI_COUNT(m->dates, "date"), m->count,
        (long long)m->p1, (long long)m->p2);
    printf("model         Black-Scholes: s0 %g, rate %g, sigma %g\n", m->s0, m->rate, m->sigma);
    price_table_run(job->c, &a->o, out);
    if (a->intervals)
        printf("intervals     %lld of %lld: [T_%lld, T)\n", (long long)a->intervals,
               (long long)bullet_last(m), (long long)(bullet_last(m) - a->intervals));
    if (a->o.output && bullet_can(a, SHOAL_CAN_SURFACE))
        printf("surface       %s as [k][j][x]; T_k %s, x %s\n", a->o.output,
               bullet_axis_name(a->o.output, "t", t), bullet_axis_name(a->o.output, "x", x));
    if (!price_has_values(out)) return CLI_OK;
    const int64_t count = out->info.contracts;
    shoal_price_value *values = calloc((size_t)count + 1, sizeof *values);
    if (!values) return cli_no_memory();
    memcpy(values, out->values, (size_t)count * sizeof *values);
    const int code =
        bullet_can(a, SHOAL_CAN_SURFACE) ? add_errors(job->c, a, at, values, count) : CLI_OK;
    if (code == CLI_OK && count == 1) {
        printf("at            k %lld, x %g, j %lld\n", (long long)at->k, at->x, (long long)at->j);
        price_table_value(&a->o, values);
    } else if (code == CLI_OK) {
        table(a, at, values, count);
    }
    free(values);
    return code == CLI_OK && cli_interrupted() ? CLI_INTERRUPTED : code;
}

int bullet_write(const price_job *job, const price_outcome *out) {
    const shoal_bullet_point *at = bullet_points_of(job);
    const int columns = job->o->opts.greeks ? 7 : 5;
    const int64_t shape[2] = { out->info.contracts, columns };
    double *rows = calloc((size_t)(shape[0] * columns) + 1, sizeof *rows);
    if (!rows) return cli_no_memory();
    for (int64_t i = 0; i < shape[0]; i++) {
        const shoal_price_value *v = &out->values[i];
        const double row[7] = { (double)at[i].k, at[i].x,  (double)at[i].j, v->price,
                                v->error,        v->delta, v->gamma };
        memcpy(rows + i * columns, row, (size_t)columns * sizeof *row);
    }
    const int code = cli_numbers_write(job->o->output, IO_F8, 2, shape, rows);
    free(rows);
    return code;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* The price at the first point by quadrature; NaN if it is not to be had. */
static double price_by_quad(cli *c, const bullet_arguments *a, const shoal_bullet_point *at) {
    const shoal_price_opts o = { .method = "quad" };
    shoal_price *plan = NULL;
    shoal_price_value v = { .price = NAN };
    if (cli_interrupted()) return NAN; /* no more waiting */
    if (shoal_price_bullet(c->ctx, &a->m, &o, at, 1, &plan) == SHOAL_OK &&
        shoal_price_result(plan, NULL, 0, &v) != SHOAL_OK)
        v.price = NAN;
    shoal_price_free(plan);
    return v.price;
}

/* Lines of points that follow each other: of a trajectory against k, or of one k and j against x. */
typedef struct lines {
    double *x, *y, *error;
    io_series series[IO_SVG_MAX_SERIES];
    char name[IO_SVG_MAX_SERIES][48];
    int count;
} lines;

static bool same_line(bool nested, const shoal_bullet_point *a, const shoal_bullet_point *b) {
    return nested ? b->k == a->k + 1 : a->k == b->k && a->j == b->j;
}

static void add_line(lines *l, bool nested, const shoal_bullet_point *at, int64_t from, int64_t n) {
    io_series *s = &l->series[l->count];
    if (nested)
        snprintf(l->name[l->count], sizeof *l->name, "trajectory %d", l->count);
    else
        snprintf(l->name[l->count], sizeof *l->name, "k = %lld, j = %lld", (long long)at->k,
                 (long long)at->j);
    *s = (io_series){ l->name[l->count], n, l->x + from, l->y + from, .error = l->error + from };
    l->count++;
}

/* Points in the order of the lines: a lattice has its counts inside its prices. */
static int compare_points(const void *a, const void *b) {
    const shoal_bullet_point *p = *(const shoal_bullet_point *const *)a,
                             *q = *(const shoal_bullet_point *const *)b;
    if (p->k != q->k) return p->k < q->k ? -1 : 1;
    if (p->j != q->j) return p->j < q->j ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

/* `exact`: the values have no errors, and are a curve. */
static int plot_lines(const char *path, bool nested, bool exact, const shoal_bullet_point *at,
                      const shoal_price_value *values, int64_t n) {
    const shoal_bullet_point **order = calloc((size_t)n + 1, sizeof *order);
    lines *l = calloc(1, sizeof *l);
    double *numbers = calloc((size_t)(3 * n) + 1, sizeof *numbers);
    int code = order && l && numbers ? CLI_OK : cli_no_memory();
    if (code == CLI_OK) {
        for (int64_t i = 0; i < n; i++) order[i] = &at[i];
        if (!nested) qsort(order, (size_t)n, sizeof *order, compare_points);
        l->x = numbers, l->y = numbers + n, l->error = numbers + 2 * n;
        for (int64_t i = 0; i < n; i++) {
            const shoal_price_value *v = &values[order[i] - at];
            l->x[i] = nested ? (double)order[i]->k : order[i]->x;
            l->y[i] = v->price, l->error[i] = 2 * v->error;
        }
        for (int64_t i = 0, from = 0; i < n && l->count < 8; i++)
            if (i + 1 == n || !same_line(nested, order[i], order[i + 1])) {
                add_line(l, nested, order[from], from, i + 1 - from);
                if (exact) l->series[l->count - 1].error = NULL;
                from = i + 1;
            }
        const io_chart chart = { nested ? "Bullet option along outer trajectories"
                                        : "Bullet option: value against price",
                                 exact ? NULL : "bars are two standard errors",
                                 nested ? "date" : "x",
                                 "value",
                                 .y_from_zero = true,
                                 .series_count = l->count,
                                 .series = l->series };
        io_error err;
        code = cli_io(io_svg_write_lines(path, &chart, &err), &err);
    }
    free(order);
    free(l);
    free(numbers);
    return code;
}

enum { CURVE = 257 };

/* A method without paths has the values around a point, from 0.6 x to 1.5 x, at the same price; those of
 * pde lie on its grid, K/3 to 3 K or more. */
static int plot_curve(const price_job *job) {
    const bullet_arguments *a = job->arguments;
    const shoal_bullet_point *at = bullet_points_of(job);
    const bool pde = bullet_can(a, SHOAL_CAN_SURFACE);
    const double low = pde ? fmax(0.6 * at->x, a->m.strike / 2.99) : 0.6 * at->x;
    const double high = pde ? fmin(1.5 * at->x, 2.99 * a->m.strike) : 1.5 * at->x;
    shoal_bullet_point point[CURVE];
    shoal_price_value value[CURVE];
    shoal_price *plan = NULL;
    const int n = low < high ? CURVE : 1; /* the point lies at an end of the grid */
    for (int i = 0; i < n; i++) {
        point[i] = *at;
        if (n > 1) point[i].x = low + (high - low) * i / (n - 1);
    }
    int code = bullet_plan(job->c, a, point, n, &plan);
    if (code == CLI_OK) code = price_by_formula(job->c, plan, value);
    shoal_price_free(plan);
    return code == CLI_OK ? plot_lines(a->o.plot, false, true, point, value, n) : code;
}

int bullet_plot(const price_job *job, const price_outcome *out) {
    const bullet_arguments *a = job->arguments;
    const shoal_bullet_point *at = bullet_points_of(job);
    const bool exact = out->info.deterministic;
    if (exact && out->info.contracts == 1) return plot_curve(job);
    if (out->info.contracts > 1)
        return plot_lines(a->o.plot, bullet_can(a, SHOAL_CAN_NEST), exact, at, out->values,
                          out->info.contracts);
    return price_plot(a->o.plot, "Bullet option", &a->o, out, price_by_quad(job->c, a, at));
}
