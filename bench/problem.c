/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.c - reads problem strings.
 *
 * The text is cut into parts first (views into it, nothing is copied), each part is checked against
 * the list of what it may be, and the lists are multiplied out at the end. Sizes are bounded, so
 * that n * count * nrhs numbers can always be counted in bytes.
 */
#include "bench/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

enum { MAX_LIST = 256, DEFAULT_N = 256, DEFAULT_COUNT = 100000 };
static const int64_t MAX_NUMBERS = (int64_t)1 << 48;

typedef struct view { /* a piece of the string */
    const char *at;
    size_t size;
} view;

typedef struct words { /* the values of one list */
    char word[MAX_LIST][BENCH_WORD];
    int count;
    bool all;
} words;

typedef struct draft { /* a string taken apart, before it is multiplied out */
    words methods, types, layouts, variants;
    int64_t n[MAX_LIST];
    int n_count;
    int64_t count, rows, nrhs;
    uint64_t seed;
    unsigned given; /* bit i: key_name(i) was read */
    char kind[BENCH_WORD], backend[8];
    io_error *err;
} draft;

typedef const char *(*name_list)(int i);

enum { KEY_N, KEY_COUNT, KEY_ROWS, KEY_NRHS, KEY_LAYOUT, KEY_KIND, KEY_VARIANT, KEY_SEED };

/* clang-format off */
static const char *backend_name(int i) {
    static const char *const names[] = { "auto", "cpu", "cuda", NULL };
    return names[i];
}
static const char *type_name(int i) {
    static const char *const names[] = { "f64", "f32", NULL };
    return names[i];
}
static const char *layout_name(int i) {
    static const char *const names[] = { "system", "interleaved", NULL };
    return names[i];
}
static const char *key_name(int i) {
    static const char *const names[] = { /* in the order of KEY_N, ... */
        "n", "count", "rows", "nrhs", "layout", "kind", "variant", "seed", NULL
    };
    return names[i];
}
static const char *module_name(int i) { return i == 0 ? "tridiag" : NULL; }
static const char *method_name(int i) { return i == 0 ? "auto" : shoal_methods("tridiag", i - 1); }
/* clang-format on */

const char *bench_type_name(shoal_type type) { return type_name((int)type); }
const char *bench_layout_name(shoal_layout layout) { return layout_name((int)layout); }

/* Cuts the text before the first `mark`; the rest, without the mark, stays in *text. */
static view cut(view *text, char mark) {
    const char *end = text->size ? memchr(text->at, mark, text->size) : NULL;
    view piece = { text->at, end ? (size_t)(end - text->at) : text->size };
    size_t used = piece.size + (end ? 1 : 0);
    *text = (view){ text->at + used, text->size - used };
    return piece;
}

static bool same(view text, const char *word) {
    return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}

static int find(name_list names, view word) {
    for (int i = 0; names(i); i++)
        if (same(word, names(i))) return i;
    return -1;
}

/* "problem: method 'foo' is not one of auto, thomas, ..." */
static int unknown(draft *d, const char *part, view word, name_list names) {
    char quoted[IO_QUOTE_SIZE], all[320] = "";
    for (int i = 0; names(i); i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names(i));
    }
    return io_fail(d->err, IO_E_FORMAT, "problem: %s '%s' is not one of %s", part,
                   io_quote(word.at, word.size, quoted), all);
}

static int twice(draft *d, const char *part, view word) {
    char quoted[IO_QUOTE_SIZE];
    return io_fail(d->err, IO_E_FORMAT, "problem: %s '%s' is given twice", part,
                   io_quote(word.at, word.size, quoted));
}

static bool listed(const words *list, view word) {
    for (int i = 0; i < list->count; i++)
        if (same(word, list->word[i])) return true;
    return false;
}

/* A list of words, or "all" of them; nothing leaves the list empty. */
static int read_words(draft *d, const char *part, view text, name_list names, words *list) {
    list->count = 0;
    list->all = same(text, "all");
    if (list->all) {
        for (int i = 0; names(i) && list->count < MAX_LIST; i++)
            if (strcmp(names(i), "auto") != 0)
                snprintf(list->word[list->count++], BENCH_WORD, "%s", names(i));
        return IO_OK;
    }
    while (text.size > 0) {
        view word = cut(&text, '+');
        int at = find(names, word);
        if (at < 0) return unknown(d, part, word, names);
        if (listed(list, word)) return twice(d, part, word); /* so the list never overflows */
        snprintf(list->word[list->count++], BENCH_WORD, "%s", names(at));
    }
    return IO_OK;
}

/* Variants belong to methods; they are checked when both are known. */
static int read_variants(draft *d, view text) {
    words *list = &d->variants;
    char quoted[IO_QUOTE_SIZE];
    list->count = 0;
    list->all = same(text, "all");
    while (!list->all && text.size > 0) {
        view word = cut(&text, '+');
        if (word.size == 0 || word.size >= BENCH_WORD || list->count == MAX_LIST)
            return io_fail(d->err, IO_E_FORMAT, "problem: key 'variant': '%s' is no variant",
                           io_quote(word.at, word.size, quoted));
        if (listed(list, word)) return twice(d, "variant", word);
        memcpy(list->word[list->count], word.at, word.size);
        list->word[list->count++][word.size] = 0;
    }
    return IO_OK;
}

static int read_size(draft *d, const char *key, view text, int64_t *value) {
    return bench_read_size(key, text.at, text.size, MAX_NUMBERS, value, d->err);
}

static int read_lengths(draft *d, view text) {
    d->n_count = 0;
    do {
        view word = cut(&text, '+');
        if (d->n_count == MAX_LIST)
            return io_fail(d->err, IO_E_FORMAT, "problem: more than %d values of n", MAX_LIST);
        int code = read_size(d, "n", word, &d->n[d->n_count]);
        if (code != IO_OK) return code;
        for (int i = 0; i < d->n_count; i++)
            if (d->n[i] == d->n[d->n_count]) return twice(d, "n =", word);
        d->n_count++;
    } while (text.size > 0);
    return IO_OK;
}

static int read_kind(draft *d, view text) {
    int at = find(shoal_tridiag_kind, text);
    if (at < 0) return unknown(d, "kind", text, shoal_tridiag_kind);
    snprintf(d->kind, sizeof d->kind, "%s", shoal_tridiag_kind(at));
    return IO_OK;
}

static int read_seed(draft *d, view text) {
    char quoted[IO_QUOTE_SIZE];
    if (bench_read_digits(text.at, text.size, &d->seed)) return IO_OK;
    return io_fail(d->err, IO_E_FORMAT,
                   "problem: key 'seed': '%s' is not a whole number of 64 bits",
                   io_quote(text.at, text.size, quoted));
}

static bool given(const draft *d, int key) { return (d->given >> key & 1) != 0; }

static int read_key(draft *d, view pair) {
    char quoted[IO_QUOTE_SIZE];
    view value = pair, key = cut(&value, '=');
    if (key.size == pair.size)
        return io_fail(d->err, IO_E_FORMAT, "problem: '%s' is not of the form key=value",
                       io_quote(pair.at, pair.size, quoted));
    const int at = find(key_name, key);
    if (at < 0) return unknown(d, "key", key, key_name);
    if (given(d, at)) return twice(d, "key", key);
    d->given |= 1u << at;
    switch (at) {
    case KEY_N: return read_lengths(d, value);
    case KEY_COUNT: return read_size(d, "count", value, &d->count);
    case KEY_ROWS: return read_size(d, "rows", value, &d->rows);
    case KEY_LAYOUT: return read_words(d, "layout", value, layout_name, &d->layouts);
    case KEY_KIND: return read_kind(d, value);
    case KEY_VARIANT: return read_variants(d, value);
    case KEY_SEED: return read_seed(d, value);
    default: break;
    }
    int code = read_size(d, "nrhs", value, &d->nrhs);
    if (code == IO_OK && d->nrhs == 0)
        code = io_fail(d->err, IO_E_FORMAT, "problem: key 'nrhs': 0 is less than 1");
    return code;
}

static int read_parts(draft *d, view text) {
    view module = cut(&text, ':'), method = cut(&text, ':'), backend = cut(&text, ':'),
         type = cut(&text, ':');
    if (find(module_name, module) < 0) return unknown(d, "module", module, module_name);
    int code = read_words(d, "method", method, method_name, &d->methods);
    if (code != IO_OK) return code;
    if (backend.size > 0) {
        int at = find(backend_name, backend);
        if (at < 0) return unknown(d, "backend", backend, backend_name);
        snprintf(d->backend, sizeof d->backend, "%s", backend_name(at));
    }
    code = read_words(d, "type", type, type_name, &d->types);
    while (code == IO_OK && text.size > 0) {
        view pair = cut(&text, ',');
        if (pair.size > 0) code = read_key(d, pair);
    }
    if (code == IO_OK && given(d, KEY_COUNT) && given(d, KEY_ROWS))
        code = io_fail(d->err, IO_E_FORMAT, "problem: keys 'count' and 'rows' exclude each other");
    return code;
}

/* One more problem, with its sizes checked. */
static int append(draft *d, const bench_problem *p, bench_problems *list, int first) {
    int64_t numbers = MAX_NUMBERS;
    const int64_t sizes[] = { p->n, p->count, p->nrhs };
    for (int i = 0; i < 3; i++)
        if (sizes[i] > 0) numbers /= sizes[i];
    if (numbers == 0)
        return io_fail(d->err, IO_E_FORMAT,
                       "problem: n * count * nrhs = %" PRId64 " * %" PRId64 " * %" PRId64
                       " is more than 2^48 numbers",
                       p->n, p->count, p->nrhs);
    if (list->count - first >= BENCH_MAX_PROBLEMS)
        return io_fail(d->err, IO_E_FORMAT, "problem: the lists make more than %d problems",
                       BENCH_MAX_PROBLEMS);
    bench_problem *items = realloc(list->items, (size_t)(list->count + 1) * sizeof *items);
    if (!items) return io_fail(d->err, IO_E_MEMORY, "problem: no memory");
    list->items = items;
    items[list->count++] = *p;
    return IO_OK;
}

static const char *variant_of(const char *method, const char *wanted) {
    const char *name = NULL;
    for (int i = 0; (name = shoal_variants("tridiag", method, i)); i++)
        if (strcmp(name, wanted) == 0) break;
    return name;
}

/* Of all methods those are taken that have the variant: there must be one. */
static int check_variants(draft *d) {
    for (int v = 0; v < d->variants.count && d->methods.all; v++) {
        bool known = false;
        for (int m = 0; m < d->methods.count && !known; m++)
            known = variant_of(d->methods.word[m], d->variants.word[v]) != NULL;
        if (!known)
            return io_fail(d->err, IO_E_FORMAT, "problem: no method has a variant '%s'",
                           d->variants.word[v]);
    }
    return IO_OK;
}

/* The problems of one method: those of its variants that were asked for. */
static int append_variants(draft *d, bench_problem *p, bench_problems *list, int first) {
    int code = IO_OK;
    p->from_all = d->methods.all;
    p->variant[0] = 0;
    if (d->variants.all) {
        p->from_all = true;
        const char *name = shoal_variants(p->module, p->method, 0);
        if (!name) return append(d, p, list, first);
        for (int v = 0; code == IO_OK && (name = shoal_variants(p->module, p->method, v)); v++) {
            snprintf(p->variant, sizeof p->variant, "%s", name);
            code = append(d, p, list, first);
        }
        return code;
    }
    if (d->variants.count == 0) return append(d, p, list, first);
    for (int v = 0; code == IO_OK && v < d->variants.count; v++) {
        const char *wanted = d->variants.word[v], *name = variant_of(p->method, wanted);
        if (!name && d->methods.all) continue;
        if (!name)
            return io_fail(d->err, IO_E_FORMAT, "problem: method '%s' has no variant '%s'",
                           p->method, wanted);
        snprintf(p->variant, sizeof p->variant, "%s", name);
        code = append(d, p, list, first);
    }
    return code;
}

/* Multiplies the lists out: methods vary fastest, so that neighbours share their data. */
static int expand(draft *d, bench_problems *list) {
    bench_problem p = { .nrhs = d->nrhs, .seed = d->seed };
    const int first = list->count;
    snprintf(p.module, sizeof p.module, "tridiag");
    snprintf(p.kind, sizeof p.kind, "%s", d->kind);
    snprintf(p.backend, sizeof p.backend, "%s", d->backend);
    for (int t = 0; t < d->types.count; t++)
        for (int l = 0; l < d->layouts.count; l++)
            for (int i = 0; i < d->n_count; i++)
                for (int m = 0; m < d->methods.count; m++) {
                    p.type = strcmp(d->types.word[t], "f32") == 0 ? SHOAL_F32 : SHOAL_F64;
                    p.layout = strcmp(d->layouts.word[l], "system") == 0 ? SHOAL_SYSTEM_MAJOR
                                                                         : SHOAL_INTERLEAVED;
                    p.n = d->n[i];
                    p.count = !given(d, KEY_ROWS) ? d->count : p.n > 0 ? d->rows / p.n : 0;
                    snprintf(p.method, sizeof p.method, "%s", d->methods.word[m]);
                    int code = append_variants(d, &p, list, first);
                    if (code != IO_OK) return code;
                }
    return IO_OK;
}

static void set_default(words *list, const char *word) {
    if (list->count > 0) return;
    list->count = 1;
    snprintf(list->word[0], BENCH_WORD, "%s", word);
}

int bench_problem_parse(const char *text, const bench_defaults *defaults, bench_problems *list,
                        io_error *err) {
    draft *d = calloc(1, sizeof *d);
    if (!d) return io_fail(err, IO_E_MEMORY, "problem: no memory");
    const int before = list->count;
    d->err = err;
    d->n[0] = DEFAULT_N;
    d->n_count = 1;
    d->count = DEFAULT_COUNT;
    d->nrhs = 1;
    d->seed = defaults->seed;
    snprintf(d->backend, sizeof d->backend, "%s", defaults->backend ? defaults->backend : "auto");
    snprintf(d->kind, sizeof d->kind, "%s", "dominant");
    int code = read_parts(d, (view){ text, strlen(text) });
    if (code == IO_OK) {
        set_default(&d->methods, "auto");
        set_default(&d->types, "f64");
        set_default(&d->layouts, "system");
        code = check_variants(d);
        if (code == IO_OK) code = expand(d, list);
    }
    if (code != IO_OK) list->count = before;
    free(d);
    return code;
}

void bench_problems_free(bench_problems *list) {
    free(list->items);
    *list = (bench_problems){ 0 };
}

char *bench_problem_text(const bench_problem *p, char text[BENCH_TEXT]) {
    int used = snprintf(text, BENCH_TEXT, "%s:%s:%s:%s:n=%" PRId64 ",count=%" PRId64, p->module,
                        p->method, p->backend, bench_type_name(p->type), p->n, p->count);
    if (used > 0 && used < BENCH_TEXT)
        snprintf(text + used, (size_t)(BENCH_TEXT - used),
                 ",nrhs=%" PRId64 ",layout=%s,kind=%s%s%s,seed=%" PRIu64, p->nrhs,
                 bench_layout_name(p->layout), p->kind, *p->variant ? ",variant=" : "", p->variant,
                 p->seed);
    return text;
}
