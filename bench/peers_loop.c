/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_loop.c - a recurrence as most programs write it on a CPU: one loop a segment, the segments
 * divided among as many threads as our own has. Compiled with -O2, contraction as the compiler
 * likes it. For order 1, one segment after another.
 */
#include "bench/recur.h"

#include <stdio.h>

typedef struct job {
    const bench_segments *data;
    int threads;
} job;

static void loop_single(const float *s, const float *t, float w0, float *w, int64_t n) {
    for (int64_t i = 0; i < n; i++) w[i] = w0 = s[i] * w0 + t[i];
}

static void loop_double(const double *s, const double *t, double w0, double *w, int64_t n) {
    for (int64_t i = 0; i < n; i++) w[i] = w0 = s[i] * w0 + t[i];
}

static int call(void *self, int i) {
    const job *j = self;
    const bench_segments *d = j->data;
    const int set = i % d->sets;
    const int64_t n = d->problem.n;
    const void *s = bench_arrays_at(d, BENCH_RECUR_S, set),
               *t = bench_arrays_at(d, BENCH_RECUR_T, set);
    const void *w0 = bench_arrays_at(d, BENCH_RECUR_W0, set);
    void *w = bench_arrays_at(d, BENCH_RECUR_W, set);
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int64_t k = 0; k < d->problem.count; k++)
        if (d->problem.type == SHOAL_F32)
            loop_single((const float *)s + k * n, (const float *)t + k * n, ((const float *)w0)[k],
                        (float *)w + k * n, n);
        else
            loop_double((const double *)s + k * n, (const double *)t + k * n,
                        ((const double *)w0)[k], (double *)w + k * n, n);
    return 0;
}

int bench_peer_loop(bench_session *s, bench_segments *d) {
    const bench_problem *p = &d->problem;
    if (p->order != 1 || p->constant || p->direction || p->layout != SHOAL_SYSTEM_MAJOR)
        return BENCH_OK;
    job j = { .data = d, .threads = d->place->machine.threads };
    char note[64];
    snprintf(note, sizeof note, "one loop a segment, %d thread%s over the segments", j.threads,
             j.threads == 1 ? "" : "s");
    const bench_solver peer = { .who = "C",
                                .function = "loop",
                                .version = "the compiler of this build, -O2",
                                .note = note,
                                .task = { .call = call, .self = &j, .calls = d->sets } };
    return bench_recur_peer_row(s, d, &peer);
}
