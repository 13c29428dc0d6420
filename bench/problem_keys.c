/* SPDX-License-Identifier: Apache-2.0
 *
 * problem_keys.c - the keys of problem strings: reading their values, putting them into a problem,
 * writing them again. What keys there are is the modules' business, not this file's.
 *
 * A key's kind is the type of its field in bench_problem; the field is written by its offset.
 */
#include "bench/problem_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/status.h"

_Static_assert(sizeof(shoal_layout) == sizeof(int) && sizeof(shoal_math) == sizeof(int) &&
                   sizeof(shoal_storage) == sizeof(int) && sizeof(shoal_triangle) == sizeof(int),
               "choices are written as int");

view problem_cut(view *text, char mark) {
    const char *end = text->size ? memchr(text->at, mark, text->size) : NULL;
    view piece = { text->at, end ? (size_t)(end - text->at) : text->size };
    size_t used = piece.size + (end ? 1 : 0);
    *text = (view){ text->at + used, text->size - used };
    return piece;
}

static bool same(view text, const char *word) {
    return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}

int problem_find(bench_names *names, const void *of, view word) {
    for (int i = 0; names(of, i); i++)
        if (same(word, names(of, i))) return i;
    return -1;
}

int problem_unknown(draft *d, const char *part, view word, bench_names *names, const void *of) {
    char quoted[IO_QUOTE_SIZE], all[512] = "";
    for (int i = 0; names(of, i); i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names(of, i));
    }
    return io_fail(d->err, IO_E_FORMAT, "problem: %s '%s' is not one of %s", part,
                   io_quote(word.at, word.size, quoted), all);
}

int problem_twice(draft *d, const char *part, view word) {
    char quoted[IO_QUOTE_SIZE];
    return io_fail(d->err, IO_E_FORMAT, "problem: %s '%s' is given twice", part,
                   io_quote(word.at, word.size, quoted));
}

static bool listed(const words *list, view word) {
    for (int i = 0; i < list->count; i++)
        if (same(word, list->word[i])) return true;
    return false;
}

int problem_words(draft *d, const char *part, view text, bench_names *names, const void *of,
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
        view word = problem_cut(&text, '+');
        int at = problem_find(names, of, word);
        if (at < 0) return problem_unknown(d, part, word, names, of);
        if (listed(list, word)) return problem_twice(d, part, word); /* the list never overflows */
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
        view word = problem_cut(&text, '+');
        if (word.size == 0 || word.size >= BENCH_WORD || list->count == BENCH_MAX_LIST)
            return io_fail(d->err, IO_E_FORMAT, "problem: key 'variant': '%s' is no variant",
                           io_quote(word.at, word.size, quoted));
        if (listed(list, word)) return problem_twice(d, "variant", word);
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
static int read_size(const char *key, const char *text, size_t size, int64_t most, int64_t *number,
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
            fits = digits <= (uint64_t)most / base;
            if (fits) digits *= base;
        }
        if (good && power > 0 && base == 0) digits = 0;
    } else if (!read_digits(text, size, &digits)) {
        good = io_text_double(text, size, &real) && real >= 0;
        fits = good && real <= (double)most;
        if (fits) {
            digits = (uint64_t)real;
            good = (double)digits == real;
        }
    }
    if (!good)
        return io_fail(err, IO_E_FORMAT,
                       "problem: key '%s': '%s' is not a whole number (100000, 1e5 and 2^25 are)",
                       key, io_quote(text, size, quoted));
    if (!fits || digits > (uint64_t)most)
        return io_fail(err, IO_E_FORMAT, "problem: key '%s': '%s' is larger than %" PRId64, key,
                       io_quote(text, size, quoted), most);
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
    const int64_t most = key->most ? key->most : BENCH_MAX_NUMBERS;
    int code = real ? read_real(d, key, text, &to->real)
                    : read_size(key->name, text.at, text.size, most, &to->size, d->err);
    if (code != IO_OK || (real ? to->real : (double)to->size) >= key->least) return code;
    return io_fail(d->err, IO_E_FORMAT, "problem: key '%s': %s is less than %d", key->name,
                   io_quote(text.at, text.size, quoted), key->least);
}

static bool same_number(const bench_key *key, const value *a, const value *b) {
    return key->kind == BENCH_KEY_REAL ? a->real == b->real : a->size == b->size;
}

static int read_numbers(draft *d, const bench_key *key, view text, values *to) {
    char part[BENCH_WORD];
    snprintf(part, sizeof part, "%s =", key->name);
    to->count = 0;
    do {
        view word = key->list ? problem_cut(&text, '+') : text;
        if (!key->list) text.size = 0;
        if (to->count == BENCH_MAX_LIST)
            return io_fail(d->err, IO_E_FORMAT, "problem: more than %d values of %s",
                           BENCH_MAX_LIST, key->name);
        int code = read_number(d, key, word, &to->list[to->count]);
        if (code != IO_OK) return code;
        for (int i = 0; i < to->count; i++)
            if (same_number(key, &to->list[i], &to->list[to->count]))
                return problem_twice(d, part, word);
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
        code = problem_words(d, key->name, text, key_word, key, list);
    } else {
        view rest = text, word = key->values ? problem_cut(&rest, ':') : text;
        const int at = problem_find(key_word, key, word);
        if (at < 0 || text.size >= BENCH_WORD)
            code = problem_unknown(d, key->name, text, key_word, key);
        if (code == IO_OK)
            snprintf(list->word[list->count++], BENCH_WORD, "%.*s", (int)text.size, text.at);
    }
    to->count = code == IO_OK ? list->count : 0;
    for (int i = 0; i < to->count; i++) {
        const view word = { list->word[i], strlen(list->word[i]) };
        if (key->kind == BENCH_KEY_CHOICE)
            to->list[i].choice = problem_find(key_word, key, word);
        else
            memcpy(to->list[i].word, list->word[i], BENCH_WORD);
    }
    free(list);
    return code;
}

int problem_read_key(draft *d, int k, view text) {
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

int problem_usual_keys(draft *d, const bench_defaults *defaults) {
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
            code = problem_read_key(d, k, (view){ usual, strlen(usual) });
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

void problem_set_key(const draft *d, int k, int i, bench_problem *p) {
    const bench_key *key = &d->grammar->keys[k];
    memcpy((char *)p + key->field, &d->keys[k].list[i], field_size(key->kind));
}

void problem_set_without(const bench_key *key, bench_problem *p) {
    value v = { .size = 0 };
    if (key->kind == BENCH_KEY_AMOUNT) return; /* the field is another key's */
    if (key->kind == BENCH_KEY_SIZE) v.size = key->without;
    memcpy((char *)p + key->field, &v, field_size(key->kind));
}

bool problem_same_key(const bench_key *key, const bench_problem *p, const bench_problem *q) {
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

char *problem_key_text(const bench_key *key, const bench_problem *p, char text[BENCH_PAIR]) {
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
