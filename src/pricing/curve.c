/* SPDX-License-Identifier: Apache-2.0
 *
 * curve.c - term structures: their checks and integrals.
 */
#include "pricing/curve.h"
#include <math.h>

enum { MAX_POINTS = 1 << 16, MAX_CASH = 4096 };

shoal_status shoal_check_curve(shoal_context *ctx, const shoal_curve *c, int squared) {
    const shoal_array given[] = { { "time", c->time, c->count == 0 },
                                  { "value", c->value, c->count == 0 } };
    shoal_status s = shoal_check_count(ctx, "count", c->count, 0, MAX_POINTS);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    double before = 0, variance = 0;
    for (int64_t i = 0; i < c->count && s == SHOAL_OK; i++) {
        const double t = c->time[i], now = c->value[i] * c->value[i] * t;
        s = shoal_check_number(ctx, "value", i, c->value[i], squared ? 0 : -1e3, 1e3);
        if (s == SHOAL_OK && (!(t > before) || !(t <= 1e6)))
            s = shoal_fail(ctx, SHOAL_E_ARG, "time[%lld] is %g; it must be above %g, up to 1e6",
                           (long long)i, t, before);
        if (s == SHOAL_OK && squared && now < variance * (1 - CURVE_SAME))
            s = shoal_fail(
                ctx, SHOAL_E_ARG,
                "value[%lld] is %g; with a variance that does not fall it is at least %g",
                (long long)i, c->value[i], sqrt(variance / t));
        before = t, variance = now;
    }
    return s;
}

shoal_status shoal_check_cash(shoal_context *ctx, const shoal_curve *c) {
    const shoal_array given[] = { { "time", c->time, c->count == 0 },
                                  { "value", c->value, c->count == 0 } };
    shoal_status s = shoal_check_count(ctx, "count", c->count, 0, MAX_CASH);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    for (int64_t i = 0; i < c->count && s == SHOAL_OK; i++) {
        const double t = c->time[i], before = i ? c->time[i - 1] : 0;
        s = shoal_check_number(ctx, "value", i, c->value[i], 0, 1e30);
        if (s == SHOAL_OK && (!(t > before) || !(t <= 1e6)))
            s = shoal_fail(ctx, SHOAL_E_ARG, "time[%lld] is %g; it must be above %g, up to 1e6",
                           (long long)i, t, before);
    }
    return s;
}

double shoal_curve_integral(const shoal_curve *c, int squared, double flat, double t) {
    double from = 0, before = 0, slope = squared ? flat * flat : flat;
    for (int64_t i = 0; i < c->count; i++) {
        const double here = (squared ? c->value[i] * c->value[i] : c->value[i]) * c->time[i];
        slope = (here - before) / (c->time[i] - from);
        if (t <= c->time[i]) break;
        before = here, from = c->time[i];
    }
    return fma(slope, t - from, before);
}
