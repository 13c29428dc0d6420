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

/* What the random numbers of pricing are for: beside the model, in the address. */
enum { PRICE_PURPOSE = 0xd0 };
enum {
    PRICE_NORMALS,
    PRICE_VARIANCE,
    PRICE_LAST,
    PRICE_BULLETS,
    PRICE_OUTER,
    PRICE_EXPOUS,
    PRICE_FITS,
    PRICE_RULES,
    PRICE_WITHIN,
    PRICE_ROWS,
    PRICE_LATIN
};

/* Rows of the method table of Heston's model, and their variants. */
enum { HESTON_EULER, HESTON_EXACT, HESTON_CONDITIONAL, HESTON_ANALYTIC };
enum { EULER_FULL, EULER_PLUS, EULER_ABS };
enum { VARIANCE_POISSON, VARIANCE_NORMAL };

/* Rows of that of exponential Ornstein-Uhlenbeck. */
enum { EXPOU_EULER, EXPOU_CONDITIONAL };

/* Rows of that of bullet options. */
enum { BULLET_MC, BULLET_GRID, BULLET_NESTED, BULLET_QUAD, BULLET_PDE };
enum { PDE_PCR, PDE_THOMAS };

typedef struct price_leg { /* from one maturity to the next, in equal steps */
    int32_t steps;
    uint32_t first; /* address of its first step: even, since f32 shares blocks in pairs     */
    double dt, maturity;
    double discount, forward; /* of the maturity: e^(-r T), S0 e^((r - q) T)                 */
    double per, factor;       /* CIR: Poisson mean for each unit of v, and scale of the gamma */
    double weight, base;      /* integral of v over a step: base + weight (v + v')           */
    double decay, noise;      /* exponential OU: Y' = m + decay (Y - m) + noise G             */
    int put;                  /* what is simulated; where it is not what is asked for, parity  */
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
} price_frame;

/* One run of a model of stochastic volatility. What is driven is Heston's variance v or exponential
 * Ornstein-Uhlenbeck's log-volatility Y. */
typedef struct price_job {
    price_frame f;
    int row, variant, fast;
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

/* A walk of a bullet option from one point: y = log(S / x) gets drift + vol G a step. */
typedef struct bullet_start {
    int32_t steps; /* to maturity                                                           */
    int32_t looks; /* after the first so many of them the barrier is looked at              */
    double x, level[PRICE_BUMPS]; /* log(B / x), of x and of x up and down                    */
    double counted[PRICE_BUMPS];  /* the count to begin with                                  */
    double discount, forward;     /* e^(-r tau), e^(r tau), tau to maturity                   */
    double bump;                  /* x up and down: x (1 + bump), x (1 - bump)                */
} bullet_start;

typedef struct bullet_job { /* one run, of a bullet option */
    price_frame f;
    int fast, signs, bumps, outputs;
    int64_t points;
    int certain; /* 1: pays 1, undiscounted, instead of (S - K)+                             */
    double drift, vol, strike, p1, p2;
    float drift_single; /* the same in float, so that no loop converts it                      */
    shoal_stream normals;
    const bullet_start *start; /* one a point                                                */
} bullet_job;

typedef struct american_run { /* one run, of rules of exercise: american/plan.h */
    price_frame f;
    const struct american_job *job;
} american_run;

/* The cell of every method: the row says what to do. Neither allocates nor waits. */
typedef struct price_method {
    int64_t blocks; /* of samples at a time, at most                                          */
    shoal_status (*run)(shoal_context *ctx, const void *job);
} price_method;

typedef enum price_model { PRICE_HESTON, PRICE_EXPOU, PRICE_BULLET, PRICE_AMERICAN } price_model;

struct shoal_price {
    shoal_plan head;
    shoal_choice choice;
    price_model model;
    int deterministic, control, put; /* put: asked for                                       */
    int signs, bumps, outputs;
    int64_t groups, strike_count; /* contracts: groups (maturities, points) x strikes         */
    int64_t steps;                /* of a path                                               */
    union {
        price_frame f;
        price_job stochvol;
        bullet_job bullet;
        american_run american;
    } job; /* all but sums, first and samples                                                 */
    shoal_heston heston;
    price_leg *legs; /* on the host, as the next three                                        */
    double *strikes;
    shoal_bullet bullet;
    shoal_pde_opts pde; /* of BULLET_PDE                                                      */
    int certain;        /* as in bullet_job                                                   */
    shoal_bullet_point *points;
    struct american_plan *american; /* NULL: another model */
};

/* An empty plan. SHOAL_E_ARG if one of the pointers is NULL. */
shoal_status shoal_price_new(shoal_context *ctx, price_model kind, const void *model,
                             const void *opts, shoal_price **plan);
/* Room for the sums of blocks, once the width is known. */
shoal_status shoal_price_room(shoal_price *p);

/* legs.c: checks of lists, steps and types; the legs and strikes of a plan, and their copies in the
 * context's memory, job.stochvol.leg and .strike. */
shoal_status shoal_price_check(shoal_context *ctx, const shoal_price_opts *o);
shoal_status shoal_price_check_numbers(shoal_context *ctx, const shoal_price_opts *o);
shoal_status shoal_price_legs(shoal_price *p, const shoal_price_opts *o, double s0, double rate,
                              double dividend);
shoal_status shoal_price_keep_legs(shoal_price *p);
/* The bump of a leg, from the variance of log S_T (smooth: values are smooth along a path), and whether
 * a call is simulated as a put (martingale: parity holds). */
void shoal_price_shape(price_leg *leg, const shoal_price_opts *o, double variance, int smooth,
                       int martingale);
/* SHOAL_E_ARG where Euler's steps are too long for a reversion at this rate. */
shoal_status shoal_price_stable(const shoal_price *p, const shoal_price_opts *o, const char *name,
                                double rate);
/* Relative differences, if none are asked for: this share of a standard deviation, within limits. */
double shoal_price_bump(const shoal_price_opts *o, double deviation, double share);

/* heston_analytic.c. SHOAL_E_ARG where the integral does not converge. */
shoal_status shoal_heston_analytic(shoal_context *ctx, const shoal_heston *model, double strike,
                                   double maturity, int put, shoal_price_value *value);

/* bullet_quad.c, pde_value.c: the value at every point of the plan. */
shoal_status shoal_bullet_quad(const shoal_price *plan, shoal_price_value *values);
shoal_status shoal_bullet_pde(const shoal_price *plan, shoal_price_value *values);

#ifdef __cplusplus
}
#endif
#endif
