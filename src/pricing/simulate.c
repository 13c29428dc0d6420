/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate.c - simulations in rounds: until the paths are done, the standard errors are reached,
 * or the caller ends them; and prices in one call.
 *
 * Rounds are units of samples. The clock decides how many at a time; the result does not depend
 * on that, since units are added in their order. Standard errors are compared with the goal
 * after 1, 2, 4, ... units, then where the last comparison expects them to be reached: the
 * number of paths does not depend on the clock either. As long as no path has paid, 0 +- 0 is no
 * estimate: such a value counts as reached once its bound is, or after UNPAID_PATHS paths.
 */
#include "pricing/plan.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { UNIT = SHOAL_PRICE_UNIT, MAX_AT_ONCE = 1024 };
enum { MAX_NUMBERS = 1 << 23 };  /* sums of a round, unless one unit has more */
enum { UNPAID_PATHS = 1 << 22 }; /* after which no more are waited for to pay */

typedef struct simulation {
    shoal_price *plan;
    const shoal_price_goal *goal;
    shoal_price_value *values;
    shoal_price_progress now;
    int64_t end;           /* behind the last sample                            */
    int64_t most, at_once; /* units of a round: at most, and now                */
    double *total, *host;  /* host: sums of one round; `sums` where it is run   */
    void *sums;
    int over; /* the caller has ended it */
} simulation;

double shoal_price_seconds(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t contracts(const shoal_price *p) { return p->groups * p->strike_count; }

/* The samples of the goal, or those of its part: whole units. */
static void choose_samples(simulation *s) {
    const shoal_price_goal *g = s->goal;
    const int64_t samples = g->target > 0
                                ? SHOAL_PRICE_MOST
                                : g->paths / s->plan->signs + (g->paths % s->plan->signs > 0);
    const int64_t units = samples / UNIT + (samples % UNIT > 0), parts = g->parts ? g->parts : 1;
    const int64_t part = g->parts ? g->part : 1;
    const int64_t end = (units / parts * part + units % parts * part / parts) * UNIT;
    s->now.first = (units / parts * (part - 1) + units % parts * (part - 1) / parts) * UNIT;
    s->end = end < samples ? end : samples;
    s->now.expected = s->end - s->now.first;
}

static shoal_status check(shoal_price *p, const shoal_price_goal *g, const void *values) {
    const shoal_array given[] = { { "goal", g, 0 }, { "values", values, 0 } };
    const shoal_status s = shoal_check_pointers(p->head.ctx, given, 2);
    if (s != SHOAL_OK || p->formula) return s;
    if (!(g->target >= 0 && g->target < INFINITY))
        return shoal_fail(p->head.ctx, SHOAL_E_ARG, "target is %g; it must be at least 0",
                          g->target);
    if (g->target == 0 && (g->paths < 1 || g->paths > SHOAL_PRICE_MOST))
        return shoal_fail(p->head.ctx, SHOAL_E_ARG, "paths is %lld; it must be from 1 to %lld",
                          (long long)g->paths, (long long)SHOAL_PRICE_MOST);
    if (g->parts < 0)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG, "parts is %lld; it must be at least 0",
                          (long long)g->parts);
    if (g->parts > 0 && (g->part < 1 || g->part > g->parts))
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "part is %lld; it must be 1 to %lld, the number of parts",
                          (long long)g->part, (long long)g->parts);
    if (g->parts > 0 && g->target > 0)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG, "parts is %lld; with a target it must be 0",
                          (long long)g->parts);
    return SHOAL_OK;
}

static shoal_status begin(simulation *s) {
    shoal_price *p = s->plan;
    const int64_t width = shoal_price_width(p);
    choose_samples(s);
    s->most = width > 0 ? MAX_NUMBERS / width : 1;
    if (s->most > MAX_AT_ONCE) s->most = MAX_AT_ONCE;
    if (s->most > s->now.expected / UNIT) s->most = s->now.expected / UNIT + 1;
    if (s->most < 1) s->most = 1;
    s->at_once = 1;
    s->total = calloc((size_t)(2 * width) + 1, sizeof *s->total);
    s->host = calloc((size_t)(s->most * width) + 1, sizeof *s->host);
    if (!s->total || !s->host)
        return shoal_fail(p->head.ctx, SHOAL_E_NOMEM,
                          "not enough memory: a unit of paths has %lld sums", (long long)width);
    return shoal_alloc(p->head.ctx, (size_t)(s->most * width) * sizeof(double), &s->sums);
}

/* Values of which no path paid anything, and with a bound above this. */
static int64_t unpaid(const simulation *s, double above) {
    int64_t count = 0;
    for (int64_t i = 0; i < contracts(s->plan); i++) count += s->values[i].bound > above;
    return count;
}

static double largest_error(const simulation *s) {
    double most = 0;
    for (int64_t i = 0; i < contracts(s->plan); i++)
        if (!(s->values[i].error <= most)) most = s->values[i].error;
    return most;
}

/* Whether the standard errors are reached. */
static int reached(const simulation *s) {
    const int64_t paths = s->now.samples * s->plan->signs;
    const int64_t each = s->plan->separate ? contracts(s->plan) : 1;
    if (!(largest_error(s) <= s->goal->target)) return 0;
    return paths >= UNPAID_PATHS / each || unpaid(s, s->goal->target) == 0;
}

static void show(simulation *s) {
    if (s->goal->on_round) s->over = s->goal->on_round(&s->now, s->goal->user) != 0;
    s->now.units = 0, s->now.sums = NULL, s->now.values = NULL;
}

/* One round. */
static shoal_status advance(simulation *s, int64_t to) {
    shoal_price *p = s->plan;
    const double start = shoal_price_seconds();
    const int64_t from = s->now.first + s->now.samples, most = s->at_once * UNIT;
    const int64_t here = to - from < most ? to - from : most;
    const int64_t numbers = shoal_price_sums(p, here);
    shoal_status status = shoal_price_run(p, from, here, s->sums);
    if (status == SHOAL_OK)
        status = shoal_copy(p->head.ctx, s->host, s->sums, (size_t)numbers * sizeof(double));
    if (status == SHOAL_OK) status = shoal_price_add(p, s->host, here, s->total);
    if (status != SHOAL_OK) return status;
    const double took = shoal_price_seconds() - start;
    s->now.seconds += took;
    s->now.samples += here;
    s->now.units = here / UNIT + (here % UNIT > 0);
    s->now.sums = s->host;
    if (took < 0.1) s->at_once = 2 * s->at_once < s->most ? 2 * s->at_once : s->most;
    return SHOAL_OK;
}

static shoal_status look(simulation *s) {
    const shoal_status status = shoal_price_result(s->plan, s->total, s->now.samples, s->values);
    if (status != SHOAL_OK) return status;
    s->now.values = s->values;
    s->now.unpaid = unpaid(s, 0);
    if (s->goal->target > 0) { /* how far it is, as the square of the errors says */
        const double ratio = largest_error(s) / s->goal->target;
        const double all = (double)s->now.samples * ratio * ratio;
        s->now.expected = all < 9e18 ? (int64_t)all + 1 : INT64_MAX;
    }
    return SHOAL_OK;
}

/* Where to look next: twice as far, or, once the error is known well, where it should be reached. */
static int64_t next_look(const simulation *s) {
    const int64_t units = s->now.samples / UNIT;
    int64_t next = units ? 2 * units : 1;
    if (s->goal->target > 0 && units >= 4) {
        const double ratio = largest_error(s) / s->goal->target;
        const double guess = ceil((double)units * ratio * ratio * 1.01);
        next = guess > (double)(8 * units) ? 8 * units : (int64_t)guess;
        if (next <= units) next = unpaid(s, s->goal->target) > 0 ? 2 * units : units + 1;
    }
    return next > (s->end - s->now.first) / UNIT ? s->end : s->now.first + next * UNIT;
}

static shoal_status walk(simulation *s) {
    shoal_context *ctx = s->plan->head.ctx;
    const shoal_stage stage = shoal_stage_begin(ctx, "paths");
    shoal_status status = SHOAL_OK;
    while (status == SHOAL_OK && !s->over && s->now.first + s->now.samples < s->end) {
        const int64_t next = next_look(s);
        while (status == SHOAL_OK && !s->over && s->now.first + s->now.samples < next) {
            status = shoal_stage_step(ctx, &stage, (double)s->now.samples,
                                      (double)(s->now.samples + s->at_once * UNIT),
                                      (double)s->now.expected);
            if (status == SHOAL_OK) status = advance(s, next);
            if (status == SHOAL_OK && s->now.first + s->now.samples == next) status = look(s);
            if (status == SHOAL_OK) show(s);
        }
        if (status == SHOAL_OK && !s->over && s->goal->target > 0 && reached(s)) break;
    }
    status = shoal_stage_end(ctx, &stage, status);
    if ((status != SHOAL_OK && status != SHOAL_E_CANCELLED) || s->now.samples == 0) return status;
    const shoal_status looked = look(s); /* it may be ended between two */
    return status == SHOAL_OK ? looked : status;
}

shoal_status shoal_price_simulate(shoal_price *plan, const shoal_price_goal *goal,
                                  shoal_price_value *values, shoal_price_progress *done) {
    if (!plan) return SHOAL_E_ARG;
    simulation s = { .plan = plan, .goal = goal, .values = values };
    shoal_status status = check(plan, goal, values);
    const double start = shoal_price_seconds();
    if (status == SHOAL_OK && plan->formula) {
        status = shoal_price_result(plan, NULL, 0, values);
        s.now.seconds = shoal_price_seconds() - start;
    } else if (status == SHOAL_OK) {
        for (int64_t i = 0; i < contracts(plan); i++)
            values[i] =
                (shoal_price_value){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
        status = begin(&s);
        if (status == SHOAL_OK) status = walk(&s);
        free(s.total);
        free(s.host);
        shoal_free(plan->head.ctx, s.sums);
    }
    s.now.units = 0, s.now.sums = NULL, s.now.values = values;
    if (done) *done = s.now;
    return status;
}

/* ---- a price in one call ----------------------------------------------------------------------- */

shoal_status shoal_price_once(shoal_status created, shoal_price **plan,
                              const shoal_price_goal *goal, shoal_price_value *values) {
    const shoal_status status =
        created == SHOAL_OK ? shoal_price_simulate(*plan, goal, values, NULL) : created;
    shoal_price_free(*plan);
    return status;
}
