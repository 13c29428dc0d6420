/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing.c - the public functions of pricing.h that all plans share: memory, runs,
 * descriptions, and prices from sums: totals in twice the precision of double, means, standard
 * errors, control variates, implied volatilities. The rooms above, models and american, create
 * plans.
 *
 * With the control variate c, of mean 0, the price is mean(x) - b mean(c), b = cov(x, c) /
 * var(c), and its variance var(x) (1 - corr^2) / n. If puts were simulated for calls, parity
 * follows (legs.c).
 */
#include "pricing/implied.h"
#include "pricing/plan.h"
#include <math.h>

SHOAL_DECLARE_CPU(price_implied, price_implied)
static const shoal_method implied = { .cpu = SHOAL_CPU_DOUBLE_CELLS(price_implied) };

enum { MAX_NUMBERS = 1 << 25 }; /* in partial, unless one block has more */

shoal_status shoal_price_new(shoal_context *ctx, const shoal_module *module, size_t size,
                             const void *model, const void *opts, shoal_price **plan) {
    const shoal_array given[] = { { "model", model, 0 } };
    shoal_status s = shoal_plan_new(ctx, size, opts, plan);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    if (s == SHOAL_OK) (*plan)->module = module;
    return shoal_plan_made(s, plan);
}

shoal_status shoal_price_choose(shoal_price *p, const shoal_price_opts *o, const char *best) {
    return shoal_choose(p->head.ctx, p->module, shoal_is_auto(o->method) ? best : o->method,
                        o->variant, o->type, &p->choice);
}

shoal_status shoal_price_room(shoal_price *p) {
    price_frame *f = p->frame;
    f->width = p->groups * (PRICE_CONTROL + p->strike_count * p->outputs * PRICE_STATISTICS);
    f->room = ((const price_method *)p->choice.cell)->blocks;
    if (f->width > 0 && f->room > MAX_NUMBERS / f->width) f->room = MAX_NUMBERS / f->width;
    if (f->room < 1) f->room = 1;
    return shoal_plan_alloc(&p->head, (size_t)(f->room * f->width) * sizeof *f->partial,
                            &f->partial);
}

shoal_status shoal_price_keep_biases(shoal_price *p) {
    const int64_t contracts = p->bias ? p->groups * p->strike_count : 0;
    const shoal_status s = shoal_plan_host(&p->head, contracts, sizeof *p->biases, &p->biases);
    for (int64_t i = 0; i < contracts && s == SHOAL_OK; i++) p->biases[i].value = NAN;
    return s;
}

void shoal_price_free(shoal_price *plan) { shoal_plan_free(plan); }

/* Whether paths simulate a put where the contract is a call. */
static int has_parity(const shoal_price *p) {
    for (int64_t k = 0; p->legs && !p->formula && k < p->groups; k++)
        if (p->legs[k].put != p->put) return 1;
    return 0;
}

shoal_status shoal_price_describe(const shoal_price *plan, shoal_price_info *info) {
    const shoal_status s = shoal_plan_asked(plan, info);
    if (s != SHOAL_OK) return s;
    *info = (shoal_price_info){ .method = plan->choice.name,
                                .variant = plan->choice.variant_name,
                                .deterministic = plan->formula != NULL,
                                .control = plan->control,
                                .parity = has_parity(plan),
                                .contracts = plan->groups * plan->strike_count,
                                .steps = plan->steps,
                                .paths_each = plan->signs,
                                .walks = plan->walks,
                                .bytes = plan->head.bytes };
    return SHOAL_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

int64_t shoal_price_width(const shoal_price *plan) { return plan ? plan->frame->width : 0; }

int64_t shoal_price_sums(const shoal_price *plan, int64_t samples) {
    const int64_t units = samples / SHOAL_PRICE_UNIT + (samples % SHOAL_PRICE_UNIT > 0);
    return samples > 0 ? units * shoal_price_width(plan) : 0;
}

shoal_status shoal_price_run(shoal_price *plan, int64_t first, int64_t samples, double *sums) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    if (first < 0 || first % SHOAL_PRICE_UNIT)
        return shoal_fail(ctx, SHOAL_E_ARG, "first is %lld; it must be a multiple of %d",
                          (long long)first, SHOAL_PRICE_UNIT);
    if (samples < 0 || first > SHOAL_PRICE_MOST - samples)
        return shoal_fail(
            ctx, SHOAL_E_ARG,
            "first is %lld, samples %lld; samples must be at least 0, their sum at most %lld",
            (long long)first, (long long)samples, (long long)SHOAL_PRICE_MOST);
    if (shoal_price_sums(plan, samples) == 0) return SHOAL_OK;
    s = shoal_check_array(ctx, sums, "sums");
    if (s != SHOAL_OK) return s;
    plan->frame->first = (uint64_t)first, plan->frame->samples = samples, plan->frame->sums = sums;
    plan->frame->ctx = ctx;
    const price_method *method = plan->choice.cell;
    const shoal_stage stage = shoal_stage_begin(ctx, "paths");
    return shoal_stage_end(ctx, &stage, method->run(ctx, plan->frame));
}

/* ---- results --------------------------------------------------------------------------------- */

double shoal_black(double forward, double strike, double deviation, int put) {
    if (!(forward >= 0 && strike >= 0 && deviation >= 0)) return NAN;
    return black_value(forward, strike, deviation, put != 0);
}

double shoal_black_deviation(double forward, double strike, double value, int put) {
    return black_deviation(forward, strike, value, put);
}

shoal_status shoal_price_add(const shoal_price *plan, const double *sums, int64_t samples,
                             double *total) {
    if (!plan) return SHOAL_E_ARG;
    const int64_t numbers = shoal_price_sums(plan, samples), width = shoal_price_width(plan);
    const shoal_array given[] = { { "sums", sums, numbers == 0 },
                                  { "total", total, numbers == 0 } };
    const shoal_status s = shoal_check_pointers(plan->head.ctx, given, 2);
    if (s != SHOAL_OK) return s;
    for (int64_t i = 0; i < numbers; i++) {
        double *to = total + 2 * (i % width);
        const shoal_pair sum = shoal_two_sum(to[0], sums[i]);
        const double low = to[1] + sum.lo;
        to[0] = sum.hi + low;
        to[1] = low - (to[0] - sum.hi);
    }
    return SHOAL_OK;
}

static double number(const double *total, int64_t at) { return total[2 * at] + total[2 * at + 1]; }

/* n times the covariance: sum of products less product of sums over n. */
static double spread(double products, double x, double y, double n) {
    return products - x * (y / n);
}

/* The factor of a control whose sum of squares about its mean is cc. Its mean is 0 up to the
 * error of the steps. A control that varies by less than a tenth of its size consists of
 * rounding errors: it is not used. */
static double control_factor(const double *c, double cc, double both) {
    return cc > 0.01 * number(c, 1) ? both / cc : 0;
}

/* Mean and standard error of an output whose statistics begin at `at`; c: those of its control, or
 * NULL. Returns the control's factor. */
static double mean_of(const double *total, int64_t at, const double *c, double n, double *mean,
                      double *error) {
    const double x = number(total, at), xx = number(total, at + 1), xc = number(total, at + 2);
    double rest = spread(xx, x, x, n), b = 0;
    *mean = x / n;
    if (c) {
        const double cc = spread(number(c, 1), number(c, 0), number(c, 0), n);
        const double both = spread(xc, x, number(c, 0), n);
        b = control_factor(c, cc, both);
        *mean -= b * (number(c, 0) / n);
        rest -= b * both;
    }
    *error = n > 1 ? sqrt((rest > 0 ? rest : 0) / n / (n - 1)) : NAN;
    return b;
}

static double implied_vol(const shoal_price *p, const price_leg *leg, double strike, double price) {
    const price_implied *cell = implied.cpu[SHOAL_F64][p->head.ctx->level];
    const double s = cell->deviation(leg->forward, strike, price / leg->discount, p->put);
    return leg->maturity > 0 ? s / sqrt(leg->maturity) : NAN;
}

static double *output(shoal_price_value *v, int o, int error) {
    double *const at[PRICE_OUTPUTS][2] = { { &v->price, &v->error },
                                           { &v->delta, &v->delta_error },
                                           { &v->gamma, &v->gamma_error },
                                           { &v->vega, &v->vega_error } };
    return at[o][error];
}

/* The bias of a contract, computed once. */
static price_bias bias_of(const shoal_price *p, int64_t group, int64_t strike) {
    if (!p->bias) return (price_bias){ 0 };
    price_bias *kept = &p->biases[group * p->strike_count + strike];
    if (isnan(kept->value)) *kept = p->bias(p, group, strike);
    return *kept;
}

/* Whether a control's samples show its mean, which is 0, or this by the steps: if a few paths that are
 * hardly ever drawn make the mean, its sample is far off, and its standard error small. */
static int is_seen(const double *c, double n, double mean) {
    const double sum = number(c, 0), cc = spread(number(c, 1), sum, sum, n);
    const double error = sqrt((cc > 0 ? cc : 0) / n / n);
    return !(fabs(sum / n - mean) > 8 * error + fabs(mean) + 1e-3);
}

/* The rule of three: if none of n samples pays, the probability that one does is below 3/n with
 * a confidence of 1 - e^-3, 95 %. c: the statistics of the control. */
static double bound_of(const shoal_price *p, const double *c, double n, int64_t group,
                       int64_t strike) {
    const double probability = n > 3 ? 3 / n : 1;
    return p->ceiling(p, group, strike, probability, sqrt(number(c, 1) / n));
}

/* The value of one contract out of the sums. */
static void value_of(const shoal_price *p, const double *total, double n, int64_t group,
                     int64_t strike, shoal_price_value *value) {
    const int64_t at = p->groups * PRICE_CONTROL +
                       (group * p->strike_count + strike) * p->outputs * PRICE_STATISTICS;
    const double *c = total + 2 * group * PRICE_CONTROL;
    const price_bias bias = bias_of(p, group, strike);
    const double *used = p->control && is_seen(c, n, bias.control) ? c : NULL;
    for (int o = 0; o < p->outputs; o++) {
        const double b = mean_of(total, at + o * PRICE_STATISTICS, used, n, output(value, o, 0),
                                 output(value, o, 1));
        if (o == 0) value->bias = fabs(bias.value - b * bias.control) + bias.slack;
    }
    const int paid = number(total, at) != 0 || number(total, at + 1) != 0; /* NaN: paid */
    value->bound = paid ? 0 : bound_of(p, c, n, group, strike);
    if (!p->legs || p->legs[group].put == p->put) return;
    const price_leg *leg = &p->legs[group]; /* a put was simulated: call - put = discounted F - K */
    value->price += leg->discount * (leg->forward - p->strikes[strike]);
    if (p->outputs > 1) value->delta += leg->discount * (leg->forward / p->s0);
}

shoal_status shoal_price_result(const shoal_price *plan, const double *total, int64_t samples,
                                shoal_price_value *values) {
    if (!plan) return SHOAL_E_ARG;
    const shoal_array given[] = { { "total", total, plan->formula != NULL },
                                  { "values", values, 0 } };
    shoal_context *ctx = plan->head.ctx;
    shoal_status s = shoal_check_pointers(ctx, given, 2);
    const shoal_stage stage = shoal_stage_begin(ctx, "prices");
    if (s == SHOAL_OK)
        s = plan->formula ? plan->formula(plan, values)
                          : shoal_check_count(ctx, "samples", samples, 1, INT64_MAX);
    const int64_t contracts = plan->groups * plan->strike_count;
    for (int64_t i = 0; s == SHOAL_OK && i < contracts; i++) {
        if (shoal_is_cancelled(ctx, i, contracts)) break;
        const int64_t group = i / plan->strike_count, strike = i % plan->strike_count;
        values[i].bias = values[i].bound = 0;
        if (!plan->formula) value_of(plan, total, (double)samples, group, strike, &values[i]);
        for (int o = plan->outputs; o < PRICE_OUTPUTS; o++)
            *output(&values[i], o, 0) = *output(&values[i], o, 1) = NAN;
        values[i].implied_vol = plan->legs ? implied_vol(plan, &plan->legs[group],
                                                         plan->strikes[strike], values[i].price)
                                           : NAN;
    }
    return shoal_stage_end(ctx, &stage, s);
}
