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

typedef struct pcr_row { /* x_i = b_i + dl_i x_{i-h} + du_i x_{i+h} */
    real dl, du, b;
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
#ifdef SHOAL_SINGLE
    return real_reciprocal(v);
#else
    return 1 / v;
#endif
}

/* Row i with rows i - h, left, and i + h, right, taken out, and then times s. A reciprocal that was flushed to 0
 * fails the system. */
__device__ static inline pcr_row pcr_combine(const pcr_row &row, const pcr_row &left,
                                             const pcr_row &right, real &s) {
    s = reciprocal(real_fma(-row.du, right.dl, real_fma(-row.dl, left.du, (real)1)));
    pcr_row r;
    r.dl = s * (row.dl * left.dl);  /* dl'_i */
    r.du = s * (row.du * right.du); /* du'_i */
    r.b = s == 0 ? real_nan()       /* b'_i */
                 : s * real_fma(row.du, right.b, real_fma(row.dl, left.b, row.b));
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

template <int K> struct warp_rows { real dl[K], du[K], b[K]; };

template <int K> __device__ static inline pcr_row row_of(const warp_rows<K> &r, int k) {
    return pcr_row{ r.dl[k], r.du[k], r.b[k] };
}

template <int K>
__device__ static inline void combine_rows(warp_rows<K> &r, const warp_rows<K> &left,
                                           const warp_rows<K> &right) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        real by;
        const pcr_row s = pcr_combine(row_of(r, k), row_of(left, k), row_of(right, k), by);
        r.dl[k] = s.dl, r.du[k] = s.du, r.b[k] = s.b;
    }
}

template <int H, int K, class T>
__device__ static inline void near_steps(warp_rows<K> &r, const T &team) {
    warp_rows<K> left, right;
    near_rows<H>(left.dl, right.dl, r.dl, team);
    near_rows<H>(left.du, right.du, r.du, team);
    near_rows<H>(left.b, right.b, r.b, team);
    combine_rows(r, left, right);
    if constexpr (2 * H < K) near_steps<2 * H>(r, team);
}

/* All steps over the rows of a team; b is x afterwards. The size is the same for the whole warp. */
template <int K, class T> __device__ static inline void warp_solve(warp_rows<K> &r, const T &team) {
    if constexpr (K > 1) near_steps<1>(r, team);
    for (int step = 1; step < team.size; step *= 2) {
        warp_rows<K> left, right;
#pragma unroll
        for (int k = 0; k < K; k++) {
            left.dl[k] = team.left(r.dl[k], step), right.dl[k] = team.right(r.dl[k], step);
            left.du[k] = team.left(r.du[k], step), right.du[k] = team.right(r.du[k], step);
            left.b[k] = team.left(r.b[k], step), right.b[k] = team.right(r.b[k], step);
        }
        combine_rows(r, left, right);
    }
}

#endif
