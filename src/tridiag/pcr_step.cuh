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

typedef struct pcr_row { /* x_i = d_i + a_i x_{i-h} + c_i x_{i+h} */
    real a, c, d;
} pcr_row;

/* v of the lane `step` to the left or right in the team, its own where the team ends before. */
namespace {
struct aligned_team { /* `size` lanes, a power of two, beginning at a multiple of it */
    int size;
    __device__ real left(real v, int step) const {
        return __shfl_up_sync(0xffffffffu, v, step, size);
    }
    __device__ real right(real v, int step) const {
        return __shfl_down_sync(0xffffffffu, v, step, size);
    }
};
struct any_team { /* lanes lane - me .. lane - me + size - 1 */
    int size, lane, me;
    __device__ real left(real v, int step) const {
        return __shfl_sync(0xffffffffu, v, me >= step ? lane - step : lane);
    }
    __device__ real right(real v, int step) const {
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

/* Row i with rows i - h, left, and i + h, right, taken out. A reciprocal that was flushed to 0 fails
 * the system. */
__device__ static inline pcr_row pcr_combine(const pcr_row &row, const pcr_row &left,
                                             const pcr_row &right) {
    const real s = reciprocal(real_fma(-row.c, right.a, real_fma(-row.a, left.c, (real)1)));
    pcr_row r;
    r.a = s * (row.a * left.a);  /* a'_i */
    r.c = s * (row.c * right.c); /* c'_i */
    r.d = s == 0 ? real_nan()    /* d'_i */
                 : s * real_fma(row.c, right.d, real_fma(row.a, left.d, row.d));
    return r;
}

/* v of the rows H to the left and to the right, H < K. */
template <int H, int K, class T>
__device__ static inline void near_rows(real (&left)[K], real (&right)[K], const real (&v)[K],
                                        const T &team) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int down = (k - H) & (K - 1), up = (k + H) & (K - 1);
        left[k] = k >= H ? v[down] : team.left(v[down], 1);
        right[k] = k + H < K ? v[up] : team.right(v[up], 1);
    }
}

template <int K> struct warp_rows { real a[K], c[K], d[K]; };

template <int K> __device__ static inline pcr_row row_of(const warp_rows<K> &r, int k) {
    return pcr_row{ r.a[k], r.c[k], r.d[k] };
}

template <int K>
__device__ static inline void combine_rows(warp_rows<K> &r, const warp_rows<K> &left,
                                           const warp_rows<K> &right) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        const pcr_row s = pcr_combine(row_of(r, k), row_of(left, k), row_of(right, k));
        r.a[k] = s.a, r.c[k] = s.c, r.d[k] = s.d;
    }
}

template <int H, int K, class T>
__device__ static inline void near_steps(warp_rows<K> &r, const T &team) {
    warp_rows<K> left, right;
    near_rows<H>(left.a, right.a, r.a, team);
    near_rows<H>(left.c, right.c, r.c, team);
    near_rows<H>(left.d, right.d, r.d, team);
    combine_rows(r, left, right);
    if constexpr (2 * H < K) near_steps<2 * H>(r, team);
}

/* All steps over the rows of a team; d is x afterwards. The size is the same for the whole warp. */
template <int K, class T> __device__ static inline void warp_solve(warp_rows<K> &r, const T &team) {
    if constexpr (K > 1) near_steps<1>(r, team);
    for (int step = 1; step < team.size; step *= 2) {
        warp_rows<K> left, right;
#pragma unroll
        for (int k = 0; k < K; k++) {
            left.a[k] = team.left(r.a[k], step), right.a[k] = team.right(r.a[k], step);
            left.c[k] = team.left(r.c[k], step), right.c[k] = team.right(r.c[k], step);
            left.d[k] = team.left(r.d[k], step), right.d[k] = team.right(r.d[k], step);
        }
        combine_rows(r, left, right);
    }
}

#endif
