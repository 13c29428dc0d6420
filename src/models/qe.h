/* SPDX-License-Identifier: Apache-2.0
 *
 * qe.h - a step of Heston's model, for both compilers, in double:
 *
 *     x = log(S e^(-(r - q) t) / S0),   dv = kappa (theta - v) dt + sigma sqrt(v) dW,   rho the correlation of W and S.
 *
 * QE (Andersen, "Efficient Simulation of the Heston Stochastic Volatility Model", 2008): with m and s^2 the mean and the
 * variance of v' given v and psi = s^2/m^2, v' = a (b + Z)^2 if psi <= 3/2, and else 0 with probability p or exponential of
 * rate beta, with that mean and variance. Then, with w = dt/2 (his gamma_1 = gamma_2 = 1/2),
 *
 *     x' = x + K0 + K1 v + K2 v' + sqrt(K3 (v + v')) G,   K1,2 = w (kappa rho/sigma - 1/2) -+ rho/sigma,  K3 = w (1 - rho^2),
 *
 * and K0 such that the mean of S is right given v (his martingale correction), unless that mean is infinite.
 */
#ifndef SHOAL_MODELS_QE_H
#define SHOAL_MODELS_QE_H

#include "core/math.h"

#define QE_PSI 1.5 /* above, v' is 0 or exponential */

typedef struct qe_numbers {           /* of a step */
    double decay, pull, wide, narrow; /* m = decay v + pull, s^2 = wide v + narrow        */
    double first, second, spread;     /* K1, K2, K3                                       */
    double constant;                  /* K0 without correction                            */
    double tilt;                      /* E[e^(tilt v')] is corrected                      */
} qe_numbers;

/* factor = sigma^2 (1 - e^(-kappa dt)) / (2 kappa), decay = e^(-kappa dt), pull = theta (1 - decay). */
SHOAL_HD static inline qe_numbers qe_numbers_by(double kappa, double theta, double sigma,
                                                double rho, double dt, double factor, double decay,
                                                double pull) {
    const int noisy = sigma > 0.0;
    const double along = noisy ? rho / sigma : 0.0, share = noisy ? rho * rho : 0.0;
    const double half = 0.5 * dt, each = half * fma(kappa, along, -0.5);
    qe_numbers n;
    n.decay = decay, n.pull = pull;
    n.wide = 2.0 * n.decay * factor, n.narrow = n.pull * factor;
    n.first = each - along, n.second = each + along, n.spread = half * (1.0 - share);
    n.constant = -along * kappa * theta * dt;
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

#endif
