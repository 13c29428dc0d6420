/* SPDX-License-Identifier: Apache-2.0
 *
 * expou.c - `shoal price expou`.
 */
#include "price.h"

#include <math.h>

typedef struct arguments {
    shoal_expou m;
    price_options o;
    double nu2;
    bool nu2_given, paper, merging;
    int in_s;
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "s0",       OPT_POSITIVE, AT(m.s0),    "X",  1, "price of the asset today", .in = IN_MODEL },
    { "rate",     OPT_REAL,     AT(m.rate),  "X",  1, "interest rate", .in = IN_MODEL },
    { "alpha",    OPT_REAL,     AT(m.alpha), "X",  1, "speed of mean reversion", .in = IN_MODEL },
    { "m",        OPT_REAL,     AT(m.m),     "X",  1, "long-run logarithm of the volatility", .in = IN_MODEL },
    { "beta",     OPT_REAL,     AT(m.beta),  "X",  1, "volatility of the logarithm", .in = IN_MODEL },
    { "nu2",      OPT_REAL,     AT(nu2),     "X",  1, "instead of --beta: the stationary variance of the logarithm", 0, 1e300, .usual = "", .without = "beta", .given = offsetof(arguments, nu2_given) },
    { "nu2-form", OPT_CHOICE,   AT(paper),   "F",  1, "how beta follows from nu2: usual is sqrt(2 alpha nu2), paper is that times 1 - e^m", .words = "usual|paper", .with = "nu2" },
    { "scheme",   OPT_CHOICE,   AT(in_s),    "S",  2, "euler: what is stepped, log S, or s: S itself, equation (6) of the project sheet", .words = "log|s" },
    { "y0",       OPT_REAL,     AT(m.y0),    "X",  1, "logarithm of the volatility today", .usual = "log 0.1", .in = IN_MODEL },
    { "rho",      OPT_REAL,     AT(m.rho),   "X",  1, "correlation", .in = IN_MODEL },
    { 0 }
};

static const char doc[] =
    "Prices calls and puts in the exponential Ornstein-Uhlenbeck model, dS = r S dt + e^Y S dW, dY = alpha (m - Y) dt + beta dV. "
    "Methods: euler and conditional (exact steps of Y, Black-Scholes given its path; the default).\vThe variance of S_T is "
    "infinite unless rho < 0 and rho^2 > 1/2: price calls with conditional, or price puts. For rho > 0 the discounted price of the "
    "asset is only a local martingale. vega is the derivative with respect to e^y0.\n\n"
    "Example:\n"
    "  shoal price expou --m -2.302585093 --greeks\n"
    "  shoal price expou --nu2 0.25 --rho -0.5 --method euler --put --paths 1e5";
/* clang-format on */

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    price_check_output(state, &a->o, a->merging, "--shard");
}

/* Paths of S itself; the other method has Black and Scholes given the path of Y. */
static bool is_euler(const arguments *a) {
    return shoal_method_flags("expou", a->o.opts.method, NULL) & SHOAL_CAN_EULER;
}

static void notes(const cli *c, const arguments *a) {
    const price_options *o = &a->o;
    const bool euler = is_euler(a);
    if (o->opts.type == SHOAL_F32 && !euler)
        cli_note(c, "--type f32 has no effect: conditional computes in f64");
    if (a->in_s && !euler) cli_note(c, "--scheme has no effect on conditional");
    if (c->fast_math) cli_note(c, "--math fast has no effect on expou");
    if (euler && !shoal_expou_has_variance(&a->m, o->opts.put))
        cli_note(
            c,
            "the variance of S_T is infinite: this standard error is not reliable; price the put, "
            "or use --method conditional");
    if ((a->m.beta < 0 ? -a->m.rho : a->m.rho) > 0 && a->m.beta != 0)
        cli_note(
            c, "rho > 0: the discounted price of the asset is only a local martingale: its mean is "
               "below the forward, and put-call parity does not hold");
}

/* Fills in what was not said. */
static int settle(cli *c, const char *who, arguments *a) {
    price_options *o = &a->o;
    price_default_method(o, "conditional");
    if (a->in_s && is_euler(a)) o->opts.variant = "s";
    int code = cli_check_method(who, "expou", o->opts.method, NULL);
    if (code == CLI_OK) code = price_check_plot(o, false);
    if (code != CLI_OK) return code;
    if (a->nu2_given) a->m.beta = shoal_expou_beta(a->m.alpha, a->m.m, a->nu2, a->paper);
    if (!a->merging) notes(c, a);
    o->s0 = a->m.s0, o->rate = a->m.rate;
    if (!o->paths) o->paths = SHOAL_PRICE_PATHS;
    return price_default_lists(o);
}

static void more_json(const price_job *job, io_json *j) {
    const arguments *a = job->arguments;
    io_json_bool(j, "finite_variance",
                 !is_euler(a) || shoal_expou_has_variance(&a->m, a->o.opts.put));
}

static int draw(const price_job *job, const price_outcome *out) {
    return price_plot(job->o->plot, "Exponential Ornstein-Uhlenbeck", job->o, out, NAN);
}

static int make(cli *c, const void *arguments_of, shoal_price **plan) {
    const arguments *a = arguments_of;
    const shoal_price_opts o = price_opts_of(c, &a->o);
    return cli_status(c, shoal_price_expou(c->ctx, &a->m, &o, plan));
}

static int run(cli *c, const arguments *a) {
    price_job job = { .c = c,
                      .command = &price_expou_command,
                      .arguments = a,
                      .o = &a->o,
                      .make = make,
                      .json = more_json,
                      .draw = draw,
                      .print = price_print };
    return price_finish(&job);
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .m = shoal_expou_example(), .merging = c->parts != NULL };
    int code = cli_parse(c, &price_expou_command, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, &a);
    price_options_free(&a.o);
    return code;
}

const cli_command price_expou_command = {
    "price expou",
    "calls and puts in the exponential Ornstein-Uhlenbeck model",
    .doc = doc,
    .run = command,
    .tables = { { options, 0 },
                { price_strikes, offsetof(arguments, o) },
                { price_contract, offsetof(arguments, o) },
                { price_european, offsetof(arguments, o) },
                { price_simulation, offsetof(arguments, o) },
                { unit_options, offsetof(arguments, o.units) } },
    .check = check
};
