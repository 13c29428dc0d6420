/* SPDX-License-Identifier: Apache-2.0
 *
 * expou.cu - paths of the exponential Ornstein-Uhlenbeck model on the GPU: a thread a sample, which holds
 * all its walks in registers, a block of threads a block of samples; Euler's steps of expou.h as they are,
 * so that the bits are the CPU's. Exact steps are in exact.cu. Nothing is read; written are the block's
 * sums.
 */
#include "models/expou.h"
#include "pricing/legs.cuh"

namespace {

template <int SIGNS, int BUMPS>
__global__ void __launch_bounds__(PRICE_BLOCK) euler(price_job job, int64_t from) {
    SHOAL_SHARED(double, shared);
    enum { WALKS = SIGNS * BUMPS };
    const int64_t sample = (from + blockIdx.x) * PRICE_BLOCK + threadIdx.x;
    const uint64_t path = job.f.first + (uint64_t)sample;
    real y[WALKS], x[WALKS];
    for (int walk = 0; walk < WALKS; walk++) y[walk] = (real)job.start[walk % BUMPS], x[walk] = 0;
    for (int number = 0; number < job.legs; number++) {
        const price_leg leg = job.leg[number];
        const expou_numbers n = expou_numbers_of(&job, &leg);
        for (int k = 0; k < leg.steps; k++) {
#ifdef SHOAL_SINGLE
            const shoal_words w = words_at(job.normals, path, (leg.first + (uint32_t)k) / 2);
            const shoal_normalsf z = shoal_normal_pairf(&w, k & 1);
#else
            const shoal_words w = words_at(job.normals, path, leg.first + (uint32_t)k);
            const shoal_normals z = shoal_normal_pair(&w);
#endif
            for (int walk = 0; walk < WALKS; walk++) {
                const real sign = walk < BUMPS ? (real)1 : (real)-1;
                expou_step(&n, sign * z.z[0], sign * z.z[1], &y[walk], &x[walk]);
            }
        }
        price_state at[WALKS];
        for (int walk = 0; walk < WALKS; walk++)
            at[walk].f = shoal_exp((double)x[walk]), at[walk].s = 0.0;
        sum_leg<SIGNS, BUMPS>(job, number, sample < job.f.samples, at, shared,
                              job.f.partial + (int64_t)blockIdx.x * job.f.width);
    }
}

typedef void (*kernel)(price_job, int64_t);

} // namespace

static shoal_status run(shoal_context *ctx, const void *given) {
    const price_job *job = (const price_job *)given;
    if (job->row != EXPOU_EULER) return shoal_exact_expou(ctx, job);
    const kernel chosen = job->signs == 2   ? job->bumps == 3 ? euler<2, 3> : euler<2, 1>
                            : job->bumps == 3 ? euler<1, 3>
                                            : euler<1, 1>;
    return run_rounds(ctx, job, chosen, 1, "expou");
}

extern "C" const price_method R(expou_paths) = { 64 * PRICE_BLOCKS, run };
