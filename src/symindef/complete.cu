/* SPDX-License-Identifier: Apache-2.0
 *
 * complete.cu - complete (Bunch-Parlett) pivoting on the GPU: thesis, Algorithm 2, without its trips
 * to the host.
 *
 * A stage is two kernels. `eliminate` chooses the pivot from what the last pass has found, every
 * block for itself; then one thread for each row exchanges rows and takes the columns of M, each
 * touching only its own entries (stage.h), from one copy of the list of pending updates into the
 * other. `sweep` goes once through the reduced matrix: it applies the pending updates to each entry
 * in registers, finds the largest on and off the diagonal, and writes the matrix back only when the
 * list is full. The host knows nothing of all this: it launches n stages, of which those after the
 * end do nothing.
 *
 * Mapping of the sweep: tiles of 64 to 256 lines by TILE_LANES entries, dealt to the blocks in turn;
 * a warp takes every 8th line, a thread LANES entries of it, whose factors stay in registers. An
 * upper triangle is looked at from its last corner, so that both have tiles below a diagonal.
 * Floor: 8 bytes an entry and stage, n^3 / 6 entries, and 16 / PENDING more: a pass that updates and
 * writes moves 16.
 */
#include "core/launch.cuh"
#include "symindef/stage.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, LANES = 4, TILE_LANES = 32 * LANES };
enum { UNROLLED = 1 };    /* lines of a warp, in a tile */
enum { BLOCKS_EACH = 2 }; /* of a sweep, for each multiprocessor */

static const int64_t no_key = INT64_MAX;

namespace {

/* The largest entry so far, and where: equal ones go by the smaller key. */
struct found {
    real value;
    int64_t key;
};

struct record { /* of one block */
    found off, diagonal;
};

struct progress { /* between kernels */
    real tol;
    int64_t row;
    int32_t pending; /* in the list before the last sweep ... */
    int32_t write;   /* ... which has written them all         */
    int32_t stop;
};

struct workspace {
    real *w[2], *v[2]; /* PENDING updates each, one copy read, one written */
    real *diagonal;
    record *records;
    progress *state; /* 2 */
};

/* Coordinates in a tile: line a and entry b <= a of the reduced matrix of order m. */
template <bool UPPER> struct view {
    int64_t n, first;
    __device__ int64_t line(int64_t a) const { return UPPER ? n - 1 - a : first + a; }
    __device__ int64_t lane(int64_t b) const { return UPPER ? n - 1 - b : first + b; }
    __device__ int64_t key(int64_t a, int64_t b) const { /* the column, then the row */
        return UPPER ? line(a) << 32 | lane(b) : lane(b) << 32 | line(a);
    }
};

} // namespace

__device__ static inline bool better(const found &a, const found &b) {
    const real x = real_abs(a.value), y = real_abs(b.value);
    return x > y || (x == y && a.key < b.key);
}

__device__ static inline void take(found &best, const found &other) {
    if (better(other, best)) best = other;
}

__device__ static inline found best_of_warp(found mine) {
    for (int step = 16; step > 0; step /= 2) {
        found other;
        other.value = __shfl_down_sync(~0u, mine.value, step);
        other.key = __shfl_down_sync(~0u, mine.key, step);
        take(mine, other);
    }
    return mine;
}

/* The best of a block, for its thread 0. */
__device__ static record best_of_block(record mine, record *shared) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mine.off = best_of_warp(mine.off);
    mine.diagonal = best_of_warp(mine.diagonal);
    if (lane == 0) shared[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < WARPS; w++)
            take(mine.off, shared[w].off), take(mine.diagonal, shared[w].diagonal);
    return mine;
}

__device__ static inline record nothing_found() {
    const found none = { 0, no_key };
    return record{ none, none };
}

/* ---- the sweep ---- */

/* Tiles of `lines` lines below the diagonal of a matrix of order m. TILE_LANES = 128 entries wide:
 *     64 lines: chunks 2u and 2u + 1 have u + 1 tiles each, u (u + 1) come before chunk 2u;
 *    128 lines: chunk u has u + 1 tiles, u (u + 1) / 2 come before it;
 *    256 lines: chunk u has 2u + 2 tiles, u (u + 1) come before it. */
SHOAL_HD static inline int64_t tiles_of(int64_t m, int lines) {
    const int64_t chunks = (m + lines - 1) / lines, pairs = chunks / 2;
    if (lines == 64) return pairs * (pairs + 1) + (chunks % 2 ? pairs + 1 : 0);
    return chunks * (chunks + 1) / (lines == 128 ? 2 : 1);
}

/* Chunk and strip of tile t. */
template <int LINES>
__device__ static inline void tile_at(int64_t t, int64_t *chunk, int64_t *strip) {
    const int64_t whole = LINES == 128 ? 2 * t : t; /* the largest u with u (u + 1) <= whole */
    int64_t u = (int64_t)((sqrt(4.0 * (double)whole + 1) - 1) / 2);
    while (u * (u + 1) > whole) u--;
    while ((u + 1) * (u + 2) <= whole) u++;
    const int64_t rest = t - (LINES == 128 ? u * (u + 1) / 2 : u * (u + 1));
    *chunk = LINES == 64 ? 2 * u + (rest > u) : u;
    *strip = LINES == 64 && rest > u ? rest - u - 1 : rest;
}

/* One tile. EDGE: it has entries beyond the diagonal, or beyond the matrix. Entries of the next line
 * are on their way while those of one are worked on. */
template <bool UPPER, int LINES, bool EDGE>
__device__ static inline void sweep_tile(const symindef_shape &shape, real *a,
                                         const pending_list &list, int write, int64_t first,
                                         int64_t line0, int64_t lane0, real *diagonal,
                                         record &best) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = shape.n, m = n - first, left = m - line0;
    const int end = !EDGE || left > LINES ? LINES : (int)left;
    const view<UPPER> at = { n, first };
    const int apart = UPPER ? -32 : 32;            /* from one of a thread's entries to the next */
    const int below = (int)(line0 - lane0) - lane; /* entry q is there if 32 q <= l + below */
    const int64_t x = at.lane(lane0 + lane);
    const real *lines = UPPER ? list.v.at : list.w.at, *lanes = (UPPER ? list.w.at : list.v.at) + x;
    real factor[PENDING][LANES], most[LANES], next[LANES];
    int most_line[LANES];
    const auto fetch = [&](int l) {
        const real *from = a + line_start(&shape, at.line(line0 + l)) + x;
#pragma unroll
        for (int q = 0; q < LANES; q++)
            next[q] = l < end && (!EDGE || 32 * q <= l + below) ? from[q * apart] : 0;
    };
    fetch(warp);
#pragma unroll
    for (int q = 0; q < LANES; q++) {
        const bool there = !EDGE || lane0 + lane + 32 * q < m;
        most[q] = 0, most_line[q] = -1;
#pragma unroll
        for (int t = 0; t < PENDING; t++)
            factor[t][q] = t < list.count && there ? lanes[t * n + q * apart] : 0;
    }
#pragma unroll UNROLLED
    for (int l = warp; l < end; l += WARPS) {
        const int64_t line = at.line(line0 + l);
        real *to = a + line_start(&shape, line) + x;
        const real *mine = lines + line * PENDING;
        real entry[LANES], minus[PENDING];
#pragma unroll
        for (int q = 0; q < LANES; q++) entry[q] = next[q];
        fetch(l + WARPS);
#pragma unroll
        for (int t = 0; t < PENDING; t++) minus[t] = t < list.count ? -mine[t] : 0;
#pragma unroll
        for (int t = 0; t < PENDING; t++)
            if (t < list.count) {
#pragma unroll
                for (int q = 0; q < LANES; q++) entry[q] = fused(minus[t], factor[t][q], entry[q]);
            }
#pragma unroll
        for (int q = 0; q < LANES; q++) {
            if (EDGE && 32 * q > l + below) continue;
            if (write) to[q * apart] = entry[q];
            if (EDGE && 32 * q == l + below) {
                diagonal[line] = entry[q];
                take(best.diagonal, found{ entry[q], line });
            } else if (UPPER ? real_abs(entry[q]) >= real_abs(most[q])
                             : real_abs(entry[q]) > real_abs(most[q])) {
                most[q] = entry[q], most_line[q] = l; /* of equal ones the first column */
            }
        }
    }
#pragma unroll
    for (int q = 0; q < LANES; q++)
        if (most_line[q] >= 0)
            take(best.off, found{ most[q], at.key(line0 + most_line[q], lane0 + lane + 32 * q) });
}

/* A list where what serves a whole line lies together, and what serves the lanes side by side. */
template <bool UPPER>
__device__ static inline pending_list list_of(const workspace &work, int copy, int64_t n,
                                              int count) {
    const factor_list by_row = { UPPER ? work.v[copy] : work.w[copy], 1, PENDING };
    const factor_list by_update = { UPPER ? work.w[copy] : work.v[copy], n, 1 };
    return pending_list{ UPPER ? by_update : by_row, UPPER ? by_row : by_update, count };
}

template <bool UPPER, int LINES>
__global__ static void __launch_bounds__(BLOCK, 2)
    sweep_kernel(symindef_shape shape, real *a, workspace work, int copy) {
    SHOAL_SHARED_ARRAY(record, shared, WARPS);
    shoal_wait_for_earlier();
    const progress now = work.state[copy];
    if (now.stop) return;
    const pending_list list = list_of<UPPER>(work, copy, shape.n, now.pending);
    const int64_t m = shape.n - now.row, tiles = tiles_of(m, LINES);
    record best = nothing_found();
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t chunk, strip;
        tile_at<LINES>(t, &chunk, &strip);
        const int64_t line0 = chunk * LINES, lane0 = strip * TILE_LANES;
        if (line0 + LINES <= m && lane0 + TILE_LANES <= line0)
            sweep_tile<UPPER, LINES, false>(shape, a, list, now.write, now.row, line0, lane0,
                                            work.diagonal, best);
        else
            sweep_tile<UPPER, LINES, true>(shape, a, list, now.write, now.row, line0, lane0,
                                           work.diagonal, best);
    }
    best = best_of_block(best, shared);
    if (threadIdx.x == 0) work.records[blockIdx.x] = best;
}

/* ---- the stage ---- */

__global__ static void start_kernel(symindef_job job, workspace work) {
    shoal_wait_for_earlier();
    work.state[0] = progress{ (real)job.state->tol, 0, 0, 0, job.state->status != SHOAL_SYSTEM_OK };
}

/* Everything that one thread decides; *after is the progress that the next kernels see. */
__device__ static stage decide(const symindef_job &job, const workspace &work, const record &best,
                               const progress &before, progress *after) {
    const int64_t low = (int64_t)0xffffffff;
    candidates c;
    c.diagonal = best.diagonal.value, c.r = best.diagonal.key;
    c.off = best.off.value;
    c.p = best.off.key == no_key ? 0 : best.off.key >> 32;
    c.q = best.off.key == no_key ? 0 : best.off.key & low;
    stage s = choose_complete(&c, work.diagonal, before.row, (real)job.alpha, before.tol);
    const int pending = (before.write ? 0 : before.pending) + s.order;
    if (!(s.magnitude <= REAL_MOST)) s.order = 0;
    after->tol = before.tol;
    after->row = before.row + s.order;
    after->pending = pending;
    after->write = pending > PENDING - 2 || after->row >= job.eliminate;
    after->stop = s.order == 0 || after->row >= job.shape.n;
    return s;
}

/* What one thread of the grid writes down for the caller. */
__device__ static void note(const symindef_job &job, const stage &s) {
    symindef_state *state = job.state;
    if (!(s.magnitude <= REAL_MOST)) state->status = SHOAL_SYSTEM_OVERFLOW;
    if ((double)s.magnitude > state->peak) state->peak = (double)s.magnitude;
    if (s.order == 0)
        state->done = 1;
    else
        record_stage(&job, &s);
    state->row = s.k + s.order;
}

/* Threads 0 .. n-1 have a row each; the next one the rows that move, and the last the bookkeeping. */
template <bool UPPER>
__global__ static void __launch_bounds__(BLOCK)
    eliminate_kernel(symindef_job job, workspace work, int copy, int records) {
    SHOAL_SHARED_ARRAY(record, shared, WARPS);
    SHOAL_SHARED_ARRAY(stage, now, 1);
    SHOAL_SHARED_ARRAY(progress, after, 1);
    shoal_wait_for_earlier();
    const progress before = work.state[copy];
    const int64_t n = job.shape.n, me = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (before.stop || before.row >= job.eliminate) {
        if (me == n) work.state[1 - copy] = progress{ before.tol, before.row, 0, 0, 1 };
        return;
    }
    record best = nothing_found();
    for (int r = threadIdx.x; r < records; r += BLOCK)
        take(best.off, work.records[r].off), take(best.diagonal, work.records[r].diagonal);
    best = best_of_block(best, shared);
    if (threadIdx.x == 0) now[0] = decide(job, work, best, before, after);
    __syncthreads();
    const stage s = now[0];
    if (me == n + 1) work.state[1 - copy] = after[0], note(job, s);
    if (s.order == 0) return;
    const pending_list from = list_of<UPPER>(work, copy, n, before.write ? 0 : before.pending);
    const pending_list to = list_of<UPPER>(work, 1 - copy, n, after[0].pending);
    real *a = (real *)job.a;
    if (me < s.k)
        exchange_earlier(&job.shape, a, &s, me);
    else if (me >= s.k + s.order && me < n && !is_moved(&s, me))
        eliminate_row(&job.shape, a, &s, &from, &to, me);
    else if (me == n)
        eliminate_moved(&job.shape, a, &s, &from, &to);
}

/* ---- the launches ---- */

static int most_records(const shoal_context *ctx) { return BLOCKS_EACH * ctx->multiprocessors; }

static size_t complete_bytes(const shoal_symindef *plan) {
    const size_t n = (size_t)plan->job.shape.n;
    return (size_t)most_records(plan->ctx) * sizeof(record) + 2 * sizeof(progress) +
           n * (4 * PENDING + 1) * sizeof(real);
}

static workspace workspace_of(const shoal_symindef *plan, const symindef_job *job) {
    const int64_t list = (int64_t)PENDING * job->shape.n;
    workspace work;
    work.records = (record *)job->work;
    work.state = (progress *)(work.records + most_records(plan->ctx));
    real *numbers = (real *)(work.state + 2);
    for (int c = 0; c < 2; c++)
        work.w[c] = numbers + 2 * c * list, work.v[c] = numbers + (2 * c + 1) * list;
    work.diagonal = numbers + 4 * list;
    return work;
}

/* A pass over what is left of order m at most; returns how many records it leaves. */
static int launch_sweep(const shoal_symindef *plan, const symindef_job *job, const workspace &work,
                        int64_t m, int copy) {
    const int64_t most = most_records(plan->ctx);
    const bool upper = job->shape.upper != 0;
    auto kernel = upper ? sweep_kernel<true, 64> : sweep_kernel<false, 64>;
    int64_t tiles = tiles_of(m, 64);
    if (tiles_of(m, 256) >= most) { /* tall tiles, as soon as there is one for every block */
        tiles = tiles_of(m, 256);
        kernel = upper ? sweep_kernel<true, 256> : sweep_kernel<false, 256>;
    } else if (tiles_of(m, 128) >= most) {
        tiles = tiles_of(m, 128);
        kernel = upper ? sweep_kernel<true, 128> : sweep_kernel<false, 128>;
    }
    const int blocks = (int)(tiles < most ? tiles : most);
    SHOAL_LAUNCH_EARLY(kernel, dim3(blocks), dim3(BLOCK), 0, plan->ctx->stream, job->shape,
                       (real *)job->a, work, copy);
    return blocks;
}

static shoal_status complete_run(shoal_symindef *plan, const symindef_job *job) {
    const workspace work = workspace_of(plan, job);
    const int64_t n = job->shape.n;
    const dim3 grid((unsigned)((n + 2 + BLOCK - 1) / BLOCK)), block(BLOCK);
    const auto eliminate = job->shape.upper ? eliminate_kernel<true> : eliminate_kernel<false>;
    int copy = 0;
    SHOAL_LAUNCH(start_kernel, dim3(1), dim3(1), 0, plan->ctx->stream, *job, work);
    int records = launch_sweep(plan, job, work, n, copy);
    for (int64_t s = 0; s < job->eliminate; s++, copy = 1 - copy) {
        SHOAL_LAUNCH_EARLY(eliminate, grid, block, 0, plan->ctx->stream, *job, work, copy, records);
        if (s + 1 < n) records = launch_sweep(plan, job, work, n - s - 1, 1 - copy);
    }
    return shoal_launched(plan->ctx, "complete");
}

extern "C" const symindef_method R(symindef_complete) = { complete_bytes, complete_run };
