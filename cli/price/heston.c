/* SPDX-License-Identifier: Apache-2.0
 *
 * heston.c - `shoal price heston`.
 */
#include "price.h"

#include <math.h>
#include <string.h>

typedef struct arguments {
    shoal_heston m;
    price_options o;
    const char *g;
    int64_t exact_steps;
    int in_s;
    bool compare, merging, scheme;
    bool kappa, theta, sigma; /* given */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
#define GIVEN(member) .given = offsetof(arguments, member)
static const cli_option options[] = {
    { "s0",       OPT_POSITIVE, AT(m.s0),           "X",  1, "price of the asset today", .in = IN_MODEL },
    { "rate",     OPT_REAL,     AT(m.rate),         "X",  1, "interest rate", .in = IN_MODEL },
    { "dividend", OPT_REAL,     AT(m.dividend),     "X",  1, "dividend yield", .in = IN_MODEL },
    { "v0",       OPT_REAL,     AT(m.v0),           "X",  1, "variance today", .in = IN_MODEL },
    { "kappa",    OPT_REAL,     AT(m.kappa),        "X",  1, "speed of mean reversion", .in = IN_MODEL, GIVEN(kappa) },
    { "theta",    OPT_REAL,     AT(m.theta),        "X",  1, "long-run variance", .in = IN_MODEL, GIVEN(theta) },
    { "sigma",    OPT_REAL,     AT(m.sigma),        "X",  1, "volatility of the variance", .in = IN_MODEL, GIVEN(sigma) },
    { "rho",      OPT_REAL,     AT(m.rho),          "X",  1, "correlation", .in = IN_MODEL },
    { "g",        OPT_TEXT,     AT(g),              "G",  2, "euler: how a negative variance is used: full (truncation), plus (positive part) or abs", .words = "full|plus|abs", .usual = "full", .without = "variant" },
    { "scheme",   OPT_CHOICE,   AT(in_s),           "S",  2, "euler: what is stepped, log S, or s: S itself, equation (4) of the project sheet", .words = "log|s", .without = "variant", GIVEN(scheme) },
    { "variant",  OPT_TEXT,     AT(o.opts.variant), "V",  2, "exact and conditional: poisson or normal", .usual = "poisson", .suggest = "poisson|normal", .in = IN_PART },
    { "compare",  OPT_FLAG,     AT(compare),        NULL, 2, "compare euler with exact over kappa, theta and sigma: a table, CSV with -o, a plot with --plot",
      .more = "euler takes --steps [1000], exact takes --exact-steps (the sheet: 1000); one strike [s0] and one maturity, a call or --put, with --antithetic and --control as given. Other options are refused." },
    { "exact-steps", OPT_INT,   AT(exact_steps),    "N",  2, "with --compare: steps of exact", 1, 1 << 20, .usual = "8 kappa T, at least 8", .with = "compare" },
    { 0 }
};

static const char doc[] =
    "Prices calls and puts in Heston's model, dS = (r - q) S dt + sqrt(v) S dZ, dv = kappa (theta - v) dt + sigma sqrt(v) dW. "
    "Methods: euler, qe (Andersen's scheme), exact (exact steps of the variance), conditional (Black-Scholes given the variance path; the default) and "
    "analytic (the semi-closed form).\vOne simulation prices every strike at every maturity. vega is the derivative with respect "
    "to sqrt(v0).\n\n"
    "Example:\n"
    "  shoal price heston --rho -0.7 --greeks\n"
    "  shoal price heston --method euler --g abs --steps 500 --target-se 1e-4\n"
    "  shoal price heston --method qe --steps 32 --antithetic\n"
    "  shoal price heston --strike 0.8,0.9,1,1.1 --maturity 0.5,1 --plot smile.svg\n"
    "  shoal price heston --compare -o compare.csv --plot compare.svg";
/* clang-format on */

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    if (!a->compare) price_check_output(state, &a->o, a->merging, "--shard or --compare");
}

/* The comparison chooses methods and the parameters of the variance itself. */
static int check_compare(const arguments *a) {
    if (!a->compare) return CLI_OK;
    const price_options *o = &a->o;
    if (o->strike.count > 1 || o->maturity.count > 1)
        return cli_fail(CLI_USAGE, "--compare takes one --%s",
                        o->strike.count > 1 ? "strike" : "maturity");
    return price_compare_check(&price_heston_command, a,
                               "shard target-se method g scheme variant greeks kappa theta sigma");
}

/* The variant of euler that --g and --scheme name; a wrong --g stays as it is, to be refused. */
static const char *variant_of_euler(const arguments *a) {
    static const char *const names[][2] = { { "full", "full-s" },
                                            { "plus", "plus-s" },
                                            { "abs", "abs-s" } };
    for (int i = 0; i < 3; i++)
        if (strcmp(a->g ? a->g : "full", names[i][0]) == 0) return names[i][a->in_s];
    return a->g;
}

/* Fills in defaults, and notes options without effect. */
static int settle(cli *c, const char *who, arguments *a) {
    price_options *o = &a->o;
    int code = check_compare(a);
    if (code == CLI_OK) code = price_check_plot(o, false);
    if (code != CLI_OK) return code;
    price_default_method(o, "conditional");
    const unsigned can = shoal_method_flags("heston", o->opts.method, NULL);
    const bool euler = can & SHOAL_CAN_EULER, analytic = !(can & SHOAL_CAN_WALK);
    const bool chosen = euler && (a->g || a->in_s);
    if (chosen) o->opts.variant = variant_of_euler(a);
    code = cli_check_method(who, "heston", o->opts.method, o->opts.variant);
    if (code != CLI_OK) return code;
    if (!a->merging && !a->compare) {
        if (a->g && !euler) cli_note(c, "--g has no effect on %s", o->opts.method);
        if (a->in_s && !euler) cli_note(c, "--scheme has no effect on %s", o->opts.method);
        if (o->opts.antithetic && !(can & SHOAL_CAN_MIRROR))
            cli_note(c, "--antithetic has no effect on %s", o->opts.method);
        if (o->opts.type == SHOAL_F32 && !euler)
            cli_note(c, "--type f32 has no effect: %s computes in f64", o->opts.method);
        if (analytic && (o->paths || o->opts.steps || o->target > 0))
            cli_note(c, "--paths, --steps and --target-se have no effect: analytic has no paths");
        if (c->fast_math && !(euler && o->opts.type == SHOAL_F32))
            cli_note(c, "--math fast has no effect without --method euler --type f32");
        if (analytic) cli_note_no_seed(c);
    }
    o->s0 = a->m.s0, o->rate = a->m.rate, o->dividend = a->m.dividend;
    if (!o->paths) o->paths = SHOAL_PRICE_PATHS;
    if (!o->opts.steps && a->compare) o->opts.steps = PRICE_STEPS;
    if (analytic && o->shards) return cli_fail(CLI_USAGE, "--shard: analytic simulates no paths");
    const bool at_the_money = a->compare && o->strike.count == 0;
    code = price_default_lists(o);
    if (code == CLI_OK && at_the_money) o->strike.values[0] = a->m.s0;
    return code;
}

/* The price by formula, for the picture; NaN if it is not to be had. */
static double price_by_analytic(cli *c, const arguments *a) {
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
        return cli_fail(CLI_FAILED, "--plot: there is no density to plot: S_T is not random");
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
    return price_plot(a->o.plot, "Heston", &a->o, out, price_by_analytic(job->c, a));
}

static int make(cli *c, const void *arguments_of, shoal_price **plan) {
    const arguments *a = arguments_of;
    const shoal_price_opts o = price_opts_of(c, &a->o);
    return cli_status(c, shoal_price_heston(c->ctx, &a->m, &o, plan));
}

static int run(cli *c, const arguments *a) {
    price_job job = { .c = c,
                      .command = &price_heston_command,
                      .arguments = a,
                      .o = &a->o,
                      .make = make,
                      .draw = draw,
                      .print = price_print };
    return price_finish(&job);
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .m = shoal_heston_example(), .merging = c->parts != NULL };
    int code = cli_parse(c, &price_heston_command, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = a.compare ? price_compare(c, &a.m, &a.o, a.exact_steps) : run(c, &a);
    price_options_free(&a.o);
    return code;
}

const cli_command price_heston_command = {
    "price heston",
    "calls and puts in Heston's model of stochastic variance",
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
