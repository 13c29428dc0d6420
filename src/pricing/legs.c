/* SPDX-License-Identifier: Apache-2.0
 *
 * legs.c - lists of strikes and maturities: what is allowed, and how the steps of a path are shared among
 * the maturities.
 */
#include "pricing/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 1 << 30, MOST_CONTRACTS = 1 << 20 }; /* addresses of draws have 32 bits */
#define PARITY_FROM 1.0 /* variance of log S_T from which a call is simulated as a put */

static shoal_status check_list(shoal_context *ctx, const char *name, const char *count_name,
                               const double *list, int64_t count, int ascends) {
    if (count < 0 || count > MOST_CONTRACTS)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s is %lld; it must be 0 to %d", count_name,
                          (long long)count, MOST_CONTRACTS);
    if (count > 0 && !list) return shoal_fail(ctx, SHOAL_E_ARG, "%s is NULL", name);
    for (int64_t i = 0; i < count; i++) {
        if (!(list[i] >= 0 && list[i] <= 1e300))
            return shoal_fail(ctx, SHOAL_E_ARG, "%s[%lld] is %g; it must be at least 0 and finite",
                              name, (long long)i, list[i]);
        if (ascends && i > 0 && list[i] < list[i - 1])
            return shoal_fail(ctx, SHOAL_E_ARG, "%s[%lld] = %g is less than the one before", name,
                              (long long)i, list[i]);
    }
    return SHOAL_OK;
}

shoal_status shoal_price_check(shoal_context *ctx, const shoal_price_opts *o) {
    if (o->steps < 1 || o->steps > MOST_STEPS)
        return shoal_fail(ctx, SHOAL_E_ARG, "steps is %lld; it must be 1 to %d",
                          (long long)o->steps, MOST_STEPS);
    if (o->type != SHOAL_F64 && o->type != SHOAL_F32)
        return shoal_fail(ctx, SHOAL_E_ARG, "type is %d; it must be SHOAL_F64 or SHOAL_F32",
                          (int)o->type);
    if (o->math != SHOAL_EXACT && o->math != SHOAL_FAST)
        return shoal_fail(ctx, SHOAL_E_ARG, "math is %d; it must be SHOAL_EXACT or SHOAL_FAST",
                          (int)o->math);
    if (o->control < -1 || o->control > 1)
        return shoal_fail(ctx, SHOAL_E_ARG, "control is %d; it must be -1, 0 or 1", o->control);
    if (!(o->bump >= 0 && o->bump < 1))
        return shoal_fail(ctx, SHOAL_E_ARG, "bump is %g; it must be at least 0 and below 1",
                          o->bump);
    shoal_status s = check_list(ctx, "strike", "strikes", o->strike, o->strikes, 0);
    if (s == SHOAL_OK) s = check_list(ctx, "maturity", "maturities", o->maturity, o->maturities, 1);
    if (s == SHOAL_OK && o->strikes * o->maturities > MOST_CONTRACTS)
        s = shoal_fail(ctx, SHOAL_E_ARG, "strikes * maturities is %lld; it must be at most %d",
                       (long long)o->strikes * o->maturities, MOST_CONTRACTS);
    return s;
}

/* Equal steps from each maturity to the next, at least one, as even as the whole allows. */
static shoal_status make_legs(shoal_price *p, const shoal_price_opts *o, double s0, double rate,
                              double dividend) {
    const double end = o->maturities ? o->maturity[o->maturities - 1] : 0;
    uint32_t address = 0;
    for (int64_t k = 0; k < o->maturities; k++) {
        price_leg *leg = &p->legs[k];
        const double before = k ? o->maturity[k - 1] : 0, length = o->maturity[k] - before;
        const double share = length > 0 ? round((double)o->steps * (length / end)) : 0;
        leg->steps = length > 0 ? (int32_t)(share > 1 ? share : 1) : 0;
        leg->first = address;
        leg->maturity = o->maturity[k];
        leg->dt = leg->steps ? length / leg->steps : 0;
        leg->discount = exp(-rate * leg->maturity);
        leg->forward = s0 * exp((rate - dividend) * leg->maturity);
        if (!(leg->discount > 0 && leg->discount < 1e300 && leg->forward > 0 &&
              leg->forward < 1e300))
            return shoal_fail(p->ctx, SHOAL_E_ARG,
                              "rate %g or dividend %g is too large for maturity %g", rate, dividend,
                              leg->maturity);
        address += ((uint32_t)leg->steps + 1) / 2 * 2;
        p->steps += leg->steps;
    }
    return SHOAL_OK;
}

shoal_status shoal_price_legs(shoal_price *p, const shoal_price_opts *o, double s0, double rate,
                              double dividend) {
    p->groups = o->maturities, p->strike_count = o->strikes;
    p->legs = calloc((size_t)o->maturities + 1, sizeof *p->legs);
    p->strikes = calloc((size_t)o->strikes + 1, sizeof *p->strikes);
    if (!p->legs || !p->strikes)
        return shoal_fail(p->ctx, SHOAL_E_NOMEM, "no memory for %lld contracts",
                          (long long)o->strikes * o->maturities);
    if (o->strikes) memcpy(p->strikes, o->strike, (size_t)o->strikes * sizeof *p->strikes);
    return make_legs(p, o, s0, rate, dividend);
}

shoal_status shoal_price_keep_legs(shoal_price *p) {
    const shoal_status s = shoal_price_keep(p, 0, p->legs, (size_t)p->groups * sizeof *p->legs);
    return s == SHOAL_OK
               ? shoal_price_keep(p, 1, p->strikes, (size_t)p->strike_count * sizeof *p->strikes)
               : s;
}

double shoal_price_bump(const shoal_price_opts *o, double deviation, double share) {
    if (o->bump > 0) return o->bump;
    const double bump = deviation * share;
    return bump > 1e-5 ? bump < 0.25 ? bump : 0.25 : 1e-5; /* NaN and 0: the least */
}

/* A call has the variance of S_T, of which a sample sees little once it is much larger than 1; a put is
 * bounded. */
void shoal_price_shape(price_leg *leg, const shoal_price_opts *o, double variance, int smooth,
                       int martingale) {
    leg->put = o->put || (martingale && variance > PARITY_FROM);
    leg->bump = shoal_price_bump(o, sqrt(variance), smooth ? 1.0 / 320 : 1.0 / 32);
}

shoal_status shoal_price_stable(const shoal_price *p, const shoal_price_opts *o, const char *name,
                                double rate) {
    for (int64_t k = 0; k < p->groups; k++)
        if (rate * p->legs[k].dt > 2)
            return shoal_fail(p->ctx, SHOAL_E_ARG,
                              "steps is %lld; euler needs %s dt at most 2, here %.0f steps or more",
                              (long long)o->steps, name,
                              ceil(0.5 * rate * o->maturity[o->maturities - 1]));
    return SHOAL_OK;
}
