/* SPDX-License-Identifier: Apache-2.0
 *
 * serial.cu - plain substitution on the GPU, one thread per segment.
 *
 * Interleaved, neighbouring threads read whole lines, and many short segments run at the speed of
 * memory: 3 numbers per row of order 1. System after system the threads share lines in the cache
 * only. AT_ONCE rows are in flight before the first is used.
 */
#include "recur/strip.cuh"

enum { BLOCK = 128, AT_ONCE = 32 / sizeof(real) };

template <int SHAPE> __global__ static void thread_kernel(recur_job job) {
    constexpr int W = SHAPE == SHAPE_MOEBIUS ? 4 : SHAPE;
    const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, n = job.n;
    if (k >= job.count) return;
    const recur_view v = view_of(&job, k);
    recur_state x = first_state(&job, k, SHAPE);
    real input = state_poison(&x, SHAPE), answer = 0;
    for (int64_t i = 0; i < n; i += AT_ONCE) {
        real s[AT_ONCE][W], t[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            const int64_t at = i + u < n ? i + u : n - 1; /* past the end: the last row, unused */
#pragma unroll
            for (int e = 0; e < W; e++) s[u][e] = v.s[at * v.s_row + e];
            t[u] = SHAPE == SHAPE_MOEBIUS ? 0 : v.t[at * v.t_row];
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            if (i + u >= n) break;
            input += row_poison(s[u], t[u], SHAPE);
            const real w = row_step(&x, s[u], t[u], SHAPE); /* w_i */
            answer = poisoned(answer, w);
            v.w[(i + u) * v.w_row] = w;
        }
    }
    note_failure(job, k, input != 0, answer != 0);
}

static size_t serial_bytes(const shoal_recur *) { return 0; }

template <int SHAPE> static shoal_status run_shape(shoal_recur *plan, const recur_job *job) {
    SHOAL_LAUNCH((thread_kernel<SHAPE>), dim3((unsigned)((job->count + BLOCK - 1) / BLOCK)),
                 dim3(BLOCK), 0, plan->head.ctx->stream, *job);
    return shoal_launched(plan->head.ctx, "serial");
}

static shoal_status serial_run(shoal_recur *plan, const recur_job *job) {
    return RUN_BY_SHAPE(job->shape, run_shape, plan, job);
}

extern "C" const recur_method R(recur_serial) = { serial_bytes, serial_run };
