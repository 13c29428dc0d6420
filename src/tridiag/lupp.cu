/* SPDX-License-Identifier: Apache-2.0
 *
 * lupp.cu - LU factorisation with partial pivoting on the GPU: the safe batch method.
 *
 * The algorithm of lupp.c, one thread per solve. The rows of U and the right-hand side, 4 numbers per
 * row, lie in the plan's workspace interleaved by thread, so that a warp reads and writes them
 * coalesced; a grid of fixed size works the solves (or the list of those to be redone) off.
 * About 13 numbers per row moved. The caller's arrays are read coalesced in the interleaved layout.
 */
#include "tridiag/device.cuh"

enum { BLOCK = 128, MOST_THREADS = 1 << 16, AT_ONCE = 16 / sizeof(real) };
enum { SCRATCH_ROWS_RESCUE = 1 << 23, SCRATCH_ROWS_ALONE = 1 << 25 }; /* bounds of threads * n */

static int64_t threads_of(const shoal_tridiag *plan) {
    return scratch_threads<MOST_THREADS>(plan->job, plan->rescue.cell ? SCRATCH_ROWS_RESCUE
                                                                      : SCRATCH_ROWS_ALONE);
}

__global__ static void lupp_kernel(tridiag_job job, int64_t threads) {
    const int64_t me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t most = job.n * threads; /* scratch numbers per array */
    const int64_t todo = job.todo ? (int64_t)*job.redone : solves(job);
    if (me >= threads) return;
    real *u = (real *)job.work + me, *v = u + most, *w = v + most, *z = w + most;
    for (int64_t task = me; task < todo; task += threads) {
        const int64_t solve = job.todo ? job.todo[task] : task;
        const view s = view_of(job, solve);
        const int64_t n = s.n;
        if (is_empty(job, s, solve)) continue;
        const equation top = equation_at(s, n, 0);
        real poison = poison_of(top), p = top.d, q = top.du,
             y = top.b; /* the row in hand: (p, q, 0 | y) */
        bool singular = false;
        for (int64_t i = 0; i + 1 < n; i += AT_ONCE) {
            equation next_rows[AT_ONCE];
            equations_at(next_rows, s, n, i + 1);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const equation e = next_rows[k];
                const int64_t at = (i + k) * threads;
                if (i + k + 1 >= n) break;
                poison += poison_of(e);
                const bool swap = real_abs(e.dl) > real_abs(p);
                const real pivot = swap ? e.dl : p, m = (swap ? p : e.dl) / pivot;
                singular |= pivot == 0;
                const real v1 = swap ? e.d : q, w1 = swap ? e.du : 0, z1 = swap ? e.b : y;
                const real v2 = swap ? q : e.d, w2 = swap ? 0 : e.du, z2 = swap ? y : e.b;
                u[at] = pivot, v[at] = v1, w[at] = w1, z[at] = z1; /* row i of U                */
                p = real_fma(-m, v1, v2);                          /* other row - m * pivot row */
                q = real_fma(-m, w1, w2);
                y = real_fma(-m, z1, z2);
            }
        }
        const sink x = sink_of(job, s, z, threads);
        real next = real_over_pivot(y, p), after = 0; /* x_{i+1}, x_{i+2} */
        real x_poison = poisoned(0, next);
        x.at[(n - 1) * x.step] = next;
        for (int64_t i = n - 2; i >= 0; i -= AT_ONCE) {
            real ru[AT_ONCE], rv[AT_ONCE], rw[AT_ONCE], rz[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                const int64_t at = (i >= k ? i - k : 0) * threads; /* past the top: row 0, unused */
                ru[k] = u[at], rv[k] = v[at], rw[k] = w[at], rz[k] = z[at];
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                if (i < k) break;
                const real rest = real_fma(-rw[k], after, real_fma(-rv[k], next, rz[k]));
                const real xi = real_over_pivot(rest, ru[k]);
                after = next;
                next = x.at[(i - k) * x.step] = xi;
                x_poison = poisoned(x_poison, xi);
            }
        }
        finish_thread(job, solve, s, x, poison, x_poison,
                      singular || p == 0 ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_OVERFLOW);
    }
}

static size_t lupp_bytes(const shoal_tridiag *plan) {
    return (size_t)threads_of(plan) * (size_t)plan->job.n * 4 * sizeof(real);
}

static shoal_status lupp_run(shoal_tridiag *plan, const tridiag_job *job) {
    int64_t threads = threads_of(plan);
    SHOAL_LAUNCH(lupp_kernel, dim3((unsigned)((threads + BLOCK - 1) / BLOCK)), dim3(BLOCK), 0,
                 plan->head.ctx->stream, *job, threads);
    return shoal_launched(plan->head.ctx, "lupp");
}

extern "C" const tridiag_cuda_method R(tridiag_lupp) = { lupp_bytes, lupp_run };
