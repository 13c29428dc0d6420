/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_lapack_indefinite.c - LAPACK on one dense symmetric matrix, with as many threads as ours:
 *
 *     sytrf         partial pivoting, blocked
 *     sptrf         the same in packed storage, one column at a time; beside packed problems
 *     sytrf_rook    rook pivoting, blocked
 *
 * of the lower triangle, columns first. Threads are OpenBLAS's own, inside its matrix products.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers.h"
#include "bench/peers_symindef.h"

/* With the length of the word at their end, as Fortran has it. */
typedef void sytrf(const char *uplo, const int *n, void *a, const int *lda, int *pivots, void *work,
                   const int *lwork, int *info, size_t one);
typedef void sptrf(const char *uplo, const int *n, void *a, int *pivots, int *info, size_t one);

typedef struct job {
    int n, lwork;
    sytrf *full;
    sptrf *packed;
    int *pivots;
    void *work;
} job;

static int factor(void *self, void *a) {
    job *j = self;
    int info = 0;
    if (j->packed)
        j->packed("L", &j->n, a, j->pivots, &info, 1);
    else
        j->full("L", &j->n, a, &j->n, j->pivots, j->work, &j->lwork, &info, 1);
    return info < 0 ? info : 0; /* above 0: a pivot is zero, and the factors are there */
}

static int pivots(void *self, int32_t *to) {
    const job *j = self;
    for (int i = 0; i < j->n; i++) to[i] = j->pivots[i];
    return 0;
}

/* The function, and the workspace that it asks for. */
static bool begin(job *j, void *file, const char *function, bool packed, bool single) {
    char name[32];
    snprintf(name, sizeof name, "%.24s_", function);
    if (packed)
        *(void **)&j->packed = dlsym(file, name);
    else
        *(void **)&j->full = dlsym(file, name);
    j->pivots = calloc((size_t)j->n, sizeof *j->pivots);
    if (!j->pivots || !(j->packed || j->full)) return false;
    if (packed) return true;
    double wanted = 0; /* or a float */
    float small = 0;
    int info = 0;
    const int asks = -1;
    j->full("L", &j->n, NULL, &j->n, j->pivots, single ? (void *)&small : (void *)&wanted, &asks,
            &info, 1);
    j->lwork = (int)(single ? (double)small : wanted);
    if (info != 0 || j->lwork < j->n) j->lwork = j->n;
    j->work = malloc((size_t)j->lwork * (single ? sizeof(float) : sizeof(double)));
    return j->work != NULL;
}

static int run(bench_session *s, bench_matrix *d, const bench_lapack *lib, const char *name,
               bool packed, bench_form form) {
    const bool single = d->problem.type == SHOAL_F32;
    const int threads = d->place->machine.threads;
    void (*set_threads)(int) = NULL;
    char function[24], note[96];
    job j = { .n = (int)d->problem.n };
    *(void **)&set_threads = dlsym(lib->file, "openblas_set_num_threads");
    snprintf(function, sizeof function, "%c%s", single ? 's' : 'd', name);
    snprintf(note, sizeof note, "lower triangle, %d of its own threads", set_threads ? threads : 1);
    int code = BENCH_OK;
    if (begin(&j, lib->file, function, packed, single)) {
        const bench_factorer r = { .who = "LAPACK",
                                   .function = function,
                                   .version = lib->version,
                                   .note = note,
                                   .packed = packed,
                                   .form = form,
                                   .factor = factor,
                                   .pivots = pivots,
                                   .self = &j,
                                   .workspace = (size_t)j.lwork * (single ? 4 : 8) +
                                                (size_t)j.n * sizeof *j.pivots };
        if (set_threads) set_threads(threads);
        code = bench_peer_factorer(s, d, &r);
        if (set_threads) set_threads(1);
    } else {
        bench_note(s, "peer left out: %s has no %s", lib->version, function);
    }
    free(j.pivots);
    free(j.work);
    return code;
}

int bench_peer_lapack_indefinite(bench_session *s, bench_matrix *d) {
    const bool beside_packed = d->problem.storage == SHOAL_PACKED;
    bench_lapack lib;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    if (bench_pivoting_of(&d->problem) == BENCH_ROOK)
        return run(s, d, &lib, "sytrf_rook", false, BENCH_FORM_ROOK);
    int code = run(s, d, &lib, "sytrf", false, BENCH_FORM_SYTRF);
    if (code == BENCH_OK && beside_packed) code = run(s, d, &lib, "sptrf", true, BENCH_FORM_SYTRF);
    return code;
}
