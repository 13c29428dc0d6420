/* SPDX-License-Identifier: Apache-2.0
 *
 * batchmerge.cu - many merges on the GPU (Projects, see path.h, section 5, question 2).
 *
 * network the default. A group of G lanes, a power of 2 to 32, holds a pair in registers, A rising and
 *         then B falling: a bitonic sequence, whose log2(d) rounds of exchanges need shuffles for
 *         log2(G) of them (registers.cuh). Reads and writes every key once.
 * narrow  up to 32 threads per pair (question 2b). A block takes as many neighbouring pairs as it has
 *         groups; their keys are contiguous in A, in B and in the result, so that loads and stores do
 *         not depend on pairs. A thread finds its diagonal, merges up to EACH keys into registers and
 *         puts them back. Reads and writes every key once.
 * wide    d threads per pair (question 2a): thread tidx of pair gbx searches for output tidx.
 *
 * Pairs of more than SHOAL_MERGE_SMALL keys are cut into tiles, one block each: it searches the merge
 * path for both ends of its tile itself (tile.cuh).
 */
#include <limits.h>
#include "sort/registers.cuh"
#include "sort/tile.cuh"

enum {
    BLOCK = 256,
    NETWORK_BLOCK = 128,
    LANE_KEYS = 16,
    LONG_EACH = sizeof(word) == 4 ? 15 : 11,
    LONG = BLOCK * LONG_EACH
};

/* ---- pairs that fit ------------------------------------------------------------------------- */

namespace {

/* All pairs of a block, side by side in shared memory: those of A, then those of B. */
struct stretch {
    int64_t first, a, b; /* the first pair, and where its arrays begin */
    int pairs, m, n;     /* keys of A and of B, all together           */
};

/* Where a pair stands in shared memory, and in the result of the stretch. */
struct near_pair {
    int a, b, m, n;
};

} // namespace

__device__ static stretch stretch_of(const sort_job &job, int64_t first, int max_pairs) {
    stretch s;
    const int64_t end = first + max_pairs < job.count ? first + max_pairs : job.count;
    s.first = first, s.pairs = (int)(end - first);
    s.a = row_begin(job.a, first), s.b = row_begin(job.b, first);
    s.m = (int)(row_begin(job.a, end) - s.a), s.n = (int)(row_begin(job.b, end) - s.b);
    return s;
}

__device__ static void load_stretch(const sort_job &job, const stretch &s, word *near) {
    const sort_order order = order_of(job);
    const word *a = (const word *)job.a_keys + s.a, *b = (const word *)job.b_keys + s.b;
    for (int i = threadIdx.x; i < s.m + s.n; i += blockDim.x)
        near[i] = order_in(i < s.m ? a[i] : b[i - s.m], order);
}

__device__ static near_pair near_pair_of(const sort_job &job, const stretch &s, int k) {
    near_pair p;
    p.a = (int)(row_begin(job.a, s.first + k) - s.a);
    p.b = (int)(row_begin(job.b, s.first + k) - s.b);
    p.m = (int)row_length(job.a, s.first + k);
    p.n = (int)row_length(job.b, s.first + k);
    return p;
}

/* Writes value i of the stretch, from the place its key had: at first those of A, then those of B. */
template <class value>
__device__ static void store_one(const sort_job &job, const stretch &s, int i, int from) {
    ((value *)job.values)[s.a + s.b + i] = from < s.m
                                               ? ((const value *)job.a_values)[s.a + from]
                                               : ((const value *)job.b_values)[s.b + from - s.m];
}
__device__ static void store_value_of(const sort_job &job, const stretch &s, int i, int from) {
    if (job.value_bytes == 4)
        store_one<uint32_t>(job, s, i, from);
    else
        store_one<unsigned long long>(job, s, i, from);
}

/* ---- network -------------------------------------------------------------------------------- */

namespace {

/* E keys from place c on of a bitonic sequence of `length`: A, then the greatest keys, then B from its
 * end. STEP keys at a time, which are all of A, of B or of neither. */
template <int STEP, int E, class item>
__device__ inline void take_steps(const slab &keys, const stretch &s, const near_pair &p, int c,
                                  int length, sort_order order, item (&x)[E]) {
    struct alignas(STEP * sizeof(word)) step {
        word key[STEP];
    };
#pragma unroll
    for (int r = 0; r < E; r += STEP) {
        const int up = c + r, down = length - STEP - up; /* places in A and in B */
        const bool of_a = up < p.m, there = of_a || down < p.n;
        const int at = of_a ? p.a + up : s.m + p.b + down;
        step got = {};
        if (there) got = *(const step *)(keys.near + keys.slot(at));
#pragma unroll
        for (int j = 0; j < STEP; j++) {
            const int back = STEP - 1 - j;
            x[r + j] = there ? item::of(order_in(of_a ? got.key[j] : got.key[back], order),
                                        of_a ? at + j : at + back)
                             : item::of(WORD_MAX, INT_MAX);
        }
    }
}

template <int E, class item>
__device__ inline void take_bitonic(const slab &keys, const stretch &s, const near_pair &p, int c,
                                    int length, sort_order order, item (&x)[E]) {
    if (E % CHUNK == 0 && keys.chunks)
        take_steps<E % CHUNK == 0 ? (int)CHUNK : 1>(keys, s, p, c, length, order, x);
    else
        take_steps<1>(keys, s, p, c, length, order, x);
}

} // namespace

template <int E, bool TAGGED>
__global__ static void __launch_bounds__(NETWORK_BLOCK)
    network_kernel(sort_job job, int lanes, bool chunks) {
    typedef std::conditional_t<TAGGED, tagged_item, plain_item> item;
    SHOAL_SHARED(word, near);
    int *places = (int *)(near + slab_words(NETWORK_BLOCK * E));
    const slab keys = { near, chunks };
    const int pairs = NETWORK_BLOCK / lanes, g = threadIdx.x / lanes, c = threadIdx.x % lanes * E;
    const stretch s = stretch_of(job, (int64_t)blockIdx.x * pairs, pairs);
    const sort_order order = order_of(job);
    keys.fetch(0, (const word *)job.a_keys + s.a, s.m);
    keys.fetch(s.m, (const word *)job.b_keys + s.b, s.n);
    near_pair p = {};
    if (g < s.pairs) p = near_pair_of(job, s, g);
    shoal_copy_async_wait_all();
    __syncthreads();
    item x[E];
    take_bitonic(keys, s, p, c, lanes * E, order, x);
    sort_bitonic_group<E>(x, threadIdx.x % lanes, lanes / 2);
    __syncthreads();
    const int at = p.a + p.b + c, length = p.m + p.n - c;
    word key[E];
#pragma unroll
    for (int r = 0; r < E; r++) {
        key[r] = order_out(x[r].its_key(), order);
        if (TAGGED && r < length) places[keys.slot(at + r)] = x[r].its_place();
    }
    keys.put(at, length, key);
    __syncthreads();
    keys.store((word *)job.keys + s.a + s.b, s.m + s.n);
    if (TAGGED)
        for (int i = threadIdx.x; i < s.m + s.n; i += NETWORK_BLOCK)
            store_value_of(job, s, i, places[keys.slot(i)]);
}

/* ---- narrow and wide ------------------------------------------------------------------------ */

__device__ static inline int padded_slot(int i) { return i + i / 32; }

template <int EACH, bool TAGGED>
__global__ static void narrow_kernel(sort_job job, int group, int each, int slots) {
    SHOAL_SHARED(word, near);
    int *places = (int *)(near + slots);
    const int groups = BLOCK / group, g = threadIdx.x / group, lane = threadIdx.x % group;
    const stretch s = stretch_of(job, (int64_t)blockIdx.x * groups, groups);
    word key[EACH];
    int place[EACH], out = 0, made = 0;
    load_stretch(job, s, near);
    if (threadIdx.x == 0) near[s.m + s.n] = 0; /* may be looked at, and does not matter */
    __syncthreads();
    if (g < s.pairs) {
        const near_pair p = near_pair_of(job, s, g);
        const word *a = near + p.a, *b = near + s.m + p.b;
        const int total = p.m + p.n, at = lane * each < total ? lane * each : total;
        const int y = merge_path_near(at, a, p.m, b, p.n);
        int i = y, j = at - y;
        made = total - at < each ? total - at : each;
        out = p.a + p.b + at;
        word u = a[i], v = b[j]; /* beyond the end of an array: not used */
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (e >= made) break;
            const bool first = i < p.m && (j >= p.n || u <= v);
            key[e] = first ? u : v;
            place[e] = first ? p.a + i : s.m + p.b + j;
            if (first)
                u = a[++i];
            else
                v = b[++j];
        }
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++)
        if (e < made) {
            near[padded_slot(out + e)] = key[e];
            if (TAGGED) places[padded_slot(out + e)] = place[e];
        }
    __syncthreads();
    for (int i = threadIdx.x; i < s.m + s.n; i += BLOCK) {
        ((word *)job.keys)[s.a + s.b + i] = order_out(near[padded_slot(i)], order_of(job));
        if (TAGGED) store_value_of(job, s, i, places[padded_slot(i)]);
    }
}

/* The indices of Projects: Qt, tidx and gbx. */
template <int BYTES> __global__ static void wide_kernel(sort_job job, int d) {
    SHOAL_SHARED(word, near);
    const int per_block = blockDim.x / d, qt = threadIdx.x / d, tidx = threadIdx.x - qt * d;
    const stretch s = stretch_of(job, (int64_t)blockIdx.x * per_block, per_block);
    load_stretch(job, s, near);
    __syncthreads();
    if (qt >= s.pairs) return;
    const near_pair p = near_pair_of(job, s, qt);
    if (tidx >= p.m + p.n) return;
    const word *a = near + p.a, *b = near + s.m + p.b;
    const int y = merge_path_near(tidx, a, p.m, b, p.n), x = tidx - y;
    const bool first = y < p.m && (x == p.n || a[y] <= b[x]);
    const merge_range r = pair_of(job, s.first + qt);
    r.keys[tidx] = order_out(first ? a[y] : b[x], order_of(job));
    store_value<BYTES>(r, tidx, first, first ? y : x);
}

/* ---- pairs that do not ---------------------------------------------------------------------- */

template <int BYTES>
__global__ static void __launch_bounds__(BLOCK, 4) long_kernel(sort_job job, int64_t tiles) {
    SHOAL_SHARED(word, near);
    SHOAL_SHARED_ARRAY(int64_t, ends, 2);
    const sort_order order = order_of(job);
    for (int64_t task = blockIdx.x; task < tiles * job.count; task += gridDim.x) {
        const merge_range r = pair_of(job, task / tiles);
        const int64_t from = task % tiles * LONG, end = r.m + r.n;
        if (from >= end) continue;
        const int64_t to = end - from < LONG ? end : from + LONG;
        tile_ends(r, from, to, order, ends);
        merge_tile<BLOCK, LONG_EACH, BYTES>(part_of<BYTES>(r, from, ends[0], to, ends[1]), order,
                                            near);
    }
}

/* ---- launches ------------------------------------------------------------------------------- */

template <int E, bool TAGGED>
static void launch_network(sort_plan *plan, const sort_job *job, int lanes) {
    const size_t slots = slab_words(NETWORK_BLOCK * E), pairs = NETWORK_BLOCK / lanes;
    const bool chunks = !job->a.offsets && !job->b.offsets && job->a.length % CHUNK == 0 &&
                        job->b.length % CHUNK == 0 && E % CHUNK == 0 && on_16_bytes(job->a_keys) &&
                        on_16_bytes(job->b_keys) && on_16_bytes(job->keys);
    shoal_allow_shared(plan->head.ctx, network_kernel<E, TAGGED>);
    SHOAL_LAUNCH((network_kernel<E, TAGGED>), dim3((unsigned)((job->count + pairs - 1) / pairs)),
                 dim3(NETWORK_BLOCK), slots * (sizeof(word) + (TAGGED ? sizeof(int) : 0)),
                 plan->head.ctx->stream, *job, lanes, chunks);
}

template <int EACH, bool TAGGED> static void launch_narrow(sort_plan *plan, const sort_job *job) {
    int group = 1;
    while (group < 32 && group * 16 < plan->longest) group *= 2;
    const int each = (int)((plan->longest + group - 1) / group);
    const int keys = BLOCK / group * (int)plan->longest, slots = keys + keys / 32 + 2;
    const int64_t blocks = (job->count + BLOCK / group - 1) / (BLOCK / group);
    shoal_allow_shared(plan->head.ctx, narrow_kernel<EACH, TAGGED>);
    SHOAL_LAUNCH((narrow_kernel<EACH, TAGGED>), dim3((unsigned)blocks), dim3(BLOCK),
                 (size_t)slots * (sizeof(word) + (TAGGED ? sizeof(int) : 0)),
                 plan->head.ctx->stream, *job, group, each, slots);
}

template <int BYTES> static void launch(sort_plan *plan, const sort_job *job) {
    const int d = (int)(plan->longest <= SHOAL_MERGE_SMALL ? plan->longest : 0);
    if (d == 0) {
        const int64_t tiles = (plan->longest + LONG - 1) / LONG;
        SHOAL_LAUNCH((long_kernel<BYTES>), dim3(shoal_blocks(tiles * job->count, 1)), dim3(BLOCK),
                     (tile_bytes<BLOCK, LONG_EACH, BYTES>()), plan->head.ctx->stream, *job, tiles);
    } else if (plan->chosen.variant == BATCHMERGE_WIDE) {
        const int per_block = SHOAL_MERGE_SMALL / d;
        SHOAL_LAUNCH((wide_kernel<BYTES>),
                     dim3((unsigned)((job->count + per_block - 1) / per_block)),
                     dim3((unsigned)(per_block * d)), (size_t)(per_block * d) * sizeof(word),
                     plan->head.ctx->stream, *job, d);
    } else if (plan->chosen.variant == BATCHMERGE_NARROW) {
        if (d <= 512)
            launch_narrow<16, BYTES != 0>(plan, job);
        else
            launch_narrow<32, BYTES != 0>(plan, job);
    } else {
        int lanes = 1;
        while (lanes < 32 && lanes * LANE_KEYS < d) lanes *= 2;
        by_class<BYTES != 0>((d + lanes - 1) / lanes, [&](auto each) {
            launch_network<each, BYTES != 0>(plan, job, lanes);
        });
    }
}

static shoal_status batchmerge_run(sort_plan *plan, const sort_job *job) {
    return by_value_bytes(plan, "batchmerge", [&](auto bytes) { launch<bytes>(plan, job); });
}

extern "C" const sort_method R(sort_batchmerge) = { nullptr, batchmerge_run };
