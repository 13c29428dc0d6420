/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_matrix.h - a symmetric matrix in any storage, factored on one target and brought back:
 * what the tests of symindef share. Matrices are double here; a float plan sees them rounded, and
 * is judged against what it saw.
 */
#ifndef SHOAL_SYMINDEF_MATRIX_H
#define SHOAL_SYMINDEF_MATRIX_H

#include "symindef_product.h"

typedef struct factored {
    int64_t n;
    shoal_symindef_opts opts;
    shoal_symindef_info info;
    double *a;     /* n x n, what was factored                     */
    double *m;     /* n x n: M, unit lower triangular              */
    double *d, *e; /* D: its diagonal, and what is below it        */
    int32_t *interchanges, *permutation;
    double *growth;
    int stray; /* places outside the triangle that have changed */
} factored;

static inline size_t stored_numbers(const shoal_symindef_opts *o) {
    const size_t n = (size_t)o->n, ld = o->ld ? (size_t)o->ld : n;
    return o->storage == SHOAL_PACKED ? n * (n + 1) / 2 : n * ld;
}

static inline size_t stored_place(const shoal_symindef_opts *o, int64_t i, int64_t j) {
    const int64_t n = o->n, ld = o->ld ? o->ld : n; /* i >= j */
    if (o->storage == SHOAL_FULL)
        return (size_t)(o->triangle == SHOAL_UPPER ? j * ld + i : i * ld + j);
    return (size_t)(o->triangle == SHOAL_UPPER ? j * (2 * n - 1 - j) / 2 + i : i * (i + 1) / 2 + j);
}

static inline double rounded_to(shoal_type type, double value) {
    return type == SHOAL_F32 ? (double)(float)value : value;
}

static inline double unit_of(shoal_type type) {
    return type == SHOAL_F32 ? 1.1920928955078125e-7 : 2.220446049250313e-16;
}

static const double untouched = -7.25; /* stands where nothing may be read or written */

static inline double stored_number(const void *array, shoal_type type, size_t at) {
    return type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static inline void store_number(void *array, shoal_type type, size_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* M and D out of the triangle, by the interchanges. */
static inline void take_factors(factored *f, const void *stored) {
    const int64_t n = f->n;
    const shoal_symindef_opts *o = &f->opts;
    const size_t numbers = stored_numbers(o);
    char *used = new_array(numbers, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const size_t at = stored_place(o, i, j);
            const double value = stored_number(stored, o->type, at);
            const int block = i == j + 1 && f->interchanges[i] < 0;
            used[at] = 1;
            if (i == j)
                f->d[i] = value;
            else if (block)
                f->e[j] = value;
            f->m[i * n + j] = i == j ? 1 : block ? 0 : value;
        }
    for (size_t at = 0; at < numbers; at++)
        f->stray += !used[at] && stored_number(stored, o->type, at) != untouched;
    free(used);
}

static int without_growth; /* 1: partial and rook go by panels, not by single stages */

/* Factors the matrix `a` (n x n, host) on a target, with the growth of each stage unless
 * without_growth is set; plan and device array are the caller's if he
 * asks for them. */
static inline factored factor_on(const target *t, const shoal_symindef_opts *opts, const double *a,
                                 shoal_symindef **kept_plan, void **kept_array) {
    const int64_t n = opts->n;
    const size_t numbers = stored_numbers(opts), size = opts->type == SHOAL_F32 ? 4 : 8;
    factored f = { .n = n, .opts = *opts };
    void *stored = new_array(numbers, size), *array = NULL;
    shoal_symindef *plan = NULL;
    f.opts.growth = !without_growth;
    f.a = new_array((size_t)(n * n), sizeof(double)),
    f.m = new_array((size_t)(n * n), sizeof(double));
    f.d = new_array((size_t)n, sizeof(double)), f.e = new_array((size_t)n, sizeof(double));
    f.growth = new_array((size_t)n, sizeof(double));
    f.interchanges = new_array((size_t)n, 4), f.permutation = new_array((size_t)n, 4);
    for (size_t at = 0; at < numbers; at++) store_number(stored, opts->type, at, untouched);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            f.a[i * n + j] = rounded_to(opts->type, a[(i < j ? j : i) * n + (i < j ? i : j)]);
            if (j <= i) store_number(stored, opts->type, stored_place(opts, i, j), a[i * n + j]);
        }
    CHECK(shoal_alloc(t->ctx, numbers * size, &array) == SHOAL_OK);
    CHECK(shoal_copy(t->ctx, array, stored, numbers * size) == SHOAL_OK);
    shoal_status status = shoal_symindef_create(t->ctx, &f.opts, &plan);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(t->ctx));
    if (status == SHOAL_OK)
        status = opts->type == SHOAL_F32 ? shoal_symindef_factorf(plan, array)
                                         : shoal_symindef_factor(plan, array);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(t->ctx));
    if (status == SHOAL_OK) {
        CHECK(shoal_symindef_last(plan, &f.info) == SHOAL_OK);
        CHECK(shoal_symindef_order(plan, f.interchanges, f.permutation,
                                   without_growth ? NULL : f.growth) == SHOAL_OK);
        CHECK(shoal_copy(t->ctx, stored, array, numbers * size) == SHOAL_OK);
        take_factors(&f, stored);
    }
    free(stored);
    if (kept_plan) {
        *kept_plan = plan, *kept_array = array;
    } else {
        shoal_symindef_free(plan);
        shoal_free(t->ctx, array);
    }
    return f;
}

static inline void forget(factored *f) {
    free(f->a), free(f->m), free(f->d), free(f->e), free(f->growth);
    free(f->interchanges), free(f->permutation);
}

/* Row i, column j of M D Mt, in long double. */
__attribute__((noinline, unused)) static long double product_at(const factored *f, int64_t i,
                                                                int64_t j) {
    const int64_t n = f->n, end = i < j ? i : j;
    const double *mi = f->m + i * n, *mj = f->m + j * n;
    long double sum = 0;
    for (int64_t k = 0; k <= end; k++) sum += (long double)mi[k] * f->d[k] * mj[k];
    for (int64_t k = 0; k < n - 1 && k <= end; k++)
        if (f->e[k] != 0)
            sum += (long double)f->e[k] *
                   ((long double)mi[k] * mj[k + 1] + (long double)mi[k + 1] * mj[k]);
    return sum;
}

/* |P A Pt - M D Mt|, infinity norm, by one product; M D is rounded. */
static inline double error_by_product(const factored *f) {
    const int64_t n = f->n;
    double *given = new_array((size_t)(n * n), sizeof *given);
    double *md = new_array((size_t)(n * n), sizeof *md);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double *m = f->m + i * n;
            given[i * n + j] = f->a[(int64_t)f->permutation[i] * n + f->permutation[j]];
            md[i * n + j] = m[j] * f->d[j];
            if (f->e[j] != 0) md[i * n + j] += m[j + 1] * f->e[j];
            if (j > 0 && f->e[j - 1] != 0) md[i * n + j] += m[j - 1] * f->e[j - 1];
        }
    const product_check c = { .n = n, .p = md, .q = f->m, .expected = given, .lower = 1 };
    const double worst = largest_row(&c);
    free(given), free(md);
    return worst;
}

/* |P A Pt - M D Mt| / |A|, infinity norms: of a small matrix in long double, all of it. */
static inline double relative_error(const factored *f) {
    const int64_t n = f->n;
    const int exact = is_exact(n, f->opts.type);
    double worst = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        long double error = 0, sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(f->a[i * n + j]);
        for (int64_t j = 0; j < n && exact; j++)
            error += fabsl(f->a[(int64_t)f->permutation[i] * n + f->permutation[j]] -
                           product_at(f, i, j));
        raise_to(&worst, (double)error);
        raise_to(&norm, (double)sum);
    }
    if (!exact) worst = error_by_product(f);
    return norm > 0 ? worst / norm : worst;
}

/* ---- matrices ---- */

static inline uint64_t mixed(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static inline double uniform_at(uint64_t seed, int64_t i, int64_t j) { /* in (-1, 1), symmetric */
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    return (double)(mixed(mixed(seed) ^ (uint64_t)(low * 1000003 + high)) >> 11) * 0x1p-52 - 1;
}

static inline double entry_of(const char *kind, int64_t n, int64_t i, int64_t j) {
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    if (strcmp(kind, "hadamard") == 0) return __builtin_popcountll((uint64_t)(i & j)) % 2 ? -1 : 1;
    if (strcmp(kind, "clement") == 0)
        return high == low + 1 ? sqrt((double)high * (double)(n - high)) : 0;
    if (strcmp(kind, "hilbert") == 0) return 1.0 / (double)(i + j + 1);
    if (strcmp(kind, "zeros") == 0) return 0;
    if (strcmp(kind, "ones") == 0) return 1;
    if (strcmp(kind, "integers") == 0) return floor(2.5 * uniform_at(3, i, j)); /* many ties */
    if (strcmp(kind, "hollow") == 0) return i == j ? 0 : uniform_at(2, i, j);
    if (strcmp(kind, "kkt") == 0) {
        const int64_t body = (2 * n + 2) / 3;
        if (low >= body) return 0;
        return uniform_at(4, i, j) + (i == j ? (double)n : 0);
    }
    if (strcmp(kind, "lowrank") == 0) { /* rank 5 at most, exact in integers */
        double sum = 0;
        for (int64_t k = 0; k < 5; k++)
            sum += (k % 2 ? -1 : 1) * floor(4 * uniform_at(5, i + 1000, -k - 1)) *
                   floor(4 * uniform_at(5, j + 1000, -k - 1));
        return sum;
    }
    if (strcmp(kind, "huge") == 0) return uniform_at(6, i, j) * 0x1p1000;
    if (strcmp(kind, "tiny") == 0) return uniform_at(7, i, j) * 0x1p-1015;
    return uniform_at(1, i, j); /* random */
}

static inline double *matrix_of(const char *kind, int64_t n) {
    double *a = new_array((size_t)(n * n), sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] = entry_of(kind, n, i, j);
    return a;
}

#endif
