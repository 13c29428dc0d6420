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
 *     gtsv2_nopivot           one system, no pivoting (CR and PCR)
 *     gtsv2StridedBatch       one system after another, no pivoting (CR and PCR)
 *     gtsvInterleavedBatch    interleaved: algo 0 Thomas, 1 LU with partial pivoting, 2 QR
 *
 * The first three overwrite their right-hand side, the last all its input: before each sample fresh
 * copies are made, outside the timed region. All take one right-hand side here and 32-bit sizes.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "bench/peers.h"

typedef void gtsv(const int *n, const int *nrhs, void *dl, void *d, void *du, void *b,
                  const int *ldb, int *info);

typedef struct lapack_job {
    gtsv *solve;
    bench_fresh fresh; /* dl, d, du, b, one system after another; b by columns */
} lapack_job;

/* Copies array i of the data, in any layout, to one system after another, columns after columns. */
static void rearrange(const bench_arrays *data, const bench_view *v, int i, char *to) {
    const size_t number = bench_number_size(&data->problem);
    const char *from = data->host[i];
    const int64_t columns = i < BENCH_B ? 1 : v->nrhs, row = i < BENCH_B ? v->row : v->b_row;
    const int64_t system = i < BENCH_B ? v->system : v->b_system;
#pragma omp parallel for num_threads(data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < v->count; k++)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t r = 0; r < v->n; r++)
                memcpy(to + (size_t)((k * columns + c) * v->n + r) * number,
                       from + (size_t)(r * row + k * system + c) * number, number);
}

static int lapack_prepare(void *self) { return bench_fresh_copy(&((lapack_job *)self)->fresh); }

static int lapack_call(void *self, int set) {
    const lapack_job *j = self;
    const bench_problem *p = &j->fresh.data->problem;
    const int n = (int)p->n, nrhs = (int)p->nrhs;
    const size_t row = bench_number_size(p);
#pragma omp parallel for num_threads(j->fresh.data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < p->count; k++) {
        char *a[4];
        int info = 0; /* not reported: a system without an answer fails the check */
        for (int i = 0; i < 4; i++) a[i] = bench_fresh_at(&j->fresh, i, set, k);
        j->solve(&n, &nrhs, a[0] + row, a[1], a[2], a[3], &n, &info); /* dl starts at row 1 */
    }
    return 0;
}

static bench_view view_of(const bench_problem *p, const bench_fresh *f) {
    bench_view v = { .type = p->type, .n = p->n, .count = p->count, .nrhs = p->nrhs };
    v.row = v.b_row = 1;
    v.system = v.b_rhs = p->n;
    v.b_system = p->n * p->nrhs;
    v.dl = f->full[0], v.d = f->full[1], v.du = f->full[2], v.b = f->full[3];
    v.x = f->work[3];
    return v;
}

static int lapack_run(bench_session *s, bench_arrays *data, const bench_library *lib,
                      lapack_job *j) {
    const bench_problem *p = &data->problem;
    const int threads = data->place->machine.threads;
    const bench_view ours = bench_view_of(data, NULL);
    if (bench_fresh_make(&j->fresh) != SHOAL_OK)
        return bench_error(s, SHOAL_E_NOMEM, "no memory for the peer's copies");
    for (int i = 0; i < 4; i++) rearrange(data, &ours, i, j->fresh.full[i]);
    lapack_prepare(j);
    lapack_call(j, 0);
    const bench_view theirs = view_of(p, &j->fresh);
    bench_check check;
    char note[160];
    bench_tridiag_check(&theirs, NULL, NULL, threads, &check);
    snprintf(note, sizeof note, "one call per system, %d thread%s over the systems%s", threads,
             threads == 1 ? "" : "s",
             p->layout == SHOAL_INTERLEAVED
                 ? ", on its own copy of the data, one system after another"
                 : "");
    const bench_solver peer = {
        .who = "LAPACK",
        .function = p->type == SHOAL_F32 ? "sgtsv" : "dgtsv",
        .version = lib->version,
        .note = note,
        .task = { .prepare = lapack_prepare, .call = lapack_call, .self = j, .calls = data->sets }
    };
    return bench_add_row(s, p, data->place, &peer, &check, true);
}

int bench_peer_lapack(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const char letter = p->type == SHOAL_F32 ? 's' : 'd';
    bench_library lib;
    lapack_job j = { .fresh = { .data = data, .arrays = 4 } };
    if (p->n < 1 || p->count < 1 || p->nrhs < 1 || p->n > INT32_MAX || p->nrhs > INT32_MAX)
        return BENCH_OK;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    if (!bench_find(&lib, letter, &(bench_symbol){ "?gtsv_", &j.solve }, 1)) {
        bench_note(s, "peer left out: %s has no gtsv", lib.version);
        return BENCH_OK;
    }
    for (int i = 0; i < 4; i++) j.fresh.size[i] = data->size[i];
    const int code = lapack_run(s, data, &lib, &j);
    bench_fresh_free(&j.fresh);
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
    single_size *single_bytes[2]; /* with and without pivoting */
    single_solve *single[2];
    strided_size *strided_bytes;
    strided_solve *strided;
    interleaved_size *interleaved_bytes;
    interleaved_solve *interleaved;
} library;

enum { SINGLE = -3, SINGLE_NOPIVOT, STRIDED }; /* else the algo of gtsvInterleavedBatch */

typedef struct cusparse_job {
    const library *lib;
    const bench_arrays *data;
    int algo, first;   /* first: of dl, d, du, x that are overwritten */
    bench_fresh fresh; /* those                                      */
    void *buffer;
} cusparse_job;

static bool open_library(bench_session *s, shoal_type type, library *l) {
    const bench_symbol list[] = { { "cusparse?gtsv2_bufferSizeExt", &l->single_bytes[0] },
                                  { "cusparse?gtsv2", &l->single[0] },
                                  { "cusparse?gtsv2_nopivot_bufferSizeExt", &l->single_bytes[1] },
                                  { "cusparse?gtsv2_nopivot", &l->single[1] },
                                  { "cusparse?gtsv2StridedBatch_bufferSizeExt", &l->strided_bytes },
                                  { "cusparse?gtsv2StridedBatch", &l->strided },
                                  { "cusparse?gtsvInterleavedBatch_bufferSizeExt",
                                    &l->interleaved_bytes },
                                  { "cusparse?gtsvInterleavedBatch", &l->interleaved } };
    const char letter = type == SHOAL_F32 ? 'S' : 'D';
    return bench_open_cuda(s, BENCH_CUSPARSE, letter, list, (int)(sizeof list / sizeof *list),
                           &l->own);
}

static void *at(const cusparse_job *j, int i, int set) {
    if (i < j->first) return bench_arrays_at(j->data, i, set);
    return bench_fresh_at(&j->fresh, i - j->first, set, 0);
}

static int cusparse_prepare(void *self) { return bench_fresh_copy(&((cusparse_job *)self)->fresh); }

static int cusparse_call(void *self, int set) {
    const cusparse_job *j = self;
    const library *l = j->lib;
    const int n = (int)j->data->problem.n, count = (int)j->data->problem.count;
    void *dl = at(j, 0, set), *d = at(j, 1, set), *du = at(j, 2, set), *x = at(j, 3, set);
    if (j->algo < STRIDED)
        return l->single[j->algo - SINGLE](l->own.handle, n, 1, dl, d, du, x, n, j->buffer);
    if (j->algo == STRIDED) return l->strided(l->own.handle, n, dl, d, du, x, count, n, j->buffer);
    return l->interleaved(l->own.handle, j->algo, n, dl, d, du, x, count, j->buffer);
}

static shoal_status cusparse_allocate(cusparse_job *j, size_t *buffer_bytes) {
    const bench_arrays *data = j->data;
    const library *l = j->lib;
    const int n = (int)data->problem.n, count = (int)data->problem.count;
    j->first = j->algo < 0 ? 3 : 0;
    j->fresh = (bench_fresh){ .data = data, .arrays = 4 - j->first, .given = true };
    for (int i = j->first; i < 4; i++) {
        j->fresh.size[i - j->first] = data->size[i];
        j->fresh.step[i - j->first] = data->step[i];
        j->fresh.source[i - j->first] = data->memory[i];
    }
    const shoal_status status = bench_fresh_make(&j->fresh);
    if (status != SHOAL_OK) return status;
    void *dl = at(j, 0, 0), *d = at(j, 1, 0), *du = at(j, 2, 0), *x = at(j, 3, 0);
    void *handle = l->own.handle;
    const int refused =
        j->algo < STRIDED
            ? l->single_bytes[j->algo - SINGLE](handle, n, 1, dl, d, du, x, n, buffer_bytes)
        : j->algo == STRIDED
            ? l->strided_bytes(handle, n, dl, d, du, x, count, n, buffer_bytes)
            : l->interleaved_bytes(handle, j->algo, n, dl, d, du, x, count, buffer_bytes);
    if (refused) return SHOAL_E_ARG;
    return shoal_alloc(data->place->ctx, *buffer_bytes > 0 ? *buffer_bytes : 1, &j->buffer);
}

static int cusparse_run(bench_session *s, bench_arrays *data, const library *lib, int algo) {
    static const char *const algo_names[] = { "thomas", "lu", "qr" };
    static const char *const names[] = { "gtsv2", "gtsv2_nopivot", "gtsv2StridedBatch" };
    const char *name = algo < 0 ? names[algo - SINGLE] : "gtsvInterleavedBatch";
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
    bench_fresh_free(&j.fresh);
    shoal_free(ctx, j.buffer);
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
    if (!open_library(s, p->type, &lib)) return BENCH_OK;
    for (int algo = SINGLE; algo < STRIDED && p->count == 1 && code == BENCH_OK; algo++)
        if (p->layout == SHOAL_SYSTEM_MAJOR) code = cusparse_run(s, data, &lib, algo);
    if (p->layout == SHOAL_SYSTEM_MAJOR && code == BENCH_OK)
        code = cusparse_run(s, data, &lib, STRIDED);
    for (int algo = 0; algo < 3 && code == BENCH_OK && p->layout == SHOAL_INTERLEAVED; algo++)
        code = cusparse_run(s, data, &lib, algo);
    bench_close_cuda(&lib.own);
    return code;
}
