/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cusparse.c - cuSPARSE's tridiagonal solvers.
 *
 *     gtsv2                   one system, diagonal pivoting (SPIKE)
 *     gtsv2StridedBatch       one system after another, no pivoting (CR and PCR)
 *     gtsvInterleavedBatch    interleaved: algo 0 Thomas, 1 LU with partial pivoting, 2 QR
 *
 * The first two overwrite their right-hand side, the last all its input: before each sample fresh
 * copies are made, outside the timed region. All take one right-hand side here and 32-bit sizes. The
 * prototypes are ours: the library is opened at run time and no header of it is needed.
 */
#include "bench/peers.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef int single_size(void *handle, int m, int n, const void *dl, const void *d, const void *du,
                        const void *x, int ldb, size_t *bytes);
typedef int single_solve(void *handle, int m, int n, const void *dl, const void *d, const void *du,
                         void *x, int ldb, void *buffer);
typedef int strided_size(void *handle, int m, const void *dl, const void *d, const void *du,
                         const void *x, int count, int stride, size_t *bytes);
typedef int strided_solve(void *handle, int m, const void *dl, const void *d, const void *du,
                          void *x, int count, int stride, void *buffer);
typedef int interleaved_size(void *handle, int algo, int m, const void *dl, const void *d,
                             const void *du, const void *x, int count, size_t *bytes);
typedef int interleaved_solve(void *handle, int algo, int m, void *dl, void *d, void *du, void *x,
                              int count, void *buffer);

typedef struct library {
    void *handle; /* cusparseHandle_t */
    int (*destroy)(void *handle);
    single_size *single_bytes;
    single_solve *single;
    strided_size *strided_bytes;
    strided_solve *strided;
    interleaved_size *interleaved_bytes;
    interleaved_solve *interleaved;
    char version[128];
} library;

enum { SINGLE = -2, STRIDED = -1 }; /* else the algo of gtsvInterleavedBatch */

typedef struct job {
    const library *lib;
    const bench_data *data;
    int algo;
    char *work[4]; /* dl, d, du, x: `sets` copies, in device memory */
    void *buffer;
} job;

/* cusparseSgtsv2StridedBatch and its kin: `letter` is S or D. */
static void *function(void *file, char letter, const char *rest) {
    char name[96];
    snprintf(name, sizeof name, "cusparse%c%s", letter, rest);
    return dlsym(file, name);
}

static bool open_library(shoal_type type, library *lib) {
    static const char *const versions[] = { "12", "13", NULL };
    void *file = bench_open_cuda_library("cusparse", versions);
    *lib = (library){ 0 };
    if (!file) return false;
    const char letter = type == SHOAL_F32 ? 'S' : 'D';
    int (*create)(void **) = NULL, (*property)(int, int *) = NULL;
    *(void **)&create = dlsym(file, "cusparseCreate");
    *(void **)&property = dlsym(file, "cusparseGetProperty");
    *(void **)&lib->destroy = dlsym(file, "cusparseDestroy");
    *(void **)&lib->single_bytes = function(file, letter, "gtsv2_bufferSizeExt");
    *(void **)&lib->single = function(file, letter, "gtsv2");
    *(void **)&lib->strided_bytes = function(file, letter, "gtsv2StridedBatch_bufferSizeExt");
    *(void **)&lib->strided = function(file, letter, "gtsv2StridedBatch");
    *(void **)&lib->interleaved_bytes =
        function(file, letter, "gtsvInterleavedBatch_bufferSizeExt");
    *(void **)&lib->interleaved = function(file, letter, "gtsvInterleavedBatch");
    if (!create || !lib->destroy || !lib->single_bytes || !lib->single || !lib->strided_bytes ||
        !lib->strided || !lib->interleaved_bytes || !lib->interleaved || create(&lib->handle) != 0)
        return false;
    int part[3] = { 0, 0, 0 }; /* major, minor, patch */
    for (int i = 0; property && i < 3; i++) property(i, &part[i]);
    snprintf(lib->version, sizeof lib->version, "cuSPARSE %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

static void *at(const job *j, int i, int set) {
    return j->work[i] + (size_t)set * j->data->step[i];
}

/* Fresh input: all of it, or the right-hand side alone where the rest is not written. */
static int prepare(void *self) {
    const job *j = self;
    const bench_data *d = j->data;
    for (int i = j->algo < 0 ? 3 : 0; i < 4; i++)
        for (int set = 0; set < d->sets; set++)
            if (shoal_copy(d->place->ctx, at(j, i, set), bench_arrays_at(d, i, 0), d->size[i]) !=
                SHOAL_OK)
                return -1;
    return 0;
}

static int call(void *self, int set) {
    const job *j = self;
    const library *l = j->lib;
    const bench_data *d = j->data;
    const int n = (int)d->problem.n, count = (int)d->problem.count;
    if (j->algo == SINGLE)
        return l->single(l->handle, n, 1, bench_arrays_at(d, 0, set), bench_arrays_at(d, 1, set),
                         bench_arrays_at(d, 2, set), at(j, 3, set), n, j->buffer);
    if (j->algo == STRIDED)
        return l->strided(l->handle, n, bench_arrays_at(d, 0, set), bench_arrays_at(d, 1, set),
                          bench_arrays_at(d, 2, set), at(j, 3, set), count, n, j->buffer);
    return l->interleaved(l->handle, j->algo, n, at(j, 0, set), at(j, 1, set), at(j, 2, set),
                          at(j, 3, set), count, j->buffer);
}

static shoal_status allocate(job *j, size_t *buffer_bytes) {
    const bench_data *d = j->data;
    const library *l = j->lib;
    const int n = (int)d->problem.n, count = (int)d->problem.count;
    shoal_status status = SHOAL_OK;
    for (int i = j->algo < 0 ? 3 : 0; i < 4 && status == SHOAL_OK; i++)
        status = shoal_alloc(d->place->ctx, d->step[i] * (size_t)d->sets, (void **)&j->work[i]);
    if (status != SHOAL_OK) return status;
    int refused;
    if (j->algo == SINGLE)
        refused = l->single_bytes(l->handle, n, 1, d->memory[0], d->memory[1], d->memory[2],
                                  j->work[3], n, buffer_bytes);
    else if (j->algo == STRIDED)
        refused = l->strided_bytes(l->handle, n, d->memory[0], d->memory[1], d->memory[2],
                                   j->work[3], count, n, buffer_bytes);
    else
        refused = l->interleaved_bytes(l->handle, j->algo, n, j->work[0], j->work[1], j->work[2],
                                       j->work[3], count, buffer_bytes);
    if (refused) return SHOAL_E_ARG;
    return shoal_alloc(d->place->ctx, *buffer_bytes > 0 ? *buffer_bytes : 1, &j->buffer);
}

static void release(job *j) {
    shoal_context *ctx = j->data->place->ctx;
    for (int i = 0; i < 4; i++) shoal_free(ctx, j->work[i]);
    shoal_free(ctx, j->buffer);
}

static int run(bench_session *s, bench_data *data, const library *lib, int algo) {
    static const char *const algo_names[] = { "thomas", "lu", "qr" };
    const char *name = algo == SINGLE    ? "gtsv2"
                       : algo == STRIDED ? "gtsv2StridedBatch"
                                         : "gtsvInterleavedBatch";
    job j = { .lib = lib, .data = data, .algo = algo };
    size_t buffer_bytes = 0;
    shoal_context *ctx = data->place->ctx;
    shoal_status status = allocate(&j, &buffer_bytes);
    bool solved = status == SHOAL_OK && prepare(&j) == 0 && call(&j, 0) == 0 &&
                  shoal_wait(ctx) == SHOAL_OK &&
                  shoal_copy(ctx, data->answer, at(&j, 3, 0), data->size[3]) == SHOAL_OK;
    const bench_solver peer = {
        .who = "cuSPARSE",
        .function = name,
        .variant = algo < 0 ? NULL : algo_names[algo],
        .version = lib->version,
        .workspace = buffer_bytes,
        .task = { .prepare = prepare, .call = call, .self = &j, .calls = data->sets }
    };
    bench_check check;
    if (solved) {
        bench_view view = bench_view_of(data, data->answer);
        bench_tridiag_check(&view, NULL, NULL, data->place->machine.threads, &check);
    }
    const int code = solved ? bench_add_row(s, &data->problem, data->place, &peer, &check, true)
                            : bench_peer_left_out(s, &peer);
    release(&j);
    return code;
}

int bench_peer_cusparse(bench_session *s, bench_data *data) {
    const bench_problem *p = &data->problem;
    library lib;
    if (p->nrhs != 1 || p->n < 3 || p->n > INT_MAX || p->count < 1 || p->count > INT_MAX / p->n) {
        bench_note(s, "peer left out: cuSPARSE takes nrhs = 1, n >= 3 and up to 2^31 - 1 rows");
        return BENCH_OK;
    }
    if (!open_library(p->type, &lib)) {
        bench_note(s, "peer left out: cuSPARSE was not found or did not open");
        return BENCH_OK;
    }
    int code = BENCH_OK;
    if (p->layout == SHOAL_SYSTEM_MAJOR && p->count == 1) code = run(s, data, &lib, SINGLE);
    if (p->layout == SHOAL_SYSTEM_MAJOR && code == BENCH_OK) code = run(s, data, &lib, STRIDED);
    for (int algo = 0; algo < 3 && code == BENCH_OK && p->layout == SHOAL_INTERLEAVED; algo++)
        code = run(s, data, &lib, algo);
    lib.destroy(lib.handle);
    return code;
}
