/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_tridiag.c - the peers of tridiagonal systems.
 *
 * On the CPU LAPACK's sgtsv_/dgtsv_ (elimination with partial pivoting), one call per system,
 * the systems divided among as many OpenMP threads as our solver has, BLAS itself on one thread.
 *
 * gtsv overwrites its input: before each sample fresh copies are made by the same threads, outside
 * the timed region. Right-hand sides are columns, so the data are rearranged where they are not one
 * system after another with nrhs = 1.
 *
 * On CUDA cuSPARSE's tridiagonal solvers.
 *
 *     gtsv2                   one system, diagonal pivoting (SPIKE)
 *     gtsv2StridedBatch       one system after another, no pivoting (CR and PCR)
 *     gtsvInterleavedBatch    interleaved: algo 0 Thomas, 1 LU with partial pivoting, 2 QR
 *
 * The first two overwrite their right-hand side, the last all its input: before each sample fresh
 * copies are made, outside the timed region. All take one right-hand side here and 32-bit sizes.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"

typedef void gtsv(const int *n, const int *nrhs, void *dl, void *d, void *du, void *b,
                  const int *ldb, int *info);

typedef struct lapack_job {
    gtsv *solve;
    size_t number; /* bytes                                            */
    int64_t n, count, nrhs;
    int sets, threads;
    char *source[4], *work[4]; /* dl, d, du, b, one system after another; b by columns */
    size_t size[4];            /* bytes of one set                                 */
} lapack_job;

/* Copies array i of the data, in any layout, to one system after another, columns after columns. */
static void rearrange(const lapack_job *j, const bench_view *v, int i) {
    const char *from = i == 0 ? v->dl : i == 1 ? v->d : i == 2 ? v->du : v->b;
    const int64_t columns = i < 3 ? 1 : v->nrhs, row = i < 3 ? v->row : v->b_row;
    const int64_t system = i < 3 ? v->system : v->b_system;
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int64_t k = 0; k < v->count; k++)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t r = 0; r < v->n; r++)
                memcpy(j->source[i] + (size_t)((k * columns + c) * v->n + r) * j->number,
                       from + (size_t)(r * row + k * system + c) * j->number, j->number);
}

static int lapack_prepare(void *self) {
    const lapack_job *j = self;
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int t = 0; t < j->threads; t++) {
        const size_t begin = (size_t)(j->count * t / j->threads),
                     end = (size_t)(j->count * (t + 1) / j->threads);
        for (int i = 0; i < 4; i++)
            for (int set = 0; set < j->sets; set++) {
                const size_t system = j->size[i] / (size_t)j->count;
                memcpy(j->work[i] + (size_t)set * j->size[i] + begin * system,
                       j->source[i] + begin * system, (end - begin) * system);
            }
    }
    return 0;
}

static int lapack_call(void *self, int set) {
    const lapack_job *j = self;
    const int n = (int)j->n, nrhs = (int)j->nrhs;
    const size_t row = j->number;
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int64_t k = 0; k < j->count; k++) {
        char *p[4];
        int info = 0; /* not looked at: a system without an answer fails the check */
        for (int i = 0; i < 4; i++)
            p[i] =
                j->work[i] + (size_t)set * j->size[i] + (size_t)k * (j->size[i] / (size_t)j->count);
        j->solve(&n, &nrhs, p[0] + row, p[1], p[2], p[3], &n, &info); /* dl starts at row 1 */
    }
    return 0;
}

static bench_view view_of(const lapack_job *j, shoal_type type) {
    bench_view v = { .type = type, .n = j->n, .count = j->count, .nrhs = j->nrhs };
    v.row = v.b_row = 1;
    v.system = v.b_rhs = j->n;
    v.b_system = j->n * j->nrhs;
    v.dl = j->source[0], v.d = j->source[1], v.du = j->source[2], v.b = j->source[3];
    v.x = j->work[3];
    return v;
}

static bool lapack_allocate(lapack_job *j) {
    bool enough = true;
    for (int i = 0; i < 4; i++) {
        j->size[i] = (size_t)j->n * (size_t)j->count * (i < 3 ? 1 : (size_t)j->nrhs) * j->number;
        j->source[i] = malloc(j->size[i]);
        j->work[i] = malloc(j->size[i] * (size_t)j->sets);
        enough = enough && j->source[i] && j->work[i];
    }
    return enough;
}

static int lapack_run(bench_session *s, bench_arrays *data, const bench_library *lib,
                      lapack_job *j) {
    const bench_problem *p = &data->problem;
    const bench_view ours = bench_view_of(data, NULL);
    if (!lapack_allocate(j))
        return bench_error(s, SHOAL_E_NOMEM, "no memory for the peer's copies");
    for (int i = 0; i < 4; i++) rearrange(j, &ours, i);
    lapack_prepare(j);
    lapack_call(j, 0);
    const bench_view theirs = view_of(j, p->type);
    bench_check check;
    char note[160];
    bench_tridiag_check(&theirs, NULL, NULL, j->threads, &check);
    snprintf(
        note, sizeof note, "one call per system, %d OpenMP threads over the systems%s", j->threads,
        p->layout == SHOAL_INTERLEAVED ? ", on its own copy of the data, one system after another"
                                       : "");
    const bench_solver peer = {
        .who = "LAPACK",
        .function = p->type == SHOAL_F32 ? "sgtsv" : "dgtsv",
        .version = lib->version,
        .note = note,
        .task = { .prepare = lapack_prepare, .call = lapack_call, .self = j, .calls = j->sets }
    };
    return bench_add_row(s, p, data->place, &peer, &check, true);
}

int bench_peer_lapack(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    bench_library lib;
    gtsv *solve = NULL;
    if (p->n < 1 || p->count < 1 || p->nrhs < 1 || p->n > INT32_MAX || p->nrhs > INT32_MAX)
        return BENCH_OK;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    if (!bench_find(&lib, p->type == SHOAL_F32 ? 's' : 'd', &(bench_symbol){ "?gtsv_", &solve },
                    1)) {
        bench_note(s, "peer left out: %s has no gtsv", lib.version);
        return BENCH_OK;
    }
    lapack_job j = { .solve = solve,
                     .number = bench_number_size(p),
                     .n = p->n,
                     .count = p->count,
                     .nrhs = p->nrhs,
                     .sets = data->sets,
                     .threads = data->place->machine.threads };
    int code = lapack_run(s, data, &lib, &j);
    for (int i = 0; i < 4; i++) {
        free(j.source[i]);
        free(j.work[i]);
    }
    return code;
}

/* ---- cuSPARSE -------------------------------------------------------------------------------- */

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
    bench_library own;
    single_size *single_bytes;
    single_solve *single;
    strided_size *strided_bytes;
    strided_solve *strided;
    interleaved_size *interleaved_bytes;
    interleaved_solve *interleaved;
} library;

enum { SINGLE = -2, STRIDED = -1 }; /* else the algo of gtsvInterleavedBatch */

typedef struct cusparse_job {
    const library *lib;
    const bench_arrays *data;
    int algo;
    char *work[4]; /* dl, d, du, x: `sets` copies, in device memory */
    void *buffer;
} cusparse_job;

static bool open_library(bench_session *s, shoal_type type, library *l) {
    const bench_symbol list[] = { { "cusparse?gtsv2_bufferSizeExt", &l->single_bytes },
                                  { "cusparse?gtsv2", &l->single },
                                  { "cusparse?gtsv2StridedBatch_bufferSizeExt", &l->strided_bytes },
                                  { "cusparse?gtsv2StridedBatch", &l->strided },
                                  { "cusparse?gtsvInterleavedBatch_bufferSizeExt",
                                    &l->interleaved_bytes },
                                  { "cusparse?gtsvInterleavedBatch", &l->interleaved } };
    const char letter = type == SHOAL_F32 ? 'S' : 'D';
    return bench_open_cuda(s, BENCH_CUSPARSE, letter, list, 6, &l->own);
}

static void *at(const cusparse_job *j, int i, int set) {
    return j->work[i] + (size_t)set * j->data->step[i];
}

/* Fresh input: all of it, or the right-hand side alone where the rest is not written. */
static int cusparse_prepare(void *self) {
    const cusparse_job *j = self;
    const bench_arrays *d = j->data;
    for (int i = j->algo < 0 ? 3 : 0; i < 4; i++)
        for (int set = 0; set < d->sets; set++)
            if (shoal_copy(d->place->ctx, at(j, i, set), bench_arrays_at(d, i, 0), d->size[i]) !=
                SHOAL_OK)
                return -1;
    return 0;
}

static int cusparse_call(void *self, int set) {
    const cusparse_job *j = self;
    const library *l = j->lib;
    const bench_arrays *d = j->data;
    const int n = (int)d->problem.n, count = (int)d->problem.count;
    if (j->algo == SINGLE)
        return l->single(l->own.handle, n, 1, bench_arrays_at(d, 0, set),
                         bench_arrays_at(d, 1, set), bench_arrays_at(d, 2, set), at(j, 3, set), n,
                         j->buffer);
    if (j->algo == STRIDED)
        return l->strided(l->own.handle, n, bench_arrays_at(d, 0, set), bench_arrays_at(d, 1, set),
                          bench_arrays_at(d, 2, set), at(j, 3, set), count, n, j->buffer);
    return l->interleaved(l->own.handle, j->algo, n, at(j, 0, set), at(j, 1, set), at(j, 2, set),
                          at(j, 3, set), count, j->buffer);
}

static shoal_status cusparse_allocate(cusparse_job *j, size_t *buffer_bytes) {
    const bench_arrays *d = j->data;
    const library *l = j->lib;
    const int n = (int)d->problem.n, count = (int)d->problem.count;
    shoal_status status = SHOAL_OK;
    for (int i = j->algo < 0 ? 3 : 0; i < 4 && status == SHOAL_OK; i++)
        status = shoal_alloc(d->place->ctx, d->step[i] * (size_t)d->sets, (void **)&j->work[i]);
    if (status != SHOAL_OK) return status;
    int refused;
    if (j->algo == SINGLE)
        refused = l->single_bytes(l->own.handle, n, 1, d->memory[0], d->memory[1], d->memory[2],
                                  j->work[3], n, buffer_bytes);
    else if (j->algo == STRIDED)
        refused = l->strided_bytes(l->own.handle, n, d->memory[0], d->memory[1], d->memory[2],
                                   j->work[3], count, n, buffer_bytes);
    else
        refused = l->interleaved_bytes(l->own.handle, j->algo, n, j->work[0], j->work[1],
                                       j->work[2], j->work[3], count, buffer_bytes);
    if (refused) return SHOAL_E_ARG;
    return shoal_alloc(d->place->ctx, *buffer_bytes > 0 ? *buffer_bytes : 1, &j->buffer);
}

static void cusparse_release(cusparse_job *j) {
    shoal_context *ctx = j->data->place->ctx;
    for (int i = 0; i < 4; i++) shoal_free(ctx, j->work[i]);
    shoal_free(ctx, j->buffer);
}

static int cusparse_run(bench_session *s, bench_arrays *data, const library *lib, int algo) {
    static const char *const algo_names[] = { "thomas", "lu", "qr" };
    const char *name = algo == SINGLE    ? "gtsv2"
                       : algo == STRIDED ? "gtsv2StridedBatch"
                                         : "gtsvInterleavedBatch";
    cusparse_job j = { .lib = lib, .data = data, .algo = algo };
    size_t buffer_bytes = 0;
    shoal_context *ctx = data->place->ctx;
    shoal_status status = cusparse_allocate(&j, &buffer_bytes);
    const bool solved =
        status == SHOAL_OK && cusparse_prepare(&j) == 0 && cusparse_call(&j, 0) == 0 &&
        shoal_wait(ctx) == SHOAL_OK &&
        shoal_copy(ctx, data->host[BENCH_X], at(&j, 3, 0), data->size[3]) == SHOAL_OK;
    const bench_solver peer = { .who = "cuSPARSE",
                                .function = name,
                                .variant = algo < 0 ? NULL : algo_names[algo],
                                .version = lib->own.version,
                                .workspace = buffer_bytes,
                                .task = { .prepare = cusparse_prepare,
                                          .call = cusparse_call,
                                          .self = &j,
                                          .calls = data->sets } };
    bench_check check;
    if (solved) {
        bench_view view = bench_view_of(data, data->host[BENCH_X]);
        bench_tridiag_check(&view, NULL, NULL, data->place->machine.threads, &check);
    }
    const int code = solved ? bench_add_row(s, &data->problem, data->place, &peer, &check, true)
                            : bench_peer_left_out(s, &peer);
    cusparse_release(&j);
    return code;
}

int bench_peer_cusparse(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    library lib;
    if (p->nrhs != 1 || p->n < 3 || p->n > INT_MAX || p->count < 1 || p->count > INT_MAX / p->n) {
        bench_note(s, "peer left out: cuSPARSE takes nrhs = 1, n >= 3 and up to 2^31 - 1 rows");
        return BENCH_OK;
    }
    int code = BENCH_OK;
    if (!open_library(s, p->type, &lib)) {
        bench_close_cuda(&lib.own);
        return BENCH_OK;
    }
    if (p->layout == SHOAL_SYSTEM_MAJOR && p->count == 1)
        code = cusparse_run(s, data, &lib, SINGLE);
    if (p->layout == SHOAL_SYSTEM_MAJOR && code == BENCH_OK)
        code = cusparse_run(s, data, &lib, STRIDED);
    for (int algo = 0; algo < 3 && code == BENCH_OK && p->layout == SHOAL_INTERLEAVED; algo++)
        code = cusparse_run(s, data, &lib, algo);
    bench_close_cuda(&lib.own);
    return code;
}
