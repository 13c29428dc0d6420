/* SPDX-License-Identifier: Apache-2.0
 *
 * price_heston.c - `shoal price heston`.
 */
#include "price.h"

#include <math.h>
#include <string.h>

enum {
    KEY_S0 = 0x2000,
    KEY_RATE,
    KEY_DIVIDEND,
    KEY_V0,
    KEY_KAPPA,
    KEY_THETA,
    KEY_SIGMA,
    KEY_RHO,
    KEY_G,
    KEY_VARIANT,
    KEY_COMPARE
};

/* clang-format off */
static const struct argp_option options[] = {
    { "s0",       KEY_S0,       "X", 0, "price of the asset today [1]", 1 },
    { "rate",     KEY_RATE,     "X", 0, "interest rate [0]", 1 },
    { "dividend", KEY_DIVIDEND, "X", 0, "dividend yield [0]", 1 },
    { "v0",       KEY_V0,       "X", 0, "variance today [0.1]", 1 },
    { "kappa",    KEY_KAPPA,    "X", 0, "speed of mean reversion [0.5]", 1 },
    { "theta",    KEY_THETA,    "X", 0, "long-run variance [0.1]", 1 },
    { "sigma",    KEY_SIGMA,    "X", 0, "volatility of the variance [0.3]", 1 },
    { "rho",      KEY_RHO,      "X", 0, "correlation [-0.7]", 1 },
    { "g",        KEY_G,        "G", 0, "euler, and a negative variance: full truncation, plus (positive part) or abs [full]", 2 },
    { "variant",  KEY_VARIANT,  "V", 0, "variant of the method: exact and conditional have poisson and normal [the first]", 2 },
    { "compare",  KEY_COMPARE,  NULL, 0, "Euler against exact over kappa, theta, sigma: a table, as CSV with -o, as a picture with --plot", 2 },
    { 0 }
};

static const char doc[] =
    "Prices calls and puts in Heston's model, dS = (r - q) S dt + sqrt(v) S dZ, dv = kappa (theta - v) dt + "
    "sigma sqrt(v) dW. Methods: euler, exact (exact steps of the variance), conditional (Black and Scholes given "
    "the variance path; the default) and analytic (the semi-closed form)."
    "\vEvery strike at every maturity comes out of one simulation. vega is the derivative with respect to sqrt(v0)."
    "\n\nExample:\n  shoal price heston --rho -0.7 --greeks\n"
    "  shoal price heston --method euler --g abs --steps 500 --target-se 1e-4\n"
    "  shoal price heston --strike 0.8,0.9,1,1.1,1.2 --maturity 0.5,1 --plot smile.svg\n"
    "  shoal price heston --compare -o compare.csv --plot compare.svg";
/* clang-format on */

typedef struct arguments {
    shoal_heston m;
    price_options o;
    const char *g;
    bool compare, merging;
    bool kappa, theta, sigma; /* given */
} arguments;

static void check(arguments *a, struct argp_state *state) {
    price_options *o = &a->o;
    if (a->g && o->variant) argp_error(state, "--g and --variant exclude each other");
    if (o->output && !o->shards && !a->compare)
        argp_error(state, a->merging ? "-o is for parts of price bullet"
                                     : "-o is for --shard and --compare");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->o; return 0;
    case KEY_S0:        a->m.s0 = cli_arg_positive(state, "--s0", arg); return 0;
    case KEY_RATE:      a->m.rate = cli_arg_double(state, "--rate", arg); return 0;
    case KEY_DIVIDEND:  a->m.dividend = cli_arg_double(state, "--dividend", arg); return 0;
    case KEY_V0:        a->m.v0 = cli_arg_double(state, "--v0", arg); return 0;
    case KEY_KAPPA:     a->m.kappa = cli_arg_double(state, "--kappa", arg); a->kappa = true; return 0;
    case KEY_THETA:     a->m.theta = cli_arg_double(state, "--theta", arg); a->theta = true; return 0;
    case KEY_SIGMA:     a->m.sigma = cli_arg_double(state, "--sigma", arg); a->sigma = true; return 0;
    case KEY_RHO:       a->m.rho = cli_arg_double(state, "--rho", arg); return 0;
    case KEY_G:         a->g = arg; return 0;
    case KEY_VARIANT:   a->o.variant = arg; return 0;
    case KEY_COMPARE:   a->compare = true; return 0;
    case ARGP_KEY_END:  check(a, state); return 0;
    default:            return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

/* The comparison chooses methods and the parameters of the variance itself. */
static int check_compare(const arguments *a) {
    const price_options *o = &a->o;
    const price_given not [] = { { "--shard", o->shards > 0 },
                                 { "--target-se", o->target > 0 },
                                 { "--method", o->method != NULL },
                                 { "--g", a->g != NULL },
                                 { "--variant", o->variant != NULL },
                                 { "--greeks", o->greeks != 0 },
                                 { "--kappa", a->kappa },
                                 { "--theta", a->theta },
                                 { "--sigma", a->sigma },
                                 { "second --strike", o->strike.count > 1 },
                                 { "second --maturity", o->maturity.count > 1 },
                                 { NULL, false } };
    return a->compare ? price_compare_check(not ) : CLI_OK;
}

/* Fills in what was not said, and says what will not be used. */
static int settle(cli *c, const char *who, arguments *a) {
    price_options *o = &a->o;
    int code = check_compare(a);
    if (code == CLI_OK) code = price_check_plot(o, false);
    if (code != CLI_OK) return code;
    if (!o->method || strcmp(o->method, "auto") == 0) o->method = "conditional";
    const bool euler = strcmp(o->method, "euler") == 0;
    const bool analytic = strcmp(o->method, "analytic") == 0;
    code = cli_check_method(who, "heston", o->method, a->g && euler ? a->g : o->variant);
    if (code != CLI_OK) return code;
    if (a->g && euler) o->variant = a->g;
    if (!a->merging && !a->compare) {
        if (a->g && !euler) cli_note(c, "--g has no effect: %s has no such choice", o->method);
        if (o->antithetic && (analytic || strcmp(o->method, "conditional") == 0))
            cli_note(c, "--antithetic has no effect: %s has no normals to mirror", o->method);
        if (o->type == SHOAL_F32 && !euler)
            cli_note(c, "--type f32 has no effect: %s is computed in f64", o->method);
        if (analytic && (o->paths || o->steps || o->target > 0))
            cli_note(c, "--paths, --steps and --target-se have no effect: analytic has no paths");
        if (c->fast_math && !(euler && o->type == SHOAL_F32))
            cli_note(c, "--math fast changes nothing: it is for euler with --type f32");
        if (analytic) cli_note_no_seed(c);
    }
    o->s0 = a->m.s0, o->rate = a->m.rate, o->dividend = a->m.dividend;
    if (!o->paths) o->paths = PRICE_PATHS;
    if (!o->steps) o->steps = euler || a->compare ? PRICE_STEPS : PRICE_EXACT_STEPS;
    if (analytic && o->shards)
        return cli_fail(CLI_USAGE, "--shard: analytic has no paths to share");
    const bool at_the_money = a->compare && o->strike.count == 0;
    code = price_default_lists(o);
    if (code == CLI_OK && at_the_money) o->strike.values[0] = a->m.s0;
    return code;
}

static void words_of(const price_job *job, part_words *w) {
    if (job->o->variant) part_word(w, "--variant", job->o->variant);
}

/* The price by formula, for the picture; NaN if it is not to be had. */
static double truth_of(cli *c, const arguments *a) {
    shoal_price_opts o = price_opts_of(c, &a->o);
    shoal_price *plan = NULL;
    shoal_price_value v = { .price = NAN };
    if (cli_interrupted()) return NAN; /* no more waiting */
    o.method = "analytic", o.variant = NULL, o.strikes = o.maturities = 1;
    if (shoal_price_heston(c->ctx, &a->m, &o, &plan) == SHOAL_OK)
        (void)shoal_price_result(plan, NULL, 0, &v);
    shoal_price_free(plan);
    return v.price;
}

enum { DENSITY = 201 };

/* The density of S_T by formula, e^(rT) d2C/dK2, which is gamma (S0/K)^2 e^(rT): C is homogeneous. */
static int density(cli *c, const arguments *a, const shoal_price_value *at) {
    const double maturity = a->o.maturity.values[0];
    const double width = at->implied_vol * sqrt(maturity);
    double x[DENSITY], y[DENSITY];
    if (!(width > 0))
        return cli_fail(CLI_FAILED, "--plot: there is no density to draw, S_T is known");
    for (int i = 0; i < DENSITY; i++)
        x[i] = a->m.s0 *
               exp((a->m.rate - a->m.dividend) * maturity + width * (7.0 * i / (DENSITY - 1) - 4));
    shoal_price_opts o = price_opts_of(c, &a->o);
    shoal_price_value v[DENSITY];
    shoal_price *plan = NULL;
    o.strike = x, o.strikes = DENSITY, o.maturities = 1, o.greeks = 1, o.put = 0;
    int code = cli_status(c, shoal_price_heston(c->ctx, &a->m, &o, &plan));
    if (code == CLI_OK) code = price_by_formula(c, plan, v);
    shoal_price_free(plan);
    if (code != CLI_OK) return code;
    for (int i = 0; i < DENSITY; i++)
        y[i] = v[i].gamma * exp(a->m.rate * maturity) * (a->m.s0 / x[i]) * (a->m.s0 / x[i]);
    return price_plot_density(a->o.plot, "Heston", DENSITY, x, y);
}

static int draw(const price_job *job, const price_outcome *out) {
    const arguments *a = job->arguments;
    if (out->info.deterministic && a->o.strike.count == 1) return density(job->c, a, out->values);
    return price_plot(a->o.plot, "Heston", &a->o, out, truth_of(job->c, a));
}

static int run(cli *c, const arguments *a, const price_part *parts, int64_t count) {
    const shoal_heston *m = &a->m;
    const shoal_price_opts o = price_opts_of(c, &a->o);
    price_job job = { .c = c,
                      .command = "price heston",
                      .arguments = a,
                      .o = &a->o,
                      .parameter = { { "s0", m->s0 },
                                     { "rate", m->rate },
                                     { "dividend", m->dividend },
                                     { "v0", m->v0 },
                                     { "kappa", m->kappa },
                                     { "theta", m->theta },
                                     { "sigma", m->sigma },
                                     { "rho", m->rho } },
                      .words = words_of,
                      .draw = draw,
                      .print = price_print };
    const int code = cli_status(c, shoal_price_heston(c->ctx, m, &o, &job.plan));
    return code == CLI_OK ? price_finish(&job, parts, count) : code;
}

int price_heston(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    static const struct argp_child children[] = { { &price_european_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    arguments a = { .m = shoal_heston_example(), .merging = parts != NULL };
    int code = cli_parse(c, &argp, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = a.compare ? price_compare(c, &a.m, &a.o) : run(c, &a, parts, count);
    price_options_free(&a.o);
    return code;
}

int cmd_price_heston(cli *c, int argc, char **argv) { return price_heston(c, argc, argv, NULL, 0); }
