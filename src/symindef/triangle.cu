/* SPDX-License-Identifier: Apache-2.0
 *
 * triangle.cu - what every factorization does on the GPU before and after its stages, and the solve
 * (triangle.c states it).
 *
 * Before and after: a block for each line, two passes over the triangle in all. substitute.cuh has
 * the solve.
 */
#include "symindef/substitute.cuh"

static size_t triangle_bytes(const shoal_symindef *plan) {
    return (size_t)plan->job.shape.n * WIDTH * sizeof(real);
}

/* The largest of many numbers, none negative: their bits are in the same order. */
__device__ static inline void note_most(double *most, double value) {
    atomicMax((unsigned long long *)most, (unsigned long long)__double_as_longlong(value));
}

__device__ static inline double most_of_warp(double mine) {
    for (int step = 16; step > 0; step /= 2) {
        const double other = __shfl_down_sync(~0u, mine, step);
        if (other > mine) mine = other;
    }
    return mine;
}

__global__ static void clear_kernel(symindef_state *state) {
    const symindef_state none = {};
    *state = none;
}

__global__ static void begin_kernel(symindef_job job) {
    const symindef_shape shape = job.shape;
    const real *a = (const real *)job.a;
    double most = 0;
    bool bad = false;
    for (int64_t line = blockIdx.x; line < shape.n; line += gridDim.x) {
        const real *at = a + line_start(&shape, line);
        const int64_t end = shape.upper ? shape.n : line + 1;
        for (int64_t x = (shape.upper ? line : 0) + threadIdx.x; x < end; x += BLOCK) {
            const double size = (double)real_abs(at[x]);
            bad |= !(size <= (double)REAL_MAX);
            if (size > most) most = size;
        }
        if (threadIdx.x == 0) {
            ((real *)job.d)[line] = ((real *)job.e)[line] = 0;
            job.interchanges[line] = (int32_t)(line + 1);
            job.permutation[line] = (int32_t)line;
            if (job.growth) job.growth[line] = 0;
        }
    }
    most = most_of_warp(most);
    if (threadIdx.x % 32 == 0) note_most(&job.state->largest, most);
    if (bad) atomicExch(&job.state->status, (int)SHOAL_SYSTEM_NONFINITE);
}

__device__ static inline double sum_of_warp(double mine) {
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    return mine;
}

/* A warp for each row, along its line and across the others. */
__global__ static void norm_kernel(symindef_job job) {
    const symindef_shape shape = job.shape;
    const real *a = (const real *)job.a;
    const int64_t warps = (int64_t)gridDim.x * (BLOCK / 32);
    double most = 0;
    for (int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / 32; i < shape.n; i += warps) {
        double sum = 0;
        for (int64_t j = threadIdx.x % 32; j < shape.n; j += 32)
            sum += fabs((double)a[place(&shape, i, j)]);
        sum = sum_of_warp(sum);
        if (sum > most) most = sum;
    }
    if (threadIdx.x % 32 == 0) note_most(&job.state->norm, most);
}

__global__ static void tolerance_kernel(symindef_job job) {
    job.state->tol = job.tol > 0 ? job.tol : job.state->largest * (double)REAL_EPSILON;
}

static unsigned line_blocks(const shoal_symindef *plan, int64_t n) {
    const int64_t most = (int64_t)plan->head.ctx->multiprocessors * 16;
    return (unsigned)(n < most ? n : most);
}

static shoal_status triangle_begin(shoal_symindef *plan, const symindef_job *job) {
    cudaGetLastError(); /* an error of before is not ours to report */
    void *stream = plan->head.ctx->stream;
    SHOAL_LAUNCH(clear_kernel, dim3(1), dim3(1), 0, stream, job->state);
    SHOAL_LAUNCH(begin_kernel, dim3(line_blocks(plan, job->shape.n)), dim3(BLOCK), 0, stream, *job);
    SHOAL_LAUNCH(norm_kernel, dim3(line_blocks(plan, job->shape.n)), dim3(BLOCK), 0, stream, *job);
    SHOAL_LAUNCH(tolerance_kernel, dim3(1), dim3(1), 0, stream, *job);
    return shoal_launched(plan->head.ctx, "begin");
}

__global__ static void finish_kernel(symindef_job job) {
    const symindef_shape shape = job.shape;
    const symindef_state *state = job.state;
    real *a = (real *)job.a;
    const real *d = (const real *)job.d, *e = (const real *)job.e;
    const int64_t rows = state->row;
    const bool clear = state->done;
    double most = 0;
    if (state->status != SHOAL_SYSTEM_OK) return;
    for (int64_t line = blockIdx.x; line < shape.n; line += gridDim.x) {
        real *at = a + line_start(&shape, line);
        const int64_t end = shape.upper ? shape.n : line + 1;
        for (int64_t x = (shape.upper ? line : 0) + threadIdx.x; x < end; x += BLOCK) {
            const int64_t i = shape.upper ? x : line, j = shape.upper ? line : x;
            if (!(real_abs(at[x]) <= REAL_MAX)) most = (double)INFINITY; /* no search sees NaN */
            if (j >= rows) {
                if (clear) at[x] = 0;
            } else if (i > j + 1 || (i == j + 1 && e[j] == 0)) {
                const double size = (double)real_abs(at[x]);
                if (size > most) most = size;
            }
        }
        if (threadIdx.x == 0 && d[line] == 0 && e[line] == 0 && !(line > 0 && e[line - 1] != 0))
            atomicExch(&job.state->singular, 1);
    }
    most = most_of_warp(most);
    if (threadIdx.x % 32 == 0) note_most(&job.state->multiplier, most);
}

__global__ static void conclude_kernel(symindef_state *state) {
    if (!(state->multiplier <= (double)REAL_MAX)) state->status = SHOAL_SYSTEM_OVERFLOW;
}

static shoal_status triangle_finish(shoal_symindef *plan, const symindef_job *job) {
    SHOAL_LAUNCH(finish_kernel, dim3(line_blocks(plan, job->shape.n)), dim3(BLOCK), 0,
                 plan->head.ctx->stream, *job);
    SHOAL_LAUNCH(conclude_kernel, dim3(1), dim3(1), 0, plan->head.ctx->stream, job->state);
    return shoal_launched(plan->head.ctx, "finish");
}

/* ---- the residual, and the columns of G ---- */

__global__ static void residual_kernel(symindef_job job, int64_t apart, const real *b,
                                       const real *x, double *r, double *s) {
    const symindef_shape shape = job.shape;
    const real *a = (const real *)job.a;
    const int64_t warps = (int64_t)gridDim.x * (BLOCK / 32);
    for (int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / 32; i < shape.n; i += warps) {
        double sum = 0, size = 0;
        for (int64_t j = threadIdx.x % 32; j < shape.n; j += 32) {
            const double term = (double)a[place(&shape, i, j)] * (double)x[j * apart];
            sum += term;
            size += fabs(term);
        }
        sum = sum_of_warp(sum);
        size = sum_of_warp(size);
        if (threadIdx.x % 32 == 0) {
            const double given = (double)b[i * apart];
            r[i] = given - sum, s[i] = fabs(given) + size;
        }
    }
}

static shoal_status triangle_residual(shoal_symindef *plan, const symindef_job *job, int64_t apart,
                                      const void *b, const void *x, double *r, double *s) {
    SHOAL_LAUNCH(residual_kernel, dim3(line_blocks(plan, job->shape.n)), dim3(BLOCK), 0,
                 plan->head.ctx->stream, *job, apart, (const real *)b, (const real *)x, r, s);
    return shoal_launched(plan->head.ctx, "residual");
}

/* A block for each pivot; its threads take the rows. */
__global__ static void columns_kernel(symindef_job job, const int32_t *to, int64_t rank, real *g) {
    const int64_t n = job.shape.n, k = blockIdx.x;
    const real *d = (const real *)job.d, *e = (const real *)job.e;
    if (k > 0 && e[k - 1] != 0) return; /* the second row of a pivot */
    const bool two = e[k] != 0;
    const gjgt_block block = gjgt_of(d[k], e[k], two ? d[k + 1] : 0);
    for (int64_t i = threadIdx.x; i < n; i += BLOCK) {
        real m[2] = { 0, 0 };
        for (int t = 0; t < (two ? 2 : 1); t++)
            m[t] = i > k + t ? factor_at(job, i, k + t) : (real)(i == k + t);
        for (int t = 0; t < (two ? 2 : 1); t++)
            if (to[k + t] >= 0)
                g[i * rank + to[k + t]] = fused(m[0], block.q[0][t], m[1] * block.q[1][t]);
    }
}

static shoal_status triangle_columns(shoal_symindef *plan, const symindef_job *job,
                                     const int32_t *to, int64_t rank, void *g) {
    SHOAL_LAUNCH(columns_kernel, dim3((unsigned)job->shape.n), dim3(BLOCK), 0,
                 plan->head.ctx->stream, *job, to, rank, (real *)g);
    return shoal_launched(plan->head.ctx, "columns");
}

__global__ static void blocks_kernel(symindef_job job) {
    const real *d = (const real *)job.d, *e = (const real *)job.e;
    real *a = (real *)job.a;
    for (int64_t k = (int64_t)blockIdx.x * BLOCK + threadIdx.x; k < job.shape.n;
         k += (int64_t)gridDim.x * BLOCK) {
        a[place(&job.shape, k, k)] = d[k];
        if (k + 1 < job.shape.n && job.interchanges[k + 1] < 0)
            a[place(&job.shape, k + 1, k)] = e[k]; /* also where it has become zero */
    }
}

static shoal_status triangle_blocks(shoal_symindef *plan, const symindef_job *job) {
    SHOAL_LAUNCH(blocks_kernel, dim3(shoal_blocks(job->shape.n, BLOCK)), dim3(BLOCK), 0,
                 plan->head.ctx->stream, *job);
    return shoal_launched(plan->head.ctx, "blocks");
}

extern "C" const symindef_driver R(symindef_triangle) = { triangle_bytes,    triangle_begin,
                                                          triangle_finish,   triangle_solve,
                                                          triangle_residual, triangle_columns,
                                                          triangle_blocks };
