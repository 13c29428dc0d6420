/* SPDX-License-Identifier: Apache-2.0
 *
 * tile.cuh - a block merges a tile of the output in shared memory.
 *
 * The keys of A and of B that go into the tile are loaded side by side, as ordered integers. Thread
 * t finds where the merge path crosses diagonal t EACH of the tile, merges EACH keys from there into
 * registers, and puts them back; the tile is then stored by neighbouring threads. Every key is read
 * and written once in global memory. EACH is odd, or places are skewed by one after every EACH, so
 * that the threads of a warp write to different banks. Values are not carried: the place a key came
 * from is, and the value is fetched from there when the tile is stored.
 */
#ifndef SHOAL_SORT_TILE_CUH
#define SHOAL_SORT_TILE_CUH

#include "core/launch.cuh"
#include "sort/path.h"
#include "sort/plan.h"

namespace {

template <int BYTES> struct value_of {};
template <> struct value_of<4> { typedef uint32_t type; };
template <> struct value_of<8> { typedef unsigned long long type; };

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
        typedef typename value_of<BYTES>::type value;
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

template <int EACH> SHOAL_HD constexpr int skewed(int i) { return EACH % 2 ? i : i + i / EACH; }

/* Slots in shared memory for a tile: two keys that end A and B, what the last thread may look at behind
 * them, and, after the merge, skewed places. */
template <int THREADS, int EACH> SHOAL_HD constexpr int tile_slots() {
    return skewed<EACH>(THREADS * EACH) + EACH + 2;
}
template <int THREADS, int EACH, int BYTES> constexpr size_t tile_bytes() {
    return (size_t)tile_slots<THREADS, EACH>() * (sizeof(word) + (BYTES ? sizeof(int) : 0));
}

/* Merges EACH keys from i on, of A, and from j on, of B: slots of `near`, where A ends at slot m with
 * the greatest key, and so does B. At place e the key, and where it came from among all of A and B. */
template <int EACH>
__device__ inline void merge_serially(const word *near, int m, int i, int j, word (&key)[EACH],
                                      int (&place)[EACH]) {
    word u = near[i], v = near[j];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const bool first = i < m && u <= v; /* true too where B has ended */
        key[e] = first ? u : v;
        place[e] = first ? i : j - 1;
        const int next = first ? ++i : ++j;
        const word loaded = near[next];
        if (first)
            u = loaded;
        else
            v = loaded;
    }
}

/* A whole block merges a range of at most THREADS * EACH keys. */
template <int THREADS, int EACH, int BYTES>
__device__ inline void merge_tile(const merge_range &r, sort_order order, word *near) {
    const int t = threadIdx.x, m = (int)r.m, n = (int)r.n, total = m + n;
    int *places = (int *)(near + tile_slots<THREADS, EACH>());
    const word *b = r.b - m;
    word key[EACH];
    int place[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) { /* all on their way before the first is there */
        const int i = t + e * THREADS;
        if (i < total) key[e] = i < m ? r.a[i] : b[i];
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = t + e * THREADS;
        if (i < total) near[i < m ? i : i + 1] = order_in(key[e], order);
    }
    if (t == 0) near[m] = near[total + 1] = WORD_MOST;
    __syncthreads();
    const int at = t * EACH < total ? t * EACH : total;
    const int y = merge_path_near(at, near, m, near + m + 1, n);
    merge_serially<EACH>(near, m, y, m + 1 + at - y, key, place);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++)
        if (at + e < total) {
            near[skewed<EACH>(at + e)] = order_out(key[e], order);
            if (BYTES) places[skewed<EACH>(at + e)] = place[e];
        }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = t + e * THREADS;
        if (i >= total) break;
        r.keys[i] = near[skewed<EACH>(i)];
        if (BYTES) {
            const int from = places[skewed<EACH>(i)];
            store_value<BYTES>(r, i, from < m, from < m ? from : from - m);
        }
    }
}

} // namespace

#endif
