/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - the exercise rule of a contract on one asset, without random numbers: what early exercise adds to the
 * European value, back from date to date on a grid of the Brownian motion B of the price,
 *
 *     P_i(B) = e^(-r (t_(i+1) - t_i)) E max(payoff - euro, P)_(i+1)(B + step),   P = 0 one date before the last,
 *
 * by the trapezoidal rule with the density of the step, which is exact to rounding for smooth functions. The premium
 * is smooth except at the boundary, where its slope jumps a little; the kink of the strike belongs to the European
 * value. The rule exercises between two prices: where the payoff is at least euro + P. At a date without exercise
 * there is no max, and no such prices.
 *
 * The grid has POINTS points per deviation of the shortest step, but of no step below maturity / MAX_STEPS. A step
 * whose deviation is less than a spacing has the weights of three points that have its mean and variance.
 *
 * Cost: 4 (REACH POINTS)^2 n^1.5 multiply-adds for n dates, up to MAX_STEPS.
 */
#include "core/loops.h"
#include "cva/values.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { POINTS = 8, REACH = 8 }; /* of the deviation of a step; deviations of the law on each side */
enum { MAX_STEPS = 1024 };

static double price_at(const cva_job *j, const cva_contract *c, const cva_rule *r, int64_t i,
                       double place) {
    const int64_t a = c->asset[0];
    const double b = r->start + r->step * place;
    return j->s0[a] * shoal_exp(j->sigma[a] * b + cva_drift(j, cva_between(j, 0, i), a));
}

/* What exercise at date i pays above the European value. */
static double excess(const cva_job *j, const cva_contract *c, double s, int64_t i) {
    const double b = cva_weight_in(c, 0) * s;
    const double strike = cva_strike_at(c, i), gain = c->form & CVA_DOWN ? strike - b : b - strike;
    if (!(gain > 0)) return -DBL_MAX;
    return gain - cva_line_value(j, c, s, i);
}

static int pays(const cva_job *j, const cva_contract *c, const cva_rule *r, int64_t i,
                double place) {
    return excess(j, c, price_at(j, c, r, i, place), i) >= cva_premium(r, i, place);
}

/* Between places `no` and `yes` exercise begins to pay: the price. */
static double boundary(const cva_job *j, const cva_contract *c, const cva_rule *r, int64_t i,
                       double no, double yes) {
    for (int step = 0; step < 50; step++) {
        const double middle = 0.5 * (no + yes);
        *(pays(j, c, r, i, middle) ? &yes : &no) = middle;
    }
    return price_at(j, c, r, i, yes);
}

/* The first run of points that exercise, from the lowest price; at the ends of the grid it has no end. */
static void make_interval(const cva_job *j, const cva_contract *c, const cva_rule *r, int64_t i,
                          double *to) {
    const int points = r->basis.points;
    int first = 0, end;
    while (first < points && !pays(j, c, r, i, first)) first++;
    for (end = first; end < points && pays(j, c, r, i, end);) end++;
    to[0] = first > 0 ? DBL_MAX : 0, to[1] = DBL_MAX; /* none, or all that are in the money */
    if (first == points) return;
    if (first > 0) to[0] = boundary(j, c, r, i, first - 1, first);
    if (end < points) to[1] = boundary(j, c, r, i, end, end - 1);
}

void shoal_cva_line_mean(const double *from, int points, double step, double dt, double discount,
                         double *to) {
    const int fine = dt > step * step, taps = fine ? (int)ceil(REACH * sqrt(dt) / step) : 1;
    const double side = 0.5 * dt / (step * step);
    double total = 0;
    for (int t = -taps; t <= taps; t++) total += shoal_exp(-0.5 * t * t * step * step / dt);
    for (int p = 0; p < points; p++) to[p] = 0;
    for (int t = -taps; t <= taps; t++) {
        const double coarse = t ? side : 1 - 2 * side;
        const double factor =
            discount * (fine ? shoal_exp(-0.5 * t * t * step * step / dt) / total : coarse);
        const int low = t < 0 ? (-t < points ? -t : points) : 0;         /* before it, from[0] */
        const int high = t > 0 ? (t < points ? points - t : 0) : points; /* from it on, the last */
        for (int p = 0; p < low; p++) to[p] += factor * from[0];
        for (int p = low; p < high; p++) to[p] += factor * from[p + t];
        for (int p = high; p < points; p++) to[p] += factor * from[points - 1];
    }
}

shoal_status shoal_cva_rule_room(shoal_cva *p, int64_t count, size_t size, void *to) {
    shoal_status s;
    LOOP_PRAGMA(omp critical(cva_rule_room))
    s = shoal_plan_host(&p->head, count, size, to);
    return s;
}

shoal_status shoal_cva_line_rule(shoal_cva *p, const cva_contract *c, cva_rule *to) {
    const cva_job *j = &p->job;
    const int64_t a = c->asset[0];
    const double whole = cva_clock(j, cva_rest(j, c, 0), a);
    double *numbers, *best, shortest = whole;
    for (int64_t i = 1; i <= c->last; i++)
        shortest = fmin(shortest, cva_clock(j, cva_between(j, i - 1, i), a));
    shortest = fmax(shortest, whole / MAX_STEPS);
    cva_rule r = { .basis = { .kind = CVA_LINE }, .step = sqrt(shortest) / POINTS };
    const int half = (int)ceil(REACH * sqrt(whole) / r.step);
    r.basis.points = 2 * half + 1, r.start = -half * r.step;
    const int each = cva_rule_numbers(&r.basis);
    shoal_status s = shoal_cva_rule_room(p, (c->last - 1) * each, sizeof *numbers, &numbers);
    if (s == SHOAL_OK) s = shoal_cva_rule_room(p, r.basis.points, sizeof *best, &best);
    if (s != SHOAL_OK) return s;
    r.at = numbers;
    for (int64_t i = c->last - 1; i > 0; i--) {
        if (shoal_is_cancelled(p->head.ctx, c->last - 1 - i, c->last)) return SHOAL_E_CANCELLED;
        double *here = numbers + (i - 1) * each, *going_on = here + 2;
        const cva_span step = cva_between(j, i, i + 1);
        if (i < c->last - 1)
            shoal_cva_line_mean(best, r.basis.points, r.step, cva_clock(j, step, a),
                                cva_discount_over(j, step), going_on);
        here[0] = here[1] = DBL_MAX;
        memcpy(best, going_on, (size_t)r.basis.points * sizeof *best);
        if (!c->may[i - 1]) continue;
        make_interval(j, c, &r, i, here);
        for (int at = 0; at < r.basis.points; at++)
            best[at] = fmax(going_on[at], excess(j, c, price_at(j, c, &r, i, at), i));
    }
    if (c->last > 1) {
        double *now;
        s = shoal_cva_rule_room(p, r.basis.points, sizeof *now, &now);
        if (s != SHOAL_OK) return s;
        const cva_span step = cva_between(j, 0, 1);
        shoal_cva_line_mean(best, r.basis.points, r.step, cva_clock(j, step, a),
                            cva_discount_over(j, step), now);
        r.today = now[half];
    }
    *to = r;
    return SHOAL_OK;
}
