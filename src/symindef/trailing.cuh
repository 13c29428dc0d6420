/* SPDX-License-Identifier: Apache-2.0
 *
 * trailing.cuh - what partial and rook pivoting do on the GPU between panels and after the last:
 * A(i,j) := A(i,j) - sum_t w_t(i) v_t(j) for the reduced matrix; its largest entry, if the growth is
 * recorded; and, at the end, the exchanges of later panels in the columns of M of earlier ones.
 *
 * Mapping of the update: tiles of TILE x TILE entries, at multiples of TILE in either direction, so
 * that the lists are read in whole vectors; 256 threads with 8 x 8 entries each, DEPTH terms at a
 * time in shared memory, the next ones under way. n^3 / 3 operations, PANEL terms for an entry that is
 * read and written once. Threads lie along lines; i >= j decides which list a line takes.
 */
#ifndef SHOAL_SYMINDEF_TRAILING_CUH
#define SHOAL_SYMINDEF_TRAILING_CUH

#include "core/launch.cuh"
#include "symindef/search.h"

enum { PANEL = 64, TILE = 128, DEPTH = 16, TILE_BLOCK = 256, EACH = 8 };
enum { PAIR = 2, SPREAD = TILE / (EACH / PAIR) }; /* a thread's entries: pairs, SPREAD apart */
enum { VECTOR = 16 / sizeof(real), FLAT_BLOCK = 256 };

namespace {

struct progress { /* between kernels */
    int64_t row;  /* eliminated so far                                                      */
    int32_t count, panels, stop;
    double magnitude; /* largest entry of the reduced matrix, if recorded                   */
};

struct workspace {
    progress *state;
    struct record *records; /* of the panel's blocks, two sets */
    int32_t *begins;        /* of the panels; behind the last one its end */
    real *w, *v;            /* PANEL terms each, term t at [t * stride] */
    real *columns;          /* 4 */
    int64_t stride;
};

struct alignas(16) vector {
    real at[VECTOR];
};

} // namespace

__global__ static void start_kernel(symindef_job job, workspace work) {
    progress first = {};
    first.stop = job.state->status != SHOAL_SYSTEM_OK;
    *work.state = first;
}

/* What one thread writes down when a panel ends; bad: something is not finite. */
__device__ static void record_panel(const symindef_job &job, const workspace &work, int64_t begin,
                                    int64_t k, int count, int bad) {
    progress *p = work.state;
    work.begins[p->panels] = (int32_t)begin, work.begins[p->panels + 1] = (int32_t)k;
    if (p->magnitude > job.state->peak) job.state->peak = p->magnitude;
    p->row = job.state->row = k;
    p->count = count;
    p->panels++;
    p->magnitude = 0;
    if (bad) p->stop = 1, job.state->status = SHOAL_SYSTEM_OVERFLOW;
}

/* ---- the largest entry ---- */

__global__ static void largest_kernel(symindef_job job, workspace work) {
    const symindef_shape shape = job.shape;
    const real *a = (const real *)job.a;
    const int64_t first = work.state->row;
    double largest = 0;
    if (work.state->stop || first >= job.eliminate) return;
    for (int64_t line = first + blockIdx.x; line < shape.n; line += gridDim.x) {
        const real *at = a + line_start(&shape, line);
        const int64_t end = shape.upper ? shape.n : line + 1;
        for (int64_t x = (shape.upper ? line : first) + threadIdx.x; x < end; x += FLAT_BLOCK) {
            const double size = (double)real_abs(at[x]);
            if (!(size <= largest)) largest = size <= (double)REAL_MAX ? size : (double)INFINITY;
        }
    }
    /* none is negative: their bits are in the same order */
    if (largest > 0)
        atomicMax((unsigned long long *)&work.state->magnitude,
                  (unsigned long long)__double_as_longlong(largest));
}

/* ---- the update ---- */

/* DEPTH terms from t0 of the TILE rows from r0 of a list, on their way into shared memory. */
__device__ static inline void fetch_tile(const real *list, int64_t stride, int64_t r0, int t0,
                                         int count, real *to) {
    for (int at = threadIdx.x; at < DEPTH * TILE / VECTOR; at += TILE_BLOCK) {
        const int t = at / (TILE / VECTOR), x = at % (TILE / VECTOR) * VECTOR;
        if (t0 + t < count)
            shoal_copy_async((vector *)(to + t * TILE + x),
                             (const vector *)(list + (t0 + t) * stride + r0 + x));
    }
}

/* Where entry e of a thread's eight lies in the tile. */
__device__ static inline int place_of(int thread, int e) {
    return e / PAIR * SPREAD + thread * PAIR + e % PAIR;
}

__device__ static inline void add_terms(const real *lines, const real *lanes, int terms,
                                        real (&sum)[EACH][EACH]) {
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll 2
    for (int t = 0; t < terms; t++) {
        real line[EACH], lane[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            line[e] = lines[t * TILE + place_of(ty, e)];
            lane[e] = lanes[t * TILE + place_of(tx, e)];
        }
#pragma unroll
        for (int r = 0; r < EACH; r++)
#pragma unroll
            for (int x = 0; x < EACH; x++) sum[r][x] = fused(line[r], lane[x], sum[r][x]);
    }
}

/* Row and column of tile t of a triangle of tiles. */
__device__ static inline void tile_at(int64_t t, int64_t *row, int64_t *column) {
    int64_t r = (int64_t)((sqrt(8.0 * (double)t + 1) - 1) / 2);
    while (r * (r + 1) / 2 > t) r--;
    while ((r + 1) * (r + 2) / 2 <= t) r++;
    *row = r, *column = t - r * (r + 1) / 2;
}

SHOAL_HD static inline int64_t tiles_of(int64_t n, int64_t first) {
    const int64_t side = (n + TILE - 1) / TILE - first / TILE;
    return side * (side + 1) / 2;
}

template <bool UPPER>
__global__ static void __launch_bounds__(TILE_BLOCK, 1)
    trailing_kernel(symindef_shape shape, real *a, workspace work, int64_t panel) {
    SHOAL_SHARED(real, shared); /* two sets of lines and lanes */
    const progress now = *work.state;
    const int64_t n = shape.n, first = now.row, stride = work.stride;
    if (now.stop || first >= n || now.panels <= panel) return; /* there was no such panel */
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, steps = (now.count + DEPTH - 1) / DEPTH;
    for (int64_t t = blockIdx.x; t < tiles_of(n, first); t += gridDim.x) {
        int64_t row, column;
        tile_at(t, &row, &column);
        row = (row + first / TILE) * TILE, column = (column + first / TILE) * TILE;
        const int64_t line0 = UPPER ? column : row, lane0 = UPPER ? row : column;
        const real *of_lines = UPPER ? work.v : work.w, *of_lanes = UPPER ? work.w : work.v;
        real sum[EACH][EACH] = {};
        for (int step = -1; step < steps; step++) {
            real *next = shared + (step + 1) % 2 * (2 * DEPTH * TILE);
            const real *here = shared + (step & 1) * (2 * DEPTH * TILE);
            if (step + 1 < steps) {
                fetch_tile(of_lines, stride, line0, (step + 1) * DEPTH, now.count, next);
                fetch_tile(of_lanes, stride, lane0, (step + 1) * DEPTH, now.count,
                           next + DEPTH * TILE);
            }
            const int left = now.count - step * DEPTH;
            if (step >= 0) add_terms(here, here + DEPTH * TILE, left < DEPTH ? left : DEPTH, sum);
            shoal_copy_async_wait_all();
            __syncthreads();
        }
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int64_t line = line0 + place_of(ty, r);
            const int64_t low = UPPER ? line : first, high = UPPER ? n - 1 : line;
            if (line < first || line >= n) continue;
            real *at = a + line_start(&shape, line);
#pragma unroll
            for (int x = 0; x < EACH; x++) {
                const int64_t lane = lane0 + place_of(tx, x);
                if (lane >= low && lane <= high) at[lane] -= sum[r][x];
            }
        }
    }
}

/* ---- the exchanges of later panels ---- */

/* job.permutation[i] is the place that the row which ended in i had when panel q + 1 ended; it becomes
 * its place when panel q did, before all panels for q = -1. Then panel q's rows of M are
 * copied in their final order. */
__global__ static void trace_kernel(symindef_job job, workspace work, int64_t q) {
    SHOAL_SHARED_ARRAY(int32_t, others, PANEL);
    if (work.state->stop || q + 2 > work.state->panels) return;
    const int64_t n = job.shape.n, first = work.begins[q + 1], end = work.begins[q + 2];
    const int64_t begin = q >= 0 ? work.begins[q] : first;
    const real *a = (const real *)job.a;
    if (first + threadIdx.x < end) {
        const int32_t other = job.interchanges[first + threadIdx.x];
        others[threadIdx.x] = (other < 0 ? -other : other) - 1;
    }
    __syncthreads();
    const int64_t i = (int64_t)blockIdx.x * FLAT_BLOCK + threadIdx.x;
    if (i >= n || i < first) return; /* rows above do not move */
    int32_t row = job.permutation[i];
    for (int64_t k = end - 1; k >= first; k--) {
        const int32_t other = others[k - first];
        if (row == k)
            row = other;
        else if (row == other)
            row = (int32_t)k;
    }
    job.permutation[i] = row;
    for (int64_t j = begin; j < first; j++)
        work.w[(j - begin) * work.stride + i] = a[place(&job.shape, row, j)];
}

__global__ static void settle_kernel(symindef_job job, workspace work, int64_t q) {
    if (work.state->stop || q + 2 > work.state->panels) return;
    const int64_t begin = work.begins[q], first = work.begins[q + 1], count = first - begin;
    const int64_t rows = job.shape.n - first;
    real *a = (real *)job.a;
    for (int64_t at = (int64_t)blockIdx.x * FLAT_BLOCK + threadIdx.x; at < rows * count;
         at += (int64_t)gridDim.x * FLAT_BLOCK) {
        const int64_t i = first + (job.shape.upper ? at % rows : at / count);
        const int64_t t = job.shape.upper ? at / rows : at % count;
        a[place(&job.shape, i, begin + t)] = work.w[t * work.stride + i];
    }
}

/* ---- the launches ---- */

/* All but the last one are full. */
static inline int64_t max_panels(const symindef_job *job) {
    const int64_t full = job->growth ? 1 : PANEL - 1;
    return (job->eliminate + full - 1) / full;
}

static inline size_t whole_lines(size_t bytes) { return (bytes + 255) / 256 * 256; }

static inline int64_t list_stride(int64_t n) { return (n + TILE - 1) / TILE * TILE; }

static size_t workspace_bytes(const shoal_symindef *plan, size_t records) {
    const size_t n = (size_t)plan->job.shape.n;
    return whole_lines(sizeof(progress)) + whole_lines(records) +
           whole_lines((n + 1) * sizeof(int32_t)) +
           (2 * PANEL + 4) * (size_t)list_stride((int64_t)n) * sizeof(real);
}

static workspace workspace_of(const symindef_job *job, size_t records) {
    const size_t n = (size_t)job->shape.n;
    char *at = (char *)job->work;
    workspace work;
    work.stride = list_stride(job->shape.n);
    work.state = (progress *)at, at += whole_lines(sizeof(progress));
    work.records = (struct record *)at, at += whole_lines(records);
    work.begins = (int32_t *)at, at += whole_lines((n + 1) * sizeof(int32_t));
    work.w = (real *)at, work.v = work.w + PANEL * work.stride;
    work.columns = work.v + PANEL * work.stride;
    return work;
}

/* What is left has m rows at most. */
static void launch_largest(const shoal_symindef *plan, const symindef_job *job,
                           const workspace &work, int64_t m) {
    const int64_t limit = (int64_t)plan->head.ctx->multiprocessors * 8;
    SHOAL_LAUNCH(largest_kernel, dim3((unsigned)(m < limit ? m : limit)), dim3(FLAT_BLOCK), 0,
                 plan->head.ctx->stream, *job, work);
}

static void launch_trailing(const shoal_symindef *plan, const symindef_job *job,
                            const workspace &work, int64_t m, int64_t panel) {
    const size_t bytes = 4 * DEPTH * TILE * sizeof(real);
    const int64_t tiles = tiles_of(job->shape.n, job->shape.n - m);
    const int64_t limit = (int64_t)plan->head.ctx->multiprocessors * 16;
    const dim3 grid((unsigned)(tiles < limit ? tiles : limit));
    void (*kernel)(symindef_shape, real *, workspace, int64_t) =
        job->shape.upper ? trailing_kernel<true> : trailing_kernel<false>;
    shoal_allow_shared(plan->head.ctx, kernel);
    SHOAL_LAUNCH(kernel, grid, dim3(TILE_BLOCK), bytes, plan->head.ctx->stream, job->shape,
                 (real *)job->a, work, panel);
}

static void launch_permute(const shoal_symindef *plan, const symindef_job *job,
                           const workspace &work, int64_t panels) {
    const int64_t n = job->shape.n;
    for (int64_t q = panels - 2; q >= -1; q--) {
        SHOAL_LAUNCH(trace_kernel, dim3((unsigned)((n + FLAT_BLOCK - 1) / FLAT_BLOCK)),
                     dim3(FLAT_BLOCK), 0, plan->head.ctx->stream, *job, work, q);
        if (q >= 0)
            SHOAL_LAUNCH(settle_kernel, dim3(shoal_blocks(n * PANEL / 8, FLAT_BLOCK)),
                         dim3(FLAT_BLOCK), 0, plan->head.ctx->stream, *job, work, q);
    }
}

#endif
