/* SPDX-License-Identifier: Apache-2.0
 *
 * outer.h - outer paths from date to date, for both compilers: their prices, the values of contracts that need no
 * inner paths, exercise, and the exposures of a node, an outer path at a date. In f64 alone, with the bits of the CPU on
 * the GPU.
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
 * Functions on paths take CVA_WIDTH of them, from path `from` on, and their prices s, [asset][lane]. Functions on nodes
 * take one, whose items or contracts are shared by CVA_LANES lanes: on the CPU the turns of a loop, on the GPU the
 * threads of a warp. The includer defines CVA_LANE(l), the lane of turn l, and cva_fold(x), the sum of all lanes by
 * halves.
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

/* The lowest, or highest, price of an asset over the step to date k. Given log S at both ends, x and y, and the variance v
 * of the step, log S between them is a Brownian bridge, and its minimum is distributed as
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

CVA_CALL void cva_move_paths(const cva_job *job, int64_t from, int64_t k) {
    const int d = job->assets, pairs = (d + 1) / 2;
    const cva_span since = cva_between(job, k - 1, k), all = cva_between(job, 0, k);
    const double root = sqrt(since.years);
    double z[SHOAL_CVA_ASSETS + 1][CVA_WIDTH];
    for (int pair = 0; pair < pairs; pair++)
        cva_draw(&job->outer_normals, (uint32_t)((k - 1) * pairs + pair),
                 job->first + (uint64_t)from, z + 2 * pair);
    for (int a = 0; a < d; a++) {
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

/* Prices at default of the only counterparty since the last exposure: they jump by J, and without default S grows by -J times the hazard rate
 * more than the market says, which keeps its mean. With H the integrated hazard rate, the mean over times of default is
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
CVA_CALL void cva_pay_lanes(const cva_contract *c, const double *s, double *pays) {
    const int form = c->form, sum = form & CVA_OF_SUM;
    const double strike = c->strike, *first = s + c->asset[0] * CVA_WIDTH;
    double all[CVA_WIDTH];
    CVA_EACH(l) all[l] = sum ? 0 : first[l];
    for (int i = 0; i < c->assets; i++) {
        const double *from = s + c->asset[i] * CVA_WIDTH, weight = sum ? c->weight[i] : 0;
        if (sum)
            CVA_EACH(l) all[l] = fma(weight, from[l], all[l]);
        else
            CVA_EACH(l) all[l] = shoal_pick(from[l] > all[l], from[l], all[l]);
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
    if (t->left.years == 0) {
        cva_pay_lanes(c, s, worth);
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

/* Whether a rule exercises; going_on := what holding is worth by the regression, unless NULL. */
CVA_CALL void cva_decide(const cva_job *job, const cva_contract *c, const cva_rule *r, int64_t k,
                         const double *s, char *now, double *going_on) {
    if (r->basis.kind == CVA_LINE) {
        const double *numbers = cva_rule_at(r, k), *at = s + c->asset[0] * CVA_WIDTH;
        for (int l = 0; l < CVA_WIDTH; l++) {
            now[l] = at[l] >= numbers[0] && at[l] <= numbers[1];
            if (going_on) going_on[l] = cva_line_hold(job, c, r, k, at[l]);
        }
        return;
    }
    cva_lanes w;
    cva_make_variables(c, &r->basis, s, &w);
    cva_make_psi(r, k, &w);
    cva_make_hold(r, k, &w);
    for (int l = 0; l < CVA_WIDTH; l++) {
        now[l] = w.gain[l] > 0 && w.gain[l] >= w.hold[l];
        if (going_on) going_on[l] = w.hold[l] > 0 ? w.hold[l] : 0;
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
    const int amc = job->estimator == SHOAL_CVA_BY_AMC, last = k >= c->last, today = k == 0;
    const int may = !last && !today && c->may[k - 1], same = c->rule[0].at == c->rule[1].at;
    const int ends = !job->kept || last;
    char now[CVA_RULES][CVA_WIDTH];
    double pays[CVA_WIDTH], going_on[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++)
        now[0][l] = now[1][l] = 0, going_on[l] = today ? cva_value_today(job, c) : 0;
    cva_pay_lanes(c, s, pays);
    if (!last && !today)
        cva_decide(job, c, &c->rule[0], k, s, now[0], amc || !same ? going_on : NULL);
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
        const double known = held ? going_on[l] : paid;
        *holds = (char)(held && !amc);
        if (paid > 0 || amc) cva_note(job, c, k, path, known, !held);
        to[l].adds = c->quantity * (amc ? known : paid);
        to[l].paid[0] = to[l].paid[1] = ends ? c->quantity * paid : 0;
        if (same) continue;
        const int kept = cva_settle_one(job, last || (may && now[1][l]), pays[l],
                                        exercised + job->paths, &would);
        to[l].differs = c->quantity * ((kept ? going_on[l] : would) - known);
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

/* ---- exposures ---------------------------------------------------------------------------------
 *
 * Collateral covers what a set was worth at the last margin call, V_c, beyond what an agreement leaves uncovered, H of
 * them and h of us, and independent amounts I and i cover in any case:
 *
 *     C = (V_c - H)+ - (-V_c - h)+,   ours (V - C - I)+,   theirs (C - V - i)+.
 *
 * Without a margin period V_c = V, and ours is (min(V+, H) - I)+. Nobody pays between margin call and close-out, so that V
 * has what has become due since then. After a jump at default V is another value, and C is not. */

/* What a set is worth at the date, at the margin call, and after the jump. */
typedef struct cva_worth {
    double now, before, after;
} cva_worth;

/* Exposures of both sides, and ours at default. */
typedef struct cva_sides {
    double ours, theirs, lost;
} cva_sides;

CVA_CALL double cva_collateral(const cva_csa *csa, double value) {
    if (value > csa->theirs) return value - csa->theirs;
    return -value > csa->ours ? value + csa->ours : 0;
}

/* Those of a set. */
CVA_CALL cva_sides cva_expose(const cva_job *job, int64_t set, cva_worth w) {
    const cva_csa *csa = job->csa ? &job->csa[set] : NULL;
    const int sign = job->sign[set], period = cva_period_of(job, set);
    cva_sides s;
    if (period) {
        const double covered = cva_collateral(csa, w.before);
        s.ours = cva_positive(w.now - covered - csa->held);
        s.theirs = cva_positive(covered - w.now - csa->posted);
    } else {
        s.ours = cva_uncovered(csa, sign, 1, w.now);
        s.theirs = cva_uncovered(csa, -sign, 0, -w.now);
    }
    s.lost = s.ours;
    if (!job->jump) return s;
    if (!csa || csa->is_none)
        s.lost = cva_uncovered(csa, sign, 1, w.after);
    else
        s.lost = cva_positive(w.after - cva_collateral(csa, period ? w.before : w.now) - csa->held);
    return s;
}

/* The items of a node. */
typedef struct cva_groups {
    int64_t first, each, count, items; /* items of a group; groups; items of all */
    int none;                          /* there are no items                     */
    double inner;                      /* paths of a group                       */
    double chance;                     /* of the node's level; 0: it is 0        */
} cva_groups;

CVA_CALL cva_groups cva_groups_of(const cva_job *job, int64_t path) {
    const cva_node *n = &job->node[path];
    cva_groups g;
    g.none = job->items == 0 || n->level < 0;
    g.each = cva_items(job), g.count = g.none ? 1 : 1LL << n->level;
    g.first = g.none ? 0 : n->first * g.each, g.items = g.count * g.each;
    g.inner = (double)job->paths_inner, g.chance = 0;
    if (!g.none && n->level > 0) {
        const int above = n->level < job->top_level;
        g.chance = job->at_least[n->level] - (above ? job->at_least[n->level + 1] : 0);
    }
    return g;
}

/* The sum of so many items of a set. */
CVA_CALL double cva_sum_items(const cva_job *job, const double *net, int64_t set, int64_t first,
                              int64_t count) {
    double x[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++) {
        x[l] = 0;
        for (int64_t i = CVA_LANE(l); i < count; i += CVA_LANES)
            x[l] += net[(first + i) * job->sets + set];
    }
    return cva_fold(x);
}

/* The view of a set's margin call; NULL: it has no margin period. */
CVA_CALL const cva_view *cva_call_of(const cva_job *job, int64_t set) {
    const int period = cva_period_of(job, set);
    return period ? &job->before[period - 1] : NULL;
}

/* Adds the means of so many items to what a set is worth in each view. */
CVA_CALL void cva_add_items(const cva_job *job, int64_t set, int64_t first, int64_t count,
                            double inner, cva_worth *w) {
    const cva_view *call = cva_call_of(job, set);
    w->now += cva_sum_items(job, job->net, set, first, count) / inner;
    if (call) w->before += cva_sum_items(job, call->net, set, first, count) / inner;
    if (job->jump) w->after += cva_sum_items(job, job->after.net, set, first, count) / inner;
}

/* The same of a group, by one lane. */
CVA_CALL double cva_group_mean(const cva_job *job, const double *net, int64_t set, int64_t first) {
    double sum = 0;
    for (int64_t i = 0; i < cva_items(job); i++) sum += net[(first + i) * job->sets + set];
    return sum / (double)job->paths_inner;
}
CVA_CALL void cva_add_group(const cva_job *job, int64_t set, int64_t first, cva_worth *w) {
    const cva_view *call = cva_call_of(job, set);
    w->now += cva_group_mean(job, job->net, set, first);
    if (call) w->before += cva_group_mean(job, call->net, set, first);
    if (job->jump) w->after += cva_group_mean(job, job->after.net, set, first);
}

/* What has become due to us since the margin call. */
CVA_CALL double cva_due(const cva_job *job, int64_t path, int64_t set, int rule) {
    const int64_t at = (path * CVA_RULES + rule) * job->sets + set;
    return (job->flow[at] - cva_call_of(job, set)->flow[at]) / job->discount;
}

/* What is known of a set's worth without inner paths. */
CVA_CALL cva_worth cva_known_worth(const cva_job *job, int64_t path, int64_t set, int level) {
    const int64_t at = (path * CVA_LEVELS + level) * job->sets + set;
    const cva_view *call = cva_call_of(job, set);
    cva_worth w = { job->value[at], 0, 0 };
    if (job->jump) w.after = job->after.value[at];
    if (!call) return w;
    const double due = cva_due(job, path, set, 0);
    w.before = call->value[path * CVA_LEVELS * job->sets + set];
    w.now += due, w.after += due;
    return w;
}

/* What it would be worth by the other rule. */
CVA_CALL cva_worth cva_other_worth(const cva_job *job, int64_t path, int64_t set, cva_worth w) {
    const int64_t at = path * job->sets + set;
    const cva_view *call = cva_call_of(job, set);
    w.now += job->differ[at];
    if (job->jump) w.after += job->after.differ[at];
    if (!call) return w;
    const double more = cva_due(job, path, set, 1) - cva_due(job, path, set, 0);
    w.before += call->differ[at];
    w.now += more, w.after += more;
    return w;
}

/* Exposures of a set at a node: by all inner paths, by half of them, by the other rule; the mean over groups, and that with
 * the correction of the level. */
typedef struct cva_exposures {
    cva_sides whole, half, other, plain, best;
} cva_exposures;

CVA_CALL void cva_add_sides(cva_sides *to, cva_sides more) {
    to->ours += more.ours, to->theirs += more.theirs, to->lost += more.lost;
}

/* plain + (whole - half of halves) / chance */
CVA_CALL double cva_corrected(double plain, double whole, double halves, double chance) {
    return plain + (whole - 0.5 * halves) / chance;
}

/* The formula is in nodes.c. */
CVA_CALL cva_exposures cva_expose_set(const cva_job *job, const cva_groups *g, int64_t path,
                                      int64_t set) {
    const int64_t half = g->items > 1 ? g->items / 2 : 1;
    const cva_worth known = cva_known_worth(job, path, set, CVA_ALL);
    cva_worth all = known, some = cva_known_worth(job, path, set, CVA_HALF);
    cva_exposures e;
    if (!g->none) {
        const double paths = half / g->each * g->inner + (double)(half % g->each * CVA_LANES);
        cva_add_items(job, set, g->first, g->items, (double)g->count * g->inner, &all);
        cva_add_items(job, set, g->first, half, g->items > 1 ? paths : g->inner, &some);
    }
    e.whole = cva_expose(job, set, all), e.half = cva_expose(job, set, some);
    e.other = cva_expose(job, set, cva_other_worth(job, path, set, all));
    e.plain = e.best = e.whole;
    if (!(g->chance > 0)) return e;
    double ours[CVA_WIDTH], theirs[CVA_WIDTH], lost[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++) {
        ours[l] = theirs[l] = lost[l] = 0;
        for (int64_t group = CVA_LANE(l); group < g->count; group += CVA_LANES) {
            cva_worth w = known;
            cva_add_group(job, set, g->first + group * g->each, &w);
            const cva_sides here = cva_expose(job, set, w);
            ours[l] += here.ours, theirs[l] += here.theirs, lost[l] += here.lost;
        }
    }
    e.plain.ours = cva_fold(ours) / (double)g->count;
    e.plain.theirs = cva_fold(theirs) / (double)g->count;
    e.plain.lost = cva_fold(lost) / (double)g->count;
    cva_sides halves = { 0, 0, 0 };
    for (int64_t second = 0; second < 2; second++) {
        cva_worth w = known;
        cva_add_items(job, set, g->first + second * (g->items / 2), g->items / 2,
                      (double)(g->count / 2) * g->inner, &w);
        cva_add_sides(&halves, cva_expose(job, set, w));
    }
    e.best.ours = cva_corrected(e.plain.ours, e.whole.ours, halves.ours, g->chance);
    e.best.theirs = cva_corrected(e.plain.theirs, e.whole.theirs, halves.theirs, g->chance);
    e.best.lost = cva_corrected(e.plain.lost, e.whole.lost, halves.lost, g->chance);
    return e;
}

/* Of the CVA that an exposure of a set has on a path. */
CVA_CALL double cva_share_of(const cva_job *job, int64_t set, int64_t path) {
    const int64_t party = job->party_of[set];
    const double share = job->share[party * job->exposures + job->date];
    return job->hazard ? share * cva_weight_of(job, party, path) : share;
}

CVA_CALL void cva_expose_node(const cva_job *job, int64_t path) {
    const cva_groups g = cva_groups_of(job, path);
    const int inner_only = job->estimator == SHOAL_CVA_BY_INNER;
    const cva_sides none = { 0, 0, 0 };
    cva_exposures all = { none, none, none, none, none };
    double *row = job->row + path * job->width, cva = 0, plain = 0, rule = 0;
    for (int64_t set = 0; set < job->sets; set++) {
        const cva_exposures e = cva_expose_set(job, &g, path, set);
        const double share = cva_share_of(job, set, path);
        cva += share * e.best.lost, plain += share * (inner_only ? e.half.lost : e.plain.lost);
        rule += share * (e.whole.lost - e.other.lost);
        cva_add_sides(&all.whole, e.whole), cva_add_sides(&all.half, e.half);
        cva_add_sides(&all.other, e.other), cva_add_sides(&all.best, e.best);
        if (!job->list_by_set || CVA_LANE(0) > 0) continue;
        double *list = row + cva_set_list(job, set) + job->date;
        list[CVA_SET_OURS * job->exposures] = e.best.ours;
        list[CVA_SET_THEIRS * job->exposures] = e.best.theirs;
        list[CVA_SET_WHOLE * job->exposures] = e.whole.ours;
        if (job->wrong_way) list[CVA_SET_LOSS * job->exposures] = share * e.best.lost;
        row[cva_set_share(job, set)] += share * e.best.lost;
    }
    if (CVA_LANE(0) > 0) return;
    double *list = row + CVA_ROW_HEAD + job->date;
    row[CVA_ROW_CVA] += cva, row[CVA_ROW_PLAIN] += plain, row[CVA_ROW_RULE] += rule;
    list[CVA_LIST_OURS * job->exposures] = all.best.ours;
    list[CVA_LIST_THEIRS * job->exposures] = all.best.theirs;
    list[CVA_LIST_WHOLE * job->exposures] = all.whole.ours;
    list[CVA_LIST_HALF * job->exposures] = all.half.ours;
    list[CVA_LIST_RULE * job->exposures] = all.whole.ours - all.other.ours;
    list[CVA_LIST_RULE_THEIRS * job->exposures] = all.whole.theirs - all.other.theirs;
    if (job->wrong_way) list[CVA_LIST_LOSS * job->exposures] = cva;
}

/* For a validation: what each contract is worth at the node, and has paid before. */
CVA_CALL void cva_note_node(const cva_job *job, int64_t k, int64_t path) {
    const cva_node *n = &job->node[path];
    const int64_t each = cva_items(job);
    const int64_t items = job->items == 0 || n->level < 0 ? 0 : each << n->level;
    const double discount = cva_discount_over(job, cva_between(job, 0, k));
    double *to = job->row + path * job->width + CVA_ROW_HEAD + cva_lists(job) * job->exposures;
    for (int l = 0; l < CVA_WIDTH; l++)
        for (int64_t i = CVA_LANE(l); i < job->contracts; i += CVA_LANES) {
            const cva_contract *c = &job->contract[i];
            const int64_t at = i * job->paths + path;
            double sum = 0;
            for (int64_t e = 0; e < items && cva_is_walked(job, c); e++)
                sum += job->sums[(n->first * each + e) * job->places + c->place];
            const double mean = items ? sum / (double)(job->paths_inner << n->level) : 0;
            to[i * job->exposures + job->date] = discount * (job->worth[at] + mean) + job->paid[at];
        }
}

/* ---- results by trade -----------------------------------------------------------------------------
 *
 * Euler allocation. An exposure E of a set that is worth V = sum of v_i is E = sum of (E / V) v_i: without collateral that
 * is 1 {V > 0} v_i. A node with a level has several V, and the formula of nodes.c is linear in their E: so is its
 * allocation. Sums over paths are whole numbers, so that they do not depend on the order.
 */

CVA_CALL void cva_add_whole(int64_t *sum, int64_t more) {
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)more);
}

/* Adds x times `unit` to a sum: whole ones, and 2^-CVA_LOW_BITS of them, rounded down. */
CVA_CALL void cva_add_total(int64_t *sum, double x, double unit) {
    const double most = 2305843009213693952.0, y = x * unit; /* 2^61 */
    const double z = y > most ? most : y > -most ? y : -most, whole = floor(z);
    cva_add_whole(&sum[0], (int64_t)whole);
    cva_add_whole(&sum[1], (int64_t)((z - whole) * (double)(1LL << CVA_LOW_BITS)));
}

/* What a contract is worth to us by items of a node, and its share of their set's exposures. */
CVA_CALL double cva_allot_items(const cva_job *job, const cva_contract *c, int64_t path,
                                int64_t first, int64_t count, double paths, cva_sides *share) {
    const int64_t at = (c - job->contract) * job->paths + path;
    double sum = 0, net = 0;
    for (int64_t i = first; i < first + count && cva_is_walked(job, c); i++)
        sum += job->sums[i * job->places + c->place];
    for (int64_t i = first; i < first + count; i++) net += job->net[i * job->sets + c->set];
    const double worth = c->quantity * (job->here[at] + (count ? sum / paths : 0));
    const double all =
        job->value[path * CVA_LEVELS * job->sets + c->set] + (count ? net / paths : 0);
    const cva_worth w = { all, 0, 0 };
    const cva_sides e = cva_expose(job, c->set, w);
    share->ours = share->lost = all != 0 ? e.ours / all * worth : 0;
    share->theirs = all != 0 ? e.theirs / all * worth : 0;
    return worth;
}

/* Of a contract at a node: adds its share of the exposures to `sum`, [CVA_TOTAL_LISTS][CVA_LIMBS]. */
CVA_CALL void cva_allot(const cva_job *job, const cva_contract *c, int64_t path, int64_t *sum) {
    const cva_groups g = cva_groups_of(job, path);
    const int64_t at = (c - job->contract) * job->paths + path, half = g.items / 2;
    const double paths = (double)g.count * g.inner;
    cva_sides e, here;
    const double worth = cva_allot_items(job, c, path, g.first, g.none ? 0 : g.items, paths, &e);
    if (g.chance > 0) {
        cva_sides halves = { 0, 0, 0 }, plain = halves;
        for (int64_t second = 0; second < 2; second++) {
            cva_allot_items(job, c, path, g.first + second * half, half, 0.5 * paths, &here);
            cva_add_sides(&halves, here);
        }
        for (int64_t group = 0; group < g.count; group++) {
            cva_allot_items(job, c, path, g.first + group * g.each, g.each, g.inner, &here);
            cva_add_sides(&plain, here);
        }
        e.ours = plain.ours / (double)g.count + (e.ours - 0.5 * halves.ours) / g.chance;
        e.theirs = plain.theirs / (double)g.count + (e.theirs - 0.5 * halves.theirs) / g.chance;
    }
    job->owed[at] += cva_share_of(job, c->set, path) * e.ours;
    cva_add_total(sum, e.ours, c->unit);
    cva_add_total(sum + CVA_LIMBS, e.theirs, c->unit);
    if (job->values)
        job->values[(path * job->contracts + (c - job->contract)) * job->exposures + job->date] =
            worth;
}

/* After the last date: the share of the CVA and its square. */
CVA_CALL void cva_allot_end(const cva_job *job, const cva_contract *c, int64_t path, int64_t *sum) {
    const double owed = job->owed[(c - job->contract) * job->paths + path] * c->unit;
    cva_add_total(sum, owed, 1);
    cva_add_total(sum + CVA_LIMBS, owed * owed, CVA_SQUARE_UNIT);
}

#endif
