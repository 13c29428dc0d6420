/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_smallsym_cuda.c - the batched routines of cuSOLVER and cuBLAS on small symmetric systems:
 *
 *     potrfBatched + potrsBatched    Cholesky, of either triangle; one right-hand side
 *     syevjBatched                   eigenpairs by Jacobi's method, at its usual tolerance
 *     XsyevBatched                   eigenpairs, if the library has it
 *     getrfBatched + getrsBatched    LU with partial pivoting of both triangles; any nrhs
 *     gemmStridedBatched for A and for b, potrfBatched + potrsBatched    regressions: all A are written
 *                                    and read again; one right-hand side
 *
 * Of tridiagonal matrices, too, these take the whole matrix: there is no batched routine for diagonals.
 *
 * A is overwritten by factors or vectors, b by x; the copies are made outside the timed region
 * (peers_smallsym.c), and so are the arrays of addresses.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/smallsym.h"

/* Of cublas_api.h and its kin. */
enum { LOWER, UPPER };
enum { NO_TRANSPOSE, TRANSPOSE };
enum { VALUES, VECTORS };
enum { REAL_F32, REAL_F64 };

typedef int potrf(void *handle, int uplo, int n, void **a, int lda, int *info, int count);
typedef int potrs(void *handle, int uplo, int n, int nrhs, void **a, int lda, void **b, int ldb,
                  int *info, int count);
typedef int getrf(void *handle, int n, void *const *a, int lda, int *pivot, int *info, int count);
typedef int getrs(void *handle, int trans, int n, int nrhs, void *const *a, int lda,
                  const int *pivot, void *const *b, int ldb, int *info, int count);
typedef int gemm(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                 const void *a, int lda, long long stride_a, const void *b, int ldb,
                 long long stride_b, const void *beta, void *c, int ldc, long long stride_c,
                 int count);
typedef int syevj_size(void *handle, int jobz, int uplo, int n, const void *a, int lda,
                       const void *w, int *numbers, void *params, int count);
typedef int syevj(void *handle, int jobz, int uplo, int n, void *a, int lda, void *w, void *work,
                  int numbers, int *info, void *params, int count);
typedef int syev_size(void *handle, void *params, int jobz, int uplo, int64_t n, int type_a,
                      const void *a, int64_t lda, int type_w, const void *w, int compute,
                      size_t *device, size_t *host, int64_t count);
typedef int syev(void *handle, void *params, int jobz, int uplo, int64_t n, int type_a, void *a,
                 int64_t lda, int type_w, void *w, int compute, void *buffer, size_t device,
                 void *host_buffer, size_t host, int *info, int64_t count);

typedef struct job {
    bench_copies *copies;
    const bench_library *solver, *blas;
    char letter; /* S or D */
    int uplo;
    potrf *factor;
    potrs *solve;
    getrf *lu_factor;
    getrs *lu_solve;
    gemm *form;
    syevj *jacobi;
    syev *eigen;
    int (*destroy)(void *params);
    void *params;         /* syevjInfo_t or cusolverDnParams_t */
    void *work, *on_host; /* buffers                           */
    size_t work_bytes, host_bytes;
    bench_means means; /* of regressions, too:      */
    char *A, *x;       /* of all systems            */
    void **at[2];      /* their addresses           */
} job;

static bool allocate(job *j) {
    shoal_context *ctx = j->copies->data->place->ctx;
    j->on_host = malloc(j->host_bytes ? j->host_bytes : 1);
    return j->on_host && shoal_alloc(ctx, j->work_bytes ? j->work_bytes : 1, &j->work) == SHOAL_OK;
}

static void release(job *j) {
    shoal_context *ctx = j->copies->data->place->ctx;
    if (j->destroy && j->params) j->destroy(j->params);
    void *const there[] = { j->work, j->A, j->x, (void *)j->at[0], (void *)j->at[1] };
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) shoal_free(ctx, there[i]);
    free(j->on_host);
}

/* ---- solvers --------------------------------------------------------------------------------- */

static bool begin_cholesky(job *j) {
    const bench_symbol list[] = { { "cusolverDn?potrfBatched", &j->factor },
                                  { "cusolverDn?potrsBatched", &j->solve } };
    return bench_find(j->solver, j->letter, list, 2) && j->copies->nrhs == 1;
}

static int call_cholesky(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int n = (int)c->n, count = (int)c->count;
    void **a = c->pointers[0] + set * c->count, **b = c->pointers[1] + set * c->count;
    const int status = j->factor(j->solver->handle, j->uplo, n, a, n, c->info, count);
    if (status != 0) return status;
    return j->solve(j->solver->handle, j->uplo, n, 1, a, n, b, n, c->info, count);
}

static bool begin_lu(job *j) {
    const bench_symbol list[] = { { "cublas?getrfBatched", &j->lu_factor },
                                  { "cublas?getrsBatched", &j->lu_solve } };
    j->work_bytes = (size_t)j->copies->n * (size_t)j->copies->count * sizeof *j->copies->pivot;
    return bench_find(j->blas, j->letter, list, 2);
}

static int call_lu(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int n = (int)c->n, count = (int)c->count;
    void *const *a = c->pointers[0] + set * c->count, *const *b = c->pointers[1] + set * c->count;
    int info = 0; /* of the arguments; on the host */
    const int status = j->lu_factor(j->blas->handle, n, a, n, c->pivot, c->info, count);
    if (status != 0) return status;
    const int solved = j->lu_solve(j->blas->handle, NO_TRANSPOSE, n, (int)c->nrhs, a, n, c->pivot,
                                   b, n, &info, count);
    return solved != 0 ? solved : info;
}

/* ---- eigenpairs ------------------------------------------------------------------------------ */

static int jobz(const bench_copies *c) { return c->values_alone ? VALUES : VECTORS; }

static int real_type(const job *j) { return j->letter == 'S' ? REAL_F32 : REAL_F64; }

static void enlarge(size_t *max, size_t bytes) {
    if (bytes > *max) *max = bytes;
}

static bool begin_jacobi(job *j) {
    const bench_copies *c = j->copies;
    const int n = (int)c->n;
    int (*create)(void **) = NULL;
    syevj_size *size = NULL;
    const bench_symbol list[] = { { "cusolverDnCreateSyevjInfo", &create },
                                  { "cusolverDnDestroySyevjInfo", &j->destroy },
                                  { "cusolverDn?syevjBatched_bufferSize", &size },
                                  { "cusolverDn?syevjBatched", &j->jacobi } };
    if (!bench_find(j->solver, j->letter, list, 4) || create(&j->params) != 0) return false;
    for (int what = VALUES; what <= VECTORS; what++) { /* room for either */
        int numbers = 0;
        if (size(j->solver->handle, what, LOWER, n, c->fresh.work[0], n, c->values, &numbers,
                 j->params, (int)c->count) != 0 ||
            numbers < 0)
            return false;
        enlarge(&j->work_bytes, (size_t)numbers * c->number);
    }
    return allocate(j);
}

static int call_jacobi(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int n = (int)c->n;
    return j->jacobi(j->solver->handle, jobz(c), LOWER, n, bench_fresh_at(&c->fresh, 0, set, 0), n,
                     c->values, j->work, (int)(j->work_bytes / c->number), c->info, j->params,
                     (int)c->count);
}

static bool begin_eigen(job *j) {
    const bench_copies *c = j->copies;
    const int type = real_type(j);
    int (*create)(void **) = NULL;
    syev_size *size = NULL;
    const bench_symbol list[] = { { "cusolverDnCreateParams", &create },
                                  { "cusolverDnDestroyParams", &j->destroy },
                                  { "cusolverDnXsyevBatched_bufferSize", &size },
                                  { "cusolverDnXsyevBatched", &j->eigen } };
    if (!bench_find(j->solver, j->letter, list, 4) || create(&j->params) != 0) return false;
    for (int what = VALUES; what <= VECTORS; what++) {
        size_t device = 0, host = 0;
        if (size(j->solver->handle, j->params, what, LOWER, c->n, type, c->fresh.work[0], c->n,
                 type, c->values, type, &device, &host, c->count) != 0)
            return false;
        enlarge(&j->work_bytes, device);
        enlarge(&j->host_bytes, host);
    }
    return allocate(j);
}

static int call_eigen(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int type = real_type(j);
    return j->eigen(j->solver->handle, j->params, jobz(c), LOWER, c->n, type,
                    bench_fresh_at(&c->fresh, 0, set, 0), c->n, type, c->values, type, j->work,
                    j->work_bytes, j->on_host, j->host_bytes, c->info, c->count);
}

/* ---- regressions ----------------------------------------------------------------------------- */

/* Room for A and x of all systems, and their addresses. */
static bool begin_regressions(job *j) {
    const bench_copies *c = j->copies;
    shoal_context *ctx = c->data->place->ctx;
    const size_t count = (size_t)c->count, row = (size_t)c->n * c->number;
    const bench_symbol list[] = { { "cusolverDn?potrfBatched", &j->factor },
                                  { "cusolverDn?potrsBatched", &j->solve } };
    const bench_symbol products[] = { { "cublas?gemmStridedBatched", &j->form } };
    void **addresses = malloc(count * sizeof *addresses);
    bool good = addresses && bench_find(j->solver, j->letter, list, 2) &&
                bench_find(j->blas, j->letter, products, 1) &&
                shoal_alloc(ctx, count * (size_t)c->n * row, (void **)&j->A) == SHOAL_OK &&
                shoal_alloc(ctx, count * row, (void **)&j->x) == SHOAL_OK;
    for (int i = 0; i < 2 && good; i++) {
        for (size_t k = 0; k < count; k++)
            addresses[k] = i == 0 ? j->A + k * (size_t)c->n * row : j->x + k * row;
        good = shoal_alloc(ctx, count * sizeof *addresses, (void **)&j->at[i]) == SHOAL_OK &&
               shoal_copy(ctx, (void *)j->at[i], addresses, count * sizeof *addresses) == SHOAL_OK;
    }
    free(addresses);
    j->work_bytes = count * (size_t)c->n * row;
    return good;
}

static int call_regressions(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const bench_means *m = &j->means;
    const int n = (int)c->n, M = (int)c->samples, count = (int)c->count;
    const void *psi = bench_fresh_at(&c->fresh, 0, set, 0),
               *y = bench_fresh_at(&c->fresh, 1, set, 0);
    const long long samples = (long long)n * M, square = (long long)n * n;
    int status = j->form(j->blas->handle, NO_TRANSPOSE, TRANSPOSE, n, n, M, &m->mean, psi, n,
                         samples, psi, n, samples, &m->zero, j->A, n, square, count);
    if (status == 0)
        status = j->form(j->blas->handle, NO_TRANSPOSE, NO_TRANSPOSE, n, 1, M, &m->mean, psi, n,
                         samples, y, M, M, &m->zero, j->x, n, n, count);
    if (status == 0) status = j->factor(j->solver->handle, j->uplo, n, j->at[0], n, c->info, count);
    if (status != 0) return status;
    return j->solve(j->solver->handle, j->uplo, n, 1, j->at[0], n, j->at[1], n, c->info, count);
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct method {
    const char *who, *name, *note;
    bool eigen, triangles; /* triangles: either */
    bool (*begin)(job *j);
    int (*call)(void *self, int set);
} method;

/* clang-format off */
static const method
    cholesky = { "cuSOLVER", "?potrfBatched+potrsBatched", "one triangle, fresh copies outside the timing",
                 false, true, begin_cholesky, call_cholesky },
    jacobi = { "cuSOLVER", "?syevjBatched", "eigenpairs, no solve", true, false, begin_jacobi, call_jacobi },
    eigen = { "cuSOLVER", "XsyevBatched", "eigenpairs, no solve", true, false, begin_eigen, call_eigen },
    lu = { "cuBLAS", "?getrfBatched+?getrsBatched", "LU of both triangles, fresh copies outside the timing",
           false, false, begin_lu, call_lu },
    regressions = { "cuBLAS+cuSOLVER", "?gemmStridedBatched+?potrfBatched+?potrsBatched",
                    "A and b formed by two gemm, then Cholesky of one triangle",
                    false, true, begin_regressions, call_regressions };
/* clang-format on */

static int run(bench_session *s, bench_copies *c, const bench_library *solver,
               const bench_library *blas, const method *m) {
    int code = BENCH_OK;
    char name[BENCH_SYMBOL], version[2 * sizeof solver->version + 2];
    const char letter = c->number == sizeof(float) ? 'S' : 'D';
    bench_typed_name(m->name, letter, name);
    snprintf(version, sizeof version, "%s%s%s", blas ? blas->version : "",
             solver && blas ? ", " : "", solver ? solver->version : "");
    for (int uplo = LOWER; uplo <= (m->triangles ? UPPER : LOWER) && code == BENCH_OK; uplo++) {
        job j = { .copies = c,
                  .solver = solver,
                  .blas = blas,
                  .letter = letter,
                  .uplo = uplo,
                  .means = bench_means_of(c) };
        if (m->begin(&j)) {
            const bench_routine r = {
                .peer = { .who = m->who,
                          .function = name,
                          .variant = m == &lu        ? ""
                                     : uplo == UPPER ? "upper"
                                                     : "lower",
                          .version = version,
                          .note = c->data->problem.pairs && m->eigen ? "" : m->note,
                          .workspace = j.work_bytes,
                          .task = { .call = m->call, .self = &j } },
                .eigen = m->eigen,
                .answer = j.x
            };
            code = bench_peer_routine(s, c, &r, NULL);
        } else {
            bench_note(s, "peer left out: %s %s does not take this problem", m->who, name);
        }
        release(&j);
    }
    return code;
}

int bench_peer_cuda_symmetric(bench_session *s, bench_copies *c, bench_peer_class which) {
    bench_library solver = { .file = NULL }, blas = { .file = NULL };
    int code = BENCH_OK;
    const bool has_solver = (which != BENCH_PEERS_PIVOTED || c->samples) &&
                            bench_open_cuda(s, BENCH_CUSOLVER, 0, NULL, 0, &solver);
    const bool has_blas = (which != BENCH_PEERS_EIGEN || c->samples) &&
                          bench_open_cuda(s, BENCH_CUBLAS, 0, NULL, 0, &blas);
    if (c->samples) {
        if (has_solver && has_blas) code = run(s, c, &solver, &blas, &regressions);
    } else if (which == BENCH_PEERS_EIGEN) {
        if (has_solver) code = run(s, c, &solver, NULL, &jacobi);
        if (has_solver && code == BENCH_OK) code = run(s, c, &solver, NULL, &eigen);
    } else {
        if (has_solver) code = run(s, c, &solver, NULL, &cholesky);
        if (has_blas && code == BENCH_OK) code = run(s, c, NULL, &blas, &lu);
    }
    bench_close_cuda(&solver);
    bench_close_cuda(&blas);
    return code;
}
