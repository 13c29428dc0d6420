/* SPDX-License-Identifier: Apache-2.0
 *
 * legs.h - what the samples of a block say at one maturity, on the CPU: the statistics of plan.h; and
 * all blocks of a run.
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

/* Block `number` of the samples: the sums of its statistics. */
typedef void legs_block(const price_job *job, int64_t number, double *sums);

/* All blocks, threads over as many at a time as there is room for, and the sums of their units. */
static inline shoal_status legs_run(const shoal_context *ctx, const price_job *job,
                                    legs_block *run_block) {
    const price_frame *f = &job->f;
    const int64_t blocks = (f->samples + PRICE_BLOCK - 1) / PRICE_BLOCK;
    const int workers = ctx->threads;
    (void)workers; /* without OpenMP */
    for (int64_t from = 0; from < blocks; from += f->room) {
        const int64_t here = blocks - from < f->room ? blocks - from : f->room;
#pragma omp parallel for num_threads(workers) schedule(dynamic)
        for (int64_t b = 0; b < here; b++) run_block(job, from + b, f->partial + b * f->width);
        lanes_add_units(f, from, here);
    }
    return SHOAL_OK;
}

#endif
