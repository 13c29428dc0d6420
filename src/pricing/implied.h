/* SPDX-License-Identifier: Apache-2.0
 *
 * implied.h - the standard deviation that gives a value by Black's formula. pricing.h has it for callers; plans use the cell
 * of implied.c, which is compiled per instruction level: the same bits in a third of the time.
 */
#ifndef SHOAL_PRICING_IMPLIED_H
#define SHOAL_PRICING_IMPLIED_H

#include "pricing/black.h"
#include <math.h>

/* A root of black(s) = value > 0, out of the money, within a bracket: by Halley's steps for log black(s) = log value,
 * which is nearly straight below the inflection sqrt(2 |log(F/K)|), the start. An error e becomes about e^3. */
static inline double black_find_deviation(double forward, double strike, double value, int put) {
    const double x = shoal_log(forward / strike);
    double low = 0, high = INFINITY;
    double s = fmax(sqrt(2 * fabs(x)), 2.5066282746310002 * (value / forward));
    for (int i = 0; i < 200 && !(high < INFINITY && high - low <= 4e-16 * high); i++) {
        const double now = black_value(forward, strike, s, put);
        if (now == value) break;
        if (now > value)
            high = s;
        else
            low = s;
        const double d = x / s + 0.5 * s;
        const double steep = forward * shoal_exp(-0.5 * d * d) * 0.3989422804014327 / now;
        const double plain = shoal_log(now / value) / steep;
        const double bent = 1 - 0.5 * plain * (d * (d - s) / s - steep);
        double next = s - (bent > 0.5 ? plain / bent : plain);
        const int inside = next > low && next < high;
        if (!inside) next = high < INFINITY ? 0.5 * (low + high) : 2 * s;
        const double change = fabs(next - s);
        s = next;
        if (inside && change < 1e-6 * s) break;
    }
    return s;
}

/* NaN: none has that value. */
static inline double black_deviation(double forward, double strike, double value, int put) {
    if (!(forward > 0 && strike > 0 && isfinite(forward) && isfinite(strike))) return NAN;
    const double inner = black_payoff(forward, strike, put);
    const double time = value - inner, most = put ? strike : forward;
    if (!(time >= 0 && value < most)) return NAN;
    if (time == 0) return 0;
    return black_find_deviation(forward, strike, time, forward < strike ? 0 : 1);
}

typedef struct price_implied {
    double (*deviation)(double forward, double strike, double value, int put);
} price_implied;

#endif
