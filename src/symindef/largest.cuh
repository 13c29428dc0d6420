/* SPDX-License-Identifier: Apache-2.0
 *
 * largest.cuh - the search of complete.cu: the largest entries on and off the diagonal that threads
 * have seen, first by warps, then by blocks.
 *
 * A warp compares word by word, from the upper word of |entry| to the lower one of the key, each by
 * one reduction in hardware, lanes that are behind dropping out: 4 steps instead of 5 rounds of 4
 * shuffles. The search stands between any two stages, so that its latency counts.
 */
#ifndef SHOAL_SYMINDEF_LARGEST_CUH
#define SHOAL_SYMINDEF_LARGEST_CUH

#include "core/launch.cuh"
#include "core/real.h"

static const int64_t no_key = INT64_MAX;

namespace {

/* The largest entry so far, and where: equal ones go by the smaller key. */
struct found {
    real value;
    int64_t key;
};

struct record { /* of one block */
    found off, diagonal;
};

} // namespace

__device__ static inline void take(found &best, const found &other) {
    const real x = real_abs(other.value), y = real_abs(best.value);
    const bool better = x > y || (x == y && other.key < best.key);
    best.value = better ? other.value : best.value;
    best.key = better ? other.key : best.key;
}

/* Word k of |x|, from above, as an integer of the same order. */
template <class T> __device__ static inline unsigned word_of(T x, int k) {
    if constexpr (sizeof(T) == 8)
        return k ? (unsigned)__double2loint(x) : (unsigned)__double2hiint(x) & 0x7fffffffu;
    else
        return k ? 0 : (unsigned)__float_as_int(x) & 0x7fffffffu;
}

/* The best of a warp, for all its lanes: those that are ahead in one word go on to the next. */
__device__ static inline found best_of_warp(const found &mine) {
    const unsigned word[4] = { word_of(mine.value, 0), word_of(mine.value, 1),
                               ~(unsigned)(mine.key >> 32), ~(unsigned)mine.key };
    bool ahead = true;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k == 1 && sizeof(real) == 4) continue;
        const unsigned most = __reduce_max_sync(~0u, ahead ? word[k] : 0);
        ahead = ahead && word[k] == most;
    }
    const int winner = __ffs((int)__ballot_sync(~0u, ahead)) - 1;
    return found{ __shfl_sync(~0u, mine.value, winner), __shfl_sync(~0u, mine.key, winner) };
}

__device__ static inline record nothing_found() {
    const found none = { 0, no_key };
    return record{ none, none };
}

/* The best of a block of `warps` warps, for its first warp. */
__device__ static inline record best_of_block(record mine, record *shared, int warps) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mine.off = best_of_warp(mine.off);
    mine.diagonal = best_of_warp(mine.diagonal);
    if (lane == 0) shared[warp] = mine;
    __syncthreads();
    if (warp > 0) return mine;
    mine = lane < warps ? shared[lane] : nothing_found();
    return record{ best_of_warp(mine.off), best_of_warp(mine.diagonal) };
}

#endif
