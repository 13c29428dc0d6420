/* SPDX-License-Identifier: Apache-2.0
 *
 * pde.cu - finite differences on the GPU: pde.h, one thread per line. Numbers of neighbouring threads are neighbours, so
 * that all of memory's accesses are whole: 13 numbers per node and time step.
 */
#include "american/pde_lane.h"
#include "core/launch.cuh"

namespace {

enum { PDE_BLOCK = 64 };

__global__ void __launch_bounds__(PDE_BLOCK) pde_kernel(pde_lines job) {
    const int64_t line = (int64_t)blockIdx.x * PDE_BLOCK + threadIdx.x;
    if (line >= job.lines) return;
    const pde_lane l = { &job, line, job.lines, job.work + line };
    pde_solve(&l);
    const vec *f = pde_array(&l, PDE_F);
    const int64_t first = (int64_t)job.grid[PDE_FIRST * job.lines + line];
    for (int64_t k = 0; k < PDE_NEAR; k++)
        job.near[k * job.lines + line] = f[(first + k) * l.apart];
}

} // namespace

static shoal_status run(shoal_context *ctx, const pde_lines *job) {
    const dim3 grid((unsigned)((job->lines + PDE_BLOCK - 1) / PDE_BLOCK)), block(PDE_BLOCK);
    SHOAL_LAUNCH(pde_kernel, grid, block, 0, ctx->stream, *job);
    return shoal_launched(ctx, "american, pde");
}

extern "C" const pde_cuda_method R(american_pde) = { run };
