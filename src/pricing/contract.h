/* SPDX-License-Identifier: Apache-2.0
 *
 * contract.h - what a path says about a contract, for both compilers. At a maturity a path is a state:
 * given what was simulated, S_T is lognormal, S_T = forward f e^(s G - s^2/2). Where S_T itself was
 * simulated s is 0. Its value is then Black's, and derivatives are differences of values along
 * the same path (common random numbers):
 *
 *     delta = (P(s0+) - P(s0-)) / (2 h s0),  gamma = (P(s0+) - 2 P + P(s0-)) / (h s0)^2,
 *
 * where s0+- = s0 (1 +- h) scales f, and vega from two more paths that start with other variances.
 */
#ifndef SHOAL_PRICING_CONTRACT_H
#define SHOAL_PRICING_CONTRACT_H

#include "pricing/black.h"
#include "pricing/plan.h"

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

/* Adds `weight` times the outputs of one walk, and its bumped companions at[1], at[2], to out. */
SHOAL_HD static inline void contract_add(const price_terms *t, const price_leg *leg, double strike,
                                         const price_state *at, double weight, double *out) {
    const double p = contract_value(leg, strike, at, 1.0);
    out[0] = fma(weight, p, out[0]);
    if (t->outputs == 1) return;
    const double up = contract_value(leg, strike, at, 1.0 + leg->bump);
    const double down = contract_value(leg, strike, at, 1.0 - leg->bump);
    const double h = leg->bump * t->s0;
    const double raised = contract_value(leg, strike, at + 1, 1.0);
    const double lowered = contract_value(leg, strike, at + 2, 1.0);
    out[1] = fma(weight, (up - down) / (2.0 * h), out[1]);
    out[2] = fma(weight, ((up - p) - (p - down)) / (h * h), out[2]);
    out[3] = fma(weight, (raised - lowered) * t->vega, out[3]);
}

/* The outputs of a sample: the mean over its signs. at[sign * bumps + bump]. */
SHOAL_HD static inline void contract_outputs(const price_terms *t, const price_leg *leg,
                                             double strike, const price_state *at, int signs,
                                             int bumps, double *out) {
    for (int o = 0; o < t->outputs; o++) out[o] = 0.0;
    for (int s = 0; s < signs; s++)
        contract_add(t, leg, strike, at + s * bumps, signs == 2 ? 0.5 : 1.0, out);
}

/* Its control variate, of mean 0: f - 1. */
SHOAL_HD static inline double contract_control(const price_state *at, int signs, int bumps) {
    return signs == 2 ? fma(0.5, at[0].f + at[bumps].f, -1.0) : at[0].f - 1.0;
}

#endif
