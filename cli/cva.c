/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.c - `shoal cva`.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

enum {
    KEY_BOOK = 0x2000,
    KEY_MARKET,
    KEY_RATE,
    KEY_HAZARD,
    KEY_RECOVERY,
    KEY_THRESHOLD,
    KEY_NO_NETTING,
    KEY_DATES,
    KEY_HORIZON,
    KEY_OUTER,
    KEY_INNER,
    KEY_EXPOSURE,
    KEY_NOT_STOPPED,
    KEY_STOPPING,
    KEY_RULE_PATHS,
    KEY_NO_CONTROL,
    KEY_DEGREE,
    KEY_RAW,
    KEY_SOLVER,
    KEY_COND,
    KEY_TYPE,
    KEY_PLOT,
    KEY_REPORT,
    KEY_COMPARE,
    KEY_SHARD
};

/* clang-format off */
static const struct argp_option options[] = {
    { "book",        KEY_BOOK,        "FILE.csv", 0, "the contracts, instead of BOOK", 1 },
    { "market",      KEY_MARKET,      "FILE.csv", 0, "the assets: columns asset, spot, volatility, dividend, and correlations under the assets' names", 1 },
    { "rate",        KEY_RATE,        "R",        0, "interest rate [0]", 1 },
    { "hazard",      KEY_HAZARD,      "H",        0, "hazard rate of the counterparty, or T1:H1,T2:H2,..: H1 up to T1, H2 up to T2, the last for ever [0.05]", 2 },
    { "recovery",    KEY_RECOVERY,    "R",        0, "what is recovered of an exposure at default [0.4]", 2 },
    { "threshold",   KEY_THRESHOLD,   "H",        0, "collateral is posted for what a netting set is worth above H [no collateral]", 2 },
    { "no-netting",  KEY_NO_NETTING,  NULL,       0, "every contract for itself", 2 },
    { "dates",       KEY_DATES,       "N",        0, "dates of exposure and of exercise, to the horizon; maturities of American contracts must be dates [10]", 3 },
    { "horizon",     KEY_HORIZON,     "T",        0, "the last date [the last maturity]", 3 },
    { "outer",       KEY_OUTER,       "M",        0, "outer paths [4096]", 3 },
    { "inner",       KEY_INNER,       "M,..",     0, "inner paths of an outer path at a date: a number, or one a date; up to the next multiple of 4 [sqrt(outer)]", 3 },
    { "exposure",    KEY_EXPOSURE,    "closed|nested", 0, "values of European contracts: closed forms where there are some, or inner paths throughout [closed]", 3 },
    { "stopping",    KEY_STOPPING,    "rule|inner", 0, "who exercises American contracts on outer paths: a rule fitted once on many paths from today's prices, or the inner paths [rule]", 3 },
    { "rule-paths",  KEY_RULE_PATHS,  "M",        0, "paths that a rule is fitted on [262144]", 3 },
    { "not-stopped", KEY_NOT_STOPPED, NULL,       0, "value contracts as if they had never been exercised", 3 },
    { "degree",      KEY_DEGREE,      "D",        0, "degree of the polynomials of a regression [3, or less where that leaves fewer than 20 inner paths to a function]", 4 },
    { "raw-basis",   KEY_RAW,         NULL,       0, "polynomials of the prices as they are, not centred and scaled", 4 },
    { "no-control",  KEY_NO_CONTROL,  NULL,       0, "regress cash flows as they are, not hedged", 4 },
    { "solver",      KEY_SOLVER,      "M",        0, "of the regressions: auto or a method of small symmetric systems [auto]", 4 },
    { "cond",        KEY_COND,        "C",        0, "condition number beyond which eigenvalues are discarded", 4 },
    { "type",        KEY_TYPE,        "T",        0, "f32 or f64: of inner paths and regressions [f64]", 4 },
    { "compare",     KEY_COMPARE,     NULL,       0, "the same CVA by every solver, centred and raw, in f64 and f32: differences on the same outer paths, and times", 4 },
    { "shard",       KEY_SHARD,       "I/N",      0, "simulate part I of N of the outer paths, from 1, and write it to -o; see merge-parts", 3 },
    { "output",      'o',             "FILE",     0, "the profile as .csv, a line a date; of --compare, a line a run; of --shard, the part", 5 },
    { "plot",        KEY_PLOT,        "F.svg",    0, "draw the profile", 5 },
    { "report",      KEY_REPORT,      "F.html",   0, "write a page: CVA, profile, convergence, conditions, solvers, times; the table of the profile stands there", 5 },
    { 0 }
};

static const char doc[] =
    "Credit valuation adjustment of a book of contracts with one counterparty, by nested Monte Carlo: its standard error, the "
    "bias of the inner paths, and the profile of exposures. BOOK is a .csv file, a contract a line: columns payoff (put, call, max-call, "
    "basket-put, basket-call, forward), assets, strike, maturity, and maybe style (european, american), weights, quantity, set."
    "\vAll contracts of a netting set are added up before the positive part is taken; without a column set there is one. "
    "docs/cva.md says what is computed.\n\nExample:\n"
    "  shoal cva examples/book.csv --market examples/market.csv --rate 0.03 --dates 12 --plot profile.svg\n"
    "  shoal cva examples/book.csv --market examples/market.csv --hazard 1:0.02,3:0.05 --threshold 20 --json\n"
    "  shoal cva examples/book.csv --market examples/market.csv --degree 2 --outer 256 --compare";
/* clang-format on */

/* "0.05" or "1:0.02,3:0.05". */
static void parse_hazard(struct argp_state *state, const char *text, cva_options *o) {
    int64_t count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    free(o->hazard);
    o->hazard = calloc((size_t)(2 * count), sizeof *o->hazard);
    if (!o->hazard) argp_failure(state, CLI_UNAVAILABLE, 0, "not enough memory");
    o->until = o->hazard + count, o->pieces = count;
    const char *at = text;
    for (int64_t i = 0; i < count && o->hazard; i++) {
        const size_t length = strcspn(at, ","), colon = strcspn(at, ":");
        const bool timed = colon < length;
        const char *rate = timed ? at + colon + 1 : at;
        const size_t digits = timed ? length - colon - 1 : length;
        bool good = io_text_double(rate, digits, &o->hazard[i]) && o->hazard[i] >= 0;
        if (timed) good = good && io_text_double(at, colon, &o->until[i]) && isfinite(o->until[i]);
        if (timed) good = good && o->until[i] > (i ? o->until[i - 1] : 0);
        if (!good || !isfinite(o->hazard[i]) || (!timed && count > 1))
            argp_error(state,
                       "--hazard: '%s' is neither a rate nor T1:H1,T2:H2,.. with ascending times",
                       text);
        at += length + 1;
    }
}

static void parse_inner(struct argp_state *state, const char *text, cva_options *o) {
    int64_t count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    free(o->inner);
    o->inner = calloc((size_t)count, sizeof *o->inner);
    if (!o->inner) argp_failure(state, CLI_UNAVAILABLE, 0, "not enough memory");
    o->inner_count = count;
    const char *at = text;
    for (int64_t i = 0; i < count && o->inner; i++) {
        char word[32];
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), at);
        o->inner[i] = cli_arg_int(state, "--inner", word, 1, SHOAL_CVA_INNER);
        at += length + 1;
    }
}

static void check(cva_options *o, struct argp_state *state) {
    if (!o->book) argp_error(state, "BOOK is missing");
    if (!o->market) argp_error(state, "--market is missing");
    if (o->inner_count > 1 && o->inner_count != o->dates)
        argp_error(state, "--inner: %lld numbers for %lld dates", (long long)o->inner_count,
                   (long long)o->dates);
    const char *other = o->solver       ? "--solver"
                        : o->raw        ? "--raw-basis"
                        : o->type_given ? "--type"
                        : o->plot       ? "--plot"
                        : o->report     ? "--report"
                                        : NULL;
    if (o->compare && other) argp_error(state, "--compare has no %s", other);
    other = o->compare ? "--compare" : o->plot ? "--plot" : o->report ? "--report" : NULL;
    if (o->shards && other)
        argp_error(state, "--shard and %s exclude each other: a part is not the whole", other);
    if (o->shards && !o->output) argp_error(state, "--shard needs -o: where to write the part");
    cli_check_distinct(state, (const char *[CLI_OUTPUTS]){ o->output, o->plot, o->report },
                       (const char *[CLI_INPUTS]){ o->book, o->market });
    cli_check_outputs(state, (const char *[CLI_OUTPUTS]){ o->output, o->plot }, NULL);
}

static double number_of(struct argp_state *state, const char *option, const char *text,
                        double most) {
    const double value = cli_arg_double(state, option, text);
    if (!(value >= 0 && value <= most))
        argp_error(state, "%s: '%s' is not from 0 to %g", option, text, most);
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    cva_options *o = state->input;
    /* clang-format off */
    switch (key) {
    case KEY_BOOK:        o->book = arg; return 0;
    case KEY_MARKET:      o->market = arg; return 0;
    case KEY_RATE:        o->rate = cli_arg_double(state, "--rate", arg); return 0;
    case KEY_HAZARD:      parse_hazard(state, arg, o); return 0;
    case KEY_RECOVERY:    o->recovery = number_of(state, "--recovery", arg, 1); return 0;
    case KEY_THRESHOLD:   o->threshold = number_of(state, "--threshold", arg, 1e300), o->collateral = true; return 0;
    case KEY_NO_NETTING:  o->no_netting = true; return 0;
    case KEY_DATES:       o->dates = cli_arg_int(state, "--dates", arg, 1, SHOAL_CVA_DATES); return 0;
    case KEY_HORIZON:     o->horizon = cli_arg_positive(state, "--horizon", arg); return 0;
    case KEY_OUTER:       o->outer = cli_arg_int(state, "--outer", arg, 1, SHOAL_CVA_OUTER); return 0;
    case KEY_INNER:       parse_inner(state, arg, o); return 0;
    case KEY_EXPOSURE:
        if (strcmp(arg, "closed") != 0 && strcmp(arg, "nested") != 0)
            argp_error(state, "--exposure: '%s' is neither closed nor nested", arg);
        o->nested = strcmp(arg, "nested") == 0;
        return 0;
    case KEY_STOPPING:
        if (strcmp(arg, "rule") != 0 && strcmp(arg, "inner") != 0)
            argp_error(state, "--stopping: '%s' is neither rule nor inner", arg);
        o->by_inner = strcmp(arg, "inner") == 0;
        return 0;
    case KEY_RULE_PATHS:  o->rule_paths = cli_arg_int(state, "--rule-paths", arg, 1, 1LL << 31); return 0;
    case KEY_NOT_STOPPED: o->kept = true; return 0;
    case KEY_NO_CONTROL:  o->no_control = true; return 0;
    case KEY_DEGREE:      o->degree = cli_arg_int(state, "--degree", arg, 1, SHOAL_AMERICAN_BASIS); return 0;
    case KEY_RAW:         o->raw = true; return 0;
    case KEY_SOLVER:      o->solver = arg; return 0;
    case KEY_COND:        o->cond = cli_arg_positive(state, "--cond", arg); return 0;
    case KEY_TYPE:        o->type = cli_arg_type(state, arg), o->type_given = true; return 0;
    case KEY_COMPARE:     o->compare = true; return 0;
    case KEY_SHARD:       cli_arg_shard(state, arg, &o->shard, &o->shards); return 0;
    case 'o':             o->output = arg; return 0;
    case KEY_PLOT:        o->plot = arg; return 0;
    case KEY_REPORT:      o->report = arg; return 0;
    case ARGP_KEY_ARG:
        if (o->book) argp_error(state, "unexpected argument '%s'", arg);
        o->book = arg;
        return 0;
    case ARGP_KEY_END:    check(o, state); return 0;
    default:              return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

/* Of European contracts that mature between two dates, what is left out. */
static void note_maturities(cli *c, const cva_options *o, const cva_book *b, double horizon) {
    const double dt = horizon / (double)o->dates;
    for (int64_t i = 0; i < b->count; i++) {
        const shoal_cva_contract *k = &b->contract[i];
        const double steps = k->maturity / dt;
        if (k->american || !(k->maturity > 0) || k->maturity > horizon ||
            fabs(steps - round(steps)) < 1e-9 * steps)
            continue;
        cli_note(c,
                 "%s:%lld: maturity %g lies between two dates: default from %g on is not counted",
                 o->book, (long long)b->line[i], k->maturity, dt * floor(steps));
    }
}

/* What a reader of the results should know. */
static void notes(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    if (r->info.expired > 0)
        cli_note(c, "contracts that have expired, and count as nothing: %lld",
                 (long long)r->info.expired);
    if (r->info.horizon > 0) note_maturities(c, o, b, r->info.horizon);
    if (r->outer > 1 && fabs(r->value.bias) > 3 * r->value.error)
        cli_note(c,
                 "the bias of the inner paths is %.3g standard errors of the CVA: more of them "
                 "(--inner), or the extrapolated value",
                 fabs(r->value.bias) / r->value.error);
}

static int run(cli *c, const cva_options *o, const cva_book *b, const cva_joined *joined) {
    cva_result r = { 0 };
    io_error err;
    int code = cva_compute(c, o, b, "outer paths", joined, &r);
    if (code == CLI_OK) notes(c, o, b, &r);
    if (code == CLI_OK && o->shards) code = cva_part_write(c, o, b, &r);
    if (code == CLI_OK && o->output && !o->shards && r.outer > 0)
        code = cva_write_csv(o->output, &r);
    if (code == CLI_OK && o->plot && r.outer > 0) code = cli_io(cva_plot(o->plot, &r, &err), &err);
    if (code == CLI_OK && o->report && r.outer > 0)
        code = cli_io(cva_write_page(o->report, c, o, b, &r, &err), &err);
    if (code == CLI_OK) code = cva_print(c, o, b, &r);
    cva_result_free(&r);
    return code;
}

int cva_command(cli *c, int argc, char **argv, const cva_joined *joined) {
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "BOOK --market FILE.csv", .doc = doc
    };
    cva_options o = { .recovery = 0.4, .dates = 10, .outer = 4096 };
    cva_book book = { 0 };
    int code = cli_parse(c, &argp, argc, argv, &o);
    if (!o.solver) o.solver = "auto";
    if (code == CLI_OK) code = cli_check_made(o.report);
    if (code == CLI_OK) code = cli_check_method(argv[0], "smallsym", o.solver, NULL);
    if (code == CLI_OK && !o.hazard) {
        o.hazard = calloc(2, sizeof *o.hazard), o.pieces = 1;
        if (o.hazard)
            o.hazard[0] = 0.05;
        else
            code = cli_fail(CLI_UNAVAILABLE, "not enough memory");
    }
    if (code == CLI_OK) code = cva_read_market(o.market, joined ? joined->market : NULL, &book);
    if (code == CLI_OK) code = cva_read_book(o.book, joined ? joined->book : NULL, &book);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    if (code == CLI_OK) code = cli_open(c);
    for (int64_t i = 0; code == CLI_OK && o.no_netting && i < book.count; i++)
        book.contract[i].set = i;
    if (code == CLI_OK) code = o.compare ? cva_compare(c, &o, &book) : run(c, &o, &book, joined);
    cva_book_free(&book);
    free(o.hazard);
    free(o.inner);
    return code;
}

int cmd_cva(cli *c, int argc, char **argv) { return cva_command(c, argc, argv, NULL); }
