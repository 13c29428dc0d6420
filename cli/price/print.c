/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - the results of `shoal price`, as keys of the JSON object, as a table, and as pictures.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>

static double path_steps(const price_outcome *out) {
    const double all = (double)out->samples * (double)out->info.walks * (double)out->info.steps;
    return out->seconds > 0 ? all / out->seconds : 0;
}

/* clang-format off */
#define VALUE(name, member) CLI_RESULT(name, shoal_price_value, member)
static const cli_option price_results[]       = { VALUE("price", price), VALUE("stderr", error), { 0 } };
static const cli_option probability_results[] = { VALUE("probability", price), VALUE("stderr", error), { 0 } };
static const cli_option bias_results[]        = { VALUE("bias", bias), { 0 } };
static const cli_option bound_results[]       = { VALUE("bound", bound), { 0 } };
static const cli_option volatility_results[]  = { VALUE("implied_vol", implied_vol), { 0 } };
static const cli_option greek_results[] = {
    VALUE("delta", delta), VALUE("delta_stderr", delta_error), VALUE("gamma", gamma), VALUE("gamma_stderr", gamma_error),
    { 0 }
};
static const cli_option vega_results[]  = { VALUE("vega", vega), VALUE("vega_stderr", vega_error), { 0 } };
static const cli_option shard_results[] = {
    CLI_RESULT("shard", price_options, shard), CLI_RESULT("shards", price_options, shards),
    CLI_RESULT("part", price_options, output),
    { 0 }
};
/* clang-format on */

void price_json_value(io_json *j, const price_options *o, const shoal_price_value *v) {
    cli_json_results(j, o->opts.probability ? probability_results : price_results, v);
    if (v->bias > 0) cli_json_results(j, bias_results, v);
    if (v->bound > 0) cli_json_results(j, bound_results, v);
    if (o->maturity.count > 0) cli_json_results(j, volatility_results, v);
    if (!o->opts.greeks) return;
    cli_json_results(j, greek_results, v);
    if (!isnan(v->vega)) cli_json_results(j, vega_results, v); /* a model may have none */
}

static bool is_list(const price_options *o) { return o->strike.count * o->maturity.count != 1; }

bool price_has_values(const price_outcome *out) {
    return out->samples > 0 || out->info.deterministic;
}

void price_json_run(io_json *j, const cli *c, const price_options *o, const price_outcome *out) {
    const shoal_price_info *i = &out->info;
    io_json_string(j, "method", i->method);
    cli_json_word(j, "variant", i->variant);
    io_json_string(j, "math", c->fast_math ? "fast" : "exact");
    io_json_uint(j, "seed", c->seed);
    io_json_bool(j, "antithetic", i->paths_each == 2);
    io_json_bool(j, "control", i->control != 0);
    io_json_bool(j, "parity", i->parity != 0);
    io_json_int(j, "steps", i->deterministic ? 0 : i->steps);
    io_json_int(j, "paths", i->deterministic ? 0 : out->samples * i->paths_each);
    io_json_double(j, "path_steps_per_second", path_steps(out));
    io_json_double(j, "simulation_seconds", out->seconds);
    if (o->target > 0 || out->unpaid > 0) io_json_int(j, "unpaid", out->unpaid);
    if (o->shards) cli_json_results(j, shard_results, o);
}

void price_json(io_json *j, const cli *c, const price_options *o, const price_outcome *out) {
    price_json_run(j, c, o, out);
    if (!price_has_values(out)) return;
    if (!is_list(o)) {
        price_json_value(j, o, out->values);
        return;
    }
    int64_t late = 0;
    io_json_array(j, "surface");
    for (int64_t m = 0; m < o->maturity.count; m++)
        for (int64_t k = 0; k < o->strike.count && !cli_enough_rows(&late); k++) {
            io_json_object_line(j, NULL);
            io_json_double(j, "maturity", o->maturity.values[m]);
            io_json_double(j, "strike", o->strike.values[k]);
            price_json_value(j, o, &out->values[m * o->strike.count + k]);
            io_json_close(j);
        }
    io_json_close(j);
}

/* A standard error of the price as one of the volatility, by the slope of Black's formula. */
static double volatility_error(const price_options *o, const shoal_price_value *v, double strike,
                               double maturity) {
    const double forward = o->s0 * exp((o->rate - o->dividend) * maturity);
    const double discount = exp(-o->rate * maturity);
    const double s = v->implied_vol * sqrt(maturity), h = 1e-4 * s;
    const double slope = discount *
                         (shoal_black(forward, strike, s + h, o->opts.put) -
                          shoal_black(forward, strike, s - h, o->opts.put)) /
                         (2 * h) * sqrt(maturity);
    return slope > 0 ? v->error / slope : NAN;
}

static void row(const char *name, double value, double error) {
    printf("%-13s %s\n", name, CLI_MEASURED(value, error));
}

void price_table_value(const price_options *o, const shoal_price_value *v) {
    row(o->opts.probability ? "probability" : "price", v->price, v->error);
    if (v->bias > 0) printf("%-13s up to %.2g\n", "bias", v->bias);
    if (v->bound > 0) printf("%-13s below %.2g with 95 %% confidence\n", "bound", v->bound);
    if (isfinite(v->implied_vol))
        row("implied vol", v->implied_vol,
            volatility_error(o, v, o->strike.values[0], o->maturity.values[0]));
    if (!o->opts.greeks) return;
    row("delta", v->delta, v->delta_error);
    row("gamma", v->gamma, v->gamma_error);
    if (!isnan(v->vega)) row("vega", v->vega, v->vega_error);
}

void price_table_columns(const price_options *o, const shoal_price_value *v) {
    char text[3][32];
    printf(" %14s %9.2g", cli_rounded(text[0], v->price, v->error), v->error);
    if (o->opts.greeks)
        printf(" %10s %10s", cli_rounded(text[1], v->delta, v->delta_error),
               cli_rounded(text[2], v->gamma, v->gamma_error));
}

static void surface(const price_options *o, const price_outcome *out) {
    char text[32];
    int64_t late = 0;
    printf("\n%9s %10s %14s %9s%s %9s%s\n", "maturity", "strike", "price", "stderr",
           o->opts.greeks ? "      delta      gamma" : "", "vol",
           o->opts.greeks ? "       vega" : "");
    for (int64_t m = 0; m < o->maturity.count; m++)
        for (int64_t k = 0; k < o->strike.count && !cli_enough_rows(&late); k++) {
            const shoal_price_value *v = &out->values[m * o->strike.count + k];
            printf("%9.4g %10.6g", o->maturity.values[m], o->strike.values[k]);
            price_table_columns(o, v);
            if (isfinite(v->implied_vol))
                printf(" %9s", cli_rounded(text, v->implied_vol,
                                           volatility_error(o, v, o->strike.values[k],
                                                            o->maturity.values[m])));
            else
                printf(" %9s", "-");
            if (o->opts.greeks) printf(" %10s", cli_rounded(text, v->vega, v->vega_error));
            putchar('\n');
        }
}

void price_table_run(const cli *c, const price_options *o, const price_outcome *out) {
    const shoal_price_info *i = &out->info;
    printf("method        %s%s%s%s on %s, %s\n", i->method, *i->variant ? " (" : "", i->variant,
           *i->variant ? ")" : "", c->machine.backend, c->machine.device);
    if (!i->deterministic) {
        printf("paths         %lld with %s, seed %llu%s%s\n",
               (long long)out->samples * i->paths_each, CLI_COUNT(i->steps, "step"),
               (unsigned long long)c->seed, i->paths_each == 2 ? ", antithetic" : "",
               i->control ? ", control variate" : "");
        if (i->parity)
            puts("parity        calls are priced from simulated puts, whose variance is smaller");
        if (out->seconds > 0)
            printf("simulation    %s, %.3g path-steps/s\n", CLI_TIME(out->seconds),
                   path_steps(out));
    }
    if (o->shards)
        printf("part          %lld of %lld: %s\n", (long long)o->shard, (long long)o->shards,
               o->output);
}

void price_table(const cli *c, const price_options *o, const price_outcome *out) {
    price_table_run(c, o, out);
    if (!price_has_values(out)) return;
    if (is_list(o))
        surface(o, out);
    else
        price_table_value(o, out->values);
}

int price_print(const price_job *job, const price_outcome *out) {
    cli *c = job->c;
    if (c->json) {
        io_json *j = cli_json_begin(c, job->command->name);
        cli_json_options(j, c, job->command, job->arguments);
        if (job->json) job->json(job, j);
        price_json(j, c, job->o, out);
        return cli_json_end(c, CLI_OK);
    }
    printf("model         %s", job->command->name + sizeof "price");
    cli_row row;
    for (int i = 0; (row = cli_row_at(job->command, c, job->arguments, i)).option; i++)
        if ((row.option->in & IN_MODEL) == IN_MODEL)
            printf("%s %s %g", i == 0 ? ":" : ",", row.option->name,
                   *(const double *)(void *)(row.base + row.option->at));
    putchar('\n');
    price_table(c, job->o, out);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

/* ---- pictures: convergence with error bars, or implied volatilities, one line per maturity ----- */

static int convergence(const char *path, const char *model, const price_outcome *out,
                       double exact) {
    double x[PRICE_POINTS], y[PRICE_POINTS], error[PRICE_POINTS], ends[2], level[2];
    for (int i = 0; i < out->points; i++) {
        x[i] = (double)(out->point[i].samples * out->info.paths_each);
        y[i] = out->point[i].price;
        error[i] = 2 * out->point[i].error;
    }
    ends[0] = out->points ? x[0] : 1, ends[1] = out->points ? x[out->points - 1] : 2;
    level[0] = level[1] = exact;
    char title[120], subtitle[160];
    const io_series series[] = { { out->info.method, out->points, x, y, .error = error },
                                 { "by formula", 2, ends, level, .dashed = true,
                                   .no_markers = true } };
    snprintf(title, sizeof title, "%s: price against paths", model);
    snprintf(subtitle, sizeof subtitle, "%s, %lld steps; bars are two standard errors",
             out->info.method, (long long)out->info.steps);
    const io_chart chart = { title,           subtitle, "paths",
                             "price",         IO_LOG10, .series_count = isfinite(exact) ? 2 : 1,
                             .series = series };
    io_error err;
    return cli_io(io_svg_write_lines(path, &chart, &err), &err);
}

static int smile(const char *path, const char *model, const price_options *o,
                 const price_outcome *out) {
    const int64_t strikes = o->strike.count, lines = o->maturity.count;
    const int shown = (int)(lines < IO_SVG_MAX_SERIES ? lines : IO_SVG_MAX_SERIES);
    double *y = calloc((size_t)(2 * strikes * shown) + 1, sizeof *y);
    char(*names)[32] = calloc((size_t)shown + 1, sizeof *names);
    io_series series[IO_SVG_MAX_SERIES];
    if (!y || !names) {
        free(y);
        free(names);
        return cli_no_memory();
    }
    for (int m = 0; m < shown; m++) {
        double *vol = y + 2 * m * strikes, *error = vol + strikes;
        for (int64_t k = 0; k < strikes; k++) {
            const shoal_price_value *v = &out->values[m * strikes + k];
            vol[k] = v->implied_vol;
            error[k] = 2 * volatility_error(o, v, o->strike.values[k], o->maturity.values[m]);
        }
        snprintf(names[m], sizeof names[m], "T = %g", o->maturity.values[m]);
        series[m] = (io_series){ names[m], strikes, o->strike.values, vol,
                                 .error = out->info.deterministic ? NULL : error };
    }
    char title[120];
    snprintf(title, sizeof title, "%s: implied volatility", model);
    const io_chart chart = { title,
                             out->info.deterministic ? NULL : "bars are two standard errors",
                             "strike",
                             "volatility",
                             .series_count = shown,
                             .series = series };
    io_error err;
    const int code = cli_io(io_svg_write_lines(path, &chart, &err), &err);
    free(y);
    free(names);
    return code;
}

int price_plot(const char *path, const char *model, const price_options *o,
               const price_outcome *out, double exact) {
    if (o->strike.count > 1) return smile(path, model, o, out);
    return convergence(path, model, out, exact);
}

int price_plot_density(const char *path, const char *model, int count, const double *x,
                       const double *y) {
    char title[120];
    snprintf(title, sizeof title, "%s: density of the asset at maturity", model);
    const io_series series = { "density", count, x, y, .no_markers = true };
    const io_chart chart = {
        title, NULL, "S", "density", .y_from_zero = true, .series_count = 1, .series = &series
    };
    io_error err;
    return cli_io(io_svg_write_lines(path, &chart, &err), &err);
}
