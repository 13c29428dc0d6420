/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt.cu - A = L D Lt and the solve, fused, on the GPU: A in, x out (ldlt.c states the equations).
 *
 * Variant "team", the default: a matrix lives in the registers of T threads (team.cuh), 32 / T
 * systems a warp. This is the paper's hybrid version, n* = T threads a system, moved from shared
 * memory to registers: a column is shown to the team through shared memory, everything else stays
 * where it is. For small n one thread has a system alone (ldlt_thread.cuh). T and the padded size
 * N = T M are chosen below.
 *
 * The warps stay: each takes batch after batch, and while it computes, the next one is on its way to
 * the stage that its registers have just emptied. (If the residual is wanted the stage is needed
 * longer, and less is hidden.) Instructions a system, n = 32, T = 8: about 700, of which 240
 * multiply-adds; bytes: the triangle once (in sectors), b and x.
 *
 * Variants "simd", "coop" and "hybrid" are the paper's own (section 3.2): ldlt_shared.cuh.
 */
#include "smallsym/ldlt.cuh"
#include "smallsym/ldlt_shared.cuh"
#include "smallsym/ldlt_thread.cuh"
#include "smallsym/stage.cuh"

#ifndef OTHERS
#define OTHERS 64
#endif

/* One batch of a warp, which lies on its stages: answers to all right-hand sides. */
template <int T, int M>
__device__ static inline void team_batch(const smallsym_job &job, real *staged, real *column,
                                         int64_t k, int t, int width, int64_t step) {
    typedef stage<T, M> stage;
    const int n = (int)job.n;
    const bool mine = k < job.count, judged = smallsym_judged(&job);
    const real *from = (const real *)job.b;
    real a[M][T * M], inverse[M], next[M], low, high;
    shoal_copies_done();
    __syncwarp();
    team_load<T, M>(a, staged, t);
    const int e_a = exponent_far_from_1(stage_largest<T, M>(staged, t));
#pragma unroll
    for (int r = 0; r < M; r++) next[r] = staged[stage::B + r * T + t];
    __syncwarp();
    if (__any_sync(ALL_LANES, e_a != 0)) team_scale<T, M>(a, staged, t, n, e_a);
    if (!judged) stage_system<T, M>(job, staged, k + step, t, width);
    ldlt_factor<T, M>(a, inverse, low, high, column, t, n);
    outcome o = { SHOAL_SYSTEM_OK, 0, 0, 0, 0, 0, 0, job.first_row };
    look_at_pivots(o, low, high, n);
    const int32_t factored = o.status;

    for (int64_t c = 0; c < job.nrhs; c++) {
        real largest = 0, b[M], kept[M];
#pragma unroll
        for (int r = 0; r < M; r++) {
            kept[r] = next[r];
            largest = real_max(real_abs(kept[r]), largest);
            if (c + 1 < job.nrhs)
                next[r] = mine && r * T + t < n ? from[rhs_at(job, k, r * T + t, c + 1)] : 0;
        }
        const int e_b = exponent_far_from_1(team_max<T>(largest)), e_x = e_b - e_a;
#pragma unroll
        for (int r = 0; r < M; r++) {
            if (e_b) kept[r] = times_power_of_2(kept[r], -e_b);
            b[r] = kept[r];
        }
        ldlt_solve<T, M>(a, inverse, b, t, n);
        float residual = 0;
        if (judged) residual = team_residual<T, M>(staged, b, kept, column, t);
        real bad = 0;
#pragma unroll
        for (int r = 0; r < M; r++) {
            if (e_x) b[r] = times_power_of_2(b[r], e_x);
            bad = real_fma(b[r], 0, bad);
        }
        const bool failed = team_sum<T>(bad) != 0 || factored < 0;
        const bool input =
            team_any<T>(failed && mine && input_is_bad(job, k, c, t, T), threadIdx.x % WARP);
        const int32_t status = status_of(job, factored, failed, input, residual);
        if (status < 0) residual = NAN;
        if (mine && !(status < 0 && job.x == job.b)) {
            real *x = (real *)job.x;
#pragma unroll
            for (int r = 0; r < M; r++)
                if (r < M - 1 || r * T + t < n)
                    x[rhs_at(job, k, r * T + t, c)] = status < 0 ? real_nan() : b[r];
        }
        o.status = c ? worse(o.status, status) : status;
        if (!(residual <= o.residual)) o.residual = residual; /* NaN stays */
    }
    settle(job, k, o, mine && t == 0);
    if (judged) {
        __syncwarp();
        stage_system<T, M>(job, staged, k + step, t, width);
    }
}

template <int T, int M>
__global__ static void __launch_bounds__(WARPS *WARP, blocks_of(T *M *(M + 1) / 2, OTHERS))
    team_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T;
    real *stages = shared + warp * stage::WARP_NUMBERS, *staged = stages + lane / T * stage::NUMBERS;
    real *column = stages + stage::SYSTEMS * stage::NUMBERS + lane / T * stage::COLUMN;
    const int64_t step = (int64_t)gridDim.x * WARPS * stage::SYSTEMS;
    int64_t first = ((int64_t)blockIdx.x * WARPS + warp) * stage::SYSTEMS;
    if (first < job.count) stage_system<T, M>(job, staged, first + lane / T, t, width);
    for (; first < job.count; first += step)
        team_batch<T, M>(job, staged, column, first + lane / T, t, width, step);
}

template <int T, int M> static shoal_status run_team(shoal_smallsym *plan, const smallsym_job *job) {
    typedef stage<T, M> stage;
    const size_t bytes = WARPS * stage::WARP_NUMBERS * sizeof(real);
    const dim3 grid = grid_that_stays(plan->ctx, team_kernel<T, M>, job->count,
                                      WARPS * stage::SYSTEMS, bytes);
    SHOAL_LAUNCH((team_kernel<T, M>), grid, dim3(WARPS * WARP), bytes, plan->ctx->stream, *job,
                 stage_width(job));
    return shoal_launched(plan->ctx, "ldlt");
}

/* Padded sizes and teams, as measured on an H200 (docs/smallsym.md). */
static shoal_status run_default(shoal_smallsym *plan, const smallsym_job *job) {
    constexpr bool single = sizeof(real) == 4;
    if (job->n <= THREAD_MOST) return run_thread<THREAD_MOST>(plan, job);
    if (job->n <= 16) return run_team<4, 4>(plan, job);
    if (job->n <= 20) return run_team<4, 5>(plan, job);
    if (job->n <= 24) return run_team<4, 6>(plan, job);
    if (job->n <= 32) return run_team<8, 4>(plan, job);
    if (job->n <= 48) return run_team<single ? 8 : 16, single ? 6 : 3>(plan, job);
    return run_team<32, 2>(plan, job);
}

static size_t ldlt_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    (void)plan, (void)job;
    return 0;
}

static shoal_status ldlt_run(shoal_smallsym *plan, const smallsym_job *job) {
    return plan->first.variant == LDLT_TEAM ? run_default(plan, job) : run_shared(plan, job);
}

extern "C" const smallsym_cuda_method R(smallsym_ldlt) = { ldlt_bytes, ldlt_run };
