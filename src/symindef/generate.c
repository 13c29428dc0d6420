/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test matrices of many kinds (generate_kinds.c), made from (kind, seed, n, place) by
 * Philox: the same numbers for any thread count or machine.
 *
 * All is made in double, in A itself; float is double, rounded, and takes n^2 doubles beside it. The
 * upper triangle is a copy of the lower one, made in squares of TILE rows that stay in the cache.
 */
#include "symindef/generate_kinds.h"
#include <shoal/symindef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 64 };

const char *shoal_symindef_kind(int i) {
    for (int k = 0; k <= i && shoal_symindef_kinds[k].name; k++)
        if (k == i) return shoal_symindef_kinds[k].name;
    return NULL;
}

const char *shoal_symindef_kind_text(int i) {
    return shoal_symindef_kind(i) ? shoal_symindef_kinds[i].text : NULL;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The square of rows r.. and columns c.. <= r, and its mirror image; to `single`, or, where that is
 * NULL, in place. */
static void mirror_tile(double *a, float *single, int64_t n, int64_t r, int64_t c) {
    for (int64_t i = r; i < least(r + TILE, n); i++)
        for (int64_t j = c; j < least(c + TILE, i + 1); j++) {
            const double value = a[i * n + j];
            if (single)
                single[i * n + j] = single[j * n + i] = (float)value;
            else
                a[j * n + i] = value;
        }
}

static void make(symindef_member *m, float *single) {
    const int64_t n = m->n;
    double *a = m->a;
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) memset(a + i * n, 0, (size_t)n * sizeof *a);
    shoal_symindef_kinds[m->kind].fill(m);
    if (m->short_of_memory) return;
#pragma omp parallel for num_threads(m->threads) schedule(static, 1)
    for (int64_t r = 0; r < n; r += TILE)
        for (int64_t c = 0; c <= r; c += TILE) mirror_tile(a, single, n, r, c);
}

/* ---- arguments -------------------------------------------------------------------------------- */

/* The `length` characters of text are one decimal number, within the bounds. */
static int read_value(const char *text, size_t length, const symindef_value *v, double *value) {
    char copy[64], *end;
    if (length == 0 || length >= sizeof copy) return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (strspn(copy, "0123456789.eE+-") != length) return 0; /* no hexadecimal, no space */
    *value = strtod(copy, &end);
    return *end == 0 && *value >= v->least && *value <= v->most &&
           (!v->whole || *value == floor(*value));
}

static shoal_status read_values(shoal_context *ctx, const char *word, symindef_member *m) {
    const symindef_kind *kind = &shoal_symindef_kinds[m->kind];
    const char *text = strchr(word, ':');
    if (text && !kind->takes)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': %s takes no value", word, kind->name);
    for (; text && kind->takes[m->given].what; m->given++) {
        const symindef_value *v = &kind->takes[m->given];
        const size_t length = strcspn(++text, ":");
        if (!read_value(text, length, v, &m->value[m->given]))
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "kind '%s': value %d, %s, must be a %snumber from %g to %g", word,
                              m->given + 1, v->what, v->whole ? "whole " : "", v->least, v->most);
        text = text[length] ? text + length : NULL;
    }
    if (text)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': %s takes no more than %d", word, kind->name,
                          m->given);
    if (m->given < kind->required)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': value %d, %s, is missing", word,
                          m->given + 1, kind->takes[m->given].what);
    return SHOAL_OK;
}

static shoal_status check(shoal_context *ctx, const char *word, const void *A, symindef_member *m) {
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK)
        status = shoal_find_kind(ctx, "symindef", shoal_symindef_kind, word, ":", &m->kind);
    if (status == SHOAL_OK) status = read_values(ctx, word, m);
    if (status != SHOAL_OK) return status;
    if (m->n < 0 || m->n > SYMINDEF_ROWS)
        return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; test matrices have 0 to %d rows",
                          (long long)m->n, SYMINDEF_ROWS);
    const symindef_kind *kind = &shoal_symindef_kinds[m->kind];
    status = kind->check ? kind->check(ctx, word, m) : SHOAL_OK;
    if (status == SHOAL_OK && !A && m->n > 0) status = shoal_fail(ctx, SHOAL_E_ARG, "A is NULL");
    return status;
}

static shoal_status no_memory(shoal_context *ctx, int64_t n) {
    return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory to make a matrix of n = %lld", (long long)n);
}

shoal_status shoal_symindef_generate(shoal_context *ctx, const char *kind, uint64_t seed, int64_t n,
                                     double *A) {
    symindef_member m = { .seed = seed, .n = n, .a = A };
    const shoal_status status = check(ctx, kind, A, &m);
    if (status != SHOAL_OK || n == 0) return status;
    m.threads = ctx->threads;
    make(&m, NULL);
    return m.short_of_memory ? no_memory(ctx, n) : SHOAL_OK;
}

shoal_status shoal_symindef_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                      int64_t n, float *A) {
    symindef_member m = { .seed = seed, .n = n, .single = 1 };
    const shoal_status status = check(ctx, kind, A, &m);
    if (status != SHOAL_OK || n == 0) return status;
    m.threads = ctx->threads;
    m.a = malloc((size_t)n * (size_t)n * sizeof *m.a);
    if (m.a) make(&m, A);
    const int failed = !m.a || m.short_of_memory;
    free(m.a);
    return failed ? no_memory(ctx, n) : SHOAL_OK;
}
