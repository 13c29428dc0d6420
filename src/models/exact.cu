/* SPDX-License-Identifier: Apache-2.0
 *
 * exact.cu - paths that are computed in double, on the GPU: Heston's model, for `exact`, `conditional`
 * and `qe`, and the exponential Ornstein-Uhlenbeck model, for `conditional`. One thread
 * per sample, which holds all its walks in registers, one block of threads per block of samples.
 * They compute in double for both types, with the bits of the CPU, and are compiled once.
 */
#include "models/expou.h"
#include "models/heston.h"
#include "pricing/legs.cuh"

namespace {

/* Blocks per multiprocessor for which there must be registers; 0: the compiler chooses. */
constexpr int heston_blocks(int signs, int bumps) { return signs * bumps == 1 ? 2 : 0; }

template <int SIGNS, int BUMPS>
__global__ void __launch_bounds__(PRICE_BLOCK, heston_blocks(SIGNS, BUMPS))
    heston(price_job job, int64_t from) {
    SHOAL_SHARED(double, shared);
    const int64_t sample = (from + blockIdx.x) * PRICE_BLOCK + threadIdx.x;
    const uint64_t path = job.f.first + (uint64_t)sample;
    double v[BUMPS], integral[BUMPS];
    for (int bump = 0; bump < BUMPS; bump++) v[bump] = job.start[bump], integral[bump] = 0.0;
    shoal_stream s = job.variance;
    for (int number = 0; number < job.legs; number++) {
        const price_leg leg = job.leg[number];
        for (int k = 0; k < leg.steps; k++) {
            s.step = leg.first + (uint32_t)k;
            for (int bump = 0; bump < BUMPS; bump++) {
                const double next = job.noise == 0.0
                                        ? cir_drift(&job, &leg, v[bump])
                                        : leg.factor * cir_draw(job.shape, leg.lambda * v[bump],
                                                                job.variant, &s, path);
                integral[bump] += fma(leg.weight, v[bump] + next, leg.base);
                v[bump] = next;
            }
        }
        const shoal_words w = words_at(job.last, path, (uint32_t)number);
        const double g = shoal_normal_pair(&w).z[0];
        price_state at[SIGNS * BUMPS];
        for (int walk = 0; walk < SIGNS * BUMPS; walk++)
            at[walk] = heston_state(&job, &leg, job.start[walk % BUMPS], v[walk % BUMPS],
                                    integral[walk % BUMPS], walk < BUMPS ? g : -g);
        sum_leg<SIGNS, BUMPS>(job, number, sample < job.f.samples, at, shared,
                              job.f.partial + (int64_t)blockIdx.x * job.f.width);
    }
}

template <int SIGNS, int BUMPS>
__global__ void __launch_bounds__(PRICE_BLOCK) heston_qe(price_job job, int64_t from) {
    SHOAL_SHARED(double, shared);
    enum { WALKS = SIGNS * BUMPS };
    const int64_t sample = (from + blockIdx.x) * PRICE_BLOCK + threadIdx.x;
    const uint64_t path = job.f.first + (uint64_t)sample;
    double v[WALKS], x[WALKS];
    for (int walk = 0; walk < WALKS; walk++) v[walk] = job.start[walk % BUMPS], x[walk] = 0.0;
    for (int number = 0; number < job.legs; number++) {
        const price_leg leg = job.leg[number];
        const qe_numbers n = qe_numbers_of(&job, &leg);
        for (int k = 0; k < leg.steps; k++) {
            const shoal_words w = words_at(job.normals, path, leg.first + (uint32_t)k);
            const shoal_normals z = shoal_normal_pair(&w);
            for (int walk = 0; walk < WALKS; walk++) {
                const double sign = walk < BUMPS ? 1.0 : -1.0;
                if (job.noise > 0.0)
                    qe_step(&n, sign * z.z[0], sign * z.z[1], &v[walk], &x[walk]);
                else
                    qe_drift(&job, &leg, sign * z.z[1], &v[walk], &x[walk]);
            }
        }
        price_state at[WALKS];
        for (int walk = 0; walk < WALKS; walk++) at[walk].f = shoal_exp(x[walk]), at[walk].s = 0.0;
        sum_leg<SIGNS, BUMPS>(job, number, sample < job.f.samples, at, shared,
                              job.f.partial + (int64_t)blockIdx.x * job.f.width);
    }
}

template <int SIGNS, int BUMPS>
__global__ void __launch_bounds__(PRICE_BLOCK) expou(price_job job, int64_t from) {
    SHOAL_SHARED(double, shared);
    enum { WALKS = SIGNS * BUMPS };
    const int64_t sample = (from + blockIdx.x) * PRICE_BLOCK + threadIdx.x;
    const uint64_t path = job.f.first + (uint64_t)sample;
    expou_given given[WALKS];
    for (int walk = 0; walk < WALKS; walk++) given[walk] = expou_begin(job.start[walk % BUMPS]);
    for (int number = 0; number < job.legs; number++) {
        const price_leg leg = job.leg[number];
        for (int k = 0; k < leg.steps; k += 2) {
            const shoal_words w = words_at(job.normals, path, (leg.first + (uint32_t)k) / 2);
            const shoal_normals z = shoal_normal_pair(&w);
            for (int walk = 0; walk < WALKS; walk++) {
                const double sign = walk < BUMPS ? 1.0 : -1.0;
                expou_exact(&job, &leg, sign * z.z[0], &given[walk]);
                if (k + 1 < leg.steps) expou_exact(&job, &leg, sign * z.z[1], &given[walk]);
            }
        }
        price_state at[WALKS];
        for (int walk = 0; walk < WALKS; walk++)
            at[walk] = expou_state(&job, job.start[walk % BUMPS], &given[walk]);
        sum_leg<SIGNS, BUMPS>(job, number, sample < job.f.samples, at, shared,
                              job.f.partial + (int64_t)blockIdx.x * job.f.width);
    }
}

} // namespace

extern "C" shoal_status shoal_exact_heston(shoal_context *ctx, const price_job *job) {
    const auto chosen =
        job->row == HESTON_QE
            ? kernel_of(job, heston_qe<1, 1>, heston_qe<1, 3>, heston_qe<2, 1>, heston_qe<2, 3>)
            : kernel_of(job, heston<1, 1>, heston<1, 3>, heston<2, 1>, heston<2, 3>);
    return run_kernel(ctx, job, chosen, 1, "heston");
}

extern "C" shoal_status shoal_exact_expou(shoal_context *ctx, const price_job *job) {
    const auto chosen = kernel_of(job, expou<1, 1>, expou<1, 3>, expou<2, 1>, expou<2, 3>);
    return run_kernel(ctx, job, chosen, 1, "expou");
}
