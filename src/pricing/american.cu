/* SPDX-License-Identifier: Apache-2.0
 *
 * american.cu - Longstaff-Schwartz problems on the GPU: the random numbers, formulas and sums of
 * american.c, in its order.
 *
 *   visit   a block of threads has a block of 256 paths of a problem, a thread the two (f32: four) paths
 *           that share a Philox block. psi lies in shared memory, [function][path]; there a warp takes
 *           one entry of psi psi^t or psi y at a time, 8 products a lane, and folds them by shuffles.
 *           Memory sees the state, d + 1 numbers a path, once in and once out.
 *   form, settle   a thread an entry, a thread a problem: the sums of blocks become systems, which
 *           smallsym solves in the same stream, and their answers rules.
 * Prices and upper bounds are in american_walk.cuh.
 *
 * Shared memory: n rows of 2 kB (f32: 1 kB), 131 kB at n = 64.
 */
#include "pricing/american_walk.cuh"

namespace {

/* ---- fits -------------------------------------------------------------------------------------- */

__device__ real *state_of(const american_job &job) {
    return (real *)job.state + (int64_t)blockIdx.x * (job.basis.assets + 1) * LANES;
}

/* Decides at date i by its rule: cash flows of the thread's paths in and out. */
__device__ void decide(const american_job &job, int64_t k, int i, const board &b,
                       real (&cash)[EACH_BLOCK]) {
    const real *state = state_of(job);
    show_date(job, k, i, true, b);
#pragma unroll
    for (int e = 0; e < EACH_BLOCK; e++) {
        const int l = e * SHARE + (int)threadIdx.x;
        for (int a = 0; a < job.basis.assets; a++)
            b.psi[(1 + a) * LANES + l] = state[a * LANES + l];
        real control;
        const real gain = make_psi(job, k, i, l, b, control);
        if (gain > 0 && gain >= make_hold(job, l, b)) cash[e] = gain;
    }
}

/* Moves the thread's paths to date i; the Brownian motions also stay in rows 1 .. d of psi. */
__device__ void bridge(const american_job &job, int64_t k, int i, const board &b) {
    const int d = job.basis.assets, t = (int)threadIdx.x;
    const american_bridge to = american_bridge_of(&job.contract[k], job.dates, i);
    const uint64_t path =
        job.contract[k].first + (uint64_t)(blockIdx.x % job.blocks) * SHARE + (uint64_t)t;
    real *state = state_of(job);
    for (int a = 0; a < d; a++)
        for (int l = t; l < LANES; l += SHARE)
            b.psi[(1 + a) * LANES + l] = i == job.dates ? 0 : (real)to.keep * state[a * LANES + l];
    for (int from = 0; from < d; from++) {
        real z[EACH_BLOCK];
        const uint32_t step = (uint32_t)(job.dates - i) * (uint32_t)d + (uint32_t)from;
        const shoal_words w = words_at(job.normals, path, step);
        american_normals_of(&w, z);
        for (int a = from; a < d; a++) {
            const real load = (real)(to.noise * american_load(&job, k, a, from));
#pragma unroll
            for (int e = 0; e < EACH_BLOCK; e++) {
                real &at = b.psi[(1 + a) * LANES + e * SHARE + t];
                at = real_fma(load, z[e], at);
            }
        }
    }
    for (int a = 0; a < d; a++)
        for (int l = t; l < LANES; l += SHARE) state[a * LANES + l] = b.psi[(1 + a) * LANES + l];
}

/* The block's sum of u v, of a warp. */
__device__ void product_sum(const real *u, const real *v, double *to) {
    const int lane = (int)threadIdx.x % 32;
    real sum = 0;
#pragma unroll
    for (int first = 0; first < LANES; first += 32)
        sum = real_fma(u[first + lane], v[first + lane], sum);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0) *to = (double)sum;
}

__device__ void sum_block(const american_job &job, const board &b) {
    const int n = job.basis.functions, warps = SHARE / 32, warp = (int)threadIdx.x / 32;
    double *to = job.partial + (int64_t)blockIdx.x * american_sums(n);
    int at = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++, at++)
            if (at % warps == warp) product_sum(b.psi + i * LANES, b.psi + j * LANES, to + at);
    for (int i = 0; i < n; i++, at++)
        if (at % warps == warp) product_sum(b.psi + i * LANES, b.cash, to + at);
    if (at % warps == warp) product_sum(b.member, b.member, to + at);
}

__global__ void __launch_bounds__(SHARE) visit_kernel(american_job job, int i) {
    SHOAL_SHARED(real, shared);
    const board b = board_of(shared, job.basis);
    const int64_t k = blockIdx.x / job.blocks, number = blockIdx.x % job.blocks;
    real *last = state_of(job) + job.basis.assets * LANES, cash[EACH_BLOCK];
#pragma unroll
    for (int e = 0; e < EACH_BLOCK; e++)
        cash[e] = i == job.dates ? 0 : last[e * SHARE + (int)threadIdx.x];
    if (i + 1 < job.dates) decide(job, k, i + 1, b, cash);
    show_date(job, k, i, false, b);
    bridge(job, k, i, b);
#pragma unroll
    for (int e = 0; e < EACH_BLOCK; e++) {
        const int l = e * SHARE + (int)threadIdx.x;
        real control;
        const real gain = make_psi(job, k, i, l, b, control);
        const bool in = gain > 0 && number * LANES + l < job.paths;
        if (i == job.dates)
            cash[e] = gain > 0 ? gain : 0;
        else
            cash[e] *= (real)job.contract[k].discount;
        last[l] = b.cash[l] = cash[e];
        b.member[l] = in ? 1 : 0;
        for (int j = 0; !in && j < job.basis.functions; j++) b.psi[j * LANES + l] = 0;
    }
    __syncthreads();
    if (i < job.dates) sum_block(job, b);
}

__global__ void form_kernel(american_job job) {
    const int64_t sums = american_sums(job.basis.functions);
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < job.problems * sums) american_entry(&job, at / sums, at % sums);
}

__global__ void settle_kernel(american_job job, int i) {
    const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < job.problems) american_settle(&job, k, i);
}

/* A thread has a path here, and sums are those of 256 threads. */
__global__ void __launch_bounds__(SHARE) cash_kernel(american_job job) {
    SHOAL_SHARED(real, shared);
    const board b = board_of(shared, job.basis);
    const int64_t k = blockIdx.x / job.blocks;
    real *last = state_of(job) + job.basis.assets * LANES, cash[EACH_BLOCK];
#pragma unroll
    for (int e = 0; e < EACH_BLOCK; e++) cash[e] = last[e * SHARE + (int)threadIdx.x];
    if (job.dates > 1) decide(job, k, 1, b, cash);
#pragma unroll
    for (int e = 0; e < EACH_BLOCK; e++) last[e * SHARE + (int)threadIdx.x] = cash[e];
}

__global__ void __launch_bounds__(PRICE_BLOCK) sum_kernel(american_job job) {
    SHOAL_SHARED(double, shared);
    const int64_t k = blockIdx.x / job.blocks, number = blockIdx.x % job.blocks;
    const real cash = state_of(job)[job.basis.assets * LANES + threadIdx.x];
    const bool in = number * LANES + threadIdx.x < job.paths;
    const double x = in ? job.contract[k].discount * (double)cash : 0.0, both[2] = { x, x * x };
    block_sums(both, 2, shared, job.partial + 2 * (int64_t)blockIdx.x);
}

__global__ void value_kernel(american_job job) {
    const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < job.problems) american_value(&job, k);
}

} // namespace

/* ---- launches ---------------------------------------------------------------------------------- */

static unsigned threads_of(int64_t items) { return (unsigned)((items + 127) / 128); }

static shoal_status visit(shoal_context *ctx, const american_job *job, int i) {
    shoal_allow_shared(ctx, visit_kernel);
    SHOAL_LAUNCH(visit_kernel, dim3((unsigned)(job->problems * job->blocks)), dim3(SHARE),
                 board_bytes(&job->basis), ctx->stream, *job, i);
    return shoal_launched(ctx, "american, a date");
}

static shoal_status form(shoal_context *ctx, const american_job *job) {
    const int64_t entries = job->problems * american_sums(job->basis.functions);
    SHOAL_LAUNCH(form_kernel, dim3(threads_of(entries)), dim3(128), 0, ctx->stream, *job);
    return shoal_launched(ctx, "american, systems");
}

static shoal_status settle(shoal_context *ctx, const american_job *job, int i) {
    SHOAL_LAUNCH(settle_kernel, dim3(threads_of(job->problems)), dim3(128), 0, ctx->stream, *job,
                 i);
    return shoal_launched(ctx, "american, rules");
}

static shoal_status finish(shoal_context *ctx, const american_job *job) {
    const dim3 grid((unsigned)(job->problems * job->blocks));
    shoal_allow_shared(ctx, cash_kernel);
    SHOAL_LAUNCH(cash_kernel, grid, dim3(SHARE), board_bytes(&job->basis), ctx->stream, *job);
    SHOAL_LAUNCH(sum_kernel, grid, dim3(PRICE_BLOCK), SUMS_AT_ONCE * WARPS * sizeof(double),
                 ctx->stream, *job);
    SHOAL_LAUNCH(value_kernel, dim3(threads_of(job->problems)), dim3(128), 0, ctx->stream, *job);
    return shoal_launched(ctx, "american, cash flows");
}

static shoal_status run(shoal_context *ctx, const void *given) {
    const american_run *here = (const american_run *)given;
    const price_frame *f = &here->f;
    const walk_job job = { *f, *here->job };
    const int64_t blocks = (f->samples + PRICE_BLOCK - 1) / PRICE_BLOCK;
    size_t bytes = board_bytes(&job.a.basis);
    if (bytes < SUMS_AT_ONCE * WARPS * sizeof(double))
        bytes = SUMS_AT_ONCE * WARPS * sizeof(double);
    shoal_allow_shared(ctx, walk);
    shoal_allow_shared(ctx, dual_kernel);
    for (int64_t from = 0; from < blocks; from += f->room) {
        const int64_t now = blocks - from < f->room ? blocks - from : f->room;
        const int64_t left = f->samples - from * LANES;
        const int64_t samples = left < now * LANES ? left : now * LANES;
        if (job.a.inner) {
            SHOAL_LAUNCH(dual_kernel, dim3((unsigned)(samples * job.a.problems)), dim3(PRICE_BLOCK),
                         bytes, ctx->stream, job, from);
            SHOAL_LAUNCH(dual_sums, dim3((unsigned)(now * job.a.problems)), dim3(PRICE_BLOCK),
                         SUMS_AT_ONCE * WARPS * sizeof(double), ctx->stream, job, from);
        } else
            SHOAL_LAUNCH(walk, dim3((unsigned)(now * job.a.problems)), dim3(PRICE_BLOCK), bytes,
                         ctx->stream, job, from);
        SHOAL_LAUNCH(add_units,
                     dim3(shoal_blocks((now / PRICE_BLOCKS + 2) * f->width, PRICE_BLOCK)),
                     dim3(PRICE_BLOCK), 0, ctx->stream, *f, from, now);
    }
    return shoal_launched(ctx, "american, prices of a rule");
}

extern "C" const american_method R(american_paths) = {
    { 64 * PRICE_BLOCKS, run }, 1 << 26, visit, form, settle, finish
};
