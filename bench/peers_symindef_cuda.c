/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_symindef_cuda.c - peers on one dense symmetric matrix on CUDA.
 *
 * CuSOLVER's sytrf, partial pivoting, on one dense symmetric matrix in
 * full storage: the only routine of a CUDA library for it. It stands beside packed problems and beside
 * rook pivoting too, as there is no other.
 *
 * The complete pivoting of Kruchinina's thesis (section 3.2) with cuBLAS, as a peer of ours. A
 * stage is
 *
 *     Idamax over the packed reduced matrix, whose diagonal is zero, and Idamax over the diagonal
 *     both places come to the host; the entries there through mapped memory
 *     the pivot is chosen on the host, a 2x2 pivot diagonalised there: Q P Qt = Lambda
 *     rows and columns are exchanged by a kernel
 *     one Dspr, or two with the columns of C Q; the diagonal's part is added to its vector
 *     the multipliers
 *
 * so that each entry is read by the search and read and written by each update: 24 or 40 bytes an
 * entry and stage in double, and three waits of the host.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers.h"
#include "bench/symindef.h"
#include "bench/peers_foreign.h"

enum { LOWER = 0 }; /* of cublas_api.h */

typedef int sytrf_size(void *handle, int n, void *a, int lda, int *numbers);
typedef int sytrf_call(void *handle, int uplo, int n, void *a, int lda, int *pivots, void *work,
                       int numbers, int *info);

typedef struct sytrf_job {
    bench_library lib;
    sytrf_size *size;
    sytrf_call *factor;
    shoal_context *ctx;
    int n, numbers;
    void *work;         /* of the device */
    int *pivots, *info; /* likewise      */
} sytrf_job;

static bool allocate(sytrf_job *j, void *a, size_t number) {
    if (j->size(j->lib.handle, j->n, a, j->n, &j->numbers) != 0 || j->numbers < 0) return false;
    const size_t work = (size_t)(j->numbers > 0 ? j->numbers : 1) * number;
    return shoal_alloc(j->ctx, work, &j->work) == SHOAL_OK &&
           shoal_alloc(j->ctx, (size_t)j->n * sizeof *j->pivots, (void **)&j->pivots) == SHOAL_OK &&
           shoal_alloc(j->ctx, sizeof *j->info, (void **)&j->info) == SHOAL_OK;
}

static int sytrf_factor(void *self, void *a) {
    const sytrf_job *j = self;
    return j->factor(j->lib.handle, LOWER, j->n, a, j->n, j->pivots, j->work, j->numbers, j->info);
}

int bench_peer_cusolver_indefinite(bench_session *s, bench_matrix *d) {
    const size_t number = bench_number_size(&d->problem);
    const bool rook = bench_pivoting_of(&d->problem) == BENCH_ROOK;
    const char letter = number == sizeof(float) ? 'S' : 'D';
    sytrf_job j = { .ctx = d->place->ctx, .n = (int)d->problem.n };
    char function[16];
    const bench_symbol list[] = { { "cusolverDn?sytrf_bufferSize", &j.size },
                                  { "cusolverDn?sytrf", &j.factor } };
    if (!bench_open_cuda(s, BENCH_CUSOLVER, letter, list, 2, &j.lib)) return BENCH_OK;
    snprintf(function, sizeof function, "%csytrf", letter);
    int code = BENCH_OK;
    if (allocate(&j, d->work, number)) {
        const bench_factorer r = {
            .peer = { .who = "cuSOLVER",
                      .function = function,
                      .version = j.lib.version,
                      .note = rook ? "partial pivoting, lower triangle, full storage"
                                   : "lower triangle, full storage",
                      .workspace = (size_t)j.numbers * number,
                      .task = { .self = &j } },
            .packed = false,
            .partial = true,
            .form = BENCH_FORM_SYTRF,
            .factor = sytrf_factor,
            .pivots = j.pivots,
            .pivots_there = true
        };
        code = bench_peer_factorer(s, d, &r);
    } else {
        bench_note(s, "peer left out: cuSOLVER %s does not take this problem", function);
    }
    shoal_free(j.ctx, j.work);
    shoal_free(j.ctx, j.pivots);
    shoal_free(j.ctx, j.info);
    bench_close_cuda(&j.lib);
    return code;
}

/* ---- the thesis's loop ----------------------------------------------------------------------- */

#ifdef BENCH_HAS_THESIS
/* Entry (i,j), i >= j, is number column(n, j) + i. */
static int64_t column(int64_t n, int64_t j) { return j * (2 * n - 1 - j) / 2; }

static void *number_at(const bench_thesis *t, void *array, int64_t at) {
    return (char *)array + (size_t)at * (t->single ? sizeof(float) : sizeof(double));
}

/* Number `at` of the packed columns from k on is in column p and row q. */
static void place_of(int64_t n, int64_t k, int64_t at, int64_t *p, int64_t *q) {
    const int64_t m = n - k;
    const double side = 2.0 * (double)m + 1;
    int64_t j = (int64_t)((side - sqrt(side * side - 8.0 * (double)at)) / 2);
    if (j < 0) j = 0;
    while (j > 0 && column(m, j) + j > at) j--; /* the root is rounded */
    while (j + 1 < m && column(m, j + 1) + j + 1 <= at) j++;
    *p = k + j;
    *q = k + at - column(m, j);
}

/* a -= x xt / lambda from row `first` on; x begins there too. */
static int update(const bench_thesis_blas *blas, const bench_thesis *t, int64_t first,
                  double lambda, const void *x) {
    const double minus = -1 / lambda;
    const float minus_single = (float)minus;
    const void *alpha = t->single ? (const void *)&minus_single : (const void *)&minus;
    if (first >= t->n) return 0;
    return blas->spr(blas->handle, LOWER, (int)(t->n - first), alpha, x, 1,
                     number_at(t, t->a, column(t->n, first) + first));
}

static int eliminate_one(const bench_thesis_blas *blas, const bench_thesis *t, int64_t k,
                         double pivot) {
    void *c = number_at(t, t->a, column(t->n, k) + k + 1);
    const double inverse = 1 / pivot;
    const float inverse_single = (float)inverse;
    const void *alpha = t->single ? (const void *)&inverse_single : (const void *)&inverse;
    if (k + 1 >= t->n) return 0;
    int bad = update(blas, t, k + 1, pivot, c);
    if (!bad) bad = blas->scal(blas->handle, (int)(t->n - k - 1), alpha, c, 1);
    return bad ? bad : bench_thesis_fold(t, k + 1);
}

/* The pivot [d0 off; off d1] has the eigenvectors (c, s) and (-s, c). */
static int eliminate_two(const bench_thesis_blas *blas, const bench_thesis *t, int64_t k, double d0,
                         double off, double d1) {
    const double half = (d1 - d0) / (2 * off);
    const double tangent = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
    const double c = 1 / sqrt(1 + tangent * tangent), s = -tangent * c;
    const double lambda0 = d0 - tangent * off, lambda1 = d1 + tangent * off;
    int bad = bench_thesis_turn(t, k, c, s);
    if (!bad) bad = update(blas, t, k + 2, lambda0, number_at(t, t->x, k + 2));
    if (!bad) bad = update(blas, t, k + 2, lambda1, number_at(t, t->x, t->n + k + 2));
    if (!bad) bad = bench_thesis_multipliers(t, k, c, s, lambda0, lambda1);
    return bad ? bad : bench_thesis_fold(t, k + 2);
}

static int swap(const bench_thesis *t, int64_t p, int64_t q) {
    return p == q ? 0 : bench_thesis_swap(t, p, q);
}

/* Stage k, of order 1 or 2; 0: nothing is left that could be a pivot. */
static int stage(const bench_thesis_blas *blas, const bench_thesis *t, int64_t k, double *tol,
                 int32_t *interchanges, int *order) {
    const double alpha = (1 + sqrt(17.0)) / 8;
    const int64_t n = t->n, m = n - k;
    int max = 1, max_diagonal = 1;
    int64_t p = k, q = k;
    int bad = blas->amax(blas->handle, (int)(m * (m + 1) / 2), number_at(t, t->a, column(n, k) + k),
                         1, &max);
    if (!bad) bad = blas->amax(blas->handle, (int)m, number_at(t, t->d, k), 1, &max_diagonal);
    if (bad) return bad;
    const int64_t r = k + max_diagonal - 1;
    place_of(n, k, max - 1, &p, &q); /* p = q where all of it is zero */
    bad = bench_thesis_look(t, p, q, r);
    if (bad) return bad;
    const volatile double *seen = t->seen;
    const double off = seen[0], d0 = seen[1], d1 = seen[2], pivot = seen[3];
    const double size = fmax(fabs(off), fabs(pivot));
    if (*tol < 0) *tol = size * (t->single ? 0x1p-23 : 0x1p-52);
    *order = !(size > *tol) ? 0 : fabs(pivot) >= alpha * fabs(off) ? 1 : 2;
    if (*order == 1) {
        interchanges[k] = (int32_t)(r + 1);
        bad = swap(t, k, r);
        return bad ? bad : eliminate_one(blas, t, k, pivot);
    }
    if (*order == 0) return 0;
    interchanges[k] = (int32_t)(p + 1);
    interchanges[k + 1] = -(int32_t)(q + 1);
    bad = swap(t, k, p);
    if (!bad) bad = swap(t, k + 1, q);
    return bad ? bad : eliminate_two(blas, t, k, d0, off, d1);
}

int bench_thesis_factor(const bench_thesis_blas *blas, const bench_thesis *t,
                        int32_t *interchanges) {
    double tol = -1;
    int order = 1, bad = bench_thesis_split(t);
    for (int64_t i = 0; i < t->n; i++) interchanges[i] = (int32_t)(i + 1);
    for (int64_t k = 0; k < t->n && order > 0 && !bad; k += order)
        bad = stage(blas, t, k, &tol, interchanges, &order);
    return bad ? bad : bench_thesis_join(t);
}

typedef struct job {
    bench_thesis_blas blas;
    bench_thesis matrix;
    int32_t *interchanges;
} job;

static int factor(void *self, void *a) {
    job *j = self;
    j->matrix.a = a;
    return bench_thesis_factor(&j->blas, &j->matrix, j->interchanges);
}

int bench_peer_thesis(bench_session *s, bench_matrix *d) {
    shoal_context *ctx = d->place->ctx;
    const size_t n = (size_t)d->problem.n, number = bench_number_size(&d->problem);
    const bool single = d->problem.type == SHOAL_F32;
    job j = { .matrix = { .single = single, .n = d->problem.n } };
    bench_library lib;
    const bench_symbol list[] = { { single ? "cublasIsamax_v2" : "cublasIdamax_v2", &j.blas.amax },
                                  { "cublas?spr_v2", &j.blas.spr },
                                  { "cublas?scal_v2", &j.blas.scal } };
    if (!bench_open_cuda(s, BENCH_CUBLAS, single ? 'S' : 'D', list, 3, &lib)) return BENCH_OK;
    j.blas.handle = lib.handle;
    j.interchanges = malloc(n * sizeof *j.interchanges);
    const bench_factorer r = {
        .peer = { .who = "cuBLAS",
                  .function = single ? "Isamax+Sspr loop" : "Idamax+Dspr loop",
                  .version = lib.version,
                  .note = "the thesis's loop: packed, pivots chosen on the host",
                  .workspace = 3 * n * number,
                  .task = { .self = &j } },
        .packed = true,
        .form = BENCH_FORM_OURS,
        .factor = factor,
        .pivots = j.interchanges
    };
    int code = BENCH_OK;
    j.matrix.seen = bench_thesis_map();
    if (j.interchanges && j.matrix.seen && shoal_alloc(ctx, n * number, &j.matrix.d) == SHOAL_OK &&
        shoal_alloc(ctx, 2 * n * number, &j.matrix.x) == SHOAL_OK)
        code = bench_peer_factorer(s, d, &r);
    else
        bench_note(s, "peer left out: no memory for the thesis's loop");
    shoal_free(ctx, j.matrix.d);
    shoal_free(ctx, j.matrix.x);
    bench_thesis_unmap(j.matrix.seen);
    free(j.interchanges);
    bench_close_cuda(&lib);
    return code;
}
#endif
