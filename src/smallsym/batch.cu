/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.cu - what every CUDA method has in common: the workspace and the totals, which the kernels
 * add up as they go. Nothing here allocates or waits but the totals, which shoal_smallsym_last()
 * asks for; a call can be captured in a CUDA graph.
 */
#include "smallsym/device.cuh"

enum { TOTALS = 256 }; /* room for the totals at the head of the workspace */

static size_t batch_bytes(const shoal_smallsym *plan) {
    const smallsym_cuda_method *first = (const smallsym_cuda_method *)plan->first.cell;
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const size_t bytes = first->bytes(plan, &plan->jobs[g]);
        if (bytes > most) most = bytes;
    }
    return TOTALS + most;
}

static shoal_status batch_begin(shoal_smallsym *plan) {
    cudaGetLastError(); /* an error of before is not ours to report */
    cudaError_t error =
        cudaMemsetAsync(plan->work, 0, sizeof(smallsym_totals), (cudaStream_t)plan->ctx->stream);
    if (error == cudaSuccess) return SHOAL_OK;
    return shoal_fail(plan->ctx, SHOAL_E_CUDA, "clearing the totals: %s",
                      cudaGetErrorString(error));
}

/* Systems without unknowns. */
__global__ static void empty_kernel(smallsym_job job, float residual) {
    for (int64_t k0 = (int64_t)blockIdx.x * blockDim.x; k0 < job.count;
         k0 += (int64_t)gridDim.x * blockDim.x) {
        const int64_t k = k0 + threadIdx.x;
        const outcome o = { 0, residual, 1, 0, 0, 0, 0, job.first_row };
        settle(job, k, o, k < job.count);
    }
}

static shoal_status run_empty(shoal_smallsym *plan, const smallsym_job *job, float residual) {
    SHOAL_LAUNCH(empty_kernel, dim3(shoal_blocks(job->count, 256)), dim3(256), 0, plan->ctx->stream,
                 *job, residual);
    return shoal_launched(plan->ctx, "empty");
}

static shoal_status batch_run(shoal_smallsym *plan, const smallsym_job *job) {
    const smallsym_cuda_method *first = (const smallsym_cuda_method *)plan->first.cell;
    return job->n > 0 ? first->run(plan, job) : run_empty(plan, job, 0);
}

static shoal_status batch_factor(shoal_smallsym *plan, const smallsym_job *job) {
    return job->n > 0 ? R(smallsym_ldlt_factor)(plan, job) : run_empty(plan, job, NAN);
}

static shoal_status batch_resolve(shoal_smallsym *plan, const smallsym_job *job) {
    return job->n > 0 ? R(smallsym_ldlt_resolve)(plan, job) : run_empty(plan, job, NAN);
}

static shoal_status batch_total(shoal_smallsym *plan, smallsym_totals *totals) {
    return shoal_copy(plan->ctx, totals, plan->work, sizeof *totals);
}

extern "C" const smallsym_driver R(smallsym_batch) = { batch_bytes,  batch_begin, batch_run,
                                                       batch_total,  NULL,        batch_factor,
                                                       batch_resolve };
