/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cusolver_indefinite.c - cuSOLVER's sytrf, partial pivoting, on one dense symmetric matrix in
 * full storage: the only routine of a CUDA library for it. It stands beside packed problems and beside
 * rook pivoting too, as there is no other.
 *
 * The prototypes are ours: the library is opened at run time and no header of it is needed.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "bench/peers.h"
#include "bench/peers_symindef.h"

enum { LOWER = 0 }; /* of cublas_api.h */

typedef int sytrf_size(void *handle, int n, void *a, int lda, int *numbers);
typedef int sytrf(void *handle, int uplo, int n, void *a, int lda, int *pivots, void *work,
                  int numbers, int *info);

typedef struct job {
    void *handle; /* cusolverDnHandle_t */
    int (*destroy)(void *handle);
    sytrf_size *size;
    sytrf *factor;
    char version[64];
    shoal_context *ctx;
    int n, numbers;
    void *work;         /* of the device */
    int *pivots, *info; /* likewise      */
} job;

static bool open_library(char letter, job *j) {
    static const char *const versions[] = { "11", "12", NULL };
    void *file = bench_open_cuda_library("cusolver", versions);
    int (*create)(void **) = NULL, (*property)(int, int *) = NULL;
    char name[40];
    if (!file) return false;
    *(void **)&create = dlsym(file, "cusolverDnCreate");
    *(void **)&j->destroy = dlsym(file, "cusolverDnDestroy");
    *(void **)&property = dlsym(file, "cusolverGetProperty");
    snprintf(name, sizeof name, "cusolverDn%csytrf_bufferSize", letter);
    *(void **)&j->size = dlsym(file, name);
    snprintf(name, sizeof name, "cusolverDn%csytrf", letter);
    *(void **)&j->factor = dlsym(file, name);
    if (!create || !j->destroy || !j->size || !j->factor || create(&j->handle) != 0) return false;
    int part[3] = { 0, 0, 0 }; /* major, minor, patch */
    for (int i = 0; property && i < 3; i++) property(i, &part[i]);
    snprintf(j->version, sizeof j->version, "cuSOLVER %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

static bool allocate(job *j, void *a, size_t number) {
    if (j->size(j->handle, j->n, a, j->n, &j->numbers) != 0 || j->numbers < 0) return false;
    const size_t work = (size_t)(j->numbers > 0 ? j->numbers : 1) * number;
    return shoal_alloc(j->ctx, work, &j->work) == SHOAL_OK &&
           shoal_alloc(j->ctx, (size_t)j->n * sizeof *j->pivots, (void **)&j->pivots) == SHOAL_OK &&
           shoal_alloc(j->ctx, sizeof *j->info, (void **)&j->info) == SHOAL_OK;
}

static int factor(void *self, void *a) {
    const job *j = self;
    return j->factor(j->handle, LOWER, j->n, a, j->n, j->pivots, j->work, j->numbers, j->info);
}

static int pivots(void *self, int32_t *to) {
    const job *j = self;
    return shoal_copy(j->ctx, to, j->pivots, (size_t)j->n * sizeof *to) == SHOAL_OK ? 0 : -1;
}

int bench_peer_cusolver_indefinite(bench_session *s, bench_matrix *d) {
    const size_t number = bench_number_size(&d->problem);
    const bool rook = bench_pivoting_of(&d->problem) == BENCH_ROOK;
    const char letter = number == sizeof(float) ? 'S' : 'D';
    job j = { .ctx = d->place->ctx, .n = (int)d->problem.n };
    char function[16];
    if (!open_library(letter, &j)) {
        bench_note(s, "peer left out: cuSOLVER was not found or did not open");
        return BENCH_OK;
    }
    snprintf(function, sizeof function, "%csytrf", letter);
    int code = BENCH_OK;
    if (allocate(&j, d->work, number)) {
        const bench_factorer r = { .who = "cuSOLVER",
                                   .function = function,
                                   .version = j.version,
                                   .note = rook ? "partial pivoting, lower triangle, full storage"
                                                : "lower triangle, full storage",
                                   .packed = false,
                                   .partial = true,
                                   .form = BENCH_FORM_SYTRF,
                                   .factor = factor,
                                   .pivots = pivots,
                                   .self = &j,
                                   .workspace = (size_t)j.numbers * number };
        code = bench_peer_factorer(s, d, &r);
    } else {
        bench_note(s, "peer left out: cuSOLVER %s does not take this problem", function);
    }
    shoal_free(j.ctx, j.work);
    shoal_free(j.ctx, j.pivots);
    shoal_free(j.ctx, j.info);
    j.destroy(j.handle);
    return code;
}
