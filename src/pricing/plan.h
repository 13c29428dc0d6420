/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what all plans for prices share, and the job that the paths of a backend read.
 *
 * Samples are simulated in blocks of PRICE_BLOCK, which make the sums of `width` statistics each
 * (partial), and the sums of a unit are those of its blocks, added in their order. Statistics:
 * for each maturity the control variate c and its square; then for each strike and output
 * (price, and with greeks delta, gamma, vega) x, x^2 and x c.
 */
#ifndef SHOAL_PRICING_PLAN_H
#define SHOAL_PRICING_PLAN_H

#include "core/hd.h"
#include "core/plan.h"
#include "rng/philox.h"
#include <shoal/pricing.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PRICE_BLOCK = 256, PRICE_BLOCKS = SHOAL_PRICE_UNIT / PRICE_BLOCK };
enum { PRICE_OUTPUTS = 4, PRICE_CONTROL = 2, PRICE_STATISTICS = 3 };
enum { PRICE_BUMPS = 3, PRICE_WALKS = 2 * PRICE_BUMPS }; /* of a start, and with both signs */

/* Addresses of random numbers: the purpose, and what they are drawn for. */
enum { PRICE_PURPOSE = 0xd0 };
enum { PRICE_NORMALS, PRICE_VARIANCE, PRICE_LAST }; /* Heston's model             */
enum { PRICE_BULLETS = 3, PRICE_OUTER };            /* bullet options             */
enum { PRICE_EXPOUS = 5 };                          /* exponential OU             */
enum { PRICE_FITS = 6, PRICE_RULES, PRICE_WITHIN }; /* American options           */
enum { PRICE_ROWS = 9, PRICE_LATIN };               /* data sets                  */
enum { PRICE_CVA_OUTER = 16, PRICE_CVA_INNER, PRICE_CVA_HAZARD, PRICE_CVA_EXTREME }; /* CVA      */

typedef struct price_leg { /* from one maturity to the next, in equal steps */
    int32_t steps;
    uint32_t first; /* address of its first step: even, since f32 shares blocks in pairs     */
    double dt, maturity;
    double discount, forward; /* of the maturity: e^(-r T), S0 e^((r - q) T)                 */
    double lambda, factor;    /* CIR: Poisson mean per unit of v, and scale of the gamma      */
    double weight, base;      /* integral of v over a step: base + weight (v + v')           */
    double decay, noise;      /* exponential OU: Y' = m + decay (Y - m) + noise G             */
    int put;                  /* what is simulated; parity gives the other                    */
    double bump;              /* delta and gamma: from s0 (1 - bump) to s0 (1 + bump)          */
} price_leg;

/* What the values of a contract need beside the state of its path: contract.h. */
typedef struct price_terms {
    int outputs;
    double s0;
    double vega; /* factor of P(v0 up) - P(v0 down)                                        */
} price_terms;

/* What every job has: where its sums go. */
typedef struct price_frame {
    int64_t width;   /* statistics of a block                                                 */
    int64_t room;    /* blocks for which partial has room                                     */
    double *partial; /* sums of blocks: [block][width]; in the context's memory, as all arrays */
    double *sums;    /* of units: [unit][width]                                               */
    uint64_t first;
    int64_t samples;
    const shoal_context *ctx; /* of the run: on the CPU asked about cancellation           */
} price_frame;

/* One run of a model of stochastic volatility. What is driven is Heston's variance v or exponential
 * Ornstein-Uhlenbeck's log-volatility Y. */
typedef struct price_job {
    price_frame f;
    int row, variant, fast_math, in_s; /* in_s: Euler steps S, not its logarithm */
    int signs, bumps; /* walks of a sample: 1 or 2 signs of its normals, 1 or 3 starts       */
    int legs, strikes;
    price_terms terms;
    double start[PRICE_BUMPS]; /* v0 or Y0, and those up and down                            */
    double reversion;          /* kappa or alpha                                             */
    double mean;               /* theta or m                                                 */
    double noise;              /* sigma or beta                                              */
    double rho;
    double shape; /* Heston, of the gamma law: 2 kappa theta / sigma^2                       */
    shoal_stream normals, variance, last;
    const price_leg *leg;
    const double *strike;
} price_job;

/* The cell of every method of a model: the job's row selects what it does. Neither allocates nor waits. */
typedef struct price_method {
    int64_t blocks; /* blocks of samples at a time, at most                                   */
    shoal_status (*run)(shoal_context *ctx, const void *job);
} price_method;

/* What the steps change in the mean of a value and of its control variate, and how much of it is not known. */
typedef struct price_bias {
    double value, control, slack;
} price_bias;

/* The first member of a model's own plan. */
struct shoal_price {
    shoal_plan head;
    const shoal_module *module;
    shoal_choice choice;
    price_frame *frame; /* the first member of the model's job: all but sums, first, samples   */
    /* the values of a method without paths; NULL: there are paths */
    shoal_status (*formula)(const shoal_price *plan, shoal_price_value *values);
    /* the bias of a contract, kept in biases; NULL: the steps have none */
    price_bias (*bias)(const shoal_price *plan, int64_t group, int64_t strike);
    price_bias *biases;
    /* the largest mean of a contract that pays with this probability; deviation: of the control */
    double (*ceiling)(const shoal_price *plan, int64_t group, int64_t strike, double probability,
                      double deviation);
    int control, put; /* put: of the contract; legs may simulate the other                     */
    int signs, outputs;
    int64_t walks;                /* of a sample                                              */
    int64_t groups, strike_count; /* contracts: groups (maturities, points) x strikes          */
    int separate;                 /* 1: each group has paths of its own, which add up          */
    int64_t steps;                /* of a path                                                */
    double s0;
    price_leg *legs; /* on the host, as the strikes; NULL: a model without them                */
    double *strikes;
};

/* An empty plan of `size` bytes. SHOAL_E_ARG if one of the pointers is NULL. */
shoal_status shoal_price_new(shoal_context *ctx, const shoal_module *module, size_t size,
                             const void *model, const void *opts, shoal_price **plan);
/* Looks up the method of the options; "auto" is `best`. */
shoal_status shoal_price_choose(shoal_price *p, const shoal_price_opts *o, const char *best);
/* Memory for the sums of blocks, once groups and outputs are known. */
shoal_status shoal_price_room(shoal_price *p);
/* Room for the biases of all contracts, if the plan has any. */
shoal_status shoal_price_keep_biases(shoal_price *p);
/* The time of the day. */
double shoal_price_seconds(void);
/* Simulates a plan that was created with this status, and frees it. */
shoal_status shoal_price_once(shoal_status created, shoal_price **plan,
                              const shoal_price_goal *goal, shoal_price_value *values);

/* legs.c: plans of models of stochastic volatility. Checks the options, fills the plan's legs
 * and what follows from the options in the job; then, once the legs are complete, copies them to
 * the context's memory. */
shoal_status shoal_price_legs(shoal_price *p, price_job *job, const shoal_price_opts *o,
                              const char *best, double s0);
/* Shares the steps among the maturities. */
shoal_status shoal_price_split(shoal_price *p, const shoal_price_opts *o, int64_t steps,
                               double rate, double dividend);
shoal_status shoal_price_keep_legs(shoal_price *p, price_job *job);
shoal_status shoal_price_check_numbers(shoal_context *ctx, const shoal_price_opts *o);
/* The bump of a leg, from the variance of log S_T (smooth: values are smooth along a path), and
 * whether a call is simulated as a put (martingale: parity holds). */
void shoal_price_shape(price_leg *leg, const shoal_price_opts *o, double variance, int smooth,
                       int martingale);
/* SHOAL_E_ARG if Euler's steps are too long for a reversion at this rate. */
shoal_status shoal_price_stable(const shoal_price *p, const shoal_price_opts *o, const char *name,
                                double rate);
/* Euler's default: 1000 steps, or 10 per time of reversion. */
int64_t shoal_price_euler_steps(const shoal_price_opts *o, double rate);
/* What an error in the variance of log S_T and one in the mean of S_T, over S_T, change in a price. */
price_bias shoal_price_shift(const price_leg *leg, double strike, double variance, double error,
                             double mean);
/* The relative bump of the options, or by default this share of a standard deviation, within limits. */
double shoal_price_bump(const shoal_price_opts *o, double deviation, double share);

#ifdef __cplusplus
}
#endif
#endif
