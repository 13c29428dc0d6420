/* SPDX-License-Identifier: Apache-2.0
 *
 * hybrid_chunk.cuh - what one thread of the hybrid method does with its M consecutive rows.
 *
 * Let y be the chunk's last unknown and z the last unknown of the chunk before it. Thomas's forward
 * and backward sweep over the M - 1 interior rows, with z and y as right-hand sides beside b, gives
 *     x_r = p_r + q_r z + s_r y,   r = 0 .. M-2.
 * The chunk's last row  dl x_{M-2} + d y + du x'_0 = b, where x'_0 = p'_0 + q'_0 y + s'_0 y' is the
 * first unknown of the next chunk, then holds only last unknowns: one reduced row a chunk,
 *     (dl q_{M-2}) z + (d + dl s_{M-2} + du q'_0) y + (du s'_0) y' = b - dl p_{M-2} - du p'_0,
 * again tridiagonal. For M = 1 there is no interior: x'_0 is y' itself. M - 1 divisions and about
 * 12 M other operations, all in registers.
 */
#ifndef SHOAL_TRIDIAG_HYBRID_CHUNK_CUH
#define SHOAL_TRIDIAG_HYBRID_CHUNK_CUH

#include "tridiag/pcr_step.cuh"

template <int M> struct chunk {
    real p[M], q[M], s[M]; /* x_r = p_r + q_r z + s_r y; entry M-1 is unused */
    equation last;         /* the chunk's last row                           */
};

/* rows(r) gives equation r of the chunk. */
template <int M, class F> __device__ static inline void eliminate(chunk<M> &k, F rows) {
    real upper[M]; /* du'_r of Thomas */
#pragma unroll
    for (int r = 0; r < M - 1; r++) {
        const equation e = rows(r);
        const real inverse = reciprocal(r ? real_fma(-e.dl, upper[r ? r - 1 : 0], e.d) : e.d);
        const real b = r ? real_fma(-e.dl, k.p[r ? r - 1 : 0], e.b) : e.b;
        upper[r] = e.du * inverse;
        k.p[r] = inverse == 0 ? real_nan() : b * inverse; /* a pivot out of range fails */
        k.q[r] = -e.dl * (r ? k.q[r ? r - 1 : 0] : (real)1) * inverse;
    }
    if (M > 1) k.s[M > 1 ? M - 2 : 0] = -upper[M > 1 ? M - 2 : 0];
#pragma unroll
    for (int r = M - 3; r >= 0; r--) {
        k.p[r] = real_fma(-upper[r], k.p[r + 1], k.p[r]);
        k.q[r] = real_fma(-upper[r], k.q[r + 1], k.q[r]);
        k.s[r] = -upper[r] * k.s[r + 1];
    }
    k.last = rows(M - 1);
    if (M == 1) k.p[0] = 0, k.q[0] = 0, k.s[0] = 1;
}

/* The reduced row, not yet divided by its diagonal; p, q, s are those of the next chunk's first
 * row. */
template <int M>
__device__ static inline equation reduced_row(const chunk<M> &k, real p, real q, real s) {
    const int end = M > 1 ? M - 2 : 0;
    const equation &e = k.last;
    equation r;
    r.dl = M > 1 ? e.dl * k.q[end] : e.dl;
    r.d = real_fma(e.du, q, M > 1 ? real_fma(e.dl, k.s[end], e.d) : e.d);
    r.du = e.du * s;
    r.b = real_fma(-e.du, p, M > 1 ? real_fma(-e.dl, k.p[end], e.b) : e.b);
    return r;
}

/* x_r once z and y are known. */
template <int M> __device__ static inline real unknown(const chunk<M> &k, int r, real z, real y) {
    return r == M - 1 ? y : real_fma(k.s[r], y, real_fma(k.q[r], z, k.p[r]));
}

#endif
