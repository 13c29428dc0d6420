/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan for prices holds, and what the paths of a backend get to see.
 *
 * Samples are simulated in blocks of PRICE_BLOCK, which make the sums of `width` statistics each
 * (partial), and the sums of a unit are those of its blocks, added in their order. Statistics: for each
 * maturity the control variate c and its square; then for each strike and output (price, and with
 * greeks delta, gamma, vega) x, x^2 and x c.
 */
#ifndef SHOAL_PRICING_PLAN_H
#define SHOAL_PRICING_PLAN_H

#include "core/method.h"
#include "rng/philox.h"
#include <shoal/pricing.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PRICE_BLOCK = 256, PRICE_BLOCKS = SHOAL_PRICE_UNIT / PRICE_BLOCK };
enum { PRICE_OUTPUTS = 4, PRICE_CONTROL = 2, PRICE_STATISTICS = 3 };
enum { PRICE_BUMPS = 3, PRICE_WALKS = 2 * PRICE_BUMPS }; /* of a start, and with both signs */

/* What the random numbers of pricing are for: beside the model, in the address. */
enum { PRICE_PURPOSE = 0xd0 };
enum { PRICE_NORMALS, PRICE_VARIANCE, PRICE_LAST };

/* Rows of the method table of Heston's model, and their variants. */
enum { HESTON_EULER, HESTON_EXACT, HESTON_CONDITIONAL, HESTON_ANALYTIC };
enum { EULER_FULL, EULER_PLUS, EULER_ABS };
enum { VARIANCE_POISSON, VARIANCE_NORMAL };

typedef struct price_leg { /* from one maturity to the next, in equal steps */
    int32_t steps;
    uint32_t first; /* address of its first step: even, since f32 shares blocks in pairs     */
    double dt, maturity;
    double discount, forward; /* of the maturity: e^(-r T), S0 e^((r - q) T)                 */
    double per, factor;       /* CIR: Poisson mean for each unit of v, and scale of the gamma */
    double weight, base;      /* integral of v over a step: base + weight (v + v')           */
} price_leg;

/* What the values of a contract need beside the state of its path: contract.h. */
typedef struct price_terms {
    int put, outputs;
    double s0, bump; /* delta and gamma: from s0 (1 - bump) to s0 (1 + bump)               */
    double vega;     /* factor of P(v0 up) - P(v0 down)                                    */
} price_terms;

typedef struct price_job { /* one run, of Heston's model */
    int row, variant, fast;
    int signs, bumps; /* walks of a sample: 1 or 2 signs of its normals, 1 or 3 starts       */
    int legs, strikes, width;
    price_terms terms;
    double v0[PRICE_BUMPS];
    double kappa, theta, sigma, rho;
    double shape; /* of the gamma law: 2 kappa theta / sigma^2                               */
    shoal_stream normals, variance, last;
    const price_leg *leg; /* in the context's memory, as strike and partial                 */
    const double *strike;
    double *partial; /* sums of blocks: [block][width]                                       */
    double *sums;    /* of units: [unit][width]                                              */
    uint64_t first;
    int64_t samples;
} price_job;

/* The cell of every method: the row says what to do. Neither allocates nor waits. */
typedef struct price_method {
    int64_t round; /* units for which there is room in job->partial                          */
    shoal_status (*run)(shoal_context *ctx, const price_job *job);
} price_method;

struct shoal_price {
    shoal_context *ctx;
    shoal_choice choice;
    shoal_heston model;
    price_job job;   /* all but sums, first and samples                                   */
    price_leg *legs; /* on the host                                                       */
    double *strikes; /* on the host                                                       */
    void *kept[3];   /* in the context's memory: legs, strikes, partial                   */
    int64_t steps;   /* of a path                                                         */
    int control;
    size_t bytes;
};

/* heston_analytic.c. SHOAL_E_ARG where the integral does not converge. */
shoal_status shoal_heston_analytic(shoal_context *ctx, const shoal_heston *model, double strike,
                                   double maturity, int put, shoal_price_value *value);

#ifdef __cplusplus
}
#endif
#endif
