/* SPDX-License-Identifier: Apache-2.0
 *
 * outer.h - outer paths from date to date, for both compilers: their prices, default, the values of contracts that need
 * no inner paths, exercise, and the nodes, an outer path at a date, with their inner paths. In f64 alone, with the bits
 * of the CPU on the GPU. exposure.h continues with what netting sets lose.
 *
 * An outer path is exact: from date to date each asset's Brownian motion gets sqrt(dt) L Z, and
 *
 *     S_t = S_0 e^((r - q - sigma^2 / 2) t + sigma B_t);
 *
 * with curves, r t and the like are integrals and B runs by a clock (span.h).
 *
 * With tau years left and F = S e^((r - q) tau) a forward is worth e^(-r tau) (B(F) - K), B the
 * basket, a call or put e^(-r tau) times Black's formula.
 *
 * An asset of Heston's model goes by QE steps (models/qe.h), with its variance.
 *
 * Functions on paths take CVA_WIDTH of them, from path `from` on, and their prices s, [asset][lane]. Functions on nodes
 * take one, whose items or contracts are shared by CVA_LANES lanes: on the CPU the turns of a loop, on the GPU the
 * threads of a warp. The includer defines CVA_LANE(l), the lane of turn l.
 */
#ifndef SHOAL_CVA_OUTER_H
#define SHOAL_CVA_OUTER_H

#include "cva/walk.h"

/* ---- paths ------------------------------------------------------------------------------------- */

CVA_CALL void cva_begin_path(const cva_job *job, int64_t path) {
    for (int a = 0; a < job->assets; a++) {
        job->brownian[path * job->assets + a] = 0;
        job->spot[path * job->assets + a] = job->s0[a];
        if (job->low)
            job->low[path * job->assets + a] = job->high[path * job->assets + a] = job->s0[a];
    }
    for (int64_t i = 0; i < job->sums_fixed && job->fixed; i++)
        job->fixed[i * job->paths + path] = 0;
    for (int64_t i = 0; i < CVA_RULES * job->sets && job->flow; i++)
        job->flow[path * CVA_RULES * job->sets + i] = 0;
    for (int64_t i = path; i < job->parties * job->paths && job->hazard; i += job->paths)
        job->log_hazard[i] = job->integrated[i] = job->integrated_before[i] = 0;
    for (int64_t i = 0; i < CVA_RULES * job->places; i++) job->exercised[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->places; i++) job->holds[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->contracts && job->paid; i++) job->paid[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->contracts && job->owed; i++) job->owed[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->sets && job->list_by_set; i++)
        job->row[path * job->width + cva_set_share(job, i)] = 0;
    for (int i = 0; i < CVA_ROW_HEAD; i++) job->row[path * job->width + i] = 0;
}

/* What belongs to one date, the one after date k - 1. */
CVA_CALL void cva_clear_path(const cva_job *job, int64_t path, int64_t k) {
    double *value = job->value + path * CVA_LEVELS * job->sets;
    for (int64_t i = 0; i < CVA_LEVELS * job->sets; i++) value[i] = 0;
    for (int64_t i = 0; i < job->sets; i++) job->differ[path * job->sets + i] = 0;
    for (int64_t i = 0; i < job->contracts && job->worth; i++)
        job->worth[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->contracts && job->here; i++) job->here[i * job->paths + path] = 0;
    if (!job->flow) return;
    const double discount = k > 0 ? cva_discount_over(job, cva_between(job, 0, k - 1)) : 0;
    double *flow = job->flow + path * CVA_RULES * job->sets;
    double *now = job->flow_now + path * CVA_RULES * job->sets;
    for (int64_t i = 0; i < CVA_RULES * job->sets; i++) {
        if (k > 0) flow[i] = fma(discount, now[i], flow[i]);
        now[i] = 0;
    }
}

/* The hazard rate of a counterparty at a date, from the normals z of its step, and its integral by trapezoids. */
CVA_CALL void cva_move_hazard(const cva_job *job, int64_t from, int64_t k, int64_t party,
                              double (*z)[CVA_WIDTH]) {
    const cva_hazard_step *step = &job->hazard[party * job->dates + k - 1];
    double own[CVA_NORMALS][CVA_WIDTH], with[CVA_WIDTH];
    cva_draw(&job->hazard_normals, (uint32_t)((k - 1) * job->parties + party),
             job->first + (uint64_t)from, own);
    CVA_EACH(l) with[l] = 0;
    for (int a = 0; a < job->assets; a++) {
        const double load = job->hazard_load[party * job->assets + a];
        CVA_EACH(l) with[l] = fma(load, z[a][l], with[l]);
    }
    for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
        const int64_t at = party * job->paths + from + l;
        const double y = job->log_hazard[at], before = shoal_exp(y);
        const double moved =
            fma(step->decay, y, fma(step->along, with[l], step->across * own[0][l]));
        if (job->was_exposed) job->integrated_before[at] = job->integrated[at];
        job->log_hazard[at] = moved;
        job->integrated[at] = fma(step->half, before + shoal_exp(moved), job->integrated[at]);
    }
}

/* The lowest, or highest, price of an asset over the step to date k. Given log S at both ends, x and y, and the
 * variance v of the step, log S between them is a Brownian bridge, and its minimum is distributed as
 *
 *     (x + y - sqrt((x - y)^2 - 2 v log U)) / 2,   U uniform: -2 log U is Z^2 + Z'^2 of two normals. */
CVA_CALL void cva_reach(const cva_job *job, int64_t from, int64_t k, int a, int above,
                        const double *x, const double *y, double deviation) {
    double z[CVA_NORMALS][CVA_WIDTH], reached[CVA_WIDTH];
    double *to = above ? job->high : job->low;
    const double sign = above ? 1 : -1, s0 = job->s0[a];
    cva_draw(&job->extreme_normals, (uint32_t)(2 * ((k - 1) * job->assets + a) + above),
             job->first + (uint64_t)from, z);
    CVA_EACH(l) {
        const double apart = y[l] - x[l], radius = fma(z[0][l], z[0][l], z[1][l] * z[1][l]);
        const double length = sqrt(fma(apart, apart, deviation * deviation * radius));
        reached[l] = s0 * shoal_exp(0.5 * fma(sign, length, x[l] + y[l]));
    }
    for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
        double *at = &to[(from + l) * job->assets + a];
        if (above ? reached[l] > *at : reached[l] < *at) *at = reached[l];
    }
}

/* Adds prices at date k to the sums of contracts on a mean that it is a fixing of. */
CVA_CALL void cva_fix(const cva_job *job, int64_t from, int64_t k) {
    for (int64_t i = 0; i < job->sums_fixed && job->fixed; i++) {
        const cva_contract *c = &job->contract[job->averaged[i]];
        if (k > c->last || !c->fixes[k - 1]) continue;
        const double more = c->mean[k * cva_mean_numbers(c->fixings) + CVA_MEAN_HERE];
        for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++)
            job->fixed[i * job->paths + from + l] +=
                job->spot[(from + l) * job->assets + c->asset[0]] + more;
    }
}

/* A variance over the step to date k, and the price that it drives, which has grown by `shift` since today. `brownian` of
 * a variance is log(S e^(-(r - q) t) / S0). */
CVA_CALL void cva_move_variance(const cva_job *job, int64_t from, int64_t k, int i, double shift,
                                double (*z)[CVA_WIDTH]) {
    const cva_heston *h = &job->heston[i];
    const qe_numbers n = job->qe[(k - 1) * job->hestons + i];
    const int d = job->assets;
    double normal[2][CVA_WIDTH], v[CVA_WIDTH], x[CVA_WIDTH], s[CVA_WIDTH];
    for (int e = 0; e < 2; e++) {
        const int a = e ? h->price : h->variance;
        CVA_EACH(l) normal[e][l] = 0;
        for (int b = 0; b <= a; b++) {
            const double load = job->load[a * (a + 1) / 2 + b];
            CVA_EACH(l) normal[e][l] = fma(load, z[b][l], normal[e][l]);
        }
    }
    for (int l = 0; l < CVA_WIDTH; l++) {
        const int64_t path = from + l < job->paths ? from + l : job->paths - 1;
        v[l] = job->spot[path * d + h->variance], x[l] = job->brownian[path * d + h->variance];
    }
    cva_qe_lanes(h, &n, normal[0], normal[1], v, x);
    CVA_EACH(l) s[l] = job->s0[h->price] * shoal_exp(x[l] + shift);
    for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
        double *spot = job->spot + (from + l) * d;
        spot[h->variance] = v[l], spot[h->price] = s[l];
        job->brownian[(from + l) * d + h->variance] = x[l];
    }
}

CVA_CALL void cva_move_paths(const cva_job *job, int64_t from, int64_t k) {
    const int d = job->assets, pairs = (d + 1) / 2;
    const cva_span since = cva_between(job, k - 1, k), all = cva_between(job, 0, k);
    const double root = sqrt(since.years);
    double z[SHOAL_CVA_ASSETS + 1][CVA_WIDTH];
    for (int pair = 0; pair < pairs; pair++)
        cva_draw(&job->outer_normals, (uint32_t)((k - 1) * pairs + pair),
                 job->first + (uint64_t)from, z + 2 * pair);
    for (int a = 0; a < job->prices; a++) {
        const double s0 = job->s0[a], sigma = job->sigma[a], shift = cva_drift(job, all, a);
        const double step = cva_scale(job, since, a, root);
        const int watched = job->low ? (int)((job->lows | job->highs) >> a & 1) : 0;
        double moved[CVA_WIDTH], s[CVA_WIDTH], before[CVA_WIDTH], now[CVA_WIDTH];
        CVA_EACH(l) moved[l] = 0;
        for (int b = 0; b <= a; b++) {
            const double load = job->load[a * (a + 1) / 2 + b];
            CVA_EACH(l) moved[l] = fma(load, z[b][l], moved[l]);
        }
        for (int l = 0; l < CVA_WIDTH; l++) {
            const int64_t path = from + l < job->paths ? from + l : job->paths - 1;
            before[l] = job->brownian[path * d + a];
            moved[l] = fma(step, moved[l], before[l]);
        }
        CVA_EACH(l) now[l] = fma(sigma, moved[l], shift);
        CVA_EACH(l) s[l] = s0 * shoal_exp(now[l]);
        if (watched) {
            const double drift = cva_drift(job, cva_between(job, 0, k - 1), a);
            CVA_EACH(l) before[l] = fma(sigma, before[l], drift);
            if (job->lows >> a & 1) cva_reach(job, from, k, a, 0, before, now, sigma * step);
            if (job->highs >> a & 1) cva_reach(job, from, k, a, 1, before, now, sigma * step);
        }
        for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++)
            job->brownian[(from + l) * d + a] = moved[l], job->spot[(from + l) * d + a] = s[l];
    }
    for (int i = 0; i < job->hestons; i++)
        cva_move_variance(job, from, k, i, cva_growth(job, all, job->heston[i].price), z);
    cva_fix(job, from, k);
    for (int64_t party = 0; party < job->parties && job->log_hazard; party++)
        cva_move_hazard(job, from, k, party, z);
}

/* ---- default ------------------------------------------------------------------------------------- */

/* The chance of a counterparty's default since the last exposure, given the path, over that without. */
CVA_CALL double cva_weight_of(const cva_job *job, int64_t party, int64_t path) {
    const double chance = job->chance[party * job->exposures + job->date];
    const int64_t at = party * job->paths + path;
    if (!(chance > 0)) return 1;
    return (shoal_exp(-job->integrated_before[at]) - shoal_exp(-job->integrated[at])) / chance;
}

/* Prices at default of the only counterparty since the last exposure: they jump by J, and without default S grows by
 * -J times the hazard rate more than the market says, which keeps its mean. With H the integrated hazard rate, the
 * mean over times of default is
 *
 *     S (e^(-(1 + J) H_before) - e^(-(1 + J) H)) / (e^(-H_before) - e^(-H)). */
CVA_CALL void cva_jump_path(const cva_job *job, int64_t path) {
    const double before = job->hazard ? job->integrated_before[path] : job->known_before;
    const double here = job->hazard ? job->integrated[path] : job->known_hazard;
    const double chance = shoal_exp(-before) - shoal_exp(-here);
    for (int a = 0; a < job->assets; a++) {
        const double j = 1 + job->jump[a];
        const double factor = chance > 0 ? (shoal_exp(-j * before) - shoal_exp(-j * here)) / chance
                                         : j * shoal_exp(-job->jump[a] * here);
        job->after.spot[path * job->assets + a] = factor * job->spot[path * job->assets + a];
    }
    double *value = job->after.value + path * CVA_LEVELS * job->sets;
    for (int64_t i = 0; i < CVA_LEVELS * job->sets; i++) value[i] = 0;
    for (int64_t i = 0; i < job->sets; i++) job->after.differ[path * job->sets + i] = 0;
    for (int64_t i = 0; i < job->places; i++) job->after.holds[i * job->paths + path] = 0;
}

/* ---- margin calls -------------------------------------------------------------------------------- */

/* The view of a margin call. */
CVA_CALL void cva_keep_path(const cva_job *job, int64_t path) {
    const int64_t sets = job->sets;
    for (int a = 0; a < job->assets; a++)
        job->to.spot[path * job->assets + a] = job->spot[path * job->assets + a];
    for (int64_t set = 0; set < sets; set++) {
        job->to.value[path * CVA_LEVELS * sets + set] = job->value[path * CVA_LEVELS * sets + set];
        job->to.differ[path * sets + set] = job->differ[path * sets + set];
    }
    for (int64_t i = 0; i < CVA_RULES * sets; i++)
        job->to.flow[path * CVA_RULES * sets + i] = job->flow[path * CVA_RULES * sets + i];
    for (int64_t i = 0; i < job->nesteds; i++) {
        const cva_contract *c = &job->contract[job->nested[i]];
        const int64_t at = c->place * job->paths + path;
        job->to.holds[at] = (char)(job->holds[at] && cva_period_of(job, c->set));
    }
}

/* ---- contracts without inner paths --------------------------------------------------------------- */

/* cva_pay() of all lanes. */
CVA_CALL void cva_pay_lanes(const cva_contract *c, int64_t k, const double *s, double *pays) {
    const int form = c->form, sum = form & CVA_OF_SUM;
    const double strike = cva_strike_at(c, k), *first = s + c->asset[0] * CVA_WIDTH;
    double all[CVA_WIDTH];
    CVA_EACH(l) all[l] = sum ? 0 : first[l];
    for (int i = 0; i < c->assets; i++) {
        const double *from = s + c->asset[i] * CVA_WIDTH, weight = sum ? c->weight[i] : 0;
        const double more = cva_cash_in(c, k, i);
        if (sum)
            CVA_EACH(l) all[l] = fma(weight, from[l], all[l]);
        else
            CVA_EACH(l) all[l] = shoal_pick(from[l] + more > all[l], from[l] + more, all[l]);
    }
    CVA_EACH(l) pays[l] = cva_pays(form, strike, all[l]);
}

CVA_CALL void cva_barrier_values(const cva_job *job, const cva_contract *c, const cva_terms *t,
                                 int64_t at, const double *s, double *worth) {
    const int64_t a = c->asset[0];
    const double *reached = c->form & CVA_ABOVE ? job->high : job->low;
    for (int l = 0; l < CVA_WIDTH; l++) {
        const int64_t path = at + l < job->paths ? at + l : job->paths - 1;
        worth[l] = cva_barrier_value(c, t, s[a * CVA_WIDTH + l], reached[path * job->assets + a]);
    }
}

CVA_CALL void cva_mean_values(const cva_job *job, const cva_contract *c, const cva_terms *t,
                              int64_t at, const double *s, double *worth) {
    const double *from = s + c->asset[0] * CVA_WIDTH;
    for (int l = 0; l < CVA_WIDTH; l++) {
        const int64_t path = at + l < job->paths ? at + l : job->paths - 1;
        worth[l] = t->discount *
                   cva_mean_value(c, t->left.from, from[l], job->fixed[c->sum * job->paths + path]);
    }
}

CVA_CALL void cva_surface_values(const cva_job *job, const cva_contract *c, const cva_terms *t,
                                 const double *s, double *worth) {
    const double *from = s + c->asset[0] * CVA_WIDTH, *v = s + cva_variance_of(job, c) * CVA_WIDTH;
    const double weight = cva_weight_in(c, 0);
    CVA_EACH(l)
    worth[l] =
        t->discount * cva_surface_value(job, c, t->left.from, weight * from[l] * t->growth, v[l]);
}

/* worth[l] := cva_closed_value(), with what paths at .. have reached. */
CVA_CALL void cva_known_values(const cva_job *job, const cva_contract *c, const cva_terms *t,
                               int64_t at, const double *s, double *worth) {
    const int form = c->form;
    const double strike = c->strike, discount = t->discount, deviation = t->deviation;
    double forward[CVA_WIDTH];
    if (form & CVA_BARRIER) {
        cva_barrier_values(job, c, t, at, s, worth);
        return;
    }
    if (form & CVA_MEAN) {
        cva_mean_values(job, c, t, at, s, worth);
        return;
    }
    if (t->left.years == 0) {
        cva_pay_lanes(c, 0, s, worth); /* European: one strike */
        return;
    }
    if (c->surface) {
        cva_surface_values(job, c, t, s, worth);
        return;
    }
    CVA_EACH(l) forward[l] = 0;
    for (int i = 0; i < c->assets; i++) {
        const int64_t a = c->asset[i];
        const double *from = s + a * CVA_WIDTH, weight = cva_weight_in(c, i);
        const double growth = i ? shoal_exp(cva_growth(job, t->left, a)) : t->growth;
        CVA_EACH(l) forward[l] = fma(weight * from[l], growth, forward[l]);
    }
    if (!(deviation > 0) || !(strike > 0))
        CVA_EACH(l) worth[l] = discount * cva_pays(form, strike, forward[l]);
    else if (form & CVA_ANY_SIGN)
        CVA_EACH(l) worth[l] = discount * cva_formula(CVA_ANY_SIGN, forward[l], strike, deviation);
    else if (form & CVA_DIGITAL)
        CVA_EACH(l) worth[l] = discount * cva_formula(form, forward[l], strike, deviation);
    else if (form & CVA_DOWN) /* one loop per side: the compiler drops half of the formula */
        CVA_EACH(l) worth[l] = discount * cva_formula(CVA_DOWN, forward[l], strike, deviation);
    else
        CVA_EACH(l) worth[l] = discount * cva_formula(0, forward[l], strike, deviation);
}

/* Adds a contract's value, times its quantity, to those of a path's netting set. */
CVA_CALL void cva_add_value(const cva_job *job, const cva_contract *c, int64_t path, double worth) {
    double *to = job->value + path * CVA_LEVELS * job->sets + c->set;
    to[0] += worth, to[job->sets] += worth;
}

/* ---- exercise ---------------------------------------------------------------------------------- */

/* hold[l] := cva_line_hold() at prices s; now[l]: whether the rule exercises, decided here off its grid. */
CVA_APART void cva_line_holds(const cva_job *job, const cva_contract *c, const cva_rule *r,
                              int64_t k, const double *s, char *now, double *hold) {
    const cva_span left = cva_rest(job, c, k);
    const int64_t a = c->asset[0];
    const double sigma = job->sigma[a], deviation = cva_deviation(job, left, a), s0 = job->s0[a];
    const double strike = c->strike, weight = cva_weight_in(c, 0);
    if (!(deviation > 0) || !(strike > 0) || !(sigma > 0)) {
        for (int l = 0; l < CVA_WIDTH; l++) hold[l] = cva_line_hold(job, c, r, k, s[l]);
        return;
    }
    const double discount = cva_discount_over(job, left), start = r->start, step = r->step;
    const double growth = shoal_exp(cva_growth(job, left, a));
    const double drift = cva_drift(job, cva_between(job, 0, k), a);
    double place[CVA_WIDTH];
    if (c->form & CVA_DOWN) { /* one loop per side: the compiler drops half of the formula */
        CVA_EACH(l) hold[l] = discount * black_curve(weight * s[l] * growth, strike, deviation, 1);
    } else {
        CVA_EACH(l) hold[l] = discount * black_curve(weight * s[l] * growth, strike, deviation, 0);
    }
    CVA_EACH(l) place[l] = ((shoal_log(s[l] / s0) - drift) / sigma - start) / step;
    CVA_EACH(l) hold[l] += cva_premium(r, k, place[l]);
    for (int l = 0; l < CVA_WIDTH; l++)
        if (!cva_is_on_grid(r, place[l])) {
            const double over = weight * s[l] - cva_strike_at(c, k);
            hold[l] = cva_far_hold(job, c, k, s[l]);
            now[l] = (c->form & CVA_DOWN ? -over : over) >= hold[l];
        }
}

#define CVA_MOST_HOLD 1e300

/* Whether a rule exercises; going_on := what holding is worth by the regression, unless NULL. */
CVA_CALL void cva_decide(const cva_job *job, const cva_contract *c, const cva_rule *r, int64_t k,
                         const double *s, char *now, double *going_on) {
    if (r->basis.kind == CVA_LINE) {
        const double *numbers = cva_rule_at(r, k), *at = s + c->asset[0] * CVA_WIDTH;
        for (int l = 0; l < CVA_WIDTH; l++) now[l] = at[l] >= numbers[0] && at[l] <= numbers[1];
        if (going_on) cva_line_holds(job, c, r, k, at, now, going_on);
        return;
    }
    cva_lanes w;
    cva_make_variables(c, &r->basis, k, s, &w);
    cva_make_psi(r, k, &w);
    cva_make_hold(r, k, &w);
    /* with variances what an option is worth at most: a number, or a share of the price */
    double most = 0, share = 0;
    const int bounded = job->hestons > 0 && r->basis.kind == CVA_BASKET;
    if (bounded) {
        const cva_terms t = cva_terms_of(job, c, cva_rest(job, c, k));
        const double price = t.discount * t.growth, strike = cva_strike_at(c, k);
        if (c->form & CVA_DOWN)
            most = strike * (t.discount > 1 ? t.discount : 1);
        else
            share = price > 1 ? price : 1;
    }
    for (int l = 0; l < CVA_WIDTH; l++) {
        now[l] = w.gain[l] > 0 && w.gain[l] >= w.hold[l];
        /* infinity: the rule knows nothing of such paths. It holds, and that is worth at least what exercise pays */
        double hold = w.hold[l] <= CVA_MOST_HOLD ? w.hold[l] : w.gain[l];
        if (bounded && hold > fma(share, w.u[0][l], most)) hold = fma(share, w.u[0][l], most);
        if (going_on) going_on[l] = hold > 0 ? hold : 0;
    }
}

/* Adds what a path has been paid by a contract, times its quantity, by either rule. */
CVA_CALL void cva_add_flow(const cva_job *job, const cva_contract *c, int64_t path, double paid,
                           double would) {
    double *to = job->flow_now + path * CVA_RULES * job->sets + c->set;
    to[0] += paid, to[job->sets] += would;
}

/* What a decision makes of a contract on a path: whether it is held, else what it pays. */
CVA_CALL int cva_settle_one(const cva_job *job, int now, double pays, char *exercised,
                            double *paid) {
    *paid = 0;
    if (*exercised) return 0;
    if (!now) return 1;
    *paid = pays, *exercised = !job->kept;
    return 0;
}

/* What a contract with early exercise makes of a path at a date, times its quantity: its value that is known, what the
 * other rule would change, with what going on is worth by the regression of the first, and what exercise pays by either
 * rule if that ends the contract. On one asset the rules are the same. */
typedef struct cva_settled {
    double adds, differs, paid[CVA_RULES];
} cva_settled;

/* Going on is today's value at date 0, when nobody exercises. */
CVA_CALL void cva_settle(const cva_job *job, const cva_contract *c, int64_t from, int64_t k,
                         const double *s, cva_settled *to) {
    const int known = !cva_is_walked(job, c), last = k >= c->last, today = k == 0;
    const int may = !last && !today && c->may[k - 1], same = c->rule[0].at == c->rule[1].at;
    const int ends = !job->kept || last;
    char now[CVA_RULES][CVA_WIDTH];
    double pays[CVA_WIDTH], going_on[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++)
        now[0][l] = now[1][l] = 0, going_on[l] = today ? cva_value_today(job, c) : 0;
    cva_pay_lanes(c, k, s, pays);
    if (!last && !today)
        cva_decide(job, c, &c->rule[0], k, s, now[0], known || !same ? going_on : NULL);
    if (!last && !today && !same) cva_decide(job, c, &c->rule[1], k, s, now[1], NULL);
    for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
        const int64_t path = from + l;
        char *exercised = job->exercised + c->place * CVA_RULES * job->paths + path;
        char *holds = job->holds + c->place * job->paths + path;
        to[l].adds = to[l].differs = to[l].paid[0] = to[l].paid[1] = 0;
        if (k > c->last) {
            *holds = 0;
            continue;
        }
        double paid, would;
        const int held = cva_settle_one(job, last || (may && now[0][l]), pays[l], exercised, &paid);
        const double worth = held ? going_on[l] : paid;
        *holds = (char)(held && !known);
        if (paid > 0 || known) cva_note(job, c, k, path, worth, !held);
        to[l].adds = c->quantity * (known ? worth : paid);
        to[l].paid[0] = to[l].paid[1] = ends ? c->quantity * paid : 0;
        if (same) continue;
        const int kept = cva_settle_one(job, last || (may && now[1][l]), pays[l],
                                        exercised + job->paths, &would);
        to[l].differs = c->quantity * ((kept ? going_on[l] : would) - worth);
        to[l].paid[1] = ends ? c->quantity * would : 0;
    }
}

/* ---- nodes ------------------------------------------------------------------------------------- */

/* Whether a contract needs inner paths at a date, which the paths that `holds` says still have. */
CVA_CALL int cva_is_open(const cva_job *job, const cva_contract *c, int64_t k, const char *holds,
                         int64_t path) {
    return c->kind == CVA_NESTED ? cva_left(job, c, k) > 0
                                 : holds[c->place * job->paths + path] != 0;
}

/* Whether inner paths are needed at a node in any view, and at a kink of the exposure. */
CVA_CALL int cva_needs_paths(const cva_job *job, int64_t k, int64_t path, int *kinked) {
    int needs = 0;
    *kinked = 0;
    for (int64_t i = 0; i < job->nesteds; i++) {
        const cva_contract *c = &job->contract[job->nested[i]];
        const int period = cva_period_of(job, c->set);
        int here = cva_is_open(job, c, k, job->holds, path);
        if (job->jump) here |= cva_is_open(job, c, k, job->after.holds, path);
        if (period) {
            const cva_view *v = &job->before[period - 1];
            here |= cva_is_open(job, c, v->date, v->holds, path);
        }
        needs |= here;
        *kinked |= here && cva_has_kink(job, c->set);
    }
    return needs;
}

/* Draws the level of a node; its groups of inner paths. */
CVA_CALL int64_t cva_plan_node(const cva_job *job, int64_t k, int64_t path) {
    cva_node *n = &job->node[path];
    int kinked;
    n->level = -1, n->first = 0;
    if (!cva_needs_paths(job, k, path, &kinked)) return 0;
    n->level = 0;
    if (kinked || job->is_pilot) {
        const shoal_words w = shoal_philox_at(job->seed, job->first + (uint64_t)path, (uint32_t)k,
                                              PRICE_PURPOSE, PRICE_CVA_INNER, 4);
        const double u = shoal_uniform_of(shoal_half(&w, 0));
        while (n->level < job->top_level && u < job->at_least[n->level + 1]) n->level++;
    }
    return 1LL << n->level;
}

/* The items of a node. */
CVA_CALL void cva_fill_node(const cva_job *job, int64_t path) {
    const cva_node *n = &job->node[path];
    const int64_t each = cva_items(job), items = n->level < 0 ? 0 : each << n->level;
    for (int l = 0; l < CVA_WIDTH; l++)
        for (int64_t i = CVA_LANE(l); i < items; i += CVA_LANES) {
            const int64_t at = i % each * CVA_LANES, left = job->paths_inner - at;
            cva_item *item = &job->item[n->first * each + i];
            item->path = path;
            item->from = (int32_t)(i / each * job->paths_inner + at);
            item->lanes = left < CVA_LANES ? (int32_t)left : (int32_t)CVA_LANES;
        }
}

/* The sums of an item by netting set. */
CVA_CALL void cva_add_item(const cva_job *job, int64_t item) {
    const double *from = job->sums + item * job->places;
    double *to = job->net + item * job->sets;
    for (int64_t set = 0; set < job->sets; set++) to[set] = 0;
    for (int64_t i = 0; i < job->nesteds;) {
        const int64_t set = job->contract[job->nested[i]].set;
        double sum = 0;
        for (; i < job->nesteds && job->contract[job->nested[i]].set == set; i++) {
            const cva_contract *c = &job->contract[job->nested[i]];
            sum += c->quantity * from[c->place];
        }
        to[set] = sum;
    }
}

#endif
