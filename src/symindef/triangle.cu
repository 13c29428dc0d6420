/* SPDX-License-Identifier: Apache-2.0
 *
 * triangle.cu - what every factorization does on the GPU before and after its stages, and the solve
 * (triangle.c states it).
 *
 * Before and after: a block for each line, two passes over the triangle in all.
 * Solve: y := M^-1 y, y := D^-1 y, y := M^-T y, rows in the order of the factors.
 * By blocks of ROWS rows, one after the other: the rows of a block are solved with the triangle on the
 * diagonal, and taken off all others. Many right-hand sides: WIDTH at once, one thread block for the
 * first, the whole grid for the second: n / ROWS pairs of kernels each way. Few: each by itself, both
 * in one kernel, every thread block solving with the triangle, a warp of it, before it takes its share
 * of the others. n / ROWS kernels each way, and the factors are read once each way: the latency of a
 * step counts, not the bytes.
 *
 * What a block takes off a row is summed up first (see triangle.c), in PARTS sums, r modulo
 * PARTS deciding which; they are added as halves. All ways of dealing rows to threads keep that order.
 */
#include "core/launch.cuh"
#include "symindef/stage.h"

enum { BLOCK = 256, ROWS = 64, APART = ROWS + 1, PARTS = 8 };
enum { FEW = 4, WIDTH = 32, COLUMNS = 4, GROUPS = WIDTH / COLUMNS }; /* of right-hand sides */

static size_t triangle_bytes(const shoal_symindef *plan) {
    return (size_t)plan->job.shape.n * WIDTH * sizeof(real);
}

/* The largest of many numbers, none negative: their bits are in the same order. */
__device__ static inline void note_largest(double *so_far, double value) {
    atomicMax((unsigned long long *)so_far, (unsigned long long)__double_as_longlong(value));
}

__device__ static inline double largest_of_warp(double mine) {
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
    double largest = 0;
    bool bad = false;
    for (int64_t line = blockIdx.x; line < shape.n; line += gridDim.x) {
        const real *at = a + line_start(&shape, line);
        const int64_t end = line_end(&shape, line);
        for (int64_t x = line_first(&shape, line) + threadIdx.x; x < end; x += BLOCK) {
            const double size = (double)real_abs(at[x]);
            bad |= !(size <= (double)REAL_MAX);
            if (size > largest) largest = size;
        }
        if (threadIdx.x == 0) {
            ((real *)job.d)[line] = ((real *)job.e)[line] = 0;
            job.interchanges[line] = (int32_t)(line + 1);
            job.permutation[line] = (int32_t)line;
            if (job.growth) job.growth[line] = 0;
        }
    }
    largest = largest_of_warp(largest);
    if (threadIdx.x % 32 == 0) note_largest(&job.state->largest, largest);
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
    double largest = 0;
    for (int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / 32; i < shape.n; i += warps) {
        double sum = 0;
        for (int64_t j = threadIdx.x % 32; j < shape.n; j += 32)
            sum += fabs((double)a[place(&shape, i, j)]);
        sum = sum_of_warp(sum);
        if (sum > largest) largest = sum;
    }
    if (threadIdx.x % 32 == 0) note_largest(&job.state->norm, largest);
}

__global__ static void tolerance_kernel(symindef_job job) {
    job.state->tol = job.tol > 0 ? job.tol : job.state->largest * (double)REAL_EPSILON;
}

static unsigned line_blocks(const shoal_symindef *plan, int64_t n) {
    const int64_t limit = (int64_t)plan->head.ctx->multiprocessors * 16;
    return (unsigned)(n < limit ? n : limit);
}

static shoal_status triangle_begin(shoal_symindef *plan, const symindef_job *job) {
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
    double largest = 0;
    if (state->status != SHOAL_SYSTEM_OK) return;
    for (int64_t line = blockIdx.x; line < shape.n; line += gridDim.x) {
        real *at = a + line_start(&shape, line);
        const int64_t end = line_end(&shape, line);
        for (int64_t x = line_first(&shape, line) + threadIdx.x; x < end; x += BLOCK) {
            const int64_t i = shape.upper ? x : line, j = shape.upper ? line : x;
            if (!(real_abs(at[x]) <= REAL_MAX)) largest = (double)INFINITY; /* no search sees NaN */
            if (j >= rows) {
                if (clear) at[x] = 0;
            } else if (i > j + 1 || (i == j + 1 && e[j] == 0)) {
                const double size = (double)real_abs(at[x]);
                if (size > largest) largest = size;
            }
        }
        if (threadIdx.x == 0 && d[line] == 0 && e[line] == 0 && !(line > 0 && e[line - 1] != 0))
            atomicExch(&job.state->singular, 1);
    }
    largest = largest_of_warp(largest);
    if (threadIdx.x % 32 == 0) note_largest(&job.state->multiplier, largest);
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

/* ---- the solve ---- */

/* M(i,j), i > j: an entry of D there counts as 0. */
__device__ static inline real factor_at(const symindef_job &job, int64_t i, int64_t j) {
    const real *e = (const real *)job.e;
    if (i == j + 1 && e[j] != 0) return 0;
    return ((const real *)job.a)[place(&job.shape, i, j)];
}

/* y is (n, wide); `width` columns are used. */
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

/* The triangle on the diagonal at r0, into shared memory. */
__device__ static inline void fetch_triangle(const symindef_job &job, int64_t r0, int rows,
                                             real *m) {
    for (int at = threadIdx.x; at < ROWS * ROWS; at += BLOCK) {
        const int line = at / ROWS, x = at % ROWS;
        const int i = job.shape.upper ? x : line, j = job.shape.upper ? line : x;
        m[i * APART + j] = j < i && i < rows ? factor_at(job, r0 + i, r0 + j) : 0;
    }
}

__device__ static inline int rows_of(const symindef_job &job, int64_t r0) {
    return job.shape.n - r0 < ROWS ? (int)(job.shape.n - r0) : ROWS;
}

/* ---- many right-hand sides ---- */

/* Rows r0 .. of y by the triangle on the diagonal, forward, or with its transpose backward. A thread
 * has every 8th row of one column; a row is final when its step comes. */
template <bool FORWARD> __global__ static void diagonal_kernel(symindef_job job, int64_t r0) {
    SHOAL_SHARED(real, m); /* and behind it a row of y for each step */
    enum { MINE = ROWS * WIDTH / BLOCK, DOWN = BLOCK / WIDTH };
    const int rows = rows_of(job, r0), c = threadIdx.x % WIDTH, i0 = threadIdx.x / WIDTH;
    real *solved = m + ROWS * APART, *y = (real *)job.rhs + r0 * WIDTH;
    real own[MINE], sum[MINE] = { 0 };
    fetch_triangle(job, r0, rows, m);
#pragma unroll
    for (int k = 0; k < MINE; k++)
        own[k] = i0 + k * DOWN < rows ? y[(i0 + k * DOWN) * WIDTH + c] : 0;
    for (int step = 0; step < rows; step++) {
        const int from = FORWARD ? step : rows - 1 - step;
#pragma unroll
        for (int k = 0; k < MINE; k++)
            if (i0 + k * DOWN == from)
                y[from * WIDTH + c] = solved[from * WIDTH + c] = own[k] - sum[k];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < MINE; k++) {
            const int i = i0 + k * DOWN;
            const real factor = FORWARD ? m[i * APART + from] : m[from * APART + i];
            if (FORWARD ? i > from : i < from)
                sum[k] = fused(factor, solved[from * WIDTH + c], sum[k]);
        }
    }
}

/* Rows r0 .. of y are taken off the rows after them, or before them: a thread has COLUMNS right-hand
 * sides of a row. */
template <bool FORWARD> __global__ static void others_kernel(symindef_job job, int64_t r0) {
    SHOAL_SHARED(real, from);
    const int rows = rows_of(job, r0), c0 = threadIdx.x % GROUPS * COLUMNS;
    real *y = (real *)job.rhs;
    for (int at = threadIdx.x; at < ROWS * WIDTH; at += BLOCK)
        from[at] = at < rows * WIDTH ? y[r0 * WIDTH + at] : 0;
    __syncthreads();
    const int64_t count = FORWARD ? job.shape.n - r0 - rows : r0, before = FORWARD ? r0 + rows : 0;
    for (int64_t k = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / GROUPS; k < count;
         k += (int64_t)gridDim.x * BLOCK / GROUPS) {
        const int64_t i = before + k;
        real sum[PARTS][COLUMNS] = { { 0 } };
        for (int r = 0; r < rows; r += PARTS)
#pragma unroll
            for (int p = 0; p < PARTS; p++) {
                if (r + p >= rows) continue;
                const real m =
                    FORWARD ? factor_at(job, i, r0 + r + p) : factor_at(job, r0 + r + p, i);
#pragma unroll
                for (int c = 0; c < COLUMNS; c++)
                    sum[p][c] = fused(m, from[(r + p) * WIDTH + c0 + c], sum[p][c]);
            }
#pragma unroll
        for (int half = PARTS / 2; half > 0; half /= 2)
#pragma unroll
            for (int p = 0; p < half; p++)
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) sum[p][c] += sum[p + half][c];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) y[i * WIDTH + c0 + c] -= sum[0][c];
    }
}

static void solve_many(const shoal_symindef *plan, const symindef_job *job) {
    const int64_t n = job->shape.n, blocks = (n + ROWS - 1) / ROWS;
    const size_t one = ROWS * WIDTH * sizeof(real), both = ROWS * APART * sizeof(real) + one;
    void *stream = plan->head.ctx->stream;
    shoal_allow_shared(plan->head.ctx, diagonal_kernel<true>);
    shoal_allow_shared(plan->head.ctx, diagonal_kernel<false>);
    const auto step = [&](auto diagonal, auto others, int64_t r0, int64_t other_rows) {
        SHOAL_LAUNCH(diagonal, dim3(1), dim3(BLOCK), both, stream, *job, r0);
        if (other_rows > 0)
            SHOAL_LAUNCH(others, dim3(shoal_blocks(other_rows * GROUPS, BLOCK)), dim3(BLOCK), one,
                         stream, *job, r0);
    };
    for (int64_t r = 0; r < blocks; r++)
        step(diagonal_kernel<true>, others_kernel<true>, r * ROWS, n - (r + 1) * ROWS);
    SHOAL_LAUNCH(divide_kernel, dim3(shoal_blocks(n * WIDTH, BLOCK)), dim3(BLOCK), 0, stream, *job,
                 (real *)job->rhs, WIDTH);
    for (int64_t r = blocks - 1; r >= 0; r--)
        step(diagonal_kernel<false>, others_kernel<false>, r * ROWS, r * ROWS);
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
 * what a row needs is contiguous, PARTS lanes share it; else neighbours have neighbouring rows. */
template <bool FORWARD, bool UPPER>
__global__ static void __launch_bounds__(BLOCK)
    step_kernel(symindef_job job, int64_t r0, real *y, real *z) {
    SHOAL_SHARED(real, m); /* and behind it what is solved */
    real *solved = m + ROWS * APART;
    const int rows = rows_of(job, r0);
    shoal_launch_dependents();
    fetch_triangle(job, r0, rows, m); /* the factors have long been there */
    shoal_grid_dependency_wait();
    __syncthreads();
    if (threadIdx.x < 32) solve_block<FORWARD>(m, rows, y + r0, solved);
    __syncthreads();
    if (blockIdx.x == 0 && (int)threadIdx.x < rows) z[r0 + threadIdx.x] = solved[threadIdx.x];
    const auto factor = [&](int64_t i, int r) {
        return FORWARD ? factor_at(job, i, r0 + r) : factor_at(job, r0 + r, i);
    };
    const int64_t count = FORWARD ? job.shape.n - r0 - rows : r0, before = FORWARD ? r0 + rows : 0;
    const int64_t me = (int64_t)blockIdx.x * BLOCK + threadIdx.x, all = (int64_t)gridDim.x * BLOCK;
    if (FORWARD != UPPER) {
        const int lane = threadIdx.x % PARTS;
        for (int64_t k = me / PARTS; k < (count + 31) / 32 * 32;
             k += all / PARTS) { /* whole warps */
            real sum = 0;
            for (int r = lane; r < rows && k < count; r += PARTS)
                sum = fused(factor(before + k, r), solved[r], sum);
            for (int half = PARTS / 2; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
            if (k < count && lane == 0) y[before + k] -= sum;
        }
    } else {
        for (int64_t k = me; k < count; k += all) {
            real sum[PARTS] = { 0 };
            for (int r = 0; r < rows; r += PARTS)
#pragma unroll
                for (int p = 0; p < PARTS; p++)
                    if (r + p < rows)
                        sum[p] = fused(factor(before + k, r + p), solved[r + p], sum[p]);
#pragma unroll
            for (int half = PARTS / 2; half > 0; half /= 2)
#pragma unroll
                for (int p = 0; p < half; p++) sum[p] += sum[p + half];
            y[before + k] -= sum[0];
        }
    }
}

template <bool UPPER> static void solve_one(const symindef_job *job, int largest, void *stream) {
    const int64_t n = job->shape.n, blocks = (n + ROWS - 1) / ROWS;
    const size_t bytes = (ROWS * APART + ROWS) * sizeof(real);
    real *y = (real *)job->rhs, *z = y + n;
    const auto grid = [=](int64_t rows, bool along) {
        const int64_t wanted = (rows * (along ? PARTS : 1) + BLOCK - 1) / BLOCK;
        return dim3((unsigned)(wanted < 1 ? 1 : wanted < largest ? wanted : largest));
    };
    for (int64_t r = 0; r < blocks; r++)
        SHOAL_LAUNCH_EARLY((step_kernel<true, UPPER>), grid(n - (r + 1) * ROWS, !UPPER),
                           dim3(BLOCK), bytes, stream, *job, r * ROWS, y, z);
    SHOAL_LAUNCH(divide_kernel, dim3(shoal_blocks(n, BLOCK)), dim3(BLOCK), 0, stream, *job, z, 1);
    for (int64_t r = blocks - 1; r >= 0; r--)
        SHOAL_LAUNCH_EARLY((step_kernel<false, UPPER>), grid(r * ROWS, UPPER), dim3(BLOCK), bytes,
                           stream, *job, r * ROWS, z, y);
}

static shoal_status triangle_solve(shoal_symindef *plan, const symindef_job *job, int64_t nrhs,
                                   const void *b, void *x) {
    void *stream = plan->head.ctx->stream;
    const int wide = nrhs < FEW ? 1 : WIDTH;
    const dim3 grid(shoal_blocks(job->shape.n * wide, BLOCK)), block(BLOCK);
    for (int64_t first = 0; first < nrhs; first += wide) {
        const int width = nrhs - first < wide ? (int)(nrhs - first) : wide;
        SHOAL_LAUNCH(gather_kernel, grid, block, 0, stream, *job, (const real *)b, nrhs, first,
                     width, wide);
        if (wide > 1)
            solve_many(plan, job);
        else if (job->shape.upper)
            solve_one<true>(job, 2 * plan->head.ctx->multiprocessors, stream);
        else
            solve_one<false>(job, 2 * plan->head.ctx->multiprocessors, stream);
        SHOAL_LAUNCH(scatter_kernel, grid, block, 0, stream, *job, (real *)x, nrhs, first, width,
                     wide);
    }
    return shoal_launched(plan->head.ctx, "solve");
}

/* ---- the residual, and the columns of G ---- */

__global__ static void residual_kernel(symindef_job job, const real *b, const real *x, double *r,
                                       double *s) {
    const symindef_shape shape = job.shape;
    const real *a = (const real *)job.a;
    const int64_t warps = (int64_t)gridDim.x * (BLOCK / 32);
    for (int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / 32; i < shape.n; i += warps) {
        double sum = 0, size = 0;
        for (int64_t j = threadIdx.x % 32; j < shape.n; j += 32) {
            const double term = (double)a[place(&shape, i, j)] * (double)x[j];
            sum += term;
            size += fabs(term);
        }
        sum = sum_of_warp(sum);
        size = sum_of_warp(size);
        if (threadIdx.x % 32 == 0) {
            const double given = (double)b[i];
            r[i] = given - sum, s[i] = fabs(given) + size;
        }
    }
}

static shoal_status triangle_residual(shoal_symindef *plan, const symindef_job *job, const void *b,
                                      const void *x, double *r, double *s) {
    SHOAL_LAUNCH(residual_kernel, dim3(line_blocks(plan, job->shape.n)), dim3(BLOCK), 0,
                 plan->head.ctx->stream, *job, (const real *)b, (const real *)x, r, s);
    return shoal_launched(plan->head.ctx, "residual");
}

/* A block for each pivot; its threads take the rows. */
__global__ static void columns_kernel(symindef_job job, const int32_t *to, int64_t rank, real *g) {
    const int64_t n = job.shape.n, k = blockIdx.x;
    const real *d = (const real *)job.d, *e = (const real *)job.e;
    if (k > 0 && e[k - 1] != 0) return; /* the second row of a pivot */
    const bool is_2x2 = e[k] != 0;
    const gjgt_block block = gjgt_of(d[k], e[k], is_2x2 ? d[k + 1] : 0);
    for (int64_t i = threadIdx.x; i < n; i += BLOCK) {
        real m[2] = { 0, 0 };
        for (int t = 0; t < (is_2x2 ? 2 : 1); t++)
            m[t] = i > k + t ? factor_at(job, i, k + t) : (real)(i == k + t);
        for (int t = 0; t < (is_2x2 ? 2 : 1); t++)
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
            a[place(&job.shape, k + 1, k)] = e[k]; /* even if it has become zero */
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
