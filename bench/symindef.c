/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.c - one dense symmetric matrix by one of Shoal's methods: factored, checked, timed.
 */
#include "bench/symindef.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fresh_copy(void *self) {
    return bench_matrix_renew(((const bench_factoring *)self)->data);
}

static int factor(void *self, int i) {
    const bench_factoring *f = self;
    const bench_matrix *d = f->data;
    (void)i; /* a sample is one call */
    const shoal_status status = d->problem.type == SHOAL_F32
                                    ? shoal_symindef_factorf(f->plan, (float *)d->work)
                                    : shoal_symindef_factor(f->plan, (double *)d->work);
    return status == SHOAL_OK ? 0 : -1;
}

bench_pivoting bench_pivoting_of(const bench_problem *p) {
    if (strcmp(p->method, "partial") == 0) return BENCH_PARTIAL;
    return strcmp(p->method, "rook") == 0 ? BENCH_ROOK : BENCH_COMPLETE;
}

double bench_symindef_bound(const bench_problem *p) {
    const double alpha = p->alpha > 0 ? p->alpha : (1 + sqrt(17.0)) / 8;
    if (bench_pivoting_of(p) == BENCH_PARTIAL) return INFINITY;
    return fmax(1 / alpha, 1 / (1 - alpha));
}

shoal_status bench_factoring_begin(const bench_matrix *d, const bench_problem *p,
                                   bench_factoring *f) {
    const size_t n = (size_t)p->n;
    const shoal_symindef_opts opts = { .n = p->n,
                                       .type = p->type,
                                       .storage = p->storage,
                                       .triangle = p->triangle,
                                       .method = p->method,
                                       .variant = p->variant,
                                       .alpha = p->alpha,
                                       .growth = p->growth };
    *f = (bench_factoring){ .data = d,
                            .info = { .method = p->method, .variant = p->variant },
                            .interchanges = calloc(n + 1, sizeof *f->interchanges),
                            .permutation = calloc(n + 1, sizeof *f->permutation) };
    if (!f->interchanges || !f->permutation) return SHOAL_E_NOMEM;
    return shoal_symindef_create(d->place->ctx, &opts, &f->plan);
}

void bench_factoring_end(bench_factoring *f) {
    shoal_symindef_free(f->plan);
    free(f->interchanges);
    free(f->permutation);
}

shoal_status bench_factoring_call(bench_factoring *f) {
    const bench_matrix *d = f->data;
    const bench_device *device = d->place->device;
    if (fresh_copy(f) || device->start() || factor(f, 0)) return SHOAL_E_CUDA;
    if ((f->seconds = device->stop()) < 0) return SHOAL_E_CUDA;
    shoal_status status = shoal_symindef_last(f->plan, &f->info);
    if (status == SHOAL_OK)
        status = shoal_symindef_order(f->plan, f->interchanges, f->permutation, NULL);
    if (status == SHOAL_OK && d->bytes > 0)
        status = shoal_copy(d->place->ctx, d->answer, d->work, d->bytes);
    return status;
}

shoal_status bench_factoring_check(const bench_factoring *f, bool (*stop)(void),
                                   bench_check *check) {
    const bench_matrix *d = f->data;
    const bench_factors factors = { .type = d->problem.type,
                                    .n = d->problem.n,
                                    .whole = d->whole,
                                    .triangle = bench_triangle_of(&d->problem),
                                    .numbers = d->answer,
                                    .interchanges = f->interchanges,
                                    .permutation = f->permutation,
                                    .most = bench_symindef_bound(&d->problem),
                                    .info = &f->info,
                                    .threads = d->place->machine.threads,
                                    .stop = stop };
    return bench_symindef_check(&factors, check);
}

int bench_factoring_measure(bench_session *s, const bench_factoring *f, bench_stats *stats) {
    const bench_task task = {
        .prepare = fresh_copy, .call = factor, .self = (void *)f, .calls = 1
    };
    return bench_measure_long(s, f->data->place, &task, f->seconds, stats);
}

static int add_row(bench_session *s, const bench_factoring *f, const bench_problem *p, bool timed,
                   const bench_check *check) {
    const shoal_symindef_info *info = &f->info;
    char found[80], growth[32] = "", note[200];
    snprintf(found, sizeof found, "error %.2g by %lld vectors", check->max_residual,
             (long long)check->systems);
    if (info->growth > 0) snprintf(growth, sizeof growth, ", growth %.3g", info->growth);
    snprintf(note, sizeof note, "rank %lld, %lld + %lld pivots%s, max |M| %.4g",
             (long long)info->rank, (long long)info->pivots_1x1, (long long)info->pivots_2x2,
             growth, info->max_multiplier);
    const bench_solver ours = {
        .function = info->method,
        .variant = info->variant,
        .note = note,
        .found = found,
        .workspace = info->bytes,
        .first = f->seconds,
        .task = { .prepare = fresh_copy, .call = factor, .self = (void *)f, .calls = 1 }
    };
    return bench_add_row(s, p, f->data->place, &ours, check, timed && p->n > 0);
}

static int run(bench_session *s, bench_factoring *f, const bench_problem *p, bool timed) {
    bench_check check = { 0 };
    shoal_status status = bench_factoring_call(f);
    if (status == SHOAL_OK && bench_stopped(s)) return BENCH_STOPPED;
    if (status == SHOAL_OK) status = bench_factoring_check(f, s->rules.stop, &check);
    if (status == SHOAL_OK && bench_stopped(s)) return BENCH_STOPPED;
    if (status != SHOAL_OK) {
        check = bench_broken(f->data->place, status);
        f->info = (shoal_symindef_info){ .method = p->method, .variant = p->variant };
    }
    return add_row(s, f, p, timed, &check);
}

int bench_symindef_run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_matrix *d = of;
    bench_factoring f;
    const shoal_status status = bench_factoring_begin(d, p, &f);
    const int code =
        status == SHOAL_OK ? run(s, &f, p, timed) : bench_no_plan(s, p, d->place, status);
    bench_factoring_end(&f);
    return code;
}
