/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc.cuh - what the kernels of eigdc.cu have in common: the shared memory of a team, and
 * A = Q O W (Q O)t in it.
 */
#ifndef SHOAL_SMALLSYM_EIGDC_CUH
#define SHOAL_SMALLSYM_EIGDC_CUH

#include "smallsym/conquer.cuh"
#include "smallsym/householder.cuh"

enum { WARPS = 2 }; /* of a block; they have nothing to do with each other */

/* Blocks that a multiprocessor should hold, for M rows a thread: more, and registers would not do;
 * with two rows shared memory has room for no more. */
constexpr int blocks_of(int M) { return M == 1 && sizeof(real) == 4 ? 8 : M == 1 ? 6 : 4; }

template <int T, int M> struct room { /* numbers of a team */
    enum {
        O = reflectors<T, M>::NUMBERS, /* where O and its vectors begin */
        STAGE = O + conquest<T, M>::NUMBERS,
        ALONE = bank_step((int)STAGE, T), /* without a stage of its own for A */
        NUMBERS = bank_step((int)STAGE + (int)stage<T, M>::NUMBERS, T)
    };
};

template <int T, int M> struct team_memory {
    reflectors<T, M> q;
    conquest<T, M> o;
    __device__ team_memory(real *memory) : q{ memory }, o{ memory + room<T, M>::O, q.d(), q.c() } {}
    __device__ real *vector() const { return q.shown(); }
};

/* The staged matrix times 2^-e. */
template <int T, int M>
__device__ static inline void stage_scale(real *staged, int t, int n, int e) {
    if (!__any_sync(ALL_LANES, e != 0)) return;
    __syncwarp();
    for (int i = t; i < n; i += T)
        for (int j = 0; j <= i; j++) {
            real &v = staged[stage<T, M>::row(i) + j];
            v = times_power_of_2(v, -e);
        }
    __syncwarp();
}

/* U and the reflectors of the staged matrix, and v := Qt v. Returns the exponent of A's scale. */
template <int T, int M>
__device__ static inline int reduce_staged(const reflectors<T, M> &q, real *staged, real (&v)[M],
                                           int t, int n) {
    real a[M][T * M], largest = 0;
    for (int i = t; i < n; i += T)
        for (int j = 0; j <= i; j++)
            largest = real_max(real_abs(staged[stage<T, M>::row(i) + j]), largest);
    const int e = exponent_far_from_1(team_max<T>(largest));
    stage_scale<T, M>(staged, t, n, e);
    team_load_rows<T, M>(a, staged, t);
    __syncwarp();
    tridiagonalise<T, M>(a, v, q, t, n);
    return e;
}

/* Eigenvalues are NaN where U is not finite: nothing that follows would say so. */
template <int T, int M>
__device__ static inline void diagonalise_finite(const team_memory<T, M> &w, int variant, int lane,
                                                 int n) {
    const int t = lane % T;
    real bad = 0;
    for (int i = t; i < n; i += T)
        bad = real_fma(w.o.d[i], 0, real_fma(i + 1 < n ? w.o.c[i] : 0, 0, bad));
    const bool finite = !team_any<T>(bad != 0, lane);
    for (int i = t; i < n && !finite; i += T) w.o.d[i] = w.o.c[i] = 0;
    __syncwarp();
    diagonalise<T, M>(w.o, variant, lane, n);
    for (int i = t; i < n && !finite; i += T) w.o.d[i] = real_nan();
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
