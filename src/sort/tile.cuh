/* SPDX-License-Identifier: Apache-2.0
 *
 * tile.cuh - a block merges a tile of the output in shared memory.
 *
 * The keys of A that go into the tile are loaded as ordered integers, rising, and behind them those of
 * B, falling: key A[y] is in slot y, B[x] in slot total - 1 - x. Thread t finds where the merge path
 * crosses diagonal t EACH of the tile, merges EACH keys from there into registers, i going up and j
 * down, and puts them back; each warp then stores its own stretch by neighbouring threads. At the end
 * of A, i stands at the greatest key of B, and at the end of B, j at the greatest of A: keys alone need
 * no test for the ends. Every key is read and written once in global memory. EACH is odd, or places
 * are skewed by one after every EACH, so that the threads of a warp write to different banks. Values
 * are not carried: a key's old place is, and the value is fetched from there when the tile is stored.
 * About 25 instructions per key, a quarter of them in the search.
 */
#ifndef SHOAL_SORT_TILE_CUH
#define SHOAL_SORT_TILE_CUH

#include <type_traits>
#include "core/launch.cuh"
#include "sort/path.h"
#include "sort/plan.h"

namespace {

/* launch(bytes of a value), 0, 4 or 8, as a constant; then what the launches reported. */
template <class launcher>
inline shoal_status by_value_bytes(sort_plan *plan, const char *name, const launcher &launch) {
    if (plan->job.value_bytes == 0)
        launch(std::integral_constant<int, 0>());
    else if (plan->job.value_bytes == 4)
        launch(std::integral_constant<int, 4>());
    else
        launch(std::integral_constant<int, 8>());
    return shoal_launched(plan->head.ctx, name);
}

__device__ inline sort_order order_of(const sort_job &job) {
    return { (word)job.rest, (word)job.flip };
}

/* Two arrays to be merged, or a part of them: A has m keys, B has n. The values are looked at where
 * there are some. */
struct merge_range {
    const word *a, *b;
    const void *a_values, *b_values;
    word *keys; /* of the result */
    void *values;
    int64_t m, n;
};

template <int BYTES>
__device__ inline void store_value(const merge_range &r, int64_t to, int from_a, int64_t from) {
    if constexpr (BYTES != 0) {
        typedef std::conditional_t<BYTES == 4, uint32_t, unsigned long long> value;
        ((value *)r.values)[to] =
            from_a ? ((const value *)r.a_values)[from] : ((const value *)r.b_values)[from];
    }
}

/* Pair k of a merge job. */
__device__ inline merge_range pair_of(const sort_job &job, int64_t k) {
    const int64_t a = row_begin(job.a, k), b = row_begin(job.b, k);
    merge_range r;
    r.a = (const word *)job.a_keys + a;
    r.b = (const word *)job.b_keys + b;
    r.keys = (word *)job.keys + (a + b);
    r.a_values = (const char *)job.a_values + job.value_bytes * a;
    r.b_values = (const char *)job.b_values + job.value_bytes * b;
    r.values = (char *)job.values + job.value_bytes * (a + b);
    r.m = row_length(job.a, k);
    r.n = row_length(job.b, k);
    return r;
}

/* The part of a range from diagonal `from` on, y keys of A, up to diagonal `to`, y_end of them. */
template <int BYTES>
__device__ inline merge_range part_of(merge_range r, int64_t from, int64_t y, int64_t to,
                                      int64_t y_end) {
    y_end = path_onward(y_end, y, from, to, r.m, r.n);
    merge_range part = r;
    part.a = r.a + y, part.b = r.b + (from - y), part.keys = r.keys + from;
    part.a_values = (const char *)r.a_values + BYTES * y;
    part.b_values = (const char *)r.b_values + BYTES * (from - y);
    part.values = (char *)r.values + BYTES * from;
    part.m = y_end - y, part.n = to - from - part.m;
    return part;
}

/* The search of path.h by groups of `lanes` lanes, a power of 2: each divides its range into lanes + 1
 * parts at a time. All lanes of a warp are needed. */
__device__ inline int64_t merge_path_together(int64_t i, const merge_range &r, sort_order order,
                                              int lanes) {
    const int lane = threadIdx.x % lanes, shift = threadIdx.x % 32 - lane;
    const double part = 1.0 / (lanes + 1); /* any will do: it need not be exact */
    const unsigned group = 0xffffffffu >> (32 - lanes);
    int64_t low = i > r.n ? i - r.n : 0, high = i < r.m ? i : r.m;
    while (__any_sync(0xffffffffu, low < high)) {
        const int64_t step = (int64_t)((double)(high - low) * part) + 1;
        const int64_t probe = low + (lane + 1) * step - 1;
        const bool passed =
            probe < high && order_in(r.a[probe], order) <= order_in(r.b[i - 1 - probe], order);
        const int count = __popc(__ballot_sync(0xffffffffu, passed) >> shift & group);
        const int64_t next = low + (count + 1) * step - 1;
        low += count * step;
        high = next < high ? next : high;
    }
    return low;
}

/* Where a tile from diagonal `from` to `to` begins and ends: the first warp searches, all threads of the
 * block get it. They read `ends` before the barriers of merge_tile(), so that the next call may write it;
 * the barrier here also stands between the stores of one tile and the loads of the next. */
__device__ inline void tile_ends(const merge_range &r, int64_t from, int64_t to, sort_order order,
                                 int64_t *ends) {
    const int half = threadIdx.x / 16;
    if (half < 2) {
        const int64_t y = merge_path_together(half ? to : from, r, order, 16);
        if (threadIdx.x % 16 == 0) ends[half] = y;
    }
    __syncthreads();
}

template <int EACH> SHOAL_HD constexpr int skewed(int i) { return EACH % 2 ? i : i + i / EACH; }

/* Slots in shared memory for a tile, and around it as many as a thread may look at that goes on where
 * nothing is left, or where arrays are not sorted. */
template <int THREADS, int EACH> SHOAL_HD constexpr int tile_slots() {
    return skewed<EACH>(THREADS * EACH) + 2 * EACH + 2;
}
template <int THREADS, int EACH, int BYTES> constexpr size_t tile_bytes() {
    return (size_t)tile_slots<THREADS, EACH>() * (sizeof(word) + (BYTES ? sizeof(int) : 0));
}

/* Keys of A among the first `at` of the tile. */
__device__ inline int tile_path(int at, const word *near, int m, int total) {
    int low = at > total - m ? at - (total - m) : 0, high = at < m ? at : m;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (near[middle] <= near[total - at + middle]) /* B[at - 1 - middle] */
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges EACH keys from slot i on upwards, of A, and from slot j on downwards, of B. At place e the
 * key and, with values, where it came from among all of A and B. */
template <int EACH, bool PLACES>
__device__ inline void merge_serially(const word *near, int m, int total, int i, int j,
                                      word (&key)[EACH], int (&place)[EACH]) {
    word u = near[i], v = near[j];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const bool first = PLACES ? i < m && (j < m || u <= v) : u <= v;
        key[e] = first ? u : v;
        if (PLACES) place[e] = first ? i : m + total - 1 - j;
        if (first)
            u = near[++i];
        else
            v = near[--j];
    }
}

/* A whole block merges a range: FULL, of THREADS * EACH keys, or of fewer. */
template <int THREADS, int EACH, int BYTES, bool WHOLE, bool FULL>
__device__ inline void merge_slots(const merge_range &r, sort_order order, word *shared) {
    const int t = threadIdx.x, m = (int)r.m, total = FULL ? THREADS * EACH : m + (int)r.n;
    const int of_a = (m - t + THREADS - 1) / THREADS; /* that many of this thread's are from A */
    const word *up = r.a + t, *down = r.b + (total - 1 - t);
    word *near = shared + EACH + 1;
    int *places = (int *)(shared + tile_slots<THREADS, EACH>()) + EACH + 1;
    word key[EACH];
    int place[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) /* all on their way before the first is there */
        if (FULL || t + e * THREADS < total)
            key[e] = e < of_a ? up[e * THREADS] : down[-e * THREADS];
#pragma unroll
    for (int e = 0; e < EACH; e++)
        if (FULL || t + e * THREADS < total) near[t + e * THREADS] = ordered(key[e], order, WHOLE);
    __syncthreads();
    const int at = FULL || t * EACH < total ? t * EACH : total;
    const int y = tile_path(at, near, m, total);
    merge_serially<EACH, BYTES != 0>(near, m, total, y, total - 1 - (at - y), key, place);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++)
        if (FULL || at + e < total) {
            near[skewed<EACH>(at + e)] = unordered(key[e], order, WHOLE);
            if (BYTES) places[skewed<EACH>(at + e)] = place[e];
        }
    __syncwarp(); /* a warp stores what its own threads put there, and need not wait for others */
    const int begin = t / 32 * (32 * EACH) + t % 32;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = begin + e * 32;
        if (!FULL && i >= total) break;
        r.keys[i] = near[skewed<EACH>(i)];
        if (BYTES) {
            const int from = places[skewed<EACH>(i)];
            store_value<BYTES>(r, i, from < m, from < m ? from : from - m);
        }
    }
}

/* WHOLE: the keys are integers. */
template <int THREADS, int EACH, int BYTES, bool WHOLE = false>
__device__ inline void merge_tile(const merge_range &r, sort_order order, word *shared) {
    if (r.m + r.n == THREADS * EACH)
        merge_slots<THREADS, EACH, BYTES, WHOLE, true>(r, order, shared);
    else
        merge_slots<THREADS, EACH, BYTES, WHOLE, false>(r, order, shared);
}

} // namespace

#endif
