/* SPDX-License-Identifier: Apache-2.0
 *
 * surface.h - European puts and calls in Heston's model on any path and date, from a table that all strikes of an asset
 * and a maturity share, for both compilers.
 *
 * With F the forward price, s^2 = a + b v the mean of the integrated variance up to maturity, and k = log(F / K), the
 * value is
 *
 *     Black(F, K, s) + sqrt(F K) s T(k / s, log s),
 *
 * undiscounted. T is smooth, and of order 1 at most: it is the difference of the semi-closed form from Black's formula.
 * The table has T at points that are equidistant in asinh(k / (SURFACE_BEND s)) and in log s, with cubic interpolation
 * between them. Farther than the last point from the money the value is Black's formula.
 */
#ifndef SHOAL_CVA_SURFACE_H
#define SHOAL_CVA_SURFACE_H

#include "cva/plan.h"

enum { SURFACE_HALF = 60, SURFACE_WIDE = 2 * SURFACE_HALF + 1, SURFACE_DEEP = 64 };
#define SURFACE_BEND 1.0
#define SURFACE_STEP (3.75 / SURFACE_HALF) /* of asinh(k / (SURFACE_BEND s)) */

/* Numbers of a date, before those of T, [log s][k / s]. The table begins with the places of its dates. */
enum { SURFACE_A, SURFACE_B, SURFACE_LOW, SURFACE_OVER, SURFACE_COUNT, SURFACE_HEAD };

/* The asset that is the variance of a contract's price. */
SHOAL_HD static inline int cva_variance_of(const cva_job *job, const cva_contract *c) {
    return job->heston[job->surface[c->surface - 1].heston].variance;
}

typedef struct surface_taps { /* of cubic interpolation between points `at` to at + 3 */
    int at;
    double weight[4];
} surface_taps;

/* At `place` points from the first of `points`, between them. */
SHOAL_HD static inline surface_taps surface_taps_of(double place, int points) {
    surface_taps t;
    const int most = points - 4;
    t.at = place < 1.0 ? 0 : place >= most + 1 ? most : (int)place - 1;
    const double x = place - (double)t.at - 1.0, a = x + 1.0, b = x - 1.0, c = x - 2.0;
    t.weight[0] = (-1.0 / 6.0) * x * b * c, t.weight[1] = 0.5 * a * b * c;
    t.weight[2] = -0.5 * a * x * c, t.weight[3] = (1.0 / 6.0) * a * x * b;
    return t;
}

/* The value at date k, undiscounted, of a put or a call whose price has the forward F > 0. */
SHOAL_HD static inline double cva_surface_value(const cva_job *job, const cva_contract *c,
                                                int64_t k, double forward, double v) {
    const int down = (c->form & CVA_DOWN) != 0;
    const double *all = job->surface[c->surface - 1].at, *at = all + (int64_t)all[k];
    const double strike = c->strike, square = fma(at[SURFACE_B], v, at[SURFACE_A]);
    if (!(square > 0.0) || !(strike > 0.0) || !(forward > 0.0))
        return black_payoff(forward, strike, down);
    const double s = sqrt(square), y = shoal_log(forward / strike) / s;
    const double black = black_curve(forward, strike, s, down);
    const double part = (y < 0.0 ? -y : y) / SURFACE_BEND;
    const double bent = shoal_log(part + sqrt(fma(part, part, 1.0))) / SURFACE_STEP;
    if (!(bent <= SURFACE_HALF)) return black;
    const int count = (int)at[SURFACE_COUNT];
    double deep = (0.5 * shoal_log(square) - at[SURFACE_LOW]) * at[SURFACE_OVER];
    deep = deep > 0.0 ? (deep < count - 1 ? deep : count - 1) : 0.0;
    const surface_taps i = surface_taps_of(deep, count);
    const surface_taps j = surface_taps_of(SURFACE_HALF + (y < 0.0 ? -bent : bent), SURFACE_WIDE);
    const double *row = at + SURFACE_HEAD + (int64_t)i.at * SURFACE_WIDE + j.at;
    double t = 0.0;
    for (int n = 0; n < 4; n++, row += SURFACE_WIDE) {
        double sum = j.weight[0] * row[0];
        for (int m = 1; m < 4; m++) sum = fma(j.weight[m], row[m], sum);
        t = fma(i.weight[n], sum, t);
    }
    const double value = fma(sqrt(forward * strike) * s, t, black);
    return value > 0.0 ? value : 0.0;
}

#endif
