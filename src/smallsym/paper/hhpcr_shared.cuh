/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr_shared.cuh - hhpcr and its two stages, A = Q U Qt and U z = v, in shared memory: the paper's
 * variants "simd", "coop" and "hybrid" (shared.cuh; section 4.2), to compare with: Figure 9 times the
 * second stage, the continuous line of Figure 10 compares the first.
 *
 * As in the paper u of step i stays in row i of A, and Q takes the place of A and of the u that it no
 * longer needs: n^2 numbers. Threads have rows t, team + t, ... in turn, and of the symmetric matrix
 * they walk down the columns, so that threads side by side read side by side. What the paper leaves to
 * one thread, sums of n numbers, every thread does for itself: that takes no longer, needs no barrier,
 * and the answer has the same bits for every team. Neighbours of a step of PCR are 2^step apart. Q is
 * formed, two products with it per right-hand side.
 *
 * Barriers are those of the block: every thread passes all of them, those beyond the last system with
 * no rows of their own. 5 barriers per step of Householder's, one per step of (14) and of PCR. A is read
 * once, and once more for the residual.
 */
#ifndef SHOAL_SMALLSYM_PAPER_HHPCR_SHARED_CUH
#define SHOAL_SMALLSYM_PAPER_HHPCR_SHARED_CUH

#include "smallsym/paper/shared.cuh"
#include "smallsym/pcr.cuh"

enum { SHARED_VECTORS = 11, SHARED_CORRECTIONS = 3 }; /* vectors of a system */

typedef struct shared_system {
    int n, t, team;
    real *a;            /* n x n: A, then the vectors u and what is left of A, then Q */
    real *d, *c;        /* U                                                          */
    real *pivot;        /* what PCR leaves of d                                       */
    real *rhs, *z;      /* of U z = v                                                 */
    real *rest;         /* what z leaves of v                                         */
    real *change;       /* of z; before and after that a vector of the system         */
    real *w[4];         /* for a while                                                */
    real *left, *right; /* multipliers of PCR, n numbers per step                     */
} shared_system;

SHOAL_HD static inline int shared_steps(int n) {
    int steps = 0;
    while (1 << steps < n) steps++;
    return steps;
}

/* Numbers of a system; odd, so that the same number of several systems lies in different banks. */
SHOAL_HD static inline int shared_numbers(int n) {
    return (n * (n + SHARED_VECTORS + 2 * shared_steps(n))) | 1;
}

__device__ static inline shared_system shared_open(real *memory, int n, int team, int systems) {
    const int at = threadIdx.x / team;
    const bool there = at < systems;
    real *a = memory + (there ? at : 0) * shared_numbers(n), *v = a + n * n;
    shared_system s;
    s.n = n, s.team = team;
    s.t = there ? threadIdx.x % team : n * n; /* beyond all rows and entries */
    s.a = a, s.d = v, s.c = v + n, s.pivot = v + 2 * n, s.rhs = v + 3 * n, s.z = v + 4 * n;
    s.rest = v + 5 * n, s.change = v + 6 * n;
    for (int i = 0; i < 4; i++) s.w[i] = v + (7 + i) * n;
    s.left = v + SHARED_VECTORS * n, s.right = s.left + n * shared_steps(n);
    return s;
}

__device__ static inline real shared_largest(const real *v, int n) {
    real most = 0;
    for (int i = 0; i < n; i++) most = real_max(real_abs(v[i]), most);
    return most;
}

/* 0, or NaN if a number times 2^e is not finite. */
__device__ static inline real shared_poison(const real *v, int n, int e) {
    real sum = 0;
    for (int i = 0; i < n; i++) sum = real_fma(times_power_of_2(v[i], e), 0, sum);
    return sum;
}

/* A of system k, both triangles, scaled; returns the exponent of the scale. */
__device__ static inline int shared_load_matrix(const shared_system &s, const smallsym_job &job,
                                                int64_t k, bool mine) {
    const real *A = (const real *)job.A + (mine ? k : 0) * job.a.system;
    const int n = s.n;
    for (int i = 0; i < n; i++)
        for (int j = s.t; j <= i; j += s.team)
            s.a[i * n + j] = s.a[j * n + i] = mine ? A[smallsym_at(&job.a, i, j)] : (real)(i == j);
    __syncthreads();
    for (int r = s.t; r < n; r += s.team) {
        real most = 0;
        for (int j = 0; j < n; j++) most = real_max(real_abs(s.a[j * n + r]), most);
        s.w[0][r] = most;
    }
    __syncthreads();
    const int e = exponent_far_from_1(shared_largest(s.w[0], n));
    for (int r = s.t; r < n && e; r += s.team)
        for (int j = 0; j < n; j++) s.a[j * n + r] = times_power_of_2(s.a[j * n + r], -e);
    __syncthreads();
    return e;
}

/* n numbers, `step` apart, to `to`; what is not there is `other`. */
__device__ static inline void shared_load(const shared_system &s, real *to, const real *from,
                                          int64_t step, int n, bool mine, real other) {
    for (int i = s.t; i < n; i += s.team) to[i] = mine ? from[i * step] : other;
}

/* Right-hand side c of system k in s.change, scaled; returns the exponent of the scale. */
__device__ static inline int shared_load_rhs(const shared_system &s, const smallsym_job &job,
                                             int64_t k, int64_t c, bool mine) {
    const real *b = (const real *)job.b + (mine ? rhs_at(job, k, 0, c) : 0);
    shared_load(s, s.change, b, job.b_row * job.nrhs, s.n, mine, 0);
    __syncthreads();
    const int e = exponent_far_from_1(shared_largest(s.change, s.n));
    __syncthreads();
    for (int i = s.t; i < s.n && e; i += s.team) s.change[i] = times_power_of_2(s.change[i], -e);
    __syncthreads();
    return e;
}

/* ---- A = Q U Qt -------------------------------------------------------------------------------- */

/* Sum of squares of `count` numbers. Where squares would lose what counts, of the numbers over
 * `scale`, a power of two; it is 0 if there is nothing to remove. */
__device__ static inline real shared_squares(const real *row, int count, real &scale) {
    const real small = sizeof(real) == 4 ? (real)0x1p-80 : (real)0x1p-800;
    real squares = 0;
    for (int j = 0; j < count; j++) squares = real_fma(row[j], row[j], squares);
    scale = 1;
    if (!(squares < small)) return squares;
    const real largest = shared_largest(row, count);
    if (largest < REAL_MIN) {
        scale = 0;
        return 0;
    }
    const int e = exponent_of(largest);
    scale = times_power_of_2((real)1, e), squares = 0;
    for (int j = 0; j < count; j++) {
        const real v = times_power_of_2(row[j], -e);
        squares = real_fma(v, v, squares);
    }
    return squares;
}

/* (11) to (13): U in d and c, u of step i in row i of a, 1 / b in w[0]. */
__device__ static inline void shared_tridiagonalise(const shared_system &s) {
    const int n = s.n;
    real *a = s.a, *p = s.w[1], *q = s.w[2];
    for (int i = n - 1; i >= 2; i--) {
        real *u = a + i * n, scale;
        const real before = u[i - 1], removed = shared_squares(u, i - 1, scale);
        const real shrink = scale == 0 ? 0 : 1 / scale, last = before * shrink;
        const real squares = real_fma(last, last, removed);
        const real sigma = last < 0 ? -real_sqrt(squares) : real_sqrt(squares);
        const real inverse_b = scale == 0 ? 0 : 1 / real_fma(last, sigma, squares);
        __syncthreads();
        for (int j = s.t; j < i; j += s.team) u[j] = j < i - 1 ? u[j] * shrink : last + sigma;
        if (s.t == 0) {
            s.d[i] = u[i], s.w[0][i] = inverse_b;
            s.c[i - 1] = scale == 0 ? before : -sigma * scale;
        }
        __syncthreads();
        for (int r = s.t; r < i; r += s.team) {
            real sum = 0;
            for (int j = 0; j < i; j++) sum = real_fma(a[j * n + r], u[j], sum);
            p[r] = sum * inverse_b;
        }
        __syncthreads();
        real half = 0; /* ut p / 2b */
        for (int j = 0; j < i; j++) half = real_fma(u[j], p[j], half);
        half *= inverse_b / 2;
        for (int r = s.t; r < i; r += s.team) q[r] = real_fma(-half, u[r], p[r]);
        __syncthreads();
        for (int r = s.t; r < i; r += s.team) {
            const real u_r = u[r], q_r = q[r];
            for (int j = 0; j < i; j++)
                a[j * n + r] = real_fma(-u_r, q[j], real_fma(-q_r, u[j], a[j * n + r]));
        }
        __syncthreads();
    }
    if (s.t == 0) {
        s.d[0] = a[0];
        if (n > 1) s.d[1] = a[n + 1], s.c[0] = a[n];
    }
    __syncthreads();
}

/* (14): Q over the vectors u. Row and column i - 1 of Q_(i-1) are those of the unit matrix. */
__device__ static inline void shared_form_q(const shared_system &s) {
    const int n = s.n;
    for (int i = 1; i <= n; i++) {
        const bool reflects = i >= 2 && i < n;
        const real *u = s.a + i * n;
        for (int m = s.t; m < i; m += s.team) {
            real *column = s.a + m, sum = 0;
            column[(i - 1) * n] = m == i - 1;
            for (int j = 0; j < i - 1 && m == i - 1; j++) column[j * n] = 0;
            if (!reflects) continue;
            for (int j = 0; j < i; j++) sum = real_fma(u[j], column[j * n], sum);
            sum *= -s.w[0][i];
            for (int j = 0; j < i; j++) column[j * n] = real_fma(sum, u[j], column[j * n]);
        }
        __syncthreads();
    }
}

/* to = Qt from, or Q from. */
__device__ static inline void shared_multiply(const shared_system &s, bool transposed,
                                              const real *from, real *to) {
    const int down = transposed ? s.n : 1, across = transposed ? 1 : s.n;
    for (int i = s.t; i < s.n; i += s.team) {
        real sum = 0;
        for (int j = 0; j < s.n; j++) sum = real_fma(s.a[i * across + j * down], from[j], sum);
        to[i] = sum;
    }
    __syncthreads();
}

/* ---- U z = v ------------------------------------------------------------------------------------ */

__device__ static inline void shared_pcr_factor(const shared_system &s) {
    const int n = s.n;
    int step = 0;
    for (int i = s.t; i < n; i += s.team) {
        s.w[0][i] = s.d[i];
        s.w[2][i] = i + 1 < n ? s.c[i] : 0;
    }
    __syncthreads();
    for (int h = 1; h < n; h *= 2, step++) {
        const real *d = s.w[step % 2], *c = s.w[2 + step % 2];
        for (int i = s.t; i < n; i += s.team) {
            const real c_before = i >= h ? c[i - h] : 0, c_beyond = i + h < n ? c[i + h] : 0;
            const real left = i >= h ? c_before / d[i - h] : 0;
            const real right = i + h < n ? c[i] / d[i + h] : 0;
            s.w[(step + 1) % 2][i] = real_fma(-right, c[i], real_fma(-left, c_before, d[i]));
            s.w[2 + (step + 1) % 2][i] = -right * c_beyond;
            s.left[step * n + i] = left, s.right[step * n + i] = right;
        }
        __syncthreads();
    }
    for (int i = s.t; i < n; i += s.team) s.pivot[i] = s.w[step % 2][i];
    __syncthreads();
}

__device__ static inline void shared_pcr_solve(const shared_system &s, const real *v, real *z) {
    const int n = s.n;
    int step = 0;
    for (int i = s.t; i < n; i += s.team) s.w[0][i] = v[i];
    __syncthreads();
    for (int h = 1; h < n; h *= 2, step++) {
        const real *from = s.w[step % 2];
        for (int i = s.t; i < n; i += s.team) {
            const real sum = real_fma(-s.left[step * n + i], i >= h ? from[i - h] : 0, from[i]);
            s.w[(step + 1) % 2][i] =
                real_fma(-s.right[step * n + i], i + h < n ? from[i + h] : 0, sum);
        }
        __syncthreads();
    }
    for (int i = s.t; i < n; i += s.team) z[i] = real_over_pivot(s.w[step % 2][i], s.pivot[i]);
    __syncthreads();
}

/* rest = v - U z, every product and sum in double; the largest of them, NaN if one is. */
__device__ static inline real shared_rest(const shared_system &s, const real *z) {
    const int n = s.n;
    for (int i = s.t; i < n; i += s.team) {
        const double before = i ? (double)s.c[i - 1] * (double)z[i - 1] : 0;
        const double after = i + 1 < n ? (double)s.c[i] * (double)z[i + 1] : 0;
        s.rest[i] = (real)((double)s.rhs[i] - before - (double)s.d[i] * (double)z[i] - after);
    }
    __syncthreads();
    return shared_largest(s.rest, n) + shared_poison(s.rest, n, 0);
}

/* Largest number of U. */
__device__ static inline real shared_size(const shared_system &s) {
    return real_max(shared_largest(s.d, s.n), shared_largest(s.c, s.n - 1));
}

/* z from s.rhs, corrected as long as that helps and is worth it. */
__device__ static inline void shared_pcr_corrected(const shared_system &s) {
    shared_pcr_solve(s, s.rhs, s.z);
    const real roundoff = REAL_EPSILON / 2 * shared_size(s) * shared_largest(s.z, s.n);
    real before = shared_rest(s, s.z);
    bool again = before > roundoff; /* false for NaN */
    for (int step = 0; step < SHARED_CORRECTIONS && __syncthreads_or(again); step++) {
        shared_pcr_solve(s, s.rest, s.change);
        for (int i = s.t; i < s.n; i += s.team) s.change[i] += s.z[i];
        __syncthreads();
        const real after = shared_rest(s, s.change);
        for (int i = s.t; i < s.n && again && after < before; i += s.team) s.z[i] = s.change[i];
        again = again && after < before / 2 && after > roundoff;
        before = after;
        __syncthreads();
    }
    __syncthreads();
}

/* The outcome by the pivots, 1 / pivot(i) = (U^-1)(i,i). */
__device__ static inline void shared_look_at_pivots(const shared_system &s, const smallsym_job &job,
                                                    outcome &o) {
    const int n = s.n;
    const real most = shared_size(s), bad = shared_poison(s.pivot, n, 0);
    real least = (real)INFINITY;
    for (int i = 0; i < n; i++) least = real_min(real_abs(s.pivot[i]), least);
    if (bad != 0 || least == 0)
        o.status = SHOAL_SYSTEM_PIVOT;
    else if (least <= 10 * REAL_EPSILON * most) /* what a singular matrix leaves as a pivot */
        o.status = SHOAL_SYSTEM_ILL;
    o.rcond = (float)(least < most ? least / most : 1);
    o.rank = n;
    o.negative = job.where.inertia ? count_negative(s.d, s.c, n) : 0;
    o.positive = n - o.negative;
}

/* ---- kernels ------------------------------------------------------------------------------------ */

/* Whether d, e, Q or right-hand side c hold a non-finite number, as matrix_is_bad() does. */
__device__ static inline bool parts_are_bad(const smallsym_job &job, const smallsym_parts &from,
                                            int64_t k, int64_t c, int first, int step) {
    const real *d = (const real *)from.d + k * job.b_system, *b = (const real *)job.b;
    const int n = (int)job.n;
    real sum = 0;
    for (int i = first; i < n; i += step) {
        sum = real_fma(b[rhs_at(job, k, i, c)], 0, real_fma(d[i * job.b_row], 0, sum));
        if (i + 1 < n)
            sum = real_fma(((const real *)from.e)[k * from.e_system + i * job.b_row], 0, sum);
        for (int m = 0; m < n && from.q; m++)
            sum = real_fma(
                ((const real *)from.q)[k * from.q_system + ((int64_t)i * n + m) * job.b_row], 0,
                sum);
    }
    return sum != 0;
}

/* d and e times 2^exponent, or NaN, by threads first, first + step, ... */
__device__ static inline void write_tridiagonal(const smallsym_job &job, const smallsym_parts &to,
                                                int64_t k, const real *d, const real *c,
                                                int exponent, bool failed, int first, int step) {
    const int n = (int)job.n;
    for (int i = first; i < n; i += step) {
        ((real *)to.d)[k * job.b_system + i * job.b_row] =
            failed ? real_nan() : times_power_of_2(d[i], exponent);
        if (i + 1 < n)
            ((real *)to.e)[k * to.e_system + i * job.b_row] =
                failed ? real_nan() : times_power_of_2(c[i], exponent);
    }
}

/* Of a matrix that is reduced there is nothing to tell but whether it was; `input`: it was not
 * finite. */
__device__ static inline void judge_reduction(outcome &o, bool failed, bool input) {
    o.status = input ? SHOAL_SYSTEM_NONFINITE : failed ? SHOAL_SYSTEM_OVERFLOW : SHOAL_SYSTEM_OK;
    o.residual = o.rcond = NAN;
    o.rank = o.positive = o.negative = o.zero = -1;
}

__global__ static void shared_reduce_kernel(smallsym_job job, smallsym_parts to, int team,
                                            int systems) {
    SHOAL_SHARED(real, memory);
    const int n = (int)job.n;
    const shared_system s = shared_open(memory, n, team, systems);
    const int64_t k = (int64_t)blockIdx.x * systems + threadIdx.x / team;
    const bool mine = s.t < n && k < job.count;
    const int e_a = shared_load_matrix(s, job, k, mine);
    outcome o = outcome_of(job);
    shared_tridiagonalise(s);
    if (to.q) shared_form_q(s);
    const bool failed = shared_poison(s.d, n, e_a) + shared_poison(s.c, n - 1, e_a) != 0;
    judge_reduction(o, failed, failed && mine && matrix_is_bad(job, k, 0, 1));
    if (mine) {
        write_tridiagonal(job, to, k, s.d, s.c, e_a, o.status < 0, s.t, team);
        for (int e = s.t; e < n * n && to.q; e += team)
            ((real *)to.q)[k * to.q_system + e * job.b_row] = o.status < 0 ? real_nan() : s.a[e];
    }
    settle(job, k, o, mine && s.t == 0);
}

/* d, e and Q of system k, U scaled; returns the exponent of the scale. */
__device__ static inline int shared_load_parts(const shared_system &s, const smallsym_job &job,
                                               const smallsym_parts &from, int64_t k, bool mine) {
    const int n = s.n;
    const int64_t at = mine ? k : 0, row = job.b_row;
    const real *d = (const real *)from.d + at * job.b_system;
    const real *e = (const real *)from.e + at * from.e_system; /* not read where n is 1 */
    shared_load(s, s.d, d, row, n, mine, 1);
    shared_load(s, s.c, e, row, n - 1, mine, 0);
    if (from.q) shared_load(s, s.a, (const real *)from.q + at * from.q_system, row, n * n, mine, 0);
    __syncthreads();
    const int exponent = exponent_far_from_1(shared_size(s));
    __syncthreads();
    for (int i = s.t; i < n && exponent; i += s.team) {
        s.d[i] = times_power_of_2(s.d[i], -exponent);
        if (i + 1 < n) s.c[i] = times_power_of_2(s.c[i], -exponent);
    }
    __syncthreads();
    return exponent;
}

/* |v - U z| / (|U| |z| + |v|), maximum norms. */
__device__ static inline float shared_residual_of_tridiagonal(const shared_system &s) {
    const real most = shared_rest(s, s.z);
    real rows = 0;
    for (int i = 0; i < s.n; i++) {
        const real before = i ? s.c[i - 1] : 0, after = i + 1 < s.n ? s.c[i] : 0;
        rows = real_max(real_abs(before) + real_abs(s.d[i]) + real_abs(after), rows);
    }
    const real below = real_fma(rows, shared_largest(s.z, s.n), shared_largest(s.rhs, s.n));
    return most == 0 ? 0 : (float)(most / below);
}

/* The residual of the answer x to the right-hand side b, both scaled. */
__device__ static inline float shared_residual(const shared_system &s, const smallsym_job &job,
                                               int64_t k, bool mine, int e_a, const real *x,
                                               const real *b) {
    const real *A = (const real *)job.A + (mine ? k : 0) * job.a.system;
    const int n = s.n;
    real *rest = s.w[0], *rows = s.w[1];
    for (int i = s.t; i < n; i += s.team) {
        real r = b[i], size = 0;
        for (int j = 0; j < n && mine; j++) {
            const int64_t at = j <= i ? smallsym_at(&job.a, i, j) : smallsym_at(&job.a, j, i);
            const real v = times_power_of_2(A[at], -e_a);
            r = real_fma(-v, x[j], r), size += real_abs(v);
        }
        rest[i] = r, rows[i] = size;
    }
    __syncthreads();
    const real most = shared_largest(rest, n);
    const real below =
        real_fma(shared_largest(rows, n), shared_largest(x, n), shared_largest(b, n));
    return most == 0 ? 0 : (float)(most / below);
}

/* x of all right-hand sides with what shared_pcr_factor() left. residual(c) is that of x, which it must
 * keep; bad(c): the input is not finite. */
template <class RESIDUAL, class BAD>
__device__ static inline void shared_answer(const shared_system &s, const smallsym_job &job,
                                            int64_t k, bool mine, int e_a, bool with_q, real *x,
                                            const RESIDUAL &residual_of, const BAD &bad) {
    outcome o = outcome_of(job);
    shared_look_at_pivots(s, job, o);
    const int32_t factored = o.status;
    for (int64_t c = 0; c < job.nrhs; c++) {
        const int e_x = shared_load_rhs(s, job, k, c, mine) - e_a;
        if (with_q)
            shared_multiply(s, true, s.change, s.rhs);
        else
            for (int i = s.t; i < s.n; i += s.team) s.rhs[i] = s.change[i];
        __syncthreads();
        shared_pcr_corrected(s);
        if (with_q) shared_multiply(s, false, s.z, x);
        const float residual = smallsym_judged(&job) ? residual_of(c) : 0;
        const bool failed = factored < 0 || shared_poison(x, s.n, e_x) != 0;
        const int32_t status = status_of(job, factored, failed, failed && mine && bad(c), residual);
        if (mine) add_answer(job, o, c, status, residual);
        if (mine && o.redo < 0 && !(status < 0 && job.x == job.b))
            for (int i = s.t; i < s.n; i += s.team)
                ((real *)job.x)[rhs_at(job, k, i, c)] =
                    status < 0 ? real_nan() : times_power_of_2(x[i], e_x);
        __syncthreads();
    }
    settle(job, k, o, mine && s.t == 0);
}

__global__ static void shared_kernel(smallsym_job job, int team, int systems) {
    SHOAL_SHARED(real, memory);
    const shared_system s = shared_open(memory, (int)job.n, team, systems);
    const int64_t k = (int64_t)blockIdx.x * systems + threadIdx.x / team;
    const bool mine = s.t < s.n && k < job.count;
    const int e_a = shared_load_matrix(s, job, k, mine);
    shared_tridiagonalise(s);
    shared_form_q(s);
    shared_pcr_factor(s);
    const auto residual = [&](int64_t c) {
        shared_load_rhs(s, job, k, c, mine); /* corrections were there meanwhile */
        return shared_residual(s, job, k, mine, e_a, s.rest, s.change);
    };
    shared_answer(s, job, k, mine, e_a, true, s.rest, residual,
                  [&](int64_t c) { return input_is_bad(job, k, c, 0, 1); });
}

__global__ static void shared_pcr_kernel(smallsym_job job, smallsym_parts from, int team,
                                         int systems) {
    SHOAL_SHARED(real, memory);
    const shared_system s = shared_open(memory, (int)job.n, team, systems);
    const int64_t k = (int64_t)blockIdx.x * systems + threadIdx.x / team;
    const bool mine = s.t < s.n && k < job.count;
    const int e_a = shared_load_parts(s, job, from, k, mine);
    shared_pcr_factor(s);
    shared_answer(
        s, job, k, mine, e_a, from.q != NULL, from.q ? s.change : s.z,
        [&](int64_t) { return shared_residual_of_tridiagonal(s); },
        [&](int64_t c) { return parts_are_bad(job, from, k, c, 0, 1); });
}

/* SMALLSYM_SOLVE, SMALLSYM_REDUCE or SMALLSYM_PCR. */
static shoal_status run_shared(shoal_smallsym *plan, int variant, const smallsym_job *job,
                               const smallsym_parts *parts, int what) {
    const bool simd = variant == HHPCR_SIMD, coop = variant == HHPCR_COOP;
    const int numbers = shared_numbers((int)job->n);
    void *stream = plan->head.ctx->stream;
    if (what == SMALLSYM_SOLVE) {
        const shared_grid g = shared_grid_of(plan, job, shared_kernel, simd, coop, numbers);
        SHOAL_LAUNCH(shared_kernel, g.blocks, g.threads, g.bytes, stream, *job, g.team, g.systems);
    } else if (what == SMALLSYM_REDUCE) {
        const shared_grid g = shared_grid_of(plan, job, shared_reduce_kernel, simd, coop, numbers);
        SHOAL_LAUNCH(shared_reduce_kernel, g.blocks, g.threads, g.bytes, stream, *job, *parts,
                     g.team, g.systems);
    } else {
        const shared_grid g = shared_grid_of(plan, job, shared_pcr_kernel, simd, coop, numbers);
        SHOAL_LAUNCH(shared_pcr_kernel, g.blocks, g.threads, g.bytes, stream, *job, *parts, g.team,
                     g.systems);
    }
    return shoal_launched(plan->head.ctx, "hhpcr, in shared memory");
}

#endif
