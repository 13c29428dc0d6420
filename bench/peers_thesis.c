/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_thesis.c - the complete pivoting of Kruchinina's thesis (section 3.2) with cuBLAS, as a peer of ours. A
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
#include "bench/peers_thesis.h"

#include <math.h>

#include "bench/peers_symindef.h"

#ifdef BENCH_THESIS
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers.h"

enum { LOWER = 0 }; /* of cublas_api.h */

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
    int most = 1, most_diagonal = 1;
    int64_t p = k, q = k;
    int bad = blas->amax(blas->handle, (int)(m * (m + 1) / 2), number_at(t, t->a, column(n, k) + k),
                         1, &most);
    if (!bad) bad = blas->amax(blas->handle, (int)m, number_at(t, t->d, k), 1, &most_diagonal);
    if (bad) return bad;
    const int64_t r = k + most_diagonal - 1;
    place_of(n, k, most - 1, &p, &q); /* p = q where all of it is zero */
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
    int (*destroy)(void *handle);
    char version[64];
    bench_thesis matrix;
    int32_t *interchanges;
} job;

static bool open_library(bool single, job *j) {
    static const char *const versions[] = { "12", "13", NULL };
    void *file = bench_open_cuda_library("cublas", versions);
    int (*create)(void **) = NULL, (*property)(int, int *) = NULL;
    if (!file) return false;
    *(void **)&create = dlsym(file, "cublasCreate_v2");
    *(void **)&j->destroy = dlsym(file, "cublasDestroy_v2");
    *(void **)&property = dlsym(file, "cublasGetProperty");
    *(void **)&j->blas.amax = dlsym(file, single ? "cublasIsamax_v2" : "cublasIdamax_v2");
    *(void **)&j->blas.spr = dlsym(file, single ? "cublasSspr_v2" : "cublasDspr_v2");
    *(void **)&j->blas.scal = dlsym(file, single ? "cublasSscal_v2" : "cublasDscal_v2");
    if (!create || !j->destroy || !j->blas.amax || !j->blas.spr || !j->blas.scal ||
        create(&j->blas.handle) != 0)
        return false;
    int part[3] = { 0, 0, 0 }; /* major, minor, patch */
    for (int i = 0; property && i < 3; i++) property(i, &part[i]);
    snprintf(j->version, sizeof j->version, "cuBLAS %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

static int factor(void *self, void *a) {
    job *j = self;
    j->matrix.a = a;
    return bench_thesis_factor(&j->blas, &j->matrix, j->interchanges);
}

static int pivots(void *self, int32_t *to) {
    const job *j = self;
    for (int64_t i = 0; i < j->matrix.n; i++) to[i] = j->interchanges[i];
    return 0;
}

int bench_peer_thesis(bench_session *s, bench_matrix *d) {
    shoal_context *ctx = d->place->ctx;
    const size_t n = (size_t)d->problem.n, number = bench_number_size(&d->problem);
    const bool single = d->problem.type == SHOAL_F32;
    job j = { .matrix = { .single = single, .n = d->problem.n } };
    if (!open_library(single, &j)) {
        bench_note(s, "peer left out: cuBLAS was not found or did not open");
        return BENCH_OK;
    }
    const bench_factorer r = { .who = "cuBLAS",
                               .function = single ? "Isamax+Sspr loop" : "Idamax+Dspr loop",
                               .version = j.version,
                               .note = "the thesis's loop: packed, pivots chosen on the host",
                               .packed = true,
                               .form = BENCH_FORM_OURS,
                               .factor = factor,
                               .pivots = pivots,
                               .self = &j,
                               .workspace = 3 * n * number };
    int code = BENCH_OK;
    j.interchanges = malloc(n * sizeof *j.interchanges);
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
    j.destroy(j.blas.handle);
    return code;
}
#else
int bench_peer_thesis(bench_session *s, bench_matrix *d) {
    (void)s, (void)d;
    return BENCH_OK;
}
#endif
