/* SPDX-License-Identifier: Apache-2.0
 *
 * legs.h - the statistics of plan.h of a block's samples at one maturity, on the CPU.
 */
#ifndef SHOAL_PRICING_LEGS_H
#define SHOAL_PRICING_LEGS_H

#include "pricing/contract.h"
#include "pricing/lanes.h"

/* Sums of one leg's statistics over block `block` of the samples; at: the states of all. */
static inline void legs_sum(const price_job *job, int number, int64_t block, const price_states *at,
                            double *sums) {
    const int64_t active = job->f.samples - block * PRICE_BLOCK;
    const int64_t blocks = (job->f.samples + PRICE_BLOCK - 1) / PRICE_BLOCK;
    const int64_t before = (block * job->legs + number) * job->strikes; /* contracts */
    const int outputs = job->terms.outputs;
    double x[PRICE_OUTPUTS][PRICE_BLOCK], c[PRICE_BLOCK];
    for (int i = 0; i < PRICE_BLOCK; i++)
        c[i] = i < active ? contract_control(at[i].walk, job->signs, job->bumps) : 0;
    lanes_control(c, sums + number * PRICE_CONTROL);
    double *to = sums + job->legs * PRICE_CONTROL;
    to += (int64_t)number * job->strikes * outputs * PRICE_STATISTICS;
    for (int k = 0; k < job->strikes; k++) { /* a surface of 300,000 contracts takes seconds */
        if (shoal_is_cancelled(job->f.ctx, before + k, blocks * job->legs * job->strikes)) return;
        for (int i = 0; i < PRICE_BLOCK; i++) {
            double out[PRICE_OUTPUTS];
            contract_outputs(&job->terms, &job->leg[number], job->strike[k], at[i].walk, job->signs,
                             job->bumps, out);
            for (int o = 0; o < outputs; o++) x[o][i] = i < active ? out[o] : 0;
        }
        for (int o = 0; o < outputs; o++, to += PRICE_STATISTICS) lanes_output(x[o], c, to);
    }
}

#endif
