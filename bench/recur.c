/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - one problem of recur by one of Shoal's methods, or by a peer: solved, checked, timed.
 */
#include "bench/recur.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solver {
    shoal_recur *plan;
    const bench_segments *data;
} solver; /* the plan is one that stops after a phase while that is timed */

static shoal_status solve_set(const solver *v, int set) {
    const bench_segments *d = v->data;
    void *p[BENCH_RECUR_ARRAYS];
    for (int i = 0; i < BENCH_RECUR_ARRAYS; i++) p[i] = bench_arrays_at(d, i, set);
    if (d->problem.type == SHOAL_F32) return shoal_recur_solvef(v->plan, p[0], p[1], p[2], p[3]);
    return shoal_recur_solve(v->plan, p[0], p[1], p[2], p[3]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return solve_set(v, i % v->data->sets) == SHOAL_OK ? 0 : -1;
}

/* w becomes a wrong number throughout. */
static shoal_status paint(const bench_segments *d) {
    const size_t bytes = d->size[BENCH_RECUR_W];
    memset(d->answer, 0x42, bytes);
    if (bytes == 0) return SHOAL_OK;
    return shoal_copy(d->place->ctx, bench_arrays_at(d, BENCH_RECUR_W, 0), d->answer, bytes);
}

static shoal_status verify(const bench_session *s, const solver *v, shoal_recur_info *info,
                           bench_check *check) {
    const bench_segments *d = v->data;
    shoal_context *ctx = d->place->ctx;
    const size_t bytes = (size_t)d->problem.count * sizeof(int32_t);
    shoal_outcome where = { 0 };
    int32_t *statuses = calloc(1, bytes + 1);
    shoal_status status = statuses ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_alloc(ctx, bytes, (void **)&where.status);
    if (status == SHOAL_OK) status = shoal_recur_outcome(v->plan, &where);
    if (status == SHOAL_OK) status = paint(d);
    if (status == SHOAL_OK) status = solve_set(v, 0);
    if (status == SHOAL_OK) status = shoal_recur_last(v->plan, info);
    if (status == SHOAL_OK && bytes > 0) status = shoal_copy(ctx, statuses, where.status, bytes);
    if (status == SHOAL_OK && !bench_stopped(s)) status = bench_recur_check(s, d, statuses, check);
    shoal_recur_outcome(v->plan, NULL);
    shoal_free(ctx, where.status);
    free(statuses);
    return status;
}

/* What is timed instead of the whole, once that is verified: the solve up to the end of a phase. */
static shoal_status stop_after(solver *v, shoal_recur_opts opts, int phase) {
    opts.last_phase = (shoal_recur_phase)phase;
    shoal_recur_free(v->plan);
    return shoal_recur_create(v->data->place->ctx, &opts, &v->plan);
}

int bench_recur_run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_segments *d = of;
    bench_place *place = d->place;
    solver v = { .data = d };
    shoal_recur_opts opts = bench_segments_shape(p);
    opts.method = p->method, opts.variant = p->variant;
    opts.threads = (int)p->threads, opts.groups = (int)p->groups;
    shoal_status status = shoal_recur_create(place->ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, place, status);
    shoal_recur_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    status = verify(s, &v, &info, &check);
    if (status == SHOAL_OK && bench_stopped(s)) {
        shoal_recur_free(v.plan);
        return BENCH_STOPPED;
    }
    if (status == SHOAL_OK && p->phase) status = stop_after(&v, opts, p->phase);
    if (status != SHOAL_OK) check = bench_broken(place, status);
    char found[80], note[80] = "";
    snprintf(found, sizeof found, "max residual %.2g over %lld segments", check.max_residual,
             (long long)check.systems);
    if (info.groups > 0)
        snprintf(note, sizeof note, "%d groups of %d threads", info.groups, info.threads);
    const bench_solver ours = { .function = info.method,
                                .variant = info.variant,
                                .note = note,
                                .found = found,
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = &v, .calls = d->sets } };
    const int code = bench_add_row(s, p, place, &ours, &check, timed && p->n > 0 && p->count > 0);
    shoal_recur_free(v.plan);
    return code;
}

int bench_recur_peer_row(bench_session *s, bench_segments *d, const bench_solver *peer) {
    bench_problem p = d->problem;
    p.variant[0] = 0;
    bench_check check = { 0 };
    shoal_status status = paint(d);
    if (status == SHOAL_OK && peer->task.call(peer->task.self, 0) != 0) status = SHOAL_E_CUDA;
    if (status == SHOAL_OK) status = shoal_wait(d->place->ctx);
    if (status == SHOAL_OK) status = bench_recur_check(s, d, NULL, &check);
    if (status != SHOAL_OK) return bench_peer_left_out(s, peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    return bench_add_row(s, &p, d->place, peer, &check, true);
}
