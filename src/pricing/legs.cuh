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
    const price_leg *leg =
        &job.leg[number]; /* here: read later, it slows the loop over steps down */
    const double c = active ? contract_control(at, SIGNS, BUMPS) : 0.0;
    double *to = sums + number * PRICE_CONTROL;
    block_control(c, shared, to);
    const int outputs = contract_count(BUMPS), each = outputs * PRICE_STATISTICS;
    to = sums + job.legs * PRICE_CONTROL + (int64_t)number * job.strikes * each;
    for (int k = 0; k < job.strikes; k++, to += each) {
        double out[PRICE_OUTPUTS];
        contract_outputs(&job.terms, leg, job.strike[k], at, SIGNS, BUMPS, out);
        block_outputs(out, outputs, active, c, shared, to);
    }
}

} // namespace

#endif
