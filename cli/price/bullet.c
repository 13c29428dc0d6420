/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet.c - `shoal price bullet`: its options and points, and the plan of the library.
 */
#include "bullet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/arrays.h"
#include "io/csv.h"

/* ---- points (k, x, j): from the command line, from files, from a lattice ---------------------- */

static int allocate(int64_t count, bullet_points *to) {
    to->list = calloc((size_t)count + 1, sizeof *to->list);
    to->count = count;
    return to->list ? CLI_OK : cli_no_memory();
}

static bool is_whole(double v) { return v >= 0 && v < 1e15 && v == floor(v); }

static int set_point(const char *where, int64_t i, const double v[3], shoal_bullet_point *to) {
    if (!is_whole(v[0]) || !is_whole(v[2]) || !(v[1] > 0) || !isfinite(v[1]))
        return cli_fail(
            CLI_INPUT,
            "%s: point %lld is %g, %g, %g; expected k, x, j: whole numbers k and j from 0, and x "
            "above 0",
            where, (long long)i, v[0], v[1], v[2]);
    *to = (shoal_bullet_point){ .k = (int64_t)v[0], .j = (int64_t)v[2], .x = v[1] };
    return CLI_OK;
}

static int from_npy(const char *path, bullet_points *to) {
    cli_array file = { 0 };
    int code = cli_array_read(&file, path);
    if (code == CLI_OK && (file.a.ndim != 2 || file.a.shape[1] != 3)) {
        char shape[64];
        code = cli_fail(CLI_INPUT, "%s has shape %s; expected (n, 3): k, x, j", path,
                        io_shape_text(file.a.ndim, file.a.shape, shape, sizeof shape));
    }
    if (code == CLI_OK) code = allocate(file.a.shape[0], to);
    for (int64_t i = 0; code == CLI_OK && i < to->count; i++) {
        const double v[3] = { io_array_get(&file.a, 3 * i), io_array_get(&file.a, 3 * i + 1),
                              io_array_get(&file.a, 3 * i + 2) };
        code = set_point(path, i, v, &to->list[i]);
    }
    io_array_free(&file.a);
    return code;
}

static int from_csv(const char *path, bullet_points *to) {
    static const char *const names[3] = { "k", "x", "j" };
    io_table table;
    io_error err;
    int at[3], code = cli_io(io_csv_read(path, &table, &err), &err);
    if (code != CLI_OK) return code;
    for (int c = 0; c < 3 && code == CLI_OK; c++) {
        at[c] = io_table_column(&table, names[c]);
        if (at[c] < 0) code = cli_fail(CLI_INPUT, "%s has no column %s", path, names[c]);
    }
    if (code == CLI_OK) code = allocate(table.rows, to);
    for (int64_t i = 0; code == CLI_OK && i < to->count; i++) {
        const double *row = table.data + i * table.cols;
        const double v[3] = { row[at[0]], row[at[1]], row[at[2]] };
        code = set_point(path, i, v, &to->list[i]);
    }
    io_table_free(&table);
    return code;
}

/* Points out of "k,x,j", of several such with ';' between them, or of a file: .npy of shape (n, 3), or
 * .csv with columns k, x, j. CLI_OK or an exit code. */
static int read_points(const char *text, bullet_points *to) {
    if (cli_ends_in(text, ".npy")) return from_npy(text, to);
    if (cli_ends_in(text, ".csv")) return from_csv(text, to);
    int64_t count = 1;
    for (const char *c = text; *c; c++) count += *c == ';';
    int code = allocate(count, to);
    const char *at = text;
    for (int64_t i = 0; i < count && code == CLI_OK; i++) {
        double v[3];
        for (int c = 0; c < 3 && code == CLI_OK; c++) {
            const size_t length = strcspn(at, ",;");
            if (!io_text_double(at, length, &v[c]) || (at[length] == ',') != (c < 2))
                code =
                    cli_fail(CLI_USAGE,
                             "--at: '%s' is neither k,x,j (several separated by ';') nor a .npy or "
                             ".csv file",
                             text);
            else if (at[length])
                at += length + 1;
        }
        if (code == CLI_OK)
            code = set_point("--at", i, v, &to->list[i]) == CLI_OK ? CLI_OK : CLI_USAGE;
    }
    return code;
}

/* Value i of n from a to b, the middle if there is one. */
static double spaced(double a, double b, int64_t i, int64_t n) {
    return n > 1 ? a + (b - a) * (double)i / (double)(n - 1) : 0.5 * (a + b);
}

int bullet_points_lattice(const shoal_bullet *m, int64_t last, const int64_t n[3],
                          bullet_points *to) {
    if (n[0] * n[1] > (1 << 22) / n[2])
        return cli_fail(CLI_USAGE, "--lattice: more than %d points", 1 << 22);
    const int code = allocate(n[0] * n[1] * n[2], to);
    for (int64_t i = 0; i < to->count && code == CLI_OK; i++) {
        const int64_t k = (int64_t)round(spaced(0, (double)last, i / (n[1] * n[2]), n[0]));
        const int64_t most = m->p2 < 0 ? 0 : k < m->p2 ? k : m->p2;
        to->list[i] =
            (shoal_bullet_point){ .k = k,
                                  .j = (int64_t)round(spaced(0, (double)most, i % n[2], n[2])),
                                  .x = m->s0 * spaced(0.7, 1.3, i / n[2] % n[1], n[1]) };
    }
    return code;
}

/* The points as one word, to be read again. */
static char *points_text(const bullet_points *points) {
    char *text = malloc((size_t)points->count * 80 + 1);
    size_t used = 0;
    for (int64_t i = 0; text && i < points->count; i++) {
        const shoal_bullet_point *p = &points->list[i];
        used += (size_t)snprintf(text + used, 80, "%s%lld,%.17g,%lld", i ? ";" : "",
                                 (long long)p->k, p->x, (long long)p->j);
    }
    return text;
}

/* ---- the option that the library gets: the whole, or its last intervals alone -----------------
 *
 * The last N intervals, from date f on, are an option of N dates by themselves, of maturity T - T_f: with T
 * counted they are of kind A, dates 1 .. N, else of kind C, dates 1 .. N - 1. Both have T_f in the count,
 * so that j grows by it first where (B, D, F) it is not in j. */

bool bullet_can(const bullet_arguments *a, unsigned flag) {
    return shoal_method_flags("bullet", a->o.opts.method, NULL) & flag;
}

int64_t bullet_last(const shoal_bullet *m) {
    return m->dates + (m->count == 'E' || m->count == 'F');
}

int bullet_counts_now(const shoal_bullet *m, int64_t k, double x) {
    const bool from_today = m->count == 'B' || m->count == 'D' || m->count == 'F';
    return from_today && k <= m->dates - (m->count == 'B') && x < m->barrier;
}

bullet_window bullet_window_of(const bullet_arguments *a) {
    bullet_window w = { .m = a->m };
    const int64_t last = bullet_last(&a->m);
    if (!a->intervals) return w;
    w.first = last - a->intervals;
    w.m.dates = a->intervals;
    w.m.maturity = a->m.maturity * (double)a->intervals / (double)last;
    w.m.count = a->m.count == 'A' || a->m.count == 'D' ? 'A' : 'C';
    return w;
}

int bullet_plan(cli *c, const bullet_arguments *a, const shoal_bullet_point *points, int64_t count,
                shoal_price **plan) {
    const bullet_window w = bullet_window_of(a);
    const shoal_price_opts o = price_opts_of(c, &a->o);
    if (!a->intervals)
        return cli_status(c, shoal_price_bullet(c->ctx, &w.m, &o, points, count, plan));
    shoal_bullet_point *moved = calloc((size_t)count + 1, sizeof *moved);
    if (!moved) return cli_no_memory();
    for (int64_t i = 0; i < count; i++) {
        moved[i] = points[i];
        moved[i].k -= w.first;
        moved[i].j += bullet_counts_now(&a->m, points[i].k, points[i].x);
    }
    const int code = cli_status(c, shoal_price_bullet(c->ctx, &w.m, &o, moved, count, plan));
    free(moved);
    return code;
}

const shoal_bullet_point *bullet_points_of(const price_job *job) {
    const bullet_arguments *a = job->arguments;
    return a->intervals ? a->points.list : shoal_price_points(job->plan);
}

/* ---- options ---------------------------------------------------------------------------------- */

static void parse_lattice(struct argp_state *state, const cli_option *row, const char *text,
                          void *arguments) {
    int64_t *n = ((bullet_arguments *)arguments)->lattice;
    bool good = true;
    const char *at = text;
    for (int i = 0; i < 3 && good; i++, at += strcspn(at, ",") + 1) {
        double value;
        const size_t length = strcspn(at, ",");
        good = io_text_double(at, length, &value) && value >= 1 && value < 1e6 &&
               (at[length] == ',') == (i < 2);
        n[i] = good ? (int64_t)value : 0; /* what is too large has no int64_t */
        good = good && (double)n[i] == value;
    }
    if (!good) argp_error(state, "--%s: '%s' is not three whole numbers from 1", row->name, text);
}

static void parse_at(struct argp_state *state, const cli_option *row, const char *text,
                     void *arguments) {
    (void)state, (void)row;
    ((bullet_arguments *)arguments)->at = text;
}

static char *at_text(const void *arguments) {
    const bullet_arguments *a = arguments;
    return a->points.list ? points_text(&a->points) : NULL;
}

/* clang-format off */
#define AT(member) CLI_AT(bullet_arguments, member)
static const cli_option options[] = {
    { "s0",      OPT_POSITIVE, AT(m.s0),       "X",  1, "price of the asset today", .in = IN_MODEL },
    { "strike",  OPT_REAL,     AT(m.strike),   "K",  1, "strike", .in = IN_MODEL },
    { "rate",    OPT_REAL,     AT(m.rate),     "X",  1, "interest rate", .in = IN_MODEL },
    { "maturity", OPT_REAL,    AT(m.maturity), "T",  1, "maturity", .unit = "years", .in = IN_MODEL },
    { "sigma",   OPT_REAL,     AT(m.sigma),    "X",  1, "volatility", .in = IN_MODEL },
    { "barrier", OPT_REAL,     AT(m.barrier),  "B",  1, "a date counts if the asset is below B", .in = IN_MODEL },
    { "dates",   OPT_INT,      AT(m.dates),    "M",  1, "number of dates", 1, 1 << 20, .in = IN_MODEL },
    { "p1",      OPT_INT,      AT(m.p1),       "N",  1, "smallest count that pays", -1, 1LL << 40, .in = IN_MODEL },
    { "p2",      OPT_INT,      AT(m.p2),       "N",  1, "largest count that pays", -1, 1LL << 40, .in = IN_MODEL },
    { "count",   OPT_CHOICE,   AT(m.count),    "C",  1, "dates that count: i T/M for i = 1..M (A), 0..M-1 (B), 1..M-1 (C), 0..M (D); i T/(M+1) for i = 1..M (E), 0..M (F)", .words = "A|B|C|D|E|F", .value = 'A', .in = IN_BOTH },
    { "at",      OPT_OTHER,    AT(at),         "K,X,J", 2, "value at date K, price X and count J; several separated by ';', or a file: .npy of shape (n, 3), .csv with columns k, x, j", .without = "lattice outer", .usual = "0,S0,0", .parse = parse_at, .text = at_text, .in = IN_PART },
    { "lattice", OPT_OTHER,    AT(lattice),    "K,X,J", 2, "grid: K dates, X prices from 0.7 to 1.3 s0, J counts from 0 to min(k, p2), evenly spaced", .without = "outer", .usual = "5,7,3", .parse = parse_lattice },
    { "outer",   OPT_INT,      AT(outer),      "N",  2, "nested: outer trajectories", 1, 1 << 22, .usual = "16", .in = IN_PART | IN_JSON_SET },
    { "put",     OPT_FLAG,     AT(o.opts.put), NULL, 20, NULL },
    { "probability", OPT_FLAG, AT(o.opts.probability), NULL, 2, "instead of the price, the probability that the count is from p1 to p2; not with pde", .in = IN_PART },
    { "compare", OPT_FLAG,     AT(compare),    NULL, 2, "compare grid with nested, error against time: a table, CSV with -o, a plot with --plot",
      .more = "Errors are root mean squares against quadrature. Options that do not apply (--method, --at, ...) are refused." },
    { "nx",      OPT_INT,      AT(o.opts.nx),  "N",  3, "pde: grid points in x", 5, 8192, .usual = "1025" },
    { "steps-per-date", OPT_INT, AT(o.opts.steps_per_date), "N", 3, "pde: time steps from date to date", 1, 1 << 20, .usual = "10, or more for 500 in all" },
    { "solver",  OPT_TEXT,     AT(o.opts.variant), "S", 3, "pde: pcr or thomas", .usual = "pcr", .suggest = "pcr|thomas" },
    { "as-printed", OPT_FLAG,  AT(o.opts.as_printed), NULL, 3, "pde: boundary and jump as printed in the project sheet (docs/pricing.md)" },
    { "last",    OPT_INT,      AT(intervals),  "N",  3, "pde: only the last N intervals before T; with --count E and F the last one is [T_M, T). The default of --at is then their first date, S0 and P1", 1, 1 << 20, .in = IN_JSON_SET },
    { "options", OPT_INPUT,    AT(options),    "F.csv", 3, "pde: many options, one per line; columns s0, strike, rate, maturity, sigma, barrier, p1, p2; give those that differ", .without = "at output plot",
      .more = "Other columns, and values of p1 or p2 that are not whole numbers, are errors." },
    { 0 }
};

static const char doc[] =
    "Prices bullet options in the Black-Scholes model: they pay (S_T - K)+ if the number of dates on which S was below the barrier "
    "is from p1 to p2. Methods: mc (Monte Carlo at one point), grid (at many points), nested (at the points of outer "
    "trajectories), quad (quadrature, without error) and pde (Crank-Nicolson).\vWith A, C, E the count of a point includes its "
    "date, with B, D, F it does not. -o FILE.npy writes k, x, j, price and stderr of every point. With pde it writes the whole "
    "surface F(T_k, x, j) as [k][j][x], T_k to FILE-t.npy and x to FILE-x.npy; --plot F.png draws it. --plot F.svg of one point by "
    "quad or pde plots the value against x.\n\n"
    "Example:\n"
    "  shoal price bullet --method quad --greeks\n"
    "  shoal price bullet --method grid --lattice 11,13,6 --paths 1e5 -o grid.npy\n"
    "  shoal price bullet --method nested --outer 64 --paths 1000\n"
    "  shoal price bullet --method pde --nx 1025 -o surface.npy --plot surface.png\n"
    "  shoal price bullet --method pde --count E --last 1 --at 100,100,20\n"
    "  shoal price bullet --barrier 0 --p1 0 --p2 0 --method quad";
/* clang-format on */

/* Where a date counts, the price jumps at the barrier. */
static bool is_at_a_jump(const bullet_arguments *a) {
    bool jump = !a->points.list && a->m.s0 == a->m.barrier;
    for (int64_t i = 0; i < a->points.count; i++)
        if (a->points.list[i].x == a->m.barrier) jump = true;
    return jump && (a->m.count == 'B' || a->m.count == 'D' || a->m.count == 'F');
}

static void notes(const cli *c, const bullet_arguments *a) {
    const price_options *o = &a->o;
    if (o->opts.put) cli_note(c, "--put has no effect: a bullet option is a call");
    if (o->opts.steps) cli_note(c, "--steps has no effect: there is one step per date");
    if (a->m.p1 > a->m.p2)
        cli_note(c, "--p1 %lld is above --p2 %lld: no count pays", (long long)a->m.p1,
                 (long long)a->m.p2);
    if (!bullet_can(a, SHOAL_CAN_WALK) &&
        (o->paths || o->target > 0 || o->opts.antithetic || o->opts.control > 0))
        cli_note(
            c,
            "--paths, --target-se, --antithetic and --control have no effect: %s simulates no paths",
            o->opts.method);
    if (!bullet_can(a, SHOAL_CAN_WALK)) cli_note_no_seed(c);
    if (!bullet_can(a, SHOAL_CAN_SURFACE) &&
        (o->opts.nx || o->opts.steps_per_date || o->opts.as_printed || o->opts.variant))
        cli_note(
            c, "--nx, --steps-per-date, --solver and --as-printed have no effect without --method "
               "pde");
    if (c->fast_math && o->opts.type != SHOAL_F32)
        cli_note(c, "--math fast has no effect without --type f32");
}

/* --last: the intervals there are, and points among them. */
static int settle_last(bullet_arguments *a) {
    const int64_t last = bullet_last(&a->m), first = last - a->intervals;
    if (!bullet_can(a, SHOAL_CAN_SURFACE) || a->options)
        return cli_fail(CLI_USAGE, "--last needs --method pde, without --options");
    if (first < 0)
        return cli_fail(CLI_USAGE,
                        "--last: %lld is not between 1 and %lld, the number of intervals",
                        (long long)a->intervals, (long long)last);
    if (!a->points.list) {
        a->points.list = calloc(1, sizeof *a->points.list);
        if (!a->points.list) return cli_no_memory();
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
    /* the comparison has grid and nested, and points of its own */
    int code = !a->compare ? CLI_OK
                           : price_compare_check(&price_bullet_command, a,
                                                 "shard target-se method greeks probability at "
                                                 "lattice options nx steps-per-date solver "
                                                 "as-printed last");
    price_default_method(o, a->lattice[0] ? "grid" : "mc");
    if (code == CLI_OK)
        code = cli_check_method(who, "bullet", o->opts.method,
                                bullet_can(a, SHOAL_CAN_SURFACE) ? o->opts.variant : NULL);
    if (code == CLI_OK &&
        (bullet_can(a, SHOAL_CAN_NEST) ? a->at || a->lattice[0] : a->outer && !a->compare))
        code = cli_fail(CLI_USAGE,
                        "--outer needs --method nested, which takes no --at and no --lattice");
    if (code == CLI_OK && o->opts.probability && bullet_can(a, SHOAL_CAN_SURFACE))
        code = cli_fail(CLI_USAGE,
                        "--probability: pde computes prices only; mc and quad compute both");
    if (code == CLI_OK && o->shards && !bullet_can(a, SHOAL_CAN_WALK))
        code = cli_fail(CLI_USAGE, "--shard: %s simulates no paths", o->opts.method);
    if (code == CLI_OK && a->options && !bullet_can(a, SHOAL_CAN_SURFACE))
        code = cli_fail(CLI_USAGE, "--options needs --method pde");
    if (code == CLI_OK && o->output && !o->shards && !a->compare && !cli_ends_in(o->output, ".npy"))
        code = cli_fail(CLI_USAGE, "-o: '%s' does not end in .npy", o->output);
    if (code == CLI_OK) code = price_check_plot(o, bullet_can(a, SHOAL_CAN_SURFACE));
    if (code != CLI_OK) return code;
    if (!a->merging) notes(c, a);
    if (!o->paths) o->paths = bullet_can(a, SHOAL_CAN_POINTS) ? 4096 : SHOAL_PRICE_PATHS;
    if (!a->outer && (bullet_can(a, SHOAL_CAN_NEST) || a->compare)) a->outer = 16;
    if (!bullet_can(a, SHOAL_CAN_SURFACE)) o->opts.variant = NULL;
    o->opts.steps = 1, o->opts.put = 0;
    if (a->at) code = read_points(a->at, &a->points);
    if (code == CLI_OK && bullet_can(a, SHOAL_CAN_POINTS) && !bullet_can(a, SHOAL_CAN_NEST) &&
        !a->at && !a->lattice[0])
        a->lattice[0] = 5, a->lattice[1] = 7, a->lattice[2] = 3;
    if (code == CLI_OK && a->lattice[0] && !a->compare)
        code = bullet_points_lattice(&a->m, bullet_last(&a->m), a->lattice, &a->points);
    if (code == CLI_OK && bullet_can(a, SHOAL_CAN_WALK) && !bullet_can(a, SHOAL_CAN_POINTS) &&
        a->points.count > 1)
        code = cli_fail(CLI_USAGE, "mc takes one point; --method grid takes many");
    if (code == CLI_OK && o->opts.greeks && !a->merging && is_at_a_jump(a))
        cli_note(c, "the price jumps at the barrier: delta and gamma are those from above");
    if (code == CLI_OK && a->intervals) code = settle_last(a);
    return code;
}

static bool is_png(const bullet_arguments *a) {
    return a->o.plot && cli_ends_in(a->o.plot, ".png");
}

static int keep(const price_job *job, const price_outcome *out) {
    const bullet_arguments *a = job->arguments;
    if (!bullet_can(a, SHOAL_CAN_SURFACE)) return bullet_write(job, out);
    return bullet_surface(job->c, a, a->o.output, is_png(a) ? a->o.plot : NULL);
}

static int draw(const price_job *job, const price_outcome *out) {
    const bullet_arguments *a = job->arguments;
    if (!is_png(a)) return bullet_plot(job, out);
    return a->o.output ? CLI_OK : bullet_surface(job->c, a, NULL, a->o.plot); /* drawn by keep */
}

static int make(cli *c, const void *arguments, shoal_price **plan) {
    const bullet_arguments *a = arguments;
    const bool nested = bullet_can(a, SHOAL_CAN_NEST);
    return bullet_plan(c, a, nested ? NULL : a->points.list,
                       nested           ? a->outer
                       : a->points.list ? a->points.count
                                        : 1,
                       plan);
}

static int run(cli *c, const bullet_arguments *a) {
    price_job job = { .c = c,
                      .command = &price_bullet_command,
                      .arguments = a,
                      .o = &a->o,
                      .make = make,
                      .keep = keep,
                      .draw = draw,
                      .print = bullet_print };
    return price_finish(&job);
}

static int command(cli *c, int argc, char **argv) {
    bullet_arguments a = { .m = shoal_bullet_example(), .merging = c->parts != NULL };
    int code = cli_parse(c, &price_bullet_command, argc, argv, &a);
    if (code == CLI_OK) code = settle(c, argv[0], &a);
    if (code == CLI_OK) code = cli_open(c);
    if (code == CLI_OK)
        code = a.compare ? bullet_compare(c, &a) : a.options ? bullet_many(c, &a) : run(c, &a);
    price_options_free(&a.o);
    free(a.points.list);
    return code;
}

const cli_command price_bullet_command = {
    "price bullet", "calls that pay if S was below a barrier on p1 to p2 dates", .doc = doc,
    .run = command,
    .tables = { { options, 0 },
                { price_european, offsetof(bullet_arguments, o) },
                { price_simulation, offsetof(bullet_arguments, o) },
                { unit_options, offsetof(bullet_arguments, o.units) } }
};
