/* SPDX-License-Identifier: Apache-2.0
 *
 * device.cuh - what kernels for small symmetric systems share: bringing the systems of a warp to
 * shared memory, from there to the registers of teams (team.cuh), how good an answer is, and the
 * outcome.
 *
 * On the stage, in shared memory, row i = r T + t of a system begins at stage_row(i) and has room
 * for (r + 1) T numbers and 16 bytes more, which keep the threads of a team off each other's
 * banks. The lower triangle is copied there past the registers, in pieces of 16 bytes where its
 * rows allow it; A is read from memory once, and the residual is computed from the stage.
 * Padded sizes are chosen so that n > T M - T: only the last block row can hold rows of the unit
 * matrix.
 */
#ifndef SHOAL_SMALLSYM_DEVICE_CUH
#define SHOAL_SMALLSYM_DEVICE_CUH

#include "smallsym/plan.h"
#include "smallsym/team.cuh"

template <int T, int M> struct stage {
    enum {
        SYSTEMS = WARP / T,                                      /* of a warp */
        NUMBERS = T * (M * (M + 1) / 2 * T + M * VECTOR),        /* of a system */
        COLUMN = team_column<T, M>::NUMBERS,                     /* of a system, behind the stages */
        WARP_NUMBERS = SYSTEMS * (NUMBERS + COLUMN)
    };
    __device__ static int pitch(int r) { return (r + 1) * T + VECTOR; }
    __device__ static int row(int i) {
        const int r = i / T;
        return T * (r * (r + 1) / 2 * T + r * VECTOR) + (i % T) * pitch(r);
    }
};

/* ---- copying in ------------------------------------------------------------------------------- */

template <int BYTES> struct piece;
template <> struct piece<4> { typedef unsigned type; };
template <> struct piece<8> { typedef uint2 type; };
template <> struct piece<16> { typedef uint4 type; };

/* W numbers at once, which must be aligned to their size on both sides. */
template <int W> __device__ static inline void copy_numbers(real *shared, const real *global) {
    typedef typename piece<W * sizeof(real)>::type type;
    shoal_copy_async((type *)shared, (const type *)global);
}

/* The rows of the lower triangle, each of which lies in one piece of memory: L threads side by side
 * copy L rows of their system together, W numbers a thread at once. */
template <int T, int M, int W>
__device__ static inline void stage_rows(const smallsym_job &job, real *staged, const real *A,
                                         int t) {
    constexpr int MOST = W == VECTOR ? 4 : 8, L = T < MOST ? T : MOST;
    const int n = (int)job.n, u = t % L * W, base = t / L * L;
#pragma unroll
    for (int r = 0; r < M; r++) {
#pragma unroll
        for (int v = 0; v < L; v++) {
            const int i = r * T + base + v;
            if (r == M - 1 && i >= n) continue;
            const real *row = A + (job.a.packed ? (int64_t)(i * (i + 1) / 2) : i * job.a.row) + u;
            real *to = staged + stage<T, M>::row(r * T) + (base + v) * stage<T, M>::pitch(r) + u;
#pragma unroll
            for (int j = 0; j < (r + 1) * T; j += L * W)
                if (j + u <= i) copy_numbers<W>(to + j, row + j);
        }
    }
}

/* Any storage, entry by entry: a thread copies its own rows. */
template <int T, int M>
__device__ static inline void stage_entries(const smallsym_job &job, real *staged, const real *A,
                                            int t) {
    for (int i = t; i < (int)job.n; i += T)
        for (int j = 0; j <= i; j++)
            copy_numbers<1>(staged + stage<T, M>::row(i) + j, A + smallsym_at(&job.a, i, j));
}

enum { ENTRY_BY_ENTRY = 0 }; /* as a width of stage_system() */

/* Brings the system of a team, if it has one, to its stage. The copies are on their way. */
template <int T, int M>
__device__ static inline void stage_system(const smallsym_job &job, real *staged, int64_t k, int t,
                                           int width) {
    const int n = (int)job.n, last = (M - 1) * T + t;
    if (last >= n) /* a row of the unit matrix */
        for (int j = 0; j < T * M; j++) staged[stage<T, M>::row(last) + j] = j == last;
    if (k >= job.count) return;
    const real *A = (const real *)job.A + k * job.a.system;
    if (width == VECTOR)
        stage_rows<T, M, VECTOR>(job, staged, A, t);
    else if (VECTOR == 4 && width == 2)
        stage_rows<T, M, VECTOR / 2>(job, staged, A, t);
    else if (width == 1)
        stage_rows<T, M, 1>(job, staged, A, t);
    else
        stage_entries<T, M>(job, staged, A, t);
}

/* Numbers that stage_system() may copy at once. */
static inline int stage_width(const smallsym_job *job) {
    if (job->a.upper || job->a.system == 1) return ENTRY_BY_ENTRY;
    if (job->a.packed) return 1;
    int width = VECTOR;
    while (width > 1 && (job->n % width || job->a.row % width || job->a.system % width ||
                         (uintptr_t)job->A % (width * sizeof(real))))
        width /= 2;
    return width;
}

/* From the stage of a system to the registers of its team. */
template <int T, int M>
__device__ static inline void team_load(real (&a)[M][T * M], const real *staged, int t) {
#pragma unroll
    for (int r = 0; r < M; r++) {
        const real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
        for (int j0 = 0; j0 < (r + 1) * T; j0 += VECTOR) {
            const real_vector v = load_vector(row + j0);
#pragma unroll
            for (int e = 0; e < VECTOR; e++) a[r][j0 + e] = v.e[e];
        }
#pragma unroll
        for (int q = 1; q < T; q++) /* above the diagonal: A(j,i) */
            if (q > t) a[r][r * T + q] = staged[stage<T, M>::row(r * T + q) + r * T + t];
    }
}

/* Largest size of a diagonal entry, on a stage: of a definite matrix, that of any entry. */
template <int T, int M> __device__ static inline real stage_largest(const real *staged, int t) {
    real most = 0;
#pragma unroll
    for (int r = 0; r < M; r++)
        most = real_max(real_abs(staged[stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r) +
                                        r * T + t]),
                        most);
    return team_max<T>(most);
}

/* ---- scales ------------------------------------------------------------------------------------ */

/* The power of two that brings `largest` near 1, if it is so far away that a method might leave its
 * range; 0 if not, or if it is zero or not finite. */
__device__ static inline int exponent_far_from_1(real largest) {
#ifdef SHOAL_SINGLE
    const real far = 0x1p30f;
    const int e = (int)(__float_as_uint(largest) >> 23) - 127;
#else
    const real far = 0x1p250;
    const int e = (int)(__double_as_longlong(largest) >> 52) - 1023;
#endif
    const bool finite = largest - largest == 0;
    return (largest >= 1 / far && largest <= far) || largest == 0 || !finite ? 0 : e;
}

/* v 2^e in two steps, for any e that the difference of two exponents can be. */
__device__ static inline real times_power_of_2(real v, int e) {
    const int half = e / 2, rest = e - half;
#ifdef SHOAL_SINGLE
    return v * __uint_as_float((unsigned)(half + 127) << 23) *
           __uint_as_float((unsigned)(rest + 127) << 23);
#else
    return v * __longlong_as_double((long long)(half + 1023) << 52) *
           __longlong_as_double((long long)(rest + 1023) << 52);
#endif
}

/* Scales the system of a team, in its registers and on its stage. */
template <int T, int M>
__device__ static inline void team_scale(real (&a)[M][T * M], real *staged, int t, int e) {
#pragma unroll
    for (int r = 0; r < M; r++) {
        real *row = staged + stage<T, M>::row(r * T + t);
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) a[r][j] = times_power_of_2(a[r][j], -e);
        for (int j = 0; j <= r * T + t; j++) row[j] = times_power_of_2(row[j], -e);
    }
    __syncwarp();
}

/* ---- right-hand sides -------------------------------------------------------------------------- */

/* Right-hand side c of row i of system k. */
__device__ static inline int64_t rhs_at(const smallsym_job &job, int64_t k, int i, int64_t c) {
    return (k * job.b_system + i * job.b_row) * job.nrhs + c;
}

/* ---- the verdict ------------------------------------------------------------------------------- */

/* The normwise backward error |b - A x| / (|A| |x| + |b|) in the maximum norm, from the stage. x is
 * shown to the team in N numbers of shared memory of the system. */
template <int T, int M>
__device__ static inline float team_residual(const real *staged, const real (&x)[M],
                                             const real (&b)[M], real *shown, int t) {
    real sum[M], size[M];
#pragma unroll
    for (int r = 0; r < M; r++) {
        sum[r] = b[r], size[r] = 0;
        shown[r * T + t] = x[r];
    }
    __syncwarp();
    constexpr int C = columns<T>::AT_ONCE;
#pragma unroll
    for (int c = 0; c < M; c++) { /* block column c: its rows, directly and transposed */
        const int pitch = stage<T, M>::pitch(c);
        const real *block = staged + stage<T, M>::row(c * T) + c * T;
#pragma unroll
        for (int q = 0; q < T; q++) {
            const real v = block[q <= t ? t * pitch + q : q * pitch + t];
            sum[c] = real_fma(-v, shown[c * T + q], sum[c]);
            size[c] += real_abs(v);
        }
#pragma unroll
        for (int q0 = 0; q0 < T && c < M - 1; q0 += C) {
            real part[C], norm[C];
#pragma unroll
            for (int q = 0; q < C; q++) part[q] = norm[q] = 0;
#pragma unroll
            for (int r = c + 1; r < M; r++) {
                const real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
                for (int q = 0; q < C; q += VECTOR) {
                    const int j = c * T + q0 + q;
                    const real_vector v = load_vector(row + j), other = load_vector(shown + j);
#pragma unroll
                    for (int e = 0; e < VECTOR; e++) {
                        sum[r] = real_fma(-v.e[e], other.e[e], sum[r]);
                        part[q + e] = real_fma(-v.e[e], x[r], part[q + e]);
                        size[r] += real_abs(v.e[e]);
                        norm[q + e] += real_abs(v.e[e]);
                    }
                }
            }
            const real p = team_scatter_sum<T>(part, t), s = team_scatter_sum<T>(norm, t);
            if (t / C == q0 / C) sum[c] += p, size[c] += s;
        }
    }
    real r_most = 0, a_most = 0, x_most = 0, b_most = 0;
#pragma unroll
    for (int r = 0; r < M; r++) {
        r_most = real_max(real_abs(sum[r]), r_most);
        a_most = real_max(size[r], a_most);
        x_most = real_max(real_abs(x[r]), x_most);
        b_most = real_max(real_abs(b[r]), b_most);
    }
    r_most = team_max<T>(r_most), a_most = team_max<T>(a_most);
    x_most = team_max<T>(x_most), b_most = team_max<T>(b_most);
    __syncwarp(); /* before `shown` is written again */
    return r_most == 0 ? 0 : (float)(r_most / real_fma(a_most, x_most, b_most));
}

/* The worst of two: any failure over any answer, a warning over none. */
__device__ static inline int32_t worse(int32_t s, int32_t t) {
    return s < 0 || t < 0 ? (s < t ? s : t) : s > t ? s : t;
}

typedef struct outcome { /* of one system */
    int32_t status;
    float residual, rcond;
    int32_t rank, positive, negative, zero, method;
} outcome;

/* Every thread of the warp calls; `leader` is true in one of each system that exists. */
__device__ static inline void settle(const smallsym_job &job, int64_t k, const outcome &o,
                                     bool leader) {
    const shoal_outcome &w = job.where;
    const bool known = o.status >= 0;
    if (leader) {
        if (w.status) w.status[k] = o.status;
        if (w.residual) w.residual[k] = o.residual;
        if (w.rcond) w.rcond[k] = known ? o.rcond : NAN;
        if (w.rank) w.rank[k] = known ? o.rank : -1;
        if (w.method) w.method[k] = o.method;
        if (w.inertia) {
            w.inertia[3 * k] = known ? o.positive : -1;
            w.inertia[3 * k + 1] = known ? o.negative : -1;
            w.inertia[3 * k + 2] = known ? o.zero : -1;
        }
    }
    smallsym_totals *totals = (smallsym_totals *)job.work;
    const unsigned failed = __ballot_sync(ALL_LANES, leader && o.status < 0);
    const unsigned warned = __ballot_sync(ALL_LANES, leader && o.status > 0);
    if (threadIdx.x % WARP == 0 && failed) atomicAdd(&totals->failed, __popc(failed));
    if (threadIdx.x % WARP == 0 && warned) atomicAdd(&totals->warned, __popc(warned));
    if (w.residual) {
        unsigned bits = leader && known ? __float_as_uint(o.residual) & 0x7fffffffu : 0;
        for (int h = WARP / 2; h > 0; h /= 2) {
            const unsigned other = __shfl_xor_sync(ALL_LANES, bits, h);
            bits = bits > other ? bits : other;
        }
        if (threadIdx.x % WARP == 0 && bits) atomicMax(&totals->max_residual, bits);
    }
}

#endif
