/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.cuh - systems that kernels leave to wide.h, at their end: one thread of the warp solves them, one after
 * the other, in the warp's shared memory. A function of its own, so that kernels need no more registers.
 */
#ifndef SHOAL_SMALLSYM_WIDE_CUH
#define SHOAL_SMALLSYM_WIDE_CUH

#include "smallsym/device.cuh"
#include "smallsym/wide.h"

/* What is solved: A x = b by wide.h, `definite` as there; or with the L and D that are kept in A. A and b are
 * those of the job, or were `formed`. */
enum wide_kind { WIDE_ANY, WIDE_DEFINITE, WIDE_KEPT };
typedef struct wide_task {
    smallsym_redo of; /* the system, the first right-hand side, and the outcome of those before */
    wide_kind kind;
    const real *A, *b; /* `formed`: packed, and one right-hand side; else NULL */
} wide_task;

/* The status of an answer, where status_of() does not know of refinement; `first` is the residual before. */
__device__ static inline int32_t status_refined(const smallsym_job &job, int32_t status, real doubt,
                                                float first, float look) {
    if (job.stage == 1 && status >= 0 && smallsym_hopeless(doubt, look))
        return SHOAL_SYSTEM_SINGULAR;
    const bool refined = (job.refine || job.stage == 1) && !(first <= job.tol);
    return status == SHOAL_SYSTEM_OK && refined ? SHOAL_SYSTEM_REFINED : status;
}

/* S, the factors and what they say of A. */
__device__ static inline outcome take_wide(const smallsym_job &job, const wide_task &task,
                                           wide_system &w, real *room) {
    const smallsym_shape packed = { job.n, 0, 0, 1, 1, 0 };
    const int n = (int)job.n;
    outcome o = outcome_of(job);
    wide_begin(&w, n, task.kind != WIDE_ANY,
               task.A ? task.A : (const real *)job.A + task.of.system * job.a.system,
               task.A ? &packed : &job.a, room);
    if (task.kind == WIDE_KEPT)
        wide_take_kept(&w);
    else
        wide_take(&w);
    o.status = w.status, o.rcond = w.rcond;
    o.rank = n, o.positive = w.positive, o.negative = n - w.positive;
    if (task.kind == WIDE_KEPT || w.status < 0) return o;
    if (job.look || job.stage) o.look = w.look;
    if (job.estimate && smallsym_rcond_used(&job))
        o.rcond = wide_rcond(&w);
    else if (job.look && job.rescue_row >= 0 && !(w.rcond <= w.look))
        o.rcond = w.look;
    return o;
}

/* All of one system, by one thread. */
__device__ static inline outcome solve_wide(const smallsym_job &job, const wide_task &task,
                                            real *room) {
    const bool kept = task.kind == WIDE_KEPT, judged = !kept && smallsym_judged(&job);
    const int64_t k = task.of.system;
    wide_system w;
    outcome o = take_wide(job, task, w, room);
    const int32_t factored = o.status;
    o.status = task.of.status, o.residual = kept ? (float)NAN : task.of.residual;
#pragma unroll 1
    for (int64_t c = task.of.column; c < job.nrhs; c++) {
        const int64_t at = rhs_at(job, k, 0, c), step = job.b_row * job.nrhs;
        wide_answer found = { 0, 0, 0 };
        real bad = 0;
        wide_take_rhs(&w, task.b ? task.b : (const real *)job.b + at, task.b ? 1 : step);
        if (judged)
            found = wide_answer_of(&w, job.refine, job.stage == 1, job.tol, job.cond);
        else
            wide_solve(&w, w.b, w.x, 0);
#pragma unroll 1
        for (int i = 0; i < w.n; i++) bad += wide_x(&w, i) * 0;
        const bool failed = bad != 0 || factored < 0;
        const bool input = failed && !task.A && input_is_bad(job, k, c, 0, 1);
        int32_t status = status_of(job, factored, failed, input, found.residual, o.look);
        if (judged) status = status_refined(job, status, found.doubt, found.first, o.look);
        if (kept && status > 0) status = SHOAL_SYSTEM_OK;
        add_answer(job, o, c, status, kept ? (float)NAN : found.residual);
        if (o.redo >= 0) break;
        if (status < 0 && job.x == job.b) continue;
#pragma unroll 1
        for (int i = 0; i < w.n; i++)
            ((real *)job.x)[at + i * step] = status < 0 ? real_nan() : wide_x(&w, i);
    }
    return o;
}

/* The systems of the threads for which `leader` is true. All threads of the warp call; `room` is
 * wide_numbers(n) numbers of shared memory that nobody needs any more. */
__device__ __noinline__ static void solve_wide_ones(smallsym_job job, wide_task task, bool leader,
                                                    real *room) {
    const int lane = threadIdx.x % WARP;
    unsigned votes = __ballot_sync(ALL_LANES, leader);
    while (votes) {
        const bool here = lane == __ffs((int)votes) - 1;
        outcome o = outcome_of(job);
        votes &= votes - 1;
        __syncwarp();
        if (here) o = solve_wide(job, task, room);
        __syncwarp();
        settle(job, task.of.system, o, here);
    }
}

/* The system of each `leader`, if it is left to that by its outcome. */
__device__ static inline void solve_wide_ones(const smallsym_job &job, int64_t k, const outcome &o,
                                              wide_kind kind, bool leader, real *room) {
    const bool left = leader && o.redo <= ALL_BY_WIDE;
    if (!__any_sync(ALL_LANES, left)) return;
    const int32_t c = ALL_BY_WIDE - o.redo;
    const smallsym_redo of = { k, (uint32_t)c, c > 0 ? o.status : SHOAL_SYSTEM_OK, o.residual };
    const wide_task task = { of, kind, NULL, NULL };
    solve_wide_ones(job, task, left, room);
}

#endif
