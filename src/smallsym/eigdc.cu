/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc.cu - eigenpairs by Householder tridiagonalisation and divide and conquer on the GPU, and
 * A x = b from them: eigdc.c states the equations; householder.cuh and conquer.cuh do the work, a
 * team of T threads a system, 32 / T systems a warp.
 *
 * A passes through shared memory to registers and becomes U and the reflectors; O then takes its
 * place on chip, and, if the residual is wanted, A is read once more at the end. x = Q O W^-1 Ot Qt b
 * costs two products with O beside those with Q; V = Q O is formed a column a thread, in registers.
 * As the rescue of "auto" a few blocks walk through the list of systems that failed.
 */
#include "smallsym/eigdc_pairs.cuh"

enum { BLOCKS_OF_RESCUE = 4 }; /* of a multiprocessor, at most */

/* O must last for the next right-hand side: A cannot be staged over it. */
SHOAL_HD static inline bool keeps_stage(const smallsym_job &job) {
    return job.nrhs > 1 && smallsym_judged(&job);
}

/* v := O W^-1 Ot v; 1 / w is 0 for a discarded w. */
template <int T, int M>
__device__ static inline void solve_diagonal(const smallsym_job &job, const team_memory<T, M> &w,
                                             real (&v)[M], real most, int t) {
    const int n = (int)job.n;
    real *shown = w.vector(), sum[M];
#pragma unroll
    for (int r = 0; r < M; r++) shown[r * T + t] = v[r], sum[r] = 0;
    __syncwarp();
    for (int i = 0; i < n; i++)
#pragma unroll
        for (int r = 0; r < M; r++) sum[r] = real_fma(w.o.o(i, r * T + t), shown[i], sum[r]);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < M; r++) {
        const int e = r * T + t;
        const real value = e < n ? w.o.d[e] : 1;
        shown[e] = discarded(value, most, job.cond) ? 0 : sum[r] / value;
        v[r] = 0;
    }
    __syncwarp();
    for (int j = 0; j < n; j++)
#pragma unroll
        for (int r = 0; r < M; r++) v[r] = real_fma(w.o.o(r * T + t, j), shown[j], v[r]);
    __syncwarp();
}

/* ---- solving ----------------------------------------------------------------------------------- */

/* Right-hand side c, scaled; returns the exponent of its scale. */
template <int T, int M>
__device__ static inline int load_rhs(const smallsym_job &job, real (&v)[M], real (&kept)[M],
                                      int64_t k, int64_t c, bool mine, int t) {
    real largest = 0;
#pragma unroll
    for (int r = 0; r < M; r++) {
        const int i = r * T + t;
        v[r] = mine && i < (int)job.n ? ((const real *)job.b)[rhs_at(job, k, i, c)] : 0;
        largest = real_max(real_abs(v[r]), largest);
    }
    const int e = exponent_far_from_1(team_max<T>(largest));
#pragma unroll
    for (int r = 0; r < M; r++) {
        if (e) v[r] = times_power_of_2(v[r], -e);
        kept[r] = v[r];
    }
    return e;
}

/* What a call has to do at a place of its list, or of the batch. */
__device__ static inline smallsym_redo task_at(const smallsym_job &job, int64_t place) {
    const smallsym_redo whole = { place, 0, 0 };
    return job.list ? job.list[place] : whole;
}

template <int T, int M>
__device__ static inline void solve_system(const smallsym_job &job, real *memory,
                                           const smallsym_redo &task, bool mine, int width,
                                           int variant, int lane) {
    const int t = lane % T, n = (int)job.n;
    const int64_t k = task.system, from = task.column;
    const team_memory<T, M> w(memory);
    real *staged = keeps_stage(job) ? memory + room<T, M>::STAGE : w.o.memory;
    real v[M], kept[M], most;
    stage_matrix<T, M>(job, staged, mine ? k : job.count, t, width);
    int e_b = load_rhs<T, M>(job, v, kept, k, 0, mine, t);
    shoal_copies_done();
    __syncwarp();
    const int e_a = reduce_staged<T, M>(w.q, staged, v, t, n);
    diagonalise_finite(w, variant, lane, n);
    outcome o = outcome_of(job);
    look_at_values<T, M>(job, o, w.o.d, most, lane);
    const int32_t factored = o.zero > 0 ? SHOAL_SYSTEM_TRUNCATED : SHOAL_SYSTEM_OK;
    o.residual = task.residual;
    for (int64_t c = 0; c < job.nrhs; c++) {
        if (c > 0) {
            e_b = load_rhs<T, M>(job, v, kept, k, c, mine, t);
            multiply_by_qt<T, M>(w.q, v, t, n);
        }
        solve_diagonal<T, M>(job, w, v, most, t);
        multiply_by_q<T, M>(w.q, v, t, n);
#pragma unroll
        for (int r = 0; r < M; r++)
            if (r * T + t >= n) v[r] = 0;
        float residual = 0;
        real norm;
        if (smallsym_judged(&job)) {
            if (!keeps_stage(job)) { /* over O */
                stage_matrix<T, M>(job, staged, mine ? k : job.count, t, width);
                shoal_copies_done();
                __syncwarp();
                stage_scale<T, M>(staged, t, n, e_a);
            }
            residual = team_residual<T, M>(staged, v, kept, w.vector(), t, n, norm);
        }
        team_answer<T, M>(job, k, c, v, e_b - e_a, factored, residual, mine && c >= from, lane, o);
    }
    settle(job, k, o, mine && t == 0);
    __syncwarp(); /* before the memory is the next system's */
}

template <int T, int M>
__global__ static void __launch_bounds__(WARPS *WARP, blocks_of(M))
    solve_kernel(smallsym_job job, int width, int variant) {
    constexpr int SYSTEMS = stage<T, M>::SYSTEMS;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int numbers = keeps_stage(job) ? (int)room<T, M>::NUMBERS : (int)room<T, M>::ALONE;
    real *memory = shared + (warp * SYSTEMS + lane / T) * numbers;
    const int64_t all = job.list ? ((const smallsym_totals *)job.work)->listed : job.count;
    for (int64_t first = ((int64_t)blockIdx.x * WARPS + warp) * SYSTEMS; first < all;
         first += (int64_t)gridDim.x * WARPS * SYSTEMS) {
        const int64_t place = first + lane / T;
        const bool mine = place < all;
        solve_system<T, M>(job, memory, task_at(job, mine ? place : first), mine, width, variant,
                           lane);
    }
}

template <int T, int M>
static shoal_status solve(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    const int64_t systems = WARPS * stage<T, M>::SYSTEMS;
    const int numbers = keeps_stage(*job) ? (int)room<T, M>::NUMBERS : (int)room<T, M>::ALONE;
    int64_t blocks = (job->count + systems - 1) / systems;
    const int64_t few = (int64_t)BLOCKS_OF_RESCUE * plan->ctx->multiprocessors;
    if (job->list && blocks > few) blocks = few;
    shoal_allow_shared(plan->ctx, solve_kernel<T, M>);
    SHOAL_LAUNCH((solve_kernel<T, M>), dim3((unsigned)blocks), dim3(WARPS * WARP),
                 systems * numbers * sizeof(real), plan->ctx->stream, *job, stage_width(job),
                 variant);
    return shoal_launched(plan->ctx, "eigdc");
}

static shoal_status eigdc_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    if (job->n <= 4) return solve<4, 1>(plan, variant, job);
    if (job->n <= 8) return solve<8, 1>(plan, variant, job);
    if (job->n <= 16) return solve<16, 1>(plan, variant, job);
    if (job->n <= 32) return solve<32, 1>(plan, variant, job);
    return solve<32, 2>(plan, variant, job);
}

/* ---- eigenpairs -------------------------------------------------------------------------------- */

template <int T, int M>
static shoal_status find_pairs(shoal_smallsym *plan, int variant, const smallsym_job *job,
                               const smallsym_pairs *to) {
    const int64_t systems = WARPS * stage<T, M>::SYSTEMS;
    const size_t bytes = systems * (int)room<T, M>::ALONE * sizeof(real);
    shoal_allow_shared(plan->ctx, pairs_kernel<T, M>);
    SHOAL_LAUNCH((pairs_kernel<T, M>), dim3((unsigned)((job->count + systems - 1) / systems)),
                 dim3(WARPS * WARP), bytes, plan->ctx->stream, *job, *to,
                 job->A ? stage_width(job) : 0, variant);
    return shoal_launched(plan->ctx, "eigdc, pairs");
}

static shoal_status eigdc_pairs(shoal_smallsym *plan, int variant, const smallsym_job *job,
                                const smallsym_pairs *to) {
    if (job->n <= 4) return find_pairs<4, 1>(plan, variant, job, to);
    if (job->n <= 8) return find_pairs<8, 1>(plan, variant, job, to);
    if (job->n <= 16) return find_pairs<16, 1>(plan, variant, job, to);
    if (job->n <= 32) return find_pairs<32, 1>(plan, variant, job, to);
    return find_pairs<32, 2>(plan, variant, job, to);
}

static size_t eigdc_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    (void)plan, (void)job;
    return 0;
}

extern "C" const smallsym_cuda_method R(smallsym_eigdc) = { eigdc_bytes, eigdc_run, eigdc_pairs };
