/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks.cuh - sums over the samples of a block on the GPU: one thread per sample, within a warp
 * by halves (shuffles), then the eight warps one after another; and the sums of units from those
 * of blocks, one thread per statistic. lanes.h adds in the same order.
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

/* The statistics of lanes.h: of a control variate, 0 if the sample is not active, and of outputs. */
__device__ static inline void block_control(double c, double *shared, double *to) {
    const double x[PRICE_CONTROL] = { c, c * c };
    block_sums(x, PRICE_CONTROL, shared, to);
}
__device__ static inline void block_outputs(const double *out, int outputs, bool active, double c,
                                            double *shared, double *to) {
    double x[SUMS_AT_ONCE];
    for (int o = 0; o < outputs; o++) {
        const double value = active ? out[o] : 0.0;
        x[o * PRICE_STATISTICS] = value;
        x[o * PRICE_STATISTICS + 1] = value * value;
        x[o * PRICE_STATISTICS + 2] = value * c;
    }
    block_sums(x, outputs * PRICE_STATISTICS, shared, to);
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

enum { BLOCK_BYTES = SUMS_AT_ONCE * WARPS * sizeof(double) }; /* of shared memory for the sums */

/* Launches kernels for as many blocks of samples at a time as there is room for, by
 * launch(number of the first block, how many), and adds their sums to those of their units. */
template <class Launch>
static shoal_status run_rounds(shoal_context *ctx, const price_frame &f, const char *name,
                               Launch launch) {
    const int64_t blocks = (f.samples + PRICE_BLOCK - 1) / PRICE_BLOCK;
    for (int64_t from = 0; from < blocks; from += f.room) {
        const int64_t here = blocks - from < f.room ? blocks - from : f.room;
        const int64_t units = here / PRICE_BLOCKS + 2;
        launch(from, here);
        SHOAL_LAUNCH(add_units, dim3(shoal_blocks(units * f.width, PRICE_BLOCK)), dim3(PRICE_BLOCK),
                     0, ctx->stream, f, from, here);
    }
    return shoal_launched(ctx, name);
}

/* The same with kernel(job, number of the first block), `groups` blocks of threads per block of samples. */
template <class Job, class Kernel>
static shoal_status run_kernel(shoal_context *ctx, const Job *job, Kernel kernel, int64_t groups,
                               const char *name) {
    return run_rounds(ctx, job->f, name, [=](int64_t from, int64_t here) {
        SHOAL_LAUNCH(kernel, dim3((unsigned)(here * groups)), dim3(PRICE_BLOCK), BLOCK_BYTES,
                     ctx->stream, *job, from);
    });
}

/* The kernel for the walks of a sample: signs 1 or 2, bumps 1 or 3. */
template <class Kernel, class Job>
static Kernel kernel_of(const Job *job, Kernel plain, Kernel bumped, Kernel mirrored, Kernel both) {
    return job->signs == 2 ? job->bumps == 3 ? both : mirrored : job->bumps == 3 ? bumped : plain;
}

#endif
