/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_eig.h - matrices with known spectra, and certificates for eigenpairs and answers, of the
 * tests of eigdc and hhpcr. Everything is held in double; `type` says in which precision the
 * library works, and matrices are rounded to it when they are made, so that they are exact in both.
 *
 * Certificates sum in twice the working precision (Ogita, Rump and Oishi), so that they measure the
 * library and not themselves.
 */
#ifndef SHOAL_SMALLSYM_EIG_TEST_H
#define SHOAL_SMALLSYM_EIG_TEST_H

#include "targets.h"
#include <float.h>
#include <math.h>

static inline double roundoff(shoal_type type) {
    return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}
static inline const char *type_name(shoal_type type) { return type == SHOAL_F32 ? "f32" : "f64"; }
static inline double rounded(double v, shoal_type type) { return type == SHOAL_F32 ? (float)v : v; }

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct sum { /* high + low */
    double high, low;
} sum;

static inline sum add_product(sum s, double a, double b) {
    const double p = a * b, tail = fma(a, b, -p), t = s.high + p, z = t - s.high;
    return (sum){ t, s.low + ((s.high - (t - z)) + (p - z)) + tail };
}

static uint64_t random_state = 1;

static inline double uniform(void) { /* (0, 1) */
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

static inline double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* A = Q diag(w) Qt with a random Q, n random reflections; q gets Q where it is not NULL. */
static inline void with_spectrum(double *a, double *q, const double *w, int n, shoal_type type) {
    double *own = new_array((size_t)(n * n), sizeof *own), *m = q ? q : own;
    double *u = new_array((size_t)n, sizeof *u);
    for (int i = 0; i < n * n; i++) m[i] = i % (n + 1) == 0;
    for (int step = 0; step < n; step++) {
        double norm = 0;
        for (int i = 0; i < n; i++) u[i] = normal(), norm += u[i] * u[i];
        for (int j = 0; j < n; j++) { /* Q := (I - 2 u ut / |u|^2) Q */
            double s = 0;
            for (int i = 0; i < n; i++) s += u[i] * m[i * n + j];
            for (int i = 0; i < n; i++) m[i * n + j] -= 2 * s / norm * u[i];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            sum s = { 0, 0 };
            for (int k = 0; k < n; k++) s = add_product(s, m[i * n + k] * w[k], m[j * n + k]);
            a[i * n + j] = a[j * n + i] = rounded(s.high + s.low, type);
        }
    free(own);
    free(u);
}

/* The spectra of the tests: name, and eigenvalue i of n. `e` is the roundoff of the type. */
enum { SPECTRA = 12 };
static const char *const spectrum_names[SPECTRA] = { "random",      "repeated",  "two clusters",
                                                     "tiny",        "geometric", "one huge",
                                                     "one small",   "rank one",  "identity",
                                                     "plus, minus", "zero",      "half zero" };

static inline double eigenvalue_of(int spectrum, int i, int n, double e) {
    switch (spectrum) {
    case 0: return normal();
    case 1: return floor(5 * uniform()) - 2;
    case 2: return (uniform() < 0.5 ? 1 : 2) + 3 * e * normal();
    case 3: return pow(10, -30 * uniform());
    case 4: return pow(e, (double)i / n) * (i % 3 ? 1 : -1);
    case 5: return i ? uniform() : 1 / e;
    case 6: return i ? 1 : e;
    case 7: return i == 0;
    case 8: return 1;
    case 9: return uniform() < 0.5 ? -1 : 1;
    case 10: return 0;
    default: return i % 2 ? normal() : 0;
    }
}

static inline void make_matrix(double *a, int spectrum, int n, shoal_type type) {
    double *w = new_array((size_t)n, sizeof *w);
    for (int i = 0; i < n; i++) w[i] = eigenvalue_of(spectrum, i, n, roundoff(type));
    with_spectrum(a, NULL, w, n, type);
    free(w);
}

/* Tridiagonal ones. */
enum { KINDS = 12, T_MAX = 105 };
static const char *const kinds[KINDS] = {
    "Wilkinson", "glued",  "1 -2 1",         "Clement",     "random",
    "split",     "graded", "graded upwards", "no diagonal", "parts of all sizes",
    "weak",      "zero"
};

/* Fills d and e and returns n; `glued` copies of Wilkinson's are the second kind. */
static inline int make_tridiagonal(int kind, int glued, double *d, double *e, shoal_type type) {
    const int n = kind == 0 ? 21 : kind == 1 ? 21 * glued : kind == 6 || kind == 7 ? 30 : 63;
    const double eps = roundoff(type);
    for (int i = 0; i < n; i++) {
        const int from = kind == 7 ? n - 1 - i : i;
        const double x[KINDS] = { fabs(i - 10.0),
                                  fabs(i % 21 - 10.0),
                                  -2,
                                  0,
                                  normal(),
                                  i % 5,
                                  pow(10, -from),
                                  pow(10, -from),
                                  0,
                                  normal() * (i < 30 ? 1e10 : 1e-20),
                                  i % 2 ? 1 : -1,
                                  0 };
        const double y[KINDS] = { 1,
                                  i % 21 == 20 ? sqrt(eps) : 1,
                                  1,
                                  sqrt((i + 1.0) * (n - 1.0 - i)),
                                  -fabs(normal()),
                                  i % 3 ? -1 : 0,
                                  0.5 * pow(10, -from),
                                  0.5 * pow(10, 1 - from),
                                  uniform(),
                                  i == 29 ? 0 : normal() * (i < 30 ? 1e10 : 1e-20),
                                  100 * eps,
                                  0 };
        d[i] = rounded(x[kind], type), e[i] = rounded(y[kind], type);
    }
    return n;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static inline void *to_type(const double *from, size_t count, shoal_type type) {
    double *to = new_array(count, sizeof *to); /* room for either */
    for (size_t i = 0; i < count; i++)
        if (type == SHOAL_F32)
            ((float *)(void *)to)[i] = (float)from[i];
        else
            to[i] = from[i];
    return to;
}

static inline void from_type(double *to, const void *from, size_t count, shoal_type type) {
    for (size_t i = 0; i < count; i++)
        to[i] = type == SHOAL_F32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

typedef struct outcome {
    int32_t status[64], rank[64], inertia[3 * 64], method[64];
    float residual[64], rcond[64];
    shoal_smallsym_info info;
} outcome;

enum { SYSTEMS = 64 }; /* at most in a batch */

/* A copy in the context's memory; host NULL stays. */
static inline void *put(shoal_context *ctx, const void *host, size_t bytes) {
    void *there = NULL;
    if (host)
        CHECK_MSG(shoal_alloc(ctx, bytes, &there) == SHOAL_OK &&
                      shoal_copy(ctx, there, host, bytes) == SHOAL_OK,
                  "%s", shoal_message(ctx));
    return there;
}

/* Back into the host's, and gone there. */
static inline void take(shoal_context *ctx, void *host, void *there, size_t bytes) {
    if (host && there) CHECK(shoal_copy(ctx, host, there, bytes) == SHOAL_OK);
    shoal_free(ctx, there);
}

typedef struct run { /* a plan, and where its outcomes go */
    shoal_smallsym *plan;
    outcome *there;
} run;

static inline run begin_run(shoal_context *ctx, shoal_smallsym_opts opts, const outcome *o) {
    run r = { NULL, put(ctx, o, sizeof *o) };
    opts.nrhs = 1;
    CHECK_MSG(shoal_smallsym_create(ctx, &opts, &r.plan) == SHOAL_OK, "%s", shoal_message(ctx));
    const shoal_outcome where = { r.there->status, r.there->residual, r.there->rcond,
                                  r.there->rank,   r.there->inertia,  r.there->method };
    CHECK(shoal_smallsym_outcome(r.plan, &where) == SHOAL_OK);
    return r;
}

static inline void end_run(shoal_context *ctx, run r, outcome *o) {
    shoal_smallsym_info info;
    CHECK(shoal_smallsym_last(r.plan, &info) == SHOAL_OK);
    take(ctx, o, r.there, sizeof *o);
    o->info = info;
    shoal_smallsym_free(r.plan);
}

/* Eigenpairs of `count` matrices: A, or, where that is NULL, (d, e). v may be NULL. */
static inline outcome pairs_of(shoal_context *ctx, shoal_smallsym_opts opts, const double *A,
                               const double *d, const double *e, double *w, double *v) {
    static outcome o;
    memset(&o, 0x55, sizeof o);
    if (!opts.method) opts.method = "eigdc";
    const run r = begin_run(ctx, opts, &o);
    const size_t n = (size_t)opts.n, count = (size_t)opts.count, below = n ? n - 1 : 0;
    const size_t each = n * count * sizeof(double), first = A ? n * n * count : n * count;
    const int single = opts.type == SHOAL_F32;
    void *in = to_type(A ? A : d, first, opts.type);
    void *in_e = A ? NULL : to_type(e, below * count, opts.type);
    void *out_w = new_array(n * count, sizeof(double));
    void *out_v = v ? new_array(n * n * count, sizeof(double)) : NULL;
    void *at = put(ctx, in, first * sizeof(double)), *at_w = put(ctx, out_w, each);
    void *at_e = put(ctx, in_e, below * count * sizeof(double)), *at_v = put(ctx, out_v, n * each);
    const shoal_status status =
        A ? (single ? shoal_smallsym_eigf(r.plan, at, at_w, at_v)
                    : shoal_smallsym_eig(r.plan, at, at_w, at_v))
          : (single ? shoal_smallsym_eigtridiagf(r.plan, at, at_e, at_w, at_v)
                    : shoal_smallsym_eigtridiag(r.plan, at, at_e, at_w, at_v));
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(ctx));
    end_run(ctx, r, &o);
    take(ctx, out_w, at_w, each), take(ctx, out_v, at_v, n * each);
    shoal_free(ctx, at), shoal_free(ctx, at_e);
    from_type(w, out_w, n * count, opts.type);
    if (v) from_type(v, out_v, n * n * count, opts.type);
    free(in), free(in_e), free(out_w), free(out_v);
    return o;
}

static inline outcome solve_systems(shoal_context *ctx, shoal_smallsym_opts opts, const double *A,
                                    const double *b, double *x) {
    static outcome o;
    memset(&o, 0x55, sizeof o);
    const run r = begin_run(ctx, opts, &o);
    const size_t n = (size_t)opts.n, count = (size_t)opts.count, each = n * count * sizeof(double);
    void *in = to_type(A, n * n * count, opts.type), *rhs = to_type(b, n * count, opts.type);
    void *at = put(ctx, in, n * each), *at_b = put(ctx, rhs, each), *at_x = put(ctx, rhs, each);
    const shoal_status status = opts.type == SHOAL_F32
                                    ? shoal_smallsym_solvef(r.plan, at, at_b, at_x)
                                    : shoal_smallsym_solve(r.plan, at, at_b, at_x);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(ctx));
    end_run(ctx, r, &o);
    take(ctx, rhs, at_x, each);
    shoal_free(ctx, at), shoal_free(ctx, at_b);
    from_type(x, rhs, n * count, opts.type);
    free(in), free(rhs);
    return o;
}

/* ---- certificates ---------------------------------------------------------------------------- */

/* Largest |A v - w v|_2 of the pairs, and largest entry of |VtV - I|. */
typedef struct certificate {
    double residual, orthogonality, norm; /* norm: max|w| */
} certificate;

static inline certificate certify(const double *a, const double *w, const double *v, int n) {
    certificate c = { 0, 0, 0 };
    for (int m = 0; m < n; m++) {
        double squares = 0;
        for (int i = 0; i < n; i++) {
            sum s = add_product((sum){ 0, 0 }, -w[m], v[i * n + m]);
            for (int j = 0; j < n; j++) s = add_product(s, a[i * n + j], v[j * n + m]);
            squares = hypot(squares, s.high + s.low);
        }
        for (int k = 0; k <= m; k++) {
            sum s = { -(double)(k == m), 0 };
            for (int i = 0; i < n; i++) s = add_product(s, v[i * n + k], v[i * n + m]);
            if (!(fabs(s.high + s.low) <= c.orthogonality)) c.orthogonality = fabs(s.high + s.low);
        }
        if (!(squares <= c.residual)) c.residual = squares; /* NaN stays */
        if (fabs(w[m]) > c.norm) c.norm = fabs(w[m]);
    }
    return c;
}

/* |b - A x| / (|A| |x| + |b|), maximum norms. */
static inline double backward_error(const double *a, const double *x, const double *b, int n) {
    double r = 0, rows = 0, x_most = 0, b_most = 0;
    for (int i = 0; i < n; i++) {
        sum s = { b[i], 0 };
        double row = 0;
        for (int j = 0; j < n; j++) {
            s = add_product(s, -a[i * n + j], x[j]);
            row += fabs(a[i * n + j]);
        }
        if (!(fabs(s.high + s.low) <= r)) r = fabs(s.high + s.low);
        rows = fmax(rows, row), x_most = fmax(x_most, fabs(x[i])),
        b_most = fmax(b_most, fabs(b[i]));
    }
    return r == 0 ? 0 : r / (rows * x_most + b_most);
}

#endif
