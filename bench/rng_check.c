/* SPDX-License-Identifier: Apache-2.0
 *
 * rng_check.c - are numbers those of their addresses, and is nothing else written?
 *
 * The numbers of set 0, which one fill has made, are compared with two others:
 *
 *     pieces      the same plan, in pieces of odd lengths that begin anywhere in memory, at the
 *                 first and the last address and some between: the bits do not depend on the cuts
 *     reference   a CPU context at the lowest instruction level: the bits do not depend on the
 *                 device. All numbers, or WINDOWS windows of WINDOW numbers, spread evenly
 *
 * Numbers of SHOAL_FAST are compared with the reference's exact ones. The GPU's logarithm is wrong
 * by LOG_ERROR = 2^-21.4 near 1 (CUDA's manual), so that the square of Box-Muller's radius r is
 * by twice that: a normal z, |z| <= r, may be off by 1e-5 and by the least of the square root
 * of 2 LOG_ERROR and 2 LOG_ERROR / |z|.
 */
#include "bench/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1 << 18, WINDOWS = 16, PLACES = 8, PIECE = 1001 };
static const double LOG_ERROR = 3.6e-7;

typedef struct comparison {
    const bench_session *s;
    const bench_numbers *d;
    const bench_problem *p;
    shoal_rng *plan;
    void *there;         /* a piece, in the context's memory      */
    char *ours, *theirs; /* WINDOW numbers or a point, on the host */
    bench_check *check;
} comparison;

static int64_t each(const bench_problem *p) { return bench_rng_points(p) ? p->n : 1; }

static double allowed(const bench_problem *p, double exact) {
    if (p->math != SHOAL_FAST) return 0;
    const double r2 = 2 * LOG_ERROR;
    return 1e-5 + fmin(sqrt(r2), r2 / fabs(exact));
}

shoal_status bench_rng_paint(const bench_numbers *d) {
    const size_t chunk = (size_t)1 << 22;
    char *nan = malloc(chunk); /* NaN in either precision */
    if (!nan) return SHOAL_E_NOMEM;
    memset(nan, 0xff, chunk);
    shoal_status status = SHOAL_OK;
    for (size_t at = 0; at < d->step && status == SHOAL_OK; at += chunk)
        status = shoal_copy(d->place->ctx, d->memory + at, nan,
                            d->step - at < chunk ? d->step - at : chunk);
    free(nan);
    return status;
}

static shoal_status check_guards(const bench_numbers *d, bench_check *check) {
    unsigned char guard[2 * BENCH_GUARD]; /* the one before, and all there is behind */
    const size_t behind = d->step - BENCH_GUARD - d->size;
    const size_t tail = behind < BENCH_GUARD ? behind : BENCH_GUARD;
    shoal_status status = shoal_copy(d->place->ctx, guard, d->memory, BENCH_GUARD);
    if (status == SHOAL_OK)
        status =
            shoal_copy(d->place->ctx, guard + BENCH_GUARD, d->memory + BENCH_GUARD + d->size, tail);
    size_t touched = 0;
    for (size_t i = 0; i < BENCH_GUARD + tail && status == SHOAL_OK; i++)
        touched += guard[i] != 0xff;
    if (touched > 0) bench_rng_wrong(check, "%zu bytes outside the array are written", touched);
    return status;
}

/* Points first .. first + count - 1 of the array in set 0, as a fill of them alone lays them out. */
static shoal_status bring_home(const comparison *c, int64_t first, int64_t count, char *to) {
    const bench_problem *p = c->p;
    const size_t size = bench_number_size(p);
    const bool apart = bench_rng_points(p) && p->layout == SHOAL_INTERLEAVED;
    const int64_t rows = apart ? p->n : 1, numbers = apart ? count : count * each(p);
    const char *from = bench_numbers_at(c->d, 0);
    shoal_status status = SHOAL_OK;
    for (int64_t r = 0; r < rows && status == SHOAL_OK; r++) {
        const int64_t at = apart ? r * p->count + first : first * each(p);
        status = shoal_copy(c->d->place->ctx, to + (size_t)(r * numbers) * size,
                            from + (size_t)at * size, (size_t)numbers * size);
    }
    return status;
}

static double number(const bench_problem *p, const void *array, int64_t i) {
    if (p->fixed_type) return (double)((const uint32_t *)array)[i];
    return p->type == SHOAL_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

/* c->ours against c->theirs, points from `first` on; true if there was no difference too large. */
static bool compare(const comparison *c, const char *with, int64_t first, int64_t count,
                    double *largest) {
    const size_t size = bench_number_size(c->p);
    const int64_t numbers = count * each(c->p);
    if (memcmp(c->ours, c->theirs, (size_t)numbers * size) == 0) return true;
    for (int64_t i = 0; i < numbers; i++) {
        if (memcmp(c->ours + (size_t)i * size, c->theirs + (size_t)i * size, size) == 0) continue;
        const double a = number(c->p, c->ours, i), b = number(c->p, c->theirs, i);
        const double difference = fabs(a - b);
        if (!(difference <= *largest)) *largest = difference;
        if (c->p->math == SHOAL_FAST && difference <= allowed(c->p, b)) continue;
        bench_rng_wrong(c->check, "among %lld .. %lld: %s gives %.9g instead of %.9g",
                        (long long)first, (long long)(first + count - 1), with, b, a);
        return false;
    }
    return true;
}

/* Four pieces from `first` on, their lengths odd and their places in memory too. */
static shoal_status check_pieces(const comparison *c, int64_t first) {
    static const int64_t lengths[] = { 1, 7, 255, PIECE };
    const size_t size = bench_number_size(c->p);
    double largest = 0; /* not told: the reference's is */
    shoal_status status = SHOAL_OK;
    for (int i = 0; i < 4 && status == SHOAL_OK && first < c->p->count; i++) {
        int64_t count = WINDOW / each(c->p) < lengths[i] ? 1 : lengths[i];
        if (c->p->count - first < count) count = c->p->count - first;
        char *there = (char *)c->there + size;
        status = bench_rng_fill(c->plan, c->p, (uint64_t)first, count, there);
        if (status == SHOAL_OK) status = shoal_wait(c->d->place->ctx);
        if (status == SHOAL_OK)
            status =
                shoal_copy(c->d->place->ctx, c->theirs, there, (size_t)(count * each(c->p)) * size);
        if (status == SHOAL_OK) status = bring_home(c, first, count, c->ours);
        if (status == SHOAL_OK && !compare(c, "a fill in pieces", first, count, &largest)) break;
        first += count;
    }
    return status;
}

/* At the first address, at the last, and between, where no multiple of anything is. */
static shoal_status check_places(const comparison *c) {
    const int64_t room = 1 + 7 + 255 + PIECE, last = c->p->count > room ? c->p->count - room : 0;
    shoal_status status = SHOAL_OK;
    for (int64_t i = 0; i < PLACES && status == SHOAL_OK && !bench_stopped(c->s); i++) {
        if (i > 0 && last == 0) break;
        status = check_pieces(c, (int64_t)((double)last * (double)i / (PLACES - 1)));
    }
    return status;
}

static shoal_status check_reference(const comparison *c) {
    const int64_t points = c->p->count;
    const int64_t width = WINDOW / each(c->p) > 0 ? WINDOW / each(c->p) : 1;
    const int64_t all = (points + width - 1) / width, windows = all < WINDOWS ? all : WINDOWS;
    shoal_context *cpu = NULL;
    shoal_rng *plan = NULL;
    shoal_status status = shoal_open(&(shoal_options){ .backend = "cpu",
                                                       .isa = shoal_isa(0),
                                                       .threads = c->d->place->machine.threads },
                                     &cpu);
    if (status == SHOAL_OK) status = bench_rng_plan(cpu, c->p, SHOAL_EXACT, &plan);
    for (int64_t i = 0; i < windows && status == SHOAL_OK && !bench_stopped(c->s); i++) {
        const int64_t last = points - width > 0 ? points - width : 0;
        const int64_t first =
            all <= WINDOWS ? i * width : (int64_t)((double)last * (double)i / (WINDOWS - 1));
        const int64_t count = points - first < width ? points - first : width;
        status = bench_rng_fill(plan, c->p, (uint64_t)first, count, c->theirs);
        if (status == SHOAL_OK) status = bring_home(c, first, count, c->ours);
        if (status != SHOAL_OK) break;
        c->check->systems += count * each(c->p);
        if (!compare(c, "the CPU", first, count, &c->check->max_residual)) break;
    }
    shoal_rng_free(plan);
    shoal_close(cpu);
    return status;
}

shoal_status bench_rng_check_bits(const bench_session *s, const bench_numbers *d,
                                  const bench_problem *p, shoal_rng *plan, bench_check *check) {
    comparison c = { .s = s, .d = d, .p = p, .plan = plan, .check = check };
    const int64_t most = each(p) > WINDOW ? each(p) : WINDOW;
    const size_t bytes = (size_t)(most + 1) * sizeof(double);
    check->tolerance = allowed(p, 0);
    c.ours = malloc(bytes);
    c.theirs = malloc(bytes);
    shoal_status status = c.ours && c.theirs ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_alloc(d->place->ctx, bytes, &c.there);
    if (status == SHOAL_OK) status = check_guards(d, check);
    if (status == SHOAL_OK && p->count > 0) status = check_places(&c);
    if (status == SHOAL_OK && p->count > 0) status = check_reference(&c);
    shoal_free(d->place->ctx, c.there);
    free(c.ours);
    free(c.theirs);
    return status;
}
