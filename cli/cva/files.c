/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - the files of `shoal cva`: a market, one asset per line, and a book, one contract per line.
 *
 * Market: columns asset, spot, volatility, and maybe dividend [0]; then, all or none, a column for each
 * asset, under its name, with the correlations of the line's asset.
 * Book: columns payoff, assets (names with blanks between them), strike, maturity, and maybe style
 * [european], exercise (a step, or times with blanks), weights (numbers with blanks), quantity [1],
 * set [all contracts net], id (of a trade, for the outputs).
 * Columns may have any order, and other names that are usual. Others are ignored, unless they look like one that is missing.
 * Dates: column time. A time is a number of years, or of days, weeks, months or years: 1d, 1w, 1m, 1y.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"

enum { MAX_BYTES = 1 << 26 }; /* of a file */
enum { MAX_PROBLEMS = 20 };   /* of a file, that are reported */

/* The worse of two codes: what is no fault of the file ends the reading. */
static int worse(int a, int b) { return b == CLI_OK || (a != CLI_OK && a != CLI_INPUT) ? a : b; }

/* One field, with all that a message about it needs. */
typedef struct field {
    const char *path, *column, *text; /* text NULL: no such column */
    int64_t line;
} field;

static int wrong(const field *f, const char *reason) {
    char quoted[IO_QUOTE_SIZE];
    return cli_fail(CLI_INPUT, "%s:%lld: column %s: '%s' %s", f->path, (long long)f->line,
                    f->column, io_quote(f->text, strlen(f->text), quoted), reason);
}

static field field_of(const char *path, const io_cells *t, int64_t row, const char *column) {
    const int at = io_table_column(&t->head, column);
    return (field){ path, column, at < 0 ? NULL : t->text[row * t->head.cols + at], t->line[row] };
}

/* A column that is not there, or empty, has the default; NaN: it must be there. */
static int number(field f, double missing, double *value) {
    if (!f.text || (!*f.text && !isnan(missing))) {
        *value = missing;
        return f.text || !isnan(missing)
                   ? CLI_OK
                   : cli_fail(CLI_INPUT, "%s has no column %s", f.path, f.column);
    }
    if (!io_text_double(f.text, strlen(f.text), value) || !isfinite(*value))
        return wrong(&f, "is not a finite number");
    return CLI_OK;
}

/* The same of a number that is at least 0, or above it. */
static int number_from(field f, double missing, bool above, double *value) {
    const int code = number(f, missing, value);
    if (code != CLI_OK) return code;
    if (above && !(*value > 0)) return wrong(&f, "is not above 0");
    return *value >= 0 ? CLI_OK : wrong(&f, "is below 0");
}

static int column_must_be(const char *path, const io_cells *t, const char *const *names) {
    for (; *names; names++)
        if (io_table_column(&t->head, *names) < 0)
            return cli_fail(CLI_INPUT, "%s has no column %s", path, *names);
    return CLI_OK;
}

/* Whether problem number `count` is the last one of a file that is reported. */
static bool is_last(const char *path, int count) {
    if (count < MAX_PROBLEMS) return false;
    cli_fail(CLI_INPUT, "%s: more lines may have problems", path);
    return true;
}

/* ---- columns ---------------------------------------------------------------------------------- */

enum { ALIASES = 3 };

typedef struct column {
    const char *name, *alias[ALIASES]; /* other names for it */
} column;

/* Names that a table may have: columns up to the one without a name, then assets. */
typedef struct known_columns {
    const io_table *of;
    const column *columns;
    char *const *more;
    int64_t count;
    bool missing; /* those alone that the table does not have */
} known_columns;

static const char *column_name(const void *of, int i) {
    const known_columns *all = of;
    for (const column *c = all->columns; c->name; c++)
        if ((!all->missing || io_table_column(all->of, c->name) < 0) && i-- == 0) return c->name;
    for (int64_t k = 0; k < all->count; k++)
        if ((!all->missing || io_table_column(all->of, all->more[k]) < 0) && i-- == 0)
            return all->more[k];
    return NULL;
}

/* Gives columns with another name the usual one. */
static int rename_columns(const char *path, io_cells *t, const column *columns) {
    int code = CLI_OK;
    for (const column *c = columns; c->name; c++)
        for (int e = 0; e < ALIASES && c->alias[e]; e++) {
            const int at = io_table_column(&t->head, c->alias[e]);
            if (at < 0) continue;
            if (io_table_column(&t->head, c->name) >= 0) {
                code = cli_fail(CLI_INPUT, "%s:1: columns %s and %s are the same; keep one of them",
                                path, c->name, c->alias[e]);
                continue;
            }
            char *name = strdup(c->name);
            if (!name) return cli_no_memory();
            free(t->head.names[at]);
            t->head.names[at] = name;
        }
    return code;
}

/* A column that nobody reads is ignored, with a note. If it looks like one that is missing, and has its first letter, it
 * is a mistake. */
static int check_columns(const cli *c, const char *path, const io_cells *t, const column *columns,
                         char *const *more, int64_t count) {
    char ignored[256] = "";
    size_t used = 0;
    int code = CLI_OK;
    for (int col = 0; col < t->head.cols; col++) {
        const char *name = t->head.names[col], *other;
        const known_columns all = { &t->head, columns, more, count, false };
        const known_columns missing = { &t->head, columns, more, count, true };
        bool known = false;
        for (int i = 0; !known && (other = column_name(&all, i)); i++)
            known = strcmp(other, name) == 0;
        if (known) continue;
        const int meant = io_nearest(name, column_name, &missing);
        if (meant >= 0 && column_name(&missing, meant)[0] == *name)
            code = cli_unknown_in(path, 1, "column", name, "the columns are", column_name, &all);
        else if (used < sizeof ignored)
            used += (size_t)snprintf(ignored + used, sizeof ignored - used, "%s%s",
                                     used ? ", " : "", name);
    }
    if (used > 0) cli_note(c, "%s:1: ignored columns: %s", path, ignored);
    return code;
}

/* ---- times ------------------------------------------------------------------------------------ */

bool cva_read_time(const char *text, size_t length, double *years) {
    static const char units[] = "dwmy";
    static const double year[] = { 1.0 / 365, 7.0 / 365, 1.0 / 12, 1 };
    const char *unit = length > 0 ? memchr(units, text[length - 1], sizeof units - 1) : NULL;
    if (!io_text_double(text, unit ? length - 1 : length, years)) return false;
    if (unit) *years *= year[unit - units];
    return isfinite(*years) && *years > 0;
}

double *cva_times_of(double step, double end, int64_t *count) {
    const double steps = ceil(end / step * (1 - 1e-9));
    *count = steps > 1 && steps <= SHOAL_CVA_DATES ? (int64_t)steps : 1;
    double *time = malloc((size_t)*count * sizeof *time);
    for (int64_t i = 0; time && i < *count; i++) time[i] = step * (double)(i + 1);
    if (time) time[*count - 1] = end;
    return time;
}

static int read_table(const char *path, const char *text, const column *columns, char **kept,
                      io_cells *t);

int cva_read_dates(const cli *c, const char *path, int64_t *count, double **time) {
    static const char *const needed[] = { "time", NULL };
    static const column columns[] = { { .name = "time", .alias = { "date" } }, { .name = NULL } };
    char *text = NULL;
    io_cells t;
    int code = read_table(path, NULL, columns, &text, &t);
    if (code == CLI_OK) code = check_columns(c, path, &t, columns, NULL, 0);
    if (code == CLI_OK) code = column_must_be(path, &t, needed);
    if (code == CLI_OK && (t.head.rows < 1 || t.head.rows > SHOAL_CVA_DATES))
        code = cli_fail(CLI_INPUT, "%s has %lld dates; there can be 1 to %d", path,
                        (long long)t.head.rows, SHOAL_CVA_DATES);
    if (code == CLI_OK) *count = t.head.rows, *time = malloc((size_t)*count * sizeof **time);
    if (code == CLI_OK && !*time) code = cli_no_memory();
    for (int64_t i = 0; code == CLI_OK && i < *count; i++) {
        const field f = field_of(path, &t, i, "time");
        if (!cva_read_time(f.text, strlen(f.text), &(*time)[i]))
            code = wrong(&f, "is not a time above 0: years, or 1d, 1w, 1m, 1y");
        else if (i > 0 && (*time)[i] <= (*time)[i - 1])
            code = wrong(&f, "is not after the time before it");
    }
    io_cells_free(&t);
    free(text);
    return code;
}

/* ---- the market ------------------------------------------------------------------------------- */

static int read_asset(const char *path, const io_cells *t, int64_t i, cva_book *b) {
    const field name = field_of(path, t, i, "asset");
    b->asset[i] = strdup(name.text);
    if (!b->asset[i]) return cli_no_memory();
    int code = CLI_OK;
    if (!*name.text || strpbrk(name.text, " \t"))
        code = wrong(&name, "is not a name without blanks");
    for (int64_t other = 0; other < i && code == CLI_OK; other++)
        if (strcmp(b->asset[other], name.text) == 0) code = wrong(&name, "is there twice");
    code = worse(code, number_from(field_of(path, t, i, "spot"), NAN, true, &b->s0[i]));
    code = worse(code, number_from(field_of(path, t, i, "volatility"), NAN, false, &b->sigma[i]));
    return worse(code, number(field_of(path, t, i, "dividend"), 0, &b->dividend[i]));
}

static int read_correlation(const char *path, const io_cells *t, cva_book *b) {
    const int64_t d = b->assets;
    int64_t given = 0;
    int all = CLI_OK, problems = 0;
    for (int64_t a = 0; a < d; a++) given += io_table_column(&t->head, b->asset[a]) >= 0;
    for (int64_t i = 0; i < d * d; i++) {
        const int64_t row = i / d, col = i % d;
        const field f = field_of(path, t, row, b->asset[col]);
        int code = given ? number(f, NAN, &b->correlation[i]) : CLI_OK;
        b->has_correlation = given > 0;
        if (!given) b->correlation[i] = row == col;
        if (code == CLI_OK && !(fabs(b->correlation[i]) <= 1))
            code = wrong(&f, "is not from -1 to 1");
        else if (code == CLI_OK && row == col && b->correlation[i] != 1)
            code = wrong(&f, "is not 1, the correlation of an asset with itself");
        else if (code == CLI_OK && col < row && b->correlation[i] != b->correlation[col * d + row])
            code = wrong(&f, "is not what the other asset's line has");
        all = worse(all, code);
        if (!f.text && code != CLI_OK) break; /* no such column */
        if (code != CLI_OK && is_last(path, ++problems)) break;
    }
    return all;
}

/* The table in a file, or in the text that stands for it, which is kept. */
static int read_table(const char *path, const char *text, const column *columns, char **kept,
                      io_cells *t) {
    io_error err;
    size_t size;
    memset(t, 0, sizeof *t);
    int code = CLI_OK;
    if (text)
        *kept = strdup(text), size = strlen(text);
    else
        code = cli_io(io_file_read(path, MAX_BYTES, kept, &size, &err), &err);
    if (code == CLI_OK && !*kept) code = cli_no_memory();
    if (code == CLI_OK) code = cli_io(io_csv_parse_cells(path, *kept, size, t, &err), &err);
    return code == CLI_OK ? rename_columns(path, t, columns) : code;
}

int cva_read_market(const cli *c, const char *path, const char *text, cva_book *b) {
    static const char *const needed[] = { "asset", "spot", "volatility", NULL };
    static const column columns[] = { { .name = "asset", .alias = { "ticker" } },
                                      { .name = "spot" },
                                      { .name = "volatility", .alias = { "vol", "sigma" } },
                                      { .name = "dividend" },
                                      { .name = NULL } };
    io_cells t;
    int code = read_table(path, text, columns, &b->market_text, &t), problems = 0;
    const int64_t d = b->assets = t.head.rows;
    if (code == CLI_OK) code = column_must_be(path, &t, needed);
    if (code == CLI_OK && (d < 1 || d > SHOAL_CVA_ASSETS))
        code = cli_fail(CLI_INPUT, "%s has %lld assets; there can be 1 to %d", path, (long long)d,
                        SHOAL_CVA_ASSETS);
    if (code == CLI_OK) {
        b->asset = calloc((size_t)d, sizeof *b->asset);
        b->s0 = calloc((size_t)(3 * d + d * d), sizeof *b->s0);
        if (b->asset && b->s0)
            b->sigma = b->s0 + d, b->dividend = b->s0 + 2 * d, b->correlation = b->s0 + 3 * d;
        else
            code = cli_no_memory();
    }
    const bool made = code == CLI_OK;
    for (int64_t i = 0; made && i < d && (code == CLI_OK || code == CLI_INPUT); i++) {
        const int here = read_asset(path, &t, i, b);
        code = worse(code, here);
        if (here != CLI_OK && is_last(path, ++problems)) break;
    }
    if (code == CLI_OK) code = check_columns(c, path, &t, columns, b->asset, d);
    if (code == CLI_OK) code = read_correlation(path, &t, b);
    io_cells_free(&t);
    return code;
}

/* ---- the book --------------------------------------------------------------------------------- */

/* Words with blanks between them: the next one, its length, 0 at the end. */
static size_t next_word(const char **at) {
    *at += strspn(*at, " \t");
    return strcspn(*at, " \t");
}

const char *const cva_payoffs[CVA_PAYOFFS] = { "put",        "call",        "max-call",
                                               "basket-put", "basket-call", "forward" };

static const char *payoff_name(const void *unused, int i) {
    (void)unused;
    return i < CVA_PAYOFFS ? cva_payoffs[i] : NULL;
}

static int read_payoff(const field *f, shoal_cva_payoff *payoff) {
    for (int i = 0; i < CVA_PAYOFFS; i++)
        if (strcmp(f->text, cva_payoffs[i]) == 0) {
            *payoff = (shoal_cva_payoff)i;
            return CLI_OK;
        }
    return cli_unknown_in(f->path, f->line, "payoff", f->text, "there are", payoff_name, NULL);
}

static const char *asset_name(const void *of, int i) {
    const cva_book *b = of;
    return i < b->assets ? b->asset[i] : NULL;
}

static int read_assets(const field *f, const cva_book *b, shoal_cva_contract *c, int64_t *index) {
    const char *at = f->text;
    c->asset = index;
    for (size_t length; (length = next_word(&at)) > 0; at += length) {
        int64_t a = 0;
        while (a < b->assets && (strncmp(b->asset[a], at, length) != 0 || b->asset[a][length] != 0))
            a++;
        if (a == b->assets) {
            char name[IO_QUOTE_SIZE];
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            return cli_unknown_in(f->path, f->line, "asset", name, "the market has", asset_name, b);
        }
        for (int64_t i = 0; i < c->assets; i++)
            if (index[i] == a) return wrong(f, "has a name twice");
        index[c->assets++] = a;
    }
    const bool one = c->payoff == SHOAL_CVA_PUT || c->payoff == SHOAL_CVA_CALL;
    if (c->assets == 0) return wrong(f, "is empty");
    return one && c->assets > 1 ? wrong(f, "are several assets; a put or call has one") : CLI_OK;
}

static int read_weights(const field *f, shoal_cva_contract *c, double *weight) {
    const char *at = f->text ? f->text : "";
    int64_t count = 0;
    for (size_t length; (length = next_word(&at)) > 0; at += length, count++)
        if (count == c->assets || !io_text_double(at, length, &weight[count]) ||
            !isfinite(weight[count]))
            return wrong(f, "is not a number for each asset");
    if (count > 0 && count < c->assets) return wrong(f, "is not a number for each asset");
    c->weight = count > 0 ? weight : NULL;
    return CLI_OK;
}

/* A step, 3m, or ascending times with blanks between them. */
static int read_exercise(const field *f, shoal_cva_contract *c, double **time) {
    const char *at = f->text ? f->text : "";
    const size_t length = strlen(at);
    double step;
    int64_t count = 0;
    const size_t first = next_word(&at);
    if (!first) return CLI_OK;
    if (!c->american) return wrong(f, "is given, but the contract is not american");
    if (!(c->maturity > 0)) return CLI_OK;
    const bool alone = !at[first + strspn(at + first, " \t")];
    if (alone && strchr("dwmy", at[first - 1]) && cva_read_time(at, first, &step)) {
        if (c->maturity / step > SHOAL_CVA_DATES) return wrong(f, "is too small a step");
        *time = cva_times_of(step, c->maturity, &c->exercises);
    } else {
        *time = malloc((length + 1) * sizeof **time);
        for (size_t size; *time && (size = next_word(&at)) > 0; at += size, count++)
            if (!cva_read_time(at, size, &(*time)[count]) || (*time)[count] > c->maturity ||
                (count > 0 && (*time)[count] <= (*time)[count - 1]))
                return wrong(f, "is neither a step (1w, 3m) nor ascending times up to maturity");
        c->exercises = count;
    }
    c->exercise = *time;
    return *time ? CLI_OK : cli_no_memory();
}

static int read_set(const field *f, cva_book *b, int64_t *set) {
    const char *name = f->text ? f->text : "";
    for (*set = 0; *set < b->sets; ++*set)
        if (strcmp(b->set[*set], name) == 0) return CLI_OK;
    b->set[*set] = strdup(name);
    if (!b->set[*set]) return cli_no_memory();
    b->sets++;
    return CLI_OK;
}

/* The id of a trade: any text. */
static int read_id(const char *path, const io_cells *t, int64_t i, cva_book *b) {
    const field f = field_of(path, t, i, "id");
    if (!f.text) return CLI_OK;
    b->id[i] = strdup(f.text);
    return b->id[i] ? CLI_OK : cli_no_memory();
}

static int read_contract(const char *path, const io_cells *t, int64_t i, cva_book *b) {
    shoal_cva_contract *c = &b->contract[i];
    const field style = field_of(path, t, i, "style"), payoff = field_of(path, t, i, "payoff");
    const field strike = field_of(path, t, i, "strike"), assets = field_of(path, t, i, "assets");
    const field weights = field_of(path, t, i, "weights"), set = field_of(path, t, i, "set");
    b->line[i] = t->line[i];
    int code = CLI_OK;
    if (style.text && strcmp(style.text, "american") == 0)
        c->american = 1;
    else if (style.text && *style.text && strcmp(style.text, "european") != 0)
        code = wrong(&style, "is neither european nor american");
    const int of_payoff = read_payoff(&payoff, &c->payoff);
    code = worse(code, of_payoff);
    if (of_payoff == CLI_OK && c->american && c->payoff == SHOAL_CVA_FORWARD)
        code =
            worse(code, wrong(&style, "does not go with a forward, which has no early exercise"));
    if (of_payoff != CLI_OK) c->payoff = SHOAL_CVA_FORWARD; /* of any number of assets */
    const int of_assets = read_assets(&assets, b, c, b->index + i * b->assets);
    code = worse(code, of_assets);
    if (of_assets == CLI_OK)
        code = worse(code, read_weights(&weights, c, b->weight + i * b->assets));
    code = worse(code, number_from(strike, NAN, false, &c->strike));
    const int of_maturity = number(field_of(path, t, i, "maturity"), NAN, &c->maturity);
    code = worse(code, of_maturity);
    const field exercise = field_of(path, t, i, "exercise");
    if (of_maturity == CLI_OK) code = worse(code, read_exercise(&exercise, c, &b->exercise[i]));
    code = worse(code, number(field_of(path, t, i, "quantity"), 1, &c->quantity));
    code = worse(code, read_set(&set, b, &c->set));
    return worse(code, read_id(path, t, i, b));
}

int cva_read_book(const cli *c, const char *path, const char *text, cva_book *b) {
    static const char *const needed[] = { "payoff", "assets", "strike", "maturity", NULL };
    static const column columns[] = {
        { .name = "payoff" },  { .name = "assets", .alias = { "asset", "ticker" } },
        { .name = "strike" },  { .name = "maturity" },
        { .name = "style" },   { .name = "exercise" },
        { .name = "weights" }, { .name = "quantity", .alias = { "notional" } },
        { .name = "set" },     { .name = "id", .alias = { "trade", "trade_id" } },
        { .name = NULL }
    };
    io_cells t;
    int code = read_table(path, text, columns, &b->text, &t), problems = 0;
    if (code != CLI_OK) {
        io_cells_free(&t);
        return code;
    }
    const size_t rows = (size_t)t.head.rows + 1, all = rows * (size_t)b->assets;
    b->count = t.head.rows;
    b->contract = calloc(rows, sizeof *b->contract);
    b->line = calloc(rows, sizeof *b->line);
    b->exercise = calloc(rows, sizeof *b->exercise);
    b->set = calloc(rows, sizeof *b->set);
    b->index = calloc(all, sizeof *b->index);
    b->weight = calloc(all, sizeof *b->weight);
    if (!b->contract || !b->line || !b->exercise || !b->set || !b->index || !b->weight)
        code = cli_no_memory();
    if (io_table_column(&t.head, "id") >= 0) b->id = calloc(rows, sizeof *b->id);
    if (io_table_column(&t.head, "id") >= 0 && !b->id) code = cli_no_memory();
    if (code == CLI_OK) code = check_columns(c, path, &t, columns, NULL, 0);
    if (code == CLI_OK) code = column_must_be(path, &t, needed);
    const bool made = code == CLI_OK;
    for (int64_t i = 0; made && i < b->count && (code == CLI_OK || code == CLI_INPUT); i++) {
        const int here = read_contract(path, &t, i, b);
        code = worse(code, here);
        if (here != CLI_OK && is_last(path, ++problems)) break;
    }
    io_cells_free(&t);
    return code;
}

void cva_book_free(cva_book *b) {
    for (int64_t i = 0; b->asset && i < b->assets; i++) free(b->asset[i]);
    for (int64_t i = 0; b->set && i < b->sets; i++) free(b->set[i]);
    for (int64_t i = 0; b->exercise && i < b->count; i++) free(b->exercise[i]);
    for (int64_t i = 0; b->id && i < b->count; i++) free(b->id[i]);
    free(b->id);
    free(b->asset);
    free(b->set);
    free(b->s0);
    free(b->exercise);
    free(b->contract);
    free(b->line);
    free(b->index);
    free(b->weight);
    free(b->text);
    free(b->market_text);
}
