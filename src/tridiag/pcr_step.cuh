/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr_step.cuh - one step of parallel cyclic reduction: of one row, and of the rows of a warp.
 *
 * In a warp every lane holds K consecutive rows of a system (K a power of two), and a team of
 * consecutive lanes shares the system. At distance h < K most neighbours are in the same lane and
 * only the h at either edge come from the next one; at h >= K every neighbour is a plain shuffle,
 * h / K lanes away. Where a team ends a lane gets its own numbers back, whatever other teams hold:
 * the coefficient is zero there.
 */
#ifndef SHOAL_TRIDIAG_PCR_STEP_CUH
#define SHOAL_TRIDIAG_PCR_STEP_CUH

#include "tridiag/device.cuh"

typedef struct pcr_row { /* x_i = d + a x_{i-h} + c x_{i+h} */
    real a, c, d;
} pcr_row;

/* v of the lane `step` below or above in the team, its own where the team ends before. */
namespace {
struct aligned_team { /* `size` lanes, a power of two, beginning at a multiple of it */
    int size;
    __device__ real below(real v, int step) const {
        return __shfl_up_sync(0xffffffffu, v, step, size);
    }
    __device__ real above(real v, int step) const {
        return __shfl_down_sync(0xffffffffu, v, step, size);
    }
};
struct any_team { /* lanes lane - me .. lane - me + size - 1 */
    int size, lane, me;
    __device__ real below(real v, int step) const {
        return __shfl_sync(0xffffffffu, v, me >= step ? lane - step : lane);
    }
    __device__ real above(real v, int step) const {
        return __shfl_sync(0xffffffffu, v, me + step < size ? lane + step : lane);
    }
};
} // namespace

/* 1 / v to the last bit or next to it. In f32 the fast reciprocal and one step of Newton's, a
 * third of the instructions of a division; it flushes what is not a normal number: 0 for |v| >
 * 2^126, not finite for |v| < 2^-126. */
__device__ static inline real reciprocal(real v) {
#if defined(SHOAL_SINGLE) && defined(__CUDA_ARCH__)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return fmaf(r, fmaf(-v, r, 1.0f), r);
#else
    return 1 / v;
#endif
}

/* Row (a, c, d) with the rows (a0, c0, d0) below and (a1, c1, d1) above it taken out. A
 * reciprocal that was flushed to 0 fails the system. */
__device__ static inline pcr_row pcr_combine(real a, real c, real d, real a0, real c0, real d0,
                                             real a1, real c1, real d1) {
    const real s = reciprocal(real_fma(-c, a1, real_fma(-a, c0, (real)1)));
    pcr_row r;
    r.a = s * (a * a0);
    r.c = s * (c * c1);
    r.d = s == 0 ? real_nan() : s * real_fma(c, d1, real_fma(a, d0, d));
    return r;
}

/* v of the row H below and of the row H above, H < K. */
template <int H, int K, class T>
__device__ static inline void near_rows(real (&below)[K], real (&above)[K], const real (&v)[K],
                                        const T &team) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int down = (k - H) & (K - 1), up = (k + H) & (K - 1);
        below[k] = k >= H ? v[down] : team.below(v[down], 1);
        above[k] = k + H < K ? v[up] : team.above(v[up], 1);
    }
}

template <int K> struct warp_rows { real a[K], c[K], d[K]; };

template <int K>
__device__ static inline void combine_rows(warp_rows<K> &r, const warp_rows<K> &below,
                                           const warp_rows<K> &above) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        const pcr_row s = pcr_combine(r.a[k], r.c[k], r.d[k], below.a[k], below.c[k], below.d[k],
                                      above.a[k], above.c[k], above.d[k]);
        r.a[k] = s.a, r.c[k] = s.c, r.d[k] = s.d;
    }
}

template <int H, int K, class T>
__device__ static inline void near_steps(warp_rows<K> &r, const T &team) {
    warp_rows<K> below, above;
    near_rows<H>(below.a, above.a, r.a, team);
    near_rows<H>(below.c, above.c, r.c, team);
    near_rows<H>(below.d, above.d, r.d, team);
    combine_rows(r, below, above);
    if constexpr (2 * H < K) near_steps<2 * H>(r, team);
}

/* All steps over the rows of a team; d is x afterwards. The size is the same for the whole warp. */
template <int K, class T> __device__ static inline void warp_solve(warp_rows<K> &r, const T &team) {
    if constexpr (K > 1) near_steps<1>(r, team);
    for (int step = 1; step < team.size; step *= 2) {
        warp_rows<K> below, above;
#pragma unroll
        for (int k = 0; k < K; k++) {
            below.a[k] = team.below(r.a[k], step), above.a[k] = team.above(r.a[k], step);
            below.c[k] = team.below(r.c[k], step), above.c[k] = team.above(r.c[k], step);
            below.d[k] = team.below(r.d[k], step), above.d[k] = team.above(r.d[k], step);
        }
        combine_rows(r, below, above);
    }
}

#endif
