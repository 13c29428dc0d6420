/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_batch.h - what the tests of tridiag share: batches of systems held as doubles one after
 * another whatever their type and layout, solving one, and an own certificate.
 */
#ifndef SHOAL_TRIDIAG_BATCH_H
#define SHOAL_TRIDIAG_BATCH_H

#include "sanitizer.h"
#include "targets.h"
#include <float.h>
#include <math.h>

enum { CALLS = 32 };

/* A method and variant; name NULL past the last one. */
typedef struct call {
    const char *method, *variant;
    int pivoted; /* lupp, qr, auto, which has it in reserve, twocarry, which is as safe, and gspike, which is on
                    the matrices here */
} call;

static call calls[CALLS];

typedef struct batch { /* element i of system k is [k * n + i]; b: [(k * n + i) * nrhs + j] */
    int64_t n, count, nrhs;
    shoal_type type;
    double *dl, *d, *du, *b;
} batch;

typedef struct answer {
    shoal_status code; /* SHOAL_E_METHOD: not on this backend */
    double *x;
    int32_t *status, *method;
    float *residual, *rcond;
    shoal_tridiag_info info;
} answer;

static inline double eps_of(shoal_type type) {
    return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}

static inline int same(double v, double w) { return v == w || (isnan(v) && isnan(w)); }

static inline int same_all(const double *v, const double *w, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!same(v[i], w[i])) return 0;
    return 1;
}

/* open_targets(), and the list of methods. */
static inline int open_targets_and_calls(int *argc, char **argv) {
    int k = 0;
    calls[k++] = (call){ "auto", NULL, 1 };
    for (int i = 0; shoal_methods("tridiag", i); i++) {
        const char *method = shoal_methods("tridiag", i);
        int pivoted = (shoal_method_flags("tridiag", method, NULL) & SHOAL_CAN_PIVOT) != 0;
        if (!shoal_variants("tridiag", method, 0)) calls[k++] = (call){ method, NULL, pivoted };
        for (int v = 0; shoal_variants("tridiag", method, v); v++)
            calls[k++] = (call){ method, shoal_variants("tridiag", method, v), pivoted };
    }
    return open_targets(argc, argv);
}

static inline int is_auto(const call *c) { return strcmp(c->method, "auto") == 0; }

static inline const char *name_of(const target *t, const call *c) {
    static char name[128];
    snprintf(name, sizeof name, "%s(%s):%s:%s", t->backend, t->isa ? t->isa : "", c->method,
             c->variant ? c->variant : "");
    return name;
}

static inline batch new_batch(int64_t n, int64_t count, int64_t nrhs, shoal_type type) {
    size_t size = (size_t)(n * count);
    batch p = { n, count, nrhs, type, NULL, NULL, NULL, NULL };
    p.dl = new_array(size, sizeof(double));
    p.d = new_array(size, sizeof(double));
    p.du = new_array(size, sizeof(double));
    p.b = new_array(size * (size_t)nrhs, sizeof(double));
    return p;
}

static inline void free_batch(batch *p) {
    free(p->dl), free(p->d), free(p->du), free(p->b);
    *p = (batch){ 0 };
}

/* Rounds to float where the batch is one of floats, so that both hold the same numbers. */
static inline void round_batch(batch *p) {
    if (p->type != SHOAL_F32) return;
    for (int64_t i = 0; i < p->n * p->count; i++) {
        p->dl[i] = (float)p->dl[i], p->d[i] = (float)p->d[i], p->du[i] = (float)p->du[i];
        for (int64_t j = 0; j < p->nrhs; j++) p->b[i * p->nrhs + j] = (float)p->b[i * p->nrhs + j];
    }
}

static inline batch generate(const char *kind, int64_t n, int64_t count, int64_t nrhs,
                             shoal_type type) {
    batch p = new_batch(n, count, nrhs, type);
    shoal_tridiag_opts shape = { .n = n, .count = count, .nrhs = nrhs };
    shoal_status status =
        shoal_tridiag_generate(targets[0].ctx, kind, 7, 0, &shape, p.dl, p.d, p.du, p.b);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(targets[0].ctx));
    round_batch(&p);
    return p;
}

/* System k of `from` becomes system at of `to`. */
static inline void copy_system(batch *to, int64_t at, const batch *from, int64_t k) {
    int64_t n = from->n, m = n * from->nrhs;
    memcpy(to->dl + at * n, from->dl + k * n, (size_t)n * sizeof(double));
    memcpy(to->d + at * n, from->d + k * n, (size_t)n * sizeof(double));
    memcpy(to->du + at * n, from->du + k * n, (size_t)n * sizeof(double));
    memcpy(to->b + at * m, from->b + k * m, (size_t)m * sizeof(double));
}

/* One right-hand side of a batch. */
static inline batch column(const batch *p, int64_t j) {
    batch q = new_batch(p->n, p->count, 1, p->type);
    size_t bytes = (size_t)(p->n * p->count) * sizeof(double);
    memcpy(q.dl, p->dl, bytes), memcpy(q.d, p->d, bytes), memcpy(q.du, p->du, bytes);
    for (int64_t i = 0; i < p->n * p->count; i++) q.b[i] = p->b[i * p->nrhs + j];
    return q;
}

/* Between doubles, system after system, and an array of the batch's type and layout. */
static inline void convert(const batch *p, shoal_layout layout, int64_t nrhs, double *plain,
                           void *typed, int to_typed) {
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t j = 0; j < nrhs; j++) {
                int64_t from = (k * p->n + i) * nrhs + j;
                int64_t at = layout == SHOAL_INTERLEAVED ? (i * p->count + k) * nrhs + j : from;
                float *single = (float *)typed + at;
                double *twice = (double *)typed + at;
                if (to_typed && p->type == SHOAL_F32)
                    *single = (float)plain[from];
                else if (to_typed)
                    *twice = plain[from];
                else
                    plain[from] = p->type == SHOAL_F32 ? (double)*single : *twice;
            }
}

static inline size_t size_of(shoal_type type) {
    return type == SHOAL_F32 ? sizeof(float) : sizeof(double);
}

/* A block of the context's memory, in which the array begins `skipped` bytes after the start. */
static inline void *upload_at(shoal_context *ctx, const batch *p, shoal_layout layout, int64_t nrhs,
                              double *plain, size_t skipped) {
    size_t bytes = (size_t)(p->n * p->count * nrhs) * size_of(p->type);
    void *host = new_array(bytes, 1), *there = NULL;
    convert(p, layout, nrhs, plain, host, 1);
    if (shoal_alloc(ctx, bytes + skipped, &there) != SHOAL_OK ||
        shoal_copy(ctx, (char *)there + skipped, host, bytes) != SHOAL_OK)
        CHECK_MSG(0, "%s", shoal_message(ctx));
    free(host);
    return there;
}

static inline void *upload(shoal_context *ctx, const batch *p, shoal_layout layout, int64_t nrhs,
                           double *plain) {
    return upload_at(ctx, p, layout, nrhs, plain, 0);
}

typedef struct how { /* zero = default */
    shoal_layout layout;
    int in_place, no_residual;
    double tol;
    int offset; /* of all arrays from where the memory begins, in numbers */
    int periodic;
    int threads, groups;
    int transposed, rcond;
    double delta, cond; /* of gspike */
    int no_split, block;
} how;

static inline shoal_status solve_typed(shoal_tridiag *plan, shoal_type type, void *dl, void *d,
                                       void *du, void *b, void *x) {
    return type == SHOAL_F32 ? shoal_tridiag_solvef(plan, dl, d, du, b, x)
                             : shoal_tridiag_solve(plan, dl, d, du, b, x);
}

static inline answer solve_with(shoal_context *ctx, const batch *p, const call *m, how h) {
    answer r = { .code = SHOAL_OK };
    shoal_tridiag_opts o = { .n = p->n,
                             .count = p->count,
                             .nrhs = p->nrhs,
                             .type = p->type,
                             .layout = h.layout,
                             .method = m->method,
                             .variant = m->variant,
                             .tol = h.tol,
                             .threads = h.threads,
                             .groups = h.groups,
                             .periodic = h.periodic,

                             .transposed = h.transposed,

                             .delta = h.delta,
                             .cond = h.cond,
                             .no_split = h.no_split,
                             .block = h.block };
    shoal_tridiag *plan = NULL;
    r.code = shoal_tridiag_create(ctx, &o, &plan);
    if (r.code != SHOAL_OK) {
        CHECK_MSG(r.code == SHOAL_E_METHOD && m->variant, "%s", shoal_message(ctx));
        return r;
    }
    size_t systems = (size_t)p->count, size = (size_t)(p->n * p->count * p->nrhs);
    size_t bytes = size * size_of(p->type), skip = (size_t)h.offset * size_of(p->type);
    char *dl = upload_at(ctx, p, h.layout, 1, p->dl, skip);
    char *d = upload_at(ctx, p, h.layout, 1, p->d, skip);
    char *du = upload_at(ctx, p, h.layout, 1, p->du, skip);
    char *b = upload_at(ctx, p, h.layout, p->nrhs, p->b, skip);
    char *x = h.in_place ? b : upload_at(ctx, p, h.layout, p->nrhs, p->b, skip);
    void *host = new_array(bytes, 1);
    shoal_outcome o3 = { 0 };
    shoal_alloc(ctx, systems * sizeof(int32_t), (void **)&o3.status);
    shoal_alloc(ctx, systems * sizeof(int32_t), (void **)&o3.method);
    if (!h.no_residual) shoal_alloc(ctx, systems * sizeof(float), (void **)&o3.residual);
    if (h.rcond) shoal_alloc(ctx, systems * sizeof(float), (void **)&o3.rcond);
    CHECK(shoal_tridiag_outcome(plan, &o3) == SHOAL_OK);
    r.code = solve_typed(plan, p->type, dl + skip, d + skip, du + skip, b + skip, x + skip);
    if (r.code == SHOAL_OK) r.code = shoal_tridiag_last(plan, &r.info);
    CHECK_MSG(r.code == SHOAL_OK, "%s: %s", m->method, shoal_message(ctx));
    r.x = new_array(size, sizeof(double));
    r.status = new_array(systems, sizeof(int32_t));
    r.method = new_array(systems, sizeof(int32_t));
    r.residual = new_array(systems, sizeof(float));
    r.rcond = new_array(systems, sizeof(float));
    CHECK(shoal_copy(ctx, host, x + skip, bytes) == SHOAL_OK);
    convert(p, h.layout, p->nrhs, r.x, host, 0);
    CHECK(shoal_copy(ctx, r.status, o3.status, systems * sizeof(int32_t)) == SHOAL_OK);
    CHECK(shoal_copy(ctx, r.method, o3.method, systems * sizeof(int32_t)) == SHOAL_OK);
    if (o3.residual)
        CHECK(shoal_copy(ctx, r.residual, o3.residual, systems * sizeof(float)) == SHOAL_OK);
    if (o3.rcond) CHECK(shoal_copy(ctx, r.rcond, o3.rcond, systems * sizeof(float)) == SHOAL_OK);
    if (!h.in_place) shoal_free(ctx, x);
    shoal_free(ctx, dl), shoal_free(ctx, d), shoal_free(ctx, du), shoal_free(ctx, b);
    shoal_free(ctx, o3.status), shoal_free(ctx, o3.method), shoal_free(ctx, o3.residual);
    shoal_free(ctx, o3.rcond);
    shoal_tridiag_free(plan);
    free(host);
    return r;
}

static inline void free_answer(answer *r) {
    free(r->x), free(r->status), free(r->method), free(r->residual), free(r->rcond);
    *r = (answer){ 0 };
}

/* A power of two near v, for scaling without rounding. */
static inline double scale_for(double v) {
    int e = v > 0 ? ilogb(v) : 0;
    return ldexp(1, e < -1000 ? 1000 : -e);
}

/* Normwise backward error of right-hand side j of system k: |b - A x| / (|A| |x| + |b|), in double,
 * with A and x first scaled to about 1. */
static inline double backward_error(const batch *p, int64_t k, int64_t j, const double *x) {
    const double *dl = p->dl + k * p->n, *d = p->d + k * p->n, *du = p->du + k * p->n;
    const int64_t n = p->n, m = p->nrhs;
    const double *b = p->b + k * n * m + j;
    double rows = 0, largest = 0, rhs = 0, worst = 0;
    x += k * n * m + j;
    for (int64_t i = 0; i < n; i++) {
        double sum = fabs(d[i]) / 4 + (i ? fabs(dl[i]) / 4 : 0) + (i + 1 < n ? fabs(du[i]) / 4 : 0);
        if (!isfinite(x[i * m])) return INFINITY;
        rows = fmax(rows, sum);
        largest = fmax(largest, fabs(x[i * m]));
    }
    double sa = scale_for(rows), sx = scale_for(largest);
    for (int64_t i = 0; i < n; i++) {
        double r = b[i * m] * sa * sx - d[i] * sa * (x[i * m] * sx);
        if (i) r -= dl[i] * sa * (x[(i - 1) * m] * sx);
        if (i + 1 < n) r -= du[i] * sa * (x[(i + 1) * m] * sx);
        worst = fmax(worst, fabs(r));
        rhs = fmax(rhs, fabs(b[i * m] * sa * sx));
    }
    return worst == 0 ? 0 : worst / (4 * (rows * sa) * (largest * sx) + rhs);
}

/* e, where 2^-e brings the largest entry of row i of system k between 1 and 2. */
static inline int row_exponent(const batch *p, int64_t k, int64_t i) {
    const int64_t at = k * p->n + i;
    const double dl = i ? fabs(p->dl[at]) : 0, du = i + 1 < p->n ? fabs(p->du[at]) : 0;
    const double most = fmax(fmax(dl, du), fabs(p->d[at]));
    return most > 0 ? ilogb(most) : 0;
}

/* What residual.h defines, of right-hand side j of system k: the largest residual of a row scaled to a largest
 * entry between 1 and 2, over the largest |x|; in long double. */
static inline double row_scaled_error(const batch *p, int64_t k, int64_t j, const double *x) {
    const double *dl = p->dl + k * p->n, *d = p->d + k * p->n, *du = p->du + k * p->n;
    const int64_t n = p->n, m = p->nrhs;
    const double *b = p->b + k * n * m + j;
    long double worst = 0, largest = 0;
    x += k * n * m + j;
    for (int64_t i = 0; i < n; i++) {
        const int by = -row_exponent(p, k, i);
        long double r = ldexpl(b[i * m], by) - ldexpl(d[i], by) * x[i * m];
        if (i) r -= ldexpl(dl[i], by) * x[(i - 1) * m];
        if (i + 1 < n) r -= ldexpl(du[i], by) * x[(i + 1) * m];
        if (!isfinite(x[i * m])) return INFINITY;
        worst = fmaxl(worst, fabsl(r)), largest = fmaxl(largest, fabsl((long double)x[i * m]));
    }
    return worst == 0 ? 0 : (double)(worst / largest);
}

/* Backward errors allowed, in units of roundoff. TRUSTED: the limit by default, 100, and rounding. */
enum { STABLE = 20, PIVOTED = 50, TRUSTED = 105 };

/* A x = r by elimination with row exchanges, in long double; x is r at first. */
static inline void solve_widely(int64_t n, const long double *dl, const long double *d,
                                const long double *du, long double *x) {
    long double(*kept)[3] = new_array((size_t)n, sizeof *kept);
    long double row[3] = { d[0], du[0], 0 };
    for (int64_t i = 0; i + 1 < n; i++) {
        long double other[3] = { dl[i + 1], d[i + 1], du[i + 1] };
        if (fabsl(other[0]) > fabsl(row[0])) {
            for (int q = 0; q < 3; q++)
                kept[i][q] = other[q], other[q] = row[q], row[q] = kept[i][q];
            const long double r = x[i];
            x[i] = x[i + 1], x[i + 1] = r;
        }
        for (int q = 0; q < 3; q++) kept[i][q] = row[q];
        const long double l = other[0] / row[0];
        for (int q = 0; q < 2; q++) row[q] = other[q + 1] - l * kept[i][q + 1];
        row[2] = 0, x[i + 1] -= l * x[i];
    }
    kept[n - 1][0] = row[0];
    for (int64_t i = n - 1; i >= 0; i--) {
        if (i + 1 < n) x[i] -= kept[i][1] * x[i + 1];
        if (i + 2 < n) x[i] -= kept[i][2] * x[i + 2];
        x[i] /= kept[i][0];
    }
    free(kept);
}

static inline long double length_of(const long double *v, int64_t n) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrtl(sum);
}

/* Whether the condition number may be above a 30th of the limit from which on a matrix is called
 * ill-conditioned, by the least singular value of the matrix with scaled rows. Inverse iteration: what it finds is
 * never too small. */
static inline int is_nearly_singular(const batch *p, int64_t k) {
    const int64_t n = p->n, at = k * n;
    long double *v = new_array((size_t)(6 * n), sizeof *v), *dl = v + n, *d = dl + n, *du = d + n;
    long double *before = du + n, *after = before + n, least = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        dl[i] = i ? p->dl[at + i] : 0, d[i] = p->d[at + i], du[i] = i + 1 < n ? p->du[at + i] : 0;
        const double s = scale_for((double)fmaxl(fmaxl(fabsl(dl[i]), fabsl(du[i])), fabsl(d[i])));
        dl[i] *= s, d[i] *= s, du[i] *= s, v[i] = 1 + i % 3;
    }
    for (int64_t i = 0; i < n; i++) /* of the transposed matrix */
        before[i] = i ? du[i - 1] : 0, after[i] = i + 1 < n ? dl[i + 1] : 0;
    for (int step = 0; step < 4; step++) {
        const long double size = length_of(v, n);
        for (int64_t i = 0; i < n; i++) v[i] /= size;
        if (step % 2)
            solve_widely(n, before, d, after, v);
        else
            solve_widely(n, dl, d, du, v);
        least = fminl(least, 1 / length_of(v, n));
    }
    free(v);
    const double limit = 1 / (32 * eps_of(p->type));
    return !(2 * sqrt((double)n) / least * 30 < limit);
}

/* Status 0, or a warning that the matrix deserves; a small backward error. */
static inline void check_accuracy(const batch *p, const answer *r, double limit, const char *who) {
    double eps = eps_of(p->type);
    for (int64_t k = 0; k < p->count; k++) {
        const int told = r->status[k] == SHOAL_SYSTEM_ILL;
        CHECK_MSG(r->status[k] == 0 || (told && is_nearly_singular(p, k)),
                  "%s n=%lld k=%lld: status %d", who, (long long)p->n, (long long)k, r->status[k]);
        for (int64_t j = 0; j < p->nrhs; j++) {
            const double error = backward_error(p, k, j, r->x) / eps;
            const double worst_row = row_scaled_error(p, k, j, r->x) / eps;
            CHECK_MSG(error <= limit && (worst_row <= TRUSTED + 3 || r->status[k] != 0),
                      "%s %s n=%lld k=%lld rhs %lld: backward error %.3g eps, of a row %.3g", who,
                      p->type ? "f32" : "f64", (long long)p->n, (long long)k, (long long)j, error,
                      worst_row);
        }
    }
}

#endif
