/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.c - reads problem strings, and writes them again.
 *
 * The text is cut into parts first (views into it, nothing is copied), each part is checked against
 * the module's grammar, and the lists are multiplied out at the end: types, then the keys, the last
 * one slowest, then methods, then the keys that vary within one, then variants. A list that does
 * not concern a method (lambda, and uniform numbers) makes one problem of it, not several. Sizes
 * are bounded, so that their product can always be counted in bytes.
 *
 * A key's kind is the type of its field in bench_problem; the field is written by its offset. Which keys there are is in
 * the modules' tables.
 */
#include "bench/module.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/status.h"

enum { BENCH_MAX_LIST = 256 };
#define BENCH_MAX_NUMBERS ((int64_t)1 << 48) /* product of the sizes of a problem */

typedef struct view { /* a piece of the string */
    const char *at;
    size_t size;
} view;

typedef struct words { /* the words of one list */
    char word[BENCH_MAX_LIST][BENCH_WORD];
    int count;
    bool all;
} words;

typedef union value { /* of a key */
    int64_t size;
    double real;
    int choice;
    uint64_t seed;
    char word[BENCH_WORD];
} value;

typedef struct values {
    value list[BENCH_MAX_LIST];
    int count, at; /* at: the one in use, while the lists are multiplied out */
    bool given;
} values;

typedef struct draft { /* a string taken apart, before it is multiplied out */
    const bench_grammar *grammar;
    words methods, types, variants;
    values keys[BENCH_MAX_KEYS]; /* in the order of the grammar; not of BENCH_KEY_VARIANT */
    char backend[8];
    io_error *err;
} draft;

typedef struct maker { /* the list that grows while a draft is multiplied out */
    draft *d;
    bench_problems *list;
    int first; /* the list's length before    */
    int type;  /* place of the type in use    */
} maker;

enum { BENCH_PAIR = 2 * BENCH_WORD };

/* ---- keys -------------------------------------------------------------------------------------- */

_Static_assert(sizeof(shoal_layout) == sizeof(int) && sizeof(shoal_math) == sizeof(int) &&
                   sizeof(shoal_storage) == sizeof(int) && sizeof(shoal_triangle) == sizeof(int),
               "choices are written as int");

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

/* The place of a name, -1 if it is not there. */
static int find_name(io_names *names, const void *of, view word) {
    for (int i = 0; names(of, i); i++)
        if (same(word, names(of, i))) return i;
    return -1;
}

/* "problem: unknown method 'foo'; there are auto, thomas, ..." */
static int unknown_word(draft *d, const char *part, view word, io_names *names, const void *of) {
    char message[IO_MESSAGE], quoted[IO_QUOTE_SIZE];
    return io_fail(d->err, IO_E_FORMAT, "%s",
                   io_unknown(message, "problem", part, io_quote(word.at, word.size, quoted),
                              "there are", names, of));
}

static int given_twice(draft *d, const char *part, view word) {
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
static int read_words(draft *d, const char *part, view text, io_names *names, const void *of,
                      words *list) {
    list->count = 0;
    list->all = same(text, "all");
    if (list->all) {
        for (int i = 0; names(of, i) && list->count < BENCH_MAX_LIST; i++)
            if (strcmp(names(of, i), "auto") != 0)
                snprintf(list->word[list->count++], BENCH_WORD, "%s", names(of, i));
        return IO_OK;
    }
    while (text.size > 0) {
        view word = cut(&text, '+');
        int at = find_name(names, of, word);
        if (at < 0) return unknown_word(d, part, word, names, of);
        if (listed(list, word)) return given_twice(d, part, word); /* the list never overflows */
        snprintf(list->word[list->count++], BENCH_WORD, "%s", names(of, at));
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
        if (word.size == 0 || word.size >= BENCH_WORD || list->count == BENCH_MAX_LIST)
            return io_fail(d->err, IO_E_FORMAT, "problem: key 'variant': '%s' is no variant",
                           io_quote(word.at, word.size, quoted));
        if (listed(list, word)) return given_twice(d, "variant", word);
        memcpy(list->word[list->count], word.at, word.size);
        list->word[list->count++][word.size] = 0;
    }
    return IO_OK;
}

/* Decimal digits only: strtoull would take signs, spaces and hexadecimal. */
static bool read_digits(const char *text, size_t size, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || *number > (UINT64_MAX - digit) / 10) return false;
        *number = *number * 10 + digit;
    }
    return size > 0;
}

/* 100000, 1e5, 2.5e4 or 2^25, at most `most`. */
static int read_size(const char *key, const char *text, size_t size, int64_t max, int64_t *number,
                     io_error *err) {
    char quoted[IO_QUOTE_SIZE];
    const char *hat = size ? memchr(text, '^', size) : NULL;
    uint64_t digits = 0, base = 0, power = 0;
    double real = 0;
    bool good = true, fits = true;
    if (hat) {
        size_t before = (size_t)(hat - text);
        good = read_digits(text, before, &base) && read_digits(hat + 1, size - before - 1, &power);
        for (digits = 1; good && fits && power > 0 && base > 1; power--) {
            fits = digits <= (uint64_t)max / base;
            if (fits) digits *= base;
        }
        if (good && power > 0 && base == 0) digits = 0;
    } else if (!read_digits(text, size, &digits)) {
        good = io_text_double(text, size, &real) && real >= 0;
        fits = good && real <= (double)max;
        if (fits) {
            digits = (uint64_t)real;
            good = (double)digits == real;
        }
    }
    if (!good)
        return io_fail(err, IO_E_FORMAT,
                       "problem: key '%s': '%s' is not a whole number (100000, 1e5 and 2^25 are)",
                       key, io_quote(text, size, quoted));
    if (!fits || digits > (uint64_t)max)
        return io_fail(err, IO_E_FORMAT, "problem: key '%s': '%s' is larger than %" PRId64, key,
                       io_quote(text, size, quoted), max);
    *number = (int64_t)digits;
    return IO_OK;
}

static int read_seed(draft *d, view text, uint64_t *seed) {
    char quoted[IO_QUOTE_SIZE];
    if (read_digits(text.at, text.size, seed)) return IO_OK;
    return io_fail(d->err, IO_E_FORMAT,
                   "problem: key 'seed': '%s' is not a whole number of 64 bits",
                   io_quote(text.at, text.size, quoted));
}

static int read_real(draft *d, const bench_key *key, view text, double *real) {
    char quoted[IO_QUOTE_SIZE];
    if (io_text_double(text.at, text.size, real) && isfinite(*real)) return IO_OK;
    return io_fail(d->err, IO_E_FORMAT, "problem: key '%s': '%s' is not a finite number", key->name,
                   io_quote(text.at, text.size, quoted));
}

/* A size or a real number, not below the least. */
static int read_number(draft *d, const bench_key *key, view text, value *to) {
    char quoted[IO_QUOTE_SIZE];
    const bool real = key->kind == BENCH_KEY_REAL;
    const int64_t max = key->max ? key->max : BENCH_MAX_NUMBERS;
    int code = real ? read_real(d, key, text, &to->real)
                    : read_size(key->name, text.at, text.size, max, &to->size, d->err);
    if (code != IO_OK || (real ? to->real : (double)to->size) >= key->min) return code;
    return io_fail(d->err, IO_E_FORMAT, "problem: key '%s': %s is less than %d", key->name,
                   io_quote(text.at, text.size, quoted), key->min);
}

static bool same_number(const bench_key *key, const value *a, const value *b) {
    return key->kind == BENCH_KEY_REAL ? a->real == b->real : a->size == b->size;
}

static int read_numbers(draft *d, const bench_key *key, view text, values *to) {
    char part[BENCH_WORD];
    snprintf(part, sizeof part, "%s =", key->name);
    to->count = 0;
    do {
        view word = key->list ? cut(&text, '+') : text;
        if (!key->list) text.size = 0;
        if (to->count == BENCH_MAX_LIST)
            return io_fail(d->err, IO_E_FORMAT, "problem: more than %d values of %s",
                           BENCH_MAX_LIST, key->name);
        int code = read_number(d, key, word, &to->list[to->count]);
        if (code != IO_OK) return code;
        for (int i = 0; i < to->count; i++)
            if (same_number(key, &to->list[i], &to->list[to->count]))
                return given_twice(d, part, word);
        to->count++;
    } while (text.size > 0);
    return IO_OK;
}

/* Word i of a key. */
static const char *key_word(const void *of, int i) {
    const bench_key *key = of;
    return key->words ? key->words[i] : key->names(i);
}

/* One word, or a list of them. An empty list is as if the key had not been given. */
static int read_choices(draft *d, const bench_key *key, view text, values *to) {
    words *list = calloc(1, sizeof *list);
    if (!list) return io_fail(d->err, IO_E_MEMORY, "problem: no memory");
    int code = IO_OK;
    if (key->list) {
        code = read_words(d, key->name, text, key_word, key, list);
    } else {
        view rest = text, word = key->values ? cut(&rest, ':') : text;
        const int at = find_name(key_word, key, word);
        if (at < 0 || text.size >= BENCH_WORD)
            code = unknown_word(d, key->name, text, key_word, key);
        if (code == IO_OK)
            snprintf(list->word[list->count++], BENCH_WORD, "%.*s", (int)text.size, text.at);
    }
    to->count = code == IO_OK ? list->count : 0;
    for (int i = 0; i < to->count; i++) {
        const view word = { list->word[i], strlen(list->word[i]) };
        if (key->kind == BENCH_KEY_CHOICE)
            to->list[i].choice = find_name(key_word, key, word);
        else
            memcpy(to->list[i].word, list->word[i], BENCH_WORD);
    }
    free(list);
    return code;
}

static int read_key(draft *d, int k, view text) {
    const bench_key *key = &d->grammar->keys[k];
    values *to = &d->keys[k];
    switch (key->kind) {
    case BENCH_KEY_SIZE:
    case BENCH_KEY_NUMBER:
    case BENCH_KEY_AMOUNT:
    case BENCH_KEY_REAL: return read_numbers(d, key, text, to);
    case BENCH_KEY_CHOICE:
    case BENCH_KEY_WORD: return read_choices(d, key, text, to);
    case BENCH_KEY_VARIANT: return read_variants(d, text);
    case BENCH_KEY_SEED: break;
    }
    to->count = 1;
    return read_seed(d, text, &to->list[0].seed);
}

/* The first value of each key that was not given. */
static int read_usual_keys(draft *d, const bench_defaults *defaults) {
    int code = IO_OK;
    for (int k = 0; d->grammar->keys[k].name && code == IO_OK; k++) {
        const bench_key *key = &d->grammar->keys[k];
        values *to = &d->keys[k];
        if (to->count > 0) continue;
        const char *usual = key->usual;
        if (strcmp(key->name, "math") == 0 && defaults->math) usual = defaults->math;
        if (key->kind == BENCH_KEY_SEED)
            to->list[0].seed = defaults->seed, to->count = 1;
        else if (usual)
            code = read_key(d, k, (view){ usual, strlen(usual) });
    }
    return code;
}

static size_t field_size(bench_key_kind kind) {
    switch (kind) {
    case BENCH_KEY_CHOICE: return sizeof(int);
    case BENCH_KEY_WORD: return BENCH_WORD;
    default: return sizeof(int64_t); /* and double, and uint64_t */
    }
}

/* Puts value i of key k into the problem, or what holds for a method without it. */
static void set_key(const draft *d, int k, int i, bench_problem *p) {
    const bench_key *key = &d->grammar->keys[k];
    memcpy((char *)p + key->field, &d->keys[k].list[i], field_size(key->kind));
}

static void set_without(const bench_key *key, bench_problem *p) {
    value v = { .size = 0 };
    if (key->kind == BENCH_KEY_AMOUNT) return; /* the field is another key's */
    if (key->kind == BENCH_KEY_SIZE) v.size = key->without;
    memcpy((char *)p + key->field, &v, field_size(key->kind));
}

static bool same_key(const bench_key *key, const bench_problem *p, const bench_problem *q) {
    const char *a = (const char *)p + key->field, *b = (const char *)q + key->field;
    if (key->kind == BENCH_KEY_WORD) return strcmp(a, b) == 0;
    return memcmp(a, b, field_size(key->kind)) == 0;
}

char *bench_real_text(double number, char text[BENCH_REAL]) {
    char shortest[BENCH_REAL] = "";
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, number);
        if (strtod(shortest, NULL) == number) break;
    }
    char *plus = strchr(shortest, '+'); /* of an exponent; it would begin the next of a list */
    if (plus) memmove(plus, plus + 1, strlen(plus));
    return memcpy(text, shortest, sizeof shortest);
}

/* "n=255", the key as it stands in the problem; "" if it has no value. Returns `text`. */
static char *key_text(const bench_key *key, const bench_problem *p, char text[BENCH_PAIR]) {
    char real[BENCH_REAL];
    value v = { .size = 0 };
    if (key->kind == BENCH_KEY_VARIANT) {
        snprintf(text, BENCH_PAIR, "%s%s", *p->variant ? "variant=" : "", p->variant);
        return text;
    }
    memcpy(&v, (const char *)p + key->field, field_size(key->kind));
    switch (key->kind) {
    case BENCH_KEY_SIZE:
    case BENCH_KEY_NUMBER: snprintf(text, BENCH_PAIR, "%s=%" PRId64, key->name, v.size); break;
    case BENCH_KEY_SEED: snprintf(text, BENCH_PAIR, "%s=%" PRIu64, key->name, v.seed); break;
    case BENCH_KEY_WORD: snprintf(text, BENCH_PAIR, "%s=%s", key->name, v.word); break;
    case BENCH_KEY_CHOICE:
        snprintf(text, BENCH_PAIR, "%s=%s", key->name, key_word(key, v.choice));
        break;
    case BENCH_KEY_REAL: /* NaN is the field of one that was not given */
        if (isnan(v.real))
            text[0] = 0;
        else
            snprintf(text, BENCH_PAIR, "%s=%s", key->name, bench_real_text(v.real, real));
        break;
    default: text[0] = 0; break; /* an amount: count has it */
    }
    return text;
}

/* ---- parts ------------------------------------------------------------------------------------- */

/* clang-format off */
static const char *backends(const void *of, int i) {
    static const char *const names[] = { "auto", "cpu", "cuda", NULL };
    (void)of;
    return names[i];
}
const char *const bench_layouts[] = { "system", "interleaved", NULL };
const char *const bench_maths[] = { "exact", "fast", NULL };
const char *const bench_storages[] = { "full", "packed", NULL };
const char *const bench_triangles[] = { "lower", "upper", NULL };
const char *const bench_switches[] = { "0", "1", NULL };
static const char *types(const void *of, int i) {
    static const char *const names[] = { "f64", "f32", "u32", NULL };
    const bench_grammar *grammar = of;
    if (grammar->types) return grammar->types(NULL, i);
    return i == 2 && !grammar->fixed_type ? NULL : names[i];
}
static const char *modules(const void *of, int i) {
    (void)of;
    return bench_grammar_at(i) ? bench_grammar_at(i)->module : NULL;
}
static const char *methods(const void *of, int i) {
    const bench_grammar *grammar = of;
    if (!grammar->has_auto) return shoal_methods(grammar->module, i);
    return i == 0 ? "auto" : shoal_methods(grammar->module, i - 1);
}
static const char *keys(const void *of, int i) { return ((const bench_grammar *)of)->keys[i].name; }
/* clang-format on */

const char *bench_type_name(shoal_type type) { return type == SHOAL_F32 ? "f32" : "f64"; }

const char *bench_problem_type(const bench_problem *p) {
    return p->fixed_type ? p->fixed_type : bench_type_name(p->type);
}

bool bench_can(const bench_problem *p, unsigned flag) {
    return shoal_method_flags(p->module, p->method, NULL) & flag;
}

size_t bench_number_size(const bench_problem *p) {
    return strcmp(bench_problem_type(p) + 1, "64") == 0 ? 8 : 4;
}

bool bench_same_data(const bench_problem *p, const bench_problem *q) {
    if (strcmp(p->module, q->module) != 0 || strcmp(p->backend, q->backend) != 0 ||
        strcmp(bench_problem_type(p), bench_problem_type(q)) != 0)
        return false;
    for (const bench_key *key = bench_module_of(p->module)->grammar.keys; key->name; key++) {
        if (key->inner || key->kind == BENCH_KEY_VARIANT || key->kind == BENCH_KEY_AMOUNT) continue;
        if (!same_key(key, p, q)) return false;
    }
    return true;
}

static bool takes_key(const bench_grammar *grammar, const char *method, const char *key) {
    return !grammar->takes || grammar->takes(method, key);
}

static const char *fixed_type(const bench_grammar *grammar, const char *method) {
    return grammar->fixed_type ? grammar->fixed_type(method) : NULL;
}

static int read_pair(draft *d, view pair) {
    char quoted[IO_QUOTE_SIZE];
    view text = pair, key = cut(&text, '=');
    if (key.size == pair.size)
        return io_fail(d->err, IO_E_FORMAT, "problem: '%s' is not of the form key=value",
                       io_quote(pair.at, pair.size, quoted));
    const int at = find_name(keys, d->grammar, key);
    if (at < 0) return unknown_word(d, "key", key, keys, d->grammar);
    if (d->keys[at].given) return given_twice(d, "key", key);
    d->keys[at].given = true;
    return read_key(d, at, text);
}

/* The place of a key that was given, else -1. */
static int given(const draft *d, bench_key_kind kind, const char *name) {
    for (int k = 0; d->grammar->keys[k].name; k++) {
        const bench_key *key = &d->grammar->keys[k];
        if (key->kind == kind && d->keys[k].given && (!name || strcmp(name, key->name) == 0))
            return k;
    }
    return -1;
}

/* "problem: rng needs a method, for example rng:words"; it has no auto. */
static int no_method(draft *d) {
    return io_fail(d->err, IO_E_FORMAT, "problem: %s needs a method, for example %s:%s",
                   d->grammar->module, d->grammar->module, methods(d->grammar, 0));
}

static int read_parts(draft *d, view text) {
    view module = cut(&text, ':'), method = cut(&text, ':'), backend = cut(&text, ':'),
         type = cut(&text, ':');
    const int which = find_name(modules, NULL, module);
    if (which < 0) return unknown_word(d, "module", module, modules, NULL);
    d->grammar = bench_grammar_at(which);
    int code = read_words(d, "method", method, methods, d->grammar, &d->methods);
    if (code == IO_OK && d->methods.count == 0 && !d->grammar->has_auto) code = no_method(d);
    if (code != IO_OK) return code;
    if (backend.size > 0) {
        int at = find_name(backends, NULL, backend);
        if (at < 0) return unknown_word(d, "backend", backend, backends, NULL);
        snprintf(d->backend, sizeof d->backend, "%s", backends(NULL, at));
    }
    code = read_words(d, "type", type, types, d->grammar, &d->types);
    while (code == IO_OK && text.size > 0) {
        view pair = cut(&text, ',');
        if (pair.size > 0) code = read_pair(d, pair);
    }
    const int amount = given(d, BENCH_KEY_AMOUNT, NULL);
    if (code == IO_OK && amount >= 0 && given(d, BENCH_KEY_SIZE, "count") >= 0)
        code = io_fail(d->err, IO_E_FORMAT, "problem: keys 'count' and '%s' exclude each other",
                       d->grammar->keys[amount].name);
    return code;
}

static const char *variant_of(const draft *d, const char *method, const char *wanted) {
    const char *name = NULL;
    for (int i = 0; (name = shoal_variants(d->grammar->module, method, i)); i++)
        if (strcmp(name, wanted) == 0) break;
    return name;
}

/* Of all methods those are taken that have the variant: there must be one. */
static int check_variants(draft *d) {
    for (int v = 0; v < d->variants.count && d->methods.all; v++) {
        bool known = false;
        for (int m = 0; m < d->methods.count && !known; m++)
            known = variant_of(d, d->methods.word[m], d->variants.word[v]) != NULL;
        if (!known)
            return io_fail(d->err, IO_E_FORMAT, "problem: no method has a variant '%s'",
                           d->variants.word[v]);
    }
    return IO_OK;
}

/* A key that was given must concern one of the methods. */
static int check_keys(draft *d) {
    for (int k = 0; d->grammar->keys[k].name; k++) {
        bool taken = !d->keys[k].given;
        for (int m = 0; m < d->methods.count && !taken; m++)
            taken = takes_key(d->grammar, d->methods.word[m], d->grammar->keys[k].name);
        if (!taken)
            return io_fail(d->err, IO_E_FORMAT, "problem: key '%s': method '%s' does not take it",
                           d->grammar->keys[k].name, d->methods.word[0]);
    }
    return IO_OK;
}

/* A method that was named must have one of the types: u32 is not for everyone. */
static int check_types(draft *d) {
    const bool other =
        d->grammar->types || d->types.count > 1 || strcmp(d->types.word[0], "u32") != 0;
    for (int m = 0; m < d->methods.count && !other && !d->methods.all; m++)
        if (!fixed_type(d->grammar, d->methods.word[m]))
            return io_fail(d->err, IO_E_FORMAT, "problem: method '%s' has no type '%s'",
                           d->methods.word[m], d->types.word[0]);
    return IO_OK;
}

/* "n * count * nrhs = 3 * 4 * 1 is more than 2^48 numbers" */
static int too_large(draft *d, const bench_problem *p) {
    char names[128] = "", sizes[160] = "", pair[BENCH_PAIR];
    for (const bench_key *key = d->grammar->keys; key->name; key++) {
        if (key->kind != BENCH_KEY_SIZE) continue;
        const char *digits = strchr(key_text(key, p, pair), '=') + 1;
        if (strcmp(digits, "0") == 0) continue; /* it makes nothing large */
        const size_t name = strlen(names), size = strlen(sizes);
        const char *power = d->grammar->square && strcmp(key->name, "n") == 0 ? "^2" : "";
        snprintf(names + name, sizeof names - name, "%s%s%s", name ? " * " : "", key->name, power);
        snprintf(sizes + size, sizeof sizes - size, "%s%s%s", size ? " * " : "", digits, power);
    }
    return io_fail(d->err, IO_E_FORMAT, "problem: %s = %s is more than 2^48 numbers", names, sizes);
}

/* One more problem, with its sizes checked. */
static int append(maker *m, const bench_problem *p) {
    bench_problems *list = m->list;
    int64_t numbers = BENCH_MAX_NUMBERS;
    const bench_grammar *grammar = m->d->grammar;
    const int64_t sizes[] = { p->n, grammar->square ? p->n : 1, p->count, p->nrhs, p->gram };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > 0) numbers /= sizes[i];
    if (numbers == 0) return too_large(m->d, p);
    const char *other = NULL, *key = grammar->excluded ? grammar->excluded(p, &other) : NULL;
    if (key)
        return io_fail(m->d->err, IO_E_FORMAT, "problem: keys '%s' and '%s' exclude each other",
                       other, key);
    if (list->count - m->first >= BENCH_MAX_PROBLEMS)
        return io_fail(m->d->err, IO_E_FORMAT, "problem: the lists make more than %d problems",
                       BENCH_MAX_PROBLEMS);
    bench_problem *items = realloc(list->items, (size_t)(list->count + 1) * sizeof *items);
    if (!items) return io_fail(m->d->err, IO_E_MEMORY, "problem: no memory");
    list->items = items;
    items[list->count++] = *p;
    return IO_OK;
}

/* The problems of one method: those of the variants in the string. */
static int append_variants(maker *m, bench_problem *p) {
    const draft *d = m->d;
    int code = IO_OK;
    p->from_all = d->methods.all || d->variants.all;
    p->variant[0] = 0;
    const char *name = shoal_variants(p->module, p->method, 0);
    if (d->variants.count == 0 && !(d->variants.all && name)) return append(m, p);
    for (int v = 0; d->variants.all && code == IO_OK; v++) {
        if (!(name = shoal_variants(p->module, p->method, v))) break;
        snprintf(p->variant, sizeof p->variant, "%s", name);
        code = append(m, p);
    }
    for (int v = 0; code == IO_OK && v < d->variants.count; v++) {
        const char *wanted = d->variants.word[v];
        name = variant_of(d, p->method, wanted);
        if (!name && d->methods.all) continue;
        if (!name)
            return io_fail(d->err, IO_E_FORMAT, "problem: method '%s' has no variant '%s'",
                           p->method, wanted);
        snprintf(p->variant, sizeof p->variant, "%s", name);
        code = append(m, p);
    }
    return code;
}

static int each_key(maker *m, int k, bool inner, bench_problem *p);

/* How many systems have the amount together. */
static int64_t systems_of(const bench_key *key, const values *amount, const bench_problem *p) {
    return (int64_t)((double)amount->list[0].size / (key->each ? key->each(p) : (double)p->n));
}

/* Of the values of a key that a method does not take, and of the types if it has its own, the first
 * stands for all. */
static int each_method(maker *m, const bench_problem *p) {
    const draft *d = m->d;
    const int amount = given(d, BENCH_KEY_AMOUNT, NULL);
    int code = IO_OK;
    for (int i = 0; i < d->methods.count && code == IO_OK; i++) {
        bench_problem q = *p;
        snprintf(q.method, sizeof q.method, "%s", d->methods.word[i]);
        q.fixed_type = fixed_type(d->grammar, q.method);
        bool wanted = q.fixed_type ? m->type == 0 : strcmp(d->types.word[m->type], "u32") != 0;
        if (d->grammar->types) { /* its own names, which live on */
            const char *word = d->types.word[m->type];
            q.fixed_type =
                types(d->grammar, find_name(types, d->grammar, (view){ word, strlen(word) }));
            wanted = true;
        }
        int last = 0;
        for (; d->grammar->keys[last].name; last++) {
            const bench_key *key = &d->grammar->keys[last];
            if (key->inner || takes_key(d->grammar, q.method, key->name)) continue;
            wanted = wanted && d->keys[last].at == 0;
            set_without(key, &q);
        }
        if (amount >= 0 && takes_key(d->grammar, q.method, d->grammar->keys[amount].name))
            q.count = q.n > 0 ? systems_of(&d->grammar->keys[amount], &d->keys[amount], &q) : 0;
        if (wanted) code = each_key(m, last - 1, true, &q);
    }
    return code;
}

/* Each value of key k and, within it, of those before it: the inner ones, or the others. */
static int each_key(maker *m, int k, bool inner, bench_problem *p) {
    draft *d = m->d;
    while (k >= 0 && (d->grammar->keys[k].inner != inner || d->keys[k].count == 0 ||
                      d->grammar->keys[k].kind == BENCH_KEY_AMOUNT))
        k--;
    if (k < 0) return inner ? append_variants(m, p) : each_method(m, p);
    const bench_key *key = &d->grammar->keys[k];
    if (inner && !takes_key(d->grammar, p->method, key->name)) {
        set_without(key, p);
        return each_key(m, k - 1, inner, p);
    }
    int code = IO_OK;
    for (int i = 0; i < d->keys[k].count && code == IO_OK; i++) {
        d->keys[k].at = i;
        set_key(d, k, i, p);
        code = each_key(m, k - 1, inner, p);
    }
    return code;
}

/* Multiplies the lists out: methods vary fast, so that neighbours share their data. */
static int expand(draft *d, bench_problems *list) {
    maker m = { .d = d, .list = list, .first = list->count };
    bench_problem p = { .parameter = NAN };
    int last = 0, code = IO_OK;
    snprintf(p.module, sizeof p.module, "%s", d->grammar->module);
    snprintf(p.backend, sizeof p.backend, "%s", d->backend);
    while (d->grammar->keys[last].name) last++;
    for (; m.type < d->types.count && code == IO_OK; m.type++) {
        p.type = strcmp(d->types.word[m.type], "f32") == 0 ? SHOAL_F32 : SHOAL_F64;
        code = each_key(&m, last - 1, false, &p);
    }
    return code;
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
    snprintf(d->backend, sizeof d->backend, "%s", defaults->backend ? defaults->backend : "auto");
    int code = read_parts(d, (view){ text, strlen(text) });
    if (code == IO_OK) code = read_usual_keys(d, defaults);
    if (code == IO_OK) {
        set_default(&d->methods, "auto");
        set_default(&d->types, types(d->grammar, 0));
        code = check_variants(d);
    }
    if (code == IO_OK) code = check_keys(d);
    if (code == IO_OK) code = check_types(d);
    if (code == IO_OK) code = expand(d, list);
    if (code != IO_OK) list->count = before;
    free(d);
    return code;
}

void bench_problems_free(bench_problems *list) {
    free(list->items);
    *list = (bench_problems){ 0 };
}

char *bench_problem_text(const bench_problem *p, char text[BENCH_TEXT]) {
    const bench_grammar *grammar = &bench_module_of(p->module)->grammar;
    snprintf(text, BENCH_TEXT, "%s:%s:%s:%s", p->module, p->method, p->backend,
             bench_problem_type(p));
    char mark = ':';
    for (const bench_key *key = grammar->keys; key->name; key++) {
        char pair[BENCH_PAIR];
        const size_t used = strlen(text);
        if (!takes_key(grammar, p->method, key->name) || !*key_text(key, p, pair)) continue;
        snprintf(text + used, BENCH_TEXT - used, "%c%s", mark, pair);
        mark = ',';
    }
    return text;
}
