/* SPDX-License-Identifier: Apache-2.0
 *
 * predict.c - `shoal predict`.
 */
#include "surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"

enum { PARAMETERS = 8, NU2 = 3 };

typedef struct arguments {
    const char *model, *params, *output, *export;
    shoal_type type;
    bool check, bare, given[PARAMETERS];
    double value[PARAMETERS], target;
    int64_t paths;
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
#define PARAMETER(i) CLI_AT(arguments, value[i]), "X", .usual = "", .given = offsetof(arguments, given[i]), .group = 1, .help
static const cli_option options[] = { /* the parameters first */
    { "alpha",    OPT_REAL,     PARAMETER(0) = "instead of PARAMS: speed of mean reversion" },
    { "m",        OPT_REAL,     PARAMETER(1) = "long-run logarithm of the volatility" },
    { "beta",     OPT_REAL,     PARAMETER(2) = "volatility of the logarithm", .without = "nu2" },
    { "nu2",      OPT_REAL,     PARAMETER(NU2) = "instead of --beta: the stationary variance of the logarithm; beta is then sqrt(2 alpha nu2)" },
    { "y0",       OPT_REAL,     PARAMETER(4) = "logarithm of the volatility today" },
    { "rho",      OPT_REAL,     PARAMETER(5) = "correlation" },
    { "maturity", OPT_REAL,     PARAMETER(6) = "maturity", .unit = "years" },
    { "strike",   OPT_REAL,     PARAMETER(7) = "strike; the price of the asset is 1" },
    { "output",   OPT_OUTPUT,   AT(output), "P.csv", 2, "write prices and derivatives, one line per row", .letter = 'o', .ends = "|csv",
      .more = "Columns: the inputs, price, dprice_dstrike, dprice_dmaturity, with --check mc_price and mc_stderr, and outside." },
    { "no-derivatives", OPT_FLAG, AT(bare), NULL,    2, "prices only, with a speedup of 1.7" },
    { "type",     OPT_CHOICE,   AT(type),   "T",     2, "arithmetic of the network: f32 or f64", .words = CLI_TYPES },
    { "check",    OPT_FLAG,     AT(check),  NULL,    3, "compare with Monte Carlo prices, from the columns price and stderr of PARAMS or from a simulation; check for static arbitrage",
      .more = "Errors are listed by maturity and strike." },
    { "target-se", OPT_POSITIVE, AT(target), "E",    3, "simulate each row until its standard error is at most E", .with = "check", .usual = "5e-5, if PARAMS has no prices" },
    { "paths",    OPT_INT,      AT(paths),  "N",     3, "at most N paths per row, even if the standard error is still too large; 512 to 2^25", 512, SHOAL_DATASET_PATHS, .with = "check", .usual = "2^21" },
    { "export",   OPT_OUTPUT,   AT(export), "W.npz", 4, "write the weights for NumPy", .ends = "npz" },
    { NULL,       OPT_INPUT,    AT(model),  "MODEL", 0, "the network", .needed = "the network" },
    { NULL,       OPT_INPUT,    AT(params), "PARAMS.csv", 0, "inputs" },
    { 0 }
};

static const char doc[] =
    "Prices calls, with their derivatives in strike and maturity, by a network from shoal train: for the rows of a .csv file, or "
    "for one set of parameters.\vA row is flagged if one of its inputs is outside of the ranges of the training set. "
    "docs/surrogate-network.md describes the method.\n\n"
    "Example:\n"
    "  shoal predict examples/expou.net params.csv -o prices.csv\n"
    "  shoal predict examples/expou.net --alpha 1 --m -1.6 --beta 0.5 --y0 -1.6 \\\n"
    "        --rho -0.5 --maturity 1 --strike 1 --check\n"
    "  shoal predict expou.net test.csv --check --json";
/* clang-format on */

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    bool some = false;
    for (int i = 0; i < PARAMETERS; i++) {
        const char *reason =
            a->given[i] ? surrogate_infeasible(options[i].name, a->value[i]) : NULL;
        if (reason) argp_error(state, "--%s: %g %s", options[i].name, a->value[i], reason);
        some = some || a->given[i];
    }
    if (a->params && some) argp_error(state, "PARAMS.csv and parameters exclude each other");
    if (!a->params && !some && (!a->export || a->output || a->check))
        argp_error(state, "PARAMS.csv is missing: there is nothing to price");
}

/* One row out of options. */
static int one_row(const arguments *a, const shoal_surrogate_info *n, surrogate_table *t) {
    *t = (surrogate_table){ .rows = 1, .inputs = n->inputs };
    t->x = malloc((size_t)n->inputs * sizeof *t->x);
    if (!t->x) return cli_no_memory();
    bool used[PARAMETERS] = { false };
    for (int i = 0; i < n->inputs; i++) {
        int from = -1;
        for (int k = 0; k < PARAMETERS; k++)
            if (strcmp(n->names[i], options[k].name) == 0) from = k;
        t->names[i] = strdup(n->names[i]);
        if (!t->names[i]) return cli_no_memory();
        if (from == NU2 - 1 && a->given[NU2] && a->given[0]) { /* beta out of nu2 */
            t->x[i] = shoal_expou_beta(a->value[0], 0, a->value[NU2], 0), used[NU2] = true;
            t->nu2 = a->value[NU2];
            continue;
        }
        if (from < 0)
            return cli_fail(CLI_USAGE, "the model's input %s has no option; use a .csv file",
                            n->names[i]);
        if (!a->given[from])
            return cli_fail(CLI_USAGE, "--%s is missing: it is an input of the model",
                            options[from].name);
        t->x[i] = a->value[from], used[from] = true;
    }
    for (int k = 0; k < PARAMETERS; k++)
        if (a->given[k] && !used[k])
            return cli_fail(CLI_USAGE, "--%s is not an input of the model", options[k].name);
    return CLI_OK;
}

/* ---- results ------------------------------------------------------------------------------------- */

typedef struct surrogate_results {
    double *price, *by_strike, *by_maturity; /* the last two or NULL                          */
    double *mc, *mc_error;                   /* simulated here, or NULL                       */
    uint32_t *outside; /* bits of inputs outside of the ranges of the training set             */
    int64_t outsiders;
    double seconds; /* of the network                                                         */
    double typical; /* error of a price, by the validation set of the network                 */
    bool has_reference;
    surrogate_reference reference;
    surrogate_errors errors;
    surrogate_arbitrage arbitrage;
} surrogate_results;

typedef struct request { /* what was asked for */
    const char *model, *params, *output, *export;
    shoal_type type;
    bool simulated; /* with the next three */
    uint64_t seed;
    double target;
    int64_t paths;
} request;

static int write_csv(const char *path, const surrogate_table *t, const surrogate_results *r) {
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
        line[at++] = r->outside[row] != 0;
        io_csv_row(io_out_file(out), line, at);
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
#define REQUEST(name, member) CLI_RESULT(name, request, member)
static const cli_option request_results[] = {
    REQUEST("model", model), REQUEST("params", params), REQUEST("output", output), REQUEST("export", export),
    { "type", OPT_CHOICE, CLI_AT(request, type), .words = CLI_TYPES }, { 0 }
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
static int print_json(cli *c, const request *q, const surrogate_table *t,
                      const surrogate_results *r) {
    io_json *j = cli_json_begin(c, "predict");
    cli_json_results(j, request_results, q);
    cli_json_results(j, simulation_results, q->simulated ? q : NULL);
    io_json_int(j, "rows", t->rows);
    io_json_int(j, "outside", r->outsiders);
    io_json_double(j, "typical_error", r->typical);
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
        printf("Monte Carlo took %s, %s per row\n", CLI_TIME(r->reference.seconds),
               CLI_TIME(r->reference.seconds / (double)r->errors.all.rows));
    if (f->points == 0) return;
    printf("\nstatic arbitrage: violations at %s of %s, and the worst\n",
           CLI_COUNT(f->points, "point"), CLI_COUNT(f->sets, "surface"));
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
    char text[32];
    for (int64_t row = 0; row < t->rows && row < SHOWN; row++) {
        printf("%12s", cli_rounded(text, r->price[row], r->typical));
        if (r->by_strike) printf("  %12.5g", r->by_strike[row]);
        if (r->by_maturity) printf("  %12.5g", r->by_maturity[row]);
        if (r->has_reference)
            printf("  %12s  %9.2g",
                   cli_rounded(text, r->reference.price[row], r->reference.error[row]),
                   r->reference.error[row]);
        printf("  %s\n", r->outside[row] ? "yes" : "no");
    }
    if (t->rows > SHOWN) printf("and %s more: -o writes all\n", CLI_COUNT(t->rows - SHOWN, "row"));
    printf(
        "typical error %.2g (root mean square over the validation set); larger near the ends of the "
        "ranges\n",
        r->typical);
    printf("%s, %.3g prices per second\n", CLI_COUNT(t->rows, "row"), (double)t->rows / r->seconds);
    if (r->has_reference) print_check(r);
}

static int print(cli *c, const request *q, const surrogate_table *t, const surrogate_results *r) {
    if (c->json) return print_json(c, q, t, r);
    print_table(t, r);
    return CLI_OK;
}

/* ---- the run ------------------------------------------------------------------------------------ */

static void results_free(surrogate_results *r) {
    free(r->price);
    free(r->by_strike);
    free(r->by_maturity);
    free(r->mc);
    free(r->mc_error);
    free(r->outside);
}

/* Numbers that have no logarithm or root where the network takes one. */
static int check_maps(const shoal_surrogate_info *n, const surrogate_table *t) {
    for (int i = 0; i < t->inputs; i++) {
        const bool log = strcmp(n->map[i], "log x") == 0, root = strcmp(n->map[i], "sqrt x") == 0;
        for (int64_t row = 0; (log || root) && row < t->rows; row++) {
            const double x = t->x[row * t->inputs + i];
            if (log && !(x > 0))
                return surrogate_wrong(t, row, t->names[i], x,
                                       "is not above 0, and the network takes its logarithm");
            if (root && !(x >= 0))
                return surrogate_wrong(t, row, t->names[i], x,
                                       "is less than 0, and the network takes its root");
        }
    }
    return CLI_OK;
}

/* Which rows are outside, and a note of them and their columns. */
static int flag(cli *c, const shoal_surrogate *net, const surrogate_table *t,
                surrogate_results *r) {
    char names[SHOAL_SURROGATE_INPUTS * (SHOAL_SURROGATE_NAME + 2)] = "";
    const int code = cli_status(c, shoal_surrogate_outside(net, t->rows, t->x, r->outside));
    uint32_t any = 0;
    for (int64_t row = 0; row < t->rows; row++)
        any |= r->outside[row], r->outsiders += r->outside[row] != 0;
    for (int i = 0; i < t->inputs; i++)
        if (any >> i & 1) strcat(strcat(names, *names ? ", " : ""), t->names[i]);
    if (any)
        cli_note(
            c,
            "%s outside of the ranges of the training set (%s): the network is not reliable there",
            CLI_COUNT(r->outsiders, "row"), names);
    return code;
}

/* How many deviations of the training set an input is away from its mean. */
static double distance(const shoal_surrogate_info *n, const double *x, int i) {
    const bool log_of = strcmp(n->map[i], "log x") == 0, root = strcmp(n->map[i], "sqrt x") == 0;
    const double taken = log_of ? log(x[i]) : root ? sqrt(x[i]) : x[i];
    return fabs((taken - n->shift[i]) / n->scale[i]);
}

/* A row so far outside that the network's numbers overflow is an error of its farthest column. */
static int check_finite(const shoal_surrogate_info *n, const surrogate_table *t,
                        const surrogate_results *r) {
    for (int64_t row = 0; row < t->rows; row++) {
        if (isfinite(r->price[row]) && (!r->by_strike || isfinite(r->by_strike[row])) &&
            (!r->by_maturity || isfinite(r->by_maturity[row])))
            continue;
        const double *x = t->x + row * t->inputs;
        int far = 0;
        for (int i = 1; i < t->inputs; i++)
            if (distance(n, x, i) > distance(n, x, far)) far = i;
        char reason[128];
        snprintf(reason, sizeof reason,
                 "makes the network overflow; its range is %.6g to %.6g in the training set",
                 n->least[far], n->most[far]);
        return surrogate_wrong(t, row, t->names[far], x[far], reason);
    }
    return CLI_OK;
}

static int predict(cli *c, const arguments *a, const shoal_surrogate *net,
                   const shoal_surrogate_info *n, const surrogate_table *t, surrogate_results *r) {
    const size_t bytes = (size_t)(t->rows + 1) * sizeof(double);
    const bool strike = surrogate_input(t, "strike") >= 0 && !a->bare;
    const bool maturity = surrogate_input(t, "maturity") >= 0 && !a->bare;
    r->typical = n->validation;
    r->price = malloc(bytes), r->outside = calloc((size_t)t->rows + 1, sizeof *r->outside);
    if (strike) r->by_strike = malloc(bytes);
    if (maturity) r->by_maturity = malloc(bytes);
    if (!r->price || !r->outside || (strike && !r->by_strike) || (maturity && !r->by_maturity))
        return cli_no_memory();
    int code = check_maps(n, t);
    if (code != CLI_OK) return code;
    const double start = cli_now();
    code = cli_status(c, shoal_surrogate_predict(net, t->rows, t->x, a->type, r->price,
                                                 r->by_strike, r->by_maturity));
    r->seconds = cli_now() - start;
    if (code != CLI_OK) return code;
    code = flag(c, net, t, r);
    return code == CLI_OK ? check_finite(n, t, r) : code;
}

static int compare(cli *c, const request *q, const shoal_surrogate *net, const surrogate_table *t,
                   surrogate_results *r) {
    int code = CLI_OK;
    if (q->simulated) {
        const size_t bytes = (size_t)(t->rows + 1) * sizeof(double);
        r->mc = malloc(bytes), r->mc_error = malloc(bytes);
        if (!r->mc || !r->mc_error) return cli_no_memory();
        code = surrogate_simulate(c, t, q->paths, q->target, r->mc, r->mc_error, &r->reference);
    } else {
        r->reference = (surrogate_reference){ .price = t->price, .error = t->error };
    }
    r->has_reference = true;
    if (code == CLI_OK) code = surrogate_compare(t, r->price, &r->reference, &r->errors);
    if (code == CLI_OK) code = surrogate_static(c, net, t, &r->arbitrage);
    return code;
}

static int run(cli *c, const arguments *a, const shoal_surrogate *net,
               const shoal_surrogate_info *n, const surrogate_table *t) {
    const shoal_dataset_opts usual = shoal_dataset_defaults();
    const request q = { .model = a->model,
                        .seed = c->seed,
                        .params = a->params,
                        .output = a->output,
                        .export = a->export,
                        .type = a->type,
                        .simulated = a->check && (a->paths || a->target > 0 || !t->price),
                        .target = a->target > 0 ? a->target : usual.target,
                        .paths = a->paths ? a->paths : usual.most_paths };
    surrogate_results r = { 0 };
    if (!q.simulated) cli_note_no_seed(c);
    int code = predict(c, a, net, n, t, &r);
    if (code == CLI_OK && a->check) code = compare(c, &q, net, t, &r);
    if (code == CLI_OK && a->output) code = write_csv(a->output, t, &r);
    if (code == CLI_OK && a->export) code = surrogate_export(c, a->export, net);
    if (code == CLI_OK) code = print(c, &q, t, &r);
    results_free(&r);
    return code;
}

static int check_names(const char *model, const shoal_surrogate_info *n) {
    char where[4096];
    int code = CLI_OK;
    snprintf(where, sizeof where, "%s: input", model);
    for (int i = 0; i < n->inputs && code == CLI_OK; i++)
        code = surrogate_name_is_free(where, n->names[i]);
    return code;
}

/* Weights were asked for, and no prices. */
static int export_alone(cli *c, const arguments *a, const shoal_surrogate *net) {
    cli_note_no_seed(c);
    const int code = surrogate_export(c, a->export, net);
    if (code != CLI_OK || !c->json) return code;
    io_json *j = cli_json_begin(c, "predict");
    io_json_string(j, "model", a->model);
    io_json_string(j, "export", a->export);
    return cli_json_end(c, CLI_OK);
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .type = SHOAL_F32 };
    surrogate_table t = { 0 };
    shoal_surrogate *net = NULL;
    shoal_surrogate_info n;
    int code = cli_parse(c, &predict_command, argc, argv, &a);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = surrogate_load(c, a.model, &net);
    if (code == CLI_OK) code = cli_status(c, shoal_surrogate_describe(net, &n));
    bool price = a.params != NULL;
    for (int i = 0; i < PARAMETERS; i++) price = price || a.given[i];
    if (code == CLI_OK && price) code = check_names(a.model, &n);
    if (code == CLI_OK && price) {
        code = a.params ? surrogate_read(c, a.params, n.names, n.inputs, false, &t)
                        : one_row(&a, &n, &t);
        if (code == CLI_OK) code = run(c, &a, net, &n, &t);
    } else if (code == CLI_OK) {
        code = export_alone(c, &a, net);
    }
    surrogate_table_free(&t);
    shoal_surrogate_free(net);
    return code;
}

const cli_command predict_command = { "predict",
                                      "price options, with derivatives, by a network",
                                      .args = "MODEL [PARAMS.csv]",
                                      .doc = doc,
                                      .run = command,
                                      .tables = { { options, 0 } },
                                      .check = check };
