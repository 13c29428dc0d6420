/* SPDX-License-Identifier: Apache-2.0
 *
 * complete.cu - complete (Bunch-Parlett) pivoting on the GPU: Kruchinina's thesis, Algorithm 2, without its trips
 * to the host.
 *
 * A stage is two kernels. `eliminate` chooses the pivot from what the last pass has found, every
 * block for itself; then one thread for each row exchanges rows and takes the columns of M, each
 * touching only its own entries (stage.h), from one copy of the list of pending updates into the
 * other. `sweep` goes once through the reduced matrix: it applies the pending updates to each entry
 * in registers, finds the largest on and off the diagonal, and writes the matrix back only when the
 * list is full. The host launches n stages without looking; those after the end do nothing.
 *
 * Mapping of the sweep: tiles of 32 to 128 lines by TILE_LANES entries, dealt to the blocks in turn;
 * a warp takes every 8th line, a thread LANES entries of it, whose factors stay in registers. Lines
 * come through shared memory, RING of them on their way at once. An upper triangle is looked at from
 * its last corner, so that both have tiles below a diagonal.
 * The search: a warp compares word by word, from the upper word of |entry| to the lower one of the key,
 * each by one reduction in hardware; lanes that are behind drop out. 4 steps instead of 5 rounds of 4
 * shuffles: the search stands between any two stages, so that its latency counts.
 * Floor: 8 bytes per entry and stage, n^3 / 6 entries, and 16 / PENDING more: a pass that updates and
 * writes moves 16.
 */
#include "core/launch.cuh"
#include "symindef/stage.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, LANES = 4, TILE_LANES = 32 * LANES };
enum { RING = 3 };        /* lines of a warp on their way from memory */
enum { BLOCKS_EACH = 2 }; /* of a sweep, for each multiprocessor */
enum { ROWS = 128 };      /* threads of a block of eliminate */

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

/* ---- the search ---- */

__device__ static inline void keep_better(found &best, const found &other) {
    const real x = real_abs(other.value), y = real_abs(best.value);
    const bool better = x > y || (x == y && other.key < best.key);
    best.value = better ? other.value : best.value;
    best.key = better ? other.key : best.key;
}

/* Word k of |x|, from above, as an integer of the same order. */
template <class T> __device__ static inline unsigned word_of(T x, int k) {
    if constexpr (sizeof(T) == 8)
        return k ? (unsigned)__double2loint(x) : (unsigned)__double2hiint(x) & 0x7fffffffu;
    else
        return k ? 0 : (unsigned)__float_as_int(x) & 0x7fffffffu;
}

/* The best of a warp, for all its lanes: those that are ahead in one word go on to the next. */
__device__ static inline found best_of_warp(const found &mine) {
    const unsigned word[4] = { word_of(mine.value, 0), word_of(mine.value, 1),
                               ~(unsigned)(mine.key >> 32), ~(unsigned)mine.key };
    bool ahead = true;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k == 1 && sizeof(real) == 4) continue;
        const unsigned winner_word = __reduce_max_sync(~0u, ahead ? word[k] : 0);
        ahead = ahead && word[k] == winner_word;
    }
    const int winner = __ffs((int)__ballot_sync(~0u, ahead)) - 1;
    return found{ __shfl_sync(~0u, mine.value, winner), __shfl_sync(~0u, mine.key, winner) };
}

__device__ static inline record nothing_found() {
    const found none = { 0, no_key };
    return record{ none, none };
}

/* The best of a block of `warps` warps, for its first warp. */
__device__ static inline record best_of_block(record mine, record *shared, int warps) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mine.off = best_of_warp(mine.off);
    mine.diagonal = best_of_warp(mine.diagonal);
    if (lane == 0) shared[warp] = mine;
    __syncthreads();
    if (warp > 0) return mine;
    mine = lane < warps ? shared[lane] : nothing_found();
    return record{ best_of_warp(mine.off), best_of_warp(mine.diagonal) };
}

/* ---- the sweep ---- */

/* The shape with its template parameters as constants. */
template <bool UPPER, bool PACKED>
__device__ static inline symindef_shape with_constants(symindef_shape shape) {
    shape.upper = UPPER;
    if (PACKED) shape.ld = 0;
    if (!PACKED && shape.ld == 0) __builtin_unreachable();
    return shape;
}

/* Tiles of `lines` lines, 128, 64 or 32, below the diagonal of a matrix of order m. With
 * g = TILE_LANES / lines, chunk c of lines has c / g + 1 tiles, and g u (u + 1) / 2 come before chunk
 * g u. */
SHOAL_HD static inline int tiles_of(int64_t m, int lines) {
    const int g = TILE_LANES / lines, chunks = (int)((m + lines - 1) / lines), u = chunks / g;
    return u * (u + 1) / 2 * g + chunks % g * (u + 1);
}

/* Chunk and strip of tile t. */
__device__ static inline void tile_at(int t, int lines, int *chunk, int *strip) {
    const int g = TILE_LANES / lines;
    int u = (int)((sqrtf(8.0f * (float)t / (float)g + 1) - 1) / 2);
    while (g * u * (u + 1) / 2 > t) u--;
    while (g * (u + 1) * (u + 2) / 2 <= t) u++;
    const int rest = t - g * u * (u + 1) / 2, down = rest / (u + 1);
    *chunk = g * u + down, *strip = rest - down * (u + 1);
}

/* The lines to come, under way: each thread's own entries, and each line's factors for all lanes. */
struct ring {
    real entry[RING][LANES][BLOCK];
    real line[RING][WARPS][PENDING];
};

/* The thread's entries of line l, in 32 q < reach below the diagonal, beside the largest of the lines before. */
template <bool UPPER, bool EDGE>
__device__ static inline void keep_largest(const real (&entry)[LANES], int l, int reach,
                                           real (&largest)[LANES], int (&largest_line)[LANES]) {
#pragma unroll
    for (int q = 0; q < LANES; q++) {
        const real size = real_abs(entry[q]), so_far = real_abs(largest[q]);
        const bool larger = UPPER ? size >= so_far : size > so_far; /* of equal ones the */
        const bool better = (!EDGE || 32 * q < reach) && larger;    /* first column      */
        largest[q] = better ? entry[q] : largest[q];
        largest_line[q] = better ? l : largest_line[q];
    }
}

/* One tile. EDGE: it has entries beyond the diagonal, or beyond the matrix. */
template <bool UPPER, bool EDGE>
__device__ static inline void sweep_tile(const symindef_shape &shape, real *a,
                                         const pending_list &list, int write, int64_t first,
                                         int64_t line0, int64_t lane0, int height, real *diagonal,
                                         record &best, ring &ahead) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t n = shape.n, m = n - first, left = m - line0;
    const int end = !EDGE || left > height ? height : (int)left;
    const view<UPPER> at = { n, first };
    const int apart = UPPER ? -32 : 32;            /* from one of a thread's entries to the next */
    const int below = (int)(line0 - lane0) - lane; /* entry q is there if 32 q <= l + below */
    const int64_t x = at.lane(lane0 + lane);
    const real *lines = UPPER ? list.v.at : list.w.at, *lanes = (UPPER ? list.w.at : list.v.at) + x;
    real factor[PENDING][LANES], largest[LANES];
    int largest_line[LANES];
    const auto fetch = [&](int l, int slot) {
        if (l < end) {
            const int64_t line = at.line(line0 + l);
            const real *from = a + line_start(&shape, line) + x;
#pragma unroll
            for (int q = 0; q < LANES; q++)
                if (!EDGE || 32 * q <= l + below)
                    shoal_copy_async(&ahead.entry[slot][q][threadIdx.x], from + q * apart);
            if (lane < PENDING)
                shoal_copy_async(&ahead.line[slot][warp][lane], lines + line * PENDING + lane);
        }
        shoal_copy_async_commit_group();
    };
#pragma unroll
    for (int r = 0; r < RING; r++) fetch(warp + r * WARPS, r);
#pragma unroll
    for (int q = 0; q < LANES; q++) {
        const bool there = !EDGE || lane0 + lane + 32 * q < m;
        largest[q] = 0, largest_line[q] = -1;
#pragma unroll
        for (int t = 0; t < PENDING; t++)
            factor[t][q] = t < list.count && there ? lanes[t * n + q * apart] : 0;
    }
    int slot = 0;
#pragma unroll 1
    for (int l = warp; l < end; l += WARPS) {
        const int64_t line = at.line(line0 + l);
        real *to = a + line_start(&shape, line) + x;
        real entry[LANES], minus[PENDING];
        shoal_copy_async_wait_group<RING - 1>();
        __syncwarp(); /* the line's factors come from other lanes */
#pragma unroll
        for (int q = 0; q < LANES; q++) entry[q] = ahead.entry[slot][q][threadIdx.x];
#pragma unroll
        for (int t = 0; t < PENDING; t++) minus[t] = -ahead.line[slot][warp][t];
        __syncwarp();
        fetch(l + RING * WARPS, slot);
        slot = slot + 1 < RING ? slot + 1 : 0;
#pragma unroll
        for (int t = 0; t < PENDING; t++)
            if (t < list.count) {
#pragma unroll
                for (int q = 0; q < LANES; q++) entry[q] = fused(minus[t], factor[t][q], entry[q]);
            }
        const int reach = l + below; /* 32 q < reach: below the diagonal, = reach: on it */
        keep_largest<UPPER, EDGE>(entry, l, reach, largest, largest_line);
#pragma unroll
        for (int q = 0; q < LANES; q++)
            if (write && (!EDGE || 32 * q <= reach)) to[q * apart] = entry[q];
        if (EDGE && reach >= 0 && reach < TILE_LANES && reach % 32 == 0) {
            real here = entry[0];
#pragma unroll
            for (int q = 1; q < LANES; q++) here = 32 * q == reach ? entry[q] : here;
            diagonal[line] = here;
            keep_better(best.diagonal, found{ here, line });
        }
    }
#pragma unroll
    for (int q = 0; q < LANES; q++)
        if (largest_line[q] >= 0)
            keep_better(best.off, found{ largest[q],
                                         at.key(line0 + largest_line[q], lane0 + lane + 32 * q) });
}

/* A list in which the factors of a line are contiguous, and those of the lanes side by side. (No index
 * selects the copy: it would put the struct into local memory.) */
template <bool UPPER>
__device__ static inline pending_list list_of(const workspace &work, int copy, int64_t n,
                                              int count) {
    real *w = copy ? work.w[1] : work.w[0], *v = copy ? work.v[1] : work.v[0];
    const factor_list by_row = { UPPER ? v : w, 1, PENDING };
    const factor_list by_update = { UPPER ? w : v, n, 1 };
    return pending_list{ UPPER ? by_update : by_row, UPPER ? by_row : by_update, count };
}

template <bool UPPER, bool PACKED>
__global__ static void __launch_bounds__(BLOCK, BLOCKS_EACH)
    sweep_kernel(symindef_shape given, real *a, workspace work, int copy, int lines) {
    SHOAL_SHARED_ARRAY(record, shared, WARPS);
    SHOAL_SHARED(ring, ahead);
    shoal_grid_dependency_wait();
    const progress now = work.state[copy];
    if (now.stop) return;
    const symindef_shape shape = with_constants<UPPER, PACKED>(given);
    const pending_list list = list_of<UPPER>(work, copy, shape.n, now.pending);
    const int64_t m = shape.n - now.row;
    const int tiles = tiles_of(m, lines);
    record best = nothing_found();
    for (int t = (int)blockIdx.x; t < tiles; t += (int)gridDim.x) {
        int chunk, strip;
        tile_at(t, lines, &chunk, &strip);
        const int64_t line0 = (int64_t)chunk * lines, lane0 = (int64_t)strip * TILE_LANES;
        if (line0 + lines <= m && lane0 + TILE_LANES <= line0)
            sweep_tile<UPPER, false>(shape, a, list, now.write, now.row, line0, lane0, lines,
                                     work.diagonal, best, *ahead);
        else
            sweep_tile<UPPER, true>(shape, a, list, now.write, now.row, line0, lane0, lines,
                                    work.diagonal, best, *ahead);
    }
    best = best_of_block(best, shared, WARPS);
    if (threadIdx.x == 0) work.records[blockIdx.x] = best;
}

/* ---- the stage ---- */

__global__ static void start_kernel(symindef_job job, workspace work) {
    shoal_grid_dependency_wait();
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
    if (!(s.magnitude <= REAL_MAX)) s.order = 0;
    after->tol = before.tol;
    after->row = before.row + s.order;
    after->pending = pending;
    after->write = pending > PENDING - 2 || after->row >= job.eliminate;
    after->stop = s.order == 0 || after->row >= job.shape.n;
    return s;
}

/* What one thread of the grid writes down for the caller. */
__device__ static void record_progress(const symindef_job &job, const stage &s) {
    symindef_state *state = job.state;
    if (!(s.magnitude <= REAL_MAX)) state->status = SHOAL_SYSTEM_OVERFLOW;
    if ((double)s.magnitude > state->peak) state->peak = (double)s.magnitude;
    if (s.order == 0)
        state->done = 1;
    else
        record_stage(&job, &s);
    state->row = s.k + s.order;
}

/* Threads 0 .. n-1 have a row each; the next one the rows that move, and the last the bookkeeping. */
template <bool UPPER, bool PACKED>
__global__ static void __launch_bounds__(ROWS)
    eliminate_kernel(symindef_job job, workspace work, int copy, int records) {
    SHOAL_SHARED_ARRAY(record, shared, ROWS / 32);
    SHOAL_SHARED_ARRAY(stage, now, 1);
    SHOAL_SHARED_ARRAY(progress, after, 1);
    shoal_grid_dependency_wait();
    const progress before = work.state[copy];
    const int64_t n = job.shape.n, me = (int64_t)blockIdx.x * ROWS + threadIdx.x;
    if (before.stop || before.row >= job.eliminate) {
        if (me == n) work.state[1 - copy] = progress{ before.tol, before.row, 0, 0, 1 };
        return;
    }
    record best = nothing_found(), seen[3];
    for (int first = threadIdx.x; first < records; first += 3 * ROWS) {
#pragma unroll
        for (int u = 0; u < 3; u++) /* all on their way at once */
            seen[u] = first + u * ROWS < records ? work.records[first + u * ROWS] : nothing_found();
#pragma unroll
        for (int u = 0; u < 3; u++)
            keep_better(best.off, seen[u].off), keep_better(best.diagonal, seen[u].diagonal);
    }
    best = best_of_block(best, shared, ROWS / 32);
    if (threadIdx.x == 0) now[0] = decide(job, work, best, before, after);
    __syncthreads();
    const stage &s = now[0]; /* of the block: it is indexed */
    if (me == n + 1) work.state[1 - copy] = after[0], record_progress(job, s);
    if (s.order == 0) return;
    const symindef_shape shape = with_constants<UPPER, PACKED>(job.shape);
    const pending_list from = list_of<UPPER>(work, copy, n, before.write ? 0 : before.pending);
    const pending_list to = list_of<UPPER>(work, 1 - copy, n, after[0].pending);
    real *a = (real *)job.a;
    if (me < s.k)
        exchange_earlier(&shape, a, &s, me);
    else if (me >= s.k + s.order && me < n && !is_moved(&s, me))
        eliminate_row(&shape, a, &s, &from, &to, me);
    else if (me == n)
        eliminate_moved(&shape, a, &s, &from, &to);
}

/* ---- the launches ---- */

/* The instance of a kernel for a shape: <UPPER, PACKED>. */
#define BY_SHAPE(kernel, shape)                                                                    \
    ((shape).upper ? ((shape).ld == 0 ? kernel<true, true> : kernel<true, false>)                  \
                   : ((shape).ld == 0 ? kernel<false, true> : kernel<false, false>))

static int max_records(const shoal_context *ctx) { return BLOCKS_EACH * ctx->multiprocessors; }

static size_t complete_bytes(const shoal_symindef *plan) {
    const size_t n = (size_t)plan->job.shape.n;
    return (size_t)max_records(plan->head.ctx) * sizeof(record) + 2 * sizeof(progress) +
           n * (4 * PENDING + 1) * sizeof(real);
}

static workspace workspace_of(const shoal_symindef *plan, const symindef_job *job) {
    const int64_t list = (int64_t)PENDING * job->shape.n;
    workspace work;
    work.records = (record *)job->work;
    work.state = (progress *)(work.records + max_records(plan->head.ctx));
    real *numbers = (real *)(work.state + 2);
    for (int c = 0; c < 2; c++)
        work.w[c] = numbers + 2 * c * list, work.v[c] = numbers + (2 * c + 1) * list;
    work.diagonal = numbers + 4 * list;
    return work;
}

/* A pass over what is left of order m at most; returns how many records it leaves. */
static int launch_sweep(const shoal_symindef *plan, const symindef_job *job, const workspace &work,
                        int64_t m, int copy) {
    const auto kernel = BY_SHAPE(sweep_kernel, job->shape);
    const int max_blocks = max_records(plan->head.ctx);
    int lines = 32; /* taller tiles where every block has two */
    while (lines < TILE_LANES && tiles_of(m, 2 * lines) >= 2 * max_blocks) lines *= 2;
    const int tiles = tiles_of(m, lines);
    const int blocks = tiles < max_blocks ? tiles : max_blocks;
    SHOAL_LAUNCH_EARLY(kernel, dim3(blocks), dim3(BLOCK), sizeof(ring), plan->head.ctx->stream,
                       job->shape, (real *)job->a, work, copy, lines);
    return blocks;
}

static shoal_status complete_run(shoal_symindef *plan, const symindef_job *job) {
    const workspace work = workspace_of(plan, job);
    const int64_t n = job->shape.n;
    const dim3 grid((unsigned)((n + 2 + ROWS - 1) / ROWS)), block(ROWS);
    const auto eliminate = BY_SHAPE(eliminate_kernel, job->shape);
    int copy = 0;
    SHOAL_LAUNCH(start_kernel, dim3(1), dim3(1), 0, plan->head.ctx->stream, *job, work);
    int records = launch_sweep(plan, job, work, n, copy);
    for (int64_t s = 0; s < job->eliminate; s++, copy = 1 - copy) {
        SHOAL_LAUNCH_EARLY(eliminate, grid, block, 0, plan->head.ctx->stream, *job, work, copy,
                           records);
        if (s + 1 < n) records = launch_sweep(plan, job, work, n - s - 1, 1 - copy);
    }
    return shoal_launched(plan->head.ctx, "complete");
}

extern "C" const symindef_method R(symindef_complete) = { complete_bytes, complete_run };
