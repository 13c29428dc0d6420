/* SPDX-License-Identifier: Apache-2.0
 *
 * fold.cuh - sums of several numbers over the lanes of a warp at once: by halves, 16 lanes
 * apart, then 8, 4, 2, 1, as folded() of lanes.h adds. At each step a lane gives away the half
 * of its numbers that its partner continues with: COUNT numbers, a power of 2 from 16 on, take
 * COUNT - 1 shuffles (16 of 16) instead of 5 COUNT.
 */
#ifndef SHOAL_AMERICAN_FOLD_CUH
#define SHOAL_AMERICAN_FOLD_CUH

#include "core/launch.cuh"
#include "core/real.h"

namespace {

template <int COUNT, int DISTANCE> struct fold_step {
    __device__ static void run(real *sum, int lane) {
        constexpr int HALF = COUNT / 2;
        const bool upper = lane & DISTANCE;
#pragma unroll
        for (int e = 0; e < HALF; e++) {
            const real mine = upper ? sum[e + HALF] : sum[e];
            const real other = upper ? sum[e] : sum[e + HALF];
            sum[e] = mine + __shfl_xor_sync(0xffffffffu, other, DISTANCE);
        }
        fold_step<HALF, DISTANCE / 2>::run(sum, lane);
    }
};

template <int DISTANCE> struct fold_step<1, DISTANCE> {
    __device__ static void run(real *sum, int lane) {
        sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], DISTANCE);
        fold_step<1, DISTANCE / 2>::run(sum, lane);
    }
};

template <int COUNT> struct fold_step<COUNT, 0> {
    __device__ static void run(real *, int) {}
};
template <> struct fold_step<1, 0> {
    __device__ static void run(real *, int) {}
};

/* Afterwards a lane holds FOLDED sums, sum[0 .. FOLDED - 1], from number folded_first() on. Of
 * fewer than 32, neighbouring lanes hold the same. */
template <int COUNT> constexpr int FOLDED = COUNT > 32 ? COUNT / 32 : 1;

template <int COUNT> __device__ int folded_first(int lane) {
    int at = 0;
#pragma unroll
    for (int half = COUNT / 2, distance = 16; half >= FOLDED<COUNT> && distance > 0;
         half /= 2, distance /= 2)
        at += lane & distance ? half : 0;
    return at;
}

template <int COUNT> __device__ void fold(real (&sum)[COUNT]) {
    fold_step<COUNT, 16>::run(sum, (int)threadIdx.x % 32);
}

} // namespace

#endif
