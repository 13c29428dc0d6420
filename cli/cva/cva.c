/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.c - `shoal cva`: its options, and its runs: a plan, its outer paths piece by piece, and what
 * result in.
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
    { "market",      OPT_INPUT,    AT(market),           "FILE.csv", 1, "the assets: columns asset, spot, volatility (or v0, kappa, theta, xi, rho of Heston's model), dividend, and correlations under the assets' names", .in = IN_BOTH, .needed = "" },
    { "rate",        OPT_REAL,     AT(rate),             "R",        1, "interest rate", .given = offsetof(cva_options, rate_given), .without = "rates", .in = IN_BOTH },
    { "rates",       OPT_OTHER,    AT(rates_words),      "T:R,..|F.csv", 1, "zero rates, continuously compounded, instead of --rate: T1:R1,T2:R2,.. or a file with columns tenor and rate", .usual = "--rate", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_rates_text,
      .more = "Forward rates are constant between the times; the last one continues." },
    { "valuation-date", OPT_OTHER, AT(today),            "DATE",     1, "today, as in 2026-11-19; then times may also be dates, which count in days over 365", .usual = "no dates", .in = IN_PART, .parse = cva_parse_today, .text = cva_today_text },
    { "dividends",   OPT_OTHER,    AT(dividends_words),  "ASSET:T:AMOUNT,..|F.csv", 1, "cash dividends: a list, or a file with columns asset, date and amount", .usual = "none", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_dividends_text,
      .more = "The price of the asset falls by the amount at its time. The volatility is that of the price without the present value of all dividends that are given. Not with --estimator inner, --default-jump, --greeks, --gammas, barriers." },
    { "hazard",      OPT_OTHER,    AT(hazard_words),     "H|T:H,..|F.csv", 2, "hazard rate of the counterparty; or T1:H1,T2:H2,..: H1 up to T1, then H2, and so on; or a file with columns tenor and rate", .in = IN_PART, .parse = cva_keep_words, .text = cva_hazard_text },
    { "cds",         OPT_OTHER,    AT(cds_words),        "T:S,..|F.csv", 2, "spreads of credit default swaps on the counterparty, instead of --hazard: 1y:0.01,5y:0.02; or a file with columns tenor and rate", .usual = "--hazard", .without = "hazard", .parse = cva_keep_words,
      .more = "Hazard rates are piecewise constant up to the maturities, by the ISDA standard model. With --valuation-date the swaps end on standard dates, 20 June or 20 December." },
    { "counterparties", OPT_INPUT, AT(parties),          "FILE.csv", 2, "counterparties of the book's column counterparty: columns counterparty, and maybe hazard, cds, recovery, threshold, in place of these options", .in = IN_BOTH,
      .more = "hazard is a number or points like 1y:0.02 3y:0.05; cds has points of spreads. A field that is empty is that of the options. Without this file all counterparties have the options." },
    { "own-hazard",  OPT_OTHER,    AT(own_words),        "H|T:H,..|F.csv", 2, "our own hazard rate, for the DVA; as --hazard", .usual = "no DVA", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_own_text },
    { "own-recovery", OPT_REAL,    AT(own.recovery),     "R",        2, "share of what we owe that is recovered when we default", 0, 1, .in = IN_BOTH },
    { "borrowing",   OPT_OTHER,    AT(borrowing_words),  "S|T:S,..|F.csv", 2, "spread over the interest rate at which we fund exposures, for the FVA", .usual = "0", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_borrowing_text },
    { "lending",     OPT_OTHER,    AT(lending_words),    "S|T:S,..|F.csv", 2, "spread over the interest rate that we save on what the book is worth to the counterparties, for the FVA", .usual = "0", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_lending_text },
    { "recovery",    OPT_REAL,     AT(party.recovery),   "R",        2, "share of an exposure that is recovered at default", 0, 1, .given = offsetof(cva_options, recovery_given), .in = IN_BOTH },
    { "threshold",   OPT_REAL,     AT(party.threshold),  "H",        2, "collateral covers the value of a netting set above H", 0, 1e300, .usual = "no collateral", .in = IN_PART | IN_JSON_SET },
    { "sets",        OPT_INPUT,    AT(sets),             "FILE.csv", 2, "collateral of netting sets: columns set, and maybe threshold, mta, independent, mpor, one-way; a field that is empty is that of the options", .in = IN_BOTH },
    { "mta",         OPT_REAL,     AT(csa.transfer),     "A",        2, "minimum transfer amount of collateral: the value above H + A is covered", 0, 1e300, .usual = "0", .in = IN_PART },
    { "independent", OPT_REAL,     AT(csa.independent),  "I",        2, "independent amount that the counterparty has posted, segregated; below 0: that we have posted", .usual = "0", .in = IN_PART },
    { "mpor",        OPT_OTHER,    AT(period_words),     "T",        2, "margin period of risk: the last margin call is T (2w, 0.04) before an exposure", .usual = "0", .in = IN_PART, .parse = cva_keep_words, .text = cva_period_text,
      .more = "Payments that are due in the period are not made by either side. Every date of exposure gets one more date, that of the margin call. Not with --estimator inner; --breakdown then has no contributions of trades." },
    { "one-way",     OPT_CHOICE,   AT(csa.one_way),      NULL,       2, "the only side that posts collateral; no: both sides", .words = "no|counterparty|us", .in = IN_PART },
    { "hazard-vol",  OPT_POSITIVE, AT(party.volatility), "V",        2, "volatility of the hazard rate, lognormal around --hazard, which keeps the default probabilities", .max = 10, .usual = "the hazard rate is known", .in = IN_PART | IN_JSON_SET },
    { "hazard-reversion", OPT_POSITIVE, AT(party.reversion), "A",    2, "mean reversion of the logarithm of the hazard rate", .max = 1000, .usual = "none", .with = "hazard-vol", .in = IN_PART | IN_JSON_SET },
    { "hazard-correlation", OPT_OTHER, AT(correlation_words), "RHO|ASSET:RHO,..", 2, "correlation of the hazard rate with all assets, or with some", .usual = "0", .with = "hazard-vol", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_correlation_text },
    { "default-jump", OPT_OTHER,   AT(jump_words),       "J|ASSET:J,..", 2, "jump of all assets, or of some, when the counterparty defaults: -0.2 is a fall by 20 percent", .usual = "0", .in = IN_PART | IN_JSON_SET, .parse = cva_keep_words, .text = cva_jump_text,
      .more = "Before default the drift of the assets makes up for the jump, so forward prices stay the same. For one counterparty only. Not with --estimator inner; --breakdown then has no contributions of trades." },
    { "no-netting",  OPT_FLAG,     AT(no_netting),       NULL,       2, "no netting: the exposure of every contract counts separately", .in = IN_PART },
    { "dates",       OPT_OTHER,    AT(dates_words),      "N|STEP|LIST|F.csv", 3, "dates of exposure up to the horizon: how many, a step (1w, 1m, 3m, 1y), times (0.5,1,2y), or a file with a column time; all maturities are dates, too", .in = IN_PART, .parse = cva_keep_words, .text = cva_dates_text,
      .more = "They are also the dates of default. American contracts can be exercised at them, too, unless the book's column exercise gives other times." },
    { "horizon",     OPT_OTHER,    AT(horizon_words),    "T",        3, "the last date of exposure: years, 18m, 2y or a date", .usual = "the last maturity or date", .in = IN_PART, .parse = cva_keep_words, .text = cva_horizon_text },
    { "outer",       OPT_INT,      AT(opts.outer),       "M",        3, "outer paths; with --target-se the least number of them", 1, SHOAL_CVA_OUTER, .given = offsetof(cva_options, outer_given), .in = IN_PART },
    { "target-se",   OPT_POSITIVE, AT(opts.target),      "E",        3, "choose outer paths, inner paths and their levels so that the standard error of the CVA is at most E, in the least time", .usual = "--outer paths", .without = "compare shard checkpoint units scale scale-plot", .in = IN_PART | IN_JSON_SET,
      .more = "A pilot run measures variances; the choice depends on the seed only. --inner fixes the inner paths. If the standard error is still above E, more outer paths are added. If that takes more than 2^24 outer paths, the run ends with a message that gives the time it would take." },
    { "inner",       OPT_INTS,     AT(opts.inner_count), "M,..",     3, "inner paths per outer path and date: one number, or one per date; rounded up to an even number", 1, SHOAL_CVA_INNER, .usual = "sqrt(outer), or chosen by --target-se", .in = IN_PART },
    { "exposure",    OPT_CHOICE,   AT(opts.nested),      NULL,       3, "values of European contracts: by closed forms if available, or always by inner paths", .words = "closed|nested", .in = IN_BOTH },
    { "estimator",   OPT_CHOICE,   AT(opts.estimator),   NULL,       3, "how American contracts are valued. rule: by an exercise rule, fitted once on paths from today's prices; inner paths follow it where there are several assets. amc: by the regression of that rule. inner: by regressions on the inner paths of every outer path and date", .words = CVA_ESTIMATORS, .given = offsetof(cva_options, estimator_given), .in = IN_BOTH,
      .more = "inner is the method of the paper; it is biased." },
    { "stopping",    OPT_OTHER,    AT(opts.estimator),   "S",        3, NULL, .parse = parse_stopping },
    { "rule-paths",  OPT_INT,      AT(opts.rule_paths),  "M",        3, "paths on which an exercise rule is fitted", 1, 1LL << 31, .usual = "65536; with many rules on several assets fewer, at least 8192", .in = IN_PART },
    { "not-stopped", OPT_FLAG,     AT(opts.kept),        NULL,       3, "value contracts as if they had never been exercised", .key = "!stopped", .in = IN_BOTH },
    { "degree",      OPT_INT,      AT(opts.degree),      "D",        4, "with --estimator inner: degree of the polynomials of a regression", 1, SHOAL_AMERICAN_BASIS, .usual = "3, or less, so that at least 20 inner paths per function remain", .in = IN_PART | IN_JSON_SET },
    { "raw-basis",   OPT_FLAG,     AT(opts.raw),         NULL,       4, "polynomials of the prices themselves, neither centred nor scaled", .in = IN_BOTH },
    { "no-control",  OPT_FLAG,     AT(opts.control),     NULL,       4, "inner paths and regressions without control variates", .value = -1, .key = "!control", .in = IN_BOTH,
      .more = "With --estimator inner, max-calls and baskets with a weight below 0 never have any." },
    { "solver",      OPT_TEXT,     AT(opts.solver),      "M",        4, "solver of the regressions: auto or a method of small symmetric systems", .usual = "auto", .methods = "smallsym", .in = IN_BOTH },
    { "cond",        OPT_POSITIVE, AT(opts.cond),        "C",        4, "condition number beyond which eigenvalues are discarded", .in = IN_PART },
    { "type",        OPT_CHOICE,   AT(opts.type),        "T",        4, "arithmetic of inner paths and regressions: f32 or f64", .words = CLI_TYPES, .given = offsetof(cva_options, type_given), .in = IN_BOTH },
    { "validate",    OPT_FLAG,     AT(opts.validate),    NULL,       3, "the martingale test: at every date, the value and the earlier cash flows of each contract must give its price today; exit code 70 if not", .without = "compare not-stopped", .in = IN_PART,
      .more = "Prints z, the difference in standard errors, per contract and date. A correct program exceeds the limit of |z| in 1 of 1000 runs." },
    { "greeks",      OPT_FLAG,     AT(opts.greeks),      NULL,       3, "all first-order sensitivities of the CVA: spots, volatilities, dividends, rates, correlations, hazard rates, recovery; also with --report and --tables", .in = IN_PART,
      .more = "One reverse pass over the same paths, on the CPU. No options on several assets but forwards, no barriers, no Asian options; early exercise with --estimator rule or amc and without --mpor. Not with --hazard-vol, --default-jump, --exposure nested." },
    { "gammas",      OPT_FLAG,     AT(opts.gammas),      NULL,       3, "--greeks, and the second-order sensitivities by spots: gammas, and cross gammas of all pairs of assets", .in = IN_PART,
      .more = "Two more reverse passes per asset, with its price moved. As --greeks otherwise." },
    { "breakdown",   OPT_FLAG,     AT(breakdown),        NULL,       3, "results by counterparty, netting set and trade; also with --report and --tables", .in = IN_BOTH,
      .more = "Trades have contributions, which add up to the netting set." },
    { "add",         OPT_INPUT,    AT(add),              "TRADE.csv", 3, "incremental CVA: add these contracts to the book, and print what they change on the same paths", .without = "compare cube shard checkpoint units scale scale-plot target-se", .in = IN_JSON_SET,
      .more = "The file has the columns of a book." },
    { "quantile-error", OPT_POSITIVE, AT(opts.quantile_error), "E", 3, "keep sums over outer paths in place of their rows: PFE and expected shortfall have the relative error E, as 0.001; memory, units and parts do not grow with --outer", 1e-5, 0.5, .usual = "exact quantiles", .without = "add compare cube greeks gammas target-se validate", .in = IN_PART | IN_JSON_SET,
      .more = "A unit has about 280 / E bytes per date, and 140 / E more per counterparty and per netting set if they have results. Means and errors are exact." },
    { "compare",     OPT_FLAG,     AT(compare),          NULL,       4, "compute the same CVA by every estimator, in f64 and f32, and with every solver of inner; print differences on the same outer paths, and times", .without = "estimator solver raw-basis type plot report breakdown greeks gammas tables cube",
      .more = "24 runs; inner with auto, ldlt, ldltp, hhpcr and eigdc, each with the centred and the raw basis." },
    { "shard",       OPT_SHARD,    AT(shard),            "I/N",      3, "simulate part I of N of the outer paths, from 1, and write it to -o; see merge-parts", .with = "output", .without = "compare plot report tables",
      .more = "The part contains its rows, 6 N + 3 numbers per path, and the texts of book and market." },
    { "output",      OPT_OUTPUT,   AT(output),           "FILE",     5, "write the profile as .csv, one line per date; with --compare, one line per run; with --shard, the part", .letter = 'o' },
    { "tables",      OPT_TEXT,     AT(tables),           "DIR",      5, "write results by counterparty, netting set and trade: DIR/counterparties.csv, sets.csv, trades.csv, profiles.csv; with --greeks or --gammas sensitivities.csv",
      .more = "DIR is created if needed." },
    { "cube",        OPT_OUTPUT,   AT(cube),             "FILE.npy|.h5", 5, "write the value of every contract on every outer path and date: an array [path][contract][date]", .without = "shard checkpoint units scale scale-plot target-se", .ends = "npy|h5",
      .more = "Values include the quantity and payments on the date; they are not discounted. The array is written as the paths come." },
    { "plot",        OPT_OUTPUT,   AT(plot),             "F.svg",    5, "draw the profile", .ends = "svg" },
    { "report",      OPT_MADE,     AT(report),           "F.html",   5, "write an HTML page: CVA, DVA, FVA, exposures, tables by counterparty, netting set and trade, assumptions, diagnostics", .ends = "html",
      .more = "The page is self-contained. Missing folders are created. stdout then has at most ten lines." },
    { NULL,          OPT_INPUT,    AT(book),             "BOOK",     0, "the contracts", .needed = "" },
    { 0 }
};

static const char doc[] =
    "Credit valuation adjustment of a book of contracts, with DVA and FVA, by nested Monte Carlo: its standard error, an "
    "estimate of its bias, and the profile of exposures. BOOK is a .csv file, one contract per line: columns payoff (put, call, max-call, "
    "basket-put, basket-call, forward, digital-put, digital-call, fx-forward, fx-put, fx-call, down-out-put, down-out-call, down-in-put, down-in-call, up-out-put, up-out-call, up-in-put, "
    "up-in-call, asian-put, asian-call), assets, strike, maturity, and maybe barrier, fixings, style (european, american), weights, quantity, counterparty, set, id."
    "\vAll contracts of a netting set are added up before the positive part is taken; without a column set there is one per "
    "counterparty. "
    "docs/cva.md describes what is computed.\n\nExample:\n"
    "  shoal cva book.csv --market market.csv --plot profile.svg\n"
    "  shoal cva book.csv --market market.csv --rate 0.03 --report cva.html\n"
    "  shoal cva book.csv --market market.csv --hazard 1:0.02,3:0.05 --json\n"
    "  shoal cva book.csv --market market.csv --degree 2 --outer 256 --compare";
/* clang-format on */

static void check(void *arguments, struct argp_state *state) {
    const cva_options *o = arguments;
    if (o->output && !o->shards && strchr(o->output, '.') && !cli_ends_in(o->output, ".csv"))
        argp_error(state, "-o: '%s' does not end in .csv", o->output);
}

/* ---- runs ------------------------------------------------------------------------------------- */

/* Outer paths between two looks at the keyboard. A GPU needs many at a time, up to MAX_AT_ONCE if their rows are up to
 * ROW_NUMBERS; on a CPU a hundred of them may take seconds. */
enum { AT_ONCE_CPU = 1024, AT_ONCE = 16384, MAX_AT_ONCE = 65536, ROW_NUMBERS = 1 << 25 };
/* The first pieces are at once / these: by the second one the time is estimated. */
enum { FIRST_PIECE = 16, SECOND_PIECE = 4 };
enum { CUBE_NUMBERS = 1 << 22 }; /* of a cube at a time */
enum { WORTH_SAYING = 10 };      /* seconds */
/* Outer paths for --target-se: the most, and those that are run if the pilot run says that it takes more. */
enum { MAX_FOR_TARGET = 1 << 24, BEYOND_TARGET = 4096 };

/* A correlation matrix that is none: three assets whose correlations are impossible together, else the first row. */
static int report_invalid_correlation(const cva_options *o, const cva_book *b, int64_t row) {
    const int64_t d = b->assets;
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
    return cli_fail(CLI_INPUT,
                    "%s: correlation is not positive semidefinite: the correlations of %s with the "
                    "assets before it do not fit to those among these",
                    o->market, b->asset[row]);
}

/* Messages of the library about a contract are about a line of the book; numbers of assets and correlations are the
 * market's. */
static int status_of(cli *c, const cva_options *o, const cva_book *b, shoal_status status) {
    static const struct {
        const char *list, *column, *colon; /* of the market; that of curves */
    } columns[] = { { "s0", "spot", "" },
                    { "sigma", "volatility", "" },
                    { "dividend", "dividend", "" },
                    { "sigmas", "volatility", ":" },
                    { "dividends", "dividend", ":" } };
    const shoal_argument at = shoal_message_argument(c->ctx);
    const char *asset = at.index >= 0 && at.index < b->assets ? b->asset[at.index] : NULL;
#define IS(list) (strcmp(at.name, list) == 0)
    if (status != SHOAL_E_ARG) return cli_status(c, status);
    for (int k = 0; k < 5 && asset; k++)
        if (IS(columns[k].list))
            return cli_fail(CLI_INPUT, "%s: column %s of asset %s%s %s", o->market,
                            columns[k].column, asset, columns[k].colon, at.reason);
    if (IS("cash") && asset)
        return cli_fail(CLI_INPUT, "--dividends: asset %s: %s", asset, at.reason);
    if (IS("heston") && asset)
        return cli_fail(CLI_INPUT, "%s: asset %s: %s", o->market, asset, at.reason);
    if (IS("correlation") && asset) return report_invalid_correlation(o, b, at.index);
    if (IS("correlation")) return cli_fail(CLI_INPUT, "%s: %s", o->market, shoal_message(c->ctx));
    if (IS("rates")) return cli_fail(CLI_INPUT, "--%s", shoal_message(c->ctx));
    if (IS("heston")) return cli_fail(CLI_USAGE, "%s: %s", o->market, at.reason);
    if (IS("cash")) return cli_fail(CLI_USAGE, "--dividends: %s", at.reason);
    if (IS("contracts") && at.index >= 0 && at.index < b->count)
        return cli_fail(CLI_INPUT, "%s:%lld: %s", cva_file_of(o, b, at.index),
                        (long long)b->line[at.index], at.reason);
    if (IS("counterparty") && at.index >= 0 && at.index < b->parties)
        return cli_fail(CLI_INPUT, "%s: counterparty %s: %s", o->parties ? o->parties : o->book,
                        b->party[at.index], at.reason);
#undef IS
    return cli_status(c, status);
}

shoal_status cva_create_in(shoal_context *ctx, const cva_options *o, const cva_book *b,
                           const shoal_cva *rules_of, int rules_only, shoal_cva **plan) {
    const shoal_cva_market market = { .assets = b->assets,
                                      .rate = o->rate,
                                      .s0 = b->s0,
                                      .sigma = b->sigma,
                                      .dividend = b->dividend,
                                      .correlation = b->correlation,
                                      .rates = o->rates,
                                      .dividends = b->dividends,
                                      .sigmas = b->sigmas,
                                      .cash = b->cash,
                                      .heston = b->heston };
    shoal_cva_opts opts = o->opts;
    opts.rules_of = rules_of, opts.rules_only = rules_only;
    if (o->own.pieces) opts.own = &o->own;
    if (o->cube) opts.by_trade = 1;
    if (cva_has_breakdown(o)) *(cva_has_views(o, b) ? &opts.by_set : &opts.by_trade) = 1;
    if (b->csa) opts.csas = b->sets, opts.csa = b->csa;
    if (b->parties) opts.parties = b->parties, opts.party = b->set_of;
    return shoal_cva_create(ctx, &market, b->contract, b->count, b->parties ? b->terms : &o->party,
                            &opts, plan);
}

int cva_create(cli *c, const cva_options *o, const cva_book *b, const shoal_cva *rules_of,
               shoal_cva **plan) {
    if (o->cube && cva_has_views(o, b))
        return cli_fail(CLI_USAGE, "--cube: not with a margin period or a jump at default");
    return status_of(c, o, b, cva_create_in(c->ctx, o, b, rules_of, 0, plan));
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
    if (paths <= MAX_FOR_TARGET || paths <= (double)r->outer) return CLI_OK;
    return cli_refuse_target(o->opts.target, paths, "2^24 outer paths",
                             seconds * paths / (double)r->outer);
}

/* Outer paths to begin with. */
static int64_t first_outer(const cva_options *o, const cva_result *r) {
    if (!(o->opts.target > 0)) return o->opts.outer;
    const double chosen = r->info.outer <= MAX_FOR_TARGET ? r->info.outer : BEYOND_TARGET;
    return o->opts.outer > chosen ? o->opts.outer : (int64_t)chosen;
}

/* The time that the other outer paths take, from that of some. Other programs may slow these down: if it is long and the
 * `next` paths take no second, they are looked at, too. Returns whether it is known. */
static bool note_estimate(cli *c, cva_result *r, double seconds, double next) {
    const bool is_first = r->estimate == 0;
    if (is_first || seconds < r->estimate) r->estimate = seconds;
    if (r->estimate > WORTH_SAYING && is_first && next < 1) return false;
    if (r->estimate > WORTH_SAYING && r->info.outer <= MAX_FOR_TARGET) /* otherwise it is refused */
        cli_note(
            c,
            "the outer paths will take about %s; --estimator amc, fewer --outer or --inner paths "
            "take less",
            CLI_TIME(r->estimate));
    return true;
}

static int64_t paths_at_once(const cli *c, int64_t width) {
    if (strcmp(c->machine.backend, "cpu") == 0) return AT_ONCE_CPU;
    int64_t paths = MAX_AT_ONCE;
    while (paths > AT_ONCE && paths * width > ROW_NUMBERS) paths /= 2;
    return paths;
}

static int simulate(cli *c, const cva_options *o, const cva_book *b, const char *label,
                    shoal_cva *plan, cva_result *r) {
    const int64_t at_once = paths_at_once(c, r->width);
    int64_t outer = first_outer(o, r), pieces = 0;
    bool is_estimated = false;
    int code = CLI_OK;
    cli_progress bar = { 0 };
    const double begun = cli_now();
    cli_catch_interrupt();
    if (label) cli_progress_begin(&bar, c, label, outer);
    if (o->early) r->samples = o->early->rows, o->early->rows = NULL;
    cva_cube *cube = NULL;
    if (o->cube) code = cva_cube_open(o->cube, outer, b->count, r->info.dates, &cube);
    while (code == CLI_OK) {
        r->planned = outer;
        double *samples = cva_rows(r->samples, outer, r->width);
        if (samples)
            r->samples = samples;
        else
            code = cli_no_memory();
        while (r->outer < outer && code == CLI_OK && !cli_interrupted()) {
            const int64_t left = outer - r->outer;
            const int64_t most = at_once / (pieces == 0   ? FIRST_PIECE
                                            : pieces == 1 ? SECOND_PIECE
                                                          : 1);
            int64_t here = left < most ? left : most;
            const double start = cli_now();
            double *rows = r->samples + r->outer * r->width, *values = NULL;
            if (cube && here > CUBE_NUMBERS / (b->count * r->info.dates + 1) + 1)
                here = CUBE_NUMBERS / (b->count * r->info.dates + 1) + 1;
            if (cube && !(values = cva_cube_room(cube, here))) code = cli_no_memory();
            if (code == CLI_OK)
                code = status_of(c, o, b,
                                 r->totals ? shoal_cva_run_trades(plan, r->outer, here, rows,
                                                                  &r->counts, r->totals, values)
                                           : shoal_cva_run(plan, r->outer, here, rows, &r->counts));
            if (code == CLI_OK && cube) code = cva_cube_write(cube, r->outer, here);
            const double each = (cli_now() - start) / (double)here;
            if (code == CLI_OK && ++pieces > 1 && left > here && !is_estimated)
                is_estimated =
                    note_estimate(c, r, each * (double)(left - here), each * (double)at_once);
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
    if (cube && cva_cube_close(cube, code == CLI_OK && r->outer == outer) != CLI_OK)
        code = CLI_OUTPUT;
    return code;
}

shoal_status cva_adjust(const shoal_cva *plan, const cva_result *r, shoal_cva_part part,
                        int64_t index, shoal_cva_adjustments *to, shoal_cva_date *profile) {
    return r->sums ? shoal_cva_adjust_of_sums(plan, r->sums, r->outer, part, index, to, profile)
                   : shoal_cva_adjust(plan, r->samples, r->outer, part, index, to, profile);
}

int cva_compute(cli *c, const cva_options *o, const cva_book *b, const char *bar, cva_result *r) {
    shoal_cva *plan = NULL;
    const double start = cli_now();
    const shoal_cva *rules = o->early ? o->early->rules : NULL;
    const double before = o->early ? o->early->seconds : 0;
    *r = (cva_result){ .start = start - c->start - c->opened - before, .open = c->opened };
    const bool in_units = cva_in_units(c, o);
    int code = in_units ? cva_announce(c, o, b) : CLI_OK;
    if (code == CLI_OK) code = cva_create(c, o, b, rules, &plan);
    r->rules = cli_now() - start + before;
    if (code == CLI_OK) code = status_of(c, o, b, shoal_cva_describe(plan, &r->info));
    if (code == CLI_OK) {
        r->width = shoal_cva_width(plan);
        r->profile = calloc((size_t)r->info.dates, sizeof *r->profile);
        r->total_count = shoal_cva_totals(plan);
        if (r->total_count) r->totals = calloc((size_t)r->total_count, sizeof *r->totals);
        if (!r->profile || (r->total_count && !r->totals)) code = cli_no_memory();
    }
    if (code == CLI_OK)
        code = in_units ? cva_run_units(c, o, b, plan, r) : simulate(c, o, b, bar, plan, r);
    r->done = cli_now(), r->seconds = r->done - start;
    if (code == CLI_OK && r->outer > 0)
        code =
            status_of(c, o, b,
                      r->sums ? shoal_cva_result_of_sums(plan, r->sums, r->outer, &r->value, NULL)
                              : shoal_cva_result(plan, r->samples, r->outer, &r->value, NULL));
    if (code == CLI_OK && r->outer > 0)
        code = status_of(c, o, b, cva_adjust(plan, r, SHOAL_CVA_BOOK, 0, &r->all, r->profile));
    if (code == CLI_OK && r->outer > 0 && cva_has_breakdown(o))
        code = cva_break_down(c, plan, b, r);
    if (code == CLI_OK && r->outer > 0 && shoal_cva_parameters(plan) > 0)
        code = cva_take_greeks(c, plan, b, r);
    if (code == CLI_OK && o->opts.validate && r->outer > 1) {
        r->check = calloc((size_t)(b->count * r->info.dates) + 1, sizeof *r->check);
        code = r->check ? status_of(c, o, b,
                                    shoal_cva_validate(plan, r->samples, r->outer, &r->validation,
                                                       r->check))
                        : cli_no_memory();
    }
    if (o->add)
        r->plan = plan;
    else
        shoal_cva_free(plan);
    return code;
}

void cva_result_free(cva_result *r) {
    free(r->party), free(r->set), free(r->party_profile), free(r->set_profile);
    free(r->trade), free(r->trade_profile), free(r->totals), free(r->before);
    free(r->check), free(r->greek);
    shoal_cva_free(r->plan);
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

void cva_note_book(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    note_maturities(c, o, b, r->info.horizon);
    note_exercise(c, o, b, r);
}

/* What a reader of the results should know. */
static void notes(cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    cva_note_book(c, o, b, r);
    if (cva_has_breakdown(o) && cva_has_views(o, b))
        cli_note(c, "no contributions of trades: there are none with a margin period or a jump at "
                    "default");
    if (r->outer < 2 || !(r->value.bias > r->value.error)) return;
    const bool inner = o->opts.estimator == SHOAL_CVA_BY_INNER;
    cli_note(c, "the bias may be %.3g, more than the standard error of %.2g: %s", r->value.bias,
             r->value.error,
             inner ? "more inner paths (--inner), or --estimator rule"
                   : "more paths for the exercise rules (--rule-paths)");
}

/* The differences of all rows have the differences of what is linear in them, and their errors. */
static int difference(cli *c, const cva_options *o, const cva_book *b, cva_result *r,
                      const cva_result *before) {
    const int64_t numbers = r->outer * r->width;
    double *rows = malloc((size_t)numbers * sizeof *rows);
    shoal_cva_adjustments d = { 0 };
    if (!rows) return cli_no_memory();
    for (int64_t i = 0; i < numbers; i++) rows[i] = r->samples[i] - before->samples[i];
    const int code =
        status_of(c, o, b, shoal_cva_adjust(r->plan, rows, r->outer, SHOAL_CVA_BOOK, 0, &d, NULL));
    free(rows);
    d.pv = r->all.pv - before->all.pv;
    d.cva = cva_mean(r, before, r->outer, &d.cva_error);
    r->more = d;
    return code;
}

/* What the added contracts change: the same paths again, with none of them. */
static int subtract(cli *c, const cva_options *o, const cva_book *b, cva_result *r) {
    cva_book without = *b;
    cva_result before = { 0 };
    without.contract = malloc((size_t)b->count * sizeof *b->contract);
    r->before = malloc(sizeof *r->before);
    int code = without.contract && r->before ? CLI_OK : cli_no_memory();
    for (int64_t i = 0; i < b->count && code == CLI_OK; i++) {
        without.contract[i] = b->contract[i];
        if (i >= b->own) without.contract[i].quantity = 0;
    }
    if (code == CLI_OK) code = cva_compute(c, o, &without, "outer paths", &before);
    if (code == CLI_OK && before.outer == r->outer) {
        *r->before = before.all;
        code = difference(c, o, b, r, &before);
    } else {
        free(r->before), r->before = NULL;
    }
    cva_result_free(&before);
    free(without.contract);
    return code;
}

static int run(cli *c, const cva_options *o, const cva_book *b) {
    cva_result r = { 0 };
    io_error err;
    int code = cva_compute(c, o, b, "outer paths", &r);
    if (code == CLI_OK && o->add && b->count > b->own && r.outer > 0) code = subtract(c, o, b, &r);
    if (code == CLI_OK) notes(c, o, b, &r);
    if (code == CLI_OK && o->output && !o->shards && r.outer > 0)
        code = cva_write_csv(o->output, &r);
    if (code == CLI_OK && o->tables && r.outer > 0) code = cva_write_tables(o->tables, o, b, &r);
    if (code == CLI_OK && o->tables && r.greek) code = cva_write_greeks(o->tables, &r);
    if (code == CLI_OK && o->plot && r.outer > 0)
        code = cli_io(cva_plot(o->plot, o, &r, &err), &err);
    if (code == CLI_OK && o->report && r.outer > 0)
        code = cli_io(cva_write_page(o->report, c, o, b, &r, &err), &err);
    r.results = cli_now() - r.done;
    if (code == CLI_OK) code = cva_print(c, o, b, &r);
    if (r.check && !r.validation.passed && (code == CLI_OK || code == CLI_INTERRUPTED)) {
        char text[256];
        cva_verdict(o, b, &r, text);
        code = cli_fail(CLI_INVALID, "the validation %s: do not trust these numbers", text);
    }
    cva_result_free(&r);
    return code;
}

/* Reads the contracts of --add, and adds them. */
static int add_book(cli *c, const cva_options *o, cva_book *b, cva_book *more) {
    int code = o->parties ? cva_read_parties(c, o->parties, NULL, more) : CLI_OK;
    more->assets = b->assets, more->asset = b->asset, more->s0 = b->s0, more->sigmas = b->sigmas;
    more->today = b->today;
    if (code == CLI_OK) code = cva_read_book(c, o->add, NULL, more);
    if (code == CLI_OK && b->count > 0 && (b->parties > 0) != (more->parties > 0))
        code = cli_fail(CLI_INPUT, "%s has no column counterparty; %s has",
                        b->parties ? o->add : o->book, b->parties ? o->book : o->add);
    return code == CLI_OK ? cva_append(b, more) : code;
}

static int command(cli *c, int argc, char **argv) {
    static const double hazard = SHOAL_CVA_USUAL_HAZARD;
    cva_options o = {
        .own = { .recovery = SHOAL_CVA_USUAL_RECOVERY },
        .party = { .pieces = 1,
                   .hazard = &hazard,
                   .recovery = SHOAL_CVA_USUAL_RECOVERY,
                   .threshold = -1 },
        .opts = { .dates = SHOAL_CVA_USUAL_DATES, .outer = SHOAL_CVA_USUAL_OUTER, .control = 1 }
    };
    cva_book book = { 0 }, more = { 0 };
    int code = cli_parse(c, &cva_command, argc, argv, &o);
    if (!o.opts.solver) o.opts.solver = "auto";
    if (o.opts.target > 0 && !o.outer_given) o.opts.outer = 0; /* the pilot run chooses */
    o.party.collateral = o.party.threshold >= 0;
    if (code == CLI_OK) code = cva_read_settings(c, &o);
    book.today = o.today;
    if (code == CLI_OK) code = cva_read_market(c, o.market, cva_text_of(c, 1), &book);
    if (code == CLI_OK) code = cva_read_dividends(c, &o, &book);
    if (code == CLI_OK && o.parties)
        code = cva_read_parties(c, o.parties, cva_text_of(c, 2), &book);
    if (code == CLI_OK) code = cva_read_book(c, o.book, cva_text_of(c, 0), &book);
    if (code == CLI_OK && o.add) code = add_book(c, &o, &book, &more);
    if (code == CLI_OK && c->parts && o.dates)
        code = cli_fail(CLI_INPUT, "--dates: '%s' is a file; parts contain the times", o.dates);
    if (code == CLI_OK) code = cva_make_times(c, &o, &book);
    if (code == CLI_OK) cli_note_no_fast_math(c);
    cva_early early = { 0 };
    if (code == CLI_OK && !c->ctx) cva_want_one_queue(c, &o);
    const bool is_early = code == CLI_OK && cva_begins_early(c, &o, &book);
    if (code == CLI_OK && !is_early) code = cli_open(c);
    if (code == CLI_OK && o.swaps.count) code = cva_bootstrap(c, &o, &o.swaps, &o.party, &o.hazard);
    if (code == CLI_OK) code = cva_complete_parties(c, &o, &book);
    if (code == CLI_OK) code = cva_read_wrong_way(&o, &book);
    if (code == CLI_OK) code = cva_read_sets(c, &o, cva_text_of(c, 3), &book);
    o.opts.seed = c->seed;
    if (code == CLI_OK && o.no_netting && book.csa) code = cva_undo_sets(&book);
    if (code == CLI_OK && o.no_netting) code = cva_undo_netting(&book);
    if (code == CLI_OK && is_early) code = cva_open_early(c, &o, &book, &early);
    if (code == CLI_OK) code = o.compare ? cva_compare(c, &o, &book) : run(c, &o, &book);
    cva_early_free(&early);
    cva_book_free(&book);
    more.assets = 0, more.asset = NULL, more.s0 = NULL, more.sigmas = NULL; /* those of the book */
    cva_book_free(&more);
    cva_free_settings(&o);
    return code;
}

const cli_command cva_command = { "cva",
                                  "credit valuation adjustment of a book, with its exposures",
                                  .args = "BOOK --market FILE.csv",
                                  .doc = doc,
                                  .run = command,
                                  .tables = { { options, 0 },
                                              { unit_options, offsetof(cva_options, units) } },
                                  .check = check };
