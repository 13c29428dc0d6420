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
    for (int64_t i = 0; i < job->contracts && job->owed; i++) job->owed[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->sets && job->list_by_set; i++)
        job->row[path * job->width + cva_set_share(job, i)] = 0;
    for (int i = 0; i < CVA_ROW_HEAD; i++) job->row[path * job->width + i] = 0;
}

/* What belongs to one date. */
CVA_CALL void cva_clear_path(const cva_job *job, int64_t path) {
    double *value = job->value + path * CVA_LEVELS * job->sets;
    for (int64_t i = 0; i < CVA_LEVELS * job->sets; i++) value[i] = 0;
    for (int64_t i = 0; i < job->sets; i++) job->differ[path * job->sets + i] = 0;
    for (int64_t i = 0; i < job->contracts && job->worth; i++)
        job->worth[i * job->paths + path] = 0;
    for (int64_t i = 0; i < job->contracts && job->here; i++) job->here[i * job->paths + path] = 0;
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
        *kinked |= here && (cva_party_of(job, c->set)->collateral || !job->sign[c->set]);
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

/* Exposures of both sides. */
typedef struct cva_sides {
    double ours, theirs;
} cva_sides;

/* Those of a set that is worth `value`. */
CVA_CALL cva_sides cva_expose(const cva_job *job, int64_t set, double value) {
    const cva_party *party = cva_party_of(job, set);
    cva_sides s;
    s.ours = cva_uncovered(party, job->sign[set], value);
    s.theirs = cva_uncovered(party, -job->sign[set], -value);
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
CVA_CALL double cva_sum_items(const cva_job *job, int64_t set, int64_t first, int64_t count) {
    double x[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++) {
        x[l] = 0;
        for (int64_t i = CVA_LANE(l); i < count; i += CVA_LANES)
            x[l] += job->net[(first + i) * job->sets + set];
    }
    return cva_fold(x);
}

/* Exposures of a set at a node: by all inner paths, by half of them, by the other rule; the mean over groups, and that with
 * the correction of the level. */
typedef struct cva_exposures {
    cva_sides whole, half, other, plain, best;
} cva_exposures;

/* The formula is in nodes.c. */
CVA_CALL cva_exposures cva_expose_set(const cva_job *job, const cva_groups *g, int64_t path,
                                      int64_t set) {
    const double *base = job->value + path * CVA_LEVELS * job->sets;
    const int64_t half = g->items > 1 ? g->items / 2 : 1;
    double all = base[set], some = base[CVA_HALF * job->sets + set];
    cva_exposures e;
    if (!g->none) {
        const double paths = half / g->each * g->inner + (double)(half % g->each * CVA_LANES);
        all += cva_sum_items(job, set, g->first, g->items) / ((double)g->count * g->inner);
        some += cva_sum_items(job, set, g->first, half) / (g->items > 1 ? paths : g->inner);
    }
    e.whole = cva_expose(job, set, all), e.half = cva_expose(job, set, some);
    e.other = cva_expose(job, set, all + job->differ[path * job->sets + set]);
    e.plain = e.best = e.whole;
    if (!(g->chance > 0)) return e;
    double ours[CVA_WIDTH], theirs[CVA_WIDTH];
    for (int l = 0; l < CVA_WIDTH; l++) {
        ours[l] = theirs[l] = 0;
        for (int64_t group = CVA_LANE(l); group < g->count; group += CVA_LANES) {
            const double *sums = job->net + (g->first + group * g->each) * job->sets + set;
            double sum = 0;
            for (int64_t i = 0; i < g->each; i++) sum += sums[i * job->sets];
            const cva_sides here = cva_expose(job, set, base[set] + sum / g->inner);
            ours[l] += here.ours, theirs[l] += here.theirs;
        }
    }
    e.plain.ours = cva_fold(ours) / (double)g->count;
    e.plain.theirs = cva_fold(theirs) / (double)g->count;
    cva_sides halves = { 0, 0 };
    for (int64_t second = 0; second < 2; second++) {
        const double sum =
            cva_sum_items(job, set, g->first + second * (g->items / 2), g->items / 2);
        const cva_sides here =
            cva_expose(job, set, base[set] + sum / ((double)(g->count / 2) * g->inner));
        halves.ours += here.ours, halves.theirs += here.theirs;
    }
    e.best.ours = e.plain.ours + (e.whole.ours - 0.5 * halves.ours) / g->chance;
    e.best.theirs = e.plain.theirs + (e.whole.theirs - 0.5 * halves.theirs) / g->chance;
    return e;
}

CVA_CALL void cva_add_sides(cva_sides *to, cva_sides more) {
    to->ours += more.ours, to->theirs += more.theirs;
}

CVA_CALL void cva_expose_node(const cva_job *job, int64_t path) {
    const cva_groups g = cva_groups_of(job, path);
    const int inner_only = job->estimator == SHOAL_CVA_BY_INNER;
    cva_exposures all = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } };
    double *row = job->row + path * job->width, cva = 0, plain = 0, rule = 0;
    for (int64_t set = 0; set < job->sets; set++) {
        const cva_exposures e = cva_expose_set(job, &g, path, set);
        const double share = job->share[job->party_of[set] * job->exposures + job->date];
        cva += share * e.best.ours, plain += share * (inner_only ? e.half.ours : e.plain.ours);
        rule += share * (e.whole.ours - e.other.ours);
        cva_add_sides(&all.whole, e.whole), cva_add_sides(&all.half, e.half);
        cva_add_sides(&all.other, e.other), cva_add_sides(&all.best, e.best);
        if (!job->list_by_set || CVA_LANE(0) > 0) continue;
        double *list = row + cva_set_list(job, set) + job->date;
        list[CVA_SET_OURS * job->exposures] = e.best.ours;
        list[CVA_SET_THEIRS * job->exposures] = e.best.theirs;
        list[CVA_SET_WHOLE * job->exposures] = e.whole.ours;
        row[cva_set_share(job, set)] += share * e.best.ours;
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
    const cva_sides e = cva_expose(job, c->set, all);
    share->ours = all != 0 ? e.ours / all * worth : 0;
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
        cva_sides halves = { 0, 0 }, plain = { 0, 0 };
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
    job->owed[at] += job->share[job->party_of[c->set] * job->exposures + job->date] * e.ours;
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
