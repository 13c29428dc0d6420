/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_plan.c - plans for Heston's model: the public function, its argument checks, the method table.
 */
#include "pricing/plan.h"
#include <float.h>
#include <math.h>

SHOAL_DECLARE_CPU(price_method, heston_paths)
SHOAL_DECLARE_CUDA(price_method, heston_paths)

/* clang-format off */
#define CELLS .cpu = SHOAL_CPU_CELLS(heston_paths), .cuda = SHOAL_CUDA_CELLS(heston_paths)
#define VARIANCE_VARIANTS                                                                          \
    .variants = { [VARIANCE_POISSON] = { "poisson", SHOAL_ON_BOTH },                               \
                  [VARIANCE_NORMAL] = { "normal", SHOAL_ON_BOTH } }

/* All rows share one cell: the paths of a block differ only in how a step is made, by job.row. "analytic" has
 * it because a row exists where it has a cell; it makes no paths. */
static const shoal_method methods[] = {
    [HESTON_EULER] = { .name = "euler", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_EULER | SHOAL_CAN_MIRROR,
      .variants = { [EULER_FULL] = { "full", SHOAL_ON_BOTH },
                    [EULER_PLUS] = { "plus", SHOAL_ON_BOTH },
                    [EULER_ABS] = { "abs", SHOAL_ON_BOTH } } },
    [HESTON_EXACT] = { .name = "exact", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR, VARIANCE_VARIANTS },
    [HESTON_CONDITIONAL] = { .name = "conditional", CELLS, .flags = SHOAL_CAN_WALK, VARIANCE_VARIANTS },
    [HESTON_ANALYTIC] = { .name = "analytic", CELLS },
};
/* clang-format on */

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_WALK };

const shoal_module shoal_heston_module = { "heston", methods, sizeof methods / sizeof *methods,
                                           &automatic };

#define SIGMA_LEAST 1e-12 /* below, the variance is taken to follow its drift */
#define VEGA_SHARE  0.02  /* of v0: up and down                               */

shoal_heston shoal_heston_example(void) {
    return (
        shoal_heston){ .s0 = 1, .v0 = 0.1, .kappa = 0.5, .theta = 0.1, .sigma = 0.3, .rho = -0.7 };
}

/* ---- checks ---------------------------------------------------------------------------------- */

static shoal_status check_model(shoal_context *ctx, const shoal_heston *m) {
    const shoal_bound all[] = {
        { "s0", m->s0, DBL_MIN, 1e300 },        { "rate", m->rate, -1e3, 1e3 },
        { "dividend", m->dividend, -1e3, 1e3 }, { "v0", m->v0, 0, 1e6 },
        { "kappa", m->kappa, 0, 1e6 },          { "theta", m->theta, 0, 1e6 },
        { "sigma", m->sigma, 0, 1e6 },          { "rho", m->rho, -1, 1 },
    };
    return shoal_check_bounds(ctx, all, sizeof all / sizeof *all);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The mean of the integral of v. */
static double total_variance(const shoal_heston *m, double maturity) {
    const double reach = m->kappa * maturity;
    const double part = reach > 0 ? -expm1(-reach) / m->kappa : maturity;
    return fma(m->theta, maturity - part, m->v0 * part);
}

/* What exact steps of the variance need, and how its contracts are looked at. Heston's S is a martingale
 * for all parameters; with |rho| = 1 a variance path leaves nothing to smooth a payoff. */
static void make_steps(shoal_price *p, const shoal_price_opts *o) {
    const shoal_heston *m = &p->heston;
    const double sigma = p->job.stochvol.noise;
    for (int64_t k = 0; k < p->groups; k++) {
        price_leg *leg = &p->legs[k];
        const double reach = m->kappa * leg->dt;
        leg->factor = 0.5 * sigma * sigma * (reach > 0 ? -expm1(-reach) / m->kappa : leg->dt);
        leg->per = leg->factor > 0 ? exp(-reach) / leg->factor : 0;
        leg->weight = reach > 0 ? tanh(0.5 * reach) / m->kappa : 0.5 * leg->dt;
        leg->base = m->theta * (leg->dt - 2 * leg->weight);
        shoal_price_shape(leg, o, total_variance(m, leg->maturity),
                          p->choice.row == HESTON_CONDITIONAL && fabs(m->rho) < 1, 1);
        /* the fast kernel takes the variance in units of about sigma^2 dt, in float: where that is a
         * large number a step is lost in its rounding */
        if (leg->steps > 0 && fmax(m->v0, m->theta) > 0x1p24 * sigma * sigma * leg->dt)
            p->job.stochvol.fast = 0;
    }
}

static void make_job(shoal_price *p, const shoal_price_opts *o) {
    const shoal_heston *m = &p->heston;
    price_job *j = &p->job.stochvol;
    j->row = p->choice.row, j->variant = p->choice.variant;
    j->fast = o->math == SHOAL_FAST;
    j->signs = o->antithetic && j->row != HESTON_CONDITIONAL ? 2 : 1;
    j->bumps = o->greeks ? PRICE_BUMPS : 1;
    j->legs = (int)o->maturities, j->strikes = (int)o->strikes;
    j->reversion = m->kappa, j->mean = m->theta, j->rho = m->rho;
    j->noise = m->sigma < SIGMA_LEAST ? 0 : m->sigma;
    j->shape = j->noise > 0 ? 2 * m->kappa * m->theta / (j->noise * j->noise) : 0;
    j->start[0] = m->v0, j->start[1] = m->v0 * (1 + VEGA_SHARE),
    j->start[2] = m->v0 * (1 - VEGA_SHARE);
    j->terms = (price_terms){
        .outputs = o->greeks ? PRICE_OUTPUTS : 1,
        .s0 = m->s0,
        .vega = m->v0 > 0 ? 1 / (VEGA_SHARE * sqrt(m->v0)) : 0 /* 2 sqrt(v0) / (2 share v0) */
    };
    j->normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_NORMALS);
    j->variance = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_VARIANCE);
    j->last = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_LAST);
    p->control = o->control > 0 || (o->control == 0 && j->row == HESTON_CONDITIONAL);
    p->deterministic = !(p->choice.flags & SHOAL_CAN_WALK);
    p->put = o->put != 0;
    p->signs = j->signs, p->bumps = j->bumps, p->outputs = j->terms.outputs;
    p->groups = o->maturities, p->strike_count = o->strikes;
}

static shoal_status fill_plan(shoal_price *p, const shoal_price_opts *o) {
    const char *word = shoal_is_auto(o->method) ? "conditional" : o->method;
    shoal_status s =
        shoal_choose(p->head.ctx, &shoal_heston_module, word, o->variant, o->type, &p->choice);
    if (s != SHOAL_OK) return s;
    make_job(p, o);
    s = shoal_price_legs(p, o, p->heston.s0, p->heston.rate, p->heston.dividend);
    if (s == SHOAL_OK) make_steps(p, o);
    if (s == SHOAL_OK && p->choice.row == HESTON_EULER)
        s = shoal_price_stable(p, o, "kappa", p->heston.kappa);
    if (s == SHOAL_OK && !p->deterministic) s = shoal_price_keep_legs(p);
    return s == SHOAL_OK && !p->deterministic ? shoal_price_room(p) : s;
}

shoal_status shoal_price_heston(shoal_context *ctx, const shoal_heston *model,
                                const shoal_price_opts *opts, shoal_price **plan) {
    shoal_status s = shoal_price_new(ctx, PRICE_HESTON, model, opts, plan);
    if (s != SHOAL_OK) return s;
    (*plan)->heston = *model;
    s = check_model(ctx, model);
    if (s == SHOAL_OK) s = shoal_price_check(ctx, opts);
    if (s == SHOAL_OK) s = fill_plan(*plan, opts);
    return shoal_plan_made(s, plan);
}
