/* SPDX-License-Identifier: Apache-2.0
 *
 * rcond.c - condition estimates on the CPU: the rounds of rcond.h over the whole batch, each a solve by the
 * plan's own method. OpenMP threads over segments of TOGETHER systems, which share cache lines where they
 * are interleaved. When all systems have settled, the rounds between are left out: 4 solves at
 * the least, 10 at the most.
 */
#include "tridiag/rcond.h"

enum { TOGETHER = 16, RUN = 8 };

/* One pass over all rows: segments of TOGETHER systems, RUN rows of each in turn where they are
 * interleaved. */
static void each_row(const tridiag_job *job, const rcond_arrays *r, rcond_pass pass, int threads) {
    const int64_t groups = (job->count + TOGETHER - 1) / TOGETHER, tasks = groups * r->segments;
    const int64_t run = job->row == 1 ? RCOND_SEGMENT : RUN;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int worker = 0; worker < threads; worker++)
        for (int64_t task = tasks * worker / threads; task < tasks * (worker + 1) / threads;
             task++) {
            const int64_t g = task % r->segments, first = task / r->segments * TOGETHER;
            const int64_t left = job->count - first, begin = g * RCOND_SEGMENT;
            const int used = left < TOGETHER ? (int)left : TOGETHER;
            rcond_part parts[TOGETHER];
            for (int l = 0; l < used; l++) parts[l] = rcond_empty();
            for (int64_t i = begin; i < job->n && i < begin + RCOND_SEGMENT; i += run)
                for (int l = 0; l < used; l++)
                    rcond_rows(job, r, pass, first + l, i, i + run, &parts[l]);
            for (int l = 0; l < used && !pass.fill; l++)
                r->parts[g * job->count + first + l] = parts[l];
        }
}

static size_t rcond_bytes(const shoal_tridiag *plan) {
    const shoal_tridiag inner = rcond_plan(plan);
    rcond_arrays r;
    return rcond_lay_out(&inner.job, plan->driver->bytes(&inner), NULL, &r);
}

static shoal_status rcond_run(const shoal_tridiag *plan, const tridiag_job *given, const void *dl,
                              const void *du, tridiag_run *solve) {
    const int threads = plan->head.ctx->threads;
    shoal_tridiag inner = rcond_plan(plan);
    rcond_arrays r = { 0 };
    rcond_lay_out(&inner.job, plan->driver->bytes(&inner), given->rcond_work, &r);
    tridiag_job job = rcond_job(given, &r);
    inner.job.work = r.work;
    each_row(&job, &r, (rcond_pass){ RCOND_BEGIN, 0 }, threads);
    int64_t open = 0;
    for (int64_t k = 0; k < job.count; k++) rcond_begin(&job, &r, k);
    for (int round = 0; round <= RCOND_LAST;
         round = open || round == RCOND_LAST ? round + 1 : RCOND_LAST) {
        tridiag_job transposed = job;
        transposed.dl = dl, transposed.du = du;
        each_row(&job, &r, (rcond_pass){ round, 1 }, threads);
        const shoal_status status = solve(&inner, rcond_transposed(round) ? &transposed : &job);
        if (status != SHOAL_OK) return status;
        each_row(&job, &r, (rcond_pass){ round, 0 }, threads);
        open = 0;
        for (int64_t k = 0; k < job.count; k++)
            open += rcond_step(&job, &r, round, k) == RCOND_OPEN;
    }
    return SHOAL_OK;
}

const tridiag_estimator R(tridiag_rcond) = { .bytes = rcond_bytes, .run = rcond_run };
