/* SPDX-License-Identifier: Apache-2.0
 *
 * rcond.cu - condition estimates on the GPU: the rounds of rcond.h over the whole batch, each a solve by
 * the plan's own method between three small kernels. One thread per segment of rows of a system, neighbours
 * on neighbouring systems: coalesced in the interleaved layout; then one thread per system, which adds its
 * segments up. States stay on the device, the number of rounds is fixed, and nothing waits: an estimate
 * can be captured in a CUDA graph with its solve. 10 solves, and about 3 numbers per row and round moved
 * beside.
 */
#include "tridiag/device.cuh"
#include "tridiag/rcond.h"

enum { BLOCK = 128 };

/* One pass over all rows, a segment per thread: item g * count + k. */
__global__ static void row_kernel(tridiag_job job, rcond_arrays r, rcond_pass pass) {
    const int64_t items = r.segments * job.count;
    SHOAL_GRID_STRIDE(at, items) {
        const int64_t k = at % job.count, begin = at / job.count * RCOND_SEGMENT;
        rcond_part p = rcond_empty();
        rcond_rows(&job, &r, pass, k, begin, begin + RCOND_SEGMENT, &p);
        if (!pass.fill) r.parts[at] = p;
    }
}

__global__ static void step_kernel(tridiag_job job, rcond_arrays r, int round) {
    SHOAL_GRID_STRIDE(k, job.count) {
        if (round == RCOND_BEGIN)
            rcond_begin(&job, &r, k);
        else
            rcond_step(&job, &r, round, k);
    }
}

static size_t rcond_bytes(const shoal_tridiag *plan) {
    const shoal_tridiag inner = rcond_plan(plan);
    rcond_arrays r = {};
    return rcond_lay_out(&inner.job, plan->driver->bytes(&inner), NULL, &r);
}

static shoal_status rcond_run(const shoal_tridiag *plan, const tridiag_job *given, const void *dl,
                              const void *du, tridiag_run *solve) {
    void *stream = plan->head.ctx->stream;
    shoal_tridiag inner = rcond_plan(plan);
    rcond_arrays r = {};
    rcond_lay_out(&inner.job, plan->driver->bytes(&inner), (char *)given->rcond_work, &r);
    tridiag_job job = rcond_job(given, &r);
    inner.job.work = r.work;
    if (plan->rescue.cell) job.residual = r.residual;
    const dim3 systems(shoal_blocks(job.count, BLOCK)), block(BLOCK);
    const dim3 segments(shoal_blocks(job.count * r.segments, BLOCK));
    rcond_pass pass = { RCOND_BEGIN, 0 }; /* column sums */
    if (job.n > 0) SHOAL_LAUNCH(row_kernel, segments, block, 0, stream, job, r, pass);
    SHOAL_LAUNCH(step_kernel, systems, block, 0, stream, job, r, RCOND_BEGIN);
    shoal_status status = shoal_launched(plan->head.ctx, "rcond");
    for (int round = 0; round <= RCOND_LAST && job.n > 0 && status == SHOAL_OK; round++) {
        tridiag_job now = job;
        if (rcond_transposed(round)) now.dl = dl, now.du = du;
        pass.round = round, pass.fill = 1;
        SHOAL_LAUNCH(row_kernel, segments, block, 0, stream, job, r, pass);
        status = solve(&inner, &now);
        if (status != SHOAL_OK) break;
        pass.fill = 0;
        SHOAL_LAUNCH(row_kernel, segments, block, 0, stream, job, r, pass);
        SHOAL_LAUNCH(step_kernel, systems, block, 0, stream, job, r, round);
        status = shoal_launched(plan->head.ctx, "rcond");
    }
    return status;
}

extern "C" const tridiag_estimator R(tridiag_rcond) = { rcond_bytes, rcond_run };
