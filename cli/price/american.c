/* SPDX-License-Identifier: Apache-2.0
 *
 * american.c - `shoal price american`.
 */
#include "cli/cva/cva.h"
#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In the order of shoal_payoff. */
static const char *const payoffs[] = { "put", "call", "max-call", "basket-put", "basket-call" };

enum { S0, SIGMA, DIVIDEND, WEIGHT, CORRELATION, LISTS };
static const char *const list_options[LISTS] = { "--s0", "--sigma", "--dividend", "--weights",
                                                 "--correlation" };

enum { RATES, YIELDS, SIGMAS, CASH, CURVES };

typedef struct arguments {
    price_options o;
    price_list list[LISTS];
    double *matrix; /* of correlations */
    double rate, fit_seconds;
    int payoff; /* -1: not said */
    shoal_american_opts opts;
    shoal_american_fit fit; /* of all options together; price and error those of the first */
    bool merging;
    bool upper;
    int64_t inner, outer;
    price_exact_opts exact; /* of methods exact and pde, without sigma */
    price_list exercise;
    const char *points[CURVES];
    price_outcome above; /* of the upper bounds */
} arguments;

static void parse_basis(struct argp_state *state, const cli_option *row, const char *text,
                        void *of) {
    arguments *a = of;
    (void)row;
    a->opts.degree = 1;
    if (strcmp(text, "linear") == 0) return;
    if (strncmp(text, "poly:", 5) != 0)
        argp_error(state, "--basis: '%s' is neither linear nor poly:DEGREE", text);
    a->opts.degree = cli_arg_int(state, "--basis poly", text + 5, 1, SHOAL_AMERICAN_BASIS);
}

static char *basis_text(const void *of) {
    const int64_t degree = ((const arguments *)of)->opts.degree;
    char text[40];
    snprintf(text, sizeof text, "poly:%lld", (long long)degree);
    return degree ? strdup(text) : NULL;
}

static shoal_curve *curve_at(arguments *a, int which) {
    shoal_vanilla_pde_opts *o = &a->exact.grid;
    shoal_curve *const all[] = { &o->rates, &o->dividends, &o->sigmas, &o->cash };
    return all[which];
}

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "payoff",      OPT_CHOICE, AT(payoff),            "P",    1, "put, call, max-call, basket-put or basket-call", .words = "put|call|max-call|basket-put|basket-call", .usual = "put", .without = "put", .in = IN_BOTH },
    { "strike",      OPT_REALS,  AT(o.strike),          "K,..", 1, "strikes", .usual = "the first of --s0: 100", .in = IN_BOTH },
    { "assets",      OPT_INT,    AT(opts.assets),       "D",    1, "number of assets", 1, SHOAL_AMERICAN_ASSETS, .usual = "the count of --s0, --sigma or --dividend", .in = IN_BOTH },
    { "s0",          OPT_REALS,  AT(list[S0]),          "X,..", 1, "prices of the assets today, or one for all", .usual = "100", .in = IN_BOTH },
    { "sigma",       OPT_REALS,  AT(list[SIGMA]),       "X,..", 1, "volatilities, or one for all", .usual = "0.2", .in = IN_BOTH },
    { "dividend",    OPT_REALS,  AT(list[DIVIDEND]),    "X,..", 1, "dividend yields, or one for all", .usual = "0", .in = IN_BOTH },
    { "weights",     OPT_REALS,  AT(list[WEIGHT]),      "W,..", 1, "weights of the assets in a basket", .usual = "1/D each", .in = IN_PART | IN_JSON_SET },
    { "correlation", OPT_REALS,  AT(list[CORRELATION]), "R,..", 1, "correlations, or one for all pairs: of assets 2 1, 3 1, 3 2, 4 1, ...", .usual = "0", .in = IN_PART },
    { "rate",        OPT_REAL,   AT(rate),              "X",    1, "interest rate", .in = IN_BOTH },
    { "dates",       OPT_INT,    AT(opts.dates),        "N",    1, "exercise dates, i T/N for i = 1 .. N", 1, 1 << 20, .usual = "exact, pde: exercise at any time; lsm: 50", .in = IN_BOTH },
    { "exercise",    OPT_REALS,  AT(exercise),          "T,..", 1, "with --method pde: times of exercise, beside maturity", .unit = "years", .usual = "--dates", .without = "dates", .in = IN_JSON_SET },
    { "cash",        OPT_TEXT,   AT(points[CASH]),      "T:D,..", 1, "with --method pde: cash dividends, amounts at times (3m:0.8,9m:0.8)", .usual = "none", .in = IN_JSON_SET,
      .more = "The volatility is that of the price without the value of all later dividends." },
    { "rates",       OPT_TEXT,   AT(points[RATES]),     "T:R,..", 1, "with --method pde: zero rates, instead of --rate", .in = IN_JSON_SET },
    { "dividends",   OPT_TEXT,   AT(points[YIELDS]),    "T:Q,..", 1, "with --method pde: dividend yields to these times, instead of --dividend", .in = IN_JSON_SET },
    { "sigmas",      OPT_TEXT,   AT(points[SIGMAS]),    "T:V,..", 1, "with --method pde: volatilities of options with these maturities, instead of --sigma", .in = IN_JSON_SET },
    { "basis",       OPT_OTHER,  AT(opts.degree),       "B",    1, "basis of the regressions: linear, or poly:DEGREE", .usual = "poly:3, less with many assets", .suggest = "linear|poly:2|poly:3|poly:4|poly:5", .parse = parse_basis, .text = basis_text, .in = IN_PART,
      .more = "Up to 64 functions." },
    { "raw-basis",   OPT_FLAG,   AT(opts.raw),          NULL,   1, "polynomials of the prices themselves, neither centred nor scaled", .in = IN_BOTH },
    { "solver",      OPT_TEXT,   AT(opts.solver),       "M",    1, "solver of the regressions: a method of `shoal solve small`", .usual = "auto", .methods = "smallsym", .in = IN_BOTH },
    { "fit-paths",   OPT_INT,    AT(opts.fit_paths),    "N",    1, "paths on which the exercise rule is fitted", 1, INT32_MAX, .usual = "65536", .in = IN_PART },
    { "upper",       OPT_FLAG,   AT(upper),             NULL,   1, "also an upper bound, by nested simulation", .without = "shard" },
    { "inner",       OPT_INT,    AT(inner),             "N",    1, "with --upper: inner paths per date of an outer path, rounded up to a multiple of 256", 1, 1 << 24, .usual = "512" },
    { "outer",       OPT_INT,    AT(outer),             "N",    1, "with --upper: outer paths", 1, INT32_MAX, .usual = "512" },
    { "greeks",      OPT_FLAG,   AT(o.opts.greeks),     NULL,   1, "with --method exact or pde: also delta, gamma, vega, theta and rho" },
    { "nodes",       OPT_INT,    AT(exact.nodes),       "N",    1, "with --method exact: points of the exercise boundary, 6 to 32; pde: nodes of the grid, 41 to 6401", 6, 6401, .usual = "24; pde: 801" },
    { "european",    OPT_FLAG,   AT(exact.european),    NULL,   1, "with --method exact: exercise at maturity only", .in = IN_JSON },
    { "options",     OPT_INPUT,  AT(exact.file),        "F.csv", 1, "with --method exact or pde: many options, one per line; columns s0, strike, rate, sigma, maturity, dividend, call (1 or 0); give those that differ. A column price in place of sigma (exact): the volatilities that give these prices" },
    { 0 }
};

static const char doc[] =
    "Prices American options in the Black-Scholes model. The default for a put or a call on one asset has no sampling error: "
    "an integral equation (exact) for exercise at any time, finite differences (pde) with exercise dates, cash dividends or "
    "curves. Several assets and options of simulations are priced by lsm: as Bermudan options, by the least-squares Monte Carlo "
    "method of Longstaff and Schwartz. An exercise rule is fitted on one set of paths and priced on another: the price is a lower "
    "bound, up to its standard error. Several strikes and maturities are fitted together. Methods: exact, pde, lsm and dual (the "
    "same as --upper).\vIn the money the payoffs of puts, calls and baskets are "
    "linear in the prices. The payoff of a max-call is one more basis function beside the polynomials; there are up to 64 "
    "functions.\n\n"
    "Example:\n"
    "  shoal price american --s0 36 --strike 36,40,44 --rate 0.06 -o prices.csv\n"
    "  shoal price american --s0 36 --strike 40 --rate 0.06 --dates 50\n"
    "  shoal price american --strike 95,100 --cash 3m:0.8,9m:0.8 --greeks\n"
    "  shoal price american --s0 36 --strike 40 --rate 0.06 --dates 50 --method lsm\n"
    "  shoal price american --payoff max-call --s0 100,100 --dividend 0.1 --dates 9\n"
    "  shoal price american --payoff basket-put --assets 5 --strike 90,100,110";
/* clang-format on */

/* Without paths; or a method that does not exist. */
static bool is_exact(const arguments *a) {
    const char *method = a->o.opts.method;
    return method && !(shoal_method_flags("american", method, NULL) & SHOAL_CAN_WALK);
}

static bool is_pde(const arguments *a) {
    return a->o.opts.method && strcmp(a->o.opts.method, "pde") == 0;
}

static void choose(arguments *a) {
    char name[CLI_NAME];
    int64_t assets = a->opts.assets;
    const cli_command *of = &price_american_command;
    for (int i = 0; i < CORRELATION; i++)
        if (a->list[i].count > assets) assets = a->list[i].count;
    const bool simulated = a->merging || cli_given_among(of, a, price_simulated, name);
    const bool dated = cli_given_among(of, a, price_dated, name);
    const shoal_payoff payoff = a->payoff < 0 ? SHOAL_PUT : (shoal_payoff)a->payoff;
    price_default_method(&a->o, shoal_american_method(payoff, assets, simulated, dated));
}

/* Options that need a method without paths. */
static const struct {
    const char *options, *method;
} unsimulated[] = { { "greeks nodes european options", "exact or pde" }, { price_curves, "pde" } };

static void check(void *of, struct argp_state *state) {
    arguments *a = of;
    choose(a);
    if (shoal_method_flags("american", a->o.opts.method, NULL) & SHOAL_CAN_NEST)
        a->upper = true, a->o.opts.method = "lsm";
    if (!is_exact(a))
        price_check_output(state, &a->o, a->merging, "--shard, --method exact or pde");
    for (int i = 0; i < 2 && !is_exact(a); i++) {
        char name[CLI_NAME];
        const char *given =
            cli_given_among(&price_american_command, a, unsimulated[i].options, name);
        if (given) argp_error(state, "%s needs --method %s", given, unsimulated[i].method);
    }
    if ((a->inner || a->outer) && !a->upper) argp_error(state, "--inner and --outer need --upper");
    if (a->upper && a->o.shards) argp_error(state, "--method dual and --shard exclude each other");
    int64_t *d = &a->opts.assets;
    for (int i = 0; i < CORRELATION && !*d; i++)
        if (a->list[i].count > 1) *d = a->list[i].count;
    if (!*d) *d = 1;
    for (int i = 0; i < CORRELATION; i++)
        if (a->list[i].count > 1 && a->list[i].count != *d)
            argp_error(state, "%s has %s for %s", list_options[i],
                       CLI_COUNT(a->list[i].count, "number"), CLI_COUNT(*d, "asset"));
    const int64_t pairs = *d * (*d - 1) / 2, given = a->list[CORRELATION].count;
    if (given > 1 && given != pairs)
        argp_error(state, "--correlation has %s for %s of assets", CLI_COUNT(given, "number"),
                   CLI_COUNT(pairs, "pair"));
}

/* One number, or the default, becomes one per asset; weights stay away unless they are given. */
static int widen(price_list *list, int64_t count, double otherwise) {
    if (list->count == count) return CLI_OK;
    const double value = list->count ? list->values[0] : otherwise;
    free(list->values);
    list->values = malloc((size_t)count * sizeof *list->values);
    if (!list->values) return cli_no_memory();
    for (int64_t i = 0; i < count; i++) list->values[i] = value;
    list->count = count;
    return CLI_OK;
}

static int make_matrix(arguments *a) {
    const int64_t d = a->opts.assets;
    const price_list *pairs = &a->list[CORRELATION];
    a->matrix = malloc((size_t)(d * d) * sizeof *a->matrix);
    if (!a->matrix) return cli_no_memory();
    for (int64_t i = 0, pair = 0; i < d; i++) {
        a->matrix[i * d + i] = 1;
        for (int64_t j = 0; j < i; j++, pair++)
            a->matrix[i * d + j] = a->matrix[j * d + i] =
                !pairs->count ? 0 : pairs->values[pairs->count > 1 ? pair : 0];
    }
    return CLI_OK;
}

static int check_exact(const cli *c, const arguments *a) {
    if (a->opts.assets > 1 || a->payoff > SHOAL_CALL)
        return cli_fail(CLI_USAGE, "--method %s prices a put or a call on one asset",
                        a->o.opts.method);
    return price_exact_check(c, a, &a->o, &a->exact);
}

/* What pde takes besides numbers. */
static int settle_grid(arguments *a) {
    static const char *const names[] = { "rates", "dividends", "sigmas", "cash" };
    shoal_vanilla_pde_opts *o = &a->exact.grid;
    int code = CLI_OK;
    o->dates = a->opts.dates, o->exercises = a->exercise.count, o->exercise = a->exercise.values;
    o->nodes = a->exact.nodes, o->steps = a->o.opts.steps;
    for (int i = 0; i < CURVES && code == CLI_OK; i++) {
        if (!a->points[i]) continue;
        code = cva_curve_points(a->points[i], 0, curve_at(a, i));
        if (code == CLI_INPUT || (code == CLI_OK && curve_at(a, i)->count == 0))
            code = cli_fail(CLI_USAGE,
                            "--%s: '%s' must be times and numbers, ascending: 3m:0.8,1y:0.9",
                            names[i], a->points[i]);
    }
    return code;
}

/* Fills in what was not said. */
static int settle(cli *c, const char *who, arguments *a) {
    price_options *o = &a->o;
    const int64_t d = a->opts.assets;
    int code = cli_check_method(who, "american", o->opts.method, NULL);
    a->exact.pde = is_pde(a);
    if (code == CLI_OK && is_exact(a)) code = check_exact(c, a);
    if (code == CLI_OK && a->exact.pde) {
        if (!a->exact.nodes) a->exact.nodes = SHOAL_VANILLA_PDE_NODES;
        code = settle_grid(a);
    }
    if (code == CLI_OK) code = price_check_plot(o, false);
    if (code != CLI_OK) return code;
    if (!a->opts.dates && !is_exact(a)) a->opts.dates = SHOAL_AMERICAN_DATES;
    if (!a->exact.nodes) a->exact.nodes = 24;
    if (o->opts.steps && !a->merging && !a->exact.pde)
        cli_note(c, "--steps has no effect: a path has one step per date, %lld",
                 (long long)a->opts.dates);
    if (c->fast_math && !a->merging) cli_note(c, "--math fast has no effect on american");
    if (a->payoff < 0) a->payoff = SHOAL_PUT;
    o->opts.put = a->payoff == SHOAL_PUT || a->payoff == SHOAL_BASKET_PUT;
    o->opts.steps = a->opts.dates;
    if (!o->paths) o->paths = SHOAL_PRICE_PATHS;
    if (!o->strike.count)
        code = widen(&o->strike, 1, a->list[S0].count ? a->list[S0].values[0] : 100);
    if (code == CLI_OK) code = widen(&a->list[S0], d, 100);
    if (code == CLI_OK) code = widen(&a->list[SIGMA], d, 0.2);
    if (code == CLI_OK) code = widen(&a->list[DIVIDEND], d, 0);
    if (code == CLI_OK && a->list[WEIGHT].count) code = widen(&a->list[WEIGHT], d, 1);
    if (code == CLI_OK) code = make_matrix(a);
    o->s0 = a->list[S0].values ? a->list[S0].values[0] : 0, o->rate = a->rate;
    o->dividend = a->list[DIVIDEND].values ? a->list[DIVIDEND].values[0] : 0;
    if (!a->opts.solver) a->opts.solver = "auto";
    a->opts.type = o->opts.type, a->opts.seed = c->seed, a->opts.control = o->opts.control;
    return code == CLI_OK ? price_default_lists(o) : code;
}

/* ---- results ---------------------------------------------------------------------------------- */

static int64_t functions(const arguments *a) {
    return shoal_american_functions(a->opts.assets, a->opts.degree, (shoal_payoff)a->payoff);
}

static void print_table(const cli *c, const arguments *a, const price_outcome *out) {
    const shoal_american_fit *f = &a->fit;
    printf("option        %s on %s, rate %g, %s\n", payoffs[a->payoff],
           CLI_COUNT(a->opts.assets, "asset"), a->rate, CLI_COUNT(a->opts.dates, "date"));
    printf(
        "fit           %s on %s%s: %lld truncated, %lld warned, %lld failed, %lld without a path "
        "in the money; %s\n",
        CLI_COUNT(f->systems, "regression"), CLI_COUNT(functions(a), "function"),
        a->opts.raw ? ", raw" : "", (long long)f->truncated, (long long)f->warned,
        (long long)f->failed, (long long)f->empty, CLI_TIME(a->fit_seconds));
    price_table(c, &a->o, out);
    for (int64_t i = 0; a->upper && i < a->above.info.contracts && a->above.samples > 0; i++)
        printf("upper bound   %s\n",
               CLI_MEASURED(a->above.values[i].price, a->above.values[i].error));
}

/* clang-format off */
#define FIT(name, member) CLI_RESULT(name, arguments, member)
static const cli_option fit_results[] = {
    FIT("systems", fit.systems), FIT("truncated", fit.truncated), FIT("refined", fit.refined), FIT("warned", fit.warned),
    FIT("failed", fit.failed), FIT("empty", fit.empty), FIT("price", fit.price), FIT("stderr", fit.error),
    FIT("seconds", fit_seconds),
    { 0 }
};
static const cli_option upper_results[] = {
    CLI_RESULT("upper", shoal_price_value, price), CLI_RESULT("upper_stderr", shoal_price_value, error),
    { 0 }
};
/* clang-format on */

static void print_upper(io_json *j, const arguments *a) {
    const price_outcome *above = &a->above;
    if (!a->upper || above->samples == 0) return;
    io_json_int(j, "inner", a->inner);
    io_json_int(j, "outer", above->samples);
    io_json_double(j, "upper_seconds", above->seconds);
    if (above->info.contracts == 1) {
        cli_json_results(j, upper_results, above->values);
        return;
    }
    io_json_array(j, "upper"); /* in the order of the surface */
    for (int64_t i = 0; i < above->info.contracts; i++) {
        io_json_object_line(j, NULL);
        cli_json_results(j, upper_results, &above->values[i]);
        io_json_close(j);
    }
    io_json_close(j);
}

static int print(cli *c, const arguments *a, const price_outcome *out) {
    if (!c->json) {
        print_table(c, a, out);
        return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    }
    io_json *j = cli_json_begin(c, "price american");
    cli_json_options(j, c, &price_american_command, a);
    io_json_doubles(j, "correlation", a->matrix, a->opts.assets * a->opts.assets);
    io_json_int(j, "functions", functions(a));
    io_json_object(j, "fit");
    cli_json_results(j, fit_results, a);
    io_json_close(j);
    print_upper(j, a);
    price_json(j, c, &a->o, out);
    return cli_json_end(c, CLI_OK);
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* A plan for every strike at every maturity. */
static int make_plan(cli *c, arguments *a, shoal_price **plan) {
    const price_options *o = &a->o;
    const int64_t count = o->strike.count * o->maturity.count;
    const double start = cli_now();
    shoal_american *all = calloc((size_t)count, sizeof *all);
    shoal_american_fit *fits = calloc((size_t)count, sizeof *fits);
    int code = all && fits ? CLI_OK : cli_no_memory();
    for (int64_t i = 0; i < count && code == CLI_OK; i++)
        all[i] = (shoal_american){ .payoff = (shoal_payoff)a->payoff,
                                   .strike = o->strike.values[i % o->strike.count],
                                   .rate = a->rate,
                                   .maturity = o->maturity.values[i / o->strike.count],
                                   .s0 = a->list[S0].values,
                                   .sigma = a->list[SIGMA].values,
                                   .dividend = a->list[DIVIDEND].values,
                                   .weight = a->list[WEIGHT].values,
                                   .correlation = a->matrix };
    if (code == CLI_OK)
        code = cli_status(c, shoal_price_american(c->ctx, all, count, &a->opts, plan));
    if (code == CLI_OK) code = cli_status(c, shoal_american_fits(*plan, fits));
    if (code == CLI_OK) a->fit = fits[0];
    for (int64_t i = 1; i < count && code == CLI_OK; i++) {
        a->fit.systems += fits[i].systems, a->fit.empty += fits[i].empty;
        a->fit.warned += fits[i].warned, a->fit.truncated += fits[i].truncated;
        a->fit.refined += fits[i].refined, a->fit.failed += fits[i].failed;
    }
    a->fit_seconds = cli_now() - start;
    free(all);
    free(fits);
    return code;
}

/* The dual of the same rule, which is fitted once more. */
static int run_upper(cli *c, arguments *a) {
    const shoal_american_fit fit = a->fit;
    const double seconds = a->fit_seconds;
    shoal_price *plan = NULL;
    price_options o = a->o;
    if (!a->inner) a->inner = 512;
    o.paths = a->outer ? a->outer : 512, o.target = 0;
    a->opts.inner = a->inner;
    int code = make_plan(c, a, &plan);
    if (code == CLI_OK) code = price_simulate(c, &o, plan, &a->above);
    a->opts.inner = 0, a->fit = fit, a->fit_seconds = seconds;
    shoal_price_free(plan);
    return code;
}

/* The same; notes in the arguments how the rule was fitted. */
static int make(cli *c, const void *arguments_of, shoal_price **plan) {
    return make_plan(c, (arguments *)(uintptr_t)arguments_of, plan);
}

static int run(cli *c, arguments *a) {
    const price_options *o = &a->o;
    if (is_exact(a)) {
        a->exact.sigma = a->list[SIGMA].values[0];
        return price_exact(c, a, o, &a->exact);
    }
    price_job job = {
        .c = c, .command = &price_american_command, .arguments = a, .o = o, .make = make
    };
    price_outcome out = { 0 };
    int code = price_compute(&job, &out);
    if (code == CLI_OK && o->plot && price_has_values(&out))
        code = price_plot(o->plot, "American option, lower bound", o, &out, NAN);
    if (code == CLI_OK && a->upper && !cli_interrupted()) code = run_upper(c, a);
    if (code == CLI_OK) code = print(c, a, &out);
    price_outcome_free(&out);
    price_outcome_free(&a->above);
    shoal_price_free(job.plan);
    return code;
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .rate = 0.05, .payoff = -1, .merging = c->parts != NULL };
    int code = cli_parse(c, &price_american_command, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, &a);
    for (int i = 0; i < LISTS; i++) free(a.list[i].values);
    for (int i = 0; i < CURVES; i++) cva_curve_free(curve_at(&a, i));
    free(a.exercise.values);
    free(a.matrix);
    price_options_free(&a.o);
    return code;
}

const cli_command price_american_command = {
    "price american",
    "American and Bermudan options on one or several assets",
    .doc = doc,
    .run = command,
    .tables = { { options, 0 },
                { price_contract, offsetof(arguments, o) },
                { price_simulation, offsetof(arguments, o) },
                { unit_options, offsetof(arguments, o.units) } },
    .check = check
};
