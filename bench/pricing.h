/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing.h - prices on the bench: Heston's model, the exponential Ornstein-Uhlenbeck model and bullet
 * options, one method, the peers.
 */
#ifndef BENCH_PRICING_H
#define BENCH_PRICING_H

#include <shoal/pricing.h>

#include "bench/session.h"

/* n: steps or dates; count: paths. Of bullet:pde nrhs: options, order: nx, team: time steps per date. */
double bench_price_steps(const bench_problem *p); /* path-steps, or node-steps of a PDE */
/* Seconds to a standard error of 1e-5, as errors fall with the root of the paths; 0: there is none. */
double bench_price_to_error(const bench_row *row);

typedef struct bench_prices {
    bench_problem problem;
    bench_place *place;
} bench_prices;

/* A row of a peer whose task makes prices: checked like our own, then timed. *price and *error are what
 * the last call found. */
int bench_price_peer_row(bench_session *s, bench_prices *d, bench_solver peer, const double *price,
                         const double *error);

/* Heston's model by Euler as in a plain program: on the CPU a loop in C, on CUDA a kernel with
 * cuRAND's generator. BENCH_OK without a row where the problem is another one. */
int bench_peer_plain_heston(bench_session *s, bench_prices *d);
int bench_peer_curand_heston(bench_session *s, bench_prices *d);
/* Heston's model by QuantLib, by Euler and by formula, where the bench was built with it. */
int bench_peer_quantlib(bench_session *s, bench_prices *d);

#endif
