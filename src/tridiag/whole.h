/* SPDX-License-Identifier: Apache-2.0
 *
 * whole.h - the end of a CPU method that solves one system by all threads (gspike.c, pscheme.c): x lies row
 * after row in the workspace; its residual is computed, then it goes to the caller's array.
 */
#ifndef SHOAL_TRIDIAG_WHOLE_H
#define SHOAL_TRIDIAG_WHOLE_H

#include "tridiag/plan.h"
#include "tridiag/residual.h"

static float whole_residual(const tridiag_job *job, int64_t k, int64_t j, const real *x,
                            int threads) {
    const int64_t at = k * job->system, n = job->n;
    const real *dl = (const real *)job->dl + at, *d = (const real *)job->d + at;
    const real *du = (const real *)job->du + at, *b = (const real *)job->b + at * job->nrhs + j;
    real r = 0, most = 0, poison = 0;
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : r, most)            \
    reduction(+ : poison)
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i * job->row;
        norms m = { r, most, 0 };
        norms_row(&m, i > 0 ? dl[row] : 0, d[row], i + 1 < n ? du[row] : 0, b[row * job->nrhs],
                  i > 0 ? x[i - 1] : 0, x[i], i + 1 < n ? x[i + 1] : 0);
        r = m.r, most = m.x, poison += m.poison;
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
