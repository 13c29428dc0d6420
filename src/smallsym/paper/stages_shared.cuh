/* SPDX-License-Identifier: Apache-2.0
 *
 * stages_shared.cuh - the stages of hhpcr in the paper's versions simd, coop and hybrid, each alone:
 * householder_shared.cuh. The first is what the continuous line of Figure 10 compares, the second what
 * Figure 9 times.
 */
#ifndef SHOAL_SMALLSYM_PAPER_STAGES_SHARED_CUH
#define SHOAL_SMALLSYM_PAPER_STAGES_SHARED_CUH

#include "smallsym/paper/householder_shared.cuh"
#include "smallsym/paper/stages.cuh"

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

__global__ static void shared_pcr_kernel(smallsym_job job, smallsym_parts from, int team,
                                         int systems) {
    SHOAL_SHARED(real, memory);
    const int n = (int)job.n;
    const shared_system s = shared_open(memory, n, team, systems);
    const int64_t k = (int64_t)blockIdx.x * systems + threadIdx.x / team;
    const bool mine = s.t < n && k < job.count;
    const int e_a = shared_load_parts(s, job, from, k, mine);
    outcome o = outcome_of(job);
    shared_pcr_factor(s);
    shared_look_at_pivots(s, job, o);
    const int32_t factored = o.status;
    for (int64_t c = 0; c < job.nrhs; c++) {
        const int e_x = shared_load_rhs(s, job, k, c, mine) - e_a;
        real *x = from.q ? s.change : s.z;
        if (from.q)
            shared_multiply(s, true, s.change, s.rhs);
        else
            for (int i = s.t; i < n; i += team) s.rhs[i] = s.change[i];
        __syncthreads();
        shared_pcr_corrected(s);
        const float residual = smallsym_judged(&job) ? shared_residual_of_tridiagonal(s) : 0;
        if (from.q) shared_multiply(s, false, s.z, x);
        const bool failed = factored < 0 || shared_poison(x, n, e_x) != 0;
        const bool input = failed && mine && parts_are_bad(job, from, k, c, 0, 1);
        const int32_t status = status_of(job, factored, failed, input, residual);
        if (mine) add_answer(job, o, c, status, residual);
        if (mine && !(status < 0 && job.x == job.b))
            for (int i = s.t; i < n; i += team)
                ((real *)job.x)[rhs_at(job, k, i, c)] =
                    status < 0 ? real_nan() : times_power_of_2(x[i], e_x);
        __syncthreads();
    }
    settle(job, k, o, mine && s.t == 0);
}

static shoal_status run_shared_reduce(shoal_smallsym *plan, int variant, const smallsym_job *job,
                                      const smallsym_parts *to) {
    const shared_grid g = shared_grid_of(plan, variant, job);
    shoal_allow_shared(plan->head.ctx, shared_reduce_kernel);
    SHOAL_LAUNCH(shared_reduce_kernel, g.blocks, g.threads, g.bytes, plan->head.ctx->stream, *job,
                 *to, g.team, g.systems);
    return shoal_launched(plan->head.ctx, "Householder's reduction, in shared memory");
}

static shoal_status run_shared_pcr(shoal_smallsym *plan, int variant, const smallsym_job *job,
                                   const smallsym_parts *from) {
    const shared_grid g = shared_grid_of(plan, variant, job);
    shoal_allow_shared(plan->head.ctx, shared_pcr_kernel);
    SHOAL_LAUNCH(shared_pcr_kernel, g.blocks, g.threads, g.bytes, plan->head.ctx->stream, *job,
                 *from, g.team, g.systems);
    return shoal_launched(plan->head.ctx, "cyclic reduction, in shared memory");
}

#endif
