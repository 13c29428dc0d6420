/* SPDX-License-Identifier: Apache-2.0
 *
 * gram_ldlt.cuh - regressions by method "ldlt", one right-hand side, in one kernel: the sums of a team
 * (gram.cuh) are in the registers where its factorisation (team.cuh) wants them, so that A does not
 * even go to shared memory, unless the residual is wanted. Memory sees psi and y once, and x.
 *
 * Blocks are warps; the stage and the panel lie where the tiles and the sums of blocks were.
 */
#ifndef SHOAL_SMALLSYM_GRAM_LDLT_CUH
#define SHOAL_SMALLSYM_GRAM_LDLT_CUH

#include "smallsym/gram_stream.cuh"
#include "smallsym/ldlt.cuh"

/* From the registers of a team to the stage of its system. */
template <int T, int M>
__device__ static inline void team_store(const real (&a)[M][T * M], real *staged, int t) {
#pragma unroll
    for (int r = 0; r < M; r++) {
        real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) row[j] = a[r][j];
    }
}

/* Rows from n on become those of a unit matrix, and A and b are scaled to near 1. Says whether they
 * hold a number that is not finite. */
template <int T, int M>
__device__ static inline bool gram_prepare(real (&a)[M][T * M], real (&z)[M], int t, int n,
                                           int lane, int &e_a, int &e_b) {
    real a_most = 0, b_most = 0, bad = 0;
    const int last = (M - 1) * T + t;
#pragma unroll
    for (int r = 0; r < M; r++) {
        b_most = real_max(real_abs(z[r]), b_most);
        bad = real_fma(z[r], 0, bad);
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) {
            a_most = real_max(real_abs(a[r][j]), a_most);
            bad = real_fma(a[r][j], 0, bad);
        }
    }
    e_a = exponent_far_from_1(team_max<T>(a_most));
    e_b = exponent_far_from_1(team_max<T>(b_most));
    if (__any_sync(ALL_LANES, e_a != 0 || e_b != 0)) {
#pragma unroll
        for (int r = 0; r < M; r++) {
            z[r] = times_power_of_2(z[r], -e_b);
#pragma unroll
            for (int j = 0; j < (r + 1) * T; j++) a[r][j] = times_power_of_2(a[r][j], -e_a);
        }
    }
    if (last >= n) {
#pragma unroll
        for (int j = 0; j < T * M; j++) a[M - 1][j] = j == last;
    }
    return team_any<T>(bad != 0, lane);
}

template <int T, int M>
__global__ static void __launch_bounds__(WARP)
    gram_ldlt_kernel(smallsym_job job, smallsym_gram g, int width) {
    typedef stage<T, M> stage;
    SHOAL_SHARED(real, shared);
    const int lane = threadIdx.x, t = lane % T, n = (int)job.n;
    const bool judged = smallsym_judged(&job);
    gram_place at = gram_begin<T, M>(job, shared, width);
    real *staged = shared + lane / T * stage::NUMBERS;
    real *panel = shared + stage::SYSTEMS * stage::NUMBERS + lane / T * stage::PANEL;
    real a[M][T * M], z[M], kept[M], inverse[M], low, high;
    do gram_stream<T, M>(job, g, at, 0, a, z);
    while (gram_again<T>(job, g, at, gram_look<T, M>(a, z, 0, lane)));

    int e_a, e_b;
    const bool input = gram_prepare<T, M>(a, z, t, n, lane, e_a, e_b);
    __syncwarp(); /* the sums of blocks are not needed any more */
    if (judged) team_store<T, M>(a, staged, t);
#pragma unroll
    for (int r = 0; r < M; r++) kept[r] = z[r];
    outcome o = outcome_of(job);
    ldlt_factor<T, M>(a, z, inverse, low, high, panel, t, n);
    look_at_pivots(o, low, high, n);
    ldlt_backward<T, M>(a, inverse, z, t);
    if (judged) {
        __syncwarp();
        real norm;
        o.residual = team_residual<T, M>(staged, z, kept, panel, t, n, norm);
    }
    real bad = 0;
#pragma unroll
    for (int r = 0; r < M; r++) {
        z[r] = times_power_of_2(z[r], e_b - e_a);
        bad = real_fma(z[r], 0, bad);
    }
    const bool failed = team_any<T>(bad != 0, lane);
    o.status = status_of(job, o.status, failed, input, o.residual);
    if (o.status < 0) o.residual = NAN;
    real *x = (real *)job.x;
#pragma unroll
    for (int r = 0; r < M; r++)
        if (at.mine && (r < M - 1 || r * T + t < n))
            x[rhs_at(job, at.k, r * T + t, 0)] = o.status < 0 ? real_nan() : z[r];
    settle(job, at.k, o, at.mine && t == 0);
}

#endif
