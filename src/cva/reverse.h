/* SPDX-License-Identifier: Apache-2.0
 *
 * reverse.h - what the parts of the reverse pass share (adjoint.c): the block, closed forms and exposures with their
 * derivatives, and prices where a payoff jumps.
 */
#ifndef SHOAL_CVA_REVERSE_H
#define SHOAL_CVA_REVERSE_H

#define CVA_WIDTH   32
#define CVA_LANE(l) (l)
#include "pricing/lanes.h"

#include "cva/exposure.h"

/* Of a contract: value; of the part that is a formula of the forward price dv/dx, dv/d deviation, and that part; dv/dx of
 * the rest. */
enum { KEPT = 5 };

typedef double lanes[CVA_WIDTH];

typedef struct reverse { /* of a block */
    const cva_job *job;
    const cva_greeks *g;
    int64_t end;              /* the last date of exposure     */
    double *brownian, *spot;  /* [date][lane][asset]           */
    lanes *by;                /* [input before CVA_BY_HAZARD]; NULL: b(log S) alone */
    lanes *to;                /* [parameter]                   */
    lanes *price, *log;       /* [used asset]: S, b(log S)     */
    lanes *exposure;          /* [party]: at the date                                    */
    lanes *later;             /* [party]: b of the integrated hazard rate at later dates */
    lanes *normal, *inner;    /* [used asset]: of a step, L z and u                      */
    lanes *kept;              /* [contract of a set][KEPT]                               */
    lanes *edge;              /* [used asset]: prices where a payoff jumps               */
    lanes *shift;             /* [used asset]: sum of x* - x times its part of b(log S)  */
    lanes *next, *next_inner; /* [used asset]: `normal` and `inner` of the step after    */
    /* of contracts with early exercise (early.h): lanes as bits */
    uint32_t *exercised,
        *alive;          /* [date][place]: would be exercised there if it is held; is held */
    lanes *held, *known; /* [exposure][place]: worth if held; [exposure][set]: of all others      */
    lanes *called,
        *owed;       /* [date][set]: b of its value at a margin call, and of payments (calls.h) */
    uint32_t *after; /* [contract of a set]                                                  */
    char *mine;
    int64_t moved; /* a used asset whose prices are multiplied; -1: none */
    double times;
} reverse;

/* Adds to the derivative by a number times the years of a span; with curves, by an integral. */
static void add_span(const reverse *r, int what, int64_t of, cva_span s, const double *x) {
    if (!r->by) return;
    lanes *by = r->by + r->g->begin[what] + of * r->g->slots;
    if (!r->job->integral) {
        CVA_EACH(l) by[0][l] = fma(s.years, x[l], by[0][l]);
        return;
    }
    CVA_EACH(l) by[s.to][l] += x[l];
    CVA_EACH(l) by[s.from][l] -= x[l];
}

/* By the deviation of a span: sigma sqrt(years), or the root of an integral. */
static void add_deviation(const reverse *r, int64_t used, cva_span s, const double *x) {
    if (!r->by) return;
    const double deviation = cva_deviation(r->job, s, r->g->used[used]);
    lanes *by = r->by + r->g->begin[CVA_BY_VOLATILITY] + used * r->g->slots;
    if (!r->job->integral) {
        const double root = sqrt(s.years);
        CVA_EACH(l) by[0][l] = fma(root, x[l], by[0][l]);
        return;
    }
    const double factor = deviation > 0 ? 0.5 / deviation : 0;
    CVA_EACH(l) by[s.to][l] = fma(factor, x[l], by[s.to][l]);
    CVA_EACH(l) by[s.from][l] = fma(-factor, x[l], by[s.from][l]);
}

/* An input is done: to the parameters. */
static void map(const reverse *r, int64_t input, const double *x) {
    const cva_greeks *g = r->g;
    for (int64_t i = g->start[input]; i < g->start[input + 1]; i++) {
        const double factor = g->term[i].factor;
        double *to = r->to[g->term[i].to];
        CVA_EACH(l) to[l] = fma(factor, x[l], to[l]);
    }
}

/* ---- a date of exposure ------------------------------------------------------------------------ */

/* The value of a contract at prices [used asset]; of an option also its derivatives. */
static void value_contract(const reverse *r, const cva_contract *c, cva_span left, lanes *price,
                           lanes *keep) {
    const cva_terms t = cva_terms_of(r->job, c, left);
    const double discount = t.discount, strike = c->strike, deviation = t.deviation;
    const int put = (c->form & CVA_DOWN) != 0, digital = (c->form & CVA_DIGITAL) != 0;
    lanes forward;
    CVA_EACH(l) forward[l] = 0;
    for (int i = 0; i < c->assets; i++) {
        const int64_t a = c->asset[i];
        const double *s = price[r->g->place[a]];
        const double factor = cva_weight_in(c, i) * shoal_exp(cva_growth(r->job, left, a));
        CVA_EACH(l) forward[l] = fma(factor, s[l], forward[l]);
    }
    CVA_EACH(l) keep[4][l] = 0;
    if (c->form & CVA_ANY_SIGN)
        CVA_EACH(l) keep[0][l] = discount * (forward[l] - strike);
    else if (deviation > 0 && strike > 0)
        CVA_EACH(l) {
            const black_slopes b = digital ? digital_slopes_of(forward[l], strike, deviation, put)
                                           : black_slopes_of(forward[l], strike, deviation, put);
            keep[0][l] = discount * b.value;
            keep[1][l] = discount * b.by_forward * forward[l];
            keep[2][l] = discount * b.by_deviation;
        }
    else
        CVA_EACH(l) {
            const double gain = shoal_pick(put, strike - forward[l], forward[l] - strike);
            const double pays = shoal_pick(gain > 0, discount, 0);
            keep[0][l] = pays * shoal_pick(digital, 1, gain);
            keep[1][l] = shoal_pick(digital, 0, shoal_pick(put, -pays, pays) * forward[l]);
            keep[2][l] = 0;
        }
    CVA_EACH(l) keep[3][l] = keep[0][l];
}

/* b(x) and b(growth) of an asset. */
static void add_price(const reverse *r, int64_t a, cva_span left, const double *x) {
    const int64_t used = r->g->place[a];
    CVA_EACH(l) r->log[used][l] += x[l];
    add_span(r, CVA_BY_GROWTH, used, left, x);
}

/* Back through a contract; bar: b of its value. */
static void reverse_contract(const reverse *r, const cva_contract *c, cva_span left,
                             const double *bar, lanes *keep) {
    lanes x;
    CVA_EACH(l) x[l] = -bar[l] * keep[3][l];
    add_span(r, CVA_BY_RATE, 0, left, x);
    if (c->form & CVA_ANY_SIGN) {
        const double discount = cva_discount_over(r->job, left);
        for (int i = 0; i < c->assets; i++) {
            const int64_t a = c->asset[i];
            const double factor =
                discount * cva_weight_in(c, i) * shoal_exp(cva_growth(r->job, left, a));
            const double *s = r->price[r->g->place[a]];
            CVA_EACH(l) x[l] = bar[l] * factor * s[l];
            add_price(r, a, left, x);
        }
        return;
    }
    CVA_EACH(l) x[l] = bar[l] * keep[1][l];
    add_price(r, c->asset[0], left, x);
    if (c->kind == CVA_AMERICAN)
        CVA_EACH(l) r->log[r->g->place[c->asset[0]]][l] += bar[l] * keep[4][l];
    if (!(left.years > 0)) return;
    CVA_EACH(l) x[l] = bar[l] * keep[2][l];
    add_deviation(r, r->g->place[c->asset[0]], left, x);
}

/* The exposure of a set that is worth `worth`, and its slope. */
static void expose(const cva_job *job, int64_t set, const double *worth, double *exposure,
                   double *slope) {
    const cva_csa *csa = job->csa ? &job->csa[set] : NULL;
    const int sign = job->sign[set], none = !csa || csa->is_none, plain = none && sign;
    const double most = none ? INFINITY : csa->theirs, held = none ? 0 : csa->held;
    CVA_EACH(l) {
        const int open = (worth[l] > held) & (worth[l] <= most); /* at most: a slope of 1 */
        slope[l] = plain ? sign > 0 : open;
        exposure[l] = cva_uncovered(csa, sign, 1, worth[l]);
    }
}

/* Back through the weights of the exposures of a counterparty at date k: b of a weight is the exposure. */
static void reverse_weights(const reverse *r, int64_t k, int64_t party, const double *exposure) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    const int64_t at = party * job->exposures + job->exposure[k - 1];
    const double share = job->share[at], bare = g->bare[at], alive = g->alive[at];
    double *recovered = r->by[g->begin[CVA_BY_RECOVERY] + party], *later = r->later[party];
    lanes x;
    CVA_EACH(l) x[l] = -share * exposure[l];
    add_span(r, CVA_BY_RATE, 0, cva_between(job, 0, k), x);
    CVA_EACH(l) recovered[l] = fma(-bare, exposure[l], recovered[l]);
    /* the hazard rate of this step changes the chances of default in it, and of survival to all later dates */
    CVA_EACH(l) x[l] = fma(alive, exposure[l], later[l]);
    CVA_EACH(l) later[l] = fma(-share, exposure[l], later[l]);
    map(r, g->begin[CVA_BY_HAZARD] + at, x);
}

/* ---- where payoffs jump ---------------------------------------------------------------------- */

/* The price at which a payoff jumps at date k; 0: it does not. */
static double edge_of(const cva_job *job, const cva_contract *c, int64_t k) {
    const int jumps = (c->form & CVA_DIGITAL) && cva_left(job, c, k) == 0 && c->strike > 0;
    return jumps ? c->strike / cva_weight_in(c, 0) : 0;
}

/* Whether that is the edge of asset a. */
static int is_edge(const cva_job *job, const cva_contract *c, int64_t k, int64_t a, double edge) {
    return c->asset[0] == a && fabs(edge_of(job, c, k) - edge) <= CVA_SAME * edge;
}

/* Prices of all assets where that of `mine` is the edge, and x* - x. */
static void go_to_edge(const reverse *r, int64_t k, int64_t mine, double edge, double *move) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    const cva_span step = cva_between(job, k - 1, k);
    const double one = 1 / cva_deviation(job, step, g->used[mine]);
    CVA_EACH(l) move[l] = one * shoal_log(edge / r->price[mine][l]);
    for (int64_t i = 0; i < g->useds; i++) {
        const double along = job->correlation[g->used[i] * job->assets + g->used[mine]];
        const double factor = along * cva_deviation(job, step, g->used[i]);
        CVA_EACH(l) r->edge[i][l] = r->price[i][l] * shoal_exp(factor * move[l]);
    }
    CVA_EACH(l) r->edge[mine][l] = edge;
}

/* The prices of date k. */
static void prices_at(const reverse *r, int64_t k, lanes *to) {
    const int64_t d = r->job->assets, each = CVA_WIDTH * d;
    for (int64_t i = 0; i < r->g->useds; i++)
        for (int l = 0; l < CVA_WIDTH; l++) to[i][l] = r->spot[k * each + l * d + r->g->used[i]];
    if (r->moved >= 0) CVA_EACH(l) to[r->moved][l] *= r->times;
}
static void see_prices(const reverse *r, int64_t k) { prices_at(r, k, r->price); }

#endif
