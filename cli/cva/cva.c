/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.c - `shoal cva`: its options, and its runs: a plan, its outer paths piece by piece, and what
 * they say.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/status.h"

/* ---- options ---------------------------------------------------------------------------------- */

static void parse_stopping(struct argp_state *state, const cli_option *row, const char *text,
                           void *arguments) {
    (void)text, (void)arguments;
    argp_error(state, "--%s is now --estimator rule|amc|inner", row->name);
}

/* clang-format off */
#define AT(member) CLI_AT(cva_options, member)
static const cli_option options[] = {
    { "book",        OPT_INPUT,    AT(book),             "FILE.csv", 1, "the contracts, instead of BOOK", .in = IN_BOTH },
    { "market",      OPT_INPUT,    AT(market),           "FILE.csv", 1, "the assets: columns asset, spot, volatility, dividend, and correlations under the assets' names", .in = IN_BOTH, .needed = "" },
    { "rate",        OPT_REAL,     AT(rate),             "R",        1, "interest rate", .given = offsetof(cva_options, rate_given), .in = IN_BOTH },
    { "rates",       OPT_OTHER,    AT(rates_words),      "T:R,..|F.csv", 1, "zero rates, continuously compounded, instead of --rate: R1 up to T1, R2 up to T2, ..; or a file with columns tenor and rate", .usual = "--rate", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_rates_text,
      .more = "Forward rates are constant between the times; the last one continues." },
    { "valuation-date", OPT_OTHER, AT(today),            "DATE",     1, "today, like 2026-11-19: times may then be dates, too, counted in days over 365", .usual = "no dates", .in = IN_PART, .parse = cva_parse_today, .text = cva_today_text },
    { "hazard",      OPT_OTHER,    AT(hazard_words),     "H|T:H,..|F.csv", 2, "hazard rate of the counterparty, or piecewise constant T1:H1,T2:H2,..: H1 up to T1, H2 up to T2; the last one continues; or a file with columns tenor and rate", .usual = "0.05", .in = IN_PART, .parse = cva_keep_words, .text = cva_hazard_text },
    { "cds",         OPT_OTHER,    AT(cds_words),        "T:S,..|F.csv", 2, "spreads of credit default swaps on the counterparty, instead of --hazard: 1y:0.01,5y:0.02; or a file with columns tenor and rate", .usual = "--hazard", .parse = cva_keep_words,
      .more = "Hazard rates are piecewise constant up to the maturities, by the ISDA standard model. With --valuation-date the tenors are standard: they end on the 20th of June or December." },
    { "recovery",    OPT_REAL,     AT(party.recovery),   "R",        2, "share of an exposure that is recovered at default", 0, 1, .given = offsetof(cva_options, recovery_given), .in = IN_BOTH },
    { "threshold",   OPT_REAL,     AT(party.threshold),  "H",        2, "collateral covers the value of a netting set above H", 0, 1e300, .usual = "no collateral", .in = IN_PART | IN_JSON_SET },
    { "no-netting",  OPT_FLAG,     AT(no_netting),       NULL,       2, "no netting: the exposure of every contract counts separately", .in = IN_PART },
    { "dates",       OPT_OTHER,    AT(dates_words),      "N|STEP|LIST|F.csv", 3, "dates of exposure up to the horizon: how many, a step (1w, 1m, 3m, 1y), times (0.5,1,2y), or a file with a column time; all maturities are dates, too", .usual = "10", .in = IN_PART, .parse = cva_keep_words, .text = cva_dates_text,
      .more = "They are also the dates of default. American contracts can be exercised at them, too, unless the book's column exercise gives other times." },
    { "horizon",     OPT_OTHER,    AT(horizon_words),    "T",        3, "the last date of exposure: years, 18m, 2y or a date", .usual = "the last maturity or date", .in = IN_PART, .parse = cva_keep_words, .text = cva_horizon_text },
    { "outer",       OPT_INT,      AT(opts.outer),       "M",        3, "outer paths; with --target-se the least number of them", 1, SHOAL_CVA_OUTER, .given = offsetof(cva_options, outer_given), .in = IN_PART },
    { "target-se",   OPT_POSITIVE, AT(opts.target),      "E",        3, "choose outer paths, inner paths and their levels so that the standard error of the CVA is at most E, in the least time", .usual = "--outer paths", .in = IN_PART | IN_JSON_SET,
      .more = "A pilot run measures variances; the choice depends on the seed only. --inner fixes the inner paths. If the standard error is still above E, more outer paths are added. If that takes more than 2^24 outer paths, the run ends with a message that gives the time it would take. Not with --compare, --shard, --checkpoint." },
    { "inner",       OPT_INTS,     AT(opts.inner_count), "M,..",     3, "inner paths per outer path and date: one number, or one per date; rounded up to an even number", 1, SHOAL_CVA_INNER, .usual = "sqrt(outer), or chosen by --target-se", .in = IN_PART },
    { "exposure",    OPT_CHOICE,   AT(opts.nested),      NULL,       3, "values of European contracts: by closed forms if available, or always by inner paths", .words = "closed|nested", .in = IN_BOTH },
    { "estimator",   OPT_CHOICE,   AT(opts.estimator),   NULL,       3, "how American contracts are valued. rule: on inner paths that follow an exercise rule, fitted once on paths from today's prices. amc: by the regression of that rule. inner: by regressions on the inner paths of every outer path and date", .words = CVA_ESTIMATORS, .given = offsetof(cva_options, estimator_given), .in = IN_BOTH,
      .more = "inner is the method of the paper; it is biased." },
    { "stopping",    OPT_OTHER,    AT(opts.estimator),   "S",        3, "refused: it is --estimator now", .usual = "", .parse = parse_stopping },
    { "rule-paths",  OPT_INT,      AT(opts.rule_paths),  "M",        3, "paths on which an exercise rule is fitted", 1, 1LL << 31, .usual = "65536", .in = IN_PART },
    { "not-stopped", OPT_FLAG,     AT(opts.kept),        NULL,       3, "value contracts as if they had never been exercised", .key = "!stopped", .in = IN_BOTH },
    { "degree",      OPT_INT,      AT(opts.degree),      "D",        4, "with --estimator inner: degree of the polynomials of a regression", 1, SHOAL_AMERICAN_BASIS, .usual = "3, or less, so that at least 20 inner paths per function remain", .in = IN_PART | IN_JSON_SET },
    { "raw-basis",   OPT_FLAG,     AT(opts.raw),         NULL,       4, "polynomials of the prices themselves, neither centred nor scaled", .in = IN_BOTH },
    { "no-control",  OPT_FLAG,     AT(opts.control),     NULL,       4, "inner paths and regressions without control variates", .value = -1, .key = "!control", .in = IN_BOTH,
      .more = "With --estimator inner, max-calls and baskets with a weight below 0 never have any." },
    { "solver",      OPT_TEXT,     AT(opts.solver),      "M",        4, "solver of the regressions: auto or a method of small symmetric systems", .usual = "auto", .methods = "smallsym", .in = IN_BOTH },
    { "cond",        OPT_POSITIVE, AT(opts.cond),        "C",        4, "condition number beyond which eigenvalues are discarded", .in = IN_PART },
    { "type",        OPT_CHOICE,   AT(opts.type),        "T",        4, "arithmetic of inner paths and regressions: f32 or f64", .words = CLI_TYPES, .given = offsetof(cva_options, type_given), .in = IN_BOTH },
    { "validate",    OPT_FLAG,     AT(opts.validate),    NULL,       3, "the martingale test: at every date, the value and the earlier cash flows of each contract must give its price today; exit code 70 if not", .in = IN_PART,
      .more = "Prints z, the difference in standard errors, per contract and date. A correct program exceeds the limit of |z| in 1 of 1000 runs. Not with --compare, --not-stopped." },
    { "compare",     OPT_FLAG,     AT(compare),          NULL,       4, "compute the same CVA by every estimator, in f64 and f32, and with every solver of inner; print differences on the same outer paths, and times",
      .more = "24 runs; inner with auto, ldlt, ldltp, hhpcr and eigdc, each with the centred and the raw basis. Not with --estimator, --solver, --raw-basis, --type, --plot, --report." },
    { "checkpoint",  OPT_TEXT,     AT(checkpoint),       "DIR",      3, "keep finished units of outer paths in DIR; the same command continues",
      .more = "DIR is made if it is not there. It is for one command, version of Shoal, book and market; other units are refused. Its files have 48 N + 24 bytes per path. Remove it when the run is done. Not with --compare, --shard, --target-se." },
    { "shard",       OPT_SHARD,    AT(shard),            "I/N",      3, "simulate part I of N of the outer paths, from 1, and write it to -o; see merge-parts",
      .more = "The part contains its rows, 6 N + 3 numbers per path, and the texts of book and market. Not with --compare, --plot, --report." },
    { "output",      OPT_OUTPUT,   AT(output),           "FILE",     5, "write the profile as .csv, one line per date; with --compare, one line per run; with --shard, the part", .letter = 'o' },
    { "plot",        OPT_OUTPUT,   AT(plot),             "F.svg",    5, "draw the profile", .ends = "svg" },
    { "report",      OPT_MADE,     AT(report),           "F.html",   5, "write an HTML page: CVA, profile (also as a table), convergence, condition numbers, solvers, outcomes, times, book, market and options", .ends = "html",
      .more = "The page is self-contained. Missing folders are created. stdout then has at most ten lines." },
    { NULL,          OPT_INPUT,    AT(book),             "BOOK",     0, "the contracts", .needed = "" },
    { 0 }
};

static const char doc[] =
    "Credit valuation adjustment of a book of contracts with one counterparty, by nested Monte Carlo: its standard error, an "
    "estimate of its bias, and the profile of exposures. BOOK is a .csv file, one contract per line: columns payoff (put, call, max-call, "
    "basket-put, basket-call, forward), assets, strike, maturity, and maybe style (european, american), weights, quantity, set, id."
    "\vAll contracts of a netting set are added up before the positive part is taken; without a column set there is one. "
    "docs/cva.md describes what is computed.\n\nExample:\n"
    "  shoal cva book.csv --market market.csv --plot profile.svg\n"
    "  shoal cva book.csv --market market.csv --rate 0.03 --dates 1m --report cva.html\n"
    "  shoal cva book.csv --market market.csv --hazard 1:0.02,3:0.05 --json\n"
    "  shoal cva book.csv --market market.csv --degree 2 --outer 256 --compare";
/* clang-format on */

static void check(void *arguments, struct argp_state *state) {
    const cva_options *o = arguments;
    char name[CLI_NAME];
    const char *other =
        cli_given_among(&cva_command, o, "estimator solver raw-basis type plot report", name);
    if (o->compare && other) argp_error(state, "--compare has no %s", other);
    if (o->cds_words && o->hazard_words) argp_error(state, "--cds and --hazard exclude each other");
    if (o->rate != 0 && o->rates_words) argp_error(state, "--rate and --rates exclude each other");
    other = cli_given_among(&cva_command, o, "compare not-stopped", name);
    if (o->opts.validate && other) argp_error(state, "--validate and %s exclude each other", other);
    other = cli_given_among(&cva_command, o, "compare shard checkpoint", name);
    if (o->opts.target > 0 && other)
        argp_error(state, "--target-se and %s exclude each other", other);
    other = cli_given_among(&cva_command, o, "compare shard", name);
    if (o->checkpoint && other) argp_error(state, "--checkpoint and %s exclude each other", other);
    other = cli_given_among(&cva_command, o, "compare plot report", name);
    if (o->shards && other)
        argp_error(state, "--shard and %s exclude each other: a part is not the whole", other);
    if (o->shards && !o->output) argp_error(state, "--shard needs -o: where to write the part");
    if (o->output && !o->shards && strchr(o->output, '.') && !cli_ends_in(o->output, ".csv"))
        argp_error(state, "-o: '%s' does not end in .csv", o->output);
}

/* ---- runs ------------------------------------------------------------------------------------- */

/* Outer paths between two looks at the keyboard. A GPU needs many at a time; on a CPU a hundred of them
 * may take seconds. */
enum { AT_ONCE_CPU = 1024, AT_ONCE = 16384 };
/* The first pieces are at once / these: by the second one the time is estimated. */
enum { FIRST_PIECE = 16, SECOND_PIECE = 4 };
enum { WORTH_SAYING = 10 }; /* seconds */
/* Outer paths for --target-se: the most, and those that are run if the pilot run says that it takes more. */
enum { MOST_FOR_TARGET = 1 << 24, BEYOND_TARGET = 4096 };

/* A correlation matrix that is none: three assets whose correlations are impossible together, else the first row. */
static int blame_correlation(const cva_options *o, const cva_book *b, const char *message) {
    const int64_t d = b->assets;
    long long row = 0;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < i; j++)
            for (int64_t k = 0; k < j; k++) {
                const double x = b->correlation[i * d + j], y = b->correlation[i * d + k];
                const double z = b->correlation[j * d + k], middle = y * z;
                const double room = sqrt((1 - y * y) * (1 - z * z));
                if (fabs(x - middle) <= room + 1e-9) continue;
                return cli_fail(CLI_INPUT,
                                "%s: correlation is not positive semidefinite: %s, %s and %s have "
                                "impossible correlations; with %g (%s, %s) and %g (%s, %s), that "
                                "of %s and %s is from %.4g to %.4g, not %g",
                                o->market, b->asset[k], b->asset[j], b->asset[i], y, b->asset[k],
                                b->asset[i], z, b->asset[k], b->asset[j], b->asset[j], b->asset[i],
                                middle - room, middle + room, x);
            }
    if (sscanf(message, "correlation is not positive semidefinite: row %lld", &row) == 1 &&
        row >= 0 && row < d)
        return cli_fail(CLI_INPUT,
                        "%s: correlation is not positive semidefinite: the correlations of %s with "
                        "the assets before it do not fit to those among these",
                        o->market, b->asset[row]);
    return cli_fail(CLI_INPUT, "%s: %s", o->market, message);
}

/* Messages of the library about a contract are about a line of the book; numbers of assets and correlations are the
 * market's. */
static int status_of(cli *c, const cva_options *o, const cva_book *b, shoal_status status) {
    static const struct {
        const char *begins, *column;
    } columns[] = { { "s0[%lld]%n", "spot" },
                    { "sigma[%lld]%n", "volatility" },
                    { "dividend[%lld]%n", "dividend" },
                    { "sigmas[%lld]%n", "volatility" },
                    { "dividends[%lld]%n", "dividend" } };
    long long i;
    int length = 0;
    if (status == SHOAL_E_ARG && strncmp(shoal_message(c->ctx), "rates: ", 7) == 0)
        return cli_fail(CLI_INPUT, "--%s", shoal_message(c->ctx));
    for (int k = 0; k < 5 && status == SHOAL_E_ARG; k++)
        if (sscanf(shoal_message(c->ctx), columns[k].begins, &i, &length) == 1 && length > 0 &&
            i >= 0 && i < b->assets)
            return cli_fail(CLI_INPUT, "%s: column %s of asset %s%s", o->market, columns[k].column,
                            b->asset[i], shoal_message(c->ctx) + length);
    if (status == SHOAL_E_ARG &&
        sscanf(shoal_message(c->ctx), "contracts[%lld]: %n", &i, &length) == 1 && i >= 0 &&
        i < b->count)
        return cli_fail(CLI_INPUT, "%s:%lld: %s", o->book, (long long)b->line[i],
                        shoal_message(c->ctx) + length);
    if (status == SHOAL_E_ARG && strncmp(shoal_message(c->ctx), "correlation", 11) == 0)
        return blame_correlation(o, b, shoal_message(c->ctx));
    return cli_status(c, status);
}

int cva_create(cli *c, const cva_options *o, const cva_book *b, shoal_cva **plan) {
    const shoal_cva_market market = { .assets = b->assets,
                                      .rate = o->rate,
                                      .s0 = b->s0,
                                      .sigma = b->sigma,
                                      .dividend = b->dividend,
                                      .correlation = b->correlation,
                                      .rates = o->rates,
                                      .dividends = b->dividends,
                                      .sigmas = b->sigmas };
    return status_of(
        c, o, b,
        shoal_cva_create(c->ctx, &market, b->contract, b->count, &o->party, &o->opts, plan));
}

/* Outer paths that the standard error of --target-se needs, by those that were run; a few more than that. */
static double wanted(const cva_options *o, const cva_result *r) {
    double error;
    if (!(o->opts.target > 0)) return (double)r->outer;
    cva_mean(r, NULL, r->outer, &error);
    if (!(error > o->opts.target)) return (double)r->outer;
    return ceil(1.05 * (double)r->outer * pow(error / o->opts.target, 2)) + 16;
}

/* Refuses a --target-se out of reach; the paths that were run have taken `seconds`. */
static int check_target(const cva_options *o, const cva_result *r, double seconds) {
    const double paths = wanted(o, r);
    if (paths <= MOST_FOR_TARGET || paths <= (double)r->outer) return CLI_OK;
    return cli_refuse_target(o->opts.target, paths, "2^24 outer paths",
                             seconds * paths / (double)r->outer);
}

/* Outer paths to begin with. */
static int64_t first_outer(const cva_options *o, const cva_result *r) {
    if (!(o->opts.target > 0)) return o->opts.outer;
    const double chosen = r->info.outer <= MOST_FOR_TARGET ? r->info.outer : BEYOND_TARGET;
    return o->opts.outer > chosen ? o->opts.outer : (int64_t)chosen;
}

/* The time that the other outer paths take, from that of the first few. */
static void note_estimate(cli *c, cva_result *r, double seconds) {
    r->estimate = seconds;
    if (seconds > WORTH_SAYING)
        cli_note(
            c,
            "the outer paths will take about %s; --estimator amc, fewer --outer or --inner paths "
            "take less",
            CLI_TIME(seconds));
}

static int simulate(cli *c, const cva_options *o, const cva_book *b, const char *label,
                    shoal_cva *plan, cva_result *r) {
    const int64_t at_once = strcmp(c->machine.backend, "cpu") == 0 ? AT_ONCE_CPU : AT_ONCE;
    int64_t outer = first_outer(o, r), pieces = 0;
    int code = CLI_OK;
    cli_progress bar = { 0 };
    const double begun = cli_now();
    cli_catch_interrupt();
    if (label) cli_progress_begin(&bar, c, label, outer);
    while (code == CLI_OK) {
        r->planned = outer;
        double *samples = realloc(r->samples, (size_t)(outer * r->width + 1) * sizeof *r->samples);
        if (samples)
            r->samples = samples;
        else
            code = cli_no_memory();
        while (r->outer < outer && code == CLI_OK && !cli_interrupted()) {
            const int64_t left = outer - r->outer;
            const int64_t most = at_once / (pieces == 0   ? FIRST_PIECE
                                            : pieces == 1 ? SECOND_PIECE
                                                          : 1);
            const int64_t here = left < most ? left : most;
            const double start = cli_now();
            code = status_of(
                c, o, b,
                shoal_cva_run(plan, r->outer, here, r->samples + r->outer * r->width, &r->counts));
            if (code == CLI_OK && ++pieces == 2 && left > here)
                note_estimate(c, r, (cli_now() - start) * (double)(left - here) / (double)here);
            if (code == CLI_OK) r->outer += here;
            if (code == CLI_OK && pieces == 2) code = check_target(o, r, cli_now() - begun);
            if (code == CLI_INTERRUPTED && r->outer > 0)
                code = CLI_OK; /* what is known is the result */
            cli_progress_step(&bar, r->outer);
        }
        if (code != CLI_OK || r->outer < outer || wanted(o, r) <= (double)r->outer) break;
        code = check_target(o, r, cli_now() - begun);
        if (code == CLI_OK) outer = (int64_t)wanted(o, r);
    }
    cli_progress_end(&bar);
    return code;
}

int cva_compute(cli *c, const cva_options *o, const cva_book *b, const char *bar, cva_result *r) {
    shoal_cva *plan = NULL;
    *r = (cva_result){ .outer = 0 };
    const double start = cli_now();
    int code = cva_create(c, o, b, &plan);
    r->rules = cli_now() - start;
    if (code == CLI_OK) code = status_of(c, o, b, shoal_cva_describe(plan, &r->info));
    if (code == CLI_OK) {
        r->width = shoal_cva_width(plan);
        r->profile = calloc((size_t)r->info.dates, sizeof *r->profile);
        if (!r->profile) code = cli_no_memory();
    }
    if (code == CLI_OK)
        code =
            cva_in_units(c, o) ? cva_run_units(c, o, b, plan, r) : simulate(c, o, b, bar, plan, r);
    r->seconds = cli_now() - start;
    if (code == CLI_OK && r->outer > 0)
        code =
            status_of(c, o, b, shoal_cva_result(plan, r->samples, r->outer, &r->value, r->profile));
    if (code == CLI_OK && o->opts.validate && r->outer > 1) {
        r->check = calloc((size_t)(b->count * r->info.dates) + 1, sizeof *r->check);
        code = r->check ? status_of(c, o, b,
                                    shoal_cva_validate(plan, r->samples, r->outer, &r->validation,
                                                       r->check))
                        : cli_no_memory();
    }
    shoal_cva_free(plan);
    return code;
}

void cva_result_free(cva_result *r) {
    free(r->check);
    if (!r->units && !r->part) free(r->samples);
    shoal_units_free(r->units);
    free(r->part);
    free(r->profile);
    *r = (cva_result){ .outer = 0 };
}

double cva_mean(const cva_result *r, const cva_result *less, int64_t paths, double *error) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < paths; i++) { /* Welford's: one pass, no cancellation */
        const double x = r->samples[i * r->width] - (less ? less->samples[i * less->width] : 0);
        const double off = x - mean;
        mean += off / (double)(i + 1);
        squares += off * (x - mean);
    }
    *error = paths > 1 ? sqrt(squares / (double)paths / (double)(paths - 1)) : NAN;
    return mean;
}

const shoal_cva_date *cva_peak(const cva_result *r) {
    const shoal_cva_date *top = r->profile;
    for (int64_t k = 1; k < r->info.dates; k++)
        if (r->profile[k].epe > top->epe) top = &r->profile[k];
    return top;
}

/* ---- the command ------------------------------------------------------------------------------ */

/* How many contracts mature from `above` to `most` years, and the first of them. */
static int64_t maturing(const cva_book *b, double above, double most, int64_t *first) {
    int64_t count = 0;
    for (int64_t i = 0; i < b->count; i++)
        if (b->contract[i].maturity > above && b->contract[i].maturity <= most && count++ == 0)
            *first = i;
    return count;
}

/* Contracts that a profile does not contain, or not all of it. */
static void note_maturities(cli *c, const cva_options *o, const cva_book *b, double horizon) {
    int64_t first = 0, count = maturing(b, -INFINITY, 0, &first);
    if (b->count == 0) cli_note(c, "%s has no contracts: the CVA is 0", o->book);
    if (count > 0)
        cli_note(c, "%s:%lld: maturity %g: expired, and counts as nothing; %s", o->book,
                 (long long)b->line[first], b->contract[first].maturity,
                 CLI_COUNT(count, "such contract"));
    count = maturing(b, horizon * (1 + 1e-9), INFINITY, &first);
    if (horizon > 0 && count > 0)
        cli_note(c, "%s:%lld: maturity %g: exposures after the horizon, %g, are not counted; %s",
                 o->book, (long long)b->line[first], b->contract[first].maturity, horizon,
                 CLI_COUNT(count, "such contract"));
}

/* American contracts that the dates make European. */
static void note_exercise(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    const double first = o->time ? o->time[0] : r->info.horizon / (double)o->opts.dates;
    int64_t count = 0, at = 0;
    for (int64_t i = 0; i < b->count; i++) {
        const shoal_cva_contract *k = &b->contract[i];
        const double early = k->exercises ? k->exercise[0] : first;
        if (k->american && k->maturity > 0 && early >= k->maturity * (1 - 1e-9) && count++ == 0)
            at = i;
    }
    if (count > 0 && r->info.dates > 1)
        cli_note(c, "%s:%lld: exercise is possible at maturity only: no date is before it; %s",
                 o->book, (long long)b->line[at], CLI_COUNT(count, "such contract"));
}

/* What a reader of the results should know. */
static void notes(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    note_maturities(c, o, b, r->info.horizon);
    note_exercise(c, o, b, r);
    if (r->outer < 2 || !(r->value.bias > r->value.error)) return;
    const bool inner = o->opts.estimator == SHOAL_CVA_BY_INNER;
    cli_note(c, "the bias may be %.3g, more than the standard error of %.2g: %s", r->value.bias,
             r->value.error,
             inner ? "more inner paths (--inner), or --estimator rule"
                   : "more paths for the exercise rules (--rule-paths)");
}

static int run(cli *c, const cva_options *o, const cva_book *b) {
    cva_result r = { 0 };
    io_error err;
    int code = cva_compute(c, o, b, "outer paths", &r);
    if (code == CLI_OK) notes(c, o, b, &r);
    if (code == CLI_OK && o->output && !o->shards && r.outer > 0)
        code = cva_write_csv(o->output, &r);
    if (code == CLI_OK && o->plot && r.outer > 0) code = cli_io(cva_plot(o->plot, &r, &err), &err);
    if (code == CLI_OK && o->report && r.outer > 0)
        code = cli_io(cva_write_page(o->report, c, o, b, &r, &err), &err);
    if (code == CLI_OK) code = cva_print(c, o, b, &r);
    if (r.check && !r.validation.passed && (code == CLI_OK || code == CLI_INTERRUPTED)) {
        char text[256];
        cva_verdict(o, b, &r, text);
        code = cli_fail(CLI_INVALID, "the validation %s: do not trust these numbers", text);
    }
    cva_result_free(&r);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    static const double hazard = 0.05;
    cva_options o = { .party = { .pieces = 1, .hazard = &hazard, .recovery = 0.4, .threshold = -1 },
                      .opts = { .dates = 10, .outer = 4096, .control = 1 } };
    cva_book book = { 0 };
    int code = cli_parse(c, &cva_command, argc, argv, &o);
    if (!o.opts.solver) o.opts.solver = "auto";
    if (o.opts.target > 0 && !o.outer_given) o.opts.outer = 0; /* the pilot run chooses */
    o.party.collateral = o.party.threshold >= 0;
    if (code == CLI_OK) code = cva_read_settings(c, &o);
    book.today = o.today;
    if (code == CLI_OK) code = cva_read_market(c, o.market, cva_text_of(c, 1), &book);
    if (code == CLI_OK) code = cva_read_book(c, o.book, cva_text_of(c, 0), &book);
    if (code == CLI_OK && c->parts && o.dates)
        code = cli_fail(CLI_INPUT, "--dates: '%s' is a file; parts contain the times", o.dates);
    if (code == CLI_OK) code = cva_make_times(c, &o, &book);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK && o.swaps.count) code = cva_bootstrap(c, &o);
    o.opts.seed = c->seed;
    for (int64_t i = 0; code == CLI_OK && o.no_netting && i < book.count; i++)
        book.contract[i].set = i;
    if (code == CLI_OK) code = o.compare ? cva_compare(c, &o, &book) : run(c, &o, &book);
    cva_book_free(&book);
    cva_free_settings(&o);
    return code;
}

const cli_command cva_command = { "cva",
                                  "credit valuation adjustment of a book, with its exposures",
                                  .args = "BOOK --market FILE.csv",
                                  .doc = doc,
                                  .run = command,
                                  .tables = { { options, 0 } },
                                  .check = check };
