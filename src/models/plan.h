/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - rows of the models' method tables; plans for bullet options, by paths and by PDE, and
 * the jobs that their backends read.
 */
#ifndef SHOAL_MODELS_PLAN_H
#define SHOAL_MODELS_PLAN_H

#include "core/math.h"
#include "pricing/plan.h"
#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HESTON_EULER, HESTON_EXACT, HESTON_CONDITIONAL, HESTON_ANALYTIC, HESTON_QE };
enum {
    EULER_FULL,
    EULER_PLUS,
    EULER_ABS,
    EULER_IN_S
}; /* plus EULER_IN_S: S is stepped, not its logarithm */
enum { VARIANCE_POISSON, VARIANCE_NORMAL };

enum { EXPOU_EULER, EXPOU_CONDITIONAL };

enum { BULLET_MC, BULLET_GRID, BULLET_NESTED, BULLET_QUAD, BULLET_PDE };
enum { PDE_PCR, PDE_THOMAS };
#define PDE_VARIANTS                                                                               \
    .variants = { [PDE_PCR] = { "pcr", SHOAL_ON_BOTH }, [PDE_THOMAS] = { "thomas", SHOAL_ON_BOTH } }

/* The dates of a bullet option: T_i = i dt, i = 0 .. steps; first .. last are counted. */
typedef struct bullet_dates {
    int64_t steps, first, last;
    double dt, drift, vol; /* of log S, in a step */
} bullet_dates;

static inline bullet_dates bullet_dates_of(const shoal_bullet *m) {
    const int longer = m->count == 'E' || m->count == 'F'; /* i / (M + 1): maturity is no date */
    bullet_dates d;
    d.steps = m->dates + longer;
    d.first = m->count == 'A' || m->count == 'C' || m->count == 'E';
    d.last = m->count == 'B' || m->count == 'C' ? m->dates - 1 : m->dates;
    d.dt = m->maturity / (double)d.steps;
    d.drift = (m->rate - 0.5 * m->sigma * m->sigma) * d.dt;
    d.vol = m->sigma * sqrt(d.dt);
    return d;
}

/* The count of a point once T_k is in it. */
static inline int64_t bullet_count(const shoal_bullet *m, const bullet_dates *d,
                                   const shoal_bullet_point *at, double x) {
    return at->j + (d->first == 0 && at->k <= d->last && x < m->barrier);
}

/* A walk of a bullet option from one point: y = log(S / x) gets drift + vol G per step. */
typedef struct bullet_start {
    int32_t steps; /* to maturity                                                           */
    int32_t looks; /* the barrier is compared after the first so many of them               */
    double x, level[PRICE_BUMPS]; /* log(B / x), of x and of x up and down                    */
    double counted[PRICE_BUMPS];  /* the count to begin with                                  */
    double discount, forward;     /* e^(-r tau), e^(r tau), tau to maturity                   */
    double bump;                  /* x up and down: x (1 + bump), x (1 - bump)                */
} bullet_start;

typedef struct bullet_job { /* one run, of a bullet option */
    price_frame f;
    int fast_math, signs, bumps, outputs;
    int64_t points;
    int certain; /* 1: pays 1, undiscounted, instead of (S - K)+                             */
    double drift, vol, strike, p1, p2;
    float drift_single; /* the same in float, so that no loop converts it                      */
    shoal_stream normals;
    const bullet_start *start; /* one per point                                              */
} bullet_job;

typedef struct bullet_plan {
    shoal_price p;
    bullet_job job;
    shoal_bullet model;
    bullet_dates d;
    shoal_pde_opts pde;
    int certain; /* as in bullet_job */
    shoal_bullet_point *points;
} bullet_plan;

/* ---- bullet options by PDE ---------------------------------------------------------------------- */

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

/* ---- functions ---------------------------------------------------------------------------------- */

/* (x/2) coth(x/2) - 1: what trapezoids of step x make of the integral of e^-t, less 1. */
static inline double price_trapezoid(double x) {
    return x > 1e-3 ? 0.5 * x / tanh(0.5 * x) - 1 : x * x / 12;
}

#define SIGMA_MIN 1e-12 /* below, the variance is taken to follow its drift */

/* heston_analytic.c: SHOAL_E_ARG, naming the number, unless the model, and these options, are allowed. */
shoal_status shoal_heston_check_model(shoal_context *ctx, const shoal_heston *model);
shoal_status shoal_heston_check(shoal_context *ctx, const shoal_heston *model,
                                const shoal_heston_options *options, int64_t count);
/* heston_analytic.c: the places of these maturities in ascending order, from malloc; NULL: no memory. */
int64_t *shoal_heston_order(const double *maturity, int64_t count);
/* heston_analytic.c: what the steps of `exact` and `conditional` change in a price at the last of
 * these legs. */
price_bias shoal_heston_bias(const shoal_context *ctx, const shoal_heston *model,
                             const price_leg *legs, int64_t count, double strike);
/* heston_analytic.c, bullet_quad.c, pde_plan.c: values without paths. */
shoal_status shoal_heston_analytic(const shoal_price *plan, const shoal_heston *model,
                                   shoal_price_value *values);
shoal_status shoal_bullet_quad(const shoal_price *plan, shoal_price_value *values);
shoal_status shoal_bullet_pde(const shoal_price *plan, shoal_price_value *values);

/* exact.cu: methods whose variance moves by exact steps. */
shoal_status shoal_exact_heston(shoal_context *ctx, const price_job *job);
shoal_status shoal_exact_expou(shoal_context *ctx, const price_job *job);

#ifdef __cplusplus
}
#endif
#endif
