/* SPDX-License-Identifier: Apache-2.0
 *
 * jacobi.cu - one-sided J-orthogonal Jacobi on the GPU (jacobi.h).
 *
 * A step is three kernels over all its pairs of blocks:
 *     gram_kernel    a thread block per pair and chunk of rows: columns in shared memory, DEPTH rows at a time,
 *                    the next ones under way; a thread has the products of columns i + 16 e and j + 16 f, i <= j
 *     rotate_kernel  a thread block per pair: S and V in shared memory; the rotations of a step of the round robin
 *                    by one thread each, then a thread per four entries of S and two of V
 *     update_kernel  a thread block per pair and some tiles of rows: V and a tile in shared memory, 8 x 4 sums per
 *                    thread
 * Pairs without a rotation skip the rest. Per sweep about 6 n^3 multiplications and additions, and
 * 24 n^3 / width bytes of double.
 */
#include "core/launch.cuh"
#include "symindef/jacobi.h"

enum { SIDE = JACOBI_SIDE, STRIDE = SIDE + 1, ENTRIES = SIDE * SIDE };
enum { DEPTH = 32, APART = DEPTH + 1, SPREAD = 16, EACH = SIDE / SPREAD };
enum { TRIANGLE = SPREAD * (SPREAD + 1) / 2, GRAM_BLOCK = (TRIANGLE + 31) / 32 * 32 };
enum { ROTATE_BLOCK = 512, PAIRS = SIDE / 2, PRODUCTS = PAIRS * (PAIRS - 1) / 2 };
enum { TILE = JACOBI_ROWS, UPDATE_BLOCK = 256, DOWN = TILE / SPREAD, ACROSS = SIDE / SPREAD };
enum { COLUMN_BLOCK = 256, LANES = 32, VECTOR = 16 / sizeof(real) };

namespace {
struct alignas(16) vector {
    real at[VECTOR];
};
struct workspace {   /* of a step */
    real *sums;      /* ENTRIES per pair and chunk   */
    real *v;         /* ENTRIES per pair             */
    int32_t *active; /* per pair: is there a V?      */
    int chunks;
};
} // namespace

static inline int64_t jacobi_chunks(const jacobi_job *job) {
    return (job->ld + job->chunk - 1) / job->chunk;
}

static size_t jacobi_bytes(const jacobi_job *job) {
    const size_t pairs = (size_t)job->blocks / 2;
    return pairs * ((size_t)jacobi_chunks(job) + 1) * ENTRIES * sizeof(real) +
           pairs * sizeof(int32_t);
}

static workspace workspace_of(const jacobi_job *job) {
    const int64_t pairs = job->blocks / 2;
    workspace work;
    work.chunks = (int)jacobi_chunks(job);
    work.sums = (real *)job->work;
    work.v = work.sums + pairs * work.chunks * ENTRIES;
    work.active = (int32_t *)(work.v + pairs * ENTRIES);
    return work;
}

static shoal_status jacobi_clear(shoal_symindef *plan, const jacobi_job *job) {
    const size_t columns = (size_t)job->blocks * (size_t)job->width;
    if (cudaMemsetAsync(job->x, 0, columns * (size_t)job->ld * sizeof(real),
                        (cudaStream_t)plan->head.ctx->stream) != cudaSuccess)
        return shoal_launched(plan->head.ctx, "jjacobi");
    return SHOAL_OK;
}

/* ---- the scale ---- */

/* None is negative: their bits are in the same order. */
__device__ static inline void raise_to(double *so_far, double value) {
    atomicMax((unsigned long long *)so_far, (unsigned long long)__double_as_longlong(value));
}
__device__ static inline void lower_to(double *so_far, double value) {
    atomicMin((unsigned long long *)so_far, (unsigned long long)__double_as_longlong(value));
}

__global__ static void start_kernel(jacobi_job job) {
    jacobi_state state = {};
    state.smallest = (double)REAL_MAX;
    *job.state = state;
}

/* A warp per column. */
__global__ static void largest_kernel(jacobi_job job) {
    const real *x = (const real *)job.x;
    const int64_t warps = (int64_t)gridDim.x * (COLUMN_BLOCK / 32);
    for (int64_t k = ((int64_t)blockIdx.x * COLUMN_BLOCK + threadIdx.x) / 32; k < job.rank;
         k += warps) {
        double largest = 0;
        for (int64_t i = threadIdx.x % 32; i < job.n; i += 32) {
            const double size = (double)real_abs(x[k * job.ld + i]);
            if (!(size <= largest)) largest = size <= (double)REAL_MAX ? size : (double)INFINITY;
        }
        for (int step = 16; step > 0; step /= 2) {
            const double other = __shfl_down_sync(~0u, largest, step);
            if (other > largest) largest = other;
        }
        if (threadIdx.x % 32 == 0) {
            raise_to(&job.state->largest, largest);
            lower_to(&job.state->smallest, largest);
        }
    }
}

__global__ static void scale_kernel(jacobi_job job) { jacobi_scale(job.state); }

__global__ static void begin_kernel(jacobi_job job) {
    real *x = (real *)job.x;
    const jacobi_state state = *job.state;
    if (state.status != SHOAL_SYSTEM_OK) return;
    for (int64_t k = blockIdx.x; k < job.columns; k += gridDim.x) {
        if (k >= job.rank) {
            if (threadIdx.x == 0) x[k * job.ld + job.rows[k]] = jacobi_unit(&state);
            continue;
        }
        for (int64_t i = threadIdx.x; i < job.n; i += COLUMN_BLOCK)
            x[k * job.ld + i] = times_power_of_2(x[k * job.ld + i], state.exponent);
    }
}

static shoal_status jacobi_begin(shoal_symindef *plan, const jacobi_job *job) {
    void *stream = plan->head.ctx->stream;
    SHOAL_LAUNCH(start_kernel, dim3(1), dim3(1), 0, stream, *job);
    SHOAL_LAUNCH(largest_kernel, dim3(shoal_blocks(job->columns * 32, COLUMN_BLOCK)),
                 dim3(COLUMN_BLOCK), 0, stream, *job);
    SHOAL_LAUNCH(scale_kernel, dim3(1), dim3(1), 0, stream, *job);
    SHOAL_LAUNCH(begin_kernel, dim3(shoal_blocks(job->columns, 1)), dim3(COLUMN_BLOCK), 0, stream,
                 *job);
    return shoal_launched(plan->head.ctx, "jjacobi");
}

/* ---- the Gram matrix ---- */

/* Row and column of place t of an upper triangle of `side` rows, diagonal included or not. */
__device__ static inline void triangle_at(int t, int side, int *row, int *column) {
    int r = 0;
    while (t >= side - r) t -= side - r, r++;
    *row = r, *column = r + t;
}

/* DEPTH rows from r0 of all columns, on their way into shared memory. */
__device__ static inline void fetch_rows(const jacobi_job &job, int p, int q, int64_t r0,
                                         real *to) {
    const real *x = (const real *)job.x;
    for (int at = threadIdx.x; at < SIDE * DEPTH; at += GRAM_BLOCK) {
        const int c = at / DEPTH, r = at % DEPTH;
        if (c < 2 * job.width)
            shoal_copy_async(to + c * APART + r,
                             x + jacobi_column(p, q, job.width, c) * job.ld + r0 + r);
        else
            to[c * APART + r] = 0;
    }
}

__global__ static void __launch_bounds__(GRAM_BLOCK)
    gram_kernel(jacobi_job job, workspace work, int step) {
    SHOAL_SHARED(real, shared);
    const int pair = blockIdx.y, chunk = blockIdx.x;
    const int64_t first = chunk * job.chunk;
    const int64_t end = first + job.chunk < job.ld ? first + job.chunk : job.ld;
    const int turns = (int)((end - first) / DEPTH);
    int p, q, i = 0, j = 0;
    jacobi_pair(job.blocks, step, pair, &p, &q);
    if (threadIdx.x < TRIANGLE) triangle_at(threadIdx.x, SPREAD, &i, &j);
    real sum[EACH][EACH] = {};
    for (int turn = -1; turn < turns; turn++) {
        const real *here = shared + (turn & 1) * (SIDE * APART);
        if (turn + 1 < turns)
            fetch_rows(job, p, q, first + (turn + 1) * DEPTH,
                       shared + ((turn + 1) & 1) * (SIDE * APART));
        for (int r = 0; r < DEPTH && turn >= 0; r++) {
            real left[EACH], right[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                left[e] = here[(i + e * SPREAD) * APART + r];
                right[e] = here[(j + e * SPREAD) * APART + r];
            }
#pragma unroll
            for (int e = 0; e < EACH; e++)
#pragma unroll
                for (int f = 0; f < EACH; f++) sum[e][f] = fused(left[e], right[f], sum[e][f]);
        }
        shoal_copy_async_wait_all();
        __syncthreads();
    }
    real *to = work.sums + ((int64_t)pair * work.chunks + chunk) * ENTRIES;
    if (threadIdx.x >= TRIANGLE) return;
#pragma unroll
    for (int e = 0; e < EACH; e++)
#pragma unroll
        for (int f = 0; f < EACH; f++)
            to[jacobi_place(i + e * SPREAD, j + f * SPREAD, SIDE)] = sum[e][f];
}

/* ---- the rotations ---- */

__global__ static void __launch_bounds__(ROTATE_BLOCK)
    rotate_kernel(jacobi_job job, workspace work, int step) {
    SHOAL_SHARED(real, s);
    SHOAL_SHARED_ARRAY(jacobi_rotation, turn, PAIRS);
    SHOAL_SHARED_ARRAY(int8_t, sign, SIDE);
    real *v = s + SIDE * STRIDE;
    const int me = (int)threadIdx.x, pair = (int)blockIdx.x, count = 2 * job.width,
              half = job.width, crossing = step > 0;
    const int steps = jacobi_steps(count, crossing);
    const real tol = jacobi_tolerance(job.n);
    int p, q, rotations = 0, open = 0;
    double largest = 0;
    jacobi_pair(job.blocks, step, pair, &p, &q);
    for (int at = me; at < ENTRIES; at += ROTATE_BLOCK) {
        const int i = at / SIDE, j = at % SIDE;
        const real *from = work.sums + (int64_t)pair * work.chunks * ENTRIES + at;
        real sum = 0;
        for (int chunk = 0; chunk < work.chunks && i <= j; chunk++)
            sum += from[(int64_t)chunk * ENTRIES];
        s[i * STRIDE + j] = sum;
        v[i * STRIDE + j] = (real)(i == j);
    }
    if (me < count) sign[me] = (int8_t)job.signs[jacobi_column(p, q, job.width, me)];
    __syncthreads();
    for (int at = me; at < ENTRIES; at += ROTATE_BLOCK) {
        const int i = at / SIDE, j = at % SIDE;
        real cosine;
        if (i >= j || j >= count) continue;
        const real a = s[i * STRIDE + i], b = s[j * STRIDE + j];
        open |= !jacobi_is_done(a, b, s[i * STRIDE + j], tol, &cosine);
        if ((double)cosine > largest) largest = (double)cosine;
        if (!(a <= REAL_MAX && b <= REAL_MAX))
            atomicExch(&job.state->status, (int)SHOAL_SYSTEM_OVERFLOW);
    }
    for (int shift = 16; shift > 0; shift /= 2) {
        const double other = __shfl_down_sync(~0u, largest, shift);
        if (other > largest) largest = other;
    }
    if (me % 32 == 0 && largest > 0) raise_to(&job.state->cosine, largest);
    open = __syncthreads_or(open);
    int k = 0, l = 0; /* the pairs whose entries of S this thread has */
    if (me < PRODUCTS) triangle_at(me, PAIRS - 1, &k, &l), l++;
    for (int inner = 0; inner < steps && open; inner++) {
        int mine = 0, i, j;
        if (me < half) {
            jacobi_inner_pair(count, crossing, inner, me, &i, &j);
            turn[me] = jacobi_rotate(s + i * STRIDE + i, s + j * STRIDE + j, s + i * STRIDE + j,
                                     sign[i] != sign[j], tol);
            mine = turn[me].is_active;
            rotations += mine;
        }
        if (!__syncthreads_or(mine)) continue;
        if (me < PRODUCTS && l < half && (turn[k].is_active || turn[l].is_active)) {
            int pk, qk, pl, ql;
            jacobi_inner_pair(count, crossing, inner, k, &pk, &qk);
            jacobi_inner_pair(count, crossing, inner, l, &pl, &ql);
            jacobi_apply_both(&turn[k], &turn[l], s, STRIDE, pk, qk, pl, ql);
        }
        const int own = me % PAIRS;
        if (own < half && turn[own].is_active) {
            jacobi_inner_pair(count, crossing, inner, own, &i, &j);
            for (int row = me / PAIRS; row < count; row += ROTATE_BLOCK / PAIRS)
                jacobi_apply(&turn[own], v + row * STRIDE + i, v + row * STRIDE + j);
        }
        __syncthreads();
    }
    if (rotations > 0)
        atomicAdd((unsigned long long *)&job.state->rotations, (unsigned long long)rotations);
    const int any = __syncthreads_or(rotations > 0);
    if (me == 0) work.active[pair] = any;
    for (int at = me; at < ENTRIES && any; at += ROTATE_BLOCK)
        work.v[(int64_t)pair * ENTRIES + at] = v[at / SIDE * STRIDE + at % SIDE];
}

/* ---- the update ---- */

__global__ static void __launch_bounds__(UPDATE_BLOCK)
    update_kernel(jacobi_job job, workspace work, int step) {
    SHOAL_SHARED(real, v);
    real *old = v + ENTRIES, *x = (real *)job.x;
    const int pair = blockIdx.y, count = 2 * job.width;
    const int row = threadIdx.x % SPREAD, column = threadIdx.x / SPREAD;
    int p, q;
    if (!work.active[pair]) return;
    jacobi_pair(job.blocks, step, pair, &p, &q);
    for (int at = threadIdx.x * VECTOR; at < ENTRIES; at += UPDATE_BLOCK * VECTOR)
        shoal_copy_async((vector *)(v + at),
                         (const vector *)(work.v + (int64_t)pair * ENTRIES + at));
    for (int64_t r0 = (int64_t)blockIdx.x * TILE; r0 < job.ld; r0 += (int64_t)gridDim.x * TILE) {
        for (int at = threadIdx.x * VECTOR; at < count * TILE; at += UPDATE_BLOCK * VECTOR)
            shoal_copy_async((vector *)(old + at),
                             (const vector *)(x +
                                              jacobi_column(p, q, job.width, at / TILE) * job.ld +
                                              r0 + at % TILE));
        shoal_copy_async_wait_all();
        __syncthreads();
        real sum[DOWN][ACROSS] = {};
#pragma unroll 2
        for (int i = 0; i < count; i++) {
            real from[DOWN], factor[ACROSS];
#pragma unroll
            for (int e = 0; e < DOWN; e++) from[e] = old[i * TILE + row + e * SPREAD];
#pragma unroll
            for (int f = 0; f < ACROSS; f++) factor[f] = v[i * SIDE + column + f * SPREAD];
#pragma unroll
            for (int e = 0; e < DOWN; e++)
#pragma unroll
                for (int f = 0; f < ACROSS; f++) sum[e][f] = fused(factor[f], from[e], sum[e][f]);
        }
#pragma unroll
        for (int f = 0; f < ACROSS; f++) {
            const int c = column + f * SPREAD;
            if (c >= count) continue;
            real *to = x + jacobi_column(p, q, job.width, c) * job.ld + r0 + row;
#pragma unroll
            for (int e = 0; e < DOWN; e++) to[e * SPREAD] = sum[e][f];
        }
        __syncthreads(); /* before the next tile comes */
    }
}

__global__ static void sweep_kernel(jacobi_job job) {
    job.state->rotations = 0;
    job.state->cosine = 0;
}

static shoal_status jacobi_sweep(shoal_symindef *plan, const jacobi_job *job) {
    shoal_context *ctx = plan->head.ctx;
    const workspace work = workspace_of(job);
    const unsigned pairs = (unsigned)job->blocks / 2;
    const size_t gram_bytes = 2 * SIDE * APART * sizeof(real);
    const size_t rotate_bytes = 2 * SIDE * STRIDE * sizeof(real);
    const size_t update_bytes = (ENTRIES + SIDE * TILE) * sizeof(real);
    const int64_t tiles = job->ld / TILE, wanted = 8 * (int64_t)ctx->multiprocessors / pairs + 1;
    const shoal_status status = shoal_check_shared(ctx, "jjacobi", update_bytes);
    if (status != SHOAL_OK) return status;
    shoal_allow_shared(ctx, gram_kernel, gram_bytes);
    shoal_allow_shared(ctx, rotate_kernel, rotate_bytes);
    shoal_allow_shared(ctx, update_kernel, update_bytes);
    SHOAL_LAUNCH(sweep_kernel, dim3(1), dim3(1), 0, ctx->stream, *job);
    for (int step = 0; step < job->blocks - 1; step++) {
        SHOAL_LAUNCH(gram_kernel, dim3((unsigned)work.chunks, pairs), dim3(GRAM_BLOCK), gram_bytes,
                     ctx->stream, *job, work, step);
        SHOAL_LAUNCH(rotate_kernel, dim3(pairs), dim3(ROTATE_BLOCK), rotate_bytes, ctx->stream,
                     *job, work, step);
        SHOAL_LAUNCH(update_kernel, dim3((unsigned)(tiles < wanted ? tiles : wanted), pairs),
                     dim3(UPDATE_BLOCK), update_bytes, ctx->stream, *job, work, step);
    }
    return shoal_launched(ctx, "jjacobi");
}

/* ---- the results ---- */

/* By a warp; the sum is in lane 0. */
__device__ static inline real squared_norm(const real *g, int64_t ld) {
    real sum = 0;
    for (int64_t i = threadIdx.x % LANES; i < ld; i += LANES) sum = fused(g[i], g[i], sum);
    for (int half = LANES / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    return sum;
}

__global__ static void norms_kernel(jacobi_job job) {
    const real *x = (const real *)job.x;
    const int64_t warps = (int64_t)gridDim.x * (COLUMN_BLOCK / LANES);
    for (int64_t k = ((int64_t)blockIdx.x * COLUMN_BLOCK + threadIdx.x) / LANES; k < job.rank;
         k += warps) {
        const real square = squared_norm(x + k * job.ld, job.ld);
        if (threadIdx.x % LANES == 0)
            ((real *)job.values)[k] =
                (real)job.signs[k] * jacobi_unscaled(square, job.state->exponent);
    }
}

static shoal_status jacobi_norms(shoal_symindef *plan, const jacobi_job *job) {
    SHOAL_LAUNCH(norms_kernel, dim3(shoal_blocks(job->rank * LANES, COLUMN_BLOCK)),
                 dim3(COLUMN_BLOCK), 0, plan->head.ctx->stream, *job);
    return shoal_launched(plan->head.ctx, "jjacobi");
}

__global__ static void lost_kernel(real *vectors, int64_t count) {
    SHOAL_GRID_STRIDE(at, count) vectors[at] = real_nan();
}

/* A warp per column. */
__global__ static void vectors_kernel(jacobi_job job, const int32_t *permutation, real *vectors) {
    const int64_t warps = (int64_t)gridDim.x * (COLUMN_BLOCK / LANES);
    for (int64_t k = ((int64_t)blockIdx.x * COLUMN_BLOCK + threadIdx.x) / LANES; k < job.columns;
         k += warps) {
        const real *g = (const real *)job.x + k * job.ld;
        const real norm = real_sqrt(__shfl_sync(~0u, squared_norm(g, job.ld), 0));
        for (int64_t i = threadIdx.x % LANES; i < job.n; i += LANES)
            vectors[permutation[i] * job.n + job.places[k]] = g[i] / norm;
    }
}

static shoal_status jacobi_vectors(shoal_symindef *plan, const jacobi_job *job, int lost,
                                   const int32_t *permutation, void *vectors) {
    void *stream = plan->head.ctx->stream;
    if (lost)
        SHOAL_LAUNCH(lost_kernel, dim3(shoal_blocks(job->n * job->n, COLUMN_BLOCK)),
                     dim3(COLUMN_BLOCK), 0, stream, (real *)vectors, job->n * job->n);
    else
        SHOAL_LAUNCH(vectors_kernel, dim3(shoal_blocks(job->columns * LANES, COLUMN_BLOCK)),
                     dim3(COLUMN_BLOCK), 0, stream, *job, permutation, (real *)vectors);
    return shoal_launched(plan->head.ctx, "jjacobi");
}

extern "C" const symindef_eigensolver R(symindef_jacobi) = { jacobi_bytes, jacobi_clear,
                                                             jacobi_begin, jacobi_sweep,
                                                             jacobi_norms, jacobi_vectors };
