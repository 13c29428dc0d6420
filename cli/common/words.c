/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - the words of the command line: methods, variants, kinds of test problem.
 */
#include "cli/gen/gen.h"

#include <string.h>

/* clang-format off */
const cli_module cli_modules[] = {
    { "tridiag",  shoal_tridiag_kind,  shoal_tridiag_kind_text,  gen_batch_check, gen_tridiag, true, true, false },
    { "band",     shoal_band_kind,     shoal_band_kind_text,     gen_batch_check, gen_band, true, false, false },
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

int cli_unknown(const char *who, const char *what, const char *word, io_names *names,
                const void *of) {
    char text[IO_MESSAGE];
    fprintf(stderr, "%s\n", io_unknown(text, who, what, word, "there are", names, of));
    return CLI_USAGE;
}

static bool contains(const char *word, io_names *names, const void *of) {
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
    return cli_check_method_of(who, "method", module, method, variant);
}

int cli_check_method_of(const char *who, const char *what, const char *module, const char *method,
                        const char *variant) {
    if (!method) method = "auto";
    if (!contains(method, cli_method_name, module))
        return cli_unknown(who, what, method, cli_method_name, module);
    if (!variant) return CLI_OK;
    const char *const pair[] = { module, method };
    if (!shoal_variants(module, method, 0)) {
        fprintf(stderr, "%s: --variant %s: method '%s' has no variants\n", who, variant, method);
        return CLI_USAGE;
    }
    if (!contains(variant, variant_name, pair)) {
        char of[64];
        snprintf(of, sizeof of, "variant of method '%s':", method);
        return cli_unknown(who, of, variant, variant_name, pair);
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
    char name[80]; /* without values; one cut short is no kind */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(kind, m->values ? ":" : ""), kind);
    return contains(name, cli_kind_name, m) ? CLI_OK
                                            : cli_unknown(who, "kind", name, cli_kind_name, m);
}
