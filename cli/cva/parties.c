/* SPDX-License-Identifier: Apache-2.0
 *
 * parties.c - the counterparties of `shoal cva`, and netting sets, each of which belongs to one.
 *
 * File: column counterparty, and maybe hazard (a number or points like 1y:0.02 3y:0.05), cds (points of spreads, in place of
 * hazard), recovery, threshold. What is missing or empty is that of the options. Without a file, counterparties are
 * the names in the book's column.
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One more element of a list: the new list, or NULL. */
static void *grown(void *list, int64_t count, size_t size) {
    char *more = realloc(list, (size_t)(count + 1) * size);
    if (more) memset(more + (size_t)count * size, 0, size);
    return more;
}

static int add_party(cva_book *b, const char *name) {
    const struct {
        void *list;
        size_t size;
    } lists[] = { { &b->party, sizeof *b->party },
                  { &b->terms, sizeof *b->terms },
                  { &b->swaps, sizeof *b->swaps } };
    for (int i = 0; i < 3; i++) {
        void *list;
        memcpy(&list, lists[i].list, sizeof list);
        list = grown(list, b->parties, lists[i].size);
        if (!list) return cli_no_memory();
        memcpy(lists[i].list, &list, sizeof list);
    }
    b->party[b->parties] = strdup(name);
    b->terms[b->parties].recovery = b->terms[b->parties].threshold = NAN;
    return b->party[b->parties++] ? CLI_OK : cli_no_memory();
}

int cva_find_party(cva_book *b, const char *name, int64_t *party) {
    for (*party = 0; *party < b->parties; ++*party)
        if (strcmp(b->party[*party], name) == 0) return CLI_OK;
    return b->has_parties ? CLI_INPUT : add_party(b, name);
}

int cva_find_set(cva_book *b, const char *name, int64_t party, int64_t *set) {
    for (*set = 0; *set < b->sets; ++*set)
        if (b->set_of[*set] == party && strcmp(b->set[*set], name) == 0) return CLI_OK;
    char **names = grown(b->set, b->sets, sizeof *names);
    if (names) b->set = names;
    int64_t *of = names ? grown(b->set_of, b->sets, sizeof *of) : NULL;
    if (!of) return cli_no_memory();
    b->set_of = of, of[b->sets] = party;
    names[b->sets] = strdup(name);
    return names[b->sets++] ? CLI_OK : cli_no_memory();
}

int cva_undo_netting(cva_book *b) {
    char **set = calloc((size_t)b->count + 1, sizeof *set);
    int64_t *of = calloc((size_t)b->count + 1, sizeof *of);
    bool lost = !set || !of;
    for (int64_t i = 0; !lost && i < b->count; i++) {
        char line[32];
        snprintf(line, sizeof line, "line %lld", (long long)b->line[i]);
        set[i] = strdup(b->id && b->id[i] ? b->id[i] : line);
        of[i] = b->set_of[b->contract[i].set];
        b->contract[i].set = i;
        lost = !set[i];
    }
    for (int64_t i = 0; i < b->sets && !lost; i++) free(b->set[i]);
    if (lost) {
        for (int64_t i = 0; set && i < b->count; i++) free(set[i]);
        free(set), free(of);
        return cli_no_memory();
    }
    free(b->set), free(b->set_of);
    b->set = set, b->set_of = of, b->sets = b->count;
    return CLI_OK;
}

int cva_append(cva_book *b, const cva_book *more) {
    const size_t all = (size_t)(b->count + more->count) + 1;
    shoal_cva_contract *contract = realloc(b->contract, all * sizeof *contract);
    if (contract) b->contract = contract;
    int64_t *line = realloc(b->line, all * sizeof *line);
    if (line) b->line = line;
    double **exercise = realloc(b->exercise, all * sizeof *exercise);
    if (exercise) b->exercise = exercise;
    const bool named = b->id || more->id;
    char **id = named ? realloc(b->id, all * sizeof *id) : NULL;
    if (!contract || !line || !exercise || (named && !id)) return cli_no_memory();
    for (int64_t i = 0; id && i < b->count && !b->id; i++) id[i] = NULL;
    b->id = id;
    for (int64_t i = 0; i < more->count; i++) {
        const int64_t at = b->count;
        contract[at] = more->contract[i];
        line[at] = more->line[i], exercise[at] = NULL;
        if (id) id[at] = NULL;
        b->count++; /* what is there is freed */
        if (id && more->id && more->id[i] && !(id[at] = strdup(more->id[i])))
            return cli_no_memory();
        const int64_t set = more->contract[i].set;
        int64_t party = 0;
        int code = CLI_OK;
        if (more->parties) code = cva_find_party(b, more->party[more->set_of[set]], &party);
        if (code == CLI_OK) code = cva_find_set(b, more->set[set], party, &contract[at].set);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

/* ---- the file --------------------------------------------------------------------------------- */

/* A number or points; nothing: none. */
static int read_curve(const cva_field *f, int64_t today, bool flat, shoal_cva_curve *curve) {
    double value;
    if (!f->text || !*f->text) return CLI_OK;
    if (flat && !strchr(f->text, ':')) {
        char points[64];
        if (!io_text_double(f->text, strlen(f->text), &value))
            return cva_wrong(f, "is neither a number nor points like 1y:0.02 3y:0.05");
        snprintf(points, sizeof points, "1:%.40s", f->text);
        return cva_curve_points(points, today, curve);
    }
    const int code = cva_curve_points(f->text, today, curve);
    return code == CLI_INPUT || (code == CLI_OK && !curve->count)
               ? cva_wrong(f, flat ? "is neither a number nor points like 1y:0.02 3y:0.05"
                                   : "are not points like 1y:0.01 5y:0.02")
               : code;
}

/* At least 0; nothing: NaN. */
static int read_number(cva_field f, double most, double *value) {
    *value = NAN;
    if (!f.text || !*f.text) return CLI_OK;
    const int code = cva_number(f, NAN, value);
    if (code != CLI_OK) return code;
    if (*value < 0) return cva_wrong(&f, "is below 0");
    return *value > most ? cva_wrong(&f, "is above 1") : CLI_OK;
}

static int read_party(const char *path, const io_cells *t, int64_t i, cva_book *b) {
    const cva_field name = cva_field_of(path, t, i, "counterparty");
    const cva_field hazard = cva_field_of(path, t, i, "hazard"),
                    cds = cva_field_of(path, t, i, "cds");
    shoal_cva_curve rates = { .count = 0 };
    int code = CLI_OK;
    for (int64_t k = 0; k < b->parties; k++)
        if (strcmp(b->party[k], name.text) == 0) code = cva_wrong(&name, "is there twice");
    if (!*name.text) code = cva_wrong(&name, "is empty");
    const int added = add_party(b, name.text);
    if (added != CLI_OK) return added;
    shoal_cva_counterparty *p = &b->terms[b->parties - 1];
    code = cva_worse(code, read_curve(&hazard, b->today, true, &rates));
    code = cva_worse(code, read_curve(&cds, b->today, false, &b->swaps[b->parties - 1]));
    if (rates.count && b->swaps[b->parties - 1].count)
        code = cva_worse(code, cva_wrong(&cds, "is given, and so is a hazard rate"));
    double *made = malloc((size_t)(2 * rates.count + 1) * sizeof *made);
    if (!made) return cli_no_memory();
    for (int64_t k = 0; k < rates.count; k++) {
        made[k] = rates.value[k], made[rates.count + k] = rates.time[k];
        if (!(made[k] >= 0)) code = cva_worse(code, cva_wrong(&hazard, "has a rate below 0"));
    }
    p->pieces = rates.count, p->hazard = made;
    p->until = rates.count > 1 ? made + rates.count : NULL;
    cva_curve_free(&rates);
    code = cva_worse(code, read_number(cva_field_of(path, t, i, "recovery"), 1, &p->recovery));
    return cva_worse(code,
                     read_number(cva_field_of(path, t, i, "threshold"), INFINITY, &p->threshold));
}

int cva_read_parties(const cli *c, const char *path, const char *text, cva_book *b) {
    static const char *const needed[] = { "counterparty", NULL };
    static const cva_column columns[] = { { .name = "counterparty",
                                            .alias = { "party", "cpty", "name" } },
                                          { .name = "hazard", .alias = { "hazard_rate" } },
                                          { .name = "cds", .alias = { "spread", "spreads" } },
                                          { .name = "recovery" },
                                          { .name = "threshold" },
                                          { .name = NULL } };
    io_cells t;
    int code = cva_read_table(path, text, columns, &b->parties_text, &t), problems = 0;
    if (code == CLI_OK) code = cva_check_columns(c, path, &t, columns, NULL, 0);
    if (code == CLI_OK) code = cva_need_columns(path, &t, needed);
    const bool made = code == CLI_OK;
    for (int64_t i = 0; made && i < t.head.rows && (code == CLI_OK || code == CLI_INPUT); i++) {
        const int here = read_party(path, &t, i, b);
        code = cva_worse(code, here);
        if (here != CLI_OK && cva_is_last(path, ++problems)) break;
    }
    if (code == CLI_OK && t.head.rows == 0)
        code = cli_fail(CLI_INPUT, "%s has no counterparties", path);
    b->has_parties = true;
    io_cells_free(&t);
    return code;
}

int cva_complete_parties(cli *c, const cva_options *o, cva_book *b) {
    int code = CLI_OK;
    for (int64_t i = 0; i < b->parties && code == CLI_OK; i++) {
        shoal_cva_counterparty *p = &b->terms[i];
        if (isnan(p->recovery)) p->recovery = o->party.recovery;
        if (isnan(p->threshold)) p->threshold = o->party.threshold;
        p->collateral = p->threshold >= 0;
        if (b->swaps[i].count) {
            double *made = (double *)(uintptr_t)p->hazard;
            code = cva_bootstrap(c, o, &b->swaps[i], p, &made);
            p->hazard = made;
        } else if (p->pieces == 0) {
            double *made = malloc((size_t)(2 * o->party.pieces) * sizeof *made);
            if (!made) return cli_no_memory();
            for (int64_t k = 0; k < o->party.pieces; k++) {
                made[k] = o->party.hazard[k];
                if (o->party.until) made[o->party.pieces + k] = o->party.until[k];
            }
            free((double *)(uintptr_t)p->hazard);
            p->pieces = o->party.pieces, p->hazard = made;
            p->until = o->party.until ? made + o->party.pieces : NULL;
        }
    }
    return code;
}
