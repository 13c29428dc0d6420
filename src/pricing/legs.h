/* SPDX-License-Identifier: Apache-2.0
 *
 * legs.h - what the samples of a block say at one maturity, on the CPU: the statistics of plan.h.
 */
#ifndef SHOAL_PRICING_LEGS_H
#define SHOAL_PRICING_LEGS_H

#include "pricing/contract.h"
#include "pricing/lanes.h"

/* Sums of one leg's statistics over the first `active` samples; at: the states of all. */
static inline void legs_sum(const price_job *job, int number, int active, const price_states *at,
                            double *sums) {
    const price_leg *leg = &job->leg[number];
    double x[PRICE_OUTPUTS][PRICE_BLOCK], c[PRICE_BLOCK], product[PRICE_BLOCK];
    double *to = sums + number * PRICE_CONTROL;
    for (int i = 0; i < PRICE_BLOCK; i++)
        c[i] = i < active ? contract_control(at[i].walk, job->signs, job->bumps) : 0;
    to[0] = lanes_sum(c);
    to[1] = lanes_sum(lanes_product(c, c, product));
    to = sums + job->legs * PRICE_CONTROL;
    to += (int64_t)number * job->strikes * job->terms.outputs * PRICE_STATISTICS;
    for (int k = 0; k < job->strikes; k++) {
        for (int i = 0; i < PRICE_BLOCK; i++) {
            double out[PRICE_OUTPUTS];
            contract_outputs(&job->terms, leg, job->strike[k], at[i].walk, job->signs, job->bumps,
                             out);
            for (int o = 0; o < job->terms.outputs; o++) x[o][i] = i < active ? out[o] : 0;
        }
        for (int o = 0; o < job->terms.outputs; o++, to += PRICE_STATISTICS) {
            to[0] = lanes_sum(x[o]);
            to[1] = lanes_sum(lanes_product(x[o], x[o], product));
            to[2] = lanes_sum(lanes_product(x[o], c, product));
        }
    }
}

#endif
