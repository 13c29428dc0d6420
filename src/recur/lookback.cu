/* SPDX-License-Identifier: Apache-2.0
 *
 * lookback.cu - recurrences in one pass over memory on the GPU: a scan of maps (map.h) with
 * decoupled look-back (Merrill and Garland), whose bits do not depend on timing (chain.cuh).
 *
 * A warp has one tile: STRIPS strips (strip.cuh) of 32 lanes, 16 bytes of t each, all in registers.
 * It joins the maps of lanes and strips, learns the state before the tile by looking back, and
 * determines its rows by substitution from there. Of order 1 that is 3 numbers a row moved, about
 * 30 instructions and 3 shuffles a row and lane, and 16 bytes a tile published; a tile of higher
 * order has fewer strips, as maps and rows fill the registers. Blocks take their tiles from a
 * counter, so that a tile that is waited for is always in the hands of a warp that runs.
 *
 * Long segments of order 1 have a kernel of their own, lanes.cuh.
 *
 * Segments of one strip or less need no chain: as many lanes as they have rows for, several
 * segments a warp. In the interleaved layout the warps of a block have the same rows of
 * neighbouring segments, and share the lines they read in the cache.
 */
#include "recur/lanes.cuh"

enum { WARPS = 4, STRIP_ROWS = 32 * ROWS };

/* Strips of a tile: what fits in registers. */
__host__ __device__ static constexpr int strips_of(int shape) {
#ifdef SHOAL_SINGLE
    return shape == 1 ? 8 : shape == 2 || shape == SHAPE_MOEBIUS ? 4 : shape == 3 ? 2 : 1;
#else
    return shape == 1 ? 6 : shape == 2 || shape == SHAPE_MOEBIUS ? 2 : 1;
#endif
}

/* Blocks a multiprocessor shall hold: maps of order 3 and 4 need all the registers there are. */
__host__ __device__ static constexpr int blocks_of(int shape) {
    return shape == 3 || shape == 4 ? 2 : 4;
}

/* Whether lanes.cuh does it. That depends on the segment alone, as its bits may. */
static bool is_wide(const recur_job *job) { return job->shape == 1 && job->n >= WIDE_ROWS; }

static int64_t tiles_of(const recur_job *job) {
    const int64_t rows =
        is_wide(job) ? (int64_t)WIDE_ROWS : (int64_t)strips_of(job->shape) * STRIP_ROWS;
    return (job->n + rows - 1) / rows;
}

/* ---- segments of several strips ------------------------------------------------------------- */

typedef struct place { /* of a warp's tile */
    int64_t k, j;      /* segment, and tile of it */
} place;

__device__ static inline place place_of(const recur_job &job, int64_t tiles, int64_t ticket) {
    const int warp = threadIdx.x / 32;
    place at;
    if (job.interleaved) {
        at.k = ticket / tiles * WARPS + warp, at.j = ticket % tiles;
    } else {
        const int64_t tile = ticket * WARPS + warp;
        at.k = tile / tiles, at.j = tile % tiles;
    }
    return at;
}

/* walk_strip() for all strips of a tile. That is rare: they are loaded again, one after the other, so that it
 * takes few instructions and no registers from what is not. */
template <int SHAPE>
__device__ static inline void walk_tile(const recur_job &job, const place &at, recur_state &x,
                                        real &input, real &answer) {
    const recur_view v = view_of(&job, at.k);
    int64_t i = at.j * strips_of(SHAPE) * STRIP_ROWS + threadIdx.x % 32 * ROWS;
#pragma unroll 1
    for (int r = 0; r < strips_of(SHAPE); r++, i += STRIP_ROWS) {
        strip<SHAPE> rows;
        load_strip<SHAPE>(rows, v, job.n, i);
        order_strip<SHAPE>(rows, v);
        walk_strip<SHAPE>(rows, v, i, x, true, 32, input, answer);
    }
}

template <int SHAPE>
__global__ __launch_bounds__(32 * WARPS, blocks_of(SHAPE)) static void tile_kernel(
    recur_job job, chain c, unsigned long long *counter) {
    constexpr int STRIPS = strips_of(SHAPE);
    SHOAL_SHARED_ARRAY(unsigned long long, ticket, 1);
    if (threadIdx.x == 0) ticket[0] = atomicAdd(counter, 1ull);
    __syncthreads();
    const place at = place_of(job, c.length, (int64_t)ticket[0]);
    if (at.k >= job.count) return;
    const int lane = threadIdx.x % 32;
    const int64_t begin = at.j * STRIPS * STRIP_ROWS + lane * ROWS;
    const recur_view v = view_of(&job, at.k);
    c.first_tile = at.k * c.length;
    c.first_group = at.k * ((c.length + GROUP - 1) / GROUP); /* nobody waits for the last group */

    strip<SHAPE> rows[STRIPS];
#pragma unroll
    for (int r = 0; r < STRIPS; r++) load_strip<SHAPE>(rows[r], v, job.n, begin + r * STRIP_ROWS);
    recur_map through[STRIPS], own = map_identity(SHAPE);
    real poison = 0, input = 0, answer = 0;
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        order_strip<SHAPE>(rows[r], v);
        through[r] = scan_strip<SHAPE>(rows[r]);
        poison += map_poison(&through[r], SHAPE);
        const recur_map whole = whole_strip<SHAPE>(through[r]);
        own = r ? map_join(&own, &whole, SHAPE) : whole;
    }
    const bool hard = __any_sync(ALL_LANES, poison != 0 || map_poison(&own, SHAPE) != 0);
    recur_state x = first_state(&job, at.k, SHAPE);
    if (at.j == 0) input = state_poison(&x, SHAPE);
    bool closed = true;
    if (c.length > 1) x = begin_link<SHAPE>(c, at.j, own, hard, x, &closed);

    if (hard) {
        if (STRIPS == 1)
            walk_strip<SHAPE>(rows[0], v, begin, x, true, 32, input, answer);
        else
            walk_tile<SHAPE>(job, at, x, input, answer);
        if (c.length > 1) finish_link<SHAPE>(c, at.j, x, true, closed);
    } else {
        const recur_state after = map_apply(&own, &x, SHAPE);
        if (c.length > 1) finish_link<SHAPE>(c, at.j, after, false, closed);
#pragma unroll
        for (int r = 0; r < STRIPS; r++) {
            const recur_map before = before_lane<SHAPE>(through[r]);
            const recur_map whole = whole_strip<SHAPE>(through[r]);
            recur_state mine = map_apply(&before, &x, SHAPE);
            strip_rows<SHAPE>(rows[r], v, begin + r * STRIP_ROWS, mine, false, input, answer);
            x = map_apply(&whole, &x, SHAPE);
        }
    }
    const bool bad_input = __any_sync(ALL_LANES, input != 0);
    const bool bad_answer = __any_sync(ALL_LANES, answer != 0);
    if (lane == 0) note_failure(job, at.k, bad_input, bad_answer);
}

/* ---- segments of one strip ------------------------------------------------------------------ */

template <int SHAPE>
__global__ __launch_bounds__(32 * WARPS) static void short_kernel(recur_job job, int width) {
    const int lane = (int)(threadIdx.x % 32) % width;
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool used = thread / width < job.count;
    const int64_t k = used ? thread / width : job.count - 1;
    const recur_view v = view_of(&job, k);
    strip<SHAPE> rows;
    load_strip<SHAPE>(rows, v, used ? job.n : 0, lane * ROWS);
    order_strip<SHAPE>(rows, v);
    const recur_map through = scan_strip<SHAPE>(rows, width);
    const recur_map before = before_lane<SHAPE>(through, width);
    real input = 0, answer = 0;
    recur_state x = first_state(&job, k, SHAPE);
    if (lane == 0) input = state_poison(&x, SHAPE);
    const unsigned group = (width == 32 ? ALL_LANES : (1u << width) - 1)
                           << (threadIdx.x % 32 / width * width);
    const unsigned poisons = __ballot_sync(ALL_LANES, map_poison(&through, SHAPE) != 0);
    const bool hard = poisons & group;
    if (!hard) {
        recur_state mine = map_apply(&before, &x, SHAPE);
        strip_rows<SHAPE>(rows, v, lane * ROWS, mine, false, input, answer);
    }
    if (poisons) walk_strip<SHAPE>(rows, v, lane * ROWS, x, hard, width, input, answer);
    const bool bad_input = __ballot_sync(ALL_LANES, input != 0) & group;
    const bool bad_answer = __ballot_sync(ALL_LANES, answer != 0) & group;
    if (lane == 0 && used) note_failure(job, k, bad_input, bad_answer);
}

/* ---- the launch ----------------------------------------------------------------------------- */

enum { ALIGNMENT = 256 };

static bool is_short(const recur_job *job) { return job->n <= STRIP_ROWS; }

/* The workspace, cleared before each run: the counter, then all words. */
typedef struct layout {
    size_t total;
    chain c;
    unsigned long long *counter;
} layout;

static layout layout_of(const recur_job *job, void *work) {
    const int64_t tiles = tiles_of(job), groups = (tiles + GROUP - 1) / GROUP;
    const int maps = words_of(map_size(job->shape)), values = words_of(state_size(job->shape));
    layout w = {};
    w.c.length = tiles;
    w.c.tiles.count = tiles * job->count, w.c.groups.count = groups * job->count;
    w.total =
        ALIGNMENT + (size_t)((w.c.tiles.count + w.c.groups.count) * (maps + values)) * sizeof(word);
    if (!work) return w;
    w.counter = (unsigned long long *)work;
    w.c.tiles.maps = (word *)((char *)work + ALIGNMENT);
    w.c.tiles.values = w.c.tiles.maps + w.c.tiles.count * maps;
    w.c.groups.maps = w.c.tiles.values + w.c.tiles.count * values;
    w.c.groups.values = w.c.groups.maps + w.c.groups.count * maps;
    return w;
}

static size_t lookback_bytes(const shoal_recur *plan) {
    return is_short(&plan->job) ? 0 : layout_of(&plan->job, nullptr).total;
}

template <int SHAPE> static void launch_short(shoal_recur *plan, const recur_job *job) {
    int width = 1;
    while (width * ROWS < job->n) width *= 2;
    const int64_t threads = job->count * width;
    SHOAL_LAUNCH((short_kernel<SHAPE>), dim3((unsigned)((threads + 32 * WARPS - 1) / (32 * WARPS))),
                 dim3(32 * WARPS), 0, plan->head.ctx->stream, *job, width);
}

template <int SHAPE>
static void launch_tiles(shoal_recur *plan, const recur_job *job, const layout &w) {
    const int64_t panels = (job->count + WARPS - 1) / WARPS;
    const int64_t blocks =
        job->interleaved ? panels * w.c.length : (w.c.tiles.count + WARPS - 1) / WARPS;
    SHOAL_LAUNCH((tile_kernel<SHAPE>), dim3((unsigned)blocks), dim3(32 * WARPS), 0,
                 plan->head.ctx->stream, *job, w.c, w.counter);
}

static void launch_wide(shoal_recur *plan, const recur_job *job, const layout &w) {
    shoal_allow_shared(plan->head.ctx, wide_kernel);
    SHOAL_LAUNCH(wide_kernel, dim3((unsigned)w.c.tiles.count), dim3(32 * WIDE_WARPS),
                 2 * WIDE_ROWS * sizeof(real), plan->head.ctx->stream, *job, w.c, w.counter);
}

template <int SHAPE> static shoal_status run_shape(shoal_recur *plan, const recur_job *job) {
    if (is_short(job)) {
        launch_short<SHAPE>(plan, job);
        return shoal_launched(plan->head.ctx, "lookback");
    }
    const layout w = layout_of(job, job->work);
    cudaMemsetAsync(job->work, 0, w.total, (cudaStream_t)plan->head.ctx->stream);
    if (is_wide(job))
        launch_wide(plan, job, w);
    else
        launch_tiles<SHAPE>(plan, job, w);
    return shoal_launched(plan->head.ctx, "lookback");
}

static shoal_status lookback_run(shoal_recur *plan, const recur_job *job) {
    switch (job->shape) {
    case 1: return run_shape<1>(plan, job);
    case 2: return run_shape<2>(plan, job);
    case 3: return run_shape<3>(plan, job);
    case 4: return run_shape<4>(plan, job);
    default: return run_shape<SHAPE_MOEBIUS>(plan, job);
    }
}

extern "C" const recur_method R(recur_lookback) = { lookback_bytes, lookback_run };
