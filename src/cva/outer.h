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
    for (int a = 0; a < job->assets; a++) job->brownian[path * job->assets + a] = 0;
    for (int64_t i = 0; i < CVA_RULES * job->places; i++) job->exercised[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->places; i++) job->holds[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->contracts && job->paid; i++) job->paid[i * job->paths + path] = 0;
    for (int i = 0; i < CVA_ROW_HEAD; i++) job->row[path * job->width + i] = 0;
}

/* What belongs to one date. */
CVA_CALL void cva_clear_path(const cva_job *job, int64_t path) {
    double *value = job->value + path * CVA_LEVELS * job->sets;
    for (int64_t i = 0; i < CVA_LEVELS * job->sets; i++) value[i] = 0;
    for (int64_t i = 0; i < job->sets; i++) job->differ[path * job->sets + i] = 0;
    for (int64_t i = 0; i < job->contracts && job->worth; i++)
        job->worth[i * job->paths + path] = 0;
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
        double moved[CVA_WIDTH], s[CVA_WIDTH];
        CVA_EACH(l) moved[l] = 0;
        for (int b = 0; b <= a; b++) {
            const double load = job->load[a * (a + 1) / 2 + b];
            CVA_EACH(l) moved[l] = fma(load, z[b][l], moved[l]);
        }
        for (int l = 0; l < CVA_WIDTH; l++) {
            const int64_t path = from + l < job->paths ? from + l : job->paths - 1;
            moved[l] = fma(step, moved[l], job->brownian[path * d + a]);
        }
        CVA_EACH(l) s[l] = s0 * shoal_exp(fma(sigma, moved[l], shift));
        for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++)
            job->brownian[(from + l) * d + a] = moved[l], job->spot[(from + l) * d + a] = s[l];
    }
}

/* ---- contracts without inner paths --------------------------------------------------------------- */

/* cva_pay() of all lanes. */
CVA_CALL void cva_pay_lanes(const cva_contract *c, const double *s, double *pays) {
    const int sum = c->payoff >= SHOAL_CVA_BASKET_PUT, any = c->payoff == SHOAL_CVA_FORWARD;
    const int down = c->payoff == SHOAL_CVA_PUT || c->payoff == SHOAL_CVA_BASKET_PUT;
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
    CVA_EACH(l) {
        const double gain = shoal_pick(down, strike - all[l], all[l] - strike);
        pays[l] = shoal_pick((gain > 0) | any, gain, 0);
    }
}

/* worth[l] := cva_closed_value(). */
CVA_CALL void cva_known_values(const cva_job *job, const cva_contract *c, const cva_terms *t,
                               const double *s, double *worth) {
    const int sum = c->payoff >= SHOAL_CVA_BASKET_PUT;
    const double strike = c->strike, discount = t->discount, deviation = t->deviation;
    double forward[CVA_WIDTH];
    if (t->left.years == 0) {
        cva_pay_lanes(c, s, worth);
        return;
    }
    CVA_EACH(l) forward[l] = 0;
    for (int i = 0; i < c->assets; i++) {
        const int64_t a = c->asset[i];
        const double *from = s + a * CVA_WIDTH, weight = sum ? c->weight[i] : 1;
        const double growth = i ? shoal_exp(cva_growth(job, t->left, a)) : t->growth;
        CVA_EACH(l) forward[l] = fma(weight * from[l], growth, forward[l]);
    }
    if (c->payoff == SHOAL_CVA_FORWARD)
        CVA_EACH(l) worth[l] = discount * (forward[l] - strike);
    else if (deviation > 0 && strike > 0 && t->put)
        CVA_EACH(l) worth[l] = discount * black_curve(forward[l], strike, deviation, 1);
    else if (deviation > 0 && strike > 0)
        CVA_EACH(l) worth[l] = discount * black_curve(forward[l], strike, deviation, 0);
    else
        CVA_EACH(l) worth[l] = discount * black_payoff(forward[l], strike, t->put);
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

/* What a decision makes of a contract on a path: whether it is held, else what it pays. */
CVA_CALL int cva_settle_one(const cva_job *job, int now, double pays, char *exercised,
                            double *paid) {
    *paid = 0;
    if (*exercised) return 0;
    if (!now) return 1;
    *paid = pays, *exercised = !job->kept;
    return 0;
}

/* A contract with early exercise at date k: adds := its value that is known, differs := what the other rule would
 * change, with what going on is worth by the regression of the first; both times its quantity. On one asset the rules are
 * the same. */
CVA_CALL void cva_settle(const cva_job *job, const cva_contract *c, int64_t from, int64_t k,
                         const double *s, double *adds, double *differs) {
    const int amc = job->estimator == SHOAL_CVA_BY_AMC, last = k >= c->last;
    const int may = !last && c->may[k - 1], same = c->rule[0].at == c->rule[1].at;
    char now[CVA_RULES][CVA_WIDTH];
    double pays[CVA_WIDTH], going_on[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++) now[0][l] = now[1][l] = 0, going_on[l] = 0;
    cva_pay_lanes(c, s, pays);
    if (!last) cva_decide(job, c, &c->rule[0], k, s, now[0], amc || !same ? going_on : NULL);
    if (!last && !same) cva_decide(job, c, &c->rule[1], k, s, now[1], NULL);
    for (int l = 0; l < CVA_WIDTH && from + l < job->paths; l++) {
        const int64_t path = from + l;
        char *exercised = job->exercised + c->place * CVA_RULES * job->paths + path;
        char *holds = job->holds + c->place * job->paths + path;
        adds[l] = differs[l] = 0;
        if (k > c->last) {
            *holds = 0;
            continue;
        }
        double paid, would;
        const int held = cva_settle_one(job, last || (may && now[0][l]), pays[l], exercised, &paid);
        const double known = held ? going_on[l] : paid;
        *holds = (char)(held && !amc);
        if (paid > 0 || amc) cva_note(job, c, k, path, known, !held);
        adds[l] = c->quantity * (amc ? known : paid);
        if (same) continue;
        const int kept = cva_settle_one(job, last || (may && now[1][l]), pays[l],
                                        exercised + job->paths, &would);
        differs[l] = c->quantity * ((kept ? going_on[l] : would) - known);
    }
}

/* ---- nodes ------------------------------------------------------------------------------------- */

/* Whether inner paths are needed at a node, and at a kink of the exposure. */
CVA_CALL int cva_needs_paths(const cva_job *job, int64_t k, int64_t path, int *kinked) {
    int needs = 0;
    *kinked = 0;
    for (int64_t i = 0; i < job->nesteds; i++) {
        const cva_contract *c = &job->contract[job->nested[i]];
        const int here = c->kind == CVA_NESTED ? cva_left(job, c, k) > 0
                                               : job->holds[c->place * job->paths + path] != 0;
        needs |= here;
        *kinked |= here && (job->collateral || !job->sign[c->set]);
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

/* ---- exposures --------------------------------------------------------------------------------- */

/* What is not covered of a set's value to us; a set of one sign has no kink. */
CVA_CALL double cva_uncovered(const cva_job *job, int sign, double value) {
    if (!job->collateral && sign) return sign > 0 ? value : 0;
    const double above = value > 0 ? value : 0;
    return job->collateral && above > job->threshold ? job->threshold : above;
}

/* Exposures of both sides. */
typedef struct cva_sides {
    double ours, theirs;
} cva_sides;

/* Adds those of a set that is worth `value`. */
CVA_CALL void cva_expose(const cva_job *job, int64_t set, double value, cva_sides *to) {
    to->ours += cva_uncovered(job, job->sign[set], value);
    to->theirs += cva_uncovered(job, -job->sign[set], -value);
}

/* The sum of so many items of a set. */
CVA_CALL double cva_sum_items(const cva_job *job, int64_t set, int64_t first, int64_t count) {
    double x[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++) {
        x[l] = 0;
        for (int64_t i = CVA_LANE(l); i < count; i += CVA_LANES)
            x[l] += job->net[(first + i) * job->sets + set];
    }
    return cva_fold(x);
}

/* The formula is in nodes.c. */
CVA_CALL void cva_expose_node(const cva_job *job, int64_t path) {
    const cva_node *n = &job->node[path];
    const int none = job->items == 0 || n->level < 0;
    const int64_t each = cva_items(job), groups = none ? 1 : 1LL << n->level;
    const int64_t first = none ? 0 : n->first * each, items = groups * each;
    const int64_t first_half = items > 1 ? items / 2 : 1;
    const double inner = (double)job->paths_inner;
    const double inner_half =
        items > 1 ? (double)(first_half / each * job->paths_inner + first_half % each * CVA_LANES)
                  : inner;
    const double *base = job->value + path * CVA_LEVELS * job->sets;
    cva_sides whole = { 0, 0 }, half = { 0, 0 }, other = { 0, 0 }, halves = { 0, 0 };
    double ours[CVA_WIDTH], theirs[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++) ours[l] = theirs[l] = 0;
    for (int64_t set = 0; set < job->sets; set++) {
        double all = base[set], some = base[CVA_HALF * job->sets + set];
        if (!none) {
            all += cva_sum_items(job, set, first, items) / ((double)groups * inner);
            some += cva_sum_items(job, set, first, first_half) / inner_half;
        }
        cva_expose(job, set, all, &whole);
        cva_expose(job, set, some, &half);
        cva_expose(job, set, all + job->differ[path * job->sets + set], &other);
        for (int l = 0; l < CVA_WIDTH && n->level > 0 && !none; l++)
            for (int64_t group = CVA_LANE(l); group < groups; group += CVA_LANES) {
                const double *sums = job->net + (first + group * each) * job->sets + set;
                cva_sides here = { 0, 0 };
                double sum = 0;
                for (int64_t i = 0; i < each; i++) sum += sums[i * job->sets];
                cva_expose(job, set, base[set] + sum / inner, &here);
                ours[l] += here.ours, theirs[l] += here.theirs;
            }
        for (int64_t second = 0; second < 2 && n->level > 0 && !none; second++) {
            const double sum = cva_sum_items(job, set, first + second * (items / 2), items / 2);
            cva_expose(job, set, base[set] + sum / ((double)(groups / 2) * inner), &halves);
        }
    }
    cva_sides plain = whole, best = whole;
    if (!none && n->level > 0) {
        const int above = n->level < job->top_level;
        const double chance = job->at_least[n->level] - (above ? job->at_least[n->level + 1] : 0);
        plain.ours = cva_fold(ours) / (double)groups;
        plain.theirs = cva_fold(theirs) / (double)groups;
        best.ours = plain.ours + (whole.ours - 0.5 * halves.ours) / chance;
        best.theirs = plain.theirs + (whole.theirs - 0.5 * halves.theirs) / chance;
    }
    if (CVA_LANE(0) > 0) return;
    double *row = job->row + path * job->width;
    double *list = row + CVA_ROW_HEAD + job->date;
    const int inner_only = job->estimator == SHOAL_CVA_BY_INNER;
    row[CVA_ROW_CVA] += job->share * best.ours;
    row[CVA_ROW_PLAIN] += job->share * (inner_only ? half.ours : plain.ours);
    row[CVA_ROW_RULE] += job->share * (whole.ours - other.ours);
    list[CVA_LIST_OURS * job->exposures] = best.ours;
    list[CVA_LIST_THEIRS * job->exposures] = best.theirs;
    list[CVA_LIST_WHOLE * job->exposures] = whole.ours;
    list[CVA_LIST_HALF * job->exposures] = half.ours;
    list[CVA_LIST_RULE * job->exposures] = whole.ours - other.ours;
    list[CVA_LIST_RULE_THEIRS * job->exposures] = whole.theirs - other.theirs;
}

/* For a validation: what each contract is worth at the node, and has paid before. */
CVA_CALL void cva_note_node(const cva_job *job, int64_t k, int64_t path) {
    const cva_node *n = &job->node[path];
    const int64_t each = cva_items(job);
    const int64_t items = job->items == 0 || n->level < 0 ? 0 : each << n->level;
    const double discount = cva_discount_over(job, cva_between(job, 0, k));
    double *to = job->row + path * job->width + CVA_ROW_HEAD + CVA_LISTS * job->exposures;
    for (int l = 0; l < CVA_WIDTH; l++)
        for (int64_t i = CVA_LANE(l); i < job->contracts; i += CVA_LANES) {
            const cva_contract *c = &job->contract[i];
            const int64_t at = i * job->paths + path;
            double sum = 0;
            const int by_paths = c->kind == CVA_NESTED ||
                                 (c->kind == CVA_AMERICAN && job->estimator == SHOAL_CVA_BY_RULE);
            for (int64_t e = 0; e < items && by_paths; e++)
                sum += job->sums[(n->first * each + e) * job->places + c->place];
            const double mean = items ? sum / (double)(job->paths_inner << n->level) : 0;
            to[i * job->exposures + job->date] = discount * (job->worth[at] + mean) + job->paid[at];
        }
}

#endif
