/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_smallsym.c - what the peers of small symmetric systems have in common: their own copy of
 * the systems, and a row of theirs, checked and timed.
 *
 * All of them overwrite their input. Before each sample fresh copies are made, outside the timed
 * region. A peer that fails is named in a note; it does not end the run.
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

/* Samples from any layout to one system after another. */
static void rearrange_samples(const bench_copies *c) {
    const bench_symmetric v = bench_symmetric_of(c->data, NULL);
    const int64_t n = c->n, M = c->samples;
#pragma omp parallel for num_threads(c->data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < c->count; k++)
        for (int64_t m = 0; m < M; m++) {
            bench_put_number(v.type, c->fresh.full[1], k * M + m,
                             bench_number(v.type, v.b, k * v.y_system + m * v.y_row));
            for (int64_t i = 0; i < n; i++)
                bench_put_number(v.type, c->fresh.full[0], (k * M + m) * n + i,
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
                bench_put_number(v.type, c->fresh.full[0], (k * n + i) * n + j,
                                 bench_symmetric_entry(&v, k, i, j));
        for (int64_t r = 0; r < nrhs; r++)
            for (int64_t i = 0; i < n; i++)
                memcpy((char *)c->fresh.full[1] + (size_t)((k * nrhs + r) * n + i) * c->number,
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
    void *const there[] = { (void *)c->pointers[0], (void *)c->pointers[1], c->values, c->info,
                            c->pivot };
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) shoal_free(ctx, there[i]);
    bench_fresh_free(&c->fresh);
}

static shoal_status copies_make(bench_copies *c) {
    shoal_context *ctx = c->data->place->ctx;
    const size_t rows = (size_t)c->n * (size_t)c->count * c->number;
    c->fresh = (bench_fresh){ .data = c->data, .arrays = 2 };
    c->fresh.size[0] = rows * (size_t)(c->samples ? c->samples : c->n);
    c->fresh.size[1] =
        c->samples ? rows / (size_t)c->n * (size_t)c->samples : rows * (size_t)c->nrhs;
    shoal_status status = bench_fresh_make(&c->fresh);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, rows, (void **)&c->values);
    if (status != SHOAL_OK) return status;
    if (c->samples)
        rearrange_samples(c);
    else
        rearrange(c);
    status = bench_fresh_upload(&c->fresh);
    if (bench_on_cpu(c->data->place)) return status;
    for (int i = 0; i < 2 && status == SHOAL_OK; i++) status = make_pointers(c, i);
    if (status == SHOAL_OK)
        status = shoal_alloc(ctx, (size_t)c->count * sizeof *c->info, (void **)&c->info);
    if (status == SHOAL_OK)
        status = shoal_alloc(ctx, (size_t)(c->n * c->count) * sizeof *c->pivot, (void **)&c->pivot);
    return status;
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

static int prepare(void *self) { return bench_fresh_copy(&((const task *)self)->copies->fresh); }

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
                          .A = c->fresh.full[0],
                          .b = c->fresh.full[1],
                          .stop = s->rules.stop };
    if (c->samples) {
        v.samples = c->samples, v.system = c->samples * c->n;
        v.y_row = 1, v.y_system = c->samples;
    }
    const int which = eigen ? 0 : 1;
    const void *there = t->routine->answer ? t->routine->answer : c->fresh.work[which];
    const size_t bytes = t->routine->answer ? values : c->fresh.size[which];
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
