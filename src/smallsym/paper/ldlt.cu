/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt.cu - the paper's own variants of ldlt, "simd", "coop" and "hybrid" (shared.cuh), to compare with
 * (Figures 4, 5 and 6).
 *
 * The triangle lies column after column, n (n + 1) / 2 numbers and n for the right-hand side;
 * columns are finished one after the other, D by one thread, then L by all, equation (5). One barrier
 * per column is enough, see shared_factor().
 */
#include "smallsym/paper/shared.cuh"

__device__ static inline int column_at(int n, int j) { return j * n - j * (j - 1) / 2 - j; }

/* L and D in place: a[column_at(n, j) + i] is L(i,j), and D(j) where i = j. No barrier after L: thread 0
 * computes D(j+1) from row j + 1, where it wrote L(j+1,j) itself and a barrier followed the other
 * columns. All else that column j + 1 reads is read after its own barrier. */
__device__ static inline void shared_factor(real *a, int n, int t, int team) {
    for (int j = 0; j < n; j++) {
        real *column = a + column_at(n, j);
        if (t == 0) {
            real d = column[j]; /* D(j) = A(j,j) - sum L(j,k)^2 D(k) */
            for (int k = 0; k < j; k++) {
                const real *other = a + column_at(n, k);
                d = real_fma(-other[j] * other[j], other[k], d);
            }
            column[j] = d;
        }
        __syncthreads();
        for (int i = j + 1 + t; i < n; i += team) {
            real v = column[i]; /* L(i,j) = (A(i,j) - sum L(i,k) L(j,k) D(k)) / D(j) */
            for (int k = 0; k < j; k++) {
                const real *other = a + column_at(n, k);
                v = real_fma(-other[i] * other[j], other[k], v);
            }
            column[i] = v / column[j];
        }
    }
}

__device__ static inline void shared_solve(const real *a, real *y, int n, int t, int team) {
    for (int k = 0; k < n; k++) {
        const real *column = a + column_at(n, k);
        for (int i = k + 1 + t; i < n; i += team) y[i] = real_fma(-column[i], y[k], y[i]);
        __syncthreads();
    }
    for (int i = t; i < n; i += team) y[i] /= a[column_at(n, i) + i];
    __syncthreads();
    for (int k = n - 1; k > 0; k--) {
        for (int i = t; i < k; i += team) y[i] = real_fma(-a[column_at(n, i) + k], y[k], y[i]);
        __syncthreads();
    }
}

/* Exponents by which A (that of its diagonal, as of a definite matrix) and b are scaled. */
typedef struct scales {
    int a, b;
} scales;

__device__ static inline int rhs_exponent(const smallsym_job &job, const real *b) {
    real most = 0;
    for (int i = 0; i < (int)job.n; i++)
        most = real_max(real_abs(b[i * job.b_row * job.nrhs]), most);
    return exponent_far_from_1(most);
}

__device__ static inline int diagonal_exponent(const smallsym_job &job, const real *A) {
    real most = 0;
    for (int i = 0; i < (int)job.n; i++)
        most = real_max(real_abs(A[smallsym_at(&job.a, i, i)]), most);
    return exponent_far_from_1(most);
}

/* The residual of the answer y of a system, by one thread. */
__device__ static inline float shared_residual(const smallsym_job &job, const real *A,
                                               const real *y, int64_t k, int64_t c, scales e) {
    const int n = (int)job.n;
    real r_most = 0, a_most = 0, x_most = 0, b_most = 0;
    for (int i = 0; i < n; i++) {
        const real b = times_power_of_2(((const real *)job.b)[rhs_at(job, k, i, c)], -e.b);
        real r = b, size = 0;
        for (int j = 0; j < n; j++) {
            const real v = times_power_of_2(
                A[j <= i ? smallsym_at(&job.a, i, j) : smallsym_at(&job.a, j, i)], -e.a);
            r = real_fma(-v, y[j], r), size += real_abs(v);
        }
        r_most = real_max(real_abs(r), r_most), a_most = real_max(size, a_most);
        x_most = real_max(real_abs(y[i]), x_most), b_most = real_max(real_abs(b), b_most);
    }
    return r_most == 0 ? 0 : (float)(r_most / real_fma(a_most, x_most, b_most));
}

/* Status of right-hand side c, which joins the outcome, by one thread. */
__device__ static inline int32_t shared_judge(const smallsym_job &job, const real *A, const real *a,
                                              const real *y, int64_t k, int64_t c, scales e,
                                              outcome &o) {
    const int n = (int)job.n;
    real low = (real)INFINITY, high = -low, bad = 0;
    for (int i = 0; i < n; i++) {
        const real d = a[column_at(n, i) + i];
        low = d < low ? d : low, high = d > high ? d : high;
        bad = real_fma(times_power_of_2(y[i], e.b - e.a), 0, bad);
    }
    outcome factored = outcome_of(job);
    look_at_pivots(factored, low, high, n);
    o.rcond = factored.rcond, o.rank = n;
    o.positive = factored.positive, o.negative = factored.negative;
    const bool failed = bad != 0 || factored.status < 0;
    const float residual = smallsym_judged(&job) ? shared_residual(job, A, y, k, c, e) : 0;
    const int32_t status =
        status_of(job, factored.status, failed, failed && input_is_bad(job, k, c, 0, 1), residual);
    add_answer(job, o, c, status, residual);
    return status;
}

__global__ static void shared_kernel(smallsym_job job, int team, int systems) {
    SHOAL_SHARED(real, shared);
    SHOAL_SHARED_ARRAY(int32_t, decided, SHARED_THREADS);
    const int n = (int)job.n, t = threadIdx.x % team, s = threadIdx.x / team;
    const int numbers = n * (n + 1) / 2 + n;
    const int64_t k = (int64_t)blockIdx.x * systems + s;
    const bool mine = s < systems && k < job.count;
    real *a = shared + (s < systems ? s : 0) * numbers, *y = a + n * (n + 1) / 2;
    const real *A = (const real *)job.A + (mine ? k : 0) * job.a.system;
    const int rows = s < systems ? n : 0; /* threads beyond the last system only wait */
    scales e = { mine ? diagonal_exponent(job, A) : 0, 0 };
    for (int j = 0; j < rows; j++)
        for (int i = j + t; i < rows; i += team)
            a[column_at(n, j) + i] =
                mine ? times_power_of_2(A[smallsym_at(&job.a, i, j)], -e.a) : (real)(i == j);
    __syncthreads();
    shared_factor(a, n, s < systems ? t : n, team);
    outcome o = outcome_of(job);
    for (int64_t c = 0; c < job.nrhs; c++) {
        const real *b = (const real *)job.b + rhs_at(job, mine ? k : 0, 0, c);
        e.b = mine ? rhs_exponent(job, b) : 0;
        for (int i = t; i < rows; i += team)
            y[i] = mine ? times_power_of_2(b[i * job.b_row * job.nrhs], -e.b) : 0;
        __syncthreads();
        shared_solve(a, y, n, s < systems ? t : n, team);
        if (mine && t == 0) decided[s] = shared_judge(job, A, a, y, k, c, e, o);
        __syncthreads();
        if (mine && !(decided[s] < 0 && job.x == job.b))
            for (int i = t; i < n; i += team)
                ((real *)job.x)[rhs_at(job, k, i, c)] =
                    decided[s] < 0 ? real_nan() : times_power_of_2(y[i], e.b - e.a);
        /* no barrier: each thread overwrites the y it has read, and `decided` follows the solve */
    }
    settle(job, k, o, mine && t == 0);
}

extern "C" shoal_status R(smallsym_ldlt_paper)(shoal_smallsym *plan, int variant,
                                               const smallsym_job *job) {
    const int n = (int)job->n;
    const shared_grid g = shared_grid_of(plan, job, shared_kernel, variant == LDLT_SIMD,
                                         variant == LDLT_COOP, n * (n + 1) / 2 + n);
    SHOAL_LAUNCH(shared_kernel, g.blocks, g.threads, g.bytes, plan->head.ctx->stream, *job, g.team,
                 g.systems);
    return shoal_launched(plan->head.ctx, "ldlt, in shared memory");
}
