/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_symindef_cpu.c - peers on one dense symmetric matrix: the plain loop of peers_complete.c for complete
 * pivoting, and LAPACK, with as many threads as ours:
 *
 *     sytrf         partial pivoting, blocked
 *     sptrf         the same in packed storage, one column at a time; beside packed problems
 *     sytrf_rook    rook pivoting, blocked
 *
 * of the lower triangle, columns first. Threads are OpenBLAS's own, inside its matrix products.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers.h"
#include "bench/peers_foreign.h"
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

/* The function, and the workspace that it reports. */
static bool begin(job *j, const bench_library *lib, const char *function, bool packed,
                  bool single) {
    char name[32];
    snprintf(name, sizeof name, "%.24s_", function);
    const bench_symbol symbol = { name, packed ? (void *)&j->packed : (void *)&j->full };
    j->pivots = calloc((size_t)j->n, sizeof *j->pivots);
    if (!j->pivots || !bench_find(lib, 0, &symbol, 1)) return false;
    if (packed) return true;
    double numbers = 0; /* or a float */
    float small = 0;
    int info = 0;
    const int query = -1;
    j->full("L", &j->n, NULL, &j->n, j->pivots, single ? (void *)&small : (void *)&numbers, &query,
            &info, 1);
    j->lwork = (int)(single ? (double)small : numbers);
    if (info != 0 || j->lwork < j->n) j->lwork = j->n;
    j->work = malloc((size_t)j->lwork * (single ? sizeof(float) : sizeof(double)));
    return j->work != NULL;
}

static int run(bench_session *s, bench_matrix *d, const bench_library *lib, const char *name,
               bool packed, bench_form form) {
    const bool single = d->problem.type == SHOAL_F32;
    const int threads = d->place->machine.threads;
    void (*set_threads)(int) = NULL;
    char function[24], note[96];
    job j = { .n = (int)d->problem.n };
    bench_find(lib, 0, &(bench_symbol){ "openblas_set_num_threads", &set_threads }, 1);
    snprintf(function, sizeof function, "%c%s", single ? 's' : 'd', name);
    snprintf(note, sizeof note, "lower triangle, %d of its own threads", set_threads ? threads : 1);
    int code = BENCH_OK;
    if (begin(&j, lib, function, packed, single)) {
        const bench_factorer r = { .peer = { .who = "LAPACK",
                                             .function = function,
                                             .version = lib->version,
                                             .note = note,
                                             .workspace = (size_t)j.lwork * (single ? 4 : 8) +
                                                          (size_t)j.n * sizeof *j.pivots,
                                             .task = { .self = &j } },
                                   .packed = packed,
                                   .form = form,
                                   .factor = factor,
                                   .pivots = j.pivots };
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
    bench_library lib;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    if (bench_pivoting_of(&d->problem) == BENCH_ROOK)
        return run(s, d, &lib, "sytrf_rook", false, BENCH_FORM_ROOK);
    int code = run(s, d, &lib, "sytrf", false, BENCH_FORM_SYTRF);
    if (code == BENCH_OK && beside_packed) code = run(s, d, &lib, "sptrf", true, BENCH_FORM_SYTRF);
    return code;
}

/* ---- the loop -------------------------------------------------------------------------------- */

typedef struct loop_job {
    int64_t n;
    bool single;
    void *room;
    int32_t *interchanges;
} loop_job;

static int factor_by_loop(void *self, void *a) {
    const loop_job *j = self;
    if (j->single)
        shoal_complete_loop_f32_plain(j->n, a, j->room, j->interchanges);
    else
        shoal_complete_loop_f64_plain(j->n, a, j->room, j->interchanges);
    return 0;
}

int bench_peer_complete_loop(bench_session *s, bench_matrix *d) {
    const size_t n = (size_t)d->problem.n, number = bench_number_size(&d->problem);
    loop_job j = { .n = d->problem.n,
                   .single = d->problem.type == SHOAL_F32,
                   .room = malloc(2 * n * number),
                   .interchanges = malloc(n * sizeof *j.interchanges) };
    const bench_factorer r = { .peer = { .who = "C",
                                         .function = "loop",
                                         .version = "the compiler of this build, -O2",
                                         .note = "search, then update at once; packed, one thread",
                                         .workspace = 2 * n * number,
                                         .threads = 1,
                                         .task = { .self = &j } },
                               .packed = true,
                               .form = BENCH_FORM_OURS,
                               .factor = factor_by_loop,
                               .pivots = j.interchanges };
    int code = BENCH_OK;
    if (j.room && j.interchanges)
        code = bench_peer_factorer(s, d, &r);
    else
        bench_note(s, "peer left out: no memory for the loop in C");
    free(j.room);
    free(j.interchanges);
    return code;
}
