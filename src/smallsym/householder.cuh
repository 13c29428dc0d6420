/* SPDX-License-Identifier: Apache-2.0
 *
 * householder.cuh - A = Q U Qt with U tridiagonal, by a team: the equations of householder.h.
 *
 * Thread t of T has rows t, T + t, ... of the whole symmetric matrix in registers, M of them. In
 * step i the thread of row i shows it to the others in shared memory, where it becomes u, for all to
 * read and to stay: Q is applied from there. p = A u is then a sum within each thread, and the
 * change q ut + u qt of its rows needs nothing but u and q. Steps are a loop, so that the code is
 * small, blocks of T steps are not: rows of later blocks are done and drop out.
 *
 * Per system n^3 multiply-adds, 2/3 of them for the triangle; per step three sums over the team and
 * 3 n / VECTOR reads of shared memory. Registers: T M^2 numbers.
 */
#ifndef SHOAL_SMALLSYM_HOUSEHOLDER_CUH
#define SHOAL_SMALLSYM_HOUSEHOLDER_CUH

#include "smallsym/stage.cuh"

/* Shared memory of a team: u of step i where row i lies on a stage, with zeros from u(i) on; U; 1 / b
 * of each step; and a vector that is shown. */
template <int T, int M> struct reflectors {
    enum { N = T * M, NUMBERS = stage<T, M>::B + 4 * N };
    real *memory;
    __device__ real *u(int i) const { return memory + stage<T, M>::row(i); }
    __device__ real *d() const { return memory + stage<T, M>::B; }
    __device__ real *c() const { return d() + N; } /* c(i) couples rows i and i + 1 */
    __device__ real *inverse_b() const { return d() + 2 * N; }
    __device__ real *shown() const { return d() + 3 * N; }
};

/* Whole rows from the stage of a system to the registers of its team. */
template <int T, int M>
__device__ static inline void team_load_rows(real (&a)[M][T * M], const real *staged, int t) {
    team_load<T, M>(a, staged, t);
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int j = (r + 1) * T; j < T * M; j++) a[r][j] = staged[stage<T, M>::row(j) + r * T + t];
}

/* Scale and sum of squares of the numbers x of a row but its last: below `small` squares lose what
 * counts, and x is brought near 1 by a power of two, `scale`; 0 if there is nothing to remove. */
template <int T, int M> __device__ static inline real squares_left(real (&x)[M], real &scale) {
    const real small = sizeof(real) == 4 ? (real)0x1p-80 : (real)0x1p-800;
    real squares = 0;
    UNROLLED(r, M) squares = real_fma(x[r], x[r], squares);
    squares = team_sum<T>(squares);
    scale = 1;
    if (__any_sync(ALL_LANES, squares < small)) {
        real sum = 0;
        const real largest = team_largest<T, M>(x);
        const bool tiny = squares < small, nothing = largest < REAL_MIN;
        const int e = tiny && !nothing ? exponent_of(largest) : 0;
        UNROLLED(r, M) {
            const real v = times_power_of_2(x[r], -e);
            sum = real_fma(v, v, sum);
        }
        sum = team_sum<T>(sum);
        if (tiny) {
            squares = nothing ? 0 : sum;
            scale = nothing ? 0 : times_power_of_2((real)1, e);
        }
    }
    return squares;
}

/* The reflector of step i, whose row lies shown where u shall be: u(j) for j of the thread's rows to x, and
 * to shared memory with zeros from u(i) on; row i of U. Returns 1 / b. r0 = i / T. */
template <int T, int M>
__device__ static inline real make_reflector(const reflectors<T, M> &w, real *u, real (&x)[M],
                                             int i, int r0, int t) {
    const real diagonal = u[i], before = u[i - 1];
    UNROLLED(r, M) x[r] = r <= r0 && r * T + t < i - 1 ? u[r * T + t] : 0;
    real scale;
    const real left = squares_left<T, M>(x, scale);
    const real shrink = scale == 0 ? 0 : 1 / scale, last = before * shrink;
    const real squares = real_fma(last, last, left);
    const real sigma = last < 0 ? -real_sqrt(squares) : real_sqrt(squares);
    const real inverse_b = scale == 0 ? 0 : real_reciprocal(real_fma(last, sigma, squares));
    __syncwarp();
    UNROLLED(r, M) {
        x[r] *= shrink;
        if (r * T + t == i - 1) x[r] = last + sigma;
        if (r <= r0) u[r * T + t] = x[r];
    }
    if (t == 0) {
        w.d()[i] = diagonal;
        w.c()[i - 1] = scale == 0 ? before : -sigma * scale;
        w.inverse_b()[i] = inverse_b;
    }
    __syncwarp();
    return inverse_b;
}

/* a := a - q ut - u qt of step i, and v := H v. x is u of the thread's rows. */
template <int T, int M>
__device__ static inline void apply_reflector(real (&a)[M][T * M], real (&v)[M], const real *u,
                                              real *shown, const real (&x)[M], real inverse_b,
                                              int i, int r0, int t) {
    const int width = (r0 + 1) * T;
    real p[M], sum = 0, other = 0;
    UNROLLED(r, M) p[r] = 0;
#pragma unroll
    for (int j = 0; j < width; j += VECTOR) {
        if (j >= i) continue;
        const real_vector u_j = load_vector(u + j);
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
#pragma unroll
            for (int r = 0; r <= r0; r++) p[r] = real_fma(a[r][j + e], u_j.e[e], p[r]);
    }
#pragma unroll
    for (int r = 0; r <= r0; r++) {
        sum = real_fma(x[r], p[r], sum);
        other = real_fma(x[r], v[r], other);
    }
    sum = team_sum<T>(sum) * inverse_b * inverse_b / 2; /* ut p / 2b */
    other = team_sum<T>(other) * inverse_b;
    real change[M];
#pragma unroll
    for (int r = 0; r <= r0; r++) {
        change[r] = r * T + t < i ? real_fma(-sum, x[r], p[r] * inverse_b) : 0; /* q */
        v[r] = real_fma(-other, x[r], v[r]);
        shown[r * T + t] = change[r];
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < width; j += VECTOR) {
        if (j >= i) continue;
        const real_vector u_j = load_vector(u + j), q_j = load_vector(shown + j);
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
#pragma unroll
            for (int r = 0; r <= r0; r++)
                a[r][j + e] =
                    real_fma(-x[r], q_j.e[e], real_fma(-change[r], u_j.e[e], a[r][j + e]));
    }
}

/* a becomes U, which is left in w with the reflectors; v := Qt v. */
template <int T, int M>
__device__ static inline void tridiagonalise(real (&a)[M][T * M], real (&v)[M],
                                             const reflectors<T, M> &w, int t, int n) {
    unrolled<M>([&](auto step) {
        const int r0 = M - 1 - step, width = (r0 + 1) * T;
        for (int q = T - 1; q >= 0; q--) {
            const int i = r0 * T + q;
            if (i >= n || i < 2) continue;
            real *u = w.u(i);
            if (t == q) {
#pragma unroll
                for (int j = 0; j < width; j += VECTOR) {
                    real_vector row;
                    UNROLLED(e, VECTOR) row.e[e] = a[r0][j + e];
                    *(real_vector *)(u + j) = row;
                }
            }
            __syncwarp();
            real x[M];
            const real inverse_b = make_reflector<T, M>(w, u, x, i, r0, t);
            apply_reflector<T, M>(a, v, u, w.shown(), x, inverse_b, i, r0, t);
        }
    });
    if (t == 0) w.d()[0] = a[0][0];
    if (t == 1 && n > 1) w.d()[1] = a[0][1], w.c()[0] = a[0][0];
    __syncwarp();
}

/* v := H v, H that of step i, by W threads with R rows each: not only the team that reduced A. */
template <int W, int R, class REFLECTORS>
__device__ static inline void reflect(const REFLECTORS &w, real (&v)[R], int i, int t) {
    const real *from = w.u(i);
    real u[R], sum = 0;
    UNROLLED(r, R) {
        u[r] = r * W + t < i ? from[r * W + t] : 0;
        sum = real_fma(u[r], v[r], sum);
    }
    sum = -team_sum<W>(sum) * w.inverse_b()[i];
    UNROLLED(r, R) v[r] = real_fma(sum, u[r], v[r]);
}

/* v := Qt v, and v := Q v. */
template <int W, int R, class REFLECTORS>
__device__ static inline void multiply_by_qt(const REFLECTORS &w, real (&v)[R], int t, int n) {
    for (int i = n - 1; i >= 2; i--) reflect<W, R>(w, v, i, t);
}
template <int W, int R, class REFLECTORS>
__device__ static inline void multiply_by_q(const REFLECTORS &w, real (&v)[R], int t, int n) {
    for (int i = 2; i < n; i++) reflect<W, R>(w, v, i, t);
}

/* Q times columns that the threads hold whole, R each: no sums over the team. */
template <int R, int N, class REFLECTORS>
__device__ static inline void multiply_columns_by_q(const REFLECTORS &w, real (&v)[R][N], int n) {
    for (int i = 2; i < n; i++) {
        const real *u = w.u(i), inverse_b = w.inverse_b()[i];
        real sum[R];
        UNROLLED(r, R) sum[r] = 0;
#pragma unroll
        for (int j = 0; j < N; j += VECTOR) {
            if (j >= i) continue;
            const real_vector u_j = load_vector(u + j);
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                UNROLLED(r, R) sum[r] = real_fma(u_j.e[e], v[r][j + e], sum[r]);
        }
        UNROLLED(r, R) sum[r] *= -inverse_b;
#pragma unroll
        for (int j = 0; j < N; j += VECTOR) {
            if (j >= i) continue;
            const real_vector u_j = load_vector(u + j);
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                UNROLLED(r, R) v[r][j + e] = real_fma(sum[r], u_j.e[e], v[r][j + e]);
        }
    }
}

#endif
