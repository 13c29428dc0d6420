/* SPDX-License-Identifier: Apache-2.0
 *
 * householder_shared.cuh - A = Q U Qt and U z = v in shared memory, by `team` threads a system: the
 * paper's versions of hhpcr (section 4.2), which are one code.
 *     simd    team = 1: threads that are all independent of each other
 *     coop    team = n: a thread for each row
 *     hybrid  team = n*: n / 2 below 40 and n from there on, or what opts.team says
 * As in the paper u of step i stays in row i of A, and Q takes the place of A and of the u that it no
 * longer needs: n^2 numbers. Threads have rows t, team + t, ... in turn, and of the symmetric matrix
 * they walk down the columns, so that threads side by side read side by side. What the paper leaves to
 * one thread, sums of n numbers, every thread does for itself: that takes no longer, needs no barrier,
 * and the answer has the same bits for every team. Neighbours of a step of PCR are 2^step apart.
 *
 * Barriers are those of the block: every thread passes all of them, those beyond the last system with
 * no rows of their own. 5 barriers a step of Householder's, one a step of (14) and of PCR.
 */
#ifndef SHOAL_SMALLSYM_PAPER_HOUSEHOLDER_SHARED_CUH
#define SHOAL_SMALLSYM_PAPER_HOUSEHOLDER_SHARED_CUH

#include "smallsym/device.cuh"

enum {
    SHARED_THREADS = 256, /* of a block, about                       */
    SHARED_VECTORS = 11,  /* of a system                             */
    SHARED_CORRECTIONS = 3
};

typedef struct shared_system {
    int n, t, team;
    real *a;            /* n x n: A, then the vectors u and what is left of A, then Q */
    real *d, *c;        /* U                                                          */
    real *pivot;        /* what PCR leaves of d                                       */
    real *rhs, *z;      /* of U z = v                                                 */
    real *rest;         /* what z leaves of v                                         */
    real *change;       /* of z; before and after that a vector of the system         */
    real *w[4];         /* for a while                                                */
    real *left, *right; /* multipliers of PCR, n numbers a step                      */
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

/* What the pivots say: 1 / pivot(i) = (U^-1)(i,i). */
__device__ static inline void shared_look_at_pivots(const shared_system &s, const smallsym_job &job,
                                                    outcome &o) {
    const real most = shared_size(s), bad = shared_poison(s.pivot, s.n, 0);
    real least = (real)INFINITY, q = 1;
    for (int i = 0; i < s.n; i++) least = real_min(real_abs(s.pivot[i]), least);
    if (bad != 0 || least == 0)
        o.status = SHOAL_SYSTEM_PIVOT;
    else if (least <= 10 * REAL_EPSILON * most) /* what a singular matrix leaves as a pivot */
        o.status = SHOAL_SYSTEM_ILL;
    o.rcond = (float)(least < most ? least / most : 1);
    o.rank = o.positive = s.n;
    if (!job.where.inertia) return;
    for (int i = 0; i < s.n; i++) { /* Sturm's sequence */
        const real c = i ? s.c[i - 1] : 0;
        q = real_fma(-c / q, c, s.d[i]);
        if (real_abs(q) < REAL_MIN) q = REAL_MIN;
        o.negative += q < 0;
    }
    o.positive = s.n - o.negative;
}

/* ---- launching ---------------------------------------------------------------------------------- */

typedef struct shared_grid {
    int team, systems; /* of a block */
    dim3 blocks, threads;
    size_t bytes;
} shared_grid;

static inline shared_grid shared_grid_of(const shoal_smallsym *plan, int variant,
                                         const smallsym_job *job) {
    const int n = (int)job->n, half = n < 40 ? (n + 1) / 2 : n;
    const size_t bytes = (size_t)shared_numbers(n) * sizeof(real);
    shared_grid g;
    g.team = variant == HHPCR_SIMD ? 1 : variant == HHPCR_COOP ? n : job->team ? job->team : half;
    if (g.team > n) g.team = n;
    g.systems = (int)(shoal_most_shared(plan->head.ctx) / bytes);
    if (g.systems > SHARED_THREADS / g.team) g.systems = SHARED_THREADS / g.team;
    g.blocks = dim3((unsigned)((job->count + g.systems - 1) / g.systems));
    g.threads = dim3((unsigned)((g.systems * g.team + WARP - 1) / WARP * WARP)); /* whole warps */
    g.bytes = g.systems * bytes;
    return g;
}

#endif
