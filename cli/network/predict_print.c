/* SPDX-License-Identifier: Apache-2.0
 *
 * predict_print.c - results of `shoal predict`: the .csv file, the table, the JSON object.
 */
#include "surrogate.h"

#include "io/csv.h"
#include "io/file.h"

int surrogate_write(const char *path, const surrogate_table *t, const surrogate_results *r) {
    const struct {
        const char *name;
        const double *values;
    } more[] = { { "price", r->price },
                 { "dprice_dstrike", r->by_strike },
                 { "dprice_dmaturity", r->by_maturity },
                 { "mc_price", r->truth_known ? r->truth.price : NULL },
                 { "mc_stderr", r->truth_known ? r->truth.error : NULL } };
    enum { MORE = sizeof more / sizeof *more };
    const char *names[SHOAL_SURROGATE_INPUTS + MORE + 1];
    io_out *out;
    io_error err;
    const int status = io_out_open(path, &out, &err);
    if (status != IO_OK) return cli_io(status, &err);
    int cols = 0;
    for (int i = 0; i < t->inputs; i++) names[cols++] = t->names[i];
    for (int i = 0; i < MORE; i++)
        if (more[i].values) names[cols++] = more[i].name;
    names[cols++] = "outside";
    io_csv_header(io_out_file(out), names, cols);
    for (int64_t row = 0; row < t->rows; row++) {
        double line[SHOAL_SURROGATE_INPUTS + MORE + 1];
        int at = 0;
        for (int i = 0; i < t->inputs; i++) line[at++] = t->x[row * t->inputs + i];
        for (int i = 0; i < MORE; i++)
            if (more[i].values) line[at++] = more[i].values[row];
        line[at++] = r->outside[row];
        io_csv_row(io_out_file(out), line, at, 17);
    }
    return cli_io(io_out_commit(out, &err), &err);
}

/* ---- the table and the JSON object ----------------------------------------------------------------- */

static void json_bin(io_json *j, const char *key, const surrogate_bin *b) {
    io_json_object_line(j, key);
    if (b->input) {
        io_json_string(j, "input", b->input);
        io_json_double(j, "from", b->from);
        io_json_double(j, "to", b->to);
    }
    io_json_int(j, "rows", b->rows);
    io_json_double(j, "rmse", b->rmse);
    io_json_double(j, "noise", b->noise);
    io_json_double(j, "q99", b->q99);
    io_json_double(j, "worst", b->worst);
    io_json_close(j);
}

/* Points that fail; null where nothing was looked for. */
static void json_failures(io_json *j, const char *key, int values, int64_t count) {
    if (values > 1)
        io_json_int(j, key, count);
    else
        io_json_null(j, key);
}

static void json_check(io_json *j, const surrogate_results *r) {
    const surrogate_arbitrage *f = &r->arbitrage;
    json_bin(j, "errors", &r->errors.all);
    io_json_array(j, "errors_by");
    for (int i = 0; i < r->errors.bins; i++) json_bin(j, NULL, &r->errors.bin[i]);
    io_json_close(j);
    if (r->truth.paths) {
        io_json_int(j, "paths", r->truth.paths);
        io_json_double(j, "monte_carlo_seconds", r->truth.seconds);
    }
    io_json_object_line(j, "arbitrage");
    io_json_int(j, "sets", f->sets);
    io_json_int(j, "points", f->points);
    json_failures(j, "not_falling_in_strike", f->strikes, f->strike);
    json_failures(j, "not_convex_in_strike", f->strikes, f->convexity);
    json_failures(j, "not_rising_in_maturity", f->maturities, f->maturity);
    io_json_double(j, "worst_strike", f->worst_strike);
    io_json_double(j, "worst_convexity", f->worst_convexity);
    io_json_double(j, "worst_maturity", f->worst_maturity);
    io_json_close(j);
}

/* What a simulation is made by; null where there is none. */
static void json_request(cli *c, io_json *j, const surrogate_request *q) {
    io_json_string(j, "model", q->model);
    io_json_string(j, "params", q->params);
    io_json_string(j, "output", q->output);
    io_json_string(j, "export", q->export);
    io_json_string(j, "type", cli_type_name(q->type));
    if (q->simulated) {
        io_json_uint(j, "seed", c->seed);
        io_json_double(j, "target_se", q->target);
        io_json_int(j, "most_paths", q->paths);
    } else {
        io_json_null(j, "seed");
        io_json_null(j, "target_se");
        io_json_null(j, "most_paths");
    }
}

/* The names of its members are not to be those of inputs: surrogate_name_is_free(). */
static int print_json(cli *c, const surrogate_request *q, const surrogate_table *t,
                      const surrogate_results *r) {
    io_json *j = cli_json_begin(c, "predict");
    json_request(c, j, q);
    io_json_int(j, "rows", t->rows);
    io_json_int(j, "outside", r->outsiders);
    io_json_double(j, "network_seconds", r->seconds);
    io_json_double(j, "prices_per_second", (double)t->rows / r->seconds);
    if (t->rows == 1) {
        for (int i = 0; i < t->inputs; i++) io_json_double(j, t->names[i], t->x[i]);
        io_json_double(j, "price", r->price[0]);
        if (r->by_strike) io_json_double(j, "dprice_dstrike", r->by_strike[0]);
        if (r->by_maturity) io_json_double(j, "dprice_dmaturity", r->by_maturity[0]);
        if (r->truth_known) {
            io_json_double(j, "mc_price", r->truth.price[0]);
            io_json_double(j, "mc_stderr", r->truth.error[0]);
        }
    }
    if (r->truth_known) json_check(j, r);
    return cli_json_end(c, CLI_OK);
}

static void print_bin(const surrogate_bin *b) {
    char name[64] = "all rows";
    if (b->input) snprintf(name, sizeof name, "%s %.3g to %.3g", b->input, b->from, b->to);
    printf("%-26s %8lld  %9.3g  %9.3g  %9.3g  %9.3g\n", name, (long long)b->rows, b->rmse, b->noise,
           b->q99, b->worst);
}

static void print_check(const surrogate_results *r) {
    const surrogate_arbitrage *f = &r->arbitrage;
    const double share = f->points ? 100. / (double)f->points : 0;
    printf("\n%-26s %8s  %9s  %9s  %9s  %9s\n", "errors against Monte Carlo", "rows", "RMSE",
           "its noise", "99 %", "worst");
    print_bin(&r->errors.all);
    for (int i = 0; i < r->errors.bins; i++) print_bin(&r->errors.bin[i]);
    if (r->truth.paths)
        printf("Monte Carlo took %.3g s, %.3g us a row\n", r->truth.seconds,
               1e6 * r->truth.seconds / (double)r->errors.all.rows);
    if (f->points == 0) return;
    printf("\nstatic arbitrage, %lld points of %lld surfaces; the worst\n", (long long)f->points,
           (long long)f->sets);
    if (f->strikes > 1) {
        printf("not falling in strike    %8.4f %%  %9.3g\n", share * (double)f->strike,
               f->worst_strike);
        printf("not convex in strike     %8.4f %%  %9.3g\n", share * (double)f->convexity,
               f->worst_convexity);
    }
    if (f->maturities > 1)
        printf("not rising in maturity   %8.4f %%  %9.3g\n", share * (double)f->maturity,
               f->worst_maturity);
}

static void print_table(const surrogate_table *t, const surrogate_results *r) {
    enum { SHOWN = 20 };
    printf("%12s", "price");
    if (r->by_strike) printf("  %12s", "d/dstrike");
    if (r->by_maturity) printf("  %12s", "d/dmaturity");
    if (r->truth_known) printf("  %12s  %9s", "Monte Carlo", "+-");
    printf("  outside\n");
    for (int64_t row = 0; row < t->rows && row < SHOWN; row++) {
        printf("%12.8f", r->price[row]);
        if (r->by_strike) printf("  %12.8f", r->by_strike[row]);
        if (r->by_maturity) printf("  %12.8f", r->by_maturity[row]);
        if (r->truth_known) printf("  %12.8f  %9.2g", r->truth.price[row], r->truth.error[row]);
        printf("  %s\n", r->outside[row] ? "yes" : "no");
    }
    if (t->rows > SHOWN) printf("and %lld rows more: -o keeps all\n", (long long)(t->rows - SHOWN));
    printf("%lld rows, %.3g prices a second\n", (long long)t->rows, (double)t->rows / r->seconds);
    if (r->truth_known) print_check(r);
}

int surrogate_print(cli *c, const surrogate_request *q, const surrogate_table *t,
                    const surrogate_results *r) {
    if (c->json) return print_json(c, q, t, r);
    print_table(t, r);
    return CLI_OK;
}
