/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cusolver.c - cuSOLVER's batched routines on small symmetric systems:
 *
 *     potrfBatched + potrsBatched    Cholesky, of either triangle; one right-hand side
 *     syevjBatched                   eigenpairs by Jacobi's method, at its usual tolerance
 *     XsyevBatched                   eigenpairs, where the library has it
 *
 * Of tridiagonal matrices, too, these take the whole matrix: it has no batched routine for diagonals.
 *
 * A is overwritten by factors or vectors, b by x; the copies are made outside the timed region
 * (peers_smallsym.c), and so are the arrays of addresses. The prototypes are ours: the library is
 * opened at run time and no header of it is needed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers.h"
#include "bench/peers_smallsym.h"

enum {
    LOWER = 0,
    UPPER = 1,
    VALUES = 0,
    VECTORS = 1,
    REAL_F32 = 0,
    REAL_F64 = 1
}; /* of cublas_api.h and its kin */

typedef int potrf(void *handle, int uplo, int n, void **a, int lda, int *info, int count);
typedef int potrs(void *handle, int uplo, int n, int nrhs, void **a, int lda, void **b, int ldb,
                  int *info, int count);
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

typedef struct library {
    void *file;
    void *handle; /* cusolverDnHandle_t */
    int (*destroy)(void *handle);
    char letter; /* S or D */
    char version[64];
} library;

typedef struct job {
    const library *lib;
    const bench_copies *copies;
    int uplo; /* of Cholesky */
    potrf *factor;
    potrs *solve;
    syevj *jacobi;
    syev *eigen;
    void *params;         /* syevjInfo_t or cusolverDnParams_t */
    void *work, *on_host; /* buffers                           */
    size_t work_bytes, host_bytes;
} job;

/* cusolverDnSpotrfBatched and its kin: letter 0 is for names that have none. */
static void *function(const library *lib, char letter, const char *rest) {
    char name[64];
    const char type[2] = { letter, 0 };
    snprintf(name, sizeof name, "cusolverDn%s%s", type, rest);
    return dlsym(lib->file, name);
}

static bool open_library(char letter, library *lib) {
    static const char *const versions[] = { "11", "12", NULL };
    int (*create)(void **) = NULL, (*property)(int, int *) = NULL;
    *lib = (library){ .file = bench_open_cuda_library("cusolver", versions), .letter = letter };
    if (!lib->file) return false;
    *(void **)&create = function(lib, 0, "Create");
    *(void **)&lib->destroy = function(lib, 0, "Destroy");
    *(void **)&property = dlsym(lib->file, "cusolverGetProperty");
    if (!create || !lib->destroy || create(&lib->handle) != 0) return false;
    int part[3] = { 0, 0, 0 }; /* major, minor, patch */
    for (int i = 0; property && i < 3; i++) property(i, &part[i]);
    snprintf(lib->version, sizeof lib->version, "cuSOLVER %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

static int call_cholesky(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int n = (int)c->n, count = (int)c->count;
    void **a = c->pointers[0] + set * c->count, **b = c->pointers[1] + set * c->count;
    const int status = j->factor(j->lib->handle, j->uplo, n, a, n, c->info, count);
    if (status != 0) return status;
    return j->solve(j->lib->handle, j->uplo, n, 1, a, n, b, n, c->info, count);
}

static int jobz(const bench_copies *c) { return c->values_alone ? VALUES : VECTORS; }

static int call_jacobi(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int n = (int)c->n;
    return j->jacobi(j->lib->handle, jobz(c), LOWER, n, bench_copies_at(c, 0, set, 0), n, c->values,
                     j->work, (int)(j->work_bytes / c->number), c->info, j->params, (int)c->count);
}

static int call_eigen(void *self, int set) {
    const job *j = self;
    const bench_copies *c = j->copies;
    const int type = j->lib->letter == 'S' ? REAL_F32 : REAL_F64;
    return j->eigen(j->lib->handle, j->params, jobz(c), LOWER, c->n, type,
                    bench_copies_at(c, 0, set, 0), c->n, type, c->values, type, j->work,
                    j->work_bytes, j->on_host, j->host_bytes, c->info, c->count);
}

static bool allocate(job *j) {
    shoal_context *ctx = j->copies->data->place->ctx;
    j->on_host = malloc(j->host_bytes ? j->host_bytes : 1);
    return j->on_host && shoal_alloc(ctx, j->work_bytes ? j->work_bytes : 1, &j->work) == SHOAL_OK;
}

static bool begin_cholesky(job *j) {
    *(void **)&j->factor = function(j->lib, j->lib->letter, "potrfBatched");
    *(void **)&j->solve = function(j->lib, j->lib->letter, "potrsBatched");
    return j->factor && j->solve && j->copies->nrhs == 1;
}

static void enlarge(size_t *most, size_t bytes) {
    if (bytes > *most) *most = bytes;
}

static bool begin_jacobi(job *j) {
    const bench_copies *c = j->copies;
    const int n = (int)c->n;
    int (*create)(void **) = NULL;
    syevj_size *size = NULL;
    *(void **)&create = function(j->lib, 0, "CreateSyevjInfo");
    *(void **)&size = function(j->lib, j->lib->letter, "syevjBatched_bufferSize");
    *(void **)&j->jacobi = function(j->lib, j->lib->letter, "syevjBatched");
    if (!create || !size || !j->jacobi || create(&j->params) != 0) return false;
    for (int what = VALUES; what <= VECTORS; what++) { /* room for either */
        int numbers = 0;
        if (size(j->lib->handle, what, LOWER, n, c->work[0], n, c->values, &numbers, j->params,
                 (int)c->count) != 0 ||
            numbers < 0)
            return false;
        enlarge(&j->work_bytes, (size_t)numbers * c->number);
    }
    return allocate(j);
}

static bool begin_eigen(job *j) {
    const bench_copies *c = j->copies;
    const int type = j->lib->letter == 'S' ? REAL_F32 : REAL_F64;
    int (*create)(void **) = NULL;
    syev_size *size = NULL;
    *(void **)&create = function(j->lib, 0, "CreateParams");
    *(void **)&size = function(j->lib, 0, "XsyevBatched_bufferSize");
    *(void **)&j->eigen = function(j->lib, 0, "XsyevBatched");
    if (!create || !size || !j->eigen || create(&j->params) != 0) return false;
    for (int what = VALUES; what <= VECTORS; what++) {
        size_t device = 0, host = 0;
        if (size(j->lib->handle, j->params, what, LOWER, c->n, type, c->work[0], c->n, type,
                 c->values, type, &device, &host, c->count) != 0)
            return false;
        enlarge(&j->work_bytes, device);
        enlarge(&j->host_bytes, host);
    }
    return allocate(j);
}

typedef struct method {
    const char *name, *note, *destroy; /* destroy: of the parameters, or NULL */
    bool eigen;
    bool (*begin)(job *j);
    int (*call)(void *self, int set);
} method;

static const method cholesky = { "potrfBatched+potrsBatched",
                                 "one triangle, fresh copies outside the timing",
                                 NULL,
                                 false,
                                 begin_cholesky,
                                 call_cholesky };
static const method jacobi = { "syevjBatched", "eigenpairs, no solve", "DestroySyevjInfo",
                               true,           begin_jacobi,           call_jacobi };
static const method eigen = { "XsyevBatched",  "eigenpairs, no solve",
                              "DestroyParams", true,
                              begin_eigen,     call_eigen };

static int run(bench_session *s, bench_copies *c, const library *lib, const method *m, int uplo) {
    job j = { .lib = lib, .copies = c, .uplo = uplo };
    char name[48];
    int code = BENCH_OK;
    if (m->begin(&j)) {
        const bench_routine r = { .who = "cuSOLVER",
                                  .function = name,
                                  .variant = uplo == UPPER ? "upper" : "lower",
                                  .version = lib->version,
                                  .note = c->data->problem.pairs && m->eigen ? "" : m->note,
                                  .eigen = m->eigen,
                                  .call = m->call,
                                  .self = &j,
                                  .workspace = j.work_bytes };
        snprintf(name, sizeof name, "%.*s%s", m == &eigen ? 0 : 1, &lib->letter, m->name);
        code = bench_peer_routine(s, c, &r, NULL);
    } else {
        bench_note(s, "peer left out: cuSOLVER %s does not take this problem", m->name);
    }
    int (*destroy)(void *) = NULL;
    if (m->destroy) *(void **)&destroy = function(lib, 0, m->destroy);
    if (destroy && j.params) destroy(j.params);
    shoal_free(c->data->place->ctx, j.work);
    free(j.on_host);
    return code;
}

int bench_peer_cusolver(bench_session *s, bench_copies *c, bench_peer_class which) {
    library lib;
    if (which == BENCH_PEERS_PIVOTED) return BENCH_OK; /* it has no such batched routine */
    if (!open_library(c->number == sizeof(float) ? 'S' : 'D', &lib)) {
        bench_note(s, "peer left out: cuSOLVER was not found or did not open");
        return BENCH_OK;
    }
    int code = BENCH_OK;
    if (which == BENCH_PEERS_EIGEN) {
        code = run(s, c, &lib, &jacobi, LOWER);
        if (code == BENCH_OK) code = run(s, c, &lib, &eigen, LOWER);
    } else {
        code = run(s, c, &lib, &cholesky, LOWER);
        if (code == BENCH_OK) code = run(s, c, &lib, &cholesky, UPPER);
    }
    lib.destroy(lib.handle);
    return code;
}
