/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_lapack_symmetric.c - LAPACK on small symmetric systems, one call a system, the systems
 * divided among as many OpenMP threads as our solver has, BLAS itself on one thread:
 *
 *     potrf + potrs    Cholesky
 *     sysv             LDLt with pivoting
 *     syevd            eigenpairs by divide and conquer; of the solve there is nothing in it
 *     stevd            the same of a tridiagonal matrix, whose diagonals it is given anew, 2 n
 *                      numbers out of the copy that then holds the vectors
 *
 * The first two are measured with either triangle, of which now one, now the other is faster. All
 * overwrite their input (peers_smallsym.c makes copies).
 */
#include <dlfcn.h>
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

typedef struct job {
    bench_copies *copies;
    const char *uplo; /* "L" or "U" */
    potrf *factor;
    potrs *solve;
    sysv *pivoted;
    syevd *eigen;
    stevd *tridiagonal;
    int lwork, liwork; /* of a thread            */
    char *work;        /* of all threads         */
    int *iwork;
} job;

/* The diagonals of a, n x n, to d and e. */
static void take_diagonals(const char *a, size_t n, size_t number, char *d, char *e) {
    for (size_t i = 0; i < n; i++) {
        memcpy(d + i * number, a + i * (n + 1) * number, number);
        if (i + 1 < n) memcpy(e + i * number, a + (i * (n + 1) + 1) * number, number);
    }
}

/* System k of a set by thread t. A failure is not looked at: such a system fails the check. */
static void one(const job *j, int set, int64_t k, int t) {
    const bench_copies *c = j->copies;
    const int n = (int)c->n, nrhs = (int)c->nrhs;
    void *a = bench_copies_at(c, 0, set, k), *b = bench_copies_at(c, 1, set, k);
    char *work = j->work + (size_t)t * (size_t)j->lwork * c->number;
    int *iwork = j->iwork + (size_t)t * (size_t)j->liwork;
    int info = 0;
    char *w = c->values + (size_t)k * (size_t)n * c->number;
    const char *jobz = c->values_alone ? "N" : "V";
    if (j->tridiagonal) {
        const int left = j->lwork - n; /* e stands first */
        take_diagonals(a, (size_t)n, c->number, w, work);
        j->tridiagonal(jobz, &n, w, work, a, &n, work + (size_t)n * c->number, &left, iwork,
                       &j->liwork, &info, 1);
    } else if (j->eigen) {
        j->eigen(jobz, j->uplo, &n, a, &n, w, work, &j->lwork, iwork, &j->liwork, &info, 1, 1);
    } else if (j->pivoted) {
        j->pivoted(j->uplo, &n, &nrhs, a, &n, iwork, b, &n, work, &j->lwork, &info, 1);
    } else {
        j->factor(j->uplo, &n, a, &n, &info, 1);
        if (info == 0) j->solve(j->uplo, &n, &nrhs, a, &n, b, &n, &info, 1);
    }
}

static int call(void *self, int set) {
    const job *j = self;
    const int64_t count = j->copies->count;
    const int threads = j->copies->data->place->machine.threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t k = count * t / threads; k < count * (t + 1) / threads; k++) one(j, set, k, t);
    return 0;
}

/* The functions, and the workspace that they document. */
static bool begin(job *j, void *file, char letter, bench_peer_class which, bool tridiagonal) {
    const int n = (int)j->copies->n;
    const size_t threads = (size_t)j->copies->data->place->machine.threads;
    enum { BLOCK = 64 }; /* columns that sytrf works on at a time, at most */
    const struct {
        const char *name;
        void *to;
        bench_peer_class of;
    } functions[] = { { tridiagonal ? "stevd" : "syevd",
                        tridiagonal ? (void *)&j->tridiagonal : (void *)&j->eigen,
                        BENCH_PEERS_EIGEN },
                      { "sysv", &j->pivoted, BENCH_PEERS_PIVOTED },
                      { "potrf", &j->factor, BENCH_PEERS_DEFINITE },
                      { "potrs", &j->solve, BENCH_PEERS_DEFINITE } };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char name[16];
        if (functions[i].of != which) continue;
        snprintf(name, sizeof name, "%c%s_", letter, functions[i].name);
        if (!(*(void **)functions[i].to = dlsym(file, name))) return false;
    }
    j->lwork = which == BENCH_PEERS_EIGEN ? 1 + 6 * n + 2 * n * n : BLOCK * n;
    j->liwork = 3 + 5 * n;
    j->work = malloc(threads * (size_t)j->lwork * j->copies->number);
    j->iwork = malloc(threads * (size_t)j->liwork * sizeof *j->iwork);
    return j->work && j->iwork;
}

static int run(bench_session *s, bench_copies *c, const bench_lapack *lib, bench_peer_class which,
               bool upper, bool *passed) {
    const bool single = c->number == sizeof(float), eigen = which == BENCH_PEERS_EIGEN;
    const bool pivoted = which == BENCH_PEERS_PIVOTED;
    const bool tridiagonal = c->data->problem.pairs == BENCH_PAIRS_TRIDIAG;
    char note[160];
    job j = { .copies = c, .uplo = upper ? "U" : "L" };
    bench_routine r = { .who = "LAPACK",
                        .function = tridiagonal ? (single ? "sstevd" : "dstevd")
                                    : eigen     ? (single ? "ssyevd" : "dsyevd")
                                    : pivoted   ? (single ? "ssysv" : "dsysv")
                                    : single    ? "spotrf+spotrs"
                                                : "dpotrf+dpotrs",
                        .variant = tridiagonal ? ""
                                   : upper     ? "upper"
                                               : "lower",
                        .version = lib->version,
                        .note = note,
                        .eigen = eigen,
                        .call = call,
                        .self = &j };
    snprintf(note, sizeof note, "one call a system, %d OpenMP threads over the systems%s",
             c->data->place->machine.threads,
             eigen && !c->data->problem.pairs ? "; eigenpairs, no solve" : "");
    int code = BENCH_OK;
    if (begin(&j, lib->file, single ? 's' : 'd', which, tridiagonal))
        code = bench_peer_routine(s, c, &r, passed);
    else
        bench_note(s, "peer left out: %s has no %s", lib->version, r.function);
    free(j.work);
    free(j.iwork);
    return code;
}

int bench_peer_lapack_symmetric(bench_session *s, bench_copies *c, bench_peer_class which) {
    bench_lapack lib;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    bool passed = true; /* by the triangle measured last: both fail, or neither */
    int code = run(s, c, &lib, which, false, &passed);
    if (code == BENCH_OK && which != BENCH_PEERS_EIGEN)
        code = run(s, c, &lib, which, true, &passed);
    if (code == BENCH_OK && which == BENCH_PEERS_DEFINITE && !passed)
        code = bench_peer_lapack_symmetric(s, c, BENCH_PEERS_PIVOTED);
    return code;
}
