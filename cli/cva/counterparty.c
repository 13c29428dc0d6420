/* SPDX-License-Identifier: Apache-2.0
 *
 * counterparty.c - options of `shoal cva` about the counterparty beside its hazard rate: collateral agreements, one per
 * netting set, and wrong-way risk.
 *
 * Sets: columns set, and maybe threshold, mta, independent, mpor, one-way. An empty field, a missing column or a set
 * that the file does not have takes the option of that name.
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const postings[] = { "no", "counterparty", "us" };

/* ---- agreements --------------------------------------------------------------------------------- */

/* A number that is at least 0, if the field has one. */
static int take_number(cva_field f, double *value) {
    const double usual = *value;
    const int code = cva_number(f, usual, value);
    return code == CLI_OK && f.text && *f.text && !(*value >= 0) ? cva_wrong(&f, "is below 0")
                                                                 : code;
}

static int take_period(cva_field f, double *years) {
    if (!f.text || !*f.text) return CLI_OK;
    return cva_read_years(f.text, strlen(f.text), 0, years) && *years >= 0
               ? CLI_OK
               : cva_wrong(&f, "is not a time: years, 1d, 1w, 1m, 1y");
}

static int take_posting(cva_field f, shoal_cva_posting *posting) {
    if (!f.text || !*f.text) return CLI_OK;
    for (int i = 0; i < 3; i++)
        if (strcmp(f.text, postings[i]) == 0) {
            *posting = (shoal_cva_posting)i;
            return CLI_OK;
        }
    return cva_wrong(&f, "is neither no, counterparty nor us: who alone posts collateral");
}

static const char *set_name(const void *of, int i) {
    const cva_book *b = of;
    return i < b->sets ? b->set[i] : NULL;
}

/* A line of the file: the agreement of a set. */
static int read_set(const char *path, const io_cells *t, int64_t i, const cva_options *o,
                    const cva_book *b, shoal_cva_csa *csa, char *seen) {
    const cva_field name = cva_field_of(path, t, i, "set");
    const cva_field threshold = cva_field_of(path, t, i, "threshold");
    int64_t set = 0;
    while (set < b->sets && strcmp(b->set[set], name.text) != 0) set++;
    if (set == b->sets)
        return cli_unknown_in(path, t->line[i], "set", name.text, "the book has", set_name, b);
    if (seen[set]++) return cva_wrong(&name, "is there twice");
    shoal_cva_csa *to = &csa[set];
    if (isnan(to->threshold)) to->threshold = -1;
    if (threshold.text && *threshold.text) to->collateral = 1;
    if (to->collateral && to->threshold < 0) to->threshold = 0;
    int code = take_number(threshold, &to->threshold);
    code = cva_worse(code, take_number(cva_field_of(path, t, i, "mta"), &to->transfer));
    code = cva_worse(code, cva_number(cva_field_of(path, t, i, "independent"), o->csa.independent,
                                      &to->independent));
    code = cva_worse(code, take_period(cva_field_of(path, t, i, "mpor"), &to->period));
    code = cva_worse(code, take_posting(cva_field_of(path, t, i, "one-way"), &to->one_way));
    if (code == CLI_OK && !to->collateral)
        for (const char *const *column = (const char *const[]){ "mta", "mpor", "one-way", NULL };
             *column && code == CLI_OK; column++) {
            const cva_field f = cva_field_of(path, t, i, *column);
            if (f.text && *f.text)
                code = cva_wrong(&f, "is given, but the set has no threshold (0: collateral covers "
                                     "the whole value)");
        }
    return code;
}

static int read_sets(const cli *c, const cva_options *o, const char *text, cva_book *b,
                     shoal_cva_csa *csa) {
    static const char *const needed[] = { "set", NULL };
    static const cva_column columns[] = { { .name = "set", .alias = { "netting_set" } },
                                          { .name = "threshold" },
                                          { .name = "mta", .alias = { "transfer" } },
                                          { .name = "independent", .alias = { "ia" } },
                                          { .name = "mpor" },
                                          { .name = "one-way", .alias = { "one_way" } },
                                          { .name = NULL } };
    const char *path = o->sets ? o->sets : "--sets";
    io_cells t;
    int code = cva_read_table(path, text, columns, &b->sets_text, &t), problems = 0;
    if (code == CLI_OK) code = cva_check_columns(c, path, &t, columns, NULL, 0);
    if (code == CLI_OK) code = cva_need_columns(path, &t, needed);
    char *seen = calloc((size_t)b->sets + 1, 1);
    if (code == CLI_OK && !seen) code = cli_no_memory();
    const bool made = code == CLI_OK;
    for (int64_t i = 0; made && i < t.head.rows && (code == CLI_OK || code == CLI_INPUT); i++) {
        const int here = read_set(path, &t, i, o, b, csa, seen);
        code = cva_worse(code, here);
        if (here != CLI_OK && cva_is_last(path, ++problems)) break;
    }
    free(seen);
    io_cells_free(&t);
    return code;
}

int cva_read_sets(const cli *c, const cva_options *o, const char *text, cva_book *b) {
    const shoal_cva_csa *usual = &o->csa;
    const bool more = usual->transfer > 0 || usual->period > 0 || usual->one_way;
    bool any = false;
    if (!o->sets && !more && usual->independent == 0) return CLI_OK;
    b->csa = calloc((size_t)b->sets + 1, sizeof *b->csa);
    if (!b->csa) return cli_no_memory();
    for (int64_t set = 0; set < b->sets; set++) {
        shoal_cva_csa *a = &b->csa[set];
        *a = *usual;
        a->threshold = b->parties ? b->terms[b->set_of[set]].threshold : o->party.threshold;
        a->collateral = a->threshold >= 0;
    }
    const int code = o->sets ? read_sets(c, o, text, b, b->csa) : CLI_OK;
    for (int64_t set = 0; set < b->sets; set++) {
        any |= b->csa[set].collateral;
        if (!b->csa[set].collateral) b->csa[set].threshold = 0;
    }
    const char *other = usual->transfer > 0 ? "mta" : usual->period > 0 ? "mpor" : "one-way";
    if (code == CLI_OK && !any && b->sets && more)
        return cli_fail(CLI_USAGE,
                        "--%s needs --threshold, or one in --sets; 0: collateral covers the whole "
                        "value",
                        other);
    return code;
}

int cva_undo_sets(cva_book *b) {
    shoal_cva_csa *csa = calloc((size_t)b->count + 1, sizeof *csa);
    if (!csa) return cli_no_memory();
    for (int64_t i = 0; i < b->count; i++) csa[i] = b->csa[b->contract[i].set];
    free(b->csa);
    b->csa = csa;
    return CLI_OK;
}

bool cva_has_views(const cva_options *o, const cva_book *b) {
    bool any = o->party.jump != NULL;
    for (int64_t set = 0; b->csa && set < b->sets; set++)
        any |= b->csa[set].collateral && b->csa[set].period > 0;
    return any;
}

const char *cva_inner_lacks(const cva_options *o, const cva_book *b) {
    bool curves = o->rates.count > 0;
    for (int64_t i = 0; i < 2 * b->assets; i++) curves |= b->sigmas[i].count > 0;
    if (curves) return "curves";
    if (b->cash) return "cash dividends";
    for (int64_t i = 0; i < b->assets; i++)
        if (b->heston[i].sigma > 0) return "Heston model";
    if (!cva_has_views(o, b)) return NULL;
    return o->party.jump ? "jump at default" : "margin period";
}

/* ---- wrong-way risk ------------------------------------------------------------------------------ */

static const char *asset_name(const void *of, int i) {
    const cva_book *b = of;
    return i < b->assets ? b->asset[i] : NULL;
}

/* "-0.2", of every asset, or "ALFA:-0.2,BRAVO:0.1": `to` has a number per asset, of others 0. */
static int read_by_asset(const char *option, const char *words, double least, double most,
                         const cva_book *b, double *to) {
    double all;
    const bool one = io_text_double(words, strlen(words), &all);
    for (int64_t a = 0; a < b->assets; a++) to[a] = one ? all : 0;
    for (const char *at = words; !one && *at;) {
        const size_t length = strcspn(at, ","), colon = strcspn(at, ":");
        int64_t a = 0;
        while (a < b->assets && (strncmp(b->asset[a], at, colon) != 0 || b->asset[a][colon] != 0))
            a++;
        if (colon < length && a == b->assets) {
            char name[IO_QUOTE_SIZE], who[CLI_NAME];
            snprintf(name, sizeof name, "%.*s", (int)colon, at);
            snprintf(who, sizeof who, "--%s", option);
            return cli_unknown(who, "asset", name, asset_name, b);
        }
        if (colon >= length || !io_text_double(at + colon + 1, length - colon - 1, &to[a]))
            return cli_fail(CLI_USAGE, "--%s: '%s' is neither a number nor a list ASSET:NUMBER,..",
                            option, words);
        at += length + (at[length] == ',');
    }
    for (int64_t a = 0; a < b->assets; a++)
        if (!(to[a] >= least && to[a] <= most))
            return cli_fail(CLI_USAGE, "--%s: %g for %s; it must be from %g to %g", option, to[a],
                            b->asset[a], least, most);
    return CLI_OK;
}

int cva_read_wrong_way(cva_options *o, cva_book *b) {
    int code = CLI_OK;
    o->by_asset = calloc((size_t)(2 * b->assets) + 1, sizeof *o->by_asset);
    if (!o->by_asset) return cli_no_memory();
    double *jump = o->by_asset + b->assets;
    if (o->correlation_words)
        code = read_by_asset("hazard-correlation", o->correlation_words, -1, 1, b, o->by_asset);
    if (code == CLI_OK && o->jump_words)
        code = read_by_asset("default-jump", o->jump_words, -0.999, 1000, b, jump);
    if (o->correlation_words) o->party.correlation = o->by_asset;
    for (int64_t a = 0; a < b->assets; a++)
        if (jump[a] != 0) o->party.jump = jump; /* not if all are 0 */
    for (int64_t i = 0; i < b->parties; i++) {
        b->terms[i].volatility = o->party.volatility, b->terms[i].reversion = o->party.reversion;
        b->terms[i].correlation = o->party.correlation, b->terms[i].jump = o->party.jump;
    }
    return code;
}

/* ---- words --------------------------------------------------------------------------------------- */

static bool same_csa(const shoal_cva_csa *a, const shoal_cva_csa *b) {
    return a->collateral == b->collateral && a->threshold == b->threshold &&
           a->transfer == b->transfer && a->independent == b->independent &&
           a->period == b->period && a->one_way == b->one_way;
}

void cva_csa_text(const shoal_cva_csa *a, char text[CVA_CSA_TEXT]) {
    size_t used = 0;
    char date[CLI_NUMBER];
    text[0] = 0;
#define ADD(...) (used += (size_t)snprintf(text + used, CVA_CSA_TEXT - used, __VA_ARGS__))
    if (a->collateral) ADD("threshold %g", a->threshold);
    if (a->collateral && a->transfer > 0) ADD(", minimum transfer %g", a->transfer);
    if (a->independent != 0) ADD("%sindependent amount %g", used ? ", " : "", a->independent);
    if (a->collateral && a->period > 0) ADD(", margin period %s", cli_days(date, a->period));
    if (a->collateral && a->one_way)
        ADD(", only %s", a->one_way == SHOAL_CVA_THEY_POST ? "the counterparty posts" : "we post");
    if (!used) ADD("none");
#undef ADD
}

/* One line for all sets that are alike. */
void cva_print_collateral(const cva_book *b) {
    char text[CVA_CSA_TEXT];
    for (int64_t set = 0; b->csa && set < b->sets; set++) {
        int64_t first = 0, alike = 0;
        while (!same_csa(&b->csa[first], &b->csa[set])) first++;
        if (first < set) continue;
        for (int64_t other = set; other < b->sets; other++)
            alike += same_csa(&b->csa[other], &b->csa[set]);
        cva_csa_text(&b->csa[set], text);
        printf("collateral    ");
        if (alike < b->sets && alike == 1) printf("set %s: ", b->set[set]);
        if (alike < b->sets && alike > 1) printf("%s: ", CLI_COUNT(alike, "netting set"));
        printf("%s\n", text);
    }
}

void cva_json_collateral(io_json *j, const cva_book *b) {
    if (!b->csa) return;
    io_json_array_line(j, "collateral");
    for (int64_t set = 0; set < b->sets; set++) {
        const shoal_cva_csa *a = &b->csa[set];
        io_json_object(j, NULL);
        io_json_string(j, "set", b->set[set]);
        io_json_double(j, "threshold", a->collateral ? a->threshold : NAN);
        io_json_double(j, "mta", a->transfer);
        io_json_double(j, "independent", a->independent);
        io_json_double(j, "mpor", a->period);
        io_json_string(j, "one_way", postings[a->one_way]);
        io_json_close(j);
    }
    io_json_close(j);
}

static void print_by_asset(const char *what, const cva_book *b, const double *x, double unit,
                           const char *after) {
    bool any = false;
    for (int64_t a = 0; a < b->assets && x; a++)
        if (x[a] != 0)
            printf("%s %s %g%s", any ? "," : what, b->asset[a], unit * x[a], after), any = true;
}

void cva_print_wrong_way(const cva_options *o, const cva_book *b) {
    if (!(o->party.volatility > 0) && !o->party.jump) return;
    printf("wrong way    ");
    if (o->party.volatility > 0) {
        printf(" volatility of the hazard rate %g", o->party.volatility);
        if (o->party.reversion > 0) printf(", reversion %g", o->party.reversion);
        print_by_asset(", correlation", b, o->party.correlation, 1, "");
    }
    if (o->party.volatility > 0 && o->party.jump) printf(";");
    print_by_asset(" jump at default", b, o->party.jump, 100, " %");
    putchar('\n');
}
