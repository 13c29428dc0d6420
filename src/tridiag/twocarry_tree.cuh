/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry_tree.cuh - the tree of twocarry.cu: from the relations of the threads, ROWS rows each, to the
 * pairs at their ends.
 *
 * gather  a block takes FAN relations, EACH of them a thread, which merge one after another; then those of
 *         the threads merge in a tree, and one is left for the block.
 * top     one block takes all of these in the same way, as many a thread as there are, solves for both
 *         ends and goes down again.
 * spread  the way down of `gather`: merges once more, keeps the middles, and finds the pair at the end of
 *         every relation.
 *
 * 9 numbers a relation are read twice, 2 written: with 32 rows to a relation one number a row in all.
 */
#ifndef SHOAL_TRIDIAG_TWOCARRY_TREE_CUH
#define SHOAL_TRIDIAG_TWOCARRY_TREE_CUH

#include "tridiag/batch.cuh"
#include "tridiag/twocarry.h"

#ifdef SHOAL_EMULATED
enum { EACH = 2, MERGERS = 4, TOP_THREADS = 4 }; /* short systems have all kernels' work there */
#else
enum { EACH = 4, MERGERS = 128, TOP_THREADS = 256 };
#endif
enum { FAN = EACH * MERGERS };

/* Of one solve: what all blocks say. Bits of numbers >= 0 as doubles order like the numbers: atomicMax finds
 * the largest. */
typedef struct solve_state {
    unsigned long long least; /* of the least square of a pivot, the bits inverted */
    unsigned long long r, a, x, d;
    int input_bad, x_bad;
    int32_t status;
    int fate; /* of x */
} solve_state;

typedef struct tree { /* the workspace of all solves */
    int64_t leaves;   /* relations of a solve at the bottom: one a thread                     */
    int64_t groups;   /* of FAN leaves                                                        */
    real *bottom;     /* number q of relation j of solve v: [(v * RELATION + q) * leaves + j] */
    pair *ends;       /* of the leaves of solve v, from [v * (leaves + 1)] on                 */
    relation *upper;  /* of the groups                                                        */
    middle *middles;  /* of the top                                                           */
    pair *pairs;      /* of the groups of solve v, from [v * (groups + 1)] on                 */
    solve_state *states;
} tree;

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

__device__ static inline relation leaf(const tree &l, int64_t v, int64_t j) {
    const real *bottom = l.bottom + v * RELATION * l.leaves + j;
    relation r;
#pragma unroll
    for (int q = 0; q < RELATION; q++) r.v[q] = bottom[q * l.leaves];
    return r;
}

/* How many of the leaves that begin at j are those of this thread; and of its block, how many threads
 * have any. */
__device__ static inline int leaves_at(const tree &l, int64_t j) {
    return (int)(l.leaves - j < EACH ? (l.leaves > j ? l.leaves - j : 0) : (int64_t)EACH);
}

__global__ static void __launch_bounds__(MERGERS) gather_kernel(tree l) {
    SHOAL_SHARED(relation, r);
    const int64_t v = blockIdx.x / l.groups, g = blockIdx.x % l.groups;
    const int64_t j = g * FAN + threadIdx.x * EACH;
    const int mine = leaves_at(l, j);
    const int64_t left = (l.leaves - g * FAN + EACH - 1) / EACH;
    real least = (real)INFINITY;
    if (mine > 0) {
        relation sum = leaf(l, v, j);
#pragma unroll
        for (int k = 1; k < EACH; k++) {
            if (k >= mine) break;
            const relation next = leaf(l, v, j + k);
            middle between;
            sum = merge(&sum, &next, &between, &least);
        }
        r[threadIdx.x] = sum;
    }
    merge_up(r, NULL, left < MERGERS ? (int)left : (int)MERGERS, least);
    if (threadIdx.x == 0) l.upper[v * l.groups + g] = r[0];
    note_least(&l.states[v], least);
}

__global__ static void __launch_bounds__(MERGERS) spread_kernel(tree l) {
    SHOAL_SHARED(relation, r);
    middle *m = (middle *)(r + MERGERS), *own = m + MERGERS + threadIdx.x * (EACH - 1);
    pair *x = (pair *)(m + MERGERS * EACH);
    const int64_t v = blockIdx.x / l.groups, g = blockIdx.x % l.groups;
    const int64_t j = g * FAN + threadIdx.x * EACH;
    const int mine = leaves_at(l, j);
    const int64_t left = (l.leaves - g * FAN + EACH - 1) / EACH;
    const int count = left < MERGERS ? (int)left : (int)MERGERS;
    real least = 0;
    if (mine > 0) {
        relation sum = leaf(l, v, j);
#pragma unroll
        for (int k = 1; k < EACH; k++) {
            if (k >= mine) break;
            const relation next = leaf(l, v, j + k);
            sum = merge(&sum, &next, &own[k - 1], &least);
        }
        r[threadIdx.x] = sum;
    }
    const pair *at = l.pairs + v * (l.groups + 1) + g;
    if (threadIdx.x == 0) x[0] = at[0], x[count] = at[1];
    merge_up(r, m, count, least);
    pairs_down(x, m, count);
    if (mine == 0) return;
    const pair begin = x[threadIdx.x];
    pair end = x[threadIdx.x + 1];
    pair *ends = l.ends + v * (l.leaves + 1) + j;
    if (j + mine == l.leaves) ends[mine] = end;
    for (int k = mine - 1; k > 0; k--) {
        end = middle_pair(&own[k - 1], begin, end);
        ends[k] = end;
    }
    ends[0] = begin;
}

/* One block a solve: the rest of the tree, and what becomes of the solve. */
__global__ static void __launch_bounds__(TOP_THREADS) top_kernel(tridiag_job job, tree l) {
    SHOAL_SHARED(relation, r);
    middle *m = (middle *)(r + TOP_THREADS);
    pair *x = (pair *)(m + TOP_THREADS);
    const int64_t v = blockIdx.x, each = (l.groups + TOP_THREADS - 1) / TOP_THREADS;
    const int count = (int)((l.groups + each - 1) / each); /* threads that have some */
    const int64_t j = threadIdx.x * each, left = l.groups - j, mine = left < each ? left : each;
    const relation *in = l.upper + v * l.groups + j;
    middle *own = l.middles + v * l.groups + j;
    solve_state *state = &l.states[v];
    real least = (real)INFINITY;
    if (mine > 0) {
        relation sum = in[0];
        for (int64_t k = 1; k < mine; k++) sum = merge(&sum, &in[k], &own[k], &least);
        r[threadIdx.x] = sum;
    }
    merge_up(r, m, count, least);
    if (threadIdx.x == 0) root_pairs(&r[0], &x[0], &x[count], &least);
    note_least(state, least);
    pairs_down(x, m, count);
    if (mine > 0) {
        pair *pairs = l.pairs + v * (l.groups + 1) + j, end = x[threadIdx.x + 1];
        if (j + mine == l.groups) pairs[mine] = end;
        for (int64_t k = mine - 1; k > 0; k--)
            pairs[k] = end = middle_pair(&own[k], x[threadIdx.x], end);
        pairs[0] = x[threadIdx.x];
    }
    if (threadIdx.x != 0) return;
    const real all = real_of(~atomicMax(&state->least, 0ull));
    state->status =
        state->input_bad ? (int32_t)SHOAL_SYSTEM_NONFINITE : status_of_least(all, job.n);
    state->fate = state->status >= 0 ? X_WRITTEN : job.x == job.d ? X_KEPT : X_IS_NAN;
}

#endif
