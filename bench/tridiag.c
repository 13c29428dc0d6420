/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - one tridiagonal problem by one of Shoal's methods: solved, checked, timed.
 *
 * The answer is checked twice: with status and residual asked for (their values are compared with
 * what the check finds), and as it is timed, without them.
 */
#include "bench/tridiag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solver {
    shoal_tridiag *plan;
    const bench_data *data;
} solver;

static shoal_status solve_set(const solver *v, int set) {
    const bench_data *d = v->data;
    void *p[5];
    for (int i = 0; i < 5; i++) p[i] = bench_arrays_at(d, i, set);
    if (d->problem.type == SHOAL_F32)
        return shoal_tridiag_solvef(v->plan, p[0], p[1], p[2], p[3], p[4]);
    return shoal_tridiag_solve(v->plan, p[0], p[1], p[2], p[3], p[4]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return solve_set(v, i % v->data->sets) == SHOAL_OK ? 0 : -1;
}

/* The solver's word about each system: in its memory, and on the host. */
typedef struct own_outcome {
    shoal_outcome there;
    int32_t *status;
    float *residual;
} own_outcome;

static void outcome_free(shoal_context *ctx, own_outcome *o) {
    shoal_free(ctx, o->there.status);
    shoal_free(ctx, o->there.residual);
    free(o->status);
    free(o->residual);
}

static shoal_status outcome_make(shoal_context *ctx, int64_t count, own_outcome *o) {
    const size_t bytes = (size_t)(count > 0 ? count : 1) * 4;
    *o = (own_outcome){ .status = calloc(1, bytes), .residual = calloc(1, bytes) };
    shoal_status status = o->status && o->residual ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_alloc(ctx, bytes, (void **)&o->there.status);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, bytes, (void **)&o->there.residual);
    return status;
}

/* Solves set 0 into an x full of a wrong number, brings the answer home and checks it. Without
 * `where` the statuses are those of the time before: they must not depend on being asked for. */
static shoal_status solve_and_check(const bench_session *s, const solver *v,
                                    const shoal_outcome *where, own_outcome *o,
                                    bench_check *check) {
    const bench_data *d = v->data;
    shoal_context *ctx = d->place->ctx;
    const size_t bytes = d->size[4], count = (size_t)d->problem.count;
    memset(d->answer, 0x42, bytes);
    shoal_status status = shoal_tridiag_outcome(v->plan, where);
    if (status == SHOAL_OK && bytes > 0)
        status = shoal_copy(ctx, bench_arrays_at(d, 4, 0), d->answer, bytes);
    if (status == SHOAL_OK) status = solve_set(v, 0);
    if (status == SHOAL_OK) status = shoal_wait(ctx);
    if (status == SHOAL_OK && bytes > 0)
        status = shoal_copy(ctx, d->answer, bench_arrays_at(d, 4, 0), bytes);
    if (where && status == SHOAL_OK && count > 0) {
        status = shoal_copy(ctx, o->status, where->status, count * sizeof *o->status);
        if (status == SHOAL_OK)
            status = shoal_copy(ctx, o->residual, where->residual, count * sizeof *o->residual);
    }
    if (status != SHOAL_OK || bench_stopped(s)) return status;
    bench_view view = bench_view_of(d, d->answer);
    view.stop = s->rules.stop;
    bench_tridiag_check(&view, o->status, where ? o->residual : NULL, d->place->machine.threads,
                        check);
    return SHOAL_OK;
}

/* After Ctrl-C *check means nothing. */
static shoal_status verify(const bench_session *s, const solver *v, bench_check *check) {
    own_outcome o;
    bench_check plain = { 0 };
    shoal_context *ctx = v->data->place->ctx;
    shoal_status status = outcome_make(ctx, v->data->problem.count, &o);
    if (status == SHOAL_OK) status = solve_and_check(s, v, &o.there, &o, check);
    if (status == SHOAL_OK && !bench_stopped(s)) {
        status = solve_and_check(s, v, NULL, &o, &plain);
        if (plain.max_residual > check->max_residual) check->max_residual = plain.max_residual;
        if (plain.wrong > check->wrong || (check->passed && !plain.passed)) {
            check->passed = false;
            check->wrong = plain.wrong;
            snprintf(check->why, sizeof check->why, "without outcome: %.140s", plain.why);
        }
    }
    outcome_free(ctx, &o);
    return status;
}

int bench_tridiag_run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_data *data = of;
    bench_place *place = data->place;
    solver v = { .data = data };
    shoal_tridiag_opts opts = { .n = p->n,
                                .count = p->count,
                                .nrhs = p->nrhs,
                                .type = p->type,
                                .layout = p->layout,
                                .method = p->method,
                                .variant = p->variant,
                                .threads = (int)p->threads,
                                .groups = (int)p->groups };
    shoal_status status = shoal_tridiag_create(place->ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, place, status);
    shoal_tridiag_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    status = verify(s, &v, &check);
    if (status == SHOAL_OK && bench_stopped(s)) {
        shoal_tridiag_free(v.plan);
        return BENCH_STOPPED;
    }
    if (status == SHOAL_OK) status = shoal_tridiag_last(v.plan, &info);
    if (status != SHOAL_OK) check = bench_broken(place, status);
    char found[80], note[80] = "";
    snprintf(found, sizeof found, "max residual %.2g over %lld systems", check.max_residual,
             (long long)check.systems);
    if (info.redone > 0)
        snprintf(note, sizeof note, "%lld right-hand sides redone with pivoting",
                 (long long)info.redone);
    if (info.groups > 0)
        snprintf(note, sizeof note, "%d groups of %d threads", info.groups, info.threads);
    const bench_solver ours = { .function = info.method,
                                .variant = strcmp(info.method, "auto") != 0 ? info.variant : NULL,
                                .note = note,
                                .found = found,
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = &v, .calls = data->sets } };
    const int code = bench_add_row(s, p, place, &ours, &check, timed && p->n > 0 && p->count > 0);
    shoal_tridiag_free(v.plan);
    return code;
}
