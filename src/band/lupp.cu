/* SPDX-License-Identifier: Apache-2.0
 *
 * lupp.cu - band systems on the GPU: LU with partial pivoting (lu.h), one thread per system.
 *
 * Scratch is interleaved by thread, so that a warp reads and writes it coalesced; a grid of fixed size works the systems
 * off. The caller's arrays are read coalesced in the interleaved layout. Per row of a pentadiagonal system 21 numbers
 * are moved, 27 with a residual. A solve can be captured in a CUDA graph; only the totals wait.
 */
#include "band/lu.h"
#include "core/launch.cuh"

enum {
    LUPP_BLOCK = 128,
    LUPP_THREADS = 1 << 16,
    LUPP_ROWS = 1 << 25
}; /* bounds of threads, of threads * n */

static int64_t threads_of(const band_job *job) {
    int64_t threads = LUPP_ROWS / (job->n > 0 ? job->n : 1);
    if (threads > LUPP_THREADS) threads = LUPP_THREADS;
    if (threads < 32) threads = 32;
    return job->count < threads ? job->count : threads;
}

static size_t lupp_bytes(const shoal_band *plan) {
    const band_job *job = &plan->job;
    return (size_t)threads_of(job) * (size_t)job->n * sizeof(real) *
           (size_t)SLOTS(job->width, job->parts);
}

template <int WIDTH, int PARTS> __global__ static void lupp_kernel(band_job job, int64_t threads) {
    const int64_t me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= threads) return;
    const band_scratch s = { (real *)job.work + me, job.n * threads, threads };
    for (int64_t k = me; k < job.count; k += threads)
        for (int64_t j = 0; j < job.nrhs; j++) solve_lanes(&job, k, 1, j, &s, WIDTH, PARTS, 1);
}

template <int WIDTH, int PARTS>
static void launch(const shoal_band *plan, const band_job *job, int64_t threads) {
    SHOAL_LAUNCH((lupp_kernel<WIDTH, PARTS>),
                 dim3((unsigned)((threads + LUPP_BLOCK - 1) / LUPP_BLOCK)), dim3(LUPP_BLOCK), 0,
                 plan->head.ctx->stream, *job, threads);
}

static shoal_status lupp_run(shoal_band *plan, const band_job *job) {
    const int64_t threads = threads_of(job);
    if (job->parts == 1)
        launch<2, 1>(plan, job, threads);
    else if (job->width == 1)
        launch<1, 2>(plan, job, threads);
    else
        launch<2, 2>(plan, job, threads);
    return shoal_launched(plan->head.ctx, "lupp");
}

typedef struct totals {
    unsigned long long failed, warned;
    unsigned max_residual; /* bits of a float >= 0, which order like the float; NaN above all */
} totals;

__global__ static void total_kernel(band_job job, totals *sums) {
    unsigned long long failed = 0, warned = 0;
    unsigned largest = 0;
    SHOAL_GRID_STRIDE(k, job.count) {
        failed += job.status[k] < 0;
        warned += job.status[k] > 0;
        if (job.residual && job.status[k] >= 0)
            largest = max(largest, __float_as_uint(job.residual[k]) & 0x7fffffffu);
    }
    if (failed) atomicAdd(&sums->failed, failed);
    if (warned) atomicAdd(&sums->warned, warned);
    if (largest) atomicMax(&sums->max_residual, largest);
}

static shoal_status lupp_total(shoal_band *plan, const band_job *job, shoal_band_info *info) {
    static_assert(sizeof(totals) <= BAND_HEAD, "room");
    cudaStream_t stream = (cudaStream_t)plan->head.ctx->stream;
    totals *sums = (totals *)((char *)job->work - BAND_HEAD), result;
    const cudaError_t error = cudaMemsetAsync(sums, 0, sizeof *sums, stream);
    if (error != cudaSuccess)
        return shoal_fail(plan->head.ctx, SHOAL_E_CUDA, "summing up: %s",
                          cudaGetErrorString(error));
    SHOAL_LAUNCH(total_kernel, dim3(shoal_blocks(job->count, LUPP_BLOCK)), dim3(LUPP_BLOCK), 0,
                 stream, *job, sums);
    shoal_status status = shoal_launched(plan->head.ctx, "total");
    if (status == SHOAL_OK) status = shoal_copy(plan->head.ctx, &result, sums, sizeof result);
    if (status != SHOAL_OK) return status;
    info->failed = (int64_t)result.failed;
    info->warned = (int64_t)result.warned;
    if (job->residual) memcpy(&info->max_residual, &result.max_residual, sizeof(float));
    return SHOAL_OK;
}

extern "C" const band_method R(band_lupp) = { lupp_bytes, lupp_run, lupp_total };
