/* SPDX-License-Identifier: Apache-2.0
 *
 * factor.cu - factors of ldlt that are kept: A in, L and D out; then L and D, and b, in, x out, as
 * often as needed (ldlt.c states the equations).
 *
 * A team of T threads has a system in its registers (team.cuh), as in ldlt.cu: factoring is the same,
 * with no right-hand side. L goes back by way of the stage, so that the threads of a team write
 * numbers side by side, and the other triangle is not touched. D is in A's scale; solving brings it
 * near 1 again, and makes D(i) L(j,i), which ldlt_backward() needs above the diagonal, anew: x may
 * differ from that of the fused solve in its last bits.
 *
 * Bytes: factor the triangle twice, resolve the triangle (in sectors), b and x. n <= 64. With opts.estimate a
 * kernel of careful.cu runs first, which factors again.
 */
#include "smallsym/estimate.cuh"

enum { OTHERS = 64 }; /* registers that a thread needs beside those of the matrix, in numbers */

SHOAL_HD static inline bool estimated(const smallsym_job &job) {
    return job.estimate && job.where.rcond;
}

/* ---- factoring --------------------------------------------------------------------------------- */

/* L, and D in A's scale, from registers to the stage. What is wrong with those of this thread: a D that
 * has become zero, a number that is not finite. */
template <int T, int M>
__device__ static inline int32_t stage_factors(real *staged, const real (&a)[M][T * M], int t,
                                               int n, int e_a) {
    real bad = 0;
    bool zero = false;
    UNROLLED(r, M) {
        const int i = r * T + t;
        real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) {
            if (j > i || i >= n) continue;
            real v = a[r][j];
            if (j == i && e_a) v = times_power_of_2(v, e_a);
            zero |= j == i && v == 0;
            bad = real_fma(v, 0, bad);
            row[j] = v;
        }
    }
    return zero ? SHOAL_SYSTEM_PIVOT : bad != 0 ? SHOAL_SYSTEM_OVERFLOW : SHOAL_SYSTEM_OK;
}

/* From the stage to L, which has the shape of A. Of an upper triangle the columns of the lower one
 * lie in one piece, else its rows. */
template <int T, int M>
__device__ static inline void unstage(const smallsym_job &job, const real *staged, int64_t k, int t,
                                      bool failed) {
    const int n = (int)job.n;
    real *L = (real *)job.x + k * job.a.system;
    if (job.a.upper) {
        for (int i = t; i < n; i += T)
            for (int j = 0; j <= i; j++)
                L[smallsym_at(&job.a, i, j)] =
                    failed ? real_nan() : staged[stage<T, M>::row(i) + j];
        return;
    }
#pragma unroll 1
    for (int i = 0; i < n; i++)
#pragma unroll 1
        for (int j = t; j <= i; j += T)
            L[smallsym_at(&job.a, i, j)] = failed ? real_nan() : staged[stage<T, M>::row(i) + j];
}

template <int T, int M>
__global__ static void __launch_bounds__(WARPS *WARP, blocks_of(T *M *(M + 1) / 2, OTHERS))
    factor_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * stage::SYSTEMS;
    if (first >= job.count) return;
    /* a team without a system does the first one of its warp once more, and keeps it to itself */
    const bool mine = first + lane / T < job.count;
    const int64_t k = mine ? first + lane / T : first;
    real *staged = shared + warp * stage::WARP_OVER + lane / T * stage::EITHER;
    const int last = (M - 1) * T + t;
#pragma unroll 1
    for (int j = 0; j < T * M && last >= n; j++) staged[stage::row(last) + j] = j == last;
    stage_triangle<T, M, SHORT>(job, staged, (const real *)job.A + k * job.a.system, t, width);
    shoal_copy_async_wait_all();
    __syncwarp();

    real a[M][T * M], none[M], inverse[M], low, high;
    outcome o = outcome_of(job);
    o.residual = NAN;
    int e_a;
    bool wide;
    stage_scaled<T, M>(staged, t, n, true, e_a, wide);
    team_load<T, M>(a, staged, t);
    UNROLLED(r, M) none[r] = 0;
    __syncwarp(); /* before the panel takes over */
    ldlt_factor<T, M>(a, none, inverse, low, high, staged, t, n);
    look_at_pivots(o, low, high, n);
    if (estimated(job)) o.rcond = job.where.rcond[k]; /* careful.cu put it there */
    __syncwarp();
    const int32_t wrong = stage_factors<T, M>(staged, a, t, n, e_a);
    const bool failed = team_any<T>(wrong < 0 || o.status < 0, lane);
    if (__any_sync(ALL_LANES, failed)) {
        const bool input = team_any<T>(failed && mine && matrix_is_bad(job, k, t, T), lane);
        const bool zero = team_any<T>(wrong == SHOAL_SYSTEM_PIVOT, lane);
        if (input)
            o.status = SHOAL_SYSTEM_NONFINITE;
        else if (failed && o.status >= 0)
            o.status = zero ? SHOAL_SYSTEM_PIVOT : SHOAL_SYSTEM_OVERFLOW;
    }
    __syncwarp(); /* all has been looked at; L may be A */
    if (mine) unstage<T, M>(job, staged, k, t, o.status < 0);
    settle(job, k, o, mine && t == 0);
}

/* ---- solving ----------------------------------------------------------------------------------- */

/* Makes of L, which team_load() brought, what ldlt_factor() would have left: D near 1, its inverse, and
 * D(i) L(j,i) above the diagonal within blocks. The exponent of D. */
template <int T, int M>
__device__ static inline int take_factors(real (&a)[M][T * M], real (&inverse)[M], real &low,
                                          real &high, int t, int n) {
    real most = 0;
    low = (real)INFINITY, high = -(real)INFINITY;
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int q = 0; q < T; q++)
            if (q == t && r * T + t < n) most = real_max(real_abs(a[r][r * T + q]), most);
    const int e = exponent_far_from_1(team_max<T>(most));
    UNROLLED(r, M) {
        real d = 1;
#pragma unroll
        for (int q = 0; q < T; q++)
            if (q == t) d = a[r][r * T + q];
        if (e) d = times_power_of_2(d, -e);
        const bool row = r * T + t < n;
        inverse[r] = row ? real_reciprocal(d) : 0;
        if (row) low = real_min(d, low), high = real_max(d, high);
#pragma unroll
        for (int q = 1; q < T; q++)
            if (q > t) a[r][r * T + q] *= d;
    }
    low = -team_max<T>(-low), high = team_max<T>(high);
    return e;
}

template <int T, int M>
__global__ static void __launch_bounds__(WARPS *WARP, blocks_of(T *M *(M + 1) / 2, OTHERS))
    resolve_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * stage::SYSTEMS;
    if (first >= job.count) return;
    const bool mine = first + lane / T < job.count;
    const int64_t k = mine ? first + lane / T : first;
    real *staged = shared + (warp * stage::SYSTEMS + lane / T) * stage::NUMBERS;
    stage_system<T, M, SHORT>(job, staged, k, t, width);
    shoal_copy_async_wait_all();
    __syncwarp();

    real a[M][T * M], inverse[M], low, high;
    team_load<T, M>(a, staged, t);
    const int e_a = take_factors<T, M>(a, inverse, low, high, t, n);
    outcome o = outcome_of(job);
    o.residual = NAN;
    look_at_pivots(o, low, high, n);
    const int32_t factored = o.status;
#pragma unroll 1
    for (int64_t c = 0; c < job.nrhs; c++) {
        real z[M], most = 0, bad = 0;
        UNROLLED(r, M) {
            const int i = r * T + t;
            z[r] = i >= n   ? 0
                   : c == 0 ? staged[stage::B + i]
                   : mine   ? ((const real *)job.b)[rhs_at(job, k, i, c)]
                            : 0; /* x, which others write, may be b */
            most = real_max(real_abs(z[r]), most);
        }
        const int e_b = exponent_far_from_1(team_max<T>(most)), e_x = e_b - e_a;
#pragma unroll
        for (int r = 0; r < M; r++)
            if (e_b) z[r] = times_power_of_2(z[r], -e_b);
        ldlt_forward<T, M>(a, z, t, n);
        ldlt_backward<T, M>(a, inverse, z, t);
        UNROLLED(r, M) {
            if (e_x) z[r] = times_power_of_2(z[r], e_x);
            bad = real_fma(z[r], 0, bad);
        }
        const bool failed = team_any<T>(bad != 0 || factored < 0, lane);
        bool input = false;
        if (__any_sync(ALL_LANES, failed))
            input = team_any<T>(failed && mine && input_is_bad(job, k, c, t, T), lane);
        const int32_t status = input          ? SHOAL_SYSTEM_NONFINITE
                               : factored < 0 ? factored
                               : failed       ? SHOAL_SYSTEM_OVERFLOW
                                              : SHOAL_SYSTEM_OK;
        if (mine && !(status < 0 && job.x == job.b)) {
            real *x = (real *)job.x;
#pragma unroll
            for (int r = 0; r < M; r++)
                if (r * T + t < n) x[rhs_at(job, k, r * T + t, c)] = status < 0 ? real_nan() : z[r];
        }
        o.status = c ? shoal_worse(o.status, status) : status;
    }
    settle(job, k, o, mine && t == 0);
}

/* ---- launching --------------------------------------------------------------------------------- */

template <int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job,
                           bool factor) {
    typedef stage<T, M> stage;
    const size_t bytes =
        (factor ? (int)stage::WARP_OVER : stage::SYSTEMS * stage::NUMBERS) * sizeof(real);
    const auto kernel = factor ? factor_kernel<T, M> : resolve_kernel<T, M>;
    const warp_grid g = warp_grid_of(plan, job, kernel, stage::SYSTEMS, bytes);
    if (factor)
        SHOAL_LAUNCH((factor_kernel<T, M>), g.blocks, g.threads, g.bytes, plan->head.ctx->stream,
                     *job, stage_width(job));
    else
        SHOAL_LAUNCH((resolve_kernel<T, M>), g.blocks, g.threads, g.bytes, plan->head.ctx->stream,
                     *job, stage_width(job));
    return shoal_launched(plan->head.ctx, factor ? "ldlt, factor" : "ldlt, resolve");
}

extern "C" shoal_status R(smallsym_ldlt_factor)(shoal_smallsym *plan, const smallsym_job *job,
                                                bool resolve) {
    if (!resolve && estimated(*job)) { /* first, as L may take the place of A */
        smallsym_job alone = *job;
        alone.nrhs = alone.refine = alone.look = 0;
        const shoal_status status = R(smallsym_ldlt_careful)(plan, &alone);
        if (status != SHOAL_OK) return status;
    }
    return by_size(job->n, [&](auto size) { return launch(size, plan, job, !resolve); });
}
