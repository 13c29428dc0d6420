/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c - `shoal price heston --compare`: Euler's scheme against exact steps (question 3
 * of the sheet that src/models/heston.h names) over kappa in [0.1, 10], theta in [0.01, 0.5], sigma in
 * [0.1, 1], as far as 20 kappa theta > sigma^2.
 *
 * Both simulate the same number of paths, Euler with `steps`, exact with as few as its trapezoid rule
 * needs, 8 kappa T and 8 at least. Their errors are root mean squares of the distance from the analytic
 * price and the standard error; the time to an equal error is what exact needs for Euler's, as errors
 * fall with the root of the paths.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>

enum { WARM_SAMPLES = 256 };

/* ---- what comparisons share ------------------------------------------------------------------- */

int price_measure(cli *c, shoal_price *plan, int64_t paths, shoal_price_value *values,
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
    return other ? cli_fail(CLI_USAGE, "--compare has no %s", other) : CLI_OK;
}

int price_plot_pair(const char *path, const char *title, const char *subtitle, const char *x_label,
                    const char *y_label, const io_series series[2]) {
    const io_chart chart = { .title = title,
                             .subtitle = subtitle,
                             .x_label = x_label,
                             .y_label = y_label,
                             .x_scale = IO_LOG10,
                             .y_scale = IO_LOG10,
                             .series_count = 2,
                             .series = series };
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
    if (code == CLI_OK) code = price_measure(c, plan, o->paths, &v, &to->seconds);
    to->price = v.price, to->error = v.error;
    shoal_price_free(plan);
    return code;
}

/* So many that the integral of the variance over a step is off by less than paths can tell. */
static int64_t exact_steps(const shoal_heston *m, double maturity) {
    const double enough = ceil(8 * m->kappa * maturity);
    return enough > 8 ? (int64_t)fmin(enough, 1 << 20) : 8;
}

static int compare_set(cli *c, const shoal_heston *m, const price_options *o, row *r) {
    measured *const both[] = { &r->euler, &r->exact };
    r->m = *m;
    r->exact_steps = exact_steps(m, o->maturity.values[0]);
    int code = measure(c, m, o, "analytic", 1, &r->analytic);
    if (code == CLI_OK) code = measure(c, m, o, "euler", o->opts.steps, &r->euler);
    if (code == CLI_OK) code = measure(c, m, o, "exact", r->exact_steps, &r->exact);
    if (code != CLI_OK) return code;
    for (int i = 0; i < 2; i++) {
        both[i]->off = both[i]->price - r->analytic.price;
        both[i]->rms = hypot(both[i]->off, both[i]->error);
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
    const io_series series[] = {
        { .name = "euler", .count = count, .x = x, .y = euler, .no_line = true },
        { .name = "exact", .count = count, .x = x, .y = exact, .no_line = true }
    };
    return price_plot_pair(path, "Heston: seconds to an equal error",
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

int price_compare(cli *c, const shoal_heston *model, const price_options *o) {
    row rows[MOST];
    int code = CLI_OK, count = 0;
    cli_progress bar;
    cli_progress_begin(&bar, c, "comparing", MOST);
    for (int i = 0; i < MOST && code == CLI_OK && !cli_interrupted(); i++) {
        shoal_heston m = *model;
        m.kappa = kappas[i / (EACH * EACH)], m.theta = thetas[i / EACH % EACH];
        m.sigma = sigmas[i % EACH];
        if (!(20 * m.kappa * m.theta > m.sigma * m.sigma)) continue;
        code = compare_set(c, &m, o, &rows[count]);
        if (code == CLI_OK) count++;
        cli_progress_step(&bar, i + 1);
    }
    cli_progress_end(&bar);
    if (code == CLI_OK && o->output)
        code = cli_csv_result_list(o->output, row_results, rows, sizeof *rows, count);
    if (code == CLI_OK && o->plot) code = draw(o->plot, rows, count);
    return code == CLI_OK ? print(c, o, rows, count) : code;
}
