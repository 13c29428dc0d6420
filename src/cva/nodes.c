/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c - one date of a run: what the contracts are worth at every node, an outer path at a date, and the
 * exposures there.
 *
 * A contract with early exercise that its rule exercises now pays; otherwise it is worth a mean over inner paths
 * that follow the rule (`rule`), what the regression of the rule says (`amc`), or what regressions at
 * the node say (`inner`; exercise.c).
 *
 * The positive part. The value V of a netting set is known with noise, and a positive part of it would be too large
 * in the mean. Sets that are never worth less than 0, or never more, have no such part: their exposure is V itself, or
 * 0. For the others a node draws a level l, from its address, and gets M 2^l inner paths. With f(m) the exposure of
 * a mean over m of them,
 *
 *     f(M) + (f(M 2^l) - (f of the first half + f of the second half) / 2) / P(level = l)   (l > 0)
 *
 * has the mean of f with infinitely many, up to the bias of M 2^CVA_TOP: the sum of the differences telescopes
 * (M. Giles; A. Haji-Ali, multilevel nested simulation; halves are antithetic: where they have the same sign the difference
 * is 0). f(M) is the mean over all groups of M. Variance falls like 2^(-3 l / 2) and cost grows like 2^l, hence
 * P(level >= l) = share 2^(-5 (l - 1) / 4); the share is measured (plan.c).
 */
#include "cva/plan.h"
#include <stdlib.h>

enum { MOST_SUMS = 1 << 22, MOST_SUMS_DEVICE = 1 << 25 }; /* items times contracts at a time */

/* Room for the sums of so many items. */
static shoal_status reserve_items(shoal_cva *p, cva_job *j) {
    if (j->items > p->item_room) {
        const size_t items = (size_t)(j->items + j->items / 4);
        shoal_status s = shoal_plan_reserve(p->room, items * sizeof *j->item, &p->item);
        if (s == SHOAL_OK)
            s = shoal_plan_reserve(p->room, items * (size_t)j->places * sizeof *j->sums, &p->sums);
        if (s == SHOAL_OK)
            s = shoal_plan_reserve(p->room, items * (size_t)j->sets * sizeof *j->net, &p->net);
        if (s != SHOAL_OK) return s;
        p->item_room = (int64_t)items;
    }
    j->item = p->item, j->sums = p->sums, j->net = p->net;
    return SHOAL_OK;
}

/* Inner paths of paths from .. from + count - 1: their items, and sums over them. */
static shoal_status value_items(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts) {
    int64_t groups;
    shoal_status s = p->cell->plan(p->where, j, k);
    if (s == SHOAL_OK) s = shoal_copy(p->where, &groups, j->groups, sizeof groups);
    if (s != SHOAL_OK || groups == 0) return s;
    j->items = groups * cva_items(j);
    counts->inner_paths += groups * j->paths_inner;
    s = reserve_items(p, j);
    if (s == SHOAL_OK) s = p->cell->fill(p->where, j, k);
    const double start = shoal_price_seconds();
    if (s == SHOAL_OK && j->kinds[CVA_NESTED] > 0) s = p->walker->nest(p->where, j, k);
    if (s == SHOAL_OK && j->kinds[CVA_NESTED] > 0) s = shoal_wait(p->where);
    const double half = shoal_price_seconds();
    const int follows = j->americans > 0 && p->estimator == SHOAL_CVA_BY_RULE;
    if (s == SHOAL_OK && follows) s = p->walker->follow(p->where, j, k);
    if (s == SHOAL_OK && follows) s = shoal_wait(p->where);
    counts->seconds[1] += half - start, counts->seconds[2] += shoal_price_seconds() - half;
    return s == SHOAL_OK ? p->cell->add(p->where, j, k) : s;
}

/* All paths, as many at a time as there is room for sums. */
static shoal_status all_nodes(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts) {
    const int64_t sums = cva_items(j) * (j->places > j->sets ? j->places : j->sets);
    const int64_t room = p->where->ops ? MOST_SUMS_DEVICE : MOST_SUMS;
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

shoal_status shoal_cva_nodes(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts) {
    shoal_status s = SHOAL_OK;
    const double start = shoal_price_seconds();
    if (p->estimator == SHOAL_CVA_BY_INNER)
        s = shoal_cva_exercise(p, j, k, counts);
    else if (j->americans > 0)
        s = p->cell->settle(p->where, j, k);
    counts->seconds[2] += shoal_price_seconds() - start;
    return s == SHOAL_OK && j->date >= 0 ? all_nodes(p, j, k, counts) : s;
}
