/* SPDX-License-Identifier: Apache-2.0
 *
 * thomas.cu - Thomas's algorithm on the GPU, equations (10) and (11) of the GPU course's section 6
 * (thomas.c states them, and names the course).
 *
 * Variant "thread": one thread per solve; du' and y' lie in the plan's workspace, interleaved by
 * thread. 9 numbers per row moved; the caller's arrays are read coalesced in the interleaved layout
 * only. Variant "block": one block per solve, as the course's question 1 asks: all threads bring
 * the rows to shared memory, one of them eliminates, all write back. 5 numbers per row moved, but 2
 * n dependent steps by a lone thread: it is there to be compared with. Systems that do not fit in
 * shared memory go the other way.
 */
#include "tridiag/device.cuh"

enum { BLOCK = 128, MAX_THREADS = 1 << 18, AT_ONCE = 32 / sizeof(real) };
enum { SCRATCH_ROWS = 1 << 26 }; /* bound of threads * n */

static int64_t threads_of(const shoal_tridiag *plan) {
    return scratch_threads<MAX_THREADS>(plan->job, SCRATCH_ROWS);
}

__global__ static void thread_kernel(tridiag_job job, int64_t threads) {
    const int64_t me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    real *upper = (real *)job.work + me, *y = upper + job.n * threads;
    if (me >= threads) return;
    for (int64_t v = me; v < solves(job); v += threads) {
        const view w = view_of(job, v);
        const int64_t n = w.n;
        if (is_empty(job, w, v)) continue;
        real last_upper = 0, last_y = 0, poison = 0, x_poison = 0;
        for (int64_t i = 0; i < n; i += AT_ONCE) {
            equation e[AT_ONCE];
            equations_at(e, w, n, i);
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                const real inverse = real_over_pivot(1, real_fma(-e[u].dl, last_upper, e[u].d));
                if (i + u >= n) break;
                poison += poison_of(e[u]);
                upper[(i + u) * threads] = last_upper = e[u].du * inverse; /* du'_i */
                y[(i + u) * threads] = last_y =
                    real_fma(-e[u].dl, last_y, e[u].b) * inverse; /* y'_i */
            }
        }
        const sink z = sink_of(job, w, y, threads);
        last_y = 0; /* z_n; du'_{n-1} is 0 */
        for (int64_t i = n - 1; i >= 0; i -= AT_ONCE) {
            real du[AT_ONCE], b[AT_ONCE];
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                const int64_t at = (i >= u ? i - u : 0) * threads; /* past the top: row 0, unused */
                du[u] = upper[at], b[u] = y[at];
            }
#pragma unroll
            for (int u = 0; u < AT_ONCE; u++) {
                if (i < u) break;
                z.at[(i - u) * z.step] = last_y = real_fma(-du[u], last_y, b[u]); /* z_i */
                x_poison = poisoned(x_poison, last_y);
            }
        }
        finish_thread(job, v, w, z, poison != 0, x_poison != 0, false, SHOAL_SYSTEM_PIVOT);
    }
}

__global__ static void block_kernel(tridiag_job job) {
    SHOAL_SHARED(real, shared);
    const int most = (int)job.n;
    real *dl = shared, *d = dl + most, *du = d + most, *y = du + most;
    for (int64_t v = blockIdx.x; v < solves(job); v += gridDim.x) {
        const view w = view_of(job, v);
        const int n = (int)w.n;
        real poison = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const equation e = equation_at(w, n, i);
            poison += poison_of(e);
            dl[i] = e.dl, d[i] = e.d, du[i] = e.du, y[i] = e.b;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            real last_upper = 0, last_y = 0;
            for (int i = 0; i < n; i++) {
                const real inverse = real_over_pivot(1, real_fma(-dl[i], last_upper, d[i]));
                du[i] = last_upper = du[i] * inverse;
                y[i] = last_y = real_fma(-dl[i], last_y, y[i]) * inverse;
            }
            for (int i = n - 2; i >= 0; i--) y[i] = last_y = real_fma(-du[i], last_y, y[i]);
        }
        __syncthreads();
        finish_block(job, v, w, y, poison, SHOAL_SYSTEM_PIVOT);
        __syncthreads();
    }
}

static size_t shared_bytes(const shoal_tridiag *plan) {
    return 4 * (size_t)plan->job.n * sizeof(real);
}

static bool in_block(const shoal_tridiag *plan) {
    return plan->first.variant == THOMAS_BLOCK &&
           shared_bytes(plan) <= shoal_max_shared(plan->head.ctx);
}

static size_t thomas_bytes(const shoal_tridiag *plan) {
    return in_block(plan) ? 0 : (size_t)threads_of(plan) * (size_t)plan->job.n * 2 * sizeof(real);
}

static shoal_status thomas_run(shoal_tridiag *plan, const tridiag_job *job) {
    int64_t solves = job->count * job->nrhs;
    if (in_block(plan)) {
        size_t shared = shared_bytes(plan);
        unsigned grid = shoal_grid(solves);
        int threads = job->n < 256 ? (int)((job->n + 31) / 32 * 32) : 256;
        shoal_allow_shared(plan->head.ctx, block_kernel);
        SHOAL_LAUNCH(block_kernel, dim3(grid), dim3(threads), shared, plan->head.ctx->stream, *job);
    } else {
        int64_t threads = threads_of(plan);
        SHOAL_LAUNCH(thread_kernel, dim3((unsigned)((threads + BLOCK - 1) / BLOCK)), dim3(BLOCK), 0,
                     plan->head.ctx->stream, *job, threads);
    }
    return shoal_launched(plan->head.ctx, "thomas");
}

extern "C" const tridiag_cuda_method R(tridiag_thomas) = { thomas_bytes, thomas_run };
