/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_smallsym_cpu.c - LAPACK on small symmetric systems, one call per system, the systems divided
 * among as many OpenMP threads as our solver has, BLAS itself on one thread:
 *
 *     potrf + potrs    Cholesky
 *     sysv             LDLt with pivoting
 *     syevd            eigenpairs by divide and conquer; there is no solve in it
 *     stevd            the same of a tridiagonal matrix, whose diagonals it is given anew, 2 n
 *                      numbers out of the copy that then holds the vectors
 *     syrk + gemv + potrf + potrs   regressions: A and b are formed, then solved; A of a thread stays in its
 *                      cache, psi (M, n) in rows is psit in columns and is read as it lies; one right-hand side
 *
 * Solvers are measured with either triangle: which is faster depends on the problem. All but the last
 * overwrite their input (peers_smallsym.c makes copies).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"
#include "bench/peers_smallsym.h"

/* With the lengths of the words at their end, as Fortran has them. */
typedef void potrf(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t one);
typedef void potrs(const char *uplo, const int *n, const int *nrhs, const void *a, const int *lda,
                   void *b, const int *ldb, int *info, size_t one);
typedef void sysv(const char *uplo, const int *n, const int *nrhs, void *a, const int *lda,
                  int *pivot, void *b, const int *ldb, void *work, const int *lwork, int *info,
                  size_t one);
typedef void syevd(const char *jobz, const char *uplo, const int *n, void *a, const int *lda,
                   void *w, void *work, const int *lwork, int *iwork, const int *liwork, int *info,
                   size_t one, size_t other);
typedef void stevd(const char *jobz, const int *n, void *d, void *e, void *z, const int *ldz,
                   void *work, const int *lwork, int *iwork, const int *liwork, int *info,
                   size_t one);
typedef void syrk(const char *uplo, const char *trans, const int *n, const int *k,
                  const void *alpha, const void *a, const int *lda, const void *beta, void *c,
                  const int *ldc, size_t one, size_t other);
typedef void gemv(const char *trans, const int *m, const int *n, const void *alpha, const void *a,
                  const int *lda, const void *x, const int *incx, const void *beta, void *y,
                  const int *incy, size_t one);

typedef enum routine { CHOLESKY, PIVOTED, EIGEN, TRIDIAGONAL, REGRESSION } routine;

typedef struct job {
    bench_copies *copies;
    routine which;
    const char *uplo; /* "L" or "U" */
    potrf *factor;
    potrs *solve;
    sysv *pivoted;
    syevd *eigen;
    stevd *tridiagonal;
    syrk *square;
    gemv *product;
    int lwork, liwork; /* of a thread            */
    char *work;        /* of all threads         */
    int *iwork;
    bench_means means; /* of regressions */
    char *A, *x;       /* of each thread, of each system */
} job;

/* The diagonals of a, n x n, to d and e. */
static void take_diagonals(const char *a, size_t n, size_t number, char *d, char *e) {
    for (size_t i = 0; i < n; i++) {
        memcpy(d + i * number, a + i * (n + 1) * number, number);
        if (i + 1 < n) memcpy(e + i * number, a + (i * (n + 1) + 1) * number, number);
    }
}

/* System k of a set by thread t. A failure is not reported: such a system fails the check. */
static void solve_one(const job *j, int set, int64_t k, int t) {
    const bench_copies *c = j->copies;
    const int n = (int)c->n, nrhs = (int)c->nrhs, samples = (int)c->samples, step = 1;
    const size_t row = (size_t)n * c->number;
    void *a = bench_copies_at(c, 0, set, k), *b = bench_copies_at(c, 1, set, k);
    char *work = j->work + (size_t)t * (size_t)j->lwork * c->number;
    int *iwork = j->iwork + (size_t)t * (size_t)j->liwork;
    int info = 0;
    char *w = c->values + (size_t)k * row;
    const char *jobz = c->values_alone ? "N" : "V";
    if (j->which == TRIDIAGONAL) {
        const int left = j->lwork - n; /* e stands first */
        take_diagonals(a, (size_t)n, c->number, w, work);
        j->tridiagonal(jobz, &n, w, work, a, &n, work + row, &left, iwork, &j->liwork, &info, 1);
    } else if (j->which == EIGEN) {
        j->eigen(jobz, j->uplo, &n, a, &n, w, work, &j->lwork, iwork, &j->liwork, &info, 1, 1);
    } else if (j->which == PIVOTED) {
        j->pivoted(j->uplo, &n, &nrhs, a, &n, iwork, b, &n, work, &j->lwork, &info, 1);
    } else if (j->which == CHOLESKY) {
        j->factor(j->uplo, &n, a, &n, &info, 1);
        if (info == 0) j->solve(j->uplo, &n, &nrhs, a, &n, b, &n, &info, 1);
    } else {
        void *A = j->A + (size_t)t * (size_t)n * row, *x = j->x + (size_t)k * row;
        const bench_means *m = &j->means;
        j->square(j->uplo, "N", &n, &samples, &m->mean, a, &n, &m->zero, A, &n, 1, 1);
        j->product("N", &n, &samples, &m->mean, a, &n, b, &step, &m->zero, x, &step, 1);
        j->factor(j->uplo, &n, A, &n, &info, 1);
        if (info == 0) j->solve(j->uplo, &n, &step, A, &n, x, &n, &info, 1);
    }
}

static int call(void *self, int set) {
    const job *j = self;
    const int64_t count = j->copies->count;
    const int threads = j->copies->data->place->machine.threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t k = count * t / threads; k < count * (t + 1) / threads; k++)
            solve_one(j, set, k, t);
    return 0;
}

/* The functions, and the workspace that they document. */
static bool begin(job *j, const bench_library *lib) {
    const bench_copies *c = j->copies;
    shoal_context *ctx = c->data->place->ctx;
    const int n = (int)c->n;
    const size_t threads = (size_t)c->data->place->machine.threads, row = (size_t)n * c->number;
    enum { BLOCK = 64 }; /* columns that sytrf works on at a time, at most */
    const bench_symbol functions[][4] = {
        [CHOLESKY] = { { "?potrf_", &j->factor }, { "?potrs_", &j->solve } },
        [PIVOTED] = { { "?sysv_", &j->pivoted } },
        [EIGEN] = { { "?syevd_", &j->eigen } },
        [TRIDIAGONAL] = { { "?stevd_", &j->tridiagonal } },
        [REGRESSION] = { { "?syrk_", &j->square },
                         { "?gemv_", &j->product },
                         { "?potrf_", &j->factor },
                         { "?potrs_", &j->solve } },
    };
    static const int counts[] = { 2, 1, 1, 1, 4 };
    if (!bench_find(lib, c->number == sizeof(float) ? 's' : 'd', functions[j->which],
                    counts[j->which]))
        return false;
    if (j->which == REGRESSION)
        return shoal_alloc(ctx, threads * (size_t)n * row, (void **)&j->A) == SHOAL_OK &&
               shoal_alloc(ctx, (size_t)c->count * row, (void **)&j->x) == SHOAL_OK;
    j->lwork = j->which == EIGEN || j->which == TRIDIAGONAL ? 1 + 6 * n + 2 * n * n : BLOCK * n;
    j->liwork = 3 + 5 * n;
    j->work = malloc(threads * (size_t)j->lwork * c->number);
    j->iwork = malloc(threads * (size_t)j->liwork * sizeof *j->iwork);
    return j->work && j->iwork;
}

static int run(bench_session *s, bench_copies *c, const bench_library *lib, routine which,
               bool upper, bool *passed) {
    static const char *const names[] = { "?potrf+?potrs", "?sysv", "?syevd", "?stevd",
                                         "?syrk+?gemv+?potrf+?potrs" };
    const int threads = c->data->place->machine.threads;
    const bool eigen = which == EIGEN || which == TRIDIAGONAL;
    char note[160], function[BENCH_SYMBOL];
    job j = { .copies = c, .which = which, .uplo = upper ? "U" : "L", .means = bench_means_of(c) };
    bench_typed_name(names[which], c->number == sizeof(float) ? 's' : 'd', function);
    snprintf(note, sizeof note, "one call per system, %d OpenMP threads over the systems%s",
             threads, eigen && !c->data->problem.pairs ? "; eigenpairs, no solve" : "");
    int code = BENCH_OK;
    if (begin(&j, lib)) {
        const bench_routine r = {
            .peer = { .who = "LAPACK",
                      .function = function,
                      .variant = which == TRIDIAGONAL ? ""
                                 : upper              ? "upper"
                                                      : "lower",
                      .version = lib->version,
                      .note = note,
                      .workspace = j.A ? (size_t)threads * (size_t)(c->n * c->n) * c->number : 0,
                      .task = { .call = call, .self = &j } },
            .eigen = eigen,
            .answer = j.x
        };
        code = bench_peer_routine(s, c, &r, passed);
    } else {
        bench_note(s, "peer left out: %s has no %s", lib->version, function);
    }
    shoal_free(c->data->place->ctx, j.A);
    shoal_free(c->data->place->ctx, j.x);
    free(j.work);
    free(j.iwork);
    return code;
}

int bench_peer_lapack_symmetric(bench_session *s, bench_copies *c, bench_peer_class which) {
    static const routine routines[] = { [BENCH_PEERS_DEFINITE] = CHOLESKY,
                                        [BENCH_PEERS_PIVOTED] = PIVOTED,
                                        [BENCH_PEERS_EIGEN] = EIGEN };
    const bool tridiagonal = c->data->problem.pairs == BENCH_PAIRS_TRIDIAG;
    const routine first = c->samples ? REGRESSION : tridiagonal ? TRIDIAGONAL : routines[which];
    bench_library lib;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    bool passed = true; /* by the triangle measured last: both fail, or neither */
    int code = run(s, c, &lib, first, false, &passed);
    if (code == BENCH_OK && first != EIGEN && first != TRIDIAGONAL)
        code = run(s, c, &lib, first, true, &passed);
    if (code == BENCH_OK && first == CHOLESKY && !passed)
        code = bench_peer_lapack_symmetric(s, c, BENCH_PEERS_PIVOTED);
    return code;
}
