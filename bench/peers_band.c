/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_band.c - the peers of pentadiagonal and complex systems.
 *
 * On the CPU LAPACK's gbsv (pentadiagonal) and gtsv (tridiagonal), with partial pivoting, one call per system, the systems
 * divided among as many OpenMP threads as our solver has, BLAS itself on one thread. On CUDA cuSPARSE:
 *
 *     gpsvInterleavedBatch    pentadiagonal, interleaved, QR
 *     gtsvInterleavedBatch    tridiagonal, interleaved: algo 0 Thomas, 1 LU with partial pivoting, 2 QR
 *     gtsv2StridedBatch       tridiagonal, one system after another, no pivoting (CR and PCR)
 *
 * All overwrite their input: before each sample fresh copies are made, outside the timed region. cuSPARSE takes one
 * right-hand side here and 32-bit sizes.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/band.h"
#include "bench/peers.h"

enum { D = BENCH_BAND_D, B = BENCH_BAND_B, X = BENCH_BAND_X };
enum { LD = 7 }; /* of gbsv: two diagonals below, two above, two for fill-in */

static char letter_of(const bench_problem *p, const char *letters) { /* "sdcz" */
    return letters[2 * (bench_band_parts(p) - 1) + (p->type == SHOAL_F64)];
}

static size_t number_of(const bench_problem *p) {
    return bench_number_size(p) * (size_t)bench_band_parts(p);
}

/* ---- LAPACK ---------------------------------------------------------------------------------- */

typedef void gtsv(const int *n, const int *nrhs, void *dl, void *d, void *du, void *b,
                  const int *ldb, int *info);
typedef void gbsv(const int *n, const int *lower, const int *upper, const int *nrhs, void *a,
                  const int *lda, int *pivots, void *b, const int *ldb, int *info);

typedef struct lapack_job {
    gtsv *tridiagonal;
    gbsv *band;
    bench_fresh fresh; /* dl, d, du, b, or the matrix by columns and b: one system after another */
    int *pivots;       /* n per system */
} lapack_job;

/* Copies diagonals and right-hand sides, in any layout, to LAPACK's. */
static void rearrange(const bench_arrays *data, const lapack_job *j) {
    const bench_problem *p = &data->problem;
    const size_t number = number_of(p);
    const int width = bench_band_width(p), last = j->fresh.arrays - 1;
    memset(j->fresh.full[0], 0, j->fresh.size[0]);
#pragma omp parallel for num_threads(data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->n; i++) {
            const int64_t at = p->layout == SHOAL_INTERLEAVED ? i * p->count + k : k * p->n + i;
            for (int e = -width; e <= width; e++) {
                const int64_t column = i + e;
                if (column < 0 || column >= p->n) continue;
                char *to = width == 1
                               ? (char *)j->fresh.full[e + 1] + (size_t)(k * p->n + i) * number
                               : (char *)j->fresh.full[0] +
                                     (size_t)((k * p->n + column) * LD + 4 - e) * number;
                memcpy(to, (const char *)data->host[D + e] + (size_t)at * number, number);
            }
            for (int64_t c = 0; c < p->nrhs; c++)
                memcpy((char *)j->fresh.full[last] +
                           (size_t)((k * p->nrhs + c) * p->n + i) * number,
                       (const char *)data->host[B] + (size_t)(at * p->nrhs + c) * number, number);
        }
}

/* x, by columns, as our arrays are laid out. */
static void bring_home(const bench_arrays *data, const lapack_job *j) {
    const bench_problem *p = &data->problem;
    const size_t number = number_of(p);
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t c = 0; c < p->nrhs; c++) {
                const int64_t at = p->layout == SHOAL_INTERLEAVED ? i * p->count + k : k * p->n + i;
                memcpy((char *)data->host[X] + (size_t)(at * p->nrhs + c) * number,
                       j->fresh.work[j->fresh.arrays - 1] +
                           (size_t)((k * p->nrhs + c) * p->n + i) * number,
                       number);
            }
}

static int lapack_prepare(void *self) { return bench_fresh_copy(&((lapack_job *)self)->fresh); }

static int lapack_call(void *self, int set) {
    const lapack_job *j = self;
    const bench_problem *p = &j->fresh.data->problem;
    const int n = (int)p->n, nrhs = (int)p->nrhs, two = 2, ld = LD;
    const size_t row = number_of(p);
#pragma omp parallel for num_threads(j->fresh.data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < p->count; k++) {
        char *a[BENCH_FRESH];
        int info = 0; /* not reported: a system without an answer fails the check */
        for (int i = 0; i < j->fresh.arrays; i++) a[i] = bench_fresh_at(&j->fresh, i, set, k);
        if (j->band)
            j->band(&n, &two, &two, &nrhs, a[0], &ld, j->pivots + k * n, a[1], &n, &info);
        else
            j->tridiagonal(&n, &nrhs, a[0] + row, a[1], a[2], a[3], &n, &info);
    }
    return 0;
}

static int lapack_run(bench_session *s, bench_arrays *data, const bench_library *lib,
                      lapack_job *j) {
    const bench_problem *p = &data->problem;
    const int threads = data->place->machine.threads;
    char name[BENCH_SYMBOL], note[160];
    j->pivots = j->band ? malloc((size_t)(p->n * p->count) * sizeof(int)) : NULL;
    if ((j->band && !j->pivots) || bench_fresh_make(&j->fresh) != SHOAL_OK)
        return bench_error(s, SHOAL_E_NOMEM, "no memory for the peer's copies");
    rearrange(data, j);
    lapack_prepare(j);
    lapack_call(j, 0);
    bring_home(data, j);
    bench_check check;
    bench_band_check(s, data, data->host[X], NULL, NULL, &check);
    snprintf(note, sizeof note,
             "one call per system, %d thread%s over the systems, on its own copy of the data",
             threads, threads == 1 ? "" : "s");
    const bench_solver peer = {
        .who = "LAPACK",
        .function = bench_typed_name(j->band ? "?gbsv" : "?gtsv", letter_of(p, "sdcz"), name),
        .version = lib->version,
        .note = note,
        .task = { .prepare = lapack_prepare, .call = lapack_call, .self = j, .calls = data->sets }
    };
    return bench_add_row(s, p, data->place, &peer, &check, true);
}

int bench_band_lapack(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const bool is_tridiagonal = bench_band_width(p) == 1;
    bench_library lib;
    lapack_job j = { .fresh = { .data = data, .arrays = is_tridiagonal ? 4 : 2 } };
    if (p->n < 1 || p->count < 1 || p->n > INT32_MAX || p->nrhs > INT32_MAX) return BENCH_OK;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    const bench_symbol symbol = is_tridiagonal ? (bench_symbol){ "?gtsv_", &j.tridiagonal }
                                               : (bench_symbol){ "?gbsv_", &j.band };
    if (!bench_find(&lib, letter_of(p, "sdcz"), &symbol, 1)) {
        bench_note(s, "peer left out: %s has no %s", lib.version, symbol.name);
        return BENCH_OK;
    }
    for (int i = 0; i < j.fresh.arrays; i++)
        j.fresh.size[i] = i + 1 == j.fresh.arrays ? data->size[B] : data->size[D];
    if (!is_tridiagonal) j.fresh.size[0] *= LD;
    const int code = lapack_run(s, data, &lib, &j);
    bench_fresh_free(&j.fresh);
    free(j.pivots);
    return code;
}

/* ---- cuSPARSE -------------------------------------------------------------------------------- */

typedef int penta_size(void *handle, int algo, int m, const void *dl2, const void *dl,
                       const void *d, const void *du, const void *du2, const void *x, int count,
                       size_t *bytes);
typedef int penta_solve(void *handle, int algo, int m, void *dl2, void *dl, void *d, void *du,
                        void *du2, void *x, int count, void *buffer);
typedef int tridiag_size(void *handle, int algo, int m, const void *dl, const void *d,
                         const void *du, const void *x, int count, size_t *bytes);
typedef int tridiag_solve(void *handle, int algo, int m, void *dl, void *d, void *du, void *x,
                          int count, void *buffer);
typedef int strided_size(void *handle, int m, const void *dl, const void *d, const void *du,
                         const void *x, int count, int stride, size_t *bytes);
typedef int strided_solve(void *handle, int m, const void *dl, const void *d, const void *du,
                          void *x, int count, int stride, void *buffer);

typedef struct library {
    bench_library own;
    penta_size *penta_bytes;
    penta_solve *penta;
    tridiag_size *tridiag_bytes;
    tridiag_solve *tridiag;
    strided_size *strided_bytes;
    strided_solve *strided;
} library;

enum { STRIDED = -1 }; /* else the algo of an InterleavedBatch */

typedef struct cusparse_job {
    const library *lib;
    const bench_arrays *data;
    int algo;
    bench_fresh fresh; /* the diagonals and x */
    void *buffer;
} cusparse_job;

static int cusparse_prepare(void *self) { return bench_fresh_copy(&((cusparse_job *)self)->fresh); }

/* Its answer, or the bytes of its buffer. */
static int cusparse_do(const cusparse_job *j, int set, size_t *bytes) {
    const bench_problem *p = &j->data->problem;
    const library *l = j->lib;
    const int n = (int)p->n, count = (int)p->count;
    void *a[BENCH_FRESH], *handle = l->own.handle;
    for (int i = 0; i < j->fresh.arrays; i++) a[i] = bench_fresh_at(&j->fresh, i, set, 0);
    if (bench_band_width(p) == 2)
        return bytes ? l->penta_bytes(handle, j->algo, n, a[0], a[1], a[2], a[3], a[4], a[5], count,
                                      bytes)
                     : l->penta(handle, j->algo, n, a[0], a[1], a[2], a[3], a[4], a[5], count,
                                j->buffer);
    if (j->algo == STRIDED)
        return bytes ? l->strided_bytes(handle, n, a[0], a[1], a[2], a[3], count, n, bytes)
                     : l->strided(handle, n, a[0], a[1], a[2], a[3], count, n, j->buffer);
    return bytes ? l->tridiag_bytes(handle, j->algo, n, a[0], a[1], a[2], a[3], count, bytes)
                 : l->tridiag(handle, j->algo, n, a[0], a[1], a[2], a[3], count, j->buffer);
}

static int cusparse_call(void *self, int set) { return cusparse_do(self, set, NULL); }

static shoal_status cusparse_allocate(cusparse_job *j, size_t *buffer_bytes) {
    const bench_arrays *data = j->data;
    const int width = bench_band_width(&data->problem);
    j->fresh = (bench_fresh){ .data = data, .arrays = 2 * width + 2, .given = true };
    for (int i = 0; i < j->fresh.arrays; i++) {
        const int from = i <= 2 * width ? D - width + i : B;
        j->fresh.size[i] = data->size[from];
        j->fresh.step[i] = data->step[from];
        j->fresh.source[i] = data->memory[from];
    }
    const shoal_status status = bench_fresh_make(&j->fresh);
    if (status != SHOAL_OK) return status;
    if (cusparse_do(j, 0, buffer_bytes)) return SHOAL_E_ARG;
    return shoal_alloc(data->place->ctx, *buffer_bytes > 0 ? *buffer_bytes : 1, &j->buffer);
}

static int cusparse_run(bench_session *s, bench_arrays *data, const library *lib, int algo) {
    static const char *const names[] = { "thomas", "lu", "qr" };
    const bool is_penta = bench_band_width(&data->problem) == 2;
    cusparse_job j = { .lib = lib, .data = data, .algo = algo };
    size_t buffer_bytes = 0;
    shoal_context *ctx = data->place->ctx;
    shoal_status status = cusparse_allocate(&j, &buffer_bytes);
    const bool solved =
        status == SHOAL_OK && cusparse_prepare(&j) == 0 && cusparse_call(&j, 0) == 0 &&
        shoal_wait(ctx) == SHOAL_OK &&
        shoal_copy(ctx, data->host[X], bench_fresh_at(&j.fresh, j.fresh.arrays - 1, 0, 0),
                   data->size[B]) == SHOAL_OK;
    const bench_solver peer = { .who = "cuSPARSE",
                                .function = is_penta          ? "gpsvInterleavedBatch"
                                            : algo == STRIDED ? "gtsv2StridedBatch"
                                                              : "gtsvInterleavedBatch",
                                .variant = is_penta          ? "qr"
                                           : algo == STRIDED ? NULL
                                                             : names[algo],
                                .version = lib->own.version,
                                .workspace = buffer_bytes,
                                .task = { .prepare = cusparse_prepare,
                                          .call = cusparse_call,
                                          .self = &j,
                                          .calls = data->sets } };
    bench_check check;
    if (solved) bench_band_check(s, data, data->host[X], NULL, NULL, &check);
    const int code = solved ? bench_add_row(s, &data->problem, data->place, &peer, &check, true)
                            : bench_peer_left_out(s, &peer);
    bench_fresh_free(&j.fresh);
    shoal_free(ctx, j.buffer);
    return code;
}

int bench_band_cusparse(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const bool is_penta = bench_band_width(p) == 2, apart = p->layout == SHOAL_INTERLEAVED;
    library lib;
    const bench_symbol list[] = {
        { "cusparse?gpsvInterleavedBatch_bufferSizeExt", &lib.penta_bytes },
        { "cusparse?gpsvInterleavedBatch", &lib.penta },
        { "cusparse?gtsvInterleavedBatch_bufferSizeExt", &lib.tridiag_bytes },
        { "cusparse?gtsvInterleavedBatch", &lib.tridiag },
        { "cusparse?gtsv2StridedBatch_bufferSizeExt", &lib.strided_bytes },
        { "cusparse?gtsv2StridedBatch", &lib.strided }
    };
    if (p->nrhs != 1 || p->n < 3 || p->n > INT_MAX || p->count < 1 || p->count > INT_MAX / p->n ||
        (is_penta && !apart)) {
        bench_note(s, "peer left out: cuSPARSE takes nrhs = 1, n >= 3, up to 2^31 - 1 rows, and "
                      "interleaved pentadiagonal systems");
        return BENCH_OK;
    }
    if (!bench_open_cuda(s, BENCH_CUSPARSE, letter_of(p, "SDCZ"), list, 6, &lib.own))
        return BENCH_OK;
    int code = BENCH_OK;
    const int first = apart ? 0 : STRIDED, last = is_penta || !apart ? first : 2;
    for (int algo = first; algo <= last && code == BENCH_OK; algo++)
        code = cusparse_run(s, data, &lib, algo);
    bench_close_cuda(&lib.own);
    return code;
}
