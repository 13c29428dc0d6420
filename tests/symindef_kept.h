/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_kept.h - a factorization whose plan and arrays stay, for tests of what is made of it; and
 * inverses in long double to judge that by.
 */
#ifndef SHOAL_SYMINDEF_KEPT_H
#define SHOAL_SYMINDEF_KEPT_H

#include "symindef_matrix.h"

typedef struct kept { /* a factorization with its plan and its arrays in the context's memory */
    const target *t;
    factored f;
    shoal_symindef *plan;
    void *factors, *given;
    size_t item;
} kept;

static inline const char *method_at(int row) { return shoal_methods("symindef", row); }

static inline void *to_context(const target *t, const void *from, size_t bytes) {
    void *memory = NULL;
    CHECK(shoal_alloc(t->ctx, bytes, &memory) == SHOAL_OK);
    CHECK(shoal_copy(t->ctx, memory, from, bytes) == SHOAL_OK);
    return memory;
}

/* Of the matrix `a` (n x n, host). */
static inline kept keep_matrix(const target *t, const double *a, shoal_symindef_opts o) {
    kept k = { .t = t, .item = o.type == SHOAL_F32 ? 4 : 8 };
    const size_t numbers = stored_numbers(&o);
    void *stored = new_array(numbers, k.item);
    k.f = factor_on(t, &o, a, &k.plan, &k.factors);
    for (int64_t i = 0; i < o.n; i++)
        for (int64_t j = 0; j <= i; j++)
            store_number(stored, o.type, stored_place(&o, i, j), a[i * o.n + j]);
    k.given = to_context(t, stored, numbers * k.item);
    free(stored);
    return k;
}

static inline kept keep(const target *t, const char *kind, shoal_symindef_opts o) {
    double *a = matrix_of(kind, o.n);
    kept k = keep_matrix(t, a, o);
    free(a);
    return k;
}

static inline void let_go(kept *k) {
    shoal_symindef_free(k->plan);
    shoal_free(k->t->ctx, k->factors);
    shoal_free(k->t->ctx, k->given);
    forget(&k->f);
}

/* The inverse by Gauss and Jordan with row exchanges, in long double. */
static inline long double *exact_inverse(const double *a, int64_t n) {
    long double *m = new_array((size_t)(2 * n * n), sizeof *m);
    const int64_t w = 2 * n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) m[i * w + j] = a[i * n + j];
        m[i * w + n + i] = 1;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t p = k;
        for (int64_t i = k; i < n; i++)
            if (fabsl(m[i * w + k]) > fabsl(m[p * w + k])) p = i;
        for (int64_t j = 0; j < w; j++) {
            const long double swap = m[k * w + j];
            m[k * w + j] = m[p * w + j], m[p * w + j] = swap;
        }
        const long double pivot = m[k * w + k];
        for (int64_t j = 0; j < w; j++) m[k * w + j] /= pivot;
        for (int64_t i = 0; i < n; i++) {
            const long double factor = m[i * w + k];
            for (int64_t j = k; i != k && j < w; j++) m[i * w + j] -= factor * m[k * w + j];
        }
    }
    return m;
}

static inline double norm_of(const double *a, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(a[i * n + j]);
        raise_to(&most, sum);
    }
    return most;
}

static inline double inverse_norm(const long double *m, int64_t n) {
    long double most = 0;
    for (int64_t i = 0; i < n; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabsl(m[i * 2 * n + n + j]);
        if (sum > most) most = sum;
    }
    return (double)most;
}

static inline shoal_symindef_opts shape_of(int64_t n, const char *method, int shape, int type) {
    return (shoal_symindef_opts){ .n = n,
                                  .method = method,
                                  .type = (shoal_type)type,
                                  .storage = (shoal_storage)(shape / 2),
                                  .triangle = (shoal_triangle)(shape % 2) };
}

#endif
