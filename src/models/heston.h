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
 * QE (Andersen, "Efficient Simulation of the Heston Stochastic Volatility Model", 2008): with m and s^2 the mean and the
 * variance of v' given v and psi = s^2/m^2, v' = a (b + Z)^2 if psi <= 3/2, and else 0 with probability p or exponential of
 * rate beta, with that mean and variance. Then, with w = dt/2 (his gamma_1 = gamma_2 = 1/2),
 *
 *     x' = x + K0 + K1 v + K2 v' + sqrt(K3 (v + v')) G,   K1,2 = w (kappa rho/sigma - 1/2) -+ rho/sigma,  K3 = w (1 - rho^2),
 *
 * and K0 such that the mean of S is right given v (his martingale correction), unless that mean is infinite.
 */
#ifndef SHOAL_MODELS_HESTON_H
#define SHOAL_MODELS_HESTON_H

#include "models/euler.h"
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

#define QE_PSI 1.5 /* above, v' is 0 or exponential */

typedef struct qe_numbers {           /* of a leg */
    double decay, pull, wide, narrow; /* m = decay v + pull, s^2 = wide v + narrow        */
    double first, second, spread;     /* K1, K2, K3                                       */
    double constant;                  /* K0 without correction                            */
    double tilt;                      /* E[e^(tilt v')] is corrected                      */
} qe_numbers;

SHOAL_HD static inline qe_numbers qe_numbers_of(const price_job *job, const price_leg *leg) {
    const int noisy = job->noise > 0.0;
    const double along = noisy ? job->rho / job->noise : 0.0;
    const double share = noisy ? job->rho * job->rho : 0.0;
    const double half = 0.5 * leg->dt, each = half * fma(job->reversion, along, -0.5);
    qe_numbers n;
    n.decay = leg->lambda * leg->factor, n.pull = job->shape * leg->factor;
    n.wide = 2.0 * n.decay * leg->factor, n.narrow = n.pull * leg->factor;
    n.first = each - along, n.second = each + along, n.spread = half * (1.0 - share);
    n.constant = -along * job->reversion * job->mean * leg->dt;
    n.tilt = fma(0.5, n.spread, n.second);
    return n;
}

/* A step of v and x; noise > 0. Without branches, for loops over samples. */
SHOAL_HD static inline void qe_step(const qe_numbers *n, double z1, double z2, double *v,
                                    double *x) {
    const double now = *v, m = fma(n->decay, now, n->pull), square = fma(n->wide, now, n->narrow);
    const int alive = m > 0.0; /* at 0 without reversion v stays there */
    const double mean = shoal_pick(alive, m, 1.0);
    const double psi = shoal_pick(alive, square / (mean * mean), 1.0);
    const int calm = psi <= QE_PSI;
    /* a (b + Z)^2 */
    const double ratio = 2.0 / shoal_pick(calm & (psi > 0.0), psi, 1.0);
    const double root = sqrt(ratio * (ratio - 1.0)), bb = (ratio - 1.0) + root;
    const double a = mean / (1.0 + bb), moved = sqrt(bb) + z1, chi = a * moved * moved;
    /* 0, or exponential */
    const double share = 2.0 / (1.0 + psi), scale = mean / share; /* 1 - p, 1 / beta */
    const double rest = shoal_normcdf(-z1), late = scale * shoal_log(share / rest);
    double next = shoal_pick(calm, chi, shoal_pick(rest < share, late, 0.0));
    next = shoal_pick(alive, next, 0.0);
    /* the logarithm of E[e^(tilt v')] */
    const double bent = n->tilt * shoal_pick(calm, 2.0 * a, scale); /* of 1 */
    const int finite = bent < 1.0;
    const double under = 1.0 - shoal_pick(finite, bent, 0.0);
    const double inner = shoal_pick(calm, under, fma(share, bent / under, 1.0));
    const double logarithm = shoal_log(inner);
    const double tilted =
        shoal_pick(calm, fma(0.5 * bb, bent / under, -0.5 * logarithm), logarithm);
    const double right = -tilted - fma(0.5, n->spread, n->first) * now;
    const double constant = shoal_pick(alive, shoal_pick(finite, right, n->constant), 0.0);
    const double sum = fma(n->second, next, fma(n->first, now, constant));
    *x += fma(sqrt(n->spread * (now + next)), z2, sum);
    *v = next;
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
