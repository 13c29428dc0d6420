/* SPDX-License-Identifier: Apache-2.0
 *
 * legs.cuh - the statistics of plan.h of a block's samples at one maturity, on the GPU.
 */
#ifndef SHOAL_PRICING_LEGS_CUH
#define SHOAL_PRICING_LEGS_CUH

#include "pricing/blocks.cuh"
#include "pricing/contract.h"

namespace {

/* Sums of one leg's statistics over the samples of the block; at: the states of the thread's
 * walks. SIGNS and BUMPS are those of the job. */
template <int SIGNS, int BUMPS>
__device__ void sum_leg(const price_job &job, int number, bool active, const price_state *at,
                        double *shared, double *sums) {
    const double c = active ? contract_control(at, SIGNS, BUMPS) : 0.0;
    block_control(c, shared, sums + number * PRICE_CONTROL);
    const int outputs = contract_count(BUMPS), each = outputs * PRICE_STATISTICS;
    double *to = sums + job.legs * PRICE_CONTROL + (int64_t)number * job.strikes * each;
    for (int k = 0; k < job.strikes; k++, to += each) {
        double out[PRICE_OUTPUTS];
        contract_outputs(&job.terms, &job.leg[number], job.strike[k], at, SIGNS, BUMPS, out);
        block_outputs(out, outputs, active, c, shared, to);
    }
}

} // namespace

#endif
