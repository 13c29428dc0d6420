/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c - `shoal price heston --compare`: Euler's scheme against exact steps (question 3
 * of the sheet that src/models/heston.h names) over kappa in [0.1, 10], theta in [0.01, 0.5], sigma in
 * [0.1, 1], as far as 20 kappa theta > sigma^2.
 *
 * Both simulate the same number of paths, Euler with `steps`, exact with --exact-steps, or as few as its trapezoid rule
 * needs, 8 kappa T and 8 at least. The sheet asks for 1000 steps of both. Their errors are root mean squares of the distance from the analytic
 * price and the standard error; the time to an equal error is what exact needs for Euler's, as errors
 * fall with the root of the paths.
 */
#include "bullet.h"

#include <math.h>
#include <stdlib.h>

enum { WARM_SAMPLES = 256 };

/* ---- what comparisons share ------------------------------------------------------------------- */

/* The values of a plan with so many paths, and the seconds of one run, the second one. */
static int run_twice(cli *c, shoal_price *plan, int64_t paths, shoal_price_value *values,
                     double *seconds) {
    shoal_price_info info;
    void *sums = NULL;
    shoal_status s = shoal_price_describe(plan, &info);
    const int64_t each = s == SHOAL_OK ? info.paths_each : 1;
    const int64_t samples = shoal_price_width(plan) > 0 ? (paths + each - 1) / each : 0;
    const int64_t numbers = shoal_price_sums(plan, samples);
    double *host = calloc((size_t)numbers + 1, sizeof *host);
    double *total = calloc((size_t)(2 * shoal_price_width(plan)) + 1, sizeof *total);
    if (s == SHOAL_OK && (!host || !total)) s = SHOAL_E_NOMEM;
    if (s == SHOAL_OK) s = shoal_alloc(c->ctx, (size_t)numbers * sizeof(double), &sums);
    if (s == SHOAL_OK) /* warms the machine */
        s = shoal_price_run(plan, 0, samples < WARM_SAMPLES ? samples : WARM_SAMPLES, sums);
    if (s == SHOAL_OK) s = shoal_wait(c->ctx);
    const double start = cli_now();
    if (s == SHOAL_OK) s = shoal_price_run(plan, 0, samples, sums);
    if (s == SHOAL_OK) s = shoal_copy(c->ctx, host, sums, (size_t)numbers * sizeof(double));
    *seconds = cli_now() - start;
    if (s == SHOAL_OK) s = shoal_price_add(plan, host, samples, total);
    if (s == SHOAL_OK) s = shoal_price_result(plan, total, samples, values);
    shoal_free(c->ctx, sums);
    free(host);
    free(total);
    return cli_status(c, s);
}

int price_compare_check(const cli_command *command, const void *arguments, const char *names) {
    char name[CLI_NAME];
    const char *other = cli_given_among(command, arguments, names, name);
    return other ? cli_fail(CLI_USAGE, "--compare and %s exclude each other", other) : CLI_OK;
}

/* Two series on logarithmic axes. */
static int plot_pair(const char *path, const char *title, const char *subtitle, const char *x_label,
                     const char *y_label, const io_series series[2]) {
    const io_chart chart = { title,    subtitle, x_label,           y_label,
                             IO_LOG10, IO_LOG10, .series_count = 2, .series = series };
    io_error err;
    return cli_io(io_svg_write_lines(path, &chart, &err), &err);
}

/* ---- Euler against exact ---------------------------------------------------------------------- */

enum { EACH = 4, MOST = EACH * EACH * EACH };

static const double kappas[EACH] = { 0.1, 0.5, 2, 10 }, thetas[EACH] = { 0.01, 0.05, 0.1, 0.5 },
                    sigmas[EACH] = { 0.1, 0.3, 0.6, 1 };

typedef struct measured {
    double price, error, seconds;
    double off, rms; /* from the analytic price; with the standard error */
} measured;

typedef struct row {
    shoal_heston m;
    measured analytic, euler, exact;
    double to_equal; /* seconds that exact needs for Euler's error */
    int64_t exact_steps;
} row;

/* clang-format off */
#define ROW(name, member) CLI_RESULT(name, row, member)
static const cli_option row_results[] = {
    ROW("kappa", m.kappa), ROW("theta", m.theta), ROW("sigma", m.sigma), ROW("analytic", analytic.price),
    ROW("euler", euler.price), ROW("euler_stderr", euler.error), ROW("euler_error", euler.off), ROW("euler_seconds", euler.seconds),
    ROW("exact", exact.price), ROW("exact_stderr", exact.error), ROW("exact_error", exact.off), ROW("exact_seconds", exact.seconds),
    ROW("euler_rms", euler.rms), ROW("exact_rms", exact.rms), ROW("exact_seconds_to_equal", to_equal),
    ROW("exact_steps", exact_steps),
    { 0 }
};
/* clang-format on */

/* One scheme on one set. */
static int measure(cli *c, const shoal_heston *m, const price_options *o, const char *method,
                   int64_t steps, measured *to) {
    shoal_price_opts opts = price_opts_of(c, o);
    shoal_price *plan = NULL;
    shoal_price_value v = { 0 };
    opts.method = method, opts.steps = steps, opts.strikes = opts.maturities = 1;
    int code = cli_status(c, shoal_price_heston(c->ctx, m, &opts, &plan));
    if (code == CLI_OK) code = run_twice(c, plan, o->paths, &v, &to->seconds);
    to->price = v.price, to->error = v.error;
    shoal_price_free(plan);
    return code;
}

/* So many that the integral of the variance over a step is off by less than paths can tell. */
static int64_t exact_steps(const shoal_heston *m, double maturity) {
    const double enough = ceil(8 * m->kappa * maturity);
    return enough > 8 ? (int64_t)fmin(enough, 1 << 20) : 8;
}

static int compare_set(cli *c, const shoal_heston *m, const price_options *o, int64_t steps,
                       row *r) {
    measured *const both[] = { &r->euler, &r->exact };
    r->m = *m;
    r->exact_steps = steps ? steps : exact_steps(m, o->maturity.values[0]);
    int code = measure(c, m, o, "analytic", 1, &r->analytic);
    if (code == CLI_OK) code = measure(c, m, o, "euler", o->opts.steps, &r->euler);
    if (code == CLI_OK) code = measure(c, m, o, "exact", r->exact_steps, &r->exact);
    if (code != CLI_OK) return code;
    for (int i = 0; i < 2; i++) {
        both[i]->off = both[i]->price - r->analytic.price;
        both[i]->rms = sqrt(both[i]->off * both[i]->off + both[i]->error * both[i]->error);
    }
    const double ratio = r->exact.rms / r->euler.rms;
    r->to_equal = r->exact.seconds * ratio * ratio;
    return CLI_OK;
}

/* Seconds to Euler's error against the Feller ratio, one point per set. */
static int draw(const char *path, const row *rows, int count) {
    double x[MOST], euler[MOST], exact[MOST];
    for (int i = 0; i < count; i++) {
        const shoal_heston *m = &rows[i].m;
        x[i] = 2 * m->kappa * m->theta / (m->sigma * m->sigma);
        euler[i] = rows[i].euler.seconds, exact[i] = rows[i].to_equal;
    }
    const io_series series[] = { { "euler", count, x, euler, .no_line = true },
                                 { "exact", count, x, exact, .no_line = true } };
    return plot_pair(path, "Heston: seconds to an equal error",
                     "one point per set of kappa, theta, sigma", "2 kappa theta / sigma^2",
                     "seconds", series);
}

/* clang-format off */
#define AT(member) CLI_AT(price_options, member)
static const cli_option shape_results[] = {
    { "paths", OPT_INT, AT(paths) }, { "steps", OPT_INT, AT(opts.steps) },
    { "type", OPT_CHOICE, AT(opts.type), .words = CLI_TYPES },
    { 0 }
};
static const cli_option kind_results[] = {
    { "put", OPT_FLAG, AT(opts.put) }, { "antithetic", OPT_FLAG, AT(opts.antithetic) },
    { "control", OPT_FLAG, AT(opts.control) },
    { 0 }
};
/* clang-format on */

static int print(cli *c, const price_options *o, const row *rows, int count) {
    if (c->json) {
        io_json *j = cli_json_begin(c, "price heston");
        io_json_uint(j, "seed", c->seed);
        cli_json_results(j, shape_results, o);
        io_json_double(j, "strike", o->strike.values[0]);
        io_json_double(j, "maturity", o->maturity.values[0]);
        cli_json_results(j, kind_results, o);
        cli_json_result_list(j, "compare", row_results, rows, sizeof *rows, count);
        return cli_json_end(c, CLI_OK);
    }
    printf("paths         %lld; euler %lld steps, on %s, %s\n\n", (long long)o->paths,
           (long long)o->opts.steps, c->machine.backend, c->machine.device);
    printf("%6s %6s %6s %11s %11s %9s %6s %11s %9s %10s\n", "kappa", "theta", "sigma", "analytic",
           "euler off", "seconds", "steps", "exact off", "seconds", "to equal");
    for (int i = 0; i < count; i++) {
        const row *r = &rows[i];
        printf("%6g %6g %6g %11.8f %11.2e %9.4g %6lld %11.2e %9.4g %10.4g\n", r->m.kappa,
               r->m.theta, r->m.sigma, r->analytic.price, r->euler.off, r->euler.seconds,
               (long long)r->exact_steps, r->exact.off, r->exact.seconds, r->to_equal);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int price_compare(cli *c, const shoal_heston *model, const price_options *o, int64_t exact) {
    row rows[MOST];
    int code = CLI_OK, count = 0;
    cli_progress bar;
    cli_progress_begin(&bar, c, "comparing", MOST);
    for (int i = 0; i < MOST && code == CLI_OK && !cli_interrupted(); i++) {
        shoal_heston m = *model;
        m.kappa = kappas[i / (EACH * EACH)], m.theta = thetas[i / EACH % EACH];
        m.sigma = sigmas[i % EACH];
        if (!(20 * m.kappa * m.theta > m.sigma * m.sigma)) continue;
        code = compare_set(c, &m, o, exact, &rows[count]);
        if (code == CLI_OK) count++;
        cli_progress_step(&bar, i + 1);
    }
    cli_progress_end(&bar);
    if (code == CLI_OK && o->output)
        code = cli_csv_result_list(o->output, row_results, rows, sizeof *rows, count);
    if (code == CLI_OK && o->plot) code = draw(o->plot, rows, count);
    return code == CLI_OK ? print(c, o, rows, count) : code;
}

/* ---- grid against nested ----------------------------------------------------------------------
 *
 * `shoal price bullet --compare`: the values at many points by both strategies
 * of a project sheet (src/models/bullet.h names it; questions 2 and 3): points of a lattice (grid), and points that
 * outer trajectories reach (nested), both with j <= min(k, P2) as in the sheet: beyond P2 the value is 0. Both have about
 * as many points, and paths from 64 on by factors of four. What is compared is the root mean square error against
 * quadrature, and time. */

enum { MAX_RUNS = 16 };

typedef struct bullet_row {
    int64_t nested, points, paths;
    double seconds, rms_stderr, rms_error;
} bullet_row;

/* clang-format off */
#define BULLET(member) CLI_RESULT(#member, bullet_row, member)
static const cli_option bullet_results[] = {
    BULLET(nested), BULLET(points), BULLET(paths), BULLET(seconds), BULLET(rms_stderr), BULLET(rms_error), { 0 }
};
/* clang-format on */

typedef struct side {
    shoal_price *plan;
    int64_t points;  /* of the plan */
    int64_t counted; /* with j <= P2 */
    double *exact;   /* NaN where j > P2 */
} side;

/* A plan of either strategy, and the exact values at its points. The lattice of grid has about `wished` points. */
static int prepare(cli *c, const bullet_arguments *a, bool nested, int64_t wished, side *s) {
    shoal_price_opts o = price_opts_of(c, &a->o);
    shoal_price *quad = NULL;
    bullet_points lattice = { 0 };
    int code = CLI_OK;
    o.greeks = 0, o.method = nested ? "nested" : "grid";
    const int64_t last = bullet_last(&a->m);
    const int64_t per_date = (wished + last / 2) / (last + 1), counts = per_date > 1 ? 2 : 1;
    const int64_t n[3] = { last + 1, per_date > counts ? per_date / counts : 1, counts };
    if (!nested) code = bullet_points_lattice(&a->m, last, n, &lattice);
    if (code == CLI_OK)
        code = cli_status(c, shoal_price_bullet(c->ctx, &a->m, &o, lattice.list,
                                                nested ? a->outer : lattice.count, &s->plan));
    free(lattice.list);
    if (code != CLI_OK) return code;
    shoal_price_info info;
    shoal_status status = shoal_price_describe(s->plan, &info);
    s->points = status == SHOAL_OK ? info.contracts : 0;
    shoal_price_value *v = calloc((size_t)s->points + 1, sizeof *v);
    s->exact = calloc((size_t)s->points + 1, sizeof *s->exact);
    o.method = "quad";
    if (!v || !s->exact) status = SHOAL_E_NOMEM;
    if (status == SHOAL_OK)
        status =
            shoal_price_bullet(c->ctx, &a->m, &o, shoal_price_points(s->plan), s->points, &quad);
    code = cli_status(c, status);
    if (code == CLI_OK) code = price_by_formula(c, quad, v);
    for (int64_t i = 0; code == CLI_OK && i < s->points; i++) {
        const bool kept = shoal_price_points(s->plan)[i].j <= a->m.p2;
        s->exact[i] = kept ? v[i].price : NAN;
        s->counted += kept;
    }
    shoal_price_free(quad);
    free(v);
    return code;
}

static int measure_bullet(cli *c, const side *s, bool nested, int64_t paths, bullet_row *to) {
    shoal_price_value *v = calloc((size_t)s->points + 1, sizeof *v);
    double error = 0, off = 0, seconds = 0;
    if (!v) return cli_no_memory();
    const int code = run_twice(c, s->plan, paths, v, &seconds);
    for (int64_t i = 0; code == CLI_OK && i < s->points; i++) {
        if (isnan(s->exact[i])) continue;
        error += v[i].error * v[i].error;
        off += (v[i].price - s->exact[i]) * (v[i].price - s->exact[i]);
    }
    const double n = (double)s->counted;
    *to = (bullet_row){ nested, s->counted, paths, seconds, sqrt(error / n), sqrt(off / n) };
    free(v);
    return code;
}

static int draw_bullet(const char *path, const bullet_row *rows, int count) {
    double x[2][MAX_RUNS], y[2][MAX_RUNS];
    int n[2] = { 0, 0 };
    for (int i = 0; i < count; i++) {
        const int64_t k = rows[i].nested;
        x[k][n[k]] = rows[i].seconds, y[k][n[k]++] = rows[i].rms_error;
    }
    const io_series series[] = { { "grid", n[0], x[0], .y = y[0] },
                                 { "nested", n[1], x[1], .y = y[1] } };
    return plot_pair(path, "Bullet option: error against time",
                     "root mean square over all points, against quadrature", "seconds", "error",
                     series);
}

static int print_bullet(cli *c, const bullet_row *rows, int count) {
    if (c->json) {
        io_json *j = cli_json_begin(c, "price bullet");
        io_json_uint(j, "seed", c->seed);
        cli_json_result_list(j, "compare", bullet_results, rows, sizeof *rows, count);
        return cli_json_end(c, CLI_OK);
    }
    printf("%-8s %10s %10s %10s %11s %11s\n", "strategy", "points", "paths", "seconds", "stderr",
           "error");
    for (int i = 0; i < count; i++)
        printf("%-8s %10lld %10lld %10.4g %11.3e %11.3e\n", rows[i].nested ? "nested" : "grid",
               (long long)rows[i].points, (long long)rows[i].paths, rows[i].seconds,
               rows[i].rms_stderr, rows[i].rms_error);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int bullet_compare(cli *c, const bullet_arguments *a) {
    bullet_row rows[2 * MAX_RUNS];
    side sides[2] = { { 0 }, { 0 } };
    int code = CLI_OK, count = 0;
    code = prepare(c, a, true, 0, &sides[1]);
    if (code == CLI_OK) code = prepare(c, a, false, sides[1].counted, &sides[0]);
    for (int nested = 0; nested < 2 && code == CLI_OK; nested++)
        for (int64_t paths = 64; paths <= a->o.paths && code == CLI_OK && !cli_interrupted();
             paths *= 4) {
            if (count >= (nested + 1) * MAX_RUNS) break;
            code = measure_bullet(c, &sides[nested], nested, paths, &rows[count]);
            if (code == CLI_OK) count++;
        }
    for (int i = 0; i < 2; i++) {
        shoal_price_free(sides[i].plan);
        free(sides[i].exact);
    }
    if (code == CLI_OK && a->o.output)
        code = cli_csv_result_list(a->o.output, bullet_results, rows, sizeof *rows, count);
    if (code == CLI_OK && a->o.plot) code = draw_bullet(a->o.plot, rows, count);
    return code == CLI_OK ? print_bullet(c, rows, count) : code;
}
