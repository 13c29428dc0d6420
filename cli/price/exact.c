/* SPDX-License-Identifier: Apache-2.0
 *
 * exact.c - `shoal price american --method exact` and pde: puts and calls on one asset, without paths.
 */
#include "io/csv.h"
#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const char price_simulated[] =
    "basis raw-basis solver fit-paths upper inner outer weights correlation paths steps target-se control no-control plot "
    "shard checkpoint units scale scale-plot";
const char price_dated[] = "dates exercise cash rates dividends sigmas";
const char price_curves[] = "exercise cash rates dividends sigmas";
/* clang-format on */

/* In the order of shoal_vanilla_status. */
static const struct {
    const char *name, *reason;
} states[] = {
    { "ok", "" },
    { "invalid", "a number is too large: (|rate| + |dividend| + sigma^2) maturity is up to 60; by "
                 "pde also: sigma sqrt(maturity) is below 1e-4 or below 1/30 of (|rate| + "
                 "|dividend|) maturity, or dividends are worth more than the asset or the strike" },
    { "two boundaries", "there are two exercise boundaries: a put has dividend < rate < 0, or a "
                        "call rate < dividend < 0; by pde, dividend yields below 0 meet curves or "
                        "cash dividends" },
    { "unsettled", "Newton's method did not converge" },
    { "too low", "no volatility gives so low a price, or more than one does" },
    { "too high", "no volatility gives so high a price" },
};

/* clang-format off */
enum { /* arrays of one number per option, for the library; the first are columns of a file */
    S0, STRIKE, RATE, SIGMA, MATURITY, DIVIDEND, CALL, QUOTE, INPUTS,
    PRICE = INPUTS, COARSE, ERROR = COARSE, VOL, BOUNDARY, DELTA, GAMMA, VEGA, THETA, RHO, ARRAYS
};
static const struct {
    const char *name;
    double min; /* of a number in a file */
    bool above; /* ... and not equal     */
} inputs[INPUTS] = {
    [S0] = { "s0", 0, true }, [STRIKE] = { "strike", 0, true }, [RATE] = { "rate", -INFINITY, true },
    [SIGMA] = { "sigma", 0, false }, [MATURITY] = { "maturity", 0, false }, [DIVIDEND] = { "dividend", -INFINITY, true },
    [CALL] = { "call", 0, false }, [QUOTE] = { "price", 0, false },
};

typedef struct result {
    double input[INPUTS];
    double price, error, implied_vol, boundary;
    double delta, gamma, vega, theta, rho;
    const char *status;
    int32_t state; /* shoal_vanilla_status */
} result;

#define VALUE(member) CLI_RESULT(#member, result, member)
enum { GREEKS = 5, VALUES = 10 }; /* places in the table, and its end */
static const cli_option outputs[VALUES + 1] = {
    VALUE(price), VALUE(error), VALUE(implied_vol), VALUE(boundary), VALUE(status),
    VALUE(delta), VALUE(gamma), VALUE(vega), VALUE(theta), VALUE(rho),
    { 0 }
};
/* clang-format on */

/* ---- what is refused ---------------------------------------------------------------------------- */

int price_exact_check(const cli *c, const void *arguments, const price_options *o,
                      const price_exact_opts *e) {
    char name[CLI_NAME];
    const cli_command *of = &price_american_command;
    const char *given = cli_given_among(of, arguments, e->pde ? "nothing" : price_dated, name);
    if (given)
        return cli_fail(CLI_USAGE, "%s does not apply to --method exact: use --method pde", given);
    given = cli_given_among(of, arguments, price_simulated, name);
    if (given && !(e->pde && strcmp(given, "--steps") == 0))
        return cli_fail(CLI_USAGE, "%s does not apply to --method %s: nothing is simulated", given,
                        o->opts.method);
    if (e->pde && e->european)
        return cli_fail(CLI_USAGE, "--european does not apply to --method pde: use --dates 1");
    if (!e->pde && e->nodes > 32)
        return cli_fail(CLI_USAGE, "--nodes is %lld; with --method exact it must be 6 to 32",
                        (long long)e->nodes);
    if (o->opts.type == SHOAL_F32)
        cli_note(c, "--type f32 has no effect: %s computes in f64", o->opts.method);
    cli_note_no_seed(c);
    return CLI_OK;
}

static int check_list(const char *name, const double *values, int64_t count, bool zero) {
    for (int64_t i = 0; i < count; i++)
        if (!(values[i] > 0 || (zero && values[i] == 0)))
            return cli_fail(CLI_USAGE, "--%s is %g; it must be %s", name, values[i],
                            zero ? "0 or above" : "above 0");
    return CLI_OK;
}

static int check_numbers(const price_options *o, double sigma) {
    int code = check_list("s0", &o->s0, 1, false);
    if (code == CLI_OK) code = check_list("strike", o->strike.values, o->strike.count, false);
    if (code == CLI_OK) code = check_list("sigma", &sigma, 1, true);
    if (code == CLI_OK) code = check_list("maturity", o->maturity.values, o->maturity.count, true);
    return code;
}

/* ---- the options -------------------------------------------------------------------------------- */

typedef struct book {
    int64_t count;
    double *at[ARRAYS]; /* at[0] from malloc */
    int32_t *call, *status;
    int shown[INPUTS], showing; /* the inputs that the results repeat: columns of the file */
    bool quoted;                /* prices are given: sigma is what they imply              */
} book;

static int book_create(book *b, int64_t count) {
    double *block = malloc((size_t)(ARRAYS * count + 1) * sizeof *block);
    *b = (book){ .count = count };
    b->call = malloc((size_t)(count + 1) * sizeof *b->call);
    b->status = calloc((size_t)(count + 1), sizeof *b->status);
    for (int i = 0; i < ARRAYS; i++) b->at[i] = block ? block + i * count : NULL;
    return block && b->call && b->status ? CLI_OK : cli_no_memory();
}

static void book_free(book *b) {
    free(b->at[0]);
    free(b->call);
    free(b->status);
}

static void set_defaults(book *b, const price_options *o, double sigma) {
    for (int64_t i = 0; i < b->count; i++) {
        b->at[S0][i] = o->s0, b->at[RATE][i] = o->rate, b->at[DIVIDEND][i] = o->dividend;
        b->at[SIGMA][i] = sigma, b->at[CALL][i] = !o->opts.put, b->at[QUOTE][i] = 0;
        b->at[STRIKE][i] = o->strike.values[i % o->strike.count];
        b->at[MATURITY][i] = o->maturity.values[i / o->strike.count % o->maturity.count];
    }
    b->shown[0] = MATURITY, b->shown[1] = STRIKE, b->showing = 2;
}

static const char *input_name(const void *of, int k) {
    (void)of;
    return k < INPUTS ? inputs[k].name : NULL;
}

/* One option per line: columns of `inputs`, the options of the command where there are none. */
static int read_book(book *b, const char *path, const price_options *o, double sigma, bool pde) {
    io_table table;
    io_error err;
    int code = cli_io(io_csv_read(path, &table, &err), &err);
    if (code == CLI_OK) code = book_create(b, table.rows);
    if (code == CLI_OK) set_defaults(b, o, sigma);
    for (int c = 0; c < table.cols && code == CLI_OK; c++) {
        int k = 0;
        while (k < INPUTS && strcmp(inputs[k].name, table.names[c]) != 0) k++;
        if (k == INPUTS) {
            code = cli_unknown_in(path, io_csv_line(path, -1), "column", table.names[c],
                                  "there are", input_name, NULL);
            break;
        }
        b->shown[c] = k == QUOTE ? SIGMA : k, b->showing = c + 1; /* names of columns differ */
        if (k == QUOTE) b->quoted = true;
        if (k == QUOTE && pde)
            code = cli_fail(CLI_INPUT, "%s: the column price needs --method exact", path);
        for (int64_t i = 0; i < table.rows && code == CLI_OK; i++) {
            const double x = b->at[k][i] = table.data[i * table.cols + c];
            if (!(inputs[k].above ? x > inputs[k].min : x >= inputs[k].min) ||
                (k == CALL && x != 0 && x != 1))
                code = cli_fail(CLI_INPUT, "%s:%lld: %s is %g; it must be %s", path,
                                (long long)io_csv_line(path, i), inputs[k].name, x,
                                k == CALL         ? "0 or 1"
                                : inputs[k].above ? "above 0"
                                                  : "0 or above");
        }
    }
    if (code == CLI_OK && b->quoted && io_table_column(&table, "sigma") >= 0)
        code = cli_fail(CLI_INPUT, "%s: the columns sigma and price exclude each other", path);
    io_table_free(&table);
    return code;
}

/* ---- values ------------------------------------------------------------------------------------- */

/* Of a boundary of fewer points, for the error. */
static int64_t fewer(int64_t nodes) { return nodes * 3 / 4; }

/* The volatilities of quoted prices, and the values by them; statuses are of the first that fails. */
static shoal_status imply(cli *c, book *b, const shoal_vanilla *all, const shoal_vanilla_opts *fine,
                          const shoal_vanilla_values *values) {
    int32_t *valued = calloc((size_t)b->count + 1, sizeof *valued);
    if (!valued) return SHOAL_E_NOMEM;
    shoal_status s =
        shoal_vanilla_implied(c->ctx, all, b->count, fine, b->at[QUOTE], b->at[SIGMA], b->status);
    if (s == SHOAL_OK) s = shoal_vanilla_value(c->ctx, all, b->count, fine, values, valued);
    for (int64_t i = 0; i < b->count; i++)
        if (!b->status[i]) b->status[i] = valued[i];
    free(valued);
    return s;
}

/* By finite differences; no volatility is implied where the forward price is not that of the numbers. */
static shoal_status differ(cli *c, book *b, const shoal_vanilla *all, const price_exact_opts *e,
                           const shoal_vanilla_values *values) {
    const shoal_vanilla_opts black = { .european = 1 };
    const shoal_vanilla_pde_opts *grid = &e->grid;
    shoal_status s =
        shoal_vanilla_pde(c->ctx, all, b->count, grid, values, b->at[ERROR], b->status);
    if (grid->rates.count || grid->dividends.count || grid->cash.count)
        for (int64_t i = 0; i < b->count; i++) b->at[VOL][i] = (double)NAN;
    else if (s == SHOAL_OK)
        s = shoal_vanilla_implied(c->ctx, all, b->count, &black, b->at[PRICE], b->at[VOL], NULL);
    return s;
}

/* By integral equations: the error is the change from fewer nodes. */
static shoal_status integrate(cli *c, book *b, const shoal_vanilla *all, const price_exact_opts *e,
                              const shoal_vanilla_values *values) {
    double **at = b->at;
    const shoal_vanilla_opts fine = { .nodes = e->nodes, .european = e->european };
    const shoal_vanilla_opts coarse = { .nodes = fewer(e->nodes), .european = e->european };
    const shoal_vanilla_opts black = { .european = 1 };
    const shoal_vanilla_values price = { .price = at[COARSE] };
    shoal_status s = b->quoted
                         ? imply(c, b, all, &fine, values)
                         : shoal_vanilla_value(c->ctx, all, b->count, &fine, values, b->status);
    if (s == SHOAL_OK) s = shoal_vanilla_value(c->ctx, all, b->count, &coarse, &price, NULL);
    if (s == SHOAL_OK)
        s = shoal_vanilla_implied(c->ctx, all, b->count, &black, at[PRICE], at[VOL], NULL);
    for (int64_t i = 0; i < b->count && s == SHOAL_OK; i++)
        at[ERROR][i] = fabs(at[PRICE][i] - at[COARSE][i]);
    return s;
}

static int compute(cli *c, book *b, const price_options *o, const price_exact_opts *e, result *to) {
    double **at = b->at;
    for (int64_t i = 0; i < b->count; i++) b->call[i] = at[CALL][i] != 0;
    const shoal_vanilla all = { at[S0],       at[STRIKE],   at[RATE], at[SIGMA],
                                at[MATURITY], at[DIVIDEND], b->call };
    shoal_vanilla_values values = { at[PRICE], at[DELTA], at[GAMMA],   at[VEGA],
                                    at[THETA], at[RHO],   at[BOUNDARY] };
    if (e->pde && !o->opts.greeks) values.vega = values.rho = NULL; /* they cost four more prices */
    const shoal_status s =
        e->pde ? differ(c, b, &all, e, &values) : integrate(c, b, &all, e, &values);
    for (int64_t i = 0; i < b->count && s == SHOAL_OK; i++) {
        to[i] = (result){ .price = at[PRICE][i],
                          .error = at[ERROR][i],
                          .implied_vol = at[VOL][i],
                          .boundary = at[BOUNDARY][i],
                          .delta = at[DELTA][i],
                          .gamma = at[GAMMA][i],
                          .vega = at[VEGA][i],
                          .theta = at[THETA][i],
                          .rho = at[RHO][i],
                          .status = states[b->status[i]].name,
                          .state = b->status[i] };
        for (int k = 0; k < INPUTS; k++) to[i].input[k] = at[k][i];
    }
    return cli_status(c, s);
}

/* ---- results ------------------------------------------------------------------------------------ */

/* The columns: inputs that are shown, then values. */
static void name_columns(const book *b, bool greeks, cli_option columns[INPUTS + VALUES + 1]) {
    for (int i = 0; i < b->showing; i++)
        *columns++ =
            (cli_option){ .name = inputs[b->shown[i]].name,
                          .kind = OPT_REAL,
                          .at = offsetof(result, input) + sizeof(double) * (size_t)b->shown[i],
                          .size = sizeof(double) };
    for (int i = 0; i <= VALUES; i++) columns[i] = outputs[i < GREEKS || greeks ? i : VALUES];
}

/* A price is rounded to its error, of which two digits count; six of the rest. */
static const char *number(char text[32], const cli_option *column, const result *r) {
    const double value = cli_result_number(column, 0, r);
    if (isnan(value)) return "-";
    if (strcmp(column->name, "price") == 0) return cli_rounded(text, value, r->error);
    snprintf(text, 32, strcmp(column->name, "error") == 0 ? "%.2g" : "%.6g", value);
    return text;
}

static const char *or_curve(char text[32], double value, const shoal_curve *curve) {
    if (curve->count) return "by a curve";
    snprintf(text, 32, "%g", value);
    return text;
}

static void print_table(const cli *c, const price_options *o, const price_exact_opts *e,
                        const cli_option *columns, const result *results, const book *b) {
    const bool table = b->count > 1 || e->file;
    int64_t late = 0;
    char text[32], rate[32], dividend[32], sigma[32];
    if (e->file)
        printf("options       %s of %s%s\n", CLI_COUNT(b->count, "option"), e->file,
               e->european ? ", European" : "");
    else
        printf("option        %s at %g, rate %s, dividend %s, volatility %s, exercise at %s\n",
               o->opts.put ? "put" : "call", o->s0, or_curve(rate, o->rate, &e->grid.rates),
               or_curve(dividend, o->dividend, &e->grid.dividends),
               or_curve(sigma, e->sigma, &e->grid.sigmas),
               e->european          ? "maturity"
               : e->grid.dates == 1 ? "maturity"
               : e->grid.dates      ? CLI_COUNT(e->grid.dates, "date")
               : e->grid.exercises  ? "maturity and given times"
                                    : "any time");
    printf("method        %s, on %s, %s\n", o->opts.method, c->machine.backend, c->machine.device);
    printf(
        e->pde
            ? "nodes         %lld; the error is estimated from %lld grids, there is no sampling error\n"
            : "nodes         %lld; the error is the change from %lld nodes, there is no sampling "
              "error\n",
        (long long)e->nodes, e->pde ? 3LL : (long long)fewer(e->nodes));
    for (int64_t i = table ? -1 : 0; i < b->count && !cli_enough_rows(&late); i++) { /* -1: names */
        if (table) putchar('\n');
        for (const cli_option *k = table ? columns : columns + b->showing; k->name; k++) {
            if (k->kind == OPT_TEXT) continue;
            const char *value = i < 0 ? k->name : number(text, k, &results[i]);
            if (table)
                printf(strcmp(k->name, "price") == 0 ? " %14s" : " %11s", value);
            else
                printf("%-13s %s\n", k->name, value);
        }
    }
    if (table) putchar('\n');
}

static int print_json(cli *c, const void *arguments, const price_options *o,
                      const price_exact_opts *e, const cli_option *columns, const result *results,
                      const book *b, int code) {
    io_json *j = cli_json_begin(c, "price american");
    cli_row row;
    for (int i = 0; (row = cli_row_at(&price_american_command, c, arguments, i)).option; i++)
        if ((row.option->in & IN_JSON || (row.option->in & IN_JSON_SET && cli_option_set(&row))) &&
            !cli_among(price_simulated, row.option->name) &&
            !(strcmp(row.option->name, "dates") == 0 && !e->grid.dates))
            cli_option_json(j, &row);
    io_json_string(j, "method", o->opts.method);
    io_json_int(j, "nodes", e->nodes);
    if (b->count == 1 && !e->file)
        cli_json_results(j, columns + b->showing, results);
    else
        cli_json_result_list(j, "surface", columns, results, sizeof *results, b->count);
    if (o->output || e->file) cli_json_files(j, c, &price_american_command, arguments);
    return cli_json_end(c, code);
}

/* Why an option has no price. */
static const char *reason_of(char text[CLI_NUMBER], const result *r) {
    for (int k = S0; k <= STRIKE && r->state == SHOAL_VANILLA_INVALID; k++) {
        const double x = r->input[k];
        if (x >= 1 / SHOAL_VANILLA_LARGE && x <= SHOAL_VANILLA_LARGE) continue;
        snprintf(text, CLI_NUMBER, "%s is %g; it must be %g to %g", inputs[k].name, x,
                 1 / SHOAL_VANILLA_LARGE, SHOAL_VANILLA_LARGE);
        return text;
    }
    return states[r->state].reason;
}

/* Times of exercise that no option reaches. */
static void note_exercise(const cli *c, const book *b, const shoal_vanilla_pde_opts *grid) {
    double last = 0;
    for (int64_t i = 0; i < b->count; i++) last = fmax(last, b->at[MATURITY][i]);
    for (int64_t i = 0; i < grid->exercises; i++)
        if (grid->exercise[i] > last) {
            cli_note(c, "--exercise: %g is after the last maturity, %g, and has no effect",
                     grid->exercise[i], last);
            return;
        }
}

int price_exact(cli *c, const void *arguments, const price_options *o, const price_exact_opts *e) {
    int64_t failed = 0, first = 0;
    char text[CLI_NUMBER];
    cli_option columns[INPUTS + VALUES + 1];
    book b = { 0 };
    result *results = NULL;
    int code = check_numbers(o, e->sigma);
    if (code == CLI_OK && e->file)
        code = read_book(&b, e->file, o, e->sigma, e->pde);
    else if (code == CLI_OK) {
        code = book_create(&b, o->strike.count * o->maturity.count);
        if (code == CLI_OK) set_defaults(&b, o, e->sigma);
    }
    if (code == CLI_OK && !(results = calloc((size_t)b.count + 1, sizeof *results)))
        code = cli_no_memory();
    if (code == CLI_OK) note_exercise(c, &b, &e->grid);
    if (code == CLI_OK) code = compute(c, &b, o, e, results);
    name_columns(&b, o->opts.greeks, columns);
    if (code == CLI_OK && o->output)
        code = cli_csv_result_list(o->output, columns, results, sizeof *results, b.count);
    if (code == CLI_OK) {
        for (int64_t i = b.count - 1; i >= 0; i--)
            if (results[i].state) failed++, first = i;
        if (failed > 0)
            code = cli_fail(CLI_FAILED, "%lld of %s without a price: %s", (long long)failed,
                            CLI_COUNT(b.count, "option"), reason_of(text, &results[first]));
        if (c->json)
            code = print_json(c, arguments, o, e, columns, results, &b, code);
        else
            print_table(c, o, e, columns, results, &b);
        if (cli_interrupted()) code = CLI_INTERRUPTED;
    }
    free(results);
    book_free(&b);
    return code;
}
