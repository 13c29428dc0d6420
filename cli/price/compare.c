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

#include "cli/common/charts.h"

enum { EACH = 4, MOST = EACH * EACH * EACH, COLUMNS = 16 };

static const double kappas[EACH] = { 0.1, 0.5, 2, 10 }, thetas[EACH] = { 0.01, 0.05, 0.1, 0.5 },
                    sigmas[EACH] = { 0.1, 0.3, 0.6, 1 };

static const char *const columns[COLUMNS] = {
    "kappa",        "theta",         "sigma",         "analytic",  "euler",
    "euler_stderr", "euler_error",   "euler_seconds", "exact",     "exact_stderr",
    "exact_error",  "exact_seconds", "euler_rms",     "exact_rms", "exact_seconds_to_equal",
    "exact_steps"
};

typedef struct measured {
    double price, error, seconds;
} measured;

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

static int compare_set(cli *c, const shoal_heston *m, const price_options *o, double *row) {
    measured truth, euler, exact;
    const int64_t fewer = exact_steps(m, o->maturity.values[0]);
    int code = measure(c, m, o, "analytic", 1, &truth);
    if (code == CLI_OK) code = measure(c, m, o, "euler", o->opts.steps, &euler);
    if (code == CLI_OK) code = measure(c, m, o, "exact", fewer, &exact);
    if (code != CLI_OK) return code;
    const double rms[2] = { hypot(euler.price - truth.price, euler.error),
                            hypot(exact.price - truth.price, exact.error) };
    const double all[COLUMNS] = { m->kappa,
                                  m->theta,
                                  m->sigma,
                                  truth.price,
                                  euler.price,
                                  euler.error,
                                  euler.price - truth.price,
                                  euler.seconds,
                                  exact.price,
                                  exact.error,
                                  exact.price - truth.price,
                                  exact.seconds,
                                  rms[0],
                                  rms[1],
                                  exact.seconds * (rms[1] / rms[0]) * (rms[1] / rms[0]),
                                  (double)fewer };
    for (int i = 0; i < COLUMNS; i++) row[i] = all[i];
    return CLI_OK;
}

/* Seconds to Euler's error against the Feller ratio, a point a set. */
static int draw(const char *path, const price_rows *rows) {
    double x[MOST], euler[MOST], exact[MOST];
    const int count = rows->count;
    for (int i = 0; i < count; i++) {
        const double *r = rows->row + i * COLUMNS;
        x[i] = 2 * r[0] * r[1] / (r[2] * r[2]);
        euler[i] = r[7], exact[i] = r[14];
    }
    io_error err;
    return cli_io(chart_heston_compare(path, count, x, euler, exact, &err), &err);
}

static int print(cli *c, const price_options *o, const price_rows *rows) {
    if (c->json) {
        io_json *j = cli_json_begin(c, "price heston");
        io_json_uint(j, "seed", c->seed);
        io_json_int(j, "paths", o->paths);
        io_json_int(j, "steps", o->opts.steps);
        io_json_string(j, "type", cli_type_name(o->opts.type));
        io_json_double(j, "strike", o->strike.values[0]);
        io_json_double(j, "maturity", o->maturity.values[0]);
        io_json_bool(j, "put", o->opts.put != 0);
        io_json_bool(j, "antithetic", o->opts.antithetic != 0);
        io_json_bool(j, "control", o->opts.control > 0);
        price_rows_json(j, rows);
        return cli_json_end(c, CLI_OK);
    }
    printf("paths         %lld; euler %lld steps, on %s, %s\n\n", (long long)o->paths,
           (long long)o->opts.steps, c->machine.backend, c->machine.device);
    printf("%6s %6s %6s %11s %11s %9s %6s %11s %9s %10s\n", "kappa", "theta", "sigma", "analytic",
           "euler off", "seconds", "steps", "exact off", "seconds", "to equal");
    for (int i = 0; i < rows->count; i++) {
        const double *r = rows->row + i * COLUMNS;
        printf("%6g %6g %6g %11.8f %11.2e %9.4g %6g %11.2e %9.4g %10.4g\n", r[0], r[1], r[2], r[3],
               r[6], r[7], r[15], r[10], r[11], r[14]);
    }
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

int price_compare(cli *c, const shoal_heston *model, const price_options *o) {
    double row[MOST * COLUMNS];
    price_rows rows = { .columns = columns, .width = COLUMNS, .row = row };
    int code = CLI_OK;
    cli_progress bar;
    cli_progress_begin(&bar, c, "comparing", MOST);
    for (int i = 0; i < MOST && code == CLI_OK && !cli_interrupted(); i++) {
        shoal_heston m = *model;
        m.kappa = kappas[i / (EACH * EACH)], m.theta = thetas[i / EACH % EACH];
        m.sigma = sigmas[i % EACH];
        if (!(20 * m.kappa * m.theta > m.sigma * m.sigma)) continue;
        code = compare_set(c, &m, o, row + rows.count * COLUMNS);
        if (code == CLI_OK) rows.count++;
        cli_progress_step(&bar, i + 1);
    }
    cli_progress_end(&bar);
    if (code == CLI_OK && o->output) code = price_rows_csv(o->output, &rows);
    if (code == CLI_OK && o->plot) code = draw(o->plot, &rows);
    return code == CLI_OK ? print(c, o, &rows) : code;
}
