/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_stages.h - what the tests of the stages of hhpcr share: calls on batches that are held as
 * doubles, their data, and certificates for A = Q U Qt and for x = Q U^-1 Qt b.
 */
#ifndef SHOAL_SMALLSYM_STAGES_TEST_H
#define SHOAL_SMALLSYM_STAGES_TEST_H

#include "smallsym_eig.h"

enum { MOST = 64, RHS = 3 };

static const char *const variants[] = { "reflect", "formed", "simd", "coop", "hybrid" };
enum { VARIANTS = 5, ON_CPU = 2 }; /* the first two are on the CPU too */

static inline int variants_on(const target *t) { return on_cpu(t) ? ON_CPU : VARIANTS; }

static const char *name_of(const target *t, const shoal_smallsym_opts *o) {
    static char name[96];
    snprintf(name, sizeof name, "%s:%s:%s n=%lld", t->backend, o->variant, type_name(o->type),
             (long long)o->n);
    return name;
}

/* ---- calls ----------------------------------------------------------------------------------- */

typedef struct arrays { /* of a batch, as doubles */
    double *a, *d, *e, *q, *b, *x;
} arrays;

typedef struct sizes {
    size_t a, d, e, q, b;
} sizes;

static inline sizes sizes_of(const shoal_smallsym_opts *o) {
    const size_t n = (size_t)o->n, count = (size_t)o->count, below = n ? n - 1 : 0;
    return (sizes){ .a = n * n * count,
                    .d = n * count,
                    .e = below * count,
                    .q = n * n * count,
                    .b = n * count * (size_t)o->nrhs };
}

static inline arrays new_arrays(const shoal_smallsym_opts *o) {
    const sizes s = sizes_of(o);
    return (arrays){ new_array(s.a, sizeof(double)), new_array(s.d, sizeof(double)),
                     new_array(s.e, sizeof(double)), new_array(s.q, sizeof(double)),
                     new_array(s.b, sizeof(double)), new_array(s.b, sizeof(double)) };
}

static inline void free_arrays(arrays *m) {
    free(m->a), free(m->d), free(m->e), free(m->q), free(m->b), free(m->x);
}

/* A typed copy in the context's memory, and back. */
static inline void *give(shoal_context *ctx, const double *host, size_t numbers, shoal_type type) {
    void *typed = to_type(host, numbers, type), *there = put(ctx, typed, (numbers + 1) * 8);
    free(typed);
    return there;
}

static inline void fetch(shoal_context *ctx, double *host, void *there, size_t numbers,
                         shoal_type type) {
    void *typed = new_array(numbers, sizeof(double));
    take(ctx, typed, there, numbers * 8);
    from_type(host, typed, numbers, type);
    free(typed);
}

static inline run begin(shoal_context *ctx, const shoal_smallsym_opts *o, outcome *to) {
    memset(to, 0x55, sizeof *to);
    run r = { NULL, put(ctx, to, sizeof *to) };
    CHECK_MSG(shoal_smallsym_create(ctx, o, &r.plan) == SHOAL_OK, "%s", shoal_message(ctx));
    const shoal_outcome where = { r.there->status, r.there->residual, r.there->rcond,
                                  r.there->rank,   r.there->inertia,  r.there->method };
    CHECK(shoal_smallsym_outcome(r.plan, &where) == SHOAL_OK);
    return r;
}

/* m.a to m.d, m.e and, if `with_q`, m.q. */
static inline outcome reduce(shoal_context *ctx, const shoal_smallsym_opts *o, const arrays *m,
                             int with_q) {
    static outcome told;
    const sizes s = sizes_of(o);
    const run r = begin(ctx, o, &told);
    void *a = give(ctx, m->a, s.a, o->type), *d = give(ctx, m->d, s.d, o->type);
    void *e = give(ctx, m->e, s.e, o->type), *q = with_q ? give(ctx, m->q, s.q, o->type) : NULL;
    const shoal_status status = o->type == SHOAL_F32 ? shoal_smallsym_reducef(r.plan, a, d, e, q)
                                                     : shoal_smallsym_reduce(r.plan, a, d, e, q);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(ctx));
    end_run(ctx, r, &told);
    shoal_free(ctx, a);
    fetch(ctx, m->d, d, s.d, o->type), fetch(ctx, m->e, e, s.e, o->type);
    if (with_q) fetch(ctx, m->q, q, s.q, o->type);
    return told;
}

/* m.d, m.e, m.q and m.b to m.x. */
static inline outcome solve(shoal_context *ctx, const shoal_smallsym_opts *o, const arrays *m,
                            int with_q, int in_place) {
    static outcome told;
    const sizes s = sizes_of(o);
    const run r = begin(ctx, o, &told);
    void *d = give(ctx, m->d, s.d, o->type), *e = give(ctx, m->e, s.e, o->type);
    void *q = with_q ? give(ctx, m->q, s.q, o->type) : NULL, *b = give(ctx, m->b, s.b, o->type);
    void *x = in_place ? b : give(ctx, m->x, s.b, o->type);
    const shoal_status status = o->type == SHOAL_F32 ? shoal_smallsym_pcrf(r.plan, d, e, q, b, x)
                                                     : shoal_smallsym_pcr(r.plan, d, e, q, b, x);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(ctx));
    end_run(ctx, r, &told);
    if (!in_place) shoal_free(ctx, b);
    fetch(ctx, m->x, x, s.b, o->type);
    shoal_free(ctx, d), shoal_free(ctx, e), shoal_free(ctx, q);
    return told;
}

/* Whether m.x has the bits of the answers that the method gives to m.a and m.b at once. */
static inline int same_at_once(shoal_context *ctx, const shoal_smallsym_opts *o, const arrays *m) {
    static outcome told;
    const sizes s = sizes_of(o);
    const run r = begin(ctx, o, &told);
    double *at_once = new_array(s.b, sizeof *at_once);
    void *a = give(ctx, m->a, s.a, o->type), *x = give(ctx, m->b, s.b, o->type);
    CHECK((o->type == SHOAL_F32 ? shoal_smallsym_solvef(r.plan, a, x, x)
                                : shoal_smallsym_solve(r.plan, a, x, x)) == SHOAL_OK);
    end_run(ctx, r, &told);
    shoal_free(ctx, a);
    fetch(ctx, at_once, x, s.b, o->type);
    const int same = memcmp(at_once, m->x, s.b * sizeof *at_once) == 0;
    free(at_once);
    return same;
}

/* With a tol that no residual keeps to but 0, all others are warned of. */
static inline void check_warnings(shoal_context *ctx, const shoal_smallsym_opts *given,
                                  const arrays *m) {
    shoal_smallsym_opts o = *given;
    int warned = 0;
    o.tol = 1e-300;
    const outcome told = solve(ctx, &o, m, 1, 0);
    for (int k = 0; k < o.count; k++) {
        const int poor = told.residual[k] > 0;
        CHECK_MSG(told.status[k] == (poor ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK), "%d: %d", k,
                  told.status[k]);
        warned += poor;
    }
    CHECK(warned > 0 && told.info.warned == warned);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Matrices of spectra in turn; what is above the diagonal is not read. */
static inline void fill_matrices(const shoal_smallsym_opts *o, const arrays *m) {
    const int n = (int)o->n;
    for (int k = 0; k < o->count; k++) {
        double *a = m->a + (size_t)k * (size_t)(n * n);
        make_matrix(a, k % SPECTRA, n, o->type);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) a[i * n + j] = NAN;
    }
}

/* Diagonally dominant U of either sign, an orthogonal Q, right-hand sides. */
static inline void fill_parts(const shoal_smallsym_opts *o, const arrays *m) {
    const int n = (int)o->n;
    double *w = new_array((size_t)n, sizeof *w), *a = new_array((size_t)(n * n), sizeof *a);
    for (int k = 0; k < o->count; k++) {
        for (int i = 0; i < n; i++) w[i] = 1;
        with_spectrum(a, m->q + (size_t)k * (size_t)(n * n), w, n, SHOAL_F64);
        for (int i = 0; i < n; i++) {
            m->d[k * n + i] = rounded((k % 2 ? -1 : 1) * (2.5 + uniform()), o->type);
            if (i + 1 < n) m->e[k * (n - 1) + i] = rounded(normal() > 0 ? 1 : -uniform(), o->type);
        }
    }
    for (size_t i = 0; i < sizes_of(o).q; i++) m->q[i] = rounded(m->q[i], o->type);
    for (size_t i = 0; i < sizes_of(o).b; i++) m->b[i] = rounded(normal(), o->type);
    free(w), free(a);
}

static inline double u_entry(const arrays *m, int n, int k, int i, int j) {
    const int low = i < j ? i : j;
    if (i == j) return m->d[k * n + i];
    return abs(i - j) == 1 ? m->e[k * (n - 1) + low] : 0;
}

/* Largest entry of Qt Q - I, and of Q U Qt - A over the largest row sum of A, of system k. */
static inline void certify_reduction(const arrays *m, int n, int k, double *orthogonality,
                                     double *residual) {
    const double *a = m->a + (size_t)k * (size_t)(n * n), *q = m->q + (size_t)k * (size_t)(n * n);
    long double *qu = new_array((size_t)(n * n), sizeof *qu), norm = 0;
    *orthogonality = *residual = 0;
    for (int i = 0; i < n; i++) {
        long double row = 0;
        for (int j = 0; j < n; j++) {
            sum s = { -(double)(i == j), 0 };
            for (int r = 0; r < n; r++) s = add_product(s, q[r * n + i], q[r * n + j]);
            if (!(fabs(s.high + s.low) <= *orthogonality)) *orthogonality = fabs(s.high + s.low);
            for (int r = 0; r < n; r++)
                qu[i * n + j] += (long double)q[i * n + r] * u_entry(m, n, k, r, j);
            row += fabsl((long double)(j <= i ? a[i * n + j] : a[j * n + i]));
        }
        norm = fmaxl(norm, row);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            long double off = -(long double)a[i * n + j];
            for (int r = 0; r < n; r++) off += qu[i * n + r] * q[j * n + r];
            if (off == 0) continue;
            off = fabsl(off) / norm;
            if (!(off <= *residual)) *residual = (double)off;
        }
    free(qu);
}

/* Q U^-1 Qt b of system k, in long double, by elimination: U is diagonally dominant. */
static inline void solve_exactly(const arrays *m, const shoal_smallsym_opts *o, int k, int c,
                                 int with_q, long double *x) {
    const int n = (int)o->n, nrhs = (int)o->nrhs;
    const double *q = m->q + (size_t)k * (size_t)(n * n), *b = m->b + k * n * nrhs + c;
    long double z[MOST], d[MOST];
    for (int i = 0; i < n; i++) {
        z[i] = with_q ? 0 : (long double)b[i * nrhs];
        for (int j = 0; j < n && with_q; j++) z[i] += (long double)q[j * n + i] * b[j * nrhs];
    }
    d[0] = u_entry(m, n, k, 0, 0);
    for (int i = 1; i < n; i++) {
        const long double f = u_entry(m, n, k, i, i - 1) / d[i - 1];
        d[i] = u_entry(m, n, k, i, i) - f * u_entry(m, n, k, i, i - 1);
        z[i] -= f * z[i - 1];
    }
    for (int i = n - 1; i >= 0; i--)
        z[i] = (z[i] - (i + 1 < n ? u_entry(m, n, k, i, i + 1) * z[i + 1] : 0)) / d[i];
    for (int i = 0; i < n; i++) {
        x[i] = with_q ? 0 : z[i];
        for (int j = 0; j < n && with_q; j++) x[i] += (long double)q[i * n + j] * z[j];
    }
}

/* Sizes of the tests: all, or, emulated, those where something changes. */
static inline int next_size(int n) {
    static const int few[] = { 1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 64 };
    if (!small) return n + 1;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (few[i] > n) return few[i];
    return MOST + 1;
}

#endif
