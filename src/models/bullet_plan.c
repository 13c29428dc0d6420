/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_plan.c - plans for bullet options: the public functions, their argument checks, the method
 * table, and the outer trajectories of `nested`.
 */
#include "models/plan.h"
#include "rng/normal.h"
#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(price_method, bullet_paths)
SHOAL_DECLARE_CUDA(price_method, bullet_paths)

/* clang-format off */
#define CELLS .cpu = SHOAL_CPU_CELLS(bullet_paths), .cuda = SHOAL_CUDA_CELLS(bullet_paths)

/* All rows share one cell: mc, grid and nested differ in their points, not in their paths. quad
 * and pde have it because a row exists where it has a cell; they make no paths. */
static const shoal_method methods[] = {
    [BULLET_MC] = { .name = "mc", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR },
    [BULLET_GRID] = { .name = "grid", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR | SHOAL_CAN_POINTS },
    [BULLET_NESTED] = { .name = "nested", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR | SHOAL_CAN_POINTS | SHOAL_CAN_NEST },
    [BULLET_QUAD] = { .name = "quad", CELLS },
    [BULLET_PDE] = { .name = "pde", CELLS, .flags = SHOAL_CAN_SURFACE, PDE_VARIANTS },
};
/* clang-format on */

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_WALK };

const shoal_module shoal_bullet_module = { "bullet", methods, sizeof methods / sizeof *methods,
                                           &automatic };

enum { MAX_DATES = 1 << 20, MAX_POINTS = 1 << 22 };
#define BUMP 0.05 /* of the deviation of log S_T: 1 % for sigma = 0.2 and a year */
#define NEAR 0.5  /* of the deviation until the next date: the bump next to the barrier, at most */
#define FAR  0.1  /* of the distance to the barrier: the bump farther away, at most */

shoal_bullet shoal_bullet_example(void) {
    return (shoal_bullet){ .s0 = 100,
                           .strike = 100,
                           .rate = 0.1,
                           .maturity = 1,
                           .sigma = 0.2,
                           .barrier = 120,
                           .dates = 100,
                           .p1 = 10,
                           .p2 = 50,
                           .count = 'A' };
}

/* ---- checks ---------------------------------------------------------------------------------- */

static shoal_status check_model(shoal_context *ctx, const shoal_bullet *m) {
    const shoal_bound all[] = {
        { "s0", m->s0, DBL_MIN, 1e300 }, { "strike", m->strike, 0, 1e300 },
        { "rate", m->rate, -1e3, 1e3 },  { "maturity", m->maturity, 0, 1e6 },
        { "sigma", m->sigma, 0, 1e3 },   { "barrier", m->barrier, 0, 1e300 },
    };
    shoal_status s = shoal_check_bounds(ctx, all, sizeof all / sizeof *all);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "dates", m->dates, 1, MAX_DATES);
    if (s != SHOAL_OK) return s;
    if (m->count < 'A' || m->count > 'F')
        return shoal_fail(ctx, SHOAL_E_ARG, "count is %d; it must be 'A' to 'F'", m->count);
    if (fabs(m->rate) * m->maturity > 600 || m->sigma * m->sigma * m->maturity > 600)
        return shoal_fail(ctx, SHOAL_E_ARG, "rate %g or sigma %g is too large for maturity %g",
                          m->rate, m->sigma, m->maturity);
    return SHOAL_OK;
}

static shoal_status check_points(shoal_context *ctx, int row, int64_t last,
                                 const shoal_bullet_point *points, int64_t count) {
    const shoal_status s = shoal_check_count(ctx, "count", count, 0, MAX_POINTS);
    if (s != SHOAL_OK) return s;
    if (row == BULLET_NESTED) {
        if (points)
            return shoal_fail(ctx, SHOAL_E_ARG, "points must be NULL: nested generates its own");
        if (count > MAX_POINTS / (last + 1))
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "count is %lld; nested takes up to %lld trajectories",
                              (long long)count, (long long)(MAX_POINTS / (last + 1)));
        return SHOAL_OK;
    }
    if (row == BULLET_MC && count != 1)
        return shoal_fail(ctx, SHOAL_E_ARG, "count is %lld; mc takes one point, grid many",
                          (long long)count);
    if (!points && count != 1)
        return shoal_fail(ctx, SHOAL_E_ARG, "count is %lld; without points it must be 1",
                          (long long)count);
    for (int64_t i = 0; points && i < count; i++)
        if (points[i].k < 0 || points[i].k > last || points[i].j < 0 || points[i].j > MAX_DATES ||
            !(points[i].x > 0 && points[i].x <= 1e300))
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "points[%lld] is k %lld, x %g, j %lld; k must be 0 to %lld, x above "
                              "0, j at least 0",
                              (long long)i, (long long)points[i].k, points[i].x,
                              (long long)points[i].j, (long long)last);
    return SHOAL_OK;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The outer trajectories of `nested`: (T_k, S, I) at every date, by random numbers of their own. */
static void make_trajectories(bullet_plan *b, uint64_t seed, int64_t count) {
    const shoal_bullet *m = &b->model;
    const bullet_dates *d = &b->d;
    for (int64_t t = 0; t < count; t++) {
        shoal_bullet_point *at = b->points + t * (d->steps + 1);
        at[0] = (shoal_bullet_point){ .x = m->s0 };
        double y = 0;
        for (int64_t k = 0; k < d->steps; k++) {
            const shoal_stream s =
                shoal_stream_of(seed, (uint32_t)(k / 2), PRICE_PURPOSE, PRICE_OUTER);
            const shoal_words w = shoal_block(&s, (uint64_t)t, 0);
            y = fma(d->vol, shoal_normal_pair(&w).z[k % 2], y + d->drift);
            const double x = m->s0 * shoal_exp(y);
            const int64_t seen = d->first == 0 ? k : k + 1; /* the date that j now includes */
            const double then = d->first == 0 ? at[k].x : x;
            at[k + 1] = (shoal_bullet_point){
                k + 1, at[k].j + (seen >= d->first && seen <= d->last && then < m->barrier), x
            };
        }
    }
}

/* Whether a path from a point can pay: its count is P2 at most, and the dates left bring it to P1. */
static bool can_pay(const bullet_plan *b, const shoal_bullet_point *at) {
    const int64_t seen = bullet_count(&b->model, &b->d, at, at->x);
    const int64_t left = b->d.last > at->k ? b->d.last - at->k : 0;
    return b->model.p1 <= b->model.p2 && seen <= b->model.p2 && seen + left >= b->model.p1;
}

/* S_T is lognormal: over an event of probability p, S_T > K or rarer, the mean of S_T is at most its
 * share Phi(Phi^-1(p) + s). Without noise, or if the count cannot come to pay, the value is known. */
static double ceiling(const shoal_price *plan, int64_t group, int64_t strike, double probability,
                      double deviation) {
    const bullet_plan *b = (const bullet_plan *)plan;
    const shoal_bullet_point *at = &b->points[group];
    const double tau = (double)(b->d.steps - at->k) * b->d.dt, s = b->model.sigma * sqrt(tau);
    (void)strike, (void)deviation; /* there is one strike, and the deviation is known */
    if (s == 0 || !can_pay(b, at)) return 0;
    if (b->certain) return probability;
    const double cost = b->model.strike * exp(-b->model.rate * tau);
    const double above = shoal_normcdf(log(at->x / cost) / s - 0.5 * s); /* P(S_T > K) */
    const double p = probability < above ? probability : above;
    return at->x * shoal_normcdf(shoal_normcdfinv(p) + s) - cost * p;
}

/* The bump of x. The value has a bend at the barrier that is as wide as a step, where the next date
 * counts: a wider bump would not see it. */
static double bump_of(const bullet_plan *b, const shoal_bullet_point *at, const shoal_price_opts *o,
                      double tau) {
    const double usual = shoal_price_bump(o, b->model.sigma * sqrt(tau), BUMP);
    const double bend = fmax(NEAR * b->d.vol, FAR * fabs(log(b->model.barrier / at->x)));
    return o->bump > 0 || at->k >= b->d.last || !(bend > 0) ? usual : fmin(usual, bend);
}

/* Steps that are simulated from a point: none if the value is known to be 0. */
static int64_t steps_from(const bullet_plan *b, const shoal_bullet_point *at) {
    return can_pay(b, at) ? b->d.steps - at->k : 0;
}

/* A bumped x has the count of x: on the other side of the barrier a date that counts now would count
 * otherwise, and the difference would have the jump of the value in it. */
static bullet_start start_of(const bullet_plan *b, const shoal_bullet_point *at,
                             const shoal_price_opts *o) {
    const shoal_bullet *m = &b->model;
    const int64_t steps = steps_from(b, at), looks = steps > 0 ? b->d.last - at->k : 0;
    const double tau = (double)steps * b->d.dt;
    bullet_start s = { .steps = (int32_t)steps,
                       .looks = (int32_t)(looks > 0 ? looks : 0),
                       .x = at->x,
                       .discount = exp(-m->rate * tau),
                       .forward = exp(m->rate * tau),
                       .bump = bump_of(b, at, o, tau) };
    for (int bump = 0; bump < PRICE_BUMPS; bump++) {
        const double x = at->x * (bump == 0 ? 1 : bump == 1 ? 1 + s.bump : 1 - s.bump);
        s.level[bump] = log(m->barrier / x);
        s.counted[bump] = (double)bullet_count(m, &b->d, at, at->x);
    }
    return s;
}

static shoal_status make_starts(bullet_plan *b, const shoal_price_opts *o) {
    const size_t bytes = (size_t)b->p.groups * sizeof(bullet_start);
    bullet_start *starts = malloc(bytes + 1);
    if (!starts) return SHOAL_NO_MEMORY(b->p.head.ctx, "%lld points", (long long)b->p.groups);
    for (int64_t i = 0; i < b->p.groups; i++) starts[i] = start_of(b, &b->points[i], o);
    const shoal_status s = shoal_plan_copy(&b->p.head, starts, bytes, &b->job.start);
    free(starts);
    return s;
}

static shoal_status fill_plan(bullet_plan *b, const shoal_price_opts *o,
                              const shoal_bullet_point *points, int64_t count) {
    const shoal_bullet *m = &b->model;
    shoal_price *p = &b->p;
    const int row = p->choice.row;
    p->formula = row == BULLET_QUAD  ? shoal_bullet_quad
                 : row == BULLET_PDE ? shoal_bullet_pde
                                     : NULL;
    p->groups = row == BULLET_NESTED ? count * (b->d.steps + 1) : count;
    p->strike_count = 1, p->separate = 1, p->ceiling = ceiling;
    p->control = o->control > 0;
    p->walks = p->signs = o->antithetic && !p->formula ? 2 : 1;
    p->outputs = o->greeks ? 3 : 1; /* vega is not among them */
    b->certain = o->probability != 0;
    shoal_status s = shoal_plan_host(&p->head, p->groups, sizeof *b->points, &b->points);
    if (s != SHOAL_OK) return s;
    if (row == BULLET_NESTED)
        make_trajectories(b, o->seed, count);
    else if (points)
        memcpy(b->points, points, (size_t)count * sizeof *points);
    else
        b->points[0] = (shoal_bullet_point){ .x = m->s0 }; /* count is 1 */
    for (int64_t i = 0; i < p->groups; i++) p->steps += steps_from(b, &b->points[i]);
    b->pde = (shoal_pde_opts){ .variant = p->choice.variant_name,
                               .type = o->type,
                               .nx = o->nx,
                               .steps_per_date = o->steps_per_date,
                               .as_printed = o->as_printed };
    if (p->formula) return SHOAL_OK;
    b->job = (bullet_job){ .fast_math = o->math == SHOAL_FAST,
                           .signs = p->signs,
                           .bumps = o->greeks ? PRICE_BUMPS : 1,
                           .outputs = p->outputs,
                           .certain = b->certain,
                           .points = p->groups,
                           .drift = b->d.drift,
                           .drift_single = (float)b->d.drift,
                           .vol = b->d.vol,
                           .strike = m->strike,
                           .p1 = (double)m->p1,
                           .p2 = (double)m->p2,
                           .normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_BULLETS) };
    s = make_starts(b, o);
    return s == SHOAL_OK ? shoal_price_room(p) : s;
}

shoal_status shoal_price_bullet(shoal_context *ctx, const shoal_bullet *model,
                                const shoal_price_opts *opts, const shoal_bullet_point *points,
                                int64_t count, shoal_price **plan) {
    shoal_status s =
        shoal_price_new(ctx, &shoal_bullet_module, sizeof(bullet_plan), model, opts, plan);
    if (s != SHOAL_OK) return s;
    bullet_plan *b = (bullet_plan *)*plan;
    b->p.frame = &b->job.f;
    b->model = *model;
    s = shoal_price_check_numbers(ctx, opts);
    if (s == SHOAL_OK) s = shoal_price_choose(&b->p, opts, "mc");
    if (s == SHOAL_OK && opts->probability && b->p.choice.row == BULLET_PDE)
        s = shoal_fail(ctx, SHOAL_E_ARG,
                       "probability is 1; pde returns only prices, the other methods both");
    if (s == SHOAL_OK) s = check_model(ctx, model);
    if (s == SHOAL_OK) {
        b->d = bullet_dates_of(model);
        s = check_points(ctx, b->p.choice.row, b->d.steps, points, count);
    }
    if (s == SHOAL_OK) s = fill_plan(b, opts, points, count);
    return shoal_plan_made(s, plan);
}

shoal_status shoal_bullet_value(shoal_context *ctx, const shoal_bullet *model,
                                const shoal_price_opts *opts, const shoal_bullet_point *points,
                                int64_t count, const shoal_price_goal *goal,
                                shoal_price_value *values) {
    shoal_price *plan = NULL;
    return shoal_price_once(shoal_price_bullet(ctx, model, opts, points, count, &plan), &plan, goal,
                            values);
}

const shoal_bullet_point *shoal_price_points(const shoal_price *plan) {
    return plan && plan->module == &shoal_bullet_module ? ((const bullet_plan *)plan)->points
                                                        : NULL;
}
