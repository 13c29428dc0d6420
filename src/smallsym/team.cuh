/* SPDX-License-Identifier: Apache-2.0
 *
 * team.cuh - a team: T threads of one warp that hold one symmetric matrix in registers.
 *
 * Thread t of the team has rows t, T + t, 2T + t, ...: M of them, so that N = T M >= n. Of row
 * i = r T + t it keeps columns 0 .. (r + 1) T - 1: the lower triangle, and the diagonal blocks of
 * T x T whole, the part above the diagonal being its transposed. a[r][j] is indexed by constants
 * alone once the loops are unrolled, so that it lives in registers: T M (M + 1) / 2 of them.
 * Rows n .. N - 1, fewer than T, are those of a unit matrix, with zeros on the right.
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

/* f(0), f(1), ... f(COUNT - 1) with constants for arguments: what #pragma unroll is for, where the
 * compiler would give up. */
template <int I> struct constant {
    enum { value = I };
};
template <int COUNT, int I = 0, class F> __device__ static inline void unrolled(const F &f) {
    if constexpr (I < COUNT) {
        f(constant<I>());
        unrolled<COUNT, I + 1>(f);
    }
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

/* Whether any thread of the team says so; `lane` is the thread's number in the warp. */
template <int T> __device__ static inline bool team_any(bool yes, int lane) {
    const unsigned mine = T == WARP ? ALL_LANES : ((1u << T % WARP) - 1) << lane / T * T;
    return (__ballot_sync(ALL_LANES, yes) & mine) != 0;
}

/* The value of thread q of the team. */
template <int T> __device__ static inline real team_get(real v, int q) {
    return T == 1 ? v : __shfl_sync(ALL_LANES, v, q, T);
}

/* Sums over the team for C columns at a time, C threads side by side having one each: thread t gets
 * that of part[t % C], summed over all T threads. Halves are exchanged, C - 1 + log2(T / C) shuffles. */
template <int T> struct columns {
    enum { AT_ONCE = T < 8 ? T : 8 };
};
template <int T> __device__ static inline real team_scatter_sum(real (&part)[columns<T>::AT_ONCE], int t) {
    constexpr int C = columns<T>::AT_ONCE;
#pragma unroll
    for (int h = C / 2; h > 0; h /= 2) {
        const bool up = t & h;
#pragma unroll
        for (int q = 0; q < C / 2; q++) {
            if (q >= h) continue;
            const real keep = up ? part[q + h] : part[q], give = up ? part[q] : part[q + h];
            part[q] = keep + __shfl_xor_sync(ALL_LANES, give, h);
        }
    }
#pragma unroll
    for (int h = C; h < T; h *= 2) part[0] += __shfl_xor_sync(ALL_LANES, part[0], h);
    return part[0];
}

/* 1 / v within an ulp or two, by Newton's steps; not finite where v is 0 or next to it. */
__device__ static inline real reciprocal(real v) {
#if defined(__CUDA_ARCH__) && defined(SHOAL_SINGLE)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return real_fma(r, real_fma(-v, r, 1), r);
#elif defined(__CUDA_ARCH__)
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    r = real_fma(r, real_fma(-v, r, 1), r);
    return real_fma(r, real_fma(-v, r, 1), r);
#else
    return 1 / v;
#endif
}

/* Shared memory in which a team shows each other a column: three of them, in turn. */
template <int T, int M> struct team_column {
    enum { PITCH = T * M + (T < WARP ? T : VECTOR), NUMBERS = T == 1 ? 0 : 3 * PITCH };
};

/* Column k of the rows that are left, for all to read; returns its head, D(k). */
template <int T, int M, int k>
__device__ static inline real show_column(const real (&a)[M][T * M], real *column, int t) {
    if constexpr (T == 1) {
        return a[k][k];
    } else {
        real *c = column + k % 3 * team_column<T, M>::PITCH;
#pragma unroll
        for (int r = k / T; r < M; r++) c[r * T + t] = a[r][k];
        __syncwarp();
        return c[k];
    }
}

/* A = L D Lt, column after column, each taken off the rest at once:
 *     L(i,k) = A(i,k) / D(k),   A(i,j) -= L(i,k) A(j,k)  for k < j <= i.
 * Column k + 1 comes first and is shown at once, so that its way through shared memory and its
 * reciprocal are hidden behind the rest of column k; hence three columns of shared memory.
 * Leaves L below the diagonal, A(k,j) = D(k) L(j,k) above it within the diagonal blocks, and
 * 1 / D(r T + t) in inverse[r] (0 in rows from n on). low and high are the least and the largest D. */
template <int T, int M>
__device__ static inline void ldlt_factor(real (&a)[M][T * M], real (&inverse)[M], real &low,
                                          real &high, real *column, int t, int n) {
    constexpr int N = T * M, PITCH = team_column<T, M>::PITCH;
    low = (real)INFINITY, high = -(real)INFINITY;
#pragma unroll
    for (int r = 0; r < M; r++) inverse[r] = 0;
    real d = show_column<T, M, 0>(a, column, t);
    unrolled<N>([&](auto step) {
        constexpr int k = decltype(step)::value, r0 = k / T, q0 = k % T;
        if (k >= N - T && k >= n) return;
        const real inv = reciprocal(d);
        low = real_min(d, low), high = real_max(d, high);
        if (t == q0) inverse[r0] = inv;
        real l[M], u[M]; /* L(i,k), and A(i,k) = L(i,k) D(k) */
#pragma unroll
        for (int r = r0; r < M; r++) {
            u[r] = a[r][k];
            l[r] = r > r0 || t > q0 ? u[r] * inv : 0; /* rows up to k are done */
            if (r > r0 || t > q0) a[r][k] = l[r];
        }
        if constexpr (k + 1 < N) {
            constexpr int next = k + 1, v0 = next / VECTOR * VECTOR;
            const real *c = column + k % 3 * PITCH;
            real_vector v;
            if (T > 1) v = load_vector(c + v0);
#pragma unroll
            for (int r = r0; r < M; r++)
                if (next < (r + 1) * T)
                    a[r][next] = real_fma(-l[r], T > 1 ? v.e[next - v0] : u[T > 1 ? r : next],
                                          a[r][next]);
            if (next < N - T || next < n) d = show_column<T, M, next>(a, column, t);
#pragma unroll
            for (int j0 = v0; j0 < N; j0 += VECTOR) {
                if (T > 1 && j0 > v0) v = load_vector(c + j0);
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
#pragma unroll
                    for (int r = r0; r < M; r++) {
                        const int j = j0 + e;
                        if (j > next && j < (r + 1) * T)
                            a[r][j] = real_fma(-l[r], T > 1 ? v.e[e] : u[T > 1 ? r : j], a[r][j]);
                    }
            }
        }
    });
}

/* L z = b, D w = z, Lt x = w with what ldlt_factor() left; b[r] of row r T + t becomes x. */
template <int T, int M>
__device__ static inline void ldlt_solve(const real (&a)[M][T * M], const real (&inverse)[M],
                                         real (&b)[M], int t, int n) {
    constexpr int N = T * M;
    unrolled<N>([&](auto step) {
        constexpr int k = decltype(step)::value, r0 = k / T, q0 = k % T;
        if (k >= N - T && k >= n) return;
        const real z = team_get<T>(b[r0], q0);
#pragma unroll
        for (int r = r0; r < M; r++)
            if (r > r0 || t > q0) b[r] = real_fma(-a[r][k], z, b[r]); /* z(i) -= L(i,k) z(k) */
    });
#pragma unroll
    for (int r = M - 1; r >= 0; r--) {
        real beyond = 0; /* sum of L(j,i) x(j) over j of later blocks */
        constexpr int C = columns<T>::AT_ONCE;
#pragma unroll
        for (int q0 = 0; q0 < T && r < M - 1; q0 += C) {
            real part[C];
#pragma unroll
            for (int q = 0; q < C; q++) {
                part[q] = 0;
#pragma unroll
                for (int s = r + 1; s < M; s++)
                    part[q] = real_fma(a[s][r * T + q0 + q], b[s], part[q]);
            }
            const real sum = team_scatter_sum<T>(part, t);
            if (t / C == q0 / C) beyond = sum;
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
