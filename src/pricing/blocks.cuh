/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks.cuh - sums over the samples of a block on the GPU: a thread a sample, within a warp by halves
 * (shuffles), then the eight warps one after another; and the sums of units from those of blocks, a
 * thread a statistic. lanes.h adds in the same order.
 */
#ifndef SHOAL_PRICING_BLOCKS_CUH
#define SHOAL_PRICING_BLOCKS_CUH

#include "core/launch.cuh"
#include "pricing/plan.h"

namespace {

enum { WARPS = PRICE_BLOCK / 32, SUMS_AT_ONCE = PRICE_OUTPUTS * PRICE_STATISTICS };

/* to[k] = the block's sum of x[k], k < count. All threads of the block call it. */
__device__ static inline void block_sums(const double *x, int count, double *shared, double *to) {
    const int id = (int)threadIdx.x, lane = id % 32, warp = id / 32;
    for (int k = 0; k < count; k++) {
        double sum = x[k];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        if (lane == 0) shared[k * WARPS + warp] = sum;
    }
    __syncthreads();
    if (id < count) {
        double total = 0;
        for (int w = 0; w < WARPS; w++) total += shared[id * WARPS + w];
        to[id] = total;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(PRICE_BLOCK)
    add_units(const double *partial, int64_t blocks, int width, double *sums) {
    const int64_t all = (blocks + PRICE_BLOCKS - 1) / PRICE_BLOCKS * width;
    for (int64_t at = (int64_t)blockIdx.x * PRICE_BLOCK + threadIdx.x; at < all;
         at += (int64_t)gridDim.x * PRICE_BLOCK) {
        const int64_t first = at / width * PRICE_BLOCKS;
        const double *from = partial + first * width + at % width;
        const int count = blocks - first < PRICE_BLOCKS ? (int)(blocks - first) : PRICE_BLOCKS;
        double sum = from[0];
        for (int b = 1; b < count; b++) sum += from[(int64_t)b * width];
        sums[at] = sum;
    }
}

} // namespace

/* Launches kernel(job, number of the first block) for every round of the job, and adds its units. */
template <class Job, class Kernel>
static shoal_status run_rounds(shoal_context *ctx, const Job *job, Kernel kernel, int64_t round,
                               const char *name) {
    const int64_t blocks = (job->samples + PRICE_BLOCK - 1) / PRICE_BLOCK;
    for (int64_t from = 0; from < blocks; from += round * PRICE_BLOCKS) {
        const int64_t most = round * PRICE_BLOCKS,
                      here = blocks - from < most ? blocks - from : most;
        const int64_t units = (here + PRICE_BLOCKS - 1) / PRICE_BLOCKS;
        SHOAL_LAUNCH(kernel, dim3((unsigned)here), dim3(PRICE_BLOCK),
                     SUMS_AT_ONCE * WARPS * sizeof(double), ctx->stream, *job, from);
        SHOAL_LAUNCH(add_units, dim3(shoal_blocks(units * job->width, PRICE_BLOCK)),
                     dim3(PRICE_BLOCK), 0, ctx->stream, (const double *)job->partial, here,
                     job->width, job->sums + from / PRICE_BLOCKS * job->width);
    }
    return shoal_launched(ctx, name);
}

#endif
