/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr_shared.cuh - A x = b by the paper's three versions of hhpcr, simd, coop and hybrid
 * (householder_shared.cuh): as many systems a block as fit into shared memory, Q formed, two products
 * with it a right-hand side. They are here to be compared with (Figures 9 and 10).
 *
 * A is read once, and once more where the residual is wanted.
 */
#ifndef SHOAL_SMALLSYM_PAPER_HHPCR_SHARED_CUH
#define SHOAL_SMALLSYM_PAPER_HHPCR_SHARED_CUH

#include "smallsym/paper/householder_shared.cuh"

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

__global__ static void shared_kernel(smallsym_job job, int team, int systems) {
    SHOAL_SHARED(real, memory);
    const int n = (int)job.n;
    const shared_system s = shared_open(memory, n, team, systems);
    const int64_t k = (int64_t)blockIdx.x * systems + threadIdx.x / team;
    const bool mine = s.t < n && k < job.count;
    const int e_a = shared_load_matrix(s, job, k, mine);
    outcome o = outcome_of(job);
    shared_tridiagonalise(s);
    shared_form_q(s);
    shared_pcr_factor(s);
    shared_look_at_pivots(s, job, o);
    const int32_t factored = o.status;
    for (int64_t c = 0; c < job.nrhs; c++) {
        const int e_b = shared_load_rhs(s, job, k, c, mine), e_x = e_b - e_a;
        real *x = s.rest;
        shared_multiply(s, true, s.change, s.rhs);
        shared_pcr_corrected(s);
        shared_multiply(s, false, s.z, x);
        float residual = 0;
        if (smallsym_judged(&job)) {
            shared_load_rhs(s, job, k, c, mine); /* corrections were there meanwhile */
            residual = shared_residual(s, job, k, mine, e_a, x, s.change);
        }
        const bool failed = factored < 0 || shared_poison(x, n, e_x) != 0;
        const bool input = failed && mine && input_is_bad(job, k, c, 0, 1);
        const int32_t status = status_of(job, factored, failed, input, residual);
        if (mine) add_answer(job, o, c, status, residual);
        if (mine && o.redo < 0 && !(status < 0 && job.x == job.b))
            for (int i = s.t; i < n; i += team)
                ((real *)job.x)[rhs_at(job, k, i, c)] =
                    status < 0 ? real_nan() : times_power_of_2(x[i], e_x);
        __syncthreads();
    }
    settle(job, k, o, mine && s.t == 0);
}

static shoal_status run_shared(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    const shared_grid g = shared_grid_of(plan, variant, job);
    shoal_allow_shared(plan->head.ctx, shared_kernel);
    SHOAL_LAUNCH(shared_kernel, g.blocks, g.threads, g.bytes, plan->head.ctx->stream, *job, g.team,
                 g.systems);
    return shoal_launched(plan->head.ctx, "hhpcr, in shared memory");
}

#endif
