/* SPDX-License-Identifier: Apache-2.0
 *
 * american.cu - Longstaff-Schwartz problems on the GPU: the random numbers, formulas and sums of
 * american.c, in its order.
 *
 *   visit          a date of all paths: line.cuh for one asset, one warp per problem; wide.cuh for the rest, one
 *                  block of threads per 256 paths of a problem. Memory sees the state once in and once out. The
 *                  ranges of the assets at a date are made before, by one thread per asset of a problem.
 *   form, settle   one thread per entry, one thread per problem: the sums of blocks become systems, which
 *                  smallsym solves in the same stream, and their answers rules.
 * Prices and upper bounds are in walk.cuh.
 */
#include "american/line.cuh"
#include "american/wide.cuh"

namespace {

/* ---- fits -------------------------------------------------------------------------------------- */

__global__ void range_kernel(american_job job, int i) {
    const int d = job.basis.assets;
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, k = at / d;
    if (k >= job.problems) return;
    const int a = (int)(at % d);
    const american_contract &c = *american_terms(&job, k);
    const american_range r = american_range_of(&job, k, a, i);
    const american_bridge to = american_bridge_of(&job, k, i);
    real *range = (real *)job.range + (i % 2 * job.problems * d + at) * AMERICAN_RANGE;
    range[RANGE_CENTER] = (real)r.center;
    range[RANGE_INVERSE] = (real)r.inverse;
    range[RANGE_DRIFT] =
        (real)(american_list(&job, k, AMERICAN_DRIFT)[a] * (american_time(&job, i) * c.dt));
    range[RANGE_LOAD] = (real)(to.noise * american_load(&job, k, a, a));
    range[RANGE_SLOPE] = american_slope(&job, k, i);
    range[RANGE_CARRY] = i < job.dates ? (real)american_carry(&job, k, a, i) : 0;
    range[RANGE_KEEP] = (real)to.keep;
    range[RANGE_DISCOUNT] = i < job.dates ? (real)american_discount(&job, k, i) : 1;
}

__global__ void form_kernel(american_job job) {
    const int64_t sums = american_sums(job.basis.functions);
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < american_systems(&job) * sums) american_entry(&job, at / sums, at % sums);
}

/* Counts of a block of threads are added up in shared memory first where they are of all problems. */
__global__ void settle_kernel(american_job job, int i) {
    SHOAL_SHARED_ARRAY(unsigned, here, FIT_COUNTS);
    const int64_t system = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    american_tally tally = { -1, -1, -1 };
    for (int e = (int)threadIdx.x; e < FIT_COUNTS; e += (int)blockDim.x) here[e] = 0;
    __syncthreads();
    if (system < american_systems(&job)) tally = american_settle(&job, system, i);
    const int list[3] = { tally.outcome, tally.method, tally.decade };
    for (int f = 0; f < 3; f++) {
        if (list[f] < 0) continue;
        if (job.latest)
            atomicAdd(&here[list[f]], 1u);
        else
            job.count[system * FIT_COUNTS + list[f]]++;
    }
    __syncthreads();
    for (int e = (int)threadIdx.x; e < FIT_COUNTS; e += (int)blockDim.x)
        if (here[e]) atomicAdd((unsigned long long *)&job.count[e], (unsigned long long)here[e]);
}

__global__ void __launch_bounds__(PRICE_BLOCK) sum_kernel(american_job job) {
    SHOAL_SHARED(double, shared);
    const int64_t system = blockIdx.x / job.blocks, number = blockIdx.x % job.blocks;
    const int64_t level = system / job.problems, k = system % job.problems;
    const real *state = (const real *)job.state + (k * job.blocks + number) * american_state(&job);
    const real cash = state[(job.basis.assets + level) * LANES + threadIdx.x];
    const bool in = number * LANES + threadIdx.x < american_paths(&job, level);
    const double x = in ? american_discount(&job, k, 0) * (double)cash : 0.0;
    const double both[2] = { x, x * x };
    block_sums(both, 2, shared, job.partial + 2 * (int64_t)blockIdx.x);
}

__global__ void value_kernel(american_job job) {
    const int64_t system = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (system < american_systems(&job)) american_value(&job, system);
}

} // namespace

/* ---- launches ---------------------------------------------------------------------------------- */

static unsigned threads_of(int64_t items) { return (unsigned)((items + 127) / 128); }

static int rows(const american_job *job) {
    return on_a_line(*job) ? job->basis.assets + job->levels : wide_rows(*job);
}

static shoal_status move(shoal_context *ctx, const american_job *job, int i) {
    return on_a_line(*job) ? line_visit(ctx, job, i) : wide_visit(ctx, job, i);
}

static shoal_status visit(shoal_context *ctx, const american_job *job, int i) {
    SHOAL_LAUNCH(range_kernel, dim3(threads_of(job->problems * job->basis.assets)), dim3(128), 0,
                 ctx->stream, *job, i);
    return move(ctx, job, i);
}

static shoal_status form(shoal_context *ctx, const american_job *job) {
    const int64_t entries = american_systems(job) * american_sums(job->basis.functions);
    if (on_a_line(*job) && line_whole(*job)) return SHOAL_OK; /* visit() has done it */
    SHOAL_LAUNCH(form_kernel, dim3(threads_of(entries)), dim3(128), 0, ctx->stream, *job);
    return shoal_launched(ctx, "american, systems");
}

static shoal_status settle(shoal_context *ctx, const american_job *job, int i) {
    SHOAL_LAUNCH(settle_kernel, dim3(threads_of(american_systems(job))), dim3(128), 0, ctx->stream,
                 *job, i);
    return shoal_launched(ctx, "american, rules");
}

static shoal_status finish(shoal_context *ctx, const american_job *job) {
    const dim3 grid((unsigned)(american_systems(job) * job->blocks));
    const shoal_status s = move(ctx, job, 0);
    if (s != SHOAL_OK) return s;
    SHOAL_LAUNCH(sum_kernel, grid, dim3(PRICE_BLOCK), BLOCK_BYTES, ctx->stream, *job);
    SHOAL_LAUNCH(value_kernel, dim3(threads_of(american_systems(job))), dim3(128), 0, ctx->stream,
                 *job);
    return shoal_launched(ctx, "american, cash flows");
}

static shoal_status run(shoal_context *ctx, const void *given) {
    const american_run *here = (const american_run *)given;
    const walk_job job = { here->f, *here->job };
    static_assert(LANES * sizeof(real) >= BLOCK_BYTES, "a board has room for the sums of a block");
    const size_t bytes = board_bytes(&job.a.basis);
    const shoal_status status = shoal_check_shared(ctx, "american", bytes);
    if (status != SHOAL_OK) return status;
    shoal_allow_shared(ctx, walk);
    shoal_allow_shared(ctx, dual_kernel);
    return run_rounds(ctx, job.f, "american, prices of a rule", [&](int64_t from, int64_t blocks) {
        const int64_t left = job.f.samples - from * LANES, options = job.a.problems;
        const int64_t samples = left < blocks * LANES ? left : blocks * LANES;
        if (!job.a.inner) {
            SHOAL_LAUNCH(walk, dim3((unsigned)(blocks * options)), dim3(PRICE_BLOCK), bytes,
                         ctx->stream, job, from);
            return;
        }
        SHOAL_LAUNCH(dual_kernel, dim3((unsigned)(samples * options)), dim3(PRICE_BLOCK), bytes,
                     ctx->stream, job, from);
        SHOAL_LAUNCH(dual_sums, dim3((unsigned)(blocks * options)), dim3(PRICE_BLOCK), BLOCK_BYTES,
                     ctx->stream, job, from);
    });
}

extern "C" const american_method R(american_paths) = {
    { 64 * PRICE_BLOCKS, run }, 1 << 28, 1, rows, visit, form, settle, finish
};
