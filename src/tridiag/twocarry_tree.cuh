/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry_tree.cuh - the tree of twocarry.cu: from the relations of the threads, ROWS rows each, to the
 * pairs at their ends.
 *
 * gather  a block takes a group of relations, EACH of them a thread, which merge one after another; then
 *         those of the threads merge in a tree, whose middles are kept, and one is left for the block.
 * top     one block takes all of these in the same way, as many per thread as there are, solves for both
 *         ends and goes down again.
 * spread  down the tree of each group, from the middles; then each thread goes through its relations once
 *         more, from the pair on its left, and back.
 *
 * Relation j of a group is number j / EACH of row j % EACH of `across`: threads side by side read numbers
 * side by side. Its place takes the pair on its left in the end. 13 numbers per relation are written and read, 9 of
 * them twice: with 32 rows to a relation about one number per row in all.
 */
#ifndef SHOAL_TRIDIAG_TWOCARRY_TREE_CUH
#define SHOAL_TRIDIAG_TWOCARRY_TREE_CUH

#include "tridiag/device.cuh"
#include "tridiag/twocarry.h"

#ifdef SHOAL_EMULATED
enum { EACH = 2, MERGERS = 4, TOP_THREADS = 4 }; /* short systems have all kernels' work there */
#else
enum { EACH = 8, MERGERS = 128, TOP_THREADS = 512 };
#endif

/* Of one solve, from all its blocks. Bits of numbers >= 0 order like the numbers: atomicMax finds the
 * largest. Upper halves of doubles are 20 bits of the fraction: enough for what is compared with limits. */
typedef struct solve_state {
    unsigned long long r, x, b; /* as doubles */
    int z_most, x_most;         /* upper halves of the largest |z| and of the largest |x| */
    int input_bad;
    int32_t status;
    int x_state; /* of x */
} solve_state;

typedef struct tree { /* the workspace of all solves */
    int64_t leaves;   /* relations of a solve at the bottom: one per thread that has rows */
    int across;       /* threads of a group, MERGERS or fewer                           */
    int64_t groups;   /* of EACH * across leaves                                        */
    real *bottom;     /* number q of place j of solve v: [(v * RELATION + q) * places + j],
                         then, from the first two numbers on, the pair to the left      */
    relation *upper;  /* of the groups                                                  */
    middle *middles;  /* of the trees of the groups: across each                        */
    middle *above;    /* of the top                                                     */
    pair *pairs;      /* of the groups of solve v, from [v * (groups + 1)] on           */
    solve_state *states;
} tree;

__host__ __device__ static inline int64_t places(const tree &l) {
    return l.groups * EACH * l.across;
}

/* Where leaf j is. */
__device__ static inline int64_t place_of(const tree &l, int64_t j) {
    const unsigned size = EACH * (unsigned)l.across;
    const int64_t g = j / size;
    const unsigned i = (unsigned)(j - g * size);
    return g * size + i % EACH * l.across + i / EACH;
}

/* The pair at the left end of leaf j; past the last pair there is nothing. */
__device__ static inline pair end_of(const tree &l, int64_t v, int64_t j) {
    const pair nothing = { 0, 0 };
    if (j > l.leaves) return nothing;
    if (j == l.leaves) return l.pairs[v * (l.groups + 1) + l.groups];
    const real *at = l.bottom + v * RELATION * places(l) + place_of(l, j);
    const pair x = { at[0], at[places(l)] };
    return x;
}

/* `count` relations become one, in the first's place; middles of boundaries, where m is not NULL. The
 * whole block calls it. */
__device__ static inline void merge_up(relation *r, middle *m, int count, real &most) {
    for (int step = 1; step < count; step *= 2) {
        __syncthreads();
        for (int i = 2 * step * threadIdx.x; i + step < count; i += 2 * step * blockDim.x) {
            middle between;
            r[i] = merge(&r[i], &r[i + step], &between, &most);
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

/* Takes the largest of a warp into that of a solve. `seen` was loaded when the warp began: a load
 * here would be waited for, at the end of every tile. */
__device__ static inline void note_most(int *at, int seen, int32_t most) {
    most = __reduce_max_sync(0xffffffffu, most);
    if (threadIdx.x % 32 == 0 && seen < most) atomicMax(at, most);
}

/* The leaves of a thread of a group. */
typedef struct share {
    real *at; /* number q of leaf k: at[q * stride + k * across] */
    int64_t stride;
    int across, count; /* the threads of the group; the leaves of this one */
} share;

__device__ static inline share share_of(const tree &l, int64_t v, int64_t g) {
    const int64_t size = (int64_t)EACH * l.across, left = l.leaves - g * size - threadIdx.x * EACH;
    share s;
    s.stride = places(l), s.across = l.across;
    s.at = l.bottom + v * RELATION * s.stride + g * size + threadIdx.x;
    s.count = (int)threadIdx.x >= l.across || left <= 0 ? 0 : left < EACH ? (int)left : (int)EACH;
    return s;
}

template <int NUMBERS = RELATION> __device__ static inline relation leaf(const share &s, int k) {
    relation r;
#pragma unroll
    for (int q = 0; q < NUMBERS; q++) r.v[q] = s.at[q * s.stride + k * s.across];
    return r;
}

/* The threads of group g that have leaves. */
__device__ static inline int busy(const tree &l, int64_t g) {
    const int64_t left = l.leaves - g * EACH * l.across, threads = (left + EACH - 1) / EACH;
    return threads < l.across ? (int)threads : l.across;
}

__global__ static void __launch_bounds__(MERGERS) gather_kernel(tree l) {
    SHOAL_SHARED(relation, r);
    middle *m = (middle *)(r + MERGERS);
    const int64_t v = blockIdx.x / l.groups, g = blockIdx.x % l.groups;
    const share mine = share_of(l, v, g);
    const int count = busy(l, g), seen = shoal_load_relaxed(&l.states[v].z_most);
    real most = 0;
    if (mine.count > 0) {
        relation sum = leaf(mine, 0), next = mine.count > 1 ? leaf(mine, 1) : sum;
#pragma unroll 1
        for (int k = 1; k < mine.count; k++) {
            const relation now = next;
            if (k + 1 < mine.count)
                next = leaf(mine, k + 1); /* on its way while this one is merged */
            middle between;
            sum = merge(&sum, &now, &between, &most);
        }
        r[threadIdx.x] = sum;
    }
    merge_up(r, m, count, most);
    if (threadIdx.x == 0) l.upper[v * l.groups + g] = r[0];
    real *to = (real *)(l.middles + (v * l.groups + g) * l.across);
    for (int i = MIDDLE + threadIdx.x; i < MIDDLE * count; i += MERGERS)
        to[i] = ((const real *)m)[i];
    note_most(&l.states[v].z_most, seen, high_of(most));
}

__global__ static void __launch_bounds__(MERGERS, 4) spread_kernel(tree l) {
    SHOAL_SHARED(middle, m);
    pair *x = (pair *)(m + MERGERS);
    const int64_t v = blockIdx.x / l.groups, g = blockIdx.x % l.groups;
    const share mine = share_of(l, v, g);
    const int count = busy(l, g);
    const real *from = (const real *)(l.middles + (v * l.groups + g) * l.across);
    for (int i = MIDDLE + threadIdx.x; i < MIDDLE * count; i += MERGERS) ((real *)m)[i] = from[i];
    const pair *at = l.pairs + v * (l.groups + 1) + g;
    if (threadIdx.x == 0) x[0] = at[0], x[count] = at[1];
    relation next = {};
    if (mine.count > 0) next = leaf<RELATION_ROWS>(mine, 0);
    pairs_down(x, m, count);
    if (mine.count == 0) return;
    const pair begin = x[threadIdx.x];
    pair end = x[threadIdx.x + 1];
    relation_front s = begin_relation_front(&next, begin);
    pair_rows back[EACH];
    if (mine.count > 1) next = leaf<RELATION_ROWS>(mine, 1);
#pragma unroll
    for (int k = 1; k < EACH; k++) {
        if (k >= mine.count) break;
        const relation now = next;
        if (k + 1 < mine.count) next = leaf<RELATION_ROWS>(mine, k + 1);
        back[k] = relation_front_eliminate(&s, &now);
    }
#pragma unroll
    for (int k = EACH - 1; k > 0; k--) {
        if (k >= mine.count) continue;
        end = pair_before(&back[k], end);
        mine.at[k * mine.across] = end.last, mine.at[mine.stride + k * mine.across] = end.first;
    }
    mine.at[0] = begin.last, mine.at[mine.stride] = begin.first;
}

/* One block per solve: the rest of the tree, and what becomes of the solve. */
__global__ static void __launch_bounds__(TOP_THREADS) top_kernel(tridiag_job job, tree l) {
    SHOAL_SHARED(relation, r);
    middle *m = (middle *)(r + TOP_THREADS);
    pair *x = (pair *)(m + TOP_THREADS);
    const int64_t v = blockIdx.x, each = (l.groups + TOP_THREADS - 1) / TOP_THREADS;
    const int count = (int)((l.groups + each - 1) / each); /* threads that have some */
    const int64_t j = threadIdx.x * each, left = l.groups - j, mine = left < each ? left : each;
    const relation *in = l.upper + v * l.groups + j;
    middle *own = l.above + v * l.groups + j;
    solve_state *state = &l.states[v];
    real most = 0;
    if (mine > 0) {
        relation sum = in[0];
#pragma unroll 1
        for (int64_t k = 1; k < mine; k++) sum = merge(&sum, &in[k], &own[k], &most);
        r[threadIdx.x] = sum;
    }
    merge_up(r, m, count, most);
    if (threadIdx.x == 0) root_pairs(&r[0], ends_of(job.periodic, job.n), &x[0], &x[count], &most);
    note_most(&state->z_most, 0, high_of(most));
    pairs_down(x, m, count);
    if (mine > 0) {
        pair *pairs = l.pairs + v * (l.groups + 1) + j, end = x[threadIdx.x + 1];
        if (j + mine == l.groups) pairs[mine] = end;
        for (int64_t k = mine - 1; k > 0; k--)
            pairs[k] = end = middle_pair(&own[k], x[threadIdx.x], end);
        pairs[0] = x[threadIdx.x];
    }
    if (threadIdx.x != 0) return;
    const real all = from_high(atomicMax(&state->z_most, 0));
    state->status =
        state->input_bad ? (int32_t)SHOAL_SYSTEM_NONFINITE : status_of_most(all, job.cond);
    state->x_state = state->status >= 0 ? X_WRITTEN : job.x == job.b ? X_KEPT : X_IS_NAN;
}

#endif
