/* SPDX-License-Identifier: Apache-2.0
 *
 * tangent.c - how the rule of a contract on one asset (line.c) depends on the market: derivatives of its premium P at a
 * price S that stays, and of the prices at which it exercises, by all parameters of rate, growth and volatility.
 *
 * With R, g and v the integrals of rate, growth and variance over the step from date i to the next one, x = log S, and
 * m = max(payoff - euro, P) there, the premium is P_i(x) = e^-R E m(x + g - v / 2 + sqrt(v) Z). So
 *
 *     dP_i = -P_i dR + P_i' dg + (P_i'' - P_i') dv / 2 + e^-R E dm,   dm = -d euro where exercise pays, else dP,
 *
 * since the mean of m'' is P'': the heat equation. dm jumps at the boundary, so that a point whose cell the boundary
 * cuts has the mean of both. At the boundary b of date i payoff = hold, hence with both slopes by x
 *
 *     d log b = d hold / (payoff' - hold').
 *
 * Cost: that of the rule, times the parameters.
 */
#include "cva/values.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
    const cva_job *job;
    const cva_contract *contract;
    const cva_rule *rule;
    int64_t used, columns;
    const int64_t *to; /* [column]: its parameter                               */
    const double *
        rate; /* [slot][column]: derivatives of the integrals, or with a flat market of the numbers */
    const double *growth, *variance;
} maker;

/* Derivatives by the parameter of a column. */
typedef struct moves {
    double rate, growth, variance;
} moves;

static moves moves_over(const maker *k, cva_span s, int64_t column) {
    const int64_t n = k->columns;
    if (!k->job->integral) {
        const double two_sigma = 2 * k->job->sigma[k->contract->asset[0]];
        return (moves){ s.years * k->rate[column], s.years * k->growth[column],
                        s.years * two_sigma * k->variance[column] };
    }
    const int64_t to = s.to * n + column, from = s.from * n + column;
    return (moves){ k->rate[to] - k->rate[from], k->growth[to] - k->growth[from],
                    k->variance[to] - k->variance[from] };
}

/* The European value at a price of date i, and its derivatives by log S and the integrals. */
typedef struct slopes {
    double value, by_price, by_deviation, deviation;
    cva_span left;
} slopes;

static slopes european(const maker *k, int64_t i, double s) {
    const cva_contract *c = k->contract;
    const cva_terms t = cva_terms_of(k->job, c, cva_rest(k->job, c, i));
    const double forward = cva_weight_in(c, 0) * s * t.growth;
    const black_slopes b =
        black_slopes_of(forward, c->strike, t.deviation, (c->form & CVA_DOWN) != 0);
    return (slopes){ t.discount * b.value, t.discount * b.by_forward * forward,
                     t.discount * b.by_deviation, t.deviation, t.left };
}
static double european_by(const maker *k, const slopes *s, int64_t column) {
    const moves d = moves_over(k, s->left, column);
    return -d.rate * s->value + d.growth * s->by_price +
           0.5 * d.variance / s->deviation * s->by_deviation;
}

/* The Brownian motion of a price at date i, in points of the grid. */
static double place_of(const maker *k, int64_t i, double s) {
    const int64_t a = k->contract->asset[0];
    const double drift = cva_drift(k->job, cva_between(k->job, 0, i), a);
    const double b = (shoal_log(s / k->job->s0[a]) - drift) / k->job->sigma[a];
    return (b - k->rule->start) / k->rule->step;
}
static double price_at(const maker *k, int64_t i, double place) {
    const int64_t a = k->contract->asset[0];
    const double b = k->rule->start + k->rule->step * place;
    const double drift = cva_drift(k->job, cva_between(k->job, 0, i), a);
    return k->job->s0[a] * shoal_exp(k->job->sigma[a] * b + drift);
}

/* First and second derivatives of a smooth row by log S, at point p; flat beyond the ends. */
static void differentiate(const maker *k, const double *row, int p, double *first, double *second) {
    const int last = k->rule->basis.points - 1;
    const double spacing = k->job->sigma[k->contract->asset[0]] * k->rule->step;
    double y[5];
    for (int e = 0; e < 5; e++) {
        const int at = p + e - 2;
        y[e] = row[at < 0 ? 0 : at > last ? last : at];
    }
    *first = (y[0] - 8 * y[1] + 8 * y[3] - y[4]) / (12 * spacing);
    *second = (-y[0] + 16 * y[1] - 30 * y[2] + 16 * y[3] - y[4]) / (12 * spacing * spacing);
}

/* The derivatives of the premium at date i, [point][column], when `mean` has e^-R E dm, [column][point]. */
static void make_premium(const maker *k, int64_t i, const double *mean, double *to) {
    const cva_span step = cva_between(k->job, i, i + 1);
    const double *row = cva_rule_at(k->rule, i) + 2;
    const int points = k->rule->basis.points;
    for (int p = 0; p < points; p++) {
        double first, second;
        differentiate(k, row, p, &first, &second);
        for (int64_t n = 0; n < k->columns; n++) {
            const moves d = moves_over(k, step, n);
            to[p * k->columns + n] = mean[n * points + p] - d.rate * row[p] + d.growth * first +
                                     0.5 * d.variance * (second - first);
        }
    }
}

/* The share of the cell of point p between two places. */
static double share_of(int p, double low, double high) {
    const double from = fmax(low, p - 0.5), to = fmin(high, p + 0.5);
    return to > from ? to - from : 0;
}

/* dm at date i, [column][point], of a premium's derivatives, [point][column]. */
static void make_best(const maker *k, int64_t i, const double *premium, double *to) {
    const double *ends = cva_rule_at(k->rule, i);
    const int points = k->rule->basis.points;
    const double low = ends[0] > 0 && ends[0] < DBL_MAX ? place_of(k, i, ends[0])
                       : ends[0] > 0                    ? points
                                                        : -1;
    const double high = ends[1] < DBL_MAX ? place_of(k, i, ends[1]) : points;
    for (int p = 0; p < points; p++) {
        const double share = k->contract->may[i - 1] ? share_of(p, low, high) : 0;
        slopes s = { 0 };
        if (share > 0) s = european(k, i, price_at(k, i, p));
        for (int64_t n = 0; n < k->columns; n++) {
            double mine = (1 - share) * premium[p * k->columns + n];
            if (share > 0) mine -= share * european_by(k, &s, n);
            to[n * points + p] = mine;
        }
    }
}

/* d log b of the prices at which exercise at date i begins and ends; 0: there is none. */
static void make_edges(const maker *k, int64_t i, const double *premium, double *to) {
    const cva_contract *c = k->contract;
    const double *ends = cva_rule_at(k->rule, i);
    const double spacing = k->job->sigma[c->asset[0]] * k->rule->step;
    for (int side = 0; side < 2; side++, to += k->columns) {
        const double b = ends[side];
        if (!c->may[i - 1] || !(b > 0) || !(b < DBL_MAX)) continue;
        const slopes s = european(k, i, b);
        const cva_cubic cubic = cva_cubic_at(k->rule, place_of(k, i, b));
        const double *row = cva_rule_at(k->rule, i) + 2;
        const double pays = (c->form & CVA_DOWN ? -1 : 1) * cva_weight_in(c, 0) * b;
        double slope = 0;
        for (int e = 0; e < 4; e++) slope += cubic.slope[e] * row[cubic.at + e];
        const double apart = pays - s.by_price - slope / spacing;
        /* else both sides are worth the same up to rounding, as far in the money of a call that is kept */
        const int is_boundary = fabs(apart) > 1e-9 * fabs(pays);
        for (int64_t n = 0; n < k->columns; n++) {
            double moved = european_by(k, &s, n);
            for (int e = 0; e < 4; e++)
                moved += cubic.value[e] * premium[(cubic.at + e) * k->columns + n];
            to[n] = is_boundary ? moved / apart : 0;
        }
    }
}

static shoal_status make_tangent(shoal_cva *p, const maker *k, cva_tangent *to) {
    const cva_contract *c = k->contract;
    const cva_job *j = k->job;
    const int64_t points = k->rule->basis.points, n = k->columns, row = points * n;
    double *premium, *edge, *best = malloc((size_t)(2 * row + 1) * sizeof *best);
    shoal_status s = best
                         ? shoal_plan_host(&p->head, (c->last - 1) * row, sizeof *premium, &premium)
                         : SHOAL_NO_MEMORY(p->head.ctx, "sensitivities");
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, (c->last - 1) * 2 * n, sizeof *edge, &edge);
    for (int64_t i = c->last - 1; i > 0 && s == SHOAL_OK; i--) {
        double *here = premium + (i - 1) * row, *mean = best + row;
        const cva_span step = cva_between(j, i, i + 1);
        if (shoal_is_cancelled(p->head.ctx, c->last - 1 - i, c->last)) s = SHOAL_E_CANCELLED;
        for (int64_t e = 0; e < n && i < c->last - 1; e++)
            shoal_cva_line_mean(best + e * points, (int)points, k->rule->step,
                                cva_clock(j, step, c->asset[0]), cva_discount_over(j, step),
                                mean + e * points);
        if (i < c->last - 1) make_premium(k, i, mean, here);
        make_best(k, i, here, best);
        make_edges(k, i, here, edge + (i - 1) * 2 * n);
    }
    free(best);
    if (s == SHOAL_OK) *to = (cva_tangent){ n, k->to, premium, edge };
    return s;
}

/* The parameters that integrals of an asset depend on, and [kind][slot][column], how. */
static shoal_status make_columns(shoal_cva *p, int64_t used, maker *k) {
    static const int kinds[] = { CVA_BY_RATE, CVA_BY_GROWTH, CVA_BY_VOLATILITY };
    const cva_greeks *g = &p->greeks;
    int64_t *to, *column = malloc((size_t)(g->parameters + 1) * sizeof *column);
    double *all;
    if (!column) return SHOAL_NO_MEMORY(p->head.ctx, "sensitivities");
    for (int64_t i = 0; i < g->parameters; i++) column[i] = -1;
    shoal_status s = shoal_plan_host(&p->head, g->parameters, sizeof *to, &to);
    for (int pass = 0; pass < 2 && s == SHOAL_OK; pass++) {
        if (pass) s = shoal_plan_host(&p->head, 3 * g->slots * k->columns, sizeof *all, &all);
        for (int e = 0; e < 3 && s == SHOAL_OK; e++)
            for (int64_t slot = 0; slot < g->slots; slot++) {
                const int64_t of = kinds[e] == CVA_BY_RATE ? 0 : used;
                const int64_t input = g->begin[kinds[e]] + of * g->slots + slot;
                for (int64_t t = g->start[input]; t < g->start[input + 1]; t++) {
                    const int64_t parameter = g->term[t].to;
                    if (column[parameter] < 0)
                        to[k->columns] = parameter, column[parameter] = k->columns++;
                    if (pass)
                        all[(e * g->slots + slot) * k->columns + column[parameter]] +=
                            g->term[t].factor;
                }
            }
    }
    free(column);
    if (s != SHOAL_OK) return s;
    k->to = to, k->rate = all;
    k->growth = all + g->slots * k->columns, k->variance = k->growth + g->slots * k->columns;
    return s;
}

shoal_status shoal_cva_make_tangents(shoal_cva *p) {
    const cva_job *j = &p->job;
    cva_greeks *g = &p->greeks;
    const shoal_stage stage = shoal_stage_begin(p->head.ctx, "sensitivities of exercise rules");
    shoal_status s = shoal_plan_host(&p->head, j->places, sizeof *g->tangent, &g->tangent);
    for (int64_t i = 0; i < j->americans && s == SHOAL_OK; i++) {
        const cva_contract *c = &j->contract[j->american[i]];
        s = shoal_stage_step(p->head.ctx, &stage, (double)i, (double)(i + 1), (double)j->americans);
        if (s != SHOAL_OK) break;
        int64_t twin = 0;
        while (j->contract[j->american[twin]].rule[0].at != c->rule[0].at) twin++;
        if (twin < i) {
            g->tangent[c->place] = g->tangent[j->contract[j->american[twin]].place];
            continue;
        }
        maker k = { .job = j, .contract = c, .rule = &c->rule[0], .used = g->place[c->asset[0]] };
        s = make_columns(p, k.used, &k);
        if (s == SHOAL_OK) s = make_tangent(p, &k, &g->tangent[c->place]);
    }
    return shoal_stage_end(p->head.ctx, &stage, s);
}
