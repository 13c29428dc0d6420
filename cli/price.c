/* SPDX-License-Identifier: Apache-2.0
 *
 * price.c - `shoal price`: its models, and the options that they share.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

/* clang-format off */
static const cli_command models[] = {
    { "heston", cmd_price_heston, "calls and puts in Heston's model of stochastic variance" },
    { "expou",  cmd_price_expou,  "calls and puts where the logarithm of the volatility is an Ornstein-Uhlenbeck process" },
    { "bullet", cmd_price_bullet, "bullet options: calls that pay if S was below a barrier often enough" },
    { "american", cmd_price_american, "American and Bermudan options on several assets, by regressions on paths" },
    { NULL, NULL, NULL }
};

enum {
    KEY_METHOD = 0x3000, KEY_PATHS, KEY_STEPS, KEY_TYPE, KEY_TARGET, KEY_PLOT, KEY_SHARD, KEY_PUT,
    KEY_ANTITHETIC, KEY_CONTROL, KEY_NO_CONTROL, KEY_GREEKS, KEY_BUMP, KEY_STRIKE, KEY_MATURITY
};

static const struct argp_option options[] = {
    { 0, 0, NULL, 0, "Contract and simulation:", 20 },
    { "strike",     KEY_STRIKE,     "K,..",  0, "strikes [1; bullet: 100]", 20 },
    { "maturity",   KEY_MATURITY,   "T,..",  0, "maturities, ascending, in years [1]", 20 },
    { "put",        KEY_PUT,        NULL,    0, "puts instead of calls", 20 },
    { "method",     KEY_METHOD,     "M",     0, "method of the model [auto]", 20 },
    { "paths",      KEY_PATHS,      "N",     0, "paths, at most 2^40 [262144]", 20 },
    { "steps",      KEY_STEPS,      "N",     0, "steps to the last maturity [euler: 1000, else 64; bullet: its dates]", 20 },
    { "type",       KEY_TYPE,       "T",     0, "f32 or f64: of paths, those of exact steps always f64; sums are f64 [f64]", 20 },
    { "target-se",  KEY_TARGET,     "E",     0, "simulate until the standard error of every price (not of the derivatives) is at most E, instead of --paths", 20 },
    { "control",    KEY_CONTROL,    NULL,    0, "use S_T, whose mean is known, as control variate [conditional: yes]", 20 },
    { "no-control", KEY_NO_CONTROL, NULL,    0, "do not; of american, neither hedge the cash flows that are regressed", 20 },
    { "plot",       KEY_PLOT,       "F.svg", 0, "draw convergence, smile, density, or what the method has", 20 },
    { "shard",      KEY_SHARD,      "I/N",   0, "simulate part I of N, from 1, and write it to -o; see merge-parts", 20 },
    { "output",     'o',            "FILE",  0, "where to write the part, or what the model has", 20 },
    { 0 }
};

static const struct argp_option european_options[] = {
    { "antithetic", KEY_ANTITHETIC, NULL,    0, "each path beside its mirror image", 20 },
    { "greeks",     KEY_GREEKS,     NULL,    0, "delta, gamma and vega too (bullet: no vega)", 20 },
    { "bump",       KEY_BUMP,       "H",     0, "of --greeks by paths: S0 (1 +- H) for delta and gamma [a share of the deviation of log S_T]", 20 },
    { 0 }
};
/* clang-format on */

int cmd_price(cli *c, int argc, char **argv) {
    return cli_dispatch(c, models, "module",
                        "Prices options by Monte Carlo or by formula, with standard errors.",
                        "Example:\n  shoal price heston --rho -0.7 --greeks\n"
                        "  shoal price heston --method euler --target-se 1e-4 --plot p.svg\n"
                        "  shoal price bullet --method quad --at 50,100,20",
                        argc, argv);
}

void price_arg_list(struct argp_state *state, const char *option, const char *text,
                    price_list *list) {
    int64_t count = 1;
    for (const char *at = text; *at; at++) count += *at == ',';
    free(list->values);
    list->values = calloc((size_t)count, sizeof *list->values);
    if (!list->values) argp_failure(state, CLI_UNAVAILABLE, 0, "not enough memory");
    list->count = 0;
    for (const char *at = text; list->values; at += strcspn(at, ",") + 1) {
        const size_t length = strcspn(at, ",");
        double *value = &list->values[list->count++];
        if (!io_text_double(at, length, value) || !isfinite(*value))
            argp_error(state, "%s: '%.*s' is not a finite number", option,
                       (int)(length < 40 ? length : 40), at);
        if (!at[length]) break;
    }
}

static void check(const price_options *o, struct argp_state *state) {
    if (o->bump > 0 && !o->greeks) argp_error(state, "--bump is for --greeks");
    if (o->shards && !o->output) argp_error(state, "--shard needs -o: where to write the part");
    if (o->shards && o->target > 0)
        argp_error(state, "--shard and --target-se exclude each other: a part has its paths");
    if (o->shards && o->plot)
        argp_error(state, "--shard and --plot exclude each other: merge-parts knows the whole");
    cli_check_outputs(state, (const char *[CLI_OUTPUTS]){ o->output, o->plot }, NULL);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    price_options *o = state->input;
    /* clang-format off */
    switch (key) {
    case 'o':            o->output = arg; return 0;
    case KEY_METHOD:     o->method = arg; return 0;
    case KEY_PATHS:      o->paths = cli_arg_int(state, "--paths", arg, 1, SHOAL_PRICE_MOST); return 0;
    case KEY_STEPS:      o->steps = cli_arg_int(state, "--steps", arg, 1, 1 << 30); return 0;
    case KEY_TYPE:       o->type = cli_arg_type(state, arg); return 0;
    case KEY_TARGET:     o->target = cli_arg_positive(state, "--target-se", arg); return 0;
    case KEY_PLOT:       o->plot = arg; return 0;
    case KEY_SHARD:      cli_arg_shard(state, arg, &o->shard, &o->shards); return 0;
    case KEY_PUT:        o->put = 1; return 0;
    case KEY_CONTROL:    o->control = 1; return 0;
    case KEY_NO_CONTROL: o->control = -1; return 0;
    case KEY_STRIKE:     price_arg_list(state, "--strike", arg, &o->strike); return 0;
    case KEY_MATURITY:   price_arg_list(state, "--maturity", arg, &o->maturity); return 0;
    case ARGP_KEY_ARG:   argp_error(state, "unexpected argument '%s'", arg); return 0;
    case ARGP_KEY_END:   check(o, state); return 0;
    default:             return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

static error_t parse_european(int key, char *arg, struct argp_state *state) {
    price_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = o; return 0;
    case KEY_ANTITHETIC: o->antithetic = 1; return 0;
    case KEY_GREEKS: o->greeks = 1; return 0;
    case KEY_BUMP: o->bump = cli_arg_positive(state, "--bump", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp price_argp = { .options = options, .parser = parse };
static const struct argp_child shared[] = { { &price_argp, 0, NULL, 0 }, { 0 } };
const struct argp price_european_argp = { .options = european_options,
                                          .parser = parse_european,
                                          .children = shared };

int price_default_lists(price_options *o) {
    for (int i = 0; i < 2; i++) {
        price_list *list = i ? &o->maturity : &o->strike;
        if (list->values) continue;
        list->values = malloc(sizeof *list->values);
        if (!list->values) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
        list->values[0] = 1, list->count = 1;
    }
    return CLI_OK;
}

void price_options_free(price_options *o) {
    free(o->strike.values);
    free(o->maturity.values);
}
