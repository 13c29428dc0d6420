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
#include <utility>

enum { WARP = 32, VECTOR = 16 / sizeof(real) }; /* threads of a warp; numbers in 16 bytes */
#define ALL_LANES 0xffffffffu

struct alignas(16) real_vector {
    real e[VECTOR];
};

__device__ static inline real_vector load_vector(const real *from) {
    return *(const real_vector *)from;
}

/* A loop that is unrolled: what v indexes lives in registers. */
#define UNROLLED(v, count) _Pragma("unroll") for (int v = 0; v < (count); v++)

/* f(0), f(1), ... f(COUNT - 1), with a type of its own for each argument, which converts to the number:
 * what #pragma unroll is for, where the compiler would give up. In the emulator, a loop. */
#ifdef __CUDACC__
template <int I> struct constant {
    __device__ constexpr operator int() const { return I; }
};
template <int... I, class F>
__device__ __forceinline__ static void each_of(std::integer_sequence<int, I...>, const F &f) {
    (f(constant<I>()), ...);
}
template <int COUNT, class F> __device__ __forceinline__ static void unrolled(const F &f) {
    each_of(std::make_integer_sequence<int, COUNT>(), f);
}
#else
template <int COUNT, class F> static inline void unrolled(const F &f) {
    for (int i = 0; i < COUNT; i++) f(i);
}
#endif

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

/* Largest size of the team's numbers. */
template <int T, int M> __device__ static inline real team_largest(const real (&v)[M]) {
    real most = 0;
    UNROLLED(r, M) most = real_max(real_abs(v[r]), most);
    return team_max<T>(most);
}

/* Whether it is true in any thread of the team; `lane` is the thread's number in the warp. */
template <int T> __device__ static inline bool team_any(bool yes, int lane) {
    const unsigned mine = T == WARP ? ALL_LANES : ((1u << T % WARP) - 1) << lane / T * T;
    return (__ballot_sync(ALL_LANES, yes) & mine) != 0;
}

/* The value of thread q of the team. */
template <int T> __device__ static inline real team_broadcast(real v, int q) {
    return T == 1 ? v : __shfl_sync(ALL_LANES, v, q, T);
}

/* The row that the first thread for whom `here` is true has in hand; M = 1: its number. */
template <int T, int M> __device__ static inline int team_row(int row, bool here) {
    const unsigned votes = __ballot_sync(ALL_LANES, here);
    const unsigned team = threadIdx.x % WARP / T * T, all = T == WARP ? ~0u : (1u << T % WARP) - 1;
    const int first = __ffs((int)(votes >> team & all)) - 1;
    return M == 1 ? first : __shfl_sync(ALL_LANES, row, first, T);
}

/* Sums over the team for C columns at a time, C threads side by side having one each: thread t gets
 * that of part[t % C], summed over all T threads. Halves are exchanged, C - 1 + log2(T / C) shuffles. */
template <int T> struct columns {
    enum { AT_ONCE = T < 8 ? T : 8 };
};
template <int T>
__device__ static inline real team_scatter_sum(real (&part)[columns<T>::AT_ONCE], int t) {
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

/* Shared memory in which the team shows each other a panel of T columns, row q of it being column
 * r T + q of the matrix: N numbers, then z(k), then 1 / D(k). */
template <int T, int M> struct team_panel {
    enum {
        Z = T * M,
        INVERSE = T * M + 1,
        PITCH = T * M + (T < 8      ? 8
                         : T < WARP ? T
                                    : VECTOR),
        NUMBERS = T == 1 ? 0 : T * PITCH
    };
};

/* Column k = r0 T + q of the rows that are left, and z(k), for all to read. */
template <int T, int M>
__device__ static inline void show_column(const real (&a)[M][T * M], const real (&z)[M],
                                          real *panel, int t, int k) {
    const int r0 = k / T, q = k % T;
    real *c = panel + q * team_panel<T, M>::PITCH;
#pragma unroll
    for (int r = r0; r < M; r++) c[r * T + t] = a[r][k];
    if (t == q) c[team_panel<T, M>::Z] = z[r0];
    __syncwarp();
}

/* A = L D Lt and L z = b, panel after panel of T columns, column after column within it:
 *     L(i,k) = A(i,k) / D(k),   A(i,j) -= L(i,k) A(j,k)  for k < j <= i,   z(i) -= L(i,k) z(k).
 * Within the panel column k + 1 comes first and is shown at once, so that its way through shared
 * memory and its reciprocal are hidden; what is right of the panel follows once it is done, in a loop
 * over its columns that stays a loop: unrolled, the code would not fit in the instruction cache.
 * Leaves L below the diagonal, A(k,j) = D(k) L(j,k) above it within the diagonal blocks, and
 * 1 / D(r T + t) in inverse[r] (0 in rows from n on). low and high are the least and the largest D. */
template <int T, int M>
__device__ static inline void ldlt_factor(real (&a)[M][T * M], real (&z)[M], real (&inverse)[M],
                                          real &low, real &high, real *panel, int t, int n) {
    typedef team_panel<T, M> P;
    low = (real)INFINITY, high = -(real)INFINITY;
    UNROLLED(r, M) inverse[r] = 0;
    unrolled<M>([&](auto panel_step) {
        const int r0 = panel_step, k0 = r0 * T, end = k0 + T;
        show_column<T, M>(a, z, panel, t, k0);
        UNROLLED(q, T) {
            const int k = k0 + q, next = k + 1;
            if (r0 == M - 1 && k >= n) continue;
            real *c = panel + q * P::PITCH;
            const real d = c[k], zk = c[P::Z], inv = real_reciprocal(d);
            low = real_min(d, low), high = real_max(d, high);
            if (t == q) c[P::INVERSE] = inverse[r0] = inv;
            real l[M];
#pragma unroll
            for (int r = r0; r < M; r++) {
                l[r] = r > r0 || t > q ? a[r][k] * inv : 0; /* L(i,k); rows up to k are done */
                if (r > r0 || t > q) a[r][k] = l[r];
                z[r] = real_fma(-l[r], zk, z[r]);
            }
            if (next < end) {
#pragma unroll
                for (int r = r0; r < M; r++) a[r][next] = real_fma(-l[r], c[next], a[r][next]);
                if (r0 < M - 1 || next < n) show_column<T, M>(a, z, panel, t, next);
            }
#pragma unroll
            for (int j0 = (k + 2) / VECTOR * VECTOR; j0 < end; j0 += VECTOR) {
                const real_vector v = load_vector(c + j0);
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    if (j0 + e > next) {
#pragma unroll
                        for (int r = r0; r < M; r++)
                            a[r][j0 + e] = real_fma(-l[r], v.e[e], a[r][j0 + e]);
                    }
            }
        }
        if (r0 < M - 1) {
            __syncwarp();
#pragma unroll 2
            for (int q = 0; q < T; q++) {
                const real *c = panel + q * P::PITCH, inv = c[P::INVERSE];
                real l[M];
#pragma unroll
                for (int r = r0 + 1; r < M; r++) l[r] = c[r * T + t] * inv;
#pragma unroll
                for (int j0 = end; j0 < T * M; j0 += VECTOR) {
                    const real_vector v = load_vector(c + j0);
#pragma unroll
                    for (int e = 0; e < VECTOR; e++)
#pragma unroll
                        for (int r = r0 + 1; r < M; r++)
                            if (j0 + e < (r + 1) * T)
                                a[r][j0 + e] = real_fma(-l[r], v.e[e], a[r][j0 + e]);
                }
            }
            __syncwarp(); /* before the panel is written again */
        }
    });
}

/* L z = b with what ldlt_factor() left, for a right-hand side that it did not see. `grow`: z is 0, and b
 * is +-one(r) in row r T + t, by the sign with which z grows. */
template <int T, int M, class ONE>
__device__ static inline void ldlt_forward(const real (&a)[M][T * M], real (&z)[M], int t, int n,
                                           bool grow, const ONE &one) {
    real w = 0;
    unrolled<T * M>([&](auto step) {
        const int k = step, r0 = k / T, q = k % T;
        if (r0 == M - 1 && k >= n) return;
        if (q == 0 && grow) w = one(r0);
        if (grow && t == q) z[r0] += z[r0] < 0 ? -w : w;
        const real zk = team_broadcast<T>(z[r0], q);
#pragma unroll
        for (int r = r0; r < M; r++)
            if (r > r0 || t > q) z[r] = real_fma(-a[r][k], zk, z[r]); /* z(i) -= L(i,k) z(k) */
    });
}

template <int T, int M>
__device__ static inline void ldlt_forward(const real (&a)[M][T * M], real (&z)[M], int t, int n) {
    ldlt_forward<T, M>(a, z, t, n, false, [](int) { return (real)0; });
}

/* D w = z, Lt x = w: z[r] of row r T + t becomes x. */
template <int T, int M>
__device__ static inline void ldlt_backward(const real (&a)[M][T * M], const real (&inverse)[M],
                                            real (&z)[M], int t) {
    constexpr int C = columns<T>::AT_ONCE;
#pragma unroll
    for (int r = M - 1; r >= 0; r--) {
        real beyond = 0; /* sum of L(j,i) x(j) over j of later blocks */
#pragma unroll
        for (int q0 = 0; q0 < T && r < M - 1; q0 += C) {
            real part[C];
            UNROLLED(q, C) {
                part[q] = 0;
#pragma unroll
                for (int s = r + 1; s < M; s++)
                    part[q] = real_fma(a[s][r * T + q0 + q], z[s], part[q]);
            }
            const real sum = team_scatter_sum<T>(part, t);
            if (t / C == q0 / C) beyond = sum;
        }
        /* x(i) = (z(i) - sum of D(i) L(j,i) x(j) within the block) / D(i) - beyond */
        real w = z[r];
#pragma unroll
        for (int q = T - 1; q > 0; q--) {
            const real x = team_broadcast<T>(real_fma(inverse[r], w, -beyond), q);
            if (t < q) w = real_fma(-a[r][r * T + q], x, w);
        }
        z[r] = real_fma(inverse[r], w, -beyond);
    }
}

/* The same for one thread that has a system alone: no panel, no columns to show. */
template <int N>
__device__ static inline void ldlt_factor_alone(real (&a)[N][N], real (&z)[N], real (&inverse)[N],
                                                real &low, real &high) {
    low = (real)INFINITY, high = -(real)INFINITY;
    UNROLLED(k, N) {
        low = real_min(a[k][k], low), high = real_max(a[k][k], high);
        inverse[k] = real_reciprocal(a[k][k]);
#pragma unroll
        for (int i = k + 1; i < N; i++) {
            const real l = a[i][k] * inverse[k];
#pragma unroll
            for (int j = k + 1; j <= i; j++) /* A(i,k) L(j,k); a[j][k] of j < i is L by now */
                a[i][j] = real_fma(-a[i][k], j < i ? a[j][k] : l, a[i][j]);
            z[i] = real_fma(-l, z[k], z[i]);
            a[i][k] = l;
        }
    }
}

template <int N, class ONE>
__device__ static inline void ldlt_forward_alone(const real (&a)[N][N], real (&z)[N], bool grow,
                                                 const ONE &one) {
#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
        for (int k = 0; k < i; k++) z[i] = real_fma(-a[i][k], z[k], z[i]);
        if (grow) z[i] += z[i] < 0 ? -one(i) : one(i);
    }
}

template <int N>
__device__ static inline void ldlt_forward_alone(const real (&a)[N][N], real (&z)[N]) {
    ldlt_forward_alone<N>(a, z, false, [](int) { return (real)0; });
}

template <int N>
__device__ static inline void ldlt_backward_alone(const real (&a)[N][N], const real (&inverse)[N],
                                                  real (&z)[N]) {
#pragma unroll
    for (int i = N - 1; i >= 0; i--) {
        const real quotient = z[i] * inverse[i];
        /* what a reciprocal leaves of it: an unknown that is alone expects b / a, to the last bit */
        z[i] =
            N > 1 ? quotient : real_fma(real_fma(-a[i][i], quotient, z[i]), inverse[i], quotient);
#pragma unroll
        for (int j = i + 1; j < N; j++) z[i] = real_fma(-a[j][i], z[j], z[i]);
    }
}

#endif
