/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_plain_heston.c - Heston's call by Euler's scheme as a plain program has it: a loop over paths, a
 * loop over steps, xorshift and Box-Muller with the C library's functions, paths divided among as many
 * threads as our own has. Compiled with -O2.
 */
#include "bench/pricing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct job {
    int64_t paths, steps;
    int threads;
    double price, error;
} job;

static double uniform(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static double payoff_of(const shoal_heston *m, int64_t steps, uint64_t *state) {
    const double dt = 1.0 / (double)steps, root = sqrt(dt), rest = sqrt(1 - m->rho * m->rho);
    double v = m->v0, x = 0;
    for (int64_t k = 0; k < steps; k++) {
        const double r = sqrt(-2 * log(uniform(state))), t = 6.283185307179586 * uniform(state);
        const double g1 = r * cos(t), g2 = r * sin(t), positive = v > 0 ? v : 0;
        const double vol = sqrt(positive) * root;
        x += vol * (m->rho * g1 + rest * g2) - 0.5 * positive * dt;
        v += m->kappa * (m->theta - positive) * dt + m->sigma * vol * g1;
    }
    const double s = m->s0 * exp(x) - 1;
    return s > 0 ? s : 0;
}

static int call(void *self, int i) {
    job *j = self;
    const shoal_heston m = shoal_heston_example();
    double sum = 0, squares = 0;
    (void)i;
#pragma omp parallel for num_threads(j->threads) schedule(static) reduction(+ : sum, squares)
    for (int64_t path = 0; path < j->paths; path++) {
        uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(path + 1); /* a stream a path */
        for (int k = 0; k < 4; k++) (void)uniform(&state);
        const double pay = payoff_of(&m, j->steps, &state);
        sum += pay, squares += pay * pay;
    }
    const double n = (double)j->paths;
    j->price = sum / n;
    j->error = sqrt((squares / n - j->price * j->price) / n);
    return 0;
}

int bench_peer_plain_heston(bench_session *s, bench_prices *d) {
    const bench_problem *p = &d->problem;
    if (p->type != SHOAL_F64 || strcmp(p->method, "euler") != 0) return BENCH_OK;
    job j = { .paths = p->count, .steps = p->n, .threads = d->place->machine.threads };
    char note[64];
    snprintf(note, sizeof note, "xorshift, libm, %d thread%s over the paths", j.threads,
             j.threads == 1 ? "" : "s");
    const bench_solver peer = { .who = "C",
                                .function = "euler loop",
                                .version = "the compiler of this build, -O2",
                                .note = note,
                                .task = { .call = call, .self = &j, .calls = 1 } };
    return bench_price_peer_row(s, d, peer, &j.price, &j.error);
}
