/* SPDX-License-Identifier: Apache-2.0
 *
 * pde_plan.h - what a plan for bullet options by PDE holds, and what a backend gets to see of it.
 */
#ifndef SHOAL_MODELS_PDE_PLAN_H
#define SHOAL_MODELS_PDE_PLAN_H

#include "core/math.h"
#include "models/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pde_numbers { /* of a step: pde.h */
    double up, down;         /* s + m, s - m     */
} pde_numbers;

typedef struct pde_option {
    pde_numbers n;
    double rate, strike, top; /* top: w K                                                    */
    double dt;                /* a time step                                                 */
    double low, dx;           /* x_i = low + i dx                                            */
    int64_t p1, p2;
    int above, as_printed; /* above: w K is above the barrier                                */
    int levels;            /* of pcr                                                         */
    int64_t table;         /* where its numbers begin in job.table                           */
    int64_t shares;        /* ... and its shares in job.shares: nx of them                    */
    int64_t growth;        /* ... and its growth in job.growth: solves + 1 of them            */
} pde_option;

/* One interval, from date `to` + 1 back to `to`, for all options and counts. */
typedef struct pde_job {
    int solver;
    int64_t options, counts, nx, steps; /* time steps of the interval                        */
    int64_t halves; /* the first so many systems of an interval go half a step, ...           */
    int64_t leap;   /* this one 3/2 (0: none), all others a whole one                         */
    int64_t solves; /* systems of an interval                                                */
    int64_t to;
    int counted;  /* the later date is: the jump comes first                       */
    int64_t left; /* counted dates after `to`, the later date included             */
    double after; /* time steps from maturity to the later date                    */
    const pde_option *option;
    const void *table;      /* real: l, c of each level and row, then r; thomas: l, c, r      */
    const void *shares;     /* real: f_i                                                     */
    const double *growth;   /* e^(r t) after each system of an interval, beginning with 1     */
    const void *from;       /* real: [option][count][nx] at the later date                   */
    void *into;             /* ... and at the earlier one                                    */
    void *surface;          /* ... and once more, or NULL: the option's [dates + 1][counts][nx] */
    int64_t surface_stride; /* of an option                                                  */
} pde_job;

/* c of the k-th system of an interval, k = 1 .. solves, which goes c/2 time steps back. */
SHOAL_HD static inline double pde_times(const pde_job *job, int64_t k) {
    return k <= job->halves ? 1.0 : k == job->leap ? 3.0 : 2.0;
}

/* The cell of a type: the payoff at maturity into `into` and surface; an interval. */
typedef struct pde_method {
    shoal_status (*begin)(shoal_context *ctx, const pde_job *job);
    shoal_status (*interval)(shoal_context *ctx, const pde_job *job);
} pde_method;

struct shoal_pde {
    shoal_plan head;
    const pde_method *method;
    pde_job job; /* all but what changes from interval to interval                            */
    bullet_dates d;
    int64_t count;
    shoal_bullet *bullet; /* on the host, as the next                                         */
    pde_option *option;   /* ... and so is this copy                                          */
    void *layer[2];       /* of values, in the context's memory                               */
};

#ifdef __cplusplus
}
#endif
#endif
