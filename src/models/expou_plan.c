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
    [EXPOU_EULER] = { .name = "euler", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_EULER | SHOAL_CAN_MIRROR },
    [EXPOU_CONDITIONAL] = { .name = "conditional", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_MIRROR },
};
/* clang-format on */

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_WALK };

const shoal_module shoal_expou_module = { "expou", methods, sizeof methods / sizeof *methods,
                                          &automatic };

#define BETA_LEAST 1e-12 /* below, Y is taken to follow its drift */
#define VEGA_STEP  0.01  /* of Y0: up and down                    */

shoal_expou shoal_expou_example(void) {
    return (shoal_expou){ .s0 = 1, .alpha = 1, .m = 0.1, .beta = 0.1, .y0 = log(0.1) };
}

double shoal_expou_beta(double alpha, double m, double nu2, int as_printed) {
    return sqrt(2 * alpha * nu2) * (as_printed ? 1 - exp(m) : 1);
}

int shoal_expou_has_variance(const shoal_expou *model, int put) {
    const double rho = model->beta < 0 ? -model->rho : model->rho;
    if (put || fabs(model->beta) < BETA_LEAST) return 1;
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

typedef struct expou_plan {
    shoal_price p;
    price_job job;
} expou_plan;

static void make_job(expou_plan *e, const shoal_expou *m, const shoal_price_opts *o) {
    price_job *j = &e->job;
    const double turn = m->beta < 0 ? -1 : 1; /* -beta V is beta (-V) */
    j->reversion = m->alpha, j->mean = m->m, j->rho = turn * m->rho;
    j->noise = fabs(m->beta) < BETA_LEAST ? 0 : fabs(m->beta);
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
    shoal_status s = shoal_price_legs(&e->p, &e->job, o, "conditional", m->s0, m->rate, 0);
    if (s != SHOAL_OK) return s;
    make_job(e, m, o);
    if (o->control > 0 && !is_martingale(&e->job))
        return shoal_fail(
            e->p.head.ctx, SHOAL_E_ARG,
            "control is 1; at rho %g the mean of S_T is below the forward, and not known", m->rho);
    if (e->job.row == EXPOU_EULER) s = shoal_price_stable(&e->p, o, "alpha", m->alpha);
    if (s != SHOAL_OK) return s;
    make_steps(e, o);
    return shoal_price_keep_legs(&e->p, &e->job);
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
