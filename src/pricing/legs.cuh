/* SPDX-License-Identifier: Apache-2.0
 *
 * legs.cuh - what the samples of a block say at one maturity, on the GPU: the statistics of plan.h.
 */
#ifndef SHOAL_PRICING_LEGS_CUH
#define SHOAL_PRICING_LEGS_CUH

#include "pricing/blocks.cuh"
#include "pricing/contract.h"

namespace {

/* Sums of one leg's statistics over the samples of the block; at holds the states of the thread's. SIGNS and
 * BUMPS are those of the job. */
template <int SIGNS, int BUMPS>
__device__ void sum_leg(const price_job &job, int number, bool active, const price_state *at,
                        double *shared, double *sums) {
    const price_leg *leg = &job.leg[number];
    const double c = active ? contract_control(at, SIGNS, BUMPS) : 0.0;
    const double control[PRICE_CONTROL] = { c, c * c };
    double *to = sums + number * PRICE_CONTROL;
    block_sums(control, PRICE_CONTROL, shared, to);
    const int outputs = contract_count(BUMPS), each = outputs * PRICE_STATISTICS;
    to = sums + job.legs * PRICE_CONTROL + (int64_t)number * job.strikes * each;
    for (int k = 0; k < job.strikes; k++, to += each) {
        double out[PRICE_OUTPUTS], x[SUMS_AT_ONCE];
        contract_outputs(&job.terms, leg, job.strike[k], at, SIGNS, BUMPS, out);
        for (int o = 0; o < outputs; o++) {
            const double value = active ? out[o] : 0.0;
            x[o * PRICE_STATISTICS] = value;
            x[o * PRICE_STATISTICS + 1] = value * value;
            x[o * PRICE_STATISTICS + 2] = value * c;
        }
        block_sums(x, each, shared, to);
    }
}

} // namespace

#endif
