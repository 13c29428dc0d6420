/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - the files of `shoal cva`: a market, one asset per line, and a book, one contract per line.
 *
 * Market: columns asset, spot, volatility, and maybe dividend [0]; then, all or none, a column for each
 * asset, under its name, with the correlations of the line's asset.
 * Book: columns payoff, assets (names with blanks between them), strike, maturity, and maybe style
 * [european], exercise (a step, or times with blanks), weights (numbers with blanks), quantity [1],
 * set [all contracts net].
 * Dates: column time. A time is a number of years, or of days, weeks, months or years: 1d, 1w, 1m, 1y.
 */
#include "cva.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"

enum { MAX_BYTES = 1 << 26 }; /* of a file */

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

static int column_must_be(const char *path, const io_cells *t, const char *const *names) {
    for (; *names; names++)
        if (io_table_column(&t->head, *names) < 0)
            return cli_fail(CLI_INPUT, "%s has no column %s", path, *names);
    return CLI_OK;
}

typedef struct known_columns { /* that are read */
    const char *const *names;
    char *const *more;
    int64_t count;
} known_columns;

static const char *column_name(const void *of, int i) {
    const known_columns *all = of;
    int64_t at = 0;
    while (at < i && all->names[at]) at++;
    if (all->names[at]) return all->names[at];
    return i - at < all->count ? all->more[i - at] : NULL;
}

/* A column that nobody reads is a mistake in its name. */
static int column_must_be_known(const char *path, const io_cells *t, const char *const *names,
                                char *const *more, int64_t count) {
    for (int col = 0; col < t->head.cols; col++) {
        const char *name = t->head.names[col];
        bool known = false;
        for (const char *const *n = names; *n; n++) known = known || strcmp(*n, name) == 0;
        for (int64_t i = 0; i < count; i++) known = known || strcmp(more[i], name) == 0;
        const known_columns all = { names, more, count };
        if (!known)
            return cli_unknown_in(path, 1, "column", name, "the columns are", column_name, &all);
    }
    return CLI_OK;
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

static int read_table(const char *path, const char *text, char **kept, io_cells *t);

int cva_read_dates(const char *path, int64_t *count, double **time) {
    static const char *const columns[] = { "time", NULL };
    char *text = NULL;
    io_cells t;
    int code = read_table(path, NULL, &text, &t);
    if (code == CLI_OK) code = column_must_be_known(path, &t, columns, NULL, 0);
    if (code == CLI_OK) code = column_must_be(path, &t, columns);
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
    if (!*name.text || strpbrk(name.text, " \t"))
        return wrong(&name, "is not a name without blanks");
    for (int64_t other = 0; other < i; other++)
        if (strcmp(b->asset[other], name.text) == 0) return wrong(&name, "is there twice");
    b->asset[i] = strdup(name.text);
    if (!b->asset[i]) return cli_no_memory();
    const field spot = field_of(path, t, i, "spot"), sigma = field_of(path, t, i, "volatility");
    int code = number(spot, NAN, &b->s0[i]);
    if (code == CLI_OK && !(b->s0[i] > 0)) code = wrong(&spot, "is not above 0");
    if (code == CLI_OK) code = number(sigma, NAN, &b->sigma[i]);
    if (code == CLI_OK && !(b->sigma[i] >= 0)) code = wrong(&sigma, "is below 0");
    if (code == CLI_OK) code = number(field_of(path, t, i, "dividend"), 0, &b->dividend[i]);
    return code;
}

static int read_correlation(const char *path, const io_cells *t, cva_book *b) {
    const int64_t d = b->assets;
    int64_t given = 0;
    for (int64_t a = 0; a < d; a++) given += io_table_column(&t->head, b->asset[a]) >= 0;
    for (int64_t i = 0; i < d * d; i++) {
        const int64_t row = i / d, col = i % d;
        const field f = field_of(path, t, row, b->asset[col]);
        const int code = given ? number(f, NAN, &b->correlation[i]) : CLI_OK;
        b->has_correlation = given > 0;
        if (!given) b->correlation[i] = row == col;
        if (code != CLI_OK) return code;
        if (given && !(fabs(b->correlation[i]) <= 1)) return wrong(&f, "is not from -1 to 1");
        if (given && row == col && b->correlation[i] != 1)
            return wrong(&f, "is not 1, the correlation of an asset with itself");
        if (col < row && b->correlation[i] != b->correlation[col * d + row])
            return wrong(&f, "is not what the other asset's line has");
    }
    return CLI_OK;
}

/* The table in a file, or in the text that stands for it, which is kept. */
static int read_table(const char *path, const char *text, char **kept, io_cells *t) {
    io_error err;
    size_t size;
    memset(t, 0, sizeof *t);
    int code = CLI_OK;
    if (text)
        *kept = strdup(text), size = strlen(text);
    else
        code = cli_io(io_file_read(path, MAX_BYTES, kept, &size, &err), &err);
    if (code == CLI_OK && !*kept) code = cli_no_memory();
    return code == CLI_OK ? cli_io(io_csv_parse_cells(path, *kept, size, t, &err), &err) : code;
}

int cva_read_market(const char *path, const char *text, cva_book *b) {
    static const char *const needed[] = { "asset", "spot", "volatility", NULL };
    static const char *const known[] = { "asset", "spot", "volatility", "dividend", NULL };
    io_cells t;
    int code = read_table(path, text, &b->market_text, &t);
    if (code != CLI_OK) return code;
    const int64_t d = b->assets = t.head.rows;
    code = column_must_be(path, &t, needed);
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
    for (int64_t i = 0; i < d && code == CLI_OK; i++) code = read_asset(path, &t, i, b);
    if (code == CLI_OK) code = column_must_be_known(path, &t, known, b->asset, d);
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
    if (code == CLI_OK) code = read_payoff(&payoff, &c->payoff);
    if (code == CLI_OK && c->american && c->payoff == SHOAL_CVA_FORWARD)
        code = wrong(&style, "does not go with a forward, which has no early exercise");
    if (code == CLI_OK) code = read_assets(&assets, b, c, b->index + i * b->assets);
    if (code == CLI_OK) code = read_weights(&weights, c, b->weight + i * b->assets);
    if (code == CLI_OK) code = number(strike, NAN, &c->strike);
    if (code == CLI_OK && !(c->strike >= 0)) code = wrong(&strike, "is below 0");
    if (code == CLI_OK) code = number(field_of(path, t, i, "maturity"), NAN, &c->maturity);
    const field exercise = field_of(path, t, i, "exercise");
    if (code == CLI_OK) code = read_exercise(&exercise, c, &b->exercise[i]);
    if (code == CLI_OK) code = number(field_of(path, t, i, "quantity"), 1, &c->quantity);
    return code == CLI_OK ? read_set(&set, b, &c->set) : code;
}

int cva_read_book(const char *path, const char *text, cva_book *b) {
    static const char *const needed[] = { "payoff", "assets", "strike", "maturity", NULL };
    static const char *const known[] = { "payoff",   "assets",  "strike",   "maturity", "style",
                                         "exercise", "weights", "quantity", "set",      NULL };
    io_cells t;
    int code = read_table(path, text, &b->text, &t);
    if (code != CLI_OK) return code;
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
    if (code == CLI_OK) code = column_must_be_known(path, &t, known, NULL, 0);
    if (code == CLI_OK) code = column_must_be(path, &t, needed);
    for (int64_t i = 0; i < b->count && code == CLI_OK; i++) code = read_contract(path, &t, i, b);
    io_cells_free(&t);
    return code;
}

void cva_book_free(cva_book *b) {
    for (int64_t i = 0; b->asset && i < b->assets; i++) free(b->asset[i]);
    for (int64_t i = 0; b->set && i < b->sets; i++) free(b->set[i]);
    for (int64_t i = 0; b->exercise && i < b->count; i++) free(b->exercise[i]);
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
