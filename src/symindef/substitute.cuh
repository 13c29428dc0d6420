/* SPDX-License-Identifier: Apache-2.0
 *
 * substitute.cuh - the solve of triangle.cu: y := M^-1 y, y := D^-1 y, y := M^-T y, rows in the order
 * of the factors.
 *
 * Many right-hand sides: WIDTH at once, by blocks of ROWS rows, one after the other; one thread block
 * solves with the triangle on the diagonal, then the whole grid takes its rows off all others: n /
 * ROWS pairs of kernels each way. Few: each by itself, by blocks of STEP rows in one kernel each:
 * every thread block solves with the triangle on the diagonal, a warp of it, and takes the rows off
 * its share of the others. So n / STEP kernels each way, and the factors are read once each way: the
 * latency of a step counts, not the bytes.
 */
#ifndef SHOAL_SYMINDEF_SUBSTITUTE_CUH
#define SHOAL_SYMINDEF_SUBSTITUTE_CUH

#include "core/launch.cuh"
#include "symindef/stage.h"

enum { BLOCK = 256, ROWS = 32, WIDTH = 32 };
enum { FEW = 4, STEP = 64, APART = STEP + 1, TEAM = 8 };

/* M(i,j), i > j: an entry of D there counts as 0. */
__device__ static inline real factor_at(const symindef_job &job, int64_t i, int64_t j) {
    const real *e = (const real *)job.e;
    if (i == j + 1 && e[j] != 0) return 0;
    return ((const real *)job.a)[place(&job.shape, i, j)];
}

/* y is (n, wide), of which `width` columns are used. */
__global__ static void gather_kernel(symindef_job job, const real *b, int64_t nrhs, int64_t first,
                                     int width, int wide) {
    real *y = (real *)job.rhs;
    for (int64_t at = (int64_t)blockIdx.x * BLOCK + threadIdx.x; at < job.shape.n * wide;
         at += (int64_t)gridDim.x * BLOCK) {
        const int64_t i = at / wide, c = at % wide;
        const int64_t row = job.permutation[i];
        y[at] = c >= width ? 0 : b ? b[row * nrhs + first + c] : (real)(row == first + c);
    }
}

__global__ static void scatter_kernel(symindef_job job, real *x, int64_t nrhs, int64_t first,
                                      int width, int wide) {
    const real *y = (const real *)job.rhs;
    const bool lost = job.state->singular || job.state->status != SHOAL_SYSTEM_OK;
    for (int64_t at = (int64_t)blockIdx.x * BLOCK + threadIdx.x; at < job.shape.n * wide;
         at += (int64_t)gridDim.x * BLOCK) {
        const int64_t i = at / wide, c = at % wide;
        if (c < width) x[job.permutation[i] * nrhs + first + c] = lost ? real_nan() : y[at];
    }
}

__global__ static void divide_kernel(symindef_job job, real *y, int wide) {
    const real *d = (const real *)job.d, *e = (const real *)job.e;
    for (int64_t at = (int64_t)blockIdx.x * BLOCK + threadIdx.x; at < job.shape.n * wide;
         at += (int64_t)gridDim.x * BLOCK) {
        const int64_t k = at / wide, next = at + wide;
        if (k > 0 && e[k - 1] != 0) continue; /* the second row of a block */
        if (e[k] == 0) {
            y[at] /= d[k];
        } else {
            const real x[2] = { y[at], y[next] };
            real p[2];
            inverse_times(d[k], e[k], d[k + 1], x, p);
            y[at] = p[0], y[next] = p[1];
        }
    }
}

/* ---- many right-hand sides ---- */

/* Rows r0 .. of y by the triangle on the diagonal, forward, or with its transpose backward: one
 * warp-wide column of threads for each row, a step for each row. */
template <bool FORWARD> __global__ static void diagonal_kernel(symindef_job job, int64_t r0) {
    SHOAL_SHARED(real, shared);
    real *m = shared, *y = shared + ROWS * ROWS, *all = (real *)job.rhs;
    const int64_t n = job.shape.n;
    const int rows = n - r0 < ROWS ? (int)(n - r0) : ROWS;
    for (int at = threadIdx.x; at < ROWS * ROWS; at += BLOCK) {
        const int i = at / ROWS, j = at % ROWS;
        m[at] = j < i && i < rows ? factor_at(job, r0 + i, r0 + j) : 0;
        y[at] = i < rows ? all[(r0 + i) * WIDTH + j] : 0; /* ROWS = WIDTH */
    }
    for (int step = 0; step < rows; step++) {
        const int from = FORWARD ? step : rows - 1 - step;
        __syncthreads();
        for (int at = threadIdx.x; at < ROWS * WIDTH; at += BLOCK) {
            const int i = at / WIDTH, c = at % WIDTH;
            const bool taken = FORWARD ? i > from : i < from;
            if (taken)
                y[at] = fused(-(FORWARD ? m[i * ROWS + from] : m[from * ROWS + i]),
                              y[from * WIDTH + c], y[at]);
        }
    }
    __syncthreads();
    for (int at = threadIdx.x; at < rows * WIDTH; at += BLOCK) all[r0 * WIDTH + at] = y[at];
}

/* Rows r0 .. of y are taken off the rows after them, or before them: a thread a row, its entries of
 * the block in turn, summed up first (substitute.h says why). */
template <bool FORWARD>
__global__ static void others_kernel(symindef_job job, int64_t r0, int rows) {
    SHOAL_SHARED(real, from);
    real *y = (real *)job.rhs;
    for (int at = threadIdx.x; at < rows * WIDTH; at += BLOCK) from[at] = y[r0 * WIDTH + at];
    __syncthreads();
    const int64_t count = FORWARD ? job.shape.n - r0 - rows : r0;
    for (int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x; k < count;
         k += (int64_t)gridDim.x * BLOCK) {
        const int64_t i = FORWARD ? r0 + rows + k : k;
        real sum[WIDTH] = { 0 };
        for (int r = 0; r < rows; r++) {
            const real m = FORWARD ? factor_at(job, i, r0 + r) : factor_at(job, r0 + r, i);
            for (int c = 0; c < WIDTH; c++) sum[c] = fused(m, from[r * WIDTH + c], sum[c]);
        }
        for (int c = 0; c < WIDTH; c++) y[i * WIDTH + c] -= sum[c];
    }
}

static void solve_many(const symindef_job *job, void *stream) {
    const int64_t n = job->shape.n, blocks = (n + ROWS - 1) / ROWS;
    const size_t both = 2 * ROWS * WIDTH * sizeof(real), one = ROWS * WIDTH * sizeof(real);
    for (int64_t r = 0; r < blocks; r++) {
        const int64_t r0 = r * ROWS, left = n - r0 - ROWS;
        SHOAL_LAUNCH((diagonal_kernel<true>), dim3(1), dim3(BLOCK), both, stream, *job, r0);
        if (left > 0)
            SHOAL_LAUNCH((others_kernel<true>), dim3(shoal_blocks(left, BLOCK)), dim3(BLOCK), one,
                         stream, *job, r0, ROWS);
    }
    SHOAL_LAUNCH(divide_kernel, dim3(shoal_blocks(n * WIDTH, BLOCK)), dim3(BLOCK), 0, stream, *job,
                 (real *)job->rhs, WIDTH);
    for (int64_t r = blocks - 1; r >= 0; r--) {
        const int64_t r0 = r * ROWS, left = n - r0;
        const int rows = left < ROWS ? (int)left : ROWS;
        SHOAL_LAUNCH((diagonal_kernel<false>), dim3(1), dim3(BLOCK), both, stream, *job, r0);
        if (r0 > 0)
            SHOAL_LAUNCH((others_kernel<false>), dim3(shoal_blocks(r0, BLOCK)), dim3(BLOCK), one,
                         stream, *job, r0, rows);
    }
}

/* ---- one ---- */

/* The rows of a block by its triangle: lane l has rows l and l + 32, a step for each row. Sums are
 * taken off in the end, so that a row is rounded once at its own size. */
template <bool FORWARD>
__device__ static inline void solve_block(const real *m, int rows, const real *y, real *solved) {
    const int lane = threadIdx.x % 32;
    real own[2], sum[2] = { 0, 0 };
    for (int h = 0; h < 2; h++) own[h] = lane + 32 * h < rows ? y[lane + 32 * h] : 0;
    for (int step = 0; step < rows; step++) {
        const int from = FORWARD ? step : rows - 1 - step;
        const real x = __shfl_sync(~0u, from < 32 ? own[0] - sum[0] : own[1] - sum[1], from % 32);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int i = lane + 32 * h;
            const real factor = FORWARD ? m[i * APART + from] : m[from * APART + i];
            if (FORWARD ? i > from : i < from) sum[h] = fused(factor, x, sum[h]);
        }
    }
    for (int h = 0; h < 2; h++) solved[lane + 32 * h] = own[h] - sum[h];
}

/* Rows r0 .. of y are solved into z, and taken off the rows of y after them, or before them. Where
 * what a row needs is contiguous, TEAM lanes share it; else neighbours have neighbouring rows. */
template <bool FORWARD, bool UPPER>
__global__ static void __launch_bounds__(BLOCK)
    step_kernel(symindef_job job, int64_t r0, real *y, real *z) {
    SHOAL_SHARED(real, m); /* STEP rows, APART from each other, and what is solved */
    real *solved = m + STEP * APART;
    const int64_t n = job.shape.n;
    const int rows = n - r0 < STEP ? (int)(n - r0) : STEP;
    shoal_let_later_start();
    for (int at = threadIdx.x; at < STEP * STEP;
         at += BLOCK) { /* the factors have long been there */
        const int line = at / STEP, x = at % STEP, i = UPPER ? x : line, j = UPPER ? line : x;
        m[i * APART + j] = j < i && i < rows ? factor_at(job, r0 + i, r0 + j) : 0;
    }
    shoal_wait_for_earlier();
    __syncthreads();
    if (threadIdx.x < 32) solve_block<FORWARD>(m, rows, y + r0, solved);
    __syncthreads();
    if (blockIdx.x == 0 && (int)threadIdx.x < rows) z[r0 + threadIdx.x] = solved[threadIdx.x];
    const int64_t count = FORWARD ? n - r0 - rows : r0, before = FORWARD ? r0 + rows : 0;
    const bool along = FORWARD != UPPER;
    const int team = along ? TEAM : 1, lane = threadIdx.x % team;
    const int64_t apart = (int64_t)gridDim.x * (BLOCK / team);
    for (int64_t k = (int64_t)blockIdx.x * (BLOCK / team) + threadIdx.x / team;
         k < (along ? (count + 31) / 32 * 32 : count); k += apart) { /* whole warps, for the sum */
        const int64_t i = before + k;
        real sum = 0;
        if (k < count)
            for (int r = lane; r < rows; r += team)
                sum = fused(FORWARD ? factor_at(job, i, r0 + r) : factor_at(job, r0 + r, i),
                            solved[r], sum);
        if (along)
            for (int step = TEAM / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
        if (k < count && lane == 0) y[i] -= sum;
    }
}

template <bool UPPER> static void solve_one(const symindef_job *job, int most, void *stream) {
    const int64_t n = job->shape.n, blocks = (n + STEP - 1) / STEP;
    const size_t bytes = (STEP * APART + STEP) * sizeof(real);
    real *y = (real *)job->rhs, *z = y + n;
    const auto grid = [=](int64_t rows, bool along) {
        const int64_t wanted = (rows * (along ? TEAM : 1) + BLOCK - 1) / BLOCK;
        return dim3((unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most));
    };
    for (int64_t r = 0; r < blocks; r++)
        SHOAL_LAUNCH_EARLY((step_kernel<true, UPPER>), grid(n - (r + 1) * STEP, !UPPER),
                           dim3(BLOCK), bytes, stream, *job, r * STEP, y, z);
    SHOAL_LAUNCH(divide_kernel, dim3(shoal_blocks(n, BLOCK)), dim3(BLOCK), 0, stream, *job, z, 1);
    for (int64_t r = blocks - 1; r >= 0; r--)
        SHOAL_LAUNCH_EARLY((step_kernel<false, UPPER>), grid(r * STEP, UPPER), dim3(BLOCK), bytes,
                           stream, *job, r * STEP, z, y);
}

static shoal_status triangle_solve(shoal_symindef *plan, const symindef_job *job, int64_t nrhs,
                                   const void *b, void *x) {
    void *stream = plan->ctx->stream;
    const int wide = nrhs < FEW ? 1 : WIDTH;
    const dim3 grid(shoal_blocks(job->shape.n * wide, BLOCK)), block(BLOCK);
    cudaGetLastError(); /* an error of before is not ours to report */
    for (int64_t first = 0; first < nrhs; first += wide) {
        const int width = nrhs - first < wide ? (int)(nrhs - first) : wide;
        SHOAL_LAUNCH(gather_kernel, grid, block, 0, stream, *job, (const real *)b, nrhs, first,
                     width, wide);
        if (wide > 1)
            solve_many(job, stream);
        else if (job->shape.upper)
            solve_one<true>(job, 2 * plan->ctx->multiprocessors, stream);
        else
            solve_one<false>(job, 2 * plan->ctx->multiprocessors, stream);
        SHOAL_LAUNCH(scatter_kernel, grid, block, 0, stream, *job, (real *)x, nrhs, first, width,
                     wide);
    }
    return shoal_launched(plan->ctx, "solve");
}

#endif
