/* SPDX-License-Identifier: Apache-2.0
 *
 * euler.h - what Euler's schemes of Heston's and the exponential Ornstein-Uhlenbeck model share:
 * the numbers of a leg, for both compilers, and the walks of a block of samples on the CPU.
 */
#ifndef SHOAL_MODELS_EULER_H
#define SHOAL_MODELS_EULER_H

#include "models/plan.h"
#include "pricing/contract.h"
#include "pricing/pick.h"

typedef struct euler_numbers { /* with kappa, theta, sigma or alpha, m, beta                */
    real pull;                 /* kappa theta dt                                            */
    real reversion, decay;     /* kappa dt, 1 - kappa dt                                    */
    real noise;                /* sigma sqrt(dt)                                            */
    real along, across, half;  /* rho sqrt(dt), sqrt(1 - rho^2) sqrt(dt), dt / 2            */
} euler_numbers;

SHOAL_HD static inline euler_numbers euler_numbers_of(const price_job *job, const price_leg *leg) {
    const double root = sqrt(leg->dt);
    euler_numbers n;
    n.pull = (real)(job->reversion * job->mean * leg->dt);
    n.reversion = (real)(job->reversion * leg->dt);
    n.decay = (real)(1.0 - job->reversion * leg->dt);
    n.noise = (real)(job->noise * root);
    n.along = (real)(job->rho * root);
    n.across = (real)(sqrt(1.0 - job->rho * job->rho) * root);
    n.half = (real)(0.5 * leg->dt);
    return n;
}

/* S e^(-(r - q) t) / S0. */
SHOAL_HD static inline double euler_growth(const price_job *job, real x) {
    return job->in_s ? 1.0 + (double)x : shoal_exp((double)x);
}

#ifndef __cplusplus
#include "pricing/legs.h"

enum { LANES = PRICE_BLOCK };

typedef struct euler_block {
    uint32_t w[4][LANES]; /* words of Philox                    */
    real z[2][LANES];     /* normals                            */
    real v[PRICE_WALKS][LANES],
        x[PRICE_WALKS][LANES]; /* v or Y, log(S e^(-(r - q) t) / S0) or, in_s, less 1 */
    price_states at[LANES];    /* at the end of a leg                */
} euler_block;

/* One step of one walk of all lanes; z has the signs of the walk's first one. */
typedef void euler_move(const euler_numbers *n, int variant, int in_s, real sign,
                        const real (*z)[LANES], real *v, real *x);

static inline void euler_begin(const price_job *job, euler_block *b) {
    for (int walk = 0; walk < PRICE_WALKS; walk++)
        for (int i = 0; i < LANES; i++)
            b->v[walk][i] = (real)job->start[walk % job->bumps], b->x[walk][i] = 0;
}

/* In f32 one Philox block serves two steps. */
static inline void euler_leg(const price_job *job, const price_leg *leg, uint64_t first,
                             euler_move *move, euler_block *b) {
    const euler_numbers n = euler_numbers_of(job, leg);
    const int walks = job->signs * job->bumps, steps = BLOCK_NORMALS / 2;
    for (int k = 0; k < leg->steps; k++) {
        if (k % steps == 0)
            lanes_words(&job->normals, (leg->first + (uint32_t)k) / (uint32_t)steps, first, LANES,
                        b->w[0]);
        lanes_normals(b->w[0], k % steps, LANES, b->z[0], b->z[1]);
        for (int walk = 0; walk < walks; walk++)
            move(&n, job->variant, job->in_s, walk < job->bumps ? 1 : -1,
                 (const real(*)[LANES])b->z, b->v[walk], b->x[walk]);
    }
    for (int walk = 0; walk < walks; walk++) EACH(i, LANES) {
            b->at[i].walk[walk].f = euler_growth(job, b->x[walk][i]);
            b->at[i].walk[walk].s = 0;
        }
}
#endif

#endif
