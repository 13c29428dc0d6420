/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.cuh - systems on a stage in shared memory: copied there from any storage, taken from there to
 * the registers of a team (team.cuh), and how good an answer is.
 *
 * Row i = r T + t of a system begins at stage::row(i) and has room for (r + 1) T numbers and 16
 * bytes more, which keep the threads of a team off each other's banks. The lower triangle is copied
 * there past the registers, in pieces of 16 bytes where its rows allow it. Padded sizes are chosen so
 * that n > T M - T: only the last block row can hold rows of the unit matrix.
 */
#ifndef SHOAL_SMALLSYM_STAGE_CUH
#define SHOAL_SMALLSYM_STAGE_CUH

#include "smallsym/device.cuh"

/* At least so many numbers, so that the systems of a warp, T threads each, that lie such steps apart
 * have T banks of shared memory each to themselves. */
constexpr int bank_step(int numbers, int T) {
    const int banks = 128 / (int)sizeof(real);
    return numbers + (T % banks - numbers % banks + banks) % banks;
}

namespace {

template <int T, int M> struct stage {
    enum {
        SYSTEMS = WARP / T,                              /* of a warp                             */
        B = T * (M * (M + 1) / 2 * T + M * VECTOR),      /* where the right-hand side begins      */
        NUMBERS = bank_step(B + T * M, T),               /* of a system                           */
        PANEL = bank_step(team_panel<T, M>::NUMBERS, T), /* of a system, behind the stages if these
                                                         are needed to the end, else over them */
        WARP_KEPT = SYSTEMS * (NUMBERS + PANEL),         /* of a warp in the first case           */
        EITHER = (int)NUMBERS > (int)PANEL ? (int)NUMBERS : (int)PANEL,
        WARP_OVER = SYSTEMS * EITHER /* and in the second                     */
    };
    __device__ static int pitch(int r) { return (r + 1) * T + VECTOR; }
    __device__ static int row(int i) {
        const int r = i / T;
        return T * (r * (r + 1) / 2 * T + r * VECTOR) + (i % T) * pitch(r);
    }
};

} // namespace

/* A(i,j) of either triangle, on a stage. */
template <int T, int M>
__device__ static inline real stage_entry(const real *staged, int i, int j) {
    return staged[i > j ? stage<T, M>::row(i) + j : stage<T, M>::row(j) + i];
}

/* Copies to a stage are unrolled in kernels that wait for memory, short in those that compute long. */
enum copies { UNROLLED, SHORT };

/* The rows of the lower triangle, each of which lies in one piece of memory: L threads side by side
 * copy L rows of their system together, W numbers per thread at once. */
template <int T, int M, int W, copies HOW>
__device__ static inline void stage_rows(const smallsym_job &job, real *staged, const real *A,
                                         int t) {
    constexpr int MOST = W == VECTOR ? 4 : 8, L = T < MOST ? T : MOST;
    const int n = (int)job.n, u = t % L * W, base = t / L * L;
#pragma unroll(HOW == UNROLLED ? M : 1)
    for (int r = 0; r < M; r++) {
#pragma unroll(HOW == UNROLLED ? L : 1)
        for (int v = 0; v < L; v++) {
            const int i = r * T + base + v;
            if (r == M - 1 && i >= n) continue;
            const real *row = A + (job.a.packed ? (int64_t)(i * (i + 1) / 2) : i * job.a.row) + u;
            real *to = staged + stage<T, M>::row(r * T) + (base + v) * stage<T, M>::pitch(r) + u;
            /* unrolled by a number it would be unrolled beyond its end */
            if constexpr (HOW == UNROLLED) {
#pragma unroll
                for (int j = 0; j < (r + 1) * T; j += L * W)
                    if (j + u <= i) copy_numbers<W>(to + j, row + j);
            } else {
#pragma unroll 2
                for (int j = 0; j < (r + 1) * T; j += L * W)
                    if (j + u <= i) copy_numbers<W>(to + j, row + j);
            }
        }
    }
}

/* Any storage, entry by entry: a thread copies its own rows. */
template <int T, int M>
__device__ static inline void stage_entries(const smallsym_job &job, real *staged, const real *A,
                                            int t) {
    for (int i = t; i < (int)job.n; i += T)
#pragma unroll 2
        for (int j = 0; j <= i; j++)
            copy_numbers<1>(staged + stage<T, M>::row(i) + j, A + smallsym_at(&job.a, i, j));
}

enum { ENTRY_BY_ENTRY = 0 }; /* as a width of stage_system() */

/* Brings the lower triangle of a matrix to its stage. The copies are on their way. */
template <int T, int M, copies HOW = UNROLLED>
__device__ static inline void stage_triangle(const smallsym_job &job, real *staged, const real *A,
                                             int t, int width) {
    if (width == VECTOR)
        stage_rows<T, M, VECTOR, HOW>(job, staged, A, t);
    else if (VECTOR == 4 && width == 2)
        stage_rows<T, M, VECTOR / 2, HOW>(job, staged, A, t);
    else if (width == 1)
        stage_rows<T, M, 1, HOW>(job, staged, A, t);
    else
        stage_entries<T, M>(job, staged, A, t);
}

/* The same for the matrix of a team, if it has one, with the rows of a unit matrix behind it. */
template <int T, int M, copies HOW = UNROLLED>
__device__ static inline void stage_matrix(const smallsym_job &job, real *staged, int64_t k, int t,
                                           int width) {
    const int n = (int)job.n, last = (M - 1) * T + t;
    if (last >= n) { /* a row of the unit matrix, written 16 bytes at a time */
        UNROLLED(j, T * M) staged[stage<T, M>::row(last) + j] = j == last;
    }
    if (k >= job.count) return;
    stage_triangle<T, M, HOW>(job, staged, (const real *)job.A + k * job.a.system, t, width);
}

/* The same, and its first right-hand side. */
template <int T, int M, copies HOW = UNROLLED>
__device__ static inline void stage_system(const smallsym_job &job, real *staged, int64_t k, int t,
                                           int width) {
    const int n = (int)job.n, last = (M - 1) * T + t;
    const real *b = (const real *)job.b;
    if (last >= n) staged[stage<T, M>::B + last] = 0;
    if (k < job.count) {
#pragma unroll
        for (int r = 0; r < M; r++)
            if (r < M - 1 || last < n)
                copy_numbers<1>(staged + stage<T, M>::B + r * T + t,
                                b + rhs_at(job, k, r * T + t, 0));
    }
    stage_matrix<T, M, HOW>(job, staged, k, t, width);
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
    UNROLLED(r, M) {
        const real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
        for (int j0 = 0; j0 < (r + 1) * T; j0 += VECTOR) {
            const real_vector v = load_vector(row + j0);
            UNROLLED(e, VECTOR) a[r][j0 + e] = v.e[e];
        }
#pragma unroll
        for (int q = 1; q < T; q++) /* above the diagonal: A(j,i) */
            if (q > t) a[r][r * T + q] = staged[stage<T, M>::row(r * T + q) + r * T + t];
    }
}

/* Largest size of a diagonal entry, on a stage: of a definite matrix, that of any entry. */
template <int T, int M>
__device__ static inline real stage_largest(const real *staged, int t, int n) {
    real most = 0;
#pragma unroll
    for (int r = 0; r < M; r++)
        if (r < M - 1 || r * T + t < n) /* rows of the unit matrix do not count */
            most = real_max(
                real_abs(staged[stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r) + r * T + t]),
                most);
    return team_max<T>(most);
}

/* Whether a diagonal entry of the thread makes its system wide (wide.h). */
template <int T, int M>
__device__ static inline bool stage_is_wide(const real *staged, real largest, int t, int n) {
    bool wide = false;
    UNROLLED(r, M) {
        const real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
        if (r < M - 1 || r * T + t < n)
            wide |= smallsym_is_wide(real_abs(row[r * T + t]), largest, WIDE_DIAGONAL);
    }
    return wide;
}

/* A := A 2^-e on the stage of a system. Loops, for what is rarely done. */
template <int T, int M>
__device__ static inline void stage_scale(real *staged, int t, int n, int e) {
    if (!__any_sync(ALL_LANES, e != 0)) return;
    __syncwarp(); /* all have read */
#pragma unroll 1
    for (int i = t; i < n; i += T)
#pragma unroll 1
        for (int j = 0; j <= i; j++) {
            real &v = staged[stage<T, M>::row(i) + j];
            v = times_power_of_2(v, -e);
        }
    __syncwarp();
}

/* The same in the registers of its team, too. */
template <int T, int M>
__device__ static inline void team_scale(real (&a)[M][T * M], real *staged, int t, int n, int e) {
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) a[r][j] = times_power_of_2(a[r][j], -e);
    stage_scale<T, M>(staged, t, n, e);
}

/* The normwise backward error |b - A x| / (|A| |x| + |b|) in the maximum norm, from the stage, of
 * the n rows that are those of A, and |A|. x is shown to the team in N numbers of shared memory of
 * the system. */
template <int T, int M>
__device__ static inline float team_residual(const real *staged, const real (&x)[M],
                                             const real (&b)[M], real *shown, int t, int n,
                                             real &a_most) {
    real sum[M], size[M];
    UNROLLED(r, M) {
        sum[r] = b[r], size[r] = 0;
        shown[r * T + t] = x[r];
    }
    __syncwarp();
    constexpr int C = columns<T>::AT_ONCE;
    UNROLLED(c, M) { /* block column c: its rows, directly and transposed */
        const int pitch = stage<T, M>::pitch(c);
        const real *block = staged + stage<T, M>::row(c * T) + c * T;
        UNROLLED(q, T) {
            const real v = block[q <= t ? t * pitch + q : q * pitch + t];
            sum[c] = real_fma(-v, shown[c * T + q], sum[c]);
            size[c] += real_abs(v);
        }
#pragma unroll
        for (int q0 = 0; q0 < T && c < M - 1; q0 += C) {
            real part[C], norm[C];
            UNROLLED(q, C) part[q] = norm[q] = 0;
#pragma unroll
            for (int r = c + 1; r < M; r++) {
                const real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
                for (int q = 0; q < C; q += VECTOR) {
                    const int j = c * T + q0 + q;
                    const real_vector v = load_vector(row + j), other = load_vector(shown + j);
                    UNROLLED(e, VECTOR) {
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
    real r_most = 0, x_most = 0, b_most = 0;
    a_most = 0;
    UNROLLED(r, M) {
        r_most = real_max(real_abs(sum[r]), r_most);
        if (r < M - 1 || r * T + t < n) a_most = real_max(size[r], a_most);
        x_most = real_max(real_abs(x[r]), x_most);
        b_most = real_max(real_abs(b[r]), b_most);
    }
    r_most = team_max<T>(r_most), a_most = team_max<T>(a_most);
    x_most = team_max<T>(x_most), b_most = team_max<T>(b_most);
    __syncwarp();                                        /* before `shown` is written again */
    const real below = real_fma(a_most, x_most, b_most); /* what overflows cannot be judged */
    return r_most == 0 ? 0 : below <= REAL_MAX ? (float)(r_most / below) : (float)NAN;
}

#endif
