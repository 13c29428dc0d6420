/* SPDX-License-Identifier: Apache-2.0
 *
 * euler.cuh - Euler's scheme of a model of stochastic volatility on the GPU: one thread per
 * sample, which holds all its walks in registers, one block of threads per block of samples. The
 * steps are those of the CPU, bit for bit. In f32 one Philox block serves two steps. Nothing is
 * read; written are the block's sums.
 *
 * Model has: step(numbers, job, z1, z2, &driven, &x), driven v or Y; blocks(signs, bumps), for
 * which a multiprocessor must have registers, 0: the compiler chooses.
 */
#ifndef SHOAL_MODELS_EULER_CUH
#define SHOAL_MODELS_EULER_CUH

#include "models/euler.h"
#include "pricing/legs.cuh"
#include "rng/normal.h"

namespace {

template <class Model, int SIGNS, int BUMPS>
__global__ void __launch_bounds__(PRICE_BLOCK, Model::blocks(SIGNS, BUMPS))
    euler(price_job job, int64_t from) {
    SHOAL_SHARED(double, shared);
    enum { WALKS = SIGNS * BUMPS };
    const int64_t sample = (from + blockIdx.x) * PRICE_BLOCK + threadIdx.x;
    const uint64_t path = job.f.first + (uint64_t)sample;
    real v[WALKS], x[WALKS];
    for (int walk = 0; walk < WALKS; walk++) v[walk] = (real)job.start[walk % BUMPS], x[walk] = 0;
    for (int number = 0; number < job.legs; number++) {
        const price_leg leg = job.leg[number];
        const euler_numbers n = euler_numbers_of(&job, &leg);
#ifdef SHOAL_SINGLE
        for (int k = 0; k < leg.steps; k += 2) {
            const shoal_words w = words_at(job.normals, path, (leg.first + (uint32_t)k) / 2);
            for (int half = 0; half < 2 && k + half < leg.steps; half++) {
                const shoal_normalsf z = shoal_normal_pairf(&w, half);
                for (int walk = 0; walk < WALKS; walk++) {
                    const real sign = walk < BUMPS ? 1.0f : -1.0f;
                    Model::step(n, job, sign * z.z[0], sign * z.z[1], v[walk], x[walk]);
                }
            }
        }
#else
        for (int k = 0; k < leg.steps; k++) {
            const shoal_words w = words_at(job.normals, path, leg.first + (uint32_t)k);
            const shoal_normals z = shoal_normal_pair(&w);
            for (int walk = 0; walk < WALKS; walk++) {
                const real sign = walk < BUMPS ? 1.0 : -1.0;
                Model::step(n, job, sign * z.z[0], sign * z.z[1], v[walk], x[walk]);
            }
        }
#endif
        price_state at[WALKS];
        for (int walk = 0; walk < WALKS; walk++)
            at[walk].f = euler_growth(&job, x[walk]), at[walk].s = 0.0;
        sum_leg<SIGNS, BUMPS>(job, number, sample < job.f.samples, at, shared,
                              job.f.partial + (int64_t)blockIdx.x * job.f.width);
    }
}

} // namespace

#endif
