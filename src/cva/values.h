/* SPDX-License-Identifier: Apache-2.0
 *
 * values.h - values that need no paths, in double, for both compilers: closed forms of European contracts, and what a
 * contract on one asset with early exercise is worth by the grid of its rule.
 */
#ifndef SHOAL_CVA_VALUES_H
#define SHOAL_CVA_VALUES_H

#include "cva/mean.h"
#include "cva/span.h"
#include "cva/surface.h"
#include "pricing/black.h"

/* What a contract is worth on a path at date k, for a validation or results by trade; `ends`: it is paid. */
SHOAL_HD static inline void cva_note(const cva_job *job, const cva_contract *c, int64_t k,
                                     int64_t path, double worth, int ends) {
    const int64_t at = (c - job->contract) * job->paths + path;
    if (job->here) job->here[at] = worth;
    if (!job->worth) return;
    job->worth[at] = ends ? 0 : worth;
    if (ends) job->paid[at] += cva_discount_over(job, cva_between(job, 0, k)) * worth;
}

/* What is not covered of a set's value to us, or to them; one of one sign has no kink. csa may be NULL. */
SHOAL_HD static inline double cva_uncovered(const cva_csa *csa, int sign, int ours, double value) {
    if ((!csa || csa->is_none) && sign) return sign > 0 ? value : 0;
    const double above = cva_positive(value);
    if (!csa || csa->is_none) return above;
    const double most = ours ? csa->theirs : csa->ours;
    return cva_positive((above > most ? most : above) - (ours ? csa->held : csa->posted));
}

/* Whether a European contract with `left` years to go is worth what a formula says. */
SHOAL_HD static inline int cva_is_known(const cva_contract *c, double left) {
    return c->kind == CVA_CLOSED ? left >= 0 : c->kind == CVA_NESTED && left == 0;
}

/* What the formula of a contract needs at a date, whatever the prices. */
typedef struct cva_terms {
    cva_span left;
    double discount, deviation, growth; /* growth of its first asset */
} cva_terms;

SHOAL_HD static inline cva_terms cva_terms_of(const cva_job *job, const cva_contract *c,
                                              cva_span left) {
    const int64_t a = c->asset[0];
    cva_terms t;
    t.left = left, t.discount = cva_discount_over(job, left);
    t.deviation = cva_deviation(job, left, a);
    t.growth = shoal_exp(cva_growth(job, left, a));
    return t;
}

/* The value of an option with a barrier at price s, on a path whose lowest or highest price so far is `extreme`. */
SHOAL_HD static inline double cva_barrier_value(const cva_contract *c, const cva_terms *t, double s,
                                                double extreme) {
    const int form = c->form, above = (form & CVA_ABOVE) != 0, ends = t->left.years == 0;
    const double forward = s * t->growth, h = c->barrier, strike = c->strike;
    const int crossed = above ? extreme >= h || s >= h : extreme <= h || s <= h;
    double all, out;
    if (crossed && form & CVA_KNOCK_OUT) return 0;
    if (ends)
        all = cva_pays(form, (cva_price)strike, (cva_price)s);
    else if (t->deviation > 0)
        all = t->discount * cva_formula(form & CVA_DOWN, forward, strike, t->deviation);
    else
        all = t->discount * cva_pays(form, (cva_price)strike, (cva_price)forward);
    if (crossed)
        out = 0;
    else if (ends)
        out = all;
    else if (t->deviation > 0)
        out = t->discount * cva_knock_out(form, s, forward, strike, h, t->deviation);
    else
        out = (above ? forward >= h : forward <= h) ? 0 : all;
    out = out > all ? all : out;
    return form & CVA_KNOCK_IN ? all - out : out;
}

/* The European value at prices `spot` of date k, of a contract that has a closed form. */
SHOAL_HD static inline double cva_closed_value(const cva_job *job, const cva_contract *c,
                                               const double *spot, int64_t k) {
    const cva_span left = cva_rest(job, c, k);
    const cva_terms t = cva_terms_of(job, c, left);
    if (c->form & CVA_BARRIER)
        return cva_barrier_value(c, &t, spot[c->asset[0]], spot[c->asset[0]]);
    if (c->form & CVA_MEAN) return t.discount * cva_mean_value(c, k, spot[c->asset[0]], 0);
    if (left.years == 0) return cva_pay(c, spot, k);
    if (c->surface)
        return t.discount * cva_surface_value(job, c, k,
                                              cva_weight_in(c, 0) * spot[c->asset[0]] * t.growth,
                                              spot[cva_variance_of(job, c)]);
    double forward = 0;
    for (int i = 0; i < c->assets; i++) {
        const int64_t a = c->asset[i];
        forward = fma(cva_weight_in(c, i) * spot[a], shoal_exp(cva_growth(job, left, a)), forward);
    }
    if (t.deviation > 0 && c->strike > 0)
        return t.discount * cva_formula(c->form, forward, c->strike, t.deviation);
    return t.discount * cva_pays(c->form, (cva_price)c->strike, (cva_price)forward);
}

/* The same of a contract on one asset, at its price s. */
SHOAL_HD static inline double cva_line_value(const cva_job *job, const cva_contract *c, double s,
                                             int64_t k) {
    const cva_span left = cva_rest(job, c, k);
    const int64_t a = c->asset[0];
    const double forward = cva_weight_in(c, 0) * s * shoal_exp(cva_growth(job, left, a));
    return cva_discount_over(job, left) *
           black_value(forward, c->strike, cva_deviation(job, left, a), (c->form & CVA_DOWN) != 0);
}

/* Between four points of a grid, from `at` on: cubic; factors of the value, and of the slope per spacing. */
typedef struct cva_cubic {
    int at;
    double value[4], slope[4];
} cva_cubic;

SHOAL_HD static inline cva_cubic cva_cubic_at(const cva_rule *r, double place) {
    const int most = r->basis.points - 3;
    const double sixth = 1.0 / 6;
    cva_cubic to;
    to.at = place < 1 ? 0 : place > most ? most - 1 : (int)place - 1;
    const double x = place - (double)to.at - 1; /* from -1 to 2 are the points */
    const double a = x + 1, b = x - 1, c = x - 2;
    to.value[0] = -sixth * x * b * c, to.value[1] = 0.5 * a * b * c;
    to.value[2] = -0.5 * a * x * c, to.value[3] = sixth * a * x * b;
    to.slope[0] = -sixth * (b * c + x * (b + c)), to.slope[1] = 0.5 * (b * c + a * (b + c));
    to.slope[2] = -0.5 * (x * c + a * (x + c)), to.slope[3] = sixth * (x * b + a * (x + b));
    return to;
}

/* The premium of going on at the point of the grid that is `place` points from its first one: cubic between four. */
SHOAL_HD static inline double cva_premium(const cva_rule *r, int64_t k, double place) {
    const double *on = cva_rule_at(r, k) + 2;
    const cva_cubic c = cva_cubic_at(r, place);
    const double sum = c.value[0] * on[c.at] + c.value[1] * on[c.at + 1] +
                       c.value[2] * on[c.at + 2] + c.value[3] * on[c.at + 3];
    return sum > 0 ? sum : 0;
}

/* Whether a place is on the grid of a rule. Only prices after a jump are elsewhere; without volatility all are (NaN). */
SHOAL_HD static inline int cva_is_on_grid(const cva_rule *r, double place) {
    return place >= 0 && place <= r->basis.points - 1;
}

/* What holding is worth at a price off the grid: the European value, or what exercise at the best later date is worth if the
 * price grows as its forward does. Far in the money that is all, far out of the money it is 0. */
SHOAL_HD static inline double cva_far_hold(const cva_job *job, const cva_contract *c, int64_t k,
                                           double s) {
    double best = cva_line_value(job, c, s, k);
    for (int64_t i = k + 1; i < c->last; i++) {
        if (!c->may[i - 1]) continue;
        const cva_span span = cva_between(job, k, i);
        const double forward =
            cva_weight_in(c, 0) * s * shoal_exp(cva_growth(job, span, c->asset[0]));
        const double gain =
            c->form & CVA_DOWN ? cva_strike_at(c, i) - forward : forward - cva_strike_at(c, i);
        const double worth = cva_discount_over(job, span) * gain;
        if (worth > best) best = worth;
    }
    return best;
}

/* What holding a contract on one asset is worth at price s of date k. */
SHOAL_HD static inline double cva_line_hold(const cva_job *job, const cva_contract *c,
                                            const cva_rule *r, int64_t k, double s) {
    const int64_t a = c->asset[0];
    const double sigma = job->sigma[a], drift = cva_drift(job, cva_between(job, 0, k), a);
    const double place =
        sigma > 0 ? ((shoal_log(s / job->s0[a]) - drift) / sigma - r->start) / r->step : NAN;
    return cva_is_on_grid(r, place) ? cva_line_value(job, c, s, k) + cva_premium(r, k, place)
                                    : cva_far_hold(job, c, k, s);
}

/* The same today, of a contract on any assets. */
SHOAL_HD static inline double cva_value_today(const cva_job *job, const cva_contract *c) {
    const double line = cva_is_line(c) ? cva_line_value(job, c, job->s0[c->asset[0]], 0) : 0;
    return line + c->rule[0].today;
}

#endif
