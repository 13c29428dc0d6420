/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.cu - the systems that careful.cu listed, by wide.h: a thread has a system, in shared memory. They are few, so
 * the kernel is made small rather than fast; without any it returns at once. The kernels of single methods flag such
 * systems, and the first method of "auto" leaves them to its second one.
 */
#include "smallsym/device.cuh"
#include "smallsym/wide.h"

/* All of one system. */
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

/* The first `rooms` threads of a block, which is a warp, have room for a system. Without a right-hand side only rcond
 * is wanted, for factor.cu. */
__global__ static void __launch_bounds__(WARP)
    wide_kernel(smallsym_job job, bool definite, int rooms) {
    SHOAL_SHARED(real, shared);
    const int t = threadIdx.x;
    const int64_t all = ((const smallsym_totals *)job.work)->listed_wide[job.stage];
#pragma unroll 1
    for (int64_t first = (int64_t)blockIdx.x * rooms; first < all;
         first += (int64_t)gridDim.x * rooms) {
        const bool mine = t < rooms && first + t < all;
        const smallsym_redo task = job.wide[mine ? first + t : first];
        outcome o = outcome_of(job);
        if (mine) o = solve_wide(job, task, definite, shared + t * wide_numbers(job.n));
        __syncwarp();
        if (job.nrhs) settle(job, task.system, o, mine);
        if (job.nrhs == 0 && mine) job.where.rcond[task.system] = o.rcond;
    }
}

extern "C" shoal_status R(smallsym_wide_ones)(shoal_smallsym *plan, const smallsym_job *job,
                                              bool definite) {
    const size_t limit = (size_t)48 << 10, one = (size_t)wide_numbers(job->n) * sizeof(real);
    const int rooms = limit / one < WARP ? (int)(limit / one) : WARP;
    const int64_t needed = (job->count + rooms - 1) / rooms;
    const int64_t most = 4 * (int64_t)plan->head.ctx->multiprocessors;
    SHOAL_LAUNCH(wide_kernel, dim3((unsigned)(needed < most ? needed : most)), dim3(WARP),
                 rooms * one, plan->head.ctx->stream, *job, definite, rooms);
    return shoal_launched(plan->head.ctx, "wide systems");
}
