/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_gram.c - regressions as they are solved without a fused routine: A and b are formed, then
 * solved by Cholesky, of either triangle.
 *
 *     LAPACK             syrk + gemv + potrf + potrs, one call a system, the systems divided among
 *                        OpenMP threads; A of a thread stays in its cache
 *     cuBLAS, cuSOLVER   gemmStridedBatched for A and for b, potrfBatched + potrsBatched; all A are
 *                        written and read again
 *
 * psi (M, n) in rows is psit in columns, and so is read as it lies. psi and y are only read, A and b are
 * written over at every call. One right-hand side. The prototypes are ours: the libraries are opened
 * at run time and no header of them is needed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers.h"
#include "bench/peers_smallsym.h"

enum { LOWER = 0, UPPER = 1, NO_TRANSPOSE = 0, TRANSPOSE = 1 }; /* of cublas_api.h */

/* Of Fortran, with the lengths of the words at their end. */
typedef void syrk(const char *uplo, const char *trans, const int *n, const int *k,
                  const void *alpha, const void *a, const int *lda, const void *beta, void *c,
                  const int *ldc, size_t one, size_t other);
typedef void gemv(const char *trans, const int *m, const int *n, const void *alpha, const void *a,
                  const int *lda, const void *x, const int *incx, const void *beta, void *y,
                  const int *incy, size_t one);
typedef void potrf(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t one);
typedef void potrs(const char *uplo, const int *n, const int *nrhs, const void *a, const int *lda,
                   void *b, const int *ldb, int *info, size_t one);
/* Of cuBLAS and cuSOLVER. */
typedef int gemm(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                 const void *a, int lda, long long stride_a, const void *b, int ldb,
                 long long stride_b, const void *beta, void *c, int ldc, long long stride_c,
                 int count);
typedef int batched_potrf(void *handle, int uplo, int n, void **a, int lda, int *info, int count);
typedef int batched_potrs(void *handle, int uplo, int n, int nrhs, void **a, int lda, void **b,
                          int ldb, int *info, int count);

typedef union number { /* 1 / M or 0, in the type of the problem */
    float single;
    double twice;
} number;

typedef struct job {
    bench_copies *copies;
    int n, samples, uplo;
    number mean, zero;
    char *A, *x; /* A: of each thread, or of each system */
    void **at[2];
    syrk *square;
    gemv *product;
    potrf *factor;
    potrs *solve;
    void *blas, *solver; /* handles */
    gemm *form;
    batched_potrf *factor_all;
    batched_potrs *solve_all;
} job;

static job job_of(bench_copies *c, int uplo) {
    job j = { .copies = c, .n = (int)c->n, .samples = (int)c->samples, .uplo = uplo };
    if (c->number == sizeof(float))
        j.mean.single = 1 / (float)c->samples;
    else
        j.mean.twice = 1 / (double)c->samples;
    return j;
}

/* Room for `matrices` of A, and for x of all systems. */
static bool allocate(job *j, size_t matrices) {
    const bench_copies *c = j->copies;
    const size_t row = (size_t)c->n * c->number;
    shoal_context *ctx = c->data->place->ctx;
    return shoal_alloc(ctx, matrices * (size_t)c->n * row, (void **)&j->A) == SHOAL_OK &&
           shoal_alloc(ctx, (size_t)c->count * row, (void **)&j->x) == SHOAL_OK;
}

static void release(job *j) {
    shoal_context *ctx = j->copies->data->place->ctx;
    shoal_free(ctx, j->A);
    shoal_free(ctx, j->x);
    for (int i = 0; i < 2; i++) shoal_free(ctx, (void *)j->at[i]);
}

static int row_of(bench_session *s, job *j, const char *who, const char *function,
                  const char *version, const char *note, int (*call)(void *self, int set),
                  size_t workspace) {
    const bench_routine r = { .who = who,
                              .function = function,
                              .variant = j->uplo == UPPER ? "upper" : "lower",
                              .version = version,
                              .note = note,
                              .call = call,
                              .self = j,
                              .answer = j->x,
                              .workspace = workspace };
    return bench_peer_routine(s, j->copies, &r, NULL);
}

/* ---- the CPU --------------------------------------------------------------------------------- */

/* System k of a set by thread t. A failure is not looked at: such a system fails the check. */
static void one(const job *j, int set, int64_t k, int t) {
    const bench_copies *c = j->copies;
    const size_t row = (size_t)c->n * c->number;
    const char *uplo = j->uplo == UPPER ? "U" : "L";
    const void *psi = bench_copies_at(c, 0, set, k), *y = bench_copies_at(c, 1, set, k);
    void *A = j->A + (size_t)t * (size_t)c->n * row, *x = j->x + (size_t)k * row;
    const int step = 1;
    int info = 0;
    j->square(uplo, "N", &j->n, &j->samples, &j->mean, psi, &j->n, &j->zero, A, &j->n, 1, 1);
    j->product("N", &j->n, &j->samples, &j->mean, psi, &j->n, y, &step, &j->zero, x, &step, 1);
    j->factor(uplo, &j->n, A, &j->n, &info, 1);
    if (info == 0) j->solve(uplo, &j->n, &step, A, &j->n, x, &j->n, &info, 1);
}

static int call_lapack(void *self, int set) {
    const job *j = self;
    const int64_t count = j->copies->count;
    const int threads = j->copies->data->place->machine.threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t k = count * t / threads; k < count * (t + 1) / threads; k++) one(j, set, k, t);
    return 0;
}

int bench_peer_lapack_gram(bench_session *s, bench_copies *c) {
    const bool single = c->number == sizeof(float);
    const int threads = c->data->place->machine.threads;
    bench_lapack lib;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    int code = BENCH_OK;
    for (int uplo = LOWER; uplo <= UPPER && code == BENCH_OK; uplo++) {
        job j = job_of(c, uplo);
        char note[160];
        *(void **)&j.square = dlsym(lib.file, single ? "ssyrk_" : "dsyrk_");
        *(void **)&j.product = dlsym(lib.file, single ? "sgemv_" : "dgemv_");
        *(void **)&j.factor = dlsym(lib.file, single ? "spotrf_" : "dpotrf_");
        *(void **)&j.solve = dlsym(lib.file, single ? "spotrs_" : "dpotrs_");
        snprintf(note, sizeof note, "one call a system, %d OpenMP threads over the systems",
                 threads);
        if (j.square && j.product && j.factor && j.solve && allocate(&j, (size_t)threads))
            code = row_of(s, &j, "LAPACK",
                          single ? "ssyrk+sgemv+spotrf+spotrs" : "dsyrk+dgemv+dpotrf+dpotrs",
                          lib.version, note, call_lapack,
                          (size_t)threads * (size_t)(c->n * c->n) * c->number);
        else
            bench_note(s, "peer left out: %s has no syrk, gemv or potrf", lib.version);
        release(&j);
    }
    return code;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static int call_cuda(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int n = j->n, M = j->samples, count = (int)c->count;
    const void *psi = bench_copies_at(c, 0, set, 0), *y = bench_copies_at(c, 1, set, 0);
    const long long samples = (long long)n * M, square = (long long)n * n;
    int status = j->form(j->blas, NO_TRANSPOSE, TRANSPOSE, n, n, M, &j->mean, psi, n, samples, psi,
                         n, samples, &j->zero, j->A, n, square, count);
    if (status == 0)
        status = j->form(j->blas, NO_TRANSPOSE, NO_TRANSPOSE, n, 1, M, &j->mean, psi, n, samples, y,
                         M, M, &j->zero, j->x, n, n, count);
    if (status == 0) status = j->factor_all(j->solver, j->uplo, n, j->at[0], n, c->info, count);
    if (status != 0) return status;
    return j->solve_all(j->solver, j->uplo, n, 1, j->at[0], n, j->at[1], n, c->info, count);
}

/* The addresses of A and x of each system, for the batched routines. */
static bool make_addresses(job *j) {
    const bench_copies *c = j->copies;
    shoal_context *ctx = c->data->place->ctx;
    const size_t count = (size_t)c->count, row = (size_t)c->n * c->number;
    void **list = malloc(count * sizeof *list);
    bool good = list;
    for (int i = 0; i < 2 && good; i++) {
        for (size_t k = 0; k < count; k++)
            list[k] = i == 0 ? j->A + k * (size_t)c->n * row : j->x + k * row;
        good = shoal_alloc(ctx, count * sizeof *list, (void **)&j->at[i]) == SHOAL_OK &&
               shoal_copy(ctx, (void *)j->at[i], list, count * sizeof *list) == SHOAL_OK;
    }
    free(list);
    return good;
}

typedef struct libraries {
    void *blas, *solver; /* of dlopen */
    void *blas_handle, *solver_handle;
    int (*blas_destroy)(void *), (*solver_destroy)(void *);
    char version[64];
} libraries;

static bool open_libraries(libraries *lib) {
    static const char *const blas[] = { "12", "13", NULL }, *const solver[] = { "11", "12", NULL };
    int (*blas_create)(void **) = NULL, (*solver_create)(void **) = NULL;
    int (*property[2])(int, int *) = { NULL, NULL };
    *lib = (libraries){ .blas = bench_open_cuda_library("cublas", blas),
                        .solver = bench_open_cuda_library("cusolver", solver) };
    if (!lib->blas || !lib->solver) return false;
    *(void **)&blas_create = dlsym(lib->blas, "cublasCreate_v2");
    *(void **)&solver_create = dlsym(lib->solver, "cusolverDnCreate");
    *(void **)&lib->blas_destroy = dlsym(lib->blas, "cublasDestroy_v2");
    *(void **)&lib->solver_destroy = dlsym(lib->solver, "cusolverDnDestroy");
    *(void **)&property[0] = dlsym(lib->blas, "cublasGetProperty");
    *(void **)&property[1] = dlsym(lib->solver, "cusolverGetProperty");
    int part[2][3] = { { 0 } }; /* major, minor, patch */
    for (int i = 0; i < 6; i++)
        if (property[i / 3]) property[i / 3](i % 3, &part[i / 3][i % 3]);
    snprintf(lib->version, sizeof lib->version, "cuBLAS %d.%d.%d, cuSOLVER %d.%d.%d", part[0][0],
             part[0][1], part[0][2], part[1][0], part[1][1], part[1][2]);
    return blas_create && solver_create && lib->blas_destroy && lib->solver_destroy &&
           blas_create(&lib->blas_handle) == 0 && solver_create(&lib->solver_handle) == 0;
}

static void close_libraries(libraries *lib) {
    if (lib->blas_handle) lib->blas_destroy(lib->blas_handle);
    if (lib->solver_handle) lib->solver_destroy(lib->solver_handle);
}

static int run_cuda(bench_session *s, bench_copies *c, const libraries *lib, int uplo) {
    const bool single = c->number == sizeof(float);
    const size_t matrices = (size_t)c->count * (size_t)(c->n * c->n) * c->number;
    job j = job_of(c, uplo);
    int code = BENCH_OK;
    j.blas = lib->blas_handle, j.solver = lib->solver_handle;
    *(void **)&j.form =
        dlsym(lib->blas, single ? "cublasSgemmStridedBatched" : "cublasDgemmStridedBatched");
    *(void **)&j.factor_all =
        dlsym(lib->solver, single ? "cusolverDnSpotrfBatched" : "cusolverDnDpotrfBatched");
    *(void **)&j.solve_all =
        dlsym(lib->solver, single ? "cusolverDnSpotrsBatched" : "cusolverDnDpotrsBatched");
    if (j.form && j.factor_all && j.solve_all && allocate(&j, (size_t)c->count) &&
        make_addresses(&j))
        code = row_of(s, &j, "cuBLAS+cuSOLVER",
                      single ? "SgemmStridedBatched+SpotrfBatched+SpotrsBatched"
                             : "DgemmStridedBatched+DpotrfBatched+DpotrsBatched",
                      lib->version, "A and b formed by two gemm, then Cholesky of one triangle",
                      call_cuda, matrices);
    else
        bench_note(s, "peer left out: cuBLAS and cuSOLVER do not take this problem");
    release(&j);
    return code;
}

int bench_peer_cuda_gram(bench_session *s, bench_copies *c) {
    libraries lib;
    int code = BENCH_OK;
    if (!open_libraries(&lib))
        bench_note(s, "peer left out: cuBLAS or cuSOLVER was not found or did not open");
    else
        for (int uplo = LOWER; uplo <= UPPER && code == BENCH_OK; uplo++)
            code = run_cuda(s, c, &lib, uplo);
    close_libraries(&lib);
    return code;
}
