/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.cu - what every CUDA method has in common: the workspace and the totals, which the kernels
 * add up as they go. Nothing here allocates or waits but the totals, which shoal_smallsym_last()
 * asks for; a call can be captured in a CUDA graph.
 */
#include "smallsym/device.cuh"

enum { TOTALS = 256 }; /* room for the totals at the head of the workspace */

/* The rescue's list lies behind the totals, the method's own workspace behind that. */
static size_t list_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    const size_t bytes = plan->rescue.cell ? (size_t)job->count * sizeof(smallsym_redo) : 0;
    return (bytes + TOTALS - 1) / TOTALS * TOTALS;
}

static size_t batch_bytes(const shoal_smallsym *plan) {
    const smallsym_cuda_method *methods[] = { (const smallsym_cuda_method *)plan->first.cell,
                                              (const smallsym_cuda_method *)plan->rescue.cell,
                                              (const smallsym_cuda_method *)plan->eigen.cell };
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++)
        for (int m = 0; m < 3; m++) {
            if (!methods[m]) continue;
            const smallsym_job *job = &plan->jobs[g];
            const size_t bytes = list_bytes(plan, job) + methods[m]->bytes(plan, job);
            if (bytes > most) most = bytes;
        }
    return TOTALS + most;
}

static shoal_status batch_begin(shoal_smallsym *plan) {
    cudaGetLastError(); /* an error of before is not ours to report */
    cudaError_t error = cudaMemsetAsync(plan->work, 0, sizeof(smallsym_totals),
                                        (cudaStream_t)plan->head.ctx->stream);
    if (error == cudaSuccess) return SHOAL_OK;
    return shoal_fail(plan->head.ctx, SHOAL_E_CUDA, "clearing the totals: %s",
                      cudaGetErrorString(error));
}

/* Systems without unknowns. */
__global__ static void empty_kernel(smallsym_job job, float residual) {
    for (int64_t k0 = (int64_t)blockIdx.x * blockDim.x; k0 < job.count;
         k0 += (int64_t)gridDim.x * blockDim.x) {
        const int64_t k = k0 + threadIdx.x;
        outcome o = outcome_of(job);
        o.residual = residual;
        settle(job, k, o, k < job.count);
    }
}

static shoal_status run_empty(shoal_smallsym *plan, const smallsym_job *job, float residual) {
    SHOAL_LAUNCH(empty_kernel, dim3(shoal_blocks(job->count, 256)), dim3(256), 0,
                 plan->head.ctx->stream, *job, residual);
    return shoal_launched(plan->head.ctx, "empty");
}

/* What the first method lists, the rescue does again: it takes the list's length from the device. */
static shoal_status run_with_rescue(shoal_smallsym *plan, smallsym_job job) {
    const smallsym_cuda_method *first = (const smallsym_cuda_method *)plan->first.cell;
    const smallsym_cuda_method *rescue = (const smallsym_cuda_method *)plan->rescue.cell;
    smallsym_totals *totals = (smallsym_totals *)plan->work;
    job.list = (smallsym_redo *)((char *)plan->work + TOTALS);
    cudaError_t error = cudaMemsetAsync(&totals->listed, 0, sizeof totals->listed,
                                        (cudaStream_t)plan->head.ctx->stream);
    if (error != cudaSuccess)
        return shoal_fail(plan->head.ctx, SHOAL_E_CUDA, "clearing the list: %s",
                          cudaGetErrorString(error));
    shoal_status status = first->run(plan, plan->first.variant, &job);
    job.first_row = job.rescue_row;
    job.rescue_row = -1, job.iterate = 0;
    return status != SHOAL_OK ? status : rescue->run(plan, plan->rescue.variant, &job);
}

static shoal_status batch_run(shoal_smallsym *plan, const smallsym_job *job) {
    const smallsym_cuda_method *first = (const smallsym_cuda_method *)plan->first.cell;
    if (job->n == 0) return run_empty(plan, job, 0);
    return plan->rescue.cell ? run_with_rescue(plan, *job)
                             : first->run(plan, plan->first.variant, job);
}

static shoal_status batch_factor(shoal_smallsym *plan, const smallsym_job *job) {
    return job->n > 0 ? R(smallsym_ldlt_factor)(plan, job) : run_empty(plan, job, NAN);
}

static shoal_status batch_resolve(shoal_smallsym *plan, const smallsym_job *job) {
    return job->n > 0 ? R(smallsym_ldlt_resolve)(plan, job) : run_empty(plan, job, NAN);
}

static shoal_status batch_total(shoal_smallsym *plan, smallsym_totals *totals) {
    return shoal_copy(plan->head.ctx, totals, plan->work, sizeof *totals);
}

/* Eigenpairs; of systems without unknowns, the outcome alone. */
static shoal_status batch_eigen(shoal_smallsym *plan, const smallsym_job *job,
                                const smallsym_pairs *to) {
    const smallsym_cuda_method *eigen = (const smallsym_cuda_method *)plan->eigen.cell;
    smallsym_job own = *job; /* nothing of this is done again */
    own.first_row = plan->eigen.row, own.rescue_row = -1, own.iterate = 0;
    return job->n > 0 ? eigen->eigen(plan, plan->eigen.variant, &own, to)
                      : run_empty(plan, &own, 0);
}

extern "C" const smallsym_driver R(smallsym_batch) = { batch_bytes,  batch_begin, batch_run,
                                                       batch_total,  batch_eigen, batch_factor,
                                                       batch_resolve };
