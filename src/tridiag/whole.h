/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.h - the end of a CPU method that solves one system by all threads (gspike.c, pscheme.c): x lies row
 * after row in the workspace; its residual is computed, then it goes to the caller's array.
 */
#ifndef SHOAL_TRIDIAG_WHOLE_H
#define SHOAL_TRIDIAG_WHOLE_H

#include "tridiag/plan.h"
#include "tridiag/residual.h"

enum { WHOLE_LANES = 64 / sizeof(real), WHOLE_SEGMENT = 1024 };

/* Of rows begin .. end-1. Where they follow each other, lanes of rows at a time, but for the first and the last one. */
static norms whole_norms(const tridiag_job *job, int64_t k, int64_t j, const real *x, int64_t begin,
                         int64_t end) {
    const int64_t at = k * job->system, n = job->n, row = job->row, step = row * job->nrhs;
    const real *dl = (const real *)job->dl + at, *d = (const real *)job->d + at;
    const real *du = (const real *)job->du + at, *b = (const real *)job->b + at * job->nrhs + j;
    norms all = { 0 };
    real r[WHOLE_LANES] = { 0 }, most[WHOLE_LANES] = { 0 }, poison[WHOLE_LANES] = { 0 };
    for (int64_t i = begin; i < end;) {
        if (i == 0 || step != 1 || i + WHOLE_LANES >= n || i + WHOLE_LANES > end) {
            norms_row(&all, i > 0 ? dl[i * row] : 0, d[i * row], i + 1 < n ? du[i * row] : 0,
                      b[i * step], i > 0 ? x[i - 1] : 0, x[i], i + 1 < n ? x[i + 1] : 0);
            i++;
            continue;
        }
#pragma omp simd
        for (int l = 0; l < WHOLE_LANES; l++) {
            norms m = { r[l], most[l], poison[l] };
            norms_row(&m, dl[i + l], d[i + l], du[i + l], b[i + l], x[i + l - 1], x[i + l],
                      x[i + l + 1]);
            r[l] = m.r, most[l] = m.x, poison[l] = m.poison;
        }
        i += WHOLE_LANES;
    }
    for (int l = 0; l < WHOLE_LANES; l++) {
        all.r = real_max(r[l], all.r), all.x = real_max(most[l], all.x);
        all.poison += poison[l];
    }
    return all;
}

static float whole_residual(const tridiag_job *job, int64_t k, int64_t j, const real *x,
                            int threads) {
    const int64_t at = k * job->system, n = job->n;
    const real *dl = (const real *)job->dl + at, *d = (const real *)job->d + at;
    const real *du = (const real *)job->du + at, *b = (const real *)job->b + at * job->nrhs + j;
    const norms all = whole_norms(job, k, j, x, 0, n < WHOLE_SEGMENT ? n : WHOLE_SEGMENT);
    real r = all.r, most = all.x, poison = all.poison;
    (void)threads; /* without OpenMP */
    if (n > WHOLE_SEGMENT) {
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : r, most)            \
    reduction(+ : poison)
        for (int64_t begin = WHOLE_SEGMENT; begin < n; begin += WHOLE_SEGMENT) {
            const int64_t end = n - begin < WHOLE_SEGMENT ? n : begin + WHOLE_SEGMENT;
            const norms m = whole_norms(job, k, j, x, begin, end);
            r = real_max(m.r, r), most = real_max(m.x, most), poison += m.poison;
        }
    }
    const norms m = { r, most, poison };
    const float residual = norms_residual(&m);
    if (!is_doubtful(residual, job->tol)) return residual;
    return exact_residual(n, dl, d, du, job->row, b, job->row * job->nrhs, x, 1);
}

/* Right-hand side j of system k, which is answered with `status`; returns that, or a warning. */
static int32_t whole_finish(const tridiag_job *job, int64_t k, int64_t j, const real *x,
                            int32_t status, int threads, float *residual) {
    real *to = (real *)job->x + k * job->system * job->nrhs + j;
    if (job->residual) *residual = whole_residual(job, k, j, x, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < job->n; i++) to[i * job->row * job->nrhs] = x[i];
    return job->residual && !(*residual <= job->tol) ? SHOAL_SYSTEM_ILL : status;
}

#endif
