/* SPDX-License-Identifier: Apache-2.0
 *
 * price_american.c - `shoal price american`.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_S0 = 0x2000,
    KEY_RATE,
    KEY_DIVIDEND,
    KEY_SIGMA,
    KEY_ASSETS,
    KEY_CORRELATION,
    KEY_WEIGHT,
    KEY_PAYOFF,
    KEY_DATES,
    KEY_BASIS,
    KEY_RAW,
    KEY_SOLVER,
    KEY_FIT,
    KEY_UPPER,
    KEY_INNER,
    KEY_OUTER
};

/* clang-format off */
static const struct argp_option options[] = {
    { "s0",          KEY_S0,          "X,..",  0, "prices of the assets today, or one for all [100]", 1 },
    { "rate",        KEY_RATE,        "X",     0, "interest rate [0.05]", 1 },
    { "dividend",    KEY_DIVIDEND,    "X,..",  0, "dividend rates, or one for all [0]", 1 },
    { "sigma",       KEY_SIGMA,       "X,..",  0, "volatilities, or one for all [0.2]", 1 },
    { "assets",      KEY_ASSETS,      "D",     0, "assets, 1 to 63 [as many as --s0, --sigma or --dividend have]", 1 },
    { "correlation", KEY_CORRELATION, "R,..",  0, "of every two assets, or one for all pairs: 2 1, 3 1, 3 2, 4 1, ... [0]", 1 },
    { "weights",     KEY_WEIGHT,      "W,..",  0, "of the assets in a basket [1/D each]", 1 },
    { "payoff",      KEY_PAYOFF,      "P",     0, "put, call, max-call, basket-put or basket-call [put]", 1 },
    { "dates",       KEY_DATES,       "N",     0, "dates of exercise, i T/N, i = 1 .. N [50]", 1 },
    { "basis",       KEY_BASIS,       "B",     0, "of the regressions: linear, or poly:DEGREE [poly:3, less with many assets]", 1 },
    { "raw-basis",   KEY_RAW,         NULL,    0, "polynomials of the prices as they are, not centred and scaled", 1 },
    { "solver",      KEY_SOLVER,      "M",     0, "of the regressions: a method of `shoal solve small` [auto]", 1 },
    { "fit-paths",   KEY_FIT,         "N",     0, "paths that the rule of exercise is fitted on [65536]", 1 },
    { "upper",       KEY_UPPER,       NULL,    0, "an upper bound too, by nested simulation", 1 },
    { "inner",       KEY_INNER,       "N",     0, "of --upper: paths at each date of an outer path, whole 256s [512]", 1 },
    { "outer",       KEY_OUTER,       "N",     0, "of --upper: outer paths [512]", 1 },
    { 0 }
};

static const char doc[] =
    "Prices American options, as Bermudan ones, on assets of Black and Scholes by the regressions of Longstaff and Schwartz: a "
    "rule of exercise is fitted on one set of paths and priced on another, so that the price is a lower bound but for its "
    "standard error. Several strikes and maturities are fitted together."
    "\vIn the money the payoffs of puts, calls and baskets are linear in the prices; that of a max-call is a function of the "
    "basis beside the polynomials, of which there may be 64 in all.\n\nExample:\n"
    "  shoal price american --s0 36 --strike 40 --rate 0.06\n"
    "  shoal price american --payoff max-call --s0 100,100 --dividend 0.1 --maturity 3 --dates 9\n"
    "  shoal price american --payoff basket-put --assets 5 --correlation 0.3 --strike 90,100,110";
/* clang-format on */

/* In the order of shoal_payoff. */
static const char *const payoffs[] = { "put", "call", "max-call", "basket-put", "basket-call" };
enum { PAYOFFS = sizeof payoffs / sizeof *payoffs };

enum { S0, SIGMA, DIVIDEND, WEIGHT, CORRELATION, LISTS };
static const char *const list_options[LISTS] = { "--s0", "--sigma", "--dividend", "--weights",
                                                 "--correlation" };

typedef struct arguments {
    price_options o;
    price_list list[LISTS];
    const char *text[LISTS]; /* as given, NULL: not given */
    double *matrix;          /* of correlations           */
    double rate, fit_seconds;
    int payoff; /* -1: not said */
    shoal_american_opts opts;
    shoal_american_fit fit; /* of all options together; price and error those of the first */
    bool merging;
    bool upper;
    int64_t inner, outer;
    price_outcome above; /* of the upper bounds */
} arguments;

static void parse_basis(struct argp_state *state, const char *text, arguments *a) {
    a->opts.degree = 1;
    if (strcmp(text, "linear") == 0) return;
    if (strncmp(text, "poly:", 5) != 0)
        argp_error(state, "--basis: '%s' is neither linear nor poly:DEGREE", text);
    a->opts.degree = cli_arg_int(state, "--basis poly", text + 5, 1, SHOAL_AMERICAN_BASIS);
}

static void parse_payoff(struct argp_state *state, const char *text, arguments *a) {
    for (a->payoff = 0; a->payoff < PAYOFFS; a->payoff++)
        if (strcmp(text, payoffs[a->payoff]) == 0) return;
    argp_error(state, "--payoff: '%s' is none of put, call, max-call, basket-put, basket-call",
               text);
}

static void parse_list(struct argp_state *state, int which, const char *text, arguments *a) {
    price_arg_list(state, list_options[which], text, &a->list[which]);
    a->text[which] = text;
}

static void check(arguments *a, struct argp_state *state) {
    if (a->o.method && strcmp(a->o.method, "dual") == 0) a->upper = true, a->o.method = "lsm";
    if (a->o.put && a->payoff >= 0) argp_error(state, "--put and --payoff exclude each other");
    if (a->o.output && !a->o.shards) argp_error(state, "-o is for --shard");
    if ((a->inner || a->outer) && !a->upper)
        argp_error(state, "--inner and --outer are for --upper");
    if (a->upper && a->o.shards) argp_error(state, "--upper and --shard exclude each other");
    int64_t *d = &a->opts.assets;
    for (int i = 0; i < CORRELATION && !*d; i++)
        if (a->list[i].count > 1) *d = a->list[i].count;
    if (!*d) *d = 1;
    for (int i = 0; i < CORRELATION; i++)
        if (a->list[i].count > 1 && a->list[i].count != *d)
            argp_error(state, "%s has %lld numbers for %lld assets", list_options[i],
                       (long long)a->list[i].count, (long long)*d);
    const int64_t pairs = *d * (*d - 1) / 2, given = a->list[CORRELATION].count;
    if (given > 1 && given != pairs)
        argp_error(state, "--correlation has %lld numbers for %lld pairs of assets",
                   (long long)given, (long long)pairs);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case ARGP_KEY_INIT:   state->child_inputs[0] = &a->o; return 0;
    case KEY_S0:          parse_list(state, S0, arg, a); return 0;
    case KEY_SIGMA:       parse_list(state, SIGMA, arg, a); return 0;
    case KEY_DIVIDEND:    parse_list(state, DIVIDEND, arg, a); return 0;
    case KEY_WEIGHT:      parse_list(state, WEIGHT, arg, a); return 0;
    case KEY_CORRELATION: parse_list(state, CORRELATION, arg, a); return 0;
    case KEY_RATE:        a->rate = cli_arg_double(state, "--rate", arg); return 0;
    case KEY_ASSETS:      a->opts.assets = cli_arg_int(state, "--assets", arg, 1, SHOAL_AMERICAN_ASSETS); return 0;
    case KEY_PAYOFF:      parse_payoff(state, arg, a); return 0;
    case KEY_DATES:       a->opts.dates = cli_arg_int(state, "--dates", arg, 1, 1 << 20); return 0;
    case KEY_BASIS:       parse_basis(state, arg, a); return 0;
    case KEY_RAW:         a->opts.raw = 1; return 0;
    case KEY_SOLVER:      a->opts.solver = arg; return 0;
    case KEY_FIT:         a->opts.fit_paths = cli_arg_int(state, "--fit-paths", arg, 1, INT32_MAX); return 0;
    case KEY_UPPER:       a->upper = true; return 0;
    case KEY_INNER:       a->inner = cli_arg_int(state, "--inner", arg, 1, 1 << 24); return 0;
    case KEY_OUTER:       a->outer = cli_arg_int(state, "--outer", arg, 1, INT32_MAX); return 0;
    case ARGP_KEY_END:    check(a, state); return 0;
    default:              return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

/* One number, or the default, becomes one an asset; weights stay away unless they are given. */
static int widen(price_list *list, int64_t count, double otherwise) {
    if (list->count == count) return CLI_OK;
    const double value = list->count ? list->values[0] : otherwise;
    free(list->values);
    list->values = malloc((size_t)count * sizeof *list->values);
    if (!list->values) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    for (int64_t i = 0; i < count; i++) list->values[i] = value;
    list->count = count;
    return CLI_OK;
}

static int make_matrix(arguments *a) {
    const int64_t d = a->opts.assets;
    const price_list *pairs = &a->list[CORRELATION];
    a->matrix = malloc((size_t)(d * d) * sizeof *a->matrix);
    if (!a->matrix) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    for (int64_t i = 0, pair = 0; i < d; i++) {
        a->matrix[i * d + i] = 1;
        for (int64_t j = 0; j < i; j++, pair++)
            a->matrix[i * d + j] = a->matrix[j * d + i] =
                !pairs->count ? 0 : pairs->values[pairs->count > 1 ? pair : 0];
    }
    return CLI_OK;
}

/* Fills in what was not said. */
static int settle(cli *c, const char *who, arguments *a) {
    price_options *o = &a->o;
    const int64_t d = a->opts.assets;
    if (!o->method || strcmp(o->method, "auto") == 0) o->method = "lsm";
    int code = cli_check_method(who, "american", o->method, NULL);
    if (code == CLI_OK) code = cli_check_method(who, "smallsym", a->opts.solver, NULL);
    if (code != CLI_OK) return code;
    if (o->steps && !a->merging)
        cli_note(c, "--steps has no effect: a path of %lld dates has as many steps",
                 (long long)a->opts.dates);
    if (c->fast_math && !a->merging) cli_note(c, "--math fast changes nothing here");
    if (a->payoff < 0) a->payoff = SHOAL_PUT;
    o->put = a->payoff == SHOAL_PUT || a->payoff == SHOAL_BASKET_PUT;
    o->steps = a->opts.dates;
    if (!o->paths) o->paths = PRICE_PATHS;
    if (!o->strike.count)
        code = widen(&o->strike, 1, a->list[S0].count ? a->list[S0].values[0] : 100);
    if (code == CLI_OK) code = widen(&a->list[S0], d, 100);
    if (code == CLI_OK) code = widen(&a->list[SIGMA], d, 0.2);
    if (code == CLI_OK) code = widen(&a->list[DIVIDEND], d, 0);
    if (code == CLI_OK && a->list[WEIGHT].count) code = widen(&a->list[WEIGHT], d, 1);
    if (code == CLI_OK) code = make_matrix(a);
    o->s0 = a->list[S0].values ? a->list[S0].values[0] : 0, o->rate = a->rate;
    a->opts.type = o->type, a->opts.seed = c->seed, a->opts.control = o->control;
    return code == CLI_OK ? price_default_lists(o) : code;
}

static void words_of(part_words *w, const cli *c, const arguments *a) {
    price_options shared = a->o;
    shared.put = 0; /* the payoff says it */
    price_words_of(w, c, &shared);
    for (int i = 0; i < LISTS; i++)
        if (a->text[i]) part_word(w, list_options[i], a->text[i]);
    part_number(w, "--rate", a->rate);
    part_number(w, "--assets", (double)a->opts.assets);
    part_word(w, "--payoff", payoffs[a->payoff]);
    part_number(w, "--dates", (double)a->opts.dates);
    if (a->opts.degree) {
        char text[40];
        snprintf(text, sizeof text, "poly:%lld", (long long)a->opts.degree);
        part_word(w, "--basis", text);
    }
    if (a->opts.raw) part_word(w, "--raw-basis", NULL);
    if (a->opts.solver) part_word(w, "--solver", a->opts.solver);
    if (a->opts.fit_paths) part_number(w, "--fit-paths", (double)a->opts.fit_paths);
}

/* ---- results ---------------------------------------------------------------------------------- */

static int64_t functions(const arguments *a) {
    return shoal_american_functions(a->opts.assets, a->opts.degree, (shoal_payoff)a->payoff);
}

static void print_table(const cli *c, const arguments *a, const price_outcome *out) {
    const shoal_american_fit *f = &a->fit;
    printf("option        %s on %lld asset%s, rate %g, %lld dates\n", payoffs[a->payoff],
           (long long)a->opts.assets, a->opts.assets == 1 ? "" : "s", a->rate,
           (long long)a->opts.dates);
    printf("fit           %lld regressions on %lld functions%s: %lld truncated, %lld warned, %lld "
           "failed, %lld without a path in the money; %.4g s\n",
           (long long)f->systems, (long long)functions(a), a->opts.raw ? ", raw" : "",
           (long long)f->truncated, (long long)f->warned, (long long)f->failed, (long long)f->empty,
           a->fit_seconds);
    price_table(c, &a->o, out);
    for (int64_t i = 0; a->upper && i < a->above.info.contracts && a->above.samples > 0; i++)
        printf("upper bound   %.10g +- %.2g\n", a->above.values[i].price, a->above.values[i].error);
}

static void print_upper(io_json *j, const arguments *a) {
    const price_outcome *above = &a->above;
    if (!a->upper || above->samples == 0) return;
    io_json_int(j, "inner", a->inner);
    io_json_int(j, "outer", above->samples);
    io_json_double(j, "upper_seconds", above->seconds);
    if (above->info.contracts == 1) {
        io_json_double(j, "upper", above->values[0].price);
        io_json_double(j, "upper_stderr", above->values[0].error);
        return;
    }
    io_json_array(j, "upper"); /* in the order of the surface */
    for (int64_t i = 0; i < above->info.contracts; i++) {
        io_json_object_line(j, NULL);
        io_json_double(j, "upper", above->values[i].price);
        io_json_double(j, "upper_stderr", above->values[i].error);
        io_json_close(j);
    }
    io_json_close(j);
}

static int print(cli *c, const arguments *a, const price_outcome *out) {
    const shoal_american_fit *f = &a->fit;
    if (!c->json) {
        print_table(c, a, out);
        return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
    }
    io_json *j = cli_json_begin(c, "price american");
    io_json_string(j, "payoff", payoffs[a->payoff]);
    io_json_int(j, "assets", a->opts.assets);
    io_json_doubles(j, "s0", a->list[S0].values, a->opts.assets);
    io_json_doubles(j, "sigma", a->list[SIGMA].values, a->opts.assets);
    io_json_doubles(j, "dividend", a->list[DIVIDEND].values, a->opts.assets);
    if (a->list[WEIGHT].count)
        io_json_doubles(j, "weights", a->list[WEIGHT].values, a->opts.assets);
    io_json_doubles(j, "correlation", a->matrix, a->opts.assets * a->opts.assets);
    io_json_double(j, "rate", a->rate);
    io_json_int(j, "dates", a->opts.dates);
    io_json_int(j, "functions", functions(a));
    io_json_bool(j, "raw_basis", a->opts.raw != 0);
    io_json_string(j, "solver", a->opts.solver ? a->opts.solver : "auto");
    io_json_object(j, "fit");
    io_json_int(j, "systems", f->systems);
    io_json_int(j, "truncated", f->truncated);
    io_json_int(j, "refined", f->refined);
    io_json_int(j, "warned", f->warned);
    io_json_int(j, "failed", f->failed);
    io_json_int(j, "empty", f->empty);
    io_json_double(j, "price", f->price);
    io_json_double(j, "stderr", f->error);
    io_json_double(j, "seconds", a->fit_seconds);
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
    int code = all && fits ? CLI_OK : cli_fail(CLI_UNAVAILABLE, "not enough memory");
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
    if (code == CLI_OK) code = price_fit(c, all, count, &a->opts, plan);
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

static int run(cli *c, arguments *a, const price_part *parts, int64_t count) {
    const price_options *o = &a->o;
    shoal_price *plan = NULL;
    price_outcome out = { 0 };
    int code = make_plan(c, a, &plan);
    if (code == CLI_OK)
        code =
            parts ? price_join(c, o, plan, parts, count, &out) : price_simulate(c, o, plan, &out);
    if (code == CLI_OK && o->shards) {
        part_words w = { 0 };
        words_of(&w, c, a);
        code = price_part_write(o->output, "price american", &w, o, &out);
        part_words_free(&w);
    }
    if (code == CLI_OK && o->plot && price_any(&out))
        code = price_plot(o->plot, "American option, lower bound", o, &out, NAN);
    if (code == CLI_OK && a->upper && !cli_interrupted()) code = run_upper(c, a);
    if (code == CLI_OK) code = print(c, a, &out);
    price_outcome_free(&out);
    price_outcome_free(&a->above);
    shoal_price_free(plan);
    return code;
}

int price_american(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    static const struct argp_child children[] = { { &price_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    arguments a = { .rate = 0.05, .payoff = -1, .merging = parts != NULL, .opts.dates = 50 };
    int code = cli_parse(c, &argp, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK) code = run(c, &a, parts, count);
    for (int i = 0; i < LISTS; i++) free(a.list[i].values);
    free(a.matrix);
    price_options_free(&a.o);
    return code;
}

int cmd_price_american(cli *c, int argc, char **argv) {
    return price_american(c, argc, argv, NULL, 0);
}
