/* SPDX-License-Identifier: Apache-2.0
 *
 * plot.c - pictures of `shoal price`: the convergence of a simulation with its error bars, or,
 * of several strikes, their implied volatilities, one line per maturity.
 */
#include "price.h"

#include <math.h>
#include <stdlib.h>

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
    const io_series series[] = {
        { .name = out->info.method, .count = out->points, .x = x, .y = y, .error = error },
        { .name = "by formula",
          .count = 2,
          .x = ends,
          .y = level,
          .dashed = true,
          .no_markers = true }
    };
    snprintf(title, sizeof title, "%s: price against paths", model);
    snprintf(subtitle, sizeof subtitle, "%s, %lld steps; bars are two standard errors",
             out->info.method, (long long)out->info.steps);
    const io_chart chart = { .title = title,
                             .subtitle = subtitle,
                             .x_label = "paths",
                             .y_label = "price",
                             .x_scale = IO_LOG10,
                             .series_count = isfinite(exact) ? 2 : 1,
                             .series = series };
    io_error err;
    return cli_io(io_svg_write_lines(path, &chart, &err), &err);
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
    return slope > 0 ? 2 * v->error / slope : NAN;
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
            error[k] = volatility_error(o, v, o->strike.values[k], o->maturity.values[m]);
        }
        snprintf(names[m], sizeof names[m], "T = %g", o->maturity.values[m]);
        series[m] = (io_series){ .name = names[m],
                                 .count = strikes,
                                 .x = o->strike.values,
                                 .y = vol,
                                 .error = out->info.deterministic ? NULL : error };
    }
    char title[120];
    snprintf(title, sizeof title, "%s: implied volatility", model);
    const io_chart chart = { .title = title,
                             .subtitle =
                                 out->info.deterministic ? NULL : "bars are two standard errors",
                             .x_label = "strike",
                             .y_label = "volatility",
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
    const io_series series = {
        .name = "density", .count = count, .x = x, .y = y, .no_markers = true
    };
    const io_chart chart = { .title = title,
                             .x_label = "S",
                             .y_label = "density",
                             .y_from_zero = true,
                             .series_count = 1,
                             .series = &series };
    io_error err;
    return cli_io(io_svg_write_lines(path, &chart, &err), &err);
}
