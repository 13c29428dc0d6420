/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme.cu - the P-scheme for tridiagonal systems (Wakatani, sections II.B and IV) on the GPU: G
 * blocks of T threads per system, one thread per part of M = ceil(n / P) rows, P = T G.
 *
 * The three recurrences of pscheme.h one after the other, with a launch for each global
 * synchronisation (section V.A): the map of every part for p; one thread per system goes from part to
 * part; every part determines its p and the map for q; one thread; q and the map for x; one thread,
 * upwards; x. Time alpha N/P + beta P + gamma N/P for each, equations (14) to (16). About 16 numbers
 * per row are moved, and 7 for the verdict (batch.cu). A part whose map is not finite is
 * walked in the propagation.
 *
 * Variant "blocked": thread j walks through rows jM .. jM+M-1 where they lie, so that the threads of a
 * warp read M rows apart. Variant "rearranged": dl, d, du and b are first copied to w'_{iP+j} = w_{jM+i}
 * (recur/paper/rearrange.cuh), where each phase reads whole lines; the same bits. Variant "printed": blocked, p
 * by equations (9) to (13).
 *
 * Variant "lookback": the propagation is a look-back scan, one pass down for p and q, one up for x. A warp
 * has a tile: STRIPS strips of 32 lanes, 16 bytes of each array per lane, all in registers. It joins the
 * maps of its lanes for p, gets the p before the tile from the tiles before it (recur/chain.cuh),
 * determines its p, and does the same for q; the second pass does it for x, from the last tile to the
 * first. Blocks take their tiles from a counter, so that a tile that is waited for is always in the hands
 * of a warp that runs. 9 numbers per row are moved: dl, d, du, b, p, q, and p, q, x; a tile publishes 11.
 * In a tile whose maps are not finite the lanes walk one after the other.
 */
#include "core/parts.h"
#include "recur/chain.cuh"
#include "recur/paper/rearrange.cuh"
#include "tridiag/device.cuh"
#include "tridiag/paper/pscheme.h"

/* Arrays of all solves; number e of the map of part j of solve v is maps[e * all + v P + j]. The rows
 * of part j of system k begin at dl[k * system + j * step], and so on. */
typedef struct scheme {
    int64_t m, parts, all;
    const real *dl, *d, *du, *b;
    int64_t system, step, row;             /* of dl, d, du: from system to system, part, row */
    int64_t rhs_system, rhs_step, rhs_row; /* of b; its right-hand sides lie side by side  */
    real *p, *q;
    int64_t own_solve, own_step, own_row; /* of p and q                             */
    real *maps, *states[RECURRENCES];     /* states: P + 1 per solve, as in pscheme.c */
} scheme;

__device__ static inline part part_of(const tridiag_job &job, const scheme &w, int64_t v,
                                      int64_t j) {
    const int64_t k = v / job.nrhs, begin = j * w.m, left = job.n - begin;
    const int64_t at = k * w.system + j * w.step, own = v * w.own_solve + j * w.own_step;
    part s;
    s.dl = w.dl + at, s.d = w.d + at, s.du = w.du + at;
    s.b = w.b + k * w.rhs_system + v % job.nrhs + j * w.rhs_step;
    s.p = w.p + own, s.q = w.q + own;
    s.row = w.row, s.rhs_row = w.rhs_row, s.own_row = w.own_row;
    s.begin = begin, s.rows = left > w.m ? w.m : left > 0 ? left : 0, s.n = job.n;
    return s;
}

template <int SIZE>
__device__ static inline void keep_map(const scheme &w, int64_t at, const recur_map &m) {
#pragma unroll
    for (int e = 0; e < SIZE; e++) w.maps[e * w.all + at] = m.m[e];
}

template <int SIZE> __device__ static inline recur_map kept_map(const scheme &w, int64_t at) {
    recur_map m = {};
#pragma unroll
    for (int e = 0; e < SIZE; e++) m.m[e] = w.maps[e * w.all + at];
    return m;
}

/* The solves and parts of this thread, one after the other. */
typedef struct place {
    int64_t b; /* block of all blocks of all solves */
    int64_t v, j;
} place;

__device__ static inline bool find_place(const tridiag_job &job, place &at) {
    for (; at.b < solves(job) * job.groups; at.b += gridDim.x) {
        at.v = at.b / job.groups, at.j = at.b % job.groups * job.threads + threadIdx.x;
        if (at.j < job.parts) return true;
    }
    return false;
}

template <bool AS_PRINTED>
__global__ __launch_bounds__(SHOAL_MAX_THREADS) static void precompute_kernel(tridiag_job job,
                                                                              scheme w) {
    for (place at = { blockIdx.x, 0, 0 }; find_place(job, at); at.b += gridDim.x) {
        const part s = part_of(job, w, at.v, at.j);
        keep_map<4>(w, at.v * w.parts + at.j, AS_PRINTED ? printed_map_of_p(&s) : map_of_p(&s));
    }
}

template <int WHAT> __global__ static void propagate_kernel(tridiag_job job, scheme w) {
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= solves(job)) return;
    const real *p = w.states[OF_P] + v * (w.parts + 1);
    real *states = w.states[WHAT] + v * (w.parts + 1), value = 0;
    states[WHAT == OF_X ? w.parts : 0] = value;
    for (int64_t i = 0; i + 1 < w.parts; i++) {
        const int64_t j = WHAT == OF_X ? w.parts - 1 - i : i;
        const recur_map m = kept_map < WHAT == OF_P ? 4 : 2 > (w, v * w.parts + j);
        const part s = part_of(job, w, v, j);
        value = propagate_part(&s, &m, WHAT, p[j], value);
        states[WHAT == OF_X ? j : j + 1] = value;
    }
}

template <int WHAT>
__global__ __launch_bounds__(SHOAL_MAX_THREADS) static void determine_kernel(tridiag_job job,
                                                                             scheme w) {
    for (place at = { blockIdx.x, 0, 0 }; find_place(job, at); at.b += gridDim.x) {
        const part s = part_of(job, w, at.v, at.j);
        const int64_t state = at.v * (w.parts + 1) + at.j, map = at.v * w.parts + at.j;
        real poison = 0; /* the verdict looks again */
        if (WHAT == OF_P) keep_map<2>(w, map, determine_p(&s, w.states[OF_P][state], &poison));
        if (WHAT == OF_Q)
            keep_map<2>(w, map, determine_q(&s, w.states[OF_P][state], w.states[OF_Q][state]));
        if (WHAT == OF_X) determine_x(&s, w.states[OF_X][state + 1]);
    }
}

/* ---- lookback -------------------------------------------------------------------------------- */

#ifdef SHOAL_SINGLE
enum { STRIPS = 4 }; /* what fits in registers beside the maps */
#else
enum { STRIPS = 2 };
#endif
enum { WARPS = 4, STRIP_ROWS = 32 * ROWS, TILE_ROWS = STRIPS * STRIP_ROWS };

typedef struct chains {
    chain of[RECURRENCES];
    unsigned long long *counters; /* tiles taken, down and up */
    real *p, *q;                  /* n per solve; x takes the place of q */
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
__device__ static inline void through_tile(const chain &c, int64_t j,
                                           const recur_map (&of_lane)[STRIPS], Step step) {
    const int lane = threadIdx.x % 32;
    joined_map<SHAPE> maps[STRIPS], own = joined_identity<SHAPE>();
    bool finite = true;
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        maps[r] = joined_of<SHAPE>(of_lane[r]);
        settle<SHAPE>(maps[r]);
        maps[r] = scan_lanes<SHAPE>(maps[r]);
        finite = finite && is_finite<SHAPE>(maps[r]);
        const joined_map<SHAPE> whole = whole_strip<SHAPE>(maps[r]);
        own = r ? join<SHAPE>(own, whole) : whole;
    }
    const bool hard = __any_sync(ALL_LANES, !finite || !is_finite<SHAPE>(own));
    recur_state x = {};
    bool closed = true;
    if (c.length > 1) x = begin_link<SHAPE>(c, j, own, hard, x, &closed);
    const recur_state after = joined_apply<SHAPE>(own, x);
    const bool walked = hard || !is_sound<SHAPE>(x, after);
    if (!walked && c.length > 1) finish_link<SHAPE>(c, j, after, false, closed);
    recur_state mine[STRIPS], next = x; /* before the rows of this lane; before each strip */
    bool sound = true;
#pragma unroll
    for (int r = 0; r < STRIPS; r++) {
        mine[r] = joined_apply<SHAPE>(before_lane<SHAPE>(maps[r]), next);
        next = joined_apply<SHAPE>(whole_strip<SHAPE>(maps[r]), next);
        sound = sound && is_sound<SHAPE>(x, mine[r]);
    }
    if (walked || !__all_sync(ALL_LANES, sound)) {
#pragma unroll
        for (int r = 0; r < STRIPS; r++) {
#pragma unroll 1
            for (int l = 0; l < 32; l++) {
                recur_state moved = x;
                if (lane == l) step(r, moved);
                x = state_from_lane<SHAPE>(moved, l);
            }
        }
        if (walked && c.length > 1) finish_link<SHAPE>(c, j, x, true, closed);
        return;
    }
#pragma unroll
    for (int r = 0; r < STRIPS; r++) step(r, mine[r]);
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
            rows[r][u].du = x.x[0] = p_of_row(rows[r][u], inverse[r][u]);
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
            rows[r][u].b = x.x[0] = q_of_row(rows[r][u], inverse[r][u], x.x[0]);
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

/* ---- launching ------------------------------------------------------------------------------- */

/* The next `bytes` of the workspace. */
static inline void *carve(char *memory, size_t *at, size_t bytes) {
    void *here = memory ? memory + *at : NULL;
    *at += tridiag_aligned(bytes);
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
            l->maps = (word *)carve(memory, &at, size * (size_t)words_of_map(shape));
            l->values = (word *)carve(memory, &at, size * (size_t)words_of_state(shape));
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

/* Lays the arrays out from `memory` on; *bytes is how much they take, without the verdict's. */
static scheme lay_out(const shoal_tridiag *plan, const tridiag_job *job, char *memory,
                      size_t *bytes) {
    const int64_t todo = job->count * job->nrhs, parts = job->parts;
    const bool rearranged = plan->first.variant == SCHEME_REARRANGED;
    scheme w = {};
    w.parts = parts, w.m = parts ? (job->n + parts - 1) / parts : 0, w.all = parts * todo;
    const int64_t rows = rearranged ? w.m * parts : job->n;
    size_t at = 0;
    w.p = (real *)carve(memory, &at, (size_t)(todo * rows) * sizeof(real));
    w.q = (real *)carve(memory, &at, (size_t)(todo * rows) * sizeof(real));
    w.maps = (real *)carve(memory, &at, (size_t)w.all * 4 * sizeof(real));
    for (int s = 0; s < RECURRENCES; s++)
        w.states[s] = (real *)carve(memory, &at, (size_t)(todo * (parts + 1)) * sizeof(real));
    w.dl = (const real *)job->dl, w.d = (const real *)job->d, w.du = (const real *)job->du;
    w.b = (const real *)job->b;
    w.system = job->system, w.step = w.m * job->row, w.row = job->row;
    w.own_solve = rows, w.own_step = w.m, w.own_row = 1;
    if (rearranged) {
        w.dl = (real *)carve(memory, &at, (size_t)(job->count * rows) * sizeof(real));
        w.d = (real *)carve(memory, &at, (size_t)(job->count * rows) * sizeof(real));
        w.du = (real *)carve(memory, &at, (size_t)(job->count * rows) * sizeof(real));
        w.b = (real *)carve(memory, &at, (size_t)(todo * rows) * sizeof(real));
        w.system = rows, w.step = 1, w.row = parts;
        w.own_step = 1, w.own_row = parts;
    }
    w.rhs_system = w.system * job->nrhs, w.rhs_step = w.step * job->nrhs;
    w.rhs_row = w.row * job->nrhs;
    *bytes = at;
    return w;
}

static size_t pscheme_bytes(const shoal_tridiag *plan) {
    size_t bytes;
    if (plan->first.variant == SCHEME_LOOKBACK)
        lay_out_chains(&plan->job, NULL, &bytes);
    else
        lay_out(plan, &plan->job, NULL, &bytes);
    return bytes + R(tridiag_verdict_bytes)(plan);
}

static void run_phases(shoal_tridiag *plan, const tridiag_job *job, const scheme &w) {
    const int64_t todo = job->count * job->nrhs;
    const dim3 grid(shoal_blocks(todo * job->groups, 1)), block((unsigned)job->threads);
    const dim3 alone((unsigned)((todo + 31) / 32)), warp(32);
    void *stream = plan->head.ctx->stream;
    if (plan->first.variant == SCHEME_PRINTED)
        SHOAL_LAUNCH((precompute_kernel<true>), grid, block, 0, stream, *job, w);
    else
        SHOAL_LAUNCH((precompute_kernel<false>), grid, block, 0, stream, *job, w);
    SHOAL_LAUNCH((propagate_kernel<OF_P>), alone, warp, 0, stream, *job, w);
    SHOAL_LAUNCH((determine_kernel<OF_P>), grid, block, 0, stream, *job, w);
    SHOAL_LAUNCH((propagate_kernel<OF_Q>), alone, warp, 0, stream, *job, w);
    SHOAL_LAUNCH((determine_kernel<OF_Q>), grid, block, 0, stream, *job, w);
    SHOAL_LAUNCH((propagate_kernel<OF_X>), alone, warp, 0, stream, *job, w);
    SHOAL_LAUNCH((determine_kernel<OF_X>), grid, block, 0, stream, *job, w);
}

static shoal_status pscheme_run(shoal_tridiag *plan, const tridiag_job *job) {
    size_t used;
    char *memory = (char *)job->work;
    if (plan->first.variant == SCHEME_LOOKBACK) {
        const chains w = lay_out_chains(job, memory, &used);
        const shoal_status status = run_lookback(plan, job, w);
        if (status != SHOAL_OK) return status;
        return R(tridiag_verdict)(plan, job, w.q, memory + used, SHOAL_SYSTEM_PIVOT);
    }
    const scheme w = lay_out(plan, job, memory, &used);
    const bool rearranged = plan->first.variant == SCHEME_REARRANGED;
    const int64_t todo = job->count * job->nrhs;
    void *stream = plan->head.ctx->stream;
    real *answer = rearranged ? w.p : w.q; /* p is not needed any more */
    rearrangement t = { job->n, w.m, w.parts, job->count, job->row, job->system, 0, 1 };
    if (rearranged) {
        rearrange(stream, t, (real *)job->dl, (real *)w.dl, false);
        rearrange(stream, t, (real *)job->d, (real *)w.d, false);
        rearrange(stream, t, (real *)job->du, (real *)w.du, false);
        t.width = (int)job->nrhs;
        rearrange(stream, t, (real *)job->b, (real *)w.b, false);
    }
    run_phases(plan, job, w);
    if (rearranged) {
        const rearrangement back = { job->n, w.m, w.parts, todo, 1, job->n, 0, 1 };
        rearrange(stream, back, answer, w.q, true);
    }
    return R(tridiag_verdict)(plan, job, answer, memory + used, SHOAL_SYSTEM_PIVOT);
}

extern "C" const tridiag_cuda_method R(tridiag_pscheme) = { pscheme_bytes, pscheme_run };
