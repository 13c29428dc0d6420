/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - a batch of Longstaff-Schwartz problems: what plan.c makes, what
 * fit.c drives, and what american.c and american.cu work on.
 *
 * A problem has a contract, the prices to start from, `dates` dates of exercise, dt apart in the mean, and
 * `paths` paths in blocks of AMERICAN_BLOCK. With two levels there is another problem for each,
 * on the first `part` of its paths: the same but for rules and cash flows. System level *
 * problems + k is that of a level of problem k. Paths are made backwards, by Brownian bridges,
 * so that of a path only its d Brownian motions at one date and its cash flows are kept:
 * `state`.
 */
#ifndef SHOAL_AMERICAN_PLAN_H
#define SHOAL_AMERICAN_PLAN_H

#include "pricing/plan.h"
#include <shoal/american.h>
#include <shoal/smallsym.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AMERICAN_BLOCK = PRICE_BLOCK };
enum { AMERICAN_DUALS = 16 }; /* blocks of samples of the dual at a time */

/* psi_0 = 1, psi_(1+a) = x_a, psi_j = psi_from x_asset up to the last of the monomials; then, where
 * they do not span it, the payoff. */
typedef struct american_basis {
    int assets, monomials, functions;
    uint8_t from[SHOAL_AMERICAN_BASIS], asset[SHOAL_AMERICAN_BASIS];
} american_basis;

typedef struct american_contract {
    int payoff;
    int hedged; /* 1: cash flows are less noisy by american_hedge()         */
    double strike, dt;
    double rate, discount; /* e^(-rate dt)                               */
    double slope;          /* of american_hedge(), one date before the last */
} american_contract;

/* Numbers of a contract beside these: of each asset its volatility, drift of log S, weight, and
 * weight times the mean of what it grows by from date to date, then the rows of the lower
 * triangular L with L Lt the correlation. */
enum { AMERICAN_VOL, AMERICAN_DRIFT, AMERICAN_WEIGHT, AMERICAN_CARRY, AMERICAN_LISTS };

SHOAL_HD static inline int64_t american_numbers(int assets) {
    return AMERICAN_LISTS * assets + assets * (assets + 1) / 2;
}

/* Counts of systems: by outcome; in batches also by the row of smallsym's table that answered,
 * and by the decade of the condition number, the last one with all beyond. */
enum { FIT_EMPTY, FIT_WARNED, FIT_TRUNCATED, FIT_REFINED, FIT_FAILED, FIT_METHOD };
enum { FIT_METHODS = 8, FIT_DECADES = 20 };
enum { FIT_DECADE = FIT_METHOD + FIT_METHODS, FIT_COUNTS = FIT_DECADE + FIT_DECADES };

typedef struct american_job {
    american_basis basis;
    int raw;
    int dates;
    int levels;                      /* 1 or 2                                                   */
    int64_t part;                    /* paths of the second level                                */
    int rows;                        /* of the state: assets, levels, what the method adds       */
    int64_t problems, paths, blocks; /* blocks: of the paths of a problem                        */
    int own; /* 1: a contract a problem; 0: one for all of them                    */
    /* [date] its time over dt: of a batch; NULL: the date's number, so that all steps are dt */
    const double *times;
    int latest; /* 1: of rules the latest alone is kept, and counts are of all problems */
    const american_contract *contract;
    const double *number;  /* [contract][american_numbers]                                      */
    const double *spot;    /* [problem][asset] prices today                                     */
    const uint64_t *first; /* [problem] number of the first path that is fitted; NULL: 0        */
    shoal_stream normals;  /* of the paths that are fitted                                       */
    shoal_stream fresh;    /* of those that are priced                                           */
    shoal_stream within;   /* of the inner paths of upper bounds                                 */
    int64_t inner;         /* blocks of them at each date of a sample; 0: the rule is priced     */
    double *dual;          /* [problem][AMERICAN_DUALS AMERICAN_BLOCK]: samples of the dual      */
    void *state;     /* [problem][block][rows][AMERICAN_BLOCK] of the plan's type            */
    double *partial; /* [system][block][american_sums]                                     */
    void *A, *b, *x; /* [system] packed lower triangles, right-hand sides, answers         */
    int32_t *status; /* of the systems                                                     */
    int32_t *method; /* the row that answered, or NULL                                     */
    float *rcond;    /* or NULL                                                            */
    double *members; /* [system] paths in the money                                        */
    void *rule;      /* [system][date - 1][functions]: of dates 1 .. dates - 1             */
    void *range;     /* [date % 2][problem][asset][AMERICAN_RANGE], or NULL                */
    int64_t *count;  /* [system][FIT_COUNTS]                                               */
    double *value;   /* [system][2]: sums of cash flows and of their squares               */
} american_job;

/* Of an asset at a date: center and inverse of its range, drift t, the bridge's factor of the
 * asset's own normal, american_carry(); and of the contract american_slope(), american_keep() and
 * american_discount(). */
enum {
    RANGE_CENTER,
    RANGE_INVERSE,
    RANGE_DRIFT,
    RANGE_LOAD,
    RANGE_CARRY,
    RANGE_SLOPE,
    RANGE_KEEP,
    RANGE_DISCOUNT,
    AMERICAN_RANGE
};

/* Sums of a block: the triangle of psi psi^t, whose first entry says how many were in the money,
 * and psi y. */
SHOAL_HD static inline int64_t american_sums(int functions) {
    return (int64_t)functions * (functions + 1) / 2 + functions;
}

SHOAL_HD static inline int64_t american_systems(const american_job *job) {
    return job->levels * job->problems;
}

/* The paths of a level, and how many blocks they are. */
SHOAL_HD static inline int64_t american_paths(const american_job *job, int64_t level) {
    return level ? job->part : job->paths;
}

SHOAL_HD static inline int64_t american_blocks(const american_job *job, int64_t level) {
    return (american_paths(job, level) + AMERICAN_BLOCK - 1) / AMERICAN_BLOCK;
}

/* Numbers of the state of a block. */
SHOAL_HD static inline int64_t american_state(const american_job *job) {
    return (int64_t)job->rows * AMERICAN_BLOCK;
}

/* Numbers of the rules of a system. */
SHOAL_HD static inline int64_t american_rules(const american_job *job) {
    return (int64_t)(job->latest ? 1 : job->dates - 1) * job->basis.functions;
}

/* The cell of a method. `paths` prices a rule and is first: pricing.c knows it. The others put
 * work on the context's stream, for i = dates .. 1: */
typedef struct american_method {
    price_method paths;
    int64_t numbers; /* of state and partial, at most, but for one problem                      */
    int ranges;      /* 1: needs job.range                                                      */
    /* rows of the state: at least those of the assets, and then of the cash flows of each level */
    int (*rows)(const american_job *job);
    /* decides at date i + 1 by its rule, moves to date i, and forms the sums there */
    shoal_status (*visit)(shoal_context *ctx, const american_job *job, int i);
    /* A, b and members of date i from the sums of the blocks, in their order */
    shoal_status (*form)(shoal_context *ctx, const american_job *job);
    /* the rule of date i out of x, status and members */
    shoal_status (*settle)(shoal_context *ctx, const american_job *job, int i);
    /* decides at date 1; sums of cash flows today */
    shoal_status (*finish)(shoal_context *ctx, const american_job *job);
} american_method;

typedef struct american_run { /* one run of rules of exercise */
    price_frame f;
    const american_job *job;
} american_run;

typedef struct american_plan { /* arrays are in the context's memory, except fits, worth */
    shoal_price p;
    american_run run;
    american_job job;
    shoal_smallsym *solver;
    int64_t systems; /* that the solver has room for, and the unknowns of each                  */
    int64_t unknowns;
    int64_t
        at_once; /* problems at a time                                                         */
    int batch;   /* systems are counted by method and condition, nothing is priced afterwards */
    shoal_american_fit *fits;
    double *
        worth; /* per option: how much of the strike it may pay, then how much of each asset, and the
                      deviation of its logarithm at maturity; on the host                      */
} american_plan;

/* plan.c: L with L Lt the correlation c of d assets (NULL: they are independent), rows of the lower
 * triangle; SHOAL_E_ARG names the entry that is not one of a correlation. */
shoal_status shoal_correlation_factor(shoal_context *ctx, const double *c, int64_t d, double *L);
/* fit.c: all regressions of the plan's options, whose prices on the fitted paths then are in
 * job.value; of a plan that is not a batch, plan.fits. */
shoal_status shoal_american_fit_all(american_plan *a, const shoal_american_opts *o);

/* plan.c: what `option` is worth from each of `count` rows of prices `spot`, [row][asset], on
 * the paths that it is fitted on, first[i] the first of those of row i; option.s0 is not looked
 * at. when: time over maturity / dates of today, 0, and of all dates; whole numbers where the steps are equal. half: NULL, or the same on the first half of the paths of each, at least one. The counts of
 * all systems are added to `total`. *plan is NULL, or what an earlier call has left: its memory is
 * used again; the context, type, solver and cond are then those of that call. shoal_plan_free(). */
shoal_status shoal_american_batch(shoal_context *ctx, const shoal_american *option, int64_t count,
                                  const double *spot, const uint64_t *first, const double *times,
                                  const shoal_american_opts *opts, american_plan **plan,
                                  double *price, double *half, int64_t total[FIT_COUNTS]);

#ifdef __cplusplus
}
#endif
#endif
