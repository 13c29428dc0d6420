/* SPDX-License-Identifier: Apache-2.0
 *
 * heston.h - steps of Heston's model, for both compilers (L. Abbas-Turki, "Projects: Merge Sort,
 * Monte Carlo and PDE simulations", project sheet of a course, December 2024, unpublished,
 * section 1).
 *
 * Euler, in the logarithm x of S e^(-(r - q) t) / S0, exact for a given variance:
 *
 *     x' = x - v+ dt/2 + sqrt(v+ dt) (rho G1 + sqrt(1 - rho^2) G2),
 *     v' = g(v + kappa (theta - v+) dt + sigma sqrt(v+ dt) G1),
 *
 * or, in S itself as printed (equation (4); x is S e^(-(r - q) t) / S0 - 1),
 *
 *     x' = x + (1 + x) sqrt(v+ dt) (rho G1 + sqrt(1 - rho^2) G2);
 *
 * v+ = max(v, 0), g the identity (full: the variance itself may be negative, only what is taken
 * of it is not), the positive part (plus), or the absolute value (abs).
 *
 * Exact steps of the variance, of any size: N Poisson of mean lambda v, v' = factor Gamma(shape
 * + N),
 *
 *     factor = sigma^2 (1 - e^(-kappa dt)) / (2 kappa),  lambda = e^(-kappa dt) / factor,
 *     shape = 2 kappa theta / sigma^2;
 *
 * or, with shape > 1/2 and no Poisson law, v' = factor ((Z + sqrt(2 lambda v))^2 / 2 +
 * Gamma(shape - 1/2)). The integral of v over a step is taken as theta dt + w (v - theta) + w
 * (v' - theta), which has the right mean given v for w = tanh(kappa dt / 2) / kappa: trapezoids
 * as kappa dt goes to 0, where w is dt/2. With I the sum of these the integral of sqrt(v) dW is
 * J = (v_T - v_0 - kappa theta T + kappa I) / sigma, and given the variance path log S_T is
 * normal of mean log S0 + (r - q) T + rho J - I/2 and variance (1 - rho^2) I.
 *
 * QE: qe.h.
 */
#ifndef SHOAL_MODELS_HESTON_H
#define SHOAL_MODELS_HESTON_H

#include "models/euler.h"
#include "models/qe.h"
#include "rng/poisson.h"

SHOAL_HD static inline real heston_g(real v, int variant) {
    if (variant == EULER_FULL) return v;
    return variant == EULER_PLUS ? real_pick(v > 0, v, 0) : real_abs(v);
}

SHOAL_HD static inline void heston_step(const euler_numbers *n, int variant, int in_s, real z1,
                                        real z2, real *v, real *x) {
    const real positive = real_pick(*v > 0, *v, 0), root = real_sqrt(positive);
    const real first = root * z1, second = root * z2;
    const real drift = real_fma(-n->reversion, positive, *v + n->pull);
    *v = heston_g(real_fma(n->noise, first, drift), variant);
    const real down = in_s ? 0 : real_fma(-n->half, positive, *x);
    const real shocked = real_fma(n->along, first, real_fma(n->across, second, down));
    *x = in_s ? real_fma(*x, shocked, *x + shocked) : shocked;
}

/* Above this mean the Poisson law is not asked for; the normal one differs by less than double can
 * tell. */
#define CIR_MEAN_MAX 1e9

/* Z and G of the law without Poisson; shape - 1/2 is the shape of G, which is absent at 0. It
 * may be below 0 for means above CIR_MEAN_MAX alone, beside which it is nothing. */
SHOAL_HD static inline double cir_by_normal(double shape, double mean, const shoal_stream *s,
                                            uint64_t path) {
    const shoal_stream second = shoal_second_part(s);
    const shoal_words w = shoal_block(s, path, 0);
    const double shifted = shoal_normal_pair(&w).z[0] + sqrt(2.0 * mean);
    const double rest = shape - 0.5;
    return fma(0.5 * shifted, shifted, rest > 0.0 ? shoal_gamma(rest, &second, path) : rest);
}

/* The draw of one step, v' / factor, mean = lambda v. A shape of 0 stays at 0. */
SHOAL_HD static inline double cir_draw(double shape, double mean, int variant,
                                       const shoal_stream *s, uint64_t path) {
    if ((variant == VARIANCE_NORMAL && shape > 0.5) || !(mean <= CIR_MEAN_MAX))
        return cir_by_normal(shape, mean, s, path);
    const double alpha = shape + (double)shoal_poisson(mean, s, path);
    const shoal_stream second = shoal_second_part(s);
    return alpha >= SHOAL_GAMMA_MIN ? shoal_gamma(alpha, &second, path) : 0.0;
}

/* sigma = 0: the variance follows its drift. */
SHOAL_HD static inline double cir_drift(const price_job *job, const price_leg *leg, double v) {
    return fma(v - job->mean, shoal_exp(-job->reversion * leg->dt), job->mean);
}

SHOAL_HD static inline qe_numbers qe_numbers_of(const price_job *job, const price_leg *leg) {
    return qe_numbers_by(job->reversion, job->mean, job->noise, job->rho, leg->dt, leg->factor,
                         leg->lambda * leg->factor, job->shape * leg->factor);
}

/* sigma = 0: S is lognormal, of the trapezoid of the variance. */
SHOAL_HD static inline void qe_drift(const price_job *job, const price_leg *leg, double z2,
                                     double *v, double *x) {
    const double next = cir_drift(job, leg, *v), part = 0.5 * leg->dt * (*v + next);
    *x += fma(sqrt(part), z2, -0.5 * part);
    *v = next;
}

/* The state at a maturity from the variance there and its integral. g: the normal of `exact`. */
SHOAL_HD static inline price_state heston_state(const price_job *job, const price_leg *leg,
                                                double v0, double v, double integral, double g) {
    const double drift = fma(job->reversion, integral - job->mean * leg->maturity, v - v0);
    const double along = job->noise > 0.0 ? job->rho * drift / job->noise : 0.0;
    const double share = job->noise > 0.0 ? job->rho * job->rho : 0.0; /* without W: all is Z's */
    const double rest = (1.0 - share) * integral;
    price_state at;
    if (job->row == HESTON_CONDITIONAL) {
        at.f = shoal_exp(fma(-0.5 * share, integral, along));
        at.s = sqrt(rest);
    } else {
        at.f = shoal_exp(fma(sqrt(rest), g, fma(-0.5, integral, along)));
        at.s = 0.0;
    }
    return at;
}

#endif
