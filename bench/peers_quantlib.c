/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_quantlib.c - QuantLib as a peer of `heston:euler` and `heston:analytic` on the CPU, where the bench was
 * built with it (SHOAL_QUANTLIB).
 */
#include "bench/pricing.h"

#ifdef BENCH_QUANTLIB
#include <string.h>

#include "bench/peers_quantlib.h"

typedef struct job {
    const bench_problem *problem;
    shoal_heston model;
    double price, error;
} job;

static int euler(void *self, int i) {
    job *j = self;
    const bench_problem *p = j->problem;
    (void)i;
    return bench_quantlib_euler(&j->model, p->n, p->count, p->seed, &j->price, &j->error);
}

static int analytic(void *self, int i) {
    job *j = self;
    (void)i;
    return bench_quantlib_analytic(&j->model, &j->price);
}

int bench_peer_quantlib(bench_session *s, bench_prices *d) {
    const bench_problem *p = &d->problem;
    const bool paths = strcmp(p->method, "euler") == 0;
    if (p->type != SHOAL_F64 || (!paths && strcmp(p->method, "analytic") != 0)) return BENCH_OK;
    job j = { .problem = p, .model = shoal_heston_example() };
    const bench_price_peer peer = {
        .who = "QuantLib",
        .function = paths ? "MCEuropeanHestonEngine" : "AnalyticHestonEngine",
        .version = bench_quantlib_version(),
        .note = paths ? "full truncation, one thread" : "adaptive integration, one thread",
        .price = &j.price,
        .error = &j.error,
        .task = { .call = paths ? euler : analytic, .self = &j, .calls = 1 }
    };
    return bench_price_peer_row(s, d, &peer);
}
#else
int bench_peer_quantlib(bench_session *s, bench_prices *d) {
    (void)s, (void)d;
    return BENCH_OK;
}
#endif
