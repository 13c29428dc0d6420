/* SPDX-License-Identifier: Apache-2.0
 *
 * legs.c - lists of strikes and maturities: what is allowed, and how the steps of a path are
 * shared among the maturities.
 */
#include "core/math.h"
#include "pricing/plan.h"
#include <math.h>
#include <string.h>

enum { MAX_STEPS = 1 << 30, MAX_CONTRACTS = 1 << 20 }; /* addresses of draws have 32 bits */
enum { EULER_STEPS = 1000, EULER_PER_REVERSION = 10 };
#define PARITY_FROM 1.0 /* variance of log S_T from which a call is simulated as a put */

static shoal_status check_list(shoal_context *ctx, const char *name, const char *count_name,
                               const double *list, int64_t count, int ascends) {
    const shoal_array given[] = { { name, list, count == 0 } };
    shoal_status s = shoal_check_count(ctx, count_name, count, 0, MAX_CONTRACTS);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    if (s != SHOAL_OK) return s;
    for (int64_t i = 0; i < count; i++) {
        if (!(list[i] >= 0 && list[i] <= 1e300))
            return shoal_fail(ctx, SHOAL_E_ARG, "%s[%lld] is %g; it must be at least 0 and finite",
                              name, (long long)i, list[i]);
        if (ascends && i > 0 && list[i] < list[i - 1])
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "%s[%lld] is %g; it must be at least %g, the one before", name,
                              (long long)i, list[i], list[i - 1]);
    }
    return SHOAL_OK;
}

shoal_status shoal_price_check_numbers(shoal_context *ctx, const shoal_price_opts *o) {
    const shoal_flag flags[] = { SHOAL_TYPE_FLAG(o), SHOAL_MATH_FLAG(o) };
    const shoal_status s = shoal_check_flags(ctx, flags, 2);
    if (s == SHOAL_OK && !(o->bump >= 0 && o->bump < 1))
        return shoal_fail(ctx, SHOAL_E_ARG, "bump is %g; it must be at least 0 and below 1",
                          o->bump);
    return s;
}

static shoal_status check(shoal_context *ctx, const shoal_price_opts *o) {
    const shoal_count counts[] = { { "steps", o->steps, 0, MAX_STEPS },
                                   { "control", o->control, -1, 1 } };
    shoal_status s = shoal_check_counts(ctx, counts, 2);
    if (s == SHOAL_OK) s = shoal_price_check_numbers(ctx, o);
    if (s == SHOAL_OK) s = check_list(ctx, "strike", "strikes", o->strike, o->strikes, 0);
    if (s == SHOAL_OK) s = check_list(ctx, "maturity", "maturities", o->maturity, o->maturities, 1);
    if (s == SHOAL_OK && o->strikes * o->maturities > MAX_CONTRACTS)
        s = shoal_fail(ctx, SHOAL_E_ARG, "strikes * maturities is %lld; it must be at most %d",
                       (long long)o->strikes * o->maturities, MAX_CONTRACTS);
    return s;
}

/* Equal steps from each maturity to the next, at least one, as even as the whole allows. */
shoal_status shoal_price_split(shoal_price *p, const shoal_price_opts *o, int64_t steps,
                               double rate, double dividend) {
    const double end = o->maturities ? o->maturity[o->maturities - 1] : 0;
    uint32_t address = 0;
    for (int64_t k = 0; k < o->maturities; k++) {
        price_leg *leg = &p->legs[k];
        const double before = k ? o->maturity[k - 1] : 0, length = o->maturity[k] - before;
        const double share = length > 0 ? round((double)steps * (length / end)) : 0;
        leg->steps = length > 0 ? (int32_t)(share > 1 ? share : 1) : 0;
        leg->first = address;
        leg->maturity = o->maturity[k];
        leg->dt = leg->steps ? length / leg->steps : 0;
        leg->discount = exp(-rate * leg->maturity);
        leg->forward = p->s0 * exp((rate - dividend) * leg->maturity);
        if (!(leg->discount > 0 && leg->discount < 1e300 && leg->forward > 0 &&
              leg->forward < 1e300))
            return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                              "rate %g or dividend %g is too large for maturity %g", rate, dividend,
                              leg->maturity);
        address += ((uint32_t)leg->steps + 1) / 2 * 2;
        p->steps += leg->steps;
    }
    return SHOAL_OK;
}

shoal_status shoal_price_legs(shoal_price *p, price_job *j, const shoal_price_opts *o,
                              const char *best, double s0) {
    shoal_status s = check(p->head.ctx, o);
    if (s == SHOAL_OK) s = shoal_price_choose(p, o, best);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, o->maturities, sizeof *p->legs, &p->legs);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, o->strikes, sizeof *p->strikes, &p->strikes);
    if (s != SHOAL_OK) return s;
    p->frame = &j->f;
    p->groups = o->maturities, p->strike_count = o->strikes;
    p->s0 = s0, p->put = o->put != 0, p->outputs = o->greeks ? PRICE_OUTPUTS : 1;
    j->row = p->choice.row, j->variant = p->choice.variant;
    j->legs = (int)o->maturities, j->strikes = (int)o->strikes;
    j->signs = o->antithetic ? 2 : 1, j->bumps = o->greeks ? PRICE_BUMPS : 1;
    j->terms.outputs = p->outputs, j->terms.s0 = s0;
    if (o->strikes) memcpy(p->strikes, o->strike, (size_t)o->strikes * sizeof *p->strikes);
    return SHOAL_OK;
}

/* A put pays up to the strike, and a call S_T or less: in the mean over an event E the control, S_T
 * over its mean less 1, is at most its deviation times sqrt(P(E)) (Cauchy and Schwarz). */
static double ceiling(const shoal_price *p, int64_t group, int64_t strike, double probability,
                      double deviation) {
    const price_leg *leg = &p->legs[group];
    if (leg->maturity == 0) return 0; /* the value is known */
    if (leg->put) return leg->discount * p->strikes[strike] * probability;
    const double share = probability + deviation * sqrt(probability);
    return leg->discount * leg->forward * (share < 1 ? share : 1);
}

shoal_status shoal_price_keep_legs(shoal_price *p, price_job *j) {
    p->signs = j->signs, p->walks = j->signs * j->bumps;
    if (p->formula) return SHOAL_OK;
    p->ceiling = ceiling;
    shoal_status s = shoal_price_keep_biases(p);
    if (s == SHOAL_OK)
        s = shoal_plan_copy(&p->head, p->legs, (size_t)p->groups * sizeof *p->legs, &j->leg);
    if (s == SHOAL_OK)
        s = shoal_plan_copy(&p->head, p->strikes, (size_t)p->strike_count * sizeof *p->strikes,
                            &j->strike);
    return s == SHOAL_OK ? shoal_price_room(p) : s;
}

double shoal_price_bump(const shoal_price_opts *o, double deviation, double share) {
    if (o->bump > 0) return o->bump;
    const double bump = deviation * share;
    return bump > 1e-5 ? bump < 0.25 ? bump : 0.25 : 1e-5; /* NaN and 0: the least */
}

/* A call has the variance of S_T, of which a sample sees little once it is much larger than 1; a
 * put is bounded. */
void shoal_price_shape(price_leg *leg, const shoal_price_opts *o, double variance, int smooth,
                       int martingale) {
    leg->put = o->put || (martingale && variance > PARITY_FROM);
    leg->bump = shoal_price_bump(o, sqrt(variance), smooth ? 1.0 / 320 : 1.0 / 32);
}

int64_t shoal_price_euler_steps(const shoal_price_opts *o, double rate) {
    const double end = o->maturities ? o->maturity[o->maturities - 1] : 0;
    const double steps = ceil(EULER_PER_REVERSION * rate * end);
    return steps > EULER_STEPS ? steps < MAX_STEPS ? (int64_t)steps : MAX_STEPS : EULER_STEPS;
}

/* Black's price moves by sqrt(F K) e^(-d^2/2) / (2 s sqrt(2 pi)) per unit of the variance s^2, d
 * about log(F/K) / s; half of that d, for the tails of a variance that is random. Twice that for
 * what a first derivative leaves out. With the mean of S_T a call moves by Phi(d + s/2) of it, a put
 * by that less 1: to a quarter. */
price_bias shoal_price_shift(const price_leg *leg, double strike, double variance, double error,
                             double mean) {
    const double forward = leg->discount * leg->forward;
    const double most = leg->put ? leg->discount * strike : forward;
    if (!(error > 0 || mean != 0) || !(strike > 0)) return (price_bias){ 0 };
    const double s = sqrt(variance), d = log(leg->forward / strike) / s;
    const double slope = 0.19947114020071635 * leg->discount * sqrt(leg->forward * strike) / s;
    const double moved = shoal_normcdf(d + 0.5 * s) - (leg->put ? 1 : 0);
    const double slack = 2 * slope * exp(-0.125 * d * d) * error + 0.25 * forward * fabs(mean);
    return (price_bias){ .value = isfinite(moved) ? forward * moved * mean : 0,
                         .control = mean,
                         .slack = fmin(slack, most) }; /* NaN without a variance: all of it */
}

shoal_status shoal_price_stable(const shoal_price *p, const shoal_price_opts *o, const char *name,
                                double rate) {
    for (int64_t k = 0; k < p->groups; k++)
        if (rate * p->legs[k].dt > 2)
            return shoal_fail(
                p->head.ctx, SHOAL_E_ARG,
                "steps is %lld; euler needs at least %.0f, so that %s dt is at most 2",
                (long long)p->steps, ceil(0.5 * rate * o->maturity[o->maturities - 1]), name);
    return SHOAL_OK;
}
