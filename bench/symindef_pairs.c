/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_pairs.c - eigenpairs of one dense symmetric matrix on the bench (pairs=vectors): ours, the check, and
 * LAPACK's and cuSOLVER's syevd.
 *
 * The check, without the library: random vectors y of 1 and -1 go through the matrix and through the pairs, n^2
 * operations each, sums in double,
 *
 *     |A y - V (w (Vt y))| / |A|  and  |y - V (Vt y)|   <= 10 n units of roundoff,   maximum norms.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/module.h"
#include "bench/numbers.h"
#include "bench/peers.h"
#include "bench/peers_foreign.h"
#include "bench/symindef.h"

enum { VECTORS = 3 };

typedef struct pairs { /* in the context's memory */
    const bench_matrix *data;
    void *values, *vectors;
    bool by_row; /* a vector is a row of `vectors` */
} pairs;

static double sign_of(int64_t i, int v) {
    return bench_hash((uint64_t)i * VECTORS + (uint64_t)v + 0x9E3779B97F4A7C15u) >> 63 ? -1 : 1;
}

/* The two errors of V and w on the host. */
static void errors_of(const pairs *f, const double *w, double *z, double *residual,
                      double *orthogonal) {
    const bench_matrix *d = f->data;
    const int64_t n = d->problem.n, row = f->by_row ? 1 : n, column = f->by_row ? n : 1;
    const shoal_type type = d->problem.type;
    double worst = 0, apart = 0, norm = 0;
    for (int v = 0; v < VECTORS; v++) {
#pragma omp parallel for num_threads(d->place->machine.threads) schedule(static, 16)
        for (int64_t k = 0; k < n; k++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += bench_number(type, d->answer, i * row + k * column) * sign_of(i, v);
            z[k] = sum;
        }
#pragma omp parallel for num_threads(d->place->machine.threads) schedule(static, 16)               \
    reduction(max                                                                                  \
              : worst, apart, norm)
        for (int64_t i = 0; i < n; i++) {
            double unit = sign_of(i, v), left = 0, size = 0;
            for (int64_t k = 0; k < n; k++) {
                const double given = bench_number(type, d->whole, i * n + k);
                const double entry = bench_number(type, d->answer, i * row + k * column);
                unit -= entry * z[k];
                left += given * sign_of(k, v) - entry * w[k] * z[k];
                size += fabs(given);
            }
            worst = fmax(worst, isnan(left) ? (double)INFINITY : fabs(left));
            apart = fmax(apart, isnan(unit) ? (double)INFINITY : fabs(unit));
            norm = fmax(norm, size);
        }
    }
    *residual = norm > 0 ? worst / norm : worst;
    *orthogonal = apart;
}

static shoal_status check_pairs(const pairs *f, char found[80], bench_check *check) {
    const bench_matrix *d = f->data;
    const int64_t n = d->problem.n;
    const size_t number = bench_number_size(&d->problem);
    double *w = calloc((size_t)n + 1, sizeof *w), *z = calloc((size_t)n + 1, sizeof *z);
    void *stored = calloc((size_t)n + 1, number);
    double residual = 0, orthogonal = 0;
    shoal_status status = w && z && stored ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK)
        status = shoal_copy(d->place->ctx, stored, f->values, (size_t)n * number);
    if (status == SHOAL_OK)
        status = shoal_copy(d->place->ctx, d->answer, f->vectors, (size_t)(n * n) * number);
    *check = (bench_check){ .systems = VECTORS,
                            .tolerance = 10 * (double)n * bench_epsilon(d->problem.type) };
    if (status == SHOAL_OK) {
        for (int64_t k = 0; k < n; k++) {
            w[k] = bench_number(d->problem.type, stored, k);
            if (k > 0 && !(w[k] >= w[k - 1])) check->wrong = 1;
        }
        errors_of(f, w, z, &residual, &orthogonal);
    }
    check->max_residual = fmax(residual, orthogonal);
    check->passed = check->max_residual <= check->tolerance && !check->wrong;
    if (!check->passed)
        snprintf(check->why, sizeof check->why, "residual %.2g, orthogonality %.2g%s", residual,
                 orthogonal, check->wrong ? ", not ascending" : "");
    snprintf(found, 80, "residual %.2g, orthogonality %.2g by %d vectors", residual, orthogonal,
             VECTORS);
    free(w);
    free(z);
    free(stored);
    return status;
}

static shoal_status allocate(const bench_matrix *d, pairs *f) {
    const size_t n = (size_t)d->problem.n, number = bench_number_size(&d->problem);
    const shoal_status status = shoal_alloc(d->place->ctx, (n + 1) * number, &f->values);
    return status == SHOAL_OK ? shoal_alloc(d->place->ctx, (n * n + 1) * number, &f->vectors)
                              : status;
}

static void release(pairs *f) {
    shoal_free(f->data->place->ctx, f->values);
    shoal_free(f->data->place->ctx, f->vectors);
}

/* ---- ours ------------------------------------------------------------------------------------- */

typedef struct solver {
    pairs found;
    shoal_symindef *plan;
    shoal_symindef_eig_info info;
} solver;

static int fresh_copy(void *self) { return bench_matrix_renew(((const solver *)self)->found.data); }

static int call(void *self, int i) {
    solver *v = self;
    const bench_matrix *d = v->found.data;
    void *a = d->work;
    (void)i; /* a sample is one call */
    shoal_status s = BENCH_BY_TYPE(d->problem.type, shoal_symindef_factor, v->plan, a);
    if (s == SHOAL_OK)
        s = BENCH_BY_TYPE(d->problem.type, shoal_symindef_eig, v->plan, a, v->found.values,
                          v->found.vectors, &v->info);
    return s == SHOAL_OK ? 0 : -1;
}

static shoal_status call_checked(solver *v, double *seconds, char found[80], bench_check *check) {
    const bench_device *device = v->found.data->place->device;
    if (fresh_copy(v) || device->start() || call(v, 0)) return SHOAL_E_CUDA;
    if ((*seconds = device->stop()) < 0) return SHOAL_E_CUDA;
    return check_pairs(&v->found, found, check);
}

int bench_symindef_pairs(bench_session *s, bench_matrix *d, const bench_problem *p, bool timed) {
    const shoal_symindef_opts opts = { .n = p->n,
                                       .type = p->type,
                                       .storage = p->storage,
                                       .triangle = p->triangle,
                                       .method = p->method,
                                       .variant = p->variant,
                                       .alpha = p->alpha,
                                       .tol = p->type == SHOAL_F32 ? (double)FLT_MIN : DBL_MIN };
    solver v = { .found.data = d };
    shoal_symindef_info info = { .method = p->method };
    bench_check check = { 0 };
    char found[80] = "", note[80] = "";
    double seconds = 0;
    shoal_status status = shoal_symindef_create(d->place->ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, d->place, status);
    status = allocate(d, &v.found);
    if (status == SHOAL_OK && p->n > 0) status = call_checked(&v, &seconds, found, &check);
    if (status == SHOAL_OK && p->n > 0) status = shoal_symindef_last(v.plan, &info);
    if (status != SHOAL_OK) check = bench_broken(d->place, status);
    if (v.info.status < 0) {
        check.failed = 1;
        snprintf(check.why, sizeof check.why, "%s", shoal_system_text(v.info.status));
    }
    if (p->n == 0) check.passed = true;
    snprintf(note, sizeof note, "factored, then %d sweeps of jjacobi", v.info.sweeps);
    const bench_solver ours = { .function = info.method,
                                .variant = p->variant,
                                .note = note,
                                .found = found,
                                .workspace = info.bytes,
                                .first = seconds,
                                .task = {
                                    .prepare = fresh_copy, .call = call, .self = &v, .calls = 1 } };
    const int code = bench_add_ours(s, p, d->place, &ours, status, &check, timed && p->n > 0);
    release(&v.found);
    shoal_symindef_free(v.plan);
    return code;
}

/* ---- peers: divide and conquer after a tridiagonal form ------------------------------------------ */

#if BENCH_HAS_PEERS
typedef void lapack_syevd(const char *jobz, const char *uplo, const int *n, void *a, const int *lda,
                          void *w, void *work, const int *lwork, int *iwork, const int *liwork,
                          int *info, size_t one, size_t other);
typedef int cuda_size(void *handle, int jobz, int uplo, int n, void *a, int lda, void *w,
                      int *numbers);
typedef int cuda_syevd(void *handle, int jobz, int uplo, int n, void *a, int lda, void *w,
                       void *work, int numbers, int *info);

enum { VECTOR_MODE = 1, LOWER = 0 }; /* of cusolver_common.h and cublas_api.h */

typedef struct peer {
    pairs found; /* the vectors take the place of the matrix: `vectors` is data->work */
    bench_library lib;
    lapack_syevd *lapack;
    cuda_size *size;
    cuda_syevd *cuda;
    int n, numbers, words;
    void *work; /* in the context's memory */
    int *more;  /* iwork, or info: likewise */
} peer;

static int peer_copy(void *self) { return bench_matrix_renew(((const peer *)self)->found.data); }

static int peer_call(void *self, int i) {
    const peer *v = self;
    int info = 0;
    (void)i; /* a sample is one call */
    if (v->cuda)
        return v->cuda(v->lib.handle, VECTOR_MODE, LOWER, v->n, v->found.vectors, v->n,
                       v->found.values, v->work, v->numbers, v->more);
    v->lapack("V", "L", &v->n, v->found.vectors, &v->n, v->found.values, v->work, &v->numbers,
              v->more, &v->words, &info, 1, 1);
    return info;
}

/* Workspaces. */
static bool prepare_peer(peer *v, size_t number) {
    shoal_context *ctx = v->found.data->place->ctx;
    if (v->cuda) {
        if (v->size(v->lib.handle, VECTOR_MODE, LOWER, v->n, v->found.vectors, v->n,
                    v->found.values, &v->numbers) != 0)
            return false;
        v->words = 1;
    } else {
        v->numbers = 1 + 6 * v->n + 2 * v->n * v->n;
        v->words = 3 + 5 * v->n;
    }
    return shoal_alloc(ctx, (size_t)(v->numbers + 1) * number, &v->work) == SHOAL_OK &&
           shoal_alloc(ctx, (size_t)v->words * sizeof *v->more, (void **)&v->more) == SHOAL_OK;
}

static int run_peer(bench_session *s, bench_matrix *d, peer *v, const char *who,
                    const char *function, const char *note) {
    const size_t number = bench_number_size(&d->problem);
    const bench_device *device = d->place->device;
    bench_problem p = d->problem;
    bench_check check = { 0 };
    char found[80] = "";
    p.variant[0] = 0, p.alpha = 0, p.storage = SHOAL_FULL, p.triangle = SHOAL_LOWER;
    d->bytes = (size_t)(d->problem.n * d->problem.n) * number;
    v->found = (pairs){ .data = d, .vectors = d->work, .by_row = true };
    bench_solver row = { .who = who,
                         .function = function,
                         .version = v->lib.version,
                         .note = note,
                         .found = found,
                         .optional = true,
                         .task = {
                             .prepare = peer_copy, .call = peer_call, .self = v, .calls = 1 } };
    shoal_status status = shoal_copy(d->place->ctx, d->source, d->whole, d->bytes);
    if (status == SHOAL_OK)
        status = shoal_alloc(d->place->ctx, (size_t)(v->n + 1) * number, &v->found.values);
    if (status == SHOAL_OK && !prepare_peer(v, number)) status = SHOAL_E_NOMEM;
    if (status == SHOAL_OK && (peer_copy(v) || device->start() || peer_call(v, 0)))
        status = SHOAL_E_CUDA;
    if (status == SHOAL_OK && (row.first = device->stop()) < 0) status = SHOAL_E_CUDA;
    if (status == SHOAL_OK) status = check_pairs(&v->found, found, &check);
    row.workspace = (size_t)v->numbers * number + (size_t)v->words * sizeof *v->more;
    int code = BENCH_STOPPED;
    if (!bench_stopped(s))
        code = status == SHOAL_OK ? bench_add_row(s, &p, d->place, &row, &check, true)
                                  : bench_peer_left_out(s, &row);
    shoal_free(d->place->ctx, v->found.values);
    shoal_free(d->place->ctx, v->work);
    shoal_free(d->place->ctx, v->more);
    return code;
}

int bench_peers_pairs(bench_session *s, bench_matrix *d) {
    const bool single = d->problem.type == SHOAL_F32;
    peer v = { .n = (int)d->problem.n };
    char function[BENCH_SYMBOL], note[64];
    bench_typed_name("?syevd", single ? 's' : 'd', function);
    if (!bench_on_cpu(d->place)) {
        const bench_symbol list[] = { { "cusolverDn?syevd_bufferSize", &v.size },
                                      { "cusolverDn?syevd", &v.cuda } };
        if (!bench_open_cuda(s, BENCH_CUSOLVER, single ? 'S' : 'D', list, 2, &v.lib))
            return BENCH_OK;
        const int code = run_peer(s, d, &v, "cuSOLVER", function, "lower triangle, full storage");
        bench_close_cuda(&v.lib);
        return code;
    }
    void (*set_threads)(int) = NULL;
    const int threads = d->place->machine.threads;
    if (!bench_open_lapack(s, &v.lib)) return BENCH_OK;
    bench_find(&v.lib, 0, &(bench_symbol){ "openblas_set_num_threads", &set_threads }, 1);
    if (!bench_find(&v.lib, single ? 's' : 'd', &(bench_symbol){ "?syevd_", &v.lapack }, 1)) {
        bench_note(s, "peer left out: %s has no %s", v.lib.version, function);
        return BENCH_OK;
    }
    snprintf(note, sizeof note, "lower triangle, %s",
             set_threads && threads > 1 ? "all threads" : "1 thread");
    if (set_threads) set_threads(threads);
    const int code = run_peer(s, d, &v, "LAPACK", function, note);
    if (set_threads) set_threads(1);
    return code;
}
#endif
