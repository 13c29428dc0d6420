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
                 { "mc_price", r->has_reference ? r->reference.price : NULL },
                 { "mc_stderr", r->has_reference ? r->reference.error : NULL } };
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

/* clang-format off */
#define BIN(name, member) CLI_RESULT(name, surrogate_bin, member)
static const cli_option bin_head[] = { BIN("input", input), BIN("from", from), BIN("to", to), { 0 } };
static const cli_option bin_results[] = {
    BIN("rows", rows), BIN("rmse", rmse), BIN("noise", noise), BIN("q99", q99), BIN("worst", worst), { 0 }
};
static const cli_option reference_results[] = {
    CLI_RESULT("paths", surrogate_reference, paths), CLI_RESULT("monte_carlo_seconds", surrogate_reference, seconds), { 0 }
};
#define ARBITRAGE(name, member) CLI_RESULT(name, surrogate_arbitrage, member)
static const cli_option point_results[] = { ARBITRAGE("sets", sets), ARBITRAGE("points", points), { 0 } };
static const cli_option strike_results[] = {
    ARBITRAGE("not_falling_in_strike", strike), ARBITRAGE("not_convex_in_strike", convexity), { 0 }
};
static const cli_option maturity_results[] = { ARBITRAGE("not_rising_in_maturity", maturity), { 0 } };
static const cli_option worst_results[] = {
    ARBITRAGE("worst_strike", worst_strike), ARBITRAGE("worst_convexity", worst_convexity),
    ARBITRAGE("worst_maturity", worst_maturity), { 0 }
};
#define REQUEST(name, member) CLI_RESULT(name, surrogate_request, member)
static const cli_option request_results[] = {
    REQUEST("model", model), REQUEST("params", params), REQUEST("output", output), REQUEST("export", export),
    { "type", OPT_CHOICE, CLI_AT(surrogate_request, type), .words = CLI_TYPES }, { 0 }
};
static const cli_option simulation_results[] = {
    REQUEST("seed", seed), REQUEST("target_se", target), REQUEST("most_paths", paths), { 0 }
};
/* clang-format on */

static void json_bin(io_json *j, const char *key, const surrogate_bin *b) {
    io_json_object_line(j, key);
    if (b->input) cli_json_results(j, bin_head, b);
    cli_json_results(j, bin_results, b);
    io_json_close(j);
}

static void json_check(io_json *j, const surrogate_results *r) {
    const surrogate_arbitrage *f = &r->arbitrage;
    json_bin(j, "errors", &r->errors.all);
    io_json_array(j, "errors_by");
    for (int i = 0; i < r->errors.bins; i++) json_bin(j, NULL, &r->errors.bin[i]);
    io_json_close(j);
    if (r->reference.paths) cli_json_results(j, reference_results, &r->reference);
    io_json_object_line(j, "arbitrage");
    cli_json_results(j, point_results, f);
    cli_json_results(j, strike_results, f->strikes > 1 ? f : NULL); /* null: not looked for */
    cli_json_results(j, maturity_results, f->maturities > 1 ? f : NULL);
    cli_json_results(j, worst_results, f);
    io_json_close(j);
}

/* The names of its members are not to be those of inputs: surrogate_name_is_free(). */
static int print_json(cli *c, const surrogate_request *q, const surrogate_table *t,
                      const surrogate_results *r) {
    io_json *j = cli_json_begin(c, "predict");
    cli_json_results(j, request_results, q);
    cli_json_results(j, simulation_results, q->simulated ? q : NULL);
    io_json_int(j, "rows", t->rows);
    io_json_int(j, "outside", r->outsiders);
    io_json_double(j, "network_seconds", r->seconds);
    io_json_double(j, "prices_per_second", (double)t->rows / r->seconds);
    if (t->rows == 1) {
        for (int i = 0; i < t->inputs; i++) io_json_double(j, t->names[i], t->x[i]);
        io_json_double(j, "price", r->price[0]);
        if (r->by_strike) io_json_double(j, "dprice_dstrike", r->by_strike[0]);
        if (r->by_maturity) io_json_double(j, "dprice_dmaturity", r->by_maturity[0]);
        if (r->has_reference) {
            io_json_double(j, "mc_price", r->reference.price[0]);
            io_json_double(j, "mc_stderr", r->reference.error[0]);
        }
    }
    if (r->has_reference) json_check(j, r);
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
    if (r->reference.paths)
        printf("Monte Carlo took %.3g s, %.3g us per row\n", r->reference.seconds,
               1e6 * r->reference.seconds / (double)r->errors.all.rows);
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
    if (r->has_reference) printf("  %12s  %9s", "Monte Carlo", "+-");
    printf("  outside\n");
    for (int64_t row = 0; row < t->rows && row < SHOWN; row++) {
        printf("%12.8f", r->price[row]);
        if (r->by_strike) printf("  %12.8f", r->by_strike[row]);
        if (r->by_maturity) printf("  %12.8f", r->by_maturity[row]);
        if (r->has_reference)
            printf("  %12.8f  %9.2g", r->reference.price[row], r->reference.error[row]);
        printf("  %s\n", r->outside[row] ? "yes" : "no");
    }
    if (t->rows > SHOWN) printf("and %lld rows more: -o keeps all\n", (long long)(t->rows - SHOWN));
    printf("%lld rows, %.3g prices per second\n", (long long)t->rows, (double)t->rows / r->seconds);
    if (r->has_reference) print_check(r);
}

int surrogate_print(cli *c, const surrogate_request *q, const surrogate_table *t,
                    const surrogate_results *r) {
    if (c->json) return print_json(c, q, t, r);
    print_table(t, r);
    return CLI_OK;
}
