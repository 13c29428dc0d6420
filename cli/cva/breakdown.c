/* SPDX-License-Identifier: Apache-2.0
 *
 * breakdown.c - results of `shoal cva` by counterparty, netting set and trade: tables on stdout, in the JSON object, and the
 * files of --tables.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/session.h"

bool cva_has_breakdown(const cva_options *o) { return o->breakdown || o->report || o->tables; }

const char *cva_file_of(const cva_options *o, const cva_book *b, int64_t i) {
    return i < b->own ? o->book : o->add;
}

const char *cva_party_name(const cva_book *b, int64_t party) {
    return b->parties ? b->party[party] : "counterparty";
}

/* A set without a name has that of its counterparty. */
const char *cva_set_name(const cva_book *b, int64_t set) {
    return *b->set[set] ? b->set[set] : b->parties ? cva_party_name(b, b->set_of[set]) : "all";
}

const char *cva_trade_name(const cva_book *b, int64_t i, char text[CVA_NAME]) {
    if (b->id && b->id[i] && *b->id[i]) return b->id[i];
    snprintf(text, CVA_NAME, "%sline %lld", i < b->own ? "" : "added, ", (long long)b->line[i]);
    return text;
}

/* ---- results ---------------------------------------------------------------------------------- */

static int parts_of(cli *c, const shoal_cva *plan, const cva_result *r, shoal_cva_part part,
                    int64_t count, shoal_cva_adjustments **to, shoal_cva_date **profile) {
    *to = calloc((size_t)count + 1, sizeof **to);
    *profile = calloc((size_t)(count * r->info.dates) + 1, sizeof **profile);
    int code = *to && *profile ? CLI_OK : cli_no_memory();
    for (int64_t i = 0; i < count && code == CLI_OK; i++)
        code = cli_status(c, cva_adjust(plan, r, part, i, &(*to)[i], *profile + i * r->info.dates));
    return code;
}

/* With a margin period or a jump at default. */
static const shoal_cva_trade not_known = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

int cva_break_down(cli *c, const shoal_cva *plan, const cva_book *b, cva_result *r) {
    int code =
        parts_of(c, plan, r, SHOAL_CVA_COUNTERPARTY, r->info.parties, &r->party, &r->party_profile);
    if (code == CLI_OK)
        code = parts_of(c, plan, r, SHOAL_CVA_SET, r->info.sets, &r->set, &r->set_profile);
    r->trade = calloc((size_t)b->count + 1, sizeof *r->trade);
    r->trade_profile = calloc((size_t)(2 * b->count * r->info.dates) + 1, sizeof *r->trade_profile);
    if (!r->trade || !r->trade_profile) return cli_no_memory();
    if (code == CLI_OK && r->totals)
        return cli_status(c,
                          shoal_cva_trades(plan, r->totals, r->outer, r->trade, r->trade_profile));
    for (int64_t i = 0; i < b->count; i++) r->trade[i] = not_known;
    for (int64_t i = 0; i < 2 * b->count * r->info.dates; i++) r->trade_profile[i] = NAN;
    return code;
}

/* ---- tables ----------------------------------------------------------------------------------- */

typedef struct part_row {
    const char *counterparty, *set;
    double recovery, threshold;
    shoal_cva_adjustments a;
} part_row;

typedef struct trade_row {
    const char *trade, *counterparty, *set, *style, *payoff;
    double strike, barrier, maturity, quantity; /* barrier NaN: none */
    shoal_cva_trade t;
    char name[CVA_NAME];
} trade_row;

typedef struct date_row {
    const char *counterparty, *set;
    shoal_cva_date d;
} date_row;

typedef struct share_row {
    const char *trade;
    double time, epe, ene;
} share_row;

/* clang-format off */
#define PART(name, member) CLI_RESULT(name, part_row, member)
#define ADJUSTMENTS \
    PART("pv", a.pv), PART("pv_stderr", a.pv_error), PART("cva", a.cva), PART("cva_stderr", a.cva_error), \
    PART("dva", a.dva), PART("dva_stderr", a.dva_error), PART("fca", a.fca), PART("fba", a.fba), PART("fva", a.fva), \
    PART("fva_stderr", a.fva_error), PART("epe", a.epe), PART("ene", a.ene), PART("eepe", a.eepe), PART("pfe95", a.pfe95), \
    PART("pfe99", a.pfe99), PART("es95", a.es95), PART("es99", a.es99)
static const cli_option party_results[] = { PART("counterparty", counterparty), ADJUSTMENTS, { 0 } };
static const cli_option set_results[] = { PART("counterparty", counterparty), PART("set", set), ADJUSTMENTS, { 0 } };
#define TRADE(name, member) CLI_RESULT(name, trade_row, member)
static const cli_option trade_results[] = {
    TRADE("trade", trade), TRADE("counterparty", counterparty), TRADE("set", set), TRADE("style", style), TRADE("payoff", payoff),
    TRADE("strike", strike), TRADE("barrier", barrier), TRADE("maturity", maturity), TRADE("quantity", quantity), TRADE("pv", t.pv), TRADE("pv_stderr", t.pv_error),
    TRADE("cva", t.cva), TRADE("cva_stderr", t.cva_error), TRADE("dva", t.dva), TRADE("fca", t.fca), TRADE("fba", t.fba),
    TRADE("fva", t.fva), TRADE("epe", t.epe), TRADE("ene", t.ene), TRADE("eepe", t.eepe),
    { 0 }
};
#define DATE(name, member) CLI_RESULT(name, date_row, member)
static const cli_option date_results[] = {
    DATE("counterparty", counterparty), DATE("set", set), DATE("time", d.time), DATE("epe", d.epe), DATE("epe_stderr", d.epe_error),
    DATE("ene", d.ene), DATE("ene_stderr", d.ene_error), DATE("pfe95", d.pfe95), DATE("pfe99", d.pfe99), DATE("es95", d.es95),
    DATE("es99", d.es99), DATE("discount", d.discount), DATE("default_probability", d.default_probability), DATE("cva", d.cva),
    { 0 }
};
#define SHARE(name, member) CLI_RESULT(name, share_row, member)
static const cli_option share_results[] = {
    SHARE("trade", trade), SHARE("time", time), SHARE("epe", epe), SHARE("ene", ene),
    { 0 }
};
/* clang-format on */

typedef struct tables {
    part_row *party, *set;
    trade_row *trade;
    date_row *date;
    share_row *share;
    int64_t dates;
} tables;

static void free_tables(tables *t) {
    free(t->party), free(t->set), free(t->trade), free(t->date), free(t->share);
}

static int make_tables(const cva_book *b, const cva_result *r, tables *t) {
    const int64_t parties = r->info.parties, sets = r->info.sets, dates = r->info.dates;
    *t = (tables){ .party = calloc((size_t)parties + 1, sizeof *t->party),
                   .set = calloc((size_t)sets + 1, sizeof *t->set),
                   .trade = calloc((size_t)b->count + 1, sizeof *t->trade),
                   .date = calloc((size_t)((parties + sets) * dates) + 1, sizeof *t->date),
                   .share = calloc((size_t)(b->count * dates) + 1, sizeof *t->share) };
    if (!t->party || !t->set || !t->trade || !t->date || !t->share) {
        free_tables(t);
        return cli_no_memory();
    }
    for (int64_t i = 0; i < parties; i++) {
        t->party[i] = (part_row){ .counterparty = cva_party_name(b, i), .a = r->party[i] };
        for (int64_t k = 0; k < dates; k++)
            t->date[t->dates++] =
                (date_row){ cva_party_name(b, i), "", r->party_profile[i * dates + k] };
    }
    for (int64_t i = 0; i < sets; i++) {
        const char *party = cva_party_name(b, b->set_of[i]);
        t->set[i] = (part_row){ .counterparty = party, .set = cva_set_name(b, i), .a = r->set[i] };
        for (int64_t k = 0; k < dates; k++)
            t->date[t->dates++] =
                (date_row){ party, cva_set_name(b, i), r->set_profile[i * dates + k] };
    }
    for (int64_t i = 0; i < b->count; i++) {
        const shoal_cva_contract *c = &b->contract[i];
        trade_row *row = &t->trade[i];
        *row = (trade_row){ .counterparty = cva_party_name(b, b->set_of[c->set]),
                            .set = cva_set_name(b, c->set),
                            .style = c->american ? "american" : "european",
                            .payoff = shoal_cva_payoffs((int)c->payoff),
                            .strike = c->strike,
                            .barrier = c->barrier > 0 ? c->barrier : NAN,
                            .maturity = c->maturity,
                            .quantity = c->quantity,
                            .t = r->trade[i] };
        row->trade = cva_trade_name(b, i, row->name);
        for (int64_t k = 0; k < dates; k++)
            t->share[i * dates + k] =
                (share_row){ row->trade, r->profile[k].time, r->trade_profile[2 * i * dates + k],
                             r->trade_profile[(2 * i + 1) * dates + k] };
    }
    return CLI_OK;
}

int cva_write_tables(const char *folder, const cva_options *o, const cva_book *b,
                     const cva_result *r) {
    tables t;
    int code = make_tables(b, r, &t);
    (void)o;
    if (code != CLI_OK) return code;
    const struct {
        const char *name;
        const cli_option *rows;
        const void *of;
        size_t size;
        int64_t count;
    } files[] = {
        { "counterparties.csv", party_results, t.party, sizeof *t.party, r->info.parties },
        { "sets.csv", set_results, t.set, sizeof *t.set, r->info.sets },
        { "trades.csv", trade_results, t.trade, sizeof *t.trade, b->count },
        { "profiles.csv", date_results, t.date, sizeof *t.date, t.dates },
        { "contributions.csv", share_results, t.share, sizeof *t.share, b->count * r->info.dates }
    };
    const size_t length = strlen(folder) + 32;
    char *path = malloc(length);
    if (!path) code = cli_no_memory();
    for (int i = 0; i < 5 && code == CLI_OK; i++) {
        io_error err;
        snprintf(path, length, "%s/%s", folder, files[i].name);
        code = cli_io(bench_make_parents(path, &err), &err);
        if (code == CLI_OK)
            code = cli_csv_result_list(path, files[i].rows, files[i].of, files[i].size,
                                       files[i].count);
    }
    free(path);
    free_tables(&t);
    return code;
}

void cva_json_breakdown(io_json *j, const cva_book *b, const cva_result *r) {
    tables t;
    if (make_tables(b, r, &t) != CLI_OK) return;
    cli_json_result_list(j, "by_counterparty", party_results, t.party, sizeof *t.party,
                         r->info.parties);
    cli_json_result_list(j, "by_set", set_results, t.set, sizeof *t.set, r->info.sets);
    cli_json_result_list(j, "by_trade", trade_results, t.trade, sizeof *t.trade, b->count);
    cli_json_result_list(j, "profiles", date_results, t.date, sizeof *t.date, t.dates);
    free_tables(&t);
}

/* ---- stdout ----------------------------------------------------------------------------------- */

static void print_part(const char *name, const char *set, const shoal_cva_adjustments *a) {
    printf("%-16.16s %-16.16s %11s %11s %9.2g %11s %11s %10.5g %10.5g %10.5g %10.5g\n", name, set,
           CLI_ROUNDED(a->pv, a->pv_error), CLI_ROUNDED(a->cva, a->cva_error), a->cva_error,
           CLI_ROUNDED(a->dva, a->dva_error), CLI_ROUNDED(a->fva, a->fva_error), a->epe, a->ene,
           a->eepe, a->pfe95);
}

typedef struct place {
    double size;
    int64_t at;
} place;

static int by_size(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

int64_t *cva_by_size(const cva_book *b, const cva_result *r) {
    place *list = malloc((size_t)(b->count + 1) * sizeof *list);
    int64_t *order = malloc((size_t)(b->count + 1) * sizeof *order);
    for (int64_t i = 0; list && i < b->count; i++) list[i] = (place){ fabs(r->trade[i].cva), i };
    if (list) qsort(list, (size_t)b->count, sizeof *list, by_size);
    for (int64_t i = 0; list && order && i < b->count; i++) order[i] = list[i].at;
    if (!list) free(order), order = NULL;
    free(list);
    return order;
}

enum { TOP = 20 };

void cva_print_breakdown(const cva_book *b, const cva_result *r) {
    static const char heads[] = "%-16s %-16s %11s %11s %9s %11s %11s %10s %10s %10s %10s\n";
    char text[CVA_NAME];
    int64_t *order = r->totals ? cva_by_size(b, r) : NULL;
    printf("\n");
    printf(heads, "counterparty", "set", "pv", "cva", "stderr", "dva", "fva", "epe", "ene", "eepe",
           "pfe95");
    for (int64_t i = 0; i < r->info.parties; i++) {
        print_part(cva_party_name(b, i), "", &r->party[i]);
        for (int64_t set = 0; set < r->info.sets; set++)
            if (b->set_of[set] == i) print_part("", cva_set_name(b, set), &r->set[set]);
    }
    if (!r->totals) return;
    printf("\n%-16s %-16s %11s %11s %9s %11s %11s %10s %10s %10s\n", "trade", "set", "pv", "cva",
           "stderr", "dva", "fva", "epe", "ene", "eepe");
    for (int64_t k = 0; order && k < b->count && k < TOP; k++) {
        const int64_t i = order[k];
        const shoal_cva_trade *t = &r->trade[i];
        printf("%-16.16s %-16.16s %11s %11s %9.2g %11s %11s %10.5g %10.5g %10.5g\n",
               cva_trade_name(b, i, text), cva_set_name(b, b->contract[i].set),
               CLI_ROUNDED(t->pv, t->pv_error), CLI_ROUNDED(t->cva, t->cva_error), t->cva_error,
               CLI_ROUNDED(t->dva, t->cva_error), CLI_ROUNDED(t->fva, t->cva_error), t->epe, t->ene,
               t->eepe);
    }
    if (b->count > TOP)
        printf("%s; --tables DIR writes all\n", CLI_COUNT(b->count - TOP, "smaller trade"));
    free(order);
}
