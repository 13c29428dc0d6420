/* SPDX-License-Identifier: Apache-2.0
 *
 * price.c - the options that the models of `shoal price` share.
 */
#include "price.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define AT(member) CLI_AT(price_options, member)
const cli_option price_contract[] = {
    { "strike",     OPT_REALS,    AT(strike),          "K,..",  20, "strikes", .usual = "1", .in = IN_BOTH },
    { "maturity",   OPT_REALS,    AT(maturity),        "T,..",  20, "maturities, ascending", .unit = "years", .usual = "1", .in = IN_BOTH },
    { "put",        OPT_FLAG,     AT(opts.put),        NULL,    20, "puts instead of calls", .in = IN_BOTH },
    { 0 }
};

const cli_option price_simulation[] = {
    { .kind = OPT_HEADING, .group = 20, .help = "Contract and simulation:" },
    { "method",     OPT_TEXT,     AT(opts.method),     "M",     20, "method of the model", .usual = "auto", .in = IN_PART },
    { "paths",      OPT_INT,      AT(paths),           "N",     20, "paths, at most 2^40", 1, SHOAL_PRICE_MOST, .usual = "262144", .in = IN_PART },
    { "steps",      OPT_INT,      AT(opts.steps),      "N",     20, "steps to the last maturity", 1, 1 << 30, .usual = "euler: 1000, else 64; bullet: its dates", .in = IN_PART },
    { "type",       OPT_CHOICE,   AT(opts.type),       "T",     20, "f32 or f64: of paths, those of exact steps always f64; sums are f64", .words = CLI_TYPES, .in = IN_BOTH,
      .more = "With f32 --math fast uses special functions of a GPU." },
    { "target-se",  OPT_POSITIVE, AT(target),          "E",     20, "simulate until the standard error of every price (not of the derivatives) is at most E, instead of --paths", .in = IN_JSON_SET,
      .more = "If no path paid, 0 +- 0 counts as reached after 2^22 paths only; a note and `unpaid` tell." },
    { "control",    OPT_FLAG,     AT(opts.control),    NULL,    20, "use S_T, whose mean is known, as control variate [conditional: yes]", .in = IN_PART },
    { "no-control", OPT_FLAG,     AT(opts.control),    NULL,    20, "do not; of american, neither hedge the cash flows that are regressed", .value = -1, .in = IN_PART },
    { "plot",       OPT_OUTPUT,   AT(plot),            "F.svg", 20, "draw convergence, smile, density, or what the method has" },
    { "shard",      OPT_SHARD,    AT(shard),           "I/N",   20, "simulate part I of N, from 1, and write it to -o; see merge-parts" },
    { "output",     OPT_OUTPUT,   AT(output),          "FILE",  20, "where to write the part, or what the model has", .letter = 'o' },
    { 0 }
};

const cli_option price_european[] = {
    { "antithetic", OPT_FLAG,     AT(opts.antithetic), NULL,    20, "each path beside its mirror image", .in = IN_PART },
    { "greeks",     OPT_FLAG,     AT(opts.greeks),     NULL,    20, "delta, gamma and vega too (bullet: no vega)", .in = IN_PART },
    { "bump",       OPT_POSITIVE, AT(opts.bump),       "H",     20, "of --greeks by paths: S0 (1 +- H) for delta and gamma", .usual = "a share of the deviation of log S_T", .in = IN_PART },
    { 0 }
};
/* clang-format on */

void price_check(const price_options *o, struct argp_state *state) {
    if (o->opts.bump > 0 && !o->opts.greeks) argp_error(state, "--bump is for --greeks");
    if (o->shards && !o->output) argp_error(state, "--shard needs -o: where to write the part");
    if (o->shards && o->target > 0)
        argp_error(state, "--shard and --target-se exclude each other: a part has its paths");
    if (o->shards && o->plot)
        argp_error(state, "--shard and --plot exclude each other: merge-parts draws the whole");
}

void price_default_method(price_options *o, const char *method) {
    if (!o->opts.method || strcmp(o->opts.method, "auto") == 0) o->opts.method = method;
}

int price_default_lists(price_options *o) {
    for (int i = 0; i < 2; i++) {
        price_list *list = i ? &o->maturity : &o->strike;
        if (list->values) continue;
        list->values = malloc(sizeof *list->values);
        if (!list->values) return cli_no_memory();
        list->values[0] = 1, list->count = 1;
    }
    return CLI_OK;
}

void price_options_free(price_options *o) {
    free(o->strike.values);
    free(o->maturity.values);
}

shoal_price_opts price_opts_of(const cli *c, const price_options *o) {
    shoal_price_opts opts = o->opts;
    opts.math = c->fast_math ? SHOAL_FAST : SHOAL_EXACT, opts.seed = c->seed;
    opts.strikes = o->strike.count, opts.strike = o->strike.values;
    opts.maturities = o->maturity.count, opts.maturity = o->maturity.values;
    return opts;
}

int price_check_plot(const price_options *o, bool png) {
    if (!o->plot || cli_ends_in(o->plot, ".svg") || (png && cli_ends_in(o->plot, ".png")))
        return CLI_OK;
    return cli_fail(CLI_USAGE, "--plot: '%s' does not end in .svg%s", o->plot,
                    png ? " or .png" : "; a .png is drawn of price bullet --method pde alone");
}
