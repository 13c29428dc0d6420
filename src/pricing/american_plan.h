/* SPDX-License-Identifier: Apache-2.0
 *
 * american_plan.h - a batch of Longstaff-Schwartz problems: what american_plan.c makes, what
 * american_fit.c drives, and what american.c and american.cu work on.
 *
 * A problem has a contract, the prices to start from, `dates` dates of exercise dt apart, and `paths`
 * paths in blocks of AMERICAN_BLOCK. Paths are made backwards, by Brownian bridges, so that of a path
 * only its d Brownian motions at one date and its cash flow are kept: `state`.
 */
#ifndef SHOAL_PRICING_AMERICAN_PLAN_H
#define SHOAL_PRICING_AMERICAN_PLAN_H

#include "pricing/plan.h"
#include <shoal/american.h>
#include <shoal/smallsym.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AMERICAN_BLOCK = PRICE_BLOCK,
    AMERICAN_DUALS = 16
}; /* blocks of samples of the dual at a time */

/* psi_0 = 1, psi_(1+a) = x_a, psi_j = psi_from x_asset up to the last of the monomials; then, where
 * they do not span it, the payoff. */
typedef struct american_basis {
    int assets, monomials, functions;
    uint8_t from[SHOAL_AMERICAN_BASIS], asset[SHOAL_AMERICAN_BASIS];
} american_basis;

typedef struct american_contract {
    int payoff;
    double strike, dt, discount; /* e^(-rate dt)                            */
    uint64_t first;              /* number of the first random path that is fitted */
} american_contract;

/* Numbers of a contract beside these: of each asset its price today, volatility, drift of log S and
 * weight, then the rows of the lower triangular L with L Lt the correlation. */
enum { AMERICAN_SPOT, AMERICAN_VOL, AMERICAN_DRIFT, AMERICAN_WEIGHT, AMERICAN_LISTS };

SHOAL_HD static inline int64_t american_numbers(int assets) {
    return AMERICAN_LISTS * assets + assets * (assets + 1) / 2;
}

/* Of systems: what became of them; by which row of smallsym's table they were answered; the decade of
 * their condition number, the last one with all beyond. The latter two are for whoever asks. */
enum { FIT_METHODS = 8, FIT_DECADES = 20 };
enum {
    FIT_EMPTY,
    FIT_WARNED,
    FIT_TRUNCATED,
    FIT_REFINED,
    FIT_FAILED,
    FIT_METHOD,
    FIT_DECADE = FIT_METHOD + FIT_METHODS,
    FIT_COUNTS = FIT_DECADE + FIT_DECADES
};

typedef struct american_job {
    american_basis basis;
    int raw;
    int crossed; /* 1: of problems 2 i and 2 i + 1 each decides by the rule of the other         */
    int dates;
    int64_t problems, paths, blocks; /* blocks: of the paths of a problem                        */
    const american_contract *contract;
    const double *number; /* [contract][american_numbers]                                       */
    shoal_stream normals; /* of the paths that are fitted                                       */
    shoal_stream fresh;   /* of those that are priced                                           */
    shoal_stream within;  /* of the inner paths of upper bounds                                 */
    int64_t inner;        /* blocks of them at each date of a sample; 0: the rule is priced     */
    double *dual;         /* [problem][AMERICAN_DUALS AMERICAN_BLOCK]: samples of the dual      */
    void *state;          /* [problem][block][assets + 1][AMERICAN_BLOCK] of the plan's type    */
    double *partial;      /* [problem][block][american_sums]                                    */
    void *A, *b, *x;      /* [problem] systems: packed lower triangles, right-hand sides, answers */
    int32_t *status;      /* of the systems                                                     */
    int32_t *method;      /* the row that answered, or NULL                                     */
    float *rcond;         /* or NULL                                                            */
    double *members;      /* [problem] paths in the money                                       */
    void *rule;           /* [problem][date - 1][functions]: of dates 1 .. dates - 1            */
    int64_t *count;       /* [problem][FIT_COUNTS]                                              */
    double *value;        /* [problem][2]: sums of cash flows and of their squares              */
} american_job;

/* Sums of a block: the triangle of psi psi^t, psi y, and how many were in the money. */
SHOAL_HD static inline int64_t american_sums(int functions) {
    return (int64_t)functions * (functions + 1) / 2 + functions + 1;
}

SHOAL_HD static inline int64_t american_rules(const american_job *job) {
    return (int64_t)(job->dates - 1) * job->basis.functions;
}

/* The cell of a method. `paths` prices a rule and is first: pricing.c knows it. The others put work on
 * the context's stream, for i = dates .. 1: */
typedef struct american_method {
    price_method paths;
    int64_t numbers; /* of state and partial, at most, but for one problem                      */
    /* decides at date i + 1 by its rule, moves to date i, and forms the sums there */
    shoal_status (*visit)(shoal_context *ctx, const american_job *job, int i);
    /* A, b and members of date i from the sums of the blocks, in their order */
    shoal_status (*form)(shoal_context *ctx, const american_job *job);
    /* the rule of date i out of x, status and members */
    shoal_status (*settle)(shoal_context *ctx, const american_job *job, int i);
    /* decides at date 1; sums of cash flows today */
    shoal_status (*finish)(shoal_context *ctx, const american_job *job);
} american_method;

struct american_plan { /* all in the context's memory, but fits */
    american_job job;
    shoal_smallsym *solver;
    void *memory[13];
    int batch; /* systems are counted by method and condition, nothing is priced afterwards */
    shoal_american_fit *fits;
    int64_t total[FIT_COUNTS];
};

/* american_plan.c: L with L Lt the correlation c of d assets (NULL: they are independent), rows of the lower
 * triangle; SHOAL_E_ARG names the entry that is not one of a correlation. */
shoal_status shoal_correlation_factor(shoal_context *ctx, const double *c, int64_t d, double *L);
/* american_fit.c: all regressions of the plan's options. */
shoal_status shoal_american_fit_all(shoal_price *p, const shoal_american_opts *o);
void shoal_american_free(shoal_price *p);

/* american_plan.c: what `count` options are worth on the paths that they are fitted on, first[i] the
 * first of option i's, and the counts of all their systems, added to `total`. Nothing is kept. Crossed, the
 * paths of options 2 i and 2 i + 1 are exercised by the rules that are fitted on each other's. */
shoal_status shoal_american_batch(shoal_context *ctx, const shoal_american *options, int64_t count,
                                  const shoal_american_opts *opts, int crossed,
                                  const uint64_t *first, double *price, int64_t total[FIT_COUNTS]);

#ifdef __cplusplus
}
#endif
#endif
