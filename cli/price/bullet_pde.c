/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_pde.c - `shoal price bullet --method pde`: whole surfaces as .npy and .png, and many options
 * in one call.
 */
#include "bullet.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/arrays.h"
#include "io/csv.h"
#include "io/png.h"

static shoal_pde_opts pde_opts(const bullet_arguments *a) {
    return (shoal_pde_opts){ .variant = a->o.opts.variant,
                             .type = a->o.opts.type,
                             .nx = a->o.opts.nx,
                             .steps_per_date = a->o.opts.steps_per_date,
                             .as_printed = a->o.opts.as_printed };
}

/* Runs a plan into memory of the program, as double: today's layers, or the surface. */
typedef struct solution {
    cli *c;
    shoal_pde *plan;
    shoal_type type;
    bool whole;
    int64_t numbers;
    double *host;
} solution;

static shoal_status solve(const solution *s) {
    const size_t bytes =
        (size_t)s->numbers * (s->type == SHOAL_F32 ? sizeof(float) : sizeof(double));
    void *memory = NULL;
    shoal_status status = shoal_alloc(s->c->ctx, bytes, &memory);
    void *today = s->whole ? NULL : memory, *surface = s->whole ? memory : NULL;
    if (status == SHOAL_OK)
        status = s->type == SHOAL_F32 ? shoal_pde_runf(s->plan, today, surface)
                                      : shoal_pde_run(s->plan, today, surface);
    if (status == SHOAL_OK) status = shoal_copy(s->c->ctx, s->host, memory, bytes);
    if (status == SHOAL_OK && s->type == SHOAL_F32) /* in place, from the end */
        for (int64_t i = s->numbers - 1; i >= 0; i--)
            s->host[i] = (double)((const float *)s->host)[i];
    shoal_free(s->c->ctx, memory);
    return status;
}

/* ---- surfaces -------------------------------------------------------------------------------- */

/* From dark blue over green to yellow, t from 0 to 1. */
static void colour(double t, unsigned char *rgb) {
    static const unsigned char stops[5][3] = {
        { 68, 1, 84 }, { 59, 82, 139 }, { 33, 145, 140 }, { 94, 201, 98 }, { 253, 231, 37 }
    };
    const double at = 4 * (t < 0 ? 0 : t > 1 ? 1 : t);
    const int k = at < 4 ? (int)at : 3;
    for (int i = 0; i < 3; i++)
        rgb[i] = (unsigned char)(stops[k][i] + (at - k) * (stops[k + 1][i] - stops[k][i]) + 0.5);
}

enum { PANEL = 160, GAP = 4 };

/* One panel per count, counts from the left and then down: dates to the right, log S upwards. */
static int draw(const char *path, const shoal_pde_shape *s, const double *surface) {
    const int columns = (int)ceil(sqrt((double)s->counts));
    const int rows = (int)((s->counts + columns - 1) / columns);
    const int width = columns * (PANEL + GAP) + GAP, height = rows * (PANEL + GAP) + GAP;
    unsigned char *rgb = malloc((size_t)width * (size_t)height * 3);
    if (!rgb) return cli_no_memory();
    memset(rgb, 255, (size_t)width * (size_t)height * 3);
    const int64_t all = (s->dates + 1) * s->counts * s->nx;
    double most = 0;
    for (int64_t i = 0; i < all; i++)
        if (surface[i] > most) most = surface[i];
    for (int64_t j = 0; j < s->counts; j++)
        for (int y = 0; y < PANEL; y++)
            for (int x = 0; x < PANEL; x++) {
                const int64_t k = (int64_t)round((double)x / (PANEL - 1) * (double)s->dates);
                const int64_t i =
                    (int64_t)round((double)(PANEL - 1 - y) / (PANEL - 1) * (double)(s->nx - 1));
                const double u = surface[(k * s->counts + j) * s->nx + i];
                const int64_t row = GAP + j / columns * (PANEL + GAP) + y;
                const int64_t column = GAP + j % columns * (PANEL + GAP) + x;
                /* the root shows small values too */
                colour(most > 0 && u > 0 ? sqrt(u / most) : 0, rgb + 3 * (row * width + column));
            }
    io_error err;
    const int code = cli_io(io_png_write(path, width, height, rgb, &err), &err);
    free(rgb);
    return code;
}

const char *bullet_axis_name(const char *npy, const char *axis, char name[BULLET_NAME]) {
    snprintf(name, BULLET_NAME, "%.*s-%s.npy", (int)(strlen(npy) - strlen(".npy")), npy, axis);
    return name;
}

/* F = e^(-r (T - T_k)) u, and counts as in a point: where T_k is not in j, below the barrier the value of
 * j is that of j + 1 with T_k in it. */
static void finish_layer(const bullet_arguments *a, const bullet_window *w,
                         const shoal_pde_shape *s, const double *x, int64_t k, double *u) {
    const double left = (double)(s->dates - k) / (double)s->dates;
    const double discount = exp(-w->m.rate * w->m.maturity * left);
    for (int64_t j = 0; j < s->counts; j++)
        for (int64_t i = 0; i < s->nx; i++) {
            const int64_t from = j + bullet_counts_now(&a->m, w->first + k, x[i]);
            u[j * s->nx + i] = from < s->counts ? discount * u[from * s->nx + i] : 0;
        }
}

static int write_surface(const char *npy, const bullet_arguments *a, const bullet_window *w,
                         const shoal_pde_shape *s, double *x, double *surface) {
    char name[BULLET_NAME];
    const int64_t shape[3] = { s->dates + 1, s->counts, s->nx };
    double *t = malloc((size_t)shape[0] * sizeof *t);
    if (!t) return cli_no_memory();
    for (int64_t k = 0; k < shape[0]; k++)
        t[k] = a->m.maturity * (double)(w->first + k) / (double)(w->first + s->dates);
    int code = cli_numbers_write(npy, IO_F8, 3, shape, surface);
    if (code == CLI_OK)
        code = cli_numbers_write(bullet_axis_name(npy, "t", name), IO_F8, 1, &shape[0], t);
    if (code == CLI_OK)
        code = cli_numbers_write(bullet_axis_name(npy, "x", name), IO_F8, 1, &shape[2], x);
    free(t);
    return code;
}

int bullet_surface(cli *c, const bullet_arguments *a, const char *npy, const char *png) {
    const shoal_pde_opts o = pde_opts(a);
    const bullet_window w = bullet_window_of(a);
    shoal_pde *plan = NULL;
    shoal_pde_shape s = { 0 };
    shoal_status status = shoal_pde_create(c->ctx, &w.m, 1, &o, &plan);
    if (status == SHOAL_OK) status = shoal_pde_describe(plan, &s);
    const int64_t layer = s.counts * s.nx, numbers = (s.dates + 1) * layer;
    double *surface = calloc((size_t)numbers + 1, sizeof *surface);
    double *x = malloc((size_t)s.nx * sizeof *x + 1);
    if (status == SHOAL_OK && (!surface || !x)) status = SHOAL_E_NOMEM;
    solution sol = { c, plan, o.type, true, numbers, surface };
    if (status == SHOAL_OK) status = solve(&sol);
    int code = cli_status(c, status);
    for (int64_t i = 0; code == CLI_OK && i < s.nx; i++) x[i] = exp(shoal_pde_log(plan, 0, i));
    for (int64_t k = 0; code == CLI_OK && k <= s.dates; k++)
        finish_layer(a, &w, &s, x, k, surface + k * layer);
    if (code == CLI_OK && npy) code = write_surface(npy, a, &w, &s, x, surface);
    if (code == CLI_OK && png) code = draw(png, &s, surface);
    free(x);
    free(surface);
    shoal_pde_free(plan);
    return code;
}

/* ---- many options ---------------------------------------------------------------------------- */

/* Column k of a table, a parameter of the model as an option: where it goes. All options have the same dates. */
static cli_row column_at(const shoal_bullet *m, int k) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(&price_bullet_command, NULL, NULL, i)).option; i++)
        if ((row.option->in & IN_MODEL) == IN_MODEL && strcmp(row.option->name, "dates") != 0 &&
            k-- == 0)
            break;
    row.base = (char *)(uintptr_t)m - offsetof(bullet_arguments, m);
    return row;
}

/* The column of that name; option NULL: there is none. */
static cli_row column_of(const shoal_bullet *m, const char *name) {
    int k = 0;
    cli_row row;
    while ((row = column_at(m, k)).option && strcmp(row.option->name, name) != 0) k++;
    return row;
}

static int set(const char *path, shoal_bullet *m, const io_table *t, int64_t row) {
    for (int k = 0; k < t->cols; k++) {
        const cli_row to = column_of(m, t->names[k]);
        const double value = t->data[row * t->cols + k];
        void *at = to.base + to.option->at;
        if (to.option->kind != OPT_INT)
            *(double *)at = value;
        else if (value != floor(value) || value < to.option->min || value > to.option->max)
            return cli_fail(CLI_INPUT,
                            "%s:%lld: column %s: %g is not a whole number from -1 to 2^40", path,
                            (long long)io_csv_line(path, row), to.option->name, value);
        else
            *(int64_t *)at = (int64_t)value;
    }
    return CLI_OK;
}

static const char *column_name(const void *of, int k) {
    (void)of;
    const cli_row row = column_at(NULL, k);
    return row.option ? row.option->name : NULL;
}

static int check_columns(const char *path, const io_table *t) {
    for (int k = 0; k < t->cols; k++)
        if (!column_of(NULL, t->names[k]).option)
            return cli_unknown_in(path, io_csv_line(path, -1), "column", t->names[k], "there are",
                                  column_name, NULL);
    return CLI_OK;
}

static int print_many(cli *c, const bullet_arguments *a, const shoal_bullet *m, int64_t count,
                      const shoal_price_value *v, double seconds) {
    if (!c->json) {
        printf("options       %lld by pde on %s, %s\n", (long long)count, c->machine.backend,
               c->machine.device);
        printf("solve time    %s, %.3g options/s\n\n", CLI_TIME(seconds), (double)count / seconds);
        printf("%10s %10s %8s %10s %6s %6s %14s %10s %10s\n", "s0", "strike", "sigma", "barrier",
               "p1", "p2", "price", "delta", "gamma");
        for (int64_t i = 0; i < count; i++)
            printf("%10.6g %10.6g %8.4g %10.6g %6lld %6lld %14.10g %10.6g %10.6g\n", m[i].s0,
                   m[i].strike, m[i].sigma, m[i].barrier, (long long)m[i].p1, (long long)m[i].p2,
                   v[i].price, v[i].delta, v[i].gamma);
        return CLI_OK;
    }
    io_json *j = cli_json_begin(c, "price bullet");
    io_json_string(j, "method", "pde");
    io_json_int(j, "options", count);
    io_json_double(j, "solve_seconds", seconds);
    io_json_string(j, "type", cli_type_name(a->o.opts.type));
    io_json_array(j, "surface");
    for (int64_t i = 0; i < count; i++) {
        io_json_object_line(j, NULL);
        cli_row row;
        for (int k = 0; (row = column_at(&m[i], k)).option; k++) cli_option_json(j, &row);
        io_json_double(j, "price", v[i].price);
        io_json_double(j, "stderr", 0);
        io_json_double(j, "delta", v[i].delta);
        io_json_double(j, "gamma", v[i].gamma);
        io_json_close(j);
    }
    io_json_close(j);
    return cli_json_end(c, CLI_OK);
}

static int price_many(cli *c, const bullet_arguments *a, const shoal_bullet *m, int64_t count) {
    const shoal_pde_opts o = pde_opts(a);
    shoal_pde *plan = NULL;
    shoal_pde_shape s = { 0 };
    shoal_price_value *v = calloc((size_t)count + 1, sizeof *v);
    double *today = NULL, start = 0;
    shoal_status status = v ? shoal_pde_create(c->ctx, m, count, &o, &plan) : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_pde_describe(plan, &s);
    const int64_t layer = s.counts * s.nx;
    today = malloc((size_t)(count * layer) * sizeof *today + 1);
    if (status == SHOAL_OK && !today) status = SHOAL_E_NOMEM;
    start = cli_now();
    solution sol = { c, plan, o.type, false, count * layer, today };
    if (status == SHOAL_OK) status = solve(&sol);
    const double seconds = cli_now() - start;
    int off = 0;
    for (int64_t i = 0; i < count && status == SHOAL_OK; i++) {
        const shoal_bullet_point at = { .j = bullet_counts_now(&m[i], 0, m[i].s0), .x = m[i].s0 };
        status = shoal_pde_value(plan, i, &at, today + i * layer, &v[i]);
        off += isnan(v[i].price);
    }
    int code = cli_status(c, status);
    if (code == CLI_OK) code = print_many(c, a, m, count, v, seconds);
    if (code == CLI_OK && off > 0)
        code = cli_fail(CLI_FAILED, "%s: %s with an s0 outside of the grid", a->options,
                        CLI_COUNT(off, "option"));
    free(today);
    free(v);
    shoal_pde_free(plan);
    return code;
}

int bullet_many(cli *c, const bullet_arguments *a) {
    io_table table;
    io_error err;
    int code = cli_io(io_csv_read(a->options, &table, &err), &err);
    if (code != CLI_OK) return code;
    shoal_bullet *m = calloc((size_t)table.rows + 1, sizeof *m);
    code = m ? check_columns(a->options, &table) : cli_no_memory();
    for (int64_t i = 0; i < table.rows && code == CLI_OK; i++) {
        m[i] = a->m;
        code = set(a->options, &m[i], &table, i);
    }
    if (code == CLI_OK) code = price_many(c, a, m, table.rows);
    io_table_free(&table);
    free(m);
    return code;
}
