/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.c - options of `shoal cva` that are times or term structures: kept as text while options are parsed, because
 * --valuation-date may follow, and then read.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/status.h"

void cva_keep_words(struct argp_state *state, const cli_option *row, const char *text,
                    void *arguments) {
    (void)state;
    memcpy((char *)arguments + row->at, &text, sizeof text);
}

void cva_parse_today(struct argp_state *state, const cli_option *row, const char *text,
                     void *arguments) {
    if (!cva_read_day(text, strlen(text), &((cva_options *)arguments)->today))
        argp_error(state, "--%s: '%s' is not a date like 2026-11-19", row->name, text);
}

char *cva_today_text(const void *arguments) {
    const cva_options *o = arguments;
    char *text = o->today ? malloc(CVA_DAY) : NULL;
    if (text) cva_day_text(o->today, text);
    return text;
}

/* ---- curves ----------------------------------------------------------------------------------- */

static int read_curve(const cli *c, const char *name, const char *words, int64_t today,
                      shoal_cva_curve *curve) {
    if (cli_ends_in(words, ".csv")) return cva_curve_file(c, words, today, curve);
    const int code = cva_curve_points(words, today, curve);
    return code == CLI_INPUT || (code == CLI_OK && curve->count == 0)
               ? cli_fail(CLI_USAGE,
                          "--%s: '%s' is neither a list T1:R1,T2:R2,.. with ascending times nor a "
                          ".csv file",
                          name, words)
               : code;
}

char *cva_rates_text(const void *arguments) {
    const cva_options *o = arguments;
    return o->rates.count ? cva_curve_text(&o->rates, ',') : NULL;
}

/* "0.05", "1:0.02,3:0.05", "hazard.csv". */
static int read_hazard(const cli *c, const cva_options *o, const char *name, const char *words,
                       shoal_cva_counterparty *party, double **made) {
    shoal_cva_curve curve = { .count = 0 };
    double *rate = malloc(sizeof *rate);
    if (!rate) return cli_no_memory();
    if (io_text_double(words, strlen(words), rate)) {
        *made = rate, party->pieces = 1, party->hazard = rate, party->until = NULL;
    } else {
        free(rate);
        const int code = read_curve(c, name, words, o->today, &curve);
        if (code != CLI_OK) {
            cva_curve_free(&curve);
            return code;
        }
        *made = (double *)curve.time, party->pieces = curve.count;
        party->hazard = curve.value, party->until = curve.count > 1 ? curve.time : NULL;
    }
    for (int64_t i = 0; i < party->pieces; i++)
        if (!(party->hazard[i] >= 0) || !isfinite(party->hazard[i]))
            return cli_fail(CLI_USAGE, "--%s: '%s': a rate must be finite and at least 0", name,
                            words);
    return CLI_OK;
}

static char *hazard_text(const shoal_cva_counterparty *p) {
    const shoal_cva_curve curve = { p->pieces, p->until, p->hazard };
    char *text = p->until ? cva_curve_text(&curve, ',') : malloc(64);
    if (text && !p->until) io_real_text(p->hazard[0], text);
    return text;
}

char *cva_hazard_text(const void *arguments) {
    return hazard_text(&((const cva_options *)arguments)->party);
}

char *cva_own_text(const void *arguments) {
    const cva_options *o = arguments;
    return o->own.pieces ? hazard_text(&o->own) : NULL;
}

/* "0.01" is a curve of one point. */
static int read_spread(const cli *c, const cva_options *o, const char *name, const char *words,
                       shoal_cva_curve *curve) {
    char points[64];
    double value;
    if (!words) return CLI_OK;
    const bool flat = io_text_double(words, strlen(words), &value);
    snprintf(points, sizeof points, "1:%.40s", words);
    return read_curve(c, name, flat ? points : words, o->today, curve);
}

static char *spread_text(const shoal_cva_curve *curve) {
    return curve->count ? cva_curve_text(curve, ',') : NULL;
}

char *cva_borrowing_text(const void *arguments) {
    return spread_text(&((const cva_options *)arguments)->opts.borrowing);
}

char *cva_lending_text(const void *arguments) {
    return spread_text(&((const cva_options *)arguments)->opts.lending);
}

/* ---- times ------------------------------------------------------------------------------------ */

/* "0.5,1,2y" */
static int read_list(cva_options *o, const char *words) {
    int64_t count = 0;
    o->time = malloc((strlen(words) + 1) * sizeof *o->time);
    if (!o->time) return cli_no_memory();
    for (const char *at = words; *at; count++) {
        const size_t here = strcspn(at, ",");
        if (!cva_read_time(at, here, o->today, &o->time[count]) ||
            (count > 0 && !(o->time[count] > o->time[count - 1])))
            return cli_fail(CLI_USAGE,
                            "--dates: '%s' is not a list of ascending times above 0: 0.5,1,2y%s",
                            words, o->today ? "" : "; dates need --valuation-date");
        at += here + (at[here] == ',');
    }
    o->opts.dates = count;
    return CLI_OK;
}

/* "12", "3m", "0.5,1,2y" or "dates.csv". */
static int read_dates(cva_options *o) {
    const char *words = o->dates_words;
    const size_t length = strlen(words);
    int64_t number;
    if (cli_ends_in(words, ".csv"))
        o->dates = words;
    else if (strchr(words, ','))
        return read_list(o, words);
    else if (io_text_int(words, length, &number) && number >= 1 && number <= SHOAL_CVA_DATES)
        o->opts.dates = number;
    else if (!length || !strchr("dwmy", words[length - 1]) ||
             !cva_read_time(words, length, 0, &o->step))
        return cli_fail(CLI_USAGE,
                        "--dates: '%s' is neither a number from 1 to %d, a step (1w, 1m, 3m, 1y), "
                        "a list (0.5,1,2y) nor a .csv file",
                        words, SHOAL_CVA_DATES);
    return CLI_OK;
}

char *cva_dates_text(const void *arguments) {
    const cva_options *o = arguments;
    const int64_t count = o->time ? o->opts.dates : 1;
    char *text = malloc((size_t)count * 33 + 1);
    size_t used = 0;
    if (text && !o->time) snprintf(text, 33, "%lld", (long long)o->opts.dates);
    for (int64_t i = 0; text && o->time && i < count; i++) {
        used += (size_t)io_real_text(o->time[i], text + used);
        text[used++] = ',', text[used] = 0;
    }
    return text;
}

char *cva_horizon_text(const void *arguments) {
    const cva_options *o = arguments;
    char *text = o->opts.horizon > 0 ? malloc(64) : NULL;
    if (text) io_real_text(o->opts.horizon, text);
    return text;
}

char *cva_period_text(const void *arguments) {
    const cva_options *o = arguments;
    char *text = o->csa.period > 0 ? malloc(64) : NULL;
    if (text) io_real_text(o->csa.period, text);
    return text;
}

static char *copy(const char *words) { return words ? strdup(words) : NULL; }
char *cva_correlation_text(const void *arguments) {
    return copy(((const cva_options *)arguments)->correlation_words);
}
char *cva_jump_text(const void *arguments) {
    return copy(((const cva_options *)arguments)->jump_words);
}

int cva_read_settings(const cli *c, cva_options *o) {
    const char *end = o->horizon_words;
    int code = CLI_OK;
    if (o->rates_words) code = read_curve(c, "rates", o->rates_words, o->today, &o->rates);
    if (code == CLI_OK && o->cds_words)
        code = read_curve(c, "cds", o->cds_words, o->today, &o->swaps);
    if (code == CLI_OK && o->hazard_words)
        code = read_hazard(c, o, "hazard", o->hazard_words, &o->party, &o->hazard);
    if (code == CLI_OK && o->own_words)
        code = read_hazard(c, o, "own-hazard", o->own_words, &o->own, &o->own_hazard);
    if (code == CLI_OK)
        code = read_spread(c, o, "borrowing", o->borrowing_words, &o->opts.borrowing);
    if (code == CLI_OK) code = read_spread(c, o, "lending", o->lending_words, &o->opts.lending);
    if (code == CLI_OK && o->dates_words) code = read_dates(o);
    if (code == CLI_OK && end && !cva_read_time(end, strlen(end), o->today, &o->opts.horizon))
        code =
            cli_fail(CLI_USAGE, "--horizon: '%s' %s", end, cva_no_time(end, strlen(end), o->today));
    const char *period = o->period_words;
    if (code == CLI_OK && period &&
        (!cva_read_years(period, strlen(period), 0, &o->csa.period) || o->csa.period < 0))
        code = cli_fail(CLI_USAGE, "--mpor: '%s' is not a time: years, 1d, 1w, 1m, 1y", period);
    return code;
}

/* The dates of a step or a file. */
int cva_make_times(const cli *c, cva_options *o, const cva_book *b) {
    double end = o->opts.horizon;
    int code = o->dates ? cva_read_dates(c, o->dates, o->today, &o->opts.dates, &o->time) : CLI_OK;
    for (int64_t i = 0; i < b->count && !(o->opts.horizon > 0); i++)
        end = fmax(end, b->contract[i].maturity);
    if (code == CLI_OK && o->step > 0 && end > 0) {
        if (end / o->step > SHOAL_CVA_DATES)
            return cli_fail(CLI_USAGE, "--dates: a step of %g years makes more than %d dates",
                            o->step, SHOAL_CVA_DATES);
        o->time = cva_times_of(o->step, end, &o->opts.dates);
        if (!o->time) code = cli_no_memory();
    }
    o->opts.time = o->time;
    if (code == CLI_OK && o->time && o->opts.horizon > 0 &&
        o->time[o->opts.dates - 1] > o->opts.horizon * (1 + 1e-9))
        return cli_fail(CLI_USAGE, "--dates: %g is after --horizon %g", o->time[o->opts.dates - 1],
                        o->opts.horizon);
    if (code == CLI_OK && o->opts.inner_count > 1 && o->opts.inner_count != o->opts.dates)
        code = cli_fail(CLI_USAGE, "--inner: %lld numbers for %lld dates",
                        (long long)o->opts.inner_count, (long long)o->opts.dates);
    return code;
}

void cva_free_settings(cva_options *o) {
    cva_curve_free(&o->rates);
    cva_curve_free(&o->swaps);
    cva_curve_free(&o->opts.borrowing);
    cva_curve_free(&o->opts.lending);
    free(o->hazard);
    free(o->dividends_text);
    free(o->by_asset);
    free(o->own_hazard);
    free(o->time);
    free((int64_t *)(uintptr_t)o->opts.inner);
}
