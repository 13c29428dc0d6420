/* SPDX-License-Identifier: Apache-2.0
 *
 * curves.c - term structures of a market: their integrals at all moments of a plan.
 *
 * The integral of a curve is linear between its points, so that forward rates and forward variances are piecewise
 * constant. Assets whose volatilities have different shapes have correlated returns over a step only if all
 * volatilities are constant in it: the times at which they change, the knots, are moments. Paths stop there.
 */
#include "cva/span.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const shoal_cva_curve none;

static const shoal_cva_curve *curve_of(const shoal_cva_curve *list, int64_t a) {
    return list ? &list[a] : &none;
}

/* ---- checks ------------------------------------------------------------------------------------ */

shoal_status shoal_cva_check_curves(shoal_context *ctx, const shoal_cva_market *m) {
    shoal_status s = shoal_check_curve(ctx, &m->rates, 0);
    if (s != SHOAL_OK) return shoal_fail_at(ctx, s, "rates", -1, "");
    for (int64_t a = 0; a < m->assets && s == SHOAL_OK; a++) {
        s = shoal_fail_at(ctx, shoal_check_curve(ctx, curve_of(m->dividends, a), 0), "dividends", a,
                          "");
        if (s == SHOAL_OK)
            s = shoal_fail_at(ctx, shoal_check_curve(ctx, curve_of(m->sigmas, a), 1), "sigmas", a,
                              "");
    }
    return s;
}

int shoal_cva_has_curves(const shoal_cva_market *m) {
    int any = m->rates.count > 0;
    for (int64_t a = 0; a < m->assets; a++)
        any |= curve_of(m->dividends, a)->count > 0 || curve_of(m->sigmas, a)->count > 0;
    return any;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One asset needs none: its returns over a step have one variance. */
int64_t shoal_cva_knots(const shoal_cva_market *m, double end, double *to) {
    int64_t count = 0, kept = 0;
    for (int64_t a = 0; a < m->assets && m->assets > 1; a++) {
        const shoal_cva_curve *c = curve_of(m->sigmas, a);
        for (int64_t i = 0; i + 1 < c->count; i++, count++)
            if (to) to[count] = c->time[i];
    }
    if (!to) return count;
    qsort(to, (size_t)count, sizeof *to, ascending);
    for (int64_t i = 0; i < count; i++)
        if (to[i] < end * (1 - CVA_SAME) && (!kept || to[i] > to[kept - 1] * (1 + CVA_SAME)))
            to[kept++] = to[i];
    return kept;
}

/* ---- integrals --------------------------------------------------------------------------------- */

int shoal_cva_is_steady(const shoal_cva_market *m, int64_t a, double end) {
    const shoal_cva_curve *dividend = curve_of(m->dividends, a), *sigma = curve_of(m->sigmas, a);
    const shoal_cva_curve *const curves[] = { &m->rates, dividend, sigma };
    const double yield = m->dividend ? m->dividend[a] : 0;
    const double variance = shoal_curve_integral(sigma, 1, m->sigma[a], end);
    const double growth = shoal_curve_integral(&m->rates, 0, m->rate, end) -
                          shoal_curve_integral(dividend, 0, yield, end);
    for (int i = 0; i < 3; i++)
        for (int64_t point = 0; point < curves[i]->count; point++) {
            const double t = curves[i]->time[point];
            if (t >= end) break;
            const double part =
                variance > 0 ? shoal_curve_integral(sigma, 1, m->sigma[a], t) / variance : t / end;
            const double grown = shoal_curve_integral(&m->rates, 0, m->rate, t) -
                                 shoal_curve_integral(dividend, 0, yield, t);
            if (!(fabs(grown - part * growth) <= CVA_SAME * (fabs(growth) + 1e-3))) return 0;
        }
    return 1;
}

/* The moment of a time that is one. */
static int64_t moment_of(const cva_job *j, double t) {
    int64_t first = 0, end = j->moments - 1;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (j->time[middle] < t * (1 - CVA_SAME))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Maturities and knots that are no dates are behind the last of them. */
static shoal_status make_moments(shoal_cva *p, const shoal_cva_market *m) {
    cva_job *j = &p->job;
    double last = j->time[j->dates], *time, *knot;
    int64_t *list, count = j->dates + 1, most = shoal_cva_knots(m, 0, NULL);
    for (int64_t i = 0; i < j->contracts; i++) last = fmax(last, j->contract[i].maturity);
    shoal_status s = shoal_plan_host(&p->head, count + j->contracts + most, sizeof *time, &time);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, most + 1, sizeof *list, &list);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, most + 1, sizeof *knot, &knot);
    if (s != SHOAL_OK) return s;
    memcpy(time, j->time, (size_t)count * sizeof *time);
    for (int64_t i = 0; i < j->contracts; i++) time[count++] = j->contract[i].maturity;
    j->knots = shoal_cva_knots(m, last, knot);
    for (int64_t i = 0; i < j->knots; i++) time[count++] = knot[i];
    qsort(time + j->dates + 1, (size_t)(count - j->dates - 1), sizeof *time, ascending);
    for (int64_t k = j->dates + 1; k < count; k++)
        if (time[k] > time[j->moments - 1] * (1 + CVA_SAME)) time[j->moments++] = time[k];
    j->time = time, j->knot = list;
    for (int64_t i = 0; i < j->contracts; i++)
        p->contracts[i].end = moment_of(j, fmax(j->contract[i].maturity, 0));
    for (int64_t i = 0; i < j->knots; i++) list[i] = moment_of(j, knot[i]);
    if ((double)count * (double)(j->knots + 1) * j->assets >= 4294967296.0)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "sigmas: %lld dates, %lld times of volatilities and %d assets are too "
                          "many; use fewer dates or points",
                          (long long)j->dates, (long long)j->knots, j->assets);
    return SHOAL_OK;
}

shoal_status shoal_cva_make_curves(shoal_cva *p, const shoal_cva_market *m) {
    cva_job *j = &p->job;
    const int64_t d = j->assets, numbers = cva_integrals(d);
    double *table, *sigma = (double *)(uintptr_t)j->sigma, last = 0;
    j->moments = j->dates + 1;
    if (!shoal_cva_has_curves(m)) return SHOAL_OK;
    shoal_status s = make_moments(p, m);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, j->moments * numbers, sizeof *table, &table);
    if (s != SHOAL_OK) return s;
    for (int64_t k = 0; k < j->moments; k++) {
        const double t = j->time[k], rate = shoal_curve_integral(&m->rates, 0, m->rate, t);
        double *to = table + k * numbers;
        *to++ = rate, last = fmax(last, t);
        for (int64_t a = 0; a < d; a++, to += CVA_OF_ASSET) {
            const int priced = a < j->prices; /* variances have no curves */
            to[CVA_GROWTH] = rate - shoal_curve_integral(priced ? curve_of(m->dividends, a) : &none,
                                                         0, j->dividend[a], t);
            to[CVA_VARIANCE] =
                priced ? shoal_curve_integral(curve_of(m->sigmas, a), 1, j->sigma[a], t) : 0;
        }
    }
    for (int64_t a = 0; a < j->prices && last > 0; a++)
        sigma[a] = sqrt(shoal_curve_integral(curve_of(m->sigmas, a), 1, sigma[a], last) / last);
    j->integral = table;
    return SHOAL_OK;
}
