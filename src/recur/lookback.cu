/* SPDX-License-Identifier: Apache-2.0
 *
 * lookback.cu - recurrences in one pass over memory on the GPU: a scan of maps (map.h) with
 * decoupled look-back (Merrill and Garland), whose bits do not depend on timing (chain.cuh).
 *
 * Of order 1 a block of 6 warps, or of one where a segment is short, has one tile, and a lane LANE_ROWS rows of
 * it one after another, which come through shared memory in pieces of 16 bytes; piece p of lane l lies at
 * place p ^ l % 8 of the lane's, so that lanes side by side read from different banks. A lane joins its rows to
 * a map, a warp the maps of its lanes, the block those of its warps; the first warp looks back; then every
 * lane determines its rows by substitution and leaves them where t was. That is 3 numbers per row moved, and
 * about 20 instructions per row. Rows that do not lie side by side, or not at a multiple of 16 bytes, come one
 * by one. Rows past the end are those of an identity, w = w. If a map is not finite, the lanes of the block go
 * one after another. Blocks take their tiles from a counter, so that a tile that is waited for is always in the
 * hands of a block that runs.
 *
 * Of higher orders a warp has one tile: STRIPS strips (strip.cuh) of 32 lanes, 16 bytes of t each, all in
 * registers, their maps in shared memory. It joins the maps of lanes and strips, learns the state before the
 * tile by looking back, and determines its rows by substitution from there.
 *
 * Segments of one strip or less need no chain: as many lanes as they have rows for, several
 * segments per warp. In the interleaved layout the warps of a block have the same rows of
 * neighbouring segments, and share the lines they read in the cache.
 */
#include "recur/chain.cuh"

enum { WARPS = 4, STRIP_ROWS = 32 * ROWS };

/* ---- order 1: a block per tile ---------------------------------------------- */

enum {
    WIDE_WARPS = 6, /* of a block, where a segment has rows for them; else 1 */
    LANE_ROWS = 128 / sizeof(real),
    LANE_PIECES = LANE_ROWS / ROWS, /* of 16 bytes: 8 */
    WARP_PIECES = 32 * LANE_PIECES,
    WARP_ROWS = 32 * LANE_ROWS
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

/* Where piece k of the part is kept; row u of it; and its first number in memory. */
__device__ static inline real *kept_piece(const part &p, unsigned k) {
    return p.kept + lane_piece(k / LANE_PIECES, k % LANE_PIECES);
}
__device__ static inline real *kept_number(const part &p, unsigned k, unsigned u) {
    return kept_piece(p, k) + (p.down ? ROWS - 1 - u : u);
}
template <class T> __device__ static inline T *piece_in_memory(const part &p, T *at, unsigned k) {
    const int64_t i = p.i + (int64_t)k * ROWS;
    return p.down ? at - i - (ROWS - 1) : at + i;
}

/* How many pieces of the part, from the first on, are 16 bytes side by side in memory. */
template <class T>
__device__ static inline unsigned whole_pieces(const part &p, T *at, int64_t step) {
    const int64_t rows = p.n - p.i;
    if (step != (p.down ? -1 : 1) || (uintptr_t)piece_in_memory(p, at, 0) % 16 != 0 || rows <= 0)
        return 0;
    return rows >= WARP_ROWS ? (unsigned)WARP_PIECES : (unsigned)rows / ROWS;
}

/* Copies pieces lane, lane + 32, .. of the part below `whole`: copy(where it is kept, where it is in memory). */
template <class T, class Copy>
__device__ static inline void each_piece(const part &p, T *at, unsigned whole, Copy copy) {
    const unsigned lane = threadIdx.x % 32;
    T *first = piece_in_memory(p, at, lane);
    const int64_t step = p.down ? -32 * ROWS : 32 * ROWS;
    if (whole == WARP_PIECES) {
#pragma unroll
        for (unsigned k = 0; k < LANE_PIECES; k++)
            copy(kept_piece(p, lane + 32 * k), first + k * step);
    } else {
#pragma unroll 1
        for (unsigned k = 0; lane + 32 * k < whole; k++)
            copy(kept_piece(p, lane + 32 * k), first + k * step);
    }
}

__device__ static inline void load_part(const part &p, const real *at, int64_t step, real filler) {
    const unsigned whole = whole_pieces(p, at, step);
    each_piece(p, at, whole, [](real *kept, const real *from) {
        shoal_copy_async((sixteen *)kept, (const sixteen *)from);
    });
#pragma unroll 1
    for (unsigned e = whole * ROWS + threadIdx.x % 32; e < WARP_ROWS; e += 32) {
        real *to = kept_number(p, e / ROWS, e % ROWS);
        if (p.i + e < p.n)
            shoal_copy_async(to, at + (p.i + e) * step);
        else
            *to = filler;
    }
}

__device__ static inline void store_part(const part &p, real *at, int64_t step) {
    const unsigned whole = whole_pieces(p, at, step);
    each_piece(p, at, whole, [](const real *kept, real *to) {
        shoal_store_streaming((sixteen *)to, *(const sixteen *)kept);
    });
#pragma unroll 1
    for (unsigned e = whole * ROWS + threadIdx.x % 32; e < WARP_ROWS && p.i + e < p.n; e += 32)
        at[(p.i + e) * step] = *kept_number(p, e / ROWS, e % ROWS);
}

/* Piece p of this lane, in the order of its rows. */
__device__ static inline void lane_rows(real (&rows)[ROWS], const real *part, unsigned p,
                                        bool down) {
    const sixteen v = *(const sixteen *)(part + lane_piece(threadIdx.x % 32, p));
    memcpy(rows, &v, sizeof v);
    if (down) reverse_rows<1>(rows);
}

/* The map of this lane's rows. */
__device__ static inline joined_map<1> lane_map(const real *s, const real *t, bool down) {
    recur_map plain = { { power_of_two(LANE_BEGIN), 0 } };
#pragma unroll
    for (unsigned p = 0; p < LANE_PIECES; p++) {
        real scale[ROWS], offset[ROWS];
        lane_rows(scale, s, p, down), lane_rows(offset, t, p, down);
#pragma unroll
        for (int u = 0; u < ROWS; u++) map_append(&plain, &scale[u], offset[u], 1);
    }
    return joined_of_begun(plain);
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

template <int IN_BLOCK>
__global__ __launch_bounds__(32 * IN_BLOCK,
                             24 / IN_BLOCK) static void wide_kernel(recur_job job, chain c,
                                                                    unsigned long long *counter) {
    SHOAL_SHARED(real, shared);
    SHOAL_SHARED_ARRAY(unsigned long long, ticket, 1);
    SHOAL_SHARED_ARRAY(joined_map<1>, maps, IN_BLOCK);
    SHOAL_SHARED_ARRAY(recur_state, before, IN_BLOCK + 1); /* each warp; the block's last */
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
    const int64_t i = (j * IN_BLOCK + warp) * WARP_ROWS;
    const part scales = { s, job.n, i, down }, offsets = { t, job.n, i, down };
    load_part(scales, v.s, v.s_row, 1), load_part(offsets, v.t, v.t_row, 0);
    c.first_tile = k * c.length;
    c.first_group = k * ((c.length + GROUP - 1) / GROUP);
    shoal_copy_async_wait_all();
    __syncwarp();

    const joined_map<1> through = scan_lanes<1>(lane_map(s, t, down));
    if (lane == 31) maps[warp] = through;
    const bool poisoned_map = __syncthreads_or(!is_finite<1>(through));
    joined_map<1> all = maps[0], earlier = joined_identity<1>();
#pragma unroll
    for (unsigned w = 1; w < IN_BLOCK; w++) {
        if (w == warp) earlier = all;
        all = join<1>(all, maps[w]);
    }
    const bool hard = poisoned_map || !is_finite<1>(all);
    bool closed = true;
    if (warp == 0) {
        recur_state x = first_state(&job, k, 1);
        if (j == 0 && lane == 0 && state_poison(&x, 1) != 0) note_failure(job, k, true, false);
        if (c.length > 1) x = begin_link<1>(c, j, all, hard, x, &closed);
        if (!hard && is_sound<1>(x, x) && c.length > 1)
            finish_link<1>(c, j, joined_apply<1>(all, x), false, closed);
        if (lane == 0) before[0] = x;
    }
    __syncthreads();
    recur_state x = before[0];
    real input = 0, last = 0;
    if (hard || !is_sound<1>(x, x)) {
        input = lane_poison(s, t);
        for (unsigned w = 0; w < IN_BLOCK; w++) {
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
        if (IN_BLOCK > 1) x = joined_apply<1>(earlier, x);
        x = joined_apply<1>(before_lane<1>(through), x);
        last = determine(s, t, x.x[0], down);
    }
    __syncwarp();
    store_part(offsets, v.w, v.w_row);
    const bool bad_input = __any_sync(ALL_LANES, input != 0);
    const bool bad_answer = __any_sync(ALL_LANES, poisoned(0, last) != 0);
    if (lane == 0) note_failure(job, k, bad_input, bad_answer);
}

/* ---- higher orders: a warp per tile of strips ----------------------------------------------- */

/* Strips of a tile: what fits in registers. */
__host__ __device__ static constexpr int strips_of(int shape) {
    const int single = sizeof(real) == sizeof(float) ? 2 : 1;
    return shape == 2 || shape == SHAPE_MOEBIUS ? 2 * single : shape == 3 ? single : 1;
}

/* Blocks that a multiprocessor should hold: maps of order 3 and 4 need all the registers there are. */
__host__ __device__ static constexpr int blocks_of(int shape) {
    return shape == 3 || shape == 4 ? 2 : 4;
}

/* Warps of a tile. That depends on the segment alone, as its bits may. */
static int warps_of(const recur_job *job) {
    return job->shape == 1 && job->n >= WIDE_WARPS * WARP_ROWS ? (int)WIDE_WARPS : 1;
}

static int64_t tiles_of(const recur_job *job) {
    const int64_t rows = job->shape == 1 ? (int64_t)warps_of(job) * WARP_ROWS
                                         : (int64_t)strips_of(job->shape) * STRIP_ROWS;
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

/* The maps of a tile's strips wait in shared memory for the state before the tile: that of strip r through the
 * rows of a thread. */
template <int SHAPE, class T>
__device__ static inline void keep_map(T *kept, int r, const joined_map<SHAPE> &a) {
#pragma unroll
    for (int e = 0; e < map_size(SHAPE); e++)
        kept[(r * map_size(SHAPE) + e) * 32 * WARPS + threadIdx.x] = a.m[e];
}
template <int SHAPE, class T>
__device__ static inline joined_map<SHAPE> kept_map(const T *kept, int r, unsigned thread) {
    joined_map<SHAPE> a = {};
#pragma unroll
    for (int e = 0; e < map_size(SHAPE); e++)
        a.m[e] = kept[(r * map_size(SHAPE) + e) * 32 * WARPS + thread];
    return a;
}

template <int SHAPE>
__global__ __launch_bounds__(32 * WARPS, blocks_of(SHAPE)) static void tile_kernel(
    recur_job job, chain c, unsigned long long *counter) {
    constexpr int STRIPS = strips_of(SHAPE);
    typedef typename joined_map<SHAPE>::number number;
    SHOAL_SHARED_ARRAY(number, kept, STRIPS * map_size(SHAPE) * 32 * WARPS);
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
    joined_map<SHAPE> own = joined_identity<SHAPE>();
    bool finite = true;
    real input = 0, answer = 0;
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        order_strip<SHAPE>(rows[r], v);
        const joined_map<SHAPE> through = scan_strip<SHAPE>(rows[r]);
        finite = finite && is_finite<SHAPE>(through);
        keep_map<SHAPE>(kept, r, through);
        const joined_map<SHAPE> whole = whole_strip<SHAPE>(through);
        own = r ? join<SHAPE>(own, whole) : whole;
    }
    const bool hard = __any_sync(ALL_LANES, !finite || !is_finite<SHAPE>(own));
    recur_state x = first_state(&job, at.k, SHAPE);
    __syncwarp();
    if (at.j == 0) input = state_poison(&x, SHAPE);
    bool closed = true;
    if (c.length > 1) x = begin_link<SHAPE>(c, at.j, own, hard, x, &closed);

    const recur_state after = joined_apply<SHAPE>(own, x);
    const bool walked = hard || !is_sound<SHAPE>(x, after);
    if (!walked && c.length > 1) finish_link<SHAPE>(c, at.j, after, false, closed);
    recur_state next = x, mine[STRIPS]; /* before a strip; before this lane's rows of it */
    bool sound = true;
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        const recur_state before = next;
        mine[r] = next;
        if (lane > 0)
            mine[r] = joined_apply<SHAPE>(kept_map<SHAPE>(kept, r, threadIdx.x - 1), next);
        next = joined_apply<SHAPE>(kept_map<SHAPE>(kept, r, threadIdx.x | 31), next);
        sound = sound && is_sound<SHAPE>(before, mine[r]) && is_sound<SHAPE>(before, next);
    }
    if (walked || !__all_sync(ALL_LANES, sound)) {
        if (STRIPS == 1)
            walk_strip<SHAPE>(rows[0], v, begin, x, true, 32, input, answer);
        else
            walk_tile<SHAPE>(job, at, x, input, answer);
        if (walked && c.length > 1) finish_link<SHAPE>(c, at.j, x, true, closed);
    } else {
#pragma unroll
        for (int r = 0; r < STRIPS; r++)
            strip_rows<SHAPE>(rows[r], v, begin + r * STRIP_ROWS, mine[r], false, input, answer);
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
    const joined_map<SHAPE> through = scan_strip<SHAPE>(rows, width);
    real input = 0, answer = 0;
    recur_state x = first_state(&job, k, SHAPE);
    if (lane == 0) input = state_poison(&x, SHAPE);
    const unsigned group = (width == 32 ? ALL_LANES : (1u << width) - 1)
                           << (threadIdx.x % 32 / width * width);
    recur_state mine = joined_apply<SHAPE>(before_lane<SHAPE>(through, width), x);
    const unsigned poisons =
        __ballot_sync(ALL_LANES, !is_finite<SHAPE>(through) || !is_sound<SHAPE>(x, mine));
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
    const int maps = words_of_map(job->shape), values = words_of_state(job->shape);
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

template <int IN_BLOCK>
static void launch_wide(shoal_recur *plan, const recur_job *job, const layout &w) {
    shoal_allow_shared(plan->head.ctx, wide_kernel<IN_BLOCK>);
    SHOAL_LAUNCH((wide_kernel<IN_BLOCK>), dim3((unsigned)w.c.tiles.count), dim3(32 * IN_BLOCK),
                 2 * IN_BLOCK * WARP_ROWS * sizeof(real), plan->head.ctx->stream, *job, w.c,
                 w.counter);
}

template <int SHAPE> static shoal_status run_shape(shoal_recur *plan, const recur_job *job) {
    if (is_short(job)) {
        launch_short<SHAPE>(plan, job);
        return shoal_launched(plan->head.ctx, "lookback");
    }
    const layout w = layout_of(job, job->work);
    cudaMemsetAsync(job->work, 0, w.total, (cudaStream_t)plan->head.ctx->stream);
    if constexpr (SHAPE != 1)
        launch_tiles<SHAPE>(plan, job, w);
    else if (warps_of(job) == 1)
        launch_wide<1>(plan, job, w);
    else
        launch_wide<WIDE_WARPS>(plan, job, w);
    return shoal_launched(plan->head.ctx, "lookback");
}

static shoal_status lookback_run(shoal_recur *plan, const recur_job *job) {
    return RUN_BY_SHAPE(job->shape, run_shape, plan, job);
}

extern "C" const recur_method R(recur_lookback) = { lookback_bytes, lookback_run };
