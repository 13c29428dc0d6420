/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cub.c - CUB as a peer of recur: one long segment of order 1, forward, s and t arrays.
 */
#include "bench/recur.h"

#ifdef BENCH_CUB
#include "bench/peers_cub.h"

typedef struct job {
    const bench_segments *data;
    void *scratch;
    size_t bytes;
} job;

static int call(void *self, int i) {
    const job *j = self;
    const bench_segments *d = j->data;
    const int set = i % d->sets;
    return bench_cub_scan(
        d->problem.type == SHOAL_F32, d->problem.n, bench_arrays_at(d, BENCH_RECUR_S, set),
        bench_arrays_at(d, BENCH_RECUR_T, set), bench_arrays_at(d, BENCH_RECUR_W0, set),
        bench_arrays_at(d, BENCH_RECUR_W, set), j->scratch, j->bytes);
}

int bench_peer_cub(bench_session *s, bench_segments *d) {
    const bench_problem *p = &d->problem;
    if (p->order != 1 || p->constant || p->direction || p->count != 1) return BENCH_OK;
    job j = { .data = d, .bytes = bench_cub_bytes(p->type == SHOAL_F32, p->n) };
    if (j.bytes == 0 || shoal_alloc(d->place->ctx, j.bytes, &j.scratch) != SHOAL_OK) {
        bench_note(s, "peer left out: CUB does not take this problem");
        return BENCH_OK;
    }
    const bench_solver peer = { .who = "CUB",
                                .function = "DeviceScan::InclusiveScan",
                                .version = bench_cub_version(),
                                .note = "affine pairs formed on reading, one number written",
                                .workspace = j.bytes,
                                .task = { .call = call, .self = &j, .calls = d->sets } };
    int code = bench_recur_peer_row(s, d, &peer);
    shoal_free(d->place->ctx, j.scratch);
    return code;
}
#else
int bench_peer_cub(bench_session *s, bench_segments *d) {
    (void)s, (void)d;
    return BENCH_OK;
}
#endif
