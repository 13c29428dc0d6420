/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c - one date of a run: what the contracts are worth at every node, an outer path at a date, and the
 * exposures there.
 *
 * A contract with early exercise that its rule exercises now pays; otherwise it is worth a mean over inner paths
 * that follow the rule (`rule`), what the regression of the rule predicts (`amc`), or what regressions at
 * the node predict (`inner`; exercise.c). On one asset `rule`, too, has the value of the rule's grid (line.c).
 *
 * The positive part. The value V of a netting set is known with noise, and a positive part of it would be too large
 * in the mean. Sets that are never worth less than 0, or never more, have no such part: their exposure is V itself, or
 * 0. For the others a node draws a level l, from its address, and gets M 2^l inner paths. With f(m) the exposure of
 * a mean over m of them,
 *
 *     f(M) + (f(M 2^l) - (f of the first half + f of the second half) / 2) / P(level = l)   (l > 0)
 *
 * has the mean of f with infinitely many, up to the bias of M 2^CVA_TOP: the sum of the differences telescopes
 * (M. Giles; A. Haji-Ali, multilevel nested simulation; halves are antithetic: where they have the same sign the
 * difference is 0). f(M) is the mean over all groups of M. Variance falls like 2^(-3 l / 2) and cost grows like 2^l,
 * hence P(level >= l) = share 2^(-5 (l - 1) / 4); the share is measured (plan.c).
 */
#include "cva/plan.h"
#include <stdlib.h>

enum { MAX_SUMS = 1 << 22, MAX_SUMS_DEVICE = 1 << 25 }; /* items times contracts at a time */

/* Views of the contracts: at the date, at margin calls, after the jump at default. */
static int64_t views_of(const cva_job *j) { return 1 + j->periods + (j->jump != NULL); }

/* Room for the sums of so many items. */
static shoal_status reserve_items(shoal_cva *p, cva_job *j) {
    if (j->items > p->item_room) {
        const size_t items = (size_t)(j->items + j->items / 4);
        shoal_status s = shoal_plan_reserve(p->room, items * sizeof *j->item, &p->item);
        if (s == SHOAL_OK)
            s = shoal_plan_reserve(p->room, items * (size_t)j->places * sizeof *j->sums, &p->sums);
        if (s == SHOAL_OK)
            s = shoal_plan_reserve(
                p->room, items * (size_t)(j->sets * views_of(j)) * sizeof *j->net, &p->net);
        if (s != SHOAL_OK) return s;
        p->item_room = (int64_t)items;
    }
    j->item = p->item, j->sums = p->sums, j->net = p->net;
    for (int64_t i = 0; i <= j->periods; i++)
        *(i < j->periods ? &j->before[i].net : &j->after.net) =
            p->net + (i + 1) * j->items * j->sets;
    return SHOAL_OK;
}

/* Sums over the inner paths of a view at date k. */
static shoal_status value_view(shoal_cva *p, const cva_job *j, int64_t k,
                               shoal_cva_counts *counts) {
    const double start = shoal_price_seconds();
    shoal_status s = SHOAL_OK;
    counts->inner_paths += j->items / cva_items(j) * j->paths_inner;
    if (j->kinds[CVA_NESTED] > 0) s = p->walker->nest(p->where, j, k);
    if (s == SHOAL_OK && j->kinds[CVA_NESTED] > 0) s = shoal_wait(p->where);
    const double half = shoal_price_seconds();
    const int follows = j->follows > 0 && p->estimator == SHOAL_CVA_BY_RULE;
    if (s == SHOAL_OK && follows) s = p->walker->follow(p->where, j, k);
    if (s == SHOAL_OK && follows) s = shoal_wait(p->where);
    counts->seconds[1] += half - start, counts->seconds[2] += shoal_price_seconds() - half;
    return s == SHOAL_OK ? p->cell->add(p->where, j, k) : s;
}

void shoal_cva_look_from(const shoal_cva *p, cva_job *j, int64_t k) {
    const shoal_words seed =
        shoal_philox_at(p->american.seed, (uint64_t)k, 0, PRICE_PURPOSE, PRICE_CVA_INNER, 1);
    j->walk_normals = shoal_stream_of(shoal_half(&seed, 0), 0, PRICE_PURPOSE, PRICE_CVA_INNER);
    if (j->ahead > 0 && p->job.stop[j->ahead - 1] > k) j->ahead = 0;
    while (j->ahead < p->job.stops && p->job.stop[j->ahead] <= k) j->ahead++;
}

/* The job in another view. */
static cva_job in_view(const shoal_cva *p, const cva_job *j, const cva_view *v) {
    cva_job view = *j;
    view.spot = v->spot, view.holds = v->holds, view.net = v->net;
    shoal_cva_look_from(p, &view, v->date);
    return view;
}

/* Inner paths of paths from .. from + count - 1: their items, and sums over them. */
static shoal_status value_items(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts) {
    int64_t groups;
    shoal_status s = p->cell->plan(p->where, j, k);
    if (s == SHOAL_OK) s = shoal_copy(p->where, &groups, j->groups, sizeof groups);
    if (s != SHOAL_OK || groups == 0) return s;
    j->items = groups * cva_items(j);
    s = reserve_items(p, j);
    if (s == SHOAL_OK) s = p->cell->fill(p->where, j, k);
    for (int i = 0; i < j->periods && s == SHOAL_OK; i++) {
        cva_job view = in_view(p, j, &j->before[i]);
        view.is_margin = 1;
        s = value_view(p, &view, view.before[i].date, counts);
    }
    if (s == SHOAL_OK && j->jump) {
        const cva_job view = in_view(p, j, &j->after);
        s = value_view(p, &view, k, counts);
    }
    return s == SHOAL_OK ? value_view(p, j, k, counts)
                         : s; /* the last: a validation reads its sums */
}

/* All paths, as many at a time as there is room for sums. */
static shoal_status all_nodes(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts) {
    const int64_t sets = j->sets * views_of(j);
    const int64_t sums = cva_items(j) * (j->places > sets ? j->places : sets);
    const int64_t room = p->where->ops ? MAX_SUMS_DEVICE : MAX_SUMS;
    const int64_t most = sums > 0 && room / sums < j->paths ? room / sums + 1 : j->paths;
    shoal_status s = SHOAL_OK;
    for (j->from = 0; j->from < j->paths && s == SHOAL_OK; j->from += j->count) {
        j->count = j->paths - j->from < most ? j->paths - j->from : most;
        j->items = 0;
        if (j->nesteds > 0) s = value_items(p, j, k, counts);
        if (s == SHOAL_OK) s = p->cell->expose(p->where, j, k);
        if (s == SHOAL_OK && j->total && j->contracts > 0) s = p->cell->allot(p->where, j, k);
    }
    return s;
}

/* What the contracts are worth after the jump: decisions there are not those of the path. */
static shoal_status value_jump(shoal_cva *p, cva_job *j, int64_t k) {
    shoal_status s = p->cell->jump(p->where, j, k);
    cva_job view = *j;
    view.spot = j->after.spot, view.value = j->after.value, view.differ = j->after.differ;
    view.holds = j->after.holds, view.flow = NULL, view.kept = 1;
    view.worth = view.here = NULL;
    if (s == SHOAL_OK && j->europeans > 0) s = p->cell->value(p->where, &view, k);
    if (s == SHOAL_OK && j->americans > 0) s = p->cell->settle(p->where, &view, k);
    j->after.date = k;
    return s;
}

/* The views of margin calls that an exposure sees. */
static void take_calls(const shoal_cva *p, cva_job *j) {
    for (int i = 0; i < j->periods; i++) {
        const int64_t at = i * j->exposures + j->date;
        j->before[i] = shoal_cva_slot(j, p->call_slot[at]);
        j->before[i].date = p->call_date[at];
    }
}

shoal_status shoal_cva_nodes(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts) {
    shoal_status s = SHOAL_OK;
    if (j->jump && j->date >= 0) s = value_jump(p, j, k);
    if (s == SHOAL_OK && j->europeans > 0 && (j->date >= 0 || (p->slot_at && p->slot_at[k] >= 0)))
        s = p->cell->value(p->where, j, k);
    if (s != SHOAL_OK) return s;
    const double start = shoal_price_seconds();
    if (p->estimator == SHOAL_CVA_BY_INNER)
        s = shoal_cva_exercise(p, j, k, counts);
    else if (j->americans > 0)
        s = p->cell->settle(p->where, j, k);
    counts->seconds[2] += shoal_price_seconds() - start;
    if (s == SHOAL_OK && p->slot_at && p->slot_at[k] >= 0) {
        j->to = shoal_cva_slot(j, p->slot_at[k]);
        s = p->cell->keep(p->where, j, k);
    }
    if (s != SHOAL_OK || j->date < 0) return s;
    take_calls(p, j);
    return all_nodes(p, j, k, counts);
}
