/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.c - reads problem strings.
 *
 * The text is cut into parts first (views into it, nothing is copied), each part is checked against
 * the module's grammar, and the lists are multiplied out at the end: types, then the keys, the last
 * one slowest, then methods, then the keys that vary within one, then variants. A list that does
 * not concern a method (lambda, and uniform numbers) makes one problem of it, not several. Sizes
 * are bounded, so that their product can always be counted in bytes.
 */
#include "bench/problem_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/status.h"

typedef struct maker { /* the list that grows while a draft is multiplied out */
    draft *d;
    bench_problems *list;
    int first; /* the list's length before    */
    int type;  /* place of the type in use    */
} maker;

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
const char *bench_layout_name(shoal_layout layout) { return bench_layouts[layout]; }
const char *bench_math_name(shoal_math math) { return bench_maths[math]; }

const char *bench_problem_type(const bench_problem *p) {
    return p->fixed_type ? p->fixed_type : bench_type_name(p->type);
}

size_t bench_number_size(const bench_problem *p) {
    return strcmp(bench_problem_type(p) + 1, "64") == 0 ? 8 : 4;
}

static const bench_grammar *grammar_of(const char *module) {
    const bench_grammar *grammar;
    for (int i = 0; (grammar = bench_grammar_at(i)); i++)
        if (strcmp(grammar->module, module) == 0) return grammar;
    return NULL;
}

bool bench_same_data(const bench_problem *p, const bench_problem *q) {
    if (strcmp(p->module, q->module) != 0 || strcmp(p->backend, q->backend) != 0 ||
        strcmp(bench_problem_type(p), bench_problem_type(q)) != 0)
        return false;
    for (const bench_key *key = grammar_of(p->module)->keys; key->name; key++) {
        if (key->inner || key->kind == BENCH_KEY_VARIANT || key->kind == BENCH_KEY_AMOUNT) continue;
        if (!problem_same_key(key, p, q)) return false;
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
    view text = pair, key = problem_cut(&text, '=');
    if (key.size == pair.size)
        return io_fail(d->err, IO_E_FORMAT, "problem: '%s' is not of the form key=value",
                       io_quote(pair.at, pair.size, quoted));
    const int at = problem_find(keys, d->grammar, key);
    if (at < 0) return problem_unknown(d, "key", key, keys, d->grammar);
    if (d->keys[at].given) return problem_twice(d, "key", key);
    d->keys[at].given = true;
    return problem_read_key(d, at, text);
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

static int read_parts(draft *d, view text) {
    view module = problem_cut(&text, ':'), method = problem_cut(&text, ':'),
         backend = problem_cut(&text, ':'), type = problem_cut(&text, ':');
    const int which = problem_find(modules, NULL, module);
    if (which < 0) return problem_unknown(d, "module", module, modules, NULL);
    d->grammar = bench_grammar_at(which);
    int code = problem_words(d, "method", method, methods, d->grammar, &d->methods);
    if (code == IO_OK && d->methods.count == 0 && !d->grammar->has_auto)
        code = problem_unknown(d, "method", method, methods, d->grammar);
    if (code != IO_OK) return code;
    if (backend.size > 0) {
        int at = problem_find(backends, NULL, backend);
        if (at < 0) return problem_unknown(d, "backend", backend, backends, NULL);
        snprintf(d->backend, sizeof d->backend, "%s", backends(NULL, at));
    }
    code = problem_words(d, "type", type, types, d->grammar, &d->types);
    while (code == IO_OK && text.size > 0) {
        view pair = problem_cut(&text, ',');
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
        const char *digits = strchr(problem_key_text(key, p, pair), '=') + 1;
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
                types(d->grammar, problem_find(types, d->grammar, (view){ word, strlen(word) }));
            wanted = true;
        }
        int last = 0;
        for (; d->grammar->keys[last].name; last++) {
            const bench_key *key = &d->grammar->keys[last];
            if (key->inner || takes_key(d->grammar, q.method, key->name)) continue;
            wanted = wanted && d->keys[last].at == 0;
            problem_set_without(key, &q);
        }
        if (amount >= 0 && takes_key(d->grammar, q.method, d->grammar->keys[amount].name))
            q.count = q.n > 0 ? (int64_t)((double)d->keys[amount].list[0].size /
                                          d->grammar->keys[amount].each(&q))
                              : 0;
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
        problem_set_without(key, p);
        return each_key(m, k - 1, inner, p);
    }
    int code = IO_OK;
    for (int i = 0; i < d->keys[k].count && code == IO_OK; i++) {
        d->keys[k].at = i;
        problem_set_key(d, k, i, p);
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
    if (code == IO_OK) code = problem_usual_keys(d, defaults);
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
    const bench_grammar *grammar = grammar_of(p->module);
    snprintf(text, BENCH_TEXT, "%s:%s:%s:%s", p->module, p->method, p->backend,
             bench_problem_type(p));
    char mark = ':';
    for (const bench_key *key = grammar->keys; key->name; key++) {
        char pair[BENCH_PAIR];
        const size_t used = strlen(text);
        if (!takes_key(grammar, p->method, key->name) || !*problem_key_text(key, p, pair)) continue;
        snprintf(text + used, BENCH_TEXT - used, "%c%s", mark, pair);
        mark = ',';
    }
    return text;
}
