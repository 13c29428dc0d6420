/* SPDX-License-Identifier: Apache-2.0
 *
 * recur_data.c - makes the data of a problem of recur and puts it into the context's memory, in as
 * many sets as memory.c says.
 */
#include "bench/recur.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256 };

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

static int allocate(bench_session *s, bench_segments *d, bool on_cpu) {
    const bench_problem *p = &d->problem;
    const shoal_recur_opts o = bench_segments_shape(p);
    const size_t number = bench_number_size(p), count = (size_t)p->count;
    const size_t rows = (size_t)p->n * count;
    d->size[BENCH_RECUR_S] = (o.constant_s ? count : rows) * (size_t)p->order * number;
    d->size[BENCH_RECUR_T] = (o.constant_t ? count : rows) * number;
    d->size[BENCH_RECUR_W0] = count * (size_t)p->order * number;
    d->size[BENCH_RECUR_W] = rows * number;
    size_t bytes = 0;
    for (int i = 0; i < BENCH_RECUR_ARRAYS; i++) bytes += d->size[i];
    d->sets = bench_sets(d->place, bytes);
    const size_t inside = (size_t)d->sets * bytes;
    const size_t on_host = on_cpu ? inside + d->size[BENCH_RECUR_W] : bytes;
    if (bench_room(s, d->place, inside, on_host) != BENCH_OK) return BENCH_ERROR;
    bool enough = true;
    for (int i = 0; i < BENCH_RECUR_ARRAYS; i++) {
        d->step[i] = (d->size[i] + ALIGN - 1) / ALIGN * ALIGN;
        size_t block = (size_t)d->sets * d->step[i];
        shoal_status status =
            shoal_alloc(d->place->ctx, block ? block : ALIGN, (void **)&d->memory[i]);
        if (status != SHOAL_OK) return bench_error(s, status, "%s", shoal_message(d->place->ctx));
        if (i == BENCH_RECUR_W) continue;
        d->host[i] = on_cpu ? d->memory[i] : malloc(d->size[i] ? d->size[i] : 1);
        enough = enough && d->host[i];
    }
    d->answer = malloc(d->size[BENCH_RECUR_W] ? d->size[BENCH_RECUR_W] : 1);
    return enough && d->answer ? BENCH_OK
                               : bench_error(s, SHOAL_E_NOMEM, "no memory for the problem");
}

static shoal_status generate(bench_segments *d) {
    const bench_problem *p = &d->problem;
    const shoal_recur_opts shape = bench_segments_shape(p);
    void *const *h = d->host;
    shoal_status status =
        p->type == SHOAL_F32
            ? shoal_recur_generatef(d->place->ctx, p->kind, p->seed, 0, &shape, h[0], h[1], h[2])
            : shoal_recur_generate(d->place->ctx, p->kind, p->seed, 0, &shape, h[0], h[1], h[2]);
    for (int i = 0; i < 3; i++) {
        const int first = d->host[i] == d->memory[i] ? 1 : 0; /* not onto itself */
        for (int set = first; set < d->sets && status == SHOAL_OK && d->size[i] > 0; set++)
            status = shoal_copy(d->place->ctx, bench_segments_at(d, i, set), h[i], d->size[i]);
    }
    return status;
}

int bench_segments_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    bench_segments *d = of;
    if (d->place == place && bench_segments_same(p, &d->problem)) return BENCH_OK;
    bench_segments_free(d);
    d->problem = *p;
    d->place = place;
    int code = allocate(s, d, bench_on_cpu(place));
    if (code == BENCH_OK) {
        shoal_status status = generate(d);
        if (status != SHOAL_OK) code = bench_error(s, status, "%s", shoal_message(place->ctx));
        if (bench_stopped(s)) code = BENCH_STOPPED;
    }
    if (code != BENCH_OK) bench_segments_free(d);
    return code;
}

void bench_segments_free(void *of) {
    bench_segments *d = of;
    for (int i = 0; i < 3; i++)
        if (d->host[i] != d->memory[i]) free(d->host[i]);
    for (int i = 0; i < BENCH_RECUR_ARRAYS; i++)
        if (d->place) shoal_free(d->place->ctx, d->memory[i]);
    free(d->answer);
    *d = (bench_segments){ 0 };
}

void *bench_segments_at(const bench_segments *d, int i, int set) {
    return d->memory[i] + (size_t)set * d->step[i];
}
