/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand_heston.c - the kernel of peers_curand_heston.cu as a peer of `heston:euler` in f32.
 */
#include "bench/pricing.h"

#ifdef BENCH_CURAND
#include <math.h>
#include <string.h>

#include "bench/peers_curand.h"
#include "bench/peers_curand_heston.h"

typedef struct job {
    shoal_context *ctx;
    const bench_problem *problem;
    double *sums; /* on the device */
    double price, error;
} job;

static int call(void *self, int i) {
    const job *j = self;
    (void)i;
    return bench_curand_heston(j->problem->count, j->problem->n, j->problem->seed, j->sums);
}

int bench_peer_curand_heston(bench_session *s, bench_prices *d) {
    const bench_problem *p = &d->problem;
    job j = { .ctx = d->place->ctx, .problem = p };
    double sums[2], n = (double)p->count;
    if (p->type != SHOAL_F32 || strcmp(p->method, "euler") != 0 || p->count > 1LL << 38)
        return BENCH_OK;
    if (shoal_alloc(j.ctx, sizeof sums, (void **)&j.sums) != SHOAL_OK) return BENCH_OK;
    int code = BENCH_OK;
    if (call(&j, 0) == 0 && shoal_wait(j.ctx) == SHOAL_OK &&
        shoal_copy(j.ctx, sums, j.sums, sizeof sums) == SHOAL_OK) {
        j.price = sums[0] / n;
        j.error = sqrt((sums[1] / n - j.price * j.price) / n);
        const bench_solver peer = { .who = "cuRAND",
                                    .function = "curand_normal4 euler",
                                    .version = bench_curand_version(),
                                    .note = "a thread a path, two steps a call",
                                    .task = { .call = call, .self = &j, .calls = 1 } };
        code = bench_price_peer_row(s, d, peer, &j.price, &j.error);
    }
    shoal_free(j.ctx, j.sums);
    return code;
}
#else
int bench_peer_curand_heston(bench_session *s, bench_prices *d) {
    (void)s, (void)d;
    return BENCH_OK;
}
#endif
