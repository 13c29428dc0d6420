/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_smallsym.c - what the peers of small symmetric systems have in common: their own copy of
 * the systems, and a row of theirs, checked and timed.
 *
 * All of them overwrite their input. Before each sample fresh copies are made, outside the timed
 * region: by OpenMP threads on the CPU, each of which touches what it will work on, and within the
 * device's memory on a GPU. A peer that fails is named in a note; it does not end the run.
 *
 * Where eigenvalues alone are measured, a peer first finds the pairs, which are checked, and then the
 * values alone, which must be those of the pairs.
 */
#include "bench/peers_smallsym.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/numbers.h"

void *bench_copies_at(const bench_copies *c, int i, int set, int64_t system) {
    const size_t each = c->size[i] / (size_t)c->count;
    return c->work[i] + (size_t)set * c->size[i] + (size_t)system * each;
}

/* Samples from any layout to one system after another. */
static void rearrange_samples(const bench_copies *c) {
    const bench_symmetric v = bench_symmetric_of(c->data, NULL);
    const int64_t n = c->n, M = c->samples;
#pragma omp parallel for num_threads(c->data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < c->count; k++)
        for (int64_t m = 0; m < M; m++) {
            bench_put_number(v.type, c->full[1], k * M + m,
                             bench_number(v.type, v.b, k * v.y_system + m * v.y_row));
            for (int64_t i = 0; i < n; i++)
                bench_put_number(v.type, c->full[0], (k * M + m) * n + i,
                                 bench_number(v.type, v.A, k * v.system + (m * n + i) * v.entry));
        }
}

/* From any storage and layout to both triangles and columns. */
static void rearrange(const bench_copies *c) {
    const bench_symmetric v = bench_symmetric_of(c->data, NULL);
    const int64_t n = c->n, nrhs = c->nrhs;
#pragma omp parallel for num_threads(c->data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < c->count; k++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                bench_put_number(v.type, c->full[0], (k * n + i) * n + j,
                                 bench_symmetric_entry(&v, k, i, j));
        for (int64_t r = 0; r < nrhs; r++)
            for (int64_t i = 0; i < n; i++)
                memcpy((char *)c->full[1] + (size_t)((k * nrhs + r) * n + i) * c->number,
                       (const char *)v.b +
                           (size_t)(k * v.b_system + i * v.b_row + r * v.b_rhs) * c->number,
                       c->number);
    }
}

/* The arrays of addresses that batched routines take. */
static shoal_status make_pointers(bench_copies *c, int i) {
    shoal_context *ctx = c->data->place->ctx;
    const int64_t total = c->count * c->data->sets;
    const size_t bytes = (size_t)total * sizeof(void *);
    void **list = malloc(bytes);
    shoal_status status = list ? shoal_alloc(ctx, bytes, (void **)&c->pointers[i]) : SHOAL_E_NOMEM;
    for (int64_t k = 0; k < total && status == SHOAL_OK; k++)
        list[k] = bench_copies_at(c, i, (int)(k / c->count), k % c->count);
    if (status == SHOAL_OK) status = shoal_copy(ctx, (void *)c->pointers[i], list, bytes);
    free(list);
    return status;
}

static void copies_free(bench_copies *c) {
    shoal_context *ctx = c->data->place->ctx;
    for (int i = 0; i < 2; i++) {
        if (c->source[i] != c->full[i]) shoal_free(ctx, c->source[i]); /* on the CPU they are one */
        free(c->full[i]);
        shoal_free(ctx, c->work[i]);
        shoal_free(ctx, (void *)c->pointers[i]);
    }
    shoal_free(ctx, c->values);
    shoal_free(ctx, c->info);
    shoal_free(ctx, c->pivot);
}

static shoal_status copies_make(bench_copies *c) {
    shoal_context *ctx = c->data->place->ctx;
    const bool on_cpu = bench_on_cpu(c->data->place);
    const size_t rows = (size_t)c->n * (size_t)c->count, sets = (size_t)c->data->sets;
    shoal_status status = SHOAL_OK;
    c->size[0] = rows * (size_t)c->n * c->number;
    c->size[1] = rows * (size_t)c->nrhs * c->number;
    if (c->samples) {
        c->size[0] = rows * (size_t)c->samples * c->number;
        c->size[1] = (size_t)(c->samples * c->count) * c->number;
    }
    for (int i = 0; i < 2 && status == SHOAL_OK; i++) {
        c->full[i] = malloc(c->size[i]);
        if (!c->full[i]) return SHOAL_E_NOMEM;
        status = shoal_alloc(ctx, sets * c->size[i], (void **)&c->work[i]);
        if (on_cpu)
            c->source[i] = c->full[i];
        else if (status == SHOAL_OK)
            status = shoal_alloc(ctx, c->size[i], (void **)&c->source[i]);
    }
    if (status == SHOAL_OK) status = shoal_alloc(ctx, rows * c->number, (void **)&c->values);
    if (status != SHOAL_OK) return status;
    if (c->samples)
        rearrange_samples(c);
    else
        rearrange(c);
    for (int i = 0; i < 2 && status == SHOAL_OK && !on_cpu; i++) {
        status = shoal_copy(ctx, c->source[i], c->full[i], c->size[i]);
        if (status == SHOAL_OK) status = make_pointers(c, i);
    }
    if (status == SHOAL_OK && !on_cpu)
        status = shoal_alloc(ctx, (size_t)c->count * sizeof *c->info, (void **)&c->info);
    if (status == SHOAL_OK && !on_cpu)
        status = shoal_alloc(ctx, rows * sizeof *c->pivot, (void **)&c->pivot);
    return status;
}

/* Each thread copies the systems that it will solve. */
static void copy_by_threads(const bench_copies *c) {
    const int threads = c->data->place->machine.threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        const size_t begin = (size_t)(c->count * t / threads),
                     end = (size_t)(c->count * (t + 1) / threads);
        for (int i = 0; i < 2; i++)
            for (int set = 0; set < c->data->sets; set++) {
                const size_t each = c->size[i] / (size_t)c->count;
                memcpy(bench_copies_at(c, i, set, (int64_t)begin), c->source[i] + begin * each,
                       (end - begin) * each);
            }
    }
}

bench_means bench_means_of(const bench_copies *c) {
    bench_means m = { .zero = { 0 } };
    if (c->number == sizeof(float))
        m.mean.single = 1 / (float)c->samples;
    else
        m.mean.twice = 1 / (double)c->samples;
    return m;
}

typedef struct task { /* a routine on its copies */
    bench_copies *copies;
    const bench_routine *routine;
} task;

static int prepare(void *self) {
    const bench_copies *c = ((const task *)self)->copies;
    if (bench_on_cpu(c->data->place)) {
        copy_by_threads(c);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        for (int set = 0; set < c->data->sets; set++)
            if (shoal_copy(c->data->place->ctx, bench_copies_at(c, i, set, 0), c->source[i],
                           c->size[i]) != SHOAL_OK)
                return -1;
    return 0;
}

static int call(void *self, int set) {
    const bench_task *own = &((const task *)self)->routine->peer.task;
    return own->call(own->self, set);
}

/* On set 0, fresh. */
static shoal_status call_once(task *t) {
    if (prepare(t) != 0 || call(t, 0) != 0) return SHOAL_E_CUDA;
    return shoal_wait(t->copies->data->place->ctx);
}

/* Brings the answer of set 0 home and checks it. */
static shoal_status check_answer(const bench_session *s, task *t, bench_check *check) {
    bench_copies *c = t->copies;
    shoal_context *ctx = c->data->place->ctx;
    const int threads = c->data->place->machine.threads;
    const size_t values = (size_t)c->n * (size_t)c->count * c->number;
    const bool eigen = t->routine->eigen,
               alone = eigen && c->data->problem.pairs == BENCH_PAIRS_VALUES;
    bench_symmetric v = { .type = c->data->problem.type,
                          .n = c->n,
                          .count = c->count,
                          .nrhs = c->nrhs,
                          .entry = 1,
                          .system = c->n * c->n,
                          .b_row = 1,
                          .b_system = c->n * c->nrhs,
                          .b_rhs = c->n,
                          .A = c->full[0],
                          .b = c->full[1],
                          .stop = s->rules.stop };
    if (c->samples) {
        v.samples = c->samples, v.system = c->samples * c->n;
        v.y_row = 1, v.y_system = c->samples;
    }
    const int which = eigen ? 0 : 1;
    const void *there = t->routine->answer ? t->routine->answer : c->work[which];
    const size_t bytes = t->routine->answer ? values : c->size[which];
    char *answer = malloc(bytes), *w = eigen ? malloc(2 * values) : NULL;
    shoal_status status = answer && (w || !eigen) ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_copy(ctx, answer, there, bytes);
    if (status == SHOAL_OK && eigen) status = shoal_copy(ctx, w, c->values, values);
    if (status == SHOAL_OK && alone) {
        c->values_alone = true;
        status = call_once(t);
        if (status == SHOAL_OK) status = shoal_copy(ctx, w + values, c->values, values);
    }
    v.x = answer;
    const bench_pairs pairs = { .w = w,
                                .V = answer,
                                .alone = alone ? w + values : NULL,
                                .w_row = 1,
                                .w_system = c->n,
                                .v_component = 1, /* columns first */
                                .v_vector = c->n,
                                .v_system = c->n * c->n };
    if (status == SHOAL_OK && eigen)
        bench_eigen_check(&v, &pairs, NULL, threads, check);
    else if (status == SHOAL_OK)
        bench_smallsym_check(&v, NULL, threads, check);
    free(answer);
    free(w);
    return status;
}

int bench_peer_routine(bench_session *s, bench_copies *c, const bench_routine *r, bool *passed) {
    bench_place *place = c->data->place;
    bench_problem p = c->data->problem; /* of a peer there is nothing of ours but the systems */
    p.variant[0] = 0;
    p.team = p.refine = p.outcome = p.estimate = 0;
    task self = { c, r };
    bench_check check = { 0 };
    if (passed) *passed = false;
    if (bench_stopped(s)) return BENCH_STOPPED;
    c->values_alone = false;
    bench_solver peer = r->peer;
    peer.optional = true;
    peer.task =
        (bench_task){ .prepare = prepare, .call = call, .self = &self, .calls = c->data->sets };
    if (call_once(&self) != SHOAL_OK || check_answer(s, &self, &check) != SHOAL_OK)
        return bench_peer_left_out(s, &peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    if (passed) *passed = check.passed;
    return bench_add_row(s, &p, place, &peer, &check, true);
}

int bench_peers_smallsym(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const bench_peer_class which = bench_peers_for(p);
    if (p->n < 1 || p->count < 1) return BENCH_OK;
    if (p->n > 1 << 14 || p->nrhs > INT_MAX || p->count > INT_MAX / p->n) {
        bench_note(s, "peers left out: they take n up to 2^14 and up to 2^31 - 1 rows");
        return BENCH_OK;
    }
    if (p->gram && (p->nrhs > 1 || p->gram > INT_MAX)) {
        bench_note(s, "peers left out: of regressions they take one right-hand side");
        return BENCH_OK;
    }
    bench_copies c = { .data = data,
                       .n = p->n,
                       .count = p->count,
                       .nrhs = p->nrhs,
                       .samples = p->gram,
                       .number = bench_number_size(p) };
    const int64_t read = p->gram * (p->n + 1); /* and A and b are formed beside it */
    const size_t system = (size_t)(read + p->n * (p->n + p->nrhs + 1)) * c.number;
    const size_t once = system * (size_t)p->count, all = once * (size_t)(data->sets + 1);
    int code = BENCH_OK;
    if (bench_room(s, data->place, all, bench_on_cpu(data->place) ? all + once : 2 * once) !=
        BENCH_OK)
        bench_note(s, "peers left out: %s", s->message);
    else if (copies_make(&c) != SHOAL_OK)
        bench_note(s, "peers left out: no memory for their copies of the systems");
    else
        code = bench_on_cpu(data->place) ? bench_peer_lapack_symmetric(s, &c, which)
                                         : bench_peer_cuda_symmetric(s, &c, which);
    copies_free(&c);
    return code;
}
