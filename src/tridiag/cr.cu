/* SPDX-License-Identifier: Apache-2.0
 *
 * cr.cu - cyclic reduction on the GPU (the small-systems paper of reduce.h, section 4.1,
 * equation (10), Figure 7).
 *
 * At distance h = 1, 2, 4, ... the rows i = 2h-1, 4h-1, 6h-1, ... take out their neighbours
 * at i - h and i + h; the rows between them are solved on the way back, from the largest h down:
 *     row i  -  (dl_i / d_{i-h}) row i-h  -  (du_i / d_{i+h}) row i+h,
 *     x_i = (b_i - dl_i x_{i-h} - du_i x_{i+h}) / d_i.
 * Any n: a neighbour that does not exist is left out.
 *
 * One block per solve, rows in shared memory, 2 log2 n steps with n/2h threads busy in each; 5
 * numbers per row moved. Longer systems stay in global memory, one launch per step. The distance
 * doubles, so shared memory suffers bank conflicts, as in the paper; pcr does not.
 */
#include "tridiag/device.cuh"

enum { BLOCK = 256 };

/* A row as it is reduced: scaled (residual.h), so that no product of neighbours of other sizes leaves the range. */
__device__ static inline equation scaled_row(const equation &e) {
    const real scale = row_scale(row_power(e.dl, e.d, e.du));
    const equation s = { e.dl * scale, e.d * scale, e.du * scale, e.b * scale };
    return s;
}

typedef struct rows {
    real *dl, *d, *du, *b; /* x replaces b on the way back */
} rows;

/* The j-th row that stays at distance h: i = 2h (j + 1) - 1. */
__device__ static inline void reduce_row(const rows &s, int64_t n, int64_t h, int64_t j) {
    const int64_t i = 2 * h * (j + 1) - 1, next = i + h;
    const real below = s.dl[i] / s.d[i - h], above = next < n ? s.du[i] / s.d[next] : 0;
    real d = real_fma(-below, s.du[i - h], s.d[i]), b = real_fma(-below, s.b[i - h], s.b[i]);
    if (next < n) {
        d = real_fma(-above, s.dl[next], d);
        b = real_fma(-above, s.b[next], b);
    }
    s.dl[i] = -below * s.dl[i - h];
    s.d[i] = d;
    s.du[i] = next < n ? -above * s.du[next] : 0;
    s.b[i] = b;
}

/* The j-th row solved at distance h: i = 2h j + h - 1. */
__device__ static inline void solve_row(const rows &s, int64_t n, int64_t h, int64_t j) {
    const int64_t i = 2 * h * j + h - 1;
    real b = s.b[i];
    if (i >= h) b = real_fma(-s.dl[i], s.b[i - h], b);
    if (i + h < n) b = real_fma(-s.du[i], s.b[i + h], b);
    s.b[i] = real_over_pivot(b, s.d[i]);
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
            const equation row = scaled_row(e);
            poison += poison_of(e);
            s.dl[i] = row.dl, s.d[i] = row.d, s.du[i] = row.du, s.b[i] = row.b;
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
        finish_block(job, v, w, s.b, poison, SHOAL_SYSTEM_PIVOT);
        __syncthreads();
    }
}

/* ---- systems longer than shared memory: the same rows in the plan's workspace ---------------- */

__device__ static inline rows rows_of_solve(const rows &s, int64_t n, int64_t v) {
    const rows mine = { s.dl + v * n, s.d + v * n, s.du + v * n, s.b + v * n };
    return mine;
}

__global__ static void copy_kernel(tridiag_job job, rows s) {
    const int64_t total = solves(job) * job.n;
    SHOAL_GRID_STRIDE(at, total) {
        const equation e = scaled_row(equation_at(view_of(job, at / job.n), job.n, at % job.n));
        s.dl[at] = e.dl, s.d[at] = e.d, s.du[at] = e.du, s.b[at] = e.b;
    }
}

__global__ static void step_kernel(rows s, int64_t n, int64_t solves, int64_t h, int64_t each,
                                   bool forward) {
    const int64_t total = solves * each;
    SHOAL_GRID_STRIDE(at, total) {
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
    return shared_bytes(plan) <= shoal_max_shared(plan->head.ctx);
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
    return R(tridiag_verdict)(plan, job, s.b, job->work, SHOAL_SYSTEM_PIVOT);
}

extern "C" const tridiag_cuda_method R(tridiag_cr) = { cr_bytes, cr_run };
