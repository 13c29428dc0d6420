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

/* The Philox block of a path at a step; its keys are operands in constant memory. */
__device__ static inline shoal_words words_at(const shoal_stream &s, uint64_t path, uint32_t step) {
    shoal_words c = { { (uint32_t)path, (uint32_t)(path >> 32), step, s.tag } };
    for (int round = 0; round < 10; round++)
        c = shoal_philox_round(c, s.key[round][0], s.key[round][1]);
    return c;
}

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

/* Adds the sums of blocks from .. from + count - 1 to those of their units: a thread takes one
 * statistic of one unit, block after block. */
__global__ void __launch_bounds__(PRICE_BLOCK)
    add_units(price_frame f, int64_t from, int64_t count) {
    const int64_t unit = from / PRICE_BLOCKS, units = (from + count - 1) / PRICE_BLOCKS - unit + 1;
    for (int64_t at = (int64_t)blockIdx.x * PRICE_BLOCK + threadIdx.x; at < units * f.width;
         at += (int64_t)gridDim.x * PRICE_BLOCK) {
        const int64_t here = (unit + at / f.width) * PRICE_BLOCKS;
        const int64_t first = here > from ? here : from;
        const int64_t end = here + PRICE_BLOCKS < from + count ? here + PRICE_BLOCKS : from + count;
        double *to = f.sums + unit * f.width + at;
        const double *x = f.partial + (first - from) * f.width + at % f.width;
        double sum = first == here ? x[0] : *to + x[0];
        for (int64_t b = first + 1; b < end; b++) sum += x[(b - first) * f.width];
        *to = sum;
    }
}

} // namespace

/* Launches kernel(job, number of the first block) for as many blocks of samples at a time as there is
 * room for, `each` blocks of threads for one, and adds their sums to those of their units. */
template <class Job, class Kernel>
static shoal_status run_rounds(shoal_context *ctx, const Job *job, Kernel kernel, int64_t each,
                               const char *name) {
    const price_frame *f = &job->f;
    const int64_t blocks = (f->samples + PRICE_BLOCK - 1) / PRICE_BLOCK;
    for (int64_t from = 0; from < blocks; from += f->room) {
        const int64_t here = blocks - from < f->room ? blocks - from : f->room;
        const int64_t units = here / PRICE_BLOCKS + 2;
        SHOAL_LAUNCH(kernel, dim3((unsigned)(here * each)), dim3(PRICE_BLOCK),
                     SUMS_AT_ONCE * WARPS * sizeof(double), ctx->stream, *job, from);
        SHOAL_LAUNCH(add_units, dim3(shoal_blocks(units * f->width, PRICE_BLOCK)),
                     dim3(PRICE_BLOCK), 0, ctx->stream, *f, from, here);
    }
    return shoal_launched(ctx, name);
}

#endif
