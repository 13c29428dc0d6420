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

static int adaptive(void *self, int i) {
    job *j = self;
    (void)i;
    return bench_quantlib_adaptive(&j->model, &j->price);
}

static int laguerre(void *self, int i) {
    job *j = self;
    (void)i;
    return bench_quantlib_laguerre(&j->model, &j->price);
}

int bench_peer_quantlib(bench_session *s, bench_prices *d) {
    static const struct {
        const char *method, *function, *variant, *note;
        int (*call)(void *self, int i);
    } engines[] = {
        { "euler", "MCEuropeanHestonEngine", "", "full truncation, one thread", euler },
        { "analytic", "AnalyticHestonEngine", "adaptive", "one thread", adaptive },
        { "analytic", "AnalyticHestonEngine", "laguerre", "one thread", laguerre },
    };
    const bench_problem *p = &d->problem;
    int code = BENCH_OK;
    for (size_t i = 0; i < sizeof engines / sizeof *engines && code == BENCH_OK; i++) {
        if (p->type != SHOAL_F64 || strcmp(p->method, engines[i].method) != 0) continue;
        job j = { .problem = p, .model = shoal_heston_example() };
        const bench_solver peer = { .who = "QuantLib",
                                    .function = engines[i].function,
                                    .variant = engines[i].variant,
                                    .version = bench_quantlib_version(),
                                    .note = engines[i].note,
                                    .task = { .call = engines[i].call, .self = &j, .calls = 1 } };
        code = bench_price_peer_row(s, d, peer, &j.price, &j.error);
    }
    return code;
}
#else
int bench_peer_quantlib(bench_session *s, bench_prices *d) {
    (void)s, (void)d;
    return BENCH_OK;
}
#endif
