/* SPDX-License-Identifier: Apache-2.0
 *
 * exposure.h - what a node loses at default, for both compilers: the values of contracts added up by netting set, less
 * collateral, on all levels of inner paths; and the share of each trade in it.
 *
 * Collateral covers what a set was worth at the last margin call, V_c, beyond what an agreement leaves uncovered, H of
 * them and h of us, and independent amounts I and i cover in any case:
 *
 *     C = (V_c - H)+ - (-V_c - h)+,   ours (V - C - I)+,   theirs (C - V - i)+.
 *
 * Without a margin period V_c = V, and ours is (min(V+, H) - I)+. Nobody pays between margin call and close-out, so
 * that V has what has become due since then. After a jump at default V is another value, and C is not.
 */
#ifndef SHOAL_CVA_EXPOSURE_H
#define SHOAL_CVA_EXPOSURE_H

#include "cva/outer.h"

/* The sum of the numbers of a group's lanes: by halves, for both compilers. */
#if CVA_WIDTH == 1
__device__ static inline double cva_fold(const double *x) {
    double sum = x[0];
    for (int distance = CVA_LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    return __shfl_sync(0xffffffffu, sum, 0);
}
#else
static inline double cva_fold(double *x) {
    for (int distance = CVA_WIDTH / 2; distance > 0; distance /= 2)
        for (int l = 0; l < distance; l++) x[l] += x[l + distance];
    return x[0];
}
#endif

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

/* Exposures of a set at a node: by all inner paths, by half of them, by the other rule; the mean over groups, and that
 * with the correction of the level. */
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
 * Euler allocation. An exposure E of a set that is worth V = sum of v_i is E = sum of (E / V) v_i: without collateral
 * that is 1 {V > 0} v_i. A node with a level has several V, and the formula of nodes.c is linear in their E: so is its
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
