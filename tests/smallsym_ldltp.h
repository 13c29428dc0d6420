/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_ldltp.h - for test_smallsym_ldltp.c: batches of symmetric systems held as doubles, full
 * and one after another whatever their type and storage; families of them; solving one; and
 * certificates of our own, the backward error and the signs of the eigenvalues by Jacobi's method.
 */
#ifndef SHOAL_SMALLSYM_LDLTP_TEST_H
#define SHOAL_SMALLSYM_LDLTP_TEST_H

#include "targets.h"
#include <float.h>
#include <math.h>

typedef struct batch { /* A(i,j) of system k is [(k n + i) n + j]; b: [(k n + i) nrhs + c] */
    int64_t n, count, nrhs;
    shoal_type type;
    double *a, *b;
} batch;

typedef struct answer {
    shoal_status code;
    double *x;
    int32_t *status, *inertia, *rank;
    float *residual, *rcond;
    shoal_smallsym_info info;
} answer;

typedef struct how { /* zero = default */
    shoal_layout layout;
    shoal_storage storage;
    shoal_triangle triangle;
    int64_t ld; /* full: numbers more than n from row to row */
    int in_place, no_residual;
} how;

static inline double eps_of(shoal_type type) {
    return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}

static inline double *system_of(const batch *p, int64_t k) { return p->a + k * p->n * p->n; }

static inline batch new_batch(int64_t n, int64_t count, int64_t nrhs, shoal_type type) {
    batch p = { n, count, nrhs, type, NULL, NULL };
    p.a = new_array((size_t)(n * n * count), sizeof(double));
    p.b = new_array((size_t)(n * count * nrhs), sizeof(double));
    return p;
}

static inline void free_batch(batch *p) { free(p->a), free(p->b); }

/* ---- families --------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static inline double uniform(void) { /* in [-1, 1), by splitmix64; never 0 */
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 40) + 0.5) * 0x1p-23 - 1;
}

static inline void set(double *a, int64_t n, int64_t i, int64_t j, double v) {
    a[i * n + j] = a[j * n + i] = v;
}

enum { INDEFINITE, DEFINITE, KKT, ZERO_DIAGONAL, EXCHANGES, GRADED, BORDERED, FAMILIES };

static const char *const family_names[] = { "indefinite", "definite", "kkt",     "zero diagonal",
                                            "exchanges",  "graded",   "bordered" };

/* A(i,j), i >= j, of a random matrix; v is uniform. All are nonsingular but for accidents. */
static inline double family_entry(int family, int64_t n, int64_t i, int64_t j, double v,
                                  shoal_type type) {
    const int64_t free = n - n / 3; /* of a KKT matrix: unknowns that are no multipliers */
    switch (family) {
    case DEFINITE: return i == j ? (double)n + v : v;
    case KKT: /* [H Bt; B 0], H definite */
        if (j >= free) return 0;
        return i >= free ? v : i == j ? 4 + v : v / (double)n;
    case ZERO_DIAGONAL: return i == j && n > 1 ? 0 : v;
    case EXCHANGES: return i == n - 1 - j ? v : 0; /* blocks [0 v; v 0] of rows far apart */
    case GRADED: /* S A S, S from 1 down to a power of the roundoff */
        return ldexp(v, -(int)((i + j) * (type == SHOAL_F32 ? 20 : 60) / n));
    case BORDERED: /* a small diagonal, one large row: the search goes from column to column */
        return i == j ? v / 64 : i == n - 1 ? v : v / 1024;
    default: return v;
    }
}

static inline void make_system(double *a, int64_t n, int family, shoal_type type) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            set(a, n, i, j, family_entry(family, n, i, j, uniform(), type));
}

static inline void round_batch(batch *p) {
    if (p->type != SHOAL_F32) return;
    for (int64_t e = 0; e < p->n * p->n * p->count; e++) p->a[e] = (float)p->a[e];
    for (int64_t e = 0; e < p->n * p->count * p->nrhs; e++) p->b[e] = (float)p->b[e];
}

/* Neighbours are of one family, or of all of them in turn. */
static inline batch family_batch(int family, int64_t n, int64_t count, int64_t nrhs,
                                 shoal_type type) {
    batch p = new_batch(n, count, nrhs, type);
    for (int64_t k = 0; k < count; k++)
        make_system(system_of(&p, k), n, family < 0 ? (int)(k % FAMILIES) : family, type);
    for (int64_t e = 0; e < n * count * nrhs; e++) p.b[e] = uniform();
    round_batch(&p);
    return p;
}

/* ---- solving ---------------------------------------------------------------------------------- */

static inline void put(void *array, int64_t at, double v, shoal_type type) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)v;
    else
        ((double *)array)[at] = v;
}

static inline double get(const void *array, int64_t at, shoal_type type) {
    return type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* Where A(i,j) lies: written down once more, independently of the library. */
static inline int64_t place(const batch *p, const how *h, int64_t k, int64_t i, int64_t j) {
    const int64_t n = p->n, ld = n + h->ld, most = i > j ? i : j, least = i > j ? j : i;
    int64_t entry = i * ld + j, size = ld * n;
    if (h->storage == SHOAL_PACKED) {
        entry = most * (most + 1) / 2 + least;
        if (h->triangle == SHOAL_UPPER) entry = least * (2 * n - least + 1) / 2 + most - least;
        size = n * (n + 1) / 2;
    }
    return h->layout == SHOAL_INTERLEAVED ? entry * p->count + k : k * size + entry;
}

static inline int64_t rhs_place(const batch *p, const how *h, int64_t k, int64_t i, int64_t c) {
    return (h->layout == SHOAL_INTERLEAVED ? i * p->count + k : k * p->n + i) * p->nrhs + c;
}

static inline void *context_array(shoal_context *ctx, size_t bytes, const void *from) {
    void *there = NULL;
    if (shoal_alloc(ctx, bytes, &there) != SHOAL_OK ||
        (from && shoal_copy(ctx, there, from, bytes) != SHOAL_OK))
        CHECK_MSG(0, "%s", shoal_message(ctx));
    return there;
}

static inline void *fetched(shoal_context *ctx, void *there, size_t bytes) {
    void *host = new_array(bytes, 1);
    CHECK(shoal_copy(ctx, host, there, bytes) == SHOAL_OK);
    shoal_free(ctx, there);
    return host;
}

/* The triangle that is not read is NaN. */
static inline answer solve_with(shoal_context *ctx, const batch *p, how h) {
    const int64_t n = p->n, count = p->count, numbers = n * count * p->nrhs;
    const size_t size = p->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t systems = (size_t)count, a_size = (size_t)((n + h.ld) * n * count) * size;
    const size_t b_size = (size_t)numbers * size;
    void *a_host = new_array(a_size, 1), *b_host = new_array(b_size, 1);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++) {
                const int other = h.triangle == SHOAL_UPPER ? j < i : j > i;
                if (other && h.storage == SHOAL_PACKED) continue;
                put(a_host, place(p, &h, k, i, j), other ? (double)NAN : system_of(p, k)[i * n + j],
                    p->type);
            }
            for (int64_t c = 0; c < p->nrhs; c++)
                put(b_host, rhs_place(p, &h, k, i, c), p->b[(k * n + i) * p->nrhs + c], p->type);
        }
    void *a = context_array(ctx, a_size, a_host), *b = context_array(ctx, b_size, b_host);
    void *x = h.in_place ? b : context_array(ctx, b_size, NULL);
    shoal_outcome o = { .status = context_array(ctx, systems * sizeof(int32_t), NULL),
                        .rank = context_array(ctx, systems * sizeof(int32_t), NULL),
                        .inertia = context_array(ctx, 3 * systems * sizeof(int32_t), NULL),
                        .rcond = context_array(ctx, systems * sizeof(float), NULL) };
    if (!h.no_residual) o.residual = context_array(ctx, systems * sizeof(float), NULL);
    shoal_smallsym_opts opts = { .n = n,
                                 .count = count,
                                 .nrhs = p->nrhs,
                                 .type = p->type,
                                 .layout = h.layout,
                                 .storage = h.storage,
                                 .triangle = h.triangle,
                                 .ld = h.ld ? n + h.ld : 0,
                                 .method = "ldltp" };
    shoal_smallsym *plan;
    answer r = { .code = shoal_smallsym_create(ctx, &opts, &plan) };
    if (r.code == SHOAL_OK) r.code = shoal_smallsym_outcome(plan, &o);
    if (r.code == SHOAL_OK)
        r.code = p->type == SHOAL_F32 ? shoal_smallsym_solvef(plan, a, b, x)
                                      : shoal_smallsym_solve(plan, a, b, x);
    if (r.code == SHOAL_OK) r.code = shoal_smallsym_last(plan, &r.info);
    CHECK_MSG(r.code == SHOAL_OK, "%s", shoal_message(ctx));
    if (!h.in_place) shoal_free(ctx, b);
    shoal_free(ctx, a);
    void *x_host = fetched(ctx, x, b_size);
    r.x = new_array((size_t)numbers, sizeof(double));
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < p->nrhs; c++)
                r.x[(k * n + i) * p->nrhs + c] = get(x_host, rhs_place(p, &h, k, i, c), p->type);
    r.status = fetched(ctx, o.status, systems * sizeof(int32_t));
    r.rank = fetched(ctx, o.rank, systems * sizeof(int32_t));
    r.inertia = fetched(ctx, o.inertia, 3 * systems * sizeof(int32_t));
    r.rcond = fetched(ctx, o.rcond, systems * sizeof(float));
    if (o.residual) r.residual = fetched(ctx, o.residual, systems * sizeof(float));
    shoal_smallsym_free(plan);
    free(a_host), free(b_host), free(x_host);
    return r;
}

static inline void free_answer(answer *r) {
    free(r->x), free(r->status), free(r->rank), free(r->inertia), free(r->rcond), free(r->residual);
}

/* ---- certificates ----------------------------------------------------------------------------- */

/* |b - A x| / (|A| |x| + |b|) in the maximum norm. */
static inline double backward_error(const batch *p, int64_t k, int64_t c, const double *x) {
    const int64_t n = p->n, m = p->nrhs;
    const double *a = system_of(p, k), *b = p->b + k * n * m + c;
    double worst = 0, rows = 0, largest = 0, rhs = 0;
    x += k * n * m + c;
    for (int64_t i = 0; i < n; i++) {
        double r = b[i * m], sum = 0;
        for (int64_t j = 0; j < n; j++) r -= a[i * n + j] * x[j * m], sum += fabs(a[i * n + j]);
        if (!isfinite(r)) return INFINITY;
        worst = fmax(worst, fabs(r)), rows = fmax(rows, sum);
        largest = fmax(largest, fabs(x[i * m])), rhs = fmax(rhs, fabs(b[i * m]));
    }
    return worst == 0 ? 0 : worst / (rows * largest + rhs);
}

/* Eigenvalues, by cyclic Jacobi rotations until what is off the diagonal is roundoff. */
static inline void eigenvalues(const double *from, int64_t n, double *values) {
    double *a = new_array((size_t)(n * n), sizeof(double));
    memcpy(a, from, (size_t)(n * n) * sizeof(double));
    for (int sweep = 0; sweep < 12; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = 0; q < p; q++) {
                if (a[p * n + q] == 0) continue;
                const double h = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t = copysign(1, h) / (fabs(h) + hypot(h, 1));
                const double c = 1 / hypot(t, 1), s = t * c;
                for (int64_t i = 0; i < n; i++) {
                    const double v = a[i * n + p], w = a[i * n + q];
                    a[i * n + p] = c * v - s * w, a[i * n + q] = s * v + c * w;
                }
                for (int64_t i = 0; i < n; i++) {
                    const double v = a[p * n + i], w = a[q * n + i];
                    a[p * n + i] = c * v - s * w, a[q * n + i] = s * v + c * w;
                }
            }
    for (int64_t i = 0; i < n; i++) values[i] = a[i * n + i];
    free(a);
}

#endif
