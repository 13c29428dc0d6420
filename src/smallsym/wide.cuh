/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.cuh - systems that the kernels of careful.cu leave to wide.h: one thread of the warp solves them, one after the
 * other, in the warp's shared memory. A function of its own, so that these kernels need no more registers. The
 * others flag such systems, and the first method of "auto" leaves them to its second one.
 */
#ifndef SHOAL_SMALLSYM_WIDE_CUH
#define SHOAL_SMALLSYM_WIDE_CUH

#include "smallsym/device.cuh"
#include "smallsym/wide.h"

/* The status of an answer, where status_of() does not know of refinement; `first` is the residual before. */
__device__ static inline int32_t status_refined(const smallsym_job &job, int32_t status, real doubt,
                                                float first, float look) {
    if (job.stage == 1 && status >= 0 && smallsym_hopeless(doubt, look))
        return SHOAL_SYSTEM_SINGULAR;
    const bool refined = (job.refine || job.stage == 1) && !(first <= job.tol);
    return status == SHOAL_SYSTEM_OK && refined ? SHOAL_SYSTEM_REFINED : status;
}

/* All of one system, by one thread. */
__device__ static inline outcome solve_wide(const smallsym_job &job, const smallsym_redo &task,
                                            bool definite, real *room) {
    const bool judged = smallsym_judged(&job);
    const int64_t k = task.system, step = job.b_row * job.nrhs;
    const int n = (int)job.n;
    wide_system w;
    outcome o = outcome_of(job);
    wide_begin(&w, n, definite, (const real *)job.A + k * job.a.system, &job.a, room);
    wide_take(&w);
    const int32_t factored = w.status;
    o.rcond = w.rcond, o.rank = n, o.positive = w.positive, o.negative = n - w.positive;
    if (factored >= 0 && (job.look || job.stage)) o.look = w.look;
    if (factored >= 0 && job.estimate && smallsym_rcond_used(&job))
        o.rcond = wide_rcond(&w);
    else if (factored >= 0 && job.look && job.rescue_row >= 0 && !(w.rcond <= w.look))
        o.rcond = w.look;
    o.status = task.status, o.residual = task.residual;
#pragma unroll 1
    for (int64_t c = task.column; c < job.nrhs; c++) {
        const int64_t at = rhs_at(job, k, 0, c);
        wide_answer found = { 0, 0, 0 };
        real bad = 0;
        wide_take_rhs(&w, (const real *)job.b + at, step);
        if (judged)
            found = wide_answer_of(&w, job.refine, job.stage == 1, job.tol, job.cond);
        else
            wide_solve(&w, w.b, w.x, 0);
#pragma unroll 1
        for (int i = 0; i < n; i++) bad += wide_x(&w, i) * 0;
        const bool failed = bad != 0 || factored < 0;
        const bool input = failed && input_is_bad(job, k, c, 0, 1);
        int32_t status = status_of(job, factored, failed, input, found.residual, o.look);
        if (judged) status = status_refined(job, status, found.doubt, found.first, o.look);
        add_answer(job, o, c, status, found.residual);
        if (o.redo != NOT_AGAIN) break;
        if (status < 0 && job.x == job.b) continue;
#pragma unroll 1
        for (int i = 0; i < n; i++)
            ((real *)job.x)[at + i * step] = status < 0 ? real_nan() : wide_x(&w, i);
    }
    return o;
}

/* The systems of the threads for which `left` is true. All threads of the warp call; `room` is wide_numbers(n)
 * numbers of shared memory that nobody needs any more. */
__device__ __noinline__ static void solve_wide_ones(smallsym_job job, smallsym_redo task,
                                                    bool definite, bool left, real *room) {
    unsigned votes = __ballot_sync(ALL_LANES, left);
    while (votes) {
        const bool here = (int)(threadIdx.x % WARP) == __ffs((int)votes) - 1;
        outcome o = outcome_of(job);
        votes &= votes - 1;
        __syncwarp();
        if (here) o = solve_wide(job, task, definite, room);
        __syncwarp();
        settle(job, task.system, o, here);
    }
}

#endif
