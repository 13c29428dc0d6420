/* SPDX-License-Identifier: Apache-2.0
 *
 * recur_data.c - makes the data of a problem of recur and puts it into the context's memory, in as
 * many sets as memory.c says.
 */
#include "bench/recur.h"

#include <string.h>

shoal_recur_opts bench_segments_shape(const bench_problem *p) {
    return (shoal_recur_opts){ .n = p->n,
                               .count = p->count,
                               .order = (int)p->order,
                               .reverse = p->direction,
                               .constant_s = (p->constant & BENCH_CONSTANT_S) != 0,
                               .constant_t = (p->constant & BENCH_CONSTANT_T) != 0,
                               .type = p->type,
                               .layout = p->layout };
}

bool bench_segments_same(const bench_problem *p, const bench_problem *q) {
    return strcmp(p->module, q->module) == 0 && strcmp(p->kind, q->kind) == 0 &&
           strcmp(p->backend, q->backend) == 0 && p->type == q->type && p->layout == q->layout &&
           p->n == q->n && p->count == q->count && p->order == q->order &&
           p->constant == q->constant && p->direction == q->direction && p->seed == q->seed;
}

static int allocate(bench_session *s, bench_segments *d) {
    const bench_problem *p = &d->problem;
    const shoal_recur_opts o = bench_segments_shape(p);
    const size_t number = bench_number_size(p), count = (size_t)p->count;
    const size_t rows = (size_t)p->n * count;
    d->size[BENCH_RECUR_S] = (o.constant_s ? count : rows) * (size_t)p->order * number;
    d->size[BENCH_RECUR_T] = (o.constant_t ? count : rows) * number;
    d->size[BENCH_RECUR_W0] = count * (size_t)p->order * number;
    d->size[BENCH_RECUR_W] = rows * number;
    return bench_arrays_allocate(s, d, BENCH_RECUR_ARRAYS);
}

static shoal_status generate(bench_segments *d) {
    const bench_problem *p = &d->problem;
    const shoal_recur_opts shape = bench_segments_shape(p);
    void *const *h = d->host;
    shoal_status status =
        p->type == SHOAL_F32
            ? shoal_recur_generatef(d->place->ctx, p->kind, p->seed, 0, &shape, h[0], h[1], h[2])
            : shoal_recur_generate(d->place->ctx, p->kind, p->seed, 0, &shape, h[0], h[1], h[2]);
    for (int i = 0; i < 3 && status == SHOAL_OK; i++) status = bench_arrays_upload(d, i);
    return status;
}

int bench_segments_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    bench_segments *d = of;
    if (d->place == place && bench_segments_same(p, &d->problem)) return BENCH_OK;
    bench_arrays_free(d);
    d->problem = *p;
    d->place = place;
    int code = allocate(s, d);
    if (code == BENCH_OK) {
        shoal_status status = generate(d);
        if (status != SHOAL_OK) code = bench_error(s, status, "%s", shoal_message(place->ctx));
        if (bench_stopped(s)) code = BENCH_STOPPED;
    }
    if (code != BENCH_OK) bench_arrays_free(d);
    return code;
}
