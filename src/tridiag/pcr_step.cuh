/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr_step.cuh - one step of parallel cyclic reduction: of one row, and of the rows of a warp.
 *
 * In a warp every lane holds K consecutive rows of a system (K a power of two), and a team of any
 * number of consecutive lanes shares the system. At distance h < K most neighbours are in the same
 * lane and only the h at either edge come from the next one; at h >= K every neighbour is a plain
 * shuffle, h / K lanes away. Where a team ends a lane gets its own numbers back, whatever other teams
 * hold: the coefficient is zero there.
 */
#ifndef SHOAL_TRIDIAG_PCR_STEP_CUH
#define SHOAL_TRIDIAG_PCR_STEP_CUH

#include "tridiag/device.cuh"

typedef struct pcr_row { /* x_i = d + a x_{i-h} + c x_{i+h} */
    real a, c, d;
} pcr_row;

typedef struct team { /* lanes first .. first + size - 1 of a warp */
    int lane, me, size; /* the calling lane in the warp and in the team */
} team;

/* The lane `step` further down or up in the team; the calling one where the team ends before. */
__device__ static inline int lane_below(const team &t, int step) { return t.me >= step ? t.lane - step : t.lane; }
__device__ static inline int lane_above(const team &t, int step) {
    return t.me + step < t.size ? t.lane + step : t.lane;
}

__device__ static inline real from_lane(real v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }

/* 1 / v to the last bit or next to it. In f32 the fast reciprocal and one step of Newton's, a third of
 * the instructions of a division; it flushes what is not a normal number: 0 for |v| > 2^126, not
 * finite for |v| < 2^-126. */
__device__ static inline real reciprocal(real v) {
#if defined(SHOAL_SINGLE) && defined(__CUDA_ARCH__)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return fmaf(r, fmaf(-v, r, 1.0f), r);
#else
    return 1 / v;
#endif
}

/* Row (a, c, d) with the rows (a0, c0, d0) below and (a1, c1, d1) above it taken out. A reciprocal that
 * was flushed to 0 fails the system. */
__device__ static inline pcr_row pcr_combine(real a, real c, real d, real a0, real c0, real d0, real a1,
                                             real c1, real d1) {
    const real s = reciprocal(real_fma(-c, a1, real_fma(-a, c0, (real)1)));
    pcr_row r;
    r.a = s * (a * a0);
    r.c = s * (c * c1);
    r.d = s == 0 ? real_nan() : s * real_fma(c, d1, real_fma(a, d0, d));
    return r;
}

/* v of the row H below and of the row H above, H < K. */
template <int H, int K> __device__ static inline void near_rows(real (&below)[K], real (&above)[K],
                                                                const real (&v)[K], const team &t) {
    const int left = lane_below(t, 1), right = lane_above(t, 1);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int down = (k - H) & (K - 1), up = (k + H) & (K - 1);
        below[k] = k >= H ? v[down] : from_lane(v[down], left);
        above[k] = k + H < K ? v[up] : from_lane(v[up], right);
    }
}

template <int K> struct warp_rows {
    real a[K], c[K], d[K];
};

template <int K> __device__ static inline warp_rows<K> rows_from(const warp_rows<K> &r, int lane) {
    warp_rows<K> s;
#pragma unroll
    for (int k = 0; k < K; k++) {
        s.a[k] = from_lane(r.a[k], lane);
        s.c[k] = from_lane(r.c[k], lane);
        s.d[k] = from_lane(r.d[k], lane);
    }
    return s;
}

template <int K> __device__ static inline void combine_rows(warp_rows<K> &r, const warp_rows<K> &below,
                                                            const warp_rows<K> &above) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        const pcr_row s = pcr_combine(r.a[k], r.c[k], r.d[k], below.a[k], below.c[k], below.d[k], above.a[k],
                                      above.c[k], above.d[k]);
        r.a[k] = s.a, r.c[k] = s.c, r.d[k] = s.d;
    }
}

template <int H, int K> __device__ static inline void near_steps(warp_rows<K> &r, const team &t) {
    warp_rows<K> below, above;
    near_rows<H>(below.a, above.a, r.a, t);
    near_rows<H>(below.c, above.c, r.c, t);
    near_rows<H>(below.d, above.d, r.d, t);
    combine_rows(r, below, above);
    if constexpr (2 * H < K) near_steps<2 * H>(r, t);
}

/* All steps over the rows of a team; d is x afterwards. The size is the same for the whole warp. */
template <int K> __device__ static inline void warp_solve(warp_rows<K> &r, const team &t) {
    if constexpr (K > 1) near_steps<1>(r, t);
    for (int step = 1; step < t.size; step *= 2) {
        const warp_rows<K> below = rows_from(r, lane_below(t, step)), above = rows_from(r, lane_above(t, step));
        combine_rows(r, below, above);
    }
}

#endif
