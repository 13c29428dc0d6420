/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry.cu - one long system on the GPU by the two-carry reduction of twocarry.h, in two passes.
 *
 * reduce  A thread has ROWS rows, a block of THREADS threads a tile of TILE rows, which it brings to
 *         shared memory in pieces of 16 bytes; piece p of thread t lies at place p ^ t % 8 of the
 *         thread's, so that threads side by side read from different banks. Each thread reduces its
 *         rows to a relation, which is kept; those of the tile merge in a tree to one.
 * merge   while there are more relations than one block can take, FAN of them become one.
 * top     one block merges what is left, solves for both ends, and goes down again.
 * spread  the way down of `merge`: the pairs at all boundaries from those at the ends of each FAN.
 * solve   each tile merges its threads' relations again while its rows arrive, goes down to the pair
 *         at each thread's ends, reduces as before, keeps the pivot rows where a, b and c were, and
 *         substitutes back; x takes the place of d and leaves in pieces of 16 bytes.
 *
 * Bytes: a, b, c, d twice and x once, 9 numbers a thread are kept: 9.6 n numbers in all, 7 % of the
 * input for workspace. About 130 operations in double a row: less than the time of the memory.
 * Several solves are side by side in the grid. Where the residual is asked for, a tile reads its rows
 * once more before x is written, mostly from cache.
 */
#include "tridiag/batch.cuh"
#include "tridiag/twocarry.h"

enum {
    ROWS = 32,
    THREADS = 64,
    TILE = ROWS * THREADS,
    FAN = 128,
    VECTOR = 16 / sizeof(real),
    PIECES = ROWS / VECTOR, /* of 16 bytes, of a thread and array */
    MOST_LEVELS = 8,        /* of the tree: FAN^7 tiles are more than there can be */
    BLOCK = 256,
    ALIGNMENT = 256
};

struct alignas(16) piece {
    real e[VECTOR];
};

typedef struct
    solve_state { /* of one solve: what all blocks say. Bits of numbers >= 0 as doubles order
                                like the numbers: atomicMax finds the largest */
    unsigned long long least; /* of the least square of a pivot, the bits inverted */
    unsigned long long r, a, x, d;
    int input_bad, x_bad;
    int32_t status;
    int fate; /* of x */
} solve_state;

typedef struct levels { /* of the tree above the tiles; the workspace of all solves */
    int64_t threads;    /* relations of a solve at the bottom: one a thread */
    int64_t tiles;
    int64_t size; /* relations of all levels above the bottom         */
    real *bottom; /* number q of relation j of solve v: [(v * RELATION + q) * threads + j] */
    relation *upper;
    pair *pairs; /* one more than relations at each level             */
    solve_state *states;
} levels;

/* ---- trees in shared memory --------------------------------------------------------------------- */

/* `count` relations become one, in the first's place; middles of boundaries, where m is not NULL. The
 * whole block calls it. */
__device__ static inline void merge_up(relation *r, middle *m, int count, real &least) {
    for (int step = 1; step < count; step *= 2) {
        __syncthreads();
        for (int i = 2 * step * threadIdx.x; i + step < count; i += 2 * step * blockDim.x) {
            middle between;
            r[i] = merge(&r[i], &r[i + step], &between, &least);
            if (m) m[i + step] = between;
        }
    }
    __syncthreads();
}

/* Pairs at the boundaries between, from those at 0 and count. */
__device__ static inline void pairs_down(pair *x, const middle *m, int count) {
    int step = 1;
    while (step < count) step *= 2;
    for (step /= 2; step > 0; step /= 2) {
        __syncthreads();
        for (int i = 2 * step * threadIdx.x; i + step < count; i += 2 * step * blockDim.x)
            x[i + step] =
                middle_pair(&m[i + step], x[i], x[i + 2 * step < count ? i + 2 * step : count]);
    }
    __syncthreads();
}

__device__ static inline unsigned long long bits_of(real v) {
    return (unsigned long long)__double_as_longlong((double)v);
}
__device__ static inline real real_of(unsigned long long bits) {
    return (real)__longlong_as_double((long long)bits);
}

/* Takes a thread's least pivot into that of the solve. */
__device__ static inline void note_least(solve_state *s, real least) {
    for (int h = 16; h > 0; h /= 2) least = real_min(__shfl_xor_sync(0xffffffffu, least, h), least);
    const unsigned long long bits = ~bits_of(least);
    if (threadIdx.x % 32 == 0 && shoal_glance(&s->least) < bits) atomicMax(&s->least, bits);
}

/* ---- tiles --------------------------------------------------------------------------------------- */

/* Number i of thread t of a tile, one array of it. */
__device__ static inline int tile_at(int t, int i) {
    return t * ROWS + ((i / VECTOR) ^ (t % 8 & (PIECES - 1))) * VECTOR + i % VECTOR;
}

/* One array of a tile to shared memory; past the end of the system: `filler`. */
template <bool PIECEWISE>
__device__ static inline void load_array(real *to, const real *from, int64_t begin, int64_t n,
                                         int64_t stride, real filler) {
    if (PIECEWISE && begin + TILE <= n) {
        for (int p = threadIdx.x; p < TILE / VECTOR; p += THREADS)
            shoal_copy_async((piece *)(to + tile_at(p / PIECES, p % PIECES * VECTOR)),
                             (const piece *)(from + begin) + p);
        return;
    }
    for (int e = threadIdx.x; e < TILE; e += THREADS) {
        real *at = to + tile_at(e / ROWS, e % ROWS);
        if (begin + e < n)
            shoal_copy_async(at, from + (begin + e) * stride);
        else
            *at = filler;
    }
}

template <bool PIECEWISE>
__device__ static inline void load_tile(real *shared, const view &w, int64_t begin, int64_t n) {
    load_array<PIECEWISE>(shared, w.a, begin, n, w.row, 0);
    load_array<PIECEWISE>(shared + TILE, w.b, begin, n, w.row, 1);
    load_array<PIECEWISE>(shared + 2 * TILE, w.c, begin, n, w.row, 0);
    load_array<PIECEWISE>(shared + 3 * TILE, w.d, begin, n, w.rhs_row, 0);
}

/* Once it is there: a of the first row and c of the last one do not exist. */
__device__ static inline void tile_ready(real *shared, int64_t begin, int64_t n) {
    shoal_copies_done();
    __syncthreads();
    const int64_t last = n - 1 - begin;
    if (threadIdx.x == 0 && begin == 0) shared[tile_at(0, 0)] = 0;
    if (threadIdx.x == 0 && last < TILE)
        shared[2 * TILE + tile_at((int)last / ROWS, (int)last % ROWS)] = 0;
    __syncthreads();
}

/* Rows i .. i + VECTOR - 1 of the thread. */
__device__ static inline void load_rows(tri_row (&row)[VECTOR], const real *shared, int i) {
    const int at = tile_at(threadIdx.x, i);
    const piece a = *(const piece *)(shared + at), b = *(const piece *)(shared + TILE + at);
    const piece c = *(const piece *)(shared + 2 * TILE + at);
    const piece d = *(const piece *)(shared + 3 * TILE + at);
#pragma unroll
    for (int e = 0; e < VECTOR; e++) row[e] = tri_row{ a.e[e], b.e[e], c.e[e], d.e[e] };
}

/* Walks through the thread's rows; keep(i, pivot row of x(i)) for 0 < i < ROWS - 1. Returns 0, or NaN
 * if a number is not finite. */
template <class F>
__device__ static inline real reduce_rows(carries &w, real *shared, const F &keep) {
    real poison = 0;
    tri_row row[VECTOR];
    load_rows(row, shared, 0);
#pragma unroll 1
    for (int i = 0; i < ROWS; i += VECTOR) {
        if (i) load_rows(row, shared, i);
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
            poison = poisoned(poisoned(poisoned(poisoned(poison, row[e].a), row[e].b), row[e].c),
                              row[e].d);
            row[e] = scaled_row(row[e]);
        }
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
            if (i == 0 && e == 0) continue;
            if (i == 0 && e == 1)
                w = begin_carries(row[0], row[1]);
            else
                keep(i + e - 1, carry_on(&w, row[e]));
        }
    }
    return poison;
}

template <bool PIECEWISE>
__global__ static void __launch_bounds__(THREADS) reduce_kernel(tridiag_job job, levels l) {
    SHOAL_SHARED(real, shared);
    const int64_t v = blockIdx.x / l.tiles, tile = blockIdx.x % l.tiles;
    const int64_t begin = tile * TILE, j = tile * THREADS + threadIdx.x;
    load_tile<PIECEWISE>(shared, view_of(job, v), begin, job.n);
    tile_ready(shared, begin, job.n);
    carries w;
    const real poison = reduce_rows(w, shared, [](int, const pivot_row &) {});
    const relation mine = { { w.l1, w.f1, w.h1, w.r1, w.l2, w.f2, w.h2, w.n2, w.r2 } };
    real *bottom = l.bottom + v * RELATION * l.threads;
#pragma unroll
    for (int q = 0; q < RELATION; q++) bottom[q * l.threads + j] = mine.v[q];
    if (__syncthreads_or(poison != 0) && threadIdx.x == 0) atomicOr(&l.states[v].input_bad, 1);
    relation *r = (relation *)shared; /* over the rows */
    r[threadIdx.x] = mine;
    real least = w.least;
    merge_up(r, NULL, THREADS, least);
    if (threadIdx.x == 0) l.upper[v * l.size + tile] = r[0];
    note_least(&l.states[v], least);
}

/* Norms of a tile's rows and its x, which is in shared memory; `before` and `beyond` are its neighbours'. */
__device__ static inline void judge_tile(const tridiag_job &job, const view &w, int64_t begin,
                                         const real *x, real before, real beyond,
                                         solve_state *state) {
    norms m = {};
    for (int e = threadIdx.x; e < TILE && begin + e < job.n; e += THREADS) {
        const equation q = equation_at(w, job.n, begin + e);
        const real left = e ? x[tile_at((e - 1) / ROWS, (e - 1) % ROWS)] : before;
        const real right = e < TILE - 1 ? x[tile_at((e + 1) / ROWS, (e + 1) % ROWS)] : beyond;
        norms_row(&m, (real)job.tol, q.a, q.b, q.c, q.d, left, x[tile_at(e / ROWS, e % ROWS)],
                  right);
    }
    norms_over_lanes(&m, 32);
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&state->r, bits_of(m.poison == 0 ? m.r : (real)INFINITY));
    atomicMax(&state->a, bits_of(m.a));
    atomicMax(&state->x, bits_of(m.x));
    atomicMax(&state->d, bits_of(m.d));
}

template <bool PIECEWISE>
__global__ static void __launch_bounds__(THREADS) solve_kernel(tridiag_job job, levels l) {
    SHOAL_SHARED(real, shared);
    real *trees = shared + 4 * TILE;
    relation *r = (relation *)trees;
    middle *m = (middle *)(r + THREADS);
    pair *x = (pair *)(m + THREADS);
    const int64_t v = blockIdx.x / l.tiles, tile = blockIdx.x % l.tiles;
    const int64_t begin = tile * TILE, j = tile * THREADS + threadIdx.x;
    const int t = threadIdx.x, fate = l.states[v].fate;
    const view at = view_of(job, v);
    if (fate == X_KEPT) return;
    load_tile<PIECEWISE>(shared, at, begin, job.n);
    const real *bottom = l.bottom + v * RELATION * l.threads;
#pragma unroll
    for (int q = 0; q < RELATION; q++) r[t].v[q] = bottom[q * l.threads + j];
    const pair *ends = l.pairs + v * (l.size + MOST_LEVELS) + tile;
    if (t == 0) x[0] = ends[0], x[THREADS] = ends[1];
    real least = 0;
    merge_up(r, m, THREADS, least);
    pairs_down(x, m, THREADS);
    const pair left = x[t], right = x[t + 1];
    tile_ready(shared, begin, job.n);
    carries w;
    reduce_rows(w, shared, [&](int i, const pivot_row &p) {
        const int to = tile_at(t, i);
        shared[to] = p.next, shared[TILE + to] = p.after;
        shared[2 * TILE + to] = real_fma(-p.left, left.last, real_fma(-p.first, left.first, p.rhs));
    });
    real next = right.last, after = right.first, poison = 0;
    real *answer = shared + 3 * TILE;
    answer[tile_at(t, ROWS - 1)] = next;
#pragma unroll 4
    for (int i = ROWS - 2; i > 0; i--) {
        const int from = tile_at(t, i);
        const real now = real_fma(-shared[from], next,
                                  real_fma(-shared[TILE + from], after, shared[2 * TILE + from]));
        answer[from] = now;
        after = next, next = now;
        poison = poisoned(poison, now);
    }
    answer[tile_at(t, 0)] = left.first;
    poison = poisoned(poisoned(poison, left.first), right.last);
    if (__syncthreads_or(poison != 0) && t == 0) atomicOr(&l.states[v].x_bad, 1);
    if (job.residual) judge_tile(job, at, begin, answer, x[0].last, x[THREADS].first, &l.states[v]);
    if (PIECEWISE && begin + TILE <= job.n && fate == X_WRITTEN) {
        for (int p = t; p < TILE / VECTOR; p += THREADS)
            ((piece *)(at.x + begin))[p] =
                *(const piece *)(answer + tile_at(p / PIECES, p % PIECES * VECTOR));
        return;
    }
    for (int e = t; e < TILE && begin + e < job.n; e += THREADS)
        at.x[(begin + e) * at.rhs_row] =
            fate == X_WRITTEN ? answer[tile_at(e / ROWS, e % ROWS)] : real_nan();
}

/* ---- the tree above the tiles --------------------------------------------------------------------- */

typedef struct level { /* of the tree: where it begins, and how many relations it has */
    int64_t at, count;
    int64_t pairs_at;
} level;

__global__ static void merge_kernel(levels l, level from, level to) {
    SHOAL_SHARED(relation, r);
    const int64_t v = blockIdx.x / to.count, g = blockIdx.x % to.count;
    const relation *in = l.upper + v * l.size + from.at + g * FAN;
    const int count = (int)(from.count - g * FAN < FAN ? from.count - g * FAN : FAN);
    for (int i = threadIdx.x; i < count; i += blockDim.x) r[i] = in[i];
    real least = (real)INFINITY;
    merge_up(r, NULL, count, least);
    if (threadIdx.x == 0) l.upper[v * l.size + to.at + g] = r[0];
    note_least(&l.states[v], least);
}

__global__ static void spread_kernel(levels l, level from, level to) {
    SHOAL_SHARED(relation, r);
    middle *m = (middle *)(r + FAN);
    pair *x = (pair *)(m + FAN);
    const int64_t v = blockIdx.x / from.count, g = blockIdx.x % from.count;
    const relation *in = l.upper + v * l.size + to.at + g * FAN;
    const pair *ends = l.pairs + v * (l.size + MOST_LEVELS) + from.pairs_at + g;
    pair *out = l.pairs + v * (l.size + MOST_LEVELS) + to.pairs_at + g * FAN;
    const int count = (int)(to.count - g * FAN < FAN ? to.count - g * FAN : FAN);
    for (int i = threadIdx.x; i < count; i += blockDim.x) r[i] = in[i];
    if (threadIdx.x == 0) x[0] = ends[0], x[count] = ends[1];
    real least = 0;
    merge_up(r, m, count, least);
    pairs_down(x, m, count);
    for (int i = threadIdx.x; i <= count; i += blockDim.x)
        if (i < count || g == from.count - 1) out[i] = x[i];
}

/* One block a solve: the rest of the tree, and what becomes of the solve. */
__global__ static void top_kernel(tridiag_job job, levels l, level at) {
    SHOAL_SHARED(relation, r);
    middle *m = (middle *)(r + at.count);
    pair *x = (pair *)(m + at.count);
    const int64_t v = blockIdx.x;
    const int count = (int)at.count;
    solve_state *state = &l.states[v];
    for (int i = threadIdx.x; i < count; i += blockDim.x) r[i] = l.upper[v * l.size + at.at + i];
    real least = (real)INFINITY;
    merge_up(r, m, count, least);
    if (threadIdx.x == 0) root_pairs(&r[0], &x[0], &x[count], &least);
    note_least(state, least);
    pairs_down(x, m, count);
    pair *out = l.pairs + v * (l.size + MOST_LEVELS) + at.pairs_at;
    for (int i = threadIdx.x; i <= count; i += blockDim.x) out[i] = x[i];
    if (threadIdx.x != 0) return;
    const real all = real_of(~atomicMax(&state->least, 0ull));
    state->status = state->input_bad ? (int32_t)SHOAL_SYSTEM_NONFINITE : status_of_least(all);
    state->fate = state->status >= 0 ? X_WRITTEN : job.x == job.d ? X_KEPT : X_IS_NAN;
}

/* Notes the outcome; an x that has overflowed is erased. */
__global__ static void note_kernel(tridiag_job job, levels l) {
    const int64_t v = blockIdx.y;
    const solve_state *s = &l.states[v];
    const bool overflow = s->status >= 0 && s->x_bad;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        const norms m = { real_of(s->r), real_of(s->a), real_of(s->x), real_of(s->d), 0, 0 };
        const float residual = job.residual ? norms_residual(&m) : 0;
        int32_t status = overflow ? (int32_t)SHOAL_SYSTEM_OVERFLOW : s->status;
        if (status == SHOAL_SYSTEM_OK) status = decide(job, false, false, m, residual, 0);
        settle(job, v, status, residual);
    }
    const view w = view_of(job, v);
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.n && overflow;
         i += (int64_t)gridDim.x * blockDim.x)
        w.x[i * w.rhs_row] = real_nan();
}

/* ---- launching ------------------------------------------------------------------------------------ */

/* The levels of the tree above the tiles, down to one that a block can take; how many there are. */
static int plan_levels(const shoal_tridiag *plan, level *list, levels *l) {
    const int64_t most = (int64_t)(shoal_most_shared(plan->ctx) /
                                   (sizeof(relation) + sizeof(middle) + 2 * sizeof(pair)));
    const int64_t top = most < 1024 ? most : 1024;
    l->tiles = (plan->job.n + TILE - 1) / TILE;
    l->threads = l->tiles * THREADS;
    int count = 0;
    int64_t at = 0, pairs_at = 0;
    for (int64_t relations = l->tiles;; relations = (relations + FAN - 1) / FAN) {
        list[count].at = at, list[count].count = relations, list[count].pairs_at = pairs_at;
        at += relations, pairs_at += relations + 1;
        count++;
        if (relations <= top) break;
    }
    l->size = at;
    return count;
}

static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Lays the arrays of `l` out from `memory` on; returns how many bytes they take. */
static size_t lay_out(const shoal_tridiag *plan, levels *l, char *memory) {
    const size_t solves = (size_t)(plan->job.count * plan->job.nrhs);
    const size_t bottom = aligned(solves * (size_t)l->threads * RELATION * sizeof(real));
    const size_t upper = aligned(solves * (size_t)l->size * sizeof(relation));
    const size_t pairs = aligned(solves * (size_t)(l->size + MOST_LEVELS) * sizeof(pair));
    l->bottom = (real *)memory;
    l->upper = (relation *)(memory + bottom);
    l->pairs = (pair *)(memory + bottom + upper);
    l->states = (solve_state *)(memory + bottom + upper + pairs);
    return bottom + upper + pairs + aligned(solves * sizeof(solve_state));
}

static size_t twocarry_bytes(const shoal_tridiag *plan) {
    level list[MOST_LEVELS];
    levels l;
    plan_levels(plan, list, &l);
    return lay_out(plan, &l, NULL);
}

/* Whether all arrays begin, in every system, where pieces of 16 bytes do. */
static bool piecewise(const tridiag_job *job) {
    const uintptr_t all = (uintptr_t)job->a | (uintptr_t)job->b | (uintptr_t)job->c |
                          (uintptr_t)job->d | (uintptr_t)job->x;
    return all % 16 == 0 && job->row == 1 && job->nrhs == 1 &&
           (job->count == 1 || job->n % VECTOR == 0);
}

template <bool PIECEWISE>
static void run_tiles(shoal_tridiag *plan, const tridiag_job *job, const levels &l, bool first) {
    const int64_t solves = job->count * job->nrhs;
    const dim3 grid((unsigned)(l.tiles * solves));
    const size_t rows = 4 * TILE * sizeof(real);
    const size_t trees =
        THREADS * (sizeof(relation) + sizeof(middle) + sizeof(pair)) + sizeof(pair);
    if (first) {
        shoal_allow_shared(plan->ctx, reduce_kernel<PIECEWISE>);
        SHOAL_LAUNCH(reduce_kernel<PIECEWISE>, grid, dim3(THREADS), rows, plan->ctx->stream, *job,
                     l);
    } else {
        shoal_allow_shared(plan->ctx, solve_kernel<PIECEWISE>);
        SHOAL_LAUNCH(solve_kernel<PIECEWISE>, grid, dim3(THREADS), rows + trees, plan->ctx->stream,
                     *job, l);
    }
}

static shoal_status twocarry_run(shoal_tridiag *plan, const tridiag_job *job) {
    level list[MOST_LEVELS];
    levels l;
    const int count = plan_levels(plan, list, &l);
    const size_t used = lay_out(plan, &l, (char *)job->work);
    const int64_t solves = job->count * job->nrhs;
    void *stream = plan->ctx->stream;
    if (l.tiles * solves > INT32_MAX)
        return shoal_fail(plan->ctx, SHOAL_E_ARG, "twocarry: n * count * nrhs has too many rows");
    cudaMemsetAsync(l.states, 0, (char *)job->work + used - (char *)l.states, (cudaStream_t)stream);
    const bool pieces = piecewise(job);
    if (pieces)
        run_tiles<true>(plan, job, l, true);
    else
        run_tiles<false>(plan, job, l, true);
    const size_t tree = sizeof(relation) + sizeof(middle) + sizeof(pair);
    for (int i = 1; i < count; i++)
        SHOAL_LAUNCH(merge_kernel, dim3((unsigned)(list[i].count * solves)), dim3(FAN / 2),
                     FAN * sizeof(relation), stream, l, list[i - 1], list[i]);
    const level top = list[count - 1];
    const int threads = top.count > 512 ? 512 : top.count > 64 ? 128 : 32;
    shoal_allow_shared(plan->ctx, top_kernel);
    SHOAL_LAUNCH(top_kernel, dim3((unsigned)solves), dim3((unsigned)threads),
                 (size_t)top.count * tree + sizeof(pair), stream, *job, l, top);
    for (int i = count - 1; i > 0; i--)
        SHOAL_LAUNCH(spread_kernel, dim3((unsigned)(list[i].count * solves)), dim3(FAN / 2),
                     FAN * tree + sizeof(pair), stream, l, list[i], list[i - 1]);
    if (pieces)
        run_tiles<true>(plan, job, l, false);
    else
        run_tiles<false>(plan, job, l, false);
    const int64_t blocks = (job->n + BLOCK * 64 - 1) / (BLOCK * 64);
    SHOAL_LAUNCH(note_kernel, dim3((unsigned)(blocks < 64 ? blocks : 64), (unsigned)solves),
                 dim3(BLOCK), 0, stream, *job, l);
    return shoal_launched(plan->ctx, "twocarry");
}

extern "C" const tridiag_cuda_method R(tridiag_twocarry) = { twocarry_bytes, twocarry_run };
