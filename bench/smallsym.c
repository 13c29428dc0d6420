/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.c - one problem of small symmetric systems by one of Shoal's methods: solved, checked,
 * timed; or its eigenpairs, as the key "pairs" says; or a stage of hhpcr, as "stage" says; or
 * regressions, as "gram" says.
 *
 * The answer is checked twice: with status, residual and condition bound asked for (their values
 * are compared with what the check finds), and without them. What is timed is what the key
 * "outcome" says. Eigenvalues alone are compared with those of pairs that passed.
 */
#include "bench/smallsym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solver {
    shoal_smallsym *plan;
    const bench_systems *data;
} solver;

static shoal_status find_pairs(const solver *v, int pairs, void *A, void *w) {
    const bench_systems *d = v->data;
    const bool single = d->problem.type == SHOAL_F32;
    void *V = pairs == BENCH_PAIRS_VALUES ? NULL : (char *)w + bench_systems_second(&d->problem);
    void *e = (char *)A + bench_systems_second(&d->problem);
    if (pairs == BENCH_PAIRS_TRIDIAG && single)
        return shoal_smallsym_eigtridiagf(v->plan, A, e, w, V);
    if (pairs == BENCH_PAIRS_TRIDIAG) return shoal_smallsym_eigtridiag(v->plan, A, e, w, V);
    if (single) return shoal_smallsym_eigf(v->plan, A, w, V);
    return shoal_smallsym_eig(v->plan, A, w, V);
}

/* A to d, e and Q in x, or those in A to x. */
static shoal_status run_stage(const solver *v, void *A, void *b, void *x) {
    const bench_systems *data = v->data;
    const bool single = data->problem.type == SHOAL_F32;
    const bool reduces = data->problem.stage == BENCH_STAGE_REDUCE;
    void *d = reduces ? x : A, *e = (char *)d + bench_systems_second(&data->problem),
         *q = (char *)d + bench_systems_third(&data->problem);
    if (reduces && single) return shoal_smallsym_reducef(v->plan, A, d, e, q);
    if (reduces) return shoal_smallsym_reduce(v->plan, A, d, e, q);
    if (single) return shoal_smallsym_pcrf(v->plan, d, e, q, b, x);
    return shoal_smallsym_pcr(v->plan, d, e, q, b, x);
}

/* The call of a bench_pairs_wanted on one set. */
static shoal_status call_set(const solver *v, int pairs, int set) {
    const bench_systems *d = v->data;
    void *p[3];
    for (int i = 0; i < 3; i++) p[i] = bench_arrays_at(d, i, set);
    if (pairs) return find_pairs(v, pairs, p[0], p[2]);
    if (d->problem.stage) return run_stage(v, p[0], p[1], p[2]);
    const bool single = d->problem.type == SHOAL_F32;
    const int64_t samples = d->problem.gram;
    if (samples && single) return shoal_smallsym_gramf(v->plan, samples, p[0], p[1], p[2]);
    if (samples) return shoal_smallsym_gram(v->plan, samples, p[0], p[1], p[2]);
    if (single) return shoal_smallsym_solvef(v->plan, p[0], p[1], p[2]);
    return shoal_smallsym_solve(v->plan, p[0], p[1], p[2]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return call_set(v, v->data->problem.pairs, i % v->data->sets) == SHOAL_OK ? 0 : -1;
}

/* The solver's word about each system: in its memory, and on the host. */
typedef struct own_outcome {
    shoal_outcome there;
    int32_t *status;
    float *residual, *rcond;
} own_outcome;

static void outcome_free(shoal_context *ctx, own_outcome *o) {
    shoal_free(ctx, o->there.status);
    shoal_free(ctx, o->there.residual);
    shoal_free(ctx, o->there.rcond);
    free(o->status);
    free(o->residual);
    free(o->rcond);
}

static shoal_status outcome_make(shoal_context *ctx, int64_t count, own_outcome *o) {
    const size_t bytes = (size_t)(count > 0 ? count : 1) * 4;
    *o = (own_outcome){ .status = calloc(1, bytes),
                        .residual = calloc(1, bytes),
                        .rcond = calloc(1, bytes) };
    shoal_status status = o->status && o->residual && o->rcond ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_alloc(ctx, bytes, (void **)&o->there.status);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, bytes, (void **)&o->there.residual);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, bytes, (void **)&o->there.rcond);
    return status;
}

static shoal_status outcome_fetch(shoal_context *ctx, size_t count, own_outcome *o) {
    shoal_status status = shoal_copy(ctx, o->status, o->there.status, 4 * count);
    if (status == SHOAL_OK) status = shoal_copy(ctx, o->residual, o->there.residual, 4 * count);
    if (status == SHOAL_OK) status = shoal_copy(ctx, o->rcond, o->there.rcond, 4 * count);
    return status;
}

/* The call on set 0, into `bytes` full of a wrong number, which it brings home. */
static shoal_status answer_of(const solver *v, int pairs, size_t bytes, void *home) {
    const bench_systems *d = v->data;
    shoal_context *ctx = d->place->ctx;
    void *there = bench_arrays_at(d, 2, 0);
    memset(home, 0x42, bytes);
    shoal_status status = bytes > 0 ? shoal_copy(ctx, there, home, bytes) : SHOAL_OK;
    if (status == SHOAL_OK) status = call_set(v, pairs, 0);
    if (status == SHOAL_OK) status = shoal_wait(ctx);
    if (status == SHOAL_OK && bytes > 0) status = shoal_copy(ctx, home, there, bytes);
    return status;
}

/* The answer of set 0 is checked. If they are not `asked` for, the statuses are those of the time
 * before: they must not depend on that. */
static shoal_status solve_and_check(const bench_session *s, const solver *v, bool asked,
                                    own_outcome *o, bench_check *check) {
    const bench_systems *d = v->data;
    shoal_context *ctx = d->place->ctx;
    const size_t count = (size_t)d->problem.count;
    const int pairs = d->problem.pairs, threads = d->place->machine.threads;
    const bool values = pairs == BENCH_PAIRS_VALUES;
    void *alone =
        values ? malloc(bench_systems_second(&d->problem) ? bench_systems_second(&d->problem) : 1)
               : NULL;
    shoal_status status = alone || !values ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_smallsym_outcome(v->plan, asked ? &o->there : NULL);
    if (status == SHOAL_OK)
        status = answer_of(v, values ? BENCH_PAIRS_VECTORS : pairs, d->size[2], d->answer);
    if (asked && status == SHOAL_OK && count > 0) status = outcome_fetch(ctx, count, o);
    if (values && status == SHOAL_OK)
        status = answer_of(v, pairs, bench_systems_second(&d->problem), alone);
    if (status == SHOAL_OK && !bench_stopped(s)) {
        bench_symmetric view = bench_symmetric_of(d, d->answer);
        view.stop = s->rules.stop;
        const bench_pairs found = bench_pairs_of(d, d->answer, alone);
        const bench_parts parts = bench_parts_of(d, d->answer);
        const int stage = d->problem.stage; /* whose residual is not that of A x = b */
        const bench_word word = { .status = o->status,
                                  .residual = asked && !stage ? o->residual : NULL,
                                  .rcond = asked ? o->rcond : NULL };
        if (stage == BENCH_STAGE_REDUCE)
            bench_reduction_check(&view, &parts, &word, threads, check);
        else if (pairs)
            bench_eigen_check(&view, &found, &word, threads, check);
        else
            bench_smallsym_check(&view, &word, threads, check);
    }
    free(alone);
    return status;
}

/* After Ctrl-C *check means nothing. */
static shoal_status verify(const bench_session *s, const solver *v, own_outcome *o,
                           bench_check *check) {
    bench_check plain = { 0 };
    shoal_status status = solve_and_check(s, v, true, o, check);
    if (status != SHOAL_OK || bench_stopped(s)) return status;
    status = solve_and_check(s, v, false, o, &plain);
    if (plain.max_residual > check->max_residual) check->max_residual = plain.max_residual;
    if (plain.wrong > check->wrong || (check->passed && !plain.passed)) {
        check->passed = false;
        check->wrong = plain.wrong;
        snprintf(check->why, sizeof check->why, "without outcome: %.140s", plain.why);
    }
    return status;
}

/* The row of a problem that was verified; timed if it passed. */
static int add_row(bench_session *s, solver *v, const bench_problem *p, bool timed,
                   const shoal_smallsym_info *info, const bench_check *check) {
    const int64_t distinct = bench_systems_distinct(p);
    char redone[64] = "", repeated[64] = "", note[160], found[80];
    if (info->redone > 0)
        snprintf(redone, sizeof redone, "%lld systems redone by the second method",
                 (long long)info->redone);
    if (distinct < p->count)
        snprintf(repeated, sizeof repeated, "%lld systems differ, the others repeat them",
                 (long long)distinct);
    snprintf(note, sizeof note, "%s%s%s", repeated, *redone && *repeated ? "; " : "", redone);
    snprintf(found, sizeof found, "max residual %.2g over %lld systems", check->max_residual,
             (long long)check->systems);
    const bench_solver ours = { .function = info->method,
                                .variant = strcmp(info->method, "auto") != 0 ? info->variant : NULL,
                                .note = note,
                                .found = found,
                                .workspace = info->bytes,
                                .task = { .call = timed_call, .self = v, .calls = v->data->sets } };
    return bench_add_row(s, p, v->data->place, &ours, check, timed && p->n > 0 && p->count > 0);
}

static int run_plan(bench_session *s, solver *v, const bench_problem *p, bool timed) {
    shoal_context *ctx = v->data->place->ctx;
    shoal_smallsym_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    own_outcome o;
    shoal_status status = outcome_make(ctx, p->count, &o);
    if (status == SHOAL_OK) status = verify(s, v, &o, &check);
    const bool ended = status == SHOAL_OK && bench_stopped(s);
    if (status == SHOAL_OK) status = shoal_smallsym_last(v->plan, &info);
    if (status == SHOAL_OK) status = shoal_smallsym_outcome(v->plan, p->outcome ? &o.there : NULL);
    if (status != SHOAL_OK) check = bench_broken(v->data->place, status);
    int code = ended ? BENCH_STOPPED : add_row(s, v, p, timed, &info, &check);
    outcome_free(ctx, &o);
    return code;
}

int bench_smallsym_run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_systems *data = of;
    shoal_context *ctx = data->place->ctx;
    solver v = { .data = data };
    const shoal_smallsym_opts opts = { .n = p->n,
                                       .count = p->count,
                                       .nrhs = p->nrhs,
                                       .type = p->type,
                                       .layout = p->layout,
                                       .storage = p->storage,
                                       .triangle = p->triangle,
                                       .method = p->method,
                                       .variant = p->variant,
                                       .team = (int)p->team,
                                       .refine = (int)p->refine,
                                       .estimate = p->estimate,
                                       .gram = p->gram > 0 };
    shoal_status status = shoal_smallsym_create(ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, data->place, status);
    int code = run_plan(s, &v, p, timed);
    shoal_smallsym_free(v.plan);
    return code;
}
