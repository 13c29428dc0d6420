/* SPDX-License-Identifier: Apache-2.0
 *
 * price_bullet.c - `shoal price bullet`.
 */
#include "price_bullet.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_S0 = 0x2000,
    KEY_RATE,
    KEY_SIGMA,
    KEY_BARRIER,
    KEY_DATES,
    KEY_P1,
    KEY_P2,
    KEY_COUNT,
    KEY_AT,
    KEY_LATTICE,
    KEY_OUTER,
    KEY_COMPARE,
    KEY_NX,
    KEY_STEPS_PER_DATE,
    KEY_SOLVER,
    KEY_AS_PRINTED,
    KEY_OPTIONS,
    KEY_LAST,
    KEY_PROBABILITY
};

/* clang-format off */
static const struct argp_option options[] = {
    { "s0",      KEY_S0,      "X", 0, "price of the asset today [100]", 1 },
    { "rate",    KEY_RATE,    "X", 0, "interest rate [0.1]", 1 },
    { "sigma",   KEY_SIGMA,   "X", 0, "volatility [0.2]", 1 },
    { "barrier", KEY_BARRIER, "B", 0, "a date counts if the asset is below B [120]", 1 },
    { "dates",   KEY_DATES,   "M", 0, "number of dates [100]", 1 },
    { "p1",      KEY_P1,      "N", 0, "least count that pays [10]", 1 },
    { "p2",      KEY_P2,      "N", 0, "greatest count that pays [50]", 1 },
    { "count",   KEY_COUNT,   "C", 0, "dates that count: of i T/M A: 1..M, B: 0..M-1, C: 1..M-1, D: 0..M; of i T/(M+1) E: 1..M, F: 0..M [A]", 1 },
    { "at",      KEY_AT,      "K,X,J", 0, "value at date K, price X and count J; several with ';' between them, or a file: .npy of shape (n, 3), .csv with columns k, x, j [0,S0,0]", 2 },
    { "lattice", KEY_LATTICE, "K,X,J", 0, "of grid: K dates, X prices from 0.7 to 1.3 s0, J counts to min(k, p2), evenly", 2 },
    { "outer",   KEY_OUTER,   "N", 0, "of nested: outer trajectories [16]", 2 },
    { "probability", KEY_PROBABILITY, NULL, 0, "the probability that the count is from p1 to p2, instead of the price; not of pde", 2 },
    { "compare", KEY_COMPARE, NULL, 0, "grid against nested: errors against time, as a table, as CSV with -o, as a picture with --plot", 2 },
    { "nx",      KEY_NX,      "N", 0, "of pde: grid lines [1025]", 3 },
    { "steps-per-date", KEY_STEPS_PER_DATE, "N", 0, "of pde: time steps from date to date [10, 500 in all at least]", 3 },
    { "solver",  KEY_SOLVER,  "S", 0, "of pde: pcr or thomas [pcr]", 3 },
    { "as-printed", KEY_AS_PRINTED, NULL, 0, "of pde: boundary and jump as the sheet prints them (docs/pricing.md)", 3 },
    { "last",    KEY_LAST,    "N", 0, "of pde: the last N intervals alone, back from T; with --count E and F 1 is [T_M, T). --at is [their first date,S0,P1] then", 3 },
    { "options", KEY_OPTIONS, "F.csv", 0, "of pde: many options, a row each; columns s0, strike, rate, maturity, sigma, barrier, p1, p2, as many as differ", 3 },
    { 0 }
};

static const char doc[] =
    "Prices bullet options in the model of Black and Scholes: (S_T - K)+ is paid if the number of dates at which S was "
    "below the barrier is from p1 to p2. Methods: mc (Monte Carlo at one point), grid (at many points), nested (at the points of "
    "outer trajectories), quad (quadrature, without error) and pde (Crank and Nicolson)."
    "\vWith A, C, E the count of a point includes its date, with B, D, F it does not. -o FILE.npy keeps k, x, j, price, stderr of "
    "every point; of pde the whole surface F(T_k, x, j) as [k][j][x], with T_k in FILE-t.npy and x in FILE-x.npy, and --plot F.png draws "
    "it. --plot F.svg of one point by quad or pde is the value against x.\n\nExample:\n  shoal price bullet --method quad --greeks\n"
    "  shoal price bullet --method grid --lattice 11,13,6 --paths 1e5 -o grid.npy --plot grid.svg\n"
    "  shoal price bullet --method nested --outer 64 --paths 1000\n"
    "  shoal price bullet --method pde --nx 1025 -o surface.npy --plot surface.png\n"
    "  shoal price bullet --method pde --count E --last 1 --at 100,100,20\n"
    "  shoal price bullet --barrier 0 --p1 0 --p2 0 --method quad";
/* clang-format on */

static void parse_lattice(struct argp_state *state, const char *text, int64_t n[3]) {
    price_list list = { 0 };
    price_arg_list(state, "--lattice", text, &list);
    bool good = list.count == 3;
    for (int i = 0; i < 3 && good; i++) {
        good = list.values[i] >= 1 && list.values[i] < 1e6;
        n[i] = good ? (int64_t)list.values[i] : 0; /* what is too large has no int64_t */
        good = good && (double)n[i] == list.values[i];
    }
    free(list.values);
    if (!good) argp_error(state, "--lattice: '%s' is not three whole numbers of 1 or more", text);
}

static void check(const bullet_arguments *a, struct argp_state *state) {
    if (a->at && a->lattice[0]) argp_error(state, "--at and --lattice exclude each other");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    bullet_arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->o; return 0;
    case KEY_S0:        a->m.s0 = cli_arg_positive(state, "--s0", arg); return 0;
    case KEY_RATE:      a->m.rate = cli_arg_double(state, "--rate", arg); return 0;
    case KEY_SIGMA:     a->m.sigma = cli_arg_double(state, "--sigma", arg); return 0;
    case KEY_BARRIER:   a->m.barrier = cli_arg_double(state, "--barrier", arg); return 0;
    case KEY_DATES:     a->m.dates = cli_arg_int(state, "--dates", arg, 1, 1 << 20); return 0;
    case KEY_P1:        a->m.p1 = cli_arg_int(state, "--p1", arg, -1, 1LL << 40); return 0;
    case KEY_P2:        a->m.p2 = cli_arg_int(state, "--p2", arg, -1, 1LL << 40); return 0;
    case KEY_COUNT:
        if (strlen(arg) != 1 || arg[0] < 'A' || arg[0] > 'F')
            argp_error(state, "--count: '%s' is none of A, B, C, D, E, F", arg);
        a->m.count = arg[0];
        return 0;
    case KEY_AT:        a->at = arg; return 0;
    case KEY_LATTICE:   parse_lattice(state, arg, a->lattice); return 0;
    case KEY_OUTER:     a->outer = cli_arg_int(state, "--outer", arg, 1, 1 << 22); return 0;
    case KEY_PROBABILITY: a->o.probability = 1; return 0;
    case KEY_COMPARE:   a->compare = true; return 0;
    case KEY_NX:        a->nx = cli_arg_int(state, "--nx", arg, 5, 8192); return 0;
    case KEY_STEPS_PER_DATE:
        a->steps_per_date = cli_arg_int(state, "--steps-per-date", arg, 1, 1 << 20);
        return 0;
    case KEY_SOLVER:    a->o.variant = arg; return 0;
    case KEY_AS_PRINTED: a->as_printed = true; return 0;
    case KEY_OPTIONS:   a->options = arg; return 0;
    case KEY_LAST:      a->intervals = cli_arg_int(state, "--last", arg, 1, 1 << 20); return 0;
    case ARGP_KEY_END:  check(a, state); return 0;
    default:            return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

static bool is(const bullet_arguments *a, const char *method) {
    return strcmp(a->o.method, method) == 0;
}

static bool without_paths(const bullet_arguments *a) { return is(a, "quad") || is(a, "pde"); }

/* One number out of a list that may have one. */
static int single(const char *option, price_list *list, double *value) {
    if (list->count > 1) return cli_fail(CLI_USAGE, "%s: a bullet option has one", option);
    if (list->count == 1) *value = list->values[0];
    list->count = 0;
    return CLI_OK;
}

static void notes(const cli *c, const bullet_arguments *a) {
    const price_options *o = &a->o;
    if (o->put) cli_note(c, "--put has no effect: a bullet option is a call");
    if (o->steps) cli_note(c, "--steps has no effect: a step leads from date to date");
    if (a->m.p1 > a->m.p2)
        cli_note(c, "--p1 %lld is above --p2 %lld: no count pays", (long long)a->m.p1,
                 (long long)a->m.p2);
    if (without_paths(a) && (o->paths || o->target > 0 || o->antithetic || o->control > 0))
        cli_note(c,
                 "--paths, --target-se, --antithetic and --control have no effect: %s has no paths",
                 o->method);
    if (without_paths(a)) cli_note_no_seed(c);
    if (!is(a, "pde") && (a->nx || a->steps_per_date || a->as_printed || o->variant))
        cli_note(c,
                 "--nx, --steps-per-date, --solver and --as-printed have no effect: they are for "
                 "pde");
    if (c->fast_math && o->type != SHOAL_F32)
        cli_note(c, "--math fast changes nothing: it is for --type f32");
}

/* The comparison has grid and nested, and points of its own. */
static int check_compare(const bullet_arguments *a) {
    const price_options *o = &a->o;
    const price_given not [] = { { "--shard", o->shards > 0 },
                                 { "--target-se", o->target > 0 },
                                 { "--method", o->method != NULL },
                                 { "--greeks", o->greeks != 0 },
                                 { "--probability", o->probability != 0 },
                                 { "--at", a->at != NULL },
                                 { "--lattice", a->lattice[0] > 0 },
                                 { "--options", a->options != NULL },
                                 { "--nx", a->nx > 0 },
                                 { "--steps-per-date", a->steps_per_date > 0 },
                                 { "--solver", o->variant != NULL },
                                 { "--as-printed", a->as_printed },
                                 { "--last", a->intervals > 0 },
                                 { NULL, false } };
    return a->compare ? price_compare_check(not ) : CLI_OK;
}

/* --last: the intervals there are, and points among them. */
static int settle_last(bullet_arguments *a) {
    const int64_t last = bullet_last(&a->m), first = last - a->intervals;
    if (!is(a, "pde") || a->options)
        return cli_fail(CLI_USAGE, "--last is for --method pde, without --options");
    if (first < 0)
        return cli_fail(CLI_USAGE,
                        "--last: %lld is not between 1 and %lld, the intervals there are",
                        (long long)a->intervals, (long long)last);
    if (!a->points.list) {
        a->points.list = calloc(1, sizeof *a->points.list);
        if (!a->points.list) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
        a->points.count = 1;
        *a->points.list =
            (shoal_bullet_point){ .k = first, .j = a->m.p1 > 0 ? a->m.p1 : 0, .x = a->m.s0 };
    }
    for (int64_t i = 0; i < a->points.count; i++)
        if (a->points.list[i].k < first || a->points.list[i].k > last)
            return cli_fail(CLI_USAGE,
                            "--at: point %lld has k = %lld; --last %lld is from %lld to %lld",
                            (long long)i, (long long)a->points.list[i].k, (long long)a->intervals,
                            (long long)first, (long long)last);
    return CLI_OK;
}

/* Fills in what was not said. */
static int settle(cli *c, const char *who, bullet_arguments *a) {
    price_options *o = &a->o;
    int code = check_compare(a);
    if (code == CLI_OK) code = single("--strike", &o->strike, &a->m.strike);
    if (code == CLI_OK) code = single("--maturity", &o->maturity, &a->m.maturity);
    if (!o->method || strcmp(o->method, "auto") == 0) o->method = a->lattice[0] ? "grid" : "mc";
    if (code == CLI_OK)
        code = cli_check_method(who, "bullet", o->method, is(a, "pde") ? o->variant : NULL);
    if (code == CLI_OK && (a->lattice[0] || a->outer) && a->at)
        code = cli_fail(CLI_USAGE, "--at, --lattice and --outer exclude each other");
    if (code == CLI_OK && (is(a, "nested") ? a->at || a->lattice[0] : a->outer && !a->compare))
        code = cli_fail(CLI_USAGE, "--outer is for nested, which makes its own points");
    if (code == CLI_OK && o->probability && is(a, "pde"))
        code = cli_fail(CLI_USAGE, "--probability: pde has prices alone; mc and quad have both");
    if (code == CLI_OK && o->shards && without_paths(a))
        code = cli_fail(CLI_USAGE, "--shard: %s has no paths to share", o->method);
    if (code == CLI_OK && a->options && (!is(a, "pde") || a->at || o->output || o->plot))
        code = cli_fail(CLI_USAGE, "--options is for --method pde, without --at, -o and --plot");
    if (code == CLI_OK && o->output && !o->shards && !a->compare && !cli_ends_in(o->output, ".npy"))
        code = cli_fail(CLI_USAGE, "-o: '%s' does not end in .npy", o->output);
    if (code == CLI_OK) code = price_check_plot(o, is(a, "pde"));
    if (code != CLI_OK) return code;
    if (!a->merging) notes(c, a);
    if (!o->paths) o->paths = is(a, "nested") || is(a, "grid") ? 4096 : PRICE_PATHS;
    if (!a->outer) a->outer = 16;
    if (!is(a, "pde")) o->variant = NULL;
    o->steps = 1, o->put = 0;
    if (a->at) code = bullet_points_read(a->at, &a->points);
    if (code == CLI_OK && is(a, "grid") && !a->at && !a->lattice[0])
        a->lattice[0] = 5, a->lattice[1] = 7, a->lattice[2] = 3;
    if (code == CLI_OK && a->lattice[0] && !a->compare)
        code = bullet_points_lattice(&a->m, bullet_last(&a->m), a->lattice, &a->points);
    if (code == CLI_OK && is(a, "mc") && a->points.count > 1)
        code = cli_fail(CLI_USAGE, "mc is for one point; --method grid takes many");
    if (code == CLI_OK && a->intervals) code = settle_last(a);
    return code;
}

static void words_of(const price_job *job, part_words *w) {
    const bullet_arguments *a = job->arguments;
    const char count[2] = { a->m.count, 0 };
    part_word(w, "--count", count);
    if (is(a, "nested")) part_number(w, "--outer", (double)a->outer);
    char *text = a->points.list ? bullet_points_text(&a->points) : NULL;
    w->lost |= a->points.list && !text;
    if (text) part_word(w, "--at", text);
    free(text);
}

static bool is_png(const bullet_arguments *a) {
    return a->o.plot && cli_ends_in(a->o.plot, ".png");
}

static int keep(const price_job *job, const price_outcome *out) {
    const bullet_arguments *a = job->arguments;
    if (!is(a, "pde")) return bullet_write(job, out);
    return bullet_surface(job->c, a, a->o.output, is_png(a) ? a->o.plot : NULL);
}

static int draw(const price_job *job, const price_outcome *out) {
    const bullet_arguments *a = job->arguments;
    if (!is_png(a)) return bullet_plot(job, out);
    return a->o.output ? CLI_OK : bullet_surface(job->c, a, NULL, a->o.plot); /* drawn by keep */
}

static int run(cli *c, const bullet_arguments *a, const price_part *parts, int64_t count) {
    const shoal_bullet *m = &a->m;
    price_job job = { .c = c,
                      .command = "price bullet",
                      .arguments = a,
                      .o = &a->o,
                      .parameter = { { "s0", m->s0 },
                                     { "strike", m->strike },
                                     { "rate", m->rate },
                                     { "maturity", m->maturity },
                                     { "sigma", m->sigma },
                                     { "barrier", m->barrier },
                                     { "dates", (double)m->dates },
                                     { "p1", (double)m->p1 },
                                     { "p2", (double)m->p2 } },
                      .words = words_of,
                      .keep = keep,
                      .draw = draw,
                      .print = bullet_print };
    const bool nested = is(a, "nested");
    const int code = bullet_plan(c, a, nested ? NULL : a->points.list,
                                 nested           ? a->outer
                                 : a->points.list ? a->points.count
                                                  : 1,
                                 &job.plan);
    return code == CLI_OK ? price_finish(&job, parts, count) : code;
}

int price_bullet(cli *c, int argc, char **argv, const price_part *parts, int64_t count) {
    static const struct argp_child children[] = { { &price_european_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    bullet_arguments a = { .m = shoal_bullet_example(), .merging = parts != NULL };
    int code = cli_parse(c, &argp, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK)
        code = a.compare   ? bullet_compare(c, &a)
               : a.options ? bullet_many(c, &a)
                           : run(c, &a, parts, count);
    price_options_free(&a.o);
    free(a.points.list);
    return code;
}

int cmd_price_bullet(cli *c, int argc, char **argv) { return price_bullet(c, argc, argv, NULL, 0); }
