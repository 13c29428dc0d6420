/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_plan.c - plans for Heston's model: the public function, its argument checks, the method
 * table.
 */
#include "models/plan.h"

SHOAL_DECLARE_CPU(price_method, heston_paths)
SHOAL_DECLARE_CUDA(price_method, heston_paths)

/* clang-format off */
#define CELLS .cpu = SHOAL_CPU_CELLS(heston_paths), .cuda = SHOAL_CUDA_CELLS(heston_paths)
#define VARIANCE_VARIANTS                                                                          \
    .variants = { [VARIANCE_POISSON] = { "poisson", SHOAL_ON_BOTH },                               \
                  [VARIANCE_NORMAL] = { "normal", SHOAL_ON_BOTH } }

/* All rows share one cell: the paths of a block differ only in how a step is made, by job.row.
 * "analytic" has it because a row exists where it has a cell; it makes no paths. */
static const shoal_method methods[] = {
    [HESTON_EULER] = { .name = "euler", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_EULER | SHOAL_CAN_MIRROR,
      .variants = { [EULER_FULL] = { "full", SHOAL_ON_BOTH },
                    [EULER_PLUS] = { "plus", SHOAL_ON_BOTH },
                    [EULER_ABS] = { "abs", SHOAL_ON_BOTH },
                    [EULER_IN_S + EULER_FULL] = { "full-s", SHOAL_ON_BOTH },
                    [EULER_IN_S + EULER_PLUS] = { "plus-s", SHOAL_ON_BOTH },
                    [EULER_IN_S + EULER_ABS] = { "abs-s", SHOAL_ON_BOTH } } },
    [HESTON_EXACT] = { .name = "exact", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR, VARIANCE_VARIANTS },
    [HESTON_CONDITIONAL] = { .name = "conditional", CELLS, .flags = SHOAL_CAN_WALK, VARIANCE_VARIANTS },
    [HESTON_ANALYTIC] = { .name = "analytic", CELLS },
    [HESTON_QE] = { .name = "qe", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR },
};
/* clang-format on */

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_WALK };

const shoal_module shoal_heston_module = { "heston", methods, sizeof methods / sizeof *methods,
                                           &automatic };

#define VEGA_SHARE 0.02 /* of v0: up and down                               */
#define BIAS_SMALL 5e-5 /* of the forward: of the default steps             */
enum { EXACT_STEPS = 64, EXACT_MAX = 1 << 14 }; /* default steps             */
enum { MAX_LEGS = 8 }; /* whose own steps the bias distinguishes             */

shoal_heston shoal_heston_example(void) {
    return (
        shoal_heston){ .s0 = 1, .v0 = 0.1, .kappa = 0.5, .theta = 0.1, .sigma = 0.3, .rho = -0.7 };
}

/* ---- plans ----------------------------------------------------------------------------------- */

typedef struct heston_plan {
    shoal_price p;
    price_job job;
    shoal_heston model;
} heston_plan;

static shoal_status analytic(const shoal_price *p, shoal_price_value *values) {
    return shoal_heston_analytic(p, &((const heston_plan *)p)->model, values);
}

/* The mean of the integral of v. */
static double total_variance(const shoal_heston *m, double maturity) {
    const double reach = m->kappa * maturity;
    const double part = reach > 0 ? -expm1(-reach) / m->kappa : maturity;
    return fma(m->theta, maturity - part, m->v0 * part);
}

/* The variance of the integral of v. */
static double integral_variance(const shoal_heston *m, double maturity) {
    const double x = m->kappa * maturity, e = exp(-x), share = m->sigma * m->sigma;
    const double cube = share * maturity * maturity * maturity;
    if (x < 0.01) return cube * m->v0 / 3; /* to 1 % */
    /* of theta and of v0 - theta: the integrals of (1 - e^(-y))^2 and, times e^(y - x), over (0, x) */
    const double level = x - 2 * (1 - e) + 0.5 * (1 - e * e), gap = 1 - e * e - 2 * x * e;
    return cube / (x * x * x) * (m->theta * level + (m->v0 - m->theta) * gap);
}

/* ---- the bias of the steps, and how many there are ----------------------------------------------- */

/* A leg's numbers of exact steps. */
static void make_leg(const shoal_heston *m, double sigma, price_leg *leg) {
    const double reach = m->kappa * leg->dt;
    leg->factor = 0.5 * sigma * sigma * (reach > 0 ? -expm1(-reach) / m->kappa : leg->dt);
    leg->lambda = leg->factor > 0 ? exp(-reach) / leg->factor : 0;
    leg->weight = reach > 0 ? tanh(0.5 * reach) / m->kappa : 0.5 * leg->dt;
    leg->base = m->theta * (leg->dt - 2 * leg->weight);
}

/* Beyond MAX_LEGS maturities: as if all steps were as long as the longest. */
static price_bias exact_bias(const shoal_price *p, int64_t group, int64_t strike) {
    const heston_plan *h = (const heston_plan *)p;
    if (group < MAX_LEGS)
        return shoal_heston_bias(p->head.ctx, &h->model, p->legs, group + 1, p->strikes[strike]);
    price_leg all = p->legs[group];
    for (int64_t k = 0; k < group; k++) all.dt = fmax(all.dt, p->legs[k].dt);
    all.steps = all.dt > 0 ? (int32_t)fmax(1, floor(all.maturity / all.dt)) : 0;
    all.dt = all.steps ? all.maturity / all.steps : 0;
    make_leg(&h->model, h->job.noise, &all);
    return shoal_heston_bias(p->head.ctx, &h->model, &all, 1, p->strikes[strike]);
}

/* Of QE's steps: of the mean of the integral of v by trapezoids, which is known, and of laws that have the right mean and
 * variance in a step alone: the latter as a share of the integral's mean, measured, and the bias of exact steps. If the
 * variance of e^(tilt v') may be infinite, a sample does not show the mean of S: then nothing is known. (1/beta and 2 a
 * are at most 5/3 of the factor of exact steps.) */
static price_bias qe_bias(const shoal_price *p, int64_t group, int64_t strike) {
    const heston_plan *h = (const heston_plan *)p;
    const shoal_heston *m = &h->model;
    const price_leg *at = &p->legs[group];
    const double variance = total_variance(m, at->maturity), reach = m->kappa * at->maturity;
    const double part = reach > 0 ? -expm1(-reach) / m->kappa : at->maturity;
    double dt = 0, tilt = 0;
    for (int64_t k = 0; k <= group; k++) {
        const price_leg *leg = &p->legs[k];
        const double along = h->job.noise > 0 ? m->rho / h->job.noise : 0;
        const double slope =
            along * (1 + 0.5 * m->kappa * leg->dt) - 0.25 * m->rho * m->rho * leg->dt;
        if (leg->steps) dt = fmax(dt, leg->dt), tilt = fmax(tilt, slope * leg->factor);
    }
    if (!(variance > 0)) return (price_bias){ 0 };
    if (2 * tilt * 5 / 3 >= 1)
        return shoal_price_shift(at, p->strikes[strike], variance, INFINITY, 0);
    const double spread = fabs(m->rho) + sqrt(integral_variance(m, at->maturity)) / variance;
    const double law =
        h->job.noise > 0 ? price_trapezoid((m->kappa + 1 / at->maturity) * dt) * variance : 0;
    const double error =
        law * fmax(1, spread) + price_trapezoid(m->kappa * dt) * fabs(m->v0 - m->theta) * part;
    const price_bias exact = exact_bias(p, group, strike);
    price_bias bias = shoal_price_shift(at, p->strikes[strike], variance, error, 0);
    bias.slack += fabs(exact.value) + exact.slack;
    return bias;
}

/* Of Euler's steps. They take the mean of the integral of v as a sum, which is known; what v adds by
 * its own deviation is wrong by a share of about (kappa + 1/T) dt; and near 0, where a step of the
 * variance is larger than itself, sigma^2 dt, the mean is wrong by up to that (full), or a part of
 * it is added at each step (plus, abs). */
static price_bias euler_bias(const shoal_price *p, int64_t group, int64_t strike) {
    const heston_plan *h = (const heston_plan *)p;
    const shoal_heston *m = &h->model;
    const price_leg *at = &p->legs[group];
    const double variance = total_variance(m, at->maturity);
    double sum = 0, gap = m->v0 - m->theta, dt = 0;
    for (int64_t k = 0; k <= group; k++) {
        const price_leg *leg = &p->legs[k];
        const double decay = pow(1 - m->kappa * leg->dt, leg->steps);
        sum += m->theta * leg->dt * leg->steps;
        sum += gap * (m->kappa > 0 ? (1 - decay) / m->kappa : leg->dt * leg->steps);
        gap *= decay;
        if (leg->dt > dt) dt = leg->dt;
    }
    if (!(variance > 0) || h->job.noise == 0)
        return shoal_price_shift(at, p->strikes[strike], variance,
                                 fabs(sum - variance) +
                                     (h->job.in_s && at->maturity > 0
                                          ? 0.5 * dt * variance * variance / at->maturity
                                          : 0),
                                 0);
    const double lag = fmin(at->maturity, 1 / m->kappa), step = m->sigma * m->sigma * dt;
    const double near = fmin(1, pow(2 * m->kappa * dt, h->job.shape));
    const double pushed = 0.4 * at->maturity / dt * h->job.shape / (h->job.shape + 0.5);
    const double edge =
        h->job.variant == EULER_FULL
            ? lag * step * near
            : lag * step * near * fmax(1, 2 * pushed) +
                  at->maturity * step * fmin(1, m->kappa * dt); /* as large as a step by itself */
    const double spread = fabs(m->rho) + sqrt(integral_variance(m, at->maturity)) / variance;
    const double rest = (m->kappa + 1 / at->maturity) * dt * variance * spread * spread;
    /* in S a step multiplies the second moment by 1 + v dt, not by e^(v dt): the variance lacks v^2 dt / 2 */
    const double squared = variance * variance + integral_variance(m, at->maturity);
    const double plain = h->job.in_s ? 0.5 * dt * squared / at->maturity : 0;
    const double error = fabs(sum - variance) + edge + rest + plain;
    return shoal_price_shift(at, p->strikes[strike], variance, error, 0);
}

/* Steps to the last maturity: 64, doubled until the bias at the money is small. The control variate takes about
 * its share Phi(d) of S_T out of it. */
static int64_t default_steps(heston_plan *h, const shoal_price_opts *o) {
    const shoal_heston *m = &h->model;
    const double end = o->maturities ? o->maturity[o->maturities - 1] : 0, money = 1;
    price_leg leg = { .steps = EXACT_STEPS, .maturity = end, .discount = 1, .forward = 1 };
    const double share = h->p.control ? shoal_normcdf(0.5 * sqrt(total_variance(m, end))) : 0;
    const shoal_price given = h->p;
    for (; leg.steps < EXACT_MAX; leg.steps *= 2) {
        leg.dt = end / leg.steps;
        make_leg(m, h->job.noise, &leg);
        h->p.legs = &leg, h->p.strikes = (double *)(uintptr_t)&money;
        const price_bias b = h->p.bias(&h->p, 0, 0);
        h->p = given;
        if (fabs(b.value - share * b.control) + b.slack <= BIAS_SMALL) break;
    }
    return leg.steps;
}

static int64_t steps_of(heston_plan *h, const shoal_price_opts *o) {
    if (o->steps) return o->steps;
    if (h->job.row == HESTON_EULER) return shoal_price_euler_steps(o, h->model.kappa);
    return h->job.row == HESTON_ANALYTIC ? 1 : default_steps(h, o);
}

/* ---- legs ---------------------------------------------------------------------------------------- */

/* The numbers of exact steps, and the shapes of contracts. Heston's S is a martingale for all
 * parameters; with |rho| = 1 a variance path leaves nothing to smooth a payoff. */
static void make_steps(heston_plan *h, const shoal_price_opts *o) {
    const shoal_heston *m = &h->model;
    const double sigma = h->job.noise;
    for (int64_t k = 0; k < h->p.groups; k++) {
        price_leg *leg = &h->p.legs[k];
        make_leg(m, sigma, leg);
        shoal_price_shape(leg, o, total_variance(m, leg->maturity),
                          h->job.row == HESTON_CONDITIONAL && fabs(m->rho) < 1, 1);
        /* the fast kernel keeps the variance in units of about sigma^2 dt, in float: if that is
         * a large number, rounding loses the step */
        if (leg->steps > 0 && fmax(m->v0, m->theta) > 0x1p24 * sigma * sigma * leg->dt)
            h->job.fast_math = 0;
    }
}

static void make_job(heston_plan *h, const shoal_price_opts *o) {
    const shoal_heston *m = &h->model;
    price_job *j = &h->job;
    j->fast_math = o->math == SHOAL_FAST;
    if (j->row == HESTON_CONDITIONAL) j->signs = 1;
    if (j->row == HESTON_EULER) j->in_s = j->variant >= EULER_IN_S, j->variant %= EULER_IN_S;
    j->reversion = m->kappa, j->mean = m->theta, j->rho = m->rho;
    j->noise = m->sigma < SIGMA_MIN ? 0 : m->sigma;
    j->shape = j->noise > 0 ? 2 * m->kappa * m->theta / (j->noise * j->noise) : 0;
    j->start[0] = m->v0, j->start[1] = m->v0 * (1 + VEGA_SHARE);
    j->start[2] = m->v0 * (1 - VEGA_SHARE);
    j->terms.vega = m->v0 > 0 ? 1 / (VEGA_SHARE * sqrt(m->v0)) : 0; /* 2 sqrt(v0) / (2 share v0) */
    j->normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_NORMALS);
    j->variance = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_VARIANCE);
    j->last = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_LAST);
    h->p.control = o->control > 0 || (o->control == 0 && j->row == HESTON_CONDITIONAL);
    if (j->row == HESTON_ANALYTIC) h->p.formula = analytic;
    h->p.bias = j->row == HESTON_EULER ? euler_bias : j->row == HESTON_QE ? qe_bias : exact_bias;
}

static shoal_status fill_plan(heston_plan *h, const shoal_price_opts *o) {
    const shoal_heston *m = &h->model;
    shoal_status s = shoal_price_legs(&h->p, &h->job, o, "conditional", m->s0);
    if (s != SHOAL_OK) return s;
    make_job(h, o);
    s = shoal_price_split(&h->p, o, steps_of(h, o), m->rate, m->dividend);
    if (s != SHOAL_OK) return s;
    make_steps(h, o);
    if (h->job.row == HESTON_EULER) s = shoal_price_stable(&h->p, o, "kappa", m->kappa);
    return s == SHOAL_OK ? shoal_price_keep_legs(&h->p, &h->job) : s;
}

shoal_status shoal_price_heston(shoal_context *ctx, const shoal_heston *model,
                                const shoal_price_opts *opts, shoal_price **plan) {
    shoal_status s =
        shoal_price_new(ctx, &shoal_heston_module, sizeof(heston_plan), model, opts, plan);
    if (s != SHOAL_OK) return s;
    heston_plan *h = (heston_plan *)*plan;
    h->model = *model;
    s = shoal_heston_check_model(ctx, model);
    if (s == SHOAL_OK) s = fill_plan(h, opts);
    return shoal_plan_made(s, plan);
}

shoal_status shoal_heston_value(shoal_context *ctx, const shoal_heston *model,
                                const shoal_price_opts *opts, const shoal_price_goal *goal,
                                shoal_price_value *values) {
    shoal_price *plan = NULL;
    return shoal_price_once(shoal_price_heston(ctx, model, opts, &plan), &plan, goal, values);
}
