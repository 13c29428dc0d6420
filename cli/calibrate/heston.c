/* SPDX-License-Identifier: Apache-2.0
 *
 * heston.c - `shoal calibrate heston`: the parameters of Heston's model that fit a file of quotes.
 */
#include "cli/common/cli.h"
#include "io/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 5 };
static const char *const names[PARAMETERS] = { "v0", "kappa", "theta", "sigma", "rho" };

typedef struct arguments {
    const char *quotes, *output, *fix, *solver;
    double s0, rate, dividend, start[PARAMETERS];
    bool given[PARAMETERS], price_errors;
    int64_t starts, iterations;
    shoal_heston low, high; /* bounds: equal ones of --fix, others NaN */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
#define START(i) CLI_AT(arguments, start[i]), "X", .usual = "from the quotes", .given = offsetof(arguments, given[i]), .group = 2, .help
static const cli_option options[] = { /* the parameters first, in the order of names */
    { "v0",         OPT_REAL,     START(0) = "start: variance today" },
    { "kappa",      OPT_REAL,     START(1) = "start: speed of mean reversion" },
    { "theta",      OPT_REAL,     START(2) = "start: long-run variance" },
    { "sigma",      OPT_REAL,     START(3) = "start: volatility of the variance" },
    { "rho",        OPT_REAL,     START(4) = "start: correlation" },
    { "s0",         OPT_POSITIVE, AT(s0),       "X",     1, "price of the asset today", .in = IN_JSON },
    { "rate",       OPT_REAL,     AT(rate),     "X",     1, "interest rate, unless the quotes have a column rate", .in = IN_JSON },
    { "dividend",   OPT_REAL,     AT(dividend), "X",     1, "dividend yield, unless the quotes have a column dividend", .in = IN_JSON },
    { "errors",     OPT_CHOICE,   AT(price_errors), NULL, 1, "what is fitted: vol, errors of implied volatilities, or price, errors of prices", .words = "vol|price", .in = IN_JSON },
    { "fix",        OPT_TEXT,     AT(fix),      "P,..",  2, "parameters that keep their start, such as kappa,rho; each must be given", .usual = "none", .suggest = "v0|kappa|theta|sigma|rho", .in = IN_JSON_SET },
    { "starts",     OPT_INT,      AT(starts),   "N",     2, "searches from N starts, the first as given or from the quotes", 1, 4096, .in = IN_JSON },
    { "iterations", OPT_INT,      AT(iterations), "N",   2, "steps of a search, at most", 1, INT32_MAX, .in = IN_JSON },
    { "solver",     OPT_TEXT,     AT(solver),   "M",     2, "solver of the normal equations: a method of `shoal solve small`", .usual = "auto", .methods = "smallsym", .in = IN_JSON },
    { "output",     OPT_OUTPUT,   AT(output),   "F.csv", 3, "write quotes and fitted prices and volatilities, one quote per line", .letter = 'o', .ends = "|csv" },
    { NULL,         OPT_INPUT,    AT(quotes),   "QUOTES.csv", 0, "the quotes", .needed = "the quotes" },
    { 0 }
};

static const char doc[] =
    "Fits v0, kappa, theta, sigma and rho of Heston's model to quotes of European options, by the Levenberg-Marquardt method "
    "with bounds. QUOTES.csv has a line per quote: columns strike, maturity, and price or implied_vol; optional are call (1 or 0 "
    "[1]), weight [1], rate and dividend (to that maturity). Prices and their derivatives are those of the formula of "
    "`shoal price heston --method analytic'.\vNotes tell when a parameter is at a bound, when the variance can reach 0 (Feller's "
    "condition), and when parameters compensate each other. Standard errors assume independent errors of equal size. Exit code "
    "1: the search did not converge.\n\n"
    "Example:\n"
    "  shoal calibrate heston quotes.csv --s0 100 --rate 0.03\n"
    "  shoal calibrate heston quotes.csv --s0 100 --starts 8 -o fit.csv --json\n"
    "  shoal calibrate heston quotes.csv --s0 100 --kappa 2 --fix kappa";
/* clang-format on */

/* ---- quotes ------------------------------------------------------------------------------------- */

/* clang-format off */
enum { /* arrays of one number per quote; the first are columns of the file */
    STRIKE, MATURITY, PRICE, VOL, WEIGHT, CALL, RATE, DIVIDEND, INPUTS,
    FITTED = INPUTS, FITTED_VOL, ARRAYS
};
static const struct {
    const char *name;
    double min; /* of a number */
    bool above; /* ... and not equal */
} inputs[INPUTS] = {
    [STRIKE] = { "strike", 0, true }, [MATURITY] = { "maturity", 0, true }, [PRICE] = { "price", 0, false },
    [VOL] = { "implied_vol", 0, true }, [WEIGHT] = { "weight", 0, false }, [CALL] = { "call", 0, false },
    [RATE] = { "rate", -INFINITY, true }, [DIVIDEND] = { "dividend", -INFINITY, true },
};

typedef struct result {
    double strike, maturity, weight, price, implied_vol, fitted_price, fitted_vol;
    int64_t call;
} result;
#define COLUMN(member) CLI_RESULT(#member, result, member)
static const cli_option columns[] = {
    COLUMN(strike), COLUMN(maturity), COLUMN(call), COLUMN(weight), COLUMN(price), COLUMN(implied_vol), COLUMN(fitted_price),
    COLUMN(fitted_vol),
    { 0 }
};
/* clang-format on */

typedef struct book {
    int64_t count;
    double *at[ARRAYS]; /* at[0] from malloc */
    int32_t *put;
} book;

static void book_free(book *b) {
    free(b->at[0]);
    free(b->put);
}

static int book_create(book *b, int64_t count, const arguments *a) {
    double *block = malloc((size_t)(ARRAYS * count + 1) * sizeof *block);
    *b = (book){ .count = count };
    b->put = malloc((size_t)(count + 1) * sizeof *b->put);
    for (int i = 0; i < ARRAYS; i++) b->at[i] = block ? block + i * count : NULL;
    if (!block || !b->put) return cli_no_memory();
    for (int64_t i = 0; i < count; i++) {
        b->at[WEIGHT][i] = b->at[CALL][i] = 1;
        b->at[RATE][i] = a->rate, b->at[DIVIDEND][i] = a->dividend;
    }
    return CLI_OK;
}

static const char *input_name(const void *of, int k) {
    (void)of;
    return k < INPUTS ? inputs[k].name : NULL;
}

static int check_number(const char *path, int64_t row, int k, double x) {
    const bool good = inputs[k].above ? x > inputs[k].min : x >= inputs[k].min;
    if (good && !(k == CALL && x != 0 && x != 1)) return CLI_OK;
    return cli_fail(CLI_INPUT, "%s:%lld: %s is %g; it must be %s", path,
                    (long long)io_csv_line(path, row), inputs[k].name, x,
                    k == CALL         ? "0 or 1"
                    : inputs[k].above ? "above 0"
                                      : "0 or above");
}

static int take_column(book *b, const char *path, const io_table *table, int c, bool *given) {
    int k = 0;
    while (k < INPUTS && strcmp(inputs[k].name, table->names[c]) != 0) k++;
    if (k == INPUTS)
        return cli_unknown_in(path, io_csv_line(path, -1), "column", table->names[c], "there are",
                              input_name, NULL);
    given[k] = true;
    for (int64_t i = 0; i < table->rows; i++) {
        const double x = b->at[k][i] = table->data[i * table->cols + c];
        const int code = check_number(path, i, k, x);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

static double discount_of(const book *b, int64_t i) {
    return exp(-b->at[RATE][i] * b->at[MATURITY][i]);
}

static double forward_of(const book *b, const arguments *a, int64_t i) {
    return a->s0 * exp((b->at[RATE][i] - b->at[DIVIDEND][i]) * b->at[MATURITY][i]);
}

/* Black's volatility of a price, NaN if it has none. */
static double vol_of(const book *b, const arguments *a, int64_t i, double price) {
    return shoal_black_deviation(forward_of(b, a, i), b->at[STRIKE][i], price / discount_of(b, i),
                                 b->put[i]) /
           sqrt(b->at[MATURITY][i]);
}

/* Prices from volatilities, or the other way round. */
static int complete(book *b, const arguments *a, bool has_price) {
    for (int64_t i = 0; i < b->count; i++) {
        b->put[i] = b->at[CALL][i] == 0;
        if (has_price)
            b->at[VOL][i] = vol_of(b, a, i, b->at[PRICE][i]);
        else
            b->at[PRICE][i] = discount_of(b, i) *
                              shoal_black(forward_of(b, a, i), b->at[STRIKE][i],
                                          b->at[VOL][i] * sqrt(b->at[MATURITY][i]), b->put[i]);
        if (!a->price_errors && !(b->at[VOL][i] > 0))
            return cli_fail(CLI_INPUT,
                            "%s:%lld: no volatility has the price %g; leave the quote out, or fit "
                            "prices by --errors price",
                            a->quotes, (long long)io_csv_line(a->quotes, i), b->at[PRICE][i]);
    }
    return CLI_OK;
}

static int read_book(book *b, const arguments *a) {
    bool given[INPUTS] = { false };
    io_table table;
    io_error err;
    int code = cli_io(io_csv_read(a->quotes, &table, &err), &err);
    if (code == CLI_OK) code = book_create(b, table.rows, a);
    for (int c = 0; c < table.cols && code == CLI_OK; c++)
        code = take_column(b, a->quotes, &table, c, given);
    const long long head = code == CLI_OK ? (long long)io_csv_line(a->quotes, -1) : 0;
    if (code == CLI_OK && !(given[STRIKE] && given[MATURITY]))
        code = cli_fail(CLI_INPUT, "%s:%lld: column %s is missing", a->quotes, head,
                        given[STRIKE] ? "maturity" : "strike");
    if (code == CLI_OK && given[PRICE] == given[VOL])
        code = cli_fail(CLI_INPUT, "%s:%lld: %s; one of them is needed", a->quotes, head,
                        given[PRICE] ? "columns price and implied_vol are both there"
                                     : "columns price and implied_vol are missing");
    if (code == CLI_OK && table.rows == 0)
        code = cli_fail(CLI_INPUT, "%s:%lld: there are no quotes below this line", a->quotes, head);
    if (code == CLI_OK) code = complete(b, a, given[PRICE]);
    io_table_free(&table);
    return code;
}

/* ---- the fit ------------------------------------------------------------------------------------ */

static const double *member(const shoal_heston *m, int k) {
    const double *const at[PARAMETERS] = { &m->v0, &m->kappa, &m->theta, &m->sigma, &m->rho };
    return at[k];
}

/* Those of --fix have equal bounds. */
static int bound(arguments *a) {
    a->low = a->high =
        (shoal_heston){ .v0 = NAN, .kappa = NAN, .theta = NAN, .sigma = NAN, .rho = NAN };
    for (const char *at = a->fix; at && *at;) {
        const size_t length = strcspn(at, ",");
        int k = 0;
        while (k < PARAMETERS && (strlen(names[k]) != length || strncmp(names[k], at, length) != 0))
            k++;
        if (k == PARAMETERS)
            return cli_fail(CLI_USAGE, "--fix: '%.*s' is none of v0, kappa, theta, sigma, rho",
                            (int)length, at);
        if (!a->given[k]) return cli_fail(CLI_USAGE, "--fix %s needs --%s", names[k], names[k]);
        *(double *)(uintptr_t)member(&a->low, k) = *(double *)(uintptr_t)member(&a->high, k) =
            a->start[k];
        at += length + (at[length] == ',');
    }
    return CLI_OK;
}

static int fit_book(cli *c, const arguments *a, book *b, shoal_heston_fit *fit) {
    const shoal_heston model = { .s0 = a->s0, .rate = a->rate, .dividend = a->dividend };
    const shoal_heston_options quotes = { b->at[STRIKE], b->at[MATURITY], b->at[RATE],
                                          b->at[DIVIDEND], b->put };
    shoal_heston start = { 0 };
    for (int k = 0; k < PARAMETERS; k++)
        *(double *)(uintptr_t)member(&start, k) = a->given[k] ? a->start[k] : NAN;
    const shoal_fit_opts opts = { .start = &start,
                                  .low = &a->low,
                                  .high = &a->high,
                                  .starts = a->starts,
                                  .iterations = a->iterations,
                                  .price_errors = a->price_errors,
                                  .solver = a->solver };
    return cli_status(c, shoal_heston_calibrate(c->ctx, &model, &quotes, b->count, b->at[PRICE],
                                                b->at[WEIGHT], &opts, fit, b->at[FITTED]));
}

/* ---- results ------------------------------------------------------------------------------------ */

static int write_book(const arguments *a, const book *b) {
    result *rows = calloc((size_t)b->count, sizeof *rows);
    if (!rows) return cli_no_memory();
    for (int64_t i = 0; i < b->count; i++)
        rows[i] = (result){ .strike = b->at[STRIKE][i],
                            .maturity = b->at[MATURITY][i],
                            .call = !b->put[i],
                            .weight = b->at[WEIGHT][i],
                            .price = b->at[PRICE][i],
                            .implied_vol = b->at[VOL][i],
                            .fitted_price = b->at[FITTED][i],
                            .fitted_vol = vol_of(b, a, i, b->at[FITTED][i]) };
    const int code = cli_csv_result_list(a->output, columns, rows, sizeof *rows, b->count);
    free(rows);
    return code;
}

/* clang-format off */
#define VALUE(name, of) CLI_RESULT(name, shoal_heston_fit, of)
static const cli_option results[] = {
    VALUE("v0", model.v0), VALUE("kappa", model.kappa), VALUE("theta", model.theta), VALUE("sigma", model.sigma), VALUE("rho", model.rho),
    VALUE("v0_stderr", error.v0), VALUE("kappa_stderr", error.kappa), VALUE("theta_stderr", error.theta),
    VALUE("sigma_stderr", error.sigma), VALUE("rho_stderr", error.rho),
    VALUE("rms", rms), VALUE("largest", largest), VALUE("objective", objective), VALUE("condition", condition),
    VALUE("feller", feller), VALUE("iterations_done", iterations), VALUE("evaluations", evaluations), VALUE("agree", agree),
    { 0 }
};
/* clang-format on */

static void note(const cli *c, const shoal_heston_fit *f) {
    for (int k = 0; k < PARAMETERS; k++)
        if (f->at_bound >> k & 1)
            cli_note(c, "%s is at its bound %g: the quotes do not determine it", names[k],
                     *member(&f->model, k));
    if (f->feller < 1)
        cli_note(
            c,
            "2 kappa theta / sigma^2 is %.3g, below 1 (Feller's condition): the variance can reach 0",
            f->feller);
    if (f->condition > 1e6)
        cli_note(c, "the condition number is %.1e: parameters compensate each other", f->condition);
}

static void print_table(const arguments *a, const book *b, const shoal_heston_fit *f,
                        double seconds) {
    printf("quotes        %s of %s\n", CLI_COUNT(b->count, "quote"), a->quotes);
    printf("errors        %.3g root mean square, %.3g at most, of the %s\n", f->rms, f->largest,
           a->price_errors ? "price" : "implied volatility");
    for (int k = 0; k < PARAMETERS; k++)
        printf("%-13s %s\n", names[k], CLI_MEASURED(*member(&f->model, k), *member(&f->error, k)));
    printf("feller        %.3g\n", f->feller);
    printf("condition     %.2g\n", f->condition);
    printf("search        %s, %s, %lld of %s agree, %s\n", CLI_COUNT(f->iterations, "iteration"),
           f->converged ? "converged" : "not converged", (long long)f->agree,
           CLI_COUNT(a->starts, "start"), CLI_TIME(seconds));
}

static int print(cli *c, const arguments *a, const book *b, const shoal_heston_fit *f,
                 double seconds) {
    int code = CLI_OK;
    if (!f->converged)
        code = cli_fail(CLI_FAILED, "no convergence after %s; --starts tries others",
                        CLI_COUNT(f->iterations, "iteration"));
    note(c, f);
    if (!c->json) {
        print_table(a, b, f, seconds);
        return code;
    }
    io_json *j = cli_json_begin(c, "calibrate heston");
    cli_json_options(j, c, &calibrate_heston_command, a);
    io_json_int(j, "quotes", b->count);
    cli_json_results(j, results, f);
    io_json_array(j, "at_bound");
    for (int k = 0; k < PARAMETERS; k++)
        if (f->at_bound >> k & 1) io_json_string(j, NULL, names[k]);
    io_json_close(j);
    io_json_bool(j, "converged", f->converged);
    io_json_double(j, "fit_seconds", seconds);
    cli_json_files(j, c, &calibrate_heston_command, a);
    return cli_json_end(c, code);
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .s0 = 1, .starts = 1, .iterations = 100 };
    book b = { 0 };
    shoal_heston_fit fit = { 0 };
    int code = cli_begin(c, &calibrate_heston_command, argc, argv, &a);
    if (code == CLI_OK && !a.solver) a.solver = "auto";
    if (code == CLI_OK) code = bound(&a);
    if (code == CLI_OK) code = read_book(&b, &a);
    const double start = cli_now();
    if (code == CLI_OK) code = fit_book(c, &a, &b, &fit);
    const double seconds = cli_now() - start;
    if (code == CLI_OK && a.output) code = write_book(&a, &b);
    if (code == CLI_OK) code = print(c, &a, &b, &fit, seconds);
    book_free(&b);
    return code;
}

const cli_command calibrate_heston_command = { "calibrate heston",
                                               "Heston's model, to European options", .doc = doc,
                                               .run = command, .tables = { { options, 0 } } };
