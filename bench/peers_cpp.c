/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cpp.c - peers in C++ on the CPU.
 *
 * The C++ library for sort: std::sort of each row, std::merge of each pair, the rows divided among as many
 * threads as our own has. Keys alone. std::sort works in place: the keys are copied to the place of the
 * result before each sample, which is not timed. QuantLib for `heston:euler` and `heston:analytic`, if the
 * bench was built with it (SHOAL_QUANTLIB).
 */
#include <stdio.h>
#include <string.h>

#include "bench/peers_foreign.h"
#include "bench/pricing.h"
#include "bench/sort.h"

#ifdef BENCH_HAS_STD
static int prepare(void *self) {
    const bench_sortables *d = self;
    for (int set = 0; set < d->arrays.sets; set++)
        memcpy(bench_arrays_at(&d->arrays, BENCH_SORT_OUT, set), d->arrays.host[BENCH_SORT_A],
               d->arrays.size[BENCH_SORT_A]);
    return 0;
}

static int call(void *self, int i) {
    const bench_sortables *d = self;
    const bench_problem *p = &d->arrays.problem;
    const int threads = d->arrays.place->machine.threads;
    void *m[3];
    for (int k = 0; k < 3; k++) m[k] = bench_arrays_at(&d->arrays, k, i % d->arrays.sets);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        const int64_t first = p->count * t / threads, end = p->count * (t + 1) / threads;
        if (d->merges)
            bench_std_merge(d->key, m[0], d->na, m[1], d->nb, m[2], first, end, p->direction);
        else
            bench_std_sort(d->key, m[2], p->n, first, end, p->direction);
    }
    return 0;
}

int bench_peer_std(bench_session *s, bench_sortables *d) {
    if (d->value_bytes) return BENCH_OK;
    const int threads = d->arrays.place->machine.threads;
    char note[64];
    snprintf(note, sizeof note, "%d thread%s over the rows", threads, threads == 1 ? "" : "s");
    const bench_solver peer = { .who = "C++",
                                .function = d->merges ? "std::merge" : "std::sort",
                                .version = "the compiler of this build, -O2",
                                .note = note,
                                .task = { .prepare = d->merges ? NULL : prepare,
                                          .call = call,
                                          .self = d,
                                          .calls = d->arrays.sets } };
    return bench_add_peer(s, &d->arrays, &peer, bench_sort_check_peer);
}
#endif

#ifdef BENCH_HAS_QUANTLIB
typedef struct quantlib_job {
    const bench_problem *problem;
    shoal_heston model;
    double price, error;
} quantlib_job;

static int euler(void *self, int i) {
    quantlib_job *j = self;
    const bench_problem *p = j->problem;
    (void)i;
    return bench_quantlib_euler(&j->model, p->n, p->count, p->seed, &j->price, &j->error);
}

static int adaptive(void *self, int i) {
    quantlib_job *j = self;
    (void)i;
    return bench_quantlib_analytic(&j->model, true, &j->price);
}

static int laguerre(void *self, int i) {
    quantlib_job *j = self;
    (void)i;
    return bench_quantlib_analytic(&j->model, false, &j->price);
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
        quantlib_job j = { .problem = p, .model = shoal_heston_example() };
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
#endif
