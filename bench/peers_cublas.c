/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cublas.c - cuBLAS's batched LU with partial pivoting on small symmetric systems:
 *
 *     getrfBatched + getrsBatched    both triangles are read; any symmetric matrix, any nrhs
 *
 * A is overwritten by its factors, b by x; the copies are made outside the timed region
 * (peers_smallsym.c), and so are the arrays of addresses. The prototypes are ours: the library is
 * opened at run time and no header of it is needed.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "bench/peers.h"
#include "bench/peers_smallsym.h"

enum { NO_TRANSPOSE = 0 }; /* of cublas_api.h */

typedef int getrf(void *handle, int n, void *const *a, int lda, int *pivot, int *info, int count);
typedef int getrs(void *handle, int trans, int n, int nrhs, void *const *a, int lda,
                  const int *pivot, void *const *b, int ldb, int *info, int count);

typedef struct library {
    void *handle; /* cublasHandle_t */
    int (*destroy)(void *handle);
    getrf *factor;
    getrs *solve;
    char version[64];
} library;

typedef struct job {
    const library *lib;
    const bench_copies *copies;
} job;

/* A GPU that refuses leaves lib->handle NULL. */
static bool open_library(char letter, library *lib) {
    static const char *const versions[] = { "12", "13", NULL };
    void *file = bench_open_cuda_library("cublas", versions);
    int (*create)(void **) = NULL, (*property)(int, int *) = NULL;
    char name[32];
    *lib = (library){ 0 };
    if (!file) return false;
    *(void **)&create = dlsym(file, "cublasCreate_v2");
    *(void **)&lib->destroy = dlsym(file, "cublasDestroy_v2");
    *(void **)&property = dlsym(file, "cublasGetProperty");
    snprintf(name, sizeof name, "cublas%cgetrfBatched", letter);
    *(void **)&lib->factor = dlsym(file, name);
    snprintf(name, sizeof name, "cublas%cgetrsBatched", letter);
    *(void **)&lib->solve = dlsym(file, name);
    if (!create || !lib->destroy || !lib->factor || !lib->solve || create(&lib->handle) != 0)
        return false;
    int part[3] = { 0, 0, 0 }; /* major, minor, patch */
    for (int i = 0; property && i < 3; i++) property(i, &part[i]);
    snprintf(lib->version, sizeof lib->version, "cuBLAS %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

static int call(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int n = (int)c->n, count = (int)c->count;
    void *const *a = c->pointers[0] + set * c->count, *const *b = c->pointers[1] + set * c->count;
    int info = 0; /* of the arguments; on the host */
    const int status = j->lib->factor(j->lib->handle, n, a, n, c->pivot, c->info, count);
    if (status != 0) return status;
    const int solved = j->lib->solve(j->lib->handle, NO_TRANSPOSE, n, (int)c->nrhs, a, n, c->pivot,
                                     b, n, &info, count);
    return solved != 0 ? solved : info;
}

int bench_peer_cublas(bench_session *s, bench_copies *c) {
    const char letter = c->number == sizeof(float) ? 'S' : 'D';
    library lib;
    if (!open_library(letter, &lib)) {
        bench_note(s, "peer left out: cuBLAS was not found or did not open");
        return BENCH_OK;
    }
    job j = { &lib, c };
    char function[48];
    snprintf(function, sizeof function, "%cgetrfBatched+%cgetrsBatched", letter, letter);
    const bench_routine r = { .who = "cuBLAS",
                              .function = function,
                              .variant = "",
                              .version = lib.version,
                              .note = "LU of both triangles, fresh copies outside the timing",
                              .call = call,
                              .self = &j,
                              .workspace = (size_t)c->n * (size_t)c->count * sizeof *c->pivot };
    int code = bench_peer_routine(s, c, &r, NULL);
    lib.destroy(lib.handle);
    return code;
}
