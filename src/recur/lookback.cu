/* SPDX-License-Identifier: Apache-2.0
 *
 * lookback.cu - recurrences in one pass over memory on the GPU: a scan of maps (map.h) with
 * decoupled look-back (Merrill and Garland), whose bits do not depend on timing (chain.cuh).
 *
 * A warp has one tile: STRIPS strips (strip.cuh) of 32 lanes, 16 bytes of t each, all in registers.
 * It joins the maps of lanes and strips, learns the state before the tile by looking back, and
 * determines its rows by substitution from there. Of order 1 that is 3 numbers per row moved, about
 * 30 instructions and 3 shuffles per row and lane, and 16 bytes per tile published; a tile of higher
 * order has fewer strips, as maps and rows fill the registers. Blocks take their tiles from a
 * counter, so that a tile that is waited for is always in the hands of a warp that runs.
 *
 * Long segments of order 1, most calls, have a kernel of their own. A block has one tile of WIDE_ROWS rows,
 * a lane LANE_ROWS of them one after another, which come through shared memory in pieces of 16 bytes;
 * piece p of lane l lies at place p ^ l % 8 of the lane's, so that lanes side by side read from different
 * banks. A lane joins its rows to a map, a warp the maps of its lanes, the block those of its warps; the
 * first warp looks back; then every lane determines its rows by substitution and leaves them where t was.
 * About 20 instructions per row; strips, which need a scan over lanes each, take 90. Rows that do not lie
 * side by side, or not at a multiple of 16 bytes, come one by one. Rows past the end are those of an
 * identity, w = w. If a map is not finite, the lanes of the block go one after another.
 *
 * Segments of one strip or less need no chain: as many lanes as they have rows for, several
 * segments per warp. In the interleaved layout the warps of a block have the same rows of
 * neighbouring segments, and share the lines they read in the cache.
 */
#include "recur/chain.cuh"

enum { WARPS = 4, STRIP_ROWS = 32 * ROWS };

/* ---- long segments of order 1: a block per tile ---------------------------------------------- */

enum {
    WIDE_WARPS = 6,
    LANE_ROWS = 128 / sizeof(real),
    LANE_PIECES = LANE_ROWS / ROWS, /* of 16 bytes: 8 */
    WARP_ROWS = 32 * LANE_ROWS,
    WIDE_ROWS = WIDE_WARPS * WARP_ROWS
};

/* Where piece p of lane l lies, in numbers. */
__device__ static inline unsigned lane_piece(unsigned l, unsigned p) {
    return l * LANE_ROWS + (p ^ (l & 7u)) * ROWS;
}

/* A warp's part of one array of a segment: row i is at[i * step]. `down`: the part is kept with the rows of
 * each piece in opposite order, as they lie in memory then. */
struct part {
    real *kept; /* in shared memory */
    int64_t n, i;
    bool down;
};

/* The first of the pieces in memory, if the part lies there in pieces; or NULL. */
template <class T> __device__ static inline T *pieces_of(const part &p, T *at, int64_t step) {
    T *first = p.down ? at - p.i - (WARP_ROWS - 1) : at + p.i;
    const bool whole = p.i + WARP_ROWS <= p.n && step == (p.down ? -1 : 1);
    return whole && (uintptr_t)first % 16 == 0 ? first : nullptr;
}

/* Where piece k of those of this lane, of one after another in memory, is kept; and number e. */
__device__ static inline real *kept_piece(const part &p, unsigned k) {
    const unsigned q = p.down ? 32 * LANE_PIECES - 1 - k : k;
    return p.kept + lane_piece(q / LANE_PIECES, q % LANE_PIECES);
}
__device__ static inline real *kept_number(const part &p, unsigned e) {
    const unsigned r = e % LANE_ROWS, u = r % ROWS;
    return p.kept + lane_piece(e / LANE_ROWS, r / ROWS) + (p.down ? ROWS - 1 - u : u);
}

__device__ static inline void load_part(const part &p, const real *at, int64_t step, real filler) {
    const unsigned lane = threadIdx.x % 32;
    if (const real *first = pieces_of(p, at, step)) {
#pragma unroll
        for (unsigned k = 0; k < LANE_PIECES; k++)
            shoal_copy_async((sixteen *)kept_piece(p, lane + 32 * k),
                             (const sixteen *)first + lane + 32 * k);
        return;
    }
#pragma unroll 1
    for (unsigned e = lane; e < WARP_ROWS; e += 32) {
        if (p.i + e < p.n)
            shoal_copy_async(kept_number(p, e), at + (p.i + e) * step);
        else
            *kept_number(p, e) = filler;
    }
}

__device__ static inline void store_part(const part &p, real *at, int64_t step) {
    const unsigned lane = threadIdx.x % 32;
    if (real *first = pieces_of(p, at, step)) {
#pragma unroll
        for (unsigned k = 0; k < LANE_PIECES; k++)
            shoal_store_streaming((sixteen *)first + lane + 32 * k,
                                  *(const sixteen *)kept_piece(p, lane + 32 * k));
        return;
    }
#pragma unroll 1
    for (unsigned e = lane; e < WARP_ROWS && p.i + e < p.n; e += 32)
        at[(p.i + e) * step] = *kept_number(p, e);
}

/* Piece p of this lane, in the order of its rows. */
__device__ static inline void lane_rows(real (&rows)[ROWS], const real *part, unsigned p,
                                        bool down) {
    const sixteen v = *(const sixteen *)(part + lane_piece(threadIdx.x % 32, p));
    memcpy(rows, &v, sizeof v);
    if (down) reverse_rows<1>(rows);
}

/* The map of this lane's rows. Where a product of s is not accurate, they are joined once more with care. */
__device__ static inline recur_map lane_map(const real *s, const real *t, bool down) {
    recur_map a = map_identity(1);
    real least = 1;
#pragma unroll
    for (unsigned p = 0; p < LANE_PIECES; p++) {
        real scale[ROWS], offset[ROWS];
        lane_rows(scale, s, p, down), lane_rows(offset, t, p, down);
#pragma unroll
        for (int u = 0; u < ROWS; u++) {
            map_append(&a, &scale[u], offset[u], 1);
            least = real_min(real_abs(a.m[0]), least);
        }
    }
    if (least >= MAP_ACCURATE) {
        map_settle(&a, 0, 1);
        return a;
    }
    a = map_identity(1);
#pragma unroll 1
    for (unsigned p = 0; p < LANE_PIECES; p++) {
        real scale[ROWS], offset[ROWS];
        lane_rows(scale, s, p, down), lane_rows(offset, t, p, down);
#pragma unroll
        for (int u = 0; u < ROWS; u++) map_append_scaled(&a, &scale[u], offset[u], 1);
    }
    return a;
}

/* This lane's rows by substitution from x, in the place of t; returns the last. */
__device__ static inline real determine(const real *s, real *t, real x, bool down) {
#pragma unroll
    for (unsigned p = 0; p < LANE_PIECES; p++) {
        real scale[ROWS], w[ROWS];
        lane_rows(scale, s, p, down), lane_rows(w, t, p, down);
#pragma unroll
        for (int u = 0; u < ROWS; u++) w[u] = x = real_mad(scale[u], x, w[u]);
        if (down) reverse_rows<1>(w);
        sixteen v;
        memcpy(&v, w, sizeof v);
        *(sixteen *)(t + lane_piece(threadIdx.x % 32, p)) = v;
    }
    return x;
}

/* Whether a number of this lane's rows is not finite: 0, or NaN. */
__device__ static inline real lane_poison(const real *s, const real *t) {
    real poison = 0;
#pragma unroll 1
    for (unsigned r = 0; r < LANE_ROWS; r++) {
        const unsigned at = lane_piece(threadIdx.x % 32, r / ROWS) + r % ROWS;
        poison = poisoned(poisoned(poison, s[at]), t[at]);
    }
    return poison;
}

__global__ __launch_bounds__(32 * WIDE_WARPS,
                             4) static void wide_kernel(recur_job job, chain c,
                                                        unsigned long long *counter) {
    SHOAL_SHARED(real, shared);
    SHOAL_SHARED_ARRAY(unsigned long long, ticket, 1);
    SHOAL_SHARED_ARRAY(recur_map, maps, WIDE_WARPS);
    SHOAL_SHARED_ARRAY(recur_state, before, WIDE_WARPS + 1); /* each warp; the block's last */
    if (threadIdx.x == 0) ticket[0] = atomicAdd(counter, 1ull);
    __syncthreads();
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    /* interleaved: the same rows of neighbouring segments at a time, which share lines */
    const int64_t now = (int64_t)ticket[0], across = job.interleaved ? job.count : c.length;
    const int64_t k = job.interleaved ? now % across : now / across;
    const int64_t j = job.interleaved ? now / across : now % across;
    const recur_view v = view_of(&job, k);
    const bool down = v.w_row == -1;
    real *s = shared + warp * 2 * WARP_ROWS, *t = s + WARP_ROWS;
    const int64_t i = j * WIDE_ROWS + warp * WARP_ROWS;
    const part scales = { s, job.n, i, down }, offsets = { t, job.n, i, down };
    load_part(scales, v.s, v.s_row, 1), load_part(offsets, v.t, v.t_row, 0);
    c.first_tile = k * c.length;
    c.first_group = k * ((c.length + GROUP - 1) / GROUP);
    shoal_copy_async_wait_all();
    __syncwarp();

    const recur_map own = lane_map(s, t, down);
    const recur_map through = scan_lanes<1>(own);
    if (lane == 31) maps[warp] = through;
    const bool poisoned_map = __syncthreads_or(map_poison(&through, 1) != 0);
    recur_map all = maps[0], earlier = map_identity(1);
#pragma unroll
    for (unsigned w = 1; w < WIDE_WARPS; w++) {
        if (w == warp) earlier = all;
        all = map_join(&all, &maps[w], 1);
    }
    const bool hard = poisoned_map || map_poison(&all, 1) != 0;
    bool closed = true;
    if (warp == 0) {
        recur_state x = first_state(&job, k, 1);
        if (j == 0 && lane == 0 && state_poison(&x, 1) != 0) note_failure(job, k, true, false);
        if (c.length > 1) x = begin_link<1>(c, j, all, hard, x, &closed);
        if (!hard && c.length > 1) finish_link<1>(c, j, map_apply(&all, &x, 1), false, closed);
        if (lane == 0) before[0] = x;
    }
    __syncthreads();
    recur_state x = before[0];
    real input = 0, last = 0;
    if (hard) {
        input = lane_poison(s, t);
        for (unsigned w = 0; w < WIDE_WARPS; w++) {
            if (w == warp)
                for (unsigned l = 0; l < 32; l++) {
                    if (lane == l) x.x[0] = last = determine(s, t, x.x[0], down);
                    x = state_from_lane<1>(x, (int)l);
                }
            if (w == warp && lane == 0) before[w + 1] = x;
            __syncthreads();
            x = before[w + 1];
        }
        if (warp == 0 && c.length > 1) finish_link<1>(c, j, x, true, closed);
    } else {
        const recur_map mine = before_lane<1>(through);
        x = map_apply(&earlier, &x, 1);
        x = map_apply(&mine, &x, 1);
        last = determine(s, t, x.x[0], down);
    }
    __syncwarp();
    store_part(offsets, v.w, v.w_row);
    const bool bad_input = __any_sync(ALL_LANES, input != 0);
    const bool bad_answer = __any_sync(ALL_LANES, poisoned(0, last) != 0);
    if (lane == 0) note_failure(job, k, bad_input, bad_answer);
}

/* ---- other segments: a warp per tile of strips ----------------------------------------------- */

/* Strips of a tile: what fits in registers. */
__host__ __device__ static constexpr int strips_of(int shape) {
#ifdef SHOAL_SINGLE
    return shape == 1 ? 8 : shape == 2 || shape == SHAPE_MOEBIUS ? 4 : shape == 3 ? 2 : 1;
#else
    return shape == 1 ? 6 : shape == 2 || shape == SHAPE_MOEBIUS ? 2 : 1;
#endif
}

/* Blocks that a multiprocessor should hold: maps of order 3 and 4 need all the registers there are. */
__host__ __device__ static constexpr int blocks_of(int shape) {
    return shape == 3 || shape == 4 ? 2 : 4;
}

/* Whether the wide kernel does it. That depends on the segment alone, as its bits may. */
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

    const recur_state after = map_apply(&own, &x, SHAPE);
    const bool walked = hard || !is_sound(&x, &after, SHAPE);
    if (!walked && c.length > 1) finish_link<SHAPE>(c, at.j, after, false, closed);
    recur_state next = x,
                mine[SHAPE == 1 ? 1 : STRIPS]; /* before a strip; before this lane's rows of it */
    bool sound = true;
    const auto step = [&](int r) { /* to the next strip */
                                   const recur_map before = before_lane<SHAPE>(through[r]);
                                   const recur_map whole = whole_strip<SHAPE>(through[r]);
                                   const recur_state own_rows = map_apply(&before, &next, SHAPE);
                                   next = map_apply(&whole, &next, SHAPE);
                                   return own_rows;
    };
    if (SHAPE != 1) { /* of order 1 all are sound */
#pragma unroll
        for (int r = 0; r < STRIPS; r++) {
            mine[r] = step(r);
            sound = sound && is_sound(&x, &mine[r], SHAPE);
        }
    }
    if (walked || !__all_sync(ALL_LANES, sound)) {
        if (STRIPS == 1)
            walk_strip<SHAPE>(rows[0], v, begin, x, true, 32, input, answer);
        else
            walk_tile<SHAPE>(job, at, x, input, answer);
        if (walked && c.length > 1) finish_link<SHAPE>(c, at.j, x, true, closed);
    } else {
#pragma unroll
        for (int r = 0; r < STRIPS; r++) {
            recur_state first = SHAPE == 1 ? step(r) : mine[SHAPE == 1 ? 0 : r];
            strip_rows<SHAPE>(rows[r], v, begin + r * STRIP_ROWS, first, false, input, answer);
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
    recur_state mine = map_apply(&before, &x, SHAPE);
    const unsigned poisons =
        __ballot_sync(ALL_LANES, map_poison(&through, SHAPE) != 0 || !is_sound(&x, &mine, SHAPE));
    const bool hard = poisons & group;
    if (!hard) strip_rows<SHAPE>(rows, v, lane * ROWS, mine, false, input, answer);
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
    const int maps = words_of(scaled_size(job->shape)), values = words_of(state_size(job->shape));
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
    return RUN_BY_SHAPE(job->shape, run_shape, plan, job);
}

extern "C" const recur_method R(recur_lookback) = { lookback_bytes, lookback_run };
