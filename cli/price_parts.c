/* SPDX-License-Identifier: Apache-2.0
 *
 * price_parts.c - simulations in parts: `--shard I/N -o PART` writes the sums of a range of units, and
 * `shoal merge-parts PART...` adds them in their order, with the bits of one run.
 *
 * A part is a JSON object: the command and its arguments in one form, which merge-parts parses again,
 * which part of how many it is, and the sums, in 17 digits.
 */
#include "cva.h"
#include "price.h"

#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "io/file.h"
#include "io/json_read.h"

/* ---- words ----------------------------------------------------------------------------------- */

static void add_word(price_words *w, const char *text) {
    if (w->count + 2 > w->room) {
        const int room = w->room ? 2 * w->room : 64;
        char **more = realloc(w->word, (size_t)room * sizeof *more);
        if (!more) return;
        w->word = more, w->room = room;
    }
    w->word[w->count] = malloc(strlen(text) + 1);
    if (!w->word[w->count]) return;
    strcpy(w->word[w->count++], text);
    w->word[w->count] = NULL;
}

void price_word(price_words *w, const char *option, const char *value) {
    add_word(w, option);
    if (value) add_word(w, value);
}

void price_number(price_words *w, const char *option, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    price_word(w, option, text);
}

static void list_word(price_words *w, const char *option, const price_list *list) {
    char *text = malloc((size_t)list->count * 32 + 1);
    if (!text) return;
    size_t used = 0;
    for (int64_t i = 0; i < list->count; i++)
        used += (size_t)snprintf(text + used, 32, "%s%.17g", i ? "," : "", list->values[i]);
    price_word(w, option, text);
    free(text);
}

void price_words_of(price_words *w, const cli *c, const price_options *o) {
    char text[40];
    snprintf(text, sizeof text, "%llu", (unsigned long long)c->seed);
    price_word(w, "--seed", text);
    price_word(w, "--math", c->fast_math ? "fast" : "exact");
    price_word(w, "--method", o->method);
    price_word(w, "--type", cli_type_name(o->type));
    price_number(w, "--paths", (double)o->paths);
    price_number(w, "--steps", (double)o->steps);
    if (o->strike.count) list_word(w, "--strike", &o->strike);
    if (o->maturity.count) list_word(w, "--maturity", &o->maturity);
    if (o->put) price_word(w, "--put", NULL);
    if (o->antithetic) price_word(w, "--antithetic", NULL);
    if (o->control) price_word(w, o->control > 0 ? "--control" : "--no-control", NULL);
    if (o->greeks) price_word(w, "--greeks", NULL);
    if (o->bump > 0) price_number(w, "--bump", o->bump);
    if (o->probability) price_word(w, "--probability", NULL);
}

void price_words_free(price_words *w) {
    for (int i = 0; i < w->count; i++) free(w->word[i]);
    free(w->word);
}

/* ---- writing --------------------------------------------------------------------------------- */

int price_part_write(const char *path, const char *command, const price_words *words,
                     const price_options *o, const price_outcome *out) {
    io_out *file;
    io_error err;
    if (cli_interrupted()) return CLI_INTERRUPTED; /* an incomplete part is none */
    int status = io_out_open(path, &file, &err);
    if (status != IO_OK) return cli_io(status, &err);
    io_json j;
    io_json_begin(&j, io_out_file(file), 1);
    io_json_object(&j, NULL);
    io_json_string(&j, "shoal_part", command);
    io_json_string(&j, "version", shoal_version());
    io_json_array_line(&j, "arguments");
    for (int i = 0; i < words->count; i++) io_json_string(&j, NULL, words->word[i]);
    io_json_close(&j);
    io_json_int(&j, "shard", o->shard);
    io_json_int(&j, "shards", o->shards);
    io_json_int(&j, "first", out->first);
    io_json_int(&j, "units", out->units);
    io_json_int(&j, "samples", out->samples);
    const int64_t width = out->width;
    io_json_array(&j, "sums");
    for (int64_t u = 0; u < out->units; u++)
        io_json_doubles(&j, NULL, out->sums + u * width, width);
    io_json_close(&j);
    io_json_close(&j);
    status = io_json_end(&j, &err);
    if (status != IO_OK) {
        io_out_abandon(file);
        return cli_io(status, &err);
    }
    return cli_io(io_out_commit(file, &err), &err);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct part_file {
    io_json_value *root;
    price_part part;
} part_file;

int price_part_json(const char *path, io_json_value **root) {
    io_error err;
    const int status = io_json_read(path, root, &err);
    return status != IO_E_FORMAT
               ? cli_io(status, &err)
               : cli_fail(CLI_INPUT, "%s; parts are what --shard I/N -o PART writes", err.text);
}

static bool whole(const io_json_value *root, const char *key, int64_t least, int64_t *value) {
    const io_json_value *v = io_json_get(root, key);
    *value = v && v->kind == IO_JSON_INT ? v->integer : -1;
    return *value >= least;
}

static int bad(const char *path, const char *what) {
    return cli_fail(CLI_INPUT, "%s: not a part: %s", path, what);
}

static bool is_among(const char *text, const char *const list[]) {
    while (*list && strcmp(text, *list) != 0) list++;
    return *list != NULL;
}

bool price_words_are(const io_json_value *word, const char *const flags[],
                     const char *const options[]) {
    for (; word; word = word->next) {
        if (word->kind != IO_JSON_STRING) return false;
        if (is_among(word->string, flags)) continue;
        if (!is_among(word->string, options)) return false;
        word = word->next; /* its value */
        if (!word || word->kind != IO_JSON_STRING) return false;
    }
    return true;
}

/* The words that price_words_of() and the commands write, and no others: a part cannot ask for files. */
static bool known_words(const io_json_value *word) {
    static const char *const flags[] = { "--put",         "--antithetic",
                                         "--control",     "--no-control",
                                         "--greeks",      "--raw-basis",
                                         "--probability", NULL };
    static const char *const options[] = {
        "--seed",    "--math",   "--method",   "--variant",  "--type",      "--paths",
        "--steps",   "--s0",     "--strike",   "--rate",     "--v0",        "--kappa",
        "--theta",   "--sigma",  "--rho",      "--maturity", "--alpha",     "--m",
        "--beta",    "--y0",     "--dividend", "--p1",       "--p2",        "--at",
        "--barrier", "--dates",  "--count",    "--outer",    "--assets",    "--correlation",
        "--weights", "--payoff", "--basis",    "--solver",   "--fit-paths", "--bump",
        NULL
    };
    return price_words_are(word, flags, options);
}

static int read_part(const char *path, part_file *f) {
    price_part *p = &f->part;
    const int code = price_part_json(path, &f->root);
    if (code != CLI_OK) return code;
    const io_json_value *sums = io_json_get(f->root, "sums");
    const io_json_value *command = io_json_get(f->root, "shoal_part");
    const io_json_value *words = io_json_get(f->root, "arguments");
    const io_json_value *version = io_json_get(f->root, "version");
    p->path = path;
    if (!command || command->kind != IO_JSON_STRING) return bad(path, "no command");
    if (!words || words->kind != IO_JSON_ARRAY) return bad(path, "no arguments");
    if (!known_words(words->first)) return bad(path, "an argument is none that parts have");
    if (!version || version->kind != IO_JSON_STRING ||
        strcmp(version->string, shoal_version()) != 0)
        return bad(path, "it is of another version, and parts of two have no sum");
    if (!whole(f->root, "shard", 1, &p->shard) || !whole(f->root, "shards", 1, &p->shards) ||
        !whole(f->root, "first", 0, &p->first) || !whole(f->root, "units", 0, &p->units) ||
        !whole(f->root, "samples", 0, &p->samples) || p->shard > p->shards)
        return bad(path, "a number is missing");
    if (!sums || sums->kind != IO_JSON_ARRAY || sums->count != p->units ||
        p->units != p->samples / SHOAL_PRICE_UNIT + (p->samples % SHOAL_PRICE_UNIT > 0))
        return bad(path, "the sums do not fit");
    const int64_t width = sums->first ? sums->first->count : 0;
    p->sums = calloc((size_t)(p->units * width) + 1, sizeof *p->sums);
    if (!p->sums) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    double *to = p->sums;
    for (const io_json_value *row = sums->first; row; row = row->next) {
        if (row->kind != IO_JSON_ARRAY || row->count != width)
            return bad(path, "the sums do not fit");
        for (const io_json_value *x = row->first; x; x = x->next) {
            if (x->kind != IO_JSON_DOUBLE && x->kind != IO_JSON_INT && x->kind != IO_JSON_UINT)
                return bad(path, "a sum is no number");
            *to++ = x->number;
        }
    }
    p->width = width;
    return CLI_OK;
}

static bool same_words(const io_json_value *a, const io_json_value *b) {
    const io_json_value *x = io_json_get(a, "arguments")->first;
    const io_json_value *y = io_json_get(b, "arguments")->first;
    for (; x && y; x = x->next, y = y->next)
        if (strcmp(x->string, y->string) != 0) return false;
    return !x && !y &&
           strcmp(io_json_get(a, "shoal_part")->string, io_json_get(b, "shoal_part")->string) == 0;
}

static int by_shard(const void *a, const void *b) {
    const int64_t x = ((const part_file *)a)->part.shard, y = ((const part_file *)b)->part.shard;
    return (x > y) - (x < y);
}

/* All parts of one run, each once. */
static int check_parts(const part_file *f, int count) {
    int64_t next = 0;
    for (int i = 0; i < count; i++) {
        const price_part *p = &f[i].part;
        if (!same_words(f[0].root, f[i].root) || p->shards != f[0].part.shards)
            return cli_fail(CLI_INPUT, "%s and %s are parts of different runs", f[0].part.path,
                            p->path);
        if (i > 0 && p->shard == f[i - 1].part.shard)
            return cli_fail(CLI_INPUT, "%s and %s are the same part, %lld of %lld",
                            f[i - 1].part.path, p->path, (long long)p->shard, (long long)p->shards);
        if (p->shard != i + 1)
            return cli_fail(CLI_INPUT, "part %d of %lld is missing", i + 1, (long long)p->shards);
        if (p->first != next || (p->units > 0 && p->width != f[0].part.width && f[0].part.units))
            return bad(p->path, "it does not follow the one before");
        next += p->units;
    }
    if (count < f[0].part.shards)
        return cli_fail(CLI_INPUT, "part %d of %lld is missing", count + 1,
                        (long long)f[0].part.shards);
    return CLI_OK;
}

typedef struct arguments {
    int count;
    char **path;
    const char *plot, *output;
} arguments;

/* Runs the command that the parts name, on them. */
static int merge(cli *c, const arguments *a, part_file *f) {
    const int count = a->count;
    const char *command = io_json_get(f[0].root, "shoal_part")->string;
    price_part *parts = calloc((size_t)count, sizeof *parts);
    price_words w = { 0 };
    char name[80];
    snprintf(name, sizeof name, "shoal %s", command);
    price_word(&w, name, NULL);
    for (const io_json_value *x = io_json_get(f[0].root, "arguments")->first; x; x = x->next)
        price_word(&w, x->string, NULL);
    if (a->plot) price_word(&w, "--plot", a->plot);
    if (a->output) price_word(&w, "--output", a->output);
    int code = parts ? CLI_OK : cli_fail(CLI_UNAVAILABLE, "not enough memory");
    for (int i = 0; i < count && code == CLI_OK; i++) parts[i] = f[i].part;
    if (code == CLI_OK) {
        snprintf(c->command, sizeof c->command, "%.60s", command);
        if (strcmp(command, "price heston") == 0)
            code = price_heston(c, w.count, w.word, parts, count);
        else if (strcmp(command, "price expou") == 0)
            code = price_expou(c, w.count, w.word, parts, count);
        else if (strcmp(command, "price bullet") == 0)
            code = price_bullet(c, w.count, w.word, parts, count);
        else if (strcmp(command, "price american") == 0)
            code = price_american(c, w.count, w.word, parts, count);
        else
            code = bad(f[0].part.path, "this program has no such command");
    }
    free(parts);
    price_words_free(&w);
    return code;
}

enum { KEY_PLOT = 0x2000 };

/* clang-format off */
static const struct argp_option options[] = {
    { "plot",   KEY_PLOT, "F.svg", 0, "draw what the command would have drawn", 1 },
    { "output", 'o',      "FILE",  0, "of price bullet: keep every point as .npy; of cva: the profile as .csv; of a data set: where to write it", 1 },
    { 0 }
};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case KEY_PLOT: a->plot = arg; return 0;
    case 'o': a->output = arg; return 0;
    case ARGP_KEY_ARG: a->path[a->count++] = arg; return 0;
    case ARGP_KEY_END:
        if (a->count == 0) argp_error(state, "a part is missing");
        cli_check_outputs(state, (const char *[CLI_OUTPUTS]){ a->output, a->plot }, NULL);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Adds up the parts of a Monte Carlo command that was run with --shard I/N -o PART, all of them, "
    "and prints what the command would have printed in one run: the same bits."
    "\vExample:\n  shoal price heston --paths 1e9 --shard 1/2 -o a.part\n"
    "  shoal price heston --paths 1e9 --shard 2/2 -o b.part\n  shoal merge-parts a.part b.part";

int cmd_merge_parts(cli *c, int argc, char **argv) {
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "PART...", .doc = doc
    };
    arguments a = { .path = calloc((size_t)argc + 1, sizeof *a.path) };
    part_file *f = calloc((size_t)argc + 1, sizeof *f);
    int code = a.path && f ? cli_parse(c, &argp, argc, argv, &a)
                           : cli_fail(CLI_UNAVAILABLE, "not enough memory");
    const bool rows = code == CLI_OK && dataset_is_part(a.path[0]);
    const bool exposures = code == CLI_OK && !rows && cva_is_part(a.path[0]);
    const bool prices = code == CLI_OK && !rows && !exposures;
    if (rows && a.plot)
        code = cli_fail(CLI_USAGE, "--plot: a data set has no picture");
    else if (rows)
        code = dataset_merge(c, (const char *const *)a.path, a.count, a.output);
    else if (exposures)
        code = cva_merge_parts(c, a.path, a.count, a.plot, a.output);
    for (int i = 0; i < a.count && code == CLI_OK && prices; i++)
        code = read_part(a.path[i], &f[i]);
    if (code == CLI_OK && prices) {
        qsort(f, (size_t)a.count, sizeof *f, by_shard);
        code = check_parts(f, a.count);
    }
    if (code == CLI_OK && prices) code = merge(c, &a, f);
    for (int i = 0; f && i < a.count; i++) {
        io_json_free(f[i].root);
        free(f[i].part.sums);
    }
    free(f);
    free(a.path);
    return code;
}
