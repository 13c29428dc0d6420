/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.cu - the paper's own variants of hhpcr, to compare with: "formed", in registers, with Q
 * formed (Figure 9), and "simd", "coop" and "hybrid" in shared memory (hhpcr_shared.cuh); and the stages
 * of hhpcr, each alone: A = Q U Qt (householder.cuh), and x = Q U^-1 Qt b by parallel cyclic reduction
 * (pcr.cuh) and two products with Q. A team of T threads has a system; A, and then Q, are in its
 * registers, one column of Q per thread.
 *
 * Bytes moved: of the first stage one triangle of A, d and e, and Q; of the second d, e, Q, b and x,
 * each once.
 */
#include "smallsym/hhpcr.cuh"
#include "smallsym/paper/hhpcr_shared.cuh"

extern "C" shoal_status R(smallsym_hhpcr_paper)(shoal_smallsym *plan, int variant,
                                                const smallsym_job *job) {
    if (variant != HHPCR_FORMED) return run_shared(plan, variant, job, NULL, SMALLSYM_SOLVE);
    return by_size(job->n, [&](auto size) { return launch<true, true>(size, plan, job); });
}

/* ---- A = Q U Qt -------------------------------------------------------------------------------- */

template <int T, int M>
__global__ static void __launch_bounds__(WARPS *WARP)
    reduce_kernel(smallsym_job job, smallsym_parts to, int width) {
    constexpr int SYSTEMS = WARP / T;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * SYSTEMS, k = first + lane / T;
    const bool mine = k < job.count;
    if (first >= job.count) return;
    real *memory = shared + (warp * SYSTEMS + lane / T) * (int)room<T, M>::REDUCED;
    const reflectors<T, M> w = { memory };
    stage_matrix<T, M>(job, memory, k, t, width);
    shoal_copy_async_wait_all();
    __syncwarp();

    real a[M][T * M], none[M] = {}, bad = 0;
    const int e_a = take_rows<T, M>(a, memory, memory, NULL, t, n, mine).e_a;
    tridiagonalise<T, M>(a, none, w, t, n);
    for (int i = t; i < n; i += T) {
        bad = real_fma(times_power_of_2(w.d()[i], e_a), 0, bad);
        if (i + 1 < n) bad = real_fma(times_power_of_2(w.c()[i], e_a), 0, bad);
    }
    const bool failed = team_any<T>(bad != 0, lane);
    const bool input = team_any<T>(failed && mine && matrix_is_bad(job, k, t, T), lane);
    outcome o = outcome_of(job);
    judge_reduction(o, failed, input);
    if (mine) write_tridiagonal(job, to, k, w.d(), w.c(), e_a, o.status < 0, t, T);
    if (to.q) {
        form_q<T, M>(w, a, t, n);
        real *q = (real *)to.q + k * to.q_system;
#pragma unroll
        for (int r = 0; r < M; r++)
#pragma unroll
            for (int j = 0; j < T * M; j++)
                if (mine && j < n && r * T + t < n)
                    q[(j * n + r * T + t) * job.b_row] = o.status < 0 ? real_nan() : a[r][j];
    }
    settle(job, k, o, mine && t == 0);
}

template <int T, int M>
static shoal_status launch_reduce(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job,
                                  const smallsym_parts *to) {
    const size_t bytes = WARP / T * (int)room<T, M>::REDUCED * sizeof(real);
    const warp_grid g = warp_grid_of(plan, job, reduce_kernel<T, M>, WARP / T, bytes);
    SHOAL_LAUNCH((reduce_kernel<T, M>), g.blocks, g.threads, g.bytes, plan->head.ctx->stream, *job,
                 *to, stage_width(job));
    return shoal_launched(plan->head.ctx, "Householder's reduction");
}

/* ---- x = Q U^-1 Qt b --------------------------------------------------------------------------- */

template <int T, int M>
struct vectors { /* numbers of a team: d and c of U, and two that are shown */
    enum { N = T * M, NUMBERS = bank_step(4 * N, T) };
};

/* U, scaled; returns the exponent of the scale. */
template <int T, int M>
__device__ static inline int load_tridiagonal(const smallsym_job &job, const smallsym_parts &from,
                                              real *d, real *c, int64_t k, bool mine, int t) {
    const int n = (int)job.n;
    const real *from_d = (const real *)from.d + k * job.b_system;
    const real *from_e = (const real *)from.e + k * from.e_system;
    real largest = 0;
    for (int i = t; i < n; i += T) {
        d[i] = mine ? from_d[i * job.b_row] : 1;
        c[i] = mine && i + 1 < n ? from_e[i * job.b_row] : 0;
        largest = real_max(real_max(real_abs(d[i]), real_abs(c[i])), largest);
    }
    const int e = exponent_far_from_1(team_max<T>(largest));
    for (int i = t; i < n && e; i += T) {
        d[i] = times_power_of_2(d[i], -e);
        c[i] = times_power_of_2(c[i], -e);
    }
    __syncwarp();
    return e;
}

/* |v - U z| / (|U| |z| + |v|), maximum norms. */
template <int T, int M>
__device__ static inline float residual_of_tridiagonal(const equations<T, M> &u, const real (&v)[M],
                                                       const real (&z)[M], real *shown, int t,
                                                       int n) {
    real rest[M], rows = 0, z_most = 0, v_most = 0;
    const real most = pcr_rest(u, v, z, rest, shown, t, n);
    UNROLLED(r, M) {
        if (r * T + t >= n) continue;
        rows = real_max(real_abs(u.before[r]) + real_abs(u.d[r]) + real_abs(u.after[r]), rows);
        z_most = real_max(real_abs(z[r]), z_most), v_most = real_max(real_abs(v[r]), v_most);
    }
    const real below = real_fma(team_max<T>(rows), team_max<T>(z_most), team_max<T>(v_most));
    return most == 0 ? 0 : (float)(most / below);
}

template <int T, int M, bool WITH_Q>
__global__ static void __launch_bounds__(WARPS *WARP)
    pcr_kernel(smallsym_job job, smallsym_parts from) {
    typedef vectors<T, M> vectors;
    constexpr int SYSTEMS = WARP / T;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * SYSTEMS, k = first + lane / T;
    const bool mine = k < job.count;
    if (first >= job.count) return;
    real *d = shared + (warp * SYSTEMS + lane / T) * (int)vectors::NUMBERS, *c = d + vectors::N;
    real *shown = c + vectors::N, q[M][WITH_Q ? T * M : 1], size = 0;
    if constexpr (WITH_Q) {
        const real *Q = (const real *)from.q + k * from.q_system;
#pragma unroll
        for (int r = 0; r < M; r++)
#pragma unroll
            for (int j = 0; j < T * M; j++)
                q[r][j] = mine && j < n && r * T + t < n ? Q[(j * n + r * T + t) * job.b_row] : 0;
    }
    const int e_a = load_tridiagonal<T, M>(job, from, d, c, k, mine, t);
    equations<T, M> u;
    outcome o = outcome_of(job);
    pcr_factor(u, d, c, shown, shown + vectors::N, t, n);
    look_at_pivots(o, u, size, t, n);
    const int32_t factored = o.status;
    o.rank = n;
    o.negative = job.where.inertia ? count_negative(d, c, n) : 0;
    o.positive = n - o.negative;
    for (int64_t column = 0; column < job.nrhs; column++) {
        real v[M], z[M];
        const int e_b = team_rhs<T, M>(job, v, k, column, mine, t, n);
        if constexpr (WITH_Q) multiply_by_formed<T, M>(q, v, shown, true, t);
        UNROLLED(r, M) z[r] = v[r];
        pcr_corrected(u, z, size, shown, t, n);
        float residual = 0;
        if (smallsym_judged(&job)) residual = residual_of_tridiagonal(u, v, z, shown, t, n);
        if constexpr (WITH_Q) multiply_by_formed<T, M>(q, z, shown, false, t);
        real bad = 0;
        UNROLLED(r, M) {
            z[r] = r * T + t < n ? times_power_of_2(z[r], e_b - e_a) : 0;
            bad = real_fma(z[r], 0, bad);
        }
        const bool failed = team_any<T>(bad != 0 || factored < 0, lane);
        const bool input =
            team_any<T>(failed && mine && parts_are_bad(job, from, k, column, t, T), lane);
        const int32_t status = status_of(job, factored, failed, input, residual);
        if (!mine) continue;
        add_answer(job, o, column, status, residual);
        if (status < 0 && job.x == job.b) continue;
#pragma unroll
        for (int r = 0; r < M; r++)
            if (r * T + t < n)
                ((real *)job.x)[rhs_at(job, k, r * T + t, column)] = status < 0 ? real_nan() : z[r];
    }
    settle(job, k, o, mine && t == 0);
}

template <bool WITH_Q, int T, int M>
static shoal_status launch_pcr(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job,
                               const smallsym_parts *from) {
    const size_t bytes = WARP / T * (int)vectors<T, M>::NUMBERS * sizeof(real);
    const warp_grid g = warp_grid_of(plan, job, pcr_kernel<T, M, WITH_Q>, WARP / T, bytes);
    SHOAL_LAUNCH((pcr_kernel<T, M, WITH_Q>), g.blocks, g.threads, g.bytes, plan->head.ctx->stream,
                 *job, *from);
    return shoal_launched(plan->head.ctx, "cyclic reduction");
}

static shoal_status run_stage(shoal_smallsym *plan, int what, const smallsym_job *job,
                              const smallsym_arrays *with) {
    const smallsym_parts *parts = &with->parts;
    if (plan->first.variant > HHPCR_FORMED)
        return run_shared(plan, plan->first.variant, job, parts, what);
    return by_size(job->n, [&](auto size) {
        return what == SMALLSYM_REDUCE ? launch_reduce(size, plan, job, parts)
               : parts->q              ? launch_pcr<true>(size, plan, job, parts)
                                       : launch_pcr<false>(size, plan, job, parts);
    });
}

extern "C" const smallsym_stages R(smallsym_stages) = { run_stage };
