/* SPDX-License-Identifier: Apache-2.0
 *
 * page.c - the page of `shoal cva --report`: well-formed, one file, no scripts.
 */
#define _GNU_SOURCE
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/session.h"
#include "io/file.h"
#include "io/html.h"
#include "io/svg.h"

static const char *const estimators[] = { "exercise rules, on inner paths",
                                          "exercise rules, by regression",
                                          "regressions on inner paths" };

/* "1.316 ± 0.021" */
static const char *measured(char text[160], double value, double error) {
    if (error > 0)
        snprintf(text, 160, "%s ± %s", CLI_ROUNDED(value, error), CLI_ROUNDED(error, error));
    else
        snprintf(text, 160, "%s", CVA_ROUNDED(value, error));
    return text;
}

/* A date of the profile: of the calendar, if today is known. */
static const char *day_of(char text[CLI_NUMBER], const cva_options *o, const cva_result *r,
                          int64_t k) {
    if (!o->today) return cva_date(text, r, k);
    cva_day_text(o->today + llround(365 * r->profile[k].time), text);
    return text;
}

/* The largest PFE of a profile, and its error. */
static const shoal_cva_date *peak_pfe(const shoal_cva_date *profile, int64_t dates, double *error) {
    const shoal_cva_date *top = profile;
    for (int64_t k = 1; k < dates; k++)
        if (profile[k].pfe95 > top->pfe95) top = &profile[k];
    *error = (top->pfe95_high - top->pfe95_low) / 3.92;
    return top;
}

/* The risk in one sentence. */
static void verdict(FILE *file, const cva_options *o, const cva_book *b, const cva_result *r) {
    char text[160];
    const shoal_cva_value *v = &r->value;
    const char *who = r->info.parties > 1 ? "the counterparties" : "the counterparty";
    fprintf(file, "<p class=\"lead\">");
    io_html_text(file, o->book);
    char today[CVA_DAY];
    if (o->today) {
        cva_day_text(o->today, today);
        fprintf(file, " on %s", today);
    }
    fprintf(
        file,
        ": %s with %s in %s. If %s default%s, the book is expected to lose <b>%s</b> in today's "
        "money (CVA); with 95 %% confidence between %s and %s.</p>\n",
        CLI_COUNT(b->count, "contract"),
        r->info.parties > 1 ? CLI_COUNT(r->info.parties, "counterparty") : "one counterparty",
        CLI_COUNT(r->info.sets, "netting set"), who, r->info.parties > 1 ? "" : "s",
        measured(text, v->cva, v->error), CLI_ROUNDED(v->low, v->error),
        CLI_ROUNDED(v->high, v->error));
}

static void cards(FILE *file, const cva_options *o, const cva_result *r) {
    char value[160], label[160], date[CLI_NUMBER];
    const shoal_cva_date *top = cva_peak(r);
    const shoal_cva_adjustments *a = &r->all;
    const double error = r->value.error;
    const bool funded = o->opts.borrowing.count || o->opts.lending.count;
    double pfe_error;
    fputs("<div class=\"cards\">\n", file);
    snprintf(label, sizeof label, "CVA: expected loss at default; 95 %%: %s to %s",
             CLI_ROUNDED(r->value.low, error), CLI_ROUNDED(r->value.high, error));
    io_html_card(file, measured(value, r->value.cva, error), label);
    if (o->own.pieces)
        io_html_card(file, measured(value, a->dva, a->dva_error),
                     "DVA: what our own default is worth");
    if (funded) {
        snprintf(label, sizeof label, "FVA: funding costs %s, saves %s",
                 CLI_ROUNDED(a->fca, a->fca_error), CLI_ROUNDED(a->fba, a->fba_error));
        io_html_card(file, measured(value, a->fva, a->fva_error), label);
    }
    if (isfinite(a->pv)) {
        const double all = a->pv - r->value.cva + a->dva - a->fva;
        snprintf(label, sizeof label, "PV: value today, before adjustments; after them %s",
                 CVA_ROUNDED(all, fmax(error, a->pv_error)));
        io_html_card(file, measured(value, a->pv, a->pv_error), label);
    }
    snprintf(label, sizeof label, "peak EPE: largest mean exposure, at %s",
             day_of(date, o, r, top - r->profile));
    io_html_card(file, measured(value, top->epe, top->epe_error), label);
    top = peak_pfe(r->profile, r->info.dates, &pfe_error);
    snprintf(label, sizeof label, "peak PFE: 95 %% of the paths stay below; at %s",
             day_of(date, o, r, top - r->profile));
    io_html_card(file, CLI_ROUNDED(top->pfe95, pfe_error), label);
    if (isfinite(a->eepe)) {
        const double share = r->value.cva > 0 ? error / r->value.cva : 0;
        io_html_card(file, CLI_ROUNDED(a->eepe, a->eepe * share), "EEPE of the first year (Basel)");
    }
    fputs("</div>\n", file);
    if (r->value.bias > 0)
        fprintf(file,
                "<p>The bias of the CVA is estimated as %.2g; the interval contains it.</p>\n",
                r->value.bias);
}

static int exposure(FILE *file, const cva_options *o, const cva_result *r, io_error *err) {
    fputs("<h2>Exposure</h2>\n<div class=\"wide chart big\">\n", file);
    int status = cva_draw_profile(file, true, NULL, o, r, err);
    fputs("</div>\n<div class=\"wide chart small\">\n", file);
    if (status == IO_OK) status = cva_draw_profile(file, false, NULL, o, r, err);
    fputs(
        "</div>\n<p>EPE is the mean of what the counterparties would owe us, ENE of what we would owe "
        "them. PFE 95 %: 95 of 100 paths stay below it.</p>\n",
        file);
    return status;
}

/* Rows of counterparties or netting sets. */
static void set_part(cva_sheet *t, int64_t row, int column, const shoal_cva_adjustments *a,
                     const shoal_cva_date *profile, int64_t dates) {
    double epe = 0, ene = 0, pfe;
    for (int64_t k = 0; k < dates; k++)
        epe = fmax(epe, profile[k].epe_error), ene = fmax(ene, profile[k].ene_error);
    peak_pfe(profile, dates, &pfe);
    const double numbers[][2] = { { a->cva, a->cva_error }, { a->dva, a->dva_error },
                                  { a->fva, a->fva_error }, { a->pv, a->pv_error },
                                  { a->epe, epe },          { a->ene, ene },
                                  { a->eepe, epe },         { a->pfe95, pfe },
                                  { a->es95, pfe } };
    for (int i = 0; i < 9; i++) cva_set_number(t, row, column + i, numbers[i][0], numbers[i][1]);
}

static int parts(FILE *file, const cva_book *b, const cva_result *r, io_error *err) {
    static const char *const names[] = { "counterparty", "CVA", "DVA",  "FVA",      "PV",
                                         "EPE",          "ENE", "EEPE", "PFE 95 %", "ES 95 %" };
    static const char *const set_names[] = { "counterparty", "netting set", "CVA",    "DVA",
                                             "FVA",          "PV",          "EPE",    "ENE",
                                             "EEPE",         "PFE 95 %",    "ES 95 %" };
    cva_sheet t;
    int status = IO_OK;
    if (r->info.parties > 1) {
        fputs("<h2>Counterparties</h2>\n", file);
        status = cva_make_sheet(&t, names, 10, 1, r->info.parties, err);
        for (int64_t i = 0; status == IO_OK && i < r->info.parties; i++) {
            cva_set_text(&t, i, 0, cva_party_name(b, i));
            set_part(&t, i, 1, &r->party[i], r->party_profile + i * r->info.dates, r->info.dates);
        }
        if (status == IO_OK) status = cva_show_sheet(file, &t, 'p', 1, err);
    }
    if (status != IO_OK) return status;
    const int skip = r->info.parties > 1 ? 0 : 1;
    fputs("<h2>Netting sets</h2>\n", file);
    status = cva_make_sheet(&t, set_names + skip, 11 - skip, 2 - skip, r->info.sets, err);
    for (int64_t i = 0; status == IO_OK && i < r->info.sets; i++) {
        if (!skip) cva_set_text(&t, i, 0, cva_party_name(b, b->set_of[i]));
        cva_set_text(&t, i, 1 - skip, cva_set_name(b, i));
        set_part(&t, i, 2 - skip, &r->set[i], r->set_profile + i * r->info.dates, r->info.dates);
    }
    if (status == IO_OK) status = cva_show_sheet(file, &t, 's', 2 - skip, err);
    fputs(
        "<p>EPE and ENE are means over time; PFE and ES (expected shortfall) the largest of all dates.</p>\n",
        file);
    return status;
}

enum { TOP = 10 };

static int trades(FILE *file, const cva_options *o, const cva_book *b, const cva_result *r,
                  io_error *err) {
    static const char *const names[] = { "trade", "netting set", "payoff", "CVA", "DVA",
                                         "FVA",   "PV",          "EPE",    "ENE", "EEPE" };
    char name[TOP][CVA_NAME];
    const char *bar[TOP];
    double value[TOP];
    int64_t *order = cva_by_size(b, r);
    cva_sheet t;
    int status = order ? IO_OK : io_fail(err, IO_E_MEMORY, "not enough memory"), count = 0;
    for (; order && count < TOP && count < b->count; count++) {
        bar[count] = cva_trade_name(b, order[count], name[count]);
        value[count] = r->trade[order[count]].cva;
    }
    free(order);
    fputs(
        "<h2>Trades</h2>\n<p>Contributions to the netting sets: they add up to the CVA. A trade that "
        "offsets others has one below 0.</p>\n<div class=\"wide chart\">\n",
        file);
    if (status == IO_OK && count > 0)
        status = cva_draw_bars(file, b->count > TOP ? "Top 10 contributions" : "Contributions",
                               NULL, "CVA", count, bar, value, err);
    fputs("</div>\n", file);
    if (status == IO_OK) status = cva_make_sheet(&t, names, 10, 3, b->count, err);
    if (status != IO_OK) return status;
    (void)o;
    for (int64_t i = 0; i < b->count; i++) {
        char text[CVA_NAME];
        const shoal_cva_contract *c = &b->contract[i];
        const shoal_cva_trade *a = &r->trade[i];
        const double share = a->cva != 0 ? a->cva_error / fabs(a->cva) : 0;
        cva_set_text(&t, i, 0, cva_trade_name(b, i, text));
        cva_set_text(&t, i, 1, cva_set_name(b, c->set));
        cva_set_text(&t, i, 2, shoal_cva_payoffs((int)c->payoff));
        const double numbers[][2] = {
            { a->cva, a->cva_error },          { a->dva, fabs(a->dva) * share },
            { a->fva, fabs(a->fva) * share },  { a->pv, a->pv_error },
            { a->epe, fabs(a->epe) * share },  { a->ene, fabs(a->ene) * share },
            { a->eepe, fabs(a->eepe) * share }
        };
        for (int k = 0; k < 7; k++) cva_set_number(&t, i, 3 + k, numbers[k][0], numbers[k][1]);
    }
    if (b->count > 2 * TOP)
        fprintf(file, "<details><summary>All %lld trades</summary>\n", (long long)b->count);
    status = cva_show_sheet(file, &t, 't', 3, err);
    if (b->count > 2 * TOP) fputs("</details>\n", file);
    return status;
}

static int sensitivities(FILE *file, const cva_result *r, io_error *err) {
    static const char *const names[] = { "parameter",         "of",        "with", "value", "move",
                                         "change of the CVA", "derivative" };
    cva_sheet t;
    if (!r->greek) return IO_OK;
    fputs("<h2>Sensitivities</h2>\n<p>The change of the CVA by a move of one parameter: 1 % of a "
          "spot, 0.01 of a volatility, a correlation or a recovery rate, 1 basis point of a rate.",
          file);
    if (r->greeks && strstr(r->greek[r->greeks - 1].parameter, "gamma"))
        fputs(" Of a cross gamma both spots move by 1 %, of a gamma its change is half of that.",
              file);
    fputs("</p>\n", file);
    const int status = cva_make_sheet(&t, names, 7, 3, r->greeks, err);
    for (int64_t i = 0; status == IO_OK && i < r->greeks; i++) {
        const cva_greek *g = &r->greek[i];
        char text[CLI_NUMBER];
        cva_set_text(&t, i, 0, g->parameter);
        cva_set_text(&t, i, 1, g->of);
        cva_set_text(&t, i, 2, cva_greek_place(g, text));
        cva_set_number(&t, i, 3, g->s.at, 0);
        cva_set_number(&t, i, 4, g->s.move, 0);
        cva_set_number(&t, i, 5, g->change, g->change_error);
        cva_set_number(&t, i, 6, g->s.value, g->s.error);
    }
    return status == IO_OK ? cva_show_sheet(file, &t, 'g', 5, err) : status;
}

static void incremental(FILE *file, const cva_options *o, const cva_book *b, const cva_result *r) {
    char text[160];
    if (!r->before) return;
    fprintf(file, "<h2>What is added</h2>\n<p>%s of ", CLI_COUNT(b->count - b->own, "contract"));
    io_html_text(file, o->add);
    fprintf(file, " change%s the CVA by <b>%s</b>", b->count - b->own == 1 ? "s" : "",
            measured(text, r->more.cva, r->more.cva_error));
    fprintf(file, ", from %s to %s, on the same paths.",
            CLI_ROUNDED(r->before->cva, r->before->cva_error),
            CLI_ROUNDED(r->value.cva, r->value.error));
    if (isfinite(r->more.pv)) fprintf(file, " Value today: %.6g.", r->more.pv);
    if (o->own.pieces)
        fprintf(file, " DVA changes by %s.", measured(text, r->more.dva, r->more.dva_error));
    if (o->opts.borrowing.count || o->opts.lending.count)
        fprintf(file, " FVA changes by %s.", measured(text, r->more.fva, r->more.fva_error));
    fputs("</p>\n", file);
}

static int diagnostics(FILE *file, const cva_result *r, io_error *err) {
    static int (*const draw[])(FILE *, const cva_result *,
                               io_error *) = { cva_draw_convergence, cva_draw_stages,
                                               cva_draw_conditions, cva_draw_solvers,
                                               cva_draw_outcomes };
    enum { ALWAYS = 2, ALL = 5 }; /* the others are about regressions */
    const int count = r->counts.systems > 0 ? ALL : ALWAYS;
    int status = IO_OK;
    fputs("<details><summary>Diagnostics: convergence, time, regressions</summary>\n"
          "<div class=\"charts\">\n",
          file);
    for (int i = 0; i < count && status == IO_OK; i++) {
        fputs("<div class=\"wide chart\">\n", file);
        status = draw[i](file, r, err);
        fputs("</div>\n", file);
    }
    fprintf(file, "</div>\n<p>Computing time %s.</p>\n", CLI_TIME(r->seconds));
    if (r->counts.systems > 0)
        fprintf(
            file,
            "<p>%lld regressions: at every date, every outer path solves one per American "
            "contract that it still holds. A truncated regression is solved without its smallest "
            "eigenvalues. An empty one has no path in the money. The condition numbers are the "
            "solver's bounds.</p>\n",
            (long long)r->counts.systems);
    fputs("</details>\n", file);
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

static void profile(FILE *file, const cva_options *o, const cva_result *r) {
    static const char *const names[] = { "date",     "EPE",     "±",   "ENE",        "PFE 95 %",
                                         "PFE 99 %", "ES 95 %", "CVA", "inner paths" };
    fputs("<details><summary>Exposure by date</summary>\n", file);
    heads(file, names, 9, 0, NULL, 0);
    for (int64_t k = 0; k < r->info.dates; k++) {
        const shoal_cva_date *d = &r->profile[k];
        char text[CVA_SHOWN][32], date[CLI_NUMBER];
        cva_show(d, text);
        fprintf(file,
                "<tr><td>%s</td><td>%s</td><td>%.2g</td><td>%s</td><td>%s</td><td>%s</td>"
                "<td>%s</td><td>%s</td><td>%lld</td></tr>\n",
                day_of(date, o, r, k), text[0], d->epe_error, text[1], text[2], text[3],
                CLI_ROUNDED(d->es95, (d->pfe95_high - d->pfe95_low) / 3.92), text[4],
                (long long)d->inner);
    }
    fputs("</tbody></table></div></details>\n", file);
}

static void contract(FILE *file, const cva_book *b, int64_t at) {
    const shoal_cva_contract *c = &b->contract[at];
    fputs("<tr>", file);
    if (b->id) {
        fputs("<td class=\"l\">", file);
        io_html_text(file, b->id[at] ? b->id[at] : "");
        fputs("</td>", file);
    }
    fprintf(file, "<td class=\"l\">%s</td><td class=\"l\">%s",
            c->american ? "american" : "european", shoal_cva_payoffs((int)c->payoff));
    if (c->barrier > 0) fprintf(file, ", barrier %g", c->barrier);
    fputs("</td><td class=\"l\">", file);
    for (int64_t i = 0; i < c->assets; i++) {
        if (i > 0) fputc(' ', file);
        io_html_text(file, b->asset[c->asset[i]]);
    }
    fputs("</td>", file);
    cell(file, "%g", c->strike);
    cell(file, "%g", c->maturity);
    cell(file, "%g", c->quantity);
    fputs("<td>", file);
    io_html_text(file, cva_set_name(b, c->set));
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
            "<details><summary>Book and market</summary>\n<p>%s: %lld by closed form, %lld nested, "
            "%lld American, %lld expired.</p>\n",
            CLI_COUNT(b->count, "contract"), (long long)r->info.closed, (long long)r->info.nested,
            (long long)r->info.american, (long long)r->info.expired);
    if (b->id)
        heads(file, of_book, 8, 4, NULL, 0);
    else
        heads(file, of_book + 1, 7, 3, NULL, 0);
    for (int64_t i = 0; i < b->count; i++) contract(file, b, i);
    fputs("</tbody></table></div>\n", file);
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
    for (int64_t i = 0; i < b->assets; i++) {
        const shoal_cva_heston *h = &b->heston[i];
        if (!(h->sigma > 0)) continue;
        fputs("<p>Heston's model of ", file);
        io_html_text(file, b->asset[i]);
        fprintf(file, ": v0 %g, kappa %g, theta %g, xi %g, rho %g.</p>\n", h->v0, h->kappa,
                h->theta, h->sigma, h->rho);
    }
    for (int64_t i = 0; i < b->assets && b->cash; i++) {
        if (!b->cash[i].count) continue;
        fputs("<p>Cash dividends of ", file);
        io_html_text(file, b->asset[i]);
        fputs(", by years: ", file);
        points(file, &b->cash[i]);
        fputs(".</p>\n", file);
    }
    fputs("</details>\n", file);
}

static void number_fact(FILE *file, const char *name, double value) {
    char text[64];
    snprintf(text, sizeof text, "%.10g", value);
    io_html_fact(file, name, text);
}

/* "0.05", or "0.02 until 1, 0.05 later". */
/* covered: collateral is said elsewhere. */
static void hazard_fact(FILE *file, const char *name, const shoal_cva_counterparty *p,
                        bool covered) {
    fputs("<dt>", file);
    io_html_text(file, name);
    fputs("</dt><dd>", file);
    for (int64_t i = 0; i < p->pieces; i++) {
        fprintf(file, "%s%.4g", i ? ", " : "", p->hazard[i]);
        if (i < p->pieces - 1) fprintf(file, " until %.4g", p->until[i]);
    }
    fprintf(file, "%s; recovery %g", p->pieces > 1 ? " later" : "", p->recovery);
    if (p->collateral && !covered) fprintf(file, "; collateral above %g", p->threshold);
    fputs("</dd>\n", file);
}

static void curve_fact(FILE *file, const char *name, const shoal_cva_curve *curve) {
    if (!curve->count) return;
    fprintf(file, "<dt>%s</dt><dd>", name);
    if (curve->count == 1)
        fprintf(file, "%g", curve->value[0]);
    else
        points(file, curve);
    fputs("</dd>\n", file);
}

static void collateral_facts(FILE *file, const cva_book *b) {
    for (int64_t set = 0; b->csa && set < b->sets; set++) {
        char text[CVA_CSA_TEXT];
        fputs("<dt>collateral of ", file);
        io_html_text(file, cva_set_name(b, set));
        cva_csa_text(&b->csa[set], text);
        fprintf(file, "</dt><dd>%s</dd>\n", text);
    }
}

/* "ALFA -0.2, BRAVO 0.1"; x NULL: nothing. */
static void by_asset_fact(FILE *file, const char *name, const cva_book *b, const double *x) {
    if (!x) return;
    fprintf(file, "<dt>%s</dt><dd>", name);
    for (int64_t a = 0; a < b->assets; a++) {
        fputs(a ? ", " : "", file);
        io_html_text(file, b->asset[a]);
        fprintf(file, " %g", x[a]);
    }
    fputs("</dd>\n", file);
}

enum { PARTIES_SHOWN = 20 };

static void assumptions(FILE *file, const cva_options *o, const cva_book *b, const cva_result *r) {
    fputs("<h2>Assumptions</h2>\n<div class=\"card\"><dl>\n", file);
    if (o->rates.count)
        curve_fact(file, "zero rates", &o->rates);
    else
        number_fact(file, "interest rate", o->rate);
    for (int64_t i = 0; i < b->parties && i < PARTIES_SHOWN; i++)
        hazard_fact(file, b->party[i], &b->terms[i], b->csa);
    if (b->parties > PARTIES_SHOWN)
        number_fact(file, "more counterparties", (double)(b->parties - PARTIES_SHOWN));
    if (!b->parties) hazard_fact(file, "hazard rate", &o->party, b->csa);
    if (o->own.pieces) hazard_fact(file, "our hazard rate", &o->own, true);
    curve_fact(file, "borrowing spread", &o->opts.borrowing);
    curve_fact(file, "lending spread", &o->opts.lending);
    io_html_fact(file, "assets", "lognormal (Black and Scholes)");
    io_html_fact(file, "correlations",
                 b->assets == 1       ? NULL
                 : b->has_correlation ? "those of the market file"
                                      : "not given: independent assets");
    io_html_fact(file, "American contracts",
                 r->info.american ? estimators[o->opts.estimator] : NULL);
    collateral_facts(file, b);
    if (o->party.volatility > 0)
        number_fact(file, "volatility of the hazard rate", o->party.volatility);
    by_asset_fact(file, "correlation of the hazard rate", b, o->party.correlation);
    by_asset_fact(file, "jump at default", b, o->party.jump);
    io_html_fact(file, "default", "at the dates of exposure");
    fputs("</dl></div>\n", file);
}

static void run_facts(FILE *file, const cli *c, const cva_options *o, const cva_result *r) {
    char text[64];
    time_t now = time(NULL);
    struct tm utc;
    fputs("<details><summary>The run</summary>\n<div class=\"card\"><dl>\n", file);
    io_html_fact(file, "book", o->book);
    io_html_fact(file, "market", o->market);
    number_fact(file, "netting sets", (double)r->info.sets);
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
    fputs("</dl></div></details>\n", file);
}

int cva_write_page(const char *path, const cli *c, const cva_options *o, const cva_book *b,
                   const cva_result *r, io_error *err) {
    io_out *out;
    int status = bench_make_parents(path, err);
    if (status == IO_OK) status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    io_html_begin(file, "Shoal: CVA of a book");
    fputs("<h1>Counterparty credit risk</h1>\n", file);
    verdict(file, o, b, r);
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
    } else
        fputs("<p>Not validated: <code>--validate</code> runs the martingale test.</p>\n", file);
    cards(file, o, r);
    status = exposure(file, o, r, err);
    if (status == IO_OK) status = parts(file, b, r, err);
    incremental(file, o, b, r);
    if (status == IO_OK && r->totals) status = trades(file, o, b, r, err);
    if (status == IO_OK) status = sensitivities(file, r, err);
    assumptions(file, o, b, r);
    fputs("<h2 class=\"screen\">Details</h2>\n", file);
    profile(file, o, r);
    book_and_market(file, o, b, r);
    if (status == IO_OK) status = diagnostics(file, r, err);
    run_facts(file, c, o, r);
    fprintf(file, "<footer>Written by <code>shoal cva</code>, version %s.</footer>\n",
            shoal_version());
    io_html_end(file);
    if (status == IO_OK) return io_out_commit(out, err);
    io_out_abandon(out);
    return status;
}
