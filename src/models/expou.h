/* SPDX-License-Identifier: Apache-2.0
 *
 * expou.h - steps of the exponential Ornstein-Uhlenbeck model, for both compilers (L.
 * Abbas-Turki, "Projects: Merge Sort, Monte Carlo and PDE simulations", project sheet of a
 * course, December 2024, unpublished, section 2):
 *
 *     dS = S (r dt + e^Y dW),   dY = alpha (m - Y) dt + beta dV,   V = rho W + sqrt(1 - rho^2) Z.
 *
 * Euler, in the logarithm x of S e^(-rt) / S0, with G1 for V and W = rho G1 + sqrt(1 - rho^2)
 * G2:
 *
 *     x' = x - e^(2Y) dt/2 + e^Y sqrt(dt) (rho G1 + sqrt(1 - rho^2) G2),
 *     Y' = Y + alpha (m - Y) dt + beta sqrt(dt) G1.
 *
 * Conditional: Y moves exactly, Y' = m + (Y - m) e^(-alpha dt) + beta sqrt((1 - e^(-2 alpha dt))
 * / (2 alpha)) G, and given Y log S_T is normal. Its variance is (1 - rho^2) A, A the integral
 * of e^(2Y), and its mean needs J, that of e^Y dV, which Ito's formula gives without noise of
 * its own:
 *
 *     J = (e^(Y_T) - e^(Y_0) - B) / beta,   B the integral of e^Y (alpha (m - Y) + beta^2 / 2);
 *
 * A and B by trapezoids. A forward given the path is forward e^(rho J - rho^2 A / 2).
 */
#ifndef SHOAL_MODELS_EXPOU_H
#define SHOAL_MODELS_EXPOU_H

#include "models/euler.h"
#include "rng/normal.h"

SHOAL_HD static inline void expou_step(const euler_numbers *n, int in_s, real z1, real z2, real *y,
                                       real *x) {
    const real vol = real_exp(*y);
    const real shock = real_fma(n->along, z1, n->across * z2);
    *x = in_s ? real_fma(*x, vol * shock, real_fma(vol, shock, *x)) /* equation (6) */
              : real_fma(vol, real_fma(-n->half, vol, shock), *x);
    *y = real_fma(n->noise, z1, real_fma(n->decay, *y, n->pull));
}

/* Y, e^Y and the integrals A and B so far. */
typedef struct expou_given {
    double y, vol, a, b;
} expou_given;

/* The integrand of B. */
SHOAL_HD static inline double expou_rate(const price_job *job, double y, double vol) {
    return vol * fma(job->reversion, job->mean - y, 0.5 * job->noise * job->noise);
}

SHOAL_HD static inline expou_given expou_begin(double y) {
    const expou_given g = { y, shoal_exp(y), 0.0, 0.0 };
    return g;
}

SHOAL_HD static inline void expou_exact(const price_job *job, const price_leg *leg, double z,
                                        expou_given *g) {
    const double y = fma(leg->noise, z, fma(leg->decay, g->y - job->mean, job->mean));
    const double vol = shoal_exp(y), half = 0.5 * leg->dt;
    g->a = fma(half, fma(g->vol, g->vol, vol * vol), g->a);
    g->b = fma(half, expou_rate(job, g->y, g->vol) + expou_rate(job, y, vol), g->b);
    g->y = y, g->vol = vol;
}

/* beta = 0: nothing of W is known from V. */
SHOAL_HD static inline price_state expou_state(const price_job *job, double y0,
                                               const expou_given *g) {
    const double rho = job->noise > 0.0 ? job->rho : 0.0;
    const double j = job->noise > 0.0 ? (g->vol - shoal_exp(y0) - g->b) / job->noise : 0.0;
    price_state at;
    at.f = shoal_exp(fma(-0.5 * rho * rho, g->a, rho * j));
    at.s = sqrt((1.0 - rho * rho) * g->a);
    return at;
}

#endif
