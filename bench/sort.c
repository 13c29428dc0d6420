/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.c - one problem of sort by one of Shoal's methods, or by a peer: computed, checked, timed.
 */
#include "bench/sort.h"

#include <stdio.h>
#include <string.h>

typedef struct solver {
    shoal_sort *sort; /* one of the two */
    shoal_merge *merge;
    const bench_sortables *data;
} solver;

static shoal_status run_set(const solver *v, int set) {
    const bench_sortables *d = v->data;
    void *p[BENCH_SORT_ARRAYS];
    for (int i = 0; i < BENCH_SORT_ARRAYS; i++)
        p[i] = i < 3 || d->value_bytes ? bench_sortables_at(d, i, set) : NULL;
    if (v->merge)
        return shoal_merge_run(v->merge, p[BENCH_SORT_A], p[BENCH_SORT_B], p[BENCH_SORT_OUT],
                               p[BENCH_SORT_A_VALUES], p[BENCH_SORT_B_VALUES],
                               p[BENCH_SORT_OUT_VALUES]);
    return shoal_sort_run(v->sort, p[BENCH_SORT_A],
                          d->problem.index ? NULL : p[BENCH_SORT_A_VALUES], p[BENCH_SORT_OUT],
                          p[BENCH_SORT_OUT_VALUES]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return run_set(v, i % v->data->sets) == SHOAL_OK ? 0 : -1;
}

static shoal_status create(solver *v, const bench_problem *p) {
    const bench_sortables *d = v->data;
    if (!d->merges)
        return shoal_sort_create(d->place->ctx,
                                 &(shoal_sort_opts){ .n = p->n,
                                                     .count = p->count,
                                                     .key = d->key,
                                                     .value_bytes = d->value_bytes,
                                                     .index = p->index,
                                                     .descending = p->direction,
                                                     .method = p->method,
                                                     .variant = p->variant },
                                 &v->sort);
    return shoal_merge_create(d->place->ctx,
                              &(shoal_merge_opts){ .na = d->na,
                                                   .nb = d->nb,
                                                   .count = p->count,
                                                   .key = d->key,
                                                   .value_bytes = d->value_bytes,
                                                   .descending = p->direction,
                                                   .method = p->method,
                                                   .variant = p->variant },
                              &v->merge);
}

static void release(solver *v) {
    shoal_sort_free(v->sort);
    shoal_merge_free(v->merge);
}

static shoal_status last(const solver *v, shoal_sort_info *info) {
    return v->merge ? shoal_merge_last(v->merge, info) : shoal_sort_last(v->sort, info);
}

/* The result becomes wrong throughout. */
static shoal_status paint(const bench_sortables *d) {
    shoal_status status = SHOAL_OK;
    for (int i = BENCH_SORT_OUT; i < BENCH_SORT_ARRAYS && status == SHOAL_OK; i += 3) {
        if (d->size[i] == 0) continue;
        memset(d->host[i], 0x42, d->size[i]);
        status = shoal_copy(d->place->ctx, bench_sortables_at(d, i, 0), d->host[i], d->size[i]);
    }
    return status;
}

int bench_sort_run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_sortables *d = of;
    bench_place *place = d->place;
    solver v = { .data = d };
    shoal_status status = create(&v, p);
    if (status != SHOAL_OK) return bench_no_plan(s, p, place, status);
    shoal_sort_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    status = paint(d);
    if (status == SHOAL_OK) status = run_set(&v, 0);
    if (status == SHOAL_OK) status = last(&v, &info);
    if (status == SHOAL_OK) status = bench_sort_check(s, d, true, &check);
    if (status == SHOAL_OK && bench_stopped(s)) {
        release(&v);
        return BENCH_STOPPED;
    }
    if (status != SHOAL_OK) check = bench_broken(place, status);
    char found[48];
    snprintf(found, sizeof found, "%lld rows", (long long)check.systems);
    const bench_solver ours = { .function = info.method,
                                .variant = info.variant,
                                .found = found,
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = &v, .calls = d->sets } };
    const int code = bench_add_row(s, p, place, &ours, &check, timed && p->n > 0 && p->count > 0);
    release(&v);
    return code;
}

int bench_sort_peer_row(bench_session *s, bench_sortables *d, const bench_solver *peer) {
    bench_problem p = d->problem;
    p.variant[0] = 0;
    bench_check check = { 0 };
    shoal_status status = paint(d);
    if (status == SHOAL_OK && peer->task.prepare && peer->task.prepare(peer->task.self) != 0)
        status = SHOAL_E_CUDA;
    if (status == SHOAL_OK && peer->task.call(peer->task.self, 0) != 0) status = SHOAL_E_CUDA;
    if (status == SHOAL_OK) status = shoal_wait(d->place->ctx);
    if (status == SHOAL_OK) status = bench_sort_check(s, d, false, &check);
    if (status != SHOAL_OK) return bench_peer_left_out(s, peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    return bench_add_row(s, &p, d->place, peer, &check, true);
}
