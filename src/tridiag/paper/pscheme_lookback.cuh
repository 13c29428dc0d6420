/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme_lookback.cuh - the P-scheme with its propagation as a look-back scan, on the GPU: one pass
 * down for p and q, one up for x.
 *
 * A warp has a tile: STRIPS strips of 32 lanes, 16 bytes of each array a lane, all in registers. It
 * joins the maps of its lanes for p, learns the p before the tile from the tiles before it
 * (recur/chain.cuh), determines its p, and does the same for q; the second pass does it for x, from
 * the last tile to the first. Blocks take their tiles from a counter, so that a tile that is waited
 * for is always in the hands of a warp that runs. 9 numbers a row are moved: dl, d, du, b, p, q, and p,
 * q, x; a tile publishes 11. Of a tile whose maps are not finite the lanes walk one after the other.
 */
#ifndef SHOAL_TRIDIAG_PAPER_PSCHEME_LOOKBACK_CUH
#define SHOAL_TRIDIAG_PAPER_PSCHEME_LOOKBACK_CUH

#include "recur/chain.cuh"
#include "recur/turn.cuh"
#include "tridiag/batch.cuh"
#include "tridiag/paper/pscheme.h"

#ifdef SHOAL_SINGLE
enum { STRIPS = 4 }; /* what fits in registers beside the maps */
#else
enum { STRIPS = 2 };
#endif
enum { WARPS = 4, STRIP_ROWS = 32 * ROWS, TILE_ROWS = STRIPS * STRIP_ROWS };

typedef struct chains {
    chain of[RECURRENCES];
    unsigned long long *counters; /* tiles taken, down and up */
    real *p, *q;                  /* n a solve; x takes the place of q */
    size_t cleared;               /* bytes at the beginning: counters and words */
} chains;

/* ROWS rows from row i on; past the end: `filler`. */
__device__ static inline void load_rows(real (&to)[ROWS], const real *from, int64_t i, int64_t n,
                                        int64_t step, real filler) {
    if (step == 1 && i + ROWS <= n && (uintptr_t)(from + i) % 16 == 0) {
        const sixteen value = *(const sixteen *)(from + i);
        memcpy(to, &value, sizeof value);
        return;
    }
#pragma unroll
    for (int u = 0; u < ROWS; u++) to[u] = i + u < n ? from[(i + u) * step] : filler;
}

__device__ static inline void store_rows(real *to, int64_t i, int64_t n, const real (&from)[ROWS]) {
    if (i + ROWS <= n && (uintptr_t)(to + i) % 16 == 0) {
        sixteen value;
        memcpy(&value, from, sizeof value);
        *(sixteen *)(to + i) = value;
        return;
    }
#pragma unroll
    for (int u = 0; u < ROWS; u++)
        if (i + u < n) to[i + u] = from[u];
}

/* Propagation and determination in tile j of a chain. maps[r] is the map of this lane's rows of strip
 * r; step(r, x) determines them from the value x before them, which moves on. */
template <int SHAPE, class Step>
__device__ static inline void through_tile(const chain &c, int64_t j, recur_map (&maps)[STRIPS],
                                           Step step) {
    const int lane = threadIdx.x % 32;
    recur_map own = map_identity(SHAPE);
    real poison = 0;
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        maps[r] = scan_lanes<SHAPE>(maps[r]);
        poison += map_poison(&maps[r], SHAPE);
        const recur_map whole = whole_strip<SHAPE>(maps[r]);
        own = r ? map_join(&own, &whole, SHAPE) : whole;
    }
    const bool hard = __any_sync(ALL_LANES, poison != 0 || map_poison(&own, SHAPE) != 0);
    recur_state x = {};
    bool closed = true;
    if (c.length > 1) x = begin_link<SHAPE>(c, j, own, hard, x, &closed);
    if (hard) {
#pragma unroll
        for (int r = 0; r < STRIPS; r++) {
#pragma unroll 1
            for (int l = 0; l < 32; l++) {
                recur_state mine = x;
                if (lane == l) step(r, mine);
                x = state_from_lane<SHAPE>(mine, l);
            }
        }
        if (c.length > 1) finish_link<SHAPE>(c, j, x, true, closed);
        return;
    }
    const recur_state after = map_apply(&own, &x, SHAPE);
    if (c.length > 1) finish_link<SHAPE>(c, j, after, false, closed);
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        const recur_map before = before_lane<SHAPE>(maps[r]), whole = whole_strip<SHAPE>(maps[r]);
        recur_state mine = map_apply(&before, &x, SHAPE);
        step(r, mine);
        x = map_apply(&whole, &x, SHAPE);
    }
}

/* The tile of this warp: tile j of solve v, counted in the order of the pass. */
typedef struct tile_place {
    int64_t v, j;
} tile_place;

__device__ static inline tile_place next_tile(unsigned long long *counter, int64_t tiles) {
    SHOAL_SHARED_ARRAY(unsigned long long, ticket, 1);
    if (threadIdx.x == 0) ticket[0] = atomicAdd(counter, 1ull);
    __syncthreads();
    const int64_t tile = (int64_t)ticket[0] * WARPS + threadIdx.x / 32;
    const tile_place at = { tile / tiles, tile % tiles };
    return at;
}

__device__ static inline chain chain_of(const chain &all, int64_t v) {
    chain c = all;
    c.first_tile = v * c.length;
    c.first_group = v * ((c.length + GROUP - 1) / GROUP);
    return c;
}

__device__ static inline void load_equations(tri_row (&rows)[ROWS], const view &w, int64_t i,
                                             int64_t n) {
    real dl[ROWS], d[ROWS], du[ROWS], b[ROWS];
    load_rows(dl, w.dl, i, n, w.row, 0);
    load_rows(d, w.d, i, n, w.row, 1);
    load_rows(du, w.du, i, n, w.row, 0);
    load_rows(b, w.b, i, n, w.rhs_row, 0);
#pragma unroll
    for (int u = 0; u < ROWS; u++) {
        rows[u].dl = i + u > 0 ? dl[u] : 0; /* dl[0] and du[n-1] do not exist */
        rows[u].d = d[u];
        rows[u].du = i + u != n - 1 ? du[u] : 0;
        rows[u].b = b[u];
    }
}

/* p and q of all rows, from the first tile to the last. In registers p takes the place of du, q that of
 * b. */
__global__ __launch_bounds__(32 * WARPS) static void down_kernel(tridiag_job job, chains w) {
    const tile_place at = next_tile(&w.counters[0], w.of[OF_P].length);
    if (at.v >= solves(job)) return;
    const view from = view_of(job, at.v);
    const int64_t n = job.n, begin = at.j * TILE_ROWS + threadIdx.x % 32 * ROWS;
    tri_row rows[STRIPS][ROWS];
    real inverse[STRIPS][ROWS];
    recur_map maps[STRIPS];
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        load_equations(rows[r], from, begin + r * STRIP_ROWS, n);
        maps[r] = map_identity(SHAPE_MOEBIUS);
#pragma unroll
        for (int u = 0; u < ROWS; u++) append_p(&maps[r], rows[r][u]);
    }
    through_tile<SHAPE_MOEBIUS>(chain_of(w.of[OF_P], at.v), at.j, maps, [&](int r, recur_state &x) {
#pragma unroll
        for (int u = 0; u < ROWS; u++) {
            inverse[r][u] = inverse_pivot(rows[r][u], x.x[0]);
            rows[r][u].du = x.x[0] = next_p(rows[r][u], inverse[r][u]);
        }
    });
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        maps[r] = map_identity(1);
#pragma unroll
        for (int u = 0; u < ROWS; u++) append_q(&maps[r], rows[r][u], inverse[r][u]);
    }
    through_tile<1>(chain_of(w.of[OF_Q], at.v), at.j, maps, [&](int r, recur_state &x) {
#pragma unroll
        for (int u = 0; u < ROWS; u++)
            rows[r][u].b = x.x[0] = next_q(rows[r][u], inverse[r][u], x.x[0]);
    });
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        real p[ROWS], q[ROWS];
#pragma unroll
        for (int u = 0; u < ROWS; u++) p[u] = rows[r][u].du, q[u] = rows[r][u].b;
        store_rows(w.p + at.v * n, begin + r * STRIP_ROWS, n, p);
        store_rows(w.q + at.v * n, begin + r * STRIP_ROWS, n, q);
    }
}

/* x of all rows in the place of q, from the last tile to the first; so run strips, lanes, rows. */
__global__ __launch_bounds__(32 * WARPS) static void up_kernel(tridiag_job job, chains w) {
    const tile_place at = next_tile(&w.counters[1], w.of[OF_X].length);
    if (at.v >= solves(job)) return;
    const int64_t n = job.n, end = (w.of[OF_X].length - at.j) * TILE_ROWS;
    const int64_t begin = end - (threadIdx.x % 32 + 1) * ROWS; /* of this lane in strip 0 */
    real p[STRIPS][ROWS], q[STRIPS][ROWS];
    recur_map maps[STRIPS];
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        load_rows(p[r], w.p + at.v * n, begin - r * STRIP_ROWS, n, 1, 0);
        load_rows(q[r], w.q + at.v * n, begin - r * STRIP_ROWS, n, 1, 0);
        maps[r] = map_identity(1);
#pragma unroll
        for (int u = 0; u < ROWS; u++) append_x(&maps[r], p[r][u], q[r][u]);
    }
    through_tile<1>(chain_of(w.of[OF_X], at.v), at.j, maps, [&](int r, recur_state &x) {
#pragma unroll
        for (int u = ROWS - 1; u >= 0; u--)
            q[r][u] = x.x[0] = real_mad(p[r][u], x.x[0], q[r][u]); /* x_i */
    });
#pragma unroll
    for (int r = 0; r < STRIPS; r++) store_rows(w.q + at.v * n, begin - r * STRIP_ROWS, n, q[r]);
}

/* ---- the launch ------------------------------------------------------------------------------- */

enum { ALIGNMENT = 256 };

static inline size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The next `bytes` of the workspace. */
static inline void *carve(char *memory, size_t *at, size_t bytes) {
    void *here = memory ? memory + *at : NULL;
    *at += aligned(bytes);
    return here;
}

static inline chains lay_out_chains(const tridiag_job *job, char *memory, size_t *bytes) {
    const int64_t todo = job->count * job->nrhs, tiles = (job->n + TILE_ROWS - 1) / TILE_ROWS;
    const int64_t groups = (tiles + GROUP - 1) / GROUP;
    size_t at = 0;
    chains w = {};
    w.counters = (unsigned long long *)carve(memory, &at, 2 * sizeof *w.counters);
    for (int s = 0; s < RECURRENCES; s++) {
        const int shape = s == OF_P ? (int)SHAPE_MOEBIUS : 1;
        chain *c = &w.of[s];
        c->length = tiles;
        c->tiles.count = tiles * todo, c->groups.count = groups * todo;
        for (int upper = 0; upper < 2; upper++) {
            links *l = upper ? &c->groups : &c->tiles;
            const size_t size = (size_t)l->count * sizeof(word);
            l->maps = (word *)carve(memory, &at, size * (size_t)words_of(map_size(shape)));
            l->values = (word *)carve(memory, &at, size * (size_t)words_of(state_size(shape)));
        }
    }
    w.cleared = at;
    w.p = (real *)carve(memory, &at, (size_t)(todo * job->n) * sizeof(real));
    w.q = (real *)carve(memory, &at, (size_t)(todo * job->n) * sizeof(real));
    *bytes = at;
    return w;
}

static inline shoal_status run_lookback(shoal_tridiag *plan, const tridiag_job *job,
                                        const chains &w) {
    const int64_t blocks = (w.of[OF_P].tiles.count + WARPS - 1) / WARPS;
    void *stream = plan->head.ctx->stream;
    if (blocks > INT32_MAX)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "pscheme: n * count * nrhs has too many rows");
    cudaMemsetAsync(w.counters, 0, w.cleared, (cudaStream_t)stream);
    SHOAL_LAUNCH(down_kernel, dim3((unsigned)blocks), dim3(32 * WARPS), 0, stream, *job, w);
    SHOAL_LAUNCH(up_kernel, dim3((unsigned)blocks), dim3(32 * WARPS), 0, stream, *job, w);
    return shoal_launched(plan->head.ctx, "pscheme");
}

#endif
