/* SPDX-License-Identifier: Apache-2.0
 *
 * gram.cuh - the sums of gram.h in the registers of a team (team.cuh): any kernel of a warp can form a
 * regression's system with it, its psi wherever they come from.
 *
 *     real a[M][T * M], b[M];
 *     gram_clear<T, M>(a, b);
 *     for (m = 0; m < samples; m++) {
 *         gram_add<T, M>(a, b, psi of m, y of m, t);       // T M numbers in shared memory, zeros from n on
 *         if (m % GRAM_BLOCK == GRAM_BLOCK - 1) gram_fold<T, M>(a, b, kept, m < GRAM_BLOCK);
 *     }
 *     gram_fold<T, M>(a, b, kept, samples < GRAM_BLOCK);
 *     gram_mean<T, M>(a, b, kept, samples);                // A and b, where the solvers want them
 *
 * A thread keeps the triangle of its rows as team.cuh has it, diagonal blocks whole: the two halves of
 * such a block are the same products in the same order, and have the same bits. Sums of blocks are in
 * shared memory, gram_kept<T, M> numbers a thread, in columns of a warp: thread `lane` has
 * kept[e * WARP], its pointer being that of the warp + lane. Nobody else looks there.
 *
 * Cost a sample and thread: T M (M + 1) / 2 + M multiply-adds, T M / VECTOR + M + 1 reads of shared
 * memory, most of them one address for the whole team.
 */
#ifndef SHOAL_SMALLSYM_GRAM_CUH
#define SHOAL_SMALLSYM_GRAM_CUH

#include "smallsym/gram.h"
#include "smallsym/team.cuh"

template <int T, int M> struct gram_kept {
    enum { ENTRIES = T * (M * (M + 1) / 2), NUMBERS = 2 * (ENTRIES + M) };
};

template <int T, int M>
__device__ static inline void gram_clear(real (&a)[M][T * M], real (&b)[M]) {
#pragma unroll
    for (int r = 0; r < M; r++) {
        b[r] = 0;
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) a[r][j] = 0;
    }
}

/* b += psi y, of the rows of thread t. */
template <int T, int M>
__device__ static inline void gram_add_rhs(real (&b)[M], const real *psi, real y, int t) {
#pragma unroll
    for (int r = 0; r < M; r++) b[r] = real_fma(psi[r * T + t], y, b[r]);
}

/* A += psi psit, b += psi y. */
template <int T, int M>
__device__ static inline void gram_add(real (&a)[M][T * M], real (&b)[M], const real *psi, real y,
                                       int t) {
    real mine[M];
#pragma unroll
    for (int r = 0; r < M; r++) {
        mine[r] = psi[r * T + t];
        b[r] = real_fma(mine[r], y, b[r]);
    }
#pragma unroll
    for (int j0 = 0; j0 < T * M; j0 += VECTOR) {
        const real_vector v = load_vector(psi + j0);
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
#pragma unroll
            for (int r = 0; r < M; r++)
                if (j0 + e < (r + 1) * T) a[r][j0 + e] = real_fma(mine[r], v.e[e], a[r][j0 + e]);
    }
}

/* The sum of a block joins those before, of which there are none at first, and begins anew. */
__device__ static inline void gram_fold_one(real &v, real *kept, bool first) {
    const real t = first ? 0 : kept[0], lost = first ? 0 : kept[WARP];
    const real s = t + v, added = s - t;
    kept[0] = s;
    kept[WARP] = lost + ((t - (s - added)) + (v - added));
    v = 0;
}

template <int T, int M>
__device__ static inline void gram_fold_rhs(real (&b)[M], real *kept, bool first) {
#pragma unroll
    for (int r = 0; r < M; r++)
        gram_fold_one(b[r], kept + 2 * WARP * (gram_kept<T, M>::ENTRIES + r), first);
}

template <int T, int M>
__device__ static inline void gram_fold(real (&a)[M][T * M], real (&b)[M], real *kept, bool first) {
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++)
            gram_fold_one(a[r][j], kept + 2 * WARP * (T * (r * (r + 1) / 2) + j), first);
    gram_fold_rhs<T, M>(b, kept, first);
}

/* What was folded, divided by the number of samples. */
template <int T, int M>
__device__ static inline void gram_mean_rhs(real (&b)[M], const real *kept, int64_t samples) {
    const real inverse = 1 / (real)samples;
#pragma unroll
    for (int r = 0; r < M; r++) {
        const real *sum = kept + 2 * WARP * (gram_kept<T, M>::ENTRIES + r);
        b[r] = (sum[0] + sum[WARP]) * inverse;
    }
}

template <int T, int M>
__device__ static inline void gram_mean(real (&a)[M][T * M], real (&b)[M], const real *kept,
                                        int64_t samples) {
    const real inverse = 1 / (real)samples;
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) {
            const real *sum = kept + 2 * WARP * (T * (r * (r + 1) / 2) + j);
            a[r][j] = (sum[0] + sum[WARP]) * inverse;
        }
    gram_mean_rhs<T, M>(b, kept, samples);
}

#endif
