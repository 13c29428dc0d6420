/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr_step.cuh - one step of parallel cyclic reduction: of one row, and of the rows of a warp.
 *
 * In a warp lane l holds the rows l, l + 32, ..., so that a neighbour at distance h < 32 is a shuffle
 * away (in the next lower or higher row group where it wraps) and at h >= 32 it is another register
 * of the same lane. Short systems share a warp, `width` lanes each. Per row 6 shuffles and about 20
 * operations.
 */
#ifndef SHOAL_TRIDIAG_PCR_STEP_CUH
#define SHOAL_TRIDIAG_PCR_STEP_CUH

#include "tridiag/device.cuh"

typedef struct pcr_row { /* x_i + a x_{i-h} + c x_{i+h} = d */
    real a, c, d;
} pcr_row;

/* Row (a, c, d) with the rows (a0, c0, d0) below and (a1, c1, d1) above it taken out. */
__device__ static inline pcr_row pcr_combine(real a, real c, real d, real a0, real c0, real d0, real a1,
                                             real c1, real d1) {
    const real s = 1 / real_fma(-c, a1, real_fma(-a, c0, (real)1));
    pcr_row r;
    r.a = -s * (a * a0);
    r.c = -s * (c * c1);
    r.d = s * real_fma(-c, d1, real_fma(-a, d0, d));
    return r;
}

/* v[k] of the row `h` below, row = lane + 32 k: the lane h to the left, in its group or the one below.
 * With several systems a warp (K = 1, width < 32) the first rows get their own value back, which
 * their zero coefficient takes out. */
template <int K> __device__ static inline void rows_below(real (&to)[K], const real (&v)[K], int h, int width) {
    if constexpr (K == 1) {
        to[0] = __shfl_up_sync(0xffffffffu, v[0], h, width);
    } else {
        const int lane = threadIdx.x & 31, groups = h / 32;
#pragma unroll
        for (int k = K - 1; k >= 0; k--)
            if (groups == 0) to[k] = __shfl_sync(0xffffffffu, v[k], (lane - h) & 31);
            else to[k] = k >= groups ? v[k >= groups ? k - groups : 0] : 0;
#pragma unroll
        for (int k = K - 1; k >= 0; k--)
            if (groups == 0 && lane < h) to[k] = k > 0 ? to[k > 0 ? k - 1 : 0] : 0;
    }
}

template <int K> __device__ static inline void rows_above(real (&to)[K], const real (&v)[K], int h, int width) {
    if constexpr (K == 1) {
        to[0] = __shfl_down_sync(0xffffffffu, v[0], h, width);
    } else {
        const int lane = threadIdx.x & 31, groups = h / 32;
#pragma unroll
        for (int k = 0; k < K; k++)
            if (groups == 0) to[k] = __shfl_sync(0xffffffffu, v[k], (lane + h) & 31);
            else to[k] = k + groups < K ? v[k + groups < K ? k + groups : 0] : 0;
#pragma unroll
        for (int k = 0; k < K; k++)
            if (groups == 0 && lane + h >= 32) to[k] = k + 1 < K ? to[k + 1 < K ? k + 1 : 0] : 0;
    }
}

template <int K> __device__ static inline void warp_step(real (&a)[K], real (&c)[K], real (&d)[K], int h,
                                                         int width) {
    real a0[K], c0[K], d0[K], a1[K], c1[K], d1[K];
    rows_below(a0, a, h, width);
    rows_below(c0, c, h, width);
    rows_below(d0, d, h, width);
    rows_above(a1, a, h, width);
    rows_above(c1, c, h, width);
    rows_above(d1, d, h, width);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const pcr_row r = pcr_combine(a[k], c[k], d[k], a0[k], c0[k], d0[k], a1[k], c1[k], d1[k]);
        a[k] = r.a, c[k] = r.c, d[k] = r.d;
    }
}

#endif
