/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.cuh - U z = v with U tridiagonal by a team, and products with a Q that was formed: pcr.h states
 * the equations.
 *
 * Thread t of T has equations t, T + t, ... of U. Neighbours of step s are 2^s equations apart and
 * nothing is moved; multipliers of all steps stay in registers for later right-hand sides and
 * corrections. Neighbours' numbers are read from shared memory. 2 log2 n divisions per equation, 2
 * multiply-adds per right-hand side and step.
 */
#ifndef SHOAL_SMALLSYM_PCR_CUH
#define SHOAL_SMALLSYM_PCR_CUH

#include "smallsym/householder.cuh"
#include "smallsym/look.cuh"

enum { CORRECTIONS = 3 };

/* Steps until every equation is alone, for N of them. */
constexpr int pcr_steps(int N) { return N <= 1 ? 0 : 1 + pcr_steps((N + 1) / 2); }

/* A thread's equations of U. */
template <int T, int M> struct equations {
    enum { STEPS = pcr_steps(T * M) };
    real d[M], before[M], after[M];       /* of U: diagonal, couplings to the neighbours */
    real left[STEPS][M], right[STEPS][M]; /* multipliers                                 */
    real pivot[M];                        /* what is left of d                           */
};

/* shown[i], or 0 where there is no equation i. */
__device__ static inline real neighbour(const real *shown, int i, int n) {
    return i >= 0 && i < n ? shown[i] : 0;
}

/* d'(i) = d(i) - left c(i-h) - right c(i), c'(i) = -right c(i+h), h = 2^step. U is (u_d, u_c); d and c
 * are N numbers of shared memory each. */
template <int T, int M>
__device__ static inline void pcr_factor(equations<T, M> &u, const real *u_d, const real *u_c,
                                         real *d, real *c, int t, int n) {
    real here_d[M], here_c[M];
    UNROLLED(r, M) {
        const int i = r * T + t;
        u.d[r] = here_d[r] = i < n ? u_d[i] : 1;
        u.after[r] = here_c[r] = neighbour(u_c, i, n - 1);
        u.before[r] = neighbour(u_c, i - 1, n - 1);
    }
#pragma unroll
    for (int step = 0; step < equations<T, M>::STEPS; step++) {
        const int h = 1 << step;
        __syncwarp();
        UNROLLED(r, M) d[r * T + t] = here_d[r], c[r * T + t] = here_c[r];
        __syncwarp();
        UNROLLED(r, M) {
            const int i = r * T + t;
            const real c_before = neighbour(c, i - h, n), c_beyond = neighbour(c, i + h, n);
            /* where c is 0 any pivot will do */
            const real left = i >= h && i < n ? c_before / d[i - h] : 0;
            const real right = i + h < n ? here_c[r] / d[i + h] : 0;
            here_d[r] = real_fma(-right, here_c[r], real_fma(-left, c_before, here_d[r]));
            here_c[r] = -right * c_beyond;
            u.left[step][r] = left, u.right[step][r] = right;
        }
    }
    UNROLLED(r, M) u.pivot[r] = here_d[r];
}

/* U z = v with what pcr_factor() left; v becomes z. */
template <int T, int M>
__device__ static inline void pcr_solve(const equations<T, M> &u, real (&v)[M], real *shown, int t,
                                        int n) {
#pragma unroll
    for (int step = 0; step < equations<T, M>::STEPS; step++) {
        const int h = 1 << step;
        __syncwarp();
        UNROLLED(r, M) shown[r * T + t] = v[r];
        __syncwarp();
        UNROLLED(r, M) {
            const int i = r * T + t;
            v[r] = real_fma(-u.left[step][r], neighbour(shown, i - h, n), v[r]);
            v[r] = real_fma(-u.right[step][r], neighbour(shown, i + h, n), v[r]);
        }
    }
    UNROLLED(r, M) v[r] = real_over_pivot(v[r], u.pivot[r]);
}

/* rest = v - U z, every product and sum in double; the largest of them, NaN if one is. */
template <int T, int M>
__device__ static inline real pcr_rest(const equations<T, M> &u, const real (&v)[M],
                                       const real (&z)[M], real (&rest)[M], real *shown, int t,
                                       int n) {
    real most = 0, bad = 0;
    __syncwarp();
    UNROLLED(r, M) shown[r * T + t] = z[r];
    __syncwarp();
    UNROLLED(r, M) {
        const int i = r * T + t;
        const double left = neighbour(shown, i - 1, n), right = neighbour(shown, i + 1, n);
        rest[r] = (real)((double)v[r] - (double)u.before[r] * left - (double)u.d[r] * (double)z[r] -
                         (double)u.after[r] * right);
        most = real_max(real_abs(rest[r]), most), bad = real_fma(rest[r], 0, bad);
    }
    return team_max<T>(most) + team_sum<T>(bad);
}

/* z from v, corrected as long as that helps and is worth it: a residual of U's roundoff is none. */
template <int T, int M>
__device__ static inline void pcr_corrected(const equations<T, M> &u, real (&v)[M], real size,
                                            real *shown, int t, int n) {
    real z[M], rest[M];
    UNROLLED(r, M) z[r] = v[r];
    pcr_solve(u, z, shown, t, n);
    const real roundoff = REAL_EPSILON / 2 * size * team_largest<T, M>(z);
    real before = pcr_rest(u, v, z, rest, shown, t, n);
    bool again = before > roundoff; /* false for NaN */
    for (int step = 0; step < CORRECTIONS && __any_sync(ALL_LANES, again); step++) {
        real sum[M];
        pcr_solve(u, rest, shown, t, n);
        UNROLLED(r, M) sum[r] = z[r] + rest[r];
        const real after = pcr_rest(u, v, sum, rest, shown, t, n);
        if (again && after < before) { UNROLLED(r, M) z[r] = sum[r]; }
        again = again && after < before / 2 && after > roundoff;
        before = after;
    }
    UNROLLED(r, M) v[r] = z[r];
}

/* The outcome by the pivots, 1 / pivot(i) = (U^-1)(i,i). `size` is the largest number of U. */
template <int T, int M>
__device__ static inline void look_at_pivots(outcome &o, const equations<T, M> &u, real &size,
                                             int t, int n) {
    real least = (real)INFINITY, most = 0, bad = 0;
    UNROLLED(r, M) {
        if (r * T + t >= n) continue;
        least = real_min(real_abs(u.pivot[r]), least), bad = real_fma(u.pivot[r], 0, bad);
        most = real_max(real_max(real_abs(u.d[r]), real_abs(u.after[r])), most);
    }
    least = -team_max<T>(-least), size = most = team_max<T>(most), bad = team_sum<T>(bad);
    if (bad != 0 || least == 0)
        o.status = SHOAL_SYSTEM_PIVOT;
    else if (least <= 10 * REAL_EPSILON * most) /* what a singular matrix leaves as a pivot */
        o.status = SHOAL_SYSTEM_ILL;
    o.rcond = (float)(least < most ? least / most : 1);
}

/* Negative eigenvalues of U, by Sturm's sequence: as many of its numbers are negative. */
__device__ static inline int count_negative(const real *d, const real *c, int n) {
    real q = 1;
    int negative = 0;
    for (int i = 0; i < n; i++) {
        const real left = i ? c[i - 1] : 0;
        q = real_fma(-left / q, left, d[i]);
        if (real_abs(q) < REAL_MIN) q = REAL_MIN;
        negative += q < 0;
    }
    return negative;
}

/* Column r T + t of Q in the registers of thread t. */
template <int T, int M>
__device__ static inline void form_q(const reflectors<T, M> &w, real (&q)[M][T * M], int t, int n) {
#pragma unroll
    for (int r = 0; r < M; r++) UNROLLED(j, T * M) q[r][j] = j == r * T + t;
    multiply_columns_by_q(w, q, n);
}

/* v := Qt v: one sum per thread. v := Q v: its transposed, through shared memory. */
template <int T, int M>
__device__ static inline void multiply_by_formed(const real (&q)[M][T * M], real (&v)[M],
                                                 real *shown, bool transposed, int t) {
    real sum[M];
    __syncwarp();
    UNROLLED(r, M) shown[r * T + t] = v[r];
    __syncwarp();
    if (transposed) {
        UNROLLED(r, M) sum[r] = 0;
#pragma unroll
        for (int j = 0; j < T * M; j++) UNROLLED(r, M) sum[r] = real_fma(q[r][j], shown[j], sum[r]);
    } else {
        constexpr int C = columns<T>::AT_ONCE;
        UNROLLED(r, M) {
#pragma unroll
            for (int q0 = 0; q0 < T; q0 += C) {
                real part[C];
                UNROLLED(e, C) {
                    part[e] = 0;
#pragma unroll
                    for (int s = 0; s < M; s++)
                        part[e] = real_fma(q[s][r * T + q0 + e], v[s], part[e]);
                }
                const real all = team_scatter_sum<T>(part, t);
                /* the first for everybody: gcc cannot see that each thread has a turn */
                if (q0 == 0 || t / C == q0 / C) sum[r] = all;
            }
        }
    }
    UNROLLED(r, M) v[r] = sum[r];
}

#endif
