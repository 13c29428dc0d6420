/* SPDX-License-Identifier: Apache-2.0
 *
 * cds.c - hazard rates from spreads of credit default swaps, by the formulas of the ISDA standard model with piecewise
 * constant forward and hazard rates.
 *
 * With D the discount factor, Q the survival probability, P = D Q, and over a piece of time of length dt in which both
 * rates are constant H = -log of the ratio of Q, x = -log of that of P:
 *
 *     protection = (1 - R) sum P H phi1(x)                                       until the last day
 *     premium    = sum of accrual D Q, Q one day before the end of a period, and of what has accrued at default,
 *                  365/360 sum P H ((t - start) phi1(x) + dt phi2(x)), less the accrued premium that is paid back,
 *     phi1(x) = int_0^1 e^(-x u) du,   phi2(x) = int_0^1 u e^(-x u) du.
 *
 * Accrual is act/360; the last period has one more day; accrual at default starts one and a half days earlier: a
 * default is at noon of the mean day, and counts that day. A spread s with protection = s premium gives the hazard
 * rate of its piece.
 */
#include "core/progress.h"
#include "cva/span.h"
#include <math.h>

#define DAY        (1.0 / 365)
#define MAX_HAZARD 1e3

enum { MAX_SWAPS = 1 << 12, MAX_PAYMENTS = 1 << 16, BISECTIONS = 200 };

typedef struct bootstrap {
    double rate, recovery;
    const shoal_cva_curve *rates;
    const shoal_cds *cds;
    double *hazard; /* of pieces up to the maturities */
    int64_t pieces; /* that are in use                */
} bootstrap;

static double phi1(double x) {
    return fabs(x) < 1e-4 ? 1 - x * (0.5 - x * (1.0 / 6 - x / 24)) : -expm1(-x) / x;
}
static double phi2(double x) {
    if (fabs(x) < 1e-3)
        return 0.5 - x * (1.0 / 3 - x * (1.0 / 8 - x * (1.0 / 30 - x * (1.0 / 144 - x / 840))));
    return (-expm1(-x) - x * exp(-x)) / (x * x);
}

/* The integrals of the rate, and of the hazard rate, from 0. */
static double rate_to(const bootstrap *b, double t) {
    return t > 0 ? shoal_curve_integral(b->rates, 0, b->rate, t) : 0;
}
static double hazard_to(const bootstrap *b, double t) {
    double sum = 0, from = 0;
    for (int64_t i = 0; i < b->pieces && from < t; i++) {
        const double to = i + 1 < b->pieces && b->cds[i].maturity < t ? b->cds[i].maturity : t;
        sum += b->hazard[i] * (to - from), from = to;
    }
    return sum;
}

/* The end of the piece of time from t in which both rates are constant. */
static double piece_end(const bootstrap *b, double t, double end) {
    for (int64_t i = 0; i + 1 < b->pieces; i++)
        if (b->cds[i].maturity > t) end = fmin(end, b->cds[i].maturity);
    for (int64_t i = 0; i < b->rates->count; i++)
        if (b->rates->time[i] > t) end = fmin(end, b->rates->time[i]);
    return end;
}

/* Sums over the pieces from t to end: P H phi1, and P H ((t - start) phi1 + dt phi2). */
static void add_pieces(const bootstrap *b, double t, double end, double start, double *protection,
                       double *accrued) {
    while (t < end) {
        const double to = piece_end(b, t, end);
        const double h = hazard_to(b, t), rate = rate_to(b, t), dh = hazard_to(b, to) - h;
        const double x = dh + rate_to(b, to) - rate, p = exp(-h - rate) * dh;
        *protection += p * phi1(x);
        *accrued += p * ((t - start) * phi1(x) + (to - t) * phi2(x));
        t = to;
    }
}

static double payment_of(const shoal_cds *c, int64_t n, int64_t payments) {
    return c->payments ? c->payment[n] : c->maturity - 0.25 * (double)(payments - 1 - n);
}

/* Protection less spread times premium. */
static double value_of(const bootstrap *b, const shoal_cds *c) {
    const int64_t payments = c->payments ? c->payments : (int64_t)ceil(4 * c->maturity - 1e-9);
    double start = c->payments ? c->start : c->maturity - 0.25 * (double)payments, none = 0;
    double protection = 0, premium = -(DAY - start) * exp(-rate_to(b, c->settlement));
    add_pieces(b, 0, c->maturity, 0, &protection, &none);
    for (int64_t n = 0; n < payments; n++) {
        const double end = payment_of(c, n, payments);
        const double accrues = n == payments - 1 ? c->maturity + DAY : end;
        double unused = 0;
        premium += (accrues - start) * exp(-rate_to(b, end) - hazard_to(b, end - DAY));
        add_pieces(b, fmax(start - DAY, 0), end - DAY, start - 1.5 * DAY, &unused, &premium);
        start = end;
    }
    return (1 - b->recovery) * protection - c->spread * 365 / 360 * premium;
}

static shoal_status check_swap(shoal_context *ctx, const shoal_cds *c, double before) {
    const shoal_bound bounds[] = { { "maturity", c->maturity, 1e-3, 1e3 },
                                   { "spread", c->spread, 0, 1e2 },
                                   { "start", c->start, -1e3, 0 },
                                   { "settlement", c->settlement, 0, 1 } };
    const shoal_array given[] = { { "payment", c->payment, c->payments == 0 } };
    shoal_status s = shoal_check_count(ctx, "payments", c->payments, 0, MAX_PAYMENTS);
    if (s == SHOAL_OK) s = shoal_check_bounds(ctx, bounds, 4);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    if (s == SHOAL_OK && !(c->maturity > before))
        s = shoal_fail(ctx, SHOAL_E_ARG, "maturity is %g; it must be above %g", c->maturity,
                       before);
    for (int64_t n = 0; n < c->payments && s == SHOAL_OK; n++)
        if (!(c->payment[n] > (n ? c->payment[n - 1] : 0)) || !(c->payment[n] <= c->maturity + 1))
            s = shoal_fail(ctx, SHOAL_E_ARG,
                           "payment[%lld] is %g; payments ascend from above 0 to maturity",
                           (long long)n, c->payment[n]);
    return s;
}

/* The hazard rate up to the maturity of swap i, after those before it. */
static shoal_status add_hazard(shoal_context *ctx, bootstrap *b, int64_t i) {
    const shoal_cds *cds = &b->cds[i];
    double low = 0, high = MAX_HAZARD;
    b->pieces = i + 1, b->hazard[i] = 0;
    if (value_of(b, cds) > 1e-15)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "cds[%lld]: spread is %g; after the spreads before it that is a hazard "
                          "rate below 0: raise it or leave it out",
                          (long long)i, cds->spread);
    b->hazard[i] = high;
    if (!(value_of(b, cds) >= 0))
        return shoal_fail(ctx, SHOAL_E_ARG, "cds[%lld]: spread is %g; the hazard rate is above %g",
                          (long long)i, cds->spread, high);
    for (int n = 0; n < BISECTIONS && high - low > 1e-15 * high; n++) {
        if (shoal_is_cancelled(ctx, n, BISECTIONS)) return SHOAL_E_CANCELLED;
        b->hazard[i] = 0.5 * (low + high);
        *(value_of(b, cds) > 0 ? &high : &low) = b->hazard[i];
    }
    return SHOAL_OK;
}

shoal_status shoal_cds_bootstrap(shoal_context *ctx, double rate, const shoal_cva_curve *rates,
                                 double recovery, const shoal_cds *cds, int64_t count,
                                 double *hazard) {
    static const shoal_cva_curve none;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    const shoal_array given[] = { { "cds", cds, 0 }, { "hazard", hazard, 0 } };
    bootstrap b = { rate, recovery, rates ? rates : &none, cds, hazard, 0 };
    s = shoal_check_count(ctx, "count", count, 1, MAX_SWAPS);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_number(ctx, "rate", -1, rate, -1e3, 1e3);
    if (s == SHOAL_OK) s = shoal_check_number(ctx, "recovery", -1, recovery, 0, 1 - 1e-9);
    if (s == SHOAL_OK) s = shoal_fail_at(ctx, shoal_check_curve(ctx, b.rates, 0), "rates", -1, "");
    const shoal_stage stage = shoal_stage_begin(ctx, "hazard rates");
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++) {
        s = shoal_stage_step(ctx, &stage, (double)i, (double)i + 1, (double)count);
        if (s == SHOAL_OK)
            s = shoal_fail_at(ctx, check_swap(ctx, &cds[i], i ? cds[i - 1].maturity : 0), "cds", i,
                              "");
        if (s == SHOAL_OK) s = add_hazard(ctx, &b, i);
    }
    return shoal_stage_end(ctx, &stage, s);
}
