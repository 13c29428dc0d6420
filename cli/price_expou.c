/* SPDX-License-Identifier: Apache-2.0
 *
 * price_expou.c - `shoal price expou`.
 */
#include "price.h"

#include <math.h>
#include <string.h>

enum { KEY_S0 = 0x2000, KEY_RATE, KEY_ALPHA, KEY_M, KEY_BETA, KEY_NU2, KEY_FORM, KEY_Y0, KEY_RHO };

/* clang-format off */
static const struct argp_option options[] = {
    { "s0",       KEY_S0,    "X", 0, "price of the asset today [1]", 1 },
    { "rate",     KEY_RATE,  "X", 0, "interest rate [0]", 1 },
    { "alpha",    KEY_ALPHA, "X", 0, "speed of mean reversion [1]", 1 },
    { "m",        KEY_M,     "X", 0, "long-run logarithm of the volatility [0.1]", 1 },
    { "beta",     KEY_BETA,  "X", 0, "volatility of the logarithm [0.1]", 1 },
    { "nu2",      KEY_NU2,   "X", 0, "instead of --beta: the stationary variance of the logarithm", 1 },
    { "nu2-form", KEY_FORM,  "F", 0, "beta out of nu2: usual, sqrt(2 alpha nu2), or paper, that times 1 - e^m [usual]", 1 },
    { "y0",       KEY_Y0,    "X", 0, "logarithm of the volatility today [log 0.1]", 1 },
    { "rho",      KEY_RHO,   "X", 0, "correlation [0]", 1 },
    { 0 }
};

static const char doc[] =
    "Prices calls and puts in the exponential Ornstein-Uhlenbeck model, dS = r S dt + e^Y S dW, dY = alpha (m - Y) dt + beta "
    "dV. Methods: euler and conditional (exact steps of Y, Black and Scholes given its path; the default)."
    "\vThe variance of S_T is infinite unless rho < 0 and rho^2 >= 1/2: price calls by conditional, or puts. For rho > 0 the price "
    "of the asset is a local martingale only. vega is the derivative with respect to e^y0.\n\nExample:\n"
    "  shoal price expou\n  shoal price expou --m -2.302585093 --greeks\n"
    "  shoal price expou --nu2 0.25 --rho -0.5 --method euler --put --target-se 1e-4";
/* clang-format on */

typedef struct arguments {
    shoal_expou m;
    price_options o;
    double nu2;
    bool nu2_given, beta_given, paper, merging;
} arguments;

static void check(arguments *a, struct argp_state *state) {
    if (a->nu2_given && a->beta_given) argp_error(state, "--beta and --nu2 exclude each other");
    if (a->nu2_given && a->nu2 < 0) argp_error(state, "--nu2: %g is less than 0", a->nu2);
    if (a->paper && !a->nu2_given) argp_error(state, "--nu2-form is for --nu2");
    if (a->o.output && !a->o.shards)
        argp_error(state, a->merging ? "-o is for parts of price bullet" : "-o is for --shard");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->o; return 0;
    case KEY_S0:        a->m.s0 = cli_arg_positive(state, "--s0", arg); return 0;
    case KEY_RATE:      a->m.rate = cli_arg_double(state, "--rate", arg); return 0;
    case KEY_ALPHA:     a->m.alpha = cli_arg_double(state, "--alpha", arg); return 0;
    case KEY_M:         a->m.m = cli_arg_double(state, "--m", arg); return 0;
    case KEY_BETA:      a->m.beta = cli_arg_double(state, "--beta", arg); a->beta_given = true; return 0;
    case KEY_NU2:       a->nu2 = cli_arg_double(state, "--nu2", arg); a->nu2_given = true; return 0;
    case KEY_FORM:
        a->paper = strcmp(arg, "paper") == 0;
        if (!a->paper && strcmp(arg, "usual") != 0)
            argp_error(state, "--nu2-form: '%s' is neither usual nor paper", arg);
        return 0;
    case KEY_Y0:        a->m.y0 = cli_arg_double(state, "--y0", arg); return 0;
    case KEY_RHO:       a->m.rho = cli_arg_double(state, "--rho", arg); return 0;
    case ARGP_KEY_END:  check(a, state); return 0;
    default:            return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

static void notes(const cli *c, const arguments *a) {
    const price_options *o = &a->o;
    const bool euler = strcmp(o->method, "euler") == 0;
    if (o->type == SHOAL_F32 && !euler)
        cli_note(c, "--type f32 has no effect: conditional is computed in f64");
    if (c->fast_math) cli_note(c, "--math fast changes nothing here");
    if (euler && !shoal_expou_has_variance(&a->m, o->put))
        cli_note(
            c,
            "the variance of S_T is infinite: do not trust this standard error; price the put, or "
            "use --method conditional");
    if ((a->m.beta < 0 ? -a->m.rho : a->m.rho) > 0 && a->m.beta != 0)
        cli_note(
            c, "rho > 0: the price of the asset is a local martingale only, its mean is below the "
               "forward, and parity of calls and puts does not hold");
}

/* Fills in what was not said. */
static int settle(cli *c, const char *who, arguments *a) {
    price_options *o = &a->o;
    if (!o->method || strcmp(o->method, "auto") == 0) o->method = "conditional";
    int code = cli_check_method(who, "expou", o->method, NULL);
    if (code == CLI_OK) code = price_check_plot(o, false);
    if (code != CLI_OK) return code;
    if (a->nu2_given) a->m.beta = shoal_expou_beta(a->m.alpha, a->m.m, a->nu2, a->paper);
    if (!a->merging) notes(c, a);
    o->s0 = a->m.s0, o->rate = a->m.rate;
    if (!o->paths) o->paths = PRICE_PATHS;
    if (!o->steps) o->steps = strcmp(o->method, "euler") == 0 ? PRICE_STEPS : PRICE_EXACT_STEPS;
    return price_default_lists(o);
}

static void more_json(const price_job *job, io_json *j) {
    const arguments *a = job->arguments;
    io_json_bool(j, "finite_variance",
                 strcmp(a->o.method, "euler") != 0 || shoal_expou_has_variance(&a->m, a->o.put));
}

static int draw(const price_job *job, const price_outcome *out) {
    return price_plot(job->o->plot, "Exponential Ornstein-Uhlenbeck", job->o, out, NAN);
}

static int run(cli *c, const arguments *a, const price_part *parts, int64_t count) {
    const shoal_expou *m = &a->m;
    const shoal_price_opts o = price_opts_of(c, &a->o);
    price_job job = { .c = c,
                      .command = "price expou",
                      .arguments = a,
                      .o = &a->o,
                      .parameter = { { "s0", m->s0 },
                                     { "rate", m->rate },
                                     { "alpha", m->alpha },
                                     { "m", m->m },
                                     { "beta", m->beta },
                                     { "y0", m->y0 },
                                     { "rho", m->rho } },
                      .json = more_json,
                      .draw = draw,
                      .print = price_print };
    const int code = cli_status(c, shoal_price_expou(c->ctx, m, &o, &job.plan));
    return code == CLI_OK ? price_finish(&job, parts, count) : code;
}

int price_expou(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    static const struct argp_child children[] = { { &price_european_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    arguments a = { .m = shoal_expou_example(), .merging = parts != NULL };
    int code = cli_parse(c, &argp, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, &a, parts, count);
    price_options_free(&a.o);
    return code;
}

int cmd_price_expou(cli *c, int argc, char **argv) { return price_expou(c, argc, argv, NULL, 0); }
