/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - the words of the command line: methods, variants, kinds of test problem, and what to
 * say about a word that does not exist.
 */
#include "cli/gen/gen.h"

#include <string.h>

#include "io/status.h"

/* clang-format off */
const cli_module cli_modules[] = {
    { "tridiag",  shoal_tridiag_kind,  shoal_tridiag_kind_text,  gen_batch_check, gen_tridiag, true, true, false },
    { "smallsym", shoal_smallsym_kind, shoal_smallsym_kind_text, gen_batch_check, gen_smallsym, true, false, false },
    { "symindef", gen_symindef_kind,   gen_symindef_kind_text,   gen_symindef_check, gen_symindef, true, true, true },
    { "recur",    shoal_recur_kind,    shoal_recur_kind_text,    gen_batch_check, gen_recur, true, false, false },
    { "rng",      gen_rng_kind,        gen_rng_kind_text,        gen_rng_check, gen_rng, false, false, false },
    { .name = NULL }
};
/* clang-format on */

const char *cli_module_name(const void *of, int i) {
    (void)of;
    return cli_modules[i].name;
}

const cli_module *cli_module_find(const char *name) {
    for (const cli_module *m = cli_modules; m->name; m++)
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}

enum { LONGEST = 40 };

static int smaller(int a, int b) { return a < b ? a : b; }

/* Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other
 * (optimal string alignment); words longer than LONGEST are far from everything. */
static int distance(const char *a, const char *b) {
    int rows[3][LONGEST + 1], na = (int)strlen(a), nb = (int)strlen(b);
    if (na > LONGEST || nb > LONGEST) return LONGEST;
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= nb; j++) last[j] = j;
    for (int i = 1; i <= na; i++) {
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            now[j] =
                smaller(last[j - 1] + (a[i - 1] != b[j - 1]), smaller(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

/* The word that was probably meant, or NULL. A beginning counts as near. */
static const char *nearest(const char *word, cli_names *names, const void *of) {
    const char *best = NULL, *name;
    int best_distance = (int)strlen(word) / 3 + 2;
    for (int i = 0; (name = names(of, i)); i++) {
        bool begins = word[0] && strncmp(name, word, strlen(word)) == 0;
        int d = begins ? 1 : distance(word, name);
        if (d < best_distance && d < (int)strlen(name)) {
            best = name;
            best_distance = d;
        }
    }
    return best;
}

int cli_unknown(const char *who, const char *what, const char *word, cli_names *names,
                const void *of) {
    char shown[IO_QUOTE_SIZE];
    fprintf(stderr, "%s: there is no %s '%s'.", who, what, io_quote(word, strlen(word), shown));
    const char *meant = nearest(word, names, of), *name;
    if (meant) fprintf(stderr, " Did you mean '%s'?", meant);
    for (int i = 0; (name = names(of, i)); i++)
        fprintf(stderr, "%s%s", i > 0 ? ", " : names(of, 1) ? " There are: " : " There is: ", name);
    fputs(".\n", stderr);
    return CLI_USAGE;
}

static bool contains(const char *word, cli_names *names, const void *of) {
    const char *name;
    for (int i = 0; (name = names(of, i)); i++)
        if (strcmp(name, word) == 0) return true;
    return false;
}

const char *cli_method_name(const void *of, int i) {
    const char *first = shoal_methods(of, 0);
    bool listed = first && strcmp(first, "auto") == 0;
    if (listed) return shoal_methods(of, i);
    return i == 0 ? "auto" : shoal_methods(of, i - 1);
}

static const char *variant_name(const void *of, int i) {
    const char *const *pair = of;
    return shoal_variants(pair[0], pair[1], i);
}

int cli_check_method(const char *who, const char *module, const char *method, const char *variant) {
    if (!method) method = "auto";
    if (!contains(method, cli_method_name, module))
        return cli_unknown(who, "method", method, cli_method_name, module);
    if (!variant) return CLI_OK;
    const char *const pair[] = { module, method };
    if (!shoal_variants(module, method, 0)) {
        fprintf(stderr, "%s: method '%s' has no variants, so --variant %s means nothing.\n", who,
                method, variant);
        return CLI_USAGE;
    }
    if (!contains(variant, variant_name, pair)) {
        char what[64];
        snprintf(what, sizeof what, "variant of method '%s' called", method);
        return cli_unknown(who, what, variant, variant_name, pair);
    }
    return CLI_OK;
}

const char *cli_method_with(const char *module, unsigned flags) {
    const char *name;
    for (int i = 0; (name = shoal_methods(module, i)); i++)
        if ((shoal_method_flags(module, name, NULL) & flags) == flags) break;
    return name;
}

const char *cli_kind_name(const void *of, int i) { return ((const cli_module *)of)->kind(i); }

int cli_check_kind(const char *who, const char *module, const char *kind) {
    const cli_module *m = cli_module_find(module);
    if (!m) return cli_unknown(who, "module", module, cli_module_name, NULL);
    char name[2 * LONGEST]; /* without values; one cut short is no kind */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(kind, m->values ? ":" : ""), kind);
    return contains(name, cli_kind_name, m) ? CLI_OK
                                            : cli_unknown(who, "kind", name, cli_kind_name, m);
}
