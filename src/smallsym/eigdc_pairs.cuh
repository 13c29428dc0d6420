/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc_pairs.cuh - what the kernel of eigdc.cu does for eigenpairs of A, or of tridiagonal matrices (d, e).
 *
 * V = Q O: each thread takes its columns of O to registers, applies the reflectors there and puts
 * them back, from where rows of V are written out. The residual |A v - w v| / ((|A| + |w|) |v|) of a
 * pair needs A again, now a row a thread in registers, with vectors in shared memory: n^3
 * multiply-adds, where it is asked for.
 */
#ifndef SHOAL_SMALLSYM_EIGDC_PAIRS_CUH
#define SHOAL_SMALLSYM_EIGDC_PAIRS_CUH

#include "smallsym/eigdc.cuh"

/* A(i,j), any i and j, of system k, from wherever it lies. */
__device__ static inline real entry_of(const smallsym_job &job, const smallsym_parts &at, int64_t k,
                                       int i, int j) {
    const int row = i > j ? i : j, column = i > j ? j : i;
    if (job.A) return ((const real *)job.A)[k * job.a.system + smallsym_at(&job.a, row, column)];
    if (row == column) return ((const real *)at.d)[k * job.b_system + row * job.b_row];
    return row > column + 1 ? 0 : ((const real *)at.e)[k * at.e_system + column * job.b_row];
}

/* U itself as it is given; returns the exponent of its scale. */
template <int T, int M>
__device__ static inline int load_diagonals(const smallsym_job &job, const smallsym_parts &from,
                                            const reflectors<T, M> &w, int64_t k, bool mine,
                                            int t) {
    const int n = (int)job.n;
    real largest = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T) {
        w.d()[i] = mine ? entry_of(job, from, k, i, i) : 1;
        w.c()[i] = mine && i + 1 < n ? entry_of(job, from, k, i + 1, i) : 0;
        largest = real_max(real_max(real_abs(w.d()[i]), real_abs(w.c()[i])), largest);
    }
    const int e = exponent_far_from_1(team_max<T>(largest));
#pragma unroll 1
    for (int i = t; i < n && e; i += T) {
        w.d()[i] = times_power_of_2(w.d()[i], -e);
        w.c()[i] = times_power_of_2(w.c()[i], -e);
    }
    return e;
}

/* O := Q O. */
template <int W, int R, class REFLECTORS>
__device__ static inline void form_vectors(const conquest<W, R> &o, const REFLECTORS &q, int t,
                                           int n) {
    real v[R][W * R];
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int i = 0; i < W * R; i += VECTOR) {
            const real_vector piece = load_vector(&o.o(i, r * W + t));
#pragma unroll
            for (int e = 0; e < VECTOR; e++) v[r][i + e] = piece.e[e];
        }
    multiply_columns_by_q(q, v, n);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int i = 0; i < W * R; i += VECTOR) {
            real_vector piece;
#pragma unroll
            for (int e = 0; e < VECTOR; e++) piece.e[e] = v[r][i + e];
            *(real_vector *)&o.o(i, r * W + t) = piece;
        }
    __syncwarp();
}

/* Row i of A, both sides of the diagonal, zeros beyond n; of a system of size 0 zeros alone. */
template <int N>
__device__ static inline void load_row(const smallsym_job &job, const smallsym_parts &at, int64_t k,
                                       int i, int n, real (&row)[N]) {
    if (!job.A) {
        const real left = n > i && i > 0 ? entry_of(job, at, k, i, i - 1) : 0,
                   middle = n > i ? entry_of(job, at, k, i, i) : 0,
                   right = n > i + 1 ? entry_of(job, at, k, i, i + 1) : 0;
#pragma unroll
        for (int j = 0; j < N; j++)
            row[j] = j == i ? middle : j + 1 == i ? left : j == i + 1 ? right : 0;
        return;
    }
    /* from A(i,j) to A(i,j+1): along the row before the diagonal, down column i behind it */
    const smallsym_shape &a = job.a;
    int64_t before = a.packed && a.upper ? (a.n - 1) * a.column : a.column;
    int64_t behind = a.packed ? a.column : a.row;
    const int64_t more_before = a.packed && a.upper ? -a.column : 0,
                  more_behind = a.packed && !a.upper ? a.column : 0;
    const real *from = (const real *)job.A + k * a.system + (i < n ? smallsym_at(&a, i, 0) : 0);
#pragma unroll
    for (int j = 0; j < N; j++) {
        row[j] = i < n && j < n ? *from : 0;
        from += j < i ? before : behind;
        before += more_before, behind += more_behind;
    }
}

/* The largest residual of the system's pairs; those of A 2^-e and its eigenvalues. */
template <int T, int M>
__device__ static inline float residual_of_pairs(const smallsym_job &job, const smallsym_parts &at,
                                                 const conquest<T, M> &w, int64_t k, bool mine,
                                                 int e, int t) {
    const int n = (int)job.n;
    real a[M][T * M], norm = 0;
#pragma unroll
    for (int r = 0; r < M; r++) {
        real sum = 0;
        load_row(job, at, k, r * T + t, mine ? n : 0, a[r]);
#pragma unroll
        for (int j = 0; j < T * M; j++) {
            if (e) a[r][j] = times_power_of_2(a[r][j], -e);
            sum += real_abs(a[r][j]);
        }
        norm = real_max(sum, norm);
    }
    norm = team_max<T>(norm);
    real worst = 0, bad = 0;
    for (int m = 0; m < n; m++) {
        const real value = w.d[m];
        real product[M], size = 0, rest = 0;
#pragma unroll
        for (int r = 0; r < M; r++) product[r] = 0;
#pragma unroll
        for (int j0 = 0; j0 < T * M; j0 += VECTOR) {
            const real_vector v = load_vector(&w.o(j0, m)); /* beyond n it is zero */
#pragma unroll
            for (int q = 0; q < VECTOR; q++) {
                size = real_max(real_abs(v.e[q]), size);
#pragma unroll
                for (int r = 0; r < M; r++) product[r] = real_fma(a[r][j0 + q], v.e[q], product[r]);
            }
        }
#pragma unroll
        for (int r = 0; r < M; r++) {
            if (r * T + t >= n) continue;
            const real left = real_fma(-value, w.o(r * T + t, m), product[r]);
            rest = real_max(real_abs(left), rest), bad = real_fma(left, 0, bad);
        }
        if (rest > 0) worst = real_max(rest / ((norm + real_abs(value)) * size), worst);
    }
    return (float)(team_max<T>(worst) + team_sum<T>(bad));
}

template <int T, int M>
__device__ static inline bool matrix_is_bad(const smallsym_job &job, const smallsym_parts &at,
                                            int64_t k, int t) {
    const int n = (int)job.n;
    real sum = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T)
#pragma unroll 1
        for (int j = 0; j <= i; j++) sum = real_fma(entry_of(job, at, k, i, j), 0, sum);
    return sum != 0;
}

/* The pairs of a system whose O and W are known, by the W threads that took it apart. */
template <class K>
__device__ static inline void write_pairs(const smallsym_job &job, const smallsym_parts &to,
                                          const typename K::conquest_type &w,
                                          const typename K::reflectors_type &q, int e_a, int64_t k,
                                          bool mine, outcome &o, int lane) {
    enum { W = K::W, R = K::R };
    const int t = lane % W, n = (int)job.n;
    const bool judged = job.where.residual != NULL;
    if (job.A && (to.q || judged)) form_vectors(w, q, t, n);
    if (judged) o.residual = residual_of_pairs(job, to, w, k, mine, e_a, t);
    __syncwarp(); /* before the eigenvalues, which all have read, are scaled */
    real bad = 0;
#pragma unroll 1
    for (int i = t; i < n; i += W) {
        w.d[i] = times_power_of_2(w.d[i], e_a);
        bad = real_fma(w.d[i], 0, bad);
    }
    const bool failed = team_any<W>(bad != 0, lane);
    const bool input = team_any<W>(failed && mine && matrix_is_bad<W, R>(job, to, k, t), lane);
    o.status = status_of(job, SHOAL_SYSTEM_OK, failed, input, o.residual);
    if (o.status < 0) o.residual = NAN;
    __syncwarp();
#pragma unroll 1
    for (int i = t; i < n && mine; i += W)
        ((real *)to.w)[k * job.b_system + i * job.b_row] = o.status < 0 ? real_nan() : w.d[i];
    for (int i = 0; i < n && mine && to.q; i++)
        for (int m = t; m < n; m += W)
            ((real *)to.q)[k * to.q_system + ((int64_t)i * n + m) * job.b_row] =
                o.status < 0 ? real_nan() : w.o(i, m);
}

#endif
