/* SPDX-License-Identifier: Apache-2.0
 *
 * dates.c - the dates of a plan, one ascending list, made from
 *
 *     the dates of exposure that the options give, and the horizon,
 *     the maturities, which are dates of exposure up to the horizon,
 *     the dates of exercise: of a contract's own list, or the given dates of exposure up to its maturity, and beyond
 *     the last of them, in steps as long as the last one,
 *     the dates of margin calls, a margin period before each date of exposure (margin.c),
 *     the knots of the volatilities (curves.c) before the last of all these,
 *     with Heston's model dates between them, so that steps of variances are short.
 *
 * The maturity of one contract adds no date of exercise to another. Outer paths go through all dates up to the
 * horizon. Inner paths go only to dates at which some contract may be exercised and to knots, the stops.
 */
#include "cva/plan.h"
#include <math.h>
#include <stdlib.h>

enum {
    EXPOSED = 1,
    REGULAR = 2,
    STOP = 4,
    KNOT = 8
}; /* REGULAR: of exercise, without an own list */
enum { MAX_EXERCISES = 1 << 20 };
enum { INNER = 64 }; /* inner paths, if the number of outer ones is to be chosen */

typedef struct moment {
    double time;
    int flags;
} moment;

typedef struct moments {
    moment *at;
    int64_t count;
} moments;

static void add(moments *m, double time, int flags) { m->at[m->count++] = (moment){ time, flags }; }

static int by_time(const void *a, const void *b) {
    const double x = ((const moment *)a)->time, y = ((const moment *)b)->time;
    return (x > y) - (x < y);
}

static double given_time(const cva_job *j, const shoal_cva_opts *o, int64_t i) {
    return o->time ? o->time[i] : j->horizon * (double)(i + 1) / (double)o->dates;
}

/* The last date of exposure: as given, or the last maturity or date. */
static double horizon_of(const cva_job *j, const shoal_cva_opts *o) {
    double last = o->time ? o->time[o->dates - 1] : 0;
    if (o->horizon > 0) return o->horizon;
    for (int64_t i = 0; i < j->contracts; i++)
        if (j->contract[i].kind != CVA_EXPIRED) last = fmax(last, j->contract[i].maturity);
    return last;
}

/* Whether a contract has dates before its maturity: of exercise, or fixings of a mean. */
static int has_dates(const cva_contract *c) {
    return c->kind == CVA_AMERICAN || (c->form & CVA_MEAN && c->kind != CVA_EXPIRED);
}

/* Dates of exercise without an own list, beyond the last date of exposure that is given: how many, and their step. */
static int64_t count_beyond(const cva_job *j, const shoal_cva_contract *from,
                            const shoal_cva_opts *o, double *step) {
    const double end = given_time(j, o, o->dates - 1);
    double last = 0;
    *step = o->dates > 1 ? end - given_time(j, o, o->dates - 2) : end;
    for (int64_t i = 0; i < j->contracts; i++)
        if (has_dates(&j->contract[i]) && !from[i].exercises && !from[i].fixings)
            last = fmax(last, j->contract[i].maturity);
    if (!(last > end)) return 0;
    const double count = ceil((last - end) / *step * (1 - CVA_SAME)) - 1;
    return count > MAX_EXERCISES ? MAX_EXERCISES + 1 : (int64_t)count;
}

static void gather(const cva_job *j, const shoal_cva_contract *from, const shoal_cva_opts *o,
                   int64_t beyond, double step, moments *m) {
    for (int64_t i = 0; i < o->dates; i++) add(m, given_time(j, o, i), EXPOSED | REGULAR);
    for (int64_t i = 1; i <= beyond; i++)
        add(m, given_time(j, o, o->dates - 1) + (double)i * step, REGULAR);
    add(m, j->horizon, EXPOSED);
    for (int64_t i = 0; i < j->contracts; i++) {
        const cva_contract *c = &j->contract[i];
        const int exposed = c->maturity <= j->horizon * (1 + CVA_SAME) ? EXPOSED : 0;
        if (c->kind != CVA_EXPIRED && (exposed || has_dates(c))) add(m, c->maturity, exposed);
        for (int64_t e = 0; c->kind == CVA_AMERICAN && e < from[i].exercises; e++)
            add(m, from[i].exercise[e], 0);
        for (int64_t e = 0; c->kind != CVA_EXPIRED && e < from[i].fixings; e++)
            add(m, from[i].fixing[e], 0);
    }
}

static void add_knots(const shoal_cva_market *market, double *room, moments *m) {
    double last = 0;
    for (int64_t i = 0; i < m->count; i++) last = fmax(last, m->at[i].time);
    const int64_t count = shoal_cva_knots(market, last, room);
    for (int64_t i = 0; i < count; i++) add(m, room[i], KNOT);
}

/* Ascending, and each once. */
static void merge(moments *m) {
    int64_t kept = 0;
    qsort(m->at, (size_t)m->count, sizeof *m->at, by_time);
    for (int64_t i = 1; i < m->count; i++) {
        const moment *next = &m->at[i];
        if (next->time - m->at[kept].time <= CVA_SAME * next->time)
            m->at[kept].flags |= next->flags;
        else
            m->at[++kept] = *next;
    }
    m->count = kept + 1;
}

static void add_calls(const cva_job *j, const double *period, moments *m) {
    const int64_t count = m->count;
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < j->periods && m->at[k].flags & EXPOSED; i++) {
            const double t = shoal_cva_call_time(m->at[k].time, period[i]);
            if (t > 0) add(m, t, 0);
        }
    merge(m);
}

/* Dates in between, so that no step is longer than `most`. */
static int add_steps(double most, moments *m) {
    double before = 0;
    int64_t count = m->count;
    for (int64_t k = 0; k < m->count; before = m->at[k++].time) {
        const double steps = ceil((m->at[k].time - before) / most * (1 - CVA_SAME));
        if (steps > 1) count += steps < MAX_EXERCISES ? (int64_t)steps : (int64_t)MAX_EXERCISES;
        if (count > MAX_EXERCISES) return 0;
    }
    moment *at = realloc(m->at, (size_t)(count + 1) * sizeof *at);
    if (!at) return 0;
    m->at = at, count = m->count, before = 0;
    for (int64_t k = 0; k < count; before = at[k++].time) {
        const double length = at[k].time - before;
        const int64_t steps = (int64_t)ceil(length / most * (1 - CVA_SAME));
        for (int64_t i = 1; i < steps; i++) add(m, before + (double)i / (double)steps * length, 0);
    }
    merge(m);
    return 1;
}

double shoal_cva_call_time(double exposure, double period) {
    const double t = exposure - period;
    return t > CVA_SAME * exposure ? t : 0;
}

int64_t shoal_cva_date_of(const cva_job *j, double time) {
    int64_t first = 1, end = j->dates;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (j->time[middle] < time * (1 - CVA_SAME))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The last date of a contract on a mean, and its fixings. */
static shoal_status make_fixings(shoal_cva *p, const shoal_cva_contract *from, const char *regular,
                                 cva_contract *c) {
    const cva_job *j = &p->job;
    char *own;
    c->last = shoal_cva_date_of(j, c->maturity);
    const shoal_status s = shoal_plan_host(&p->head, c->last, 1, &own);
    if (s != SHOAL_OK) return s;
    for (int64_t k = 0; k < c->last && !from->fixings; k++) own[k] = regular[k] || k == c->last - 1;
    for (int64_t e = 0; e < from->fixings; e++) own[shoal_cva_date_of(j, from->fixing[e]) - 1] = 1;
    c->fixes = own;
    return s;
}

/* The last date of each contract, and the dates at which it may be exercised. */
static shoal_status make_exercise(shoal_cva *p, const shoal_cva_contract *from, moments *m) {
    const cva_job *j = &p->job;
    char *regular;
    int64_t last = 0;
    shoal_status s = shoal_plan_host(&p->head, m->count, 1, &regular);
    for (int64_t k = 0; k < m->count && s == SHOAL_OK; k++)
        regular[k] = (m->at[k].flags & REGULAR) != 0;
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        cva_contract *c = &p->contracts[i];
        char *own;
        if (c->kind == CVA_CLOSED && c->form & CVA_MEAN) s = make_fixings(p, &from[i], regular, c);
        if (c->kind != CVA_AMERICAN) continue;
        c->last = shoal_cva_date_of(j, c->maturity), c->may = regular;
        if (from[i].exercises) {
            s = shoal_plan_host(&p->head, c->last, 1, &own);
            for (int64_t e = 0; e < from[i].exercises && s == SHOAL_OK; e++)
                own[shoal_cva_date_of(j, from[i].exercise[e]) - 1] = 1;
            c->may = own;
        }
        for (int64_t k = 0; k < c->last && s == SHOAL_OK; k++)
            if (c->may[k] || k == c->last - 1) m->at[k].flags |= STOP;
        last = c->last > last ? c->last : last;
    }
    for (int64_t k = 0; k < last; k++)
        if (m->at[k].flags & KNOT || j->hestons) m->at[k].flags |= STOP;
    return s;
}

/* The lists of exposures and stops, and inner paths: of a date that was not given, those of the next one that was. */
static void fill(cva_job *j, const shoal_cva_opts *o, const moments *m, int64_t *exposure,
                 int64_t *exposed, int64_t *stop, int64_t *inner) {
    const int64_t root = o->outer ? (int64_t)ceil(sqrt((double)o->outer)) : INNER;
    int64_t given = 0;
    for (int64_t k = 1; k <= j->dates; k++) {
        const int flags = m->at[k - 1].flags;
        exposure[k - 1] = flags & EXPOSED ? j->exposures : -1;
        if (flags & STOP) stop[j->stops++] = k;
        if (!(flags & EXPOSED)) continue;
        while (given < o->dates - 1 && given_time(j, o, given) < j->time[k] * (1 - CVA_SAME))
            given++;
        const int64_t n = o->inner_count ? o->inner[o->inner_count > 1 ? given : 0] : root;
        exposed[j->exposures] = k, inner[j->exposures++] = (n + 1) / 2 * 2; /* halves */
    }
}

static shoal_status make_lists(shoal_cva *p, const shoal_cva_contract *from,
                               const shoal_cva_opts *o, moments *m) {
    cva_job *j = &p->job;
    double *time;
    int64_t *list, exposures = 0;
    for (int64_t k = 0; k < m->count; k++) exposures += m->at[k].flags & EXPOSED;
    if (exposures > SHOAL_CVA_DATES)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "dates is %lld with all maturities; it must be at most %d",
                          (long long)exposures, SHOAL_CVA_DATES);
    shoal_status s = shoal_plan_host(&p->head, m->count + 1, sizeof *time, &time);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, 4 * m->count, sizeof *list, &list);
    if (s != SHOAL_OK) return s;
    for (int64_t k = 0; k < m->count; k++) time[k + 1] = m->at[k].time;
    j->time = time, j->dates = m->count;
    j->exposure = list, j->exposed = list + m->count;
    j->stop = list + 2 * m->count, j->inner = list + 3 * m->count;
    s = make_exercise(p, from, m);
    if (s == SHOAL_OK)
        fill(j, o, m, list, list + m->count, list + 2 * m->count, list + 3 * m->count);
    return s;
}

shoal_status shoal_cva_make_dates(shoal_cva *p, const shoal_cva_market *market,
                                  const shoal_cva_contract *from, const shoal_cva_opts *o) {
    cva_job *j = &p->job;
    double step;
    j->horizon = horizon_of(j, o);
    if (given_time(j, o, o->dates - 1) > j->horizon * (1 + CVA_SAME))
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "time[%lld] is %g; it must be at most the horizon, %g",
                          (long long)o->dates - 1, o->time[o->dates - 1], j->horizon);
    const int64_t beyond = count_beyond(j, from, o, &step);
    if (beyond > MAX_EXERCISES)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "dates: a step of %g years makes more than %d dates of exercise", step,
                          MAX_EXERCISES);
    const int64_t knots = shoal_cva_knots(market, 0, NULL);
    int64_t most = o->dates + beyond + 1 + j->contracts + knots;
    for (int64_t i = 0; i < j->contracts; i++) most += from[i].exercises + from[i].fixings;
    most += j->periods * (o->dates + 1 + j->contracts);
    moments m = { malloc((size_t)most * sizeof *m.at), 0 };
    double *room = malloc((size_t)(knots + 1) * sizeof *room);
    shoal_status s = SHOAL_OK;
    if (!m.at || !room) s = SHOAL_NO_MEMORY(p->head.ctx, "dates");
    if (s == SHOAL_OK) {
        gather(j, from, o, beyond, step, &m);
        merge(&m);
        add_calls(j, p->period, &m);
        add_knots(market, room, &m);
        merge(&m);
        if (j->hestons && !add_steps(CVA_HESTON_STEP, &m))
            s = SHOAL_NO_MEMORY(p->head.ctx, "dates");
        if (s == SHOAL_OK) s = make_lists(p, from, o, &m);
    }
    free(m.at), free(room);
    return s;
}
