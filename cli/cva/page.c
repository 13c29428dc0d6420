/* SPDX-License-Identifier: Apache-2.0
 *
 * page.c - the picture of `shoal cva --plot`, and the page of --report: well-formed, one file, no scripts. Its pictures
 * are narrow, so that their letters can still be read where a phone makes them smaller.
 */
#define _GNU_SOURCE
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/session.h"
#include "io/file.h"
#include "io/html.h"
#include "io/svg.h"

/* ---- pictures --------------------------------------------------------------------------------- */

enum { NARROW = 430, LOW = 320, POINTS = 40, MIN_PATHS = 8 };

typedef struct profile_chart {
    double *numbers; /* time and four series, each of `dates` numbers */
    io_series series[4];
    char subtitle[160];
    io_chart chart;
} profile_chart;

static int begin_profile(const cva_result *r, profile_chart *p, io_error *err) {
    static const char *const names[] = { "PFE 99 %", "PFE 95 %", "EPE", "-ENE" };
    const int64_t n = r->info.dates;
    p->numbers = malloc((size_t)(5 * n) * sizeof *p->numbers);
    if (!p->numbers) return io_fail(err, IO_E_MEMORY, "not enough memory");
    for (int64_t k = 0; k < n; k++) {
        const shoal_cva_date *d = &r->profile[k];
        const double all[] = { d->time, d->pfe99, d->pfe95, d->epe, -d->ene };
        for (int i = 0; i < 5; i++) p->numbers[i * n + k] = all[i];
    }
    for (int i = 0; i < 4; i++)
        p->series[i] = (io_series){ names[i], n, p->numbers, .y = p->numbers + (i + 1) * n };
    snprintf(p->subtitle, sizeof p->subtitle, "%lld outer paths; CVA %s", (long long)r->outer,
             CLI_MEASURED(r->value.cva, r->value.error));
    p->chart = (io_chart){ "Exposure", p->subtitle,       "years",
                           "exposure", .series_count = 4, .series = p->series };
    return IO_OK;
}

/* Into the page, or, without one, a file of its own. */
static int show_profile(FILE *page, const char *path, const cva_result *r, io_error *err) {
    profile_chart p;
    int status = begin_profile(r, &p, err);
    if (status != IO_OK) return status;
    if (page) {
        p.chart.subtitle = "means, and quantiles over outer paths";
        p.chart.width = NARROW, p.chart.height = LOW;
    }
    status = page ? io_svg_lines(page, &p.chart, err) : io_svg_write_lines(path, &p.chart, err);
    free(p.numbers);
    return status;
}

int cva_plot(const char *path, const cva_result *r, io_error *err) {
    return show_profile(NULL, path, r, err);
}

static int draw_profile(FILE *file, const cva_result *r, io_error *err) {
    return show_profile(file, NULL, r, err);
}

/* At M, M / sqrt 2, M / 2, .. paths. */
static int draw_convergence(FILE *file, const cva_result *r, io_error *err) {
    double x[POINTS], y[POINTS], error[POINTS];
    int count = 0;
    for (; count < POINTS; count++) {
        const int64_t paths = (int64_t)((double)r->outer * exp2(-0.5 * count));
        if (paths < MIN_PATHS && count > 0) break;
        x[count] = (double)paths;
        y[count] = cva_mean(r, NULL, paths, &error[count]);
        error[count] *= 2;
    }
    const io_series series = { "CVA", count, x, y, .error = error };
    const io_chart chart = { "Convergence",    "mean of the first paths +- 2 standard errors",
                             "outer paths",    "CVA",
                             IO_LOG2,          .width = NARROW,
                             .height = LOW,    .series_count = 1,
                             .series = &series };
    return io_svg_lines(file, &chart, err);
}

static int draw_bars(FILE *file, const char *title, const char *subtitle, const char *label,
                     int count, const char *const *names, const double *values, io_error *err) {
    const io_bars bars = { title, subtitle, label, NARROW, count, names, values };
    return io_svg_bars(file, &bars, err);
}

static double percent(const cva_result *r, int64_t count) {
    return r->counts.systems > 0 ? 100 * (double)count / (double)r->counts.systems : 0;
}

static int draw_conditions(FILE *file, const cva_result *r, io_error *err) {
    char text[SHOAL_CVA_DECADES][24];
    const char *names[SHOAL_CVA_DECADES];
    double values[SHOAL_CVA_DECADES];
    int first = 0, last = SHOAL_CVA_DECADES - 1, count = 0;
    while (first < last && !r->counts.decade[first]) first++;
    while (last > first && !r->counts.decade[last]) last--;
    for (int i = first; i <= last; i++, count++) {
        snprintf(text[count], sizeof text[count],
                 i < SHOAL_CVA_DECADES - 1 ? "1e%d to 1e%d" : "1e%d or more", i, i + 1);
        names[count] = text[count];
        values[count] = percent(r, r->counts.decade[i]);
    }
    return draw_bars(file, "Condition numbers", "of the regressions that were solved",
                     "% of regressions", count, names, values, err);
}

static int draw_solvers(FILE *file, const cva_result *r, io_error *err) {
    const char *names[SHOAL_CVA_METHODS];
    double values[SHOAL_CVA_METHODS];
    int count = 0;
    for (; count < SHOAL_CVA_METHODS && shoal_methods("smallsym", count); count++) {
        names[count] = shoal_methods("smallsym", count);
        values[count] = percent(r, r->counts.method[count]);
    }
    return draw_bars(file, "Solvers", "the method that answered", "% of regressions", count, names,
                     values, err);
}

static int draw_outcomes(FILE *file, const cva_result *r, io_error *err) {
    static const char *const names[] = { "as they were", "empty",   "warned",
                                         "truncated",    "refined", "failed" };
    const shoal_cva_counts *n = &r->counts;
    const int64_t counts[] = { n->systems - n->empty - n->warned - n->truncated - n->refined -
                                   n->failed,
                               n->empty,
                               n->warned,
                               n->truncated,
                               n->refined,
                               n->failed };
    double values[6];
    for (int i = 0; i < 6; i++) values[i] = percent(r, counts[i]);
    return draw_bars(file, "Outcomes", "status of the regressions", "% of regressions", 6, names,
                     values, err);
}

static int draw_stages(FILE *file, const cva_result *r, io_error *err) {
    static const char *const names[] = { "rules of exercise", "outer, closed form",
                                         "European, nested", "American" };
    const double *stage = r->counts.seconds, all[] = { r->rules, stage[0], stage[1], stage[2] };
    return draw_bars(file, "Time", NULL, "seconds", 4, names, all, err);
}

/* ---- the page --------------------------------------------------------------------------------- */

static const char *const estimators[] = { "exercise rules, on inner paths",
                                          "exercise rules, by regression",
                                          "regressions on inner paths" };

static void cards(FILE *file, const cva_result *r) {
    char value[160], label[128], date[CLI_NUMBER];
    const shoal_cva_date *top = cva_peak(r);
    fputs("<div class=\"cards\">\n", file);
    const double error = r->value.error;
    snprintf(value, sizeof value, "%s ± %s", CLI_ROUNDED(r->value.cva, error),
             CLI_ROUNDED(error, error));
    io_html_card(file, value, "CVA, and its standard error");
    snprintf(value, sizeof value, "%s to %s", CLI_ROUNDED(r->value.low, error),
             CLI_ROUNDED(r->value.high, error));
    io_html_card(file, value, "95 % interval of the CVA: standard error and bias");
    if (r->value.bias > 0) {
        snprintf(value, sizeof value, "%.2g", r->value.bias);
        io_html_card(file, value, "bias of the CVA, estimated");
    }
    snprintf(value, sizeof value, "%s ± %s", CLI_ROUNDED(top->epe, top->epe_error),
             CLI_ROUNDED(top->epe_error, top->epe_error));
    snprintf(label, sizeof label, "peak EPE (mean exposure), at %s",
             cva_date(date, r, top - r->profile));
    io_html_card(file, value, label);
    if (r->counts.systems > 0)
        io_html_card(file, io_html_count(r->counts.systems, value), "regressions");
    io_html_card(file, CLI_TIME(r->seconds), "computing time");
    fputs("</div>\n", file);
}

static int charts(FILE *file, const cva_result *r, io_error *err) {
    static int (*const draw[])(FILE *, const cva_result *,
                               io_error *) = { draw_profile,    draw_convergence, draw_stages,
                                               draw_conditions, draw_solvers,     draw_outcomes };
    enum { ALWAYS = 3, ALL = 6 }; /* the others are about regressions */
    const int count = r->counts.systems > 0 ? ALL : ALWAYS;
    int status = IO_OK;
    fprintf(file, "<h2>Exposure, convergence, %stime</h2>\n<div class=\"charts\">\n",
            count == ALL ? "regressions, " : "");
    for (int i = 0; i < count && status == IO_OK; i++) {
        fputs("<div class=\"wide chart\">\n", file);
        status = draw[i](file, r, err);
        fputs("</div>\n", file);
    }
    fputs(
        "</div>\n<p>EPE is the mean of the positive part of the book's value to us, ENE the mean of "
        "the negative part, PFE a quantile of the positive part.</p>\n",
        file);
    if (r->counts.systems > 0)
        fputs(
            "<p>At every date, every outer path solves one regression per American contract that it "
            "still holds. A truncated regression is solved without its smallest eigenvalues. An "
            "empty one has no path in the money. The condition numbers are the solver's "
            "bounds.</p>\n",
            file);
    return status;
}

static void cell(FILE *file, const char *format, double value) {
    fputs("<td>", file);
    fprintf(file, format, value);
    fputs("</td>", file);
}

/* Opens a table with these heads, the first `left` of them over columns of text, and `more` of others. */
static void heads(FILE *file, const char *const *names, int count, int left, char *const *others,
                  int64_t more) {
    fputs("<div class=\"wide\"><table><thead><tr>", file);
    for (int64_t i = 0; i < count + more; i++) {
        fputs(i < left ? "<th class=\"l\">" : "<th>", file);
        io_html_text(file, i < count ? names[i] : others[i - count]);
        fputs("</th>", file);
    }
    fputs("</tr></thead><tbody>\n", file);
}

static void profile(FILE *file, const cva_result *r) {
    static const char *const names[] = { "time",     "EPE",      "±",   "ENE",
                                         "PFE 95 %", "PFE 99 %", "CVA", "inner paths" };
    fputs("<h2>Profile</h2>\n", file);
    heads(file, names, 8, 0, NULL, 0);
    for (int64_t k = 0; k < r->info.dates; k++) {
        const shoal_cva_date *d = &r->profile[k];
        char text[CVA_SHOWN][32], date[CLI_NUMBER];
        cva_show(d, text);
        fprintf(file,
                "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>"
                "<td>%s</td><td>%lld</td></tr>\n",
                cva_date(date, r, k), text[0], CLI_ROUNDED(d->epe_error, d->epe_error), text[1],
                text[2], text[3], text[4], (long long)d->inner);
    }
    fputs("</tbody></table></div>\n", file);
}

/* `set` is the name of its netting set; without one, the number is shown. */
static void contract(FILE *file, const cva_book *b, int64_t at, const char *set) {
    const shoal_cva_contract *c = &b->contract[at];
    fputs("<tr>", file);
    if (b->id) {
        fputs("<td class=\"l\">", file);
        io_html_text(file, b->id[at]);
        fputs("</td>", file);
    }
    fprintf(file, "<td class=\"l\">%s</td><td class=\"l\">%s</td><td class=\"l\">",
            c->american ? "american" : "european", cva_payoffs[c->payoff]);
    for (int64_t i = 0; i < c->assets; i++) {
        if (i > 0) fputc(' ', file);
        io_html_text(file, b->asset[c->asset[i]]);
    }
    fputs("</td>", file);
    cell(file, "%g", c->strike);
    cell(file, "%g", c->maturity);
    cell(file, "%g", c->quantity);
    fputs("<td>", file);
    if (*set)
        io_html_text(file, set);
    else
        fprintf(file, "%lld", (long long)c->set + 1);
    fputs("</td></tr>\n", file);
}

/* "0.25: 0.01, 1: 0.03" */
static void points(FILE *file, const shoal_cva_curve *curve) {
    for (int64_t i = 0; i < curve->count; i++)
        fprintf(file, "%s%.4g: %g", i ? ", " : "", curve->time[i], curve->value[i]);
}

static void number_or_curve(FILE *file, double number, const shoal_cva_curve *curve) {
    if (!curve->count) {
        cell(file, "%g", number);
        return;
    }
    fputs("<td>", file);
    points(file, curve);
    fputs("</td>", file);
}

static void book_and_market(FILE *file, const cva_options *o, const cva_book *b,
                            const cva_result *r) {
    static const char *const of_book[] = { "trade",  "style",    "payoff",   "assets",
                                           "strike", "maturity", "quantity", "netting set" };
    static const char *const of_market[] = { "asset", "spot", "volatility", "dividend" };
    fprintf(file,
            "<h2>Book</h2>\n<p>%s: %lld by closed form, %lld nested, %lld American, "
            "%lld expired.</p>\n",
            CLI_COUNT(b->count, "contract"), (long long)r->info.closed, (long long)r->info.nested,
            (long long)r->info.american, (long long)r->info.expired);
    if (b->id)
        heads(file, of_book, 8, 4, NULL, 0);
    else
        heads(file, of_book + 1, 7, 3, NULL, 0);
    for (int64_t i = 0; i < b->count; i++) /* without netting, sets are not those of the book */
        contract(file, b, i, o->no_netting ? "" : b->set[b->contract[i].set]);
    fputs("</tbody></table></div>\n<h2>Market</h2>\n", file);
    fputs(o->rates.count ? "<p>Zero rates by years: " : "<p>Interest rate ", file);
    if (o->rates.count)
        points(file, &o->rates);
    else
        fprintf(file, "%g", o->rate);
    fputs("; on the right, the correlations.</p>\n", file);
    heads(file, of_market, 4, 1, b->asset, b->assets);
    for (int64_t i = 0; i < b->assets; i++) {
        fputs("<tr><td class=\"l\">", file);
        io_html_text(file, b->asset[i]);
        fputs("</td>", file);
        cell(file, "%g", b->s0[i]);
        number_or_curve(file, b->sigma[i], &b->sigmas[i]);
        number_or_curve(file, b->dividend[i], &b->dividends[i]);
        for (int64_t k = 0; k < b->assets; k++) cell(file, "%g", b->correlation[i * b->assets + k]);
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div>\n", file);
}

static void number_fact(FILE *file, const char *name, double value) {
    char text[64];
    snprintf(text, sizeof text, "%.10g", value);
    io_html_fact(file, name, text);
}

/* "0.05", or "0.02 until 1, 0.05 later". */
static void hazard_fact(FILE *file, const cva_options *o) {
    fputs("<dt>hazard rate</dt><dd>", file);
    for (int64_t i = 0; i < o->party.pieces; i++) {
        fprintf(file, "%s%g", i ? ", " : "", o->party.hazard[i]);
        if (i < o->party.pieces - 1) fprintf(file, " until %g", o->party.until[i]);
    }
    fputs(o->party.pieces > 1 ? " later</dd>\n" : "</dd>\n", file);
}

static void run_facts(FILE *file, const cli *c, const cva_options *o, const cva_book *b,
                      const cva_result *r) {
    char text[64];
    time_t now = time(NULL);
    struct tm utc;
    fputs("<h2>The run</h2>\n<div class=\"card\"><dl>\n", file);
    io_html_fact(file, "book", o->book);
    io_html_fact(file, "market", o->market);
    hazard_fact(file, o);
    number_fact(file, "recovery", o->party.recovery);
    if (o->party.collateral) number_fact(file, "threshold of collateral", o->party.threshold);
    number_fact(file, "netting sets", (double)r->info.sets);
    if (b->assets > 1 && !b->has_correlation)
        io_html_fact(file, "correlations", "not given: independent assets");
    number_fact(file, "dates", (double)r->info.dates);
    number_fact(file, "horizon", r->info.horizon);
    io_html_fact(file, "outer paths", io_html_count(r->outer, text));
    io_html_fact(file, "inner paths, in all", io_html_count(r->counts.inner_paths, text));
    io_html_fact(file, "stopped at exercise", o->opts.kept ? "no" : "yes");
    io_html_fact(file, "estimator", estimators[o->opts.estimator]);
    io_html_fact(file, "European contracts",
                 o->opts.nested ? "nested" : "by closed form, else nested");
    if (o->opts.degree > 0) number_fact(file, "degree of the regressions", (double)o->opts.degree);
    io_html_fact(file, "basis", o->opts.raw ? "raw prices" : "centred and scaled");
    io_html_fact(file, "solver", o->opts.solver);
    io_html_fact(file, "type", cli_type_name(o->opts.type));
    snprintf(text, sizeof text, "%llu", (unsigned long long)c->seed);
    io_html_fact(file, "seed", text);
    io_html_fact(file, "backend", c->machine.backend);
    io_html_fact(file, "device", c->machine.device);
    number_fact(file, "CPU threads", c->machine.threads);
    io_html_fact(file, "Shoal", shoal_version());
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc))
        io_html_fact(file, "date", text);
    fputs("</dl></div>\n", file);
}

int cva_write_page(const char *path, const cli *c, const cva_options *o, const cva_book *b,
                   const cva_result *r, io_error *err) {
    io_out *out;
    int status = bench_make_parents(path, err);
    if (status == IO_OK) status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    io_html_begin(file, "Shoal: CVA of a book");
    fputs(
        "<h1>Credit valuation adjustment</h1>\n<p class=\"lead\">The expected loss on the book if "
        "the counterparty defaults, by nested Monte Carlo, with its error and diagnostics.</p>\n",
        file);
    if (r->outer < r->planned)
        fprintf(file,
                "<p class=\"bad\">The run was interrupted: %lld of %lld outer paths are "
                "shown.</p>\n",
                (long long)r->outer, (long long)r->planned);
    if (r->check) {
        char text[256];
        cva_verdict(o, b, r, text);
        fprintf(file, "<p class=\"%s\">Validation ", r->validation.passed ? "good" : "bad");
        io_html_text(file, text);
        fputs("</p>\n", file);
    }
    cards(file, r);
    status = charts(file, r, err);
    profile(file, r);
    book_and_market(file, o, b, r);
    run_facts(file, c, o, b, r);
    fprintf(file, "<footer>Written by <code>shoal cva</code>, version %s.</footer>\n",
            shoal_version());
    io_html_end(file);
    if (status == IO_OK) return io_out_commit(out, err);
    io_out_abandon(out);
    return status;
}
