/* SPDX-License-Identifier: Apache-2.0
 *
 * expou_plan.c - plans for the exponential Ornstein-Uhlenbeck model: the public functions, their
 * checks, the method table.
 */
#include "models/plan.h"
#include <float.h>

SHOAL_DECLARE_CPU(price_method, expou_paths)
SHOAL_DECLARE_CUDA(price_method, expou_paths)

/* clang-format off */
#define CELLS .cpu = SHOAL_CPU_CELLS(expou_paths), .cuda = SHOAL_CUDA_CELLS(expou_paths)

/* Both rows share one cell: the paths of a block differ only in how a step is made, by job.row. */
static const shoal_method methods[] = {
    [EXPOU_EULER] = { .name = "euler", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_EULER | SHOAL_CAN_MIRROR,
      .variants = { { "log", SHOAL_ON_BOTH }, { "s", SHOAL_ON_BOTH } } },
    [EXPOU_CONDITIONAL] = { .name = "conditional", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR },
};
/* clang-format on */

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_WALK };

const shoal_module shoal_expou_module = { "expou", methods, sizeof methods / sizeof *methods,
                                          &automatic };

#define BETA_MIN   1e-12                        /* below, Y is taken to follow its drift */
#define VEGA_STEP  0.01                         /* of Y0: up and down                    */
#define BIAS_SMALL 5e-5                         /* of the forward: of the default steps  */
enum { EXACT_STEPS = 64, EXACT_MAX = 1 << 14 }; /* default steps */

shoal_expou shoal_expou_example(void) {
    return (shoal_expou){ .s0 = 1, .alpha = 1, .m = 0.1, .beta = 0.1, .y0 = log(0.1) };
}

double shoal_expou_beta(double alpha, double m, double nu2, int as_printed) {
    return sqrt(2 * alpha * nu2) * (as_printed ? 1 - exp(m) : 1);
}

int shoal_expou_has_variance(const shoal_expou *model, int put) {
    const double rho = model->beta < 0 ? -model->rho : model->rho;
    if (put || fabs(model->beta) < BETA_MIN) return 1;
    /* E[S^2 | Y] = e^(2 rho J + (1 - 2 rho^2) A), expou.h: with rho < 0 bounded for rho^2 > 1/2,
     * not below; with rho > 0 J has e^(Y_T) / beta, which has no exponential moment. */
    return rho < 0 && rho * rho > 0.5;
}

static shoal_status check_model(shoal_context *ctx, const shoal_expou *m) {
    const shoal_bound all[] = {
        { "s0", m->s0, DBL_MIN, 1e300 }, { "rate", m->rate, -1e3, 1e3 },
        { "alpha", m->alpha, 0, 1e6 },   { "m", m->m, -50, 5 },
        { "beta", m->beta, -1e3, 1e3 },  { "y0", m->y0, -50, 5 },
        { "rho", m->rho, -1, 1 },
    };
    return shoal_check_bounds(ctx, all, sizeof all / sizeof *all);
}

/* For rho > 0, of beta above 0, S is no martingale. */
static int is_martingale(const price_job *j) { return j->rho <= 0 || j->noise == 0; }

/* Of a normal Y at one time. */
typedef struct moments {
    double mean, variance;
} moments;

/* Means of integrals up to a maturity: of e^(2Y), exact and as the steps sum it, and of the integrand of
 * B (expou.h) as trapezoids sum it. */
typedef struct integrals {
    double square, summed, b;
    moments y, stepped; /* Y there, and as Euler's steps have it */
    double dt;          /* the longest step                      */
    double share;       /* of the error: there may be more steps than were summed up */
} integrals;

typedef struct expou_plan {
    shoal_price p;
    price_job job;
    integrals *until; /* per maturity, on the host */
} expou_plan;

static void make_job(expou_plan *e, const shoal_expou *m, const shoal_price_opts *o) {
    price_job *j = &e->job;
    const double turn = m->beta < 0 ? -1 : 1; /* -beta V is beta (-V) */
    j->in_s = j->row == EXPOU_EULER && j->variant == 1;
    j->reversion = m->alpha, j->mean = m->m, j->rho = turn * m->rho;
    j->noise = fabs(m->beta) < BETA_MIN ? 0 : fabs(m->beta);
    j->start[0] = m->y0, j->start[1] = m->y0 + VEGA_STEP, j->start[2] = m->y0 - VEGA_STEP;
    j->terms.vega = 1 / (2 * VEGA_STEP * exp(m->y0));
    j->normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_EXPOUS);
    e->p.control =
        o->control > 0 || (o->control == 0 && j->row == EXPOU_CONDITIONAL && is_martingale(j));
}

/* The integral of e^(2 E Y) over (0, maturity): Simpson's rule. */
static double total_variance(const price_job *j, double maturity) {
    enum { PARTS = 64 };
    double sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        const double y =
            j->mean + (j->start[0] - j->mean) * exp(-j->reversion * maturity * i / PARTS);
        sum += (i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2) * exp(2 * y);
    }
    return sum * maturity / (3 * PARTS);
}

/* ---- the bias of the steps, and how many there are ----------------------------------------------- */

static double square_mean(moments y) { return exp(2 * (y.mean + y.variance)); }

/* E[e^Y (alpha (m - Y) + beta^2 / 2)], the mean of the integrand of B (expou.h). */
static double rate_mean(const price_job *j, moments y) {
    const double rate = j->reversion * (j->mean - y.mean - y.variance);
    return exp(y.mean + 0.5 * y.variance) * (rate + 0.5 * j->noise * j->noise);
}

static moments move_exactly(const price_job *j, moments y, double dt) {
    const double decay = exp(-j->reversion * dt);
    const double noise =
        j->reversion > 0 ? -expm1(-2 * j->reversion * dt) / (2 * j->reversion) : dt;
    return (moments){ j->mean + (y.mean - j->mean) * decay,
                      y.variance * decay * decay + j->noise * j->noise * noise };
}

static moments move_euler(const price_job *j, moments y, double dt) {
    const double decay = 1 - j->reversion * dt;
    return (moments){ j->mean + (y.mean - j->mean) * decay,
                      y.variance * decay * decay + j->noise * j->noise * dt };
}

static integrals integrals_at_start(const price_job *j) {
    const moments start = { j->start[0], 0 };
    return (integrals){ .y = start, .stepped = start };
}

/* Simpson's rule within each step, and Euler's rectangles or the trapezoids of `conditional`. Of more
 * than EXACT_MAX steps so many, whose error is larger. */
static void integrate_leg(const price_job *j, const price_leg *leg, integrals *i) {
    const int steps = leg->steps < EXACT_MAX ? leg->steps : EXACT_MAX;
    const double share = steps ? (double)steps / leg->steps : 0, dt = leg->dt / (steps ? share : 1);
    for (int k = 0; k < steps; k++) {
        const moments middle = move_exactly(j, i->y, 0.5 * dt), next = move_exactly(j, i->y, dt);
        const double ends = square_mean(i->y) + square_mean(next);
        i->square += dt / 6 * (ends + 4 * square_mean(middle));
        if (j->row == EXPOU_EULER) {
            i->summed += dt * square_mean(i->stepped);
            i->stepped = move_euler(j, i->stepped, dt);
        } else {
            i->summed += 0.5 * dt * ends;
            i->b += 0.5 * dt * (rate_mean(j, i->y) + rate_mean(j, next));
        }
        i->y = next;
    }
    if (dt > i->dt) i->dt = dt;
    if (share > i->share) i->share = share;
}

/* The error of the variance of log S_T, that of the mean of the integral A of e^(2Y) included, and of
 * the mean of S_T. Deviations of A and J are wrong by the share that the sum of a stationary process
 * at the steps has in place of its integral, (x/2) coth(x/2) - 1, x = alpha dt, and of a Brownian
 * motion, (dt/T)^2 / 4; Euler's by x + dt/T. */
static price_bias bias_at(const price_job *j, const price_leg *leg, const integrals *i,
                          double strike) {
    const double x = j->reversion * i->dt, reach = j->reversion * leg->maturity;
    if (!(i->square > 0)) return (price_bias){ 0 };
    const double part = i->dt / leg->maturity;
    const double sum = price_trapezoid(x);
    const double share = j->row == EXPOU_EULER ? x + part : sum + 0.25 * part * part;
    const double lasting = reach > 2 ? 2 / reach : 1; /* of a deviation of Y, on the way */
    const double own = expm1(4 * i->y.variance) * lasting, rho = j->noise > 0 ? fabs(j->rho) : 0;
    const double spread = rho + sqrt(own);
    const double plain =
        j->in_s ? 0.5 * i->dt * i->square * i->square * exp(4 * i->y.variance) / leg->maturity
                : 0; /* as Heston's, in S */
    const double error = fabs(i->summed - i->square) + share * i->square * spread * spread + plain;
    double mean = 0.5 * rho * rho * share * i->square;
    if (j->row == EXPOU_CONDITIONAL &&
        j->noise > 0) { /* e^Y grows by B in the mean: J has mean 0 */
        const double growth = exp(i->y.mean + 0.5 * i->y.variance) - exp(j->start[0]);
        mean += expm1(j->rho * (growth - i->b) / j->noise);
    }
    price_bias shift = shoal_price_shift(leg, strike, i->square, i->share * error, i->share * mean);
    if (!isfinite(shift.control)) shift = (price_bias){ .slack = leg->discount * leg->forward };
    return shift;
}

static price_bias bias(const shoal_price *p, int64_t group, int64_t strike) {
    const expou_plan *e = (const expou_plan *)p;
    return bias_at(&e->job, &p->legs[group], &e->until[group], p->strikes[strike]);
}

/* `conditional`: 64 steps to the last maturity, doubled until the bias at the money is small. */
static int64_t steps_of(const expou_plan *e, const shoal_price_opts *o) {
    const price_job *j = &e->job;
    const double end = o->maturities ? o->maturity[o->maturities - 1] : 0;
    price_leg leg = { .steps = EXACT_STEPS, .maturity = end, .discount = 1, .forward = 1 };
    if (o->steps) return o->steps;
    if (j->row == EXPOU_EULER) return shoal_price_euler_steps(o, j->reversion);
    for (; leg.steps < EXACT_MAX; leg.steps *= 2) {
        integrals i = integrals_at_start(j);
        leg.dt = end / leg.steps;
        integrate_leg(j, &leg, &i);
        const price_bias b = bias_at(j, &leg, &i, 1);
        if (b.slack + (e->p.control ? 0 : fabs(b.value)) <= BIAS_SMALL) break;
    }
    return leg.steps;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void make_steps(expou_plan *e, const shoal_price_opts *o) {
    const price_job *j = &e->job;
    const int smooth = j->row == EXPOU_CONDITIONAL && (fabs(j->rho) < 1 || j->noise == 0);
    for (int64_t k = 0; k < e->p.groups; k++) {
        price_leg *leg = &e->p.legs[k];
        const double reach = j->reversion * leg->dt;
        const double variance = reach > 0 ? -expm1(-2 * reach) / (2 * j->reversion) : leg->dt;
        leg->decay = exp(-reach);
        leg->noise = j->noise * sqrt(variance);
        shoal_price_shape(leg, o, total_variance(j, leg->maturity), smooth, is_martingale(j));
    }
}

static shoal_status fill_plan(expou_plan *e, const shoal_expou *m, const shoal_price_opts *o) {
    shoal_status s = shoal_price_legs(&e->p, &e->job, o, "conditional", m->s0);
    if (s != SHOAL_OK) return s;
    make_job(e, m, o);
    e->p.bias = bias;
    s = shoal_price_split(&e->p, o, steps_of(e, o), m->rate, 0);
    if (s != SHOAL_OK) return s;
    if (o->control > 0 && !is_martingale(&e->job))
        return shoal_fail(e->p.head.ctx, SHOAL_E_ARG,
                          "control is 1; at rho %g the mean of S_T is not known", m->rho);
    if (e->job.row == EXPOU_EULER) s = shoal_price_stable(&e->p, o, "alpha", m->alpha);
    if (s != SHOAL_OK) return s;
    make_steps(e, o);
    s = shoal_plan_host(&e->p.head, e->p.groups, sizeof *e->until, &e->until);
    integrals so_far = integrals_at_start(&e->job);
    for (int64_t k = 0; k < e->p.groups && s == SHOAL_OK; k++) {
        integrate_leg(&e->job, &e->p.legs[k], &so_far);
        e->until[k] = so_far;
    }
    return s == SHOAL_OK ? shoal_price_keep_legs(&e->p, &e->job) : s;
}

shoal_status shoal_price_expou(shoal_context *ctx, const shoal_expou *model,
                               const shoal_price_opts *opts, shoal_price **plan) {
    shoal_status s =
        shoal_price_new(ctx, &shoal_expou_module, sizeof(expou_plan), model, opts, plan);
    if (s != SHOAL_OK) return s;
    s = check_model(ctx, model);
    if (s == SHOAL_OK) s = fill_plan((expou_plan *)*plan, model, opts);
    return shoal_plan_made(s, plan);
}

shoal_status shoal_expou_value(shoal_context *ctx, const shoal_expou *model,
                               const shoal_price_opts *opts, const shoal_price_goal *goal,
                               shoal_price_value *values) {
    shoal_price *plan = NULL;
    return shoal_price_once(shoal_price_expou(ctx, model, opts, &plan), &plan, goal, values);
}
