/* SPDX-License-Identifier: Apache-2.0
 *
 * exact.c - `shoal price american --method exact`: puts and calls on one asset, without paths.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>

/* Options of simulations and of several assets: refused, and not in the JSON object. */
static const char foreign[] =
    "dates basis raw-basis solver fit-paths upper inner outer weights correlation paths steps "
    "target-se control no-control plot shard";

/* In the order of shoal_vanilla_status. */
static const struct {
    const char *name, *reason;
} states[] = {
    { "ok", "" },
    { "invalid", "a number is too large: (|rate| + |dividend| + sigma^2) maturity is up to 60" },
    { "two boundaries", "there are two exercise boundaries: a put has dividend < rate < 0, or a "
                        "call rate < dividend < 0" },
    { "unsettled", "Newton's method did not converge" },
};

typedef struct result {
    double maturity, strike, price, error, implied_vol, boundary;
    double delta, gamma, vega, theta, rho;
    const char *status;
    int32_t state; /* shoal_vanilla_status */
} result;

/* clang-format off */
#define VALUE(member) CLI_RESULT(#member, result, member)
enum { VALUES = 2, GREEKS = 7, COLUMNS = 12 }; /* places in the table, and its end */
static const cli_option columns[COLUMNS + 1] = {
    VALUE(maturity), VALUE(strike), VALUE(price), VALUE(error), VALUE(implied_vol), VALUE(boundary), VALUE(status),
    VALUE(delta), VALUE(gamma), VALUE(vega), VALUE(theta), VALUE(rho),
    { 0 }
};
/* clang-format on */

/* ---- what is refused ---------------------------------------------------------------------------- */

int price_exact_check(const cli *c, const void *arguments, const price_options *o) {
    char name[CLI_NAME];
    const char *given = cli_given_among(&price_american_command, arguments, foreign, name);
    if (given)
        return cli_fail(
            CLI_USAGE,
            "%s does not apply to --method exact: exercise is continuous, and nothing is simulated",
            given);
    if (o->opts.type == SHOAL_F32) cli_note(c, "--type f32 has no effect: exact computes in f64");
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

/* ---- values ------------------------------------------------------------------------------------- */

/* Of a boundary of fewer points, for the error. */
static int64_t fewer(int64_t nodes) { return nodes * 3 / 4; }

/* clang-format off */
enum { /* arrays of one number per option, for the library */
    S0, STRIKE, RATE, SIGMA, MATURITY, DIVIDEND,
    PRICE, COARSE, VOL, BOUNDARY, DELTA, GAMMA, VEGA, THETA, RHO, ARRAYS
};
/* clang-format on */

static int compute(cli *c, const price_options *o, double sigma, int64_t nodes, result *to) {
    const int64_t count = o->strike.count * o->maturity.count;
    double *block = malloc((size_t)(ARRAYS * count) * sizeof *block), *at[ARRAYS];
    int32_t *call = malloc((size_t)count * sizeof *call);
    int32_t *status = malloc((size_t)count * sizeof *status);
    int code = block && call && status ? CLI_OK : cli_no_memory();
    for (int i = 0; i < ARRAYS && code == CLI_OK; i++) at[i] = block + i * count;
    for (int64_t i = 0; i < count && code == CLI_OK; i++) {
        at[S0][i] = o->s0, at[RATE][i] = o->rate, at[DIVIDEND][i] = o->dividend;
        at[SIGMA][i] = sigma, call[i] = !o->opts.put;
        at[STRIKE][i] = o->strike.values[i % o->strike.count];
        at[MATURITY][i] = o->maturity.values[i / o->strike.count];
    }
    if (code == CLI_OK) {
        const shoal_vanilla all = { at[S0],       at[STRIKE],   at[RATE], at[SIGMA],
                                    at[MATURITY], at[DIVIDEND], call };
        const shoal_vanilla_opts fine = { .nodes = nodes }, coarse = { .nodes = fewer(nodes) };
        const shoal_vanilla_opts black = { .european = 1 };
        const shoal_vanilla_values values = { at[PRICE], at[DELTA], at[GAMMA],   at[VEGA],
                                              at[THETA], at[RHO],   at[BOUNDARY] };
        const shoal_vanilla_values price = { .price = at[COARSE] };
        shoal_status s = shoal_vanilla_value(c->ctx, &all, count, &fine, &values, status);
        if (s == SHOAL_OK) s = shoal_vanilla_value(c->ctx, &all, count, &coarse, &price, NULL);
        if (s == SHOAL_OK)
            s = shoal_vanilla_implied(c->ctx, &all, count, &black, at[PRICE], at[VOL], NULL);
        code = cli_status(c, s);
    }
    for (int64_t i = 0; i < count && code == CLI_OK; i++)
        to[i] = (result){ .maturity = at[MATURITY][i],
                          .strike = at[STRIKE][i],
                          .price = at[PRICE][i],
                          .error = fabs(at[PRICE][i] - at[COARSE][i]),
                          .implied_vol = at[VOL][i],
                          .boundary = at[BOUNDARY][i],
                          .delta = at[DELTA][i],
                          .gamma = at[GAMMA][i],
                          .vega = at[VEGA][i],
                          .theta = at[THETA][i],
                          .rho = at[RHO][i],
                          .status = states[status[i]].name,
                          .state = status[i] };
    free(block);
    free(call);
    free(status);
    return code;
}

/* ---- results ------------------------------------------------------------------------------------ */

/* A price is rounded to its error, of which two digits count; six of the rest. */
static const char *number(char text[32], int column, const result *r) {
    const double value = cli_result_number(columns, column, r);
    if (isnan(value)) return "-";
    if (column == VALUES) return cli_rounded(text, value, r->error);
    snprintf(text, 32, column == VALUES + 1 ? "%.2g" : "%.6g", value);
    return text;
}

static void print_table(const price_options *o, double sigma, int64_t nodes, const result *results,
                        int64_t count) {
    const int last = o->opts.greeks ? COLUMNS : GREEKS;
    char text[32];
    printf("option        %s at %g, rate %g, dividend %g, volatility %g, exercise at any time\n",
           o->opts.put ? "put" : "call", o->s0, o->rate, o->dividend, sigma);
    puts("method        exact, on the CPU");
    printf(
        "nodes         %lld; the error is the change from %lld nodes, there is no sampling error\n",
        (long long)nodes, (long long)fewer(nodes));
    for (int64_t i = count > 1 ? -1 : 0; i < count; i++) { /* -1: the names */
        if (count > 1) putchar('\n');
        for (int k = count > 1 ? 0 : VALUES; k < last; k++) {
            if (columns[k].kind == OPT_TEXT) continue;
            const char *value = i < 0 ? columns[k].name : number(text, k, &results[i]);
            if (count > 1)
                printf(k == VALUES ? " %14s" : " %11s", value);
            else
                printf("%-13s %s\n", columns[k].name, value);
        }
    }
    if (count > 1) putchar('\n');
}

static int print_json(cli *c, const void *arguments, const price_options *o, int64_t nodes,
                      const cli_option *rows, const result *results, int64_t count, int code) {
    io_json *j = cli_json_begin(c, "price american");
    cli_row row;
    for (int i = 0; (row = cli_row_at(&price_american_command, c, arguments, i)).option; i++)
        if (row.option->in & IN_JSON && !cli_among(foreign, row.option->name))
            cli_option_json(j, &row);
    io_json_string(j, "method", o->opts.method);
    io_json_int(j, "nodes", nodes);
    if (count == 1)
        cli_json_results(j, rows + VALUES, results);
    else
        cli_json_result_list(j, "surface", rows, results, sizeof *results, count);
    if (o->output) cli_json_files(j, c, &price_american_command, arguments);
    return cli_json_end(c, code);
}

int price_exact(cli *c, const void *arguments, const price_options *o, double sigma,
                int64_t nodes) {
    const int64_t count = o->strike.count * o->maturity.count;
    int64_t failed = 0, first = 0;
    cli_option rows[COLUMNS + 1];
    result *results = calloc((size_t)count, sizeof *results);
    int code = check_numbers(o, sigma);
    if (code == CLI_OK && !results) code = cli_no_memory();
    if (code == CLI_OK) code = compute(c, o, sigma, nodes, results);
    for (int k = 0; k <= COLUMNS; k++)
        rows[k] = columns[k < GREEKS || o->opts.greeks ? k : COLUMNS];
    if (code == CLI_OK && o->output)
        code = cli_csv_result_list(o->output, rows, results, sizeof *results, count);
    if (code == CLI_OK) {
        for (int64_t i = count - 1; i >= 0; i--)
            if (results[i].state) failed++, first = i;
        if (failed > 0)
            code = cli_fail(CLI_FAILED, "%lld of %s without a price: %s", (long long)failed,
                            CLI_COUNT(count, "option"), states[results[first].state].reason);
        if (c->json)
            code = print_json(c, arguments, o, nodes, rows, results, count, code);
        else
            print_table(o, sigma, nodes, results, count);
    }
    free(results);
    return code;
}
