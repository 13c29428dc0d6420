/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - the words of the command line: methods, variants, kinds of test problem; the message about a word that
 * does not exist; numbers, times and counts as people read them.
 */
#include "cli/gen/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

int cli_unknown(const char *who, const char *what, const char *word, io_names *names,
                const void *of) {
    char text[IO_MESSAGE];
    fprintf(stderr, "%s\n", io_unknown(text, who, what, word, "there are", names, of));
    return CLI_USAGE;
}

int cli_unknown_in(const char *path, int64_t line, const char *what, const char *word,
                   const char *have, io_names *names, const void *of) {
    char where[4096], text[IO_MESSAGE];
    snprintf(where, sizeof where, "%s:%lld", path, (long long)line);
    return cli_fail(CLI_INPUT, "%s", io_unknown(text, where, what, word, have, names, of));
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
    if (!method) method = "auto";
    if (!contains(method, cli_method_name, module))
        return cli_unknown(who, "method", method, cli_method_name, module);
    if (!variant) return CLI_OK;
    const char *const pair[] = { module, method };
    if (!shoal_variants(module, method, 0)) {
        fprintf(stderr, "%s: --variant %s: method '%s' has no variants\n", who, variant, method);
        return CLI_USAGE;
    }
    if (!contains(variant, variant_name, pair)) {
        char what[64];
        snprintf(what, sizeof what, "variant of method '%s':", method);
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
    char name[80]; /* without values; one cut short is no kind */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(kind, m->values ? ":" : ""), kind);
    return contains(name, cli_kind_name, m) ? CLI_OK
                                            : cli_unknown(who, "kind", name, cli_kind_name, m);
}

/* ---- as people read them ---------------------------------------------------------------------- */

/* The place of the first digit that counts: that of the second digit of the error. */
static int last_place(double error) { return (int)floor(log10(error) + 1e-9) - 1; }

char *cli_rounded(char text[32], double value, double error) {
    if (!(error > 0) || !isfinite(error) || !isfinite(value)) {
        snprintf(text, 32, "%.10g", value);
        return text;
    }
    const int place = last_place(error);
    const double unit = pow(10, place), size = fabs(value);
    if (place > 0) /* 12340 +- 120 */
        snprintf(text, 32, "%.0f", round(value / unit) * unit);
    else if (size >= 1e-4 || size < error)
        snprintf(text, 32, "%.*f", place < -12 ? 12 : -place, value);
    else
        snprintf(text, 32, "%.*e", (int)floor(log10(size)) - place, value);
    return text;
}

char *cli_measured(char text[CLI_NUMBER], double value, double error) {
    char both[2][32];
    snprintf(text, CLI_NUMBER, error > 0 ? "%s +- %s" : "%s", cli_rounded(both[0], value, error),
             cli_rounded(both[1], error, error));
    return text;
}

char *cli_time(char text[CLI_NUMBER], double s) {
    const double minute = 60, hour = 60 * minute, day = 24 * hour, year = 365.25 * day;
    if (!(s < 1e9 * year))
        snprintf(text, CLI_NUMBER, "more than a billion years");
    else if (s >= 1e6 * year)
        snprintf(text, CLI_NUMBER, "%.0f million years", s / (1e6 * year));
    else if (s >= 2 * year)
        snprintf(text, CLI_NUMBER, "%.0f years", s / year);
    else if (s >= 10 * day)
        snprintf(text, CLI_NUMBER, "%.0f days", s / day);
    else if (s >= 2 * day)
        snprintf(text, CLI_NUMBER, "%.0f days %.0f h", floor(s / day), fmod(s, day) / hour);
    else if (s >= hour)
        snprintf(text, CLI_NUMBER, "%.0f h %.0f min", floor(s / hour),
                 floor(fmod(s, hour) / minute));
    else if (s >= 2 * minute)
        snprintf(text, CLI_NUMBER, s < 10 * minute ? "%.0f min %.0f s" : "%.0f min",
                 floor(s / minute), floor(fmod(s, minute)));
    else
        snprintf(text, CLI_NUMBER, "%.3g %s",
                 s >= 1      ? s
                 : s >= 1e-3 ? 1e3 * s
                             : 1e6 * s,
                 s >= 1      ? "s"
                 : s >= 1e-3 ? "ms"
                             : "us");
    return text;
}

char *cli_years(char text[CLI_NUMBER], double years) {
    const double months = round(12 * years), days = round(365 * years);
    const bool whole = years >= 1.5 && fabs(12 * years - months) > 1e-3;
    if (fabs(years - round(years)) < 1e-3 * years || whole || fabs(years) > 3 || !(years > 0))
        snprintf(text, CLI_NUMBER, "%.3g year%s", years, fabs(years - 1) < 5e-4 ? "" : "s");
    else if (fabs(12 * years - months) < 1e-2 && months > 0)
        snprintf(text, CLI_NUMBER, "%.0f month%s", months, months == 1 ? "" : "s");
    else
        snprintf(text, CLI_NUMBER, "%.*f day%s", days < 10 && fabs(365 * years - days) > 0.05,
                 365 * years, days == 1 ? "" : "s");
    return text;
}

char *cli_count(char text[CLI_NUMBER], int64_t n, const char *noun) {
    const size_t length = strlen(noun);
    const bool x = length && noun[length - 1] == 'x'; /* matrix */
    if (n == 1 || n == -1)
        snprintf(text, CLI_NUMBER, "%lld %s", (long long)n, noun);
    else
        snprintf(text, CLI_NUMBER, "%lld %.*s%s", (long long)n, (int)length - 2 * x, noun,
                 x ? "ices" : "s");
    return text;
}
