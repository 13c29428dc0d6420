/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.c - one problem of random numbers by one of Shoal's methods: filled, checked, timed.
 *
 * A call fills `count` numbers from address 0 on, each time into the next set, so that small
 * problems are not written into the cache over and over.
 */
#include "bench/rng.h"

#include <stdio.h>
#include <string.h>

typedef struct filler {
    shoal_rng *plan;
    const bench_numbers *numbers;
    const bench_problem *p;
} filler;

int64_t bench_numbers_of(const bench_problem *p) {
    return bench_rng_points(p) ? p->count * p->n : p->count;
}

bool bench_numbers_same(const bench_problem *p, const bench_problem *q) {
    return strcmp(p->method, q->method) == 0 && strcmp(p->backend, q->backend) == 0 &&
           p->type == q->type && p->layout == q->layout && p->n == q->n && p->count == q->count &&
           p->lambda == q->lambda && p->alpha == q->alpha && p->df == q->df && p->seed == q->seed;
}

int bench_numbers_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    bench_numbers *d = of;
    const size_t size = (size_t)bench_numbers_of(p) * bench_number_size(p);
    const size_t step = (size + BENCH_GUARD - 1) / BENCH_GUARD * BENCH_GUARD + 2 * BENCH_GUARD;
    if (d->memory && d->place == place && d->size == size) {
        d->problem = *p;
        return BENCH_OK;
    }
    bench_numbers_free(d);
    *d = (bench_numbers){ .problem = *p, .place = place, .size = size, .step = step };
    d->sets = bench_sets(place, size);
    const size_t inside = (size_t)d->sets * step;
    if (bench_room(s, place, inside, bench_on_cpu(place) ? inside : 0) != BENCH_OK)
        return BENCH_ERROR;
    shoal_status status = shoal_alloc(place->ctx, inside, (void **)&d->memory);
    if (status == SHOAL_OK) return BENCH_OK;
    return bench_error(s, status, "%s", shoal_message(place->ctx));
}

void bench_numbers_free(void *of) {
    bench_numbers *d = of;
    if (d->place) shoal_free(d->place->ctx, d->memory);
    *d = (bench_numbers){ 0 };
}

void *bench_numbers_at(const bench_numbers *d, int set) {
    return d->memory + (size_t)set * d->step + BENCH_GUARD;
}

shoal_status bench_rng_plan(shoal_context *ctx, const bench_problem *p, shoal_math math,
                            shoal_rng **plan) {
    const shoal_rng_opts opts = { .method = p->method,
                                  .variant = p->variant,
                                  .type = p->type,
                                  .math = math,
                                  .seed = p->seed,
                                  .alpha = p->alpha,
                                  .lambda = p->lambda,
                                  .df = p->df,
                                  .dimensions = bench_rng_points(p) ? p->n : 0,
                                  .layout = p->layout };
    return shoal_rng_create(ctx, &opts, plan);
}

shoal_status bench_rng_fill(shoal_rng *plan, const bench_problem *p, uint64_t first, int64_t count,
                            void *out) {
    if (p->fixed_type) return shoal_rng_fillu(plan, first, count, out);
    if (p->type == SHOAL_F32) return shoal_rng_fillf(plan, first, count, out);
    return shoal_rng_fill(plan, first, count, out);
}

static int timed_call(void *self, int i) {
    const filler *f = self;
    void *out = bench_numbers_at(f->numbers, i % f->numbers->sets);
    return bench_rng_fill(f->plan, f->p, 0, f->p->count, out) == SHOAL_OK ? 0 : -1;
}

/* After Ctrl-C *check means nothing. */
static shoal_status verify(const bench_session *s, const filler *f, shoal_rng_info *info,
                           bench_check *check) {
    const bench_numbers *d = f->numbers;
    bench_rng_check_begin(check);
    shoal_status status = bench_rng_paint(d);
    if (status == SHOAL_OK)
        status = bench_rng_fill(f->plan, f->p, 0, f->p->count, bench_numbers_at(d, 0));
    if (status == SHOAL_OK) status = shoal_rng_last(f->plan, info);
    if (status != SHOAL_OK || bench_stopped(s)) return status;
    check->failed = info->failed;
    if (info->failed > 0)
        bench_rng_wrong(check, "%lld numbers have no value", (long long)info->failed);
    status = bench_rng_check_bits(s, d, f->p, f->plan, check);
    if (status == SHOAL_OK)
        status = bench_rng_check_law(s, d, bench_numbers_at(d, 0), f->p->layout, check);
    return status;
}

static int measure(bench_session *s, const filler *f, const shoal_rng_info *info,
                   const bench_check *check, bool timed) {
    char found[80];
    snprintf(found, sizeof found, "max difference %.2g over %lld numbers", check->max_residual,
             (long long)check->systems);
    const bench_solver ours = {
        .function = info->method,
        .variant = info->variant,
        .found = found,
        .workspace = info->bytes,
        .task = { .call = timed_call, .self = (void *)f, .calls = f->numbers->sets }
    };
    return bench_add_row(s, f->p, f->numbers->place, &ours, check, timed && f->p->count > 0);
}

int bench_rng_run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_numbers *d = of;
    shoal_context *ctx = d->place->ctx;
    filler f = { .numbers = d, .p = p };
    shoal_status status = bench_rng_plan(ctx, p, p->math, &f.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, d->place, status);
    shoal_rng_info info = { .method = p->method, .variant = p->variant };
    bench_check check;
    status = verify(s, &f, &info, &check);
    int code = status == SHOAL_OK && bench_stopped(s) ? BENCH_STOPPED : BENCH_OK;
    if (status != SHOAL_OK) check = bench_broken(d->place, status);
    if (code == BENCH_OK) code = measure(s, &f, &info, &check, timed);
    shoal_rng_free(f.plan);
    return code;
}
