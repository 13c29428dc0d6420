/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - rows of the models' method tables; what a plan for bullet options holds, and the job that its
 * backends read.
 */
#ifndef SHOAL_MODELS_PLAN_H
#define SHOAL_MODELS_PLAN_H

#include "pricing/plan.h"
#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HESTON_EULER, HESTON_EXACT, HESTON_CONDITIONAL, HESTON_ANALYTIC };
enum { EULER_FULL, EULER_PLUS, EULER_ABS };
enum { VARIANCE_POISSON, VARIANCE_NORMAL };

enum { EXPOU_EULER, EXPOU_CONDITIONAL };

enum { BULLET_MC, BULLET_GRID, BULLET_NESTED, BULLET_QUAD, BULLET_PDE };
enum { PDE_PCR, PDE_THOMAS };

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

/* heston_analytic.c, bullet_quad.c, pde_value.c: values without paths. */
shoal_status shoal_heston_analytic(shoal_context *ctx, const shoal_heston *model, double strike,
                                   double maturity, int put, shoal_price_value *value);
shoal_status shoal_bullet_quad(const shoal_price *plan, shoal_price_value *values);
shoal_status shoal_bullet_pde(const shoal_price *plan, shoal_price_value *values);

/* exact.cu: methods whose variance moves by exact steps. */
shoal_status shoal_exact_heston(shoal_context *ctx, const price_job *job);
shoal_status shoal_exact_expou(shoal_context *ctx, const price_job *job);

#ifdef __cplusplus
}
#endif
#endif
