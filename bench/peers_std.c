/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_std.c - the C++ library as a peer of sort on the CPU: std::sort of each row, std::merge of
 * each pair, the rows divided among as many threads as our own has. Keys alone. std::sort works in
 * place: the keys are put into the place of the result before each sample, which is not timed.
 */
#include "bench/sort.h"

#ifdef BENCH_STD
#include <stdio.h>
#include <string.h>

#include "bench/peers_std.h"

typedef struct job {
    const bench_sortables *data;
    int threads;
} job;

static int prepare(void *self) {
    const bench_sortables *d = ((const job *)self)->data;
    for (int set = 0; set < d->sets; set++)
        memcpy(bench_sortables_at(d, BENCH_SORT_OUT, set), d->host[BENCH_SORT_A],
               d->size[BENCH_SORT_A]);
    return 0;
}

static int call(void *self, int i) {
    const job *j = self;
    const bench_sortables *d = j->data;
    const bench_problem *p = &d->problem;
    void *m[3];
    for (int k = 0; k < 3; k++) m[k] = bench_sortables_at(d, k, i % d->sets);
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int t = 0; t < j->threads; t++) {
        const int64_t first = p->count * t / j->threads, end = p->count * (t + 1) / j->threads;
        if (d->merges)
            bench_std_merge(d->key, m[0], d->na, m[1], d->nb, m[2], first, end, p->direction);
        else
            bench_std_sort(d->key, m[2], p->n, first, end, p->direction);
    }
    return 0;
}

int bench_peer_std(bench_session *s, bench_sortables *d) {
    if (d->value_bytes) return BENCH_OK;
    job j = { .data = d, .threads = d->place->machine.threads };
    char note[64];
    snprintf(note, sizeof note, "%d thread%s over the rows", j.threads, j.threads == 1 ? "" : "s");
    const bench_solver peer = { .who = "C++",
                                .function = d->merges ? "std::merge" : "std::sort",
                                .version = "the compiler of this build, -O2",
                                .note = note,
                                .task = { .prepare = d->merges ? NULL : prepare,
                                          .call = call,
                                          .self = &j,
                                          .calls = d->sets } };
    return bench_sort_peer_row(s, d, &peer);
}
#else
int bench_peer_std(bench_session *s, bench_sortables *d) {
    (void)s, (void)d;
    return BENCH_OK;
}
#endif
