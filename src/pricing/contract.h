/* SPDX-License-Identifier: Apache-2.0
 *
 * contract.h - what a path says about a contract, for both compilers. At a maturity a path is a
 * state: given what was simulated, S_T is lognormal, S_T = forward f e^(s G - s^2/2). Where S_T
 * itself was simulated s is 0. Its value is then Black's, and derivatives are differences of
 * values along the same path (common random numbers):
 *
 *     delta = (P(s0+) - P(s0-)) / (2 h s0),  gamma = (P(s0+) - 2 P + P(s0-)) / (h s0)^2,
 *
 * where s0+- = s0 (1 +- h) scales f, and vega from two more paths that start with other
 * variances.
 */
#ifndef SHOAL_PRICING_CONTRACT_H
#define SHOAL_PRICING_CONTRACT_H

#include "pricing/black.h"
#include "pricing/plan.h"

/* Before a loop whose body, Black's formula, is long: a kernel has it once. */
#ifdef __CUDA_ARCH__
#define CONTRACT_ROLLED _Pragma("unroll 1")
#else
#define CONTRACT_ROLLED
#endif

typedef struct price_state { /* S_T = forward f e^(s G - s^2/2), G normal */
    double f, s;
} price_state;

typedef struct price_states { /* of all walks of a sample: [sign * bumps + bump] */
    price_state walk[PRICE_WALKS];
} price_states;

SHOAL_HD static inline double contract_value(const price_leg *leg, double strike,
                                             const price_state *at, double scale) {
    return leg->discount * black_value(leg->forward * scale * at->f, strike, at->s, leg->put);
}

/* Adds `weight` times the outputs of one walk to out: its value, and where it has bumped
 * companions at[1], at[2], derivatives. */
SHOAL_HD static inline void contract_add(const price_terms *t, const price_leg *leg, double strike,
                                         const price_state *at, int bumps, double weight,
                                         double *out) {
    double value[5]; /* P, P(s0+), P(s0-), and of the two other variances */
    CONTRACT_ROLLED for (int v = 0; v < (bumps == 1 ? 1 : 5); v++) {
        const double scale = v == 1 ? 1.0 + leg->bump : v == 2 ? 1.0 - leg->bump : 1.0;
        value[v] = contract_value(leg, strike, v < 3 ? at : at + v - 2, scale);
    }
    const double p = value[0];
    out[0] = fma(weight, p, out[0]);
    if (bumps == 1) return;
    const double up = value[1], down = value[2], h = leg->bump * t->s0;
    out[1] = fma(weight, (up - down) / (2.0 * h), out[1]);
    out[2] = fma(weight, ((up - p) - (p - down)) / (h * h), out[2]);
    out[3] = fma(weight, (value[3] - value[4]) * t->vega, out[3]);
}

/* How many outputs there are. */
SHOAL_HD static inline int contract_count(int bumps) { return bumps == 1 ? 1 : PRICE_OUTPUTS; }

/* The outputs of a sample: the mean over its signs. at[sign * bumps + bump]. */
SHOAL_HD static inline void contract_outputs(const price_terms *t, const price_leg *leg,
                                             double strike, const price_state *at, int signs,
                                             int bumps, double *out) {
    for (int o = 0; o < contract_count(bumps); o++) out[o] = 0.0;
    CONTRACT_ROLLED for (int s = 0; s < signs; s++)
        contract_add(t, leg, strike, at + s * bumps, bumps, signs == 2 ? 0.5 : 1.0, out);
}

/* Its control variate, of mean 0: f - 1. */
SHOAL_HD static inline double contract_control(const price_state *at, int signs, int bumps) {
    return signs == 2 ? fma(0.5, at[0].f + at[bumps].f, -1.0) : at[0].f - 1.0;
}

#endif
