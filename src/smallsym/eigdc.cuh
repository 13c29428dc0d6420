/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc.cuh - what the kernels of eigdc.cu have in common: the shared memory of a team, and
 * A = Q O W (Q O)t in it.
 */
#ifndef SHOAL_SMALLSYM_EIGDC_CUH
#define SHOAL_SMALLSYM_EIGDC_CUH

#include "smallsym/conquer.cuh"
#include "smallsym/householder.cuh"

/* Two kinds of team. T threads with M rows each reduce A to U: few threads with several rows share
 * less. W threads, a whole warp if n is large enough, then take U apart, R slots each, and go from
 * one of the systems to the next: ROUNDS of them share the memory of one O. */
template <int T_, int M_> struct teams {
    enum {
        T = T_,
        M = M_,
        N = T * M,
        W = N < WARP ? N : WARP,
        R = N / W,
        SINGLE = sizeof(real) == 4,
        /* warps of a block, which work in step (conquer.cuh); and of a multiprocessor: with one slot a
         * thread as registers allow, else as shared memory */
        ONE_SLOT_WARPS = N < WARP ? 8 : 4,
        WARPS = R == 1   ? (int)ONE_SLOT_WARPS
                : SINGLE ? 2
                         : 3,
        ONE_SLOT = !SINGLE    ? 8
                   : N < WARP ? 24
                              : 16,
        RESIDENT = R > 1 ? 6 : (int)ONE_SLOT,
        ROUNDS = W / T,
        SYSTEMS = WARP / T, /* of a warp */
        AT_ONCE = WARP / W,
        REDUCED = bank_step(reflectors<T, M>::NUMBERS, T), /* numbers of a system       */
        CONQUEST = bank_step(conquest<W, R>::NUMBERS, W),  /* of one that is taken apart */
        ALONE = SYSTEMS * REDUCED + AT_ONCE * CONQUEST,    /* numbers of a warp          */
        NUMBERS = ALONE + AT_ONCE * stage<W, R>::NUMBERS   /* with stages                */
    };
    typedef reflectors<T, M> reflectors_type;
    typedef conquest<W, R> conquest_type;
};

/* Where system s of a warp has its U and reflectors, and the O of the thread's team in a round. */
template <class K>
__device__ static inline typename K::reflectors_type reflectors_of(real *memory, int s) {
    return { memory + s * K::REDUCED };
}
template <class K>
__device__ static inline typename K::conquest_type conquest_of(real *memory, int s, int lane) {
    const typename K::reflectors_type q = reflectors_of<K>(memory, s);
    return { memory + K::SYSTEMS * K::REDUCED + lane / K::W * K::CONQUEST, q.d(), q.c() };
}

/* U and the reflectors of the matrix that is staged in their place. Returns the exponent of A's
 * scale. Right-hand sides follow later, all in the same way. */
template <int T, int M>
__device__ static inline int reduce_staged(const reflectors<T, M> &q, int t, int n) {
    real a[M][T * M], none[M] = {}, largest = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T)
#pragma unroll 1
        for (int j = 0; j <= i; j++)
            largest = real_max(real_abs(q.memory[stage<T, M>::row(i) + j]), largest);
    const int e = exponent_far_from_1(team_max<T>(largest));
    stage_scale<T, M>(q.memory, t, n, e);
    team_load_rows<T, M>(a, q.memory, t);
    __syncwarp();
    tridiagonalise<T, M>(a, none, q, t, n);
    return e;
}

/* Eigenvalues are NaN where U is not finite: nothing that follows would say so. */
template <class K>
__device__ static inline void diagonalise_finite(const typename K::conquest_type &o, int variant,
                                                 int lane, int n) {
    enum { W = K::W, R = K::R };
    const int t = lane % W;
    real bad = 0;
#pragma unroll 1
    for (int i = t; i < n; i += W)
        bad = real_fma(o.d[i], 0, real_fma(i + 1 < n ? o.c[i] : 0, 0, bad));
    const bool finite = !team_any<W>(bad != 0, lane);
#pragma unroll 1
    for (int i = t; i < n && !finite; i += W) o.d[i] = o.c[i] = 0;
    __syncwarp();
    diagonalise<W, R>(o, variant, lane, n);
#pragma unroll 1
    for (int i = t; i < n && !finite; i += W) o.d[i] = real_nan();
    __syncwarp();
}

__device__ static inline bool discarded(real w, real most, double cond) {
    return w == 0 || (double)real_abs(w) < (double)most / cond;
}

/* What the eigenvalues say, discarded ones counted as zeros; `most` is the largest size of one. */
template <int T, int M>
__device__ static inline void look_at_values(const smallsym_job &job, outcome &o, const real *d,
                                             real &most, int lane) {
    const int t = lane % T, n = (int)job.n;
    most = real_max(real_abs(d[0]), real_abs(d[n - 1]));
    bool positive[M], negative[M];
    real least = most;
#pragma unroll
    for (int r = 0; r < M; r++) {
        const int e = r * T + t;
        const real w = e < n ? d[e] : 0;
        const bool kept = e < n && !discarded(w, most, job.cond);
        positive[r] = kept && w > 0, negative[r] = kept && w < 0;
        if (kept) least = real_min(real_abs(w), least);
    }
    least = -team_max<T>(-least);
    o.positive = __popcll(team_mask<T, M>(positive, lane));
    o.negative = __popcll(team_mask<T, M>(negative, lane));
    o.rank = o.positive + o.negative, o.zero = n - o.rank;
    o.rcond = most > 0 ? (float)(least / most) : 0;
    o.status = o.zero > 0 ? SHOAL_SYSTEM_TRUNCATED : SHOAL_SYSTEM_OK;
}

#endif
