/* SPDX-License-Identifier: Apache-2.0
 *
 * cr.cu - cyclic reduction on the GPU (the small-systems paper, section 4.1, equation (10),
 * Figure 7: L. A. Abbas-Turki and S. Graillat, "Resolution of a large number of small random symmetric
 * linear systems in single precision arithmetic on GPUs", 2017).
 *
 * At distance h = 1, 2, 4, ... the rows i = 2h-1, 4h-1, 6h-1, ... take out their neighbours
 * at i - h and i + h; the rows between them are solved on the way back, from the largest h down:
 *     row i  -  (a_i / b_{i-h}) row i-h  -  (c_i / b_{i+h}) row i+h,
 *     x_i = (d_i - a_i x_{i-h} - c_i x_{i+h}) / b_i.
 * Any n: a neighbour that does not exist is left out.
 *
 * One block a solve, rows in shared memory, 2 log2 n steps with n/2h threads busy in each; 5
 * numbers a row moved. Longer systems stay in global memory, one launch a step. The distance
 * doubles, so shared memory suffers bank conflicts, as the paper says: pcr does not.
 */
#include "tridiag/batch.cuh"

enum { BLOCK = 256 };

typedef struct rows {
    real *a, *b, *c, *d; /* x replaces d on the way back */
} rows;

/* The j-th row that stays at distance h: i = 2h (j + 1) - 1. */
__device__ static inline void reduce_row(const rows &s, int64_t n, int64_t h, int64_t j) {
    const int64_t i = 2 * h * (j + 1) - 1, next = i + h;
    const real below = s.a[i] / s.b[i - h], above = next < n ? s.c[i] / s.b[next] : 0;
    real b = real_fma(-below, s.c[i - h], s.b[i]), d = real_fma(-below, s.d[i - h], s.d[i]);
    if (next < n) {
        b = real_fma(-above, s.a[next], b);
        d = real_fma(-above, s.d[next], d);
    }
    s.a[i] = -below * s.a[i - h];
    s.b[i] = b;
    s.c[i] = next < n ? -above * s.c[next] : 0;
    s.d[i] = d;
}

/* The j-th row solved at distance h: i = 2h j + h - 1. */
__device__ static inline void solve_row(const rows &s, int64_t n, int64_t h, int64_t j) {
    const int64_t i = 2 * h * j + h - 1;
    real d = s.d[i];
    if (i >= h) d = real_fma(-s.a[i], s.d[i - h], d);
    if (i + h < n) d = real_fma(-s.c[i], s.d[i + h], d);
    s.d[i] = real_over_pivot(d, s.b[i]);
}

__host__ __device__ static inline int64_t kept_rows(int64_t n, int64_t h) { return n / (2 * h); }
__host__ __device__ static inline int64_t solved_rows(int64_t n, int64_t h) {
    return (n + h) / (2 * h);
}

__global__ static void block_kernel(tridiag_job job) {
    SHOAL_SHARED(real, shared);
    const int n = (int)job.n;
    const rows s = { shared, shared + n, shared + 2 * n, shared + 3 * n };
    for (int64_t v = blockIdx.x; v < solves(job); v += gridDim.x) {
        const view w = view_of(job, v);
        real poison = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const equation e = equation_at(w, n, i);
            poison += poison_of(e);
            s.a[i] = e.a, s.b[i] = e.b, s.c[i] = e.c, s.d[i] = e.d;
        }
        int h = 1;
        for (; 2 * h <= n; h *= 2) {
            __syncthreads();
            for (int j = threadIdx.x; j < kept_rows(n, h); j += blockDim.x) reduce_row(s, n, h, j);
        }
        for (; h > 0; h /= 2) {
            __syncthreads();
            for (int j = threadIdx.x; j < solved_rows(n, h); j += blockDim.x) solve_row(s, n, h, j);
        }
        __syncthreads();
        finish_block(job, v, w, s.d, poison, SHOAL_SYSTEM_PIVOT);
        __syncthreads();
    }
}

/* ---- systems longer than shared memory: the same rows in the plan's workspace ---------------- */

__device__ static inline rows rows_of_solve(const rows &s, int64_t n, int64_t v) {
    const rows mine = { s.a + v * n, s.b + v * n, s.c + v * n, s.d + v * n };
    return mine;
}

__global__ static void copy_kernel(tridiag_job job, rows s) {
    const int64_t total = solves(job) * job.n, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < total; at += step) {
        const equation e = equation_at(view_of(job, at / job.n), job.n, at % job.n);
        s.a[at] = e.a, s.b[at] = e.b, s.c[at] = e.c, s.d[at] = e.d;
    }
}

__global__ static void step_kernel(rows s, int64_t n, int64_t solves, int64_t h, int64_t each,
                                   bool forward) {
    const int64_t total = solves * each, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < total; at += step) {
        const rows mine = rows_of_solve(s, n, at / each);
        if (forward)
            reduce_row(mine, n, h, at % each);
        else
            solve_row(mine, n, h, at % each);
    }
}

static size_t shared_bytes(const shoal_tridiag *plan) {
    return 4 * (size_t)plan->job.n * sizeof(real);
}

static bool fits_block(const shoal_tridiag *plan) {
    return shared_bytes(plan) <= shoal_most_shared(plan->head.ctx);
}

static size_t cr_bytes(const shoal_tridiag *plan) {
    if (fits_block(plan)) return 0;
    return R(tridiag_verdict_bytes)(plan) +
           shared_bytes(plan) * (size_t)(plan->job.count * plan->job.nrhs);
}

static shoal_status cr_run(shoal_tridiag *plan, const tridiag_job *job) {
    void *stream = plan->head.ctx->stream;
    const int64_t n = job->n, solves = job->count * job->nrhs, total = solves * n;
    if (fits_block(plan)) {
        size_t shared = shared_bytes(plan);
        int threads = n <= 64 ? 32 : n <= 128 ? 64 : n <= 256 ? 128 : BLOCK;
        shoal_allow_shared(plan->head.ctx, block_kernel);
        SHOAL_LAUNCH(block_kernel, dim3(shoal_grid(solves)), dim3(threads), shared, stream, *job);
        return shoal_launched(plan->head.ctx, "cr");
    }
    real *memory = (real *)((char *)job->work + R(tridiag_verdict_bytes)(plan));
    const rows s = { memory, memory + total, memory + 2 * total, memory + 3 * total };
    SHOAL_LAUNCH(copy_kernel, dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0, stream, *job, s);
    int64_t h = 1;
    for (; 2 * h <= n; h *= 2)
        SHOAL_LAUNCH(step_kernel, dim3(shoal_blocks(solves * kept_rows(n, h), BLOCK)), dim3(BLOCK),
                     0, stream, s, n, solves, h, kept_rows(n, h), true);
    for (; h > 0; h /= 2)
        SHOAL_LAUNCH(step_kernel, dim3(shoal_blocks(solves * solved_rows(n, h), BLOCK)),
                     dim3(BLOCK), 0, stream, s, n, solves, h, solved_rows(n, h), false);
    return R(tridiag_verdict)(plan, job, s.d, job->work, SHOAL_SYSTEM_PIVOT);
}

extern "C" const tridiag_cuda_method R(tridiag_cr) = { cr_bytes, cr_run };
