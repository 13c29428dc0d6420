/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_gram.h - samples of regressions for the tests: held as doubles, whatever their type and
 * layout; the systems formed of them and solved; and a certificate of the answers.
 */
#ifndef SHOAL_SMALLSYM_GRAM_TEST_H
#define SHOAL_SMALLSYM_GRAM_TEST_H

#include "smallsym_batch.h"

/* Number i of psi(m) of system k: psi[(k * M + m) * n + i]; of y: y[(k * M + m) * nrhs + c]. */
typedef struct samples {
    int64_t n, count, nrhs, M;
    shoal_type type;
    double *psi, *y;
} samples;

static uint64_t state = 1;
static inline double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static inline double rounded(double v, shoal_type type) { return type == SHOAL_F32 ? (float)v : v; }

/* psi a constant and numbers of mean `mean`, as a basis that is not centred has them. */
static inline samples new_samples(int64_t n, int64_t count, int64_t nrhs, int64_t M,
                                  shoal_type type, double mean) {
    samples s = { n, count, nrhs, M, type, NULL, NULL };
    s.psi = new_array((size_t)(n * count * M), sizeof(double));
    s.y = new_array((size_t)(count * M * nrhs), sizeof(double));
    for (int64_t e = 0; e < n * count * M; e++)
        s.psi[e] = e % n == 0 ? 1 : rounded(mean + 2 * uniform() - 1, type);
    for (int64_t e = 0; e < count * M * nrhs; e++) s.y[e] = rounded(3 * uniform() - 1, type);
    return s;
}

static inline void free_samples(samples *s) {
    free(s->psi), free(s->y);
    *s = (samples){ 0 };
}

static inline samples one_of(const samples *s, int64_t k) { /* borrows */
    samples one = *s;
    one.count = 1;
    one.psi += k * s->M * s->n, one.y += k * s->M * s->nrhs;
    return one;
}

static inline shoal_smallsym_opts opts_for(const samples *s, const char *method,
                                           const char *variant) {
    return (shoal_smallsym_opts){ .n = s->n,
                                  .count = s->count,
                                  .nrhs = s->nrhs,
                                  .type = s->type,
                                  .method = method,
                                  .variant = variant,
                                  .gram = 1 };
}

/* The arrays of the samples in that layout and type, in the context's memory. */
static inline void *in_layout(shoal_context *ctx, const double *from, const samples *s,
                              int64_t rows, int64_t columns, shoal_layout layout) {
    const size_t bytes = (size_t)(s->count * rows * columns) * size_of(s->type);
    void *host = new_array(bytes, 1);
    for (int64_t k = 0; k < s->count; k++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < columns; c++) {
                const int64_t at = layout == SHOAL_INTERLEAVED ? r * s->count + k : k * rows + r;
                set(host, s->type, at * columns + c, from[(k * rows + r) * columns + c]);
            }
    void *there = upload(ctx, host, bytes, 0);
    free(host);
    return there;
}

static inline shoal_status gram_typed(shoal_smallsym *plan, const samples *s, const void *psi,
                                      const void *y, void *x) {
    return s->type == SHOAL_F32 ? shoal_smallsym_gramf(plan, s->M, psi, y, x)
                                : shoal_smallsym_gram(plan, s->M, psi, y, x);
}

/* code SHOAL_E_METHOD where the backend does not have the method. */
static inline answer solve_samples(shoal_context *ctx, const samples *s,
                                   const shoal_smallsym_opts *o) {
    answer r = { 0 };
    shoal_smallsym *plan = NULL;
    r.code = shoal_smallsym_create(ctx, o, &plan);
    if (r.code != SHOAL_OK) {
        CHECK_MSG(r.code == SHOAL_E_METHOD, "%s", shoal_message(ctx));
        return r;
    }
    const size_t each = (size_t)s->count * 4, numbers = (size_t)(s->n * s->count * s->nrhs);
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
                                  .rcond = there[4],
                                  .residual = there[5] };
    CHECK(shoal_smallsym_outcome(plan, &where) == SHOAL_OK);
    void *psi = in_layout(ctx, s->psi, s, s->M * s->n, 1, o->layout);
    void *y = in_layout(ctx, s->y, s, s->M, s->nrhs, o->layout);
    void *x = NULL, *host = new_array(numbers, size_of(s->type));
    CHECK(shoal_alloc(ctx, numbers * size_of(s->type), &x) == SHOAL_OK);
    r.code = gram_typed(plan, s, psi, y, x);
    if (r.code == SHOAL_OK) r.code = shoal_smallsym_last(plan, &r.info);
    CHECK_MSG(r.code == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(shoal_copy(ctx, host, x, numbers * size_of(s->type)) == SHOAL_OK);
    for (int i = 0; i < OUTCOMES; i++) {
        CHECK(shoal_copy(ctx, *mine[i], there[i], bytes[i]) == SHOAL_OK);
        shoal_free(ctx, there[i]);
    }
    r.x = new_array(numbers, sizeof(double));
    for (int64_t k = 0; k < s->count; k++)
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t c = 0; c < s->nrhs; c++) {
                const int64_t at = o->layout == SHOAL_INTERLEAVED ? i * s->count + k : k * s->n + i;
                r.x[(k * s->n + i) * s->nrhs + c] = get(host, s->type, at * s->nrhs + c);
            }
    shoal_free(ctx, psi), shoal_free(ctx, y), shoal_free(ctx, x);
    free(host);
    shoal_smallsym_free(plan);
    return r;
}

/* ---- the certificate -------------------------------------------------------------------------- */

/* |b - A x| / (|A| |x| + |b|), everything in long double, |A| and |b| sums of the sizes of the
 * products: what the sums' own errors are measured by. */
static inline double error_of(const samples *s, int64_t k, int64_t c, const double *x) {
    const int64_t n = s->n;
    long double *r = new_array((size_t)(3 * n), sizeof *r), *row = r + n, *b = row + n;
    long double worst = 0, rows = 0, rhs = 0, largest = 0;
    for (int64_t m = 0; m < s->M; m++) {
        const double *psi = s->psi + (k * s->M + m) * n;
        const long double y = s->y[(k * s->M + m) * s->nrhs + c];
        long double fit = 0, sizes = 0;
        for (int64_t j = 0; j < n; j++) {
            fit += (long double)psi[j] * x[(k * n + j) * s->nrhs + c];
            sizes += fabsl((long double)psi[j]);
        }
        for (int64_t i = 0; i < n; i++) {
            r[i] += psi[i] * (y - fit);
            row[i] += fabsl((long double)psi[i]) * sizes;
            b[i] += fabsl(psi[i] * y);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const long double size = fabsl((long double)x[(k * n + i) * s->nrhs + c]);
        worst = isfinite(size) ? fmaxl(worst, fabsl(r[i])) : INFINITY;
        rows = fmaxl(rows, row[i]), rhs = fmaxl(rhs, b[i]), largest = fmaxl(largest, size);
    }
    free(r);
    if (worst == 0 || isinf(worst)) return (double)worst;
    return (double)(worst / (rows * largest + rhs));
}

/* The solver may be off by 10 n units of roundoff, the sums by 70. */
static inline void check_samples(const samples *s, const answer *r, int all, const char *who) {
    const double limit = 10 * (double)s->n + 70;
    for (int64_t k = 0; k < s->count; k++) {
        CHECK_MSG(!all || r->status[k] == 0, "%s n=%lld M=%lld k=%lld: status %d", who,
                  (long long)s->n, (long long)s->M, (long long)k, r->status[k]);
        for (int64_t c = 0; c < s->nrhs && r->status[k] == 0; c++) {
            const double error = error_of(s, k, c, r->x) / eps_of(s->type);
            CHECK_MSG(error <= limit, "%s %s n=%lld M=%lld k=%lld rhs %lld: error %.3g eps", who,
                      s->type ? "f32" : "f64", (long long)s->n, (long long)s->M, (long long)k,
                      (long long)c, error);
        }
    }
}

#endif
