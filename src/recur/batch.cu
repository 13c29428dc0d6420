/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.cu - what every CUDA method has in common: statuses are cleared before, counted after.
 *
 * Only the totals, for shoal_recur_last(), wait, and nothing allocates; a solve can be
 * captured in a CUDA graph.
 */
#include "core/launch.cuh"
#include "core/real.h"
#include "recur/plan.h"

enum { BLOCK = 256, HEAD = 256 }; /* bytes at the head of the workspace, for the totals */

static size_t batch_bytes(const shoal_recur *plan) {
    const recur_method *method = (const recur_method *)plan->chosen.cell;
    return HEAD + method->bytes(plan);
}

__global__ static void note_method(int32_t *method, int64_t count, int32_t row) {
    SHOAL_GRID_STRIDE(k, count) { method[k] = row; }
}

static shoal_status batch_run(shoal_recur *plan, const recur_job *given) {
    const recur_method *method = (const recur_method *)plan->chosen.cell;
    cudaStream_t stream = (cudaStream_t)plan->head.ctx->stream;
    recur_job job = *given;
    job.work = (char *)given->work + HEAD;
    cudaError_t error = cudaMemsetAsync(job.status, 0, (size_t)job.count * sizeof(int32_t), stream);
    if (error != cudaSuccess)
        return shoal_fail(plan->head.ctx, SHOAL_E_CUDA, "clearing the outcome: %s",
                          cudaGetErrorString(error));
    if (job.method)
        SHOAL_LAUNCH(note_method, dim3(shoal_blocks(job.count, BLOCK)), dim3(BLOCK), 0, stream,
                     job.method, job.count, job.method_row);
    if (job.n == 0) return shoal_launched(plan->head.ctx, "method");
    return method->run(plan, &job);
}

__global__ static void total_kernel(const int32_t *status, int64_t count,
                                    unsigned long long *failures) {
    unsigned long long failed = 0;
    SHOAL_GRID_STRIDE(k, count) { failed += status[k] < 0; }
    if (failed) atomicAdd(failures, failed);
}

static shoal_status batch_total(shoal_recur *plan, const recur_job *job, shoal_recur_info *info) {
    unsigned long long *failures = (unsigned long long *)job->work, result;
    cudaStream_t stream = (cudaStream_t)plan->head.ctx->stream;
    cudaMemsetAsync(failures, 0, sizeof *failures, stream);
    SHOAL_LAUNCH(total_kernel, dim3(shoal_blocks(job->count, BLOCK)), dim3(BLOCK), 0, stream,
                 (const int32_t *)job->status, job->count, failures);
    shoal_status status = shoal_launched(plan->head.ctx, "total");
    if (status == SHOAL_OK) status = shoal_copy(plan->head.ctx, &result, failures, sizeof result);
    if (status == SHOAL_OK) info->failed = (int64_t)result;
    return status;
}

extern "C" const recur_driver R(recur_batch) = { batch_bytes, batch_run, batch_total };
