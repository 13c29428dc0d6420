/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan for CVA holds, and what the cells that walk paths get to see.
 */
#ifndef SHOAL_CVA_PLAN_H
#define SHOAL_CVA_PLAN_H

#include "american/plan.h"
#include <math.h>
#include <shoal/cva.h>

/* An outer path has its number; the inner ones of path p are p 2^CVA_INNER_BITS + i, 64 of them at a time. */
enum { CVA_INNER_BITS = 20, CVA_LANES = 64 };
enum { CVA_OTHER_HALF = 1 << (CVA_INNER_BITS - 1) }; /* from one half of them to the other */
enum { CVA_TASK = 16 };                              /* outer paths in a row that a thread takes */

/* Values are kept for all inner paths, and for the first half of them. */
enum { CVA_ALL, CVA_HALF, CVA_LEVELS };

enum { CVA_EXPIRED, CVA_CLOSED, CVA_NESTED, CVA_AMERICAN, CVA_KINDS };

typedef struct cva_contract {
    int kind, payoff, assets;
    int64_t last; /* with early exercise: the date of its maturity                               */
    int64_t set;
    double strike, maturity, quantity;
    const int64_t *asset;
    const double *weight;
    const american_job *rule; /* of exercise before the last date, in host memory, or NULL       */
} cva_contract;

typedef struct cva_job {
    int assets;
    double rate;
    const double *s0, *sigma, *dividend;
    const double *load; /* rows of the lower triangular L with L Lt the correlation             */
    const double *correlation; /* assets x assets                                              */
    int64_t dates, contracts, sets;
    double horizon, dt;
    int64_t kinds[CVA_KINDS]; /* contracts of a kind                                            */
    const cva_contract *contract;
    const int64_t *inner; /* [date - 1]                                                         */
    shoal_stream outer_normals, inner_normals;
    /* of a run */
    uint64_t first;
    int64_t paths;
    double *brownian, *spot; /* [path][asset], at the date                                      */
    double *value;           /* [path][level][set]                                              */
    double *sums;            /* of inner paths: [task][contract][level]                         */
    char *exercised;         /* [contract with early exercise][level][path]                     */
    char *now;               /* [path]: by the rule of one contract at one date                  */
} cva_job;

SHOAL_HD static inline double cva_time(const cva_job *job, int64_t k) {
    return job->horizon * (double)k / (double)job->dates;
}

/* What is left of a contract at date k: 0 on its last day, below 0 later. Dates and maturities
 * that are the same but for rounding are the same. */
static inline double cva_left(const cva_job *job, const cva_contract *c, int64_t k) {
    const double left = c->maturity - cva_time(job, k);
    return left < 1e-9 * job->dt && left > -1e-9 * job->dt ? 0 : left;
}

/* What exercise, or the last day, pays at prices `spot` of all assets: below 0 only of a forward. */
static inline double cva_pay(const cva_contract *c, const double *spot) {
    const int sum = c->payoff >= SHOAL_CVA_BASKET_PUT;
    double all = sum ? 0 : spot[c->asset[0]];
    for (int i = 0; i < c->assets; i++) {
        const double s = spot[c->asset[i]];
        if (sum)
            all = fma(c->weight[i], s, all);
        else if (s > all)
            all = s;
    }
    const int down = c->payoff == SHOAL_CVA_PUT || c->payoff == SHOAL_CVA_BASKET_PUT;
    const double gain = down ? c->strike - all : all - c->strike;
    return gain > 0 || c->payoff == SHOAL_CVA_FORWARD ? gain : 0;
}

/* The cell: all over the paths of the job. */
typedef struct cva_method {
    /* from date k - 1 to date k */
    void (*move)(const shoal_context *ctx, const cva_job *job, int64_t k);
    /* sets the values of the netting sets to those of the contracts with closed forms */
    void (*value)(const shoal_context *ctx, const cva_job *job, int64_t k);
    /* adds the European contracts that need inner paths */
    void (*nest)(const shoal_context *ctx, const cva_job *job, int64_t k);
    /* now[path] := whether the contract's rule exercises it at the prices of the path at date k */
    void (*decide)(const shoal_context *ctx, const cva_job *job, const cva_contract *c, int64_t k,
                   char *now);
} cva_method;

struct shoal_cva {
    shoal_plan head;
    const cva_method *cell;
    const cva_method *wide; /* in f64: rules are of that type                                   */
    cva_job job;
    shoal_american_opts american;
    american_plan
        *batch; /* what problems of early exercise leave for the next ones to work in    */
    int kept;
    int collateral;
    double threshold;
    double *share;  /* [date - 1]: (1 - recovery) e^(-rate t) P(default in its interval)         */
    double *chance; /* [date - 1]: that probability                                             */
    char solver[16];
    cva_contract *contracts; /* the job's                                                       */
};

/* exercise.c: the rules of exercise of all contracts with early exercise, fitted on so many paths. */
shoal_status shoal_cva_fit_rules(shoal_cva *p, int64_t paths);

/* exercise.c: the contracts with early exercise at date k, added to the values. */
shoal_status shoal_cva_exercise(shoal_cva *p, const cva_job *j, int64_t k,
                                shoal_cva_counts *counts);

#endif
