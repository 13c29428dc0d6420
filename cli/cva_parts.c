/* SPDX-License-Identifier: Apache-2.0
 *
 * cva_parts.c - a CVA in parts: `shoal cva --shard I/N -o PART` writes the rows of a range of outer paths, and
 * `shoal merge-parts PART...` puts them together in their order, with the bits of one run.
 *
 * A part is a JSON object: the options in one form, which are parsed again, the texts of book and market,
 * which part of how many it is, what was counted, and the rows in 17 digits. A part asks for no files.
 */
#include "cva.h"

#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/json_read.h"
#include "price.h"

enum { MOST_NUMBERS = 2500000 }; /* of a part: its text is to stay below the 64 MiB that are read */
enum { COUNTS = 7 + SHOAL_CVA_METHODS + SHOAL_CVA_DECADES };

/* Where the counts of a run are, in the order of a part. */
static int64_t *count_at(shoal_cva_counts *n, int i) {
    int64_t *const first[] = { &n->inner_paths, &n->systems, &n->empty, &n->warned,
                               &n->truncated,   &n->refined, &n->failed };
    enum { FIRST = sizeof first / sizeof *first };
    if (i < FIRST) return first[i];
    return i < FIRST + SHOAL_CVA_METHODS ? &n->method[i - FIRST]
                                         : &n->decade[i - FIRST - SHOAL_CVA_METHODS];
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void hazard_word(price_words *w, const cva_options *o) {
    char *text = malloc((size_t)o->pieces * 64 + 1);
    size_t used = 0;
    if (!text) return;
    for (int64_t i = 0; i < o->pieces; i++) {
        if (o->pieces > 1)
            used += (size_t)snprintf(text + used, 32, "%s%.17g:", i ? "," : "", o->until[i]);
        used += (size_t)snprintf(text + used, 32, "%.17g", o->hazard[i]);
    }
    price_word(w, "--hazard", text);
    free(text);
}

static void inner_word(price_words *w, const cva_options *o) {
    char *text = malloc((size_t)o->inner_count * 24 + 1);
    size_t used = 0;
    if (!text) return;
    for (int64_t i = 0; i < o->inner_count; i++)
        used += (size_t)snprintf(text + used, 24, "%s%lld", i ? "," : "", (long long)o->inner[i]);
    price_word(w, "--inner", text);
    free(text);
}

static void words_of(price_words *w, const cli *c, const cva_options *o) {
    char seed[40];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)c->seed);
    price_word(w, "--seed", seed);
    price_word(w, "--book", o->book);
    price_word(w, "--market", o->market);
    price_number(w, "--rate", o->rate);
    hazard_word(w, o);
    price_number(w, "--recovery", o->recovery);
    if (o->collateral) price_number(w, "--threshold", o->threshold);
    if (o->no_netting) price_word(w, "--no-netting", NULL);
    price_number(w, "--dates", (double)o->dates);
    if (o->horizon > 0) price_number(w, "--horizon", o->horizon);
    price_number(w, "--outer", (double)o->outer);
    if (o->inner_count) inner_word(w, o);
    price_word(w, "--exposure", o->nested ? "nested" : "closed");
    price_word(w, "--stopping", o->by_inner ? "inner" : "rule");
    if (o->rule_paths) price_number(w, "--rule-paths", (double)o->rule_paths);
    if (o->kept) price_word(w, "--not-stopped", NULL);
    if (o->no_control) price_word(w, "--no-control", NULL);
    if (o->degree) price_number(w, "--degree", (double)o->degree);
    if (o->raw) price_word(w, "--raw-basis", NULL);
    price_word(w, "--solver", o->solver);
    if (o->cond > 0) price_number(w, "--cond", o->cond);
    price_word(w, "--type", cli_type_name(o->type));
}

static void write_json(io_json *j, const cli *c, const cva_options *o, const cva_book *b,
                       const cva_result *r) {
    price_words w = { 0 };
    shoal_cva_counts counts = r->counts;
    int64_t count[COUNTS];
    for (int i = 0; i < COUNTS; i++) count[i] = *count_at(&counts, i);
    words_of(&w, c, o);
    io_json_object(j, NULL);
    io_json_string(j, "shoal_part", "cva");
    io_json_string(j, "version", shoal_version());
    io_json_array_line(j, "arguments");
    for (int i = 0; i < w.count; i++) io_json_string(j, NULL, w.word[i]);
    io_json_close(j);
    io_json_string(j, "book", b->text);
    io_json_string(j, "market", b->market_text);
    io_json_int(j, "shard", o->shard);
    io_json_int(j, "shards", o->shards);
    io_json_int(j, "first", r->first);
    io_json_int(j, "paths", r->outer);
    io_json_ints(j, "counts", count, COUNTS);
    io_json_array(j, "rows");
    for (int64_t i = 0; i < r->outer; i++)
        io_json_doubles(j, NULL, r->samples + i * r->width, r->width);
    io_json_close(j);
    io_json_close(j);
    price_words_free(&w);
}

int cva_part_fits(int64_t rows, int64_t width) {
    if (rows <= MOST_NUMBERS / width) return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "--shard: a part of %lld rows of %lld numbers is too large; make more parts",
                    (long long)rows, (long long)width);
}

int cva_part_write(const cli *c, const cva_options *o, const cva_book *b, const cva_result *r) {
    io_out *file;
    io_error err;
    io_json j;
    if (cli_interrupted()) return CLI_INTERRUPTED; /* an incomplete part is none */
    int status = io_out_open(o->output, &file, &err);
    if (status != IO_OK) return cli_io(status, &err);
    io_json_begin(&j, io_out_file(file), 1);
    write_json(&j, c, o, b, r);
    status = io_json_end(&j, &err);
    if (status == IO_OK) return cli_io(io_out_commit(file, &err), &err);
    io_out_abandon(file);
    return cli_io(status, &err);
}

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct part {
    const char *path;
    io_json_value *root;
    int64_t shard, shards, first, paths;
} part;

static int bad(const char *path, const char *what) {
    return cli_fail(CLI_INPUT, "%s: not a part: %s", path, what);
}

static const char *string_of(const io_json_value *root, const char *key) {
    const io_json_value *v = io_json_get(root, key);
    return v && v->kind == IO_JSON_STRING ? v->string : NULL;
}

static bool whole(const io_json_value *root, const char *key, int64_t least, int64_t *value) {
    const io_json_value *v = io_json_get(root, key);
    *value = v && v->kind == IO_JSON_INT ? v->integer : -1;
    return *value >= least;
}

bool cva_is_part(const char *path) {
    io_json_value *root;
    io_error err;
    if (io_json_read(path, &root, &err) != IO_OK) return false;
    const char *command = string_of(root, "shoal_part");
    const bool is = command && strcmp(command, "cva") == 0;
    io_json_free(root);
    return is;
}

/* The words that words_of() writes, and no others: a part cannot ask for files to be written. */
static bool known_words(const io_json_value *word) {
    static const char *const flags[] = { "--no-netting", "--not-stopped", "--raw-basis",
                                         "--no-control", NULL };
    static const char *const options[] = {
        "--seed",   "--book",    "--market", "--rate",  "--hazard",   "--recovery", "--threshold",
        "--dates",  "--horizon", "--outer",  "--inner", "--exposure", "--stopping", "--rule-paths",
        "--degree", "--solver",  "--cond",   "--type",  NULL
    };
    return price_words_are(word, flags, options);
}

static int read_part(const char *path, part *p) {
    p->path = path;
    const int code = price_part_json(path, &p->root);
    if (code != CLI_OK) return code;
    const char *command = string_of(p->root, "shoal_part"), *version;
    const io_json_value *words = io_json_get(p->root, "arguments");
    const io_json_value *counts = io_json_get(p->root, "counts");
    const io_json_value *rows = io_json_get(p->root, "rows");
    if (!command || strcmp(command, "cva") != 0) return bad(path, "it is none of shoal cva");
    if (!words || words->kind != IO_JSON_ARRAY) return bad(path, "no arguments");
    if (!known_words(words->first)) return bad(path, "an argument is none that parts have");
    version = string_of(p->root, "version");
    if (!version || strcmp(version, shoal_version()) != 0)
        return bad(path, "it is of another version, and parts of two have no sum");
    if (!string_of(p->root, "book") || !string_of(p->root, "market"))
        return bad(path, "no book or no market");
    if (!whole(p->root, "shard", 1, &p->shard) || !whole(p->root, "shards", 1, &p->shards) ||
        !whole(p->root, "first", 0, &p->first) || !whole(p->root, "paths", 0, &p->paths) ||
        p->shard > p->shards)
        return bad(path, "a number is missing");
    if (!counts || counts->kind != IO_JSON_ARRAY || counts->count != COUNTS)
        return bad(path, "the counts do not fit");
    if (!rows || rows->kind != IO_JSON_ARRAY || rows->count != p->paths)
        return bad(path, "the rows do not fit");
    return CLI_OK;
}

static bool same_run(const part *a, const part *b) {
    const io_json_value *x = io_json_get(a->root, "arguments")->first;
    const io_json_value *y = io_json_get(b->root, "arguments")->first;
    for (; x && y && strcmp(x->string, y->string) == 0; x = x->next, y = y->next) {}
    return !x && !y && a->shards == b->shards &&
           strcmp(string_of(a->root, "book"), string_of(b->root, "book")) == 0 &&
           strcmp(string_of(a->root, "market"), string_of(b->root, "market")) == 0;
}

static int by_shard(const void *a, const void *b) {
    const int64_t x = ((const part *)a)->shard, y = ((const part *)b)->shard;
    return (x > y) - (x < y);
}

/* All parts of one run, each once; how many paths they have. */
static int check_parts(const part *p, int count, int64_t *paths) {
    *paths = 0;
    for (int i = 0; i < count; i++) {
        if (!same_run(&p[0], &p[i]))
            return cli_fail(CLI_INPUT, "%s and %s are parts of different runs", p[0].path,
                            p[i].path);
        if (i > 0 && p[i].shard == p[i - 1].shard)
            return cli_fail(CLI_INPUT, "%s and %s are the same part, %lld of %lld", p[i - 1].path,
                            p[i].path, (long long)p[i].shard, (long long)p[i].shards);
        if (p[i].shard != i + 1)
            return cli_fail(CLI_INPUT, "part %d of %lld is missing", i + 1, (long long)p[i].shards);
        if (p[i].first != *paths) return bad(p[i].path, "it does not follow the one before");
        *paths += p[i].paths;
    }
    if (count < p[0].shards)
        return cli_fail(CLI_INPUT, "part %d of %lld is missing", count + 1, (long long)p[0].shards);
    return CLI_OK;
}

static bool is_number(const io_json_value *v) {
    return v->kind == IO_JSON_DOUBLE || v->kind == IO_JSON_INT || v->kind == IO_JSON_UINT;
}

/* Adds counts and rows of a part; `at` is the first free row. */
static int join(const part *p, cva_joined *to, int64_t at) {
    int i = 0;
    for (const io_json_value *v = io_json_get(p->root, "counts")->first; v; v = v->next) {
        int64_t *sum = count_at(&to->counts, i++);
        if (v->kind != IO_JSON_INT || v->integer < 0 || v->integer > INT64_MAX - *sum)
            return bad(p->path, "a count is no whole number from 0");
        *sum += v->integer;
    }
    double *x = to->rows + at * to->width;
    for (const io_json_value *row = io_json_get(p->root, "rows")->first; row; row = row->next) {
        if (row->kind != IO_JSON_ARRAY || row->count != to->width)
            return bad(p->path, "the rows do not fit");
        for (const io_json_value *v = row->first; v; v = v->next) {
            if (!is_number(v)) return bad(p->path, "an exposure is no number");
            *x++ = v->number;
        }
    }
    return CLI_OK;
}

static int join_all(const part *p, int count, cva_joined *to) {
    int code = check_parts(p, count, &to->paths);
    for (int i = 0; i < count && code == CLI_OK && !to->width; i++) {
        const io_json_value *row = io_json_get(p[i].root, "rows")->first;
        if (row) to->width = row->count;
    }
    to->book = string_of(p[0].root, "book"), to->market = string_of(p[0].root, "market");
    if (code == CLI_OK) to->rows = calloc((size_t)(to->paths * to->width) + 1, sizeof *to->rows);
    if (code == CLI_OK && !to->rows) code = cli_fail(CLI_UNAVAILABLE, "not enough memory");
    for (int i = 0; i < count && code == CLI_OK; i++) code = join(&p[i], to, p[i].first);
    return code;
}

int cva_merge_parts(cli *c, char **path, int count, const char *plot, const char *output) {
    part *p = calloc((size_t)count + 1, sizeof *p);
    price_words w = { 0 };
    cva_joined joined = { 0 };
    int code = p ? CLI_OK : cli_fail(CLI_UNAVAILABLE, "not enough memory");
    for (int i = 0; i < count && code == CLI_OK; i++) code = read_part(path[i], &p[i]);
    if (code == CLI_OK) {
        qsort(p, (size_t)count, sizeof *p, by_shard);
        code = join_all(p, count, &joined);
    }
    if (code == CLI_OK) {
        price_word(&w, "shoal cva", NULL);
        for (const io_json_value *x = io_json_get(p[0].root, "arguments")->first; x; x = x->next)
            price_word(&w, x->string, NULL);
        if (plot) price_word(&w, "--plot", plot);
        if (output) price_word(&w, "--output", output);
        snprintf(c->command, sizeof c->command, "cva");
        code = cva_command(c, w.count, w.word, &joined);
    }
    for (int i = 0; p && i < count; i++) io_json_free(p[i].root);
    free(p);
    free(joined.rows);
    price_words_free(&w);
    return code;
}
