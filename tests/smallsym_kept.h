/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_kept.h - what the tests of kept factors share: a plan of ldlt with its arrays, factoring,
 * and solving from what it left.
 */
#ifndef SHOAL_SMALLSYM_KEPT_H
#define SHOAL_SMALLSYM_KEPT_H

#include "smallsym_batch.h"

static const call ldlt = { "ldlt", NULL, DEFINITE };
static const double HOLE = 7; /* in what is no part of L */

typedef struct kept { /* a plan, its arrays, what became of the systems */
    shoal_context *ctx;
    shoal_smallsym *plan;
    const batch *p;
    how h;
    char *a, *l, *b, *x;
    size_t a_bytes, b_bytes, skip;
    int32_t *status, *inertia;
    float *rcond, *residual;
    shoal_smallsym_info info;
} kept;

static inline void *outcome_array(shoal_context *ctx, size_t bytes) {
    void *there = NULL;
    CHECK(shoal_alloc(ctx, bytes, &there) == SHOAL_OK);
    return there;
}

/* h.in_place: L is A, and x is b. */
static inline kept open_kept(shoal_context *ctx, const batch *p, how h) {
    kept q = { .ctx = ctx, .p = p, .h = h, .skip = (size_t)h.offset * size_of(p->type) };
    const shoal_smallsym_opts o = opts_of(p, &ldlt, h);
    const int64_t numbers = numbers_of(p, h) * p->count;
    q.a_bytes = (size_t)numbers * size_of(p->type);
    q.b_bytes = (size_t)(p->n * p->count * p->nrhs) * size_of(p->type);
    CHECK_MSG(shoal_smallsym_create(ctx, &o, &q.plan) == SHOAL_OK, "%s", shoal_message(ctx));
    void *a = new_array(q.a_bytes, 1), *b = new_array(q.b_bytes, 1), *l = new_array(q.a_bytes, 1);
    store_batch(p, h, a, b);
    for (int64_t e = 0; e < numbers; e++) {
        set(l, p->type, e, HOLE);
        if (isnan(get(a, p->type, e)) && h.in_place) set(a, p->type, e, HOLE);
    }
    for (int64_t k = 0; k < p->count && h.in_place; k++) /* a NaN that was A's */
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t j = 0; j <= i; j++)
                set(a, p->type, place_of(p, h, k, i, j), entry(p, k, i, j));
    q.a = upload(ctx, a, q.a_bytes, q.skip), q.b = upload(ctx, b, q.b_bytes, q.skip);
    q.l = h.in_place ? q.a : upload(ctx, l, q.a_bytes, q.skip);
    q.x = h.in_place ? q.b : upload(ctx, b, q.b_bytes, q.skip);
    free(a), free(b), free(l);
    const size_t each = (size_t)p->count * 4;
    q.status = outcome_array(ctx, each), q.inertia = outcome_array(ctx, 3 * each);
    q.rcond = outcome_array(ctx, each), q.residual = outcome_array(ctx, each);
    const shoal_outcome where = {
        .status = q.status, .inertia = q.inertia, .rcond = q.rcond, .residual = q.residual
    };
    CHECK(shoal_smallsym_outcome(q.plan, &where) == SHOAL_OK);
    return q;
}

static inline void close_kept(kept *q) {
    void *const arrays[] = { q->a,
                             q->b,
                             q->status,
                             q->inertia,
                             q->rcond,
                             q->residual,
                             q->h.in_place ? NULL : q->l,
                             q->h.in_place ? NULL : q->x };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) shoal_free(q->ctx, arrays[i]);
    shoal_smallsym_free(q->plan);
}

/* What the outcome arrays hold, and the sums of it. */
static inline answer outcome_of(kept *q) {
    answer r = { 0 };
    const size_t each = (size_t)q->p->count * 4;
    CHECK(shoal_smallsym_last(q->plan, &q->info) == SHOAL_OK);
    CHECK_MSG(q->info.max_residual == -1, "%g", (double)q->info.max_residual);
    const struct {
        void **mine;
        const void *there;
        size_t bytes;
    } arrays[] = { { (void **)&r.status, q->status, each },
                   { (void **)&r.inertia, q->inertia, 3 * each },
                   { (void **)&r.rcond, q->rcond, each },
                   { (void **)&r.residual, q->residual, each } };
    for (int i = 0; i < 4; i++) {
        *arrays[i].mine = new_array(arrays[i].bytes, 1);
        CHECK(shoal_copy(q->ctx, *arrays[i].mine, arrays[i].there, arrays[i].bytes) == SHOAL_OK);
    }
    int64_t failed = 0;
    for (int64_t k = 0; k < q->p->count; k++) {
        failed += r.status[k] < 0;
        CHECK(isnan(r.residual[k]) && r.status[k] <= 0);
        CHECK(r.status[k] < 0 ? isnan(r.rcond[k]) && r.inertia[3 * k] == -1
                              : r.inertia[3 * k] + r.inertia[3 * k + 1] == q->p->n);
    }
    CHECK(q->info.failed == failed && q->info.warned == 0);
    r.info = q->info;
    return r;
}

/* Factors; x of the answer is L, full matrix after full matrix, 0 above the diagonal. */
static inline answer factor(kept *q) {
    const batch *p = q->p;
    char *A = q->a + q->skip, *L = q->l + q->skip;
    const shoal_status code =
        p->type == SHOAL_F32
            ? shoal_smallsym_factorf(q->plan, (float *)(void *)A, (float *)(void *)L)
            : shoal_smallsym_factor(q->plan, (double *)(void *)A, (double *)(void *)L);
    CHECK_MSG(code == SHOAL_OK, "%s", shoal_message(q->ctx));
    answer r = outcome_of(q);
    void *l = new_array(q->a_bytes, 1);
    CHECK(shoal_copy(q->ctx, l, L, q->a_bytes) == SHOAL_OK);
    r.x = new_array((size_t)(p->n * p->n * p->count), sizeof(double));
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t j = 0; j <= i; j++) {
                const int64_t at = place_of(p, q->h, k, i, j);
                r.x[(k * p->n + i) * p->n + j] = get(l, p->type, at);
                set(l, p->type, at, HOLE);
            }
    for (int64_t e = 0; e < numbers_of(p, q->h) * p->count; e++)
        CHECK_MSG(get(l, p->type, e) == HOLE, "n=%lld: hole %lld is written", (long long)p->n,
                  (long long)e);
    free(l);
    return r;
}

/* Solves for the right-hand sides of the batch by `factor`, a power of two. */
static inline answer resolve(kept *q, double by) {
    const batch *p = q->p;
    void *a = new_array(q->a_bytes, 1), *b = new_array(q->b_bytes, 1);
    store_batch(p, q->h, a, b);
    for (int64_t e = 0; e < p->n * p->count * p->nrhs; e++)
        set(b, p->type, e, get(b, p->type, e) * by);
    char *L = q->l + q->skip, *B = q->b + q->skip, *X = q->x + q->skip;
    CHECK(shoal_copy(q->ctx, B, b, q->b_bytes) == SHOAL_OK);
    const shoal_status code =
        p->type == SHOAL_F32 ? shoal_smallsym_resolvef(q->plan, (float *)(void *)L,
                                                       (float *)(void *)B, (float *)(void *)X)
                             : shoal_smallsym_resolve(q->plan, (double *)(void *)L,
                                                      (double *)(void *)B, (double *)(void *)X);
    CHECK_MSG(code == SHOAL_OK, "%s", shoal_message(q->ctx));
    answer r = outcome_of(q);
    CHECK(shoal_copy(q->ctx, b, X, q->b_bytes) == SHOAL_OK);
    r.x = new_array((size_t)(p->n * p->count * p->nrhs), sizeof(double));
    for (int64_t e = 0; e < p->n * p->count * p->nrhs; e++) {
        const int64_t k = e / p->nrhs / p->n, i = e / p->nrhs % p->n, c = e % p->nrhs;
        r.x[e] = get(b, p->type, rhs_place(p, q->h, k, i, c));
    }
    free(a), free(b);
    return r;
}

#endif
