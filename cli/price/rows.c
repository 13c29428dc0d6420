/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - what the comparisons of `shoal price` share: timed runs, and rows of numbers as CSV and
 * JSON; and calls that Ctrl-C ends with the program.
 */
#include <stdlib.h>

#include "io/csv.h"
#include "io/file.h"
#include "price.h"

enum { WARM_SAMPLES = 256 };

int price_rows_csv(const char *path, const price_rows *rows) {
    io_out *file;
    io_error err;
    const int status = io_out_open(path, &file, &err);
    if (status != IO_OK) return cli_io(status, &err);
    io_csv_header(io_out_file(file), rows->columns, rows->width);
    for (int i = 0; i < rows->count; i++)
        io_csv_row(io_out_file(file), rows->row + i * rows->width, rows->width, 17);
    return cli_io(io_out_commit(file, &err), &err);
}

void price_rows_json(io_json *j, const price_rows *rows) {
    io_json_array(j, "compare");
    for (int i = 0; i < rows->count; i++) {
        io_json_object_line(j, NULL);
        for (int k = 0; k < rows->width; k++)
            io_json_double(j, rows->columns[k], rows->row[i * rows->width + k]);
        io_json_close(j);
    }
    io_json_close(j);
}

int price_measure(cli *c, shoal_price *plan, int64_t paths, shoal_price_value *values,
                  double *seconds) {
    shoal_price_info info;
    void *sums = NULL;
    shoal_status s = shoal_price_describe(plan, &info);
    const int64_t each = s == SHOAL_OK ? info.paths_each : 1;
    const int64_t samples = shoal_price_width(plan) > 0 ? (paths + each - 1) / each : 0;
    const int64_t numbers = shoal_price_sums(plan, samples);
    double *host = calloc((size_t)numbers + 1, sizeof *host);
    double *total = calloc((size_t)(2 * shoal_price_width(plan)) + 1, sizeof *total);
    if (s == SHOAL_OK && (!host || !total)) s = SHOAL_E_NOMEM;
    if (s == SHOAL_OK) s = shoal_alloc(c->ctx, (size_t)numbers * sizeof(double), &sums);
    if (s == SHOAL_OK) /* warms the machine */
        s = shoal_price_run(plan, 0, samples < WARM_SAMPLES ? samples : WARM_SAMPLES, sums);
    if (s == SHOAL_OK) s = shoal_wait(c->ctx);
    const double start = cli_now();
    if (s == SHOAL_OK) s = shoal_price_run(plan, 0, samples, sums);
    if (s == SHOAL_OK) s = shoal_copy(c->ctx, host, sums, (size_t)numbers * sizeof(double));
    *seconds = cli_now() - start;
    if (s == SHOAL_OK) s = shoal_price_add(plan, host, samples, total);
    if (s == SHOAL_OK) s = shoal_price_result(plan, total, samples, values);
    shoal_free(c->ctx, sums);
    free(host);
    free(total);
    return cli_status(c, s);
}

typedef struct formula {
    shoal_price *plan;
    shoal_price_value *values;
} formula;

static shoal_status result_of(void *of) {
    const formula *f = of;
    return shoal_price_result(f->plan, NULL, 0, f->values);
}

int price_by_formula(cli *c, shoal_price *plan, shoal_price_value *values) {
    formula f = { plan, values };
    return cli_status(c, cli_call(c, result_of, &f));
}

typedef struct fitting {
    shoal_context *ctx;
    const shoal_american *options;
    int64_t count;
    const shoal_american_opts *opts;
    shoal_price **plan;
} fitting;

static shoal_status fit(void *of) {
    const fitting *f = of;
    return shoal_price_american(f->ctx, f->options, f->count, f->opts, f->plan);
}

int price_fit(cli *c, const shoal_american *options, int64_t count, const shoal_american_opts *opts,
              shoal_price **plan) {
    fitting f = { c->ctx, options, count, opts, plan };
    return cli_status(c, cli_call(c, fit, &f));
}

int price_compare_check(const cli_command *command, const void *arguments, const char *names) {
    char name[CLI_NAME];
    const char *other = cli_given_among(command, arguments, names, name);
    return other ? cli_fail(CLI_USAGE, "--compare has no %s", other) : CLI_OK;
}
