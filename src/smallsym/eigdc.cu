/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc.cu - eigenpairs by Householder tridiagonalisation and divide and conquer on the GPU, and
 * A x = b from them: eigdc.c states the equations; householder.cuh and conquer.cuh do the work, for
 * teams of threads that eigdc.cuh describes.
 *
 * A passes through shared memory to registers and becomes U and the reflectors; O then takes its
 * place on chip, and, if the residual is wanted, A is read once more at the end. x = Q O W^-1 Ot Qt b
 * costs two products with O beside those with Q; V = Q O is formed a column a thread, in registers.
 * As the rescue of "auto" a few blocks walk through the list of systems that failed.
 */
#include "smallsym/eigdc_pairs.cuh"

/* O must last for the next right-hand side: A cannot be staged over it. Pairs have none. */
SHOAL_HD static inline bool keeps_stage(const smallsym_job &job, const smallsym_parts &to) {
    return !to.w && job.nrhs > 1 && smallsym_judged(&job);
}

/* v := O W^-1 Ot v; 1 / w is 0 for a discarded w. v passes through `shown`. */
template <int W, int R>
__device__ static inline void solve_diagonal(const smallsym_job &job, const conquest<W, R> &o,
                                             real (&v)[R], real *shown, real most, int t) {
    const int n = (int)job.n;
    real sum[R];
#pragma unroll
    for (int r = 0; r < R; r++) shown[r * W + t] = v[r], sum[r] = 0;
    __syncwarp();
    for (int i = 0; i < n; i += VECTOR) { /* beyond n both are zero */
        const real_vector x = load_vector(shown + i);
#pragma unroll
        for (int r = 0; r < R; r++) {
            const real_vector column = load_vector(&o.o(i, r * W + t));
#pragma unroll
            for (int q = 0; q < VECTOR; q++) sum[r] = real_fma(column.e[q], x.e[q], sum[r]);
        }
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < R; r++) {
        const int e = r * W + t;
        const real value = e < n ? o.d[e] : 1;
        shown[e] = discarded(value, most, job.cond) ? 0 : sum[r] / value;
        v[r] = 0;
    }
    __syncwarp();
    for (int j = 0; j < n; j++)
#pragma unroll
        for (int r = 0; r < R; r++) v[r] = real_fma(o.o(r * W + t, j), shown[j], v[r]);
    __syncwarp();
}

/* ---- solving ----------------------------------------------------------------------------------- */

/* What a call has to do at a place of its list, or of the batch. */
__device__ static inline smallsym_redo task_at(const smallsym_job &job, int64_t place) {
    const smallsym_redo whole = { place, 0, SHOAL_SYSTEM_OK, 0 };
    return job.list ? job.list[place] : whole;
}

/* x of a system whose O and W are known, by the W threads that took it apart. */
template <class K>
__device__ static inline void solve_reduced(const smallsym_job &job, real *memory,
                                            const typename K::conquest_type &o,
                                            const typename K::reflectors_type &q, int e_a,
                                            const smallsym_redo &task, bool mine, int width,
                                            real most, outcome &fate, int lane) {
    enum { W = K::W, R = K::R };
    const int t = lane % W, n = (int)job.n;
    const int64_t k = task.system, from = task.column;
    const bool keeps = keeps_stage(job, smallsym_parts{});
    real *staged = keeps ? memory + K::ALONE + lane / W * stage<W, R>::NUMBERS : o.memory;
    real v[R], kept[R];
    const int32_t factored = fate.zero > 0 ? SHOAL_SYSTEM_TRUNCATED : SHOAL_SYSTEM_OK;
    fate.status = task.status, fate.residual = task.residual;
#pragma unroll 1
    for (int64_t c = 0; c < job.nrhs; c++) {
        const int e_b = team_rhs<W, R>(job, kept, k, c, mine, t, n);
#pragma unroll
        for (int r = 0; r < R; r++) v[r] = kept[r];
        multiply_by_qt<W, R>(q, v, t, n);
        solve_diagonal<W, R>(job, o, v, q.shown(), most, t);
        multiply_by_q<W, R>(q, v, t, n);
#pragma unroll
        for (int r = 0; r < R; r++)
            if (r * W + t >= n) v[r] = 0;
        float residual = 0;
        real norm;
        if (smallsym_judged(&job)) {
            if (c == 0 || !keeps) { /* over O, or on its own stage */
                stage_matrix<W, R, SHORT>(job, staged, mine ? k : job.count, t, width);
                shoal_copy_async_wait_all();
                __syncwarp();
                stage_scale<W, R>(staged, t, n, e_a);
            }
            residual = team_residual<W, R>(staged, v, kept, q.shown(), t, n, norm);
        }
        team_answer<W, R>(job, k, c, v, e_b - e_a, factored, residual, mine && c >= from, lane,
                          fate);
    }
}

/* A system whose U is known is taken apart by W threads, for its pairs, if they are wanted, or to solve. */
template <class K>
__device__ static inline void take_apart(const smallsym_job &job, const smallsym_parts &to,
                                         real *memory, int s, int e_a, const smallsym_redo &task,
                                         bool mine, int width, int variant, int lane) {
    enum { W = K::W, R = K::R };
    const typename K::reflectors_type q = reflectors_of<K>(memory, s);
    const typename K::conquest_type o = conquest_of<K>(memory, s, lane);
    diagonalise_finite<K>(o, variant, lane, (int)job.n);
    outcome fate = outcome_of(job);
    real most;
    look_at_values<W, R>(job, fate, o.d, most, lane);
    if (to.w)
        write_pairs<K>(job, to, o, q, e_a, task.system, mine, fate, lane);
    else
        solve_reduced<K>(job, memory, o, q, e_a, task, mine, width, most, fate, lane);
    settle(job, task.system, fate, mine && lane % W == 0);
    __syncwarp(); /* before O is the next system's */
}

/* The systems at places first .. first + per - 1, one after another within each team. */
template <class K>
__device__ static inline void take_systems(const smallsym_job &job, const smallsym_parts &to,
                                           real *memory, int64_t first, int per, int64_t all,
                                           int width, int variant, int lane) {
    enum { T = K::T, M = K::M };
    const int t = lane % T, n = (int)job.n, own = lane / T;
    const bool there = own < per && first + own < all;
    const int64_t k = task_at(job, there ? first + own : 0).system;
    const typename K::reflectors_type q = reflectors_of<K>(memory, own);
    int e;
    if (job.A) {
        stage_matrix<T, M, SHORT>(job, q.memory, there ? k : job.count, t, width);
        shoal_copy_async_wait_all();
        __syncwarp();
        e = reduce_staged<T, M>(q, t, n);
    } else {
        e = load_diagonals(job, to, q, k, there, t);
    }
    __syncwarp();
#pragma unroll 1
    for (int round = 0; round * K::AT_ONCE < per; round++) {
        const int s = round * K::AT_ONCE + lane / K::W;
        const bool mine = first + s < all;
        take_apart<K>(job, to, memory, s, __shfl_sync(ALL_LANES, e, s * T),
                      task_at(job, mine ? first + s : 0), mine, width, variant, lane);
    }
}

template <class K>
__global__ static void __launch_bounds__(K::WARPS *WARP, K::RESIDENT / K::WARPS)
    eigdc_kernel(smallsym_job job, smallsym_parts to, int width, int variant) {
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
    real *memory = shared + warp * (keeps_stage(job, to) ? (int)K::NUMBERS : (int)K::ALONE);
    const int64_t all = job.list ? ((const smallsym_totals *)job.work)->listed : job.count;
    /* a short list is spread thin: what counts is how long one warp takes */
    const bool thin = job.list && all <= 4 * (int64_t)gridDim.x * warps * K::AT_ONCE;
    const int per = thin ? (int)K::AT_ONCE : (int)K::SYSTEMS;
    const int64_t block = (int64_t)warps * per;
#pragma unroll 1
    for (int64_t first = blockIdx.x * block; first < all; first += gridDim.x * block)
        take_systems<K>(job, to, memory, first + warp * per, per, all, width, variant, lane);
}

static shoal_status no_room(shoal_smallsym *plan, const smallsym_job *job) {
    return shoal_fail(plan->head.ctx, SHOAL_E_NOMEM,
                      "eigdc: this GPU's shared memory has no room for a system of n = %lld",
                      (long long)job->n);
}

template <int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, int variant,
                           const smallsym_job *job, const smallsym_parts *to) {
    typedef teams<T, M> K;
    const size_t bytes = (keeps_stage(*job, *to) ? (int)K::NUMBERS : (int)K::ALONE) * sizeof(real);
    const int warps = warps_of_block(plan, K::WARPS, bytes);
    if (warps == 0) return no_room(plan, job);
    const int64_t systems = warps * K::SYSTEMS;
    int64_t blocks = (job->count + systems - 1) / systems;
    const int64_t few =
        (int64_t)((K::RESIDENT + warps - 1) / warps) * plan->head.ctx->multiprocessors;
    if (job->list && blocks > few) blocks = few;
    shoal_allow_shared(plan->head.ctx, eigdc_kernel<K>);
    SHOAL_LAUNCH(eigdc_kernel<K>, dim3((unsigned)blocks), dim3(warps * WARP), warps * bytes,
                 plan->head.ctx->stream, *job, *to, job->A ? stage_width(job) : 0, variant);
    return shoal_launched(plan->head.ctx, "eigdc");
}

static shoal_status eigdc_pairs(shoal_smallsym *plan, int variant, const smallsym_job *job,
                                const smallsym_parts *to) {
    return by_size(job->n, [&](auto size) { return launch(size, plan, variant, job, to); });
}

static shoal_status eigdc_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    const smallsym_parts none = {};
    return eigdc_pairs(plan, variant, job, &none);
}

extern "C" const smallsym_cuda_method R(smallsym_eigdc) = { eigdc_run, eigdc_pairs };
