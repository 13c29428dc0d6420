/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_batch.h - what the tests of smallsym share: batches of systems held as doubles, one full
 * matrix after another, whatever their type and storage; solving one; and an own certificate.
 */
#ifndef SHOAL_SMALLSYM_BATCH_H
#define SHOAL_SMALLSYM_BATCH_H

#include "sanitizer.h"
#include "targets.h"
#include <float.h>
#include <math.h>

enum { CALLS = 32, AUTOS = 2 }; /* room for calls; the first of them are auto's */

/* What a method is good for. It has to solve what is in its trait; whatever else it calls ok must
 * be right as well. */
enum { DEFINITE = 1, INDEFINITE = 2, DEFICIENT = 4 };

/* A method and variant; method NULL past the last one. */
typedef struct call {
    const char *method, *variant;
    int trait;
} call;

static call calls[CALLS];

typedef struct batch { /* A(i,j), i >= j, of system k: a[(k * n + i) * n + j]; above it NaN */
    int64_t n, count, nrhs;
    shoal_type type;
    double *a, *b; /* right-hand side c of row i: b[(k * n + i) * nrhs + c] */
} batch;

typedef struct answer {
    shoal_status code; /* SHOAL_E_METHOD: not on this backend */
    double *x;
    int32_t *status, *method, *rank, *inertia;
    float *residual, *rcond;
    shoal_smallsym_info info;
} answer;

static inline double eps_of(shoal_type type) {
    return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}

static inline size_t size_of(shoal_type type) {
    return type == SHOAL_F32 ? sizeof(float) : sizeof(double);
}

static inline int same(double v, double w) { return v == w || (isnan(v) && isnan(w)); }

static inline int same_all(const double *v, const double *w, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!same(v[i], w[i])) return 0;
    return 1;
}

/* hhpcr, eigdc and auto warn of ill-conditioned systems: the one does not pivot, the others
 * truncate. */
static inline int may_warn(const call *c) {
    return strcmp(c->method, "hhpcr") == 0 || strcmp(c->method, "eigdc") == 0 ||
           strcmp(c->method, "auto") == 0;
}

/* Refinement and the estimate of the condition: every method on the CPU, some elsewhere. */
static inline int careful_here(const target *t, const call *c) {
    return on_cpu(t) ||
           (shoal_method_flags("smallsym", c->method, c->variant) & SHOAL_CAN_REFINE) != 0;
}

/* hhpcr does not pivot, so that of indefinite systems it may refuse some. */
static inline int trait_of(const char *method) {
    const unsigned flags = shoal_method_flags("smallsym", method, NULL);
    return DEFINITE | (flags & SHOAL_CAN_PIVOT ? INDEFINITE : 0) |
           (flags & SHOAL_CAN_TRUNCATE ? DEFICIENT : 0);
}

/* open_targets(), and the list of methods. */
static inline int open_targets_and_calls(int *argc, char **argv) {
    int k = 0;
    calls[k++] = (call){ "auto", NULL, trait_of("auto") };
    calls[k++] = (call){ "auto", "hhpcr", trait_of("auto") };
    for (int i = 0; shoal_methods("smallsym", i); i++) {
        const char *method = shoal_methods("smallsym", i);
        const int trait = trait_of(method);
        if (!shoal_variants("smallsym", method, 0)) calls[k++] = (call){ method, NULL, trait };
        for (int v = 0; shoal_variants("smallsym", method, v); v++)
            calls[k++] = (call){ method, shoal_variants("smallsym", method, v), trait };
    }
    return open_targets(argc, argv);
}

static inline const char *name_of(const target *t, const call *c) {
    static char name[128];
    snprintf(name, sizeof name, "%s(%s):%s:%s", t->backend, t->isa ? t->isa : "", c->method,
             c->variant ? c->variant : "");
    return name;
}

/* ---- batches ---------------------------------------------------------------------------------- */

static inline batch new_batch(int64_t n, int64_t count, int64_t nrhs, shoal_type type) {
    batch p = { n, count, nrhs, type, NULL, NULL };
    p.a = new_array((size_t)(n * n * count), sizeof(double));
    p.b = new_array((size_t)(n * count * nrhs), sizeof(double));
    return p;
}

static inline void free_batch(batch *p) {
    free(p->a), free(p->b);
    *p = (batch){ 0 };
}

/* Rounds to float where the batch is one of floats, so that both hold the same numbers. */
static inline void round_batch(batch *p) {
    for (int64_t i = 0; i < p->n * p->n * p->count && p->type == SHOAL_F32; i++)
        p->a[i] = (float)p->a[i];
    for (int64_t i = 0; i < p->n * p->count * p->nrhs && p->type == SHOAL_F32; i++)
        p->b[i] = (float)p->b[i];
}

static inline batch generate(const char *kind, int64_t n, int64_t count, int64_t nrhs,
                             shoal_type type) {
    batch p = new_batch(n, count, nrhs, type);
    shoal_smallsym_opts shape = { .n = n, .count = count, .nrhs = nrhs };
    shoal_status status =
        shoal_smallsym_generate(targets[0].ctx, kind, NAN, 7, 0, &shape, p.a, p.b);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(targets[0].ctx));
    round_batch(&p);
    return p;
}

static inline double entry(const batch *p, int64_t k, int64_t i, int64_t j) {
    return p->a[(k * p->n + (i > j ? i : j)) * p->n + (i > j ? j : i)];
}

/* System k of `from` becomes system at of `to`. */
static inline void copy_system(batch *to, int64_t at, const batch *from, int64_t k) {
    const int64_t n = from->n, m = n * from->nrhs;
    memcpy(to->a + at * n * n, from->a + k * n * n, (size_t)(n * n) * sizeof(double));
    memcpy(to->b + at * m, from->b + k * m, (size_t)m * sizeof(double));
}

/* One right-hand side of a batch. */
static inline batch column(const batch *p, int64_t c) {
    batch q = new_batch(p->n, p->count, 1, p->type);
    memcpy(q.a, p->a, (size_t)(p->n * p->n * p->count) * sizeof(double));
    for (int64_t i = 0; i < p->n * p->count; i++) q.b[i] = p->b[i * p->nrhs + c];
    return q;
}

/* ---- storages --------------------------------------------------------------------------------- */

typedef struct how { /* zero = default */
    shoal_layout layout;
    shoal_storage storage;
    shoal_triangle triangle;
    int wider, apart; /* ld exceeds n, the stride exceeds ld n by so much */
    int in_place, no_residual, no_rcond;
    int offset; /* of all arrays from where the memory begins, in numbers */
    int refine, team, estimate;
    double tol;
    shoal_smallsym_rule rule;
} how;

static inline shoal_smallsym_opts opts_of(const batch *p, const call *c, how h) {
    shoal_smallsym_opts o = { .n = p->n,
                              .count = p->count,
                              .nrhs = p->nrhs,
                              .type = p->type,
                              .layout = h.layout,
                              .storage = h.storage,
                              .triangle = h.triangle,
                              .refine = h.refine,
                              .team = h.team,
                              .estimate = h.estimate,
                              .tol = h.tol,
                              .rule = h.rule };
    if (c) o.method = c->method, o.variant = c->variant;
    if (h.wider && p->n) o.ld = p->n + h.wider;
    if (h.apart && p->n) o.stride = (p->n + h.wider) * p->n + h.apart;
    return o;
}

static inline int64_t numbers_of(const batch *p, how h) { /* of one system of A */
    return h.storage == SHOAL_PACKED ? p->n * (p->n + 1) / 2 : (p->n + h.wider) * p->n + h.apart;
}

/* Where A(i,j), i >= j, of system k is. */
static inline int64_t place_of(const batch *p, how h, int64_t k, int64_t i, int64_t j) {
    const int upper = h.triangle == SHOAL_UPPER;
    const int64_t row = upper ? j : i, last = upper ? i : j;
    int64_t e = row * (p->n + h.wider) + last;
    if (h.storage == SHOAL_PACKED) { /* the rows before, then the entries before */
        e = upper ? last - row : last;
        for (int64_t r = 0; r < row; r++) e += upper ? p->n - r : r + 1;
    }
    return h.layout == SHOAL_INTERLEAVED ? e * p->count + k : k * numbers_of(p, h) + e;
}

static inline void set(void *typed, shoal_type type, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)typed)[at] = (float)value;
    else
        ((double *)typed)[at] = value;
}

static inline double get(const void *typed, shoal_type type, int64_t at) {
    return type == SHOAL_F32 ? (double)((const float *)typed)[at] : ((const double *)typed)[at];
}

static inline int64_t rhs_place(const batch *p, how h, int64_t k, int64_t i, int64_t c) {
    return (h.layout == SHOAL_INTERLEAVED ? i * p->count + k : k * p->n + i) * p->nrhs + c;
}

/* Host arrays of the batch's type in that storage; what is not to be read is NaN. */
static inline void store_batch(const batch *p, how h, void *a, void *b) {
    for (int64_t e = 0; e < numbers_of(p, h) * p->count; e++) set(a, p->type, e, NAN);
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->n; i++) {
            for (int64_t j = 0; j <= i; j++)
                set(a, p->type, place_of(p, h, k, i, j), entry(p, k, i, j));
            for (int64_t c = 0; c < p->nrhs; c++)
                set(b, p->type, rhs_place(p, h, k, i, c), p->b[(k * p->n + i) * p->nrhs + c]);
        }
}

/* A block of the context's memory that begins with `skip` bytes of nothing. */
static inline void *upload(shoal_context *ctx, const void *host, size_t bytes, size_t skip) {
    char *there = NULL;
    if (shoal_alloc(ctx, bytes + skip, (void **)&there) != SHOAL_OK ||
        shoal_copy(ctx, there + skip, host, bytes) != SHOAL_OK)
        CHECK_MSG(0, "%s", shoal_message(ctx));
    return there;
}

/* ---- solving ---------------------------------------------------------------------------------- */

static inline shoal_status solve_typed(shoal_smallsym *plan, shoal_type type, void *a, void *b,
                                       void *x) {
    return type == SHOAL_F32 ? shoal_smallsym_solvef(plan, a, b, x)
                             : shoal_smallsym_solve(plan, a, b, x);
}

enum { OUTCOMES = 6 };

/* Solves what `host_a` and `host_b` hold by a plan of `o`; x comes back in host_b. */
static inline answer solve_arrays(shoal_context *ctx, const shoal_smallsym_opts *o, int64_t systems,
                                  const void *host_a, size_t a_bytes, void *host_b, size_t b_bytes,
                                  how h) {
    answer r = { 0 };
    shoal_smallsym *plan = NULL;
    r.code = shoal_smallsym_create(ctx, o, &plan);
    if (r.code != SHOAL_OK) {
        CHECK_MSG(r.code == SHOAL_E_METHOD && o->variant, "%s", shoal_message(ctx));
        return r;
    }
    const size_t skip = (size_t)h.offset * size_of(o->type), each = (size_t)systems * 4;
    char *a = upload(ctx, host_a, a_bytes, skip), *b = upload(ctx, host_b, b_bytes, skip);
    char *x = h.in_place ? b : upload(ctx, host_b, b_bytes, skip);
    const size_t bytes[OUTCOMES] = { each, each, each, 3 * each, each, each };
    void *there[OUTCOMES],
        **mine[OUTCOMES] = { (void **)&r.status,  (void **)&r.method, (void **)&r.rank,
                             (void **)&r.inertia, (void **)&r.rcond,  (void **)&r.residual };
    for (int i = 0; i < OUTCOMES; i++) {
        CHECK(shoal_alloc(ctx, bytes[i], &there[i]) == SHOAL_OK);
        *mine[i] = new_array(bytes[i], 1);
    }
    const shoal_outcome where = { .status = there[0],
                                  .method = there[1],
                                  .rank = there[2],
                                  .inertia = there[3],
                                  .rcond = h.no_rcond ? NULL : there[4],
                                  .residual = h.no_residual ? NULL : there[5] };
    CHECK(shoal_smallsym_outcome(plan, &where) == SHOAL_OK);
    r.code = solve_typed(plan, o->type, a + skip, b + skip, x + skip);
    if (r.code == SHOAL_OK) r.code = shoal_smallsym_last(plan, &r.info);
    CHECK_MSG(r.code == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(shoal_copy(ctx, host_b, x + skip, b_bytes) == SHOAL_OK);
    for (int i = 0; i < OUTCOMES - h.no_residual; i++)
        CHECK(shoal_copy(ctx, *mine[i], there[i], bytes[i]) == SHOAL_OK);
    for (int i = 0; i < OUTCOMES; i++) shoal_free(ctx, there[i]);
    if (!h.in_place) shoal_free(ctx, x);
    shoal_free(ctx, a), shoal_free(ctx, b);
    shoal_smallsym_free(plan);
    return r;
}

static inline answer solve_with(shoal_context *ctx, const batch *p, const call *c, how h) {
    const shoal_smallsym_opts o = opts_of(p, c, h);
    const size_t a_bytes = (size_t)(numbers_of(p, h) * p->count) * size_of(p->type);
    const size_t b_bytes = (size_t)(p->n * p->count * p->nrhs) * size_of(p->type);
    void *a = new_array(a_bytes, 1), *b = new_array(b_bytes, 1);
    store_batch(p, h, a, b);
    answer r = solve_arrays(ctx, &o, p->count, a, a_bytes, b, b_bytes, h);
    if (r.code == SHOAL_OK) {
        r.x = new_array((size_t)(p->n * p->count * p->nrhs), sizeof(double));
        for (int64_t e = 0; e < p->n * p->count * p->nrhs; e++) {
            const int64_t k = e / p->nrhs / p->n, i = e / p->nrhs % p->n, rhs = e % p->nrhs;
            r.x[e] = get(b, p->type, rhs_place(p, h, k, i, rhs));
        }
    }
    free(a), free(b);
    return r;
}

static inline void free_answer(answer *r) {
    free(r->x), free(r->status), free(r->method), free(r->rank), free(r->inertia);
    free(r->residual), free(r->rcond);
    *r = (answer){ 0 };
}

/* ---- the certificate -------------------------------------------------------------------------- */

/* Normwise backward error of right-hand side c of system k, |b - A x| / (|A| |x| + |b|) in the
 * maximum norm, in long double, whose range and precision exceed those of both types. */
static inline double backward_error(const batch *p, int64_t k, int64_t c, const double *x) {
    const int64_t n = p->n, m = p->nrhs;
    long double rows = 0, largest = 0, rhs = 0, worst = 0;
    const double *b = p->b + k * n * m + c;
    x += k * n * m + c;
    for (int64_t i = 0; i < n; i++) {
        long double r = b[i * m], size = 0;
        if (!isfinite(x[i * m])) return INFINITY;
        for (int64_t j = 0; j < n; j++) {
            r -= (long double)entry(p, k, i, j) * x[j * m];
            size += fabsl((long double)entry(p, k, i, j));
        }
        worst = fmaxl(worst, fabsl(r)), rows = fmaxl(rows, size);
        largest = fmaxl(largest, fabsl((long double)x[i * m]));
        rhs = fmaxl(rhs, fabsl((long double)b[i * m]));
    }
    return worst == 0 ? 0 : (double)(worst / (rows * largest + rhs));
}

/* Every answer called ok has a backward error of at most 10 n units of roundoff. */
enum { SOME_OK, ALL_OK, ALL_ANSWERED }; /* what is asked of the batch besides */

static inline void check_accuracy(const batch *p, const answer *r, int all, const char *who) {
    const double limit = 10 * (double)p->n;
    for (int64_t k = 0; k < p->count; k++) {
        CHECK_MSG(all == SOME_OK || r->status[k] == 0 || (all == ALL_ANSWERED && r->status[k] > 0),
                  "%s n=%lld k=%lld: status %d", who, (long long)p->n, (long long)k, r->status[k]);
        for (int64_t c = 0; c < p->nrhs && r->status[k] == 0; c++) {
            const double error = backward_error(p, k, c, r->x) / eps_of(p->type);
            CHECK_MSG(error <= limit, "%s %s n=%lld k=%lld rhs %lld: backward error %.3g eps", who,
                      p->type ? "f32" : "f64", (long long)p->n, (long long)k, (long long)c, error);
        }
    }
}

#endif
