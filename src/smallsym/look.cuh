/* SPDX-License-Identifier: Apache-2.0
 *
 * look.cuh - what a team needs to look at the condition number of its system (condition.h) and to scale
 * its rows by powers of two (scale.h states the rules).
 */
#ifndef SHOAL_SMALLSYM_LOOK_CUH
#define SHOAL_SMALLSYM_LOOK_CUH

#include "smallsym/stage.cuh"

/* Whether the sizes of a team's rows differ by `spread`; 0 for a row that is none. */
template <int T, int M>
__device__ static inline bool team_uneven(const real (&size)[M], int spread) {
    real least = (real)INFINITY, most = 0;
    UNROLLED(r, M) {
        if (size[r] >= REAL_MIN) least = real_min(size[r], least);
        most = real_max(size[r], most);
    }
    least = -team_max<T>(-least), most = team_max<T>(most);
    return most >= (real)spread * least && most <= REAL_MAX;
}

/* Whether a row of the thread makes its system wide (wide.h). */
template <int M>
__device__ static inline bool is_wide(const real (&size)[M], real largest, int by) {
    bool wide = false;
    UNROLLED(r, M) wide |= smallsym_is_wide(size[r], largest, by);
    return wide;
}

/* The largest size of a team's numbers; NaN if one is not finite. */
template <int T, int M> __device__ static inline real largest_or_nan(const real (&x)[M]) {
    real bad = 0;
    UNROLLED(r, M) bad = real_fma(x[r], 0, bad);
    return team_largest<T, M>(x) + team_sum<T>(bad);
}

/* The largest row sum of sizes of S A S on its stage, s(i) = 2^exponent(i), if the team's rows are `scaled`;
 * else `of_a`, whatever the other teams of the warp need. A loop: rarely used. */
template <int T, int M, class EXPONENT>
__device__ static inline real stage_scaled_norm(const real *staged, real of_a, bool scaled, int t,
                                                int n, const EXPONENT &exponent) {
    real most = 0;
    if (!__any_sync(ALL_LANES, scaled)) return of_a;
#pragma unroll 1
    for (int i = t; i < n; i += T) {
        real size = 0;
#pragma unroll 1
        for (int j = 0; j < n; j++)
            size += times_power_of_2(real_abs(stage_entry<T, M>(staged, i, j)), exponent(j));
        most = real_max(times_power_of_2(size, exponent(i)), most);
    }
    most = team_max<T>(most);
    return scaled ? most : of_a;
}

namespace {

/* The condition of a definite matrix on its stage, by its factors. S is that of the diagonal, where that is
 * uneven: 1 / s(i) is 2^root(i). `ones` is T M numbers of shared memory. */
template <int T, int M> struct diagonal_scale {
    const real *staged;
    real *ones;
    int t, n;
    bool uneven;

    __device__ real on_diagonal(int r) const {
        return staged[stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r) + r * T + t];
    }
    __device__ bool exists(int r) const { return r < M - 1 || r * T + t < n; }
    __device__ int root(int i) const {
        return uneven ? smallsym_half_exponent(real_abs(stage_entry<T, M>(staged, i, i))) : 0;
    }
    /* 1 / s of the thread's row r. */
    __device__ real one(int r) const { return ones[r * T + t]; }
    __device__ void look() {
        real size[M];
        UNROLLED(r, M) size[r] = exists(r) ? real_abs(on_diagonal(r)) : 0;
        uneven = team_uneven<T, M>(size, SMALLSYM_DIAGONAL_SPREAD);
        UNROLLED(r, M)
        ones[r * T + t] = uneven ? power_of_two(smallsym_half_exponent(size[r])) : 1;
    }
    /* The pivots, whose reciprocals are given, prove a condition number far below the limit. */
    __device__ bool proved(const real (&inverse)[M], double cond) const {
        real product = 1;
        UNROLLED(r, M) product *= exists(r) ? on_diagonal(r) * inverse[r] : 1;
#pragma unroll
        for (int h = T / 2; h > 0; h /= 2) product *= __shfl_xor_sync(ALL_LANES, product, h);
        return smallsym_proved(product, n, cond);
    }
    /* |S A S|, of which |A| is known. */
    __device__ real norm(real of_a) const {
        return stage_scaled_norm<T, M>(staged, of_a, uneven, t, n, [&](int i) { return -root(i); });
    }
    /* The largest |x(i)| / s(i). */
    __device__ real size(const real (&x)[M]) const {
        real v[M];
        UNROLLED(r, M) v[r] = x[r] * one(r);
        return largest_or_nan<T, M>(v);
    }
    /* x := S^-2 x / size. */
    __device__ void turn(real (&x)[M], real of_x) const {
        UNROLLED(r, M) x[r] = x[r] / of_x * one(r) * one(r);
    }
};

} // namespace

/* Exponents e(i) of S = diag 2^e by the sizes of rows, in shared memory; sizes(size) gives those of S A S,
 * `size` has those of A. False if no team of the warp has rows to scale; e is not written then. `own`:
 * this team has. */
template <int T, int M, class SIZES>
__device__ static inline bool scale_by_rows(short *e, real (&size)[M], bool &own, int t,
                                            const SIZES &sizes) {
    bool uneven = own = team_uneven<T, M>(size, SMALLSYM_ROW_SPREAD);
    if (!__any_sync(ALL_LANES, uneven)) return false;
    UNROLLED(r, M) e[r * T + t] = 0;
#pragma unroll 1
    for (int step = 0; step < SMALLSYM_HALVINGS && __any_sync(ALL_LANES, uneven); step++) {
        if (uneven) { UNROLLED(r, M) e[r * T + t] -= (short)smallsym_half_exponent(size[r]); }
        __syncwarp();
        sizes(size);
        const bool still = team_uneven<T, M>(size, SMALLSYM_ROWS_EVEN);
        uneven = uneven && still;
        __syncwarp(); /* before e is written again */
    }
    return true;
}

/* S A S, S by the rows of A on its stage, if these differ in `size`, to the stage `to`, which may be the same;
 * s(i) is 2^e(i). Whether a team of the warp did so, and `own`: this one. Loops: rarely used. */
template <int T, int M>
__device__ static inline bool stage_scale_rows(const real *staged, real *to, short *e,
                                               real (&size)[M], bool &own, int t, int n) {
    const auto sizes = [&](real(&now)[M]) {
        UNROLLED(r, M) {
            const int i = r * T + t;
            now[r] = 0;
#pragma unroll 2
            for (int j = 0; j < n && i < n; j++) {
                const real v = real_abs(stage_entry<T, M>(staged, i, j));
                now[r] = real_max(times_power_of_2(v, e[i] + e[j]), now[r]);
            }
        }
    };
    if (!scale_by_rows<T, M>(e, size, own, t, sizes)) return false;
#pragma unroll 1
    for (int i = t; i < T * M; i += T)
#pragma unroll 2
        for (int j = 0; j <= i; j++) {
            const int at = stage<T, M>::row(i) + j;
            to[at] = times_power_of_2(staged[at], e[i] + e[j]);
        }
    __syncwarp();
    return true;
}

#endif
