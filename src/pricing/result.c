/* SPDX-License-Identifier: Apache-2.0
 *
 * result.c - from sums to prices: totals in twice the precision of double, means, standard errors,
 * control variates, implied volatilities.
 *
 * With the control variate c, of mean 0, the price is mean(x) - b mean(c), b = cov(x, c) / var(c), and
 * its variance var(x) (1 - corr^2) / n. If puts were simulated for calls, parity follows (legs.c).
 */
#include "pricing/black.h"
#include "pricing/plan.h"
#include <math.h>

double shoal_black(double forward, double strike, double deviation, int put) {
    if (!(forward >= 0 && strike >= 0 && deviation >= 0)) return NAN;
    return black_value(forward, strike, deviation, put != 0);
}

/* A root of black(s) = value, out of the money, by Newton's steps within a bracket. */
static double find_deviation(double forward, double strike, double value, int put) {
    double low = 0, high = 1;
    while (black_value(forward, strike, high, put) < value && high < 256) low = high, high *= 2;
    double s = 0.5 * (low + high);
    for (int i = 0; i < 200 && high - low > 4e-16 * high; i++) {
        const double miss = black_value(forward, strike, s, put) - value;
        if (miss == 0) break;
        if (miss > 0)
            high = s;
        else
            low = s;
        const double d = shoal_log(forward / strike) / s + 0.5 * s;
        const double slope = forward * shoal_exp(-0.5 * d * d) * 0.3989422804014327;
        const double next = s - miss / slope;
        if (fabs(next - s) < 2e-16 * s) break;
        s = next > low && next < high ? next : 0.5 * (low + high);
    }
    return s;
}

double shoal_black_deviation(double forward, double strike, double value, int put) {
    if (!(forward > 0 && strike > 0 && isfinite(forward) && isfinite(strike))) return NAN;
    const double inner = black_payoff(forward, strike, put);
    const double time = value - inner, most = put ? strike : forward;
    if (!(time >= 0 && value < most)) return NAN;
    if (time == 0) return 0;
    return find_deviation(forward, strike, time, forward < strike ? 0 : 1);
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

/* The factor of a control whose sum of squares about its mean is cc. Its mean is 0 up to the error of
 * the steps. A control that varies by less than a tenth of its size consists of rounding errors: it is not used. */
static double control_factor(const double *c, double cc, double both) {
    return cc > 0.01 * number(c, 1) ? both / cc : 0;
}

/* Mean and standard error of an output whose statistics begin at `at`; c: those of its control, or
 * NULL. */
static void mean_of(const double *total, int64_t at, const double *c, double n, double *mean,
                    double *error) {
    const double x = number(total, at), xx = number(total, at + 1), xc = number(total, at + 2);
    double rest = spread(xx, x, x, n);
    *mean = x / n;
    if (c) {
        const double cc = spread(number(c, 1), number(c, 0), number(c, 0), n);
        const double both = spread(xc, x, number(c, 0), n);
        const double b = control_factor(c, cc, both);
        *mean -= b * (number(c, 0) / n);
        rest -= b * both;
    }
    *error = n > 1 ? sqrt((rest > 0 ? rest : 0) / n / (n - 1)) : NAN;
}

static double implied_vol(const price_leg *leg, double strike, double price, int put) {
    const double s = shoal_black_deviation(leg->forward, strike, price / leg->discount, put);
    return leg->maturity > 0 ? s / sqrt(leg->maturity) : NAN;
}

static double *output(shoal_price_value *v, int o, int error) {
    double *const at[PRICE_OUTPUTS][2] = { { &v->price, &v->error },
                                           { &v->delta, &v->delta_error },
                                           { &v->gamma, &v->gamma_error },
                                           { &v->vega, &v->vega_error } };
    return at[o][error];
}

/* The value of one contract out of the sums. */
static void value_of(const shoal_price *p, const double *total, double n, int64_t group,
                     int64_t strike, shoal_price_value *value) {
    const int64_t at = p->groups * PRICE_CONTROL +
                       (group * p->strike_count + strike) * p->outputs * PRICE_STATISTICS;
    const double *c = p->control ? total + 2 * group * PRICE_CONTROL : NULL;
    for (int o = 0; o < p->outputs; o++)
        mean_of(total, at + o * PRICE_STATISTICS, c, n, output(value, o, 0), output(value, o, 1));
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
    shoal_status s = shoal_check_pointers(plan->head.ctx, given, 2);
    if (s == SHOAL_OK)
        s = plan->formula ? plan->formula(plan, values)
                          : shoal_check_count(plan->head.ctx, "samples", samples, 1, INT64_MAX);
    if (s != SHOAL_OK) return s;
    for (int64_t i = 0; i < plan->groups * plan->strike_count; i++) {
        const int64_t group = i / plan->strike_count, strike = i % plan->strike_count;
        if (!plan->formula) value_of(plan, total, (double)samples, group, strike, &values[i]);
        for (int o = plan->outputs; o < PRICE_OUTPUTS; o++)
            *output(&values[i], o, 0) = *output(&values[i], o, 1) = NAN;
        values[i].implied_vol = plan->legs ? implied_vol(&plan->legs[group], plan->strikes[strike],
                                                         values[i].price, plan->put)
                                           : NAN;
    }
    return SHOAL_OK;
}
