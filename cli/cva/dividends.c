/* SPDX-License-Identifier: Apache-2.0
 *
 * dividends.c - cash dividends of `shoal cva`: --dividends.
 *
 * File: columns asset, date (a time) and amount, one dividend per line, in any order. Those that are not after today
 * have been paid. Parts and the JSON object have them as a list ASSET:T:AMOUNT,..
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct dividend {
    int64_t asset;
    double time, amount;
} dividend;

/* The asset of this name, or -1. */
static int64_t find_asset(const cva_book *b, const char *name, size_t length) {
    for (int64_t a = 0; a < b->assets; a++)
        if (strncmp(b->asset[a], name, length) == 0 && !b->asset[a][length]) return a;
    return -1;
}

static const char *asset_name(const void *of, int i) {
    const cva_book *b = of;
    return i < b->assets ? b->asset[i] : NULL;
}

/* ---- the file --------------------------------------------------------------------------------- */

static int read_line(const char *path, const io_cells *t, int64_t i, const cva_book *b,
                     dividend *to) {
    const cva_field name = cva_field_of(path, t, i, "asset"),
                    date = cva_field_of(path, t, i, "date"),
                    amount = cva_field_of(path, t, i, "amount");
    const size_t length = strlen(date.text);
    int code = CLI_OK;
    to->asset = find_asset(b, name.text, strlen(name.text));
    if (to->asset < 0)
        code = cli_unknown_in(path, name.line, "asset", name.text, "the market has", asset_name, b);
    if (!cva_read_years(date.text, length, b->today, &to->time))
        code = cva_worse(code, cva_wrong(&date, cva_no_time(date.text, length, b->today)));
    const int of_amount = cva_number(amount, NAN, &to->amount);
    code = cva_worse(code, of_amount);
    if (of_amount == CLI_OK && to->amount < 0)
        code = cva_worse(code, cva_wrong(&amount, "is below 0"));
    return code;
}

static int read_file(const cli *c, const char *path, const cva_book *b, dividend **list,
                     int64_t *count) {
    static const char *const needed[] = { "asset", "date", "amount", NULL };
    static const cva_column columns[] = {
        { .name = "asset", .alias = { "ticker" } },
        { .name = "date", .alias = { "time", "tenor", "ex_date", "ex-date", "ex date", "exdate" } },
        { .name = "amount", .alias = { "dividend", "cash", "value" } },
        { .name = NULL }
    };
    char *text = NULL;
    io_cells t;
    int code = cva_read_table(path, NULL, columns, &text, &t), problems = 0;
    if (code == CLI_OK) code = cva_check_columns(c, path, &t, columns, NULL, 0);
    if (code == CLI_OK) code = cva_need_columns(path, &t, needed);
    const bool good = code == CLI_OK;
    *count = good ? t.head.rows : 0;
    *list = calloc((size_t)*count + 1, sizeof **list);
    if (!*list) code = cli_no_memory();
    for (int64_t i = 0; i < *count && (code == CLI_OK || code == CLI_INPUT); i++) {
        const int here = read_line(path, &t, i, b, &(*list)[i]);
        code = cva_worse(code, here);
        if (here != CLI_OK && cva_is_last(path, ++problems)) break;
    }
    io_cells_free(&t);
    free(text);
    return code;
}

/* ---- a list ----------------------------------------------------------------------------------- */

static int read_list(const char *words, const cva_book *b, dividend **list, int64_t *count) {
    *list = calloc(strlen(words) + 1, sizeof **list);
    if (!*list) return cli_no_memory();
    for (const char *at = words; *at; ++*count) {
        const size_t length = strcspn(at, ","), name = strcspn(at, ":");
        const size_t time = name < length ? name + 1 + strcspn(at + name + 1, ":") : length;
        dividend *to = &(*list)[*count];
        if (time >= length ||
            !cva_read_years(at + name + 1, time - name - 1, b->today, &to->time) ||
            !io_text_double(at + time + 1, length - time - 1, &to->amount) || !(to->amount >= 0) ||
            !isfinite(to->amount))
            return cli_fail(
                CLI_USAGE,
                "--dividends: '%s' is neither a list ASSET:TIME:AMOUNT,.. with amounts of "
                "at least 0 nor a .csv file%s",
                words, b->today ? "" : "; dates need --valuation-date");
        to->asset = find_asset(b, at, name);
        if (to->asset < 0) {
            char text[IO_QUOTE_SIZE];
            snprintf(text, sizeof text, "%.*s", (int)name, at);
            return cli_unknown("--dividends", "asset", text, asset_name, b);
        }
        at += length + (at[length] == ',');
    }
    return CLI_OK;
}

/* ---- dividends by asset ----------------------------------------------------------------------- */

static int by_asset_and_time(const void *a, const void *b) {
    const dividend *x = a, *y = b;
    if (x->asset != y->asset) return x->asset < y->asset ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

/* A list for parts, from malloc. */
static char *list_text(const dividend *list, int64_t count, const cva_book *b) {
    char *text = NULL, number[32];
    size_t size;
    FILE *file = open_memstream(&text, &size);
    for (int64_t i = 0; file && i < count; i++) {
        io_real_text(list[i].time, number);
        fprintf(file, "%s%s:%s:", i ? "," : "", b->asset[list[i].asset], number);
        io_real_text(list[i].amount, number);
        fputs(number, file);
    }
    if (file && fclose(file) == 0) return text;
    free(text);
    return NULL;
}

static int take(const char *from, const dividend *list, int64_t count, cva_book *b) {
    double *numbers = malloc((size_t)(2 * count + 1) * sizeof *numbers);
    b->cash = calloc((size_t)b->assets, sizeof *b->cash);
    b->cash_numbers = numbers;
    if (!numbers || !b->cash) return cli_no_memory();
    for (int64_t i = 0; i < count; i++) {
        shoal_cva_curve *to = &b->cash[list[i].asset];
        if (!to->count) to->time = numbers + i, to->value = numbers + count + i;
        numbers[i] = list[i].time, numbers[count + i] = list[i].amount;
        if (to->count++ && list[i].time == list[i - 1].time)
            return cli_fail(CLI_INPUT, "%s: asset %s has two dividends at %g years; add them up",
                            from, b->asset[list[i].asset], list[i].time);
    }
    return CLI_OK;
}

int cva_read_dividends(const cli *c, cva_options *o, cva_book *b) {
    const char *words = o->dividends_words;
    dividend *list = NULL;
    int64_t count = 0, kept = 0;
    if (!words) return CLI_OK;
    const bool is_file = cli_ends_in(words, ".csv") || cli_ends_in(words, ".json");
    int code = is_file ? read_file(c, words, b, &list, &count) : read_list(words, b, &list, &count);
    for (int64_t i = 0; i < count && code == CLI_OK; i++)
        if (list[i].time > 0) list[kept++] = list[i];
    if (code == CLI_OK && kept < count)
        cli_note(c, "%s: %s on or before today: ignored", is_file ? words : "--dividends",
                 CLI_COUNT(count - kept, "dividend"));
    if (code == CLI_OK) qsort(list, (size_t)kept, sizeof *list, by_asset_and_time);
    if (code == CLI_OK) code = take(is_file ? words : "--dividends", list, kept, b);
    if (code == CLI_OK && kept > 0 && !(o->dividends_text = list_text(list, kept, b)))
        code = cli_no_memory();
    free(list);
    return code;
}

char *cva_dividends_text(const void *arguments) {
    const cva_options *o = arguments;
    return o->dividends_text ? strdup(o->dividends_text) : NULL;
}
