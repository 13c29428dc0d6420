/* SPDX-License-Identifier: Apache-2.0
 *
 * doubling.cu - recursive doubling on the GPU, one block per system. A step of a scan reads from one copy of the maps and
 * writes to another. Both are in shared memory, 8 numbers per row, or, of long systems, in the workspace.
 */
#include "tridiag/device.cuh"
#include "tridiag/paper/doubling.h"

static const int64_t most_threads = 512,
                     most_long_blocks = 256; /* those with maps in the workspace */

/* Number e of row i of a copy is at[e * n + i]. */
typedef struct copies {
    real *now, *next;
} copies;

__device__ static inline void turn(copies &c) {
    real *kept = c.now;
    __syncthreads();
    c.now = c.next, c.next = kept;
}

__device__ static void scan_matrices(copies &c, int64_t n) {
    for (int64_t h = 1; h < n; h *= 2) {
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            real own[4], before[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                own[e] = c.now[e * n + i];
                before[e] = i >= h ? c.now[e * n + i - h] : 0;
            }
            if (i >= h) matrix_after(own, before);
#pragma unroll
            for (int e = 0; e < 4; e++) c.next[e * n + i] = own[e];
        }
        turn(c);
    }
}

/* v -> m[0] v + m[1] of row i + far, after row i. The third number stays. */
template <bool UP> __device__ static inline void scan_linear(copies &c, int64_t n) {
    for (int64_t h = 1; h < n; h *= 2) {
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            const int64_t from = UP ? i + h : i - h;
            real a = c.now[i], v = c.now[n + i];
            if (from >= 0 && from < n) {
                v = real_mad(a, c.now[n + from], v);
                a *= c.now[from];
            }
            c.next[i] = a, c.next[n + i] = v, c.next[2 * n + i] = c.now[2 * n + i];
        }
        turn(c);
    }
}

__global__ static void doubling_kernel(tridiag_job job, int is_long) {
    SHOAL_SHARED(real, shared);
    const int64_t copy = DOUBLING_NUMBERS * job.n;
    real *memory = is_long ? (real *)job.work + blockIdx.x * 2 * copy : shared;
    for (int64_t v = blockIdx.x; v < solves(job); v += gridDim.x) {
        const view w = view_of(job, v);
        const int64_t n = w.n;
        copies c = { memory, memory + copy };
        real poison = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            const equation e = equation_at(w, n, i);
            real own[4];
            poison += poison_of(e);
            matrix_of(own, e.dl, e.d, e.du);
#pragma unroll
            for (int k = 0; k < 4; k++) c.now[k * n + i] = own[k];
        }
        __syncthreads();
        scan_matrices(c, n);
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) { /* the maps of q; p is kept */
            const equation e = equation_at(w, n, i);
            const real p = i > 0 ? real_over_pivot(c.now[n + i - 1], c.now[3 * n + i - 1]) : 0;
            const real inverse = real_over_pivot(1, real_mad(e.dl, p, e.d));
            c.next[i] = -e.dl * inverse, c.next[n + i] = e.b * inverse;
            c.next[2 * n + i] = -e.du * inverse;
        }
        turn(c);
        scan_linear<false>(c, n);
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) c.now[i] = c.now[2 * n + i];
        __syncthreads();
        scan_linear<true>(c, n);
        finish_block(job, v, w, c.now + n, poison, SHOAL_SYSTEM_PIVOT);
        __syncthreads();
    }
}

static size_t copies_bytes(const shoal_tridiag *plan) {
    return 2 * DOUBLING_NUMBERS * (size_t)plan->job.n * sizeof(real);
}

static bool fits_block(const shoal_tridiag *plan) {
    return copies_bytes(plan) <= shoal_max_shared(plan->head.ctx);
}

static int64_t blocks_of(const tridiag_job *job) {
    const int64_t solves = job->count * job->nrhs;
    return solves < most_long_blocks ? solves : most_long_blocks;
}

static size_t doubling_bytes(const shoal_tridiag *plan) {
    return fits_block(plan) ? 0 : copies_bytes(plan) * (size_t)blocks_of(&plan->job);
}

static shoal_status doubling_run(shoal_tridiag *plan, const tridiag_job *job) {
    const bool fits = fits_block(plan);
    const unsigned grid = fits ? shoal_grid(job->count * job->nrhs) : (unsigned)blocks_of(job);
    const int64_t threads = (job->n + 31) / 32 * 32;
    shoal_allow_shared(plan->head.ctx, doubling_kernel);
    SHOAL_LAUNCH(doubling_kernel, dim3(grid),
                 dim3((unsigned)(threads < most_threads ? threads : most_threads)),
                 fits ? copies_bytes(plan) : 0, plan->head.ctx->stream, *job, !fits);
    return shoal_launched(plan->head.ctx, "doubling");
}

extern "C" const tridiag_cuda_method R(tridiag_doubling) = { doubling_bytes, doubling_run };
