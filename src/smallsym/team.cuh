/* SPDX-License-Identifier: Apache-2.0
 *
 * team.cuh - a team: T threads of one warp that hold one symmetric matrix in registers.
 *
 * Thread t of the team has rows t, T + t, 2T + t, ...: M of them, so that N = T M >= n. Of row
 * i = r T + t it keeps columns 0 .. (r + 1) T - 1: the lower triangle, and the diagonal blocks of
 * T x T whole, the part above the diagonal being its transposed. a[r][j] is indexed by constants
 * alone once the loops are unrolled, so that it lives in registers: T M (M + 1) / 2 of them.
 * Rows n .. N - 1 are those of a unit matrix, with zeros on the right.
 *
 * A warp has 32 / T teams; all of them walk together, so every __syncwarp() is of the whole warp.
 */
#ifndef SHOAL_SMALLSYM_TEAM_CUH
#define SHOAL_SMALLSYM_TEAM_CUH

#include "core/launch.cuh"
#include "core/real.h"

enum { WARP = 32, VECTOR = 16 / sizeof(real) }; /* threads of a warp; numbers in 16 bytes */
#define ALL_LANES 0xffffffffu

struct alignas(16) real_vector {
    real e[VECTOR];
};

__device__ static inline real_vector load_vector(const real *from) {
    return *(const real_vector *)from;
}

template <int T> __device__ static inline real team_max(real v) {
#pragma unroll
    for (int h = T / 2; h > 0; h /= 2) v = real_max(v, __shfl_xor_sync(ALL_LANES, v, h));
    return v;
}

template <int T> __device__ static inline real team_sum(real v) {
#pragma unroll
    for (int h = T / 2; h > 0; h /= 2) v += __shfl_xor_sync(ALL_LANES, v, h);
    return v;
}

/* The value of thread q of the team. */
template <int T> __device__ static inline real team_get(real v, int q) {
    return T == 1 ? v : __shfl_sync(ALL_LANES, v, q, T);
}

/* Thread t gets the sum over the team of part[t]: halves are exchanged, T - 1 shuffles. */
template <int T> __device__ static inline real team_scatter_sum(real (&part)[T], int t) {
#pragma unroll
    for (int h = T / 2; h > 0; h /= 2) {
        const bool up = t & h;
#pragma unroll
        for (int q = 0; q < T / 2; q++) {
            if (q >= h) continue;
            const real keep = up ? part[q + h] : part[q], give = up ? part[q] : part[q + h];
            part[q] = keep + __shfl_xor_sync(ALL_LANES, give, h);
        }
    }
    return part[0];
}

/* 1 / v within an ulp; not finite, or NaN, where v is 0 or next to it. */
__device__ static inline real reciprocal(real v) {
#if defined(__CUDA_ARCH__) && defined(SHOAL_SINGLE)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return real_fma(r, real_fma(-v, r, 1), r);
#else
    return 1 / v;
#endif
}

/* Shared memory in which a team shows each other a column: two of them, in turn. */
template <int T, int M> struct team_column {
    enum { PITCH = T * M + (T < WARP ? T : VECTOR), NUMBERS = T == 1 ? 0 : 2 * PITCH };
};

/* A = L D Lt, column after column, each taken off the rest at once:
 *     L(i,k) = A(i,k) / D(k),   A(i,j) -= L(i,k) A(j,k)  for k < j <= i.
 * Leaves L below the diagonal, A(k,j) = D(k) L(j,k) above it within the diagonal blocks, and
 * 1 / D(r T + t) in inverse[r] (0 in rows from n on). low and high are the least and the largest D. */
template <int T, int M>
__device__ static inline void ldlt_factor(real (&a)[M][T * M], real (&inverse)[M], real &low,
                                          real &high, real *column, int t, int n) {
    constexpr int N = T * M, PITCH = team_column<T, M>::PITCH;
    low = (real)INFINITY, high = -(real)INFINITY;
#pragma unroll
    for (int r = 0; r < M; r++) inverse[r] = 0;
#pragma unroll
    for (int k = 0; k < N; k++) {
        if (k >= n) continue;
        const int r0 = k / T, q0 = k % T;
        real *c = column + (k & 1) * PITCH;
        if (T > 1) {
#pragma unroll
            for (int r = r0; r < M; r++) c[r * T + t] = a[r][k];
            __syncwarp();
        }
        const real d = T > 1 ? c[k] : a[r0][k];
        const real inv = reciprocal(d);
        low = d < low ? d : low, high = d > high ? d : high;
        if (t == q0) inverse[r0] = inv;
        real l[M], u[M]; /* L(i,k), and A(i,k) = L(i,k) D(k) */
#pragma unroll
        for (int r = r0; r < M; r++) {
            u[r] = a[r][k];
            l[r] = r > r0 || t > q0 ? u[r] * inv : 0; /* rows up to k are done */
            if (r > r0 || t > q0) a[r][k] = l[r];
        }
        if constexpr (T == 1) {
#pragma unroll
            for (int j = k + 1; j < N; j++)
#pragma unroll
                for (int r = j; r < M; r++) a[r][j] = real_fma(-l[r], u[j], a[r][j]);
        } else {
#pragma unroll
            for (int j0 = (k + 1) / VECTOR * VECTOR; j0 < N; j0 += VECTOR) {
                const real_vector v = load_vector(c + j0);
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
#pragma unroll
                    for (int r = r0; r < M; r++)
                        if (j0 + e > k && j0 + e < (r + 1) * T)
                            a[r][j0 + e] = real_fma(-l[r], v.e[e], a[r][j0 + e]);
            }
        }
    }
}

/* L z = b, D w = z, Lt x = w with what ldlt_factor() left; b[r] of row r T + t becomes x. */
template <int T, int M>
__device__ static inline void ldlt_solve(const real (&a)[M][T * M], const real (&inverse)[M],
                                         real (&b)[M], int t, int n) {
    constexpr int N = T * M;
#pragma unroll
    for (int k = 0; k < N; k++) {
        if (k >= n) continue;
        const int r0 = k / T, q0 = k % T;
        const real z = team_get<T>(b[r0], q0);
#pragma unroll
        for (int r = r0; r < M; r++)
            if (r > r0 || t > q0) b[r] = real_fma(-a[r][k], z, b[r]); /* z(i) -= L(i,k) z(k) */
    }
#pragma unroll
    for (int r = M - 1; r >= 0; r--) {
        real beyond = 0; /* sum of L(j,i) x(j) over j of later blocks */
        if (r < M - 1) {
            real part[T];
#pragma unroll
            for (int q = 0; q < T; q++) {
                part[q] = 0;
#pragma unroll
                for (int s = r + 1; s < M; s++) part[q] = real_fma(a[s][r * T + q], b[s], part[q]);
            }
            beyond = team_scatter_sum<T>(part, t);
        }
        real z = b[r]; /* x(i) = (z(i) - sum of D(i) L(j,i) x(j) within the block) / D(i) - beyond */
#pragma unroll
        for (int q = T - 1; q > 0; q--) {
            const real x = team_get<T>(real_fma(inverse[r], z, -beyond), q);
            if (t < q) z = real_fma(-a[r][r * T + q], x, z);
        }
        b[r] = real_fma(inverse[r], z, -beyond);
    }
}

#endif
