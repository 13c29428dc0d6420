/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - the files of `shoal cva`: a market, one asset per line, and a book, one contract per line.
 *
 * Market: columns asset, spot, volatility, and maybe dividend [0]; for assets of Heston's model, in place of a volatility,
 * v0, kappa, theta, xi, rho; then, all or none, a column for each
 * asset, under its name, with the correlations of the line's asset.
 * Book: columns payoff, assets (names with blanks between them), strike, maturity, and maybe style
 * [european], exercise (a step, or times with blanks), weights (numbers with blanks), quantity [1],
 * fixings (as exercise), counterparty, set [all contracts with a counterparty net], id (of a trade, for the outputs).
 * Columns may have any order, and other names that are usual. Others are ignored, unless they look like one that is missing.
 * Dates: column time. A time is a number of years, or of days, weeks, months or years: 1d, 1w, 1m, 1y.
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number that is at least 0, or above it. */
static int number_from(cva_field f, double missing, bool above, double *value) {
    const int code = cva_number(f, missing, value);
    if (code != CLI_OK) return code;
    if (above && !(*value > 0)) return cva_wrong(&f, "is not above 0");
    return *value >= 0 ? CLI_OK : cva_wrong(&f, "is below 0");
}

/* ---- the market ------------------------------------------------------------------------------- */

/* A number, points, or the name of a file with points, in the folder of this one. */
static int read_curve(const cli *c, const char *path, const io_cells *t, int64_t i,
                      const char *column, double missing, const cva_book *b, double *value,
                      shoal_cva_curve *curve) {
    const cva_field f = cva_field_of(path, t, i, column);
    *value = 0;
    if (f.text && cli_ends_in(f.text, ".csv")) {
        const char *slash = strrchr(path, '/');
        const size_t folder = slash && *f.text != '/' ? (size_t)(slash - path) + 1 : 0;
        char *name = malloc(folder + strlen(f.text) + 1);
        if (!name) return cli_no_memory();
        memcpy(name, path, folder);
        strcpy(name + folder, f.text);
        const int code = cva_curve_file(c, name, b->today, curve);
        free(name);
        return code;
    }
    if (!f.text || !strchr(f.text, ':')) {
        const bool may_be_less = !isnan(missing);
        return may_be_less ? cva_number(f, missing, value) : number_from(f, missing, false, value);
    }
    const int code = cva_curve_points(f.text, b->today, curve);
    return code == CLI_INPUT
               ? cva_wrong(&f, "is neither a number, points like 6m:0.2 1y:0.25 with ascending "
                               "times, nor a .csv file")
               : code;
}

/* Numbers of Heston's model, in their order; has: 0 or 1, whether the line has some. */
static int read_heston(const char *path, const io_cells *t, int64_t i, shoal_cva_heston *h,
                       bool *has) {
    static const char *const columns[] = { "v0", "kappa", "theta", "xi", "rho" };
    double *const to[] = { &h->v0, &h->kappa, &h->theta, &h->sigma, &h->rho };
    const cva_field volatility = cva_field_of(path, t, i, "volatility");
    int code = CLI_OK;
    *has = false;
    for (int k = 0; k < 5; k++) {
        const cva_field f = cva_field_of(path, t, i, columns[k]);
        *has |= f.text && *f.text;
    }
    if (!*has) return CLI_OK;
    for (int k = 0; k < 5; k++) {
        const cva_field f = cva_field_of(path, t, i, columns[k]);
        int here = CLI_OK;
        if (!f.text || !*f.text)
            here = cli_fail(CLI_INPUT,
                            "%s:%lld: column %s is missing; Heston's model needs v0, kappa, theta, "
                            "xi and rho",
                            path, (long long)t->line[i], columns[k]);
        else if (k < 4)
            here = number_from(f, NAN, k == 3, to[k]);
        else {
            here = cva_number(f, NAN, to[k]);
            if (here == CLI_OK && !(fabs(*to[k]) <= 1)) here = cva_wrong(&f, "is not from -1 to 1");
        }
        code = cva_worse(code, here);
    }
    if (volatility.text && *volatility.text)
        code = cva_worse(code, cva_wrong(&volatility, "is given; with v0 to rho it must be empty"));
    return code;
}

static int read_asset(const cli *c, const char *path, const io_cells *t, int64_t i, cva_book *b) {
    const cva_field name = cva_field_of(path, t, i, "asset");
    b->asset[i] = strdup(name.text);
    if (!b->asset[i]) return cli_no_memory();
    int code = CLI_OK;
    if (!*name.text || strpbrk(name.text, " \t"))
        code = cva_wrong(&name, "is not a name without blanks");
    for (int64_t other = 0; other < i && code == CLI_OK; other++)
        if (strcmp(b->asset[other], name.text) == 0) code = cva_wrong(&name, "is there twice");
    code = cva_worse(code, number_from(cva_field_of(path, t, i, "spot"), NAN, true, &b->s0[i]));
    bool heston;
    code = cva_worse(code, read_heston(path, t, i, &b->heston[i], &heston));
    if (!heston)
        code = cva_worse(
            code, read_curve(c, path, t, i, "volatility", NAN, b, &b->sigma[i], &b->sigmas[i]));
    return cva_worse(
        code, read_curve(c, path, t, i, "dividend", 0, b, &b->dividend[i], &b->dividends[i]));
}

/* The text of a market in which points stand for curves, which may be in files: that of its parts. */
static int keep_curves(const io_cells *t, cva_book *b) {
    bool any = false;
    for (int64_t i = 0; i < 2 * b->assets; i++) any |= b->sigmas[i].count > 0;
    if (!any) return CLI_OK;
    static const char *const names[] = { "volatility", "dividend" };
    const shoal_cva_curve *const lists[] = { b->sigmas, b->dividends };
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file) return cli_no_memory();
    for (int64_t row = -1; row < t->head.rows; row++)
        for (int col = 0; col < t->head.cols; col++) {
            const char *cell = row < 0 ? t->head.names[col] : t->text[row * t->head.cols + col];
            char *points = NULL;
            for (int i = 0; i < 2 && row >= 0; i++)
                if (strcmp(t->head.names[col], names[i]) == 0 && lists[i][row].count)
                    points = cva_curve_text(&lists[i][row], ' ');
            io_csv_text(file, points ? points : cell);
            fputc(col == t->head.cols - 1 ? '\n' : ',', file);
            free(points);
        }
    if (fclose(file) != 0) return cli_no_memory();
    free(b->market_text);
    free(b->sets_text);
    free(b->csa);
    b->market_text = text;
    return CLI_OK;
}

static int read_correlation(const char *path, const io_cells *t, cva_book *b) {
    const int64_t d = b->assets;
    int64_t given = 0;
    int all = CLI_OK, problems = 0;
    for (int64_t a = 0; a < d; a++) given += io_table_column(&t->head, b->asset[a]) >= 0;
    for (int64_t i = 0; i < d * d; i++) {
        const int64_t row = i / d, col = i % d;
        const cva_field f = cva_field_of(path, t, row, b->asset[col]);
        int code = given ? cva_number(f, NAN, &b->correlation[i]) : CLI_OK;
        b->has_correlation = given > 0;
        if (!given) b->correlation[i] = row == col;
        if (code == CLI_OK && !(fabs(b->correlation[i]) <= 1))
            code = cva_wrong(&f, "is not from -1 to 1");
        else if (code == CLI_OK && row == col && b->correlation[i] != 1)
            code = cva_wrong(&f, "is not 1, the correlation of an asset with itself");
        else if (code == CLI_OK && col < row && b->correlation[i] != b->correlation[col * d + row])
            code = cva_wrong(&f, "is not what the other asset's line has");
        all = cva_worse(all, code);
        if (!f.text && code != CLI_OK) break; /* no such column */
        if (code != CLI_OK && cva_is_last(path, ++problems)) break;
    }
    return all;
}

int cva_read_market(const cli *c, const char *path, const char *text, cva_book *b) {
    static const char *const needed[] = { "asset", "spot", "volatility", NULL };
    static const char *const without[] = { "asset", "spot", NULL }; /* all of Heston's model */
    static const cva_column columns[] = { { .name = "asset", .alias = { "ticker" } },
                                          { .name = "spot" },
                                          { .name = "volatility", .alias = { "vol", "sigma" } },
                                          { .name = "dividend",
                                            .alias = { "foreign_rate", "foreign rate" } },
                                          { .name = "v0" },
                                          { .name = "kappa" },
                                          { .name = "theta" },
                                          { .name = "xi", .alias = { "vol_of_vol", "volvol" } },
                                          { .name = "rho" },
                                          { .name = NULL } };
    io_cells t;
    int code = cva_read_table(path, text, columns, &b->market_text, &t), problems = 0;
    const int64_t d = b->assets = t.head.rows;
    const bool any_heston = code == CLI_OK && io_table_column(&t.head, "v0") >= 0;
    if (code == CLI_OK) code = cva_need_columns(path, &t, any_heston ? without : needed);
    if (code == CLI_OK && (d < 1 || d > SHOAL_CVA_ASSETS))
        code = cli_fail(CLI_INPUT, "%s has %lld assets; there can be 1 to %d", path, (long long)d,
                        SHOAL_CVA_ASSETS);
    if (code == CLI_OK) {
        b->asset = calloc((size_t)d, sizeof *b->asset);
        b->s0 = calloc((size_t)(3 * d + d * d), sizeof *b->s0);
        b->sigmas = calloc((size_t)(2 * d), sizeof *b->sigmas);
        if (b->sigmas) b->dividends = b->sigmas + d;
        b->heston = calloc((size_t)d, sizeof *b->heston);
        if (b->asset && b->s0 && b->sigmas && b->heston)
            b->sigma = b->s0 + d, b->dividend = b->s0 + 2 * d, b->correlation = b->s0 + 3 * d;
        else
            code = cli_no_memory();
    }
    const bool made = code == CLI_OK;
    for (int64_t i = 0; made && i < d && (code == CLI_OK || code == CLI_INPUT); i++) {
        const int here = read_asset(c, path, &t, i, b);
        code = cva_worse(code, here);
        if (here != CLI_OK && cva_is_last(path, ++problems)) break;
    }
    if (code == CLI_OK) code = cva_check_columns(c, path, &t, columns, b->asset, d);
    if (code == CLI_OK) code = read_correlation(path, &t, b);
    if (code == CLI_OK) code = keep_curves(&t, b);
    io_cells_free(&t);
    return code;
}

/* ---- the book --------------------------------------------------------------------------------- */

/* Words with blanks between them: the next one, its length, 0 at the end. */
static size_t next_word(const char **at) {
    *at += strspn(*at, " \t");
    return strcspn(*at, " \t");
}

static const char *payoff_name(const void *unused, int i) {
    (void)unused;
    return shoal_cva_payoffs(i);
}

static int read_payoff(const cva_field *f, shoal_cva_payoff *payoff) {
    for (int i = 0; shoal_cva_payoffs(i); i++)
        if (strcmp(f->text, shoal_cva_payoffs(i)) == 0) {
            *payoff = (shoal_cva_payoff)i;
            return CLI_OK;
        }
    return cli_unknown_in(f->path, f->line, "payoff", f->text, "there are", payoff_name, NULL);
}

static const char *asset_name(const void *of, int i) {
    const cva_book *b = of;
    return i < b->assets ? b->asset[i] : NULL;
}

static int read_assets(const cva_field *f, const cva_book *b, shoal_cva_contract *c,
                       int64_t *index) {
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
            if (index[i] == a) return cva_wrong(f, "has a name twice");
        index[c->assets++] = a;
    }
    const bool one = shoal_cva_payoff_flags(c->payoff) & SHOAL_CVA_ONE_ASSET;
    if (c->assets == 0) return cva_wrong(f, "is empty");
    if (!one || c->assets == 1) return CLI_OK;
    char problem[2 * IO_QUOTE_SIZE];
    snprintf(problem, sizeof problem, "are several assets; %s has one",
             shoal_cva_payoffs((int)c->payoff));
    return cva_wrong(f, problem);
}

static int read_weights(const cva_field *f, shoal_cva_contract *c, double *weight) {
    const char *at = f->text ? f->text : "";
    int64_t count = 0;
    for (size_t length; (length = next_word(&at)) > 0; at += length, count++)
        if (count == c->assets || !io_text_double(at, length, &weight[count]) ||
            !isfinite(weight[count]))
            return cva_wrong(f, "is not a number for each asset");
    if (count > 0 && count < c->assets) return cva_wrong(f, "is not a number for each asset");
    c->weight = count > 0 ? weight : NULL;
    return CLI_OK;
}

static int read_barrier(const char *path, const io_cells *t, int64_t i, shoal_cva_contract *c) {
    const cva_field f = cva_field_of(path, t, i, "barrier");
    const char *payoff = shoal_cva_payoffs((int)c->payoff);
    if (shoal_cva_payoff_flags(c->payoff) & SHOAL_CVA_BARRIER) {
        if (f.text && *f.text) return number_from(f, NAN, true, &c->barrier);
        return cli_fail(CLI_INPUT, "%s:%lld: %s needs a number in column barrier", path,
                        (long long)t->line[i], payoff);
    }
    if (!f.text || !*f.text) return CLI_OK;
    char problem[2 * IO_QUOTE_SIZE];
    snprintf(problem, sizeof problem, "is given, but %s has no barrier", payoff);
    return cva_wrong(&f, problem);
}

/* A step, 3m, or ascending times with blanks between them: how many, and *time. */
static int read_list(const cva_field *f, int64_t today, double maturity, int64_t *length_of,
                     double **time) {
    const char *at = f->text ? f->text : "";
    const size_t length = strlen(at);
    double step;
    int64_t count = 0;
    const size_t first = next_word(&at);
    if (!first || !(maturity > 0)) return CLI_OK;
    const bool alone = !at[first + strspn(at + first, " \t")];
    if (alone && strchr("dwmy", at[first - 1]) && cva_read_time(at, first, 0, &step)) {
        if (maturity / step > SHOAL_CVA_DATES) return cva_wrong(f, "is too small a step");
        *time = cva_times_of(step, maturity, length_of);
    } else {
        *time = malloc((length + 1) * sizeof **time);
        for (size_t size; *time && (size = next_word(&at)) > 0; at += size, count++)
            if (!cva_read_time(at, size, today, &(*time)[count]) || (*time)[count] > maturity ||
                (count > 0 && (*time)[count] <= (*time)[count - 1]))
                return cva_wrong(f,
                                 "is neither a step (1w, 3m) nor ascending times up to maturity");
        *length_of = count;
    }
    return *time ? CLI_OK : cli_no_memory();
}

static int read_exercise(const cva_field *f, int64_t today, shoal_cva_contract *c, double **time) {
    if (f->text && *f->text && !c->american)
        return cva_wrong(f, "is given, but the contract is not american");
    const int code = read_list(f, today, c->maturity, &c->exercises, time);
    c->exercise = *time;
    return code;
}

/* Of a mean; such contracts have no early exercise. */
static int read_fixings(const cva_field *f, int64_t today, shoal_cva_contract *c, double **time) {
    if (!f->text || !*f->text) return CLI_OK;
    if (!(shoal_cva_payoff_flags(c->payoff) & SHOAL_CVA_FIXINGS)) {
        char problem[2 * IO_QUOTE_SIZE];
        snprintf(problem, sizeof problem, "is given, but %s has no fixings",
                 shoal_cva_payoffs((int)c->payoff));
        return cva_wrong(f, problem);
    }
    const int code = read_list(f, today, c->maturity, &c->fixings, time);
    c->fixing = *time;
    return code;
}

static const char *party_name(const void *of, int i) {
    const cva_book *b = of;
    return i < b->parties ? b->party[i] : NULL;
}

/* A netting set belongs to a counterparty. */
static int read_set(const cva_field *f, const cva_field *party, cva_book *b, int64_t *set) {
    int64_t of = 0;
    int code = party->text ? cva_find_party(b, party->text, &of) : CLI_OK;
    if (code == CLI_INPUT)
        return cli_unknown_in(f->path, f->line, "counterparty", party->text, "there are",
                              party_name, b);
    return code == CLI_OK ? cva_find_set(b, f->text ? f->text : "", of, set) : code;
}

/* The id of a trade: any text. */
static int read_id(const char *path, const io_cells *t, int64_t i, cva_book *b) {
    const cva_field f = cva_field_of(path, t, i, "id");
    if (!f.text) return CLI_OK;
    b->id[i] = strdup(f.text);
    return b->id[i] ? CLI_OK : cli_no_memory();
}

static int read_contract(const char *path, const io_cells *t, int64_t i, cva_book *b) {
    shoal_cva_contract *c = &b->contract[i];
    const cva_field style = cva_field_of(path, t, i, "style"),
                    payoff = cva_field_of(path, t, i, "payoff");
    const cva_field strike = cva_field_of(path, t, i, "strike"),
                    assets = cva_field_of(path, t, i, "assets");
    const cva_field weights = cva_field_of(path, t, i, "weights"),
                    set = cva_field_of(path, t, i, "set"),
                    party = cva_field_of(path, t, i, "counterparty");
    b->line[i] = t->line[i];
    int code = CLI_OK;
    if (style.text && strcmp(style.text, "american") == 0)
        c->american = 1;
    else if (style.text && *style.text && strcmp(style.text, "european") != 0)
        code = cva_wrong(&style, "is neither european nor american");
    const int of_payoff = read_payoff(&payoff, &c->payoff);
    code = cva_worse(code, of_payoff);
    if (of_payoff == CLI_OK && c->american &&
        !(shoal_cva_payoff_flags(c->payoff) & SHOAL_CVA_EARLY)) {
        char problem[2 * IO_QUOTE_SIZE];
        snprintf(problem, sizeof problem, "must be european: %s has no early exercise",
                 shoal_cva_payoffs((int)c->payoff));
        code = cva_worse(code, cva_wrong(&style, problem));
    }
    if (of_payoff != CLI_OK) c->payoff = SHOAL_CVA_FORWARD; /* of any number of assets */
    const int of_assets = read_assets(&assets, b, c, b->index + i * b->assets);
    code = cva_worse(code, of_assets);
    if (of_assets == CLI_OK)
        code = cva_worse(code, read_weights(&weights, c, b->weight + i * b->assets));
    code = cva_worse(code, number_from(strike, NAN, false, &c->strike));
    if (of_payoff == CLI_OK) code = cva_worse(code, read_barrier(path, t, i, c));
    const cva_field maturity = cva_field_of(path, t, i, "maturity");
    const size_t length = strlen(maturity.text);
    int of_maturity = CLI_OK;
    if (!cva_read_years(maturity.text, length, b->today, &c->maturity))
        of_maturity = cva_wrong(&maturity, cva_no_time(maturity.text, length, b->today));
    code = cva_worse(code, of_maturity);
    const cva_field exercise = cva_field_of(path, t, i, "exercise");
    if (of_maturity == CLI_OK)
        code = cva_worse(code, read_exercise(&exercise, b->today, c, &b->exercise[i]));
    const cva_field fixings = cva_field_of(path, t, i, "fixings");
    if (of_maturity == CLI_OK && of_payoff == CLI_OK && !b->exercise[i])
        code = cva_worse(code, read_fixings(&fixings, b->today, c, &b->exercise[i]));
    code = cva_worse(code, cva_number(cva_field_of(path, t, i, "quantity"), 1, &c->quantity));
    code = cva_worse(code, read_set(&set, &party, b, &c->set));
    return cva_worse(code, read_id(path, t, i, b));
}

int cva_read_book(const cli *c, const char *path, const char *text, cva_book *b) {
    static const char *const needed[] = { "payoff", "assets", "strike", "maturity", NULL };
    static const cva_column columns[] = {
        { .name = "payoff" },
        { .name = "assets", .alias = { "asset", "ticker" } },
        { .name = "strike" },
        { .name = "maturity" },
        { .name = "style" },
        { .name = "exercise" },
        { .name = "fixings", .alias = { "fixing" } },
        { .name = "weights" },
        { .name = "barrier" },
        { .name = "quantity", .alias = { "notional" } },
        { .name = "set", .alias = { "netting_set", "netting set", "nettingset" } },
        { .name = "id", .alias = { "trade", "trade_id", "trade id", "tradeid" } },
        { .name = "counterparty", .alias = { "party", "cpty", "counter_party" } },
        { .name = NULL }
    };
    io_cells t;
    int code = cva_read_table(path, text, columns, &b->text, &t), problems = 0;
    if (code != CLI_OK) {
        io_cells_free(&t);
        return code;
    }
    const size_t rows = (size_t)t.head.rows + 1, all = rows * (size_t)b->assets;
    b->count = t.head.rows;
    b->contract = calloc(rows, sizeof *b->contract);
    b->line = calloc(rows, sizeof *b->line);
    b->exercise = calloc(rows, sizeof *b->exercise);
    b->index = calloc(all, sizeof *b->index);
    b->weight = calloc(all, sizeof *b->weight);
    if (!b->contract || !b->line || !b->exercise || !b->index || !b->weight) code = cli_no_memory();
    b->own = b->count;
    if (io_table_column(&t.head, "id") >= 0) b->id = calloc(rows, sizeof *b->id);
    if (io_table_column(&t.head, "id") >= 0 && !b->id) code = cli_no_memory();
    if (code == CLI_OK) code = cva_check_columns(c, path, &t, columns, NULL, 0);
    if (code == CLI_OK) code = cva_need_columns(path, &t, needed);
    if (code == CLI_OK && b->has_parties && io_table_column(&t.head, "counterparty") < 0)
        code =
            cli_fail(CLI_INPUT, "%s has no column counterparty; --counterparties needs it", path);
    const bool made = code == CLI_OK;
    for (int64_t i = 0; made && i < b->count && (code == CLI_OK || code == CLI_INPUT); i++) {
        const int here = read_contract(path, &t, i, b);
        code = cva_worse(code, here);
        if (here != CLI_OK && cva_is_last(path, ++problems)) break;
    }
    io_cells_free(&t);
    return code;
}

void cva_book_free(cva_book *b) {
    for (int64_t i = 0; b->asset && i < b->assets; i++) free(b->asset[i]);
    for (int64_t i = 0; b->set && i < b->sets; i++) free(b->set[i]);
    for (int64_t i = 0; b->party && i < b->parties; i++) free(b->party[i]);
    for (int64_t i = 0; b->terms && i < b->parties; i++)
        free((double *)(uintptr_t)b->terms[i].hazard);
    for (int64_t i = 0; b->swaps && i < b->parties; i++) cva_curve_free(&b->swaps[i]);
    free(b->party);
    free(b->terms);
    free(b->swaps);
    free(b->set_of);
    free(b->parties_text);
    for (int64_t i = 0; b->exercise && i < b->count; i++) free(b->exercise[i]);
    for (int64_t i = 0; b->id && i < b->count; i++) free(b->id[i]);
    free(b->id);
    free(b->asset);
    free(b->set);
    for (int64_t i = 0; b->sigmas && i < 2 * b->assets; i++) cva_curve_free(&b->sigmas[i]);
    free(b->sigmas);
    free(b->cash);
    free(b->heston);
    free(b->cash_numbers);
    free(b->s0);
    free(b->exercise);
    free(b->contract);
    free(b->line);
    free(b->index);
    free(b->weight);
    free(b->text);
    free(b->market_text);
    free(b->sets_text);
    free(b->csa);
}
