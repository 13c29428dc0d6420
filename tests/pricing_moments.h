/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing_moments.h - the means of Heston's variance and of its integral by exact steps.
 */
#ifndef SHOAL_PRICING_MOMENTS_H
#define SHOAL_PRICING_MOMENTS_H

#ifndef SHOAL_EMULATED
#define SHOAL_LEVEL test /* the headers of algorithm files want one */
#endif
#include "models/heston.h"
#include "pricing_runs.h"

/* Means of v_T and of its integral by exact steps, of one size and of many. */
static inline void check_moments(const shoal_heston *m, double maturity, int steps, int variant,
                                 int64_t paths) {
    const double dt = maturity / steps, decay = exp(-m->kappa * dt);
    const double factor = m->kappa > 0 ? m->sigma * m->sigma * (1 - decay) / (2 * m->kappa)
                                       : 0.5 * m->sigma * m->sigma * dt;
    const double weight = m->kappa > 0 ? tanh(0.5 * m->kappa * dt) / m->kappa : 0.5 * dt;
    const double shape = 2 * m->kappa * m->theta / (m->sigma * m->sigma);
    double v1 = 0, v2 = 0, i1 = 0, i2 = 0;
    for (int64_t path = 0; path < paths; path++) {
        double v = m->v0, integral = 0;
        for (int k = 0; k < steps; k++) {
            const shoal_stream s = shoal_stream_of(9, (uint32_t)k, PRICE_PURPOSE, PRICE_VARIANCE);
            const double next =
                factor * cir_draw(shape, decay / factor * v, variant, &s, (uint64_t)path);
            integral += m->theta * (dt - 2 * weight) + weight * (v + next);
            v = next;
        }
        v1 += v, v2 += v * v, i1 += integral, i2 += integral * integral;
    }
    const double n = (double)paths, reach = m->kappa * maturity;
    const double part = reach > 0 ? (1 - exp(-reach)) / m->kappa : maturity;
    const double mean_v = m->theta + (m->v0 - m->theta) * exp(-reach);
    const double mean_i = m->theta * (maturity - part) + m->v0 * part;
    const double error_v = sqrt((v2 / n - v1 / n * (v1 / n)) / n);
    const double error_i = sqrt((i2 / n - i1 / n * (i1 / n)) / n);
    CHECK_MSG(fabs(v1 / n - mean_v) < 3 * error_v, "v: %g +- %g, not %g", v1 / n, error_v, mean_v);
    CHECK_MSG(fabs(i1 / n - mean_i) < 3 * error_i, "integral: %g +- %g, not %g", i1 / n, error_i,
              mean_i);
}

#endif
