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
#include "tridiag/twocarry_tile.cuh"

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
    if (job.residual) {
        judge_tile(job, at, begin, answer, x[0].last, x[THREADS].first, &l.states[v]);
        __syncthreads(); /* x may be d */
    }
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
    const int count = (int)(from.count - g * FAN < FAN ? from.count - g * FAN : (int64_t)FAN);
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
    const int count = (int)(to.count - g * FAN < FAN ? to.count - g * FAN : (int64_t)FAN);
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
    state->status =
        state->input_bad ? (int32_t)SHOAL_SYSTEM_NONFINITE : status_of_least(all, job.n);
    state->fate = state->status >= 0 ? X_WRITTEN : job.x == job.d ? X_KEPT : X_IS_NAN;
}

/* Notes the outcome, `blocks` blocks a solve; an x that has overflowed is erased. */
__global__ static void note_kernel(tridiag_job job, levels l, unsigned blocks) {
    const int64_t v = blockIdx.x / blocks;
    const unsigned block = blockIdx.x % blocks;
    const solve_state *s = &l.states[v];
    const bool overflow = s->status >= 0 && s->x_bad;
    if (block == 0 && threadIdx.x == 0) {
        const norms m = { real_of(s->r), real_of(s->a), real_of(s->x), real_of(s->d), 0, 0 };
        const float residual = job.residual ? norms_residual(&m) : 0;
        int32_t status = overflow ? (int32_t)SHOAL_SYSTEM_OVERFLOW : s->status;
        if (status == SHOAL_SYSTEM_OK) status = decide(job, false, false, m, residual, 0);
        settle(job, v, status, residual);
    }
    const view w = view_of(job, v);
    for (int64_t i = (int64_t)block * blockDim.x + threadIdx.x; i < job.n && overflow;
         i += (int64_t)blocks * blockDim.x)
        w.x[i * w.rhs_row] = real_nan();
}

/* ---- launching ------------------------------------------------------------------------------------ */

/* The levels of the tree above the tiles, down to one that a block can take; how many there are. */
static int plan_levels(const shoal_tridiag *plan, level *list, levels *l) {
    const int64_t most = (int64_t)(shoal_most_shared(plan->ctx) /
                                   (sizeof(relation) + sizeof(middle) + 2 * sizeof(pair)));
    const int64_t top = most < TOP ? most : (int64_t)TOP;
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
    const int64_t each = (job->n + TILE - 1) / TILE; /* as many blocks as there are tiles, or 64 */
    const unsigned blocks = (unsigned)(each < 64 ? each : 64);
    SHOAL_LAUNCH(note_kernel, dim3((unsigned)(blocks * solves)), dim3(BLOCK), 0, stream, *job, l,
                 blocks);
    return shoal_launched(plan->ctx, "twocarry");
}

extern "C" const tridiag_cuda_method R(tridiag_twocarry) = { twocarry_bytes, twocarry_run };
